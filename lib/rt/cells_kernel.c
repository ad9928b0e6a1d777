/* rt/cells_kernel: chemistry of the leaf cells of a level on a device, one thread a cell, by the
 * sub-steps of lib/chem (on hosts chem/advance.c makes them for vectors of cells). A first kernel
 * tries the whole step. Most cells need no more; the others are listed, so that the threads of the
 * second kernel all have work. The order of the list is that of threads, on which no number
 * depends. */
#define VEC_ONE /* must precede vec/vec.h */
#include "chem/exact_kern.h"
#include "oct/gas_kern.h"
#include "rt/kernels.h"

enum { VALUES = PHOTON_VALUES, STEPS = 100000 }; /* STEPS: maximum of sub-steps */

/* A cell: where it is, and what it keeps. */
struct cell {
    const struct rt_cells_args *a;
    lidx oct;
    int c;
    double rho, m[3], floor, begun;
    struct chem_given given;
};

/* Counts of a block. */
struct cells_shared {
    int32_t cells, steps, failed, refused[CHEM_REASONS], most, stuck;
};

DEV_FN double *gas_of(const struct cell *x, int v)
{
    return &level_gas(&x->a->mesh->lev[x->a->l], v)[x->oct][x->c];
}

/* Sets a number of the cell, and those that repeat it along missing axes. */
DEV_FN void set(const struct cell *x, double *number, double to)
{
    for (int k = 0; x->c + k < 8; k += x->a->mesh->cells) number[k] = to;
}

/* ---- from the mesh ---- */

DEV_FN bool has_fraction(const struct chem_par *p, int i)
{
    return i == CHEM_XHII || (i == CHEM_XHI ? p->h2 : p->helium);
}

DEV_FN void read_gas(struct cell *x, struct chem_state *s)
{
    const struct rt_cell_law *w = &x->a->law;
    const struct chem_par *p = &x->a->chem;
    const struct level *lv = &x->a->mesh->lev[x->a->l];
    double e = *gas_of(x, GAS_ENERGY);
    x->rho = *gas_of(x, GAS_DENSITY);
    for (int d = 0; d < 3; d++) x->m[d] = *gas_of(x, GAS_MOMENTUM + d);
    if (lv->nener > 0) e -= gas_cell_beside(lv, x->oct, x->c);
    x->rho = x->rho > w->smallr ? x->rho : w->smallr;
    e = gas_internal(e, x->rho, x->m[0], x->m[1], x->m[2]);
    x->given.nH = x->rho * w->hydrogen;
    s->T2 = cell_T2(e, x->rho, w->per_T2);
    x->floor = 0.0;
    if (p->cooling) {
        x->floor = cooling_floor(&w->floor, x->given.nH);
        s->T2 = cell_T2_above(s->T2, x->floor, w->T2_max);
    }
    x->begun = s->T2;
    x->given.Z = w->metal >= 0 ? *gas_of(x, w->metal) / x->rho / COOL_SOLAR : w->Z;
    x->given.cools = w->delayed < 0 || *gas_of(x, w->delayed) <= COOLING_DELAYED * x->rho;
    for (int f = 0; f < CHEM_FRACTIONS; f++)
        s->x[f] = has_fraction(p, f) ? *gas_of(x, w->x[f]) / x->rho : 0.0;
}

DEV_FN double *photons_of(const struct cell *x, int v)
{
    return &x->a->mesh->lev[x->a->l].fld[FLD_PHOTONS + v][x->oct][x->c];
}

/* A value of photons, and with rt_smooth the rate at which transport has changed it. */
DEV_FN double read_value(const struct cell *x, int v, double unit, double *rate)
{
    const struct rt_cells_args *a = x->a;
    const double now = *photons_of(x, v) * unit;
    if (!a->law.smooth) return now;
    const int64_t nown = a->mesh->lev[a->l].nown;
    const double old = a->old[(v * nown + x->oct) * 8 + x->c] * unit;
    *rate = (now - old) / a->law.dt;
    return old;
}

DEV_FN void read_photons(struct cell *x, struct chem_state *s)
{
    const struct rt_cell_law *w = &x->a->law;
    x->given.smooth = w->smooth;
    for (int g = 0; g < x->a->chem.groups; g++) {
        s->N[g] = read_value(x, VALUES * g, w->unit_n, &x->given.N_rate[g]);
        for (int d = 0; d < 3; d++)
            s->F[g][d] = read_value(x, VALUES * g + 1 + d, w->unit_f, &x->given.F_rate[g][d]);
    }
}

/* The state at the begin of the step. */
DEV_FN void enter(struct cell *x, struct chem_state *s)
{
    read_gas(x, s);
    read_photons(x, s);
    chem_enter(&x->a->chem, s);
    if (x->a->chem.rule == CHEM_EXACT) exact_enter(&x->a->chem, s, &x->given, x->a->law.dt);
}

/* ---- to the mesh ---- */

