/* ramses/header: headers of the binary files of a RAMSES snapshot. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "ramses/priv.h"

enum { COARSE_MAX = 1024 }; /* maximum number of coarse cells along an axis */

static enum err get_count(struct fort_in *f, const char *what, int32_t lo, int32_t hi, int32_t *x)
{
    TRY(fort_get_i4(f, what, x));
    if (*x < lo || *x > hi)
        FAIL(ERR_FORMAT, "%s: record %ld (%s) is %d, expected %d to %d", f->path,
             (long)f->record - 1, what, *x, lo, hi);
    return OK;
}

static enum err get_equal(struct fort_in *f, const char *what, int32_t want)
{
    int32_t x;
    return get_count(f, what, want, want, &x);
}

/* Reads the output times from the first file; skips them in others. */
static enum err get_outputs(struct fort_in *f, struct ramses *r, bool first)
{
    int32_t n[3];
    struct fort_rec rec[2];
    TRY(fort_get(f, "noutput, iout, ifout", 4, n, 3));
    if (n[0] < 0)
        FAIL(ERR_FORMAT, "%s: noutput is %d, which must not be negative: the file is damaged",
             f->path, n[0]);
    TRY(fort_next_real(f, "tout", n[0], &rec[0]));
    TRY(fort_next_real(f, "aout", n[0], &rec[1]));
    if (!first) return OK;
    r->s->out_times = mem_zero(sizeof(double) * 2 * (size_t)n[0] + 8, "snapshot");
    for (int i = 0; i < 2; i++)
        TRY(fort_load_real(f, &rec[i], n[0], 0, (size_t)n[0], r->s->out_times + i * (int64_t)n[0]));
    r->s->head.noutput = n[0], r->s->head.iout = n[1], r->s->head.ifout = n[2];
    r->s->head.tout = r->s->out_times, r->s->head.aout = r->s->out_times + n[0];
    return OK;
}

static enum err get_levels(struct fort_in *f, const char *what, int nlevelmax, double *by_level)
{
    double x[100];
    TRY(fort_get_real(f, what, x, (size_t)nlevelmax));
    for (int l = 1; l <= nlevelmax && l <= LEVEL_MAX; l++) by_level[l] = x[l - 1];
    return OK;
}

static enum err get_state(struct fort_in *f, struct ckpt_head *h, int nlevelmax)
{
    int32_t n[2];
    double e[3], o[7], a[5];
    TRY(fort_get_real(f, "time", &h->t, 1));
    TRY(get_levels(f, "dtold", nlevelmax, h->dtold));
    TRY(get_levels(f, "dtnew", nlevelmax, h->dtnew));
    TRY(fort_get(f, "nstep, nstep_coarse", 4, n, 2));
    TRY(fort_get_real(f, "einit, mass_tot_0, rho_tot", e, 3));
    TRY(fort_get_real(f, "cosmology", o, 7));
    TRY(fort_get_real(f, "aexp", a, 5));
    h->nstep = n[0], h->nstep_coarse = n[1];
    h->einit = e[0], h->mass_tot_0 = e[1], h->rho_tot = e[2];
    h->omega_m = o[0], h->omega_l = o[1], h->omega_k = o[2], h->omega_b = o[3];
    h->h0 = o[4], h->aexp_ini = o[5], h->boxlen_ini = o[6];
    h->aexp = a[0], h->hexp = a[1], h->aexp_old = a[2], h->epot_tot_int = a[3],
    h->epot_tot_old = a[4];
    h->cosmo = h->t < 0 || h->h0 != 1 || h->aexp != 1; /* as in yt */
    return OK;
}

/* Reads mass_sph, a record that files from before 2010 lack; in these the list heads follow
 * immediately. */
static enum err get_mass_sph(struct fort_in *f, struct ramses *r, const struct amr_head *a,
                             double *mass_sph)
{
    int64_t at = f->at, record = f->record;
    struct fort_rec rec;
    TRY(fort_next(f, "mass_sph", &rec));
    bool lists = rec.bytes == 4 * (int64_t)a->ncpu * a->nlevelmax;
    f->at = at, f->record = record;
    r->no_mass_sph = lists && rec.bytes != 4 && rec.bytes != 8;
    if (r->no_mass_sph) return OK;
    return fort_get_real(f, "mass_sph", mass_sph, 1);
}

/* Reads three lists: heads and tails, which are skipped, and counts. */
static enum err get_lists(struct fort_in *f, const char *what, int nlist, int nlevelmax,
                          struct fort_rec *numb)
{
    int64_t bytes = 4 * (int64_t)nlist * nlevelmax;
    TRY(fort_expect(f, what, bytes, numb));
    TRY(fort_expect(f, what, bytes, numb));
    return fort_expect(f, what, bytes, numb);
}

