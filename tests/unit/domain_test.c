/* dom/domain: laws of the two decompositions. Runs on any number of ranks: numbers of domains are
 * independent of the ranks that hold the samples. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dom/domain_priv.h"

static struct comm comm;

enum { MAX = 96 }; /* max number of domains compared by brute force */

static const bool open_box[6] = {true, true, true, true, true, true};
static const bool periodic_box[6] = {false};
static const bool bounded_y[6] = {false, false, true, true, false, false};

static uint64_t mix(uint64_t i)
{
    return rng_mix(i + 0x9e3779b97f4a7c15u);
}

static double uniform(uint64_t i)
{
    return (double)(mix(i) >> 11) * 0x1p-53;
}

/* The curve visits every cell once, and neighbouring keys are neighbouring cells. */
static void test_hilbert_key(int bits)
{
    int64_t n = 1 << bits, count = n * n * n, wrong = 0;
    int64_t(*at)[3] = mem_zero(sizeof *at * (size_t)count, "test");
    int *seen = mem_zero(sizeof *seen * (size_t)count, "test");
    for (int64_t i = 0; i < count; i++) {
        int64_t x[3] = {i % n, i / n % n, i / n / n};
        int64_t k = (int64_t)hilbert_key(x, bits);
        if (k < 0 || k >= count || seen[k]++) {
            wrong++;
            continue;
        }
        memcpy(at[k], x, sizeof x);
        int64_t half[3] = {x[0] / 2, x[1] / 2, x[2] / 2};
        /* a cube is a key range */
        if (bits > 1 && (int64_t)hilbert_key(half, bits - 1) != k >> 3) wrong++;
    }
    for (int64_t k = 1; k < count; k++) {
        int64_t step = 0;
        for (int a = 0; a < 3; a++) step += llabs(at[k][a] - at[k - 1][a]);
        wrong += step != 1;
    }
    CHECK(wrong == 0, "%d bits, %ld faults", bits, (long)wrong);
    FREE(at);
    FREE(seen);
}

struct samples {
    int64_t n;
    int *level;
    okey *key;
    double *cost;
};

/* n octs, denser towards one corner; this rank holds those with index % share == part. */
static struct samples samples_new(int64_t n, int levelmax, int share, int part)
{
    struct samples s = {0};
    s.level = mem_new(sizeof *s.level * (size_t)n, "test");
    s.key = mem_new(sizeof *s.key * (size_t)n, "test");
    s.cost = mem_new(sizeof *s.cost * (size_t)n, "test");
    for (int64_t i = 0; i < n; i++) {
        if (i % share != part) continue;
        int l = levelmax - (int)(mix((uint64_t)i) % 2);
        uint64_t x[3];
        for (uint64_t a = 0; a < 3; a++) {
            double u = uniform((uint64_t)i * 8 + a);
            x[a] = (uint64_t)(u * (0.5 + 0.5 * u) * (double)(1 << (l - 1)));
        }
        s.level[s.n] = l;
        s.key[s.n] = okey_make(x[0], x[1], x[2]);
        s.cost[s.n++] = 0.5 + uniform((uint64_t)i * 8 + 3);
    }
    return s;
}

static void samples_free(struct samples *s)
{
    FREE(s->level);
    FREE(s->key);
    FREE(s->cost);
}

static struct domain *balance(const struct domain *d, enum domain_kind kind,
                              const struct samples *s)
{
    return domain_balance(
        d, kind, &comm,
        &(struct domain_load){.n = s->n, .level = s->level, .key = s->key, .cost = s->cost}, NULL);
}

/* Reference for domain_near, cell by cell: need[r] for every rank that must be in the list. */
static void need_brute(const struct domain *d, const int *owner, int level, okey key, bool *need)
{
    int top = d->levelmax, n = 1 << top;
    int64_t x[3], w = (int64_t)1 << (top + 1 - level); /* width of the oct in finest cells */
    int64_t side = (2 * d->margin + 1) * w;
    memset(need, 0, sizeof *need * (size_t)d->nrank);
    okey_coords(key, x);
    for (int64_t i = 0; i < side * side * side; i++) {
        int64_t c[3] = {i % side, i / side % side, i / side / side};
        bool beyond = false;
        for (int a = 0; a < 3; a++) {
            c[a] += (x[a] - d->margin) * w;
            beyond |= (c[a] < 0 || c[a] >= n) && !d->periodic[a];
            c[a] &= n - 1;
        }
        if (!beyond) need[owner[c[0] + n * (c[1] + n * c[2])]] = true;
    }
    if (level > 2) need[domain_rank(d, level - 2, key >> 6)] = true;
    for (int i = 0; i < 8 && level > 1; i++) { /* octs of the coarser level around a corner */
        int64_t p[3], m = (int64_t)1 << (level - 2);
        bool beyond = false;
        for (int a = 0; a < 3; a++) {
            p[a] = (x[a] - 1 + 2 * (i >> a & 1)) >> 1;
            beyond |= (p[a] < 0 || p[a] >= m) && !d->periodic[a];
            p[a] &= m - 1;
        }
        if (!beyond)
            need[domain_rank(d, level - 1,
                             okey_make((uint64_t)p[0], (uint64_t)p[1], (uint64_t)p[2]))] = true;
    }
}

