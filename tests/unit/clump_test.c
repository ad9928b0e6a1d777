/* clump_test: peaks, saddles, merging, halos and masses against a reference that compares every
 * cell with every other one, on two levels and across the periodic boundary; equal rows on any
 * ranks; Gaussian peaks of known heights and masses; bound and unbound particles. Catches: a
 * neighbour across a corner, a level or a rank that is missed, a saddle that is lost when peaks
 * merge, a chain of merged peaks that ends too early, a tie broken by ranks, a halo without one of
 * its clumps, a velocity that includes unbound particles. */
/* test: some tier=quick */
/* test: all tier=check timeout=240 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "clump/clump.h"
#include "dom/ghost.h"
#include "half_world.h"

enum { MAX = 8 * 8 * 8 + 16 * 16 * 16, SIDE = 1 << LMAX };

static struct comm comm;
static const struct comm alone = {.size = 1};

typedef double density_fn(const double x[3], okey key, int level);

/* Centre of a cell in units of the box. */
static void centre_of(const struct level *lv, lidx i, int k, double x[3])
{
    int64_t q[3];
    okey_coords(lv->key[i] << 3 | (okey)k, q);
    for (int d = 0; d < 3; d++) x[d] = ((double)q[d] + 0.5) / (double)(1 << lv->level);
}

static void world_make(struct world *w, const struct comm *c, density_fn *fn)
{
    half_world(w, c, 5, false);
    for (int l = LMIN; l <= LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3];
                centre_of(lv, i, k, x);
                lv->fld[FLD_U][i][k] = fn(x, lv->key[i] << 3 | (okey)k, l);
                for (int v = 1; v < 5; v++) lv->fld[FLD_U + v][i][k] = x[v % 3];
            }
        ghost_fill_hydro(c, &w->m, l);
    }
}

static struct clump_field field_of(const struct world *w)
{
    struct clump_field f = {0};
    for (int l = LMIN; l <= LMAX; l++)
        f.peak[l] = f.mass[l] = f.location[l] = w->m.lev[l].fld[FLD_U];
    return f;
}

static struct clumps find(struct world *w, const struct comm *c, const struct clump_par *par)
{
    struct clumps k;
    struct clump_field f = field_of(w);
    enum err err = clump_find(par, &f, &w->m, &w->p, w->d, c, &k);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
    return k;
}

/* ---- same rows on all ranks ---- */

static bool same_row(const struct clump *a, const struct clump *b)
{
    return a->index == b->index && !memcmp(a->x, b->x, sizeof a->x) && a->mass == b->mass &&
           !memcmp(a->com, b->com, sizeof a->com) && !memcmp(a->v, b->v, sizeof a->v) &&
           a->halo_mass == b->halo_mass && a->part_mass == b->part_mass &&
           a->bound_mass == b->bound_mass && a->nbound == b->nbound && a->parent == b->parent &&
           !memcmp(a->part_v, b->part_v, sizeof a->part_v) && a->saddle == b->saddle;
}

static void compare_worlds(const struct clumps *k, const struct clumps *one)
{
    int64_t before = comm_scan_i64(&comm, k->n), all = k->n;
    comm_add_i64(&comm, &all, 1);
    CHECK(all == one->n && k->mass == one->mass && k->unbound == one->unbound &&
              k->candidates == one->candidates,
          "%ld rows, not %ld; unbound %ld of %ld, not %ld of %ld", (long)all, (long)one->n,
          (long)k->unbound, (long)k->candidates, (long)one->unbound, (long)one->candidates);
    for (int64_t i = 0; i < k->n && before + i < one->n; i++)
        CHECK(same_row(&k->at[i], &one->at[before + i]), "row %ld", (long)(before + i));
}

/* ---- the reference ---- */

struct cell {
    int level, x[3], size; /* in units of finest cells */
    okey label;
    double rho;
    int up, peak;
};

struct reference {
    int n, np;
    struct cell cell[MAX];
    int peak[MAX];  /* cell of each peak, by density */
    double *saddle; /* [np][np] densities of saddles */
    int root[MAX], parent[MAX], halo[MAX], level[MAX];
    bool alive[MAX];
    double relevance[MAX];
};

