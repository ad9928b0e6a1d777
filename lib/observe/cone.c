/* observe/cone: light cones (lightcone=.true.), a slice of each coarse step. */
#include "observe/cone.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cosmo/cosmo.h"
#include "io/dir.h"
#include "oct/field_sets.h"

static bool gas_wanted(const struct params *p)
{
    return p->run.lightcone && p->run.hydro && p->lightcone.cone_hydro;
}

static bool sinks_wanted(const struct params *p)
{
    return p->run.lightcone && p->run.sink && p->lightcone.cone_sink;
}

static bool wanted(const struct params *p)
{
    return p->run.lightcone && !gas_wanted(p);
}

/* Times at both ends of the step on the clock of stars. */
static enum err clock_of(const struct observation *o, const struct cone_shell *shell,
                         double clock[2])
{
    const struct ckpt_head *h = o->head;
    const struct cosmo_par par = cone_cosmology(h, o->par->run.ramses_cosmology);
    struct cosmo *c;
    clock[0] = h->t - shell->dtau, clock[1] = h->t;
    if (!o->par->run.use_proper_time) return OK;
    TRY(cosmo_new(&par, &c));
    for (int i = 0; i < 2; i++) clock[i] = cosmo_time(c, shell->aexp[i]);
    cosmo_free(c);
    return OK;
}

static enum err points_of(const struct observation *o, const struct cone_shell *shell,
                          struct cone_points *p)
{
    const struct parts *q = o->parts;
    *p = (struct cone_points){.n = q->n};
    for (int d = 0; d < 3; d++) p->x[d] = q->x[d], p->v[d] = q->v[d];
    if (shell->rule != CONE_CROSSING) return OK;
    for (int d = 0; d < 3; d++) p->was[d] = q->col[COL_CONE_X + d];
    p->birth = q->birth;
    return p->birth ? clock_of(o, shell, p->clock) : OK;
}

static enum err write_events(const struct cone_slice *s, const struct param_lightcone *p)
{
    if (strcmp(p->cone_format, "hdf5") == 0) return cone_write_hdf5(s);
    if (s->galaxies) return cone_write_galaxies(s);
    if (strcmp(p->cone_format, "healpix") == 0) return cone_write_healpix(s, p->cone_nside);
    return s->view->kind == CONE_BOX ? cone_write_curamses(s) : cone_write_ramses(s);
}

/* Finds the sinks of a slice, on rank 0. Their clock is that of the run. */
static void find_sinks(const struct observation *o, struct cone_slice *s, struct cone_events *seen)
{
    const double clock[2] = {o->head->t - s->shell->dtau, o->head->t};
    const struct ckpt_rest *rest = o->head->rest;
    if (!sinks_wanted(o->par) || !rest || !*rest->sinks.from) return;
    if (o->comm->rank == 0) cone_select_sinks(s->view, s->shell, &rest->sinks, clock, seen);
    s->sinks = &rest->sinks;
    s->seen = seen;
}

/* galaxies: NULL for all particles. */
static enum err write_view(const struct observation *o, const struct cone_view *v,
                           const struct cone_shell *shell, const struct cone_galaxies *galaxies)
{
    struct cone_events events = {0}, seen = {0};
    struct cone_points p;
    struct cone_slice s = {.comm = o->comm,
                           .head = o->head,
                           .dir = o->dir,
                           .view = v,
                           .shell = shell,
                           .parts = o->parts,
                           .events = &events,
                           .mesh = gas_wanted(o->par) && !galaxies ? o->mesh : NULL,
                           .galaxies = galaxies};
    TRY(points_of(o, shell, &p));
    cone_select(v, shell, &p, &events);
    cone_events_sort(&events, o->parts->id);
    if (!galaxies) find_sinks(o, &s, &seen);
    enum err err = write_events(&s, &o->par->lightcone);
    cone_events_free(&events);
    cone_events_free(&seen);
    return err;
}

static enum err write_slice(const struct observation *o, const struct cone_galaxies *galaxies)
{
    const struct param_lightcone *p = &o->par->lightcone;
    struct cone_view v[CONE_VIEWS];
    struct cone_shell shell;
    if (!cone_shell_of(o->head, o->par, &shell)) return OK;
    log_info(" Computing and dumping lightcone");
    int n = cone_views(p, shell.box_mpc, v);
    for (int i = 0; i < n; i++) TRY(write_view(o, &v[i], &shell, galaxies));
    return OK;
}

enum err observe_cone_galaxies(const struct observation *o, const struct cone_galaxies *g)
{
    char why[800];
    enum err err = write_slice(o, g);
    if (err == OK) return OK;
    snprintf(why, sizeof why, "%s", err_message());
    FAIL(err,
         "%s: the galaxies on the light cone of coarse step %d are not written, and neither is "
         "output %d; a run that resumes from the last checkpoint writes both",
         why, o->head->nstep_coarse, o->number);
}

/* Keeps the positions, from which the paths of the next step begin. */
static void remember(struct parts *q)
{
    for (int d = 0; d < 3; d++) {
        int32_t *was = q->col[COL_CONE_X + d];
        const double *x = q->x[d];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < q->n; i++) was[i] = cone_place(x[i]);
    }
}

/* Reports a cone that is to begin before the run does. */
static void log_begin(const struct observation *o)
{
    double first = 1 / o->head->aexp_ini - 1;
    if (o->head->nstep_coarse > 0 || o->par->lightcone.zmax_cone <= first) return;
    log_info(" zmax_cone=%g is beyond the start of the run at z=%.4g: the light cone begins there",
             o->par->lightcone.zmax_cone, first);
}

/* Whether this program can write the format. */
static enum err check_format(const char *format)
{
    if (strcmp(format, "hdf5") == 0) return cone_can_hdf5();
    return strcmp(format, "healpix") == 0 ? cone_can_healpix() : OK;
}

static enum err run(struct observation *o)
{
    if (o->when == OBSERVE_WITHIN) return dir_flush(o->dir);
    TRY(cone_check(o->head, &o->par->lightcone));
    TRY(check_format(o->par->lightcone.cone_format));
    log_begin(o);
    /* A slice can be made only at its step. The run stops, so that no later checkpoint hides that a
     * slice is missing: a run that resumes from the last one makes it. */
    enum err err = write_slice(o, NULL);
    if (err != OK) {
        char why[800];
        snprintf(why, sizeof why, "%s", err_message());
        FAIL(err,
             "%s: the light cone of coarse step %d is not written, and the run stops; resumed from "
             "the last checkpoint, it writes this and all later slices",
             why, o->head->nstep_coarse);
    }
    if (param_cone_crossing(o->par)) remember(o->own);
    return OK;
}

const struct observer observer_cone = {.name = "light cone",
                                       .wanted = wanted,
                                       .when = OBSERVE_STEP | OBSERVE_RESUME | OBSERVE_WITHIN,
                                       .reads = PARTS,
                                       .table = FILES_KINDS,
                                       .run = run};
/* A second row for cones with gas, whose fields only they read. */
const struct observer observer_cone_gas = {.name = "light cone",
                                           .wanted = gas_wanted,
                                           .when = OBSERVE_STEP | OBSERVE_RESUME | OBSERVE_WITHIN,
                                           .reads = PARTS | GAS | PHI,
                                           .table = FILES_KINDS,
                                           .run = run};
