/* audit/check_cells: values of cells, and whether a split cell is the mean of its children.
 *
 * Means are compared for density, momentum, rho times scalar, and the energy: the mean total energy
 * (interpol_var 0), or the mean internal energy plus the kinetic energy of the mean momentum
 * (interpol_var 1, 2); agreement with either is enough. Densities of children below smallr count as
 * smallr in the mean, as in RAMSES and in hydro_restrict_cell. The values of the parent cell come
 * with its oct, the mean with the oct of the children, perhaps from another file; whichever is read
 * first waits in a row of a table. The table takes as many octs as memory allows; the files are
 * read once for each pass. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/check_priv.h"
#include "base/mem.h"
#include "ckpt/gas.h"
#include "ckpt/magnetic.h"
#include "oct/gas_kern.h"

/* Relative tolerance. Means follow from primitive variables, which have lost the last bits. */
static const double TOLERANCE = 1e-10;

enum { FREE_ROW, FATHER, SONS, DONE };

struct cells {
    struct check *k;
    const struct tree_table *t;
    int density, pressure; /* field indices; -1: absent */
    /* true if the fields are density, velocities, pressure and scalars in this order, perhaps with
     * a magnetic field before the pressure */
    bool known;
    int nvar;         /* variables as gas_conserved takes them, with three velocities */
    int at[NVAR_MAX]; /* their fields; -1: no such velocity */
    /* RAMSES-RT with static_gas=.true. leaves momentum, energy and ions of split cells as they were
     * when the cells were split; files do not say whether the gas was static */
    bool stale[NVAR_MAX];
    struct magnetic b;
    bool first; /* first pass, in which single values are checked */
    int nrow;   /* values per row: conserved variables, internal energy, magnitude of the energy */
    int64_t from, to; /* range of tree-table rows in this pass */
    double *wait;     /* [to - from][nrow] pending values */
    unsigned char *state;
    double *u[NVAR_MAX], *store; /* conserved variables of one cell of every oct of a batch */
    double *mean;                /* [nrow][CKPT_BATCH] means of the children */
};

static void report_value(struct cells *c, enum check_kind kind, const struct source_octs *o, int i,
                         int cell, int field, double v)
{
    struct check *k = c->k;
    char path[PATH_MAX], location[CHECK_LOCATION];
    if (k->count[kind] >= CHECK_MAX) {
        k->count[kind]++, k->found->damages++;
        return;
    }
    source_file(k->r, source_file_of(k->r, field), o->piece, path);
    check_place(k, o->level, o->key[i], cell, location);
    check_report(k, kind, path, location, "%s is %.9g",
                 kind == BAD_ENERGY ? "energy" : k->r->field[field].name, v);
}

static void check_field(struct cells *c, const struct source_octs *o, int f, int cell)
{
    const double *v = o->val[8 * f + cell];
    const struct source *s = c->k->r;
    const bool photons = f >= s->nfield - s->nphoton &&
                         (f - (s->nfield - s->nphoton)) % (1 + s->head.ndim) == 0;
    for (int i = 0; i < o->n; i++) {
        if (!isfinite(v[i]))
            report_value(c, BAD_FINITE, o, i, cell, f, v[i]);
        else if ((f == c->density && !(v[i] > 0)) || (photons && v[i] < 0))
            report_value(c, BAD_DENSITY, o, i, cell, f, v[i]);
    }
}

/* Judges the energy of a cell. In cold, fast gas the pressure is a small difference of large
 * energies and is lost to truncation: without pressure_fix the scheme leaves negative pressures,
 * now and then an energy slightly below zero, and far below zero next to a blast wave in a near
 * vacuum. Values that match their checksums are the values of the run. Without checksums, a value
 * far below the mean of the oct is damage. */
static void check_energy(struct cells *c, const struct source_octs *o, int i)
{
    const int cells = source_cells(c->k->r);
    const double max = -0.01 / cells;
    double energy[8], whole = 0;
    for (int cell = 0; cell < cells; cell++) {
        double p = o->val[8 * c->pressure + cell][i], rho = o->val[8 * c->density + cell][i],
               v[3] = {0};
        for (int d = 0; d < 3; d++)
            if (c->at[1 + d] >= 0) v[d] = o->val[8 * c->at[1 + d] + cell][i];
        double kinetic = gas_kinetic_v(rho, v[0], v[1], v[2]);
        energy[cell] = gas_internal_of(p, c->k->gamma) + kinetic;
        if (energy[cell] > 0 && isfinite(energy[cell])) whole += energy[cell];
        if (p < 0 && isfinite(p)) c->k->found->cold++;
    }
    for (int cell = 0; cell < cells && !c->k->found->sums; cell++)
        if (isfinite(energy[cell]) && energy[cell] < max * whole)
            report_value(c, BAD_ENERGY, o, i, cell, c->pressure, energy[cell]);
}

