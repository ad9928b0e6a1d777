/* plot/ticks: positions and labels of the ticks of an axis. Private to plot. */
#pragma once
#include "plot/frame.h"

enum { TICKS_MAX = 256, TICKS_NAME = 160 };

struct tick {
    double share;  /* position as a fraction of the axis */
    char text[40]; /* label; empty: a short tick */
};

/* Ticks of an axis of this length in points; 0: the axis has no length. *power: exponent of the
 * power of ten by which all labels are multiplied. */
int ticks_find(const struct axis *a, double length, struct tick t[TICKS_MAX], int *power);
/* Label of an axis, with its power of ten inside the brackets of the unit. */
const char *ticks_name(const struct axis *a, int power, char text[TICKS_NAME]);
