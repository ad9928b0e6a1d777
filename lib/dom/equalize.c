/* dom/equalize: domains whose ranks hold equal amounts of data, ghosts included.
 *
 * The memory of a rank's ghosts follows from the unknown cut planes, and not smoothly: moving a
 * plane off the face of an oct adds a layer of ghosts to one side at once. So domains are made, the
 * amounts that their ranks would hold are counted exactly (domain_near), and the domains are
 * corrected. This is done tree level by tree level, from the root down, since the total of a group
 * of ranks hardly depends on its subdivision.
 *
 * - The share of a rank falls by a part of its excess over the mean of its group.
 *
 * - A plane with too much data below is an upper bound for the next trial, a plane with too little
 * a lower bound; where the shares ask for a position outside of these bounds the plane goes between
 * them. The trial position with the smallest error is kept.
 *
 * Bounds of the Hilbert curve can lie anywhere, so the shares suffice there. The result is the best
 * of all trial domains. All amounts are integers summed over the ranks: the result does not depend
 * on which rank holds which sample.
 *
 * Cost: for each trial the search for the planes, a pass over the samples and a sum of three
 * numbers per rank. There are at most TRIALS + 1 trials per tree level; the search ends when
 * max/min of the amounts is below the requested limit (domain_load). Arrays with an entry per rank
 * exist during the balance only. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/cut.h"

enum { TRIALS = 3 }; /* maximum trials per tree level, or for the bounds of the curve */
static const double NEAR = 0.001; /* tolerance of a plane, relative to the amount of a rank */

struct equalizer {
    struct cut *cut;
    int64_t *held; /* [ranks] amounts held; particles by octs, and by ancestors on level base */
    int64_t *leaf, *base;
    double *share; /* [ranks] shares */
    double *off;   /* [ranks] error of best[], relative */
    struct cut_hold hold;
    double worst; /* largest error on a tree level */
    bool moved;   /* true if a plane of the level is not at the best position */
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
            if (!e.moved) continue; /* the last count is valid for the next level too */
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

/* Half the width of an oct of the level with the largest copies. */
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

/* Initialises the brackets; no plane has a bound yet. */
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

/* Counts a sample; w is NULL if ghosts are known. */
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

/* Counts the amount that each rank would hold; returns max/min. ghosts: known amount of this rank's
 * ghosts, which are most of the work to count; -1: unknown. */
static double held_count(struct equalizer *e, const struct domain *d, int64_t ghosts)
{
    int64_t samples = e->cut->n, min = INT64_MAX, max = 0;
    memset(e->held, 0, sizeof *e->held * 3 * (size_t)d->nrank); /* clears leaf and base too */
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

/* Mean amount held by a rank of the group. */
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

/* Updates bounds and best positions of the level's planes within one group. */
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

/* Judges domains by the counted amounts: computes new shares, bounds for the planes of the level,
 * and the best planes so far. */
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
