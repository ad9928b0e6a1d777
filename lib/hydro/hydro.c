/* hydro: one Godunov step of a level.
 *
 * Own octs are advanced tile by tile (tile.c): gather with halo (gather.c), prim → slopes → trace →
 * Riemann → flux differences by rows (flux.c), then for each oct the rest of the step, here: the
 * registers of the finer level, the gravity source term, pressure_fix, floors. New values go to
 * second arrays because neighbours need the old ones; at the end these become the fields of the
 * level.
 *
 * Coarse–fine boundaries (Berger & Colella 1989): fluxes through faces of a refined cell are zero
 * on the coarse level. The fine oct beyond the face sums its own fluxes through the four fine
 * faces, each with dt_f/dx_f and weight 1/8, over its sub-steps in a register of its own; the
 * coarse cell then collects the registers of its six sides in a fixed order. So no oct writes to
 * another's cell, and the sum does not depend on ranks, threads or tiles. */
#include "hydro/hydro.h"

#include <omp.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/flux.h"
#include "hydro/interp_kern.h"

/* Shared by the threads that work on tiles. */
struct update {
    struct mesh *m;
    int l;
    double dt, hexp, dx;
    const struct hydro_par *par;
    const struct hydro_change *change;
    double (*new[NVAR_MAX])[8]; /* [nvar][noct]; become the fields of the level */
};

static void tile_faces(struct sweep *s, void *ctx, int f, int y, int z, const double *flux);
static void tile_reserve(struct sweep *s, void *ctx, int y, int z, int part);
static void tile_ready(struct sweep *s, void *ctx, int y, int z);
static void update_tiles(struct update *up, const struct hydro_arrival *a);
static void fields_new(struct update *up);
static void fields_replace(struct update *up);

enum riemann hydro_riemann_named(const char *name)
{
    static const char *const names[] = {
#define RIEMANN(name, text, flux) text,
#define ITERATED(name, text) text,
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    };
    int r = 0;
    while (r < RIEMANN_COUNT && strcmp(name, names[r]) != 0) r++;
    return (enum riemann)r;
}

void hydro_update(struct mesh *m, int l, double dt, double hexp, const struct hydro_par *p)
{
    hydro_update_while(m, l, dt, hexp, p, NULL, NULL);
}

void hydro_update_while(struct mesh *m, int l, double dt, double hexp, const struct hydro_par *p,
                        const struct hydro_arrival *a, const struct hydro_change *c)
{
    struct update up = {.m = m, .l = l, .dt = dt, .hexp = hexp, .dx = mesh_dx(m, l), .par = p};
    up.change = c && c->n ? c : NULL;
    update_tiles(&up, a);
}

struct hydro_scratch {
    int n;
    struct sweep **sweep; /* [n], by thread; NULL: not needed yet */
};

struct hydro_scratch *hydro_scratch_new(void)
{
    return mem_zero(sizeof(struct hydro_scratch), "hydro tile scratch");
}

void hydro_scratch_free(struct hydro_scratch **s)
{
    for (int i = 0; *s && i < (*s)->n; i++) {
        if ((*s)->sweep[i]) sweep_fini((*s)->sweep[i]);
        FREE((*s)->sweep[i]);
    }
    if (*s) FREE((*s)->sweep);
    FREE(*s);
}

static void scratch_reach(struct hydro_scratch *s, int n)
{
    if (n <= s->n) return;
    s->sweep = mem_grow(s->sweep, sizeof *s->sweep * (size_t)n, "hydro tile scratch");
    for (; s->n < n; s->n++) s->sweep[s->n] = NULL;
}

static void tile_advance(struct sweep *s, struct update *up, const struct tile *t)
{
    const struct hydro_par *p = up->par;
    bool corners = p->slope_type == SLOPE_POSITIVE || p->difmag > 0.0;
    struct sweep_user user = {NULL, tile_reserve, tile_ready, up};
    if (up->m->lev[up->l].edge) user.faces = tile_faces;
    sweep_run(s, up->m, up->l, t, corners, &user);
}

