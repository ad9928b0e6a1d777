/* gravdev/grav_dev: copies and launches of gravity on a device, the counterpart of grav.c and
 * force.c on hosts. */
#include <string.h>

#include "base/mem.h"
#include "gravdev/dev_priv.h"
#include "gravdev/mg_tables.h"
#include "oct/fields.h"

enum err grav_dev_new(struct grav_dev **g, struct mirror *x, struct ghost_dev *ghost,
                      const struct comm *c)
{
    struct grav_dev *d = *g = mem_zero(sizeof *d, "device");
    d->mirror = x;
    d->ghost = ghost;
    d->comm = c;
    d->dev = x->dev;
    d->stream = x->stream;
    enum err err = dev_new(d->dev, &d->norm, sizeof d->norm_here, "multigrid");
    if (err != OK) grav_dev_free(g);
    return err;
}

static const size_t ROW = sizeof(double[8]);

static void faces_drop(struct grav_dev *d, struct dev_faces *f)
{
    dev_drop(d->stream, f->first);
    dev_drop(d->stream, f->missing);
    *f = (struct dev_faces){0};
}

void grav_dev_free(struct grav_dev **g)
{
    struct grav_dev *d = *g;
    if (!d) return;
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        mg_dev_drop(d, &d->mg[l]);
        faces_drop(d, &d->faces[l]);
        dev_free(d->dev, d->com[l].p);
        dev_drop_host(d->stream, d->dense_of[l].bits);
    }
    fourier_dev_drop(d);
    dev_free(d->dev, d->rhs.p);
    dev_free(d->dev, d->beyond.p);
    dev_free(d->dev, d->all.p);
    dev_free(d->dev, d->gas.p);
    dev_free(d->dev, d->dense.p);
    dev_free(d->dev, d->top.p);
    dev_free(d->dev, d->count.p);
    dev_free(d->dev, d->sum.p);
    dev_free(d->dev, d->norm);
    dev_digits_free(&d->digits, d->dev);
    dev_digits_free(&d->energy.digits, d->dev);
    FREE(*g);
}

const char *grav_dev_lacks(const struct mesh *m, int l, int ranks, const struct grav_par *p)
{
    if (p->analytic || p->force_type > 0) return "an analytic acceleration";
    if (l >= p->cg_levelmin) return "the conjugate gradient of cg_levelmin";
    if (!grav_by_fourier(m, l, p)) return NULL;
    if (!p->fft_fixed) return "the Fourier transform of FFTW";
    if (ranks > 1) return "the Fourier transform of several ranks";
    return fourier_dev_can(l) ? NULL : "a Fourier transform of more than 2048 cells a side";
}

bool grav_dev_together(const struct mesh *m, int l, int ranks, const struct grav_par *p)
{
    return ranks > 1 && !grav_dev_lacks(m, l, ranks, p) && !grav_by_all(m, ranks, l, p);
}

/* ---- data of the kernels ---- */

/* Both lists, from the links there. */
static enum err faces_make(struct grav_dev *d, struct dev_faces *to, const struct mesh *m, int l)
{
    const struct level *im = &d->mirror->image->lev[l];
    const lidx n = m->lev[l].nown;
    const int faces = 2 * m->ndim;
    int32_t *count, *sum;
    TRY(dev_room_need(d->stream, &d->count, sizeof *count * (size_t)n, "gravity"));
    TRY(dev_room_need(d->stream, &d->sum, sizeof *sum * ((size_t)n + 1), "gravity"));
    count = d->count.p;
    sum = d->sum.p;
    dev_launch(d->stream, &faces_count, dev_blocks(n),
               &(struct faces_count_args){n, faces, (const lidx(*)[6])im->nbr, count});
    dev_scan(d->stream, sum, count, n);
    dev_get(d->stream, &to->n, sum + n, sizeof to->n);
    TRY(dev_wait(d->stream));
    if (to->n == 0) return OK;
    TRY(dev_new(d->dev, &to->first, sizeof *to->first * (size_t)n, "gravity"));
    TRY(dev_new(d->dev, &to->missing, sizeof *to->missing * 2 * (size_t)to->n, "gravity"));
    dev_launch(d->stream, &faces_list, dev_blocks(n),
               &(struct faces_list_args){n, faces, (const lidx(*)[6])im->nbr, sum, to->first,
                                         to->missing});
    return OK;
}

