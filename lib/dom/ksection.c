/* dom/ksection: the k-section tree of cuRAMSES (Kim 2026, section 2.1).
 *
 * The number of ranks is factored into primes, largest first; tree level l cuts every node into
 * factor[l] children along axis[l], the longest side of what equal cuts of a cube have left (ties:
 * the lowest axis). All children of a tree level hold equally many ranks, so the leaf's number is
 * the rank. A point on a cut plane belongs to the lower side, hence all intervals are (lo,hi].
 *
 * The ranks that need an oct as a ghost are found axis by axis: a box meets the cube of 27 octs if
 * it does so on each axis, and holds one of the 27 centres around the parent if it holds one of
 * three coordinates on each axis. So one descent carries two bits. */
#include <string.h>

#include "base/mem.h"
#include "dom/domain_priv.h"

void ksection_plan(struct domain *d)
{
    struct ksection *k = &d->ksec;
    int rest = d->nrank, small_first[KSECTION_LEVELS], n = 0;
    for (int p = 2; rest > 1; p++) {
        if ((int64_t)p * p > rest) p = rest;
        for (; rest % p == 0; rest /= p) small_first[n++] = p;
    }
    k->nlev = n;
    double side[3] = {1, 1, 1};
    int64_t nodes = 1;
    for (int l = 0; l < n; l++) {
        int f = k->factor[l] = small_first[n - 1 - l], axis = 0;
        for (int a = 1; a < 3; a++)
            if (side[a] > side[axis]) axis = a;
        k->axis[l] = axis;
        side[axis] /= f;
        k->wall[l] = mem_zero(sizeof(int64_t) * (size_t)(nodes * (f - 1)), "domain walls");
        nodes *= f;
    }
}

void ksection_uniform(struct domain *d)
{
    struct ksection *k = &d->ksec;
    int64_t nodes = 1;
    for (int l = 0; l < k->nlev; l++) {
        int f = k->factor[l];
        for (int64_t p = 0; p < nodes; p++) {
            int64_t side[2];
            ksection_side(d, l, p, k->axis[l], side);
            for (int j = 1; j < f; j++)
                k->wall[l][p * (f - 1) + j - 1] =
                    side[0] + (int64_t)(((__int128)(side[1] - side[0]) * j + f / 2) / f);
        }
        nodes *= f;
    }
}

void ksection_finish(struct domain *d)
{
    struct ksection *k = &d->ksec;
    k->box = mem_new(sizeof *k->box * (size_t)d->nrank, "domain boxes");
    for (int r = 0; r < d->nrank; r++)
        for (int a = 0; a < 3; a++) ksection_side(d, k->nlev, r, a, k->box[r][a]);
}

void ksection_fini(struct domain *d)
{
    for (int l = 0; l < d->ksec.nlev; l++) FREE(d->ksec.wall[l]);
    FREE(d->ksec.box);
}

void ksection_side(const struct domain *d, int l, int64_t p, int axis, int64_t side[2])
{
    const struct ksection *k = &d->ksec;
    side[0] = 0;
    side[1] = d->extent;
    int64_t stride = 1;
    for (int m = 0; m < l; m++) stride *= k->factor[m];
    for (int m = 0; m < l; m++) {
        int f = k->factor[m];
        stride /= f;
        if (k->axis[m] != axis) continue;
        int64_t node = p / stride / f, child = p / stride % f;
        const int64_t *w = k->wall[m] + node * (f - 1);
        if (child > 0) side[0] = w[child - 1];
        if (child < f - 1) side[1] = w[child];
    }
}

int ksection_rank(const struct domain *d, int level, okey key)
{
    const struct ksection *k = &d->ksec;
    int64_t x[3], half = domain_width(d, level) >> 1, p = 0;
    domain_corner(d, level, key, x);
    for (int l = 0; l < k->nlev; l++) {
        int f = k->factor[l];
        p = p * f + wall_slot(k->wall[l] + p * (f - 1), f - 1, x[k->axis[l]] + half);
    }
    return (int)p;
}

bool ksection_whole(const struct domain *d, int rank, int level, okey key)
{
    int64_t x[3], w = domain_width(d, level);
    bool whole = true;
    domain_corner(d, level, key, x);
    for (int a = 0; a < 3; a++)
        whole &= x[a] >= d->ksec.box[rank][a][0] && x[a] + w <= d->ksec.box[rank][a][1];
    return whole;
}

