/* ics/ics_gadget: see gadget.h. With x the position in the file, u the velocity in proper km/s and
 * L the box in Mpc/h: x/L, and u a/(100 L), the velocity of RAMSES's supercomoving coordinates
 * (Martel & Shapiro 1998). */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "ics/gadget.h"

enum { BATCH = 1 << 14 };

/* Rows of this rank of a type. */
static void share(const struct ics_gadget *g, int type, const struct comm *c, int64_t *first,
                  int64_t *n)
{
    const __int128 all = g->snap.head.total[type];
    *first = (int64_t)(all * c->rank / c->size);
    *n = (int64_t)(all * (c->rank + 1) / c->size) - *first;
}

/* ---- headers and masses ---- */

/* Adds up the headers of the files that each rank has read. */
static enum err open_files(struct ics_gadget *g, const char *path, const struct comm *c)
{
    struct snap *s = &g->snap;
    TRY(err_agree(c, snap_open(path, s)));
    TRY(err_agree(c, snap_count(s, c->rank, c->size)));
    for (int k = 0; k < s->head.nfile; k++) comm_add_i64(c, s->count[k], SNAP_TYPES);
    return snap_index(s);
}

static enum err check_types(struct ics_gadget *g)
{
    const struct snap_head *h = &g->snap.head;
    g->n = 0;
    for (int t = 0; t < SNAP_TYPES; t++) g->n += h->total[t];
    if (h->total[0])
        FAIL(ERR_PARAM,
             "%s: has %ld particles of gas: gas of particles is not put on a mesh: give files in "
             "which dark matter stands for all matter, or GRAFIC files with gas",
             g->snap.path, (long)h->total[0]);
    if (g->n == 0) FAIL(ERR_PARAM, "%s: has no particles", g->snap.path);
    if (!h->comoving)
        FAIL(ERR_PARAM, "%s: is not of an expanding universe: its header has Omega0=%g and h=%g",
             g->snap.path, h->omega_m, h->h);
    return OK;
}

static enum err check_masses(const struct ics_gadget *g, int type, int64_t first, int64_t n,
                             const double *m)
{
    for (int64_t i = 0; i < n; i++)
        if (!(m[i] > 0))
            FAIL(ERR_FORMAT, "%s: particle %ld of type %d (counted from 0) has the mass %g",
                 g->snap.path, (long)(first + i), type, m[i]);
    return OK;
}

static enum err add_masses(struct ics_gadget *g, const struct comm *c, struct sum *sum)
{
    double *m = mem_new(sizeof *m * BATCH, "snapshot batch");
    enum err err = OK;
    for (int t = 1; t < SNAP_TYPES && err == OK; t++) {
        int64_t first, n;
        if (g->snap.head.mass[t] > 0) continue;
        share(g, t, c, &first, &n);
        for (int64_t i = 0; i < n && err == OK; i += BATCH) {
            const int64_t k = n - i < BATCH ? n - i : BATCH;
            err = snap_read(&g->snap, t, SNAP_MASS, first + i, k, m);
            if (err == OK) err = check_masses(g, t, first + i, k, m);
            if (err == OK) sum_add_many(sum, k, m);
        }
    }
    mem_free(m);
    return err;
}

static enum err weigh(struct ics_gadget *g, const struct comm *c)
{
    struct sum sum;
    sum_init(&sum);
    TRY(err_agree(c, add_masses(g, c, &sum)));
    comm_sum(c, &sum);
    for (int t = 1; t < SNAP_TYPES; t++)
        sum_add(&sum, g->snap.head.mass[t] * (double)g->snap.head.total[t]);
    g->total = sum_get(&sum);
    if (g->total > 0 && isfinite(g->total)) return OK;
    FAIL(ERR_FORMAT, "%s: the mass of all particles is %g", g->snap.path, g->total);
}

static void report(const struct ics_gadget *g)
{
    const struct snap_units *u = &g->units;
    const double share = g->total * u->mass / u->mean;
    log_info(" %s: %s, %d file%s, a box of %g Mpc/h (unit of length from %s)", g->snap.path,
             snap_text(&g->snap), g->snap.head.nfile, g->snap.head.nfile > 1 ? "s" : "",
             u->box_mpch, u->from);
    if (fabs(share - 1) > 1e-2)
        log_info(" Its particles have %.4g of the mass of a universe with omega_m=%g: they are "
                 "made heavier or lighter by this factor, so that all matter is there",
                 share, u->omega_m);
}

