/* dom/hilbert: domains as ranges of RAMSES's Hilbert key.
 *
 * The key has three bits per level: a table maps the curve's state (one of 12) and the slot of the
 * next finer cube to the digit and the next state. All keys that begin with equal digits lie in one
 * cube, so a cube is one range of keys, and rank r owns bound[r] <= key < bound[r+1].
 *
 * The ranks that need an oct as a ghost follow from the ranges of 27 cubes, or 125 with a margin of
 * two octs. These cubes follow by one table step each from the 27 cubes around the parent, and so
 * on up to the root: hilbert_walk caches the last such path. In Morton order nearly every step of
 * the path is reused, and the descent ends at an ancestor whose 27 cubes belong to one rank. */
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "dom/domain_priv.h"

/* [state][slot x + 2y + 4z], octal: next state (two digits), digit of the key (one). */
static const uint8_t step[12][8] = {
    {0010, 0047, 0033, 0034, 0021, 0056, 0022, 0055},
    {0020, 0103, 0001, 0002, 0067, 0104, 0076, 0075},
    {0000, 0011, 0127, 0136, 0113, 0012, 0114, 0135},
    {0062, 0115, 0061, 0116, 0003, 0004, 0130, 0107},
    {0134, 0057, 0005, 0006, 0133, 0110, 0072, 0071},
    {0046, 0007, 0101, 0120, 0045, 0064, 0102, 0063},
    {0054, 0015, 0053, 0132, 0077, 0016, 0030, 0131},
    {0066, 0111, 0065, 0112, 0017, 0040, 0124, 0123},
    {0122, 0121, 0013, 0050, 0035, 0036, 0014, 0117},
    {0042, 0023, 0105, 0024, 0041, 0070, 0106, 0037},
    {0074, 0073, 0137, 0100, 0025, 0052, 0026, 0051},
    {0126, 0125, 0027, 0044, 0031, 0032, 0060, 0043},
};

/* Tables of the Hilbert curve in two dimensions: four states, slot x + 2y; and in one dimension,
 * where the key is x. */
static const uint8_t step2[4][8] = {
    {0010, 0023, 0001, 0002},
    {0000, 0011, 0033, 0012},
    {0022, 0003, 0021, 0030},
    {0032, 0031, 0013, 0020},
};
static const uint8_t step1[1][8] = {{0000, 0001}};

static const uint8_t (*const steps[4])[8] = {NULL, step1, step2, step};

hkey hilbert_key(const int64_t x[3], int bits)
{
    BUG_ON(bits < 1 || 3 * bits > 126);
    hkey key = 0;
    int state = 0;
    for (int b = bits - 1; b >= 0; b--) {
        int slot = (int)((x[0] >> b & 1) | (x[1] >> b & 1) << 1 | (x[2] >> b & 1) << 2);
        int s = step[state][slot];
        key = key << 3 | (hkey)(s & 7);
        state = s >> 3;
    }
    return key;
}

/* The key of an oct's centre, continued from the digits of the oct's cube: the centre is the low
 * corner of the last slot. */
static hkey key_of_centre(const struct domain *d, hkey key, int state, int digits)
{
    const uint8_t(*table)[8] = steps[d->ndim];
    for (int i = 0, slot = (1 << d->ndim) - 1; i < digits; i++, slot = 0) {
        int s = table[state][slot];
        key = key << d->ndim | (hkey)(s & 7);
        state = s >> 3;
    }
    return key;
}

hkey hilbert_centre_key(const struct domain *d, int level, okey key)
{
    const uint8_t(*table)[8] = steps[d->ndim];
    hkey h = 0;
    int state = 0;
    for (int b = 3 * (level - 2); b >= 0; b -= 3) {
        int s = table[state][(int)(key >> b & 7)];
        h = h << d->ndim | (hkey)(s & 7);
        state = s >> 3;
    }
    return key_of_centre(d, h, state, d->levelmax + 2 - level);
}

