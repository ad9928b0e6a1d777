/* dom/balance: cut planes at equal cost (Kim 2026, section 2).
 *
 * Dividing a node into k children requires the cut planes W_1 < … < W_k-1 at which the cumulative
 * cost C(W) = sum of the costs of samples with x <= W is closest to the share of the node's cost
 * that is due to the ranks of the first j children (Kim 2026, eq. 4). All cut planes of all nodes
 * of a tree level are searched together: the interval of each node is a segment, a segment is
 * divided into equal bins, the histogram of cost over the bins is summed over the ranks, and the
 * bins in which a target falls are the segments of the next round, until a bin is one unit. So a
 * histogram has a bounded number of bins, whatever the resolution. Key ranges of the Hilbert curve
 * are the case of one node with as many children as ranks.
 *
 * Any cut plane whose cost is within a tolerance of its target is acceptable; the acceptable plane
 * on the coarsest grid line is chosen, since cut planes that do not cut through octs need thinner
 * ghost layers.
 *
 * The origin of the boxes in a periodic box is chosen in advance (dom/origin.c).
 *
 * Costs are rounded to integers first. Their sums are exact, so the cut planes do not depend on
 * which rank holds which sample.
 *
 * Cost: per tree level two searches of at most log2(extent)/3 rounds; in each round a rank passes
 * through its samples once and a histogram is summed over all ranks. The histogram has 2^20 bins or
 * 8 per node and cut plane, whichever is more: with its index tables 0.2 GB at 10^6 ranks,
 * allocated during a balance only. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "dom/cut.h"

enum { BINS_ALL = 1 << 20, BINS_LOG_MIN = 3, BINS_LOG_MAX = 12 };
/* Relative error of a rank's cost, divided over the tree levels; a rank lies between two cut
 * planes, hence 1 % in all. */
static const double TOLERANCE = 0.005;

/* For a target cost t: the first cut plane W with C(W) >= t, the cost up to the plane, and the cost
 * up to the unit before it. */
struct reach {
    int32_t node, seg;
    int64_t target, plane, cost, below;
};

/* Index of the first of the ascending cut planes w[0..n-1] with x <= w, else n. */
static inline int plane_slot(const int64_t *w, int n, int64_t x)
{
    int lo = 0, len = n;
    while (len > 8) {
        int half = len / 2;
        if (w[lo + half - 1] < x) lo += half;
        len -= half;
    }
    int hi = lo + len;
    while (lo < hi && w[lo] < x) lo++;
    return lo;
}

static void whole_costs(struct cut *s);
static void balance_ksection(struct domain *d, struct cut *s);
static void balance_hilbert(struct domain *d, struct cut *s);
static void cut_nodes(struct cut *s);
static void node_totals(struct cut *s);
static void planes_put(struct cut *s, const struct reach *low, const struct reach *high);
static void reach_find(struct cut *s, int64_t n, struct reach *t);

struct domain *domain_balance(const struct domain *d, enum domain_kind kind, const struct comm *c,
                              const struct domain_load *load, double *spread)
{
    size_t n = (size_t)load->n;
    struct cut s = {.comm = c, .n = load->n, .load = load};
    s.x = mem_new(sizeof *s.x * n, "balance samples");
    s.cost = mem_new(sizeof *s.cost * n, "balance samples");
    if (load->copy) s.copy = mem_new(sizeof *s.copy * n, "balance samples");
    if (load->copy) s.part = mem_new(sizeof *s.part * n, "balance samples");
    s.node = mem_new(sizeof *s.node * n, "balance samples");
    s.seg = mem_new(sizeof *s.seg * n, "balance samples");
    s.due = mem_new(sizeof *s.due * (size_t)(d->nrank + 1), "balance shares");
    for (int r = 0; r <= d->nrank; r++) s.due[r] = r;
    whole_costs(&s);
    bool even = load->copy, stay = false;
    struct domain *out = NULL;
    bool elsewhere = kind == DOMAIN_KSECTION && origin_choose(d, &s);
    if (even && kind == d->kind && !elsewhere) {
        *spread = equalize_spread(d, &s);
        stay = *spread <= load->enough;
    }
    if (!stay) out = cut_domain(d, kind, &s);
    if (even && !stay) out = equalize(out, &s, spread);
    FREE(s.x);
    FREE(s.cost);
    FREE(s.copy);
    FREE(s.part);
    FREE(s.node);
    FREE(s.seg);
    FREE(s.due);
    return out;
}

