/* hydro/tile: choosing tiles and gathering them.
 *
 * The halo of a thick tile costs least per cell, but where few of the octs of a cube exist smaller
 * cubes waste less. The octs are sorted, so the octs of a cube are one run of the level, and each
 * cube compares its own work with that of its eight parts. While gathering, octs that do not exist
 * on the level but are seen by an own cell are interpolated from the coarser level (interp_kern.h),
 * and cells beyond boundaries are filled axis after axis. */
#include "hydro/tile.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "hydro/interp_kern.h"

/* Work of a tile by depth, as measured (arbitrary unit); only speed depends on it. */
static const double tile_work[TILE_DEPTH_MAX + 1] = {1.0, 3.3, 13.5, 78.0};

struct builder {
    const struct level *lv;
    int mindepth;
    struct tile_list *list;
};

static void list_push(struct tile_list *list, struct tile t)
{
    list->tile[list->n++] = t;
}

/* Tiles for the octs first … first+count-1 of one cube of depth d; returns their work. */
static double cube_divide(struct builder *b, lidx first, lidx count, int d)
{
    struct tile whole = {first, count, d};
    if (d == b->mindepth || count == (lidx)1 << 3 * d) {
        list_push(b->list, whole);
        return tile_work[d];
    }
    lidx start = b->list->n, end = first + count;
    double work = 0.0;
    for (lidx i = first; i < end;) {
        okey part = b->lv->key[i] >> 3 * (d - 1);
        lidx j = i + 1;
        while (j < end && b->lv->key[j] >> 3 * (d - 1) == part) j++;
        work += cube_divide(b, i, j - i, d - 1);
        i = j;
    }
    if (tile_work[d] > work) return work;
    b->list->n = start;
    list_push(b->list, whole);
    return tile_work[d];
}

void tile_list_build(const struct mesh *m, int l, int mindepth, int maxdepth,
                     struct tile_list *list)
{
    const struct level *lv = &m->lev[l];
    if (maxdepth > l - 1) maxdepth = l - 1;
    if (mindepth > maxdepth) mindepth = maxdepth;
    struct builder b = {lv, mindepth, list};
    list->n = 0;
    list->tile = mem_new(sizeof(struct tile) * ((size_t)lv->nown + 1), "hydro tiles");
    for (lidx i = 0; i < lv->nown;) {
        okey cube = lv->key[i] >> 3 * maxdepth;
        lidx j = i + 1;
        while (j < lv->nown && lv->key[j] >> 3 * maxdepth == cube) j++;
        cube_divide(&b, i, j - i, maxdepth);
        i = j;
    }
}

void tile_list_free(struct tile_list *list)
{
    FREE(list->tile);
    list->n = 0;
}

static void slots_find(struct patch *p, const struct mesh *m, int l, bool corners);
static void octs_load(struct patch *p, const struct mesh *m, int l, const struct hydro_par *par);
static void boundaries_fill(struct patch *p, const struct mesh *m, int l,
                            const struct hydro_par *par);

void patch_gather(struct patch *p, const struct mesh *m, int l, const struct tile *t,
                  const struct hydro_par *par, bool corners)
{
    p->tile = t;
    p->t = 1 << t->depth;
    p->n = 2 * p->t;
    p->w = p->n + 4;
    okey_coords(m->lev[l].key[t->first] >> 3 * t->depth << 3 * t->depth, p->x0);
    slots_find(p, m, l, corners);
    octs_load(p, m, l, par);
    boundaries_fill(p, m, l, par);
}

/* ---- which oct is where ---- */

static inline bool is_own(const struct patch *p, lidx i)
{
    return i >= p->tile->first && i < p->tile->first + p->tile->count;
}

/* Marks in seen[z][y] (bit x) the positions next to an own oct across a face or edge (or corner).
 */
static void mark_seen(const struct patch *p, bool corners,
                      uint32_t seen[PATCH_SLOT_MAX][PATCH_SLOT_MAX])
{
    uint32_t own[PATCH_SLOT_MAX][PATCH_SLOT_MAX] = {{0}};
    int e = p->t + 2;
    for (int z = 1; z < e - 1; z++)
        for (int y = 1; y < e - 1; y++)
            for (int x = 1; x < e - 1; x++)
                own[z][y] |= (uint32_t)is_own(p, p->oct[x + e * (y + e * z)]) << x;
    for (int z = 0; z < e; z++) {
        for (int y = 0; y < e; y++) {
            uint32_t all = 0;
            for (int dz = -1; dz <= 1; dz++) {
                for (int dy = -1; dy <= 1; dy++) {
                    if (z + dz < 0 || z + dz >= e || y + dy < 0 || y + dy >= e) continue;
                    uint32_t b = own[z + dz][y + dy];
                    all |= dy && dz && !corners ? b : b | b << 1 | b >> 1;
                }
            }
            seen[z][y] = all;
        }
    }
}

