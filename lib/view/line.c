/* view/line: see line.h. A line that runs along faces of cells has the cells on the upper side; the
 * values are those of the cells, and the exact solution is that of their centres. */
#include "view/line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "plot/chart.h"
#include "view/unit.h"

enum { POSITION = -1, EXACT = -2, LEVEL = 1 };

/* ---- columns ---- */

static int add_column(struct line *l, const char *name, int field, struct unit u)
{
    struct line_column *c = &l->column[l->columns];
    *c = (struct line_column){.unit = u.name, .worth = u.worth, .field = field};
    snprintf(c->name, sizeof c->name, "%.55s", name);
    return l->columns++;
}

static void find_columns(struct line *l)
{
    const struct source *r = l->r;
    char axis[2] = {(char)('x' + l->o->axis), 0}, velocity[16], exact[56];
    snprintf(velocity, sizeof velocity, "velocity_%s", axis);
    l->gas = gas_of(r);
    for (int k = 0; k < LINE_EXACT; k++) l->at[k] = -1;
    add_column(l, axis, POSITION, unit_length(&r->head, 1, l->o->physical));
    for (int i = -1; i <= r->nfield; i++) {
        const char *name = i < 0 ? "level" : i < r->nfield ? r->field[i].name : "temperature";
        int field = gas_field(r, &l->gas, name);
        if (field < 0) continue;
        int at = add_column(l, name, field, unit_of(name, &l->gas.units, l->o->physical));
        if (field == l->gas.density) l->at[0] = at;
        if (strcmp(name, velocity) == 0) l->at[1] = at;
        if (field == l->gas.pressure) l->at[2] = at;
    }
    l->solved = l->columns;
    for (int k = 0; k < LINE_EXACT && l->o->riemann && l->at[k] >= 0; k++) {
        const struct line_column *c = &l->column[l->at[k]];
        snprintf(exact, sizeof exact, "exact_%.49s", c->name);
        add_column(l, exact, EXACT, (struct unit){c->worth, c->unit});
    }
}

static enum err check(const struct line *l)
{
    const struct source *r = l->r;
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        FAIL(ERR_LIMIT, "%s: lines are drawn only of checkpoints with one coarse cell", r->path);
    if (l->o->axis >= r->head.ndim)
        FAIL(ERR_PARAM, "%s: has %d dimension%s, and no axis %c", r->path, r->head.ndim,
             r->head.ndim > 1 ? "s" : "", 'x' + l->o->axis);
    if (!l->o->riemann) return OK;
    if (l->columns < l->solved + LINE_EXACT)
        FAIL(ERR_PARAM, "%s: has no density, velocity_%c and pressure for a Riemann problem",
             r->path, 'x' + l->o->axis);
    if (!(r->head.gamma > 1) || r->head.cosmo)
        FAIL(ERR_PARAM,
             "%s: the Riemann problem is solved for an ideal gas with gamma above 1 (here %g) "
             "without expansion of the universe",
             r->path, r->head.gamma);
    return OK;
}

/* ---- cells ---- */

static void add_cell(struct line *l, const struct source_octs *o, int i, int c, double x)
{
    if (l->n == l->room) {
        l->room = 2 * l->room + 256;
        l->row = mem_grow(l->row, sizeof *l->row * (size_t)l->columns * (size_t)l->room, "line");
    }
    double *row = l->row + (size_t)l->n++ * (size_t)l->columns;
    row[0] = x;
    for (int k = LEVEL; k < l->solved; k++)
        row[k] = gas_value(&l->gas, l->column[k].field, o, c, i);
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct line *l = ctx;
    const int ndim = l->r->head.ndim, axis = l->o->axis;
    int64_t x[3], at[3], cells = (int64_t)1 << o->level;
    for (int d = 0; d < 3; d++)
        at[d] = (int64_t)fmin(l->o->centre[d] * (double)cells, (double)(cells - 1));
    for (int i = 0; i < o->n; i++) {
        okey_coords(o->key[i], x);
        for (int c = 0; c < source_cells(l->r); c++) {
            bool meets = !(o->split[i] >> c & 1);
            for (int d = 0; d < ndim; d++) meets &= d == axis || 2 * x[d] + (c >> d & 1) == at[d];
            double middle = (double)(2 * x[axis] + (c >> axis & 1)) + 0.5;
            if (meets) add_cell(l, o, i, c, middle / (double)cells);
        }
    }
    return OK;
}

MEM_ORDER_OF(ascending, double)

static enum err read_cells(struct line *l, struct source *r)
{
    enum source_mode mode = r->nfield ? SOURCE_STORED : SOURCE_TREE;
    for (int piece = 0; piece < r->npiece; piece++) {
        if (r->npiece > 1) log_live("reading file %d of %d", piece + 1, r->npiece);
        TRY(source_octs(r, piece, mode, fold_octs, l));
    }
    log_live(NULL);
    TRY(source_check_tree(r));
    mem_sort(l->row, (size_t)l->n, sizeof *l->row * (size_t)l->columns, ascending);
    return OK;
}

/* ---- the exact solution ---- */

/* Solution at a position in units of the box. */
static void exact_at(const struct line *l, double x, double value[LINE_EXACT])
{
    const struct ckpt_head *h = &l->r->head;
    struct riemann_state s = riemann_at(&l->exact, (x - l->o->centre[l->o->axis]) * h->boxlen,
                                        h->t);
    value[0] = s.density, value[1] = s.velocity, value[2] = s.pressure;
}

