/* dom/bins: see bins.h. An open-addressing hash table of the bins that have events; two bit maps,
 * of bins and of blocks of 4^3 bins, reject most empty bins. bins_new scans all cells once and
 * marks cells whose bin has events. */
#include "dom/bins.h"

#include <math.h>
#include <omp.h>

#include "base/mem.h"

enum { BIN_BITS = 21, MAX = 64, BITS_A_SLOT = 16 };
static const double MARGIN = 1e-9; /* relative margin of a radius for rounding */

struct bin {
    uint64_t key;   /* Morton key + 1; 0: an empty slot */
    int64_t before; /* number of entries of preceding bins */
    int64_t n;      /* number of entries */
};

struct bins {
    int64_t n;
    const struct event *event;
    double side;
    int64_t across; /* number of bins along an axis */
    uint64_t mask;
    struct bin *table;
    uint64_t *bits, *blocks;      /* hashed bit maps */
    int64_t *entry;               /* event indices, sorted by bin */
    uint8_t *mark[LEVEL_MAX + 1]; /* [own octs] bit mask of cells */
};

/* Hash of a block of bins; bins within a block stay adjacent. */
static inline uint64_t block_hash(uint64_t key)
{
    return (key >> 6) * 0x9E3779B97F4A7C15u >> 20;
}

static inline uint64_t slot_of(uint64_t key)
{
    return block_hash(key) + (key & 63);
}

static inline uint64_t bit_of(const struct bins *b, uint64_t slot)
{
    return slot & (BITS_A_SLOT * (b->mask + 1) - 1);
}

static inline void bit_set(const struct bins *b, uint64_t *bits, uint64_t slot)
{
    uint64_t i = bit_of(b, slot);
    bits[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline bool bit_get(const struct bins *b, const uint64_t *bits, uint64_t slot)
{
    uint64_t i = bit_of(b, slot);
    return bits[i >> 6] >> (i & 63) & 1;
}

static struct bin *bin_find(const struct bins *b, uint64_t key)
{
    uint64_t i = slot_of(key) & b->mask;
    while (b->table[i].key && b->table[i].key != key + 1) i = (i + 1) & b->mask;
    return &b->table[i];
}

static int64_t bin_at(const struct bins *b, double x)
{
    double q = floor(x / b->side);
    return q < 0 ? 0 : q >= (double)b->across ? b->across - 1 : (int64_t)q;
}

/* Lists the keys of the bins that the ball of event i intersects. */
static int keys_of(const struct bins *b, int64_t i, uint64_t key[MAX])
{
    const struct event *e = &b->event[i];
    double reach = e->radius * (1 + MARGIN);
    int64_t low[3], high[3];
    int n = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = bin_at(b, e->x[d] - reach);
        high[d] = bin_at(b, e->x[d] + reach);
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++)
                key[n++] = (uint64_t)okey_make((uint64_t)x, (uint64_t)y, (uint64_t)z);
    return n;
}

static void count_entries(struct bins *b)
{
    uint64_t key[MAX];
    for (int64_t i = 0; i < b->n; i++)
        for (int k = keys_of(b, i, key) - 1; k >= 0; k--) {
            struct bin *bin = bin_find(b, key[k]);
            bin->key = key[k] + 1;
            bin->n++;
            bit_set(b, b->bits, slot_of(key[k]));
            bit_set(b, b->blocks, block_hash(key[k]));
        }
}

static void fill_entries(struct bins *b)
{
    uint64_t key[MAX];
    int64_t total = 0;
    for (uint64_t i = 0; i <= b->mask; i++) {
        b->table[i].before = total;
        total += b->table[i].n;
        b->table[i].n = 0;
    }
    b->entry = mem_new(sizeof *b->entry * (size_t)total + 1, "events");
    for (int64_t i = 0; i < b->n; i++)
        for (int k = keys_of(b, i, key) - 1; k >= 0; k--) {
            struct bin *bin = bin_find(b, key[k]);
            b->entry[bin->before + bin->n++] = i;
        }
}

static inline double middle(int64_t q, int half, double dx)
{
    return ((double)(2 * q) + 0.5) * dx + half * dx;
}

/* Key parts of the bins of an oct's cells, at most two per axis. */
static void oct_bins(const struct bins *b, const struct level *lv, double dx, lidx i,
                     uint64_t part[3][2])
{
    int64_t q[3];
    okey_coords(lv->key[i], q);
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 2; k++)
            part[d][k] = okey_spread21((uint64_t)bin_at(b, middle(q[d], k, dx))) << d;
}

