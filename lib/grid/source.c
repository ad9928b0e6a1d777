/* grid/source: a cube of 2^n cells as an octree of one level of leaf cells, so that all programs
 * for octrees read it, and a run on an octree can start from it.
 *
 * The gas is density, velocity and pressure; its entropy is in the pressure. The magnetic field is
 * on the faces of cells, the curl of the vector potential on their edges, the mean of the four
 * cells around an edge: its divergence in a cell is zero to round-off, and it agrees with the field
 * of the run to second order. Cells of coarser levels are means; they are made once, in an eighth
 * of the memory of all values. The finest level is read in slabs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "ckpt/source.h"
#include "grid/equations.h"
#include "oct/gas_kern.h"

enum { NVAR = 5, FACES = 6, NVALUE = NVAR + FACES, SLAB = 1 << 20 }; /* cells of a slab, roughly */

/* Values of some planes of cells, or of a whole level: [value][plane][y][x] with pitch cells from a
 * value to the next one. Values are those of a state. */
struct layer {
    double *value;
    size_t pitch;
};

struct tree {
    struct grid *g;
    struct fd_par eq;
    int level, nvalue, planes;          /* finest level; planes of a slab, an even number */
    struct layer coarse[LEVEL_MAX + 2]; /* levels 1 … level − 1 */
    struct layer slab;
    int64_t slab_at;      /* first plane of the slab; −1: none */
    double *potential;    /* [3][planes + 2][n + 2][n + 2] */
    double *batch, *tile; /* [8 nvalue][CKPT_PITCH], [8 nvalue][GAS_TILE] */
    const double *val[8 * NVALUE];
    unsigned char split[CKPT_BATCH], flag[CKPT_BATCH][8];
    okey key[CKPT_BATCH];
};

static int64_t cells(const struct tree *t)
{
    return t->g->head.n[0];
}

/* ---- opening ---- */

static enum err check_shape(const struct grid *g, int *level)
{
    const struct grid_head *h = &g->head;
    const int64_t *n = h->n;
    for (*level = 1; n[0] > (int64_t)1 << *level && *level < LEVEL_MAX;) ++*level;
    const bool cube = n[0] == (int64_t)1 << *level && n[1] == n[0] && n[2] == n[0];
    if (!cube || h->length[1] != h->length[0] || h->length[2] != h->length[0])
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld cells in a box of %g x %g x %g: as an octree only a cube of "
             "2^n cells can be read; summaries, digests, checks, comparisons, maps and "
             "distributions (inspect), spectra (pk) and convert -f vti need none",
             g->path, (long)n[0], (long)n[1], (long)n[2], h->length[0], h->length[1], h->length[2]);
    for (int f = FD_LNRHO; f <= FD_UZ; f++)
        if (grid_field(h, fd_name[f]) < 0)
            FAIL(ERR_LIMIT, "%s: has no field %s: there is no gas that an octree could have",
                 g->path, fd_name[f]);
    return OK;
}

static void head_of(const struct tree *t, struct ckpt_head *h)
{
    const struct grid_head *g = &t->g->head;
    *h = (struct ckpt_head){.ndim = 3,
                            .levelmin = t->level,
                            .levelmax = t->level,
                            .hydro = true,
                            .nvar = NVAR,
                            .magnetic = grid_field(g, "ax") >= 0,
                            .gamma = t->eq.gamma > 1 ? t->eq.gamma : 5. / 3,
                            .boxlen = g->length[0],
                            .t = g->t,
                            .nstep = (int)(g->it % INT32_MAX),
                            .aexp = 1,
                            .unit_l = 1,
                            .unit_d = 1,
                            .unit_t = 1};
    h->nstep_coarse = h->nstep;
    h->h0 = h->omega_m = 1, h->omega_k = h->omega_l = h->omega_b = 0;
    h->boxlen_ini = h->aexp_ini = 1;
    for (int l = 0; l <= LEVEL_MAX; l++) h->dtold[l] = h->dtnew[l] = g->dt;
}

static void allot(struct tree *t)
{
    const int64_t n = cells(t);
    t->nvalue = NVAR + (grid_field(&t->g->head, "ax") >= 0 ? FACES : 0);
    int64_t planes = SLAB / (n * n) / 2 * 2;
    t->planes = (int)(planes < 2 ? 2 : planes < n ? planes : n);
    t->slab_at = -1;
    t->slab.pitch = (size_t)(t->planes * n * n);
    t->slab.value = mem_new(sizeof(double) * t->slab.pitch * (size_t)t->nvalue, "snapshot batch");
    if (t->nvalue > NVAR)
        t->potential = mem_new(sizeof(double) * 3 * (size_t)((t->planes + 2) * (n + 2) * (n + 2)),
                               "snapshot batch");
    t->batch = mem_new(sizeof(double) * 8 * (size_t)t->nvalue * CKPT_PITCH, "snapshot batch");
    t->tile = mem_new(sizeof(double) * 8 * (size_t)t->nvalue * GAS_TILE, "snapshot batch");
    for (int k = 0; k < 8 * t->nvalue; k++) t->val[k] = t->batch + (size_t)k * CKPT_PITCH;
}

