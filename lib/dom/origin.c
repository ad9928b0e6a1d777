/* dom/origin: the first axis of a k-section, and in a periodic box the origin of its boxes.
 *
 * Cut planes equalise the total work of all levels. But levels are advanced one after the other,
 * and each waits for the rank with the most work on it. Along a periodic axis the first box may
 * begin anywhere, at no cost: its end is a face between ranks in any case. So for each axis that is
 * cut, all positions on the faces of coarse octs are tried: slabs of equal cost from there on, the
 * work of each level in its fullest slab, and the ghosts next to the planes. The variation of slabs
 * across finer tree levels is neglected. The axis that is cut first is chosen in the same way.
 *
 * Gas is advanced in rows along x, of cubes of TILE_OCTS octs a side. A plane across x that is not
 * between two cubes makes two short rows of each, which cost more than planes across other axes do.
 *
 * A new origin or axis moves most octs to other ranks, so it must save DOMAIN_GAIN of the work,
 * or more if the caller says so. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/cut.h"

enum { PLACES_LOG = 6, TILE_OCTS = 8 }; /* TILE_SIDE of patch/tile.h */
static const double GHOST = 0.3;        /* work of a ghost relative to an oct */

/* Profile along one axis. Candidate origins are the faces between octs of one level. */
struct profile {
    int origins, slabs, nlev;
    bool periodic;
    double rows;    /* load.rows along x, 0 along other axes */
    double *upto;   /* [nlev + 1][2 origins + 1] cumulative work, twice around; last row: cost */
    double *layers; /* [nlev][origins] work of octs next to a plane at an origin, both sides */
    double total;
};

/* Number of slabs along the axis over all tree levels. */
static int slabs_of(const struct domain *d, int axis)
{
    int slabs = 1;
    for (int l = 0; l < d->ksec.tree.nlev; l++)
        if (d->ksec.axis[l] == axis) slabs *= d->ksec.tree.factor[l];
    return slabs < d->nrank ? slabs : d->nrank;
}

/* Ends of equal slabs that begin at origin o: slab j is end[j]..end[j+1]. */
static void slabs_cut(const struct profile *p, int o, double *end)
{
    const double *cost = p->upto + (size_t)p->nlev * (size_t)(2 * p->origins + 1);
    double all = cost[p->origins];
    int b = o;
    end[0] = o;
    for (int j = 1; j < p->slabs; j++) {
        double want = cost[o] + all * j / p->slabs;
        while (b < o + p->origins - 1 && cost[b + 1] < want) b++;
        double within = cost[b + 1] - cost[b], part = within > 0 ? (want - cost[b]) / within : 0;
        end[j] = b + fmin(fmax(part, 0), 1);
    }
    end[p->slabs] = o + p->origins;
}

static double upto_at(const double *upto, double x)
{
    int b = (int)x;
    double part = x - b;
    return part > 0 ? upto[b] + part * (upto[b + 1] - upto[b]) : upto[b];
}

/* Whether a plane at x, in units of the origins, is within half an oct of level l from the face of
 * a cube. */
static bool is_between_cubes(const struct profile *p, int l, double x)
{
    const double cubes = ldexp(x / p->origins, l - 1) / TILE_OCTS;
    return fabs(cubes - rint(cubes)) < 0.5 / TILE_OCTS;
}

/* Work that a plane adds to a level. */
static double work_beside(const struct profile *p, int l, double x)
{
    const double each = p->rows > 0 && !is_between_cubes(p, l, x) ? GHOST + p->rows : GHOST;
    return each * p->layers[l * p->origins + (int)rint(x) % p->origins];
}

/* Relative work lost by load imbalance with slabs that begin at origin o. */
static double loss_at(const struct profile *p, int o, double *end)
{
    double work = 0;
    slabs_cut(p, o, end);
    for (int l = 0; l < p->nlev; l++) {
        const double *upto = p->upto + (size_t)l * (size_t)(2 * p->origins + 1);
        double max = 0;
        for (int j = 0; j < p->slabs; j++)
            max = fmax(max, upto_at(upto, end[j + 1]) - upto_at(upto, end[j]));
        work += p->slabs * max;
        for (int j = !p->periodic; j < p->slabs; j++) work += work_beside(p, l, end[j]);
    }
    return work / p->total - 1;
}

/* Fills the profile. cost, ghost: [levels][origins], summed over the ranks. */
static void profile_fill(struct profile *p, const struct domain_load *load, const int64_t *cost,
                         const int64_t *ghost)
{
    size_t row = 2 * (size_t)p->origins + 1;
    double *all = p->upto + (size_t)p->nlev * row;
    for (int l = 0; l < p->nlev; l++) {
        double *upto = p->upto + (size_t)l * row, wide = ldexp(p->origins, 1 - l);
        for (int b = 0; b < 2 * p->origins; b++) {
            double c = (double)cost[l * p->origins + b % p->origins], w = load->work[l] * c;
            upto[b + 1] = upto[b] + w;
            all[b + 1] += c;
            if (b >= p->origins) continue;
            p->total += w;
            /* Octs in the interval, times their number side by side; each face gets half. */
            double layer = load->work[l] * (double)ghost[l * p->origins + b] * wide;
            p->layers[l * p->origins + b] += layer;
            p->layers[l * p->origins + (b + 1) % p->origins] += layer;
        }
    }
    for (int b = 1; b <= 2 * p->origins; b++) all[b] += all[b - 1];
}

