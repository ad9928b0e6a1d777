/* part/kernels: kernels of particles, one thread per particle. Formulas are in cic_kern.h; each
 * thread finds the mesh around its particle by the host and the hash table of the level, whereas
 * the CPU uses blocks of octs (block.h). */
#include "part/kernels.h"
#include "dev/kernel.h"

/* ---- hosts ---- */

KERNEL(parts_rehost, struct parts_rehost_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        double x[3];
        int64_t o[3], q[3];
        lidx h = a->p.host[i];
        position(&a->p, i, x);
        if (!(x[0] >= 0 && x[0] < m->boxlen && x[1] >= 0 && x[1] < m->boxlen && x[2] >= 0 &&
              x[2] < m->boxlen)) {
            if (!part_wrap(m, x)) {
                a->p.host[i] = HOST_LOST;
                dev_add_i32(&a->count[COUNT_AWAY], 1);
                continue;
            }
            for (int d = 0; d < 3; d++) a->p.x[d][i] = x[d];
        }
        okey_coords(m->lev[a->l].key[h], o);
        part_cell(m, a->l - 1, x, q);
        if ((q[0] ^ o[0]) | (q[1] ^ o[1]) | (q[2] ^ o[2]))
            a->p.host[i] = h = part_new_host(m, a->l, h, o, q);
        if (!host_is_own(h, m->lev[a->l].nown)) dev_add_i32(&a->count[COUNT_AWAY], 1);
    }
}

struct disorder_shared {
    int32_t descents, changes;
};

KERNEL(parts_disorder, struct parts_disorder_args, struct disorder_shared, DEV_THREADS)
{
    PHASE (t, 1) {
        s->descents = s->changes = 0;
    }
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 1, a->n);
        if (a->host[i] < a->host[i - 1]) dev_add_i32(&s->descents, 1);
        if (a->host[i] >> a->near != a->host[i - 1] >> a->near) dev_add_i32(&s->changes, 1);
    }
    PHASE (t, 1) {
        dev_add_i32(&a->count[COUNT_DESCENTS], s->descents);
        dev_add_i32(&a->count[COUNT_CHANGES], s->changes);
    }
}

KERNEL(parts_keys, struct parts_keys_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        a->key[i] = (uint64_t)a->host[i];
        a->order[i] = (int32_t)i;
    }
}

KERNEL(parts_gather, struct parts_gather_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        const int64_t j = a->first + a->order[i];
        char *to = a->tmp;
        for (int c = 0; c < a->table.n; c++) {
            const int64_t size = a->table.size[c];
            value_move((int)size, to + size * i, (const char *)a->table.col[c] + size * j);
            to += 8 * part_words(size, a->n);
        }
    }
}

KERNEL(parts_return, struct parts_gather_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        const char *from = a->tmp;
        for (int c = 0; c < a->table.n; c++) {
            const int64_t size = a->table.size[c];
            value_move((int)size, (char *)a->table.col[c] + size * (a->first + i), from + size * i);
            from += 8 * part_words(size, a->n);
        }
    }
}

/* ---- to the finer level and back ---- */

KERNEL(parts_mark, struct parts_mark_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->begin + a->n);
        double x[3];
        int64_t o[3];
        lidx h = a->p.host[i];
        position(&a->p, i, x);
        okey_coords(m->lev[a->l].key[h], o);
        lidx child = part_child(m, a->l, h, o, x);
        a->mark[i - a->begin] = child >= 0;
        if (child < 0) continue;
        a->p.host[i] = ~child;
        if (!host_is_own(child, m->lev[a->l + 1].nown)) dev_add_i32(&a->count[COUNT_AWAY], 1);
    }
}

KERNEL(parts_count, struct parts_count_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        int l = a->mesh->levelmin;
        lidx h = a->p.host[i];
        double x[3];
        position(&a->p, i, x);
        if (!host_is_own(h, a->mesh->lev[l].nown)) continue;
        h = part_finest(a->mesh, &l, h, x);
        dev_add_i32(&a->count[a->first[l] + h], 1);
    }
}