/* Tiles without octs next to ghosts come first. Octs next to ghosts are those that other ranks
 * need. */
static void update_tiles(struct update *up, const struct hydro_arrival *a)
{
    struct level *lv = &up->m->lev[up->l];
    struct tile_list list;
    BUG_ON(up->par->nvar != up->m->nvar);
    if (lv->nown == 0 && a) a->wait(a->ctx);
    if (lv->nown == 0) return;
    fields_new(up);
    tile_list_build(up->m, up->l, up->par->tile_depth - 1, omp_get_max_threads(), a && !a->soon,
                    &list);
    lidx early = a ? list.n - list.nouter : 0;
    struct hydro_scratch *own = up->par->scratch ? NULL : hydro_scratch_new();
    struct hydro_scratch *scratch = own ? own : up->par->scratch;
    scratch_reach(scratch, omp_get_max_threads());
#pragma omp parallel
    {
        struct sweep **mine = &scratch->sweep[omp_get_thread_num()], *s = *mine;
        if (!s) *mine = s = mem_zero(sizeof *s, "hydro tile scratch");
        sweep_init(s, up->m, up->l, up->dt, up->par);
#pragma omp for schedule(dynamic, 1)
        for (lidx i = 0; i < early; i++) tile_advance(s, up, &list.tile[i]);
#pragma omp master
        if (a) a->wait(a->ctx);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (lidx i = early; i < list.n; i++) tile_advance(s, up, &list.tile[i]);
    }
    hydro_scratch_free(&own);
    fields_replace(up);
    tile_list_free(&list);
}

static void fields_new(struct update *up)
{
    size_t bytes = sizeof *up->new[0] * (size_t)up->m->lev[up->l].noct;
    for (int v = 0; v < up->par->nvar; v++) {
        up->new[v] = mem_new(bytes + 1, "mesh gas");
        mem_touch(up->new[v]);
    }
}

/* The new arrays take the place of the old ones; ghosts keep their (now stale) values. */
static void fields_replace(struct update *up)
{
    struct level *lv = &up->m->lev[up->l];
    size_t ghosts = (size_t)(lv->noct - lv->nown);
    for (int v = 0; v < up->par->nvar; v++) {
        memcpy(up->new[v] + lv->nown, lv->fld[FLD_U + v] + lv->nown, ghosts * sizeof *up->new[v]);
        mem_free(lv->fld[FLD_U + v]);
        lv->fld[FLD_U + v] = up->new[v];
    }
}

/* ---- registers of the coarse–fine boundary ---- */

static inline int edge_nflux(const struct hydro_par *p)
{
    return p->nvar + (p->pressure_fix ? 2 : 0);
}

static inline double *edge_row(const struct level *lv, lidx i, const struct hydro_par *p)
{
    return lv->edge_flux + (size_t)lv->edge[i] * 6 * (size_t)edge_nflux(p);
}

void hydro_edge_begin(struct mesh *m, int l, const struct hydro_par *p)
{
    struct level *lv = &m->lev[l];
    hydro_edge_end(m, l);
    if (lv->noct == 0) return;
    lv->edge = mem_new(sizeof *lv->edge * (size_t)lv->noct, "hydro reflux");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        bool any = false;
        for (int f = 0; f < 6; f++) any |= lv->nbr[i][f] == NBR_NONE;
        lv->edge[i] = any;
    }
    for (lidx i = 0; i < lv->noct; i++) lv->edge[i] = lv->edge[i] ? lv->nedge++ : -1;
    lv->edge_flux = mem_zero(hydro_edge_row_bytes(p) * (size_t)lv->nedge + 1, "hydro reflux");
}

void hydro_edge_end(struct mesh *m, int l)
{
    FREE(m->lev[l].edge);
    FREE(m->lev[l].edge_flux);
    m->lev[l].nedge = 0;
}

size_t hydro_edge_row_bytes(const struct hydro_par *p)
{
    return sizeof(double) * 6 * (size_t)edge_nflux(p);
}

