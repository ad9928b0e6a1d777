/* Particles on a mesh refined in two nested spheres, their steps, and verification by brute
 * force. */
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "part/part.h"

enum { LMIN = 4, LMAX = 6, NPART = 20000, STEPS = 6 };
static const double QUANTUM = 0x1p-60;
static int dims = 3; /* dimensions of the worlds that are made */
static int64_t passed, failed;
static struct comm all;
static const struct comm alone = {.size = 1};
static const bool periodic_box[6];

static inline void check(bool ok, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(&all, &bad, 1);
    passed += !bad;
    failed += bad;
    if (bad && all.rank == 0) printf("FAILED: %s\n", what);
}

/* ---- a small world ---- */

struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
    struct parts p;
    /* sum over all deposits so far, over own rows; the sum over ranks is compared */
    uint64_t digest;
    int64_t total; /* number of particles deposited on levelmin in the last step */
    /* particles on the wrong level or host after part_hand_down; particles correctly outside of
     * their host */
    int64_t misplaced, escaped;
    int64_t wrong_cells; /* deposits that brute force does not confirm (one rank only) */
};

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline double uniform(int64_t id, uint64_t what)
{
    return (double)(mix((uint64_t)id * 0x9e3779b97f4a7c15u + what * 0xd1342543de82ef95u) >> 11) *
           0x1p-53;
}

/* Axes that the mesh lacks have the coordinate 0. */
static inline void cell_centre(const struct mesh *m, int l, okey k, int cell, double x[3])
{
    int64_t o[3];
    okey_coords(k, o);
    for (int d = 0; d < 3; d++) {
        double at = ((double)(2 * o[d] + (cell >> d & 1)) + 0.5) * mesh_dx(m, l);
        x[d] = d < m->ndim ? at : 0;
    }
}

/* Two nested spheres across the face x = 0. */
static inline bool want_split(const struct mesh *m, int l, okey k, int cell)
{
    static const double centre[3] = {0.05, 0.5, 0.45}, radius[2] = {0.25, 0.155};
    double x[3], r2 = 0;
    cell_centre(m, l, k, cell, x);
    for (int d = 0; d < m->ndim; d++) {
        double s = x[d] / m->boxlen - centre[d];
        s -= rint(s);
        r2 += s * s;
    }
    return r2 < radius[l - LMIN] * radius[l - LMIN];
}

/* Domains with cut planes that cross the spheres, and octs. */
static inline struct domain *balanced_domain(const struct mesh *m, const struct comm *c,
                                             enum domain_kind kind)
{
    struct domain *d = domain_new_in(m->ndim, kind, c->size, m->levelmax, m->bounded), *e;
    if (c->size == 1) return d;
    int64_t n = 0, total = (int64_t)1 << 3 * LMIN;
    size_t max = (size_t)(total / c->size + 1);
    int *level = mem_new(sizeof *level * max, "test");
    okey *key = mem_new(sizeof *key * max, "test");
    double *cost = mem_new(sizeof *cost * max, "test");
    for (int64_t k = c->rank; k < total; k += c->size) {
        int64_t q[3];
        okey_coords((okey)k, q);
        if ((m->ndim < 3 && q[2] > 0) || (m->ndim < 2 && q[1] > 0)) continue;
        level[n] = LMIN + 1;
        key[n] = (okey)k;
        cost[n++] = 1 + 30 * want_split(m, LMIN, (okey)k >> 3, (int)(k & 7)) + uniform(k, 7);
    }
    e = domain_balance(
        d, kind, c, &(struct domain_load){.n = n, .level = level, .key = key, .cost = cost}, NULL);
    domain_free(d);
    FREE(level);
    FREE(key);
    FREE(cost);
    return e;
}

static inline void world_mesh(struct world *w, struct comm c, enum domain_kind kind, int lmin,
                              int lmax, double box, const bool bounded[6])
{
    memset(w, 0, sizeof *w);
    w->c = c;
    mesh_init(&w->m, lmin, lmax, 0, false, true, box, bounded);
    mesh_set_ndim(&w->m, dims);
    w->d = balanced_domain(&w->m, &c, kind);
    adapt_build(&w->m, &w->c, w->d);
    for (int l = lmin; l < lmax; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < w->m.cells; k++)
                lv->flag[i][k] = want_split(&w->m, l, lv->key[i], k);
        adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
    }
    part_init(&w->p);
}