static enum err get_numbtot(struct fort_in *f, struct ramses *r, int nlevelmax)
{
    struct fort_rec rec;
    TRY(fort_next(f, "numbtot", &rec));
    int64_t width = rec.bytes / (10 * nlevelmax);
    if ((width != 4 && width != 8) || rec.bytes != width * 10 * nlevelmax)
        FAIL(ERR_FORMAT,
             "%s: record %ld (numbtot) at byte %ld has an impossible length of %ld bytes", f->path,
             (long)rec.number, (long)rec.at, (long)rec.bytes);
    r->wide_counts = width == 8;
    for (int l = 1; l <= nlevelmax && l <= LEVEL_MAX; l++) {
        union {
            int32_t i4;
            int64_t i8;
        } x = {0};
        TRY(fort_load(f, &rec, (int)width, (l - 1) * 10, 1, &x));
        r->s->numbtot[l] = width == 4 ? x.i4 : x.i8;
    }
    return OK;
}

/* Joins the lists of octs by owner and by boundary into one row per level. */
static enum err load_counts(struct fort_in *f, struct amr_head *a, const struct fort_rec *own,
                            const struct fort_rec *bound)
{
    size_t nc = (size_t)a->ncpu, nb = (size_t)a->nboundary;
    int64_t total = 0;
    a->numbl = mem_new(4 * (nc + nb) * (size_t)a->nlevelmax, "snapshot");
    for (int l = 0; l < a->nlevelmax; l++) {
        int32_t *row = a->numbl + (size_t)l * (nc + nb);
        TRY(fort_load(f, own, 4, (int64_t)nc * l, nc, row));
        if (nb) TRY(fort_load(f, bound, 4, (int64_t)nb * l, nb, row + nc));
        for (size_t i = 0; i < nc + nb; i++) {
            if (row[i] < 0)
                FAIL(ERR_FORMAT,
                     "%s: the header counts %d octs in list %zu of level %d: the file is damaged",
                     f->path, row[i], i + 1, l + 1);
            if (row[i] && l >= LEVEL_MAX)
                FAIL(ERR_LIMIT,
                     "%s: has octs on level %d; this build reads %d levels (make MORTON128=1 for "
                     "42)",
                     f->path, l + 1, LEVEL_MAX);
            total += row[i];
        }
    }
    if (total != a->ngrid_current)
        FAIL(ERR_FORMAT,
             "%s: the lists of the header count %ld octs, but ngrid_current is %d: the file is "
             "damaged",
             f->path, (long)total, a->ngrid_current);
    return OK;
}

/* Reads the keys at the ends of domains: 8 bytes, or 16 (QUADHILBERT). Their number is one more
 * than the ranks, or than overload times the ranks. */
static enum err get_keys(struct fort_in *f, struct ramses *r, int ncpu)
{
    struct fort_rec rec;
    TRY(fort_next(f, "bound keys", &rec));
    int64_t n = rec.bytes / 8, ndomain = r->ndomain ? r->ndomain : ncpu;
    r->wide_keys = rec.bytes == 16 * (ndomain + 1);
    if (rec.bytes % 8 || (!r->wide_keys && (n < 2 || (n - 1) % ncpu)))
        FAIL(ERR_FORMAT,
             "%s: record %ld (bound keys) at byte %ld has %ld bytes, which does not fit %d ranks",
             f->path, (long)rec.number, (long)rec.at, (long)rec.bytes, ncpu);
    return OK;
}

static enum err get_ordering(struct fort_in *f, struct ramses *r, struct amr_head *a)
{
    static const struct {
        const char *name;
        int records;
    } kind[] = {{"planar", 1}, {"angular", 1}, {"bisection", 5}, {"ksection", 10}};
    TRY(fort_get(f, "ordering", 1, a->ordering, 128));
    for (size_t n = 128; n > 0 && (a->ordering[n - 1] == ' ' || a->ordering[n - 1] == 0); n--)
        a->ordering[n - 1] = 0;
    if (strcmp(a->ordering, "hilbert") == 0) return get_keys(f, r, a->ncpu);
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        if (strcmp(a->ordering, kind[i].name) == 0) return fort_skip(f, "domains", kind[i].records);
    FAIL(ERR_FORMAT, "%s: record %ld (ordering) names an unknown ordering: the file is damaged",
         f->path, (long)f->record - 1);
}