KERNEL(parts_misplaced, struct parts_misplaced_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, 0, a->n);
        const int32_t before = a->index[i];
        if (i < a->middle && a->mark[i])
            a->up[before] = (int32_t)i;
        else if (i >= a->middle && !a->mark[i])
            a->down[(i - a->middle) - (before - a->index[a->middle])] = (int32_t)i;
    }
}

#define SWAP(type, col, i, j)                                                                      \
    do {                                                                                           \
        type swap_ = ((type *)(col))[i];                                                           \
        ((type *)(col))[i] = ((type *)(col))[j];                                                   \
        ((type *)(col))[j] = swap_;                                                                \
    } while (0)

KERNEL(parts_swap, struct parts_swap_args, struct dev_nothing, DEV_THREADS)
{
    const int64_t step = (int64_t)b->count * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        for (int64_t k = (int64_t)b->index * DEV_THREADS + t; k < *a->count; k += step) {
            const int64_t i = a->begin + a->up[k], j = a->begin + a->down[k];
            for (int c = 0; c < a->table.n; c++) {
                void *col = a->table.col[c];
                if (a->table.size[c] == 8)
                    SWAP(uint64_t, col, i, j);
                else if (a->table.size[c] == 4)
                    SWAP(uint32_t, col, i, j);
                else if (a->table.size[c] == 2)
                    SWAP(uint16_t, col, i, j);
                else
                    SWAP(uint8_t, col, i, j);
            }
        }
    }
}

KERNEL(parts_turn, struct parts_turn_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        a->host[i] = ~a->host[i];
    }
}

KERNEL(parts_parent, struct parts_parent_args, struct dev_nothing, DEV_THREADS)
{
    const lidx *parent = a->mesh->lev[a->l].parent;
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        a->host[i] = parent[a->host[i]];
    }
}

/* ---- deposit ---- */

/* Two regions of octs, around the block's first and last particle; deposited one after the other.
 */
struct deposit_shared {
    okey region[2];
    int64_t octs[2][3]; /* coordinates of their first octs */
    lidx slot[PART_SLOTS * PART_SLOTS * PART_SLOTS];
    int64_t mass[PART_CELLS], number[PART_CELLS];
};

/* Part of a cloud in one cell, rounded to quanta. */
PTAH_HD int64_t deposit_part(double weight, double vol)
{
    return (int64_t)llrint(weight * vol);
}

/* Adds a cloud directly to the mesh: existing cells in the 27 octs around the host, at oct
 * coordinates o. */
DEV_FN void deposit_far(const struct parts_deposit_args *a, const int64_t o[3],
                        const int64_t cell[3], const double vol[8], double wm, double wn)
{
    const struct level *lv = &a->mesh->lev[a->l];
    for (int c = 0; c < 8; c++) {
        int64_t at[3];
        okey key;
        int slot = 0;
        bool in = true;
        for (int d = 0; d < 3; d++) {
            /* offset from the first cell of the 27 octs: 0..5 */
            int64_t x = (cell[d] + (c >> d & 1) - 2 * o[d] + 2) & cloud_wrap(a->mesh, a->l, d);
            in &= (uint64_t)x < 6;
            at[d] = o[d] + (x >> 1) - 1;
            slot |= (int)(x & 1) << d;
        }
        if (!in || !level_key_at(a->mesh->bounded, a->l, at, &key)) continue;
        int64_t oct = level_find(lv, key), mass = deposit_part(wm, vol[c]);
        if (oct < 0) continue;
        if (mass) dev_add_i64(&a->mass[8 * oct + slot], mass);
        if (a->number) dev_add_i64(&a->number[8 * oct + slot], deposit_part(wn, vol[c]));
    }
}

/* Position in the patch of a region of the first cell of a cloud with its host at o; −1: the cloud
 * is outside of the host's 4³ cells. */
