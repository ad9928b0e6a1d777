/* tracer/feed: tracers from files: positions in units of boxlen.
 *
 * 'ascii': lines x y z, as many numbers as the run has dimensions. 'binary2': Fortran records with
 * the number (integer*4), the mass (real*8) and x y z of each tracer in turn. 'binary': number,
 * mass, and a record for each axis. Each rank reads its part of the file. */
#include "tracer/feed.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "io/fortran.h"
#include "io/table.h"

struct feed {
    struct tracer_run *r;
    const char *path;
    int64_t all, first, n; /* tracers of the file; those of this rank, by their number from 0 */
    double mass;           /* mass of a tracer in the file; 0: none is given */
    double (*x)[3];        /* [n] positions, units of boxlen */
    bool counts;           /* only n is wanted */
};

/* Checks the position of a tracer; `where` names it. */
static enum err check(const struct feed *f, const char *where, const double x[3])
{
    const struct mesh *m = f->r->mesh;
    for (int d = 0; d < m->ndim; d++) {
        const bool periodic = !m->bounded[2 * d] && !m->bounded[2 * d + 1];
        if (!(x[d] >= 0 && (x[d] < 1 || (periodic && x[d] == 1))))
            FAIL(ERR_FORMAT,
                 "%s: %s: a tracer at %.9g along %c is outside of the box: positions are in units "
                 "of boxlen, from 0 to 1",
                 f->path, where, x[d], 'x' + d);
    }
    return OK;
}

/* ---- text ---- */

static enum err count_lines(struct table *t, struct feed *f)
{
    int64_t begin, end;
    bool got = true;
    TRY(table_share(t, f->r->comm->rank, f->r->comm->size, &begin, &end));
    TRY(table_seek(t, begin, end));
    for (;; f->n++) {
        TRY(table_next(t, &got));
        if (!got) break;
    }
    return table_seek(t, begin, end);
}

static enum err read_lines(struct table *t, struct feed *f)
{
    static const char *const what[] = {"x", "x y", "x y z"};
    const int ndim = f->r->mesh->ndim;
    TRY(count_lines(t, f));
    if (f->counts) return OK;
    f->x = mem_zero(sizeof *f->x * (size_t)f->n + 1, "tracers");
    for (int64_t i = 0; i < f->n; i++) {
        char where[40];
        bool got, more;
        TRY(table_next(t, &got));
        if (!got) FAIL(ERR_FILE, "%s: shrank while it was read", t->path);
        TRY(table_numbers(t, ndim, what[ndim - 1], f->x[i]));
        TRY(table_rest(t, 3 - ndim, &more));
        snprintf(where, sizeof where, "line %lld", (long long)table_line(t));
        TRY(check(f, where, f->x[i]));
    }
    return OK;
}

static enum err read_ascii(struct feed *f)
{
    struct table t;
    TRY(table_open(&t, f->path, TABLE_NOTES, INT64_MAX));
    enum err err = read_lines(&t, f);
    table_close(&t);
    return err;
}

/* ---- Fortran files ---- */

static enum err read_head(struct fort_in *in, struct feed *f)
{
    int32_t n;
    const struct comm *c = f->r->comm;
    TRY(fort_get_i4(in, "number of tracers", &n));
    TRY(fort_get_real(in, "mass of a tracer", &f->mass, 1));
    if (n < 0 || (int64_t)n * f->r->mesh->ndim * 4 > in->size)
        FAIL(ERR_FORMAT, "%s: has %ld bytes, too few for the %d tracers that it declares", f->path,
             (long)in->size, n);
    if (!(f->mass > 0 && f->mass < HUGE_VAL) && !(f->r->par->tracer.tracer_mass > 0))
        FAIL(ERR_FORMAT,
             "%s: gives tracers a mass of %g, which must be above 0: set tracer_mass in "
             "&TRACER_PARAMS",
             f->path, f->mass);
    f->all = n;
    f->first = f->all * c->rank / c->size;
    f->n = f->all * (c->rank + 1) / c->size - f->first;
    if (f->counts) return OK;
    f->x = mem_zero(sizeof *f->x * (size_t)f->n + 1, "tracers");
    return OK;
}