struct domain *cut_domain(const struct domain *d, enum domain_kind kind, struct cut *s)
{
    struct domain *out = domain_alloc(kind, d->ndim, d->nrank, d->levelmax, d->bounded);
    domain_set_margin(out, d->margin);
    memset(s->node, 0, sizeof *s->node * (size_t)s->n);
    if (kind == DOMAIN_KSECTION) {
        ksection_first(out, s->first);
        memcpy(out->ksec.origin, s->origin, sizeof s->origin);
        balance_ksection(out, s);
    } else {
        balance_hilbert(out, s);
        hilbert_finish(out);
    }
    return out;
}

/* A cost as an integer; a positive cost becomes at least 1. */
static inline int64_t whole(double cost, double scale)
{
    int64_t n = (int64_t)rint(cost * scale);
    return n || !(cost > 0) ? n : 1;
}

/* Scales costs by a power of two such that the sum over all ranks, and the sum of copies on one
 * rank, stay below 2^60. */
static void whole_costs(struct cut *s)
{
    const double *cost = s->load->cost, *copy = s->load->copy;
    double max = 0;
    int64_t count = s->n;
    for (int64_t i = 0; i < s->n; i++) {
        BUG_ON(!(cost[i] >= 0 && cost[i] <= 1e300));
        if (cost[i] > max) max = cost[i];
        if (copy && copy[i] > max) max = copy[i];
    }
    comm_max_f64(s->comm, &max, 1);
    comm_add_i64(s->comm, &count, 1);
    int max_log, count_log = 0;
    frexp(max, &max_log);
    while (count >> count_log) count_log++;
    double scale = ldexp(1, 60 - count_log - (max_log > -900 ? max_log : -900));
    s->ghosts = s->load->ghosts ? whole(*s->load->ghosts, scale) : -1;
#pragma omp parallel for if (s->n > PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++) {
        s->cost[i] = whole(cost[i], scale);
        if (!copy) continue;
        s->copy[i] = whole(copy[i], scale);
        s->part[i] = whole(s->load->part[i], scale);
    }
}

static void ksection_level(struct domain *d, struct cut *s);
static void ksection_descend(struct domain *d, struct cut *s);
static void planes_settle(struct cut *s);

/* A node is identified by its slot, p * nchild + j below slot p; with unequal groups some slots of
 * the last level are empty, fewer than there are ranks. */
static void balance_ksection(struct domain *d, struct cut *s)
{
    struct ksection *k = &d->ksec;
    s->nnode = 1;
    s->tree = &k->tree;
    s->axis = k->axis;
    s->tolerance = TOLERANCE / k->tree.nlev;
    s->group = mem_new(sizeof *s->group, "balance nodes");
    s->side = mem_new(sizeof *s->side, "balance nodes");
    s->box = mem_new(sizeof *s->box, "balance nodes");
    s->group[0] = (struct group){0, d->nrank};
    for (int a = 0; a < 3; a++) s->box[0][a][0] = 0, s->box[0][a][1] = d->extent;
    for (s->level = 0; s->level < k->tree.nlev; s->level++) {
        ksection_level(d, s);
        ksection_descend(d, s);
    }
    FREE(s->group);
    FREE(s->side);
    FREE(s->box);
}

static void ksection_level(struct domain *d, struct cut *s)
{
    const int *level = s->load->level;
    int axis = s->axis[s->level];
#pragma omp parallel for if (s->n > PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++) {
        int64_t x[3];
        domain_corner(d, level[i], s->load->key[i], x);
        s->x[i] = ksection_at(d, axis, x[axis] + domain_width(d, level[i]) / 2);
    }
    s->nchild = s->tree->factor[s->level];
    s->plane = mem_new(sizeof *s->plane * (size_t)(s->nnode * (s->nchild - 1)), "balance nodes");
    for (int64_t p = 0; p < s->nnode; p++) memcpy(s->side[p], s->box[p][axis], sizeof s->side[p]);
    if (!s->hold || s->level >= s->hold->level) cut_nodes(s);
    if (s->hold && s->level <= s->hold->level) planes_settle(s);
#pragma omp parallel for if (s->n > PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++)
        s->node[i] = s->node[i] * s->nchild +
                     plane_slot(s->plane + (int64_t)s->node[i] * (s->nchild - 1), s->nchild - 1,
                                s->x[i]);
}

