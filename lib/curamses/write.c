/* curamses/write: see write.h. Rows are processed in windows of their global order (order.h),
 * widened to the types of the layout, and written at their offset in the file. Memory use is a few
 * windows, and 32 bytes per particle for sorting. */
#ifdef PTAH_HDF5
#include "curamses/write.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/asis.h"
#include "curamses/describe.h"
#include "curamses/out.h"
#include "curamses/read.h"

enum {
    OCTS = HDF5_OCTS,
    PARTS = HDF5_PARTS,
    OCT_WINDOW = HDF5_OCT_WINDOW,
    PART_WINDOW = 4 * PARTS
};
static enum err write_snapshot(struct hdf5_out *w, struct out_pending *out);

static enum err write_mesh(const char *dir, int number, const struct ckpt_head *h,
                           const struct mesh *m, const struct parts *p, const struct domain *d,
                           const struct comm *c, struct out_pending *out)
{
    struct hdf5_out *w = mem_zero(sizeof *w, "checkpoint");
    struct manifest list = {.backup = h->backup};
    w->o = (struct ckpt_out){.h = h,
                             .m = m,
                             .p = p,
                             .c = c,
                             .columns = h->particles ? &p->columns : NULL,
                             .list = &list,
                             .sync = &out->sync};
    enum err err = out_name(&w->o, dir, number);
    if (err == OK) err = write_snapshot(w, out);
    manifest_fini(&list);
    FREE(w->scratch);
    FREE(w);
    return err;
}

const struct writer_kind hdf5_writer = {
    .name = "HDF5", .write = write_mesh, .rewrite = hdf5_rewrite};

static void add_sets(struct hdf5_out *w);
static void fill_file(struct hdf5_file *f, const void *ctx);
static enum err write_level(struct hdf5_out *w, int l);
static enum err write_parts(struct hdf5_out *w);

static enum err write_file(struct hdf5_out *w)
{
    TRY(hdf5_out_create(w));
    for (int l = 1; l <= w->o.nlevel; l++)
        if (w->o.total[l]) TRY(write_level(w, l));
    if (w->o.h->particles) TRY(write_parts(w));
    return hdf5_close(&w->f);
}

/* Writes the texts as a single rank. */
enum err hdf5_out_texts(const struct hdf5_out *w)
{
    const struct comm alone = {.size = 1};
    struct ckpt_out o = w->o;
    struct domain *d = domain_new_in(o.h->ndim, DOMAIN_HILBERT, 1, o.nlevel, o.m->bounded);
    o.c = &alone;
    o.d = d;
    enum err err = out_texts(&o);
    domain_free(d);
    return err;
}

static enum err write_snapshot(struct hdf5_out *w, struct out_pending *out)
{
    struct ckpt_out *o = &w->o;
    bool root = o->c->rank == 0;
    o->ngridmax = 1;
    out_count(o);
    w->npart = o->h->particles ? o->p->n : 0;
    comm_add_i64(o->c, &w->npart, 1);
    hdf5_out_plan(w);
    enum err err = err_agree(o->c, root ? out_begin(o) : OK);
    if (err == OK) err = err_agree(o->c, root ? hdf5_out_texts(w) : OK);
    if (err == OK) err = err_agree(o->c, out_files(o));
    if (err == OK) err = err_agree(o->c, write_file(w));
    hdf5_fini(&w->f);
    return out_hand_over(o, out, err);
}

void hdf5_out_plan(struct hdf5_out *w)
{
    struct ckpt_out *o = &w->o;
    char path[PATH_MAX];
    enum err err = files_path(o->tmp, FILES_HDF5, o->output, 0, path);
    BUG_ON(err != OK); /* out_name guarantees that the path fits */
    hdf5_init(&w->f, o->c, path, o->h->deflate);
    w->f.sync = o->sync;
    for (int l = 1; l <= o->nlevel; l++) w->octs += o->total[l];
    o->ngridmax = o->h->ngridmax > w->octs ? o->h->ngridmax : w->octs;
    w->scratch = mem_new((size_t)OCT_WINDOW * 64, "checkpoint");
    add_sets(w);
}

