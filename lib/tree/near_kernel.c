/* tree/near_kernel: kernels of tree/near_dev: one thread per point, leaf or node. */
#include "tree/near_kernel.h"

#include "dev/kernel.h"

/* Sets i to the element of thread t of n; skips threads without one. */
#define ELEMENT(i, t, n)                                                                           \
    const int64_t i = (int64_t)b->index * DEV_THREADS + (t);                                       \
    if (i >= (n)) continue

/* Orders the memory accesses of a thread around an atomic operation. */
DEV_FN void near_fence(void)
{
#ifdef __CUDACC__
    __threadfence();
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

/* ---- order ---- */

KERNEL(near_keys, struct near_sort_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->n);
        const double x[3] = {a->x[0][i], a->x[1][i], a->x[2][i]};
        a->key[i] = near_key_of(&a->cells, x);
        a->order[i] = (int32_t)i;
    }
}

KERNEL(near_ids, struct near_sort_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->n);
        a->key[i] = (uint64_t)a->id[i] ^ (uint64_t)1 << 63;
        a->order[i] = (int32_t)i;
    }
}

KERNEL(near_again, struct near_sort_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->n);
        const int32_t j = a->order[i];
        const double x[3] = {a->x[0][j], a->x[1][j], a->x[2][j]};
        a->key[i] = near_key_of(&a->cells, x);
    }
}

KERNEL(near_copy, struct near_sort_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->n);
        const int32_t j = a->order[i];
        for (int k = 0; k < 3; k++) a->to[k][i] = a->x[k][j];
    }
}

KERNEL(near_ties, struct near_runs_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->cut.n - 1);
        const uint64_t *key = a->cut.key;
        if (key[i] != key[i + 1] || (i > 0 && key[i - 1] == key[i])) continue;
        int64_t end = i + 2;
        while (end < a->cut.n && end - i <= NEAR_RUN && key[end] == key[i]) end++;
        if (end - i <= NEAR_RUN)
            near_sort_few(a->order + i, end - i, a->id);
        else
            dev_add_i64(&a->counter[NEAR_LONG], 1);
    }
}

/* ---- leaves ---- */

KERNEL(near_mark, struct near_runs_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->cut.n);
        a->mark[i] = near_begins_leaf(&a->cut, i);
    }
}

KERNEL(near_first, struct near_first_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->cut.n + 1);
        if (i == a->cut.n) {
            a->first[a->nleaf] = (int32_t)i;
        } else if (a->mark[i]) {
            a->first[a->index[i]] = (int32_t)i;
            a->key[a->index[i]] = a->cut.key[i];
        }
    }
}

/* ---- nodes ---- */

KERNEL(near_inner, struct near_nodes_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->r.n - 1);
        radix_make_node(&a->r, (int32_t)i);
    }
}

KERNEL(near_count_chain, struct near_nodes_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->r.n);
        a->chain[i] = near_chain(&a->r, (int32_t)i) + 1;
    }
}

KERNEL(near_put, struct near_nodes_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->r.n);
        a->at[i] = a->sum[i + 1] - 1;
        near_place(&a->r, (int32_t)i, a->at[i], a->node, a->where);
    }
}

/* ---- from the leaves upwards ---- */

/* Whether the thread, whose child of inner node p is ready, is the second to arrive there, which
 * then sees what the first one has written. Unlike elsewhere a thread thus reads what others write
 * in the same phase: whichever is the second goes on, with the same result. */
DEV_FN bool near_second(const struct near_up_args *a, int32_t p)
{
    near_fence();
    bool second = dev_add_i32(&a->arrived[p], 1) != 0;
    near_fence();
    return second;
}

KERNEL(near_boxes, struct near_up_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->nleaf);
        near_box_leaf(&a->node[a->at[i]], a->x, a->first[i], a->first[i + 1]);
        for (int32_t p = a->parent[a->nleaf - 1 + i]; p >= 0 && near_second(a, p); p = a->parent[p])
            near_box_join(a->node, a->where[p]);
    }
}

KERNEL(near_reaches, struct near_up_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->nleaf);
        double most = 0;
        for (int32_t k = a->first[i]; k < a->first[i + 1]; k++) {
            double own = a->reach[a->order[k]];
            most = own > most ? own : most;
        }
        a->node[a->at[i]].reach = most;
        for (int32_t p = a->parent[a->nleaf - 1 + i]; p >= 0 && near_second(a, p); p = a->parent[p])
            near_reach_join(a->node, a->where[p]);
    }
}

/* ---- lists ---- */

/* Walks to the leaves of the list of a leaf; to NULL: counts them only. */
DEV_FN int32_t near_walk(const struct near_lists_args *a, int64_t leaf, int32_t *to)
{
    const struct near_node *own = &a->node[a->at[leaf]];
    const struct near_query q = near_query_of(own, a->period, a->slack, own->reach, a->mutual);
    const int32_t nodes = 2 * a->nleaf - 1;
    int32_t count = 0;
    for (int32_t i = 0; i < nodes;) {
        const struct near_node *n = &a->node[i];
        const bool meets = near_meets(&q, n);
        if (meets && n->leaf >= 0) {
            if (to) to[count] = 2 * n->leaf + near_wraps(&q, n);
            count++;
        }
        i = meets ? i + 1 : n->skip;
    }
    return count;
}

struct near_count_shared {
    int64_t total;
};

KERNEL(near_count, struct near_lists_args, struct near_count_shared, DEV_THREADS)
{
    PHASE (t, 1) {
        s->total = 0;
    }
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->nleaf);
        a->count[i] = near_walk(a, i, NULL);
        dev_add_i64(&s->total, a->count[i]);
    }
    PHASE (t, 1) {
        dev_add_i64(&a->counter[NEAR_TOTAL], s->total);
    }
}

KERNEL(near_fill, struct near_lists_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        ELEMENT(i, t, a->nleaf);
        near_walk(a, i, a->leaf + a->begin[i]);
    }
}
