/* chem/advance: sub-steps of a batch of cells (chem/species_kern.h, chem/exact_kern.h). The first
 * round tries the whole step of all cells, in vectors. Cells that need shorter ones are copied to
 * working rows. Each further round tries one sub-step of all of these; the last cell then moves
 * into the place of one that is at its end, so that vectors stay full. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "chem/chem.h"
#include "chem/exact_kern.h"

enum { STEPS = 100000 }; /* maximum of sub-steps */
enum { ROWS = 16 + 16 * CHEM_GROUPS };

/* Rows of struct chem_cells, by their offsets in numbers: those that come back as they are, those
 * that are added, and those that are only read. */
struct rows {
    int copied, added, all, at[ROWS];
};

struct work {
    struct chem_cells c;
    int n, cell[CHEM_BATCH];
    double h[CHEM_BATCH], left[CHEM_BATCH]; /* s */
    struct rows rows;
};

#define ROW(member) ((int)(offsetof(struct chem_cells, member) / sizeof(double)))

static bool has_fraction(const struct chem_par *p, int i)
{
    return i == CHEM_XHII || (i == CHEM_XHI ? p->h2 : p->helium);
}

static struct rows rows_of(const struct chem_par *p, const struct chem_cells *c)
{
    struct rows r = {.at = {ROW(T2)}};
    int n = 1;
    for (int i = 0; i < CHEM_FRACTIONS; i++)
        if (has_fraction(p, i)) r.at[n++] = ROW(x) + i * CHEM_BATCH;
    for (int g = 0; g < p->groups; g++) r.at[n++] = ROW(N) + g * CHEM_BATCH;
    for (int i = 0; i < 3 * p->groups; i++) r.at[n++] = ROW(F) + i * CHEM_BATCH;
    r.copied = n;
    if (p->advect && p->groups > 0)
        for (int i = 0; i < 3; i++) r.at[n++] = ROW(momentum) + i * CHEM_BATCH;
    for (int g = 0; p->advect && g < p->groups; g++) r.at[n++] = ROW(absorbed) + g * CHEM_BATCH;
    for (int g = 0; p->law.emits && g < p->groups; g++) r.at[n++] = ROW(emitted) + g * CHEM_BATCH;
    r.added = n;
    r.at[n++] = ROW(nH);
    r.at[n++] = ROW(Z);
    r.at[n++] = ROW(cools);
    for (int g = 0; c->smooth && g < p->groups; g++) r.at[n++] = ROW(N_rate) + g * CHEM_BATCH;
    for (int i = 0; c->smooth && i < 3 * p->groups; i++) r.at[n++] = ROW(F_rate) + i * CHEM_BATCH;
    r.all = n;
    return r;
}

/* Fills the rest of the last vector with copies of the last cell. */
static void pad(const struct rows *r, struct chem_cells *c, int n)
{
    for (int i = 0; i < r->all && n > 0; i++) {
        double *row = (double *)c + r->at[i];
        for (int k = n; k % VEC; k++) row[k] = row[n - 1];
    }
}

/* Returns cell k, and moves the last one into its place. */
static void work_leave(struct work *w, struct chem_cells *c, int k)
{
    const struct rows *r = &w->rows;
    double *to = (double *)c + w->cell[k], *row = (double *)&w->c;
    int last = --w->n, i = 0;
    for (; i < r->copied; i++) to[r->at[i]] = row[r->at[i] + k];
    for (; i < r->added; i++) to[r->at[i]] += row[r->at[i] + k];
    if (k == last) return;
    for (i = 0; i < r->all; i++) row[r->at[i] + k] = row[r->at[i] + last];
    w->cell[k] = w->cell[last];
    w->h[k] = w->h[last];
    w->left[k] = w->left[last];
}

VEC_INLINE void pull_state(const struct chem_par *p, const struct chem_cells *c, int k,
                           struct chem_state *s)
{
    s->T2 = vec_load(c->T2 + k);
    for (int i = 0; i < CHEM_FRACTIONS; i++)
        s->x[i] = has_fraction(p, i) ? vec_load(c->x[i] + k) : vec_of(0);
    for (int g = 0; g < p->groups; g++) {
        s->N[g] = vec_load(c->N[g] + k);
        for (int i = 0; i < 3; i++) s->F[g][i] = vec_load(c->F[g][i] + k);
    }
}

