#include "plot/colours.h"

#include <math.h>
#include <string.h>

enum { KNOTS = 17 };

/* Knots: "inferno" and "viridis" (S. van der Walt, N. Smith, E. Firing; CC0) and "cividis"
 * (J. Nuñez, C. Anderton, R. Renslow 2018; CC0); the diverging "coolwarm" (K. Moreland 2009,
 * Diverging color maps for scientific visualization); "thermal", "haline" and the diverging
 * "balance" of cmocean (K. Thyng and others 2016, True colors of oceanography; MIT). Viridis,
 * cividis, thermal, haline and balance keep their order for the colour-blind. */
static const struct {
    const char *name;
    unsigned knot[KNOTS];
} MAPS[] = {
    {"inferno",
     {0x000004, 0x0b0724, 0x210c4a, 0x3c0965, 0x57106d, 0x70196e, 0x89226a, 0xa32b61, 0xbb3755,
      0xd14644, 0xe35932, 0xf1711e, 0xf98d0a, 0xfcab0f, 0xf9ca32, 0xf2e865, 0xfcffa4}},
    {"viridis",
     {0x440154, 0x48186a, 0x472d7b, 0x424086, 0x3b528b, 0x33638d, 0x2c728e, 0x26828e, 0x21918c,
      0x1fa088, 0x28ae80, 0x3fbc73, 0x5ec962, 0x84d44b, 0xaddc30, 0xd8e219, 0xfde725}},
    {"grey",
     {0x000000, 0x101010, 0x202020, 0x303030, 0x404040, 0x505050, 0x606060, 0x707070, 0x808080,
      0x8f8f8f, 0x9f9f9f, 0xafafaf, 0xbfbfbf, 0xcfcfcf, 0xdfdfdf, 0xefefef, 0xffffff}},
    {"coolwarm",
     {0x3b4cc0, 0x4e68d8, 0x6282ea, 0x779af7, 0x8db0fe, 0xa3c2fe, 0xb9d0f9, 0xccd9ed, 0xdddcdc,
      0xecd3c5, 0xf5c4ac, 0xf7b093, 0xf4987a, 0xeb7d62, 0xdd5f4b, 0xca3b37, 0xb40426}},
    {"cividis",
     {0x00224e, 0x002e6a, 0x1a386f, 0x32436d, 0x434e6c, 0x52596d, 0x61656f, 0x6f7073, 0x7c7b78,
      0x8b8778, 0x9b9376, 0xaba072, 0xbbad6c, 0xccba64, 0xddc958, 0xefd748, 0xfee838}},
    {"thermal",
     {0x042333, 0x082e54, 0x18337c, 0x39339e, 0x563b9c, 0x6c4695, 0x824f8f, 0x98588a, 0xb05f82,
      0xc86676, 0xde7065, 0xf07e51, 0xf99242, 0xfcab3c, 0xf9c541, 0xf3df4c, 0xe8fa5b}},
    {"haline",
     {0x2a186c, 0x2e1d93, 0x2033a2, 0x0f4a98, 0x0f5b90, 0x1c698c, 0x287789, 0x338588, 0x3c9387,
      0x44a184, 0x4fb07e, 0x60be74, 0x79cb67, 0x9cd55c, 0xc2dd64, 0xe2e57c, 0xfdef9a}},
    {"balance",
     {0x181c43, 0x263276, 0x2548af, 0x0e6abd, 0x3887ba, 0x64a2bc, 0x96b9c5, 0xc6d1d6, 0xf1ecec,
      0xe3c8c0, 0xd7a392, 0xcc7f65, 0xc0593c, 0xaf3024, 0x8f1029, 0x650f24, 0x3c0912}},
};
enum { MAP_COUNT = sizeof MAPS / sizeof *MAPS };

int colours_find(const char *name)
{
    for (int i = 0; i < MAP_COUNT; i++)
        if (strcmp(MAPS[i].name, name) == 0) return i;
    return -1;
}

void colours_at(int map, double t, unsigned char rgb[3])
{
    const unsigned *knot = MAPS[map].knot;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    int i = (int)(t * (KNOTS - 1));
    if (i > KNOTS - 2) i = KNOTS - 2;
    for (int k = 0; k < 3; k++) {
        const int shift = 16 - 8 * k, a = (int)(knot[i] >> shift & 255),
                  b = (int)(knot[i + 1] >> shift & 255);
        rgb[k] = (unsigned char)lrint(a + (t * (KNOTS - 1) - i) * (b - a));
    }
}