static inline void world_free(struct world *w)
{
    part_fini(&w->p);
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* Makes particles first, first + step, … below n; some heavy, some stars, many in the refined
 * sphere. */
static inline void world_particles(struct world *w, int64_t n, double speed)
{
    struct parts *p = &w->p;
    part_reserve(p, n / w->c.size + 1);
    for (int64_t id = w->c.rank; id < n; id += w->c.size) {
        int64_t i = p->n++;
        for (int d = 0; d < 3; d++) {
            double u = uniform(id, (uint64_t)d), narrow = d == 0 ? 0.05 : d == 1 ? 0.5 : 0.45;
            if (id % 2) u = narrow + 0.3 * (u - 0.5);
            p->x[d][i] = d < dims ? (u - floor(u)) * w->m.boxlen : 0;
            p->v[d][i] = d < dims ? speed * (uniform(id, (uint64_t)(3 + d)) - 0.5) : 0;
        }
        p->m[i] = (0.5 + uniform(id, 6)) / (double)n;
        p->id[i] = id;
        p->levelp[i] = w->m.levelmin;
        p->family[i] = id % 7 == 3 ? FAM_STAR : FAM_DM;
        p->tag[i] = (int8_t)(id % 5);
    }
    check(part_distribute(p, &w->m, &w->c, w->d) == OK,
          "part_distribute accepts particles in the box");
}

typedef void field(const struct mesh *m, int l, const double x[3], double f[3]);

static inline void set_field(struct mesh *m, field *f)
{
    for (int l = 1; l <= m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], a[3];
                cell_centre(m, l, lv->key[i], k, x);
                f(m, l, x, a);
                for (int d = 0; d < 3; d++) lv->fld[FLD_FX + d][i][k] = a[d];
            }
    }
}

static inline void field_zero(const struct mesh *m, int l, const double x[3], double f[3])
{
    f[0] = f[1] = f[2] = 0;
}

static inline void field_one(const struct mesh *m, int l, const double x[3], double f[3])
{
    f[0] = f[1] = f[2] = 1;
}

static inline void field_level(const struct mesh *m, int l, const double x[3], double f[3])
{
    f[0] = f[1] = f[2] = l;
}

static inline void field_linear(const struct mesh *m, int l, const double x[3], double f[3])
{
    for (int d = 0; d < 3; d++) f[d] = 1 + d + 2 * x[0] - 3 * x[1] + (4 + d) * x[2];
}

/* Force that differs in every cell of every level, so that any wrong cell is detected. The order of
 * additions cannot change its values. */
static inline void field_noise(const struct mesh *m, int l, const double x[3], double f[3])
{
    int64_t n = (int64_t)1 << l, at = 0;
    for (int d = 0; d < 3; d++) at = at * n + (int64_t)(x[d] / m->boxlen * (double)n);
    for (int d = 0; d < 3; d++) f[d] = 4 * m->boxlen * (uniform(at, (uint64_t)(100 * l + d)) - 0.5);
}

/* ---- deposits and steps ---- */

struct grid {
    int64_t (*mass)[8], (*number)[8];
};

static inline struct grid deposit(struct world *w, int l, double mass_cut, int cic_levelmax)
{
    struct level *lv = &w->m.lev[l];
    size_t n = sizeof(int64_t[8]) * (size_t)lv->noct + 1;
    struct grid g = {mem_zero(n, "test"), mem_zero(n, "test")};
    part_deposit(&w->p, &w->m, l, QUANTUM, mass_cut, cic_levelmax, g.mass, g.number);
    ghost_add_i64(&w->c, &lv->plan, 2, (int64_t(*[])[8]){g.mass, g.number});
    return g;
}

static inline void grid_free(struct grid *g)
{
    FREE(g->mass);
    FREE(g->number);
}

static inline void grid_sums(const struct world *w, int l, const struct grid *g, int64_t sum[2])
{
    sum[0] = sum[1] = 0;
    for (lidx i = 0; i < w->m.lev[l].nown; i++)
        for (int k = 0; k < 8; k++) {
            sum[0] += g->mass[i][k];
            sum[1] += g->number[i][k];
        }
    comm_add_i64(&w->c, sum, 2);
}

static inline void digest_grid(struct world *w, int l, const struct grid *g)
{
    const struct level *lv = &w->m.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            w->digest += mix(mix((uint64_t)lv->key[i] * 8 + (uint64_t)k) +
                             (uint64_t)g->mass[i][k] * 3 + (uint64_t)g->number[i][k] * 5 +
                             (uint64_t)l);
}