VEC_INLINE void push(double *row, vec x, vec_bits ok)
{
    vec_store(row, vec_pick(ok, x, vec_load(row)));
}

VEC_INLINE void push_sum(double *row, vec x, vec_bits ok)
{
    vec_store(row, vec_load(row) + vec_pick(ok, x, vec_of(0)));
}

VEC_INLINE void push_state(const struct chem_par *p, struct chem_cells *c, int k,
                           const struct chem_state *s, vec_bits ok)
{
    push(c->T2 + k, s->T2, ok);
    for (int i = 0; i < CHEM_FRACTIONS; i++)
        if (has_fraction(p, i)) push(c->x[i] + k, s->x[i], ok);
    for (int g = 0; g < p->groups; g++) {
        push(c->N[g] + k, s->N[g], ok);
        for (int i = 0; i < 3; i++) push(c->F[g][i] + k, s->F[g][i], ok);
    }
}

VEC_INLINE void push_sums(const struct chem_par *p, struct chem_cells *c, int k,
                          const struct chem_state *s, vec_bits ok)
{
    if (!p->advect || p->groups == 0) return;
    for (int i = 0; i < 3; i++) push_sum(c->momentum[i] + k, s->momentum[i], ok);
    for (int g = 0; g < p->groups; g++) {
        push_sum(c->absorbed[g] + k, s->absorbed[g], ok);
        if (p->law.emits) push_sum(c->emitted[g] + k, s->emitted[g], ok);
    }
}

VEC_INLINE void pull_given(const struct chem_par *p, const struct chem_cells *c, int k,
                           struct chem_given *v)
{
    v->nH = vec_load(c->nH + k);
    v->Z = vec_load(c->Z + k);
    v->cools = vec_load(c->cools + k);
    v->smooth = c->smooth;
    for (int g = 0; c->smooth && g < p->groups; g++) {
        v->N_rate[g] = vec_load(c->N_rate[g] + k);
        for (int i = 0; i < 3; i++) v->F_rate[g][i] = vec_load(c->F_rate[g][i] + k);
    }
}

static void count_refused(const struct chem_work *now, int n, struct chem_stats *stats)
{
    for (int k = 0; k < n; k++)
        for (int r = 0; r < CHEM_REASONS; r++)
            if (now->over[r][k]) {
                stats->refused[r]++;
                break;
            }
}

/* Time that is left, and the lengths of the next sub-steps. */
static void clocks(struct work *w, int first, const struct chem_work *now, vec_bits refused,
                   struct chem_stats *stats)
{
    vec h = vec_load(w->h + first), left = vec_load(w->left + first);
    vec rest = vec_pick(refused, left, left - h);
    vec next = vec_min(vec_pick(now->tight, h, h * 2), rest);
    vec_store(w->left + first, rest);
    vec_store(w->h + first, vec_pick(refused, h * 0.5, next));
    if (chem_any(refused)) count_refused(now, w->n - first < VEC ? w->n - first : VEC, stats);
}

VEC_INLINE void step_of(const struct chem_par *p, const struct chem_given *v,
                        const struct chem_state *s, struct chem_work *now, struct chem_state *next,
                        vec h)
{
    if (p->rule == CHEM_RAMSES)
        chem_step_ramses(p, v, s, now, next, h);
    else
        chem_step_exact(p, v, s, now, next, h);
}

static void try_steps(const struct chem_par *p, struct work *w, int k, struct chem_stats *stats)
{
    struct chem_state s, next;
    struct chem_given v;
    struct chem_work now;
    pull_state(p, &w->c, k, &s);
    pull_given(p, &w->c, k, &v);
    step_of(p, &v, &s, &now, &next, vec_load(w->h + k));
    vec_bits refused = chem_refused(&now);
    push_state(p, &w->c, k, &next, ~refused);
    push_sums(p, &w->c, k, &next, ~refused);
    clocks(w, k, &now, refused, stats);
}

/* ---- the first round ---- */