enum err hdf5_out_create(struct hdf5_out *w)
{
    const struct ckpt_head *h = w->o.h;
    TRY(boundary_lay_out(&h->boundary, h->ndim, w->f.path, &w->lay));
    return hdf5_create(&w->f, fill_file, w);
}

/* ---- layout ---- */

/* Bits of integers of 1, 4 and 8 bytes. */
static char last_type(int bytes)
{
    return bytes == 1 ? 'B' : bytes == 4 ? 'i' : 'q';
}

static void add_level(struct hdf5_out *w, int l)
{
    struct hdf5_file *f = &w->f;
    int64_t n = w->o.total[l];
    w->level_set[l] = f->nset;
    int ndim = w->o.h->ndim, cells = 1 << ndim, nvar = w->o.h->hydro ? w->o.h->nvar : 0,
        values = out_hydro(&w->o) + out_gravity(&w->o) + out_photons(&w->o), number = 0;
    for (int d = 1; d <= ndim; d++) hdf5_add(f, 'd', n, OCTS, "amr/level_%d/xg_%d", l, d);
    hdf5_add(f, 'i', cells * n, cells * OCTS, "amr/level_%d/son_flag", l);
    hdf5_add(f, 'i', cells * n, cells * OCTS, "amr/level_%d/cpu_map", l);
    hdf5_add(f, 'B', n, OCTS, "ptah/amr/level_%d/flag", l);
    for (int v = 0; v < nvar; v++)
        if (out_in_file(&w->o, v))
            hdf5_add(f, 'd', cells * n, cells * OCTS, "hydro/level_%d/uold_%d", l, ++number);
    for (int v = nvar; v < values; v++) {
        char path[FIELD_NAME];
        if (!out_in_file(&w->o, v)) continue;
        field_dataset(field_stored(w->o.fields, nvar, v, w->o.stored ? ndim : 3), path);
        hdf5_add(f, 'd', cells * n, cells * OCTS, path, l);
    }
    for (int v = 0; w->o.stored && v < w->o.nhydro; v++)
        if (w->last[l][v])
            hdf5_add(f, last_type(w->last[l][v]), cells * n, cells * OCTS,
                     "ptah/hydro/level_%d/last_%d", l, v + 1);
}

/* Whether column c is written; positions and velocities only along the dimensions of the run. */
static bool has_column(const struct hdf5_out *w, int c)
{
    return w->o.columns->has[c] && !(c < COL_MASS && c % 3 >= w->o.h->ndim);
}

static void add_sets(struct hdf5_out *w)
{
    struct hdf5_file *f = &w->f;
    for (int l = 1; l <= w->o.nlevel; l++)
        if (w->o.total[l]) add_level(w, l);
    w->part_set = f->nset;
    if (!w->o.h->particles) return;
    for (int c = 0; c < w->o.columns->n; c++) {
        const struct part_column *col = part_column(w->o.columns, c);
        if (has_column(w, c)) hdf5_add(f, col->type, w->npart, PARTS, "%s", col->dataset);
    }
}

/* Writes a count as a 32-bit attribute, as in the layout. A larger count is written with 64 bits,
 * which HDF5 converts for readers that can hold it. */
static void attr_count(struct hdf5_file *f, const char *group, const char *name, int64_t n)
{
    int32_t narrow = (int32_t)n;
    if (n <= INT32_MAX)
        hdf5_attr(f, group, name, 'i', 1, &narrow);
    else
        hdf5_attr(f, group, name, 'q', 1, &n);
}

static int coarse_cells(const struct hdf5_out *w)
{
    return w->lay.n[0] * w->lay.n[1] * w->lay.n[2];
}

