/* patch: one step of a level.
 *
 * Own octs are advanced tile by tile (tile.c): gather with halo (gather.c), fluxes and sums by rows
 * (sweep.c), then for each oct, in this file, the registers of the finer level and the law's final
 * update. New values go to second arrays because neighbours need the old ones; at the end these
 * become the fields of the level.
 *
 * Coarse–fine boundaries (Berger & Colella 1989): fluxes through faces of a refined cell are zero
 * on the coarse level. The fine oct beyond the face sums its own fluxes through the four fine
 * faces, each with dt_f/dx_f and weight 1/8, over its sub-steps in a register of its own; the
 * coarse cell then collects the registers of its six sides in a fixed order (of a law with a field
 * on faces opposite ones together, so that a mirror image has the same bits). So no oct writes to
 * another's cell, and the sum does not depend on ranks, threads or tiles. */
#include "patch/patch.h"

#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "patch/across_kern.h"
#include "patch/edges.h"
#include "patch/reflux.h"
#include "patch/sweep.h"

#define INLINE static inline __attribute__((always_inline))
enum { GAS_NUMBERS = 5 };

/* State shared by the threads that work on tiles. */
struct update {
    struct mesh *m;
    int l;
    double dt, dx;
    const struct law *law;
    /* [nvar][noct] new values, which become the fields of the level */
    double (*new[LAW_VARIABLES])[8];
};

static void update_tiles(struct update *up, const struct patch_how *o);
static void fields_new(struct update *up);
static void fields_replace(struct update *up, double (**old)[8]);
static void tile_faces(struct sweep *s, void *ctx, int f, int y, int z, const double *flux);
static void tile_soon(struct sweep *s, void *ctx, int y, int z);
static void tile_edges(struct sweep *s, void *ctx, int k);
static void tile_reserve(struct sweep *s, void *ctx, int y, int z, int part);
static void tile_ready(struct sweep *s, void *ctx, int y, int z);
static void row_after(struct sweep *s, const struct update *up, int y, int z, uint32_t octs);

void patch_update(struct mesh *m, int l, double dt, const struct law *law,
                  const struct patch_how *how)
{
    struct update up = {.m = m, .l = l, .dt = dt, .dx = mesh_dx(m, l), .law = law};
    update_tiles(&up, how);
}

struct patch_scratch {
    int n;
    struct sweep **sweep; /* [n] sweep of each thread; NULL: not needed yet */
};

struct patch_scratch *patch_scratch_new(void)
{
    return mem_zero(sizeof(struct patch_scratch), "hydro tile scratch");
}

void patch_scratch_free(struct patch_scratch **s)
{
    for (int i = 0; *s && i < (*s)->n; i++) {
        if ((*s)->sweep[i]) sweep_fini((*s)->sweep[i]);
        FREE((*s)->sweep[i]);
    }
    if (*s) FREE((*s)->sweep);
    FREE(*s);
}

static void scratch_reach(struct patch_scratch *s, int n)
{
    if (n <= s->n) return;
    s->sweep = mem_grow(s->sweep, sizeof *s->sweep * (size_t)n, "hydro tile scratch");
    for (; s->n < n; s->n++) s->sweep[s->n] = NULL;
}

static void tile_advance(struct sweep *s, struct update *up, const struct tile *t)
{
    struct sweep_user user = {.reserve = tile_reserve, .ready = tile_ready, .ctx = up};
    if (up->m->lev[up->l].reflux[up->law->system].row) {
        user.faces = tile_faces;
        user.soon = tile_soon;
        user.edges = tile_edges;
    }
    sweep_run(s, up->m, up->l, t, &user);
    row_after(s, up, 0, 0, 0);
}

/* Advances the tiles; tiles without octs next to ghosts come first. Octs next to ghosts are the
 * ones that other ranks need. */
