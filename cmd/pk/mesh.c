/* pk/mesh: see mesh.h.
 *
 * With q(k) = Σ q exp(−ik·x) / N, a spectrum is the sum over the modes of a shell of the product
 * Re(a(k) b(−k)): of ½ u·u, B·B/2μ0, u·ω, A·B, or q². ω and B are those of the run's differences,
 * so that the sums over all shells are ½⟨u²⟩, ⟨B²⟩/2μ0, ⟨u·ω⟩ and ⟨A·B⟩ of its time series. Shell i
 * has the modes i − ½ ≤ |k|/k1 < i + ½, where k1 is 2π over the longest side of the box. Sums are
 * exact (base/sum): nothing depends on ranks. */
#include "mesh.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "ckpt/files.h"
#include "fft/box.h"
#include "fft/fft.h"
#include "grid/equations.h"
#include "grid/value.h"
#include "io/stream.h"

enum { SPECTRA = 16, NAME = 40 };

/* A spectrum: pairs of values whose products it adds. b NULL: squares of a. */
struct row {
    const char *name;
    int n;
    const char *a[3], *b[3];
};
static const struct row ROWS[] = {
    {"kinetic", 3, {"ux", "uy", "uz"}, {NULL}},
    {"magnetic", 3, {"bx", "by", "bz"}, {NULL}},
    {"kinetic_helicity", 3, {"ux", "uy", "uz"}, {"ox", "oy", "oz"}},
    {"magnetic_helicity", 3, {"ax", "ay", "az"}, {"bx", "by", "bz"}},
};
enum { NROW = sizeof ROWS / sizeof *ROWS };

struct job {
    const struct comm *c;
    struct grid *g;
    const char *path;
    struct fft_box *box;
    double complex *first; /* the transform of a, for products with b */
    int nshell, n;         /* shells; spectra */
    double k1;
    char name[SPECTRA][NAME];
    struct sum *sum; /* [n][nshell] */
    double *value;   /* [n][nshell] */
    int64_t *modes;  /* [nshell] */
};

/* ---- transforms ---- */

static enum err transform(struct job *j, const char *name)
{
    struct fft_box *f = j->box;
    struct grid_value v;
    const int64_t plane = f->n[0] * f->n[1], step = grid_value_planes(j->g);
    enum err err = grid_value_find(j->g, name, &v);
    for (int64_t z = f->z[0]; err == OK && z < f->z[1]; z += step) {
        const int64_t n = step < f->z[1] - z ? step : f->z[1] - z;
        err = grid_value_read(j->g, &v, z, n, f->r + (z - f->z[0]) * plane);
    }
    TRY(err_agree(j->c, err));
    fft_box_forward(f);
    return OK;
}

/* The shell of a mode. */
static int shell_of(const struct job *j, int64_t x, int64_t y, int64_t z)
{
    const struct grid_head *h = &j->g->head;
    const int64_t i[3] = {x, y, z};
    double k2 = 0;
    for (int d = 0; d < 3; d++) {
        const double k = 2 * M_PI / h->length[d] * fft_wave((int)h->n[d], (int)i[d]);
        k2 += k * k;
    }
    return (int)floor(sqrt(k2) / j->k1 + 0.5);
}

/* Of a mode and its conjugate, which is not stored, one has kx ≥ 0. */
static int copies(const struct job *j, int64_t x)
{
    return x == 0 || 2 * x == j->g->head.n[0] ? 1 : 2;
}

/* Adds the products of a and the transform in the box to the sums of a spectrum. */
static void add_products(struct job *j, const double complex *a, double factor, struct sum *sum)
{
    const struct fft_box *f = j->box;
    const int64_t nk = f->n[0] / 2 + 1, nz = f->n[2];
    const double cells = (double)f->n[0] * (double)f->n[1] * (double)f->n[2];
    for (int64_t y = f->y[0]; y < f->y[1]; y++)
        for (int64_t x = 0; x < nk; x++)
            for (int64_t z = 0; z < nz; z++) {
                const int64_t at = ((y - f->y[0]) * nk + x) * nz + z;
                const double complex p = a[at] / cells, q = f->k[at] / cells;
                const double product = creal(p) * creal(q) + cimag(p) * cimag(q);
                sum_add(&sum[shell_of(j, x, y, z)], factor * copies(j, x) * product);
            }
}