static void fill_header(struct hdf5_file *f, const struct hdf5_out *w)
{
    const struct ckpt_head *h = w->o.h;
    const struct {
        const char *name;
        int64_t value;
    } count[] = {{"ncpu", 1},
                 {"ndim", h->ndim},
                 {"nx", w->lay.n[0]},
                 {"ny", w->lay.n[1]},
                 {"nz", w->lay.n[2]},
                 {"nlevelmax", w->o.nlevel},
                 {"levelmin", h->levelmin},
                 {"ngridmax", w->o.ngridmax},
                 {"nboundary", h->boundary.n},
                 {"ncoarse", coarse_cells(w)},
                 {"ngrid_current", w->octs},
                 {"nvar", !h->hydro ? 0
                          : w->o.stored
                              ? h->nvar
                              : gas_count_in_file(gas_velocities(h->ndim, h->magnetic), h->nvar)},
                 {"nstep", h->nstep},
                 {"nstep_coarse", h->nstep_coarse},
                 {"noutput", h->noutput},
                 {"iout", h->iout},
                 {"ifout", h->ifout}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        attr_count(f, "header", count[i].name, count[i].value);
#define HEAD_REAL(member, name, attribute) hdf5_attr(f, "header", attribute, 'd', 1, &h->member);
#include "ckpt/head.def"
    hdf5_attr(f, "header", "tout", 'd', h->noutput, h->tout);
    hdf5_attr(f, "header", "aout", 'd', h->noutput, h->aout);
    hdf5_attr(f, "header", "dtold", 'd', w->o.nlevel, h->dtold + 1);
    hdf5_attr(f, "header", "dtnew", 'd', w->o.nlevel, h->dtnew + 1);
    hdf5_text(f, "header", "ordering", "hilbert");
}

static void fill_domain(struct hdf5_file *f, const struct hdf5_out *w)
{
    int32_t cell[BOUNDARY_CODES] = {0};
    const int *n = w->lay.n, *skip = w->lay.skip;
    double bound[2];
    struct domain *d = domain_new_in(w->o.h->ndim, DOMAIN_HILBERT, 1, w->o.nlevel, w->o.m->bounded);
    domain_bound_keys(d, bound);
    domain_free(d);
    /* octs beyond the boundary are not stored */
    cell[skip[0] + n[0] * (skip[1] + n[1] * skip[2])] = 1;
    hdf5_small(f, "coarse/son", 'i', coarse_cells(w), cell);
    hdf5_small(f, "coarse/cpu_map", 'i', coarse_cells(w), cell);
    hdf5_small(f, "coarse/flag1", 'i', coarse_cells(w), cell);
    hdf5_small(f, "domain/bound_key", 'd', 2, bound);
    hdf5_text(f, "domain", "ordering", "hilbert");
}

/* Writes the boundary regions in order. Files of a periodic box have none. */
static void fill_boundary(struct hdf5_file *f, const struct boundary *b)
{
    int32_t face[BOUNDARY_MAX] = {0}, type[BOUNDARY_MAX], extent[BOUNDARY_MAX][6];
    double state[BOUNDARY_MAX][NVAR_MAX], field[BOUNDARY_MAX][3];
    bool magnetic = false;
    if (b->n == 0) return;
    for (int i = 0; i < b->n; i++) {
        const struct boundary_region *r = &b->region[i];
        face[i] = r->face, type[i] = (int32_t)r->type;
        for (int d = 0; d < 3; d++) extent[i][2 * d] = r->low[d], extent[i][2 * d + 1] = r->high[d];
        memcpy(state[i], r->state, sizeof state[i]);
        memcpy(field[i], r->field, sizeof field[i]);
        for (int d = 0; d < 3; d++) magnetic |= r->field[d] != 0;
    }
    hdf5_attr(f, "ptah", "boundary_face", 'i', b->n, face);
    hdf5_attr(f, "ptah", "boundary_type", 'i', b->n, type);
    hdf5_attr(f, "ptah", "boundary_extent", 'i', 6 * b->n, extent);
    hdf5_attr(f, "ptah", "boundary_state", 'd', (int64_t)NVAR_MAX * b->n, state);
    if (magnetic) hdf5_attr(f, "ptah", "boundary_field", 'd', 3 * (int64_t)b->n, field);
}

/* Describes values of another code: transformations of gas variables, number of gravity fields. */
static void fill_stored(struct hdf5_file *f, const struct ckpt_out *o)
{
    struct asis a;
    int32_t kind[CKPT_FIELDS] = {0}, ngrav = o->ngrav;
    if (!o->stored) return;
    asis_of_fields(&a, o->stored, o->nhydro, o->h);
    for (int v = 0; v < o->nhydro; v++) kind[v] = (int32_t)a.kind[v];
    hdf5_attr(f, "ptah", "stored_grav", 'i', 1, &ngrav);
    if (o->nhydro) hdf5_attr(f, "ptah", "stored_gas", 'i', o->nhydro, kind);
}

static void fill_radiation(struct hdf5_file *f, const struct ckpt_radiation *r)
{
    int32_t count[6] = {r->groups, r->ions};
    if (r->groups == 0) return;
    for (int k = 0; k < 4; k++) count[2 + k] = r->spec2group[k];
    hdf5_attr(f, "ptah", "radiation_groups", 'i', 6, count);
    hdf5_attr(f, "ptah", "radiation", 'd', RADIATION_REALS, r->real);
}

static void fill_ptah(struct hdf5_file *f, const struct hdf5_out *w)
{
    const struct ckpt_head *h = w->o.h;
    const char *from = h->provenance ? h->provenance : "", *list = h->namelist ? h->namelist : "";
    static const int32_t version = 1;
    unsigned char safe[HDF5_SAFE] = {0};
    int32_t imetal = h->gas ? h->gas->at[SCALAR_METAL] + 1 : 0;
    hdf5_words(f, "ptah/provenance", from);
    hdf5_words(f, "ptah/namelist", list);
    hdf5_attr(f, "ptah", "version", 'i', 1, &version);
    hdf5_attr(f, "ptah", "imetal", 'i', 1, &imetal);
    hdf5_attr(f, "ptah", "smallr", 'd', 1, &h->smallr);
    if (h->energy.n) hdf5_attr(f, "ptah", "gamma_rad", 'd', h->energy.n, h->energy.gamma);
    fill_radiation(f, &h->radiation);
    hdf5_attr(f, "ptah", "unit_l", 'd', 1, &h->unit_l);
    hdf5_attr(f, "ptah", "unit_d", 'd', 1, &h->unit_d);
    hdf5_attr(f, "ptah", "unit_t", 'd', 1, &h->unit_t);
    hdf5_attr(f, "ptah", "tout_next", 'd', 1, &h->tout_next);
    hdf5_attr(f, "ptah", "aout_next", 'd', 1, &h->aout_next);
    for (int l = 0; l < LEVEL_MAX + 2; l++)
        safe[l % HDF5_SAFE] |= (unsigned char)((h->safe[l] != 0) << l / HDF5_SAFE);
    hdf5_attr(f, "ptah", "safe", 'B', HDF5_SAFE, safe);
    if (h->ndim < 3) hdf5_attr(f, "ptah", "far", 'd', 4, h->far);
    fill_boundary(f, &h->boundary);
    fill_stored(f, &w->o);
}

static void fill_sinks(struct hdf5_file *f, const struct hdf5_out *w)
{
    const struct catalog *t = &w->o.h->rest->sinks;
    const struct catalog_column *id = catalog_find(t, "identity");
    int64_t made = 0;
    for (int64_t i = 0; id && id->whole && i < t->n; i++)
        made = id->whole[i] > made ? id->whole[i] : made;
    hdf5_small(f, "sinks/", 'i', 0, NULL);
    attr_count(f, "sinks", "nsink", t->n);
    attr_count(f, "sinks", "nindsink", made);
    attr_count(f, "sinks", "levelmin", w->o.h->levelmin);
    attr_count(f, "sinks", "nlevelmax", w->o.nlevel);
    for (int k = 0; k < t->ncol; k++) {
        const struct catalog_column *c = &t->col[k];
        char path[64];
        bool wide = false;
        snprintf(path, sizeof path, "sinks/%s", catalog_hdf5_name(c));
        for (int64_t i = 0; c->whole && i < t->n; i++) wide |= c->whole[i] != (int32_t)c->whole[i];
        int32_t *narrow = mem_new(sizeof *narrow * (size_t)t->n + 1, "catalog");
        for (int64_t i = 0; c->whole && i < t->n; i++) narrow[i] = (int32_t)c->whole[i];
        hdf5_small(f, path,
                   c->real ? 'd'
                   : wide  ? 'q'
                           : 'i',
                   t->n,
                   c->real ? (void *)c->real
                   : wide  ? (void *)c->whole
                           : (void *)narrow);
        FREE(narrow);
    }
}

static void fill_file(struct hdf5_file *f, const void *ctx)
{
    const struct hdf5_out *w = ctx;
    int32_t deepest = 0;
    hdf5_small(f, "header/", 'i', 0, NULL); /* an empty group */
    fill_header(f, w);
    fill_domain(f, w);
    hdf5_small(f, "ptah/", 'i', 0, NULL);
    fill_ptah(f, w);
    for (int l = 1; l <= w->o.nlevel; l++) {
        char path[64];
        int32_t n = w->o.total[l] < INT32_MAX ? (int32_t)w->o.total[l] : INT32_MAX;
        if (!n) continue;
        deepest = l;
        snprintf(path, sizeof path, "amr/level_%d/ngrid_per_cpu", l);
        hdf5_small(f, path, 'i', 1, &n);
        snprintf(path, sizeof path, "amr/level_%d", l);
        attr_count(f, path, "ngrid_total", w->o.total[l]);
    }
    hdf5_attr(f, "amr", "nlevelmax_file", 'i', 1, &deepest);
    if (w->o.h->rest && *w->o.h->rest->sinks.from) fill_sinks(f, w);
    hdf5_make_sets(f);
    if (f->err == OK) hdf5_describe(f, w);
    if (!w->o.h->particles) return;
    int32_t n = w->npart < INT32_MAX ? (int32_t)w->npart : INT32_MAX;
    struct stars_formed formed = out_formed(&w->o);
    hdf5_small(f, "particles/npart_per_cpu", 'i', 1, &n);
    hdf5_attr(f, "particles", "npart_total", 'q', 1, &w->npart);
    hdf5_attr(f, "particles", "nstar_tot", 'q', 1, &formed.number);
    hdf5_attr(f, "particles", "mstar_tot", 'd', 1, &formed.mass);
    hdf5_attr(f, "particles", "mstar_lost", 'd', 1, &formed.lost);
}

/* Length of a window: whole blocks, limited so that every rank has a window; for deflated files a
 * single block, since the order of chunks follows from the windows. */
static int64_t window_of(const struct hdf5_out *w, int64_t total, int64_t block, int64_t max)
{
    if (w->o.h->deflate) return block;
    int64_t each = (total / w->o.c->size + block - 1) / block * block;
    return each < block ? block : each < max ? each : max;
}

/* ---- octs ---- */

static order_key oct_key(const void *ctx, int64_t i)
{
    return ((const struct level *)ctx)->key[i];
}

static void put_centres(struct hdf5_out *w, int set, int l, const struct hdf5_octs *o)
{
    double *x = (double *)w->scratch;
    for (int d = 0; d < w->o.h->ndim; d++) {
        for (int64_t i = 0; i < o->n; i++) {
            int64_t at[3];
            okey_coords((okey)o->key[i], at);
            x[i] = ldexp((double)(2 * at[d] + 1), -l) + w->lay.skip[d];
        }
        hdf5_put(&w->f, set + d, o->first, o->n, x);
    }
}

static void put_masks(struct hdf5_out *w, int set, const struct hdf5_octs *o)
{
    int32_t *cell = (int32_t *)(void *)w->scratch;
    int cells = 1 << w->o.h->ndim;
    for (int64_t i = 0; i < o->n; i++)
        for (int c = 0; c < cells; c++) cell[cells * i + c] = o->mask[i][0] >> c & 1;
    hdf5_put(&w->f, set, cells * o->first, cells * o->n, cell);
    for (int64_t i = 0; i < cells * o->n; i++) cell[i] = 1;
    hdf5_put(&w->f, set + 1, cells * o->first, cells * o->n, cell); /* all octs belong to rank 1 */
    for (int64_t i = 0; i < o->n; i++) w->scratch[i] = (char)o->mask[i][1];
    hdf5_put(&w->f, set + 2, o->first, o->n, w->scratch);
}

/* Writes cell values of `bytes` bytes each, from rows of eight 8-byte numbers. */
static void put_cells(struct hdf5_out *w, int set, const struct hdf5_octs *o, const char *row,
                      size_t bytes)
{
    int cells = 1 << w->o.h->ndim;
    const char *p = row;
    if (cells < 8 || bytes < 8) {
        p = w->scratch;
        for (int64_t i = 0; i < o->n; i++) /* assumes little-endian byte order */
            for (int c = 0; c < cells; c++)
                memcpy(w->scratch + bytes * (size_t)(cells * i + c), row + 8 * (8 * i + c), bytes);
    }
    hdf5_put(&w->f, set, cells * o->first, cells * o->n, p);
}

void hdf5_out_octs(struct hdf5_out *w, int l, const struct hdf5_octs *o, hdf5_values *fn, void *ctx)
{
    const struct ckpt_head *h = w->o.h;
    int set = w->level_set[l], hydro = out_hydro(&w->o), gravity = hydro + out_gravity(&w->o),
        n = gravity + out_photons(&w->o);
    put_centres(w, set, l, o);
    put_masks(w, set + h->ndim, o);
    set += h->ndim + 3;
    for (int v = 0; v < n; v++) {
        /* coarser levels have no solved gravity */
        bool zero = v >= hydro && v < gravity && l < h->levelmin && !w->o.stored;
        if (zero) memset(w->scratch, 0, 64 * (size_t)o->n);
        const void *is = zero ? w->scratch : fn(ctx, v);
        if (out_in_file(&w->o, v)) put_cells(w, set++, o, is, 8);
    }
    for (int v = 0; w->o.stored && v < hydro; v++)
        if (w->last[l][v]) put_cells(w, set++, o, fn(ctx, n + v), w->last[l][v]);
    hdf5_turn(&w->f);
}

/* Masks with bit c for cell c: refined cells, flagged cells. (owner: caller, FREE) */
static unsigned char (*make_masks(const struct level *lv, const struct order *r))[2]
{
    unsigned char(*mine)[2] = mem_new(2 * (size_t)r->nsend + 1, "checkpoint");
    for (int64_t i = 0; i < r->nsend; i++) {
        unsigned split = 0, flag = 0;
        for (int c = 0; c < 8; c++) {
            split |= (unsigned)(lv->child[r->send + i][c] >= 0) << c;
            flag |= (unsigned)(lv->flag[r->send + i][c] == 1) << c;
        }
        mine[i][0] = (unsigned char)split, mine[i][1] = (unsigned char)flag;
    }
    return mine;
}

struct mesh_values {
    const struct level *lv;
    struct order *r;
    int nvar;
    field_set fields;
};

/* Value v of the octs that are sent. */
static const double (*field_of(const struct mesh_values *m, int v))[8]
{
    return (const double(*)[8])m->lv->fld[field_stored(m->fields, m->nvar, v, 3)] + m->r->send;
}

static const void *move_values(void *ctx, int v)
{
    const struct mesh_values *m = ctx;
    return order_move(m->r, field_of(m, v), 64);
}

/* Posts all columns in the order of requests: masks, then values of hdf5_out_octs. */
static void move_ahead(const struct hdf5_out *w, int l, const struct mesh_values *m,
                       const void *mask)
{
    struct order_column c[1 + FIELD_ALL] = {{mask, 2}};
    const int hydro = out_hydro(&w->o), gravity = hydro + out_gravity(&w->o),
              values = gravity + out_photons(&w->o);
    int n = 1;
    for (int v = 0; v < values; v++)
        if (v < hydro || v >= gravity || l >= w->o.h->levelmin)
            c[n++] = (struct order_column){field_of(m, v), 64};
    order_ahead(m->r, n, c);
}

static enum err write_level(struct hdf5_out *w, int l)
{
    const struct level *lv = &w->o.m->lev[l];
    struct order r;
    struct mesh_values values = {lv, &r, w->o.h->hydro ? w->o.h->nvar : 0, w->o.fields};
    order_init(&r, w->o.c, lv->nown, oct_key, lv, 3 * l - 2,
               window_of(w, w->o.total[l], OCTS, OCT_WINDOW));
    for (int64_t round = 0; round < r.nround; round++) {
        order_round(&r, round);
        unsigned char(*mine)[2] = make_masks(lv, &r),
                 (*mask)[2] = mem_new(2 * (size_t)r.nrow + 1, "checkpoint");
        move_ahead(w, l, &values, mine);
        /* order_move lends its result only until the next call */
        memcpy(mask, order_move(&r, mine, 2), 2 * (size_t)r.nrow);
        struct hdf5_octs o = {r.first, r.nrow, r.key, (const unsigned char(*)[2])mask};
        hdf5_out_octs(w, l, &o, move_values, &values);
        FREE(mask);
        FREE(mine);
    }
    order_fini(&r);
    return err_agree(w->o.c, w->f.err);
}

/* ---- particles ---- */

static order_key part_key(const void *ctx, int64_t i)
{
    const struct order_ranked *r = ctx;
    return (order_key)r[i].key << 64 | r[i].more;
}

static void rank_parts(const struct hdf5_out *w, struct order_ranked *r)
{
    const struct parts *p = w->o.p;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++)
        order_rank(w->o.m, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]}, p->family[i], p->id[i],
                   i, &r[i]);
}

