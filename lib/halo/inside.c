/* halo/inside: properties within the virial radius: moments of the dark matter, masses of gas,
 * stars and other matter, heavy particles. Sums are exact, so each rank sums its own bodies.
 * Velocities are relative to the mean of the members until the mean within the radius is known. */
#include <string.h>

#include "halo/halo_priv.h"

enum { TURN = 128 };
/* √8: masses of adjacent levels of initial conditions differ by a factor of 8 */
static const double HEAVY = 2.8284271247461903;
/* indices of the components of a symmetric tensor */
static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};

enum {
    DARK,
    MOMENTUM,
    ENERGY = MOMENTUM + 3,
    TURNING,
    OFFSET = TURNING + 3,
    TENSOR = OFFSET + 3,
    HEAVY_MASS = TENSOR + 6,
    GAS,
    STARS,
    OTHER,
    SUMS
};
static const int SUM_OF[SPECIES_COUNT] = {
    [SPECIES_GAS] = GAS, [SPECIES_STAR] = STARS, [SPECIES_OTHER] = OTHER};

struct request {
    double x[3], v[3], radius;
};

struct moments {
    struct sum sum[SUMS];
    int64_t heavy;
};

struct reading {
    const struct halo_space *s;
    const struct halo_set *set;
    const struct request *q;
    struct moments *to;
};

static void read_dark(const struct reading *r, int32_t i)
{
    const struct halo_set *d = r->set;
    const double m = d->m[i];
    struct sum *to = r->to->sum;
    double x[3], v[3], v2 = 0;
    if (m < 0) return; /* a copy */
    for (int k = 0; k < 3; k++) {
        x[k] = halo_offset(r->s, k, d->x[k][i], r->q->x[k]);
        v[k] = d->v[k][i] - r->q->v[k];
        v2 += v[k] * v[k];
    }
    sum_add(&to[DARK], m);
    sum_add(&to[ENERGY], m * v2);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        sum_add(&to[MOMENTUM + k], m * v[k]);
        sum_add(&to[OFFSET + k], m * x[k]);
        sum_add(&to[TURNING + k], m * (x[a] * v[b] - x[b] * v[a]));
    }
    for (int k = 0; k < 6; k++) sum_add(&to[TENSOR + k], m * x[ROW[k]] * x[COLUMN[k]]);
    if (!(m > HEAVY * r->s->lightest)) return;
    r->to->heavy++;
    sum_add(&to[HEAVY_MASS], m);
}

static void read_body(int32_t i, double r2, void *ctx)
{
    const struct reading *r = ctx;
    if (r2 > r->q->radius * r->q->radius) return;
    if (!r->set->others)
        read_dark(r, i);
    else
        sum_add(&r->to->sum[SUM_OF[r->set->kind[i]]], r->set->m[i]);
}

static void read_request(const struct halo_space *s, const struct halo_trees *t,
                         const struct request *q, struct moments *to)
{
    struct reading r = {.s = s, .q = q, .to = to};
    memset(to, 0, sizeof *to);
    for (int k = 0; k < 2; k++) {
        r.set = t->set[k];
        tree_ball(t->tree[k], q->x, q->radius * (1 + 1e-12), read_body, &r);
    }
}

/* Eigenvalues of a symmetric matrix, ascending (Jacobi rotations). */
static void eigenvalues(double a[3][3], double e[3])
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int k = 0; k < 3; k++) {
            int p = k == 2, q = k == 0 ? 1 : 2, o = 3 - p - q;
            if (a[p][q] == 0) continue;
            double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
            double c = 1 / sqrt(t * t + 1), s = t * c, apq = a[p][q], ao = a[o][p];
            a[p][p] -= t * apq;
            a[q][q] += t * apq;
            a[p][q] = a[q][p] = 0;
            a[o][p] = a[p][o] = c * ao - s * a[o][q];
            a[o][q] = a[q][o] = s * ao + c * a[o][q];
        }
    for (int k = 0; k < 3; k++) e[k] = a[k][k];
    for (int k = 0; k < 3; k++)
        for (int q = 0; q < 2; q++)
            if (e[q] > e[q + 1]) {
                double x = e[q];
                e[q] = e[q + 1], e[q + 1] = x;
            }
}

static int sphere_of(const struct halo_space *s)
{
    return s->density[HALO_VIR] > 0 ? HALO_VIR : HALO_200M;
}

static void fill_halo(const struct halo_space *s, const struct moments *q, struct halo *h)
{
    double x[SUMS], mean[3], offset[3], tensor[3][3], e[3], v2 = 0, spin = 0;
    for (int k = 0; k < SUMS; k++) x[k] = sum_get(&q->sum[k]);
    h->gas = x[GAS];
    h->stars = x[STARS];
    h->other = x[OTHER];
    h->heavy = q->heavy;
    h->heavy_mass = x[HEAVY_MASS] / x[DARK];
    for (int k = 0; k < 3; k++) {
        mean[k] = x[MOMENTUM + k] / x[DARK];
        offset[k] = x[OFFSET + k] / x[DARK];
        v2 += mean[k] * mean[k];
    }
    h->sigma = sqrt(fmax(x[ENERGY] / x[DARK] - v2, 0) / 3);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        double j = x[TURNING + k] / x[DARK] - (offset[a] * mean[b] - offset[b] * mean[a]);
        spin += j * j;
    }
    const int k = sphere_of(s);
    if (s->gravity > 0) h->spin = sqrt(spin) / sqrt(2 * s->gravity * h->m[k] * h->r[k]);
    for (int i = 0; i < 6; i++)
        tensor[ROW[i]][COLUMN[i]] = tensor[COLUMN[i]][ROW[i]] = x[TENSOR + i];
    eigenvalues(tensor, e);
    h->b_a = sqrt(e[1] / e[2]);
    h->c_a = sqrt(fmax(e[0], 0) / e[2]);
}

