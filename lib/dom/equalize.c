/* dom/equalize: domains whose ranks hold as much as each other, ghosts included.
 *
 * What a rank's ghosts take follows from the cut planes that are to be found, and not smoothly: a
 * plane that leaves the face of an oct brings a layer of ghosts to one side at once. So domains are
 * made, what their ranks would hold is counted exactly (domain_near), and they are made again. That
 * is done tree level by tree level, from the root down, as what a group of ranks holds together
 * hardly depends on how it is divided.
 *
 * - The share of a rank falls by a part of what it holds above the mean of its group.
 * - A plane below which too much was held is an upper bound for the next, one below which too
 *   little was held a lower one; where the shares ask for a place outside of these bounds the plane
 *   goes between them. Of all places tried that with the smallest error is kept.
 *
 * Bounds of the Hilbert curve can be anywhere; there the shares alone do it. The best domains of
 * all are the answer. All is counted in integers and summed over the ranks: the answer does not
 * depend on which rank holds which sample.
 *
 * What it costs: for each trial the search for the planes, a pass over the samples and a sum of
 * three numbers per rank. There are at most TRIALS + 1 for each tree level; the search ends when
 * the ranks hold as much as each other within what is asked for (domain_load). Arrays with an entry
 * for each rank live during the balance only. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/cut.h"

enum { TRIALS = 3 };              /* of a tree level, or of the bounds of the curve */
static const double NEAR = 0.001; /* error of a plane, of what a rank holds */

struct equalizer {
    struct cut *cut;
    int64_t *held; /* [ranks]; of particles by their octs, by their ancestors on level base */
    int64_t *leaf, *base;
    double *share; /* [ranks] */
    double *off;   /* [ranks] error of best[], as NEAR */
    struct cut_hold hold;
    double worst; /* of a tree level */
    bool moved;   /* a plane of the level is not where it was best */
};

static void equalize_begin(struct equalizer *e, struct cut *s, const struct domain *d);
static void equalize_end(struct equalizer *e);
static void hold_begin(struct equalizer *e, const struct domain *d);
static double held_count(struct equalizer *e, const struct domain *d, int64_t ghosts);
static void level_begin(struct equalizer *e, const struct domain *d, int level);
static void level_judge(struct equalizer *e, const struct domain *d);

struct domain *equalize(struct domain *best, struct cut *s, double *spread)
{
    int trial = 0, nlev = best->kind == DOMAIN_KSECTION ? best->ksec.tree.nlev : 1;
    struct equalizer e;
    struct domain *now = best;
    equalize_begin(&e, s, best);
    hold_begin(&e, best);
    double min = held_count(&e, best, -1);
    while (min > s->load->enough && e.hold.level < nlev) {
        level_judge(&e, now);
        if (++trial > TRIALS || e.worst < NEAR) {
            level_begin(&e, best, e.hold.level + 1);
            trial = 0;
            if (!e.moved) continue; /* what was counted says as much of the next level */
        }
        if (now != best) domain_free(now);
        now = cut_domain(best, best->kind, s);
        double left = held_count(&e, now, -1);
        if (left < min) {
            domain_free(best);
            best = now;
            min = left;
        }
    }
    if (now != best) domain_free(now);
    equalize_end(&e);
    *spread = min;
    return best;
}

double equalize_spread(const struct domain *d, struct cut *s)
{
    struct equalizer e;
    equalize_begin(&e, s, d);
    double spread = held_count(&e, d, s->ghosts);
    equalize_end(&e);
    return spread;
}

/* Half an oct of the level whose copies weigh most. */
static int64_t step_of(const struct cut *s, const struct domain *d)
{
    int64_t weight[LEVEL_MAX + 2] = {0}, max = 1;
    for (int64_t i = 0; i < s->n; i++) weight[s->load->level[i]] += s->copy[i];
    comm_add_i64(s->comm, weight, LEVEL_MAX + 2);
    for (int l = 1; l <= d->levelmax; l++)
        if (weight[l] > weight[max]) max = l;
    return domain_width(d, (int)max) / 2;
}

static void equalize_begin(struct equalizer *e, struct cut *s, const struct domain *d)
{
    size_t n = (size_t)d->nrank;
    *e = (struct equalizer){.cut = s};
    e->held = mem_new(sizeof *e->held * 6 * n, "balance shares");
    e->leaf = e->held + n;
    e->base = e->held + 2 * n;
    e->hold.low = e->held + 3 * n;
    e->hold.high = e->held + 4 * n;
    e->hold.best = e->held + 5 * n;
    e->share = mem_new(sizeof *e->share * 2 * n, "balance shares");
    e->off = e->share + n;
    for (size_t r = 0; r < n; r++) e->share[r] = 1;
}

/* No plane is held yet. */
static void hold_begin(struct equalizer *e, const struct domain *d)
{
    e->hold.none[1] = d->extent;
    level_begin(e, d, 0);
    if (d->kind != DOMAIN_KSECTION) return;
    e->hold.step = step_of(e->cut, d);
    e->cut->hold = &e->hold;
}

