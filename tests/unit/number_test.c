/* number_test: numbers as text. A NaN has no sign, in tables, in messages and in the log; JSON has
 * null. Catches: a printed sign, a changed path. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "check.h"

/* Text printed by put(out, …). */
static const char *printed(void (*put)(FILE *out, double x), double x)
{
    static char text[64];
    FILE *f = fmemopen(text, sizeof text, "w");
    put(f, x);
    fclose(f);
    return text;
}

static void put7(FILE *out, double x)
{
    put_number(out, 7, x);
}

static void test_numbers(void)
{
    double minus = copysign(NAN, -1);
    CHECK(strcmp(printed(put7, minus), "nan") == 0, "%s", printed(put7, minus));
    CHECK(strcmp(printed(put7, -INFINITY), "-inf") == 0);
    CHECK(strcmp(printed(put7, -1.0 / 3), "-0.3333333") == 0);
    CHECK(!signbit(plain_number(minus)) && isnan(plain_number(minus)));
    CHECK(signbit(plain_number(-0.0)) && plain_number(-2.5) == -2.5);
    CHECK(strcmp(printed(json_real, minus), "null") == 0);
    CHECK(strcmp(printed(json_real, INFINITY), "null") == 0);
    CHECK(strtod(printed(json_real, 1.0 / 3), NULL) == 1.0 / 3);
}

static void test_messages(void)
{
    static const char *const word[][2] = {
        {"is -nan", "is nan"},
        {"-nan", "nan"},
        {"a -nan, b=-NAN: (-nan) -nan.", "a nan, b=NAN: (nan) nan."},
        {"run-nan/a", "run-nan/a"},
        {"a/-nan/b", "a/-nan/b"},
        {"-nano -nan_x", "-nano -nan_x"},
        {"-nan-nan", "-nan-nan"},
        {"-", "-"}};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        char s[64];
        snprintf(s, sizeof s, "%s", word[i][0]);
        plain_nan(s);
        CHECK(strcmp(s, word[i][1]) == 0, "%s: %s", word[i][0], s);
    }
    enum err err = err_set(ERR_FORMAT, "x is %g, y %.3E", copysign(NAN, -1), copysign(NAN, -1));
    CHECK(err == ERR_FORMAT && strcmp(err_message(), "x is nan, y NAN") == 0, "%s", err_message());
}

int main(void)
{
    test_numbers();
    test_messages();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
