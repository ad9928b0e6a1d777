/* ckpt/hdf5_write: see hdf5_write.h. Rows come in windows of their global order (order.h), are widened to the types of the layout, and
 * go to their place in the file; memory is a few windows, and 32 bytes a particle to sort them. */
#ifdef PTAH_HDF5
#include "ckpt/hdf5_write.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/hdf5_file.h"
#include "ckpt/order.h"
#include "ckpt/ramses_out.h"
#include "ckpt/ramses_read.h"

/* Octs and particles of a checksum: the reader's batches. Windows are multiples. */
enum { OCTS = RAMSES_BATCH, PARTS = RAMSES_PART_BATCH, OCT_WINDOW = 8 * OCTS, PART_WINDOW = 4 * PARTS };
enum { MORTON_LEVEL = 21 };

struct hdf5_out {
    struct ramses_out o; /* counts, names of directories, texts */
    struct hdf5_file f;
    int level_set[LEVEL_MAX + 2], part_set; /* first dataset */
    int64_t octs, npart;
    char *scratch; /* of a window */
};

static enum err write_snapshot(struct hdf5_out *w);

enum err ckpt_write_hdf5(const char *dir, int number, const struct ckpt_head *h, const struct mesh *m,
                         const struct parts *p, const struct comm *c, char *path, size_t n)
{
    struct hdf5_out *w = mem_zero(sizeof *w, "checkpoint");
    struct ramses_out *o = &w->o;
    *o = (struct ramses_out){.h = h, .m = m, .p = p, .c = c, .output = number, .nlevel = h->levelmax};
    BUG_ON(o->nlevel > LEVEL_MAX || m->levelmax > o->nlevel);
    enum err err = OK;
    if (number < 0 || number > 99999) err = err_set(ERR_LIMIT, "%s: output number %d has no five digits", dir, number);
    if (snprintf(o->final, sizeof o->final, "%s/output_%05d", dir, number) + 24 > (int)sizeof o->final)
        err = err_set(ERR_FILE, "%.80s…: path too long", dir);
    snprintf(path, n, "%s", o->final);
    snprintf(o->tmp, sizeof o->tmp, "%.3970s.tmp", o->final);
    if (err == OK) err = write_snapshot(w);
    FREE(w->scratch);
    FREE(w);
    return err;
}

static void add_sets(struct hdf5_out *w);
static void fill_file(struct hdf5_file *f, const void *ctx);
static enum err write_level(struct hdf5_out *w, int l);
static enum err write_parts(struct hdf5_out *w);

static enum err write_file(struct hdf5_out *w)
{
    TRY(hdf5_create(&w->f, fill_file, w));
    for (int l = 1; l <= w->o.nlevel; l++)
        if (w->o.total[l]) TRY(write_level(w, l));
    if (w->o.h->particles) TRY(write_parts(w));
    return hdf5_close(&w->f);
}

/* The texts are those of a single rank. */
static enum err write_texts(const struct hdf5_out *w)
{
    const struct comm alone = {0, 1};
    struct ramses_out o = w->o;
    struct domain *d = domain_new(DOMAIN_HILBERT, 1, o.nlevel, o.m->wall);
    o.c = &alone;
    o.d = d;
    enum err err = ramses_write_texts(&o);
    domain_free(d);
    return err;
}

static enum err write_snapshot(struct hdf5_out *w)
{
    struct ramses_out *o = &w->o;
    bool root = o->c->rank == 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/data_%05d.h5", o->tmp, o->output);
    hdf5_init(&w->f, o->c, path, o->h->deflate);
    o->ngridmax = 1;
    ramses_out_count(o);
    for (int l = 1; l <= o->nlevel; l++) w->octs += o->total[l];
    w->npart = o->h->particles ? o->p->n : 0;
    comm_add_i64(o->c, &w->npart, 1);
    o->ngridmax = o->h->ngridmax > w->octs ? o->h->ngridmax : w->octs;
    w->scratch = mem_new((size_t)OCT_WINDOW * 64, "checkpoint");
    add_sets(w);
    enum err err = err_agree(o->c, root ? ramses_out_begin(o) : OK);
    if (err == OK) err = err_agree(o->c, root ? write_texts(w) : OK);
    if (err == OK) err = err_agree(o->c, write_file(w));
    hdf5_fini(&w->f);
    if (err == OK) err = err_agree(o->c, root ? ramses_out_finish(o) : OK);
    if (err != OK && root) ramses_out_drop(o, err);
    return err;
}