static void equalize_end(struct equalizer *e)
{
    e->cut->hold = NULL;
    FREE(e->held);
    FREE(e->share);
}

static inline void add(int64_t *to, int64_t n)
{
#pragma omp atomic
    *to += n;
}

/* w NULL: ghosts are known. */
static void sample_count(struct equalizer *e, const struct domain *d, int64_t i,
                         struct domain_row *w)
{
    const struct cut *s = e->cut;
    int l = s->load->level[i], base = s->load->base, n = 0;
    okey key = s->load->key[i];
    int r = w ? domain_row_near(w, l, key, &n) : domain_rank(d, l, key);
    add(&e->held[r], s->cost[i] - s->part[i]);
    for (int k = 0; k < n; k++) add(&e->held[w->near[k]], s->copy[i]);
    if (!s->part[i]) return;
    add(&e->leaf[r], s->part[i]);
    add(&e->base[l > base ? domain_rank(d, base, key >> 3 * (l - base)) : r], s->part[i]);
}

/* Counts what each rank would hold; returns max/min of it. ghosts: what this rank's ghosts take,
 * which is most of the work to find; -1: unknown. */
static double held_count(struct equalizer *e, const struct domain *d, int64_t ghosts)
{
    int64_t samples = e->cut->n, min = INT64_MAX, max = 0;
    memset(e->held, 0, sizeof *e->held * 3 * (size_t)d->nrank); /* leaf and base, too */
#pragma omp parallel if (samples > PARALLEL_FROM)
    {
        struct domain_row row;
        domain_row_begin(&row, d);
#pragma omp for
        for (int64_t i = 0; i < samples; i++) sample_count(e, d, i, ghosts < 0 ? &row : NULL);
        domain_row_end(&row);
    }
    if (ghosts >= 0) e->held[e->cut->comm->rank] += ghosts;
    comm_add_i64(e->cut->comm, e->held, 3 * d->nrank);
    for (int r = 0; r < d->nrank; r++) {
        e->held[r] += e->leaf[r] > e->base[r] ? e->leaf[r] : e->base[r];
        if (e->held[r] < min) min = e->held[r];
        if (e->held[r] > max) max = e->held[r];
    }
    return min > 0 ? (double)max / (double)min : HUGE_VAL;
}

static void level_begin(struct equalizer *e, const struct domain *d, int level)
{
    e->hold.level = level;
    for (int r = 0; r < d->nrank; r++) {
        e->hold.low[r] = e->hold.none[0];
        e->hold.high[r] = e->hold.none[1];
        e->off[r] = HUGE_VAL;
    }
}

/* Mean of what a rank of the group holds. */
static double group_mean(const struct equalizer *e, struct group g)
{
    double sum = 0;
    for (int r = g.first; r < g.first + g.n; r++) sum += (double)e->held[r];
    return sum / g.n;
}

static void shares_correct(struct equalizer *e, struct group g)
{
    double mean = group_mean(e, g);
    for (int r = g.first; r < g.first + g.n; r++) {
        double more = (double)e->held[r] / mean - 1;
        e->share[r] *= fmin(fmax(1 - more, 0.5), 2);
    }
}

/* The planes of the level within one group. */
static void planes_judge(struct equalizer *e, const struct domain *d, struct group g)
{
    double mean = group_mean(e, g), before = 0;
    int factor = d->ksec.tree.factor[e->hold.level];
    for (int j = 0, r = g.first; j + 1 < factor && j + 1 < g.n; j++) {
        struct group c = group_child(g, factor, j);
        for (; r < c.first + c.n; r++) before += (double)e->held[r] / mean - 1;
        int64_t w = d->ksec.cut[r], *low = &e->hold.low[r], *high = &e->hold.high[r];
        if (fabs(before) < e->off[r]) {
            e->off[r] = fabs(before);
            e->hold.best[r] = w;
        }
        if (before > 0 && w < *high) *high = w;
        if (before < 0 && w > *low) *low = w;
        e->moved |= w != e->hold.best[r];
        e->worst = fmax(e->worst, e->off[r]);
    }
}

static void groups_judge(struct equalizer *e, const struct domain *d, struct group g, int level)
{
    int factor = d->ksec.tree.factor[level];
    if (g.n == 1) return;
    if (level == e->hold.level) {
        shares_correct(e, g);
        planes_judge(e, d, g);
        return;
    }
    for (int j = 0; j < factor && j < g.n; j++)
        groups_judge(e, d, group_child(g, factor, j), level + 1);
}

/* Judges domains by what was counted: new shares, bounds for the planes of the level, and whether
 * the planes are the best so far. */
static void level_judge(struct equalizer *e, const struct domain *d)
{
    static const double UNIT = 1 << 30;
    struct group all = {0, d->nrank};
    int64_t *due = e->cut->due;
    e->worst = 0;
    e->moved = false;
    if (d->kind == DOMAIN_KSECTION)
        groups_judge(e, d, all, 0);
    else
        shares_correct(e, all), e->worst = HUGE_VAL;
    for (int r = 0; r < d->nrank; r++) due[r + 1] = due[r] + (int64_t)(UNIT * e->share[r]) + 1;
}
