/* oct/remap_kernel: kernels that update links and fields of a level whose list of octs has changed.
 */
#include "oct/remap_kernel.h"

#include "dev/kernel.h"
#include "oct/find_kern.h"

KERNEL(remap_source, struct remap_source_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->noct) continue;
        lidx low = 0, high = a->nrun;
        while (high - low > 1) {
            lidx mid = low + (high - low) / 2;
            if (a->run[mid].begin <= i)
                low = mid;
            else
                high = mid;
        }
        const struct remap_run r = a->run[low];
        lidx further = (lidx)i - r.begin;
        a->source[i] = r.source >= 0 ? r.source + further : r.source - further;
    }
}

KERNEL(remap_keys, struct remap_keys_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->noct) continue;
        lidx from = a->source[i];
        if (from >= 0) {
            a->key[i] = a->old_key[from];
            a->parent[i] = a->old_parent[from];
            a->now[from] = (lidx)i;
        } else {
            int32_t location = a->location[-1 - from];
            a->key[i] = a->up_key[location >> 3] << 3 | (okey)(location & 7);
            a->parent[i] = location >> 3;
        }
        for (int c = 0; c < 8; c++) a->child[i][c] = from >= 0 ? a->old_child[from][c] : -1;
    }
}

KERNEL(remap_child, struct remap_child_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->noct)
            oct_link_child(a->child[a->parent[i]], (int)(a->key[i] & 7), a->cells, (lidx)i);
    }
}

KERNEL(remap_nbr, struct remap_nbr_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->noct) continue;
        oct_faces(a->up_nbr, a->up_child, a->parent[i], (int)(a->key[i] & 7), a->nbr[i]);
        faces_missing(a->ndim, a->nbr[i]);
    }
}

KERNEL(remap_parent, struct remap_parent_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->noct) a->parent[i] = a->now[a->parent[i]];
    }
}

/* Slots depend on the order of insertion; results of searches do not. */
KERNEL(remap_hash, struct remap_hash_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->noct || !okhash_names(a->key, (lidx)i)) continue;
        uint64_t h = okhash_slot(&a->hash, a->key[i]);
        while (dev_swap_if(&a->hash.slot[h], -1, (int32_t)i) != -1) h = okhash_next(&a->hash, h);
    }
}

KERNEL(remap_fields, struct remap_fields_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        if (i >= a->noct) continue;
        lidx from = a->source[i];
        int64_t k = -1 - (int64_t)from;
        for (int f = 0; f < a->nfld; f++) {
            if (from >= 0)
                a->now[f][i][c] = a->old[f][from][c];
            else if (k < a->nrow)
                a->now[f][i][c] = a->row[(k * a->nfld + f) * 8 + c];
        }
    }
}

KERNEL(remap_inject, struct remap_inject_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, k = at >> 3;
        if (k >= a->n) continue;
        int32_t location = a->location[k], i = location >> 3, c = location & 7;
        for (int f = 0; f < a->nfld; f++)
            a->row[(k * a->width + f) * 8 + (at & 7)] = field_child(
                a->from[f][i][c], a->other[f][i][c], a->fixed[f], a->side[f], (int)(at & 7));
    }
}
