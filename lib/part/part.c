/* part: storage of particles, and their moves between levels.
 *
 * Every particle of a level is tied to an oct (host), so the mesh side (block.c) never searches.
 * part_enter compares the integer coordinates of a particle's oct with the coordinates of its host
 * and looks up the few that differ; part_hand_down reads the child of the host's cell. Both then
 * send the particles whose host is a ghost to other ranks.
 *
 * Order in memory: [level l | level l+1 | …]. Since the pieces stay in place when levels merge, a
 * step only has to swap the particles that changed level (Hoare's partition), and a piece is sorted
 * again (sort.c) only when enough of it is out of order. */
#include "part/part.h"

#include <string.h>

#include "base/mem.h"
#include "oct/bits.h"
#include "part/block.h"
#include "part/priv.h"
#include "part/sort.h"

void part_init(struct parts *p)
{
    _Static_assert(offsetof(struct parts, v) == offsetof(struct parts, col[COL_VX]) &&
                       offsetof(struct parts, m) == offsetof(struct parts, col[COL_MASS]) &&
                       offsetof(struct parts, metal) == offsetof(struct parts, col[COL_METAL]),
                   "members and numbers of columns agree");
    memset(p, 0, sizeof *p);
    p->block_depth = BLOCK_DEPTH_MAX;
    part_columns_init(&p->columns);
}

void part_fini(struct parts *p)
{
    for (int c = 0; c < COL_MAX; c++) FREE(p->col[c]);
    part_scratch_free(p);
    FREE(p->host);
    memset(p, 0, sizeof *p);
}

/* ---- columns ---- */

static size_t column_size(const struct parts *p, int c)
{
    return (size_t)part_type_size(part_column(&p->columns, c)->type);
}

void part_want(struct parts *p, int c)
{
    size_t size = column_size(p, c);
    BUG_ON(c >= p->columns.n);
    p->columns.has[c] = true;
    for (int k = 0; k < p->nmore; k++)
        if (p->more[k].column == c) return;
    if (part_column(&p->columns, c)->when == WHEN_ALWAYS) return;
    int at = (part_more_end(p) + (int)size - 1) / (int)size * (int)size;
    p->more[p->nmore].column = c;
    p->more[p->nmore].size = (int)size;
    p->more[p->nmore++].at = at;
    if (p->cap) p->col[c] = mem_zero(size * (size_t)p->cap, "particles");
}

void part_want_all(struct parts *p, enum part_when when)
{
    for (int c = 0; c < COL_COUNT; c++)
        if (part_column(&p->columns, c)->when == when) part_want(p, c);
}

int part_add(struct parts *p, const char *name, char type)
{
    int c = part_column_add(&p->columns, name, type);
    if (c >= 0) part_want(p, c);
    return c;
}

size_t part_bytes(const struct part_columns *columns)
{
    size_t n = sizeof(lidx) + PART_SCRATCH_BYTES;
    for (int c = 0; c < columns->n; c++)
        if (columns->has[c]) n += (size_t)part_type_size(part_column(columns, c)->type);
    return n + n / 32; /* same margin as in part_reserve */
}

static void part_resize(struct parts *p, int64_t cap)
{
    for (int c = 0; c < p->columns.n; c++)
        if (p->columns.has[c])
            p->col[c] = mem_grow(p->col[c], column_size(p, c) * (size_t)cap, "particles");
    p->host = mem_grow(p->host, sizeof *p->host * (size_t)cap, "particles");
    p->cap = cap;
}

void part_reserve(struct parts *p, int64_t n)
{
    if (n > p->cap) part_resize(p, p->cap == 0 ? n : n + n / 32);
}

void part_trim(struct parts *p)
{
    if (p->cap - p->n > p->n / 16) part_resize(p, p->n + p->n / 32);
    if (p->scratch_cap <= p->n + p->n / 16) return;
    part_scratch_free(p);
    part_scratch_reserve(p, p->n); /* scratch for all particles, as on every rank */
}

int64_t part_append(struct parts *p, int64_t n)
{
    int64_t first = p->n;
    part_reserve(p, first + n);
    for (int k = 0; k < p->nmore; k++) {
        size_t size = (size_t)p->more[k].size;
        memset((char *)p->col[p->more[k].column] + size * (size_t)first, 0, size * (size_t)n);
    }
    p->n += n;
    return first;
}

/* ---- one particle ---- */