static void check_values(struct cells *c, const struct source_octs *o)
{
    for (int cell = 0; cell < source_cells(c->k->r); cell++)
        for (int f = 0; f < c->k->r->nfield; f++) check_field(c, o, f, cell);
    for (int i = 0; c->known && i < o->n; i++) check_energy(c, o, i);
}

/* ---- restriction ---- */

static void conserved_of(struct cells *c, const struct source_octs *o, int cell)
{
    static const double zero[CKPT_BATCH];
    const double *prim[NVAR_MAX], *b[6];
    for (int v = 0; v < c->nvar; v++) prim[v] = c->at[v] < 0 ? zero : o->val[8 * c->at[v] + cell];
    const struct gas_equation g = {c->nvar, c->k->gamma, c->k->smallr, &c->k->r->head.energy};
    gas_conserved(&g, o->n, prim, c->u);
    for (int f = 0; f < 6 && c->b.there; f++) b[f] = o->val[8 * c->b.face[f] + cell];
    if (c->b.there) gas_add_field(o->n, b, c->u[GAS_ENERGY]);
}

/* Value v of the row of a cell: v < nvar is a conserved variable; the next two are the internal
 * energy and the magnitude of the energy, the scale of its round-off, since energies of cold gas
 * may have either sign. */
static double row_value(const struct cells *c, const struct source_octs *o, int cell, int i, int v)
{
    double inside = o->val[8 * c->pressure + cell][i];
    inside = gas_internal_of(inside, c->k->gamma);
    if (v < c->nvar) return c->u[v][i];
    return v == c->nvar ? inside : fabs(inside) + fabs(c->u[4][i] - inside);
}

static double mean_part(const struct cells *c, const struct source_octs *o, int cell, int i, int v)
{
    double x = row_value(c, o, cell, i, v);
    return (v == 0 && x < c->k->smallr ? c->k->smallr : x) / source_cells(c->k->r);
}

/* The maximum relative difference of the parent cell a from the mean of its children b. Momentum is
 * scaled by the kinetic energy, since means may cancel, and energy by its magnitude. */
static double difference(const struct cells *c, const double *a, const double *b)
{
    double size = fmax(a[c->nvar + 1], b[c->nvar + 1]);
    double worst = 0, speed = sqrt(2 * fabs(b[0]) * size);
    for (int v = 0; v < c->nvar; v++) {
        double scale = fmax(fabs(a[v]), fabs(b[v])), d = fabs(a[v] - b[v]);
        if (c->stale[v]) continue;
        if (v >= 1 && v <= 3) scale = fmax(scale, speed);
        if (v == 4) scale = size, d = fmin(d, fabs(a[c->nvar] - b[c->nvar]));
        if (v > 4) d -= 1e-12 * fabs(b[0]); /* allows for scalars that cancel to zero */
        if (d > worst * scale) worst = d / scale;
    }
    return worst;
}

static void report_restriction(struct cells *c, int piece, int level, okey key, const double *a,
                               const double *b)
{
    struct check *k = c->k;
    char path[PATH_MAX], location[CHECK_LOCATION];
    int worst = 0;
    double max = -1, speed = sqrt(2 * fabs(b[0]) * b[c->nvar + 1]);
    if (k->count[BAD_RESTRICTION] >= CHECK_MAX) {
        k->count[BAD_RESTRICTION]++, k->found->damages++;
        return;
    }
    for (int v = 0; v < c->nvar; v++) {
        double d = fabs(a[v] - b[v]) / fmax(fmax(fabs(a[v]), fabs(b[v])), 1e-300);
        if (v >= 1 && v <= 3) d = fabs(a[v] - b[v]) / fmax(speed, 1e-300);
        if (isnan(d)) d = HUGE_VAL;
        if (d > max && !c->stale[v]) max = d, worst = v;
    }
    source_file(k->r, FILES_HYDRO, piece, path);
    check_place(k, level - 1, key >> 3, (int)(key & 7), location);
    const char *name = k->r->field[c->at[worst]].name;
    bool momentum = worst >= 1 && worst <= 3;
    check_report(k, BAD_RESTRICTION, path, location,
                 "split cell has %s%s %.15g, the mean of its children is %.15g",
                 momentum     ? "density times "
                 : worst == 4 ? "energy, not "
                 : worst > 4  ? "density times "
                              : "",
                 name, a[worst], b[worst]);
}

/* Takes one half of a pair of parent cell and child mean, and compares once both have arrived. */
static void bring(struct cells *c, const struct source_octs *o, int i, int level, okey key,
                  int what, int cell)
{
    const struct tree_row *row = tree_table_find(c->t, level, key);
    double now[NVAR_MAX + 2];
    if (!row) return; /* the oct is missing from the tree, as already reported */
    int64_t at = c->t->base[level] + (row - c->t->row[level]) - c->from;
    if (at < 0 || at >= c->to - c->from || c->state[at] == DONE || c->state[at] == what) return;
    for (int v = 0; v < c->nrow; v++) {
        now[v] = what == SONS ? c->mean[(size_t)v * CKPT_BATCH + (size_t)i]
                              : row_value(c, o, cell, i, v);
    }
    double *wait = c->wait + at * c->nrow;
    if (c->state[at] == FREE_ROW) {
        memcpy(wait, now, sizeof *now * (size_t)c->nrow);
        c->state[at] = (unsigned char)what;
        return;
    }
    const double *a = what == FATHER ? now : wait, *b = what == FATHER ? wait : now;
    double d = difference(c, a, b);
    c->state[at] = DONE;
    if (d > c->k->found->restricted) c->k->found->restricted = d;
    if (!(d <= TOLERANCE)) report_restriction(c, o->piece, level, key, a, b);
}

