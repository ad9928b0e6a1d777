/* patch/gather: octs that do not exist on the level but are read by an own cell are interpolated
 * from the coarser level by the law; octs beyond boundaries are filled axis after axis. */
#include "patch/gather.h"

#include <string.h>

#include "base/err.h"
#include "patch/across_kern.h"

enum { PS = PLANE_STRIDE };

static struct target target_of(const struct gathered *g, int x, int y, int z)
{
    return (struct target){2 * z & 3, (2 * z + 1) & 3, plane_at(g->w, 2 * x, 2 * y), g->w};
}

/* Masks (tile.h) of the octs of a row that have a refined cell, and of those whose cells are all
 * refined. */
struct splits {
    uint32_t some, whole;
};

/* Copies the refinement flags of an oct into the ring, and notes them of slot x. */
static inline void put8_split(unsigned char *const *ring, struct target t, const lidx *child, int x,
                              struct splits *row)
{
    typedef lidx links
        __attribute__((vector_size(4 * sizeof(lidx)), may_alias, aligned(sizeof(lidx))));
    typedef signed char four_bytes __attribute__((vector_size(4)));
    const links *c = (const links *)child;
    const four_bytes lower = __builtin_convertvector(c[0] >= 0, four_bytes) & 1,
                     upper = __builtin_convertvector(c[1] >= 0, four_bytes) & 1;
    unsigned char s[8];
    unsigned char *a = ring[t.a] + t.at, *b = ring[t.b] + t.at;
    memcpy(s, &lower, 4);
    memcpy(s + 4, &upper, 4);
    memcpy(a, s, 2);
    memcpy(a + t.w, s + 2, 2);
    memcpy(b, s + 4, 2);
    memcpy(b + t.w, s + 6, 2);
    row->some |= (uint32_t)((uint32_t)(lower | upper) != 0) << (x + 1);
    row->whole |= (uint32_t)((uint32_t)(lower & upper) == 0x01010101) << (x + 1);
}

static void load_oct(struct gathered *g, lidx i, struct target t, int x, struct splits *row)
{
    const struct level *lv = &g->m->lev[g->l];
    for (int v = 0; v < g->law->nfield; v++)
        if (!(g->law->zero >> v & 1)) put8(g->u, v, t, g->from[v][i]);
    if (g->finer) put8_split(g->split, t, lv->child[i], x, row);
}

/* Copies eight cells each of two octs adjacent in x into the ring of planes. */
static inline void put16(double *const *ring, int v, struct target t, const double *x,
                         const double *y)
{
    double *a = ring[t.a] + v * PS + t.at, *b = ring[t.b] + v * PS + t.at;
    cells4 row[4];
    layer_transpose(*(const cells4_any *)x, *(const cells4_any *)y, &row[0], &row[1]);
    layer_transpose(*(const cells4_any *)(x + 4), *(const cells4_any *)(y + 4), &row[2], &row[3]);
    *(cells4_any *)a = row[0];
    *(cells4_any *)(a + t.w) = row[1];
    *(cells4_any *)b = row[2];
    *(cells4_any *)(b + t.w) = row[3];
}

/* Copies the lower layer of cells alone, which the upper one repeats in fewer dimensions. */
static inline void put_layer(double *const *ring, int v, struct target t, const double *x,
                             const double *y)
{
    double *a = ring[t.a] + v * PS + t.at;
    cells4 row[2];
    layer_transpose(*(const cells4_any *)x, *(const cells4_any *)y, &row[0], &row[1]);
    *(cells4_any *)a = row[0];
    *(cells4_any *)(a + t.w) = row[1];
}

/* Puts the layers of octs i and j, but for variables that are 0 everywhere. */
static inline void put_layers(struct gathered *g, lidx i, lidx j, struct target t)
{
    const uint64_t zero = g->law->zero;
    for (int v = 0; v < g->law->nfield; v++)
        if (!(zero >> v & 1)) put_layer(g->u, v, t, g->from[v][i], g->from[v][j]);
}