static void test_near(const struct domain *d, const char *what)
{
    int top = d->levelmax, n = 1 << top, missing = 0, extra = 0, disorder = 0, unlike = 0,
        total = 0;
    int *owner = mem_new(sizeof *owner * (size_t)n * (size_t)n * (size_t)n, "test");
    for (int i = 0; i < n * n * n; i++)
        owner[i] = domain_rank(
            d, top + 1, okey_make((uint64_t)(i % n), (uint64_t)(i / n % n), (uint64_t)(i / n / n)));
    bool need[MAX];
    int rank[MAX], again[MAX], in_row = 0, n_row;
    struct domain_row row;
    domain_row_begin(&row, d);
    for (int l = 1; l <= top; l++)
        for (okey k = 0; k < (okey)1 << 3 * (l - 1); k++) {
            int me = domain_rank(d, l, k), count = domain_near(d, me, l, k, rank);
            need_brute(d, owner, l, k, need);
            need[me] = false;
            for (int i = 0; i < count; i++) {
                disorder += i > 0 && rank[i] <= rank[i - 1];
                disorder += rank[i] == me;
                extra += !need[rank[i]];
                need[rank[i]] = false;
            }
            for (int r = 0; r < d->nrank; r++) missing += need[r];
            total += count;
            in_row += domain_row_near(&row, l, k, &n_row) != me || n_row != count ||
                      memcmp(rank, row.near, sizeof(int) * (size_t)count) != 0;
            /* must not affect cached results */
            okey other = mix((uint64_t)k) & (((okey)1 << 3 * (l - 1)) - 1);
            domain_near(d, domain_rank(d, l, other), l, other, again);
            unlike += domain_near(d, me, l, k, again) != count;
            unlike += memcmp(rank, again, sizeof(int) * (size_t)count) != 0;
        }
    domain_row_end(&row);
    CHECK(missing == 0, "%s: %d of %d missing", what, missing, total);
    CHECK(in_row == 0, "%s: %d answers differ in a row", what, in_row);
    CHECK(disorder == 0, "%s: %d out of order", what, disorder);
    CHECK(unlike == 0, "%s: %d answers changed", what, unlike);
    /* A domain may contain a point, but no cell centre, of a cube. This is rare unless domains are
     * thinner than cells. */
    CHECK(extra <= total / 20 || d->nrank > n / 2, "%s: %d of %d superfluous", what, extra, total);
    FREE(owner);
}

/* The finest cells of a whole oct belong to one rank; where planes do not cut half of the cells,
 * few other octs are whole for one rank. */
static void test_whole(const struct domain *d, const char *what)
{
    int top = d->levelmax, wrong = 0, missed = 0, total = 0;
    for (int l = 1; l <= top; l++)
        for (okey k = 0; k < (okey)1 << 3 * (l - 1); k++) {
            int whole = domain_whole(d, l, k), shift = 3 * (top + 1 - l);
            int first = domain_rank(d, top + 1, k << shift);
            bool one = true;
            for (okey c = k << shift; c < (k + 1) << shift; c++)
                one &= domain_rank(d, top + 1, c) == first;
            wrong += whole >= 0 && (!one || whole != first);
            missed += one && whole < 0;
            total++;
        }
    CHECK(wrong == 0, "%s: %d octs are not whole", what, wrong);
    CHECK(missed <= total / 5 || d->nrank > 8, "%s: %d of %d whole octs are not found", what,
          missed, total);
}

/* Moves the origin of k-section coordinates along periodic axes. */
static void move_origin(struct domain *d, uint64_t seed)
{
    for (int a = 0; a < 3; a++)
        if (d->periodic[a])
            d->ksec.origin[a] = (int64_t)(mix(seed + (uint64_t)a) % (uint64_t)d->extent);
}

