/* swarm/frame: the frame of an open swarm, a pure function of the set of all positions, the same
 * for any ranks and after a restart: sums over neighbours go in the order of keys in this frame.
 *
 * It is the cube of cells of a grid with all particles; the grid's spacing is a power of two, 1/16
 * to 1/8 of the extent, so that the frame seldom changes while particles move. A few particles that
 * have gone far would take the resolution of keys from the others: while all but 0.1 % at each end
 * of each axis are within 1/32 of the frame, the cube is made of the part where they are, and the
 * others have the keys of its surface (tree/near.h). */
#include "swarm/priv.h"

enum { GRID_LOG = 3, BINS = 64, DENSE = BINS / 32, FEW_OF = 1000, RESOLVED = 40 };

static struct near_frame cube(const double lo[3], const double hi[3])
{
    struct near_frame f = {0};
    double extent = 0, far = 0, cells = 0, unit = 1;
    for (int a = 0; a < 3; a++) {
        extent = fmax(extent, hi[a] - lo[a]);
        far = fmax(far, fmax(fabs(lo[a]), fabs(hi[a])));
    }
    /* Positions in a frame that is much smaller than its distance from 0 are all rounded. */
    double least = fmax(extent, ldexp(far, GRID_LOG - RESOLVED));
    if (least > 0) {
        int e;
        frexp(least, &e);
        unit = ldexp(1, e - 1 - GRID_LOG);
    }
    for (int a = 0; a < 3; a++) {
        double first = floor(lo[a] / unit);
        f.lo[a] = first * unit;
        cells = fmax(cells, floor(hi[a] / unit) + 1 - first);
    }
    for (int a = 0; a < 3; a++) f.side[a] = cells * unit;
    return f;
}

/* Numbers of particles of all ranks in slices of the frame. (collective) */
static void slices(const struct swarm *s, const struct near_frame *f, int64_t count[3][BINS])
{
    int64_t *all = count[0];
    double *const *x = s->x;
    for (int k = 0; k < 3 * BINS; k++) all[k] = 0;
#pragma omp parallel for schedule(static) reduction(+ : all[:3 * BINS]) if (s->n > SWARM_FEW)
    for (int64_t i = 0; i < s->n; i++)
        for (int a = 0; a < 3; a++) {
            double u = (x[a][i] - f->lo[a]) / f->side[a] * BINS;
            all[a * BINS + (int)(u > 0 ? u < BINS - 1 ? u : BINS - 1 : 0)]++;
        }
    comm_add_i64(s->comm, all, 3 * BINS);
}

/* Whether nearly all particles are in a small part of the frame: lo to hi. (collective) */
static bool is_dense(const struct swarm *s, const struct near_frame *f, double lo[3], double hi[3])
{
    int64_t count[3][BINS];
    slices(s, f, count);
    for (int a = 0; a < 3; a++) {
        int64_t total = 0, below = 0, above = 0;
        int first = 0, end = BINS;
        for (int k = 0; k < BINS; k++) total += count[a][k];
        while (first < BINS && below + count[a][first] <= total / FEW_OF)
            below += count[a][first++];
        while (end > first && above + count[a][end - 1] <= total / FEW_OF) above += count[a][--end];
        if (end - first > DENSE) return false;
        lo[a] = f->lo[a] + f->side[a] / BINS * first;
        hi[a] = f->lo[a] + f->side[a] / BINS * end;
    }
    return true;
}

struct near_frame swarm_frame(const struct swarm *s)
{
    double low[6] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}; /* lo, −hi */
    double *const *x = s->x;
#pragma omp parallel for schedule(static) reduction(min : low[:6]) if (s->n > SWARM_FEW)
    for (int64_t i = 0; i < s->n; i++)
        for (int a = 0; a < 3; a++) {
            if (x[a][i] < low[a]) low[a] = x[a][i];
            if (-x[a][i] < low[3 + a]) low[3 + a] = -x[a][i];
        }
    comm_min_f64(s->comm, low, 6);
    if (low[0] > -low[3]) return (struct near_frame){.side = {1, 1, 1}}; /* no particles */
    double lo[3] = {low[0], low[1], low[2]}, hi[3] = {-low[3], -low[4], -low[5]};
    struct near_frame f = cube(lo, hi);
    while (is_dense(s, &f, lo, hi)) {
        struct near_frame part = cube(lo, hi);
        if (part.side[0] > f.side[0] / 2) break;
        f = part;
    }
    return f;
}
