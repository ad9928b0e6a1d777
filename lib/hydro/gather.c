/* hydro/gather: octs that do not exist on the level but are seen by an own cell are interpolated
 * from the coarser level (interp_kern.h), and those beyond boundaries filled axis after axis. */
#include "hydro/gather.h"

#include <string.h>

#include "base/err.h"
#include "hydro/half.h"
#include "hydro/interp_kern.h"
#include "oct/gas_vec.h"

enum { PS = PLANE_STRIDE };

/* The planes of the two layers of cells of an oct, and where its first cell is. */
struct target {
    int a, b, at, w;
};

static struct target target_of(const struct gathered *g, int x, int y, int z)
{
    return (struct target){2 * z & 3, (2 * z + 1) & 3, plane_at(g->w, 2 * x, 2 * y), g->w};
}

static inline void put8(double *const *ring, int v, struct target t, const double *restrict from)
{
    double *a = ring[t.a] + v * PS + t.at, *b = ring[t.b] + v * PS + t.at;
    memcpy(a, from, 16);
    memcpy(a + t.w, from + 2, 16);
    memcpy(b, from + 4, 16);
    memcpy(b + t.w, from + 6, 16);
}

/* Returns whether a cell is refined. */
static inline bool put8_split(unsigned char *const *ring, struct target t, const lidx *child)
{
    unsigned char s[8], any = 0;
    unsigned char *a = ring[t.a] + t.at, *b = ring[t.b] + t.at;
    for (int c = 0; c < 8; c++) any |= s[c] = child && child[c] >= 0;
    memcpy(a, s, 2);
    memcpy(a + t.w, s + 2, 2);
    memcpy(b, s + 4, 2);
    memcpy(b + t.w, s + 6, 2);
    return any != 0;
}

static bool load_oct(struct gathered *g, lidx i, struct target t)
{
    const struct level *lv = &g->m->lev[g->l];
    for (int v = 0; v < g->m->nvar; v++) put8(g->u, v, t, lv->fld[FLD_U + v][i]);
    if (g->m->gravity)
        for (int d = 0; d < 3; d++) put8(g->f, d, t, lv->fld[FLD_FX + d][i]);
    return g->finer && put8_split(g->split, t, lv->child[i]);
}

/* Copies eight cells each of two octs, side by side in x, into the ring of planes. */
static inline void put16(double *const *ring, int v, struct target t, const double *x,
                         const double *y)
{
    double *a = ring[t.a] + v * PS + t.at, *b = ring[t.b] + v * PS + t.at;
    cells4 row[4];
    layer_turn(*(const cells4_any *)x, *(const cells4_any *)y, &row[0], &row[1]);
    layer_turn(*(const cells4_any *)(x + 4), *(const cells4_any *)(y + 4), &row[2], &row[3]);
    *(cells4_any *)a = row[0];
    *(cells4_any *)(a + t.w) = row[1];
    *(cells4_any *)b = row[2];
    *(cells4_any *)(b + t.w) = row[3];
}

/* Octs i and j side by side; the place of the first is t. */
static bool load_two(struct gathered *g, lidx i, lidx j, struct target t)
{
    const struct level *lv = &g->m->lev[g->l];
    for (int v = 0; v < g->m->nvar; v++)
        put16(g->u, v, t, lv->fld[FLD_U + v][i], lv->fld[FLD_U + v][j]);
    for (int d = 0; d < 3 && g->m->gravity; d++)
        put16(g->f, d, t, lv->fld[FLD_FX + d][i], lv->fld[FLD_FX + d][j]);
    if (!g->finer) return false;
    bool split = put8_split(g->split, t, lv->child[i]);
    t.at += 2;
    return put8_split(g->split, t, lv->child[j]) || split;
}

/* Two cells side by side. */
typedef double pair __attribute__((vector_size(16), may_alias, aligned(8)));

/* One value in all cells of an oct. */
static inline void put_flat(double *const *ring, int v, struct target t, double x)
{
    const pair both = {x, x};
    double *a = ring[t.a] + v * PS + t.at, *b = ring[t.b] + v * PS + t.at;
    *(pair *)a = *(pair *)(a + t.w) = both;
    *(pair *)b = *(pair *)(b + t.w) = both;
}