/* margin: of the ghosts, in octs. */
static void test_near_with(enum domain_kind kind, int nrank, int w, int margin)
{
    const bool *boundaries[3] = {periodic_box, open_box, bounded_y};
    char what[80];
    snprintf(what, sizeof what, "%d ranks, kind %d, boundaries %d, margin %d", nrank, (int)kind, w,
             margin);
    struct samples s = samples_new(5000, 4, comm.size, comm.rank);
    struct domain *d = domain_new(kind, nrank, 4, boundaries[w]);
    domain_set_margin(d, margin);
    struct domain *e = balance(d, kind, &s);
    CHECK(e->margin == margin, "%s: %d", what, e->margin);
    test_near(d, what);
    test_near(e, what);
    test_whole(e, what);
    for (uint64_t seed = 0; seed < (margin > 1 ? 1 : 3) && kind == DOMAIN_KSECTION; seed++) {
        move_origin(e, 100 * seed + (uint64_t)nrank);
        test_near(e, what);
        test_whole(e, what);
    }
    domain_free(d);
    domain_free(e);
    samples_free(&s);
}

static void test_near_all(int nrank)
{
    for (int kind = 0; kind < 2; kind++)
        for (int w = 0; w < 3; w++)
            for (int margin = 1; margin <= DOMAIN_MARGIN; margin++)
                test_near_with((enum domain_kind)kind, nrank, w, margin);
}

/* Where cut planes coincide with the grid, one layer of octs suffices. */
static void test_near_thin(void)
{
    struct domain *d = domain_new(DOMAIN_KSECTION, 8, 6, periodic_box);
    int rank[8], n = 0;
    for (okey k = 0; k < (okey)1 << 15; k++)
        n += domain_near(d, domain_rank(d, 6, k), 6, k, rank) > 0;
    CHECK(n == 32 * 32 * 32 - 14 * 14 * 14 * 8, "%d octs are ghosts somewhere", n);
    domain_free(d);
}

static void test_near_threads(void)
{
    struct samples s = samples_new(20000, 8, comm.size, comm.rank);
    struct domain *u = domain_new(DOMAIN_HILBERT, 7, 8, periodic_box),
                  *d = balance(u, DOMAIN_HILBERT, &s);
    int64_t n = s.n, unlike = 0;
    int *one = mem_new(sizeof *one * (size_t)n * 8, "test");
    for (int64_t i = 0; i < n; i++)
        one[8 * i + 7] = domain_near(d, 0, s.level[i], s.key[i], one + 8 * i);
#pragma omp parallel for num_threads(9) reduction(+ : unlike)
    for (int64_t i = 0; i < n; i++) {
        int rank[8], count = domain_near(d, 0, s.level[i], s.key[i], rank);
        unlike += count != one[8 * i + 7] ||
                  memcmp(rank, one + 8 * i, sizeof(int) * (size_t)count) != 0;
    }
    CHECK(unlike == 0, "%ld answers differ between threads", (long)unlike);
    FREE(one);
    samples_free(&s);
    domain_free(u);
    domain_free(d);
}

static bool domain_same(const struct domain *a, const struct domain *b)
{
    if (a->kind == DOMAIN_HILBERT)
        return memcmp(a->hilb.bound, b->hilb.bound, sizeof(hkey) * (size_t)(a->nrank + 1)) == 0;
    return memcmp(a->ksec.cut, b->ksec.cut, sizeof *a->ksec.cut * (size_t)a->nrank) == 0;
}

/* From the given level on, owners and ghosts of all octs agree. */
static void test_alike(const struct domain *a, const struct domain *b, int max, const char *what)
{
    int from = domain_agreement(a, b), unlike = 0, x[MAX], y[MAX];
    CHECK(from <= max, "%s: from level %d on, not %d", what, from, max);
    for (int l = from; l <= a->levelmax; l++)
        for (okey k = 0; k < (okey)1 << 3 * (l - 1); k++) {
            int r = domain_rank(a, l, k), n = domain_near(a, r, l, k, x);
            unlike += domain_rank(b, l, k) != r || domain_near(b, r, l, k, y) != n ||
                      memcmp(x, y, sizeof *x * (size_t)n) != 0;
        }
    CHECK(unlike == 0, "%s: %d octs of levels from %d on differ", what, unlike, from);
}