/* Offset of the centre of b from that of a, in half finest cells, nearest image. */
static int offset(const struct cell *a, const struct cell *b, int d)
{
    int x = 2 * b->x[d] + b->size - 2 * a->x[d] - a->size;
    return x > SIDE ? x - 2 * SIDE : x < -SIDE ? x + 2 * SIDE : x;
}

static bool touch(const struct cell *a, const struct cell *b)
{
    for (int d = 0; d < 3; d++)
        if (abs(offset(a, b, d)) > a->size + b->size) return false;
    return true;
}

/* Whether b precedes c among the neighbours of a: by level, then z, y, x. */
static bool before(const struct cell *a, const struct cell *b, const struct cell *c)
{
    if (b->level != c->level) return b->level < c->level;
    for (int d = 2; d >= 0; d--)
        if (offset(a, b, d) != offset(a, c, d)) return offset(a, b, d) < offset(a, c, d);
    return false;
}

static void collect(struct reference *r, const struct world *w, double threshold)
{
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            int64_t q[3];
            okey key = lv->key[i / 8] << 3 | (okey)(i % 8);
            double rho = lv->fld[FLD_U][i / 8][i % 8];
            if (lv->child[i / 8][i % 8] >= 0 || !(rho > threshold)) continue;
            struct cell *c = &r->cell[r->n++];
            *c = (struct cell){
                .level = l, .size = 1 << (LMAX - l), .rho = rho, .label = (okey)1 << 3 * l | key};
            okey_coords(key, q);
            for (int d = 0; d < 3; d++) c->x[d] = (int)q[d] * c->size;
        }
    }
}

static bool higher(const struct reference *r, int p, int q)
{
    const struct cell *a = &r->cell[r->peak[p]], *b = &r->cell[r->peak[q]];
    return a->rho != b->rho ? a->rho > b->rho : a->label < b->label;
}

static void ascend_all(struct reference *r)
{
    for (int i = 0; i < r->n; i++) {
        struct cell *a = &r->cell[i];
        a->up = -1;
        for (int j = 0; j < r->n; j++) {
            const struct cell *b = &r->cell[j], *best = a->up < 0 ? NULL : &r->cell[a->up];
            if (!touch(a, b) || !(b->rho > a->rho * 1.0001)) continue;
            if (!best || b->rho > best->rho || (b->rho == best->rho && before(a, b, best)))
                a->up = j;
        }
        if (a->up < 0) r->peak[r->np++] = i;
    }
    for (int p = 1; p < r->np; p++)
        for (int q = p; q > 0 && higher(r, q, q - 1); q--) {
            int swap = r->peak[q];
            r->peak[q] = r->peak[q - 1];
            r->peak[q - 1] = swap;
        }
    for (int i = 0; i < r->n; i++) {
        int at = i;
        while (r->cell[at].up >= 0) at = r->cell[at].up;
        for (int p = 0; p < r->np; p++)
            if (r->peak[p] == at) r->cell[i].peak = p;
    }
}

static void find_saddles(struct reference *r)
{
    r->saddle = mem_zero(sizeof *r->saddle * (size_t)(r->np * r->np + 1), "reference");
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < r->n; j++) {
            const struct cell *a = &r->cell[i], *b = &r->cell[j];
            if (a->peak == b->peak || !touch(a, b)) continue;
            double *s = &r->saddle[a->peak * r->np + b->peak];
            *s = fmax(*s, (a->rho + b->rho) / 2);
        }
}

static double highest(const struct reference *r, int p, int *to)
{
    double best = 0;
    *to = -1;
    for (int q = 0; q < r->np; q++) /* by descending density: the first of equal peaks */
        if (r->saddle[p * r->np + q] > best) best = r->saddle[p * r->np + q], *to = q;
    return best;
}

/* One merging round; returns the number of merged peaks. */
static int merge_round(struct reference *r, const struct clump_par *par, bool halos, int round)
{
    int to[MAX], q, n = 0, np = r->np;
    for (int p = 0; p < np; p++) {
        double s = highest(r, p, &q), ratio = r->cell[r->peak[p]].rho / (s > 0 ? s : par->density);
        bool due = halos ? s > par->saddle : ratio < par->relevance;
        to[p] = r->alive[p] && due && q >= 0 && higher(r, q, p) ? q : p;
    }
    for (int p = 0; p < np; p++) { /* denser peaks are already resolved */
        if (to[p] == p) continue;
        to[p] = to[to[p]];
        r->alive[p] = false;
        r->parent[p] = to[p];
        r->level[p] = round;
        n++;
    }
    double *new = mem_zero(sizeof *new *(size_t)(np * np + 1), "reference");
    for (int p = 0; p < np; p++)
        for (q = 0; q < np; q++) {
            double *s = &new[to[p] * np + to[q]];
            if (to[p] != to[q]) *s = fmax(*s, r->saddle[p * np + q]);
        }
    FREE(r->saddle);
    r->saddle = new;
    return n;
}