/* ---- layout ---- */

static void add_level(struct hdf5_out *w, int l)
{
    struct hdf5_file *f = &w->f;
    int64_t n = w->o.total[l];
    w->level_set[l] = f->nset;
    for (int d = 1; d <= 3; d++) hdf5_add(f, 'd', n, OCTS, "amr/level_%d/xg_%d", l, d);
    hdf5_add(f, 'i', 8 * n, 8 * OCTS, "amr/level_%d/son_flag", l);
    hdf5_add(f, 'i', 8 * n, 8 * OCTS, "amr/level_%d/cpu_map", l);
    hdf5_add(f, 'B', n, OCTS, "ptah/amr/level_%d/flag", l);
    for (int v = 1; w->o.h->hydro && v <= w->o.h->nvar; v++)
        hdf5_add(f, 'd', 8 * n, 8 * OCTS, "hydro/level_%d/uold_%d", l, v);
    if (!w->o.h->gravity) return;
    hdf5_add(f, 'd', 8 * n, 8 * OCTS, "gravity/level_%d/phi", l);
    for (int d = 1; d <= 3; d++) hdf5_add(f, 'd', 8 * n, 8 * OCTS, "gravity/level_%d/f_%d", l, d);
}

static void add_sets(struct hdf5_out *w)
{
    struct hdf5_file *f = &w->f;
    for (int l = 1; l <= w->o.nlevel; l++)
        if (w->o.total[l]) add_level(w, l);
    w->part_set = f->nset;
    if (!w->o.h->particles) return;
    for (int d = 1; d <= 3; d++) hdf5_add(f, 'd', w->npart, PARTS, "particles/x_%d", d);
    for (int d = 1; d <= 3; d++) hdf5_add(f, 'd', w->npart, PARTS, "particles/v_%d", d);
    hdf5_add(f, 'd', w->npart, PARTS, "particles/mass");
    hdf5_add(f, 'q', w->npart, PARTS, "particles/identity");
    hdf5_add(f, 'i', w->npart, PARTS, "particles/levelp");
    hdf5_add(f, 'b', w->npart, PARTS, "ptah/particles/family");
    hdf5_add(f, 'b', w->npart, PARTS, "ptah/particles/tag");
    if (w->o.stars) hdf5_add(f, 'd', w->npart, PARTS, "particles/birth_epoch");
    if (w->o.metal) hdf5_add(f, 'd', w->npart, PARTS, "particles/metallicity");
}

/* The layout has 32-bit counts; what does not fit is written with 64, which HDF5 converts for readers that can hold it. */
static void attr_count(struct hdf5_file *f, const char *group, const char *name, int64_t n)
{
    int32_t narrow = (int32_t)n;
    if (n <= INT32_MAX)
        hdf5_attr(f, group, name, 'i', 1, &narrow);
    else
        hdf5_attr(f, group, name, 'q', 1, &n);
}

