/* Laws of the distributed mesh, on any number of ranks: the existence of an oct is a pure function
 * of its position, against which every link, every ghost and every transported value can be
 * checked. Catches: a ghost missing next to a boundary, links to the wrong side, rows permuted in
 * an exchange or a redistribution, searches by keys that probe many places, octs lost where links
 * have gaps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"
#include "oct/find_kern.h"

enum { LMIN = 3, LMAX = 6 };
static int passed, failed;

static void check(bool ok, const char *what)
{
    if (ok)
        passed++;
    else {
        if (failed++ < 10) fprintf(stderr, "FAILED: %s\n", what);
    }
}

static bool isolated; /* boundaries on all faces, instead of a periodic box */

static double wrap(double x)
{
    return isolated ? x : x - floor(x + 0.5);
}

/* Whether cell `cell` of the oct of level l is split: a ball around a corner of the box, so that
 * refinement crosses the periodic faces. Radius 0: random cells of level LMIN, so that some octs
 * share only an edge or a corner. */
static bool cell_split(int l, okey key, int cell, double radius)
{
    int64_t q[3];
    if (radius == 0)
        return l < LMIN || (l == LMIN && (key * 8 + (okey)cell) * 0x9e3779b9u >> 7 & 1);
    okey_coords(key, q);
    double dx = 1.0 / (double)(1 << l), r2 = 0, c[3] = {0.05, 0.97, 0.4};
    for (int d = 0; d < 3; d++) {
        double x = wrap(((double)(2 * q[d] + (cell >> d & 1)) + 0.5) * dx - c[d]);
        r2 += x * x;
    }
    return l < LMIN || sqrt(r2) < radius + 6 * dx;
}

static bool oct_exists(int l, okey key, double radius)
{
    return l <= LMIN || (cell_split(l - 1, key >> 3, (int)(key & 7), radius) &&
                         oct_exists(l - 1, key >> 3, radius));
}

static double value(int l, okey key, int cell, int f)
{
    uint64_t h = ((uint64_t)key * 8 + (uint64_t)cell) * 0x9e3779b97f4a7c15u +
                 (uint64_t)(l * 64 + f);
    return (double)(h >> 20);
}

static void refine(struct mesh *m, const struct comm *c, const struct domain *d, double radius)
{
    for (int l = LMIN; l < LMAX; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->flag[i][k] = cell_split(l, lv->key[i], k, radius);
    }
    /* Octs with children cannot be removed: finest level first when shrinking, coarsest first when
     * growing. */
    for (int l = LMAX - 1; l >= LMIN; l--) adapt_refine(m, c, d, l, NULL, NULL);
    for (int l = LMIN; l < LMAX; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->flag[i][k] = cell_split(l, lv->key[i], k, radius);
        adapt_refine(m, c, d, l, NULL, NULL);
    }
}

static bool children_right(const struct mesh *m, int l, lidx i, unsigned cells, double radius)
{
    const struct level *lv = &m->lev[l];
    bool good = true;
    for (int k = 0; k < 8 && l < LMAX; k++) {
        okey key = lv->key[i] << 3 | (okey)k;
        lidx j = lv->child[i][k];
        if (!(cells >> k & 1)) continue;
        good &= (j >= 0) == oct_exists(l + 1, key, radius);
        good &= j < 0 || m->lev[l + 1].key[j] == key;
    }
    return good;
}

/* Checks that the octs exist that refine the cells next to own oct i, and next to the cells of its
 * children. */
