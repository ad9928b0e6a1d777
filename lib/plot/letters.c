/* plot/letters: see letters.h. A stroke is a list of points, each a digit (right, 0–9) and a letter
 * (up: a −3, d the line, j 6, m 9). */
#include "plot/letters.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct letter {
    const char *name; /* of one or two bytes */
    double width;
    const char *strokes;
};

static const struct letter LETTERS[] = {
    {"a", 5, "0i1j4j5i5d 5g1g0f0e1d4d5e"},
    {"b", 5, "0m0d 0e1d4d5e5i4j1j0i"},
    {"c", 5, "5i4j1j0i0e1d4d5e"},
    {"d", 5, "5m5d 5e4d1d0e0i1j4j5i"},
    {"e", 5, "0g5g5i4j1j0i0e1d4d5e"},
    {"f", 3, "4l3m2l2d 0j4j"},
    {"g", 5, "5j5b4a1a0b 5e4d1d0e0i1j4j5i"},
    {"h", 5, "0m0d 0i1j4j5i5d"},
    {"i", 1, "0j0d 0l0m"},
    {"j", 2, "2j2b1a0a 2l2m"},
    {"k", 4, "0m0d 4j0f 1g4d"},
    {"l", 1, "0m0d"},
    {"m", 6, "0j0d 0i1j2j3i3d 3i4j5j6i6d"},
    {"n", 5, "0j0d 0i1j4j5i5d"},
    {"o", 5, "1d4d5e5i4j1j0i0e1d"},
    {"p", 5, "0j0a 0i1j4j5i5e4d1d0e"},
    {"q", 5, "5j5a 5i4j1j0i0e1d4d5e"},
    {"r", 3, "0j0d 0h1i2j3j"},
    {"s", 4, "4i3j1j0i0h1g3g4f4e3d1d0e"},
    {"t", 3, "1m1e2d3d 0j3j"},
    {"u", 5, "0j0e1d4d5e 5j5d"},
    {"v", 4, "0j2d4j"},
    {"w", 6, "0j1d3j5d6j"},
    {"x", 4, "0d4j 0j4d"},
    {"y", 4, "0j2d 4j1a0a"},
    {"z", 4, "0j4j0d4d"},
    {"B", 5, "0d0m4m5l5j4i0i 4i5h5e4d0d"},
    {"G", 5, "5k4m1m0k0f1d4d5f5h3h"},
    {"H", 5, "0d0m 5d5m 0i5i"},
    {"K", 5, "0d0m 5m0g 2i5d"},
    {"M", 6, "0d0m3g6m6d"},
    {"P", 5, "0d0m4m5l5i4h0h"},
    {"T", 5, "0m5m 2m2d"},
    {"0", 5, "1d0f0k1m4m5k5f4d1d"},
    {"1", 5, "1k3m3d"},
    {"2", 5, "0k0l1m4m5l5j0d5d"},
    {"3", 5, "0l1m4m5l5j4i2i 4i5h5e4d1d0e"},
    {"4", 5, "4d4m0f5f"},
    {"5", 5, "5m1m0i4i5h5e4d1d0e"},
    {"6", 5, "4m2m0j0e1d4d5e5h4i1i0h"},
    {"7", 5, "0m5m2d"},
    {"8", 5, "1i0j0l1m4m5l5j4i1i0h0e1d4d5e5h4i"},
    {"9", 5, "1d3d5g5l4m1m0l0i1h4h5i"},
    {" ", 2, ""},
    {"+", 5, "3e3i 1g5g"},
    {"-", 4, "0g4g"},
    {"=", 5, "0f5f 0h5h"},
    {".", 1, "0d1d1e0e0d1e"},
    {",", 1, "1d1e0e0d1d0b"},
    {"(", 2, "2m1l0j0d1b2a"},
    {")", 2, "0m1l2j2d1b0a"},
    {"[", 2, "2m0m0b2b"},
    {"]", 2, "0m2m2b0b"},
    {"/", 4, "0c4m"},
    {"\xce\xbc", 5, "0a0j 0e1d4d5e 5j5d"},
    {"\xc2\xb7", 1, "0g1g1h0h0g"},
    {"\xc3\x97", 4, "0e4i 0i4e"},
};

static const struct letter *find(const char *s)
{
    for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++)
        if (strncmp(LETTERS[i].name, s, strlen(LETTERS[i].name)) == 0) return &LETTERS[i];
    return NULL;
}

static void draw_strokes(const char *s, letter_stroke *draw, void *ctx)
{
    double last[2];
    for (bool down = false; *s; s += *s == ' ' ? 1 : 2) {
        double next[2] = {s[0] - '0', s[1] - 'd'};
        if (*s != ' ' && down) draw(ctx, last, next);
        down = *s != ' ';
        memcpy(last, next, sizeof last);
    }
}

const char *letter_draw(const char *s, letter_stroke *draw, void *ctx, double *along, double size)
{
    enum { BETWEEN = 2 };
    const struct letter *l = find(s);
    if (l && draw) draw_strokes(l->strokes, draw, ctx);
    *along += ((l ? l->width : 4) + BETWEEN) * size / LETTER_SIZE;
    return s + (l ? strlen(l->name) : 1);
}