static void particle_copy(struct parts *p, int64_t to, int64_t from)
{
    for (int d = 0; d < 3; d++) {
        p->x[d][to] = p->x[d][from];
        p->v[d][to] = p->v[d][from];
    }
#define COLUMN(symbol, member, ...) p->member[to] = p->member[from];
#include "part/columns.def"
    p->host[to] = p->host[from];
    for (int k = 0; k < p->nmore; k++)
        part_value_copy(p->more[k].size, part_value_at(p, k, to), part_value_at(p, k, from));
}

int64_t part_insert(struct parts *p, int l, int64_t n)
{
    int64_t end = part_append(p, n);
    part_forget(p, l + 1);
    for (int k = LEVEL_MAX + 2; k > l; k--) {
        int64_t begin = p->first[k], few = end - begin < n ? end - begin : n;
        for (int64_t i = 0; i < few; i++) particle_copy(p, end + n - few + i, begin + i);
        p->first[k] += n;
        p->run[k] = p->run[k] + n < p->n ? p->run[k] + n : p->n;
        end = begin;
    }
    for (int k = 0; k < p->nmore; k++) {
        size_t size = (size_t)p->more[k].size;
        memset((char *)p->col[p->more[k].column] + size * (size_t)end, 0, size * (size_t)n);
    }
    return end;
}

void part_gaps_close(struct parts *p, int64_t n, const int64_t *at)
{
    for (int64_t j = 0; j < n;) {
        p->n--;
        if (at[n - 1] == p->n)
            n--; /* the last particle is itself a gap */
        else
            particle_copy(p, at[j++], p->n);
    }
}

/* ---- start of a level's step ---- */

/* New host of a particle that has left its oct h, as part_new_host, faster in the common case that
 * it crossed one face. */
static inline lidx new_host(const struct mesh *m, int l, lidx h, const int64_t o[3],
                            const int64_t q[3])
{
    int64_t n = (int64_t)1 << (l - 1);
    int face = -1, off = 0;
    for (int d = 0; d < 3; d++) {
        int64_t s = (q[d] - o[d] + 1) & (n - 1); /* 0, 1, 2: before, in, after the host along d */
        if (s == 1) continue;
        off++;
        face = s == 0 ? 2 * d : s == 2 ? 2 * d + 1 : -1;
    }
    if (off == 1 && face >= 0 && n > 2 && m->lev[l].nbr[h][face] >= 0)
        return m->lev[l].nbr[h][face];
    return part_new_host(m, l, h, o, q);
}

/* Cells of level l of up to SOME particles, and whether each is out of the box. */
enum { SOME = 256 };
#ifdef PTAH_MORTON128
typedef int64_t cell_number;
#else
typedef int32_t cell_number;
_Static_assert(LEVEL_MAX < 31, "cells of a level are numbered by int32_t");
#endif
struct places {
    cell_number cell[3][SOME];
    int32_t out[SOME];
};

static void places_find(struct places *at, const struct parts *p, const struct mesh *m, int l,
                        int64_t begin, int n)
{
    const double scale = (double)((int64_t)1 << l) * m->per_boxlen, box = m->boxlen;
    memset(at->out, 0, sizeof at->out);
    for (int d = 0; d < 3; d++) {
        const double *restrict x = p->x[d] + begin;
        cell_number *restrict cell = at->cell[d];
        int32_t *restrict out = at->out;
#pragma omp simd
        for (int k = 0; k < n; k++) {
            cell[k] = (cell_number)(scale > 0 ? x[k] * scale : mesh_cells(m, l, x[k]));
            out[k] |= !((x[k] >= 0) & (x[k] < box));
        }
    }
}

/* Key of a place among all cells of its level: that of its oct, and three bits. */
static inline okey place_key(const struct places *at, int k)
{
    return okey_make((uint64_t)at->cell[0][k], (uint64_t)at->cell[1][k], (uint64_t)at->cell[2][k]);
}

/* An oct and its coordinates: consecutive particles are mostly in the same one. */
struct host_oct {
    lidx oct;
    int64_t at[3];
};

/* Wraps particle i, and finds its host. */
static inline __attribute__((always_inline)) void rehost(struct parts *p, const struct mesh *m,
                                                         int l, int64_t i, struct host_oct *last)
{
    const int64_t *o = last->at;
    int64_t q[3];
    double x[3];
    bool in = true;
    for (int d = 0; d < 3; d++) {
        x[d] = p->x[d][i];
        in &= x[d] >= 0 && x[d] < m->boxlen;
    }
    if (!in) {
        if (!part_wrap(m, x)) {
            p->host[i] = HOST_LOST;
            return;
        }
        for (int d = 0; d < 3; d++) p->x[d][i] = x[d];
    }
    const lidx h = p->host[i];
    if (h != last->oct) okey_coords(m->lev[l].key[h], last->at);
    last->oct = h;
    part_cell(m, l - 1, x, q);
    if ((q[0] ^ o[0]) | (q[1] ^ o[1]) | (q[2] ^ o[2])) p->host[i] = new_host(m, l, h, o, q);
}