/* Number of cells whose deposit differs from its definition, on one rank: cells by key. */
static inline int64_t brute_differs(const struct world *w, int l, const struct grid *g)
{
    const struct parts *p = &w->p;
    const struct level *lv = &w->m.lev[l];
    int64_t n = (int64_t)1 << l, bad = 0,
            (*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct + 1, "test");
    for (int64_t i = p->first[l]; i < p->n; i++)
        for (int c = 0; c < w->m.cells; c++) {
            double vol = 1;
            int64_t q[3] = {0};
            for (int d = 0; d < dims; d++) {
                double u = mesh_cells(&w->m, l, p->x[d][i]) - 0.5, f = floor(u);
                vol *= c >> d & 1 ? u - f : 1 - (u - f);
                q[d] = ((int64_t)f + (c >> d & 1)) & (n - 1);
            }
            lidx o = mesh_find(
                lv, okey_make((uint64_t)q[0] >> 1, (uint64_t)q[1] >> 1, (uint64_t)q[2] >> 1));
            if (o >= 0)
                mass[o][(q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2] += llrint(p->m[i] /
                                                                                  QUANTUM * vol);
        }
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) bad += mass[i][k] != g->mass[i][k];
    FREE(mass);
    return bad;
}

/* Checks level and host of each particle, by key, right after part_hand_down. */
static inline void check_places(struct world *w, int l)
{
    const struct parts *p = &w->p;
    for (int64_t i = p->first[l]; i < p->n; i++) {
        int k = i < p->first[l + 1] ? l : l + 1;
        const struct level *lv = &w->m.lev[k];
        int64_t q[3];
        for (int d = 0; d < 3; d++) q[d] = (int64_t)mesh_cells(&w->m, k, p->x[d][i]);
        lidx o = mesh_find(
            lv, okey_make((uint64_t)q[0] >> 1, (uint64_t)q[1] >> 1, (uint64_t)q[2] >> 1));
        int cell = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
        bool escaped = k == l && l > w->m.levelmin && o < 0;
        w->escaped += escaped;
        w->misplaced += p->host[i] < 0 || p->host[i] >= lv->nown || (!escaped && o != p->host[i]) ||
                        (k == l && !escaped && lv->child[o][cell] >= 0);
    }
}

/* Particle part of a step (docs/method/step.md). */
static inline void step(struct world *w, int l, double dt)
{
    struct parts *p = &w->p;
    double dtnew[LEVEL_MAX], dtold[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) {
        dtnew[k] = dt * (1 + 0.01 * k);
        dtold[k] = dt * (2 + 0.01 * k);
    }
    part_enter(p, &w->m, &w->c, w->d, l);
    struct grid g = deposit(w, l, 0, 0);
    digest_grid(w, l, &g);
    if (w->c.size == 1) w->wrong_cells += brute_differs(w, l, &g);
    if (l == w->m.levelmin) {
        int64_t sum[2];
        grid_sums(w, l, &g, sum);
        w->total = sum[1];
    }
    grid_free(&g);
    part_hand_down(p, &w->m, &w->c, w->d, l);
    check_places(w, l);
    part_synchro(p, &w->m, l, dtnew, dtold);
    for (int k = 0; k < 2 && l < w->m.levelmax; k++) step(w, l + 1, 0.5 * dt);
    part_move(p, &w->m, l, dt);
    if (l < w->m.levelmax) part_merge(p, &w->m, l);
}

/* Whether every particle of `w` equals that of the same id in `ref`, which has ids 0..n-1. */
static inline bool same_particles(const struct world *w, const struct world *ref, int64_t n)
{
    int64_t *at = mem_new(sizeof *at * (size_t)n, "test"), total = w->p.n, bad = ref->p.n != n;
    for (int64_t i = 0; i < ref->p.n; i++) at[ref->p.id[i]] = i;
    for (int64_t i = 0; i < w->p.n; i++) {
        int64_t j = at[w->p.id[i]];
        for (int d = 0; d < 3; d++)
            bad += w->p.x[d][i] != ref->p.x[d][j] || w->p.v[d][i] != ref->p.v[d][j];
        bad += w->p.m[i] != ref->p.m[j] || w->p.levelp[i] != ref->p.levelp[j] ||
               w->p.tag[i] != ref->p.tag[j] || w->p.family[i] != ref->p.family[j];
    }
    comm_add_i64(&w->c, &total, 1);
    FREE(at);
    return bad == 0 && total == n;
}
