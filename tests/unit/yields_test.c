/* yields_test: laws of the built-in table of yields. Catches: a rate in other units, winds
 * counted as supernovae, a table that decreases, interpolation off by one row.
 * test: tier=quick timeout=60 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "check.h"
#include "phys/yields.h"

int main(void)
{
    struct yields *y;
    enum err err = yields_new("hopkins2018", &y);
    CHECK(err == OK, "%d", err);
    struct yield birth = yields_at(y, 0, 0.02), early = yields_at(y, 0.003, 0.02);
    CHECK(birth.mass == 0 && birth.metals == 0, "%g", birth.mass);
    CHECK(early.type2 == 0 && early.type1 == 0 && early.mass > 0, "%g", early.type2);
    /* two constant rates, for 6.969 Myr and 27.16 Myr: one supernova per 94 solar masses */
    double all = 5.408e-4 * (10.37 - 3.401) + 2.516e-4 * (37.53 - 10.37);
    CHECK(fabs(yields_at(y, 0.1, 0.02).type2 / all - 1) < 1e-2, "%g",
          yields_at(y, 0.1, 0.02).type2);
    /* a prompt peak, and a constant rate */
    double prompt = yields_at(y, 0.15, 0.02).type1;
    double late = yields_at(y, 10.15, 0.02).type1 - prompt;
    CHECK(fabs(late / (5.3e-8 * 1e4) - 1) < 1e-2, "%g", late);
    CHECK(prompt > 0.85 * 1.6e-4 * sqrt(2 * M_PI) && prompt < 1.6e-4 * sqrt(2 * M_PI), "%g",
          prompt);
    for (int z = 0; z < 40; z++) {
        double Z = 1e-5 * pow(10, 0.1 * z);
        struct yield last = {0};
        for (int k = 0; k < 2000; k++) {
            struct yield a = yields_at(y, 1e-5 * pow(10, 0.0032 * k), Z);
            bool good = a.type2 >= last.type2 && a.type1 >= last.type1 && a.mass >= last.mass &&
                        a.metals >= last.metals && a.metals <= a.mass && a.mass < 0.65;
            CHECK(good, "Z=%g, %d: %g %g", Z, k, a.mass, a.metals);
            last = a;
        }
        CHECK(last.mass > 0.1 + 10.5 * all && last.metals > 0.015, "Z=%g: %g %g", Z, last.mass,
              last.metals);
    }
    yields_free(y);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