static enum err open_tree(struct source *s)
{
    struct tree *t = s->impl = mem_zero(sizeof *t, "snapshot");
    struct ckpt_head h;
    TRY(grid_open(s->path, &t->g));
    TRY(check_shape(t->g, &t->level));
    TRY(grid_equations(t->g, &t->eq));
    head_of(t, &h);
    allot(t);
    TRY(source_running(s, &h, 1));
    s->by_rank = false;
    s->number = t->g->number;
    snprintf(s->format, sizeof s->format, "HDF5 of a uniform mesh, solver stencil");
    snprintf(s->ordering, sizeof s->ordering, "hilbert");
    for (int l = 1; l <= t->level; l++) s->numbtot[l] = (int64_t)1 << 3 * (l - 1);
    return OK;
}

static void close_tree(struct source *s)
{
    struct tree *t = s->impl;
    if (!t) return;
    for (int l = 0; l <= LEVEL_MAX; l++) FREE(t->coarse[l].value);
    FREE(t->slab.value);
    FREE(t->potential);
    FREE(t->batch);
    FREE(t->tile);
    grid_close(&t->g);
    FREE(s->impl);
}

/* ---- the finest level ---- */

static enum err read_gas(struct tree *t, int64_t z)
{
    const int64_t n = cells(t), first[3] = {0, 0, z}, size[3] = {n, n, t->planes},
                  stride[3] = {1, n, n * n};
    const struct grid_head *h = &t->g->head;
    const int s = t->eq.entropy ? grid_field(h, "s") : -1;
    for (int f = FD_LNRHO; f <= FD_UZ; f++)
        TRY(grid_read(t->g, grid_field(h, fd_name[f]), first, size,
                      t->slab.value + (size_t)f * t->slab.pitch, stride));
    double *e = t->slab.value + GAS_ENERGY * t->slab.pitch;
    if (s >= 0) return grid_read(t->g, s, first, size, e, stride);
    memset(e, 0, sizeof *e * t->slab.pitch);
    return OK;
}

/* Makes conserved variables of ln ρ, u and s. An isothermal gas has the pressure ρ c_s². */
static void make_state(struct tree *t, double gamma)
{
    const struct fd_par *p = &t->eq;
    double *v[NVAR];
    for (int k = 0; k < NVAR; k++) v[k] = t->slab.value + (size_t)k * t->slab.pitch;
    for (size_t i = 0; i < t->slab.pitch; i++) {
        const double lnrho = v[0][i], rho = exp(lnrho);
        double pressure = rho * p->cs0 * p->cs0;
        if (p->entropy)
            pressure *= exp(p->gamma * v[GAS_ENERGY][i] / p->cp +
                            gas_gm1(p->gamma) * (lnrho - log(p->rho0))) /
                        p->gamma;
        double e = gas_internal_of(pressure, gamma);
        v[0][i] = rho;
        for (int d = 0; d < 3; d++) {
            e += gas_kinetic_flux_part(rho, v[GAS_MOMENTUM + d][i]);
            v[GAS_MOMENTUM + d][i] *= rho;
        }
        v[GAS_ENERGY][i] = e;
    }
}

static enum err read_potential(struct tree *t, int64_t z)
{
    static const char *const NAME[] = {"ax", "ay", "az"};
    const int64_t n = cells(t), first[3] = {-1, -1, z - 1}, size[3] = {n + 2, n + 2, t->planes + 2},
                  stride[3] = {1, n + 2, (n + 2) * (n + 2)};
    for (int d = 0; d < 3; d++)
        TRY(grid_read(t->g, grid_field(&t->g->head, NAME[d]), first, size,
                      t->potential + d * stride[2] * size[2], stride));
    return OK;
}

/* Component d of the potential on the edge along d whose lower end is the corner x, y, z of a cell,
 * counted from the slab: the mean of the four cells around it. */
static double edge(const struct tree *t, int d, const int64_t at[3])
{
    const int64_t n = cells(t) + 2, step[3] = {1, n, n * n};
    const int64_t a = step[(d + 1) % 3], b = step[(d + 2) % 3];
    const double *p = t->potential + d * (t->planes + 2) * n * n +
                      ((at[2] + 1) * n + at[1] + 1) * n + at[0] + 1;
    return 0.25 * ((p[-a - b] + p[0]) + (p[-a] + p[-b]));
}