static void check_finer(const struct mesh *m, int l, lidx i, double radius)
{
    const struct level *lv = &m->lev[l];
    lidx cube[27];
    bool beside = true, below = true;
    mesh_cube(m, l, i, cube);
    for (int c = 0; c < 27; c++) {
        unsigned cells = 0; /* cells of the oct that touch oct i */
        int s[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
        for (int k = 0; k < 8; k++) {
            bool touches = true;
            for (int d = 0; d < 3; d++) touches &= s[d] == 0 || (s[d] < 0) == (k >> d & 1);
            cells |= (unsigned)touches << k;
        }
        if (cube[c] >= 0) beside &= children_right(m, l, cube[c], cells, radius);
    }
    for (int k = 0; k < 8; k++)
        if (lv->child[i][k] >= 0) below &= children_right(m, l + 1, lv->child[i][k], 255, radius);
    check(beside, "octs beside an own oct on the finer level");
    check(below, "grandchildren of an own oct");
}

static void check_links(const struct mesh *m, double radius)
{
    for (int l = 1; l <= LMAX; l++) {
        const struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            lidx cube[27];
            bool good = oct_exists(l, lv->key[i], radius), up = true;
            mesh_cube(m, l, i, cube);
            for (int c = 0; c < 27; c++) {
                int s[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
                bool outside;
                okey k = okey_shift(lv->key[i], l, s[0], s[1], s[2], &outside);
                bool there = !(isolated && outside) && oct_exists(l, k, radius);
                good &= (cube[c] >= 0) == there && (cube[c] < 0 || lv->key[cube[c]] == k);
                good &= (cube[c] == NBR_BOUNDARY) == (isolated && outside);
                good &= cube[c] == mesh_neighbour(m, l, i, s[0], s[1], s[2]);
            }
            check(good, "26 neighbours of an own oct");
            if (l > 1) {
                const struct level *lu = &m->lev[l - 1];
                lidx p = lv->parent[i];
                up = p >= 0 && lu->key[p] == lv->key[i] >> 3 && lu->child[p][lv->key[i] & 7] == i;
                mesh_cube(m, l - 1, p, cube);
                /* strict 2:1: all octs exist, at least as ghosts */
                for (int c = 0; c < 27; c++) up &= cube[c] >= 0 || cube[c] == NBR_BOUNDARY;
            }
            check(up, "parent of an own oct and its neighbourhood");
            check_finer(m, l, i, radius);
        }
    }
}

static void fields_set(struct mesh *m, const struct comm *c)
{
    for (int l = 1; l <= LMAX; l++) {
        struct level *lv = &m->lev[l];
        for (int f = 0; f < m->nvar; f++)
            for (lidx i = 0; i < lv->noct; i++)
                for (int k = 0; k < 8; k++)
                    lv->fld[FLD_U + f][i][k] = i < lv->nown ? value(l, lv->key[i], k, f) : -1;
        ghost_fill_hydro(c, m, l);
    }
}

/* Ghosts that are stale, and that no one may read before they are filled. */
static void ghosts_spoil(struct mesh *m)
{
    for (int l = 1; l <= LMAX; l++) {
        struct level *lv = &m->lev[l];
        for (int f = 0; f < m->nvar; f++)
            for (lidx i = lv->nown; i < lv->noct; i++)
                for (int k = 0; k < 8; k++) lv->fld[FLD_U + f][i][k] = NAN;
        ghosts_set(m, l, GAS, false);
    }
}

static void fields_check(const struct mesh *m, const char *what)
{
    for (int l = 1; l <= LMAX; l++) {
        const struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->noct; i++) {
            bool good = true;
            for (int f = 0; f < m->nvar; f++)
                for (int k = 0; k < 8; k++)
                    good &= lv->fld[FLD_U + f][i][k] == value(l, lv->key[i], k, f);
            check(good, what);
        }
    }
}

/* On a refined mesh, old octs keep their values, and new ones have the values of their parent
 * cells; stale ghosts have any. */
static void born_check(const struct mesh *m)
{
    for (int l = LMIN + 1; l <= LMAX; l++) {
        const struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
        for (lidx i = 0; i < (ghosts_valid(m, l, GAS) ? lv->noct : lv->nown); i++) {
            lidx p = lv->parent[i];
            bool good = true;
            for (int f = 0; f < m->nvar; f++) {
                double old = 0, from = up->fld[FLD_U + f][p][lv->key[i] & 7];
                for (int k = 0; k < 8; k++) {
                    old += fabs(lv->fld[FLD_U + f][i][k] - value(l, lv->key[i], k, f));
                    from = lv->fld[FLD_U + f][i][k] == from ? from : NAN;
                }
                good &= old == 0 || !isnan(from);
            }
            check(good, "values of an oct after refinement");
        }
    }
}