static void find_roots(const struct reference *r, int *root)
{
    for (int p = 0; p < r->np; p++) root[p] = r->parent[p] == p ? p : root[r->parent[p]];
}

static void merge_all(struct reference *r, const struct clump_par *par)
{
    for (int p = 0; p < r->np; p++) r->alive[p] = true, r->parent[p] = p;
    for (int round = 0; merge_round(r, par, false, round);) round++;
    find_roots(r, r->root);
    for (int p = 0, q; p < r->np; p++) {
        double s = highest(r, p, &q);
        r->relevance[p] = r->alive[p] ? r->cell[r->peak[p]].rho / (s > 0 ? s : par->density) : 0;
        r->alive[p] = r->relevance[p] > par->relevance;
        r->parent[p] = p;
        r->level[p] = 0;
    }
    for (int round = 0; par->saddle > 0 && merge_round(r, par, true, round);) round++;
    find_roots(r, r->halo);
}

static void compare_row(const struct reference *r, const struct clump_par *par,
                        const struct clump *c)
{
    int p = (int)c->index - 1, n = 0, nh = 0;
    double mass = 0, halo = 0, min = HUGE_VAL, volume = 0;
    CHECK(p >= 0 && p < r->np, "index %ld", (long)c->index);
    for (int i = 0; i < r->n && p >= 0 && p < r->np; i++) {
        const struct cell *a = &r->cell[i];
        double v = pow((double)a->size / SIDE, 3);
        if (r->halo[r->root[a->peak]] == r->halo[p]) halo += a->rho * v, nh++;
        if (r->root[a->peak] != p) continue;
        n++;
        mass += a->rho * v;
        volume += v;
        min = fmin(min, a->rho);
    }
    CHECK(c->ncell == n && c->min == min && fabs(c->volume / volume - 1) < 1e-13);
    CHECK(c->max == r->cell[r->peak[p]].rho && c->relevance == r->relevance[p], "%g, %g",
          c->relevance, r->relevance[p]);
    CHECK(fabs(c->mass / mass - 1) < 1e-13, "%.17g, %.17g", c->mass, mass);
    CHECK(c->parent == r->parent[p] + 1 && c->level == r->level[p], "parent %ld, %d",
          (long)c->parent, r->parent[p] + 1);
    CHECK(c->halo == (par->saddle > 0 ? r->halo[p] + 1 : 0));
    CHECK(c->ncell_halo == nh && fabs(c->halo_mass / halo - 1) < 1e-13, "%.17g, %.17g",
          c->halo_mass, halo);
}

static bool is_wanted(const struct reference *r, int p, const struct clump_par *par)
{
    return r->relevance[p] > par->relevance ||
           (par->saddle > 0 && r->relevance[p] > 0 && r->halo[p] == p);
}

static double noise(const double x[3], okey key, int level)
{
    struct rng g = rng_make(8, (uint64_t)key, (uint32_t)level);
    return pow(rng_uniform(&g), 3) + 0.05;
}

/* A few values only: many ties. */
static double steps(const double x[3], okey key, int level)
{
    return floor(6 * noise(x, key, level)) + 0.5;
}