/* The momentum of photons, whose work is part of the energy, temperature and fractions. */
DEV_FN void write_gas(struct cell *x, const struct chem_state *s)
{
    const struct rt_cell_law *w = &x->a->law;
    const struct level *lv = &x->a->mesh->lev[x->a->l];
    set(x, gas_of(x, GAS_DENSITY), x->rho);
    for (int d = 0; d < 3 && w->pushes; d++) {
        x->m[d] += s->momentum[d] / w->unit_m;
        set(x, gas_of(x, GAS_MOMENTUM + d), x->m[d]);
    }
    double e = cell_internal(s->T2, x->begun, x->given.cools, x->floor, x->rho, w->per_T2) +
               gas_kinetic(x->rho, x->m[0], x->m[1], x->m[2]);
    if (lv->nener > 0) e += gas_cell_beside(lv, x->oct, x->c);
    set(x, gas_of(x, GAS_ENERGY), e);
    if (w->delayed >= 0) set(x, gas_of(x, w->delayed), *gas_of(x, w->delayed) * w->decay);
    for (int f = 0; f < CHEM_FRACTIONS; f++)
        if (w->x[f] >= 0) set(x, gas_of(x, w->x[f]), s->x[f] * x->rho);
}

/* Terms of the ledger of group g. */
DEV_FN int64_t term_of(const struct cell *x, int g)
{
    return ((int64_t)g * x->a->mesh->lev[x->a->l].nown + x->oct) * 8 + x->c;
}

DEV_FN void write_photons(const struct cell *x, const struct chem_state *s)
{
    const struct rt_cell_law *w = &x->a->law;
    for (int g = 0; g < x->a->chem.groups && w->advect; g++) {
        set(x, photons_of(x, VALUES * g), m1_max(s->N[g] / w->unit_n, RT_SMALL));
        for (int d = 0; d < 3; d++)
            set(x, photons_of(x, VALUES * g + 1 + d), s->F[g][d] / w->unit_f);
        x->a->absorbed[term_of(x, g)] = s->absorbed[g] / w->unit_n * w->volume;
        if (x->a->chem.law.emits)
            x->a->emitted[term_of(x, g)] = s->emitted[g] / w->unit_n * w->volume;
    }
}

DEV_FN void write_nothing(const struct rt_cells_args *a, int64_t at)
{
    const int64_t cells = 8 * (int64_t)a->mesh->lev[a->l].nown;
    for (int g = 0; g < a->chem.groups && a->law.advect; g++) {
        a->absorbed[g * cells + at] = 0.0;
        if (a->chem.law.emits) a->emitted[g * cells + at] = 0.0;
    }
}

/* ---- sub-steps ---- */

/* Tries a sub-step of h seconds; whether it is refused. */
DEV_FN bool try_step(const struct cell *x, enum chem_rule rule, const struct chem_state *s,
                     double h, struct chem_state *next, bool *tight, struct cells_shared *n)
{
    const struct chem_par *p = &x->a->chem;
    struct chem_work now;
    if (rule == CHEM_RAMSES)
        chem_step_ramses(p, &x->given, s, &now, next, h);
    else
        chem_step_exact(p, &x->given, s, &now, next, h);
    *tight = now.tight != 0;
    if (chem_refused(&now) == 0) return false;
    int r = 0;
    while (now.over[r] == 0) r++;
    dev_add_i32(&n->refused[r], 1);
    return true;
}

/* The sums of a cell: of an accepted sub-step more. They begin with 0, as those of a batch do. */
DEV_FN void sums_add(const struct chem_par *p, struct chem_state *to, const struct chem_state *more)
{
    for (int d = 0; d < 3; d++) to->momentum[d] += more->momentum[d];
    for (int g = 0; g < p->groups; g++) {
        to->absorbed[g] += more->absorbed[g];
        to->emitted[g] += more->emitted[g];
    }
}

DEV_FN void sums_clear(const struct chem_par *p, struct chem_state *s)
{
    for (int d = 0; d < 3; d++) s->momentum[d] = 0.0;
    for (int g = 0; g < p->groups; g++) s->absorbed[g] = s->emitted[g] = 0.0;
}

/* The new values of a sub-step; the sums of `to` grow. */
DEV_FN void accept(const struct chem_par *p, struct chem_state *to, const struct chem_state *next)
{
    to->T2 = next->T2;
    for (int i = 0; i < CHEM_FRACTIONS; i++) to->x[i] = next->x[i];
    for (int g = 0; g < p->groups; g++) {
        to->N[g] = next->N[g];
        for (int d = 0; d < 3; d++) to->F[g][d] = next->F[g][d];
    }
    if (p->advect) sums_add(p, to, next);
}

DEV_FN void raise_to(int32_t *at, int32_t x)
{
    for (int32_t old = *(volatile int32_t *)at; old < x;) {
        const int32_t now = dev_swap_if(at, old, x);
        if (now == old) return;
        old = now;
    }
}

