/* patch/slots_kernel: kernels that find the tiles of a level and the octs around each, which change
 * only with the mesh (patch/tile does it on hosts); values of octs that do not exist; new values
 * into their fields; sums of totals over blocks. */
#include "dev/digits_kern.h"
#include "dev/kernel.h"
#include "dev/sums.h"
#include "oct/find_kern.h"
#include "patch/across_kern.h"
#include "patch/kernels.h"
#include "patch/reflux.h"

/* Octs of a tile, and its position on the level. */
struct tile_shared {
    int64_t x0[3];
    unsigned char own[DEV_SLOTS];
    int missing;
};

KERNEL(tile_heads, struct tile_heads_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->nown) continue;
        int d = 3 * a->depth;
        a->head[i] = i == 0 || a->key[i] >> d != a->key[i - 1] >> d;
    }
}

KERNEL(tile_firsts, struct tile_firsts_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->nown && a->head[i]) a->first[a->index[i]] = (int32_t)i;
        if (i == a->nown) a->first[a->index[i]] = (int32_t)i;
    }
}

KERNEL(reflux_any, struct reflux_any_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->noct) continue;
        a->any[i] = reflux_has(a->nbr, (lidx)i, a->edges);
    }
}

KERNEL(reflux_rows, struct reflux_rows_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->noct) a->reflux_row[i] = a->any[i] ? a->index[i] : -1;
    }
}

/* Whether an own oct touches the slot (x,y,z) across a face or an edge, or with `corners` at a
 * corner. */
PTAH_HD_FN int slot_seen(const unsigned char *own, int e, int x, int y, int z, int corners)
{
    for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                int i = x + dx, j = y + dy, k = z + dz;
                if (dx && dy && dz && !corners) continue;
                if (i < 0 || i >= e || j < 0 || j >= e || k < 0 || k >= e) continue;
                if (own[i + e * (j + e * k)]) return 1;
            }
        }
    }
    return 0;
}

/* Coordinates of the oct in a slot. Slots outside of the tile along missing axes have the octs
 * of the tile: no slope is there, and no cell is beyond a boundary. */
PTAH_HD_FN void slot_key(const struct tile_shared *s, int ndim, int e, int slot, int64_t x[3])
{
    x[0] = s->x0[0] + slot % e - 1;
    x[1] = s->x0[1] + (ndim > 1 ? slot / e % e - 1 : 0);
    x[2] = s->x0[2] + (ndim > 2 ? slot / e / e - 1 : 0);
}

KERNEL(tile_slots, struct tile_slots_args, struct tile_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int e = (1 << a->depth) + 2, first = a->first[b->index],
              count = a->first[b->index + 1] - first;
    int32_t *slot = a->slot + (int64_t)b->index * DEV_SLOTS;
    PHASE (t, e * e * e) {
        s->own[t] = 0;
        slot[t] = DEV_UNUSED;
    }
    PHASE (t, count) {
        int64_t x[3];
        int mask = (1 << a->depth) - 1;
        okey_coords(lv->key[first + t], x);
        if (t == 0)
            for (int d = 0; d < 3; d++) s->x0[d] = x[d] & ~(int64_t)mask;
        int here = (int)(x[0] & mask) + 1 +
                   e * ((int)(x[1] & mask) + 1 + e * ((int)(x[2] & mask) + 1));
        s->own[here] = 1;
        slot[here] = first + t;
    }
    PHASE (t, e * e * e) {
        int64_t x[3];
        okey k;
        if (s->own[t] || !slot_seen(s->own, e, t % e, t / e % e, t / e / e, a->corners)) continue;
        slot_key(s, a->mesh->ndim, e, t, x);
        int32_t i = level_key_at(a->mesh->bounded, a->l, x, &k) ? level_find(lv, k) : NBR_BOUNDARY;
        slot[t] = i; /* −1, not found, equals NBR_NONE */
    }
    PHASE (t, 1) {
        int32_t n = 0;
        for (int p = 0; p < e * e * e; p++) n += slot[p] == NBR_NONE;
        a->missing[b->index] = n;
    }
}

KERNEL(tile_rows, struct tile_rows_args, struct tile_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l], *up = lv - 1;
    const int e = (1 << a->depth) + 2;
    const int64_t n = (int64_t)1 << (a->l - 1);
    int32_t *slot = a->slot + (int64_t)b->index * DEV_SLOTS;
    PHASE (t, 1) {
        int32_t row = a->base[b->index];
        okey_coords(lv->key[a->first[b->index]] >> 3 * a->depth << 3 * a->depth, s->x0);
        for (int p = 0; p < e * e * e; p++)
            if (slot[p] == NBR_NONE) slot[p] = DEV_MISSING - row++;
    }
    PHASE (t, e * e * e) {
        int64_t x[3];
        if (slot[t] > DEV_MISSING) continue;
        slot_key(s, a->mesh->ndim, e, t, x);
        okey k = okey_make((uint64_t)(x[0] & (n - 1)), (uint64_t)(x[1] & (n - 1)),
                           (uint64_t)(x[2] & (n - 1)));
        a->parent[DEV_MISSING - slot[t]] = 8 * level_find(up, k >> 3) + (int32_t)(k & 7);
    }
}

KERNEL(patch_missing, struct patch_missing_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        const struct law *law = &a->law;
        const struct patch_cell p = {a->l - 1, a->parent[k] >> 3, a->parent[k] & 7};
        double *row = a->row + k * (law->nvar + LAW_BESIDE) * 8;
        for (int v = 0; v < law->nvar; v++, row += 8)
            patch_children(a->mesh, p, law->field[v], law->odd[v], row);
        for (int c = 0; c < 8 * (law->nfield - law->nvar); c++)
            row[c] = a->mesh->lev[p.level].fld[law->field[law->nvar + c / 8]][p.oct][p.cell];
    }
}

KERNEL(patch_take, struct patch_take_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        for (int v = 0; v < a->nvar && at < a->cells; v++) {
            double *to = &lv->fld[a->field[v]][at >> 3][at & 7];
            if (a->old) a->old[v * a->cells + at] = *to;
            *to = a->from[v * a->cells + at];
        }
    }
}

KERNEL(totals_join, struct totals_join_args, struct digits_shared, DEV_THREADS)
{
    const int count = a->sums * DEV_SUM;
    PHASE (t, count) {
        int64_t sum = 0;
        for (int32_t i = 0; i < a->n; i++) sum += a->part[(int64_t)i * count + t];
        a->out[t] = sum;
    }
    digits_write(a->out, a->sums, DEV_SUM, a->packed, s, b);
}