void hydro_edge_export(const struct mesh *m, int l, const struct hydro_par *p, lidx oct, void *row)
{
    const struct level *lv = &m->lev[l];
    if (lv->edge[oct] >= 0)
        memcpy(row, edge_row(lv, oct, p), hydro_edge_row_bytes(p));
    else
        memset(row, 0, hydro_edge_row_bytes(p));
}

void hydro_edge_import(struct mesh *m, int l, const struct hydro_par *p, lidx oct, const void *row)
{
    struct level *lv = &m->lev[l];
    if (lv->edge[oct] >= 0) memcpy(edge_row(lv, oct, p), row, hydro_edge_row_bytes(p));
}

/* Adds the fluxes through those fine faces of an oct that lie in one plane to its register: na
 * along x, nb along y, in rows w apart. */
static inline __attribute__((always_inline)) void edge_add(double *restrict row, int nflux,
                                                           const double *restrict flux, int w,
                                                           int na, int nb, double sign)
{
    for (int v = 0; v < nflux; v++, flux += PLANE_STRIDE)
        for (int b = 0; b < nb; b++)
            for (int a = 0; a < na; a++) row[v] += flux[a + b * w] * sign;
}

static void tile_faces(struct sweep *s, void *ctx, int f, int y, int z, const double *flux)
{
    const struct update *up = ctx;
    const struct places *p = &s->places;
    const struct level *lv = &up->m->lev[up->l];
    const double sign = f & 1 ? 0.125 : -0.125;
    for (uint32_t octs = p->edge[f][z + 1][y + 1]; octs; octs &= octs - 1) {
        int x = __builtin_ctz(octs) - 1;
        double *row = edge_row(lv, p->oct[z + 1][y + 1][x + 1], s->par) + f * s->nflux;
        if (f < 2)
            edge_add(row, s->nflux, flux + 2 * x, s->in.w, 1, 2, sign);
        else if (f < 4)
            edge_add(row, s->nflux, flux + 2 * x, s->in.w, 2, 1, sign);
        else
            edge_add(row, s->nflux, flux + 2 * x, s->in.w, 2, 2, sign);
    }
}

/* ---- the rest of the step of one oct ---- */

/* The eight cells of an oct: w holds the sums of old values and flux differences on entry and the
 * new values on return. */
struct oct_work {
    const struct update *up;
    lidx i;
    double w[NVAR_MAX + 3][8];
};

static void oct_collect(struct oct_work *o);
static void oct_gravity(struct oct_work *o);
static void oct_pdv(struct oct_work *o, double *eint);
static void oct_scalars(struct oct_work *o);
static void oct_switch_energy(struct oct_work *o, const double *eint);

double (*hydro_change_row(struct hydro_change *c, lidx nown, lidx i))[8]
{
    if (!c->row) {
        c->row = mem_new(sizeof *c->row * (size_t)nown + 1, "hydro changes");
        for (lidx k = 0; k < nown; k++) c->row[k] = -1;
    }
    size_t bytes = sizeof *c->u * (size_t)c->nvar;
    if (c->row[i] < 0) {
        if (c->n == c->cap) {
            c->cap = 2 * c->cap + 64;
            c->u = mem_grow(c->u, bytes * (size_t)c->cap, "hydro changes");
        }
        memset(c->u + (size_t)c->nvar * (size_t)c->n, 0, bytes);
        c->row[i] = c->n++;
    }
    return c->u + (size_t)c->nvar * (size_t)c->row[i];
}

void hydro_change_free(struct hydro_change *c)
{
    FREE(c->row);
    FREE(c->u);
    c->n = c->cap = 0;
}

void hydro_change_apply(const struct hydro_change *c, struct level *lv)
{
    for (lidx i = 0; c->row && i < lv->nown; i++) {
        if (c->row[i] < 0) continue;
        double(*u)[8] = c->u + (size_t)c->nvar * (size_t)c->row[i];
        for (int v = 0; v < c->nvar; v++)
            for (int k = 0; k < 8; k++) lv->fld[FLD_U + v][i][k] += u[v][k];
    }
}