/* Hilbert domains that agree with k-section domains, and those that do not. */
static void test_along(const bool *bounded)
{
    enum { TOP = 6 };
    struct domain *two = domain_new(DOMAIN_KSECTION, 2, TOP, bounded), *along = domain_along(two),
                  *eight = domain_new(DOMAIN_KSECTION, 8, TOP, bounded);
    CHECK(along && along->kind == DOMAIN_HILBERT, "equal halves");
    if (along) test_alike(two, along, 4, "halves");
    CHECK(!domain_along(eight), "octants are not in the order of the curve");
    for (int n = 1; n <= 12; n++) {
        struct domain *h = domain_new(DOMAIN_HILBERT, n, TOP, bounded), *again = domain_along(h),
                      *k = domain_new(DOMAIN_KSECTION, n, TOP, bounded);
        bool cubes = (n & (n - 1)) == 0; /* ranges of equal length are cubes */
        char what[40];
        snprintf(what, sizeof what, "%d ranges", n);
        CHECK(!again == !cubes, "%s: %d", what, again != NULL);
        if (again) CHECK(domain_same(h, again), "%s: bounds differ", what);
        if (again) test_alike(h, again, n > 8 ? 5 : 4, what);
        test_alike(h, k, TOP + 1, what);
        domain_free(h);
        domain_free(k);
        domain_free(again);
    }
    /* moves the plane by the smallest amount */
    two->ksec.cut[1]++;
    CHECK(!domain_along(two) && domain_agreement(two, two) > TOP, "a plane between cubes");
    CHECK(!along || domain_agreement(two, along) > TOP, "another plane");
    domain_free(two);
    domain_free(along);
    domain_free(eight);
}

static double imbalance(const struct domain *d, const struct samples *s)
{
    double *load = mem_zero(sizeof *load * (size_t)d->nrank, "test"), max = 0, sum = 0;
    for (int64_t i = 0; i < s->n; i++) load[domain_rank(d, s->level[i], s->key[i])] += s->cost[i];
    comm_add_f64(&comm, load, d->nrank);
    for (int r = 0; r < d->nrank; r++) {
        sum += load[r];
        max = fmax(max, load[r]);
    }
    FREE(load);
    return max / sum * d->nrank - 1;
}

static bool domain_proper(const struct domain *d)
{
    bool ok = true;
    for (int r = 0; r < d->nrank; r++) {
        if (d->kind == DOMAIN_HILBERT) {
            double bound[MAX + 1];
            domain_bound_keys(d, bound);
            ok &= d->hilb.bound[r] < d->hilb.bound[r + 1] && (hkey)bound[r] == d->hilb.bound[r];
        }
        int64_t box[3][2] = {{0, 1}, {0, 1}, {0, 1}};
        if (d->kind == DOMAIN_KSECTION) ksection_box(d, r, box);
        for (int a = 0; a < 3; a++) ok &= box[a][0] < box[a][1];
    }
    return ok;
}

static void test_balance(enum domain_kind kind, int nrank, int levelmax)
{
    struct domain *u = domain_new(kind == DOMAIN_HILBERT ? DOMAIN_KSECTION : DOMAIN_HILBERT, nrank,
                                  levelmax, periodic_box);
    struct samples s = samples_new(100000, levelmax, comm.size, comm.rank);
    struct samples lone = samples_new(100000, levelmax, 1, 0);
    if (comm.rank) lone.n = 0;
    struct domain *d = balance(u, kind, &s), *e = balance(d, kind, &lone);
    double off = imbalance(d, &s);
    CHECK(domain_kind(d) == kind && domain_nrank(d) == nrank, "kind");
    CHECK(off < 0.011, "kind %d, %d ranks: imbalance %g", kind, nrank, off);
    CHECK(domain_same(d, e), "kind %d, %d ranks: planes depend on who holds the costs", kind,
          nrank);
    CHECK(domain_proper(d), "kind %d, %d ranks", kind, nrank);
    domain_free(d);

    if (s.n && !comm.rank) s.cost[17] = 9e5; /* nine tenths of the cost in one oct */
    d = balance(u, kind, &s);
    CHECK(domain_proper(d), "kind %d, %d ranks, concentrated", kind, nrank);
    CHECK(imbalance(d, &s) < 0.91 * nrank, "concentrated");
    domain_free(d);
    s.n = 0;
    d = balance(u, kind, &s);
    CHECK(domain_proper(d), "kind %d, %d ranks, nothing to balance", kind, nrank);
    domain_free(d);
    domain_free(e);
    domain_free(u);
    samples_free(&s);
    samples_free(&lone);
}

/* ---- ghosts in the balance ---- */

enum { EVEN_BASE = 7, EVEN_OCT = 788, EVEN_PART = 92 };

/* Octs of level EVEN_BASE in a ball are refined, and their children in a smaller ball. */
static bool in_ball(int level, okey key, double radius)
{
    int64_t x[3];
    double r2 = 0;
    okey_coords(key, x);
    for (int a = 0; a < 3; a++) {
        double c = ((double)x[a] + 0.5) / (double)((int64_t)1 << (level - 1)) - 0.37 - 0.07 * a;
        r2 += c * c;
    }
    return r2 < radius * radius;
}

