/* base/text: see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

void plain_text(char *s)
{
    for (unsigned char *c = (unsigned char *)s; *c; c++) {
        if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f) *c = '?';
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
    }
}

/* Of words and paths. */
static bool is_inner(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_./-", c));
}

void plain_nan(char *s)
{
    for (char *at = s; (at = strchr(at, '-')); at++) {
        bool word = strncasecmp(at, "-nan", 4) == 0 && (at == s || !is_inner(at[-1]));
        if (word && (!is_inner(at[4]) || (at[4] == '.' && !at[5]))) memmove(at, at + 1, strlen(at));
    }
}

double plain_number(double x)
{
    return isnan(x) ? (double)NAN : x;
}

void put_number(FILE *out, int digits, double x)
{
    fprintf(out, "%.*g", digits, plain_number(x));
}

void json_real(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.17g", x);
    else
        fputs("null", out);
}

/* Length of the UTF-8 sequence at s, 0 if it is none. */
static int sequence(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    int n = u[0] < 0x80                   ? 1
            : u[0] >= 0xc2 && u[0] < 0xe0 ? 2
            : u[0] >= 0xe0 && u[0] < 0xf0 ? 3
            : u[0] >= 0xf0 && u[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80) return 0;
    return n;
}

void json_quote(FILE *out, const char *s)
{
    fputc('"', out);
    while (*s) {
        int n = sequence(s);
        if (n == 0) {
            fprintf(out, "\\ufffd");
            s++;
        } else if (n > 1) {
            fprintf(out, "%.*s", n, s);
            s += n;
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s++);
        } else if ((unsigned char)*s < 32) {
            fprintf(out, "\\u%04x", (unsigned char)*s++);
        } else {
            fputc(*s++, out);
        }
    }
    fputc('"', out);
}