static enum err faces_need(struct grav_dev *d, const struct mesh *m, int l)
{
    struct dev_faces *f = &d->faces[l];
    const struct level *lv = &m->lev[l];
    if (f->known && f->octs == lv->octs) return OK;
    faces_drop(d, f);
    if (l > m->levelmin || mesh_has_boundaries(m)) TRY(faces_make(d, f, m, l));
    f->octs = lv->octs;
    f->known = true;
    return OK;
}

/* Copies the potential of level l-1, the source of values beyond faces, to the device. */
static enum err need_parent(struct grav_dev *d, struct mesh *m, int l)
{
    if (l <= m->levelmin) return OK;
    return mirror_need(d->mirror, m, l - 1, FLD_PHI, 2, LOCATION_DEVICE);
}

/* Computes the potential beyond the faces of level l. */
static void beyond(struct grav_dev *d, int l, const struct grav_source *from)
{
    const struct dev_faces *f = &d->faces[l];
    dev_launch(d->stream, &phi_beyond, grav_blocks(f->n, GRAV_OCTS),
               &(struct phi_beyond_args){d->mirror->mesh_dev,
                                         l,
                                         from->tfrac,
                                         {from->far, from->far_old},
                                         f->n,
                                         f->missing,
                                         d->beyond.p});
}

/* ---- the solve ---- */

/* Computes first guess and right-hand side. */
static void begin(struct grav_dev *d, const struct mesh *m, int l, const struct grav_source *from)
{
    const struct mesh *mesh = d->mirror->mesh_dev;
    const lidx n = m->lev[l].nown;
    bool far_only = l <= m->levelmin;
    if (far_only && !mesh_has_boundaries(m))
        dev_fill(d->stream, d->mirror->image->lev[l].fld[FLD_PHI], 0,
                 sizeof(double[8]) * (size_t)n);
    else
        dev_launch(
            d->stream, &phi_guess, grav_blocks(n, GRAV_OCTS),
            &(struct phi_guess_args){mesh, l, far_only, from->tfrac, {from->far, from->far_old}});
    beyond(d, l, from);
    dev_launch(d->stream, &phi_source, grav_blocks(n, GRAV_OCTS),
               &(struct phi_source_args){mesh, l, from->fourpi, from->rho_tot, d->faces[l].first,
                                         d->beyond.p, d->rhs.p});
}

/* Location of norm k of a solve: k = 0 before the first cycle, then after each cycle. */
static int64_t *norm_dev(const struct grav_dev *d, int k)
{
    return d->norm + (ptrdiff_t)k * GRAV_NORM;
}

enum err grav_sums_get(struct grav_dev *d, int n, const int64_t *there, int64_t *here)
{
    TRY(dev_digits_need(&d->digits, d->stream, n, GRAV_NORM, "multigrid"));
    dev_digits_pack(&d->digits, d->stream, there);
    dev_digits_get(&d->digits, d->stream);
    return dev_digits_take(&d->digits, here);
}

/* Copies norms first … first+n-1, summed over all ranks, to the host. */
static enum err norms_get(struct grav_dev *d, const struct mesh *m, int l, int first, int n,
                          double *norm)
{
    struct sum s[GRAV_NORMS];
    TRY(grav_sums_get(d, n, norm_dev(d, first), d->norm_here[first]));
    for (int k = 0; k < n; k++) {
        memcpy(&s[k], d->norm_here[first + k], sizeof s[k]);
        s[k].count = m->lev[l].nown;
    }
    if (d->comm->size > 1) comm_sums(d->comm, s, n);
    for (int k = 0; k < n; k++) norm[first + k] = mg_norm(m->ndim, l, &s[k]);
    return OK;
}

/* Runs cycles first … last; norm n + 1 is that after cycle n, norm 0 that before the first. */
static void cycles(struct grav_dev *d, int l, int first, int last, const struct grav_par *p)
{
    int64_t *before = first == 0 ? norm_dev(d, 0) : NULL;
    if (d->comm->size == 1)
        mg_dev_cycles(&d->mg[l], d->mirror, d->rhs.p, p->mg_shared_octs, p->safe[l],
                      last + 1 - first, before, norm_dev(d, first + 1));
    for (int n = first; n <= last && d->comm->size > 1; n++)
        mg_ranks_cycle(d, l, d->rhs.p, p->safe[l],
                       (int64_t *const[2]){n == 0 ? before : NULL, norm_dev(d, n + 1)});
}

/* Iterates like iterate of grav.c. With `late` the host waits only for cycles whose error may have
 * an effect, and receives the norms of all cycles until then. *again: a skipped error would have
 * had an effect, and the solve must be repeated without `late`. */