/* Own octs, then their face neighbours, by links. */
static void place_own(struct patch *p, const struct level *lv)
{
    int e = p->t + 2, w = p->w, step[3] = {1, e, e * e};
    okey mask = ((okey)1 << 3 * p->tile->depth) - 1;
    p->any_edge = false;
    for (lidx i = 0; i < p->tile->count; i++) {
        uint64_t k = (uint64_t)(lv->key[p->tile->first + i] & mask);
        int x = (int)okey_squeeze21(k) + 1, y = (int)okey_squeeze21(k >> 1) + 1,
            z = (int)okey_squeeze21(k >> 2) + 1;
        p->own_slot[i] = x + e * (y + e * z);
        p->own_at[i] = 2 * (x + w * (y + w * z));
        p->oct[p->own_slot[i]] = p->tile->first + i;
    }
    for (lidx i = 0; i < p->tile->count; i++) {
        const lidx *nbr = lv->nbr[p->tile->first + i];
        for (int f = 0; f < 6; f++) {
            p->oct[p->own_slot[i] + (f & 1 ? step[f >> 1] : -step[f >> 1])] = nbr[f];
            p->any_edge |= nbr[f] == NBR_NONE;
        }
    }
}

/* The oct at place (x,y,z): by a link of a neighbour that is known, else by a search. */
static lidx place_find(const struct patch *p, const struct mesh *m, int l, int x, int y, int z)
{
    const struct level *lv = &m->lev[l];
    int e = p->t + 2, at[3] = {x, y, z}, step[3] = {1, e, e * e}, s = x + e * (y + e * z);
    for (int f = 0; f < 6; f++) { /* the neighbour on side f has this oct on its side f^1 */
        int d = f >> 1, to = at[d] + (f & 1 ? 1 : -1);
        if (to < 0 || to >= e) continue;
        lidx i = p->oct[s + (f & 1 ? step[d] : -step[d])];
        if (i >= 0) return lv->nbr[i][f ^ 1];
    }
    okey k;
    int64_t c[3];
    for (int d = 0; d < 3; d++) c[d] = p->x0[d] + at[d] - 1;
    if (!mesh_key_at(m, l, c, &k)) return NBR_BOUNDARY;
    lidx i = mesh_find(lv, k);
    return i >= 0 ? i : NBR_NONE;
}

static void slots_find(struct patch *p, const struct mesh *m, int l, bool corners)
{
    uint32_t seen[PATCH_SLOT_MAX][PATCH_SLOT_MAX];
    int e = p->t + 2;
    for (int s = 0; s < e * e * e; s++) p->oct[s] = SLOT_UNUSED;
    place_own(p, &m->lev[l]);
    mark_seen(p, corners, seen);
    for (int z = 0; z < e; z++)
        for (int y = 0; y < e; y++)
            for (int x = 0; x < e; x++)
                if (seen[z][y] >> x & 1 && p->oct[x + e * (y + e * z)] == SLOT_UNUSED)
                    p->oct[x + e * (y + e * z)] = place_find(p, m, l, x, y, z);
}

/* ---- values ---- */

/* Eight cells of an oct into the patch at cell position `at`. */
static inline void put8(double *restrict to, int at, int w, const double *restrict from)
{
    memcpy(to + at, from, 16);
    memcpy(to + at + w, from + 2, 16);
    memcpy(to + at + w * w, from + 4, 16);
    memcpy(to + at + w * w + w, from + 6, 16);
}

static inline void put8_split(struct patch *p, int at, const lidx *child)
{
    int w = p->w;
    unsigned char b[8], any = 0;
    for (int c = 0; c < 8; c++) any |= b[c] = child && child[c] >= 0;
    memcpy(p->split + at, b, 2);
    memcpy(p->split + at + w, b + 2, 2);
    memcpy(p->split + at + w * w, b + 4, 2);
    memcpy(p->split + at + w * w + w, b + 6, 2);
    p->any_split |= any != 0;
}

static void load_oct(struct patch *p, const struct mesh *m, const struct level *lv, lidx i, int at)
{
    for (int v = 0; v < m->nvar; v++)
        put8(p->u + v * PATCH_STRIDE, at, p->w, lv->fld[FLD_U + v][i]);
    if (m->gravity)
        for (int d = 0; d < 3; d++) put8(p->f + d * PATCH_STRIDE, at, p->w, lv->fld[FLD_FX + d][i]);
    put8_split(p, at, lv->child[i]);
}

static void prefetch_oct(const struct mesh *m, const struct level *lv, lidx i)
{
    for (int v = 0; v < m->nvar; v++) __builtin_prefetch(lv->fld[FLD_U + v][i]);
    if (m->gravity)
        for (int d = 0; d < 3; d++) __builtin_prefetch(lv->fld[FLD_FX + d][i]);
    __builtin_prefetch(lv->child[i]);
}