PTAH_HD int patch_place(const struct parts_deposit_args *a, const int64_t first[3],
                        const int64_t o[3], const int64_t cell[3])
{
    int at = 0;
    for (int d = 2; d >= 0; d--) {
        int64_t x = (cell[d] - 2 * o[d] + 1) & cloud_wrap(a->mesh, a->l, d);
        if ((uint64_t)x >= 3) return -1;
        at = PART_SIDE * at + (int)(2 * (o[d] - first[d]) + x);
    }
    return at;
}

/* Deposits particle i in pass k if it is in region k; strays are deposited in the first pass. */
DEV_FN void deposit_one(const struct parts_deposit_args *a, struct deposit_shared *s, int k,
                        int64_t i)
{
    double x[3], w[3], vol[8], wm, wn;
    int64_t o[3], cell[3];
    okey key = a->mesh->lev[a->l].key[a->p.host[i]], region = key >> 3 * a->depth;
    if (region != s->region[k] && (k == 1 || region == s->region[1])) return;
    okey_coords(key, o);
    position(&a->p, i, x);
    cloud_at(a->mesh, a->l, x, cell, w);
    cloud_volumes(w, vol);
    deposit_weights(&a->rule, a->p.family[i], a->p.m[i], &wm, &wn);
    int at = region == s->region[k] ? patch_place(a, s->octs[k], o, cell) : -1;
    if (at < 0) {
        deposit_far(a, o, cell, vol, wm, wn);
        return;
    }
    for (int c = 0; c < 8; c++) {
        int to = at + (c & 1) + PART_SIDE * ((c >> 1 & 1) + PART_SIDE * (c >> 2));
        dev_add_i64(&s->mass[to], deposit_part(wm, vol[c]));
        if (a->number) dev_add_i64(&s->number[to], deposit_part(wn, vol[c]));
    }
}

/* Adds cell t of the patch to the mesh. */
DEV_FN void deposit_flush(const struct parts_deposit_args *a, const struct deposit_shared *s, int t)
{
    int x = t % PART_SIDE, y = t / PART_SIDE % PART_SIDE, z = t / (PART_SIDE * PART_SIDE);
    if (s->mass[t] == 0 && s->number[t] == 0) return;
    int64_t oct = s->slot[(x + 1) / 2 + PART_SLOTS * ((y + 1) / 2 + PART_SLOTS * ((z + 1) / 2))];
    int slot = ((x + 1) & 1) | ((y + 1) & 1) << 1 | ((z + 1) & 1) << 2;
    if (oct < 0) return;
    if (s->mass[t]) dev_add_i64(&a->mass[8 * oct + slot], s->mass[t]);
    if (s->number[t]) dev_add_i64(&a->number[8 * oct + slot], s->number[t]);
}

/* Oct t of the patch. */
DEV_FN lidx deposit_slot(const struct parts_deposit_args *a, const int64_t first[3], int t)
{
    int64_t at[3] = {first[0] + t % PART_SLOTS - 1, first[1] + t / PART_SLOTS % PART_SLOTS - 1,
                     first[2] + t / (PART_SLOTS * PART_SLOTS) - 1};
    okey key;
    if (!level_key_at(a->mesh->bounded, a->l, at, &key)) return -1;
    return level_find(&a->mesh->lev[a->l], key);
}

KERNEL(parts_deposit, struct parts_deposit_args, struct deposit_shared, DEV_THREADS)
{
    const int64_t begin = a->begin + (int64_t)b->index * PART_PER_BLOCK,
                  end = begin + PART_PER_BLOCK < a->end ? begin + PART_PER_BLOCK : a->end;
    PHASE (t, 2) {
        s->region[t] = a->mesh->lev[a->l].key[a->p.host[t ? end - 1 : begin]] >> 3 * a->depth;
        okey_coords(s->region[t] << 3 * a->depth, s->octs[t]);
    }
    const int turns = s->region[0] == s->region[1] ? 1 : 2;
    for (int k = 0; k < turns; k++) {
        PHASE (t, PART_CELLS) {
            s->mass[t] = s->number[t] = 0;
        }
        PHASE (t, PART_SLOTS * PART_SLOTS * PART_SLOTS) {
            s->slot[t] = deposit_slot(a, s->octs[k], t);
        }
        PHASE (t, PART_PER_BLOCK) {
            if (begin + t < end) deposit_one(a, s, k, begin + t);
        }
        PHASE (t, PART_CELLS) {
            deposit_flush(a, s, t);
        }
    }
}