static void update_tiles(struct update *up, const struct patch_how *o)
{
    struct level *lv = &up->m->lev[up->l];
    const struct patch_arrival *a = o->arrival;
    struct tile_list list;
    for (int v = 0; o->old && v < up->law->nvar; v++) o->old[v] = NULL;
    if (lv->nown == 0 && a) a->wait(a->ctx);
    if (lv->nown == 0) return;
    fields_new(up);
    tile_list_build(up->m, up->l, o->depth, omp_get_max_threads(), a && !a->soon, &list);
    lidx early = a ? list.n - list.nouter : 0;
    const int batch = omp_get_max_threads() > 1 ? 1 : list.n; /* a thread alone shares nothing */
    struct patch_scratch *own = o->scratch ? NULL : patch_scratch_new();
    struct patch_scratch *scratch = own ? own : o->scratch;
    scratch_reach(scratch, omp_get_max_threads());
#pragma omp parallel
    {
        struct sweep **mine = &scratch->sweep[omp_get_thread_num()], *s = *mine;
        if (!s) *mine = s = mem_zero(sizeof *s, "hydro tile scratch");
        sweep_init(s, up->m, up->l, up->dt, up->law);
        s->flow = o->flow;
#pragma omp for schedule(dynamic, batch)
        for (lidx i = 0; i < early; i++) tile_advance(s, up, &list.tile[i]);
#pragma omp master
        if (a) a->wait(a->ctx);
#pragma omp barrier
#pragma omp for schedule(dynamic, batch)
        for (lidx i = early; i < list.n; i++) tile_advance(s, up, &list.tile[i]);
    }
    patch_scratch_free(&own);
    fields_replace(up, o->old);
    tile_list_free(&list);
}

static void fields_new(struct update *up)
{
    size_t bytes = sizeof *up->new[0] * (size_t)up->m->lev[up->l].noct;
    for (int v = 0; v < up->law->nvar; v++) {
        up->new[v] = NULL;
        if (up->law->zero >> v & 1) continue;
        up->new[v] = mem_new(bytes + 1, "mesh gas");
        mem_touch(up->new[v]);
    }
}

/* Replaces the arrays of the variables by the new ones; ghosts keep their (now stale) values. */
static void fields_replace(struct update *up, double (**old)[8])
{
    struct level *lv = &up->m->lev[up->l];
    size_t ghosts = (size_t)(lv->noct - lv->nown);
    for (int v = 0; v < up->law->nvar; v++) {
        if (!up->new[v]) continue;
        memcpy(up->new[v] + lv->nown, lv->fld[up->law->field[v]] + lv->nown,
               ghosts * sizeof *up->new[v]);
        if (old)
            old[v] = lv->fld[up->law->field[v]];
        else
            mem_free(lv->fld[up->law->field[v]]);
        lv->fld[up->law->field[v]] = up->new[v];
    }
}

/* ---- registers of the coarse–fine boundary ---- */

/* Adds the fluxes through the fine faces of an oct in one plane to its register: na along x, nb
 * along y; w: stride between rows. n: numbers of a face, of which zero are 0. */
INLINE void numbers_add(int n, uint64_t zero, int w, double *restrict row,
                        const double *restrict flux, int na, int nb, double sign)
{
    for (int v = 0; v < n; v++, flux += PLANE_STRIDE)
        for (int b = 0; b < nb && !(zero >> v & 1); b++)
            for (int a = 0; a < na; a++) row[v] += flux[a + b * w] * sign;
}

/* Five numbers, of which none is 0, are those of gas alone. */
INLINE void register_add(const struct sweep *s, double *restrict row, const double *restrict flux,
                         int na, int nb, double sign)
{
    if (s->nflux == GAS_NUMBERS && !s->zero)
        numbers_add(GAS_NUMBERS, 0, s->in.w, row, flux, na, nb, sign);
    else
        numbers_add(s->nflux, s->zero, s->in.w, row, flux, na, nb, sign);
}

/* Sum of the fluxes through the faces f of an oct that lie in one plane, opposite ones first. */
static double faces_sum(const struct sweep *s, int f, const double *flux)
{
    const int w = s->in.w;
    if (s->ndim < 2) return flux[0];
    if (f < 4) return flux[0] + flux[f < 2 ? w : 1];
    return (flux[0] + flux[w + 1]) + (flux[1] + flux[w]);
}

/* Adds the same to the register of oct i of a law with a field on faces, in an order in which a
 * mirror image has the same sums: the faces of both planes are added first. */
static void register_add_even(const struct sweep *s, const struct reflux *r, lidx i, int f,
                              const double *flux, double sign)
{
    const bool planes = s->ndim > 2 && f < 4;
    double *row = reflux_row(r, i) + f * s->nflux;
    double *lower = planes ? reflux_lower(r, i) + f * s->nflux : NULL;
    for (int v = 0; v < s->nflux; v++, flux += PLANE_STRIDE) {
        const double sum = faces_sum(s, f, flux);
        if (planes && !s->upper)
            lower[v] = sum;
        else
            row[v] += (planes ? lower[v] + sum : sum) * sign;
    }
}