static void test_reference(density_fn *fn, struct clump_par par)
{
    struct world w, whole;
    struct reference *r = mem_zero(sizeof *r, "reference");
    int64_t want = 0, n;
    world_make(&w, &comm, fn);
    world_make(&whole, &alone, fn);
    struct clumps k = find(&w, &comm, &par);
    collect(r, &whole, par.density);
    ascend_all(r);
    find_saddles(r);
    merge_all(r, &par);
    CHECK(k.cells == r->n && k.peaks == r->np, "%ld cells, %ld peaks, not %d, %d", (long)k.cells,
          (long)k.peaks, r->n, r->np);
    for (int64_t i = 0; i < k.n; i++) compare_row(r, &par, &k.at[i]);
    for (int64_t i = 1; i < k.n; i++) CHECK(k.at[i].index > k.at[i - 1].index);
    for (int p = 0; p < r->np; p++) want += is_wanted(r, p, &par);
    n = k.n;
    comm_add_i64(&comm, &n, 1);
    CHECK(n == want, "%ld rows, not %ld", (long)n, (long)want);
    struct clumps one = find(&whole, &alone, &par);
    compare_worlds(&k, &one);
    clumps_free(&one);
    clumps_free(&k);
    FREE(r->saddle);
    mem_free(r);
    world_free(&w);
    world_free(&whole);
}

/* ---- Gaussians ---- */

static const double PEAK[3][5] = {/* position, height, width */
                                  {0.30, 0.30, 0.30, 10, 0.07},
                                  {0.55, 0.30, 0.30, 8, 0.07},
                                  {0.80, 0.98, 0.02, 5, 0.09}};

static double gaussians(const double x[3], okey key, int level)
{
    double sum = 0;
    for (int p = 0; p < 3; p++) {
        double r2 = 0;
        for (int d = 0; d < 3; d++) {
            double away = remainder(x[d] - PEAK[p][d], 1);
            r2 += away * away;
        }
        sum += PEAK[p][3] * exp(-0.5 * r2 / (PEAK[p][4] * PEAK[p][4]));
    }
    return sum;
}

static void test_gaussians(void)
{
    struct world w;
    const struct clump_par par = {.density = 0.5, .relevance = 1.2, .saddle = 1};
    world_make(&w, &comm, gaussians);
    struct clumps k = find(&w, &comm, &par);
    CHECK(k.relevant == 3 && k.halos == 2, "%ld peaks, %ld halos", (long)k.relevant, (long)k.halos);
    for (int64_t i = 0; i < k.n; i++) {
        const struct clump *c = &k.at[i];
        int p = c->max > 7.5 ? 0 : c->max > 6 ? 1 : 2;
        for (int d = 0; d < 3; d++) {
            CHECK(fabs(remainder(c->x[d] - PEAK[p][d], 1)) < 0.5 / (1 << LMIN), "peak %d: %g", p,
                  c->x[d]);
            CHECK(p < 2 || fabs(remainder(c->com[d] - PEAK[p][d], 1)) < 0.02, "%g", c->com[d]);
        }
        /* the part of a Gaussian above 1/10 of its height has 0.8 of its mass */
        double mass = PEAK[p][3] * pow(2 * M_PI * PEAK[p][4] * PEAK[p][4], 1.5), q = log(10);
        double inside = erf(sqrt(q)) - 2 * sqrt(q / M_PI) * exp(-q);
        CHECK(p < 2 || fabs(c->mass / (mass * inside) - 1) < 0.1, "%g, not %g", c->mass,
              mass * inside);
        CHECK(p == 2 ||
              (c->saddle > 2 && c->saddle < 7 && c->halo == (p == 0 ? c->index : c->halo)));
        CHECK(p != 1 || (c->parent == c->halo && c->parent != c->index));
        CHECK(p < 2 || (c->saddle == 0 && c->relevance == c->max / par.density));
    }
    clumps_free(&k);
    world_free(&w);
}

/* ---- unbinding ---- */

enum { PARTS = 3000 };

/* Puts cold and hot particles around the peaks; the second peak moves. */
static void put_particles(struct world *w, const struct comm *c)
{
    struct rng g = rng_make(21, 4, 0);
    for (int64_t i = 0; i < PARTS; i++) {
        double x[3], v[3], hot = i % 4 == 0 ? 30 : 0;
        int p = (int)(i % 3);
        for (int d = 0; d < 3; d++) {
            x[d] = PEAK[p][d] + 0.5 * PEAK[p][4] * rng_normal(&g);
            x[d] -= floor(x[d]);
            v[d] = (p == 1 ? 3 : 0) + hot * (rng_uniform(&g) - 0.5) + 0.01 * rng_normal(&g);
        }
        if (i % c->size != c->rank) continue;
        int64_t at = part_append(&w->p, 1);
        for (int d = 0; d < 3; d++) w->p.x[d][at] = x[d], w->p.v[d][at] = v[d];
        w->p.m[at] = 1.0 / PARTS;
        w->p.id[at] = i;
        w->p.family[at] = FAM_DM;
        w->p.levelp[at] = LMIN;
        w->p.host[at] = -1;
    }
    CHECK(part_distribute(&w->p, &w->m, c, w->d) == OK);
    for (int l = LMIN; l <= LMAX; l++) {
        part_enter(&w->p, &w->m, c, w->d, l);
        part_hand_down(&w->p, &w->m, c, w->d, l);
    }
}