static void oct_change(struct oct_work *o)
{
    const struct hydro_change *c = o->up->change;
    lidx row = c->row[o->i];
    if (row < 0) return;
    for (int v = 0; v < c->nvar; v++)
        for (int k = 0; k < 8; k++) o->w[v][k] += c->u[(size_t)c->nvar * (size_t)row + v][k];
}

/* split: there may be a refined cell in the oct or beside it. */
static void oct_finish(struct oct_work *o, bool split)
{
    double eint[8];
    const struct update *up = o->up;
    if (split && up->l < up->m->levelmax && up->m->lev[up->l + 1].edge) oct_collect(o);
    if (up->change) oct_change(o);
    if (up->m->gravity) oct_gravity(o);
    if (up->par->pressure_fix) oct_pdv(o, eint);
    if (up->par->nvar > GAS_SCALARS) oct_scalars(o);
    if (up->par->pressure_fix) oct_switch_energy(o, eint);
}

static bool split_near(const struct gathered *g, int y, int z)
{
    const bool(*split)[PLACE_SIDE] = g->split_row + z + 1;
    y++;
    return split[0][y] || split[0][y - 1] || split[0][y + 1] || split[-1][y] || split[1][y];
}

/* Eight values of an oct, whose first cell is at `at` of the planes. */
static void take_oct(const struct sweep *s, int v, int at, double *to)
{
    const double *a = s->sum[0] + v * PLANE_STRIDE + at, *b = s->sum[1] + v * PLANE_STRIDE + at;
    memcpy(to, a, 16);
    memcpy(to + 2, a + s->in.w, 16);
    memcpy(to + 4, b, 16);
    memcpy(to + 6, b + s->in.w, 16);
}

/* Eight values each of octs i and j, side by side in x; the first cell of i is at `at`. */
static inline void take_two(const struct sweep *s, int v, int at, double (*to)[8], lidx i, lidx j)
{
    const double *a = s->sum[0] + v * PLANE_STRIDE + at, *b = s->sum[1] + v * PLANE_STRIDE + at;
    int w = s->in.w;
    cells4_any *x = (cells4_any *)to[i], *y = (cells4_any *)to[j];
    cells4 lower[2], upper[2];
    layer_turn(*(const cells4_any *)a, *(const cells4_any *)(a + w), &lower[0], &upper[0]);
    layer_turn(*(const cells4_any *)b, *(const cells4_any *)(b + w), &lower[1], &upper[1]);
    x[0] = lower[0], x[1] = lower[1];
    y[0] = upper[0], y[1] = upper[1];
}

/* Has the places of new values brought nearer. */
static void tile_reserve(struct sweep *s, void *ctx, int y, int z, int part)
{
    const struct update *up = ctx;
    const struct places *p = &s->places;
    for (uint32_t b = places_part(p, p->own[z + 1][y + 1], part); b; b &= b - 1) {
        lidx i = p->oct[z + 1][y + 1][__builtin_ctz(b)];
        for (int v = 0; v < up->par->nvar; v++) __builtin_prefetch(up->new[v][i], 1, 2);
    }
}

/* Takes the own octs of a row out of their planes. */
static void tile_ready(struct sweep *s, void *ctx, int y, int z)
{
    struct update *up = ctx;
    const struct places *p = &s->places;
    bool split = split_near(&s->in, y, z);
    bool plain = !split && !up->m->gravity && !up->par->pressure_fix && !up->change &&
                 up->par->nvar == GAS_SCALARS;
    struct oct_work o; /* 4 kB, not to be zeroed for each row */
    o.up = up;
    for (uint32_t octs = p->own[z + 1][y + 1]; octs;) {
        int x = __builtin_ctz(octs) - 1, at = plane_at(s->in.w, 2 * x, 2 * y);
        const lidx *oct = &p->oct[z + 1][y + 1][x + 1];
        if (plain && (octs >> (x + 1) & 3) == 3) {
            for (int v = 0; v < s->nvar; v++) take_two(s, v, at, up->new[v], oct[0], oct[1]);
            octs &= ~((uint32_t)3 << (x + 1));
            continue;
        }
        o.i = *oct;
        for (int v = 0; v < s->nout; v++) take_oct(s, v, at, plain ? up->new[v][o.i] : o.w[v]);
        octs &= octs - 1;
        if (plain) continue;
        oct_finish(&o, split);
        for (int v = 0; v < s->nvar; v++) memcpy(up->new[v][o.i], o.w[v], sizeof o.w[v]);
    }
}

