/* inspect: output of JSON, see inspect.h. */
#include <stdio.h>

#include "base/text.h"
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

void json_string(const char *s)
{
    json_quote(stdout, s);
}

void json_value(double x)
{
    json_real(stdout, x);
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
