#include "part/block.h"

#include <string.h>

/* Octs of the next level in and around the block, from those of this one, `side` per side; children
 * of absent octs are as absent as these. */
static int slots_descend(const struct level *lv, int side, const lidx *in, lidx *out)
{
    int fine = 2 * side - 2;
    for (int z = 1; z <= fine; z++)
        for (int y = 1; y <= fine; y++) {
            const lidx *up = in + side * ((y >> 1) + side * (z >> 1));
            int c = (y & 1) << 1 | (z & 1) << 2;
            *out++ = up[0] >= 0 ? lv->child[up[0]][c + 1] : up[0];
            for (int x = 1; x < side - 1; x++, out += 2) {
                const lidx *child = lv->child[up[x] >= 0 ? up[x] : 0] + c;
                out[0] = up[x] >= 0 ? child[0] : up[x];
                out[1] = up[x] >= 0 ? child[1] : up[x];
            }
            *out++ = up[side - 1] >= 0 ? lv->child[up[side - 1]][c] : up[side - 1];
        }
    return fine;
}

/* Whether the k-th oct is in the block or around it along axes that the mesh has. */
static bool slot_counts(int ndim, int side, int k)
{
    int y = k / side % side, z = k / (side * side);
    return (ndim > 1 || y == 1) && (ndim > 2 || z == 1);
}

static void block_link(struct block *b, const struct mesh *m, lidx ancestor)
{
    lidx other[BLOCK_SLOTS * BLOCK_SLOTS * BLOCK_SLOTS];
    int side = 3, l = b->level - b->depth;
    lidx *in = b->depth % 2 ? other : b->oct, *out = b->depth % 2 ? b->oct : other;
    mesh_cube(m, l, ancestor, in);
    for (; l < b->level; l++) {
        side = slots_descend(&m->lev[l], side, in, out);
        lidx *swap = in;
        in = out;
        out = swap;
    }
    b->whole = true;
    for (int k = 0; k < side * side * side; k++)
        b->whole &= b->oct[k] >= 0 || !slot_counts(m->ndim, side, k);
}

void block_set(struct block *b, const struct mesh *m, int l, lidx o, int depth)
{
    const struct level *lv = &m->lev[l];
    lidx ancestor = o;
    b->level = l;
    b->depth = o >= lv->nown ? 0 : depth < l ? depth : l - 1;
    b->width = (2 << b->depth) + 2;
    int shift = 3 * b->depth;
    okey key = lv->key[o] >> shift;
    for (b->low = o; b->depth && b->low > 0 && lv->key[b->low - 1] >> shift == key;) b->low--;
    for (b->high = o + 1; b->depth && b->high < lv->nown && lv->key[b->high] >> shift == key;)
        b->high++;
    for (int k = 0; k < b->depth; k++) ancestor = m->lev[l - k].parent[ancestor];
    okey_coords(key, b->base);
    for (int d = 0; d < 3; d++) {
        b->base[d] = ((2 * b->base[d]) << b->depth) - 1;
        b->wrap[d] = cloud_wrap(m, l, d);
    }
    for (lidx k = b->low; k < b->high; k++) {
        int64_t q[3];
        okey_coords(lv->key[k] & (((okey)1 << shift) - 1), q);
        b->slot[k - b->low] = (int32_t)(q[0] << 1 | q[1] << 9 | q[2] << 17);
    }
    b->slot[BLOCK_OCTS] = 0x7f7f7f;
    block_link(b, m, ancestor);
}

int block_depth(const struct mesh *m, int l, int64_t n, const lidx *host, int max)
{
    /* minimum number of particles for a larger patch, by depth */
    static const int enough[BLOCK_DEPTH_MAX + 1] = {0, 8, 64};
    const struct level *lv = &m->lev[l];
    for (int d = max; d > 0; d--) {
        int64_t last = enough[d] - 1;
        if (last < n && host[0] < lv->nown && host[last] < lv->nown &&
            lv->key[host[0]] >> 3 * d == lv->key[host[last]] >> 3 * d)
            return d;
    }
    return 0;
}

