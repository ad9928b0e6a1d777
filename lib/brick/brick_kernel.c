/* brick/brick_kernel: kernels that copy boxes of cells to messages and back, and within a brick.
 * One thread per number; adjacent threads take adjacent cells. */
#include "brick/brick_kernel.h"

#include "dev/kernel.h"

struct brick_spot {
    int field, at[3];
    int64_t in_buffer;
};

/* Location of number i of all boxes. */
PTAH_HD_FN struct brick_spot brick_spot(const struct brick_kernel_args *a, int64_t i)
{
    int low = 0, high = a->nbox;
    struct brick_spot s;
    while (high - low > 1) {
        int mid = (low + high) / 2;
        if (a->box[mid].first <= i)
            low = mid;
        else
            high = mid;
    }
    const struct brick_box *k = &a->box[low];
    int64_t j = i - k->first;
    s.in_buffer = k->buffer + j;
    s.at[0] = k->at[0] + (int)(j % k->len[0]);
    j /= k->len[0];
    s.at[1] = k->at[1] + (int)(j % k->len[1]);
    j /= k->len[1];
    s.at[2] = k->at[2] + (int)(j % k->len[2]);
    s.field = (int)(j / k->len[2]);
    return s;
}

PTAH_HD_FN double *brick_number(const struct brick_kernel_args *a, const struct brick_spot *s)
{
    return a->field[s->field] + a->start + s->at[0] + s->at[1] * a->row + s->at[2] * a->plane;
}

KERNEL(brick_pack, struct brick_kernel_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->count) continue;
        struct brick_spot p = brick_spot(a, i);
        a->buffer[p.in_buffer] = *brick_number(a, &p);
    }
}

KERNEL(brick_unpack, struct brick_kernel_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->count) continue;
        struct brick_spot p = brick_spot(a, i);
        *brick_number(a, &p) = a->buffer[p.in_buffer];
    }
}

/* Boxes have 2*halo cells along the axis: those below cell 0, then those above the last own one. */
KERNEL(brick_wrap, struct brick_kernel_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->count) continue;
        struct brick_spot p = brick_spot(a, i);
        if (p.at[a->axis] >= 0) p.at[a->axis] += a->own;
        double *to = brick_number(a, &p);
        p.at[a->axis] = (p.at[a->axis] % a->own + a->own) % a->own;
        *to = *brick_number(a, &p);
    }
}