static void counts_check(const struct mesh *m, const struct comm *c, double radius)
{
    for (int l = 1; l <= LMAX; l++) {
        int64_t expect = 0;
        for (okey k = 0; k < (okey)1 << 3 * (l - 1); k++) expect += oct_exists(l, k, radius);
        check(m->lev[l].total == expect, "number of octs of a level");
    }
}

static void sum_back(const struct mesh *m, const struct comm *c)
{
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &m->lev[l];
        int64_t(*a)[8] = mem_zero(sizeof a[0] * (size_t)lv->noct + 1, "test"), total[2] = {0, 0};
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++) total[0] += a[i][k] = 1 + (int64_t)(lv->key[i] & 1023);
        ghost_add_i64(c, &lv->plan, 1, &a);
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) total[1] += a[i][k];
        comm_add_i64(c, total, 2);
        check(total[0] == total[1], "reverse exchange keeps the total");
        mem_free(a);
    }
}

/* Flag as a function of position: set in own octs, or compared in all octs. */
static unsigned char flag_value(int level, okey key, int cell)
{
    return (int64_t)value(level, key, cell, 3) & 1;
}

static void flags_set(struct mesh *m)
{
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int k = 0; k < 8; k++) m->lev[l].flag[i][k] = flag_value(l, m->lev[l].key[i], k);
}

static void flags_check(const struct mesh *m)
{
    int64_t set = 0, all = 0;
    for (int l = 1; l <= LMAX; l++) {
        const struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++, all++) {
                check(lv->flag[i][k] == flag_value(l, lv->key[i], k), "flags after redistribution");
                set += lv->flag[i][k];
            }
    }
    check(all == 0 || (set > 0 && set < all), "flags of both kinds");
}

/* Builds the mesh of a box with boundaries, or a periodic one. */
static void mesh_begin(struct mesh *m, bool whole, bool bounded[6])
{
    isolated = whole;
    for (int f = 0; f < 6; f++) bounded[f] = isolated;
    mesh_init(m, LMIN, LMAX, 5, true, false, 1.0, bounded);
}

static void run(const struct comm *c, enum domain_kind kind, bool whole)
{
    struct mesh m;
    bool bounded[6];
    mesh_begin(&m, whole, bounded);
    struct domain *d = domain_new(kind, c->size, LMAX, bounded);
    adapt_build(&m, c, d);
    double radius[4] = {0.1, 0.22, 0.05, 0};
    for (int turn = 0; turn < 4; turn++) {
        if (turn % 2) ghosts_spoil(&m);
        refine(&m, c, d, radius[turn]);
        if (turn) born_check(&m);
        counts_check(&m, c, radius[turn]);
        check_links(&m, radius[turn]);
        fields_set(&m, c);
        fields_check(&m, "ghost values");
        sum_back(&m, c);
        int64_t n = 0, total = 0;
        for (int l = 1; l <= LMAX; l++) total += m.lev[l].nown;
        int *level = mem_new(sizeof *level * (size_t)total + 1, "test");
        okey *key = mem_new(sizeof *key * (size_t)total + 1, "test");
        double *cost = mem_new(sizeof *cost * (size_t)total + 1, "test");
        for (int l = 1; l <= LMAX; l++)
            for (lidx i = 0; i < m.lev[l].nown; i++, n++) {
                level[n] = l;
                key[n] = m.lev[l].key[i];
                cost[n] = 1;
            }
        struct domain *e = domain_balance(
            d, turn == 1 ? DOMAIN_HILBERT : DOMAIN_KSECTION, c,
            &(struct domain_load){.n = total, .level = level, .key = key, .cost = cost}, NULL);
        domain_free(d);
        d = e;
        flags_set(&m);
        if (c->size == 1) adapt_fill(&m, c);
        adapt_redistribute(&m, c, NULL, d);
        counts_check(&m, c, radius[turn]);
        check_links(&m, radius[turn]);
        fields_check(&m, "values after redistribution");
        flags_check(&m);
        FREE(level);
        FREE(key);
        FREE(cost);
    }
    domain_free(d);
    mesh_fini(&m);
}

/* ---- domains that agree ---- */