static void check_restriction(struct cells *c, const struct source_octs *o)
{
    memset(c->mean, 0, sizeof *c->mean * (size_t)c->nrow * CKPT_BATCH);
    for (int cell = 0; cell < source_cells(c->k->r); cell++) {
        conserved_of(c, o, cell);
        for (int v = 0; v < c->nrow; v++)
            for (int i = 0; i < o->n; i++)
                c->mean[(size_t)v * CKPT_BATCH + (size_t)i] += mean_part(c, o, cell, i, v);
        for (int i = 0; i < o->n; i++)
            if (o->split[i] >> cell & 1)
                bring(c, o, i, o->level + 1, o->key[i] << 3 | (okey)cell, FATHER, cell);
    }
    for (int i = 0; o->level > 1 && i < o->n; i++) bring(c, o, i, o->level, o->key[i], SONS, 0);
}

/* ---- reading ---- */

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct cells *c = ctx;
    if (c->first) check_values(c, o);
    if (c->nrow) check_restriction(c, o);
    return OK;
}

static enum err read_turn(struct cells *c)
{
    struct source *r = c->k->r;
    memset(&r->counts, 0, sizeof r->counts);
    if (c->nrow) memset(c->state, FREE_ROW, (size_t)(c->to - c->from));
    for (int piece = 0; piece < r->npiece; piece++)
        TRY(check_judge(c->k, source_octs(r, piece, SOURCE_STORED, take_octs, c)));
    return OK;
}

/* Finds the variables among the fields. The magnetic field of another code is before the pressure,
 * that of Ptah is behind the gas. */
static void find_variables(struct cells *c)
{
    const struct source *r = c->k->r;
    c->b = magnetic_of(r);
    const int velocities = gas_velocities(r->head.ndim, c->b.there),
              first = gas_in_file(velocities, GAS_PRESSURE),
              faces = c->b.there && c->b.face[0] == first ? 6 : 0;
    c->nvar = r->nhydro - faces + 3 - velocities;
    c->known = c->density == 0 && c->pressure == first + faces && c->nvar <= NVAR_MAX;
    for (int v = 0; v < c->nvar && v < NVAR_MAX; v++) {
        c->at[v] = gas_in_file(velocities, v);
        if (c->at[v] >= first) c->at[v] += faces;
        if (!r->foreign || r->head.radiation.ions == 0 || c->at[v] < 0) continue;
        c->stale[v] = (v >= 1 && v <= 4) || strncmp(r->field[c->at[v]].name, "x_H", 3) == 0;
    }
}

enum err check_cells(struct check *k, const struct tree_table *t)
{
    const struct source *r = k->r;
    struct cells c = {.k = k, .t = t, .density = -1, .pressure = -1, .first = true};
    for (int f = 0; f < r->nhydro; f++) {
        if (strcmp(r->field[f].name, "density") == 0) c.density = f;
        if (strcmp(r->field[f].name, "pressure") == 0 ||
            strcmp(r->field[f].name, "thermal_pressure") == 0)
            c.pressure = f;
    }
    find_variables(&c);
    int64_t rows = t->base[LEVEL_MAX + 1], room = rows;
    /* otherwise RAMSES does not restrict to coarser levels */
    if (c.known && r->head.levelmin < r->head.levelmax) {
        c.nrow = c.nvar + 2;
        int64_t max = (int64_t)(k->how->memory / (sizeof *c.wait * (size_t)c.nrow + 1));
        if (room > max) room = max > 1 ? max : 1;
        c.wait = mem_new(sizeof *c.wait * (size_t)c.nrow * (size_t)room + 1, "check");
        c.state = mem_new((size_t)room + 1, "check");
        c.store = mem_new(sizeof *c.store * (size_t)c.nvar * CKPT_BATCH, "check");
        c.mean = mem_new(sizeof *c.mean * (size_t)c.nrow * CKPT_BATCH, "check");
        for (int v = 0; v < c.nvar; v++) c.u[v] = c.store + (size_t)v * CKPT_BATCH;
    }
    enum err err = OK;
    for (int64_t at = 0; err == OK && at < rows; at += room, c.first = false) {
        c.from = at, c.to = rows - at < room ? rows : at + room;
        err = read_turn(&c);
        if (!c.nrow) break;
    }
    FREE(c.wait);
    FREE(c.state);
    FREE(c.store);
    FREE(c.mean);
    return err;
}