static void tile_faces(struct sweep *s, void *ctx, int f, int y, int z, const double *flux)
{
    const struct update *up = ctx;
    const struct slots *p = &s->slots;
    const struct level *lv = &up->m->lev[up->l];
    const struct reflux *r = &lv->reflux[s->law->system];
    const int ndim = s->ndim, along_y = ndim > 1 ? 2 : 1;
    const double weight = 1.0 / (1 << ndim), sign = f & 1 ? weight : -weight;
    for (uint32_t octs = p->exposed[f][z + 1][y + 1]; octs; octs &= octs - 1) {
        int x = __builtin_ctz(octs) - 1;
        const lidx i = slot_row(p, y, z)[x + 1];
        double *row = reflux_row(r, i) + f * s->nflux;
        if (s->edges)
            register_add_even(s, r, i, f, flux + 2 * x, sign);
        else if (f < 2)
            register_add(s, row, flux + 2 * x, 1, along_y, sign);
        else if (f < 4)
            register_add(s, row, flux + 2 * x, 2, 1, sign);
        else
            register_add(s, row, flux + 2 * x, 2, 2, sign);
    }
}

/* Prefetches the registers of a row: the first fluxes of a row come a thousand cycles later. */
static void tile_soon(struct sweep *s, void *ctx, int y, int z)
{
    const struct update *up = ctx;
    const struct slots *p = &s->slots;
    const struct reflux *r = &up->m->lev[up->l].reflux[s->law->system];
    for (unsigned faces = p->exposed_any[z + 1][y + 1]; faces; faces &= faces - 1) {
        const int f = __builtin_ctz(faces);
        for (uint32_t octs = p->exposed[f][z + 1][y + 1]; octs; octs &= octs - 1) {
            const double *row = reflux_row(r, slot_row(p, y, z)[__builtin_ctz(octs)]);
            __builtin_prefetch(row + f * s->nflux, 1);
            __builtin_prefetch(row + f * s->nflux + s->nflux - 1, 1);
        }
    }
}

static void tile_edges(struct sweep *s, void *ctx, int k)
{
    const struct update *up = ctx;
    edges_register(s, &up->m->lev[up->l].reflux[s->law->system], k);
}

/* A register that an unrefined cell receives, or two from opposite faces. */
struct received {
    const double *row, *other;
    int c;
};

/* Finds the registers of fine octs across face f of the unrefined cells of an oct; own: bits of its
 * refined cells. All are requested before the first is used, to overlap their latencies. Returns
 * their number. */
static int registers_across(const struct oct_sums *o, int f, unsigned own, struct received *found)
{
    const struct level *lv = &o->m->lev[o->l];
    const int cells = o->m->cells;
    const lidx j = lv->nbr[o->i][f];
    const unsigned out = j >= 0 ? refined_cells(lv, j, cells) : 0,
                   plain = ((1u << cells) - 1) & ~own;
    int n = 0;
    for (unsigned b = plain & refined_across(own, out, f); b; b &= b - 1) {
        const int c = __builtin_ctz(b);
        const double *row = reflux_across(lv, lv + 1, o->i, c, f, o->law->system, o->law->nflux);
        if (!row) continue;
        __builtin_prefetch(row);
        found[n++] = (struct received){row, NULL, c};
    }
    return n;
}

/* Joins registers of the lower faces along an axis, nlow of the n found, with those of the upper
 * faces of the same cells: a mirror image has the same sums. Returns the new number. */
static int registers_pair(struct received *found, int nlow, int n)
{
    int kept = nlow;
    for (int i = nlow; i < n; i++) {
        int k = 0;
        while (k < nlow && found[k].c != found[i].c) k++;
        if (k < nlow)
            found[k].other = found[i].row;
        else
            found[kept++] = found[i];
    }
    return kept;
}

/* All registers of an oct, those of each cell by ascending face. Returns their number. */
static int registers_find(const struct oct_sums *o, struct received found[48])
{
    const struct level *lv = &o->m->lev[o->l];
    const unsigned own = refined_cells(lv, o->i, o->m->cells);
    int n = 0;
    if (own == (1u << o->m->cells) - 1) return 0;
    for (int axis = 0; axis < o->m->ndim; axis++) {
        const int low = registers_across(o, 2 * axis, own, found + n),
                  all = low + registers_across(o, 2 * axis + 1, own, found + n + low);
        n += o->law->edges ? registers_pair(found + n, low, all) : all;
    }
    return n;
}