/* Loads octs i[0] and i[1], adjacent in x; t: location of the first. */
static void load_two(struct gathered *g, const lidx i[2], struct target t, int x,
                     struct splits *row)
{
    const struct level *lv = &g->m->lev[g->l];
    if (g->m->ndim < 3)
        put_layers(g, i[0], i[1], t);
    else
        for (int v = 0; v < g->law->nfield; v++)
            put16(g->u, v, t, g->from[v][i[0]], g->from[v][i[1]]);
    if (!g->finer) return;
    put8_split(g->split, t, lv->child[i[0]], x, row);
    t.at += 2;
    put8_split(g->split, t, lv->child[i[1]], x + 1, row);
}

/* The variables of an oct that does not exist by slopes of minmod. */
static void load_children(struct gathered *g, lidx at, struct target t)
{
    const struct patch_cell parent = {g->l - 1, at / 8, at % 8};
    double out[8];
    for (int v = 0; v < g->law->nvar; v++) {
        patch_children(g->m, parent, g->law->field[v], g->law->odd[v], out);
        put8(g->u, v, t, out);
    }
}

/* An oct that does not exist, in this cell of the coarser level (slot_missing). */
static void load_missing(struct gathered *g, lidx at, struct target t)
{
    const struct law *law = g->law;
    if (law->missing)
        law->missing(g, at / 8, at % 8, t);
    else
        load_children(g, at, t);
    for (int v = law->nvar; v < law->nfield; v++) put_flat(g->u, v, t, g->up[v][at / 8][at % 8]);
    unsigned char *a = g->split[t.a] + t.at, *b = g->split[t.b] + t.at;
    a[0] = a[1] = a[t.w] = a[t.w + 1] = 0;
    b[0] = b[1] = b[t.w] = b[t.w + 1] = 0;
}

/* Prefetches the inputs of load_missing: the parent and its neighbours around the cell. */
static void prefetch_missing(const struct gathered *g, lidx at)
{
    const struct level *up = &g->m->lev[g->l - 1];
    const struct law *law = g->law;
    lidx near[4] = {at / 8};
    int n = law->near ? 4 : 1;
    for (int d = 0; d < n - 1; d++) near[1 + d] = up->nbr[at / 8][2 * d + (at >> d & 1)];
    for (int k = 0; k < n; k++)
        for (int v = 0; v < law->nvar && near[k] >= 0; v++)
            __builtin_prefetch(g->up[v][near[k]], 0, 2);
    for (int v = law->nvar; v < law->nfield; v++) __builtin_prefetch(g->up[v][near[0]], 0, 2);
}

void gather_prefetch(const struct gathered *g, int y, int z, int part)
{
    const struct level *lv = &g->m->lev[g->l];
    const struct slots *p = g->slots;
    if (z > p->tile->t[2]) return;
    for (uint32_t b = slots_part(p, p->seen[z + 1][y + 1], part); b; b &= b - 1) {
        lidx i = slot_row(p, y, z)[__builtin_ctz(b)];
        if (i <= SLOT_MISSING) prefetch_missing(g, slot_missing(i));
        if (i < 0) continue;
        for (int v = 0; v < g->law->nfield; v++)
            if (!(g->law->zero >> v & 1)) __builtin_prefetch(g->from[v][i], 0, 2);
        if (g->finer) __builtin_prefetch(lv->child[i], 0, 2);
    }
}

/* ---- boundaries ---- */

/* Position of a cell in a plane. */
struct cell_at {
    int plane, at;
};

/* Fills the h-th cell beyond boundary f from the cell `from`; at: the cell within the boundary. */
static void boundary_cell(struct gathered *g, int f, int h, struct cell_at to, struct cell_at from,
                          struct cell_at at)
{
    const struct law *law = g->law;
    double u[LAW_FIELDS], near[LAW_FIELDS];
    for (int v = 0; v < law->nfield; v++) u[v] = g->u[from.plane & 3][v * PS + from.at];
    for (int v = 0; v < law->nfield && law->wall; v++) near[v] = g->u[at.plane & 3][v * PS + at.at];
    if (law->wall) law->wall(law, f, h, near, u);
    if (law->beyond) law->beyond(law, f, u);
    for (int v = 0; v < law->nfield; v++)
        if (law->odd[v] >> f & 1) u[v] = -u[v];
    for (int v = 0; v < law->nfield; v++) g->u[to.plane & 3][v * PS + to.at] = u[v];
    g->split[to.plane & 3][to.at] = 0;
}