/* ---- interpolation by vectors ---- */

/* Places of cells in the fields of the coarser level: of a cell, and along each axis of those below
 * and above it. */
struct crossing {
    size_t own, below[3], above[3];
};

/* Returns whether all of them are on that level. */
static inline bool crossing_find(struct crossing *x, const struct level *up, lidx i, int c)
{
    x->own = 8 * (size_t)i + (size_t)c;
    for (int d = 0; d < 3; d++) {
        const int bit = 1 << d, upper = c >> d & 1;
        const lidx j = up->nbr[i][2 * d + upper];
        const size_t across = (size_t)(c ^ bit), in = 8 * (size_t)i + across;
        if (j < 0) return false;
        const size_t out = 8 * (size_t)j + across;
        x->below[d] = upper ? in : out;
        x->above[d] = upper ? out : in;
    }
    return true;
}

/* A variable of such cells; by axis, lane 3 is the cell itself. */
struct crossed {
    vec4 own, below, above;
};

static inline struct crossed crossed_of(const struct level *up, int v, const struct crossing *x)
{
    const double *u = up->fld[FLD_U + v][0], a = u[x->own];
    return (struct crossed){{a, a, a, a},
                            {u[x->below[0]], u[x->below[1]], u[x->below[2]], a},
                            {u[x->above[0]], u[x->above[1]], u[x->above[2]], a}};
}

/* The children's values, four of each layer. */
struct children {
    vec4 lower, upper;
};

/* As hydro_interp_oct has them: the cell's value with slopes by minmod. */
static inline struct children children_of(struct crossed x)
{
    static const vec4 sx = {-0.5, 0.5, -0.5, 0.5}, sy = {-0.5, -0.5, 0.5, 0.5};
    const vec4 r = 0.5 * (x.above - x.own), l = 0.5 * (x.own - x.below);
    const vec4_mask smaller = vec4_abs(l) < vec4_abs(r);
    const vec4_mask alike = l * r > 0.0;
    const vec4 w = (vec4)((((vec4_mask)l & smaller) | ((vec4_mask)r & ~smaller)) & alike);
    const vec4 flat = x.own + __builtin_shufflevector(w, w, 0, 0, 0, 0) * sx +
                      __builtin_shufflevector(w, w, 1, 1, 1, 1) * sy;
    const vec4 z = __builtin_shufflevector(w, w, 2, 2, 2, 2) * 0.5;
    return (struct children){flat - z, flat + z};
}

/* Kinetic energy from density and momenta. */
static inline vec4 half_kinetic(vec4 r, vec4 x, vec4 y, vec4 z, double smallr)
{
    const vec4 at_least = vec4_max(r, (vec4){0} + smallr);
    return gas_kinetic4(at_least, x, y, z);
}

/* Minmod slopes of conserved variables or, of the energy, its internal part. Returns false where a
 * neighbour is not on the coarser level. */
static bool load_by_minmod(struct gathered *g, lidx parent, int cell, struct target t)
{
    enum { E = GAS_ENERGY };
    const struct level *up = &g->m->lev[g->l - 1];
    const double smallr = g->par->smallr;
    const bool internal = g->par->interpol_var > 0;
    struct crossing at;
    struct crossed x[GAS_SCALARS];
    struct children out[GAS_SCALARS];
    if (!crossing_find(&at, up, parent, cell)) return false;
    for (int v = 0; v < GAS_SCALARS; v++) x[v] = crossed_of(up, v, &at);
    if (internal) {
        x[E].own -= half_kinetic(x[0].own, x[1].own, x[2].own, x[3].own, smallr);
        x[E].below -= half_kinetic(x[0].below, x[1].below, x[2].below, x[3].below, smallr);
        x[E].above -= half_kinetic(x[0].above, x[1].above, x[2].above, x[3].above, smallr);
    }
    for (int v = 0; v < GAS_SCALARS; v++) out[v] = children_of(x[v]);
    if (internal) {
        out[E].lower += half_kinetic(out[0].lower, out[1].lower, out[2].lower, out[3].lower,
                                     smallr);
        out[E].upper += half_kinetic(out[0].upper, out[1].upper, out[2].upper, out[3].upper,
                                     smallr);
    }
    for (int v = 0; v < GAS_SCALARS; v++) put8(g->u, v, t, (const double *)&out[v]);
    for (int v = GAS_SCALARS; v < g->par->nvar; v++) {
        const struct children scalar = children_of(crossed_of(up, v, &at));
        put8(g->u, v, t, (const double *)&scalar);
    }
    return true;
}