static enum err get_mesh_sizes(struct fort_in *f, struct ramses *r, struct amr_head *a,
                               int64_t *ncoarse)
{
    int32_t n[3], ngridmax;
    TRY(get_count(f, "ncpu", r->s->npiece, r->s->npiece, &a->ncpu));
    TRY(get_equal(f, "ndim", r->s->head.ndim));
    TRY(fort_get(f, "nx, ny, nz", 4, n, 3));
    for (int i = 0; i < 3; i++)
        if (n[i] < 1 || n[i] > COARSE_MAX)
            FAIL(ERR_LIMIT, "%s: nx, ny, nz are %d, %d, %d; 1 to %d are supported", f->path, n[0],
                 n[1], n[2], COARSE_MAX);
    *ncoarse = (int64_t)n[0] * n[1] * n[2];
    TRY(get_count(f, "nlevelmax", 1, 99, &a->nlevelmax));
    TRY(get_count(f, "ngridmax", 1, INT32_MAX, &ngridmax));
    TRY(get_count(f, "nboundary", 0, 100, &a->nboundary));
    TRY(get_count(f, "ngrid_current", 0, ngridmax, &a->ngrid_current));
    r->s->head.ngridmax = ngridmax;
    return OK;
}

enum err ramses_amr_head(struct fort_in *f, struct ramses *r, struct amr_head *a, bool first)
{
    struct ckpt_head scrap = {0}; /* unused: later files repeat the state of the first */
    struct fort_rec own, bound = {0};
    double boxlen;
    int64_t ncoarse = 0;
    *a = (struct amr_head){0};
    TRY(get_mesh_sizes(f, r, a, &ncoarse));
    if (!first && (a->nlevelmax != r->s->head.levelmax || a->nboundary != r->s->nboundary))
        FAIL(ERR_FORMAT, "%s: nlevelmax or nboundary differs from that of file 1", f->path);
    TRY(fort_get_real(f, "boxlen", &boxlen, 1));
    if (!(boxlen > 0) || !isfinite(boxlen))
        FAIL(ERR_FORMAT, "%s: boxlen is %g, which must be finite and above 0: the file is damaged",
             f->path, boxlen);
    TRY(get_outputs(f, r, first));
    TRY(get_state(f, first ? &r->s->head : &scrap, a->nlevelmax));
    TRY(get_mass_sph(f, r, a, first ? &r->s->head.mass_sph : &scrap.mass_sph));
    TRY(get_lists(f, "headl, taill, numbl", a->ncpu, a->nlevelmax, &own));
    TRY(get_numbtot(f, r, a->nlevelmax));
    if (a->nboundary) TRY(get_lists(f, "headb, tailb, numbb", a->nboundary, a->nlevelmax, &bound));
    TRY(load_counts(f, a, &own, &bound));
    TRY(fort_skip(f, "free memory", 1));
    TRY(get_ordering(f, r, a));
    struct fort_rec rec;
    for (int i = 0; i < 3; i++) TRY(fort_expect(f, "coarse cells", 4 * ncoarse, &rec));
    if (!first) return OK;
    r->s->head.boxlen = boxlen;
    r->swap = f->swap;
    r->s->narrow = f->narrow;
    r->s->head.levelmax = a->nlevelmax;
    r->s->nboundary = a->nboundary;
    memcpy(r->s->ordering, a->ordering, sizeof r->s->ordering);
    return OK;
}

void ramses_amr_head_free(struct amr_head *a)
{
    FREE(a->numbl);
}

/* Minimum and maximum centre along each axis of the octs of a block, which is thereby skipped. */
static enum err fold_centres(struct fort_in *f, const struct ramses *r, int32_t n, double lo[3],
                             double hi[3])
{
    struct amr_shape shape = amr_shape(r->s->head.ndim);
    for (int i = 0; i < shape.records; i++) {
        int d = i - shape.xg;
        struct fort_rec rec;
        if (d < 0 || d >= r->s->head.ndim) {
            TRY(fort_expect(f, "octs", 4 * (int64_t)n, &rec));
            continue;
        }
        TRY(fort_next_real(f, "octs", n, &rec));
        for (int32_t k = 0; k < n; k++) {
            double x;
            TRY(fort_load_real(f, &rec, n, k, 1, &x));
            if (!(x > 0 && x < COARSE_MAX))
                FAIL(
                    ERR_FORMAT,
                    "%s: record %ld at byte %ld: oct %d is centred at %g, which is outside the box",
                    f->path, (long)rec.number, (long)rec.at, k + 1, x);
            lo[d] = fmin(lo[d], x), hi[d] = fmax(hi[d], x);
        }
    }
    return OK;
}

/* Adds a region beyond the boundary: the coarse cells that have octs, all of which are in every
 * file. A face has one region; regions that positions do not determine are omitted. */
static void add_region(struct ramses *r, const double lo[3], const double hi[3])
{
    struct boundary *b = &r->s->head.boundary;
    struct boundary_region q = {.face = -1, .type = BOUNDARY_OUTFLOW};
    for (int d = 0; d < 3; d++) {
        int inner = (int)r->skip[d];
        q.low[d] = d < r->s->head.ndim ? (int)lo[d] - inner : 0;
        q.high[d] = d < r->s->head.ndim ? (int)hi[d] - inner : 0;
        if (q.face < 0 && q.low[d] == q.high[d] && q.low[d]) q.face = 2 * d + (q.low[d] > 0);
    }
    bool good = q.face >= 0 && b->n < BOUNDARY_MAX;
    for (int d = 0; d < 3; d++) good &= q.low[d] >= -1 && q.high[d] <= 1;
    for (int i = 0; i < b->n; i++) good &= b->region[i].face != q.face;
    if (good) b->region[b->n++] = q;
}