static void equalize_add(struct domain_load *s, int level, okey key)
{
    double part = EVEN_PART * floor(4 * uniform(key));
    ((int *)s->level)[s->n] = level;
    ((okey *)s->key)[s->n] = key;
    ((double *)s->cost)[s->n] = EVEN_OCT + part;
    ((double *)s->copy)[s->n] = EVEN_OCT;
    ((double *)s->part)[s->n++] = part;
}

/* Octs of a clustered box; this rank holds one in comm.size. */
static struct domain_load equalize_load(void)
{
    size_t max = (size_t)1 << 3 * EVEN_BASE;
    struct domain_load s = {.base = EVEN_BASE, .enough = 1.03};
    s.level = mem_new(sizeof *s.level * max, "test");
    s.key = mem_new(sizeof *s.key * max, "test");
    s.cost = mem_new(sizeof *s.cost * max, "test");
    s.copy = mem_new(sizeof *s.copy * max, "test");
    s.part = mem_new(sizeof *s.part * max, "test");
    for (okey k = 0; k < (okey)1 << 3 * (EVEN_BASE - 1); k++) {
        if ((int)(k % (okey)comm.size) != comm.rank) continue;
        equalize_add(&s, EVEN_BASE, k);
        for (okey c = k << 3; in_ball(EVEN_BASE, k, 0.14) && c < (k + 1) << 3; c++) {
            equalize_add(&s, EVEN_BASE + 1, c);
            for (okey f = c << 3; in_ball(EVEN_BASE + 1, c, 0.06) && f < (c + 1) << 3; f++)
                equalize_add(&s, EVEN_BASE + 2, f);
        }
    }
    return s;
}

static void equalize_free(struct domain_load *s)
{
    mem_free((int *)s->level);
    mem_free((okey *)s->key);
    mem_free((double *)s->cost);
    mem_free((double *)s->copy);
    mem_free((double *)s->part);
}

/* Max/min of the ranks' loads, oct by oct. */
static double equalize_held(const struct domain *d, const struct domain_load *s)
{
    double held[MAX] = {0}, parts[2][MAX] = {{0}}, min = HUGE_VAL, max = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int near[MAX], r = domain_rank(d, s->level[i], s->key[i]), up = s->level[i] - s->base,
                       n = domain_near(d, r, s->level[i], s->key[i], near);
        held[r] += s->cost[i] - s->part[i];
        for (int k = 0; k < n; k++) held[near[k]] += s->copy[i];
        parts[0][r] += s->part[i];
        parts[1][domain_rank(d, s->base, s->key[i] >> 3 * up)] += s->part[i];
    }
    comm_add_f64(&comm, held, MAX);
    comm_add_f64(&comm, parts[0], 2 * MAX);
    for (int r = 0; r < domain_nrank(d); r++) {
        held[r] += fmax(parts[0][r], parts[1][r]);
        min = fmin(min, held[r]);
        max = fmax(max, held[r]);
    }
    return max / min;
}

/* Loads agree within 5 %, and with the prediction of the balance; such domains are kept. */
static void test_even(enum domain_kind kind, int nrank, const struct domain_load *load)
{
    struct domain *d = domain_new(kind, nrank, EVEN_BASE + 2, periodic_box);
    struct domain_load again = *load;
    double spread = 0;
    struct domain *e = domain_balance(d, kind, &comm, load, &spread);
    CHECK(e, "%d ranks: equal volumes are kept, with %g", nrank, spread);
    double held = equalize_held(e, load);
    CHECK(held <= 1.05, "kind %d, %d ranks: %g", (int)kind, nrank, held);
    CHECK(fabs(spread / held - 1) < 1e-9, "%g is held and %g predicted", held, spread);
    again.enough = spread * (1 + 1e-12);
    CHECK(!domain_balance(e, kind, &comm, &again, &held), "domains that are even did not stay");
    domain_free(e);
    domain_free(d);
}

/* One domain per rank: loads do not depend on whether the memory of ghosts is given. */
static void test_ghosts_known(enum domain_kind kind, const struct domain_load *load)
{
    struct domain *d = domain_new(kind, comm.size, EVEN_BASE + 2, periodic_box);
    struct domain_load known = *load, unknown = *load;
    double copies[MAX] = {0}, spread[2] = {0};
    for (int64_t i = 0; i < load->n; i++) {
        int near[MAX], r = domain_rank(d, load->level[i], load->key[i]),
                       n = domain_near(d, r, load->level[i], load->key[i], near);
        for (int k = 0; k < n; k++) copies[near[k]] += load->copy[i];
    }
    comm_add_f64(&comm, copies, MAX);
    known.ghosts = &copies[comm.rank];
    known.enough = unknown.enough = HUGE_VAL;
    bool stay = !domain_balance(d, kind, &comm, &known, &spread[0]) &&
                !domain_balance(d, kind, &comm, &unknown, &spread[1]);
    CHECK(stay && spread[1] > 0 && fabs(spread[0] / spread[1] - 1) < 1e-9,
          "kind %d: with known ghosts %.12g, with counted ones %.12g", (int)kind, spread[0],
          spread[1]);
    domain_free(d);
}