static void fill_header(struct hdf5_file *f, const struct hdf5_out *w)
{
    const struct ckpt_head *h = w->o.h;
    const struct {
        const char *name;
        int64_t value;
    } count[] = {{"ncpu", 1},
                 {"ndim", 3},
                 {"nx", 1},
                 {"ny", 1},
                 {"nz", 1},
                 {"nlevelmax", w->o.nlevel},
                 {"levelmin", h->levelmin},
                 {"ngridmax", w->o.ngridmax},
                 {"nboundary", 0},
                 {"ncoarse", 1},
                 {"ngrid_current", w->octs},
                 {"nvar", h->hydro ? h->nvar : 0},
                 {"nstep", h->nstep},
                 {"nstep_coarse", h->nstep_coarse},
                 {"noutput", h->noutput},
                 {"iout", h->iout},
                 {"ifout", h->ifout}};
    const struct {
        const char *name;
        double value;
    } real[] = {{"boxlen", h->boxlen},
                {"gamma", h->gamma},
                {"time", h->t},
                {"const", h->einit},
                {"mass_tot_0", h->mass_tot_0},
                {"rho_tot", h->rho_tot},
                {"omega_m", h->omega_m},
                {"omega_l", h->omega_l},
                {"omega_k", h->omega_k},
                {"omega_b", h->omega_b},
                {"h0", h->h0},
                {"aexp_ini", h->aexp_ini},
                {"boxlen_ini", h->boxlen_ini},
                {"aexp", h->aexp},
                {"hexp", h->hexp},
                {"aexp_old", h->aexp_old},
                {"epot_tot_int", h->epot_tot_int},
                {"epot_tot_old", h->epot_tot_old},
                {"mass_sph", h->mass_sph}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) attr_count(f, "header", count[i].name, count[i].value);
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        hdf5_attr(f, "header", real[i].name, 'd', 1, &real[i].value);
    hdf5_attr(f, "header", "tout", 'd', h->noutput, h->tout);
    hdf5_attr(f, "header", "aout", 'd', h->noutput, h->aout);
    hdf5_attr(f, "header", "dtold", 'd', w->o.nlevel, h->dtold + 1);
    hdf5_attr(f, "header", "dtnew", 'd', w->o.nlevel, h->dtnew + 1);
    hdf5_text(f, "header", "ordering", "hilbert");
}

static void fill_domain(struct hdf5_file *f, const struct hdf5_out *w)
{
    static const int32_t one = 1;
    double bound[2];
    struct domain *d = domain_new(DOMAIN_HILBERT, 1, w->o.nlevel, w->o.m->wall);
    domain_bound_keys(d, bound);
    domain_free(d);
    hdf5_small(f, "coarse/son", 'i', 1, &one);
    hdf5_small(f, "coarse/cpu_map", 'i', 1, &one);
    hdf5_small(f, "coarse/flag1", 'i', 1, &one);
    hdf5_small(f, "domain/bound_key", 'd', 2, bound);
    hdf5_text(f, "domain", "ordering", "hilbert");
}

static void fill_ptah(struct hdf5_file *f, const struct hdf5_out *w)
{
    const struct ckpt_head *h = w->o.h;
    const char *from = h->provenance ? h->provenance : "", *list = h->namelist ? h->namelist : "";
    static const int32_t version = 1;
    int32_t imetal = h->imetal;
    hdf5_small(f, "ptah/provenance", 'B', (int64_t)strlen(from), from);
    hdf5_small(f, "ptah/namelist", 'B', (int64_t)strlen(list), list);
    hdf5_attr(f, "ptah", "version", 'i', 1, &version);
    hdf5_attr(f, "ptah", "imetal", 'i', 1, &imetal);
    hdf5_attr(f, "ptah", "smallr", 'd', 1, &h->smallr);
    hdf5_attr(f, "ptah", "unit_l", 'd', 1, &h->unit_l);
    hdf5_attr(f, "ptah", "unit_d", 'd', 1, &h->unit_d);
    hdf5_attr(f, "ptah", "unit_t", 'd', 1, &h->unit_t);
    hdf5_attr(f, "ptah", "tout_next", 'd', 1, &h->tout_next);
    hdf5_attr(f, "ptah", "aout_next", 'd', 1, &h->aout_next);
    hdf5_attr(f, "ptah", "safe", 'B', LEVEL_MAX + 2, h->safe);
}

static void fill_file(struct hdf5_file *f, const void *ctx)
{
    const struct hdf5_out *w = ctx;
    int32_t deepest = 0;
    hdf5_small(f, "header/", 'i', 0, NULL); /* a group */
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
    if (!w->o.h->particles) return;
    int32_t n = w->npart < INT32_MAX ? (int32_t)w->npart : INT32_MAX;
    double lost = 0;
    hdf5_small(f, "particles/npart_per_cpu", 'i', 1, &n);
    hdf5_attr(f, "particles", "npart_total", 'q', 1, &w->npart);
    hdf5_attr(f, "particles", "nstar_tot", 'q', 1, &w->o.family[FAM_STAR + 5]);
    hdf5_attr(f, "particles", "mstar_tot", 'd', 1, &w->o.star_mass);
    hdf5_attr(f, "particles", "mstar_lost", 'd', 1, &lost);
}

