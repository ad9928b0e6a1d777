/* cone/select: the events of a step.
 *
 * Points are taken in blocks of consecutive ones, which are near one another as particles are
 * sorted by octs. For each replica of the box that the slice touches and each block, its bounding
 * box says whether anything of it can be in the slice; only then its points are looked at.
 *
 * Crossing: the world line of a point in a step is straight, r(s) = r0 + s (r1 − r0), s = 0 … 1,
 * and light that reaches the observer at a = 1 is at the distance D(s), which falls. As no point is
 * faster than light, |r(s)| − D(s) grows, and has its zero in this step if and only if it is ≤ 0 at
 * s = 0 and > 0 at s = 1. Positions at both ends are integers (cone_place), r1 of a step and r0 of
 * the next one are the same numbers, and so is D: each point crosses exactly once in all steps
 * together. D(s) and a(s) are the polynomials of degree 5 with the values and the first and second
 * derivatives of both ends. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cone/priv.h"

enum { BLOCK = 256, BITS = 31 };
static const double PLACES = 2147483648.0; /* 2^BITS */
/* margin of comparisons of distances that only sort out, relative and in boxes */
static const double FUZZ = 1e-8;

struct block {
    double mid[3], half[3], moved; /* bounding box; maximum displacement in the step */
};

struct search {
    const struct cone_view *v;
    const struct cone_shell *s;
    const struct cone_points *p;
    int64_t nblock, nimage, room;
    struct block *block;
    int32_t (*image)[3];
    double moved;
};

int32_t cone_place(double x)
{
    uint64_t k = (uint64_t)(int64_t)floor(x * PLACES);
    return (int32_t)(uint32_t)(2 * k + 1);
}

/* Position of a point now, and its displacement in the step, in 2^-31 boxes. */
static int64_t place(const struct cone_points *p, int d, int64_t i)
{
    return (int64_t)floor(p->x[d][i] * PLACES);
}

static int64_t moved(const struct search *q, int d, int64_t i)
{
    const struct cone_points *p = q->p;
    if (!p->was[d]) return 0;
    if (p->was[d][i] == 0) return llround(p->v[d][i] * q->s->dtau * PLACES);
    uint32_t by = (uint32_t)place(p, d, i) - ((uint32_t)p->was[d][i] >> 1);
    return (int32_t)(by << 1) / 2; /* to the nearest replica */
}