/* Whether a tracer that has jumped is still in its host, since it is in the box and in no other oct
 * than that or one beside it: then one bit for each axis says so. */
static inline bool still_in(const struct parts *p, const struct mesh *m, int l, int64_t i)
{
    unsigned off = (unsigned)m->lev[l].key[p->host[i]];
    for (int d = 0; d < m->ndim; d++) {
        const double x = p->x[d][i];
        if (!(x >= 0 && x < m->boxlen)) return false;
        off ^= ((unsigned)mesh_cells(m, l - 1, x) & 1) << d;
    }
    return (off & ((1u << m->ndim) - 1)) == 0;
}

/* Finds the hosts of up to SOME particles: of those that are in another oct than their host. */
static void rehost_some(struct parts *p, const struct mesh *m, int l, int64_t begin, int n,
                        struct host_oct *last)
{
    const okey *key = m->lev[l].key;
    const lidx *host = p->host + begin;
    struct places at;
    int left[SOME], nleft = 0;
    places_find(&at, p, m, l - 1, begin, n);
    for (int k = 0; k < n; k++) {
        left[nleft] = k;
        nleft += at.out[k] | (place_key(&at, k) != key[host[k]]);
    }
    for (int j = 0; j < nleft; j++) rehost(p, m, l, begin + left[j], last);
}

static void rehost_block(struct parts *p, const struct mesh *m, int l, int64_t begin, int64_t end)
{
    struct host_oct last = {.oct = -1};
    unsigned char may[PART_CHUNK];
    int some[PART_CHUNK]; /* particles that may have left their host */
    const int n = (int)(end - begin);
    if (!p->jumps) {
        for (int64_t i = begin; i < end; i += SOME)
            rehost_some(p, m, l, i, end - i < SOME ? (int)(end - i) : SOME, &last);
        return;
    }
    const int8_t *restrict family = p->family + begin;
    const int32_t *restrict partner = p->partner + begin;
#pragma omp simd
    for (int k = 0; k < n; k++)
        may[k] = (family[k] != FAM_GAS_TRACER) | !!(partner[k] & PART_JUMPED);
    const int leaves = bits_list(may, n, some);
    for (int k = 0; k < leaves; k++) {
        const int64_t i = begin + some[k];
        if (!part_jumps(p, i) || !still_in(p, m, l, i)) rehost(p, m, l, i, &last);
    }
}

void part_runs_tidy(struct parts *p, const struct mesh *m, int l)
{
    for (int k = l + 1; k < LEVEL_MAX + 3; k++) {
        int64_t low = k == l + 1 ? p->first[l] : p->run[k - 1];
        if (k > m->levelmax || m->lev[k].noct == 0 || p->run[k] > p->n) p->run[k] = p->n;
        if (p->run[k] < low) p->run[k] = low;
        p->first[k] = p->n;
    }
}

void part_remove(struct parts *p, const struct mesh *m, int l, int64_t n, const int64_t *at)
{
    BUG_ON(p->first[l + 1] != p->n);
    part_forget(p, l);
    if (n > 0) part_gaps_close(p, n, at);
    part_runs_tidy(p, m, l);
}

void part_enter(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d,
                int l)
{
    part_forget(p, l);
#pragma omp parallel for schedule(static)
    for (int64_t b = p->first[l]; b < p->n; b += PART_CHUNK)
        rehost_block(p, m, l, b, b + PART_CHUNK < p->n ? b + PART_CHUNK : p->n);
    part_migrate(p, m, c, d, l, p->first[l]);
    part_runs_tidy(p, m, l);
    part_sort(p, p->first[l], p->run[l + 1]);
}

/* ---- to the finer level ---- */

void part_cells(const struct parts *p, const struct mesh *m, int l, int64_t begin, int n, int *cell)
{
    const double width = m->boxlen / (double)((int64_t)1 << l);
    memset(cell, 0, sizeof *cell * (size_t)n);
    for (int d = 0; d < m->ndim; d++) {
        const double *restrict x = p->x[d] + begin;
#pragma omp simd
        for (int k = 0; k < n; k++)
            cell[k] |= (int)((cell_number)(x[k] / width) & 1) << d; /* as mesh_cells */
    }
}