/* Whole blocks, and no longer than lets every rank have one. */
static int64_t window_of(const struct hdf5_out *w, int64_t total, int64_t block, int64_t most)
{
    int64_t each = (total / w->o.c->size + block - 1) / block * block;
    return each < block ? block : each < most ? each : most;
}

/* ---- octs ---- */

static order_key oct_key(const void *ctx, int64_t i)
{
    return ((const struct level *)ctx)->key[i];
}

static void put_centres(struct hdf5_out *w, int set, int l, const struct order *r)
{
    double *x = (double *)w->scratch;
    for (int d = 0; d < 3; d++) {
        for (int64_t i = 0; i < r->nrow; i++) {
            int64_t at[3];
            okey_coords((okey)r->key[i], at);
            x[i] = ldexp((double)(2 * at[d] + 1), -l);
        }
        hdf5_put(&w->f, set + d, r->first, r->nrow, x);
    }
}

/* Masks, bit c for cell c: of refined cells, of those flagged. Sent together. */
static void put_masks(struct hdf5_out *w, int set, const struct level *lv, struct order *r)
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
    const unsigned char(*all)[2] = order_move(r, mine, sizeof *mine);
    int32_t(*cell)[8] = (int32_t(*)[8])(void *)w->scratch;
    for (int64_t i = 0; i < r->nrow; i++)
        for (int c = 0; c < 8; c++) cell[i][c] = all[i][0] >> c & 1;
    hdf5_put(&w->f, set, 8 * r->first, 8 * r->nrow, cell);
    for (int64_t i = 0; i < r->nrow; i++)
        for (int c = 0; c < 8; c++) cell[i][c] = 1;
    hdf5_put(&w->f, set + 1, 8 * r->first, 8 * r->nrow, cell); /* all of rank 1 */
    for (int64_t i = 0; i < r->nrow; i++) w->scratch[i] = (char)all[i][1];
    hdf5_put(&w->f, set + 2, r->first, r->nrow, w->scratch);
    FREE(mine);
}

static void put_field(struct hdf5_out *w, int set, double (*fld)[8], struct order *r)
{
    hdf5_put(&w->f, set, 8 * r->first, 8 * r->nrow, order_move(r, fld + r->send, sizeof *fld));
}

static enum err write_level(struct hdf5_out *w, int l)
{
    static const int grav[4] = {FLD_PHI, FLD_FX, FLD_FY, FLD_FZ};
    const struct level *lv = &w->o.m->lev[l];
    const struct ckpt_head *h = w->o.h;
    struct order r;
    order_init(&r, w->o.c, lv->nown, oct_key, lv, 3 * l - 2, window_of(w, w->o.total[l], OCTS, OCT_WINDOW));
    for (int64_t round = 0; round < r.nround; round++) {
        int set = w->level_set[l];
        order_round(&r, round);
        put_centres(w, set, l, &r);
        put_masks(w, set + 3, lv, &r);
        set += 6;
        for (int v = 0; h->hydro && v < h->nvar; v++) put_field(w, set++, lv->fld[FLD_U + v], &r);
        for (int k = 0; h->gravity && k < 4; k++, set++) {
            if (l >= h->levelmin) {
                put_field(w, set, lv->fld[grav[k]], &r);
                continue;
            }
            memset(w->scratch, 0, 64 * (size_t)r.nrow); /* coarser levels are not solved */
            hdf5_put(&w->f, set, 8 * r.first, 8 * r.nrow, w->scratch);
        }
    }
    order_fini(&r);
    return err_agree(w->o.c, w->f.err);
}

/* ---- particles ---- */

struct ranked {
    uint64_t key, more; /* Morton key of the position · family, id */
    int64_t i;
};

static order_key part_key(const void *ctx, int64_t i)
{
    const struct ranked *r = ctx;
    return (order_key)r[i].key << 64 | r[i].more;
}

/* Into [0, boxlen) where the box is periodic, as in the RAMSES files. */
static double wrapped(const struct mesh *m, int d, double x)
{
    if (m->wall[2 * d] || m->wall[2 * d + 1]) return x;
    if (x < 0) x = x + m->boxlen;
    if (x >= m->boxlen) x = x - m->boxlen;
    return x;
}