/* ---- kick and drift ---- */

/* Offset in octs, along one axis, of a cell r cells after the one before the host. */
PTAH_HD int along_oct(int r)
{
    return ((r + 1) >> 1) - 1; /* −1, 0, 1 */
}

/* Finds the cells of the cloud at x on level l from oct o, as 8 × oct + cell. `flip`: bit 2 d + c
 * marks cells beyond a mirror, whose normal component changes sign. False: some cell is outside of
 * the 4³ cells in and next to o, or does not exist. */
PTAH_HD bool cloud_cells(const struct mesh *m, int l, lidx oct, int reflect, const double x[3],
                         int64_t at[8], double w[3], int *flip)
{
    const struct level *lv = &m->lev[l];
    int64_t o[3], cell[3], n = (int64_t)1 << l;
    int r[3][2];
    *flip = 0;
    okey_coords(lv->key[oct], o);
    cloud_at(m, l, x, cell, w);
    for (int d = 0; d < 3; d++) {
        int64_t first = (cell[d] - 2 * o[d] + 1) & cloud_wrap(m, l, d);
        if ((uint64_t)first >= 3) return false;
        for (int c = 0; c < 2; c++) {
            int64_t q = 2 * o[d] - 1 + first + c;
            r[d][c] = (int)first + c;
            /* beyond a boundary the cell before it counts */
            bool low = q < 0 && m->bounded[2 * d], high = q >= n && m->bounded[2 * d + 1];
            if (low) r[d][c] = 1;
            if (high) r[d][c] = 2;
            if ((low && reflect >> (2 * d) & 1) || (high && reflect >> (2 * d + 1) & 1))
                *flip |= 1 << (2 * d + c);
        }
    }
    for (int c = 0; c < 8; c++) {
        const int rx = r[0][c & 1], ry = r[1][c >> 1 & 1], rz = r[2][c >> 2];
        const int ox = along_oct(rx), oy = along_oct(ry), oz = along_oct(rz);
        int64_t near = oct;
        if (ox | oy | oz) {
            okey key;
            const int64_t to[3] = {o[0] + ox, o[1] + oy, o[2] + oz};
            near = level_key_at(m->bounded, l, to, &key) ? level_find(lv, key) : -1;
        }
        if (near < 0) return false;
        at[c] = 8 * near + (((rx + 1) & 1) | ((ry + 1) & 1) << 1 | ((rz + 1) & 1) << 2);
    }
    return true;
}

/* Force at x from the finest oct among the host and its ancestors in and around which the whole
 * cloud exists; components along missing axes do not change. */
PTAH_HD void force_at(const struct mesh *m, int l, lidx host, int reflect, const double x[3],
                      double force[3])
{
    int64_t at[8];
    double w[3], vol[8];
    int flip;
    while (l >= 1 && !cloud_cells(m, l, host, reflect, x, at, w, &flip))
        host = m->lev[l--].parent[host];
    if (l < 1) {
        force[0] = force[1] = force[2] = NAN;
        return;
    }
    cloud_volumes(w, vol);
    for (int d = 0; d < m->ndim; d++) {
        const double *fld = &level_force(&m->lev[l], d)[0][0];
        double f[8];
        for (int c = 0; c < 8; c++)
            f[c] = flip >> (2 * d + (c >> d & 1)) & 1 ? -fld[at[c]] : fld[at[c]];
        force[d] = CLOUD_SUM(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], vol);
    }
}

