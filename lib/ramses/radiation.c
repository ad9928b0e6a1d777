/* ramses/radiation: files of radiation, rt_NNNNN.outRRRRR, and their header info_rt_NNNNN.txt.
 *
 * RAMSES stores the reduced speed of light times the density of photons. The density computed from
 * it may differ in the last bit, so that files of this code have others beside them,
 * exact_rt_NNNNN.outRRRRR: for each batch of own octs a record of bytes, the differences of the
 * bits of the density, by cell, group and oct. The header has the numbers that a run needs with all
 * bits behind those that RAMSES prints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "oct/field_sets.h"
#include "ramses/out.h"
#include "ramses/priv.h"

/* ---- the header ---- */

struct text {
    const char *path, *text;
};

/* The text behind `key … =` in the n-th line that begins with the key, from 0; NULL: there is none.
 */
static const char *find(const struct text *t, const char *key, int n)
{
    const size_t size = strlen(key);
    for (const char *line = t->text; line && *line; line = strchr(line, '\n')) {
        line += strspn(line, " \n");
        if (strncmp(line, key, size) != 0) continue;
        const char *at = line + size;
        at += strspn(at, " ");
        if (*at == '=' && n-- == 0) return at + 1;
    }
    return NULL;
}

/* Reads `count` numbers of a line into x, which must be finite. */
static enum err get(const struct text *t, const char *key, int n, int count, double *x)
{
    const char *at = find(t, key, n);
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        if (at) x[i] = strtod(at, &end);
        if (!at || end == at || !isfinite(x[i]) || memchr(at, '\n', (size_t)(end - at)))
            FAIL(ERR_FORMAT, "%s: has no valid number %d of `%s` (group %d): the file is damaged",
                 t->path, i + 1, key, n + 1);
        at = end;
    }
    return OK;
}

static enum err get_count(const struct text *t, const char *key, int most, int *n)
{
    double x = 0;
    TRY(get(t, key, 0, 1, &x));
    if (!(x >= 0 && x <= most) || x != floor(x))
        FAIL(ERR_FORMAT, "%s: `%s` is %g where a whole number from 0 to %d is expected", t->path,
             key, x, most);
    *n = (int)x;
    return OK;
}

static enum err get_groups(const struct text *t, struct ckpt_radiation *h)
{
    const int first = h->ions % 2 == 0 ? 0 : 1;
    double group[4] = {0};
    TRY(get(t, "groupL0  [eV]", 0, h->groups, h->l0));
    TRY(get(t, "groupL1  [eV]", 0, h->groups, h->l1));
    TRY(get(t, "spec2group", 0, h->ions, group));
    for (int i = 0; i < h->ions; i++) {
        if (!(fabs(group[i]) <= INT16_MAX))
            FAIL(ERR_FORMAT, "%s: number %d of `spec2group` is %g, which is no number of a group",
                 t->path, i + 1, group[i]);
        h->spec2group[i] = (int)group[i];
    }
    for (int g = 0; g < h->groups; g++) {
        TRY(get(t, "egy      [eV]", g, 1, &h->egy[g]));
        TRY(get(t, "csn    [cm^2]", g, h->ions, h->csn[g] + first));
        TRY(get(t, "cse    [cm^2]", g, h->ions, h->cse[g] + first));
    }
    return OK;
}

/* The numbers with all bits, if they are there. */
static enum err get_exact(const struct text *t, struct ckpt_radiation *h)
{
    const char *at = strstr(t->text, "\n exact ");
    if (!at) return OK;
    at += strlen("\n exact ");
    for (int i = 0; i < RADIATION_REALS; i++) {
        char *end;
        h->real[i] = strtod(at, &end);
        if (end == at || !isfinite(h->real[i]))
            FAIL(ERR_FORMAT, "%s: number %d of the %d exact ones is not valid: the file is damaged",
                 t->path, i + 1, RADIATION_REALS);
        at = end + strspn(end, " \n");
        if (strncmp(at, "exact ", 6) == 0) at += 6;
    }
    return OK;
}