static inline uint64_t key_of(uint64_t part[3][2], int c)
{
    return part[0][c & 1] | part[1][c >> 1 & 1] | part[2][c >> 2];
}

/* Bit mask of the cells of an oct that lie in bins with events; the hash may add further cells. */
static uint8_t mark_oct(const struct bins *b, const struct level *lv, double dx, lidx i)
{
    uint64_t part[3][2];
    uint8_t mark = 0;
    oct_bins(b, lv, dx, i, part);
    bool block = key_of(part, 0) >> 6 == key_of(part, 7) >> 6;
    if (block && !bit_get(b, b->blocks, block_hash(key_of(part, 0)))) return 0;
    for (int c = 0; c < 8; c++)
        if (bit_get(b, b->bits, slot_of(key_of(part, c))) && lv->child[i][c] < 0)
            mark |= (uint8_t)(1 << c);
    return mark;
}

struct bins *bins_new(const struct mesh *m, int64_t n, const struct event *e)
{
    struct bins *b = mem_zero(sizeof *b, "events");
    double side = ldexp(m->boxlen, 1 - BIN_BITS);
    for (int64_t i = 0; i < n; i++) side = fmax(side, e[i].radius);
    *b = (struct bins){.n = n, .event = e, .side = side, .mask = 63};
    b->across = (int64_t)ceil(m->boxlen / side);
    while ((int64_t)b->mask < 2 * 27 * n) b->mask = 2 * b->mask + 1;
    b->table = mem_zero(sizeof *b->table * (b->mask + 1), "events");
    b->bits = mem_zero(BITS_A_SLOT / 8 * (b->mask + 1), "events");
    b->blocks = mem_zero(BITS_A_SLOT / 8 * (b->mask + 1), "events");
    count_entries(b);
    fill_entries(b);
    for (int l = m->levelmin; l <= m->levelmax && n > 0; l++) {
        const struct level *lv = &m->lev[l];
        double dx = mesh_dx(m, l);
        b->mark[l] = mem_new((size_t)lv->nown + 1, "events");
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) b->mark[l][i] = mark_oct(b, lv, dx, i);
    }
    return b;
}

void bins_free(struct bins *b)
{
    if (!b) return;
    for (int l = 0; l <= LEVEL_MAX; l++) FREE(b->mark[l]);
    FREE(b->table);
    FREE(b->bits);
    FREE(b->blocks);
    FREE(b->entry);
    mem_free(b);
}

/* ---- the cells ---- */

/* Whether the cell centre is in the ball; all results rest on this test alone. */
static inline bool meet(const struct event *e, const double centre[3], double r[3])
{
    double r2 = 0;
    for (int d = 0; d < 3; d++) {
        r[d] = centre[d] - e->x[d];
        r2 += r[d] * r[d];
    }
    return r2 < e->radius * e->radius;
}

static void visit_oct(const struct bins *b, const struct level *lv, double dx, struct bins_hit *h,
                      bins_visit *visit, void *ctx)
{
    uint64_t part[3][2];
    int64_t q[3];
    oct_bins(b, lv, dx, h->oct, part);
    okey_coords(lv->key[h->oct], q);
    for (h->cell = 0; h->cell < 8; h->cell++) {
        if (!(b->mark[h->level][h->oct] >> h->cell & 1)) continue;
        const struct bin *bin = bin_find(b, key_of(part, h->cell));
        double centre[3];
        for (int d = 0; d < 3; d++) centre[d] = middle(q[d], h->cell >> d & 1, dx);
        for (int64_t k = 0; k < bin->n; k++) {
            h->event = b->entry[bin->before + k];
            if (meet(&b->event[h->event], centre, h->r)) visit(h, ctx);
        }
    }
}

int bins_threads(void)
{
    return omp_get_max_threads();
}

void bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx)
{
    if (b->n == 0) return;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        const struct level *lv = &m->lev[l];
        double dx = mesh_dx(m, l);
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            struct bins_hit h = {.thread = omp_get_thread_num(), .level = l, .oct = i};
            if (b->mark[l][i]) visit_oct(b, lv, dx, &h, visit, ctx);
        }
    }
}
