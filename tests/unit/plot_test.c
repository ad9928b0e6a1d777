/* plot_test: colours. Between two knots each channel is interpolated linearly. Catches: a
 * weight or a knot of the neighbour, a wrong colour at an end of the map. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "plot/colours.h"

enum { KNOTS = 17, STEPS = 10 };

/* Checks knot i, and the colours between knots i and i + 1. */
static void between_knots(int map, int i)
{
    unsigned char a[3], b[3], rgb[3];
    double width = 1.0 / (KNOTS - 1);
    colours_at(map, i * width, a);
    colours_at(map, (i + 1) * width, b);
    for (int s = 0; s <= STEPS; s++) {
        double f = (double)s / STEPS;
        colours_at(map, (i + f) * width, rgb);
        for (int k = 0; k < 3; k++) {
            double want = a[k] * (1 - f) + b[k] * f;
            CHECK(fabs(rgb[k] - want) < 0.51, "map %d, %g knots: %d, not %g", map, i + f, rgb[k],
                  want);
        }
    }
}

int main(void)
{
    static const char *const name[] = {"inferno", "viridis", "grey",   "coolwarm",
                                       "cividis", "thermal", "haline", "balance"};
    for (size_t m = 0; m < sizeof name / sizeof *name; m++) {
        int map = colours_find(name[m]);
        CHECK(map >= 0, "%s", name[m]);
        for (int i = 0; map >= 0 && i < KNOTS - 1; i++) between_knots(map, i);
    }
    CHECK(colours_find("none") < 0);
    int grey = colours_find("grey");
    for (int i = -20; i <= 120; i++) {
        unsigned char rgb[3];
        double t = fmin(fmax(0.01 * i, 0), 1);
        colours_at(grey, 0.01 * i, rgb);
        CHECK(fabs(rgb[0] - 255 * t) < 1 && rgb[1] == rgb[0] && rgb[2] == rgb[0], "%d at %g",
              rgb[0], 0.01 * i);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