/* Whether states beyond boundaries are those of cells within up to signs. */
static bool is_plain(const struct law *law)
{
    return !law->wall && !law->beyond;
}

/* Cells of a row beyond boundary f, if they are those of the row `from` up to a sign: the positions
 * of the first cells, the number of cells, and the distance of two. */
static void boundary_row(struct gathered *g, int f, struct cell_at to, struct cell_at from, int n,
                         int along)
{
    const struct law *law = g->law;
    for (int v = 0; v < law->nfield; v++) {
        const double *u = g->u[from.plane & 3] + v * PS + from.at;
        double *x = g->u[to.plane & 3] + v * PS + to.at;
        const double sign = law->odd[v] >> f & 1 ? -1 : 1;
        if (law->zero >> v & 1) continue;
        for (int i = 0; i < n; i++) x[i * along] = sign * u[i * along];
    }
    for (int i = 0; i < n; i++) g->split[to.plane & 3][to.at + i * along] = 0;
}

static bool at_boundary(const struct gathered *g, int f)
{
    const struct tile *t = g->slots->tile;
    int d = f >> 1;
    int64_t n = (int64_t)1 << (g->l - 1);
    return g->m->bounded[f] && (f & 1 ? t->x0[d] + t->t[d] == n : t->x0[d] == 0);
}

/* Positions of the h-th cell beyond boundary f, counted from the tile, of the cell whose state it
 * takes, and of the cell within the boundary. */
static void boundary_pair(const struct gathered *g, int f, int h, int *to, int *from, int *within)
{
    int n = 2 * g->slots->tile->t[f >> 1];
    *within = f & 1 ? n - 1 : 0;
    *to = f & 1 ? n + h : -1 - h;
    *from = f & 1 ? n - 1 - h : h;
    if (!g->law->mirrored[f]) *from = *within;
}

/* Fills cells a … b − 1 of the rows (or columns) beyond boundary f in plane k. */
static void boundary_fill(struct gathered *g, int k, int f, int a, int b)
{
    const int d = f >> 1, step = d ? g->w : 1, along = d ? 1 : g->w;
    for (int h = 0; h < 2 && at_boundary(g, f); h++) {
        int to, from, within;
        boundary_pair(g, f, h, &to, &from, &within);
        if (is_plain(g->law)) {
            const int first = (a + 2) * along;
            boundary_row(g, f, (struct cell_at){k, (to + 2) * step + first},
                         (struct cell_at){k, (from + 2) * step + first}, b - a, along);
            continue;
        }
        for (int i = a + 2; i < b + 2; i++)
            boundary_cell(g, f, h, (struct cell_at){k, (to + 2) * step + i * along},
                          (struct cell_at){k, (from + 2) * step + i * along},
                          (struct cell_at){k, (within + 2) * step + i * along});
    }
}

/* Fills cells beyond the boundaries in x and y of plane k. */
static void boundaries_fill(struct gathered *g, int k)
{
    const int *t = g->slots->tile->t;
    for (int f = 0; f < 4; f++) boundary_fill(g, k, f, -2, 2 * t[1 - (f >> 1)] + 2);
}

/* Fills the planes beyond a boundary in z. */
static void boundary_planes(struct gathered *g, int f)
{
    for (int h = 0; h < 2; h++) {
        int to, from, within;
        boundary_pair(g, f, h, &to, &from, &within);
        if (is_plain(g->law)) {
            boundary_row(g, f, (struct cell_at){to, 0}, (struct cell_at){from, 0}, plane_cells(g),
                         1);
            continue;
        }
        for (int i = 0; i < plane_cells(g); i++)
            boundary_cell(g, f, h, (struct cell_at){to, i}, (struct cell_at){from, i},
                          (struct cell_at){within, i});
    }
}

/* ---- planes ---- */

