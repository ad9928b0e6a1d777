#include "audit/densest.h"

#include <math.h>

#include "base/mem.h"

enum { SIDE = 32, ROUNDS = 8 };

struct crowd {
    const struct source *s;
    const double *centre;
    double radius2, sum[3];
    int64_t n, *count;
};

void source_position(const struct source *s, const struct source_parts *q, int64_t i, double x[3])
{
    for (int d = 0; d < 3; d++) {
        x[d] = q->x[d][i] / s->head.boxlen;
        x[d] -= floor(x[d]);
        if (!(x[d] < 1)) x[d] = 0;
    }
}

enum err source_all_parts(struct source *s, source_parts_fn *fn, void *ctx)
{
    for (int i = 0; i < s->npiece; i++) TRY(source_parts(s, i, SOURCE_STATE, fn, ctx));
    return OK;
}

static enum err count_cells(const struct source_parts *q, void *ctx)
{
    struct crowd *w = ctx;
    double x[3];
    for (int64_t i = 0; i < q->n; i++) {
        if (q->family[i] != FAM_DM) continue;
        source_position(w->s, q, i, x);
        w->count[((int)(x[2] * SIDE) * SIDE + (int)(x[1] * SIDE)) * SIDE + (int)(x[0] * SIDE)]++;
    }
    return OK;
}

static enum err add_inside(const struct source_parts *q, void *ctx)
{
    struct crowd *w = ctx;
    for (int64_t i = 0; i < q->n; i++) {
        double x[3], r2 = 0;
        if (q->family[i] != FAM_DM) continue;
        source_position(w->s, q, i, x);
        for (int d = 0; d < 3; d++) {
            x[d] -= w->centre[d];
            x[d] -= nearbyint(x[d]);
            r2 += x[d] * x[d];
        }
        if (r2 > w->radius2) continue;
        w->n++;
        for (int d = 0; d < 3; d++) w->sum[d] += x[d];
    }
    return OK;
}

static enum err settle(struct source *s, struct crowd *w, double centre[3])
{
    int best = 0;
    TRY(source_all_parts(s, count_cells, w));
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        if (w->count[i] > w->count[best]) best = i;
    const int at[3] = {best % SIDE, best / SIDE % SIDE, best / SIDE / SIDE};
    for (int d = 0; d < 3; d++) centre[d] = (at[d] + 0.5) / SIDE;
    for (int round = 0; round < ROUNDS; round++) {
        w->n = 0;
        for (int d = 0; d < 3; d++) w->sum[d] = 0;
        TRY(source_all_parts(s, add_inside, w));
        if (w->n == 0) break;
        for (int d = 0; d < 3; d++) {
            centre[d] += w->sum[d] / (double)w->n;
            centre[d] -= floor(centre[d]);
        }
    }
    return OK;
}

enum err source_densest(struct source *s, double radius, double centre[3])
{
    double far = fmax(radius, 1.0 / SIDE);
    struct crowd w = {.s = s, .centre = centre, .radius2 = far * far};
    w.count = mem_zero(sizeof *w.count * SIDE * SIDE * SIDE, "crowd");
    enum err err = settle(s, &w, centre);
    mem_free(w.count);
    return err;
}