/* x y z of each tracer in turn. */
static enum err read_triples(struct fort_in *in, struct feed *f)
{
    struct fort_rec rec;
    TRY(fort_next_real(in, "positions of tracers", 3 * f->all, &rec));
    TRY(fort_load_real(in, &rec, 3 * f->all, 3 * f->first, 3 * (size_t)f->n, f->x[0]));
    return fort_at_end(in);
}

/* A record for each axis. */
static enum err read_axes(struct fort_in *in, struct feed *f)
{
    double *x = mem_new(sizeof *x * (size_t)f->n + 1, "tracers");
    enum err err = OK;
    for (int d = 0; d < f->r->mesh->ndim; d++) {
        struct fort_rec rec;
        TRY_OUT(fort_next_real(in, "positions of tracers", f->all, &rec));
        TRY_OUT(fort_load_real(in, &rec, f->all, f->first, (size_t)f->n, x));
        for (int64_t i = 0; i < f->n; i++) f->x[i][d] = x[i];
    }
out:
    FREE(x);
    return err;
}

static enum err read_records(struct fort_in *in, struct feed *f)
{
    TRY(fort_open(in, f->path));
    TRY(read_head(in, f));
    if (f->counts) return OK;
    TRY(strcmp(f->r->par->tracer.tracer_feed_fmt, "binary2") == 0 ? read_triples(in, f)
                                                                  : read_axes(in, f));
    for (int64_t i = 0; i < f->n; i++) {
        char where[40];
        snprintf(where, sizeof where, "number %lld", (long long)(f->first + i + 1));
        TRY(check(f, where, f->x[i]));
    }
    return OK;
}

static enum err read_fortran(struct feed *f)
{
    struct fort_in in = {.fd = -1};
    enum err err = read_records(&in, f);
    fort_shut(&in);
    return err;
}

/* ---- all ---- */

/* Mass that a tracer stands for: tracer_mass, that of the file, or an equal share of the gas. */
static double mass_of(const struct feed *f)
{
    const struct mesh *m = f->r->mesh;
    struct sum sum;
    int64_t all = f->n;
    if (f->r->par->tracer.tracer_mass > 0) return f->r->par->tracer.tracer_mass;
    if (f->mass > 0 || !m->hydro) return f->mass;
    sum_init(&sum);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < m->cells; c++)
                if (m->lev[l].child[i][c] < 0)
                    sum_add(&sum, level_gas(&m->lev[l], GAS_DENSITY)[i][c] * mesh_volume(m, l));
    comm_sum(f->r->comm, &sum);
    comm_add_i64(f->r->comm, &all, 1);
    return all > 0 ? sum_get(&sum) / (double)all : 0;
}

static void append(struct feed *f, int64_t next)
{
    const double box = f->r->mesh->boxlen, mass = mass_of(f);
    int64_t at = part_append(f->r->parts, f->n);
    next += comm_scan_i64(f->r->comm, f->n);
    for (int64_t i = 0; i < f->n; i++) {
        double x[3] = {0, 0, 0};
        for (int d = 0; d < f->r->mesh->ndim; d++) x[d] = f->x[i][d] * box;
        tracer_init(f->r, at + i, x, mass, next + i);
    }
}

static enum err read_any(struct feed *f)
{
    const bool text = strcmp(f->r->par->tracer.tracer_feed_fmt, "ascii") == 0;
    return err_agree(f->r->comm, err_of_param(text ? read_ascii(f) : read_fortran(f),
                                              "tracer_params/tracer_feed"));
}

enum err tracers_feed(struct tracer_run *r, int64_t next, int64_t *n)
{
    struct feed f = {.r = r, .path = r->par->tracer.tracer_feed};
    if (!*f.path) return OK;
    enum err err = read_any(&f);
    if (err == OK) append(&f, next);
    *n = f.n;
    FREE(f.x);
    return err;
}

enum err tracers_feed_count(struct tracer_run *r, double *n)
{
    struct feed f = {.r = r, .path = r->par->tracer.tracer_feed, .counts = true};
    if (*f.path) TRY(read_any(&f));
    comm_add_i64(r->comm, &f.n, 1);
    *n = (double)f.n;
    return OK;
}
