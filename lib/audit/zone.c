/* audit/zone: see zone.h. The intervals are an implicit octree: a cube contains the intervals
 * between its first and last key. */
#include "audit/zone.h"

#include <math.h>

#include "base/mem.h"

void zone_begin(struct zone *z, size_t memory)
{
    *z = (struct zone){.max = (int64_t)(memory / sizeof *z->span)};
}

void zone_free(struct zone *z)
{
    FREE(z->span);
    z->n = z->room = 0;
}

MEM_ORDER(by_location, struct span, from)

static void join(struct zone *z)
{
    int64_t n = 0;
    if (z->n == 0) return;
    mem_sort(z->span, (size_t)z->n, sizeof *z->span, by_location);
    for (int64_t i = 1; i < z->n; i++) {
        if (z->span[i].from <= z->span[n].to) {
            if (z->span[i].to > z->span[n].to) z->span[n].to = z->span[i].to;
        } else {
            z->span[++n] = z->span[i];
        }
    }
    z->n = n + 1;
}

/* Makes room for another span. Cells arrive level by level, so neighbours on the curve arrive late:
 * spans are joined before more memory is allocated. */
static enum err make_room(struct zone *z)
{
    if (z->n < z->room) return OK;
    join(z);
    if (2 * z->n < z->room) return OK;
    if (z->room >= z->max)
        FAIL(ERR_LIMIT,
             "the surface of the mask needs more than %.3g MiB: allow more with --memory",
             ldexp((double)z->max * sizeof *z->span, -20));
    z->room = 2 * z->room + 4096 < z->max ? 2 * z->room + 4096 : z->max;
    z->span = mem_grow(z->span, sizeof *z->span * (size_t)z->room, "zone");
    return OK;
}

enum err zone_add(struct zone *z, int l, okey key, int c)
{
    int up = 3 * (OKEY_LEVELS - l);
    okey from = (key << 3 | (okey)c) << up, to = from + ((okey)1 << up);
    if (z->n && z->span[z->n - 1].to == from) {
        z->span[z->n - 1].to = to;
        return OK;
    }
    TRY(make_room(z));
    z->span[z->n++] = (struct span){from, to};
    return OK;
}

void zone_end(struct zone *z)
{
    join(z);
}

double zone_volume(const struct zone *z)
{
    double v = 0;
    if (z->sphere) return 4 * M_PI / 3 * z->radius * z->radius * z->radius;
    for (int64_t i = 0; i < z->n; i++)
        v += ldexp((double)(z->span[i].to - z->span[i].from), -3 * OKEY_LEVELS);
    return v;
}

static double round_the_box(double far)
{
    far = fabs(far);
    return far < 1 - far ? far : 1 - far;
}

static double sphere_far2(const struct zone *z, const double x[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double far = round_the_box(x[d] - z->centre[d]);
        sum += far * far;
    }
    return sum;
}

/* The first interval in lo..hi-1 that ends after this key. */
static int64_t first_after(const struct zone *z, okey key, int64_t lo, int64_t hi)
{
    MEM_BISECT(lo, hi, mid, z->span[mid].to <= key)
    return lo;
}

bool zone_holds(const struct zone *z, const double x[3])
{
    uint64_t q[3];
    if (z->sphere) return sphere_far2(z, x) <= z->radius * z->radius;
    for (int d = 0; d < 3; d++) q[d] = (uint64_t)ldexp(x[d], OKEY_LEVELS);
    okey key = okey_make(q[0], q[1], q[2]);
    int64_t i = first_after(z, key, 0, z->n);
    return i < z->n && z->span[i].from <= key;
}

/* The squared distance from x to the cube of level l with this key. */
static double cube_far2(const double x[3], int l, okey key)
{
    int64_t q[3];
    double sum = 0, half = ldexp(0.5, -l);
    okey_coords(key, q);
    for (int d = 0; d < 3; d++) {
        double far = round_the_box(x[d] - (2 * (double)q[d] + 1) * half) - half;
        if (far > 0) sum += far * far;
    }
    return sum;
}

/* Finds the nearest interval among lo..hi-1, which extend into the cube. The child nearest to x is
 * searched first, so that most others are skipped. */
static void search(const struct zone *z, const double x[3], int l, okey key, int64_t lo, int64_t hi,
                   double *best)
{
    int up = 3 * (OKEY_LEVELS - l);
    okey from = key << up, to = (key + 1) << up;
    double far = cube_far2(x, l, key);
    if (lo >= hi || far >= *best) return;
    if (z->span[lo].from <= from && z->span[lo].to >= to) {
        *best = far;
        return;
    }
    int64_t q[3];
    int towards = 0;
    okey_coords(key, q);
    for (int d = 0; d < 3; d++) towards |= (ldexp(x[d], l) - (double)q[d] >= 0.5) << d;
    for (int k = 0; k < 8; k++) {
        okey child = key << 3 | (okey)(towards ^ k), end = (child + 1) << (up - 3);
        int64_t a = first_after(z, child << (up - 3), lo, hi), b = a;
        if (a < hi && z->span[a].from < end) {
            b = first_after(z, end - 1, a, hi);
            if (b < hi && z->span[b].from < end) b++;
        }
        search(z, x, l + 1, child, a, b, best);
    }
}

double zone_far2(const struct zone *z, const double x[3], double max)
{
    if (z->sphere) return fmin(sphere_far2(z, x), max);
    search(z, x, 0, 0, 0, z->n, &max);
    return max;
}
