#include "plot/colours.h"

#include <math.h>
#include <string.h>

enum { KNOTS = 17 };

/* Knots of "inferno" and "viridis" (S. van der Walt, N. Smith, E. Firing; CC0), and of a diverging
 * map (K. Moreland 2009, Diverging color maps for scientific visualization). */
static const struct {
    const char *name;
    unsigned char knot[KNOTS][3];
} MAPS[] = {{"inferno",
             {{0, 0, 4},
              {11, 7, 36},
              {33, 12, 74},
              {60, 9, 101},
              {87, 16, 109},
              {112, 25, 110},
              {137, 34, 106},
              {163, 43, 97},
              {187, 55, 85},
              {209, 70, 68},
              {227, 89, 50},
              {241, 113, 30},
              {249, 141, 10},
              {252, 171, 15},
              {249, 202, 50},
              {242, 232, 101},
              {252, 255, 164}}},
            {"viridis",
             {{68, 1, 84},
              {72, 24, 106},
              {71, 45, 123},
              {66, 64, 134},
              {59, 82, 139},
              {51, 99, 141},
              {44, 114, 142},
              {38, 130, 142},
              {33, 145, 140},
              {31, 160, 136},
              {40, 174, 128},
              {63, 188, 115},
              {94, 201, 98},
              {132, 212, 75},
              {173, 220, 48},
              {216, 226, 25},
              {253, 231, 37}}},
            {"grey",
             {{0, 0, 0},
              {16, 16, 16},
              {32, 32, 32},
              {48, 48, 48},
              {64, 64, 64},
              {80, 80, 80},
              {96, 96, 96},
              {112, 112, 112},
              {128, 128, 128},
              {143, 143, 143},
              {159, 159, 159},
              {175, 175, 175},
              {191, 191, 191},
              {207, 207, 207},
              {223, 223, 223},
              {239, 239, 239},
              {255, 255, 255}}},
            {"coolwarm",
             {{59, 76, 192},
              {78, 104, 216},
              {98, 130, 234},
              {119, 154, 247},
              {141, 176, 254},
              {163, 194, 254},
              {185, 208, 249},
              {204, 217, 237},
              {221, 220, 220},
              {236, 211, 197},
              {245, 196, 172},
              {247, 176, 147},
              {244, 152, 122},
              {235, 125, 98},
              {221, 95, 75},
              {202, 59, 55},
              {180, 4, 38}}}};

int colours_find(const char *name)
{
    for (int i = 0; i < (int)(sizeof MAPS / sizeof *MAPS); i++)
        if (strcmp(name, MAPS[i].name) == 0) return i;
    return -1;
}

void colours_at(int map, double t, unsigned char rgb[3])
{
    const unsigned char(*knot)[3] = MAPS[map].knot;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    int i = (int)(t * (KNOTS - 1));
    if (i > KNOTS - 2) i = KNOTS - 2;
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned char)lrint(knot[i][k] +
                                      (t * (KNOTS - 1) - i) * (knot[i + 1][k] - knot[i][k]));
}