static enum err get_header(struct ramses *r, const struct text *t)
{
    struct ckpt_radiation *h = &r->s->head.radiation;
    const struct ckpt_head *head = &r->s->head;
    int groups = 0;
    TRY(get_count(t, "nIons", 4, &h->ions));
    TRY(get_count(t, "nGroups", PHOTON_GROUPS, &groups));
    if (groups != h->groups)
        FAIL(ERR_FORMAT, "%s: says %d groups of photons, but the files of the radiation have %d",
             t->path, groups, h->groups);
    TRY(get(t, "X_fraction", 0, 1, &h->x));
    TRY(get(t, "Y_fraction", 0, 1, &h->y));
    TRY(get(t, "unit_np", 0, 1, &h->unit_np));
    TRY(get(t, "unit_pf", 0, 1, &h->unit_pf));
    TRY(get(t, "rt_c_frac", 0, 1, &h->c_fraction));
    TRY(get(t, "n_star", 0, 1, &h->n_star));
    TRY(get(t, "T2_star", 0, 1, &h->t2_star));
    TRY(get(t, "g_star", 0, 1, &h->g_star));
    TRY(get_groups(t, h));
    h->c = RAMSES_C * h->c_fraction / (head->unit_l / head->unit_t);
    TRY(get_exact(t, h));
    if (!(h->c > 0 && isfinite(h->c)))
        FAIL(ERR_FORMAT,
             "%s: rt_c_frac is %g, and the speed of light %g: both must be above 0: the file is "
             "damaged",
             t->path, h->c_fraction, h->c);
    return OK;
}

/* RAMSES calls fractions of ions scalar_NN; the header has the number of the first. */
static enum err name_ions(struct ramses *r, const struct text *t)
{
    static const char *const name[4][4] = {{"x_HII"},
                                           {"x_HI", "x_HII"},
                                           {"x_HII", "x_HeII", "x_HeIII"},
                                           {"x_HI", "x_HII", "x_HeII", "x_HeIII"}};
    struct source *s = r->s;
    const int ions = s->head.radiation.ions;
    int first = 0;
    TRY(get_count(t, "iIons", CKPT_FIELDS, &first));
    if (ions == 0 || first == 0) return OK;
    if (first + ions - 1 > s->nhydro)
        FAIL(ERR_FORMAT,
             "%s: %d fractions of ions from variable %d on do not fit the %d variables of the gas",
             t->path, ions, first, s->nhydro);
    for (int k = 0; k < ions && r->s->foreign; k++) {
        char *is = s->field[first - 1 + k].name;
        if (strncmp(is, "scalar_", 7) == 0)
            snprintf(is, sizeof s->field->name, "%s", name[ions - 1][k]);
    }
    return OK;
}

static enum err read_text(struct ramses *r)
{
    struct source *s = r->s;
    struct text t;
    char *text, path[PATH_MAX];
    size_t bytes;
    TRY(info_path(s, FILES_RT_INFO, path));
    TRY(info_text(s, FILES_RT_INFO, &text, &bytes));
    if (!text)
        FAIL(ERR_FILE, "%s: is missing, but the checkpoint has %d groups of photons", path,
             s->head.radiation.groups);
    t.path = path, t.text = text;
    enum err err = get_header(r, &t);
    if (err == OK) err = name_ions(r, &t);
    mem_free(text);
    return err;
}