/* Work of each level on its fullest rank, summed, over the mean. */
static double work_lost(const struct domain *d, const struct domain_load *s)
{
    double work[LEVEL_MAX + 2][MAX] = {{0}}, max = 0, all = 0;
    for (int64_t i = 0; i < s->n; i++)
        work[s->level[i]][domain_rank(d, s->level[i], s->key[i])] += s->cost[i] *
                                                                     s->work[s->level[i]];
    comm_add_f64(&comm, work[0], (LEVEL_MAX + 2) * MAX);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        double top = 0;
        for (int r = 0; r < d->nrank; r++) {
            all += work[l][r];
            top = fmax(top, work[l][r]);
        }
        max += top * d->nrank;
    }
    return max / all - 1;
}

/* Boxes may start where loads of ranks per level are more equal; not along axes with boundaries,
 * and not without a gain. */
static void test_origin(int nrank, const struct domain_load *load)
{
    const double work[LEVEL_MAX + 2] = {[EVEN_BASE] = 1, [EVEN_BASE + 1] = 2, [EVEN_BASE + 2] = 4};
    const int top = EVEN_BASE + 2;
    struct domain_load free = *load, fixed = *load;
    double spread = 0;
    free.work = fixed.work = work;
    struct domain *d = domain_new(DOMAIN_KSECTION, nrank, top, periodic_box),
                  *b = domain_new(DOMAIN_KSECTION, nrank, top, bounded_y),
                  *with = domain_balance(d, DOMAIN_KSECTION, &comm, &free, &spread);
    fixed.work = NULL;
    struct domain *without = domain_balance(d, DOMAIN_KSECTION, &comm, &fixed, &spread);
    fixed.work = work;
    double lost = work_lost(with, &fixed), before = work_lost(without, &fixed);
    CHECK(lost < 0.8 * before - 0.02, "%d ranks: levels lose %g, without an origin %g", nrank, lost,
          before);
    CHECK(equalize_held(with, load) <= 1.05, "%d ranks: %g", nrank, equalize_held(with, load));
    free.enough = 1.05;
    CHECK(!domain_balance(with, DOMAIN_KSECTION, &comm, &free, &spread),
          "%d ranks: a good place did not stay", nrank);
    struct domain *e = domain_balance(b, DOMAIN_KSECTION, &comm, &free, &spread);
    CHECK(!e || e->ksec.origin[1] == 0, "%d ranks: moved along an axis with boundaries", nrank);
    domain_free(e);
    /* base level only: every origin is equivalent */
    free.n = 0;
    for (int64_t i = 0; i < load->n; i++) {
        if (load->level[i] > EVEN_BASE) continue;
        ((int *)free.level)[free.n] = EVEN_BASE;
        ((okey *)free.key)[free.n] = load->key[i];
        ((double *)free.cost)[free.n] = ((double *)free.copy)[free.n] = EVEN_OCT;
        ((double *)free.part)[free.n++] = 0;
    }
    e = domain_balance(d, DOMAIN_KSECTION, &comm, &free, &spread);
    CHECK(!e, "%d ranks: a uniform mesh moved", nrank);
    domain_free(e);
    domain_free(with);
    domain_free(without);
    domain_free(b);
    domain_free(d);
}

/* On a uniform grid, cut planes must lie between planes of octs, on grid lines of the coarse
 * level. */
static void test_planes_on_grid(void)
{
    struct samples s = samples_new(32768, 6, comm.size, comm.rank);
    for (int64_t i = 0; i < s.n; i++) {
        s.key[i] = (okey)(i * comm.size + comm.rank);
        s.level[i] = 6;
        s.cost[i] = 1;
    }
    struct domain *u = domain_new(DOMAIN_KSECTION, 12, 10, periodic_box),
                  *d = balance(u, DOMAIN_KSECTION, &s);
    int ragged = 0;
    for (int r = 0; r < 12; r++) {
        int64_t box[3][2];
        ksection_box(d, r, box);
        for (int a = 0; a < 3; a++) ragged += box[a][0] % 64 != 0;
    }
    CHECK(ragged == 0, "%d planes off the grid", ragged);
    domain_free(d);
    domain_free(u);
    samples_free(&s);
}

