/* dom/ghost_kernel: kernels that copy rows of a level's arrays to a message buffer and back, and
 * that add integers to rows. One thread per unit; adjacent threads take adjacent units. */
#include "dom/ghost_kernel.h"

#include "dev/kernel.h"

/* Location of unit u of row j; in_array < 0: none. */
struct unit_slot {
    int arr;
    int64_t in_array, in_buffer;
};

PTAH_HD_FN struct unit_slot unit_slot(const struct ghost_pack_args *a, int32_t j, int u)
{
    int arr = 0, low = 0, high = a->npeer;
    while (a->at[arr + 1] <= u) arr++;
    while (high - low > 1) {
        int mid = (low + high) / 2;
        if (a->first[mid] <= j)
            low = mid;
        else
            high = mid;
    }
    const int64_t first = a->first[low], count = a->first[low + 1] - first,
                  row = a->row ? a->row[a->oct[j]] : a->oct[j];
    const int begin = a->at[arr], width = a->at[arr + 1] - begin, within = u - begin;
    struct unit_slot p;
    p.arr = arr;
    p.in_array = row < 0 ? -1 : a->cells ? 8 * row + a->cell[within] : width * row + within;
    p.in_buffer = a->at[a->narr] * first + begin * count + width * (j - first) + within;
    return p;
}

DEV_FN void move_rows(const struct ghost_pack_args *a, struct dev_block *b, int pack)
{
    const int width = a->at[a->narr];
    PHASE (t, GHOST_BLOCK_ROWS * width) {
        int32_t j = b->index * GHOST_BLOCK_ROWS + t / width;
        if (j >= a->n) continue;
        struct unit_slot p = unit_slot(a, j, t % width);
        char *in_array = (char *)a->arr[p.arr] + a->unit * p.in_array,
             *in_buffer = (char *)a->buffer + a->unit * p.in_buffer,
             *to = pack ? in_buffer : in_array, *from = pack ? in_array : in_buffer;
        if (p.in_array < 0) {
            for (int k = 0; pack && k < a->unit; k++) in_buffer[k] = 0;
            continue;
        }
        if (a->unit == 8)
            *(uint64_t *)to = *(const uint64_t *)from;
        else
            *to = *from;
    }
}

KERNEL(ghost_pack, struct ghost_pack_args, struct dev_nothing, DEV_THREADS)
{
    move_rows(a, b, 1);
}

KERNEL(ghost_unpack, struct ghost_pack_args, struct dev_nothing, DEV_THREADS)
{
    move_rows(a, b, 0);
}

/* Several ranks may send to one row, so additions are atomic. */
KERNEL(ghost_add, struct ghost_pack_args, struct dev_nothing, DEV_THREADS)
{
    const int width = a->at[a->narr];
    PHASE (t, GHOST_BLOCK_ROWS * width) {
        int32_t j = b->index * GHOST_BLOCK_ROWS + t / width;
        if (j >= a->n) continue;
        struct unit_slot p = unit_slot(a, j, t % width);
        dev_add_i64((int64_t *)a->arr[p.arr] + p.in_array,
                    ((const int64_t *)a->buffer)[p.in_buffer]);
    }
}