static enum err iterate(struct grav_dev *d, const struct mesh *m, int l, double rho_tot, bool late,
                        struct grav_par *p, struct grav_report *rep, bool *again)
{
    double err = 1, last, norm[GRAV_NORMS], now[GRAV_CYCLES] = {0};
    int known = 0; /* number of known errors */
    bool ends = false;
    *rep = (struct grav_report){0};
    *again = false;
    dev_fill(d->stream, d->norm, 0, sizeof d->norm_here);
    for (int n = 0, begin = 0; !ends; begin = ++n) {
        while (late && grav_error_late(p, l, n)) n++;
        cycles(d, l, begin, n, p);
        const int first = known > 0 ? known + 1 : 0;
        TRY(norms_get(d, m, l, first, n + 2 - first, norm));
        for (; known <= n; known++) {
            last = err;
            now[known] = err = mg_error(norm[known + 1], norm[0], rho_tot);
            *again = known < n && grav_error_decides(p, l, err, last);
            if (*again) return OK;
        }
        rep->cycles = n + 1;
        ends = mg_ends(p, l, err, last, rep);
    }
    memcpy(p->past_error[l], now, sizeof now);
    return OK;
}

/* Solves, beginning with the first guess. */
static enum err solve(struct grav_dev *d, const struct mesh *m, int l,
                      const struct grav_source *from, struct grav_par *p, struct grav_report *rep)
{
    const unsigned char safe = p->safe[l];
    bool again;
    begin(d, m, l, from);
    if (d->comm->size > 1) mg_ranks_source(d, l, d->rhs.p);
    TRY(iterate(d, m, l, from->rho_tot, true, p, rep, &again));
    if (!again) return OK;
    p->safe[l] = safe;
    begin(d, m, l, from);
    if (d->comm->size > 1) mg_ranks_source(d, l, d->rhs.p);
    return iterate(d, m, l, from->rho_tot, false, p, rep, &again);
}

/* Provides on the device the data of a solve except the hierarchy. */
static enum err solve_need(struct grav_dev *g, struct mesh *m, int l)
{
    struct mirror *x = g->mirror;
    for (int k = 1; k <= l; k++) TRY(mirror_links(x, m, k));
    TRY(faces_need(g, m, l));
    TRY(dev_room_need(g->stream, &g->rhs, ROW * (size_t)m->lev[l].noct, "multigrid"));
    TRY(dev_room_need(g->stream, &g->beyond, ROW * (size_t)g->faces[l].n, "gravity"));
    TRY(mirror_need(x, m, l, FLD_RHO, 1, LOCATION_DEVICE));
    TRY(need_parent(g, m, l));
    return mirror_room(x, m, l, FLD_PHI, 1);
}

/* Prepares a solve; *all is true if all ranks are ready, otherwise none solves on its device. */
static enum err ready(struct grav_dev *g, struct mesh *m, int l, struct grav_par *p, bool *all)
{
    enum err err = solve_need(g, m, l);
    *all = err == OK;
    if (g->comm->size == 1) return err == OK ? mg_dev_need(g, m, l) : err;
    int64_t no[2] = {err != OK, !mg_dev_has(&g->mg[l], m, l)};
    comm_max_i64(g->comm, no, 2);
    if (!no[0] && no[1]) {
        err = mg_ranks_need(g, m, l, p);
        no[0] = err != OK;
        comm_max_i64(g->comm, no, 1);
    }
    *all = !no[0];
    return err;
}

void grav_dev_refuse(const struct comm *c)
{
    comm_max_i64(c, (int64_t[2]){1, 1}, 2);
}

/* ---- levels of few octs: own rows go to the host as messages; every host solves ---- */

/* Number of rows: first guesses and right-hand sides of own octs, later all solutions. */
static size_t by_all_rows(const struct level *lv)
{
    return (size_t)(lv->nown > lv->noct / 2 ? 2 * lv->nown : lv->noct);
}

static enum err by_all_need(struct grav_dev *g, struct mesh *m, int l)
{
    TRY(solve_need(g, m, l));
    return dev_room_need(g->stream, &g->all, ROW * by_all_rows(&m->lev[l]), MG_SHARED);
}