static void test_tree(void)
{
    struct domain *d = domain_new(DOMAIN_KSECTION, 96, 7, periodic_box);
    const int factor[6] = {3, 2, 2, 2, 2, 2}, axis[6] = {0, 1, 2, 1, 2, 0};
    CHECK(d->ksec.tree.nlev == 6 && !memcmp(d->ksec.tree.factor, factor, sizeof factor),
          "factors of 96");
    CHECK(!memcmp(d->ksec.axis, axis, sizeof axis), "axes of 96");
    domain_free(d);
    d = domain_new(DOMAIN_KSECTION, 2, 3,
                   /* the centre of the whole box is on a plane, and belongs to the lower side */
                   periodic_box);
    CHECK(domain_rank(d, 1, 0) == 0 && domain_rank(d, 2, 1) == 1, "points on a plane");
    domain_free(d);
    d = domain_new(DOMAIN_HILBERT, 3, 7, periodic_box);
    double bound[4];
    domain_bound_keys(d, bound);
    CHECK(bound[0] == 0 && bound[1] == 5592406 && bound[2] == 11184811 && bound[3] == 16777216,
          "initial keys");
    domain_free(d);
}

/* Search of cuRAMSES in the stored tree: on every level the first child whose cut plane is not
 * below the point. */
static int walk_tree(const struct domain_tree *t, const double x[3])
{
    int at = 0;
    for (int l = 0; l < t->nlev; l++) {
        int j = 0;
        while (j < t->factor[l] - 1 && x[t->axis[l] - 1] > t->cut[j * t->nnode + at]) j++;
        at = t->next[j * t->nnode + at] - 1;
        if (at < 0) return -1;
    }
    return t->rank[at] - 1;
}

static void test_stored_tree(int nrank)
{
    struct samples s = samples_new(5000, 5, comm.size, comm.rank);
    struct domain *u = domain_new(DOMAIN_KSECTION, nrank, 5, periodic_box),
                  *d = balance(u, DOMAIN_KSECTION, &s);
    struct domain_tree t;
    int wrong = 0, outside = 0, leaves = 0;
    domain_tree(d, &t);
    for (okey k = 0; k < 1 << 15; k++) {
        int64_t q[3];
        double x[3];
        int r = domain_rank(d, 6, k);
        okey_coords(k, q);
        for (int a = 0; a < 3; a++) {
            x[a] = ((double)q[a] + 0.5) / 32;
            outside += x[a] <= t.low[a * nrank + r] || x[a] > t.high[a * nrank + r];
        }
        wrong += walk_tree(&t, x) != r;
    }
    for (int i = 0; i < t.nnode; i++) leaves += t.rank[i] > 0;
    CHECK(wrong == 0 && outside == 0, "%d ranks: %d cells found elsewhere, %d out of their box",
          nrank, wrong, outside);
    CHECK(leaves == nrank && t.kmax <= TREE_FACTOR_MAX, "%d ranks: %d leaves, %d children", nrank,
          leaves, t.kmax);
    domain_tree_free(&t);
    domain_free(d);
    domain_free(u);
    samples_free(&s);
}

/* Whether a box in integer units, widened by the margin, overlaps the ball, without
 * domain_ball_meets. */
static bool box_meets(const struct domain *d, int64_t box[3][2], const double x[3], double radius,
                      double margin)
{
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
        double low = (double)box[a][0] / (double)d->extent - margin,
               high = (double)box[a][1] / (double)d->extent + margin;
        double p = x[a] < low ? low : x[a] > high ? high : x[a];
        d2 += (p - x[a]) * (p - x[a]);
    }
    return d2 <= radius * radius;
}

static void ball_brute(const struct domain *d, const double x[3], double radius, double margin,
                       bool *meets)
{
    int64_t box[3][2], n = d->extent;
    memset(meets, 0, MAX);
    for (int i = 0; i < 8 * d->nrank && d->kind == DOMAIN_KSECTION;
         i++) { /* both parts of a side */
        bool is = true;
        ksection_box(d, i / 8, box);
        for (int a = 0; a < 3; a++) {
            for (int k = 0; k < 2; k++) box[a][k] += d->ksec.origin[a] - (i >> a & 1) * n;
            if (box[a][0] < 0) box[a][0] = 0;
            if (box[a][1] > n) box[a][1] = n;
            is &= box[a][0] < box[a][1];
        }
        meets[i / 8] |= is && box_meets(d, box, x, radius, margin);
    }
    for (int64_t i = 0; i < n * n * n && d->kind == DOMAIN_HILBERT; i++) {
        int64_t q[3] = {i % n, i / n % n, i / n / n};
        hkey key = hilbert_key(q, d->levelmax + 1);
        int r = d->nrank - 1;
        while (key < d->hilb.bound[r]) r--;
        for (int a = 0; a < 3; a++) box[a][0] = q[a], box[a][1] = q[a] + 1;
        if (!meets[r]) meets[r] = box_meets(d, box, x, radius, margin);
    }
}

