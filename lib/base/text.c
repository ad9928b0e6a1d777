#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void plain_text(char *s)
{
    for (unsigned char *c = (unsigned char *)s; *c; c++) {
        if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f) *c = '?';
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
    }
}

/* Whether c may occur inside a word or path. */
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

void plain_line(char *s)
{
    plain_text(s);
    for (; *s; s++)
        if (*s == '\n' || *s == '\t') *s = '?';
}

/* Length of the UTF-8 sequence at s; 0 if invalid. */
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

/* ---- numbers ---- */

static const char BLANKS[] = " \t\r", DIGITS[] = "0123456789";

static bool is_end(char c)
{
    return !c || c == '\n' || c == ',' || strchr(BLANKS, c);
}

static size_t sign(const char *s)
{
    return *s == '-' || *s == '+';
}

/* Length of an exponent such as "E+12", "D3" or "-103" at s; 0 if none. */
static size_t exponent(const char *s)
{
    size_t letter = *s && strchr("eEdDqQ", *s), n = letter + sign(s + letter),
           digits = n ? strspn(s + n, DIGITS) : 0;
    return digits ? n + digits : 0;
}

/* Copies a real number, with optional point and exponent, in the form that strtod reads. Returns
 * its length at s, 0 if s holds no number. */
static size_t copy_real(const char *s, char *c, size_t room)
{
    size_t n = sign(s), before = strspn(s + n, DIGITS), after = 0;
    n += before;
    if (s[n] == '.') after = strspn(s + n + 1, DIGITS), n += 1 + after;
    size_t e = before + after ? exponent(s + n) : 0, power = n + (e && strchr("eEdDqQ", s[n]));
    if (before + after == 0 || n + e + 2 > room) return 0;
    memcpy(c, s, n);
    snprintf(c + n, room - n, "%s%.*s", e ? "e" : "", (int)(n + e - power), s + power);
    return n + e;
}

/* Parses NaN or Infinity; returns the length of the word, or 0. */
static size_t special(const char *s, double *x)
{
    static const char *const word[] = {"nan", "infinity", "inf"};
    size_t n = sign(s);
    for (int i = 0; i < 3; i++) {
        if (strncasecmp(s + n, word[i], strlen(word[i])) != 0) continue;
        *x = copysign(i ? INFINITY : NAN, *s == '-' ? -1 : 1);
        return n + strlen(word[i]);
    }
    return 0;
}

bool text_real(const char **s, double *x)
{
    char c[512];
    double value = 0;
    const char *at = *s + strspn(*s, BLANKS);
    size_t n = special(at, &value);
    if (!n && (n = copy_real(at, c, sizeof c))) {
        value = strtod(c, NULL);
        if (isinf(value)) return false;
    }
    if (!n || !is_end(at[n])) return false;
    *s = at + n, *x = value;
    return true;
}

bool text_whole(const char **s, int64_t *x)
{
    const char *at = *s + strspn(*s, BLANKS);
    size_t n = sign(at), digits = strspn(at + n, DIGITS);
    if (!digits || !is_end(at[n + digits])) return false;
    errno = 0;
    int64_t value = strtoll(at, NULL, 10);
    if (errno) return false;
    *s = at + n + digits, *x = value;
    return true;
}

bool text_line_ends(const char *s)
{
    s += strspn(s, BLANKS);
    return !*s || *s == '\n';
}

int near_distance(const char *a, const char *b)
{
    int d[64][64], n = (int)strnlen(a, 63), m = (int)strnlen(b, 63);
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            int v = d[i - 1][j - 1] + (ca != cb);
            if (d[i - 1][j] + 1 < v) v = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < v) v = d[i][j - 1] + 1;
            bool swap = i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                        cb == tolower((unsigned char)a[i - 2]);
            if (swap && d[i - 2][j - 2] + 1 < v) v = d[i - 2][j - 2] + 1;
            d[i][j] = v;
        }
    return d[n][m];
}

int near_max(const char *name)
{
    int n = (int)strnlen(name, 63);
    return n < 4 ? 1 : n < 8 ? 2 : 3;
}