KERNEL(parts_kick, struct parts_kick_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        double x[3], f[3] = {0, 0, 0};
        position(&a->p, i, x);
        const double dt = part_kick_dt(a->p.levelp[i], a->l, a->dtnew, a->dtold);
        a->p.levelp[i] = a->l;
        if (a->tracers && !family_goes(a->p.family[i], a->frozen)) continue;
        if (a->gravity) force_at(a->mesh, a->l, a->p.host[i], a->reflect, x, f);
        for (int d = 0; d < 3; d++)
            a->p.v[d][i] = a->is_static ? f[d] : part_kicked(a->p.v[d][i], f[d], dt);
    }
}

KERNEL(parts_move, struct parts_move_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        PARTICLE(i, t, a->begin, a->end);
        double x[3], f[3] = {0, 0, 0};
        if (a->tracers && !family_goes(a->p.family[i], a->frozen)) continue;
        position(&a->p, i, x);
        if (a->gravity) force_at(a->mesh, a->l, a->p.host[i], a->reflect, x, f);
        for (int d = 0; d < 3; d++) {
            const double v = a->is_static ? f[d] : part_kicked(a->p.v[d][i], f[d], a->dt);
            a->p.v[d][i] = v;
            if (!a->is_static) a->p.x[d][i] = x[d] + v * a->dt;
        }
    }
}

/* ---- sums ---- */

struct fastest_shared {
    double top[DEV_THREADS];
};

KERNEL(parts_fastest, struct parts_fastest_args, struct fastest_shared, DEV_THREADS)
{
    const int64_t step = (int64_t)b->count * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        double top = 0;
        for (int64_t i = a->begin + (int64_t)b->index * DEV_THREADS + t; i < a->end; i += step) {
            const double v = part_fastest(a->p.v[0][i], a->p.v[1][i], a->p.v[2][i]);
            if (a->tracers && !family_has_mass(a->p.family[i])) continue;
            top = top > v ? top : v;
        }
        s->top[t] = top;
    }
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            s->top[t] = s->top[t] > s->top[t + half] ? s->top[t] : s->top[t + half];
        }
    PHASE (t, 1) {
        a->out[b->index] = s->top[0];
    }
}

struct sums_shared {
    struct dev_term term[4][DEV_THREADS];
    struct dev_sum sum[4];
    struct dev_sum_parts part;
};

/* Terms of the sums for particle i; tracers do not gravitate. */
PTAH_HD void sums_terms(const struct parts_sums_args *a, int64_t i, double x[4])
{
    const double m = family_has_mass(a->p.family[i]) ? a->p.m[i] : 0;
    x[0] = a->moments ? m : part_energy(m, a->p.v[0][i], a->p.v[1][i], a->p.v[2][i]);
    for (int d = 0; d < 3; d++) x[1 + d] = m * a->p.x[d][i];
}

KERNEL(parts_sums, struct parts_sums_args, struct sums_shared, DEV_THREADS)
{
    const int64_t step = (int64_t)b->count * DEV_THREADS;
    const int sums = a->moments ? 4 : 1;
    for (int j = 0; j < sums; j++) dev_sum_clear(&s->sum[j], b);
    for (int64_t first = a->begin + (int64_t)b->index * DEV_THREADS; first < a->end;
         first += step) {
        const int n = a->end - first < DEV_THREADS ? (int)(a->end - first) : DEV_THREADS;
        PHASE (t, n) {
            double x[4];
            sums_terms(a, first + t, x);
            for (int j = 0; j < 4; j++)
                if (j < sums) dev_term_of(&s->sum[j], &s->term[j][t], x[j]);
        }
        for (int j = 0; j < sums; j++) dev_sum_add(&s->sum[j], &s->part, s->term[j], n, b);
    }
    for (int j = 0; j < sums; j++) dev_sum_flush(a->digit + j * DEV_SUM, &s->sum[j], b);
}
