/* blast: time of simultaneous supernova blasts, or of energy release by black holes, on a refined
 * mesh. Affected cells are found through bins, and by testing all cells for each blast; results
 * must agree bit by bit.
 *
 *     blast LEVELMIN BLASTS [brute]
 *     blast LEVELMIN HOLES holes
 *
 * A row on stdout: leaf cells, blasts, processor seconds with bins (min of five) and without
 * (brute; else 0), and their ratio. For holes: seconds with the sums without bins, and with the
 * release without bins, and the ratios of both to the time with bins. Two finer levels surround a
 * centre, near which the blasts are. One thread. Status 1 if results differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/rng.h"
#include "brute_bins.h"
#include "hole/agn.h"
#include "phys/blast.h"

enum { NVAR = 6, REPEATS = 5 };
static const struct comm alone = {.size = 1};
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void refine(struct mesh *m, struct domain *d, int l, double radius)
{
    struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            int64_t q[3];
            double r2 = 0;
            okey_coords(lv->key[i] << 3 | (okey)c, q);
            for (int k = 0; k < 3; k++) r2 += pow(((double)q[k] + 0.5) * dx - 0.5, 2);
            lv->flag[i][c] = r2 < radius * radius;
        }
    adapt_refine(m, &alone, d, l, NULL, NULL);
}

static int64_t fill(struct mesh *m)
{
    int64_t leaves = 0;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            for (int v = 0; v < NVAR; v++) lv->fld[FLD_U + v][i / 8][i % 8] = v == 0 ? 1 : 0.1 * v;
            leaves += lv->child[i / 8][i % 8] < 0;
        }
    }
    return leaves;
}

static void blasts_make(const struct mesh *m, int n, struct blast *b)
{
    struct rng g = rng_make(1, 2, 3);
    for (int i = 0; i < n; i++) {
        b[i] = (struct blast){.at = {.id = i, .radius = 2 * mesh_dx(m, m->levelmax)},
                              .mass = 1e-9,
                              .metals = 1e-10,
                              .energy = 1e-6,
                              .load = 1e-8};
        for (int d = 0; d < 3; d++) b[i].at.x[d] = 0.25 + 0.5 * rng_uniform(&g);
    }
}

static void holes_make(int n, struct agn *a)
{
    struct rng g = rng_make(1, 2, 3);
    for (int i = 0; i < n; i++) {
        a[i] = (struct agn){.at = {.id = i},
                            .axis = {i % 3, i % 5, 1},
                            .efficiency = 0.1,
                            .accreted = 1e-9,
                            .rate = i % 2 ? 1 : 0,
                            .saved = i % 10 ? 0 : 1e-6};
        for (int d = 0; d < 3; d++) a[i].at.x[d] = 0.25 + 0.5 * rng_uniform(&g);
    }
}

static uint64_t hash_of(const struct mesh *m)
{
    uint64_t hash = 0;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < 8 * m->lev[l].nown; i++)
            for (int v = 0; v < NVAR; v++) {
                uint64_t bits;
                memcpy(&bits, &m->lev[l].fld[FLD_U + v][i / 8][i % 8], 8);
                hash = (hash ^ bits) * 0x100000001b3u;
            }
    return hash;
}

static struct term_run run_of(struct mesh *m, const struct domain *d)
{
    return (struct term_run){.par = &par,
                             .hydro = &hydro,
                             .comm = &alone,
                             .dom = d,
                             .mesh = m,
                             .aexp = 1,
                             .units = units_at(&par.units, NULL, 1)};
}

/* Processor time of one application; the bits of the gas in *hash. */
static double once(struct mesh *m, const struct domain *d, int n, const struct blast *b,
                   int without, uint64_t *hash)
{
    const struct blast_law law = {.kinetic = 1};
    struct term_run r = run_of(m, d);
    bool changed = false;
    fill(m);
    brute_begin(without);
    double t = seconds();
    if (blast_apply(&r, &law, n, b, &changed) != OK) exit(2);
    t = seconds() - t;
    *hash = hash_of(m);
    return t;
}

/* Processor time of one agn_release by black holes, made anew; the bits of the gas in *hash; a:
 * room for n. */
static double release(struct mesh *m, const struct domain *d, int n, struct agn *a, int without,
                      uint64_t *hash)
{
    const struct agn_law law = {.radius = 2 * mesh_dx(m, m->levelmax),
                                .light2 = 1e4,
                                .x_floor = 0.01,
                                .heat = 0.15,
                                .jet = 1,
                                .loading = 100,
                                .ceiling = HUGE_VAL};
    struct term_run r = run_of(m, d);
    bool changed = false;
    fill(m);
    holes_make(n, a);
    brute_begin(without);
    double t = seconds();
    if (agn_release(&r, &law, n, a, &changed) != OK) exit(2);
    t = seconds() - t;
    *hash = hash_of(m);
    return t;
}

static int holes(struct mesh *m, const struct domain *d, int n)
{
    struct agn *a = mem_new(sizeof *a * (size_t)n, "bench");
    uint64_t hash, other[2];
    double min = HUGE_VAL, slow[2];
    for (int i = 0; i < REPEATS; i++) min = fmin(min, release(m, d, n, a, 0, &hash));
    for (int k = 0; k < 2; k++)
        slow[k] = release(m, d, n, a, k ? BRUTE_REST : BRUTE_FIRST, &other[k]);
    printf("cells\tholes\tbins\tsums\trelease\tsums_ratio\trelease_ratio\n");
    printf("%ld\t%d\t%.5f\t%.3f\t%.3f\t%.1f\t%.1f\n", (long)fill(m), n, min, slow[0], slow[1],
           slow[0] / min, slow[1] / min);
    FREE(a);
    return hash != other[0] || hash != other[1];
}

static int blasts(struct mesh *m, const struct domain *d, int n, bool with_brute)
{
    struct blast *b = mem_new(sizeof *b * (size_t)n, "bench");
    blasts_make(m, n, b);
    uint64_t hash, brute_hash;
    double min = HUGE_VAL, slow = 0;
    for (int i = 0; i < REPEATS; i++) min = fmin(min, once(m, d, n, b, 0, &hash));
    brute_hash = hash;
    if (with_brute) slow = once(m, d, n, b, BRUTE_FIRST | BRUTE_REST, &brute_hash);
    printf("cells\tblasts\tbins\tbrute\tratio\n%ld\t%d\t%.5f\t%.3f\t%.1f\n", (long)fill(m), n, min,
           slow, slow / min);
    FREE(b);
    return hash != brute_hash;
}

int main(int argc, char **argv)
{
    const bool open[6] = {false};
    if (argc < 3) return 2;
    int levelmin = (int)strtol(argv[1], NULL, 10), n = (int)strtol(argv[2], NULL, 10);
    struct mesh m;
    param_init(&par);
    hydro.vars.at[SCALAR_METAL] = 5;
    hydro.vars.at[SCALAR_DELAYED] = -1;
    mesh_init(&m, levelmin, levelmin + 2, NVAR, true, false, 1, open);
    struct domain *d = domain_new(DOMAIN_HILBERT, 1, levelmin + 2, open);
    adapt_build(&m, &alone, d);
    refine(&m, d, levelmin, 0.25);
    refine(&m, d, levelmin + 1, 0.1);
    bool of_holes = argc > 3 && strcmp(argv[3], "holes") == 0;
    return of_holes ? holes(&m, d, n) : blasts(&m, d, n, argc > 3);
}