/* Stores the cut planes in the domain and makes the children the new nodes. */
static void ksection_descend(struct domain *d, struct cut *s)
{
    int k = s->nchild, axis = s->axis[s->level];
    size_t n = (size_t)(s->nnode * k);
    struct group *group = mem_zero(sizeof *group * n, "balance nodes");
    int64_t(*box)[3][2] = mem_zero(sizeof *box * n, "balance nodes");
    for (int64_t p = 0; p < s->nnode; p++) {
        const int64_t *plane = s->plane + p * (k - 1);
        for (int j = 0; j < k && j < s->group[p].n; j++) {
            struct group *g = &group[p * k + j];
            int64_t *side = box[p * k + j][axis];
            *g = group_child(s->group[p], k, j);
            memcpy(box[p * k + j], s->box[p], sizeof *box);
            if (j > 0) side[0] = d->ksec.cut[g->first] = plane[j - 1];
            if (j < k - 1) side[1] = plane[j];
        }
    }
    FREE(s->plane);
    FREE(s->group);
    FREE(s->box);
    FREE(s->side);
    s->group = group;
    s->box = box;
    s->nnode *= k;
    s->side = mem_new(sizeof *s->side * n, "balance nodes");
}

/* A sample in grain q of the key range is below the bound b if q < b, that is q + 1 <= b. */
static void balance_hilbert(struct domain *d, struct cut *s)
{
    struct hilbert *h = &d->hilb;
    int n = d->nrank;
    int64_t side[1][2] = {{0, (int64_t)(h->bound[n] >> h->grain)}};
#pragma omp parallel for if (s->n > PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++)
        s->x[i] = (int64_t)(hilbert_centre_key(d, s->load->level[i], s->load->key[i]) >> h->grain) +
                  1;
    struct group all = {0, n};
    s->nnode = 1;
    s->nchild = n;
    s->group = &all;
    s->tolerance = TOLERANCE;
    s->side = side;
    s->plane = mem_new(sizeof *s->plane * (size_t)n, "balance nodes");
    cut_nodes(s);
    for (int r = 1; r < n; r++) h->bound[r] = (hkey)s->plane[r - 1] << h->grain;
    FREE(s->plane);
}

/* Target cost: the share of the children before j, up to the last child that holds ranks. */
static int64_t target_of(const struct cut *s, int64_t p, int j)
{
    struct group g = s->group[p];
    if (j >= g.n) return s->total[p] + 1;
    const int64_t *due = s->due + g.first;
    int before = group_child(g, s->nchild, j).first - g.first;
    return (int64_t)((__int128)s->total[p] * (due[before] - due[0]) / (due[g.n] - due[0]));
}

/* The cost of the smallest child of a node. */
static double min_cost(const struct cut *s, int64_t p)
{
    int n = s->group[p].n, each = n > s->nchild ? n / s->nchild : 1;
    return n ? (double)s->total[p] / ((double)n / each) : 0;
}

/* Finds the cost closest to each target, then the cut planes within that or the tolerance. */
static void cut_nodes(struct cut *s)
{
    int64_t per = s->nchild - 1, n = s->nnode * per;
    if (!n) return;
    s->total = mem_new(sizeof *s->total * (size_t)s->nnode, "balance nodes");
    struct reach *t = mem_zero(sizeof *t * (size_t)(3 * n), "balance targets"), *low = t + n,
                 *high = low + n;
    node_totals(s);
    for (int64_t i = 0; i < n; i++) {
        t[i].node = (int32_t)(i / per);
        t[i].target = target_of(s, i / per, (int)(i % per) + 1);
    }
    reach_find(s, n, t);
    for (int64_t i = 0; i < n; i++) {
        int64_t want = t[i].target, slack = (int64_t)(min_cost(s, i / per) * s->tolerance);
        int64_t best = want - t[i].below <= t[i].cost - want ? t[i].below : t[i].cost;
        low[i].node = high[i].node = t[i].node;
        low[i].target = best < want - slack ? best : want - slack;
        high[i].target = (best > want + slack ? best : want + slack) + 1;
        if (want > s->total[i / per]) low[i].target = high[i].target = want;
    }
    reach_find(s, 2 * n, low);
    planes_put(s, low, high);
    FREE(t);
    FREE(s->total);
}

static void node_totals(struct cut *s)
{
    memset(s->total, 0, sizeof *s->total * (size_t)s->nnode);
    for (int64_t i = 0; i < s->n; i++) s->total[s->node[i]] += s->cost[i];
    comm_add_i64(s->comm, s->total, (int)s->nnode);
}

/* The integer in a..b (0 < a <= b) divisible by the highest power of two. */
static int64_t roundest(int64_t a, int64_t b)
{
    int top = 63 - __builtin_clzll((unsigned long long)((a - 1) ^ b));
    return b >> top << top;
}