/* The gas of an oct that does not exist, interpolated from a cell of the coarser level. */
static void load_interpolated(struct gathered *g, lidx parent, int cell, struct target t)
{
    double out[NVAR_MAX][8], flat[NVAR_MAX];
    const bool by_minmod = g->par->interpol_type == 1 && g->par->interpol_var < 2;
    if (by_minmod && load_by_minmod(g, parent, cell, t)) return;
    if (!hydro_interp_alike(g->par)) {
        hydro_interp_oct(g->m, g->l - 1, parent, cell, g->par, out);
        for (int v = 0; v < g->par->nvar; v++) put8(g->u, v, t, out[v]);
        return;
    }
    hydro_interp_flat(g->m, g->l - 1, parent, cell, g->par, flat);
    for (int v = 0; v < g->par->nvar; v++) {
        put_flat(g->u, v, t, flat[v] + 0.0);
        g->u[t.a][v * PS + t.at] = flat[v];
    }
}

/* An oct that does not exist, in this cell of the coarser level (place_missing): gas interpolated,
 * acceleration of the parent cell. */
static void load_missing(struct gathered *g, lidx at, struct target t)
{
    const struct level *up = &g->m->lev[g->l - 1];
    load_interpolated(g, at / 8, at % 8, t);
    for (int d = 0; g->m->gravity && d < 3; d++)
        put_flat(g->f, d, t, up->fld[FLD_FX + d][at / 8][at % 8]);
    put8_split(g->split, t, NULL);
}

/* Prefetches what load_missing reads: the parent and its neighbours around the cell. */
static void prefetch_missing(const struct gathered *g, lidx at)
{
    const struct level *up = &g->m->lev[g->l - 1];
    lidx near[4] = {at / 8};
    int n = g->par->interpol_type == 0 ? 1 : 4;
    for (int d = 0; d < n - 1; d++) near[1 + d] = up->nbr[at / 8][2 * d + (at >> d & 1)];
    for (int k = 0; k < n; k++)
        for (int v = 0; v < g->m->nvar && near[k] >= 0; v++)
            __builtin_prefetch(up->fld[FLD_U + v][near[k]], 0, 2);
    for (int d = 0; d < 3 && g->m->gravity; d++)
        __builtin_prefetch(up->fld[FLD_FX + d][near[0]], 0, 2);
}

void gather_prefetch(const struct gathered *g, int y, int z, int part)
{
    const struct level *lv = &g->m->lev[g->l];
    const struct places *p = g->places;
    if (z > p->tile->t[2]) return;
    for (uint32_t b = places_part(p, p->seen[z + 1][y + 1], part); b; b &= b - 1) {
        lidx i = p->oct[z + 1][y + 1][__builtin_ctz(b)];
        if (i <= PLACE_MISSING) prefetch_missing(g, place_missing(i));
        if (i < 0) continue;
        for (int v = 0; v < g->m->nvar; v++) __builtin_prefetch(lv->fld[FLD_U + v][i], 0, 2);
        if (g->m->gravity)
            for (int d = 0; d < 3; d++) __builtin_prefetch(lv->fld[FLD_FX + d][i], 0, 2);
        if (g->finer) __builtin_prefetch(lv->child[i], 0, 2);
    }
}

/* ---- boundaries ---- */

/* A cell of a plane, by its position. */
struct cell_at {
    int plane, at;
};