enum err ics_gadget_open(struct ics_gadget *g, const char *path, const struct snap_given *given,
                         const struct comm *c)
{
    const bool ramses = g->par.ramses;
    const struct cosmo_dark dark = g->par.dark;
    struct cosmo *check;
    TRY(open_files(g, path, c));
    TRY(check_types(g));
    TRY(weigh(g, c));
    TRY(snap_units(&g->snap, given, g->total, &g->units));
    const struct snap_units *u = &g->units;
    g->par = (struct cosmo_par){.omega_m = u->omega_m,
                                .omega_l = u->omega_l,
                                .omega_k = 1 - u->omega_l - u->omega_m,
                                .h0 = u->h * 100,
                                .dark = dark,
                                .aexp_ini = u->a,
                                .boxlen_ini = u->box_mpch,
                                .ramses = ramses};
    TRY(err_about(cosmo_new(&g->par, &check), path));
    cosmo_free(check);
    report(g);
    return OK;
}

void ics_gadget_close(struct ics_gadget *g)
{
    snap_close(&g->snap);
}

/* ---- particles ---- */

/* A position in units of the box, 0 <= x < 1: at most a box length outside before. */
static enum err place(const struct ics_gadget *g, int64_t row, double *x)
{
    const double at = *x * g->units.length;
    if (!(at >= -1 && at <= 2))
        FAIL(ERR_FORMAT,
             "%s: particle %ld of its type (counted from 0) is at %g in a box of %g: positions may "
             "lie at most one box length outside",
             g->snap.path, (long)row, *x, g->snap.head.box);
    *x = at - floor(at);
    if (*x >= 1) *x = 0; /* −1e-17 + 1 */
    return OK;
}

static enum err take_batch(struct ics_gadget *g, int type, int64_t first, int64_t n,
                           struct parts *p)
{
    const double kick = g->units.speed * g->units.a / (100 * g->units.box_mpch);
    const int64_t at = p->n;
    double *q = mem_new(sizeof *q * 3 * (size_t)n, "snapshot batch");
    enum err err = OK;
    TRY_OUT(snap_read(&g->snap, type, SNAP_POSITION, first, n, q));
    for (int64_t i = 0; i < 3 * n; i++) {
        TRY_OUT(place(g, first + i / 3, &q[i]));
        p->x[i % 3][at + i / 3] = q[i];
    }
    TRY_OUT(snap_read(&g->snap, type, SNAP_VELOCITY, first, n, q));
    for (int64_t i = 0; i < 3 * n; i++) p->v[i % 3][at + i / 3] = kick * q[i];
    TRY_OUT(snap_read(&g->snap, type, SNAP_ID, first, n, p->id + at));
    TRY_OUT(snap_read(&g->snap, type, SNAP_MASS, first, n, p->m + at));
    const bool equal = g->snap.head.mass[type] > 0 && g->snap.head.total[type] == g->n;
    for (int64_t i = at; i < at + n; i++) p->m[i] = equal ? 1 / (double)g->n : p->m[i] / g->total;
    p->n += n;
out:
    mem_free(q);
    return err;
}

static enum err take_type(struct ics_gadget *g, int type, int levelmin, const struct comm *c,
                          struct parts *p)
{
    int64_t first, n;
    share(g, type, c, &first, &n);
    part_append_dm(p, n, levelmin);
    for (int64_t i = 0; i < n; i += BATCH)
        TRY(take_batch(g, type, first + i, n - i < BATCH ? n - i : BATCH, p));
    return OK;
}

enum err ics_gadget_particles(struct ics_gadget *g, const struct mesh *m, const struct comm *c,
                              struct parts *p)
{
    enum err err = OK;
    for (int t = 1; t < SNAP_TYPES && err == OK; t++) err = take_type(g, t, m->levelmin, c, p);
    return err_agree(c, err);
}