static void tree_nodes(const struct domain *d, struct domain_tree *t)
{
    const struct ksection *k = &d->ksec;
    int64_t start = 0, width = 1;
    for (int l = 0; l < k->nlev; l++) {
        int f = k->factor[l];
        for (int64_t p = 0; p < width; p++)
            for (int j = 0; j < f; j++) {
                t->next[j * t->nnode + start + p] = (int32_t)(start + width + p * f + j + 1);
                if (j < f - 1)
                    t->wall[j * t->nnode + start + p] = (double)k->wall[l][p * (f - 1) + j] /
                                                        (double)d->extent;
            }
        start += width;
        width *= f;
    }
    for (int64_t p = 0; p < width; p++) t->rank[start + p] = (int32_t)p + 1;
}

void domain_tree(const struct domain *d, struct domain_tree *t)
{
    const struct ksection *k = &d->ksec;
    int64_t width = 1, nodes = 1;
    *t = (struct domain_tree){.nlev = k->nlev, .kmax = 1};
    BUG_ON(d->kind != DOMAIN_KSECTION);
    for (int l = 0; l < k->nlev; l++) {
        if (k->factor[l] > t->kmax) t->kmax = k->factor[l];
        nodes += width *= k->factor[l];
    }
    t->nnode = (int)nodes;
    t->factor = mem_zero(sizeof *t->factor * (size_t)k->nlev + 1, "domain tree");
    t->axis = mem_zero(sizeof *t->axis * (size_t)k->nlev + 1, "domain tree");
    for (int l = 0; l < k->nlev; l++) t->factor[l] = k->factor[l], t->axis[l] = k->axis[l] + 1;
    t->wall = mem_zero(sizeof *t->wall * (size_t)(nodes * t->kmax), "domain tree");
    t->next = mem_zero(sizeof *t->next * (size_t)(nodes * t->kmax), "domain tree");
    t->rank = mem_zero(sizeof *t->rank * (size_t)nodes, "domain tree");
    tree_nodes(d, t);
    t->low = mem_new(sizeof *t->low * 3 * (size_t)d->nrank, "domain tree");
    t->high = mem_new(sizeof *t->high * 3 * (size_t)d->nrank, "domain tree");
    for (int a = 0; a < 3; a++)
        for (int r = 0; r < d->nrank; r++) {
            t->low[a * d->nrank + r] = (double)k->box[r][a][0] / (double)d->extent;
            t->high[a * d->nrank + r] = (double)k->box[r][a][1] / (double)d->extent;
        }
}

void domain_tree_free(struct domain_tree *t)
{
    FREE(t->factor);
    FREE(t->axis);
    FREE(t->wall);
    FREE(t->next);
    FREE(t->rank);
    FREE(t->low);
    FREE(t->high);
}

static void ball_descend(const struct domain_ball *b, int l, int64_t p, int64_t side[3][2])
{
    const struct ksection *k = &b->d->ksec;
    if (!domain_ball_meets(b, (const int64_t(*)[2])side)) return;
    if (l == k->nlev) {
        b->meets[p] = 1;
        return;
    }
    int f = k->factor[l];
    int64_t *s = side[k->axis[l]], lo = s[0], hi = s[1];
    const int64_t *w = k->wall[l] + p * (f - 1);
    for (int j = 0; j < f; j++) {
        s[0] = j > 0 ? w[j - 1] : lo;
        s[1] = j < f - 1 ? w[j] : hi;
        if (s[0] < s[1]) ball_descend(b, l + 1, p * f + j, side);
    }
    s[0] = lo;
    s[1] = hi;
}

void ksection_ball(const struct domain_ball *b)
{
    int64_t n = b->d->extent, side[3][2] = {{0, n}, {0, n}, {0, n}};
    ball_descend(b, 0, 0, side);
}

enum { CUBE = 1, CENTRES = 2 }; /* the parts of an oct's surroundings that a node may still meet */
enum { PIECES = 2, POINTS = 3 };

/* What surrounds an oct along one axis: integer units first[i]..last[i] inside the cube, and the
 * centres around its parent. */
struct span {
    int npiece, npoint;
    int64_t first[PIECES], last[PIECES];
    int64_t point[POINTS];
};

struct near {
    const struct domain *d;
    struct span span[3];
    int64_t side[3][2]; /* of the current node */
    int me, n, *rank;
};

