/* inspect: JSON, see inspect.h. */
#include <math.h>
#include <stdio.h>

#include "inspect.h"

void json_begin(const char *kind, const char *path)
{
    printf("{\"schema\":%d,\"kind\":\"%s\",\"path\":", JSON_SCHEMA, kind);
    json_string(path);
}

void json_end(void)
{
    printf("}\n");
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

void json_string(const char *s)
{
    putchar('"');
    while (*s) {
        int n = sequence(s);
        if (n == 0) {
            printf("\\ufffd");
            s++;
        } else if (n > 1) {
            printf("%.*s", n, s);
            s += n;
        } else if (*s == '"' || *s == '\\') {
            printf("\\%c", *s++);
        } else if ((unsigned char)*s < 32) {
            printf("\\u%04x", (unsigned char)*s++);
        } else {
            putchar(*s++);
        }
    }
    putchar('"');
}

void json_value(double x)
{
    if (isfinite(x))
        printf("%.17g", x);
    else
        printf("null");
}

void json_number(const char *name, double x)
{
    printf(",\"%s\":", name);
    json_value(x);
}

void json_count(const char *name, int64_t n)
{
    printf(",\"%s\":%ld", name, (long)n);
}

void json_text(const char *name, const char *s)
{
    printf(",\"%s\":", name);
    json_string(s);
}

void json_bool(const char *name, bool x)
{
    printf(",\"%s\":%s", name, x ? "true" : "false");
}
