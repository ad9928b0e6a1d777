/* export/openpmd: see openpmd.h. Three fields p_x, p_y, p_z are the components of a record p.
 * Records of particles are written in the order of the checkpoint's files, batch by batch. */
#include "export/openpmd.h"

#ifdef PTAH_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "hdf5/single.h"

enum { RECORDS = 5, PART_ROW = 8 };

/* A record of particles: components, powers of its dimension. */
static const struct record {
    const char *name;
    int components; /* 0: a scalar */
    char type;
    double power[7];
} RECORD[RECORDS] = {{"position", 3, 'd', {1}},
                     {"velocity", 3, 'd', {1, 0, -1}},
                     {"mass", 0, 'd', {0, 1}},
                     {"id", 0, 'q', {0}},
                     {"positionOffset", -3, 'd', {1}}}; /* constant */

struct pmd {
    struct hdf5_single file;
    struct source *s;
    struct cube *q;
    const struct cube_out *o;
    char base[16];
    int64_t count[FAMILIES], done[FAMILIES];
    int set[FAMILIES]; /* first dataset of the family */
};

/* ---- names ---- */

static void mesh_path(const struct pmd *w, int i, char path[64], char record[64])
{
    const struct export_list *l = &w->q->list;
    const int ndim = l->s->head.ndim;
    char name[48];
    for (int d = 0; d < ndim && d <= i; d++)
        if (export_is_vector(l, i - d, name) && l->field[i].name[strlen(name) + 1] == 'x' + d) {
            snprintf(record, 64, "%s/fields/%.36s", w->base, name);
            snprintf(path, 64, "%s/fields/%.36s/%c", w->base, name, 'x' + d);
            return;
        }
    snprintf(path, 64, "%s/fields/%.40s", w->base, l->field[i].name);
    snprintf(record, 64, "%s", path);
}

/* ---- attributes ---- */

static void fill_root(struct hdf5_file *f, const struct pmd *w)
{
    const struct ckpt_head *h = &w->s->head;
    const double zero = 0, redshift = h->aexp > 0 ? 1 / h->aexp - 1 : 0;
    const uint32_t none = 0;
    hdf5_word(f, "/", "openPMD", "1.1.0");
    hdf5_scalar(f, "/", "openPMDextension", 'I', &none);
    hdf5_word(f, "/", "basePath", "/data/%T/");
    hdf5_word(f, "/", "meshesPath", "fields/");
    hdf5_word(f, "/", "particlesPath", "particles/");
    hdf5_word(f, "/", "iterationEncoding", "groupBased");
    hdf5_word(f, "/", "iterationFormat", "/data/%T/");
    hdf5_word(f, "/", "software", "Ptah");
    hdf5_scalar(f, w->base, "time", 'd', &h->t);
    hdf5_scalar(f, w->base, "dt", 'd', &zero);
    hdf5_scalar(f, w->base, "timeUnitSI", 'd', &h->unit_t);
    hdf5_scalar(f, w->base, "boxlen", 'd', &h->boxlen);
    if (h->cosmo) hdf5_scalar(f, w->base, "redshift", 'd', &redshift);
    if (w->o->provenance) hdf5_word(f, "/", "comment", w->o->provenance);
}

static void fill_mesh(struct hdf5_file *f, const struct pmd *w, const char *record, int i)
{
    static const char AXES[3][6] = {"x\0", "y\0x\0", "z\0y\0x\0"};
    const struct cube *q = w->q;
    const int n = q->ndim;
    const double box = w->s->head.boxlen, si = 0.01 * w->s->head.unit_l, zero = 0;
    double spacing[3], corner[3], power[7];
    for (int d = 0; d < n; d++) {
        spacing[d] = q->side * box;
        corner[d] = q->lo[n - 1 - d] * box;
    }
    (void)export_si(q->list.field[i].unit.name, power);
    hdf5_word(f, record, "geometry", "cartesian");
    hdf5_word(f, record, "dataOrder", "C");
    hdf5_list(f, record, "axisLabels", n, 2, AXES[n - 1]);
    hdf5_attr(f, record, "gridSpacing", 'd', n, spacing);
    hdf5_attr(f, record, "gridGlobalOffset", 'd', n, corner);
    hdf5_scalar(f, record, "gridUnitSI", 'd', &si);
    hdf5_attr(f, record, "unitDimension", 'd', 7, power);
    hdf5_scalar(f, record, "timeOffset", 'd', &zero);
}