/* Adds the registers of fine octs across the faces of each unrefined cell. */
static void oct_collect(struct oct_sums *o)
{
    struct received found[48];
    const int n = registers_find(o, found), nflux = o->law->nflux, ndim = o->m->ndim;
    for (int v = 0; v < nflux && n > 0; v++) {
        double *w = o->w[law_sum(o->law, ndim, v)];
        for (int i = 0; i < n; i++)
            w[found[i].c] += found[i].other ? found[i].row[v] + found[i].other[v] : found[i].row[v];
        oct_repeat(o->m->cells, w);
    }
    if (o->law->edges && ndim > 1) edges_collect(o);
}

/* ---- update of octs ---- */

/* Mask of the octs of a row that may receive registers: those with a refined cell, or beside an oct
 * with one, but not those whose cells are all refined. For a law with edges all octs are in it if
 * one that shares a face or an edge with the row may have a refined cell. */
static uint32_t split_near(const struct gathered *g, int y, int z)
{
    const uint32_t(*split)[SLOT_SIDE] = g->split_octs + z + 1;
    const uint32_t here = split[0][++y], whole = g->whole_octs[z + 1][y];
    const uint32_t faces = here | here << 1 | here >> 1 | split[0][y - 1] | split[0][y + 1] |
                           split[-1][y] | split[1][y];
    if (!g->law->edges) return faces & ~whole;
    const uint32_t corners = split[-1][y - 1] | split[-1][y + 1] | split[1][y - 1] |
                             split[1][y + 1];
    return faces | corners ? ~(uint32_t)0 : 0;
}

/* Takes eight values of an oct, whose first cell is at `at` of the planes. */
static void take_oct(const struct sweep *s, int v, int at, double *to)
{
    const double *a = s->sum[0] + v * PLANE_STRIDE + at, *b = s->sum[1] + v * PLANE_STRIDE + at;
    memcpy(to, a, 16);
    memcpy(to + 2, a + s->in.w, 16);
    memcpy(to + 4, b, 16);
    memcpy(to + 6, b + s->in.w, 16);
}

/* Takes the values of the own octs of a row in one or two dimensions, where both layers of an oct
 * are one, variable by variable. */
static void take_flat(const struct sweep *s, double (*const *new)[8], int y, uint32_t octs)
{
    const lidx *row = slot_row(&s->slots, y, 0);
    const int up = s->ndim > 1 ? s->in.w : 0; /* to the upper row of cells */
    lidx oct[LINE_OCTS];
    int at[LINE_OCTS], n = 0;
    for (; octs; octs &= octs - 1, n++) {
        const int slot = __builtin_ctz(octs);
        oct[n] = row[slot], at[n] = plane_at(s->in.w, 2 * (slot - 1), 2 * y);
    }
    for (int v = 0; v < s->nvar; v++) {
        const double *sum = s->sum[0] + v * PLANE_STRIDE;
        for (int i = 0; i < n && new[v]; i++) {
            const pair lower = *(const pair *)(sum + at[i]),
                       upper = *(const pair *)(sum + at[i] + up);
            const cells4 cells = __builtin_shufflevector(lower, upper, 0, 1, 2, 3);
            cells4_any *to = (cells4_any *)new[v][oct[i]];
            to[0] = to[1] = cells;
        }
    }
}

/* Takes eight values each of octs i and j, adjacent in x; at: index of the first cell of i. */
static inline void take_two(const struct sweep *s, int v, int at, double (*to)[8], lidx i, lidx j)
{
    const double *a = s->sum[0] + v * PLANE_STRIDE + at, *b = s->sum[1] + v * PLANE_STRIDE + at;
    int w = s->in.w;
    cells4_any *x = (cells4_any *)to[i], *y = (cells4_any *)to[j];
    cells4 lower[2], upper[2];
    layer_transpose(*(const cells4_any *)a, *(const cells4_any *)(a + w), &lower[0], &upper[0]);
    layer_transpose(*(const cells4_any *)b, *(const cells4_any *)(b + w), &lower[1], &upper[1]);
    x[0] = lower[0], x[1] = lower[1];
    y[0] = upper[0], y[1] = upper[1];
}