/* The best origin; *loss: what is lost with it. Without a period it is where it is. */
static int best_origin(const struct profile *p, int now, double gain, double *loss)
{
    double *end = mem_new(sizeof *end * (size_t)(p->slabs + 1), "balance");
    double min = *loss = p->total > 0 ? loss_at(p, now, end) : 0;
    int best = now;
    min -= gain;
    for (int o = 0; o < p->origins && p->total > 0 && p->periodic; o++) {
        double lost = loss_at(p, o, end);
        if (lost < min) {
            *loss = min = lost;
            best = o;
        }
    }
    FREE(end);
    return best;
}

/* Cost by axis, level and interval; then, in the same shape, the cost of ghosts, without particles
 * where known (collective). */
static int64_t *costs_by_place(const struct domain *d, const struct cut *s, int origins)
{
    int nlev = d->levelmax + 1, row = nlev * origins;
    int64_t *cost = mem_zero(sizeof *cost * 6 * (size_t)row, "balance");
    const int64_t *ghost = s->copy ? s->copy : s->cost;
    int64_t width = d->extent / origins;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t x[3], l = s->load->level[i];
        if (l < s->load->base) continue;
        domain_corner(d, (int)l, s->load->key[i], x);
        for (int a = 0; a < 3; a++) {
            int64_t at = a * row + l * origins + x[a] / width;
            cost[at] += s->cost[i];
            cost[3 * row + at] += ghost[i];
        }
    }
    comm_add_i64(s->comm, cost, 6 * row);
    return cost;
}

/* best_origin along an axis, given the results of costs_by_place. */
static int origin_along(struct profile p, const struct domain_load *load, const int64_t *cost,
                        const int64_t *ghost, int now, double *loss)
{
    p.upto = mem_zero(sizeof *p.upto * (2 * (size_t)p.origins + 1) * (size_t)(p.nlev + 1),
                      "balance");
    p.layers = mem_zero(sizeof *p.layers * (size_t)(p.origins * p.nlev), "balance");
    profile_fill(&p, load, cost, ghost);
    int best = best_origin(&p, now, fmax(DOMAIN_GAIN, load->gain), loss);
    FREE(p.upto);
    FREE(p.layers);
    return best;
}

/* A choice of the first axis, with the best origin for it. */
struct layout {
    int first;
    int64_t origin[3];
    double loss; /* sum over the axes that are cut */
    bool moved;  /* the origin is not that of the present domains */
};

static struct layout layout_of(const struct domain *d, const struct cut *s, int origins,
                               const int64_t *cost, int first)
{
    struct layout out = {.first = first, .origin = {s->origin[0], s->origin[1], s->origin[2]}};
    struct domain *plan = domain_alloc(DOMAIN_KSECTION, d->ndim, d->nrank, d->levelmax, d->bounded);
    struct profile p = {.origins = origins, .nlev = d->levelmax + 1};
    const int64_t width = d->extent / origins;
    ksection_first(plan, first);
    for (int a = 0; a < d->ndim; a++) {
        p.slabs = slabs_of(plan, a);
        p.periodic = plan->periodic[a];
        p.rows = a == 0 ? s->load->rows : 0;
        if (p.slabs < 2) continue;
        const int64_t *axis = cost + a * p.nlev * origins;
        double loss;
        int now = (int)(s->origin[a] / width),
            best = origin_along(p, s->load, axis, axis + 3 * p.nlev * origins, now, &loss);
        out.loss += loss;
        out.moved |= best != now;
        out.origin[a] = best * width;
    }
    domain_free(plan);
    return out;
}

bool origin_choose(const struct domain *d, struct cut *s)
{
    const struct domain_load *load = s->load;
    if (d->kind == DOMAIN_KSECTION) {
        s->first = d->ksec.first;
        memcpy(s->origin, d->ksec.origin, sizeof s->origin);
    }
    if (!load->work || d->nrank == 1) return false;
    const int origins = load->base > PLACES_LOG ? 1 << PLACES_LOG : 1 << (load->base - 1),
              now = s->first;
    int64_t *cost = costs_by_place(d, s, origins);
    struct layout best = layout_of(d, s, origins, cost, now);
    double min = best.loss - fmax(DOMAIN_GAIN, load->gain);
    for (int a = 0; a < d->ndim; a++) {
        const struct layout other = a == now ? best : layout_of(d, s, origins, cost, a);
        if (!(other.loss < min)) continue;
        best = other;
        min = best.loss;
    }
    FREE(cost);
    s->first = best.first;
    memcpy(s->origin, best.origin, sizeof s->origin);
    return best.moved || best.first != now;
}