static struct clumps unbind_in(struct world *w, const struct comm *c, const struct clump_par *par)
{
    world_make(w, c, gaussians);
    put_particles(w, c);
    return find(w, c, par);
}

static void test_unbinding(bool saddle_pot, bool iterate)
{
    struct world w, whole;
    const struct clump_par par = {.density = 0.5,
                                  .relevance = 1.2,
                                  .saddle = 1,
                                  .min_mass = 1.0 / PARTS,
                                  .mass = 5,
                                  .unbind = {true, 50, true, saddle_pot, iterate, 0.01, 100, 1}};
    struct clumps k = unbind_in(&w, &comm, &par), one = unbind_in(&whole, &alone, &par);
    compare_worlds(&k, &one);
    for (int64_t i = 0; i < one.n; i++) {
        const struct clump *c = &one.at[i];
        if (c->parent == c->index) continue;
        CHECK(c->max > 6 && c->max < 8.7, "only the second peak is inside of another: %g", c->max);
        /* 750 of the 1000 particles are cold; a few are in cells of the other peak */
        CHECK(c->nbound > 600 && c->nbound <= 760, "%ld bound", (long)c->nbound);
        CHECK(fabs(c->bound_mass * PARTS - (double)c->nbound) < 1e-9);
        for (int d = 0; d < 3 && iterate; d++)
            CHECK(fabs(c->part_v[d] - 3) < 0.1, "velocity %g", c->part_v[d]);
    }
    CHECK(one.unbound > 200 && one.unbound < one.candidates, "%ld of %ld", (long)one.unbound,
          (long)one.candidates);
    clumps_free(&k);
    clumps_free(&one);
    world_free(&w);
    world_free(&whole);
}

/* ---- hostile ---- */

static double bad_value;
static double spoilt(const double x[3], okey key, int level)
{
    return key == 77 && level == LMAX ? bad_value : 1;
}

static void test_hostile(void)
{
    struct world w;
    struct clumps k;
    const struct clump_par none = {.density = 1e300, .relevance = 2, .saddle = 1},
                           all = {.density = 0.5, .relevance = 1e300, .saddle = 1e-300};
    for (int i = 0; i < 2; i++) {
        bad_value = i ? NAN : HUGE_VAL;
        world_make(&w, &comm, spoilt);
        struct clump_field f = field_of(&w);
        CHECK(clump_find(&none, &f, &w.m, &w.p, w.d, &comm, &k) != OK, "%g", bad_value);
        clumps_free(&k);
        world_free(&w);
    }
    bad_value = 1;
    world_make(&w, &comm, spoilt);
    k = find(&w, &comm, &none);
    CHECK(k.cells == 0 && k.peaks == 0 && k.n == 0);
    clumps_free(&k);
    k = find(&w, &comm, &all); /* every cell is a peak */
    CHECK(k.peaks == k.cells && k.relevant == 1, "%ld of %ld, %ld", (long)k.peaks, (long)k.cells,
          (long)k.relevant);
    clumps_free(&k);
    world_free(&w);
}

static void test_more(void)
{
    test_reference(noise, (struct clump_par){.density = 0.3, .relevance = 2, .saddle = -1});
    test_reference(noise, (struct clump_par){.density = 0.06, .relevance = 1, .saddle = 0.3});
    test_unbinding(false, true);
    test_unbinding(true, false);
    test_hostile();
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_reference(noise, (struct clump_par){.density = 0.4, .relevance = 1.3, .saddle = 0.5});
    test_reference(steps, (struct clump_par){.density = 1, .relevance = 1.5, .saddle = 2.2});
    test_gaussians();
    test_unbinding(true, true);
    if (argc > 1 && strcmp(argv[1], "all") == 0) test_more();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