static void test_ball(enum domain_kind kind, int nrank, bool moved)
{
    struct samples s = samples_new(5000, 3, comm.size, comm.rank);
    struct domain *u = domain_new(kind, nrank, 3, periodic_box), *d = balance(u, kind, &s);
    struct rank_list near = {0};
    if (moved) move_origin(d, 5);
    int wrong = 0;
    for (uint64_t i = 0; i < 60; i++) {
        bool meets[MAX];
        double x[3], radius = 0.3 * uniform(9 * i + 7), margin = 0.1 * uniform(9 * i + 8);
        for (uint64_t a = 0; a < 3; a++) x[a] = 1.4 * uniform(9 * i + a) - 0.2;
        ball_brute(d, x, radius, margin, meets);
        domain_ball(d, x, radius, margin, &near);
        for (int j = 0; j < near.n; j++) {
            wrong += !meets[near.rank[j]] || (j && near.rank[j] <= near.rank[j - 1]);
            meets[near.rank[j]] = false;
        }
        for (int r = 0; r < nrank; r++) wrong += meets[r];
    }
    CHECK(wrong == 0, "kind %d, %d ranks: %d wrong", kind, nrank, wrong);
    FREE(near.rank);
    domain_free(d);
    domain_free(u);
    samples_free(&s);
}

/* A prime number of ranks: levels and messages grow as its logarithm; the rank of each oct has it
 * in its box, and the list of near ranks is complete. */
static void test_many(int nrank)
{
    struct samples s = samples_new(20000, 20, comm.size, comm.rank);
    struct domain *u = domain_new(DOMAIN_KSECTION, nrank, 20, periodic_box),
                  *d = balance(u, DOMAIN_KSECTION, &s);
    int outside = 0, max = 0, *rank = mem_new(sizeof *rank * (size_t)nrank, "test");
    for (int64_t i = 0; i < s.n; i++) {
        int64_t box[3][2], x[3];
        int r = domain_rank(d, s.level[i], s.key[i]),
            n = domain_near(d, r, s.level[i], s.key[i], rank);
        ksection_box(d, r, box);
        domain_corner(d, s.level[i], s.key[i], x);
        for (int a = 0; a < 3; a++) {
            int64_t c = x[a] + domain_width(d, s.level[i]) / 2;
            outside += c <= box[a][0] || c > box[a][1];
        }
        for (int j = 0; j < n; j++) outside += rank[j] < 0 || rank[j] >= nrank || rank[j] == r;
        if (n > max) max = n;
    }
    for (int r = 0; r < nrank; r += 997) {
        int n = tree_messages(&d->ksec.tree, r);
        CHECK(n <= 20, "rank %d of %d sends %d messages", r, nrank, n);
    }
    CHECK(outside == 0, "%d ranks: %d octs elsewhere", nrank, outside);
    FREE(rank);
    domain_free(d);
    domain_free(u);
    samples_free(&s);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    for (int bits = 1; bits <= 5; bits++) test_hilbert_key(bits);
    test_tree();
    const int near[] = {1, 2, 3, 8, 11, 12, 13, 22, 77};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) test_near_all(near[i]);
    test_near_thin();
    test_near_threads();
    test_along(periodic_box);
    test_along(open_box);
    const int ranks[] = {1, 2, 3, 5, 8, 11, 12, 13, 17, 22, 77};
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            test_balance((enum domain_kind)kind, ranks[i], 12);
            test_balance((enum domain_kind)kind, ranks[i], 20);
        }
    test_planes_on_grid();
    struct domain_load load = equalize_load();
    const int even[] = {8, 12};
    for (size_t i = 0; i < 2; i++)
        for (int kind = 0; kind < 2; kind++) test_even((enum domain_kind)kind, even[i], &load);
    for (int kind = 0; kind < 2; kind++) test_ghosts_known((enum domain_kind)kind, &load);
    equalize_free(&load);
    for (int n = 2; n <= 8; n *= 2) {
        load = equalize_load();
        test_origin(n, &load);
        equalize_free(&load);
    }
    const int trees[] = {1, 2, 11, 12, 13, 22, 49, 77};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        test_stored_tree(trees[i]);
        for (int kind = 0; kind < 2; kind++) test_ball((enum domain_kind)kind, trees[i], false);
        test_ball(DOMAIN_KSECTION, trees[i], true);
    }
    if (comm.size == 1) test_many(999983);
    double bad = failed;
    comm_add_f64(&comm, &bad, 1);
    if (!comm.rank) printf("%d passed, %d failed\n", passed, (int)bad);
    comm_fini();
    return bad > 0;
}