/* Gathers the needed octs of a row. */
static void gather_row(struct gathered *g, int y, int z)
{
    const lidx *oct = slot_row(g->slots, y, z);
    struct splits row = {0, 0};
    for (uint32_t b = g->slots->seen[z + 1][y + 1]; b;) {
        int x = __builtin_ctz(b) - 1;
        const lidx *o = oct + x + 1;
        struct target t = target_of(g, x, y, z);
        if ((b >> (x + 1) & 3) == 3 && (o[0] | o[1]) >= 0) {
            load_two(g, o, t, x, &row);
            b &= ~((uint32_t)3 << (x + 1));
            continue;
        }
        if (*o >= 0)
            load_oct(g, *o, t, x, &row);
        else if (*o <= SLOT_MISSING)
            load_missing(g, slot_missing(*o), t);
        b &= b - 1;
    }
    g->split_octs[z + 1][y + 1] = row.some;
    g->whole_octs[z + 1][y + 1] = row.whole;
}

/* Gathers a row of one dimension, where octs have two cells: one variable after the other. */
static void gather_cells(struct gathered *g)
{
    const lidx *row = slot_row(g->slots, 0, 0);
    const struct level *lv = &g->m->lev[g->l];
    lidx oct[LINE_OCTS + 2];
    int to[LINE_OCTS + 2], n = 0;
    struct splits splits = {0, 0};
    for (uint32_t b = g->slots->seen[1][1]; b; b &= b - 1) {
        const int k = __builtin_ctz(b);
        if (row[k] >= 0) oct[n] = row[k], to[n++] = 2 * k;
        if (row[k] <= SLOT_MISSING)
            load_missing(g, slot_missing(row[k]), target_of(g, k - 1, 0, 0));
    }
    for (int v = 0; v < g->law->nfield; v++) {
        double(*const from)[8] = g->from[v], *const u = g->u[0] + v * PS;
        if (g->law->zero >> v & 1) continue;
        for (int k = 0; k < n; k++) *(pair *)(u + to[k]) = *(const pair *)from[oct[k]];
    }
    for (int k = 0; k < n && g->finer; k++) {
        const lidx *child = lv->child[oct[k]];
        unsigned char *s = g->split[0] + to[k];
        s[0] = child[0] >= 0, s[1] = child[1] >= 0;
        splits.some |= (uint32_t)(s[0] | s[1]) << to[k] / 2;
        splits.whole |= (uint32_t)(s[0] & s[1]) << to[k] / 2;
    }
    g->split_octs[1][1] = splits.some, g->whole_octs[1][1] = splits.whole;
}

void gather_octs(struct gathered *g, int z)
{
    int ny = g->slots->tile->t[1];
    for (int y = -1; y <= ny; y++) gather_row(g, y, z);
    for (int k = 2 * z; k < 2 * z + 2; k++) boundaries_fill(g, k);
    if (z == g->slots->tile->t[2] && at_boundary(g, 5)) boundary_planes(g, 5);
}

void gather_line(struct gathered *g, int y)
{
    const int *t = g->slots->tile->t, end = t[1] - 1;
    if (g->m->ndim < 2)
        gather_cells(g);
    else
        gather_row(g, y, 0);
    if ((y < 0 && at_boundary(g, 2)) || (y > end && at_boundary(g, 3))) return;
    for (int f = 0; f < 2; f++) boundary_fill(g, 0, f, 2 * y, 2 * y + g->m->ndim);
    if (g->m->ndim < 2) return;
    if (y == 0) boundary_fill(g, 0, 2, -2, 2 * t[0] + 2);
    if (y == end) boundary_fill(g, 0, 3, -2, 2 * t[0] + 2);
}

void gather_begin(struct gathered *g, const struct slots *p, const struct mesh *m, int l,
                  const struct law *law)
{
    g->m = m;
    g->law = law;
    g->slots = p;
    g->l = l;
    g->w = m->ndim > 1 ? 2 * p->tile->t[0] + ROW_GAP : 0;
    g->finer = m->lev[l + 1].noct > 0;
    for (int v = 0; v < law->nfield; v++) {
        g->from[v] = m->lev[l].fld[law->field[v]];
        g->up[v] = m->lev[l - 1].fld[law->field[v]];
    }
    if (m->ndim < 3) return;
    gather_octs(g, -1);
    gather_octs(g, 0);
    if (at_boundary(g, 4)) boundary_planes(g, 4);
}