static void count_modes(struct job *j)
{
    const struct fft_box *f = j->box;
    for (int64_t y = f->y[0]; y < f->y[1]; y++)
        for (int64_t x = 0; x <= f->n[0] / 2; x++)
            for (int64_t z = 0; z < f->n[2]; z++) j->modes[shell_of(j, x, y, z)] += copies(j, x);
    comm_add_i64(j->c, j->modes, j->nshell);
}

static enum err measure_row(struct job *j, const struct row *r, double factor, struct sum *sum)
{
    const struct fft_box *f = j->box;
    const size_t bytes = sizeof *f->k * (size_t)((f->y[1] - f->y[0]) * (f->n[0] / 2 + 1) * f->n[2]);
    for (int i = 0; i < r->n; i++) {
        TRY(transform(j, r->a[i]));
        if (r->b[i]) {
            memcpy(j->first, f->k, bytes);
            TRY(transform(j, r->b[i]));
        }
        add_products(j, r->b[i] ? j->first : f->k, factor, sum);
    }
    return OK;
}

static enum err measure(struct job *j)
{
    struct fd_par eq;
    TRY(err_agree(j->c, grid_equations(j->g, &eq)));
    for (int i = 0; i < j->n; i++) {
        const char *name = j->name[i];
        struct row scalar = {name, 1, {name}, {NULL}};
        const struct row *r = &scalar;
        for (int k = 0; k < NROW; k++)
            if (strcmp(name, ROWS[k].name) == 0) r = &ROWS[k];
        const double factor = strcmp(name, "kinetic") == 0    ? 0.5
                              : strcmp(name, "magnetic") == 0 ? 0.5 / eq.mu0
                                                              : 1;
        TRY(measure_row(j, r, factor, j->sum + (int64_t)i * j->nshell));
    }
    comm_sums(j->c, j->sum, j->n * j->nshell);
    for (int i = 0; i < j->n * j->nshell; i++) j->value[i] = sum_get(&j->sum[i]);
    count_modes(j);
    return OK;
}

/* ---- what to measure ---- */

/* Whether a checkpoint has all values of a row. */
static bool has_row(const struct grid *g, const struct row *r)
{
    struct grid_value list[GRID_VALUES];
    const int n = grid_values(g, list);
    int found = 0, all = 0;
    for (int i = 0; i < r->n; i++) {
        all += 1 + (r->b[i] != NULL);
        for (int k = 0; k < n; k++)
            found += strcmp(list[k].name, r->a[i]) == 0 ||
                     (r->b[i] && strcmp(list[k].name, r->b[i]) == 0);
    }
    return found == all;
}

static enum err take_name(struct job *j, const char *name, size_t n)
{
    struct grid_value v;
    if (j->n == SPECTRA || n >= NAME)
        FAIL(ERR_PARAM, "--values names more than %d spectra, or a name is too long", SPECTRA);
    snprintf(j->name[j->n], NAME, "%.*s", (int)n, name);
    for (int k = 0; k < NROW; k++)
        if (strcmp(j->name[j->n], ROWS[k].name) == 0) {
            for (int i = 0; i < ROWS[k].n; i++) {
                TRY(grid_value_find(j->g, ROWS[k].a[i], &v));
                if (ROWS[k].b[i]) TRY(grid_value_find(j->g, ROWS[k].b[i], &v));
            }
            j->n++;
            return OK;
        }
    return grid_value_find(j->g, j->name[j->n++], &v);
}