static void span_set(struct span *s, const struct domain *d, int axis, int level, int64_t x,
                     int64_t parent);
static void near_descend(struct near *s, int l, int64_t p, int alive);

int ksection_near(const struct domain *d, int me, int level, okey key, int *rank)
{
    const struct ksection *k = &d->ksec;
    int64_t x[3], w = domain_width(d, level);
    domain_corner(d, level, key, x);
    bool inside = level > 1;
    for (int a = 0; a < 3 && inside; a++) {
        /* Centres around the parent reach one oct beyond it; the cube reaches no further. */
        const int64_t *b = k->box[me][a];
        int64_t parent = x[a] & ~(2 * w - 1);
        bool all = b[0] == 0 && b[1] == d->extent;
        inside = all || (parent - w > b[0] && parent + 3 * w <= b[1]);
    }
    if (inside) return 0;

    struct near s = {.d = d, .me = me, .rank = rank};
    for (int a = 0; a < 3; a++) {
        span_set(&s.span[a], d, a, level, x[a], x[a] & ~(2 * w - 1));
        s.side[a][1] = d->extent;
    }
    near_descend(&s, 0, 0, level > 1 ? CUBE | CENTRES : CUBE);
    return s.n;
}

static void span_set(struct span *s, const struct domain *d, int axis, int level, int64_t x,
                     int64_t parent)
{
    int64_t n = d->extent, w = domain_width(d, level), first = x - w + 1, last = x + 2 * w - 1;
    bool wrap = d->periodic[axis];
    s->npiece = 1;
    s->first[0] = first < 1 ? 1 : first;
    s->last[0] = last > n - 1 ? n - 1 : last;
    if (wrap && last - first >= n - 1) {
        s->first[0] = 1;
        s->last[0] = n - 1;
    } else if (wrap && (first < 0 || last > n)) {
        s->npiece = 2;
        s->first[1] = first < 0 ? first + n : 1;
        s->last[1] = first < 0 ? n - 1 : last - n;
    }
    s->npoint = 0;
    for (int i = -1; i <= 1 && level > 1; i++) {
        int64_t c = parent + w + i * 2 * w;
        if (wrap || (c > 0 && c < n)) s->point[s->npoint++] = c & (n - 1);
    }
}

/* Which of `alive` hold for the interval (lo,hi]. */
static int span_meets(const struct span *s, int alive, int64_t lo, int64_t hi)
{
    int meets = 0;
    for (int i = 0; i < s->npiece; i++)
        if (s->first[i] <= hi && s->last[i] > lo && hi > lo) meets |= CUBE;
    for (int i = 0; i < s->npoint; i++)
        if (s->point[i] > lo && s->point[i] <= hi) meets |= CENTRES;
    return meets & alive;
}

/* The next child from j on that the span may meet; f when there is none. */
static int span_next(const struct span *s, const int64_t *w, int f, int j)
{
    if (f <= 8) return j; /* looking at each is quicker */
    int best = f;
    for (int i = 0; i < s->npiece; i++) {
        int a = wall_slot(w, f - 1, s->first[i]), b = wall_slot(w, f - 1, s->last[i]);
        if (j <= b && (j > a ? j : a) < best) best = j > a ? j : a;
    }
    for (int i = 0; i < s->npoint; i++) {
        int a = wall_slot(w, f - 1, s->point[i]);
        if (j <= a && a < best) best = a;
    }
    return best;
}

static void near_descend(struct near *s, int l, int64_t p, int alive)
{
    const struct ksection *k = &s->d->ksec;
    if (l == k->nlev) {
        if (p != s->me) s->rank[s->n++] = (int)p;
        return;
    }
    int f = k->factor[l], axis = k->axis[l];
    const int64_t *w = k->wall[l] + p * (f - 1);
    const struct span *span = &s->span[axis];
    int64_t *side = s->side[axis], lo = side[0], hi = side[1];
    for (int j = span_next(span, w, f, 0); j < f; j = span_next(span, w, f, j + 1)) {
        side[0] = j > 0 ? w[j - 1] : lo;
        side[1] = j < f - 1 ? w[j] : hi;
        int meets = span_meets(span, alive, side[0], side[1]);
        if (meets) near_descend(s, l + 1, p * f + j, meets);
    }
    side[0] = lo;
    side[1] = hi;
}