/* Number of units that n ranks need for their own cuts along the axis of this tree level. */
static int64_t need_of(const struct cut *s, int n)
{
    int64_t need = 1;
    for (int l = s->level + 1; s->tree && l < s->tree->nlev && n > 1; l++) {
        int f = s->tree->factor[l];
        if (s->axis[l] == s->axis[s->level]) need *= f < n ? f : n;
        n = (n + f - 1) / f;
    }
    return need;
}

/* Chooses ascending cut planes of a node, with as many units between them as the ranks in between
 * need, if the node is wide enough. */
static void node_put(struct cut *s, int64_t p, const struct reach *low, const struct reach *high)
{
    struct group g = s->group[p];
    int per = s->nchild - 1, children = g.n < s->nchild ? g.n : s->nchild;
    int64_t start = s->side[p][0], end = s->side[p][1], prev = start, need = 1;
    if (children) need = need_of(s, group_child(g, s->nchild, 0).n);
    for (int j = 0; j < per; j++) {
        int64_t i = p * per + j;
        if (j >= children - 1) {
            s->plane[i] = end;
            continue;
        }
        int64_t min = prev + need, max = end - (children - 1 - j) * need;
        int64_t a = low[i].plane, b = high[i].plane - 1;
        if (!s->total[p]) a = b = start + (end - start) / children * (j + 1);
        if (a > max) a = max;
        if (a < min) a = min;
        if (b > max) b = max;
        if (b < min) b = min;
        prev = min > max ? (min < end ? min : end) : roundest(a, b);
        s->plane[i] = prev;
    }
}

static void planes_put(struct cut *s, const struct reach *low, const struct reach *high)
{
    for (int64_t p = 0; p < s->nnode; p++) node_put(s, p, low, high);
}

/* ---- cut planes with brackets (equalize.c) ---- */

/* Next trial position of a plane: inside its bracket, or a step from the only known bound. */
static int64_t plane_try(const struct cut_hold *h, int r, int64_t location)
{
    int64_t low = h->low[r], high = h->high[r], step = h->step, off = (high - low) / 4;
    if (location > low && location < high) return location;
    if (high - low < 2) return h->best[r];
    if (off < 1) off = 1;
    if (low == h->none[0] && high - low > step) return roundest(high - step, high - (step + 1) / 2);
    if (high == h->none[1] && high - low > step) return roundest(low + (step + 1) / 2, low + step);
    return roundest(low + off, high - off > low + off ? high - off : low + off);
}

/* Places the planes of a node. Planes of finished tree levels are fixed; planes of the current
 * level stay within their brackets, unless these leave no room for all planes. */
static void node_settle(struct cut *s, int64_t p)
{
    const struct cut_hold *h = s->hold;
    struct group g = s->group[p];
    int per = s->nchild - 1;
    int64_t *plane = s->plane + p * per, prev = s->side[p][0], location[TREE_FACTOR_MAX];
    bool fits = true;
    for (int j = 0; j < per; j++) {
        int r = j + 1 < g.n ? group_child(g, s->nchild, j + 1).first : -1;
        if (r < 0)
            location[j] = s->side[p][1];
        else if (s->level < h->level)
            location[j] = h->best[r];
        else
            location[j] = plane_try(h, r, plane[j]);
        fits &= r < 0 || s->level < h->level || location[j] > prev;
        prev = location[j];
    }
    if (fits) memcpy(plane, location, sizeof *plane * (size_t)per);
}

static void planes_settle(struct cut *s)
{
    for (int64_t p = 0; p < s->nnode; p++) node_settle(s, p);
}

/* ---- the search ---- */

/* State of a search: segments (base, base + 2^shift] and the cost before each segment. */
struct search {
    int64_t nseg;
    int bins_log, shift;
    int64_t *base, *before; /* [max segments] start and cost before */
    int64_t *hist;          /* [nseg][bins] cost, then cumulative cost */
    int32_t *next;          /* [nseg][bins] segment of the next round, or -1 */
};

static void search_histogram(const struct cut *s, struct search *q);
static void search_narrow(const struct cut *s, struct search *q, int64_t n, struct reach *t);