static enum err by_all_solve(struct grav_dev *g, const struct mesh *m, int l,
                             const struct grav_source *from, struct grav_par *p,
                             struct grav_report *rep)
{
    const struct level *lv = &m->lev[l];
    double(*phi)[8] = g->mirror->image->lev[l].fld[FLD_PHI], (*all)[8] = g->all.p;
    const size_t own = (size_t)lv->nown, n = (size_t)lv->noct;
    double(*here)[8] = mem_new(ROW * by_all_rows(lv) + 1, "multigrid");
    struct whole_row *row = whole_new(m, l);
    begin(g, m, l, from);
    dev_copy(g->stream, all, phi, ROW * own);
    dev_copy(g->stream, all + own, g->rhs.p, ROW * own);
    dev_get(g->stream, here, all, 2 * ROW * own);
    BUG_ON(dev_wait(g->stream) != OK); /* unrecoverable: device data are lost */
    for (size_t i = 0; i < own; i++) {
        memcpy(row[i].phi, here[i], ROW);
        memcpy(row[i].rhs, here[own + i], ROW);
    }
    *rep = whole_solve(m, g->comm, l, from->rho_tot, row, p, here);
    dev_put(g->stream, all, here, ROW * n);
    dev_copy(g->stream, phi, all, ROW * n);
    enum err err = dev_wait(g->stream);
    mem_free(here);
    return err;
}

enum err grav_dev_solve(struct grav_dev *g, struct mesh *m, int l, const struct grav_source *from,
                        struct grav_par *p, struct grav_report *rep, bool *done)
{
    struct mirror *x = g->mirror;
    *rep = (struct grav_report){.converged = true};
    *done = m->lev[l].total == 0;
    if (*done) return OK;
    if (grav_by_fourier(m, l, p)) {
        *done = true;
        return fourier_dev_solve(g, m, l, from->fourpi, from->rho_tot, p);
    }
    const bool by_all = grav_by_all(m, g->comm->size, l, p);
    if (by_all) TRY(by_all_need(g, m, l));
    if (!by_all) TRY(ready(g, m, l, p, done));
    *done |= by_all;
    if (!*done) return OK;
    mirror_send(x, m);
    mirror_wrote(x, l, FLD_PHI, 1, LOCATION_DEVICE);
    TRY((by_all ? by_all_solve : solve)(g, m, l, from, p, rep));
    if (m->ndim < 3)
        dev_launch(g->stream, &phi_repeat, dev_blocks(m->lev[l].noct),
                   &(struct phi_repeat_args){x->mesh_dev, l});
    ghosts_set(m, l, SET_PHI, true);
    grav_log(l, rep, p, false);
    return OK;
}

/* ---- force, potential and density ---- */

enum err grav_dev_force(struct grav_dev *g, struct mesh *m, int l, const struct grav_source *from)
{
    struct mirror *x = g->mirror;
    if (m->lev[l].nown == 0 && g->comm->size == 1) return OK;
    TRY(mirror_links(x, m, l));
    TRY(faces_need(g, m, l));
    TRY(dev_room_need(g->stream, &g->beyond, ROW * (size_t)g->faces[l].n, "gravity"));
    TRY(mirror_need(x, m, l, FLD_PHI, 1, LOCATION_DEVICE));
    TRY(need_parent(g, m, l));
    TRY(mirror_room(x, m, l, FLD_FX, 3));
    mirror_send(x, m);
    beyond(g, l, from);
    dev_launch(g->stream, &phi_force, grav_blocks(m->lev[l].nown, GRAV_OCTS),
               &(struct phi_force_args){x->mesh_dev, l, g->faces[l].first, g->beyond.p});
    mirror_wrote(x, l, FLD_FX, 3, LOCATION_DEVICE);
    if (g->comm->size > 1) mg_ranks_force(g, m, l);
    ghosts_set(m, l, SET_FORCE, true);
    return OK;
}

enum err grav_dev_copy_phi(struct grav_dev *g, struct mesh *m, int l)
{
    struct mirror *x = g->mirror;
    const struct level *im = &x->image->lev[l];
    TRY(mirror_need(x, m, l, FLD_PHI, 1, LOCATION_DEVICE));
    TRY(mirror_room(x, m, l, FLD_PHI_OLD, 1));
    ghosts_set(m, l, SET_PHI_OLD, ghosts_valid(m, l, SET_PHI));
    if (m->lev[l].noct == 0) return OK;
    dev_copy(g->stream, im->fld[FLD_PHI_OLD], im->fld[FLD_PHI],
             sizeof(double[8]) * (size_t)m->lev[l].noct);
    mirror_wrote(x, l, FLD_PHI_OLD, 1, LOCATION_DEVICE);
    return OK;
}