static enum err take_names(struct job *j, const char *values)
{
    for (int k = 0; k < NROW && !values; k++)
        if (has_row(j->g, &ROWS[k])) TRY(take_name(j, ROWS[k].name, strlen(ROWS[k].name)));
    for (const char *s = values; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        TRY(take_name(j, s, strcspn(s, ",")));
    if (!j->n)
        FAIL(ERR_PARAM, "%s: has neither a velocity nor a magnetic field: use --values", j->path);
    return OK;
}

static void prepare(struct job *j)
{
    const struct grid_head *h = &j->g->head;
    double k2 = 0;
    j->k1 = 2 * M_PI / fmax(h->length[0], fmax(h->length[1], h->length[2]));
    for (int d = 0; d < 3; d++) k2 += pow(M_PI * (double)h->n[d] / h->length[d], 2);
    j->nshell = (int)(sqrt(k2) / j->k1 + 0.5) + 2;
    j->box = fft_box_new(j->c, h->n);
    const int64_t kept = (j->box->y[1] - j->box->y[0]) * (h->n[0] / 2 + 1) * h->n[2];
    j->first = mem_new(sizeof *j->first * (size_t)kept + 16, "fft");
    j->sum = mem_new(sizeof *j->sum * (size_t)(j->n * j->nshell), "pk bins");
    for (int i = 0; i < j->n * j->nshell; i++) sum_init(&j->sum[i]);
    j->value = mem_zero(sizeof *j->value * (size_t)(j->n * j->nshell), "pk bins");
    j->modes = mem_zero(sizeof *j->modes * (size_t)j->nshell, "pk bins");
}

/* ---- the table ---- */

static void print_tsv(FILE *out, const struct job *j)
{
    const struct grid_head *h = &j->g->head;
    fprintf(out, "# pk of %s\n# time %.9g, box %.9g x %.9g x %.9g, code units\n", j->path, h->t,
            h->length[0], h->length[1], h->length[2]);
    fprintf(out,
            "# mesh %ld x %ld x %ld; the sum of E over the shells is the mean over the mesh\n"
            "# spectrum\tk\tE\tmodes\n",
            (long)h->n[0], (long)h->n[1], (long)h->n[2]);
    for (int i = 0; i < j->n; i++)
        for (int s = 0; s < j->nshell; s++) {
            if (!j->modes[s]) continue;
            fprintf(out, "%s\t", j->name[i]);
            put_number(out, 17, s * j->k1);
            fputc('\t', out);
            put_number(out, 17, j->value[i * j->nshell + s]);
            fprintf(out, "\t%ld\n", (long)j->modes[s]);
        }
}

static void print_json(FILE *out, const struct job *j)
{
    const struct grid_head *h = &j->g->head;
    fprintf(out, "{\"schema\":\"pk-mesh-1\",\"path\":");
    json_quote(out, j->path);
    fprintf(out, ",\"time\":%.17g,\"cells\":[%ld,%ld,%ld],\"k\":[", h->t, (long)h->n[0],
            (long)h->n[1], (long)h->n[2]);
    for (int s = 0; s < j->nshell; s++) fprintf(out, "%s%.17g", s ? "," : "", s * j->k1);
    fprintf(out, "],\"modes\":[");
    for (int s = 0; s < j->nshell; s++) fprintf(out, "%s%ld", s ? "," : "", (long)j->modes[s]);
    fprintf(out, "],\"spectra\":{");
    for (int i = 0; i < j->n; i++) {
        fprintf(out, "%s\"%s\":[", i ? "," : "", j->name[i]);
        for (int s = 0; s < j->nshell; s++) {
            if (s) fputc(',', out);
            json_real(out, j->value[i * j->nshell + s]);
        }
        fputc(']', out);
    }
    fputs("}}\n", out);
}

static enum err give(const struct job *j, const struct mesh_options *o)
{
    char path[PATH_MAX];
    struct stream s;
    if (!o->out) {
        (o->json ? print_json : print_tsv)(stdout, j);
        return OK;
    }
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: cannot create the directory: %s", o->out, strerror(errno));
    TRY(files_path(o->out, o->json ? FILES_PK_JSON : FILES_PK_TABLE, j->g->number, 0, path));
    TRY(temp_may_write(path, o->force));
    TRY(stream_open(&s, path));
    (o->json ? print_json : print_tsv)(s.f, j);
    TRY(stream_close(&s, 0));
    puts(path);
    return OK;
}

enum err mesh_spectra(const struct comm *c, const char *path, const struct mesh_options *o)
{
    struct job j = {.c = c, .path = path};
    enum err err = grid_open(path, &j.g);
    if (err == OK) err = take_names(&j, o->values);
    err = err_agree(c, err);
    if (err == OK) {
        prepare(&j);
        err = measure(&j);
        if (err == OK) err = err_agree(c, c->rank == 0 ? give(&j, o) : OK);
    }
    fft_box_free(&j.box);
    FREE(j.first);
    FREE(j.sum);
    FREE(j.value);
    FREE(j.modes);
    grid_close(&j.g);
    return err;
}
