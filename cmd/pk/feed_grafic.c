/* pk/feed_grafic: initial conditions as particles and gas. The position of a particle is the centre
 * of its cell plus ic_posc (Mpc/h), or plus the displacement of the growing mode that corresponds
 * to its velocity, v/(a H f). */
#include "base/mem.h"
#include "cosmo/cosmo.h"
#include "grafic.h"
#include "ics/files.h"
#include "ics/split.h"

#include <math.h>

static const char *const POS[3] = {"ic_poscx", "ic_poscy", "ic_poscz"};
static const char *const VEL[3] = {"ic_velcx", "ic_velcy", "ic_velcz"};

bool grafic_has_gas(const char *dir)
{
    return ics_exists(dir, "ic_deltab");
}

bool grafic_is(const char *dir)
{
    return ics_is_level(dir);
}

static enum err read_head(const char *dir, struct grafic_head *head)
{
    struct ics_file f;
    TRY(ics_open(&f, dir, ics_first_file(dir, true, false), true));
    *head = f.whole.head;
    ics_close(&f);
    return OK;
}

static enum err check_files(const char *dir, struct grafic_head *h)
{
    TRY(read_head(dir, h));
    if (h->n[0] != h->n[1] || h->n[0] != h->n[2])
        FAIL(ERR_FORMAT, "%s: %d × %d × %d cells; a spectrum needs a cube", dir, h->n[0], h->n[1],
             h->n[2]);
    return ics_check_files(dir, true, ics_first_file(dir, true, false), h, NULL, NULL);
}

enum err grafic_cells(const struct comm *c, const char *dir, int *n)
{
    struct grafic_head h = {.n = {0}};
    TRY(err_agree(c, c->rank == 0 ? check_files(dir, &h) : OK));
    comm_bcast(c, &h, sizeof h, 0);
    *n = h.n[0];
    return OK;
}

/* One plane of each of several files. */
struct planes {
    int n;
    const struct grafic_head *head;
    struct ics_file file[6];
    int count;
    double *value[6]; /* [n][n] values of each file */
};

static enum err planes_open(struct planes *p, const char *dir, const char *name, int *which)
{
    struct ics_file *f = &p->file[p->count];
    TRY(ics_open(f, dir, name, true));
    *which = p->count++;
    TRY(grafic_check_same(&f->whole, p->head, ics_first_file(dir, true, false), true));
    p->value[*which] = mem_new(sizeof(double) * (size_t)p->n * (size_t)p->n, "ics planes");
    return OK;
}

static void planes_close(struct planes *p)
{
    for (int i = 0; i < p->count; i++) {
        ics_close(&p->file[i]);
        FREE(p->value[i]);
    }
    p->count = 0;
}

/* Planes that this rank reads. */
static void share(const struct comm *c, int n, int *first, int *last)
{
    *first = (int)((int64_t)n * c->rank / c->size);
    *last = (int)((int64_t)n * (c->rank + 1) / c->size);
}

static enum err read_planes(struct planes *p, int k)
{
    for (int i = 0; i < p->count; i++) TRY(ics_rows(&p->file[i], k, 0, p->n, p->value[i]));
    return OK;
}

/* Displacements of the mass of a cell, at most four: offset[d] and, in redshift space, the
 * velocity; each with a file and a factor to boxes. */
struct shifts {
    int file[4], axis[4], count;
    double factor[4];
};

static enum err add_shift(struct planes *p, struct shifts *s, const char *dir, const char *name,
                          int axis, double factor)
{
    s->axis[s->count] = axis;
    s->factor[s->count] = factor;
    return planes_open(p, dir, name, &s->file[s->count++]);
}

static enum err bad_cell(const struct planes *p, int file, int i, int j, int k, double value)
{
    FAIL(ERR_FORMAT,
         "%s: the value of cell %d %d %d (from 1) is %g, which must be finite: see genzoom --deep",
         p->file[file].whole.path, i + 1, j + 1, k + 1, value);
}

