/* part/migrate_kernel: kernels of particles that change ranks (migrate_dev.c), one thread per
 * particle. */
#include "dev/kernel.h"
#include "part/kernels.h"

KERNEL(parts_away, struct parts_away_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        a->mark[i] = !host_is_own(a->host[i], a->nown);
    }
}

KERNEL(parts_pack, struct parts_pack_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->begin + a->n);
        if (!a->mark[i - a->begin]) continue;
        const int32_t j = a->index[i - a->begin], host = a->p.host[i];
        char *to = (char *)a->table.packet + (int64_t)a->table.bytes * j;
        okey key = part_nowhere();
        if (host >= 0) key = m->lev[a->l].key[host];
        if (host == HOST_AWAY) {
            double x[3];
            int64_t q[3];
            position(&a->p, i, x);
            part_cell(m, a->l - 1, x, q);
            key = okey_make((uint64_t)q[0], (uint64_t)q[1], (uint64_t)q[2]);
        }
        *(okey *)(void *)to = key;
        a->slot[j] = (int32_t)i;
        for (int c = 0; c < a->table.n; c++)
            value_move(a->table.size[c], to + a->table.at[c],
                       (const char *)a->table.col[c] + a->table.size[c] * i);
    }
}

KERNEL(parts_unpack, struct parts_unpack_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        PARTICLE(j, t, 0, a->n);
        const char *from = (const char *)a->table.packet + a->table.bytes * j;
        const int64_t i = j < a->left ? a->slot[j] : a->end + (j - a->left);
        const lidx host = level_find(lv, *(const okey *)(const void *)from);
        if (!host_is_own(host, lv->nown)) dev_add_i32(&a->count[COUNT_AWAY], 1);
        a->host[i] = host;
        for (int c = 0; c < a->table.n; c++)
            value_move(a->table.size[c], (char *)a->table.col[c] + a->table.size[c] * i,
                       from + a->table.at[c]);
    }
}

/* Number of elements of the ascending list at[0..n-1] below i. */
PTAH_HD int32_t count_below(const int32_t *at, int32_t n, int64_t i)
{
    int32_t low = 0, high = n;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (at[mid] < i)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

KERNEL(parts_close, struct parts_close_args, struct dev_nothing, DEV_THREADS)
{
    /* at most as many particles from `middle` on as gaps before */
    const int64_t middle = a->end - a->n;
    const int32_t n = (int32_t)a->n;
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, middle, a->end);
        const int32_t gaps = count_below(a->gap, n, i);
        if (gaps < n && a->gap[gaps] == i) continue;
        const int64_t to = a->gap[i - middle - (gaps - count_below(a->gap, n, middle))];
        for (int c = 0; c < a->table.n; c++) {
            char *col = (char *)a->table.col[c];
            value_move(a->table.size[c], col + a->table.size[c] * to, col + a->table.size[c] * i);
        }
    }
}

/* ---- few particles to and from the host ---- */

KERNEL(parts_take, struct parts_few_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        char *tmp = a->tmp;
        for (int c = 0; c < a->table.n; c++) {
            const int size = a->table.size[c];
            value_move(size, tmp + size * i, (const char *)a->table.col[c] + size * a->at[i]);
            tmp += 8 * part_words(size, a->n);
        }
    }
}

KERNEL(parts_give, struct parts_few_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        const char *tmp = a->tmp;
        for (int c = 0; c < a->table.n; c++) {
            const int size = a->table.size[c];
            value_move(size, (char *)a->table.col[c] + size * a->at[i], tmp + size * i);
            tmp += 8 * part_words(size, a->n);
        }
    }
}

KERNEL(parts_born, struct parts_born_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        if (a->family[i] == a->of && a->tag[i] != a->other && a->birth[i] > a->first &&
            a->birth[i] <= a->last)
            a->list[dev_add_i32(a->count, 1)] = (int32_t)i;
    }
}

struct ids_shared {
    int64_t max[DEV_THREADS];
};

KERNEL(parts_ids, struct parts_ids_args, struct ids_shared, DEV_THREADS)
{
    const int64_t step = (int64_t)b->count * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        int64_t max = 0;
        for (int64_t i = (int64_t)b->index * DEV_THREADS + t; i < a->n; i += step)
            if (a->id[i] > max) max = a->id[i];
        s->max[t] = max;
    }
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            if (s->max[t + half] > s->max[t]) s->max[t] = s->max[t + half];
        }
    PHASE (t, 1) {
        a->out[b->index] = s->max[0];
    }
}