static void owners_check(const struct mesh *m, const struct comm *c, const struct domain *d)
{
    int64_t wrong = 0;
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            wrong += domain_rank(d, l, m->lev[l].key[i]) != c->rank;
    check(wrong == 0, "octs of others after redistribution");
}

/* A redistribution that leaves levels in place and one that does not give equal octs and ghosts on
 * each rank, in the same order. */
static void check_left(struct mesh *m, const struct comm *c, const struct domain *was,
                       const struct domain *d)
{
    okey *key[LMAX + 1];
    lidx noct[LMAX + 1];
    uint64_t octs[LMAX + 1];
    for (int l = 1; l <= LMAX; l++) octs[l] = m->lev[l].octs;
    adapt_redistribute(m, c, was, d);
    check(c->size == 1 || m->lev[1].octs > octs[1], "level 1 was left as it is");
    for (int l = domain_agreement(was, d); l <= LMAX; l++)
        check(m->lev[l].octs == octs[l], "a level was made again");
    owners_check(m, c, d);
    check_links(m, 0.1);
    fields_check(m, "values where levels stay");
    flags_check(m);
    for (int l = 1; l <= LMAX; l++) {
        size_t bytes = sizeof(okey) * (size_t)(noct[l] = m->lev[l].noct);
        key[l] = mem_new(bytes + 1, "test");
        memcpy(key[l], m->lev[l].key, bytes);
    }
    adapt_redistribute(m, c, NULL, d);
    for (int l = 1; l <= LMAX; l++) {
        check(noct[l] == m->lev[l].noct &&
                  memcmp(key[l], m->lev[l].key, sizeof(okey) * (size_t)noct[l]) == 0,
              "octs of a level that was left as it is");
        mem_free(key[l]);
    }
}

/* Redistributes to Hilbert domains that agree with the present ones, if they exist, and back. */
static void check_alike(const struct comm *c, bool whole)
{
    struct mesh m;
    bool bounded[6];
    mesh_begin(&m, whole, bounded);
    struct domain *d = domain_new(DOMAIN_KSECTION, c->size, LMAX, bounded), *e = domain_along(d);
    check(e || c->size > 2, "two equal halves are no ranges of the curve");
    check(!e || c->size > 2 || domain_agreement(d, e) <= 4, "two equal halves are alike");
    adapt_build(&m, c, d);
    refine(&m, c, d, 0.1);
    fields_set(&m, c);
    flags_set(&m);
    adapt_fill(&m, c);
    if (e) {
        check_left(&m, c, d, e);
        check_left(&m, c, e, d);
    }
    domain_free(e);
    domain_free(d);
    mesh_fini(&m);
}

/* ---- search of octs by keys ---- */

/* Number of probes until a search finds the family of oct i. */
static int locations(const struct level *lv, lidx i)
{
    uint64_t s = okhash_slot(&lv->hash, lv->key[i]);
    int n = 1;
    while (!okhash_names(lv->key, i)) i--;
    for (; lv->hash.slot[s] != i; n++) s = okhash_next(&lv->hash, s);
    return n;
}

/* Whether the n octs of a level are found by their keys, when some are own octs and the others
 * ghosts, so that families are split in all ways. */
static bool finds_split(struct mesh *m, int l, lidx n, const okey *key)
{
    const struct level *lv = &m->lev[l];
    okey *part[2] = {mem_new(sizeof *key * (size_t)n, "test"),
                     mem_new(sizeof *key * (size_t)n, "test")};
    lidx many[2] = {0};
    bool found = true;
    for (lidx i = 0; i < n; i++) {
        int ghost = (i + 5) * (i / 8 + 3) / 7 % 2;
        part[ghost][many[ghost]++] = key[i];
    }
    mesh_replace(m, l, many[0], part[0], many[1], part[1], NULL);
    for (lidx i = 0; i < n; i++) found &= mesh_find(lv, lv->key[i]) == i;
    FREE(part[0]);
    FREE(part[1]);
    return found && many[0] > n / 4 && many[1] > n / 4;
}