/* The largest r in lo..hi with bound[r] <= key, which must exist. */
static int bound_find(const hkey *bound, hkey key, int lo, int hi)
{
    while (lo < hi) {
        int mid = lo + (hi - lo + 1) / 2;
        if (bound[mid] <= key)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

int hilbert_rank(const struct domain *d, int level, okey key)
{
    return bound_find(d->hilb.bound, hilbert_centre_key(d, level, key), 0, d->nrank - 1);
}

/* An oct is a single range of keys. */
bool hilbert_whole(const struct domain *d, int rank, int level, okey key)
{
    int shift = d->ndim * (d->levelmax + 2 - level);
    hkey low = hilbert_centre_key(d, level, key) >> shift << shift;
    return d->hilb.bound[rank] <= low && low + (((hkey)1 << shift) - 1) < d->hilb.bound[rank + 1];
}

/* A cube of the curve: key digits, position, and the range of ranks that it intersects. */
struct cube {
    hkey key;
    int state, depth, first, last;
    int64_t low[3];
};

static void ball_descend(const struct domain_ball *b, const struct cube *c)
{
    const struct domain *d = b->d;
    int64_t width = d->extent >> c->depth, half = width / 2;
    int shift = 3 * (d->levelmax - c->depth); /* shift of the key digits of the next finer cubes */
    double off[3];
    for (int a = 0; a < 3; a++) off[a] = domain_ball_off(b, a, c->low[a], c->low[a] + width);
    if (!domain_ball_meets(b, off)) return;
    if (c->first == c->last) {
        rank_list_add(b->ranks, c->first);
        return;
    }
    for (int slot = 0; slot < 8; slot++) {
        int s = step[c->state][slot];
        struct cube fine = {c->key << 3 | (hkey)(s & 7), s >> 3, c->depth + 1, 0, 0, {0}};
        hkey low = fine.key << shift, high = low + (((hkey)1 << shift) - 1);
        for (int a = 0; a < 3; a++) fine.low[a] = c->low[a] + (slot >> a & 1) * half;
        fine.first = bound_find(d->hilb.bound, low, c->first, c->last);
        fine.last = bound_find(d->hilb.bound, high, fine.first, c->last);
        ball_descend(b, &fine);
    }
}

MEM_ORDER_OF(rank_order, int)

/* The descent is cheap: few cubes belong to several ranks, at most one per level and bound. */
void hilbert_ball(const struct domain_ball *b)
{
    struct rank_list *s = b->ranks;
    int n = 0;
    ball_descend(b, &(struct cube){.last = b->d->nrank - 1});
    mem_sort(s->rank, (size_t)s->n, sizeof *s->rank, rank_order);
    for (int i = 0; i < s->n; i++)
        if (n == 0 || s->rank[i] != s->rank[n - 1]) s->rank[n++] = s->rank[i];
    s->n = n;
}

/* The 27 cubes around an oct, index (dx+1) + 3 (dy+1) + 9 (dz+1). */
struct around {
    hkey key[27]; /* key digits so far */
    /* Range of ranks that the cube intersects; first > last: beyond a boundary. */
    int32_t first[27], last[27];
    int32_t centre[27]; /* owners of the centres, valid if has_centre */
    uint8_t state[27];
    bool has_centre;
};

/* The path from the root to the last oct looked up. at[l] and only[l] belong to the oct own[l] of
 * level l, whatever the contents of other levels. */
struct hilbert_walk {
    atomic_flag busy;
    okey own[LEVEL_MAX + 1];
    int32_t only[LEVEL_MAX + 1]; /* the rank that owns all of the 27 cubes, or -1 */
    struct around at[LEVEL_MAX + 1];
};

void hilbert_plan(struct domain *d)
{
    int bits = d->ndim * (d->levelmax + 1);
    BUG_ON(bits > 126); /* levelmax is at most 41 */
    d->hilb.grain = bits > 53 ? bits - 53 : 0;
    d->hilb.bound = mem_zero(sizeof(hkey) * (size_t)(d->nrank + 1), "domain bounds");
    d->hilb.bound[d->nrank] = (hkey)1 << bits;
}

/* RAMSES divides the key range in floating point; the next integer key above has the same owner. */
void hilbert_uniform(struct domain *d)
{
    struct hilbert *h = &d->hilb;
    hkey grains = h->bound[d->nrank] >> h->grain;
    for (int r = 1; r < d->nrank; r++)
        h->bound[r] = ((grains * (hkey)r + (hkey)(d->nrank - 1)) / (hkey)d->nrank) << h->grain;
}

void hilbert_finish(struct domain *d)
{
    struct hilbert *h = &d->hilb;
    h->nwalk = omp_get_max_threads();
    h->walk = mem_zero(sizeof *h->walk * (size_t)h->nwalk, "domain walks");
    for (int i = 0; i < h->nwalk; i++) {
        struct hilbert_walk *w = &h->walk[i];
        atomic_flag_clear(&w->busy);
        for (int l = 2; l <= LEVEL_MAX; l++) w->own[l] = ~(okey)0;
        w->only[1] = d->nrank == 1 ? 0 : -1;
        for (int n = 0; n < 27; n++) {
            int off[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            bool beyond = false;
            for (int a = 0; a < 3; a++) beyond |= off[a] != 0 && !d->periodic[a];
            w->at[1].first[n] = beyond ? 1 : 0;
            w->at[1].last[n] = beyond ? 0 : d->nrank - 1;
        }
    }
}

void hilbert_fini(struct domain *d)
{
    FREE(d->hilb.bound);
    FREE(d->hilb.walk);
}

/* Ranges of ranks, without ranges contained in another. */
enum { WIDE = 2 * DOMAIN_MARGIN + 1, CUBES = WIDE * WIDE * WIDE };
struct ranges {
    int n;
    int32_t first[CUBES + 9], last[CUBES + 9]; /* cubes; octs of the parent's level; grandparent */
};

static struct hilbert_walk *walk_take(const struct domain *d);
static int walk_to(const struct domain *d, struct hilbert_walk *w, int level, okey key);
static void around_refine(const struct domain *d, const struct around *up, struct around *a,
                          int level, int slot);
static void cubes_add(const struct domain *d, const struct around *up, int level, int slot,
                      struct ranges *s);
static int around_only(const struct around *a);
static void around_centres(const struct domain *d, struct around *a, int level);
static void ranges_add(struct ranges *s, int32_t first, int32_t last);
static int ranges_list(struct ranges *s, int me, int *rank);

/* Whether the oct in this cell of its parent touches the n-th cube around the parent. */
static bool touches(int cell, int n)
{
    for (int a = 0; a < 3; a++, n /= 3)
        if (n % 3 == (cell >> a & 1 ? 0 : 2)) return false;
    return true;
}

int hilbert_near(const struct domain *d, int me, int level, okey key, int *rank)
{
    struct ranges s = {.n = 0};
    if (level == 1) {
        ranges_add(&s, 0, d->nrank - 1);
        return ranges_list(&s, me, rank);
    }
    struct hilbert_walk *w = walk_take(d);
    int l = walk_to(d, w, level - 1, key >> 3);
    if (w->only[l] >= 0) {
        ranges_add(&s, w->only[l], w->only[l]);
    } else {
        struct around *parent = &w->at[l];
        cubes_add(d, parent, level, (int)(key & 7), &s);
        if (!parent->has_centre) around_centres(d, parent, l);
        for (int n = 0; n < 27; n++) {
            if (parent->first[n] <= parent->last[n] && touches((int)(key & 7), n))
                ranges_add(&s, parent->centre[n], parent->centre[n]);
        }
        if (l > 1) {
            int above = hilbert_rank(d, l - 1, key >> 6);
            ranges_add(&s, above, above);
        }
    }
    atomic_flag_clear_explicit(&w->busy, memory_order_release);
    return ranges_list(&s, me, rank);
}

/* Takes a walk that no other thread uses: normally the thread's own. */
static struct hilbert_walk *walk_take(const struct domain *d)
{
    int i = omp_get_thread_num() % d->hilb.nwalk;
    while (atomic_flag_test_and_set_explicit(&d->hilb.walk[i].busy, memory_order_acquire))
        i = (i + 1) % d->hilb.nwalk;
    return &d->hilb.walk[i];
}

/* Extends the path to an oct of a level, or to an ancestor whose 27 cubes belong to one rank.
 * Returns the level reached. */
static int walk_to(const struct domain *d, struct hilbert_walk *w, int level, okey key)
{
    int l = level;
    while (l > 1 && w->own[l] != key >> 3 * (level - l)) l--;
    while (l < level && w->only[l] < 0) {
        l++;
        okey k = key >> 3 * (level - l);
        around_refine(d, &w->at[l - 1], &w->at[l], l, (int)(k & 7));
        w->own[l] = k;
        w->only[l] = around_only(&w->at[l]);
    }
    return l;
}

/* A cube of `level` in a cube around its parent: key digits, state, ranks. */
struct finer_cube {
    hkey key;
    int state;
    int32_t first, last;
};

/* Refines cube m around a parent to the cube in its octant. */
static inline struct finer_cube cube_refine(const struct domain *d, const struct around *up, int m,
                                            int octant, int level)
{
    const int shift = d->ndim * (d->levelmax + 2 - level), s = steps[d->ndim][up->state[m]][octant];
    struct finer_cube c = {up->key[m] << d->ndim | (hkey)(s & 7), s >> 3, up->first[m],
                           up->last[m]};
    if (c.first >= c.last) return c; /* a single rank needs no narrowing */
    const hkey low = c.key << shift, span = ((hkey)1 << shift) - 1;
    c.first = bound_find(d->hilb.bound, low, up->first[m], up->last[m]);
    c.last = bound_find(d->hilb.bound, low + span, c.first, up->last[m]);
    return c;
}

/* Indices along one axis: of the cubes around the parent, and octants in them, that hold the cubes
 * up to `margin` below and above the oct in cell `slot` of the parent. */
static void cubes_along(const struct domain *d, int axis, int margin, int slot, int *cube,
                        int *octant)
{
    const int stride = axis == 0 ? 1 : axis == 1 ? 3 : 9;
    for (int k = 0; k <= 2 * margin; k++) {
        /* 2 + coordinate at the children's level from the parent's low corner: 0..5. */
        const int x = k - margin + (slot >> axis & 1) + 2;
        const bool flat = axis >= d->ndim;
        cube[k] = (flat ? (k == margin ? 1 : 0) : x / 2) * stride;
        octant[k] = flat ? 0 : (x & 1) << axis;
    }
}

/* Refines the cubes around a parent to the cubes around an oct of `level` in its cell `slot`. */
static void around_refine(const struct domain *d, const struct around *up, struct around *a,
                          int level, int slot)
{
    a->has_centre = false;
    int cube[3][3], octant[3][3];
    for (int axis = 0; axis < 3; axis++) cubes_along(d, axis, 1, slot, cube[axis], octant[axis]);
    for (int n = 0; n < 27; n++) {
        const int x = n % 3, y = n / 3 % 3, z = n / 9;
        const struct finer_cube c = cube_refine(d, up, cube[0][x] + cube[1][y] + cube[2][z],
                                                octant[0][x] | octant[1][y] | octant[2][z], level);
        a->key[n] = c.key;
        a->state[n] = (uint8_t)c.state;
        a->first[n] = c.first;
        a->last[n] = c.last;
    }
}

/* Adds the ranges of the cubes within the margin of an oct of `level` in cell `slot` of a
 * parent. */
static void cubes_add(const struct domain *d, const struct around *up, int level, int slot,
                      struct ranges *s)
{
    const int side = 2 * d->margin + 1;
    int cube[3][WIDE], octant[3][WIDE];
    for (int axis = 0; axis < 3; axis++)
        cubes_along(d, axis, d->margin, slot, cube[axis], octant[axis]);
    for (int n = 0; n < side * side * side; n++) {
        const int x = n % side, y = n / side % side, z = n / side / side;
        const struct finer_cube c = cube_refine(d, up, cube[0][x] + cube[1][y] + cube[2][z],
                                                octant[0][x] | octant[1][y] | octant[2][z], level);
        if (c.first <= c.last) ranges_add(s, c.first, c.last);
    }
}

static int around_only(const struct around *a)
{
    int only = a->first[13];
    for (int n = 0; n < 27; n++)
        if (a->first[n] <= a->last[n] && (a->first[n] != only || a->last[n] != only)) return -1;
    return only;
}

static void around_centres(const struct domain *d, struct around *a, int level)
{
    for (int n = 0; n < 27; n++) {
        a->centre[n] = a->first[n];
        if (a->first[n] >= a->last[n]) continue;
        hkey k = key_of_centre(d, a->key[n], a->state[n], d->levelmax + 2 - level);
        a->centre[n] = bound_find(d->hilb.bound, k, a->first[n], a->last[n]);
    }
    a->has_centre = true;
}

static void ranges_add(struct ranges *s, int32_t first, int32_t last)
{
    for (int i = 0; i < s->n; i++)
        if (first >= s->first[i] && last <= s->last[i]) return;
    s->first[s->n] = first;
    s->last[s->n++] = last;
}

/* Lists all ranks in the ranges except `me`, ascending. */
static int ranges_list(struct ranges *s, int me, int *rank)
{
    int count = 0;
    for (int next = 0; s->n > 0;) {
        int best = 0; /* the range with the smallest first rank */
        for (int i = 1; i < s->n; i++)
            if (s->first[i] < s->first[best]) best = i;
        for (int r = s->first[best] > next ? s->first[best] : next; r <= s->last[best]; r++)
            if (r != me) rank[count++] = r;
        if (s->last[best] >= next) next = s->last[best] + 1;
        s->n--;
        s->first[best] = s->first[s->n];
        s->last[best] = s->last[s->n];
    }
    return count;
}