/* Prefetches the destinations of new values. */
static void tile_reserve(struct sweep *s, void *ctx, int y, int z, int part)
{
    const struct update *up = ctx;
    const struct slots *p = &s->slots;
    for (uint32_t b = slots_part(p, p->own[z + 1][y + 1], part); b; b &= b - 1) {
        lidx i = slot_row(p, y, z)[__builtin_ctz(b)];
        for (int v = 0; v < up->law->nvar; v++)
            if (up->new[v]) __builtin_prefetch(up->new[v][i], 1, 2);
    }
}

/* Whether a cell of an oct or beside it is refined, also beyond its corners; where that is known:
 * in one plane. */
static bool split_beside(const struct sweep *s, int at)
{
    if (s->ndim > 2) return true;
    const unsigned char *row = s->in.split[0] + at - (s->ndim > 1 ? s->in.w : 0);
    unsigned char any = 0;
    for (int y = 0; y < (s->ndim > 1 ? 4 : 1); y++, row += s->in.w)
        any |= row[-1] | row[0] | row[1] | row[2];
    return any;
}

/* The field of a law with edges along a missing axis is in both numbers. */
static void faces_repeat(struct oct_sums *o)
{
    double(*face)[8] = o->w + law_cells(o->law);
    for (int f = 2 * o->m->ndim; f < LAW_FACES; f += 2)
        memcpy(face[f + 1], face[f], sizeof face[f]);
}

/* Calls law.after for the row before the present one, of which all has been written, and keeps this
 * row for the next call: loads need not wait for stores. octs 0: only that. */
static void row_after(struct sweep *s, const struct update *up, int y, int z, uint32_t octs)
{
    const int64_t *first = s->slots.tile->x0;
    if (!up->law->after) return;
    if (s->late.octs) up->law->after(up->law, &s->late);
    s->late = (struct law_row){up->dt,
                               up->new,
                               slot_row(&s->slots, y, z),
                               {first[0] - 1, first[1] + y, first[2] + z},
                               octs};
}

/* Takes the own octs of a row from their planes. */
static void tile_ready(struct sweep *s, void *ctx, int y, int z)
{
    struct update *up = ctx;
    const struct slots *p = &s->slots;
    const struct law *law = up->law;
    const bool repeats = law->edges && s->ndim < 3;
    /* whether fluxes are all that changes it */
    const bool alone = !law->finish && law->nsum == law->nvar && !repeats;
    const bool finer = up->l < up->m->levelmax && up->m->lev[up->l + 1].reflux[law->system].row;
    const uint32_t near = finer ? split_near(&s->in, y, z) : 0, plain = alone ? ~near : 0;
    struct oct_sums o; /* declared outside of the loop: 4 kB that need not be zeroed for each row */
    o.law = law, o.m = up->m, o.l = up->l;
    o.dt = up->dt, o.dx = up->dx;
    uint32_t octs = p->own[z + 1][y + 1];
    if (s->ndim < 3) take_flat(s, up->new, y, octs & plain), octs &= ~plain;
    while (octs) {
        int x = __builtin_ctz(octs) - 1, at = plane_at(s->in.w, 2 * x, 2 * y);
        const lidx *oct = slot_row(p, y, z) + x + 1;
        if (((octs & plain) >> (x + 1) & 3) == 3) {
            for (int v = 0; v < s->nvar; v++)
                if (up->new[v]) take_two(s, v, at, up->new[v], oct[0], oct[1]);
            octs &= ~((uint32_t)3 << (x + 1));
            continue;
        }
        const bool collects = near >> (x + 1) & 1 && split_beside(s, at),
                   direct = alone && !collects;
        o.i = *oct;
        for (int v = 0; v < law->nsum; v++)
            take_oct(s, v, at, direct && up->new[v] ? up->new[v][o.i] : o.w[v]);
        octs &= octs - 1;
        if (direct) continue;
        if (collects) oct_collect(&o);
        if (repeats) faces_repeat(&o);
        if (law->finish) law->finish(&o);
        for (int v = 0; v < s->nvar; v++)
            if (up->new[v]) memcpy(up->new[v][o.i], o.w[v], sizeof o.w[v]);
    }
    if (law->look) law->look(s, y, z);
    row_after(s, up, y, z, p->own[z + 1][y + 1]);
}