enum err ramses_read_radiation(struct ramses *r, const struct amr_head *a)
{
    struct source *s = r->s;
    const int ndim = s->head.ndim;
    struct fort_in f;
    char path[PATH_MAX];
    int32_t nvar = 0;
    double gamma;
    TRY(ramses_path(r, FILES_RT, 1, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_hydro_head(&f, ndim, a, &nvar, &gamma);
    fort_shut(&f);
    TRY(err);
    if (nvar < 1 || nvar % (1 + ndim) || nvar / (1 + ndim) > PHOTON_GROUPS)
        FAIL(
            ERR_LIMIT,
            "%s: has %d variables, which are not those of 1 to %d groups of photons with fluxes in "
            "%d dimensions",
            path, nvar, PHOTON_GROUPS, ndim);
    s->nphoton = nvar;
    s->head.radiation.groups = nvar / (1 + ndim);
    s->fields |= PHOTONS;
    return read_text(r);
}

/* ---- last bits ---- */

/* The bits of a number, so that the order of numbers of one sign is that of the bits. Differences
 * of damaged values wrap. */
static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static double number_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* Densities become those of the files, c times them, with the differences that photons_from_file
 * needs to find all bits; *lost is set where it cannot. */
static void photons_to_file(int n, double c, double *row, signed char *last, bool *lost)
{
    for (int i = 0; i < n; i++) {
        const double value = row[i] * c;
        const int64_t more = (int64_t)(bits_of(row[i]) - bits_of(value / c));
        *lost |= more < INT8_MIN || more > INT8_MAX;
        last[i] = (signed char)more;
        row[i] = value;
    }
}

void photons_from_file(int n, double c, const signed char *last, double *row)
{
    for (int i = 0; i < n; i++)
        row[i] = last ? number_of(bits_of(row[i] / c) + (uint64_t)last[i]) : row[i] / c;
}

/* ---- writing ---- */

struct table {
    const struct ramses_block *b;
    struct fort_out *exact;
    signed char *last; /* [cells][groups][CKPT_BATCH] of the batch */
    enum err *err;
};

/* A value of the file of octs i..i+n-1 of a batch in cell c, also beyond the boundary. */
static void fill_row(const struct table *t, const struct ramses_lines *in, int v, int c, int64_t at,
                     int n, double *row)
{
    const struct ckpt_out *o = &t->b->w->o;
    const int each = 1 + o->h->ndim, k = v % each, axis = k - 1;
    double(*fld)[8] = in->fld[out_gravity(o) + v / each * PHOTON_VALUES + k];
    const bool beyond = t->b->rank >= o->c->size;
    for (int i = 0; i < n; i++) {
        const struct boundary_rule *r = beyond ? ramses_block_rule(t->b, (int32_t)(at + i), NULL)
                                               : NULL;
        row[i] = fld[in->line[i]][r ? r->from[c] : c];
        if (r && axis >= 0 && r->flip[axis]) row[i] = -row[i];
    }
}

static void fill_cell(const struct table *t, const struct ramses_lines *in, int c, int64_t at,
                      int n, char *rows, size_t stride, bool *lost)
{
    const struct ckpt_out *o = &t->b->w->o;
    const int ncol = out_photons_file(o), each = 1 + o->h->ndim, groups = ncol / each;
    for (int v = 0; v < ncol; v++) {
        double *row = (double *)(rows + (size_t)(c * ncol + v) * stride);
        fill_row(t, in, v, c, at, n, row);
        if (v % each == 0)
            photons_to_file(n, o->h->radiation.c, row,
                            t->last + (c * groups + v / each) * CKPT_BATCH + at % CKPT_BATCH, lost);
    }
}

/* Writes the record of a batch of n own octs. */
static void put_last(const struct table *t, int n)
{
    const int rows = ramses_out_cells(t->b->w) * t->b->w->o.h->radiation.groups;
    fort_begin(t->exact, (int64_t)rows * n);
    for (int k = 0; k < rows; k++) fort_put(t->exact, t->last + k * CKPT_BATCH, (size_t)n);
    fort_end(t->exact);
}

static enum err fill_batch(const struct table *t, int64_t first, int n, char *rows, size_t stride)
{
    const struct ramses_block *b = t->b;
    const int cells = ramses_out_cells(b->w), end = (int)(first % CKPT_BATCH) + n;
    struct ramses_lines in;
    bool lost = false;
    TRY(ramses_lines_of(b, LINES_RADIATION, first, n, &in));
#pragma omp parallel for schedule(static) reduction(|| : lost)
    for (int c = 0; c < cells; c++) fill_cell(t, &in, c, first, n, rows, stride, &lost);
    if (b->rank != b->w->o.c->rank) return OK;
    if (lost)
        FAIL(ERR_LIMIT,
             "the density of photons on level %d is too large or too small for RAMSES's files, "
             "which "
             "store it times the speed of light %g: write HDF5",
             b->level, b->w->o.h->radiation.c);
    if (end == CKPT_BATCH || first + n == b->n) put_last(t, end);
    return OK;
}

static void fill(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct table *t = ctx;
    for (int64_t at = 0, k; at < n && *t->err == OK; at += k) {
        k = CKPT_BATCH - (first + at) % CKPT_BATCH;
        if (k > n - at) k = n - at;
        *t->err = fill_batch(t, first + at, (int)k, rows + 8 * at, stride);
    }
}

static void write_blocks(const struct ramses_out *w, struct fort_out *f, struct fort_out *exact)
{
    const int rows = ramses_out_cells(w) * out_photons_file(&w->o);
    signed char *last = mem_new((size_t)rows * CKPT_BATCH, "checkpoint");
    for (int l = 1; l <= w->o.nlevel; l++)
        for (int r = 0; r < w->o.c->size + w->o.h->boundary.n && f->err == OK; r++) {
            struct ramses_block b = ramses_block_of(w, l, r);
            enum err err = OK;
            ramses_block_header(f, l, b.n);
            if (b.n)
                fort_table(f, rows, sizeof(double), b.n, fill,
                           &(struct table){&b, exact, last, &err});
            if (f->err == OK) f->err = err;
        }
    FREE(last);
}

enum err ramses_write_radiation(const struct ramses_out *w, const char *path, const char *exact)
{
    struct fort_out f, x;
    ramses_out_create(&f, w, path);
    ramses_out_create(&x, w, exact);
    ramses_gas_head(&f, w, out_photons_file(&w->o));
    write_blocks(w, &f, &x);
    enum err err = fort_close(&x);
    if (f.err == OK) f.err = err;
    return fort_close(&f);
}