/* Finds the boundary regions from the lists of level 1 that follow the lists of the ranks.
 * Boundaries of several coarse cells are ignored. */
static enum err find_boundary(struct fort_in *f, struct ramses *r, const struct amr_head *a)
{
    if (r->s->coarse[0] * r->s->coarse[1] * r->s->coarse[2] != 1) return OK;
    for (int i = 0; i < a->nboundary; i++) {
        double lo[3] = {COARSE_MAX, COARSE_MAX, COARSE_MAX}, hi[3] = {0};
        int32_t n = a->numbl[a->ncpu + i];
        if (n) TRY(fold_centres(f, r, n, lo, hi));
        if (n) add_region(r, lo, hi);
    }
    return OK;
}

enum err ramses_find_box(struct fort_in *f, struct ramses *r, const struct amr_head *a)
{
    double lo[3] = {COARSE_MAX, COARSE_MAX, COARSE_MAX}, hi[3] = {0};
    int64_t n = 0, cells = 1;
    for (int b = 0; b < a->ncpu; b++) {
        if (a->numbl[b]) TRY(fold_centres(f, r, a->numbl[b], lo, hi));
        n += a->numbl[b];
    }
    if (n == 0) FAIL(ERR_FORMAT, "%s: has no oct of level 1: the file is damaged", f->path);
    for (int d = 0; d < 3; d++) {
        r->skip[d] = d < r->s->head.ndim ? (int64_t)lo[d] : 0;
        r->s->coarse[d] = d < r->s->head.ndim ? (int64_t)hi[d] - r->skip[d] + 1 : 1;
        cells *= r->s->coarse[d];
    }
    if (n != cells)
        FAIL(ERR_FORMAT, "%s: has %ld octs of level 1 for %ld x %ld x %ld coarse cells", f->path,
             (long)n, (long)r->s->coarse[0], (long)r->s->coarse[1], (long)r->s->coarse[2]);
    return find_boundary(f, r, a);
}

enum err ramses_hydro_head(struct fort_in *f, int ndim, const struct amr_head *a, int32_t *nvar,
                           double *gamma)
{
    TRY(get_equal(f, "ncpu", a->ncpu));
    TRY(fort_get_i4(f, "nvar", nvar));
    TRY(get_equal(f, "ndim", ndim));
    TRY(get_equal(f, "nlevelmax", a->nlevelmax));
    TRY(get_equal(f, "nboundary", a->nboundary));
    return fort_get_real(f, "gamma", gamma, 1);
}

enum err ramses_grav_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar)
{
    TRY(get_equal(f, "ncpu", a->ncpu));
    TRY(fort_get_i4(f, "nvar", nvar));
    TRY(get_equal(f, "nlevelmax", a->nlevelmax));
    return get_equal(f, "nboundary", a->nboundary);
}

/* Reads a count of particles: 4 bytes, or 8 in files of codes with 8-byte counts. */
static enum err get_number(struct fort_in *f, const char *what, int64_t *x)
{
    struct fort_rec rec;
    int32_t few;
    TRY(fort_next(f, what, &rec));
    if (rec.bytes == 8) return fort_load(f, &rec, 8, 0, 1, x);
    if (rec.bytes != 4)
        FAIL(ERR_FORMAT, "%s: record %ld (%s) has %ld bytes where 4 or 8 are expected", f->path,
             (long)rec.number, what, (long)rec.bytes);
    TRY(fort_load(f, &rec, 4, 0, 1, &few));
    *x = few;
    return OK;
}

enum err ramses_part_head(struct fort_in *f, const struct ramses *r, int64_t *npart,
                          struct stars_formed *formed)
{
    TRY(get_equal(f, "ncpu", r->s->npiece));
    TRY(get_equal(f, "ndim", r->s->head.ndim));
    TRY(get_number(f, "npart", npart));
    if (*npart < 0 || *npart > f->size)
        FAIL(ERR_FORMAT, "%s: npart is %ld, which is impossible: the file is damaged", f->path,
             (long)*npart);
    if (!formed) return fort_skip(f, "seeds, stars, sinks", 5);
    TRY(fort_skip(f, "seeds", 1));
    TRY(get_number(f, "nstar_tot", &formed->number));
    TRY(fort_get_real(f, "mstar_tot", &formed->mass, 1));
    TRY(fort_get_real(f, "mstar_lost", &formed->lost, 1));
    return fort_skip(f, "sinks", 1);
}