static void rank_parts(const struct hdf5_out *w, struct ranked *r)
{
    const struct parts *p = w->o.p;
    const double last = (double)((1 << MORTON_LEVEL) - 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        uint64_t cell[3];
        for (int d = 0; d < 3; d++) {
            double x = part_cells(w->o.m, MORTON_LEVEL, wrapped(w->o.m, d, p->x[d][i]));
            cell[d] = (uint64_t)(x > 0 ? x < last ? x : last : 0);
        }
        r[i].key = okey_spread21(cell[0]) | okey_spread21(cell[1]) << 1 | okey_spread21(cell[2]) << 2;
        r[i].more = (uint64_t)(uint8_t)p->family[i] << 56 | ((uint64_t)p->id[i] & 0xffffffffffffff);
        r[i].i = i;
    }
}

static bool is_less(const struct ranked *a, const struct ranked *b)
{
    return a->key < b->key || (a->key == b->key && a->more < b->more);
}

/* Radix sort by key, 11 bits a pass, then the few of equal key by insertion. Returns which of both arrays has the result. */
static struct ranked *sort_parts(struct ranked *r, struct ranked *other, int64_t n)
{
    enum { BITS = 11, BINS = 1 << BITS };
    for (int shift = 0; shift < 3 * MORTON_LEVEL; shift += BITS) {
        int64_t start[BINS + 1] = {0};
        for (int64_t i = 0; i < n; i++) start[(r[i].key >> shift & (BINS - 1)) + 1]++;
        for (int b = 0; b < BINS; b++) start[b + 1] += start[b];
        for (int64_t i = 0; i < n; i++) other[start[r[i].key >> shift & (BINS - 1)]++] = r[i];
        struct ranked *swap = r;
        r = other, other = swap;
    }
    for (int64_t i = 1; i < n; i++) {
        struct ranked x = r[i];
        int64_t j = i;
        for (; j > 0 && is_less(&x, &r[j - 1]); j--) r[j] = r[j - 1];
        r[j] = x;
    }
    return r;
}

static void put_column(struct hdf5_out *w, int set, struct order *r, const void *column, size_t size, int d)
{
    const struct ranked *rank = (const struct ranked *)r->ctx + r->send;
    char *mine = mem_new(size * (size_t)r->nsend + 1, "checkpoint");
    const double *x = column;
    if (d >= 0)
        for (int64_t i = 0; i < r->nsend; i++) ((double *)mine)[i] = wrapped(w->o.m, d, x[rank[i].i]);
    else if (size == 8)
        for (int64_t i = 0; i < r->nsend; i++) ((double *)mine)[i] = x[rank[i].i];
    else
        for (int64_t i = 0; i < r->nsend; i++)
            memcpy(mine + (size_t)i * size, (const char *)column + (size_t)rank[i].i * size, size);
    hdf5_put(&w->f, set, r->first, r->nrow, order_move(r, mine, size));
    FREE(mine);
}

static void put_parts(struct hdf5_out *w, struct order *r)
{
    const struct parts *p = w->o.p;
    int set = w->part_set;
    for (int d = 0; d < 3; d++) put_column(w, set++, r, p->x[d], 8, d);
    for (int d = 0; d < 3; d++) put_column(w, set++, r, p->v[d], 8, -1);
    put_column(w, set++, r, p->m, 8, -1);
    put_column(w, set++, r, p->id, 8, -1);
    put_column(w, set++, r, p->levelp, 4, -1);
    put_column(w, set++, r, p->family, 1, -1);
    put_column(w, set++, r, p->tag, 1, -1);
    if (w->o.stars) put_column(w, set++, r, p->birth, 8, -1);
    if (w->o.metal) put_column(w, set++, r, p->metal, 8, -1);
}

static enum err write_parts(struct hdf5_out *w)
{
    struct order r;
    size_t bytes = sizeof(struct ranked) * (size_t)w->o.p->n + 1;
    struct ranked *a = mem_new(bytes, "checkpoint"), *b = mem_new(bytes, "checkpoint");
    rank_parts(w, a);
    struct ranked *sorted = sort_parts(a, b, w->o.p->n);
    if (sorted == a)
        FREE(b);
    else
        FREE(a);
    order_init(&r, w->o.c, w->o.p->n, part_key, sorted, 64 + 3 * MORTON_LEVEL,
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
