/* swarm/shell: the selection of ghosts. A particle b of this rank is needed by a peer if it is
 * within max(reach_a, reach_b) of a particle a there. Each end first finds its particles that may
 * be, by the box of all particles of the other, describes them by boxes with their largest reach,
 * and sends the boxes. Halving makes them follow the surface between the domains, whatever its
 * shape, and costs a fixed number of bytes a peer. */
#include "swarm/shell.h"

#include "base/mem.h"

/* Extent over reach of a box that is not halved; how much more a difference of reaches counts. */
static const double FINE = 1.25, REACHES = 4;

static struct near_box box_of(const struct shells *w, int64_t i)
{
    double *const *x = w->s->x;
    return (struct near_box){.lo = {x[0][i], x[1][i], x[2][i]},
                             .hi = {x[0][i], x[1][i], x[2][i]},
                             .reach = shell_reach(w, i)};
}

struct near_box shells_begin(struct shells *w, const struct swarm *s, const double *reach)
{
    const double *period = s->frame.period;
    *w = (struct shells){.s = s, .reach = reach};
    w->extra = ldexp(fmax(period[0], fmax(period[1], period[2])), -50);
    w->nchunk = (s->n + SHELL_CHUNK - 1) / SHELL_CHUNK;
    w->chunk = mem_new(sizeof *w->chunk * (size_t)w->nchunk + 1, "swarm ghosts");
    bool bad = false;
#pragma omp parallel for schedule(static) reduction(|| : bad) if (s->n > SWARM_FEW)
    for (int64_t k = 0; k < w->nchunk; k++) {
        int64_t end = (k + 1) * SHELL_CHUNK < s->n ? (k + 1) * SHELL_CHUNK : s->n;
        w->chunk[k] = swarm_empty();
        for (int64_t i = k * SHELL_CHUNK; i < end; i++) {
            struct near_box b = box_of(w, i);
            swarm_join(&w->chunk[k], &b);
            bad = bad || !(reach[i] >= 0 && reach[i] < HUGE_VAL);
        }
    }
    struct near_box all = swarm_empty();
    for (int64_t k = 0; k < w->nchunk; k++) swarm_join(&all, &w->chunk[k]);
    if (bad) all.reach = NAN;
    return all;
}

void shells_end(struct shells *w)
{
    FREE(w->chunk);
}

/* Bit j: particle j of the chunk may be within reach of the peer's. */
static uint64_t chunk_near(const struct shells *w, int64_t k, const struct near_box *peer)
{
    const double *period = w->s->frame.period;
    double *const *x = w->s->x;
    int64_t begin = k * SHELL_CHUNK;
    int n = (int)(begin + SHELL_CHUNK < w->s->n ? SHELL_CHUNK : w->s->n - begin);
    bool near[SHELL_CHUNK];
    uint64_t bits = 0;
    if (!swarm_near(&w->chunk[k], peer, period)) return 0;
    for (int j = 0; j < n; j++) {
        double sum = 0, reach = shell_reach(w, begin + j);
        if (reach < peer->reach) reach = peer->reach;
        for (int a = 0; a < 3; a++) {
            double at = x[a][begin + j],
                   gap = swarm_gap(peer->lo[a] - at, at - peer->hi[a], period[a]);
            sum += gap * gap;
        }
        near[j] = sum <= reach * reach;
    }
    for (int j = 0; j < n; j++) bits |= (uint64_t)near[j] << j;
    return bits;
}

void shell_find(const struct shells *w, struct shell *p)
{
    uint64_t *bits = mem_new(sizeof *bits * (size_t)w->nchunk + 1, "swarm ghosts");
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n) if (w->s->n > SWARM_FEW)
    for (int64_t k = 0; k < w->nchunk; k++) {
        bits[k] = chunk_near(w, k, &p->peer);
        n += __builtin_popcountl(bits[k]);
    }
    p->row = mem_new(sizeof *p->row * (size_t)n + 1, "swarm ghosts");
    for (int64_t k = 0; k < w->nchunk; k++)
        for (uint64_t left = bits[k]; left; left &= left - 1)
            p->row[p->n++] = k * SHELL_CHUNK + __builtin_ctzl(left);
    FREE(bits);
}

/* ---- boxes ---- */

static double median3(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Orders rows such that none of the first part is above one of the second, and returns the length
 * of the first, 0 < length < n: about half, since the pivot is the middle one of nine (Hoare 1961;
 * Bentley & McIlroy 1993). Equal values are divided evenly. */
static int64_t halve(const double *x, int64_t *row, int64_t n)
{
    double three[3];
    for (int k = 0; k < 3; k++)
        three[k] = median3(x[row[n * (3 * k) / 9]], x[row[n * (3 * k + 1) / 9]],
                           x[row[n * (3 * k + 2) / 9]]);
    double pivot = median3(three[0], three[1], three[2]);
    int64_t i = 0, j = n - 1;
    while (i <= j) {
        while (x[row[i]] < pivot) i++;
        while (x[row[j]] > pivot) j--;
        if (i > j) break;
        int64_t swap = row[i];
        row[i++] = row[j];
        row[j--] = swap;
    }
    return j >= 0 ? j + 1 : i;
}

static void box_add(struct shell *p, const struct near_box *box, int64_t end)
{
    if (p->nbox == p->room) {
        p->room = 2 * p->room + 64;
        p->box = mem_grow(p->box, sizeof *p->box * (size_t)p->room, "swarm ghosts");
        p->end = mem_grow(p->end, sizeof *p->end * (size_t)p->room, "swarm ghosts");
    }
    p->box[p->nbox] = *box;
    p->end[p->nbox++] = end;
}

/* Halves by the longest axis, the reach being one of them: a particle with a large reach among many
 * with small ones gets a box of its own. */
static void divide(const struct shells *w, struct shell *p, int64_t begin, int64_t end, int depth)
{
    struct near_box box = swarm_empty();
    double least = HUGE_VAL, longest;
    const double *along = w->reach;
    for (int64_t k = begin; k < end; k++) {
        struct near_box b = box_of(w, p->row[k]);
        swarm_join(&box, &b);
        least = fmin(least, b.reach);
    }
    longest = REACHES * (box.reach - least);
    for (int a = 0; a < 3; a++)
        if (box.hi[a] - box.lo[a] > longest) {
            longest = box.hi[a] - box.lo[a];
            along = w->s->x[a];
        }
    if (depth == 0 || end - begin == 1 || longest <= FINE * box.reach) {
        box_add(p, &box, end);
        return;
    }
    int64_t mid = begin + halve(along, p->row + begin, end - begin);
    divide(w, p, begin, mid, depth - 1);
    divide(w, p, mid, end, depth - 1);
}

void shell_divide(const struct shells *w, struct shell *p)
{
    if (p->n > 0) divide(w, p, 0, p->n, SHELL_DEPTH);
}

void shell_free(struct shell *p)
{
    FREE(p->row);
    FREE(p->box);
    FREE(p->end);
}