/* Fills one cell beyond boundary f from the cell `from`. */
static void boundary_cell(struct gathered *g, int f, struct cell_at to, struct cell_at from)
{
    double u[NVAR_MAX];
    for (int v = 0; v < g->par->nvar; v++) u[v] = g->u[from.plane & 3][v * PS + from.at];
    hydro_boundary_state(g->par, f, u);
    for (int v = 0; v < g->par->nvar; v++) g->u[to.plane & 3][v * PS + to.at] = u[v];
    for (int d = 0; g->m->gravity && d < 3; d++) {
        double a = g->f[from.plane & 3][d * PS + from.at];
        bool turned = g->par->bound[f] == BOUND_REFLECT && d == f >> 1;
        g->f[to.plane & 3][d * PS + to.at] = turned ? -a : a;
    }
    g->split[to.plane & 3][to.at] = 0;
}

static bool at_boundary(const struct gathered *g, int f)
{
    const struct tile *t = g->places->tile;
    int d = f >> 1;
    int64_t n = (int64_t)1 << (g->l - 1);
    return g->m->bounded[f] && (f & 1 ? t->x0[d] + t->t[d] == n : t->x0[d] == 0);
}

/* The h-th cell beyond boundary f, counted from the tile, and the one that it takes its state from.
 */
static void boundary_pair(const struct gathered *g, int f, int h, int *to, int *from)
{
    int n = 2 * g->places->tile->t[f >> 1];
    *to = f & 1 ? n + h : -1 - h;
    *from = f & 1 ? n - 1 - h : h;
    if (g->par->bound[f] != BOUND_REFLECT) *from = f & 1 ? n - 1 : 0;
}

/* Beyond the boundaries in x and y of plane k. */
static void boundaries_fill(struct gathered *g, int k)
{
    const struct tile *t = g->places->tile;
    for (int f = 0; f < 4; f++) {
        int d = f >> 1, step = d ? g->w : 1, along = d ? 1 : g->w, n = 2 * t->t[1 - d] + 4;
        for (int h = 0; h < 2 && at_boundary(g, f); h++) {
            int to, from;
            boundary_pair(g, f, h, &to, &from);
            for (int i = 0; i < n; i++)
                boundary_cell(g, f, (struct cell_at){k, (to + 2) * step + i * along},
                              (struct cell_at){k, (from + 2) * step + i * along});
        }
    }
}

/* The planes beyond a boundary in z. */
static void boundary_planes(struct gathered *g, int f)
{
    for (int h = 0; h < 2; h++) {
        int to, from;
        boundary_pair(g, f, h, &to, &from);
        for (int i = 0; i < g->w * (2 * g->places->tile->t[1] + 4); i++)
            boundary_cell(g, f, (struct cell_at){to, i}, (struct cell_at){from, i});
    }
}

/* ---- planes ---- */

/* Octs of a row that are seen; returns whether a cell is refined. */
static bool gather_row(struct gathered *g, int y, int z)
{
    const lidx *oct = g->places->oct[z + 1][y + 1];
    bool split = false;
    for (uint32_t b = g->places->seen[z + 1][y + 1]; b;) {
        int x = __builtin_ctz(b) - 1;
        const lidx *o = oct + x + 1;
        struct target t = target_of(g, x, y, z);
        if ((b >> (x + 1) & 3) == 3 && (o[0] | o[1]) >= 0) {
            split |= load_two(g, o[0], o[1], t);
            b &= ~((uint32_t)3 << (x + 1));
            continue;
        }
        if (*o >= 0)
            split |= load_oct(g, *o, t);
        else if (*o <= PLACE_MISSING)
            load_missing(g, place_missing(*o), t);
        b &= b - 1;
    }
    return split;
}

void gather_octs(struct gathered *g, int z)
{
    int ny = g->places->tile->t[1];
    for (int y = -1; y <= ny; y++) g->split_row[z + 1][y + 1] = gather_row(g, y, z);
    for (int k = 2 * z; k < 2 * z + 2; k++) boundaries_fill(g, k);
    if (z == g->places->tile->t[2] && at_boundary(g, 5)) boundary_planes(g, 5);
}

void gather_begin(struct gathered *g, const struct places *p, const struct mesh *m, int l,
                  const struct hydro_par *par)
{
    g->m = m;
    g->par = par;
    g->places = p;
    g->l = l;
    g->w = 2 * p->tile->t[0] + ROW_GAP;
    g->finer = m->lev[l + 1].noct > 0;
    gather_octs(g, -1);
    gather_octs(g, 0);
    if (at_boundary(g, 4)) boundary_planes(g, 4);
}