/* Lists those of n particles that may be in a finer level than l where tracers in leaf cells are
 * not. */
static int part_may_descend(const struct parts *p, int l, int64_t begin, int n, int *some)
{
    const int8_t *restrict family = p->family + begin;
    const int32_t *restrict levelp = p->levelp + begin;
    unsigned char may[PART_CHUNK];
#pragma omp simd
    for (int k = 0; k < n; k++) may[k] = (family[k] != FAM_GAS_TRACER) | (levelp[k] > l);
    return bits_list(may, n, some);
}

/* Marks up to SOME particles, as mark_block. */
static int64_t mark_some(struct parts *p, const struct mesh *m, int l, int64_t begin, int n)
{
    const struct level *lv = &m->lev[l];
    const okey *key = lv->key;
    const lidx(*children)[8] = (const lidx(*)[8])lv->child;
    lidx *restrict host = p->host + begin;
    struct places at;
    int64_t down = 0;
    places_find(&at, p, m, l, begin, n);
    for (int k = 0; k < n; k++) {
        const lidx h = host[k];
        const okey cell = place_key(&at, k);
        const lidx child = children[h][(int)(cell & 7)];
        const bool in = (child >= 0) & (cell >> 3 == key[h]) & !at.out[k];
        host[k] = in ? ~child : h;
        down += in;
    }
    return down;
}

/* Marks particles in refined cells: host := ~child. A particle outside its host has left the level
 * and stays. */
static int64_t mark_block(struct parts *p, const struct mesh *m, int l, int64_t begin, int64_t end)
{
    const struct level *lv = &m->lev[l];
    lidx last = -1;
    int64_t o[3] = {0}, n = 0;
    const lidx(*children)[8] = (const lidx(*)[8])lv->child;
    const int8_t *restrict family = p->family + begin;
    lidx *restrict host = p->host + begin;
    int some[PART_CHUNK], cell[PART_CHUNK]; /* cell: from that of the first of them on */
    if (!p->settled) {
        for (int64_t i = begin; i < end; i += SOME)
            n += mark_some(p, m, l, i, end - i < SOME ? (int)(end - i) : SOME);
        return n;
    }
    const int may = part_may_descend(p, l, begin, (int)(end - begin), some);
    if (may) part_cells(p, m, l, begin + some[0], some[may - 1] - some[0] + 1, cell);
    for (int k = 0; k < may; k++) {
        const int at = some[k];
        const int64_t i = begin + at;
        const lidx h = host[at];
        lidx child;
        if (family[at] == FAM_GAS_TRACER) {
            child = children[h][cell[at - some[0]]];
        } else {
            if (h != last) okey_coords(lv->key[h], o);
            last = h;
            child = part_child(m, l, h, o, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]});
        }
        host[at] = child < 0 ? h : ~child;
        n += child >= 0;
    }
    return n;
}

/* Moves marked particles after the others, from `middle` on. */
static void partition(struct parts *p, int64_t begin, int64_t middle)
{
    part_reserve(p, p->n + 1); /* one slot for swaps */
    for (int64_t i = begin, j = middle; i < middle; i++) {
        if (p->host[i] >= 0) continue;
        while (p->host[j] < 0) j++;
        particle_copy(p, p->n, i);
        particle_copy(p, i, j);
        particle_copy(p, j, p->n);
    }
}

void part_hand_down(struct parts *p, const struct mesh *m, const struct comm *c,
                    const struct domain *d, int l)
{
    int64_t begin = p->first[l], down = 0;
    part_forget(p, l);
    if (l < m->levelmax && m->lev[l + 1].noct > 0) {
#pragma omp parallel for schedule(static) reduction(+ : down)
        for (int64_t b = begin; b < p->n; b += PART_CHUNK)
            down += mark_block(p, m, l, b, b + PART_CHUNK < p->n ? b + PART_CHUNK : p->n);
    }
    int64_t middle = p->n - down;
    if (down) partition(p, begin, middle);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = middle; i < p->n; i++) p->host[i] = ~p->host[i];
    p->run[l + 1] = middle;
    if (l < m->levelmax) part_migrate(p, m, c, d, l + 1, middle);
    p->first[l + 1] = middle;
    part_runs_tidy(p, m, l + 1);
}