static void load_missing(struct patch *p, const struct mesh *m, int l, const struct hydro_par *par,
                         int at, const int xyz[3]);

/* Own octs are read in memory order. The others, scattered over the level, are prefetched. */
static void octs_load(struct patch *p, const struct mesh *m, int l, const struct hydro_par *par)
{
    const struct level *lv = &m->lev[l];
    int e = p->t + 2, w = p->w, n = 0;
    struct {
        lidx oct;
        int at;
    } other[PATCH_SLOT_MAX * PATCH_SLOT_MAX * PATCH_SLOT_MAX];
    p->any_split = false;
    for (int z = 0; z < e; z++) {
        for (int y = 0; y < e; y++) {
            for (int x = 0; x < e; x++) {
                lidx i = p->oct[x + e * (y + e * z)];
                int at = 2 * (x + w * (y + w * z));
                bool inside = x > 0 && x < e - 1 && y > 0 && y < e - 1 && z > 0 && z < e - 1;
                if (i == NBR_NONE) load_missing(p, m, l, par, at, (int[3]){x, y, z});
                if (i < 0 || (inside && is_own(p, i)))
                    continue; /* own octs may also be in the halo, through a periodic border */
                other[n].oct = i;
                other[n++].at = at;
            }
        }
    }
    enum { AHEAD = 16 };
    for (int i = 0; i < AHEAD && i < n; i++) prefetch_oct(m, lv, other[i].oct);
    for (lidx i = 0; i < p->tile->count; i++) load_oct(p, m, lv, p->tile->first + i, p->own_at[i]);
    for (int i = 0; i < n; i++) {
        if (i + AHEAD < n) prefetch_oct(m, lv, other[i + AHEAD].oct);
        load_oct(p, m, lv, other[i].oct, other[i].at);
    }
}

/* An oct that does not exist: gas interpolated, acceleration of its parent cell. */
static void load_missing(struct patch *p, const struct mesh *m, int l, const struct hydro_par *par,
                         int at, const int xyz[3])
{
    const struct level *up = &m->lev[l - 1];
    int64_t n = (int64_t)1 << (l - 1);
    uint64_t c[3];
    for (int d = 0; d < 3; d++) c[d] = (uint64_t)((p->x0[d] + xyz[d] - 1) & (n - 1));
    okey k = okey_make(c[0], c[1], c[2]);
    lidx parent = mesh_find(up, k >> 3);
    int cell = (int)(k & 7);
    BUG_ON(parent < 0);
    double out[NVAR_MAX][8], f[8];
    hydro_interp_oct(m, l - 1, parent, cell, par, out);
    for (int v = 0; v < par->nvar; v++) put8(p->u + v * PATCH_STRIDE, at, p->w, out[v]);
    for (int d = 0; m->gravity && d < 3; d++) {
        for (int b = 0; b < 8; b++) f[b] = up->fld[FLD_FX + d][parent][cell];
        put8(p->f + d * PATCH_STRIDE, at, p->w, f);
    }
    put8_split(p, at, NULL);
}

/* ---- boundaries ---- */

/* Fills one cell beyond boundary f from the cell `from`. */
static void boundary_cell(struct patch *p, const struct mesh *m, const struct hydro_par *par, int f,
                          int to, int from)
{
    double u[NVAR_MAX];
    for (int v = 0; v < par->nvar; v++) u[v] = p->u[v * PATCH_STRIDE + from];
    hydro_boundary_state(par, f, u);
    for (int v = 0; v < par->nvar; v++) p->u[v * PATCH_STRIDE + to] = u[v];
    if (m->gravity)
        for (int d = 0; d < 3; d++) {
            double a = p->f[d * PATCH_STRIDE + from];
            p->f[d * PATCH_STRIDE + to] = par->bound[f] == BOUND_REFLECT && d == f >> 1 ? -a : a;
        }
    p->split[to] = 0;
}

static void boundaries_fill(struct patch *p, const struct mesh *m, int l,
                            const struct hydro_par *par)
{
    int w = p->w, step[3] = {1, w, w * w};
    int64_t n = (int64_t)1 << (l - 1);
    for (int f = 0; f < 6; f++) {
        int d = f >> 1, a = step[(d + 1) % 3], b = step[(d + 2) % 3];
        if (!m->bounded[f] || (f & 1 ? p->x0[d] + p->t != n : p->x0[d] != 0)) continue;
        for (int h = 0; h < 2; h++) {
            int to = f & 1 ? p->n + 2 + h : 1 - h;
            int from = f & 1 ? p->n + 1 - h : 2 + h;
            if (par->bound[f] != BOUND_REFLECT) from = f & 1 ? p->n + 1 : 2;
            for (int i = 0; i < w; i++)
                for (int j = 0; j < w; j++)
                    boundary_cell(p, m, par, f, to * step[d] + i * a + j * b,
                                  from * step[d] + i * a + j * b);
        }
    }
}