static int key_order(const void *a, const void *b)
{
    const okey *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Octs of level l at distances `every` along the axes in the bits of `along`: planes and rows have
 * few low digits of keys. */
static void check_hash(int l, int along, int64_t every)
{
    enum { MAX = 1 << 12 };
    static okey key[MAX];
    const lidx n = along == 7 ? MAX : 1 << 10;
    const bool none[6] = {false};
    struct mesh m;
    const struct level *lv = &m.lev[l];
    int64_t sum = 0;
    bool found = true;
    for (lidx i = 0; i < n; i++) {
        uint64_t x[3] = {0}, rest = (uint64_t)i;
        for (int k = 0; k < 12; k++)
            for (int d = 0; d < 3; d++) {
                if (!(along >> d & 1)) continue;
                x[d] |= (rest & 1) << k;
                rest >>= 1;
            }
        key[i] = okey_make(x[0] * (uint64_t)every, x[1] * (uint64_t)every, x[2] * (uint64_t)every);
    }
    qsort(key, (size_t)n, sizeof *key, key_order);
    mesh_init(&m, l, l, 0, false, false, 1, none);
    mesh_replace(&m, l, n, key, 0, NULL, NULL);
    for (lidx i = 0; i < n; i++) {
        found &= mesh_find(lv, key[i]) == i;
        found &= every == 1 || mesh_find(lv, key[i] + 1) == -1;
        sum += locations(lv, i);
    }
    check(found, "octs, and none else, are found by their keys");
    check(finds_split(&m, l, n, key), "octs of families that are split are found by their keys");
    check(finds_split(&m, l, 8, key), "octs of one split family are found by their keys");
    check(sum < 4 * (int64_t)n, "a search looks at few places");
    mesh_fini(&m);
}

/* ---- neighbours where links have gaps ---- */

/* Makes level l: octs in some of the cells of the next coarser level. */
static void grow(struct mesh *m, int l, uint64_t seed)
{
    const struct level *up = &m->lev[l - 1];
    okey *key = mem_new(sizeof *key * (8 * (size_t)up->noct + 1), "test");
    lidx n = 0;
    if (l == 1) key[n++] = 0;
    for (lidx i = 0; i < 8 * up->noct; i++) {
        okey k = up->key[i / 8] << 3 | (okey)(i % 8);
        uint64_t x = ((uint64_t)k + seed * 64 + (uint64_t)l) * 0x9e3779b97f4a7c15u;
        if ((x >> 40) % 16 < 7 + seed % 6) key[n++] = k;
    }
    mesh_replace(m, l, n, key, 0, NULL, NULL);
    mesh_link_down(m, l);
    FREE(key);
}

/* Checks trees without 2:1 balance, as ghosts may form, where octs are found by their keys alone.
 * faces: bit f: a boundary at face f. */
static void check_cubes(uint64_t seed, int faces)
{
    enum { DEPTH = 6 };
    struct mesh m;
    bool bounded[6], same = true;
    int64_t some = 0;
    for (int f = 0; f < 6; f++) bounded[f] = faces >> f & 1;
    mesh_init(&m, DEPTH, DEPTH, 0, false, false, 1, bounded);
    for (int l = 1; l <= DEPTH; l++) grow(&m, l, seed);
    for (int l = 1; l <= DEPTH; l++)
        for (lidx i = 0; i < m.lev[l].noct; i++) {
            lidx cube[27];
            mesh_cube(&m, l, i, cube);
            for (int c = 0; c < 27; c++)
                same &= cube[c] == mesh_neighbour(&m, l, i, c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1);
            some += cube[0] >= 0;
        }
    check(same, "octs around an oct by links are those by their keys");
    check(some > 10, "some octs at corners");
    mesh_fini(&m);
}

int main(int argc, char **argv)
{
    struct comm c;
    comm_init(&argc, &argv, &c);
    run(&c, DOMAIN_KSECTION, false);
    run(&c, DOMAIN_HILBERT, false);
    run(&c, DOMAIN_KSECTION, true);
    check_alike(&c, false);
    check_alike(&c, true);
    for (int along = 1; along < 8; along++)
        for (int64_t every = 1; every <= 8; every *= 2) check_hash(14, along, every);
    for (uint64_t seed = 0; seed < 16; seed++) {
        check_cubes(seed, 0);
        check_cubes(seed, 63);
        check_cubes(seed, 3 << 2 * (seed % 3));
    }
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