/* ---- ranks ---- */

struct inside {
    const struct halo_space *s;
    const struct halo_trees *t;
};

static void reply_moments(void *ctx, int64_t n, const void *item, void *answer)
{
    const struct inside *q = ctx;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i++)
        read_request(q->s, q->t, (const struct request *)item + i, (struct moments *)answer + i);
}

static struct request request_of(const struct halo_space *s, const struct halo *h)
{
    struct request q = {.radius = h->r[sphere_of(s)]};
    memcpy(q.x, h->x, sizeof q.x);
    memcpy(q.v, h->v, sizeof q.v);
    return q;
}

static void join_moments(struct moments *a, const struct moments *b)
{
    for (int k = 0; k < SUMS; k++) sum_join(&a->sum[k], &b->sum[k]);
    a->heavy += b->heavy;
}

/* Measures the halos wide[0..n-1], whose spheres may overlap other ranks. (collective) */
static void measure_turn(const struct inside *in, int64_t n, const int64_t *wide, struct halo *h)
{
    struct rank_list near = {0}, scratch = {0};
    struct halo_question question = {sizeof(struct request), sizeof(struct moments), reply_moments,
                                     (void *)in};
    struct moments *all = mem_new(sizeof *all * (size_t)n + 1, "halos: moments");
    struct request *ask = NULL;
    int *rank = NULL;
    int64_t *of = NULL, asked = 0;
    for (int64_t i = 0; i < n; i++) {
        struct request q = request_of(in->s, &h[wide[i]]);
        read_request(in->s, in->t, &q, &all[i]);
        halo_ranks_near(in->s, q.x, q.radius, &near, &scratch);
        size_t room = (size_t)(asked + near.n + 1);
        ask = mem_grow(ask, sizeof *ask * room, "halos: requests");
        rank = mem_grow(rank, sizeof *rank * room, "halos: requests");
        of = mem_grow(of, sizeof *of * room, "halos: requests");
        for (int k = 0; k < near.n; k++, asked++)
            ask[asked] = q, rank[asked] = near.rank[k], of[asked] = i;
    }
    struct moments *got = halo_ask(in->s->c, &question, asked, ask, rank);
    for (int64_t i = 0; i < asked; i++) join_moments(&all[of[i]], &got[i]);
    for (int64_t i = 0; i < n; i++) fill_halo(in->s, &all[i], &h[wide[i]]);
    FREE(got);
    FREE(all);
    FREE(ask);
    FREE(rank);
    FREE(of);
    FREE(near.rank);
    FREE(scratch.rank);
}

/* Measures the halos whose spheres are on this rank alone, and lists the others in `wide`. */
static int64_t measure_own(const struct inside *in, int64_t n, struct halo *h, int64_t *wide)
{
    struct rank_list near = {0}, scratch = {0};
    int64_t nwide = 0;
    bool *own = mem_zero((size_t)n + 1, "halos: moments");
    for (int64_t i = 0; i < n; i++) {
        const double radius = h[i].r[sphere_of(in->s)];
        h[i].sigma = h[i].spin = h[i].b_a = h[i].c_a = NAN;
        h[i].gas = h[i].stars = h[i].other = h[i].heavy_mass = NAN;
        h[i].heavy = 0;
        if (!(radius > 0)) continue;
        halo_ranks_near(in->s, h[i].x, radius, &near, &scratch);
        own[i] = near.n == 0;
        if (near.n) wide[nwide++] = i;
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i++) {
        struct moments m;
        if (!own[i]) continue;
        struct request q = request_of(in->s, &h[i]);
        read_request(in->s, in->t, &q, &m);
        fill_halo(in->s, &m, &h[i]);
    }
    FREE(own);
    FREE(near.rank);
    FREE(scratch.rank);
    return nwide;
}

void halo_measure_inside(const struct halo_space *s, const struct halo_trees *t, int64_t n,
                         struct halo *h)
{
    struct inside in = {s, t};
    int64_t *wide = mem_new(sizeof *wide * (size_t)n + 1, "halos: moments");
    int64_t nwide = measure_own(&in, n, h, wide), turns = (nwide + TURN - 1) / TURN;
    comm_max_i64(s->c, &turns, 1);
    for (int64_t k = 0; k < turns; k++) {
        int64_t first = k * TURN < nwide ? k * TURN : nwide, left = nwide - first;
        measure_turn(&in, left < TURN ? left : TURN, wide + first, h);
    }
    FREE(wide);
}