void hdf5_out_parts(struct hdf5_out *w, int64_t first, int64_t n, hdf5_values *fn, void *ctx)
{
    int set = w->part_set;
    for (int c = 0; c < w->o.columns->n; c++)
        if (has_column(w, c)) hdf5_put(&w->f, set++, first, n, fn(ctx, c));
    hdf5_turn(&w->f);
}

struct part_values {
    const struct hdf5_out *w;
    struct order *r;
    struct order_column col[COL_MAX];
};

/* Sorts the rows of a column for sending. (owner of its rows: caller, FREE) */
static struct order_column sort_column(const struct part_values *v, int c)
{
    const struct parts *p = v->w->o.p;
    const struct order *r = v->r;
    const struct order_ranked *rank = (const struct order_ranked *)r->ctx + r->send;
    size_t size = (size_t)part_type_size(part_column(&p->columns, c)->type);
    const char *all = p->col[c];
    const double *x = p->col[c];
    char *mine = mem_new(size * (size_t)r->nsend + 1, "checkpoint");
    if (c <= COL_Z)
        for (int64_t i = 0; i < r->nsend; i++)
            ((double *)mine)[i] = mesh_wrapped(v->w->o.m, c - COL_X, x[rank[i].i]);
    else if (size == 8)
        for (int64_t i = 0; i < r->nsend; i++) ((double *)mine)[i] = x[rank[i].i];
    else
        for (int64_t i = 0; i < r->nsend; i++)
            memcpy(mine + (size_t)i * size, all + (size_t)rank[i].i * size, size);
    return (struct order_column){mine, size};
}