DEV_FN void counts_clear(struct cells_shared *s, struct dev_block *b)
{
    PHASE (t, CHEM_REASONS) {
        s->refused[t] = 0;
        if (t == 0) s->cells = s->steps = s->failed = s->most = s->stuck = 0;
    }
}

DEV_FN void counts_add(const struct rt_cells_args *a, struct cells_shared *s, struct dev_block *b)
{
    struct rt_cell_stats *to = a->stats;
    PHASE (t, CHEM_REASONS) {
        if (s->refused[t] != 0) dev_add_i64(&to->refused[t], s->refused[t]);
        if (t > 0) continue;
        dev_add_i64(&to->cells, s->cells);
        dev_add_i64(&to->steps, s->steps);
        if (s->failed != 0) dev_add_i64(&to->failed, s->failed);
        raise_to(&to->most, s->most);
        raise_to(&to->stuck, s->stuck);
    }
}

/* The whole step of cell c of oct i. */
DEV_FN void try_cell(const struct rt_cells_args *a, enum chem_rule rule, int64_t at,
                     struct cells_shared *n)
{
    struct cell x;
    struct chem_state s, next;
    bool tight;
    x.a = a;
    x.oct = (lidx)(at >> 3);
    x.c = (int)(at & 7);
    enter(&x, &s);
    dev_add_i32(&n->cells, 1);
    if (try_step(&x, rule, &s, a->law.dt, &next, &tight, n)) {
        write_nothing(a, at);
        a->rest[dev_add_i32(a->nrest, 1)] = at;
        return;
    }
    sums_clear(&a->chem, &s);
    accept(&a->chem, &s, &next);
    write_gas(&x, &s);
    write_photons(&x, &s);
}

DEV_FN void try_cells(const struct rt_cells_args *a, enum chem_rule rule, struct cells_shared *s,
                      struct dev_block *b)
{
    const struct level *lv = &a->mesh->lev[a->l];
    counts_clear(s, b);
    PHASE (t, RT_CELL_THREADS) {
        const int64_t at = (int64_t)b->index * RT_CELL_THREADS + t;
        const int c = (int)(at & 7);
        if (at >= 8 * (int64_t)lv->nown) continue;
        if (c < a->mesh->cells && lv->child[at >> 3][c] < 0)
            try_cell(a, rule, at, s);
        else
            write_nothing(a, at);
    }
    PHASE (t, 1) {
        s->steps = s->cells;
        s->most = s->cells > 0;
    }
    counts_add(a, s, b);
}

/* The sub-steps of a cell whose whole step was refused. */
DEV_FN void rest_of_cell(const struct rt_cells_args *a, enum chem_rule rule, int64_t at,
                         struct cells_shared *n)
{
    struct cell x;
    struct chem_state s, next;
    double left = a->law.dt, h = 0.5 * left;
    int rounds = 1;
    x.a = a;
    x.oct = (lidx)(at >> 3);
    x.c = (int)(at & 7);
    enter(&x, &s);
    sums_clear(&a->chem, &s);
    for (; left > 0 && rounds < STEPS; rounds++) {
        bool tight;
        if (try_step(&x, rule, &s, h, &next, &tight, n)) {
            h *= 0.5;
            continue;
        }
        accept(&a->chem, &s, &next);
        left -= h;
        h = vec_min(tight ? h : h * 2, left);
    }
    dev_add_i32(&n->steps, rounds - 1);
    if (left > 0) {
        dev_add_i32(&n->failed, 1);
        raise_to(&n->stuck, a->mesh->lev[a->l].nown - x.oct);
    }
    raise_to(&n->most, rounds);
    write_gas(&x, &s);
    write_photons(&x, &s);
}

DEV_FN void rest_of_cells(const struct rt_cells_args *a, enum chem_rule rule,
                          struct cells_shared *s, struct dev_block *b)
{
    counts_clear(s, b);
    for (int64_t first = (int64_t)b->index * RT_CELL_THREADS; first < *a->nrest;
         first += (int64_t)b->count * RT_CELL_THREADS)
        PHASE (t, RT_CELL_THREADS) {
            if (first + t < *a->nrest) rest_of_cell(a, rule, a->rest[first + t], s);
        }
    counts_add(a, s, b);
}

KERNEL(cells_try_exact, struct rt_cells_args, struct cells_shared, RT_CELL_THREADS)
{
    try_cells(a, CHEM_EXACT, s, b);
}

KERNEL(cells_try_ramses, struct rt_cells_args, struct cells_shared, RT_CELL_THREADS)
{
    try_cells(a, CHEM_RAMSES, s, b);
}

KERNEL(cells_rest_exact, struct rt_cells_args, struct cells_shared, RT_CELL_THREADS)
{
    rest_of_cells(a, CHEM_EXACT, s, b);
}

KERNEL(cells_rest_ramses, struct rt_cells_args, struct cells_shared, RT_CELL_THREADS)
{
    rest_of_cells(a, CHEM_RAMSES, s, b);
}