static enum err solve(struct line *l)
{
    l->exact = (struct riemann_problem){{l->o->state[0], l->o->state[1]},
                                        .gamma = l->r->head.gamma};
    riemann_solve(&l->exact);
    if (!isfinite(l->exact.pressure) || isnan(l->exact.velocity[0] + l->exact.velocity[1]))
        FAIL(ERR_PARAM, "%s: the Riemann problem has no solution in double precision", l->r->path);
    for (int i = 0; i < l->n; i++) {
        double *row = l->row + (size_t)i * (size_t)l->columns, *exact = row + l->solved;
        exact_at(l, row[0], exact);
        for (int k = 0; k < LINE_EXACT; k++)
            l->error[k] += fabs(row[l->at[k]] - exact[k]) * ldexp(1, -(int)row[LEVEL]);
    }
    return OK;
}

enum err line_make(struct line *l, struct source *r, const struct line_options *o)
{
    *l = (struct line){.o = o, .r = r};
    find_columns(l);
    TRY(check(l));
    TRY(read_cells(l, r));
    if (o->riemann) TRY(solve(l));
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->columns; k++)
            l->row[(size_t)i * (size_t)l->columns + (size_t)k] *= l->column[k].worth;
    for (int k = 0; k < LINE_EXACT && o->riemann; k++) l->error[k] *= l->column[l->at[k]].worth;
    unit_title(r, o->physical, l->title, sizeof l->title);
    return OK;
}

void line_free(struct line *l)
{
    FREE(l->row);
}

/* ---- the plot ---- */

/* Points at which the exact solution is drawn; the most curves in a panel. */
enum { SAMPLES = 2000, CURVES = 4, BLACK = 6 };

/* Panels: density, velocities, pressure, level. */
enum { VELOCITY = 1, PANELS = 4 };

static bool in_panel(const struct line *l, int panel, int column)
{
    if (panel == VELOCITY) return strncmp(l->column[column].name, "velocity_", 9) == 0;
    return column == (panel < LINE_EXACT ? l->at[panel] : LEVEL);
}

/* Values of a column, one after the other. */
static double *values(const struct line *l, int column, double *to)
{
    for (int i = 0; i < l->n; i++) to[i] = l->row[(size_t)i * (size_t)l->columns + (size_t)column];
    return to;
}

/* The exact solution along the whole box. */
static struct curve exact_curve(const struct line *l, int k, double *to)
{
    for (int i = 0; i < SAMPLES; i++) {
        double x = (i + 0.5) / SAMPLES, value[LINE_EXACT];
        exact_at(l, x, value);
        to[i] = x * l->column[0].worth, to[SAMPLES + i] = value[k] * l->column[l->at[k]].worth;
    }
    return (struct curve){
        .label = "exact", .n = SAMPLES, .x = to, .y = to + SAMPLES, .colour = BLACK};
}

/* Curves of a panel, in the space at y; x: positions of the cells. Returns their number. */
static int panel_curves(const struct line *l, int panel, const double *x, double *y,
                        struct curve curve[CURVES])
{
    bool exact = l->o->riemann && panel < LINE_EXACT;
    int n = 0;
    if (exact) curve[n++] = exact_curve(l, panel, y), y += (ptrdiff_t)2 * SAMPLES;
    for (int k = LEVEL; k < l->solved && n < CURVES; k++) {
        if (!in_panel(l, panel, k)) continue;
        curve[n] = (struct curve){.label = panel == VELOCITY && !exact
                                               ? l->column[k].name + strlen("velocity_")
                                           : exact ? "cells"
                                                   : l->column[k].name,
                                  .n = l->n,
                                  .x = x,
                                  .colour = n - exact};
        curve[n].y = values(l, k, y);
        curve[n++].point = fmin(fmax(600.0 / l->n, 3), 5);
        y += l->n;
    }
    if (n == 1) curve[0].label = NULL; /* no legend */
    return n;
}

/* Draws a panel in its place, if there are columns for it; x: positions, then room for curves. */
static bool draw_panel(struct canvas *c, const struct line *l, int panel, int place, double *x)
{
    static const char *const NAME[PANELS] = {"density", "velocity", "pressure", "level"};
    const char *unit = panel < LINE_EXACT && l->at[panel] >= 0 ? l->column[l->at[panel]].unit : "";
    struct curve curve[CURVES];
    char name[80], along[96];
    double width = LINE_WIDTH / 2.0, height = (LINE_HEIGHT - 40) / 2.0;
    int n = panel_curves(l, panel, x, x + l->n, curve);
    snprintf(name, sizeof name, *unit ? "%s [%s]" : "%s", NAME[panel], unit);
    unit_axis(&l->r->head, l->column[0].name, (struct unit){1, l->column[0].unit}, along,
              sizeof along);
    struct chart h = {
        .x = {0, l->column[0].worth, false, along},
        .y = {.log = panel != VELOCITY && panel < LINE_EXACT && l->o->log, .name = name},
        .in = frame_in((struct box){place % 2 * width, 40 + place / 2 * height, width, height}, 0),
        .n = n,
        .curve = curve};
    if (panel == LINE_EXACT) {
        h.y.whole = true;
        h.y.lo = INFINITY, h.y.hi = -INFINITY;
        for (int i = 0; i < l->n; i++)
            h.y.lo = fmin(h.y.lo, curve[0].y[i] - 1.5), h.y.hi = fmax(h.y.hi, curve[0].y[i] + 1.5);
    }
    if (n) chart_draw(c, &h);
    return n > 0;
}

void line_plot(struct canvas *c, const void *line)
{
    const struct line *l = line;
    double *x = mem_new(sizeof *x * ((size_t)l->n * CURVES + 2 * SAMPLES), "line");
    values(l, 0, x);
    canvas_write(c, &(struct label){LINE_WIDTH / 2.0, 30, ANCHOR_MIDDLE, false, l->title, 15});
    for (int k = 0, place = 0; k < PANELS; k++) place += draw_panel(c, l, k, place, x);
    FREE(x);
}