static double norm(const double r[3])
{
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* ---- events ---- */

static void events_add(struct cone_events *e, const struct cone_event *one)
{
    MEM_ROOM(e->at, e->n, e->room, 256, "light cone");
    e->at[e->n++] = *one;
}

void cone_events_free(struct cone_events *e)
{
    FREE(e->at);
    e->n = e->room = 0;
}

/* Polynomial in s with values f and derivatives g at 0 and 1 (Hermite). */
static double hermite(const double f[2], const double g[2][2], double s)
{
    const double rise = f[1] - f[0], v0 = g[0][0], v1 = g[0][1], a0 = g[1][0] / 2, a1 = g[1][1] / 2;
    const double c3 = 10 * rise - 6 * v0 - 4 * v1 - 3 * a0 + a1,
                 c4 = -15 * rise + 8 * v0 + 7 * v1 + 3 * a0 - 2 * a1,
                 c5 = 6 * rise - 3 * v0 - 3 * v1 - a0 + a1;
    return f[0] + s * (v0 + s * (a0 + s * (c3 + s * (c4 + s * c5))));
}

/* Fraction of the step at which a point on the line from r0 to r1 meets the light: a zero between
 * two signs, by regula falsi that halves the value of an end that stays (Illinois). */
static double meeting(const struct cone_shell *s, const double r0[3], const double r1[3])
{
    double lo = 0, hi = 1, flo = norm(r0) - s->distance[0], fhi = norm(r1) - s->distance[1];
    int stays = 0;
    for (int k = 0; k < 60 && hi - lo > 1e-15; k++) {
        double x = lo + (hi - lo) * (flo / (flo - fhi)), r[3];
        x = fmin(fmax(x, lo), hi);
        for (int d = 0; d < 3; d++) r[d] = r0[d] + x * (r1[d] - r0[d]);
        double f = norm(r) - hermite(s->distance, s->fall, x);
        if (f <= 0) {
            lo = x, flo = f;
            if (stays == 1) fhi /= 2;
            stays = 1;
        } else {
            hi = x, fhi = f;
            if (stays == -1) flo /= 2;
            stays = -1;
        }
        if (f == 0 || fabs(f) < 1e-14 * s->distance[0]) return x;
    }
    return lo;
}

/* Whether a point existed at the fraction s of the step. */
static bool is_born(const struct cone_points *p, int64_t i, double s)
{
    if (!p->birth || p->was[0][i] != 0 || p->birth[i] == 0) return true;
    return p->birth[i] <= p->clock[0] + s * (p->clock[1] - p->clock[0]);
}

/* Whether the view has a point, or may have a part of its cube. */
static bool holds(const struct search *q, const double at[3], double turned[3])
{
    const double h = q->p->half, half[3] = {h, h, h};
    if (h == 0) return cone_view_holds(q->v, at, turned);
    cone_turn(q->v, at, turned);
    return cone_view_meets(q->v, at, half);
}

static void cross(const struct search *q, int64_t i, const int32_t image[3],
                  struct cone_events *out)
{
    double r[2][3], at[3];
    struct cone_event e = {.at = i, .image = {image[0], image[1], image[2]}};
    for (int d = 0; d < 3; d++) {
        int64_t to = ((int64_t)image[d] << BITS) + place(q->p, d, i), from = to - moved(q, d, i);
        r[0][d] = (double)from / PLACES - q->v->observer[d];
        r[1][d] = (double)to / PLACES - q->v->observer[d];
    }
    if (!(norm(r[0]) <= q->s->distance[0] && norm(r[1]) > q->s->distance[1])) return;
    double s = meeting(q->s, r[0], r[1]);
    if (!is_born(q->p, i, s)) return;
    for (int d = 0; d < 3; d++) at[d] = r[0][d] + s * (r[1][d] - r[0][d]);
    e.z = 1 / hermite(q->s->aexp, q->s->rise, s) - 1;
    if ((e.z > q->s->zmax && q->p->half == 0) || !holds(q, at, e.r)) return;
    events_add(out, &e);
}

/* RAMSES: redshift linear in distance. */
static double linear(const struct cone_shell *s, double far)
{
    const double *D = s->distance, *z = s->z;
    return ((far - D[1]) * z[0] + (D[0] - far) * z[1]) / (D[0] - D[1]);
}

double cone_redshift(const struct cone_shell *s, double far)
{
    const double r[3] = {far, 0, 0};
    if (s->rule == CONE_RAMSES) return linear(s, far);
    if (far <= s->distance[0] && far > s->distance[1])
        return 1 / hermite(s->aexp, s->rise, meeting(s, r, r)) - 1;
    /* beyond an end of the step by little: two derivatives there; t is the zero of
     * D + fall t + curve t²/2 − far that is near 0 */
    const int end = far <= s->distance[1];
    const double fall = s->fall[0][end], curve = s->fall[1][end], gap = s->distance[end] - far;
    const double t = -2 * gap / (fall - sqrt(fmax(fall * fall - 2 * curve * gap, 0)));
    return 1 / (s->aexp[end] + t * (s->rise[0][end] + 0.5 * t * s->rise[1][end])) - 1;
}

static void stand(const struct search *q, int64_t i, const int32_t image[3],
                  struct cone_events *out)
{
    const double *D = q->s->distance;
    double at[3];
    struct cone_event e = {.at = i, .image = {image[0], image[1], image[2]}};
    for (int d = 0; d < 3; d++) at[d] = q->p->x[d][i] + image[d] - q->v->observer[d];
    double far = norm(at);
    if (!(far > D[1] && far <= D[0]) || !holds(q, at, e.r)) return;
    e.z = linear(q->s, far);
    events_add(out, &e);
}

/* ---- blocks and replicas ---- */

static int64_t block_end(const struct search *q, int64_t b)
{
    return (b + 1) * BLOCK < q->p->n ? (b + 1) * BLOCK : q->p->n;
}

static void block_measure(struct search *q, int64_t b)
{
    struct block *k = &q->block[b];
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    k->moved = 0;
    for (int d = 0; d < 3; d++)
        for (int64_t i = b * BLOCK; i < block_end(q, b); i++) {
            lo[d] = fmin(lo[d], q->p->x[d][i]), hi[d] = fmax(hi[d], q->p->x[d][i]);
            if (q->s->rule == CONE_RAMSES || !q->p->was[d]) continue;
            k->moved = fmax(k->moved, 2 * fabs((double)moved(q, d, i)) / PLACES);
        }
    for (int d = 0; d < 3; d++) {
        k->mid[d] = 0.5 * (lo[d] + hi[d]);
        k->half[d] = 0.5 * (hi[d] - lo[d]) + FUZZ;
    }
}

/* Whether a cuboid of points, moving less than `by`, has events in the slice. */
static bool meets(const struct search *q, const double mid[3], const double half[3], double by,
                  const int32_t image[3])
{
    double near = 0, far = 0, at[3], wide[3];
    for (int d = 0; d < 3; d++) {
        at[d] = mid[d] + image[d] - q->v->observer[d];
        double u = fabs(at[d]), low = fmax(u - half[d], 0), high = u + half[d];
        near += low * low, far += high * high;
        wide[d] = half[d] + by + q->p->half + FUZZ;
    }
    const double outer = q->s->distance[0] * (1 + FUZZ) + by + FUZZ,
                 inner = q->s->distance[1] * (1 - FUZZ) - FUZZ;
    if (near > outer * outer || (inner > 0 && far <= inner * inner)) return false;
    return cone_view_meets(q->v, at, wide);
}

static void search_block(const struct search *q, int64_t b, const int32_t image[3],
                         struct cone_events *out)
{
    const struct block *k = &q->block[b];
    if (!meets(q, k->mid, k->half, k->moved, image)) return;
    double square[BLOCK], shift[3];
    int64_t first = b * BLOCK, n = block_end(q, b) - first;
    const double outer = q->s->distance[0] * (1 + FUZZ) + k->moved + FUZZ,
                 inner = fmax(q->s->distance[1] * (1 - FUZZ) - FUZZ, 0);
    const double *x = q->p->x[0] + first, *y = q->p->x[1] + first, *z = q->p->x[2] + first;
    for (int d = 0; d < 3; d++) shift[d] = image[d] - q->v->observer[d];
    for (int64_t i = 0; i < n; i++) {
        double u = x[i] + shift[0], v = y[i] + shift[1], w = z[i] + shift[2];
        square[i] = u * u + v * v + w * w;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!(square[i] >= inner * inner && square[i] <= outer * outer)) continue;
        if (q->s->rule == CONE_CROSSING)
            cross(q, first + i, image, out);
        else
            stand(q, first + i, image, out);
    }
}

