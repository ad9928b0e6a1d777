/* view/line: the cells along a line parallel to an axis, beside the exact solution of a Riemann
 * problem. */
#pragma once
#include "ckpt/source.h"
#include "plot/canvas.h"
#include "view/gas.h"
#include "view/riemann.h"

struct line_options {
    int axis;         /* direction: axis 0, 1 or 2 */
    double centre[3]; /* point of the line, in units of the box; there is the discontinuity, too */
    bool physical;    /* physical units, else code units */
    bool log;         /* density and pressure are plotted by their logarithms */
    bool riemann;     /* compare with the exact solution for these states, in code units */
    struct riemann_state state[2];
};

/* Density, velocity along the line, pressure. */
enum { LINE_EXACT = 3, LINE_COLUMNS = CKPT_FIELDS + 3 + LINE_EXACT };

struct line_column {
    char name[56];
    const char *unit;
    double worth; /* of a code unit in this unit */
    int field;    /* number of the field (view/gas.h); -1: position, -2: exact solution */
};

struct line {
    const struct line_options *o; /* lent */
    const struct source *r;       /* lent */
    struct gas gas;
    int n, columns, room;
    struct line_column column[LINE_COLUMNS]; /* position, level, fields, exact solution */
    double *row;                             /* [n*columns] cells in ascending position */
    struct riemann_problem exact;
    /* columns of the gas, -1: none; first column of the solution; mean of the absolute difference
     * along the line, in the unit of the column */
    int at[LINE_EXACT], solved;
    double error[LINE_EXACT];
    char title[160];
};

enum { LINE_WIDTH = 1040, LINE_HEIGHT = 840 };

/* Reads the checkpoint, which must stay open. *l is zero; line_free also after an error. */
MUST_USE enum err line_make(struct line *l, struct source *r, const struct line_options *o);
void line_free(struct line *l);
void line_plot(struct canvas *c, const void *line); /* a canvas_draw */