/* Registers of fine octs across the six faces of each unrefined cell. All are asked for before the
 * first is waited for. */
static void oct_collect(struct oct_work *o)
{
    const struct level *lv = &o->up->m->lev[o->up->l], *fine = lv + 1;
    struct {
        const double *row;
        int c;
    } found[48];
    int n = 0, nflux = edge_nflux(o->up->par);
    for (int c = 0; c < 8; c++) {
        if (lv->child[o->i][c] >= 0) continue;
        for (int f = 0; f < 6; f++) {
            const double *row = hydro_register(lv, fine, o->i, c, f, nflux);
            if (!row) continue;
            __builtin_prefetch(row);
            found[n].row = row;
            found[n++].c = c;
        }
    }
    for (int i = 0; i < n; i++)
        for (int v = 0; v < nflux; v++) o->w[v][found[i].c] += found[i].row[v];
}

/* Half a kick with the old density, at constant internal energy. */
static void oct_gravity(struct oct_work *o)
{
    const struct level *lv = &o->up->m->lev[o->up->l];
    const double *restrict r_old = lv->fld[FLD_U][o->i];
    const double *restrict fx = lv->fld[FLD_FX][o->i], *restrict fy = lv->fld[FLD_FY][o->i],
                           *restrict fz = lv->fld[FLD_FZ][o->i];
    const double smallr = o->up->par->smallr, dt = o->up->dt;
    double(*restrict w)[8] = o->w;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        hydro_pull_cell(w[0][c], &w[1][c], &w[2][c], &w[3][c], &w[GAS_ENERGY][c], r_old[c], fx[c],
                        fy[c], fz[c], smallr, dt);
    }
}

/* Velocity components of what is beside the cells of an oct below and above, and its distance in
 * cells: 1, or 1½ where it is coarser. */
struct beside {
    double v[3][2][8], distance[3][2][8];
};

/* Component d in the eight cells of an oct of the level. */
static inline void oct_velocity(const struct oct_work *o, lidx i, int d, double *restrict v)
{
    const struct level *lv = &o->up->m->lev[o->up->l];
    const double *restrict r = lv->fld[FLD_U][i], *restrict u = lv->fld[FLD_U + 1 + d][i];
    const double smallr = o->up->par->smallr;
#pragma omp simd
    for (int c = 0; c < 8; c++) v[c] = u[c] * (1.0 / hydro_max(r[c], smallr));
}

/* The one of the cell across face f of cell c, where the level has no oct. */
static double velocity_across(const struct oct_work *o, int c, int f)
{
    const struct update *up = o->up;
    double u[GAS_SCALARS];
    hydro_gas_across(up->m, up->l, o->i, c, f, up->par, u);
    return u[1 + (f >> 1)] * (1.0 / hydro_max(u[0], up->par->smallr));
}

static bool cell_at_face(int c, int f)
{
    return (c >> (f >> 1) & 1) == (f & 1);
}

/* Component d in the cells across face f, each where it would be in an oct there. */
static void velocities_beyond(const struct oct_work *o, int d, int f, double out[8])
{
    lidx j = o->up->m->lev[o->up->l].nbr[o->i][f];
    int bit = 1 << d, first = f & 1 ? bit : 0;
    if (j >= 0) {
        oct_velocity(o, j, d, out);
        return;
    }
    bool coarse = j == NBR_NONE; /* one cell across all of the face */
    for (int c = 0; c < 8; c++)
        if (cell_at_face(c, f))
            out[c ^ bit] = coarse && c != first ? out[first ^ bit] : velocity_across(o, c, f);
}