/* The field on the lower face along d of a cell, in units in which its energy is B²/2. */
static double face(const struct tree *t, int d, const int64_t at[3])
{
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    const double h = t->g->head.length[0] / (double)cells(t);
    int64_t up_a[3] = {at[0], at[1], at[2]}, up_b[3] = {at[0], at[1], at[2]};
    up_a[a]++, up_b[b]++;
    const double curl = (edge(t, b, up_a) - edge(t, b, at)) - (edge(t, a, up_b) - edge(t, a, at));
    return (curl / h + t->eq.bext[d]) / sqrt(t->eq.mu0);
}

/* A face of the next cell beyond the slab is the same computation there. */
static void make_field(struct tree *t)
{
    const int64_t n = cells(t);
    double *b[FACES];
    for (int f = 0; f < FACES; f++) b[f] = t->slab.value + (size_t)(NVAR + f) * t->slab.pitch;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < t->planes * n; row++)
        for (int64_t x = 0; x < n; x++)
            for (int d = 0; d < 3; d++) {
                int64_t at[3] = {x, row % n, row / n};
                b[2 * d][row * n + x] = face(t, d, at);
                at[d]++;
                b[2 * d + 1][row * n + x] = face(t, d, at);
            }
    gas_add_field((int64_t)t->slab.pitch, (const double *const *)b,
                  t->slab.value + GAS_ENERGY * t->slab.pitch);
}

static enum err load_slab(struct source *s, int64_t z)
{
    struct tree *t = s->impl;
    if (t->slab_at == z) return OK;
    t->slab_at = -1;
    TRY(read_gas(t, z));
    make_state(t, s->head.gamma);
    if (t->nvalue > NVAR) {
        TRY(read_potential(t, z));
        make_field(t);
    }
    t->slab_at = z;
    return OK;
}

/* ---- coarser levels ---- */

/* The mean of a value over the children of a cell, or over those at the face of value v. child:
 * the first one, in planes of n × n cells. */
static double mean(int v, const double *child, int64_t n)
{
    const int64_t step[3] = {1, n, n * n};
    double sum = 0;
    for (int c = 0; c < 8; c++) {
        const bool at_face = v < NVAR || (c >> (v - NVAR) / 2 & 1) == (v - NVAR) % 2;
        if (at_face) sum += child[(c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2]];
    }
    return sum / (v < NVAR ? 8 : 4);
}

/* Adds planes of cells to the level above: `from` begins with plane z of n × n cells. */
static void restrict_planes(const struct tree *t, const struct layer *from, int64_t n,
                            int64_t planes, const struct layer *to, int64_t z)
{
    const int64_t half = n / 2;
    for (int v = 0; v < t->nvalue; v++) {
        const double *in = from->value + (size_t)v * from->pitch;
        double *out = to->value + (size_t)v * to->pitch + z / 2 * half * half;
        for (int64_t i = 0; i < planes / 2 * half * half; i++) {
            const int64_t x = i % half, y = i / half % half, k = i / half / half;
            out[i] = mean(v, in + 2 * x + n * (2 * y + n * 2 * k), n);
        }
    }
}

static enum err make_coarse(struct source *s)
{
    struct tree *t = s->impl;
    if (t->coarse[1].value || t->level == 1) return OK;
    for (int l = 1; l < t->level; l++) {
        t->coarse[l].pitch = (size_t)1 << 3 * l;
        t->coarse[l].value = mem_new(sizeof(double) * t->coarse[l].pitch * (size_t)t->nvalue,
                                     "snapshot");
    }
    for (int64_t z = 0; z < cells(t); z += t->planes) {
        enum err err = load_slab(s, z);
        if (err != OK) FREE(t->coarse[1].value); /* not made */
        TRY(err);
        restrict_planes(t, &t->slab, cells(t), t->planes, &t->coarse[t->level - 1], z);
    }
    for (int l = t->level - 2; l >= 1; l--)
        restrict_planes(t, &t->coarse[l + 1], (int64_t)2 << l, (int64_t)2 << l, &t->coarse[l], 0);
    return OK;
}

/* ---- octs ---- */

/* Converts the batch to primitive variables, as in files. */
static void make_primitive(struct source *s, int n)
{
    struct tree *t = s->impl;
    const struct gas_equation g = {NVAR, s->head.gamma, s->head.smallr, NULL};
    double energy[GAS_TILE];
    for (int at = 0; at < n; at += GAS_TILE) {
        const int k = n - at < GAS_TILE ? n - at : GAS_TILE;
        for (int c = 0; c < 8; c++) {
            const double *u[NVALUE];
            double *prim[NVAR];
            for (int v = 0; v < t->nvalue; v++) {
                double *row = t->batch + (size_t)(8 * v + c) * CKPT_PITCH + at;
                u[v] = memcpy(t->tile + (8 * v + c) * GAS_TILE, row, sizeof *row * (size_t)k);
                if (v < NVAR) prim[v] = row;
            }
            if (t->nvalue > NVAR)
                gas_leave_field(k, u + NVAR, u[GAS_ENERGY], energy), u[GAS_ENERGY] = energy;
            gas_primitive(&g, k, u, prim);
        }
    }
}