/* Exchanges two particles, and the force that is kept for them. */
static void particles_swap(struct parts *p, int64_t i, int64_t j)
{
    particle_copy(p, p->n, i);
    particle_copy(p, i, j);
    particle_copy(p, j, p->n);
    for (int d = 0; d < 3 && p->scratch_cap > j; d++) {
        double *f = p->scratch[d], was = f[i];
        f[i] = f[j];
        f[j] = was;
    }
}

void part_promote(struct parts *p, int l)
{
    const int64_t begin = p->first[l], end = p->first[l + 1];
    int64_t n = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : n)
    for (int64_t i = begin; i < end; i++) n += p->host[i] < 0;
    if (n == 0) return;
    const int64_t middle = end - n;
    part_reserve(p, p->n + 1); /* one slot for swaps */
    for (int64_t i = begin, j = middle; i < middle; i++) {
        if (p->host[i] >= 0) continue;
        while (p->host[j] < 0) j++;
        particles_swap(p, i, j);
    }
    for (int64_t i = middle; i < end; i++) p->host[i] = ~p->host[i];
    p->first[l + 1] = middle;
    p->retained[l] = p->retained[l] < middle ? p->retained[l] : middle;
}

void part_merge(struct parts *p, const struct mesh *m, int l)
{
    int64_t begin = p->first[l + 1];
    const lidx *parent = m->lev[l + 1].parent;
    part_forget(p, l + 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = begin; i < p->n; i++) p->host[i] = parent[p->host[i]];
    for (int k = l + 1; k < LEVEL_MAX + 3; k++) p->first[k] = p->n;
}

/* ---- sums ---- */

double part_alike(const struct parts *p, int64_t begin, int64_t end)
{
    const double m = begin < end ? p->m[begin] : 0;
    const int8_t dm = FAM_DM;
    int64_t differ = 0;
#pragma omp parallel for schedule(static) reduction(+ : differ)
    for (int64_t b = begin; b < end; b += PART_CHUNK) {
        const int64_t stop = end - b < PART_CHUNK ? end : b + PART_CHUNK;
        int64_t mass = 0;
        int family = 0;
#pragma omp simd reduction(+ : mass)
        for (int64_t i = b; i < stop; i++) mass += p->m[i] != m;
#pragma omp simd reduction(| : family)
        for (int64_t i = b; i < stop; i++) family |= p->family[i] ^ dm;
        differ += mass + (family != 0);
    }
    return differ ? 0 : m;
}

/* Maximum over the particles that have mass, among tracers. */
static double vmax_among(const struct parts *p, int l)
{
    const int64_t end = p->first[l + 1];
    double top = 0;
#pragma omp parallel for schedule(static) reduction(max : top)
    for (int64_t b = p->first[l]; b < end; b += PART_CHUNK) {
        const int64_t n = end - b < PART_CHUNK ? end - b : PART_CHUNK;
        if (!part_any_mass(p, b, n)) continue;
#pragma omp simd reduction(max : top)
        for (int64_t i = b; i < b + n; i++) {
            double a = part_fastest(p->v[0][i], p->v[1][i], p->v[2][i]);
            a = family_has_mass(p->family[i]) ? a : 0;
            top = top > a ? top : a;
        }
    }
    return top;
}

double part_vmax(const struct parts *p, int l)
{
    double top = 0;
    if (p->tracers) return vmax_among(p, l);
#pragma omp parallel for simd schedule(static) reduction(max : top)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++) {
        double a = part_fastest(p->v[0][i], p->v[1][i], p->v[2][i]);
        top = top > a ? top : a;
    }
    return top;
}

void part_kinetic(const struct parts *p, int l, struct sum *ekin)
{
    enum { KINETIC = 1024 };
    int64_t begin = p->first[l], end = p->first[l + 1];
#pragma omp parallel
    {
        struct sum mine;
        double e[KINETIC];
        sum_init(&mine);
#pragma omp for schedule(static)
        for (int64_t b = begin; b < end; b += KINETIC) {
            int64_t n = end - b < KINETIC ? end - b : KINETIC;
            if (!part_any_mass(p, b, n)) continue;
#pragma omp simd
            for (int64_t k = 0; k < n; k++) {
                double x = part_energy(p->m[b + k], p->v[0][b + k], p->v[1][b + k], p->v[2][b + k]);
                e[k] = family_has_mass(p->family[b + k]) ? x : 0;
            }
            sum_add_many(&mine, n, e);
        }
#pragma omp critical(part_kinetic)
        sum_join(ekin, &mine);
    }
}