/* A cell with its rates becomes the last one of the working rows. */
static void keep(const struct chem_par *p, struct work *w, const struct chem_state *s,
                 const struct chem_given *v, int lane)
{
    struct chem_cells *c = &w->c;
    const int m = w->n++;
    c->T2[m] = s->T2[lane];
    for (int i = 0; i < CHEM_FRACTIONS; i++)
        if (has_fraction(p, i)) c->x[i][m] = s->x[i][lane];
    c->nH[m] = v->nH[lane];
    c->Z[m] = v->Z[lane];
    c->cools[m] = v->cools[lane];
    for (int g = 0; g < p->groups; g++) {
        c->N[g][m] = s->N[g][lane];
        if (v->smooth) c->N_rate[g][m] = v->N_rate[g][lane];
        for (int i = 0; i < 3; i++) c->F[g][i][m] = s->F[g][i][lane];
        for (int i = 0; i < 3 && v->smooth; i++) c->F_rate[g][i][m] = v->F_rate[g][i][lane];
    }
    for (int i = w->rows.copied; i < w->rows.added; i++) ((double *)c)[w->rows.at[i] + m] = 0;
}

/* The whole step of the cells from k on; those for which it is too long are kept. */
static void try_whole(const struct chem_par *p, struct chem_cells *c, int k, double dt,
                      struct work *w, struct chem_stats *stats)
{
    const int n = c->n - k < VEC ? c->n - k : VEC;
    struct chem_state s, next;
    struct chem_given v;
    struct chem_work now;
    pull_state(p, c, k, &s);
    pull_given(p, c, k, &v);
    chem_enter(p, &s);
    if (p->rule == CHEM_EXACT) exact_enter(p, &s, &v, vec_of(dt));
    step_of(p, &v, &s, &now, &next, vec_of(dt));
    vec_bits refused = chem_refused(&now);
    push_state(p, c, k, &next, ~refused);
    push_sums(p, c, k, &next, ~refused);
    if (!chem_any(refused)) return;
    count_refused(&now, n, stats);
    for (int lane = 0; lane < n; lane++) {
        if (!refused[lane]) continue;
        w->cell[w->n] = k + lane;
        w->h[w->n] = 0.5 * dt;
        w->left[w->n] = dt;
        keep(p, w, &s, &v, lane);
    }
}

static void first_round(const struct chem_par *p, struct chem_cells *c, double dt, struct work *w,
                        struct chem_stats *stats)
{
    w->rows = rows_of(p, c);
    w->n = 0;
    w->c.smooth = c->smooth;
    pad(&w->rows, c, c->n);
    for (int k = 0; k < c->n; k += VEC) try_whole(p, c, k, dt, w, stats);
    pad(&w->rows, &w->c, w->n);
    for (int k = w->n; k % VEC; k++) w->h[k] = w->left[k] = dt;
    stats->cells += c->n;
    stats->steps += c->n;
}

/* The error of a cell that does not reach its end, with its state. */
static enum err stuck(const struct chem_par *p, const struct work *w, double dt,
                      struct chem_stats *stats)
{
    const struct chem_cells *c = &w->c;
    char photons[64 * CHEM_GROUPS] = "";
    int k = 0;
    for (int i = 1; i < w->n; i++)
        if (w->cell[i] < w->cell[k]) k = i;
    for (int g = 0; g < p->groups; g++) {
        size_t used = strlen(photons);
        snprintf(photons + used, sizeof photons - used, "%s%.4g", g ? " " : ", photons/cm^3 ",
                 c->N[g][k]);
    }
    stats->stuck = w->cell[k];
    FAIL(ERR_LIMIT,
         "thermochemistry does not reach the end of %.4g s in %d sub-steps (%.4g s are left): "
         "n_H = %.6g cm^-3, T/mu = %.6g K, x_HII = %.6g%s; reduce the time step "
         "(rt_courant_factor, courant_factor)",
         dt, STEPS, w->left[k], c->nH[k], c->T2[k], c->x[CHEM_XHII][k], photons);
}

enum err chem_advance(const struct chem_par *p, struct chem_cells *c, double dt,
                      struct chem_stats *stats)
{
    struct work w;
    int rounds = 1;
    if (c->n == 0 || !(dt > 0)) return OK;
    first_round(p, c, dt, &w, stats);
    for (; w.n > 0 && rounds < STEPS; rounds++) {
        stats->steps += w.n;
        for (int k = 0; k < w.n; k += VEC) try_steps(p, &w, k, stats);
        for (int k = w.n - 1; k >= 0; k--)
            if (!(w.left[k] > 0)) work_leave(&w, c, k);
    }
    if (rounds > stats->max_steps) stats->max_steps = rounds;
    if (w.n == 0) return OK;
    enum err err = stuck(p, &w, dt, stats);
    while (w.n > 0) work_leave(&w, c, w.n - 1);
    return err;
}