static void oct_beside(const struct oct_work *o, struct beside *b)
{
    const lidx *nbr = o->up->m->lev[o->up->l].nbr[o->i];
    for (int d = 0; d < 3; d++) {
        double in[8], out[8];
        oct_velocity(o, o->i, d, in);
        for (int side = 0; side < 2; side++) {
            int f = 2 * d + side, bit = 1 << d;
            velocities_beyond(o, d, f, out);
            for (int c = 0; c < 8; c++) {
                bool beyond = cell_at_face(c, f);
                b->v[d][side][c] = beyond ? out[c ^ bit] : in[c ^ bit];
                b->distance[d][side][c] = beyond && nbr[f] == NBR_NONE ? 1.5 : 1.0;
            }
        }
    }
}

/* The divergence of the old velocities in the cells of an oct at the coarse–fine boundary. */
static void oct_expansion_edge(const struct oct_work *o, double *restrict div)
{
    const double dx = o->up->dx;
    struct beside b;
    oct_beside(o, &b);
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        div[c] = 0.0;
        for (int d = 0; d < 3; d++)
            div[c] += (b.v[d][1][c] - b.v[d][0][c]) /
                      (b.distance[d][0][c] * dx + b.distance[d][1][c] * dx);
    }
}

/* Advances the auxiliary internal energy: fluxes, and −P dV with the old velocities. */
static void oct_pdv(struct oct_work *o, double *restrict eint)
{
    const struct level *lv = &o->up->m->lev[o->up->l];
    const struct hydro_par *par = o->up->par;
    const double *restrict r = lv->fld[FLD_U][o->i], *restrict x = lv->fld[FLD_U + 1][o->i],
                           *restrict y = lv->fld[FLD_U + 2][o->i],
                           *restrict z = lv->fld[FLD_U + 3][o->i],
                           *restrict etot = lv->fld[FLD_U + GAS_ENERGY][o->i];
    const double *restrict flux = o->w[par->nvar + 1];
    double *restrict div = o->w[par->nvar + 2];
    const double smallr = par->smallr, gm1 = par->gamma - 1.0, dt = o->up->dt;
    bool edge = false;
    for (int f = 0; f < 6; f++) edge |= lv->nbr[o->i][f] == NBR_NONE;
    if (edge) oct_expansion_edge(o, div);
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        eint[c] = hydro_pdv_cell(r[c], x[c], y[c], z[c], etot[c], flux[c], div[c], smallr, gm1, dt);
    }
}

/* Where the density falls below its floor or rises from below it, scalar densities belong to the
 * floor. */
static void oct_scalars(struct oct_work *o)
{
    const struct level *lv = &o->up->m->lev[o->up->l];
    double smallr = o->up->par->smallr;
    for (int c = 0; c < 8; c++) {
        double factor = hydro_scalar_factor(lv->fld[FLD_U][o->i][c], o->w[0][c], smallr);
        if (factor == 0.0) continue;
        for (int v = GAS_SCALARS; v < o->up->par->nvar; v++)
            o->w[v][c] = lv->fld[FLD_U + v][o->i][c] * factor;
    }
}

/* pressure_fix: the auxiliary internal energy where the conserved one is lost in the kinetic
 * energy's truncation error. */
static void oct_switch_energy(struct oct_work *o, const double *restrict eint)
{
    const struct hydro_par *par = o->up->par;
    const double dx = o->up->dx, dt = o->up->dt, smallr = par->smallr, beta = par->beta_fix;
    const double hubble = 3.0 * o->up->hexp * dx;
    const double *restrict change = o->w[par->nvar]; /* −dt ∇·v from the faces */
    double(*restrict q)[8] = o->w;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        q[GAS_ENERGY][c] = hydro_energy_choose(q[0][c], q[1][c], q[2][c], q[3][c], q[GAS_ENERGY][c],
                                               eint[c], change[c], hubble, dx, dt, smallr, beta);
    }
}
