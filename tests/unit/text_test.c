/* Unit tests of base/text: numbers in texts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "check.h"

/* Whether the text begins with a number of this value that ends at `rest`. */
static bool is_real(const char *text, double value, const char *rest)
{
    double x = -77;
    const char *s = text;
    bool is = text_real(&s, &x);
    if (!is && (s != text || x != -77)) return false; /* the value must be unchanged */
    return is && memcmp(&x, &value, sizeof x) == 0 && strcmp(s, rest) == 0;
}

/* Fails if a number ends before its text, or if exponents of Fortran are not read. */
static void test_text_real(void)
{
    static const char *const none[] = {"",      " ",   "\n1", ",1",   "3e24cm", "1e",    "1e+",
                                       "1.5.2", "--1", "+-1", "0x1",  "1d",     "0.3D",  "0.3DD2",
                                       "1e2e3", "1-",  "1_8", "****", "nanx",   "infin", ".",
                                       "-",     "-.",  "e5",  "1;",   "1/2",    "1e999", "-1d999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double x = -77;
        const char *s = none[i];
        bool is = text_real(&s, &x);
        if (is) printf("'%s' is read as %g\n", none[i], x);
        CHECK(!is && s == none[i] && x == -77);
    }
    CHECK(is_real("0.308568000000000D+25", 0.308568e25, ""));
    CHECK(is_real(" 0.308568000000000E+25\nx", 0.308568e25, "\nx"));
    CHECK(is_real("\t-1.d-3\r\n", -1e-3, "\r\n"));
    CHECK(is_real("1,5", 1, ",5"));
    CHECK(is_real("5d0 2", 5, " 2"));
    CHECK(is_real("+.5", 0.5, ""));
    CHECK(is_real("7.", 7, ""));
    CHECK(is_real("007", 7, ""));
    CHECK(is_real("0.5-103", 0.5e-103, ""));
    CHECK(is_real("0.5+103", 0.5e103, ""));
    CHECK(is_real("-0", -0.0, ""));
    CHECK(is_real("1q2", 100, ""));
    CHECK(is_real("4.9E-324", 4.9e-324, ""));
    CHECK(is_real("-Infinity", -INFINITY, ""));
    double x = 0;
    const char *s = "NaN";
    CHECK(text_real(&s, &x) && isnan(x) && !*s);
}

static void test_text_whole(void)
{
    static const char *const none[] = {
        "", "1.", "1e3", "12k", "0x10", "-", "9223372036854775808", "1-2", "\n4"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        int64_t n = -77;
        const char *s = none[i];
        CHECK(!text_whole(&s, &n) && s == none[i] && n == -77);
    }
    int64_t n;
    const char *s = " -9223372036854775808, +12\t3 \n";
    CHECK(text_whole(&s, &n) && n == INT64_MIN && *s == ',');
    s++;
    CHECK(text_whole(&s, &n) && n == 12 && !text_line_ends(s));
    CHECK(text_whole(&s, &n) && n == 3 && text_line_ends(s));
}

int main(void)
{
    test_text_real();
    test_text_whole();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