/* Adds cells as points. delta: index of the file of the density contrast, or −1. */
static enum err put_cells(struct feed *f, struct planes *p, const struct shifts *s,
                          enum part_species kind, int delta, double mass)
{
    int first, last, n = p->n;
    share(f->c, n, &first, &last);
    for (int k = first; k < last; k++) {
        TRY(read_planes(p, k));
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)j * (size_t)n + (size_t)i;
                double x[3] = {(i + 0.5) / n, (j + 0.5) / n, (k + 0.5) / n};
                for (int d = 0; d < s->count; d++) {
                    double shift = p->value[s->file[d]][at];
                    x[s->axis[d]] += s->factor[d] * shift;
                    if (feed_far(x)) return bad_cell(p, s->file[d], i, j, k, shift);
                }
                double more = delta < 0 ? 0 : p->value[delta][at], m = mass * (1 + more);
                if (!(fabs(m) <= f->max)) return bad_cell(p, delta, i, j, k, more);
                feed_put(f, kind, x, delta < 0 ? PK_LATTICE : PK_SAMPLE, m);
            }
        *(kind == SPECIES_GAS ? &f->cells : &f->points[kind]) += (int64_t)n * n;
    }
    return OK;
}

/* Factor from v [km/s] to the comoving displacement of the growing mode, in boxes; if not growing,
 * to the displacement in redshift space. */
static double rate_of(const struct grafic_head *h, bool growing)
{
    struct cosmo_par par = {.omega_m = h->omega_m,
                            .omega_l = h->omega_l,
                            .omega_k = 1 - h->omega_m - h->omega_l,
                            .h0 = h->h0};
    double a = h->astart, hubble = h->h0 * cosmo_dadtau(&par, a) / (a * a * a); /* dτ = H0 dt/a² */
    return 1 / (a * hubble * (growing ? cosmo_growth_rate(&par, a) : 1) * h->dx * h->n[0]);
}

static enum err feed_dm(struct feed *f, const char *dir, const struct grafic_head *h, double mass)
{
    struct planes p = {.n = h->n[0], .head = h};
    struct shifts s = {.count = 0};
    bool pos = ics_exists(dir, POS[0]);
    enum err err = OK;
    for (int d = 0; d < 3 && err == OK; d++)
        err = pos ? add_shift(&p, &s, dir, POS[d], d, 1 / (h->dx * h->n[0] * h->h0 / 100))
                  : add_shift(&p, &s, dir, VEL[d], d, rate_of(h, true));
    if (err == OK && f->axis >= 0)
        err = add_shift(&p, &s, dir, VEL[f->axis], f->axis, rate_of(h, false));
    if (err == OK) err = put_cells(f, &p, &s, SPECIES_DM, -1, mass);
    planes_close(&p);
    return err;
}

static enum err feed_gas(struct feed *f, const char *dir, const struct grafic_head *h, double mass)
{
    struct planes p = {.n = h->n[0], .head = h};
    struct shifts none = {.count = 0};
    int delta = -1;
    if (f->axis >= 0)
        FAIL(ERR_PARAM,
             "%s: the gas of initial conditions is a field, which cannot be moved to redshift "
             "space: use --species dm",
             dir);
    enum err err = planes_open(&p, dir, "ic_deltab", &delta);
    if (err == OK) err = put_cells(f, &p, &none, SPECIES_GAS, delta, mass);
    planes_close(&p);
    return err;
}

enum err feed_grafic(struct feed *f, const char *dir)
{
    struct grafic_head h;
    TRY(err_agree(f->c, read_head(dir, &h)));
    double mass = 1 / ((double)h.n[0] * h.n[0] * h.n[0]);
    f->box = (struct pk_origin){
        .cosmo = true, .aexp = h.astart, .length = h.dx * h.n[0] * h.h0 / 100};
    feed_begin(f);
    enum err err = f->mesh[SPECIES_DM] >= 0 ? feed_dm(f, dir, &h, mass) : OK;
    if (err == OK && f->mesh[SPECIES_GAS] >= 0) err = feed_gas(f, dir, &h, mass);
    TRY(feed_end(f, err));
    return feed_check_mass(f, dir);
}