/* Octs of a batch, from number `first` on among those of the planes of cells from plane z on. */
struct run {
    int level, n;
    int64_t first, z;
    const struct layer *from;
};

static void fill_keys(struct tree *t, const struct run *r)
{
    const int64_t side = (int64_t)1 << (r->level - 1);
    for (int i = 0; i < r->n; i++) {
        const int64_t k = r->first + i;
        t->key[i] = okey_make((uint64_t)(k % side), (uint64_t)(k / side % side),
                              (uint64_t)(k / side / side + r->z / 2));
        t->split[i] = r->level < t->level ? 0xff : 0;
    }
}

static void fill_values(struct tree *t, const struct run *r)
{
    const int64_t side = (int64_t)1 << (r->level - 1), n = 2 * side;
    for (int v = 0; v < t->nvalue; v++)
        for (int c = 0; c < 8; c++) {
            const double *in = r->from->value + (size_t)v * r->from->pitch;
            double *out = t->batch + (size_t)(8 * v + c) * CKPT_PITCH;
            for (int i = 0; i < r->n; i++) {
                const int64_t k = r->first + i, x = 2 * (k % side) + (c & 1),
                              y = 2 * (k / side % side) + (c >> 1 & 1),
                              z = 2 * (k / side / side) + (c >> 2);
                out[i] = in[(z * n + y) * n + x];
            }
        }
}

static enum err hand(struct source *s, enum source_mode mode, const struct run *r,
                     source_octs_fn *fn, void *ctx)
{
    struct tree *t = s->impl;
    fill_keys(t, r);
    if (s->pick && !s->pick->octs(s->pick->ctx, r->level, r->n, t->key)) return OK;
    if (mode != SOURCE_TREE) fill_values(t, r);
    if (mode == SOURCE_STORED) make_primitive(s, r->n);
    const struct source_octs o = {.level = r->level,
                                  .n = r->n,
                                  .key = t->key,
                                  .split = t->split,
                                  .flag = (const unsigned char(*)[8])t->flag,
                                  .val = mode == SOURCE_TREE ? NULL : t->val};
    return fn(&o, ctx);
}

/* Octs of some planes of a level. */
static enum err hand_planes(struct source *s, enum source_mode mode, struct run r, int64_t planes,
                            source_octs_fn *fn, void *ctx)
{
    const int64_t side = (int64_t)1 << (r.level - 1), all = planes / 2 * side * side;
    for (r.first = 0; r.first < all; r.first += r.n) {
        r.n = all - r.first < CKPT_BATCH ? (int)(all - r.first) : CKPT_BATCH;
        TRY(hand(s, mode, &r, fn, ctx));
    }
    return OK;
}

static enum err read_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                          void *ctx)
{
    struct tree *t = s->impl;
    if (mode != SOURCE_TREE) TRY(make_coarse(s));
    for (int l = 1; l < t->level; l++)
        TRY(hand_planes(s, mode, (struct run){.level = l, .from = &t->coarse[l]}, (int64_t)1 << l,
                        fn, ctx));
    for (int64_t z = 0; z < cells(t); z += t->planes) {
        if (mode != SOURCE_TREE) TRY(load_slab(s, z));
        TRY(hand_planes(s, mode, (struct run){.level = t->level, .z = z, .from = &t->slab},
                        t->planes, fn, ctx));
    }
    return OK;
}

static enum err read_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    return OK;
}

/* ---- the rest ---- */

static enum err tree_state(struct source *s)
{
    s->values = s->fields;
    source_count_state(s);
    return OK;
}

/* The history alone: the parameters are those of another solver. */
static enum err read_text(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    const struct tree *t = s->impl;
    *text = NULL, *bytes = 0;
    return k == FILES_HISTORY ? grid_text(t->g, true, text, bytes) : OK;
}

static enum err file_path(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX])
{
    return files_path(s->path, FILES_STENCIL, s->number, 0, path);
}

const struct source_kind stencil_kind = {.name = "HDF5 of a uniform mesh",
                                         .is = grid_is,
                                         .open = open_tree,
                                         .close = close_tree,
                                         .octs = read_octs,
                                         .parts = read_parts,
                                         .state = tree_state,
                                         .text = read_text,
                                         .file = file_path};