static void fill_meshes(struct hdf5_file *f, const struct pmd *w)
{
    const double half[3] = {0.5, 0.5, 0.5};
    char last[64] = "";
    for (int i = 0; w->q && i < w->q->list.n; i++) {
        char path[64], record[64];
        double power[7];
        const struct unit u = cube_unit(w->q, i);
        const double si = u.worth * export_si(u.name, power);
        mesh_path(w, i, path, record);
        hdf5_scalar(f, path, "unitSI", 'd', &si);
        hdf5_attr(f, path, "position", 'd', w->q->ndim, half);
        if (strcmp(record, last) != 0) fill_mesh(f, w, record, i);
        snprintf(last, sizeof last, "%s", record);
    }
}

static double unit_si(const struct ckpt_head *h, const struct record *r)
{
    const double length = 0.01 * h->unit_l, mass = 1e-3 * h->unit_d * pow(h->unit_l, 3);
    return pow(length, r->power[0]) * pow(mass, r->power[1]) * pow(h->unit_t, r->power[2]);
}

static void fill_component(struct hdf5_file *f, const struct pmd *w, int family,
                           const struct record *r, int d)
{
    const double si = unit_si(&w->s->head, r), zero = 0;
    const int64_t n = w->count[family];
    char path[64];
    snprintf(path, sizeof path, "%s/particles/%s/%s", w->base, FAMILY_ROW[family].name, r->name);
    const size_t k = strlen(path);
    if (r->components) snprintf(path + k, sizeof path - k, "/%c", 'x' + d);
    if (r->components < 0) { /* a constant component is a group */
        char group[66];
        snprintf(group, sizeof group, "%s/", path);
        hdf5_small(f, group, 'i', 0, NULL);
        hdf5_scalar(f, path, "value", 'd', &zero);
        hdf5_attr(f, path, "shape", 'Q', 1, &n);
    }
    hdf5_scalar(f, path, "unitSI", 'd', &si);
}

static void fill_species(struct hdf5_file *f, const struct pmd *w, int family)
{
    const double zero = 0;
    const uint32_t weighted = 1;
    for (int k = 0; k < RECORDS; k++) {
        const struct record *r = &RECORD[k];
        const int n = abs(r->components);
        char path[64];
        for (int d = 0; d < n || d == 0; d++)
            if (d < w->s->head.ndim) fill_component(f, w, family, r, d);
        snprintf(path, sizeof path, "%s/particles/%s/%s", w->base, FAMILY_ROW[family].name,
                 r->name);
        hdf5_attr(f, path, "unitDimension", 'd', 7, r->power);
        hdf5_scalar(f, path, "timeOffset", 'd', &zero);
        hdf5_scalar(f, path, "macroWeighted", 'I', &weighted);
        hdf5_scalar(f, path, "weightingPower", 'd', &zero);
    }
}

static void fill(struct hdf5_file *f, const void *ctx)
{
    const struct pmd *w = ctx;
    char group[80];
    for (int k = 0; k < 2; k++) { /* which exist in any case */
        snprintf(group, sizeof group, "%s/%s/", w->base, k ? "particles" : "fields");
        hdf5_small(f, group, 'i', 0, NULL);
    }
    hdf5_make_sets(f);
    if (f->err != OK) return;
    fill_root(f, w);
    fill_meshes(f, w);
    for (int k = 0; k < FAMILIES; k++)
        if (w->count[k]) fill_species(f, w, k);
}

/* ---- datasets ---- */