static void reach_find(struct cut *s, int64_t n, struct reach *t)
{
    int64_t longest = 1, max = n > s->nnode ? n : s->nnode;
    struct search q = {.nseg = s->nnode};
    q.base = mem_new(sizeof *q.base * (size_t)max, "balance segments");
    q.before = mem_zero(sizeof *q.before * (size_t)max, "balance segments");
    for (int64_t p = 0; p < s->nnode; p++) {
        q.base[p] = s->side[p][0];
        if (s->side[p][1] - s->side[p][0] > longest) longest = s->side[p][1] - s->side[p][0];
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t total = s->total[t[i].node];
        bool none = t[i].target <= 0, all = t[i].target > total;
        t[i].seg = none || all ? -1 : t[i].node;
        t[i].plane = s->side[t[i].node][0];
        if (all) t[i].plane = s->side[t[i].node][1] + 1;
        t[i].cost = t[i].below = all ? total : 0;
    }
    memcpy(s->seg, s->node, sizeof *s->seg * (size_t)s->n);
    while ((longest - 1) >> q.shift) q.shift++;
    int64_t room = 0;
    do {
        q.bins_log = BINS_LOG_MIN;
        while (q.bins_log < BINS_LOG_MAX && q.nseg << (q.bins_log + 1) <= BINS_ALL) q.bins_log++;
        if (q.bins_log > q.shift) q.bins_log = q.shift;
        q.shift -= q.bins_log;
        if (q.nseg << q.bins_log > room) {
            room = q.nseg << q.bins_log;
            FREE(q.hist);
            FREE(q.next);
            q.hist = mem_new(sizeof *q.hist * (size_t)room, "balance bins");
            q.next = mem_new(sizeof *q.next * (size_t)room, "balance bins");
        }
        search_histogram(s, &q);
        search_narrow(s, &q, n, t);
    } while (q.shift > 0 && q.nseg > 0);
    FREE(q.base);
    FREE(q.before);
    FREE(q.hist);
    FREE(q.next);
}

static inline int64_t bin_of(const struct search *q, int32_t seg, int64_t x)
{
    return (int64_t)seg << q->bins_log | (x - q->base[seg] - 1) >> q->shift;
}

static void search_histogram(const struct cut *s, struct search *q)
{
    int64_t bins = (int64_t)1 << q->bins_log, all = q->nseg << q->bins_log;
    memset(q->hist, 0, sizeof *q->hist * (size_t)all);
    if (s->n > PARALLEL_FROM && omp_get_max_threads() > 1) {
#pragma omp parallel for
        for (int64_t i = 0; i < s->n; i++) {
            if (s->seg[i] < 0) continue;
            int64_t b = bin_of(q, s->seg[i], s->x[i]);
#pragma omp atomic
            q->hist[b] += s->cost[i];
        }
    } else { /* serial loop: atomic additions cost several times as much */
        for (int64_t i = 0; i < s->n; i++)
            if (s->seg[i] >= 0) q->hist[bin_of(q, s->seg[i], s->x[i])] += s->cost[i];
    }
    comm_add_i64(s->comm, q->hist, (int)all);
    for (int64_t g = 0; g < q->nseg; g++) {
        int64_t sum = q->before[g], *h = q->hist + g * bins;
        for (int64_t b = 0; b < bins; b++) h[b] = sum += h[b];
    }
}

/* Finds the bin of each target; these bins become the segments of the next round. */
static void search_narrow(const struct cut *s, struct search *q, int64_t n, struct reach *t)
{
    int64_t bins = (int64_t)1 << q->bins_log, all = q->nseg << q->bins_log, count = 0;
    int64_t *base = mem_new(sizeof *base * (size_t)n, "balance segments");
    int64_t *before = mem_new(sizeof *before * (size_t)n, "balance segments");
    for (int64_t b = 0; b < all; b++) q->next[b] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (t[i].seg < 0) continue;
        const int64_t *h = q->hist + t[i].seg * bins;
        int64_t b = plane_slot(h, (int)bins - 1, t[i].target); /* first bin with h >= target */
        int64_t begin = q->base[t[i].seg] + (b << q->shift);
        t[i].below = b ? h[b - 1] : q->before[t[i].seg];
        t[i].cost = h[b];
        t[i].plane = begin + 1; /* exact in the last round, when a bin is one unit */
        int32_t *next = &q->next[t[i].seg * bins + b];
        if (*next < 0) {
            base[count] = begin;
            before[count] = t[i].below;
            *next = (int32_t)count++;
        }
        t[i].seg = *next;
    }
#pragma omp parallel for if (s->n > PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++)
        if (s->seg[i] >= 0) s->seg[i] = q->next[bin_of(q, s->seg[i], s->x[i])];
    memcpy(q->base, base, sizeof *base * (size_t)count);
    memcpy(q->before, before, sizeof *before * (size_t)count);
    q->nseg = count;
    FREE(base);
    FREE(before);
}