/* Lists the replicas in which points of this rank may have events. */
static void list_images(struct search *q)
{
    struct cone_range r;
    double lo[3], hi[3], mid[3], half[3];
    for (int d = 0; d < 3; d++) lo[d] = INFINITY, hi[d] = -INFINITY;
    for (int64_t b = 0; b < q->nblock; b++) {
        const struct block *k = &q->block[b];
        q->moved = fmax(q->moved, k->moved);
        for (int d = 0; d < 3; d++) {
            lo[d] = fmin(lo[d], k->mid[d] - k->half[d]);
            hi[d] = fmax(hi[d], k->mid[d] + k->half[d]);
        }
    }
    for (int d = 0; d < 3; d++) mid[d] = 0.5 * (lo[d] + hi[d]), half[d] = 0.5 * (hi[d] - lo[d]);
    /* a corner of a cube of a point in the shell is beyond it by √3 half, and beyond the box around
     * the slice by 3 half */
    cone_view_images(q->v, q->s->distance[1], q->s->distance[0], q->moved + 3 * q->p->half + FUZZ,
                     &r);
    for (int32_t i = (int32_t)r.lo[0]; i <= r.hi[0]; i++)
        for (int32_t j = (int32_t)r.lo[1]; j <= r.hi[1]; j++)
            for (int32_t k = (int32_t)r.lo[2]; k <= r.hi[2]; k++) {
                const int32_t image[3] = {i, j, k};
                if (!meets(q, mid, half, q->moved, image)) continue;
                MEM_ROOM(q->image, q->nimage, q->room, 64, "light cone");
                memcpy(q->image[q->nimage++], image, sizeof image);
            }
}

void cone_select(const struct cone_view *v, const struct cone_shell *s, const struct cone_points *p,
                 struct cone_events *out)
{
    struct search q = {.v = v, .s = s, .p = p, .nblock = (p->n + BLOCK - 1) / BLOCK};
    if (p->n == 0) return;
    q.block = mem_new(sizeof *q.block * (size_t)q.nblock, "light cone");
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < q.nblock; b++) block_measure(&q, b);
    list_images(&q);
#pragma omp parallel if (q.nimage * q.nblock > 64)
    {
        struct cone_events mine = {0};
#pragma omp for schedule(dynamic, 64)
        for (int64_t t = 0; t < q.nimage * q.nblock; t++)
            search_block(&q, t % q.nblock, q.image[t / q.nblock], &mine);
#pragma omp critical(cone)
        {
            for (int64_t i = 0; i < mine.n; i++) events_add(out, &mine.at[i]);
            cone_events_free(&mine);
        }
    }
    FREE(q.image);
    FREE(q.block);
}

/* ---- order ---- */

struct keyed {
    struct cone_event event;
    int64_t id;
};

static int keyed_order(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    for (int d = 0; d < 3; d++)
        if (x->event.image[d] != y->event.image[d])
            return x->event.image[d] < y->event.image[d] ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

void cone_events_sort(struct cone_events *e, const int64_t *id)
{
    struct keyed *k = mem_new(sizeof *k * (size_t)(e->n + 1), "light cone");
    for (int64_t i = 0; i < e->n; i++) k[i] = (struct keyed){e->at[i], id[e->at[i].at]};
    mem_sort(k, (size_t)e->n, sizeof *k, keyed_order);
    for (int64_t i = 0; i < e->n; i++) e->at[i] = k[i].event;
    mem_free(k);
}