static const void *move_parts(void *ctx, int c)
{
    const struct part_values *v = ctx;
    return order_move(v->r, v->col[c].rows, v->col[c].bytes);
}

static void put_parts(struct hdf5_out *w, struct order *r)
{
    struct part_values v = {.w = w, .r = r};
    struct order_column moved[COL_MAX] = {0};
    int n = 0;
    for (int c = 0; c < w->o.columns->n; c++)
        if (has_column(w, c)) moved[n++] = v.col[c] = sort_column(&v, c);
    order_ahead(r, n, moved);
    hdf5_out_parts(w, r->first, r->nrow, move_parts, &v);
    for (int i = 0; i < n; i++) mem_free((void *)(uintptr_t)moved[i].rows);
}

static enum err write_parts(struct hdf5_out *w)
{
    struct order r;
    size_t bytes = sizeof(struct order_ranked) * (size_t)w->o.p->n + 1;
    struct order_ranked *a = mem_new(bytes, "checkpoint"), *b = mem_new(bytes, "checkpoint");
    rank_parts(w, a);
    struct order_ranked *sorted = order_sort(a, b, w->o.p->n);
    if (sorted == a)
        FREE(b);
    else
        FREE(a);
    order_init(&r, w->o.c, w->o.p->n, part_key, sorted, 64 + 3 * ORDER_LEVEL,
               window_of(w, w->npart, PARTS, PART_WINDOW));
    for (int64_t round = 0; round < r.nround; round++) {
        order_round(&r, round);
        put_parts(w, &r);
    }
    order_fini(&r);
    FREE(a);
    FREE(b);
    return err_agree(w->o.c, w->f.err);
}
#endif