bool cells_find(struct cells *c, const struct mesh *m, int l, lidx host, const int64_t cell[3])
{
    const struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    int way[3][2], all = 0;
    int64_t q[3];
    lidx oct[8];
    if (l == 1) return false;
    okey_coords(lv->key[host], q);
    for (int d = 0; d < 3; d++) {
        const int64_t reach = (cell[d] - (2 * q[d] - 1)) & cloud_wrap(m, l, d);
        if ((uint64_t)reach >= 3) return false;
        for (int v = 0; v < 2; v++) {
            /* position among the parent's four cells of this level: 0..3, otherwise beyond; bits d,
             * 3 + d, 6 + d: cell in the oct, child, whether it is beyond the parent */
            const int x = (int)(2 * (q[d] & 1) + reach) - 1 + v;
            way[d][v] = ((x & 1) | (x >> 1 & 1) << 3 | (x >> 2 & 1) << 6) << d;
            all |= way[d][v];
        }
    }
    mesh_corner(m, l - 1, lv->parent[host], oct_slot(lv, host), all >> 6, oct);
    for (int k = 0; k < 8; k++) {
        const int w = way[0][k & 1] | way[1][k >> 1 & 1] | way[2][k >> 2];
        const lidx p = oct[w >> 6];
        c->oct[k] = p >= 0 ? up->child[p][w >> 3 & 7] : p;
        c->at[k] = w & 7;
        if (p == NBR_BOUNDARY) return false;
    }
    return true;
}

int block_put_one(const struct block *b, okey host, const int64_t cell[3])
{
    int at = 0;
    int64_t oct[3];
    okey_coords(host, oct);
    for (int d = 2; d >= 0; d--) {
        int64_t x = (cell[d] - b->base[d]) & b->wrap[d],
                reach = (cell[d] - (2 * oct[d] - 1)) & b->wrap[d];
        if ((uint64_t)x >= (uint64_t)b->width - 1 || (uint64_t)reach >= 3) return -1;
        at = BLOCK_SIDE * at + (int)x;
    }
    return at;
}

void clouds_find(struct clouds *c, const struct parts *p, const struct mesh *m, int l,
                 int64_t begin, int n)
{
    double scale = (double)((int64_t)1 << l) * m->per_boxlen;
    for (int d = 0; d < 3; d++) {
        const double *restrict x = p->x[d] + begin;
        double *restrict cell = c->cell[d], *restrict w = c->w[d];
        if (d >= m->ndim) { /* see cloud_at */
            memset(cell, 0, sizeof *cell * (size_t)n);
            memset(w, 0, sizeof *w * (size_t)n);
            continue;
        }
#pragma omp simd
        for (int k = 0; k < n; k++) {
            cell[k] = cloud_along(scale > 0 ? x[k] * scale : mesh_cells(m, l, x[k]), &w[k]);
        }
    }
}

/* Converts a small whole number to an integer; large values are clamped outside of any patch. */
static inline int32_t near(double x)
{
    x = x > -1 ? x : -1;
    return (int32_t)(x < 126 ? x : 126);
}

void clouds_put(struct clouds *c, const struct block *b, const okey *key, const lidx *host,
                int from, int to)
{
    double bx = (double)b->base[0], by = (double)b->base[1], bz = (double)b->base[2];
    uint32_t n = (uint32_t)(b->high - b->low);
    int strays = 0;
#pragma omp simd reduction(+ : strays)
    for (int k = from; k < to; k++) {
        uint32_t o = (uint32_t)(host[k] - b->low);
        int32_t slot = b->slot[o < n ? o : BLOCK_OCTS];
        int32_t x = near(c->cell[0][k] - bx), y = near(c->cell[1][k] - by),
                z = near(c->cell[2][k] - bz);
        uint32_t rx = (uint32_t)(x - (slot & 255)), ry = (uint32_t)(y - (slot >> 8 & 255)),
                 rz = (uint32_t)(z - (slot >> 16));
        bool in = (rx < 3) & (ry < 3) & (rz < 3);
        c->at[k] = in ? x + BLOCK_SIDE * (y + BLOCK_SIDE * z) : -1;
        strays += o >= n;
    }
    for (int k = from; k < to && strays && b->whole; k++) {
        int64_t cell[3] = {(int64_t)c->cell[0][k], (int64_t)c->cell[1][k], (int64_t)c->cell[2][k]};
        if (!block_has(b, host[k])) c->at[k] = block_put_one(b, key[host[k]], cell);
    }
}