static void add_meshes(struct pmd *w)
{
    int64_t dim[3];
    const struct cube *q = w->q;
    for (int i = 0; q && i < q->list.n; i++) {
        char path[64], record[64];
        mesh_path(w, i, path, record);
        const int64_t n = cube_cells(q);
        const int set = hdf5_add(&w->file.h5, 'd', n, n + 1, "%s", path);
        for (int d = 0; d < q->ndim; d++) dim[d] = q->n[q->ndim - 1 - d];
        hdf5_shape(&w->file.h5, set, q->ndim, dim);
    }
}

static void add_species(struct pmd *w, int family)
{
    const int64_t n = w->count[family];
    w->set[family] = w->file.h5.nset;
    for (int k = 0; k < RECORDS; k++) {
        const struct record *r = &RECORD[k];
        for (int d = 0; d < r->components && d < w->s->head.ndim; d++)
            hdf5_add(&w->file.h5, r->type, n, n + 1, "%s/particles/%s/%s/%c", w->base,
                     FAMILY_ROW[family].name, r->name, 'x' + d);
        if (r->components == 0)
            hdf5_add(&w->file.h5, r->type, n, n + 1, "%s/particles/%s/%s", w->base,
                     FAMILY_ROW[family].name, r->name);
    }
}

/* ---- values ---- */

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    struct pmd *w = ctx;
    for (int64_t i = 0; i < p->n; i++) w->count[family_row(p->family[i])]++;
    return OK;
}

static void put_column(struct pmd *w, int set, int family, const struct source_parts *p,
                       const void *column, void *row)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (family_row(p->family[i]) == family)
            memcpy((char *)row + PART_ROW * n++, (const char *)column + PART_ROW * i, PART_ROW);
    if (n) hdf5_put(&w->file.h5, set, w->done[family], n, row);
}

static enum err put_parts(const struct source_parts *p, void *ctx)
{
    struct pmd *w = ctx;
    const int ndim = w->s->head.ndim;
    int64_t here[FAMILIES] = {0};
    void *row = mem_new(PART_ROW * (size_t)p->n + 1, "particles");
    for (int64_t i = 0; i < p->n; i++) here[family_row(p->family[i])]++;
    for (int k = 0; k < FAMILIES; k++) {
        int set = w->set[k];
        if (!here[k]) continue;
        for (int d = 0; d < ndim; d++) put_column(w, set++, k, p, p->x[d], row);
        for (int d = 0; d < ndim; d++) put_column(w, set++, k, p, p->v[d], row);
        put_column(w, set++, k, p, p->m, row);
        put_column(w, set, k, p, p->id, row);
        w->done[k] += here[k];
    }
    FREE(row);
    return w->file.h5.err;
}

static enum err take(void *ctx, int field, int64_t first, int64_t n, const double *value)
{
    struct pmd *w = ctx;
    hdf5_put(&w->file.h5, field, first, n, value);
    return w->file.h5.err;
}

static enum err walk_parts(struct pmd *w, source_parts_fn *fn)
{
    for (int k = 0; k < w->s->npiece; k++) TRY(source_parts(w->s, k, SOURCE_STATE, fn, w));
    return OK;
}

static enum err write_all(struct pmd *w, bool parts)
{
    if (parts) TRY(walk_parts(w, count_parts));
    add_meshes(w);
    for (int k = 0; k < FAMILIES; k++)
        if (w->count[k]) add_species(w, k);
    TRY(hdf5_create(&w->file.h5, fill, w));
    if (w->q) TRY(cube_read(w->q, false, take, w));
    return parts ? walk_parts(w, put_parts) : OK;
}

enum err openpmd_write(struct source *s, struct cube *q, bool parts, const struct cube_out *o)
{
    struct pmd w = {.s = s, .q = q, .o = o};
    snprintf(w.base, sizeof w.base, "data/%d", s->number);
    TRY(hdf5_single_open(&w.file, o->path, o->force));
    return hdf5_single_close(&w.file, write_all(&w, parts));
}
#else
enum err openpmd_write(struct source *s, struct cube *q, bool parts, const struct cube_out *o)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         o->path);
}
#endif

enum err cube_write_openpmd(struct cube *q, const struct cube_out *o)
{
    return openpmd_write(q->list.s, q, q->list.s->head.particles, o);
}
