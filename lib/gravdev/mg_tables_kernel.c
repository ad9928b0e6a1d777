/* gravdev/mg_tables_kernel: kernels that make the tables of a multigrid hierarchy, as grav/mg does
 * on hosts, and the lists of the faces of a level without a neighbour. One thread per oct. */
#include "gravdev/mg_tables.h"
#include "oct/find_kern.h"

/* Loop over the octs of the launch. */
#define OCTS(i, n)                                                                                 \
    PHASE (t_, DEV_THREADS)                                                                        \
        for (int64_t i = (int64_t)b->index * DEV_THREADS + t_, end_ = i + 1; i < end_ && i < (n);  \
             i++)

PTAH_HD lidx renumbered(const lidx *map, lidx i)
{
    return i >= 0 && map ? map[i] : i;
}

KERNEL(mg_keep, struct mg_keep_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        double mask[8];
        bool inside = false;
        a->keep[i] = mg_mask_cells(a->child[i], a->fine_map, a->fine_mask, a->ndim, mask);
        for (int k = 0; k < 8; k++) {
            a->mask[i][k] = a->keep[i] ? mask[k] : MG_NO_MASK;
            inside |= mask[k] > 0;
        }
        if (a->self) a->self[i] = a->keep[i] ? (lidx)i : -1;
        if (inside) dev_swap_if(a->inside, 0, 1);
    }
}

KERNEL(mg_retained, struct mg_retained_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(g, a->noct - a->n)
    {
        a->keep[a->n + g] = a->mask[a->n + g][0] > MG_NO_MASK;
    }
}

KERNEL(mg_slots, struct mg_slots_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        int32_t at = a->first[i];
        if (!a->keep[i] || at >= a->room) continue;
        a->slot[at].oct = i;
        for (int k = 0; k < 8; k++) a->slot[at].mask[k] = a->mask[i][k];
    }
}

KERNEL(mg_compact, struct mg_compact_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        lidx j = a->first[i];
        a->map[i] = a->keep[i] ? j : -1;
        if (!a->keep[i]) continue;
        for (int f = 0; f < 6 && a->nbr; f++) {
            lidx q = a->mesh_nbr[i][f];
            a->nbr[j][f] = q >= 0 ? (a->keep[q] ? a->first[q] : -1) : q;
        }
        for (int k = 0; k < 8 && a->mask; k++) a->mask[j][k] = a->mesh_mask[i][k];
    }
}

KERNEL(mg_children, struct mg_children_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        lidx j = renumbered(a->map, (lidx)i);
        for (int k = 0; k < 8 && j >= 0; k++)
            a->child[j][k] = renumbered(a->fine_map, a->mesh_child[i][k]);
    }
}

KERNEL(mg_boundary_find, struct mg_boundary_find_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        a->is[i] = mg_at_boundary(a->nbr, a->mask, (lidx)i);
    }
}

KERNEL(mg_boundary_make, struct mg_boundary_make_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        lidx row = a->is[i] ? a->first[i] : -1;
        a->boundary[i] = row;
        if (row >= 0) mg_boundary_cells(a->nbr, a->mask, (lidx)i, a->ndim, &a->boundaries[row]);
    }
}

KERNEL(mg_halo, struct mg_halo_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(g, a->noct - a->n)
    {
        bool touches = false;
        for (int f = 0; f < 6; f++) {
            lidx j = a->nbr[a->n + g][f];
            touches |= j >= 0 && j < a->n;
        }
        a->is[g] = touches;
    }
}

KERNEL(mg_list, struct mg_list_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        if (a->is[i]) a->to[a->first[i]] = a->base + (lidx)i;
    }
}

KERNEL(mg_read, struct mg_read_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->noct)
    {
        if (i >= a->n && !a->halo[i - a->n]) continue;
        dev_swap_if(&a->read[i], 0, 1);
        for (int f = 0; f < 6 && i >= a->n; f++)
            if (a->nbr[i][f] >= 0) dev_swap_if(&a->read[a->nbr[i][f]], 0, 1);
    }
}

KERNEL(mg_wants, struct mg_wants_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        bool any = false;
        for (int k = 0; k < 8; k++) any |= a->child[i][k] >= 0 && a->read[a->child[i][k]];
        a->wants[i] = any;
    }
}

KERNEL(mg_entries, struct mg_entries_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(j, a->n)
    {
        a->is[j] = a->map[a->list[j]] >= 0;
    }
}

/* Runs in a single block. */
KERNEL(mg_entries_first, struct mg_entries_first_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, 2 * (a->npeer + 1)) {
        const bool sends = t <= a->npeer;
        a->first[t] = sends ? a->sum[a->old[t]] : a->sum[a->nsend + a->old[t]] - a->sum[a->nsend];
    }
}

KERNEL(mg_entries_list, struct mg_entries_list_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(j, a->n)
    {
        if (a->is[j]) a->to[a->sum[j]] = a->map[a->list[j]];
    }
}

KERNEL(mg_cubes, struct mg_cubes_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    OCTS(i, lv->noct)
    {
        const lidx j = renumbered(a->map, (lidx)i);
        int64_t x[3], q[3];
        if (j < 0 || (a->wants && !a->wants[j])) continue;
        struct mg_cube *cube = &a->cube[a->wants ? a->first[j] : j];
        cube->oct = j;
        okey_coords(lv->key[i], x);
        for (int n = 0; n < 27; n++) {
            okey k;
            q[0] = x[0] + n % 3 - 1;
            q[1] = x[1] + n / 3 % 3 - 1;
            q[2] = x[2] + n / 9 - 1;
            bool is = level_key_at(a->mesh->bounded, a->l, q, &k);
            cube->nb[n] = is ? renumbered(a->map, level_find(lv, k)) : NBR_BOUNDARY;
        }
    }
}

KERNEL(mg_ups, struct mg_ups_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        lidx e = a->boundary ? a->boundary[i] : -1;
        for (int k = 0; k < a->cells; k++) {
            lidx j = a->child[i][k];
            if (j >= 0) a->up[j] = mg_up_slot((lidx)i, k, e >= 0 ? &a->boundaries[e] : NULL);
        }
    }
}

KERNEL(faces_count, struct faces_count_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        int32_t n = 0;
        for (int f = 0; f < a->faces; f++) n += a->nbr[i][f] < 0;
        a->count[i] = n;
    }
}

KERNEL(faces_list, struct faces_list_args, struct dev_nothing, DEV_THREADS)
{
    OCTS(i, a->n)
    {
        int32_t k = a->sum[i];
        a->first[i] = a->sum[i + 1] > k ? k : -1;
        for (int f = 0; f < a->faces; f++) {
            if (a->nbr[i][f] >= 0) continue;
            a->missing[2 * k] = (int32_t)i;
            a->missing[2 * k + 1] = f;
            k++;
        }
    }
}
