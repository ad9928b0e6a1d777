/* sph: from the parameters to the state, a coarse step, and the solver's functions for the time
 * loop. The method of a step is in step.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "sph/device.h"
#include "sph/run.h"

/* ---- from parameters to equations ---- */

/* Number of a choice among names that are separated by |. */
static int choice(const char *names, const char *name)
{
    int n = 0;
    const size_t len = strlen(name);
    for (const char *at = names; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, len) == 0 && (at[len] == '|' || !at[len])) return n;
        n++;
    }
    BUG_ON(true);
    return 0;
}

static struct smooth_par equations(const struct param_sph *q)
{
    struct smooth_par e = {
        .kernel = (enum smooth_kernel)choice(SPH_KERNEL_NAMES, q->kernel),
        .h_tol = q->htol,
        .eos = (enum smooth_eos)choice(SPH_EOS_NAMES, q->eos),
        .gamma = q->gamma,
        .c0 = q->cs0,
        .r0 = q->r0,
        .q = q->q_index,
        .alpha_switch = (enum smooth_switch)choice(SPH_SWITCH_NAMES, q->alpha_switch),
        .alpha_min = q->alpha_min,
        .alpha_max = q->alpha_max,
        .beta = q->beta,
        .alpha_u = q->alphau,
        .sigma = q->sigma_decay,
        .gravity = strcmp(q->gravity, "none") != 0,
        .shock_heating = q->shock_heating,
        .pdv_heating = q->pdv_heating};
    e.eta = q->hfact > 0 ? q->hfact : smooth_eta(e.kernel);
    return e;
}

static void reserve(void *owner, int64_t rows)
{
    struct sph *s = owner;
    if (rows <= s->room && rows <= s->p.room) return;
    rows += rows / 4 + 64;
    smooth_reserve(&s->p, rows);
    s->room = rows;
    s->reach = mem_grow(s->reach, (size_t)rows * sizeof *s->reach, "sph");
}

static void join_swarm(struct sph *s)
{
    struct swarm *w = &s->swarm;
    swarm_init(w, s->comm, DOMAIN_KSECTION, s->lo, s->side, s->periodic);
    w->x = s->p.x;
    w->reserve = reserve;
    w->owner = s;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        swarm_add(w, smooth_at(&s->p, c), smooth_row[c].bytes,
                  smooth_row[c].keep != SMOOTH_SCRATCH);
}

static void configure(struct sph *t, struct sim *s)
{
    const struct param_sph *q = &s->par->sph;
    *t = (struct sph){.par = s->par,
                      .comm = &s->comm,
                      .eq = equations(q),
                      .periodic = strcmp(q->boundary, "periodic") == 0,
                      .expect = s->run.expect};
    for (int d = 0; d < 3; d++) t->lo[d] = q->xmin[d], t->side[d] = q->xmax[d] - q->xmin[d];
}

static void log_setup(const struct sph *t)
{
    log_info(" SPH: %ld particles of mass %.6g, kernel %s, hfact %g, %s gas, %s", (long)t->total,
             t->eq.mass, smooth_kernel_name(t->eq.kernel), t->eq.eta, smooth_eos_name(t->eq.eos),
             t->periodic ? "periodic box" : "open space");
    if (t->periodic)
        log_info(" Box: %g to %g, %g to %g, %g to %g", t->lo[0], t->lo[0] + t->side[0], t->lo[1],
                 t->lo[1] + t->side[1], t->lo[2], t->lo[2] + t->side[2]);
    if (t->nsink) log_info(" Point masses: %d", t->nsink);
}

/* ---- start ---- */

/* Conditions on parameters and particles together. */
static enum err check_state(const struct sph *t)
{
    if (t->total < 1) FAIL(ERR_PARAM, "there are no particles: look at setup in &SPH_PARAMS");
    if (!(t->eq.mass > 0 && t->eq.mass < DBL_MAX))
        FAIL(ERR_PARAM, "the mass of a particle is %g: it must be positive", t->eq.mass);
    return OK;
}

/* Particles on their ranks. */
static enum err place(struct sph *t)
{
    join_swarm(t);
    sph_centre(t);
    reserve(t, t->p.n + 1);
    sph_count(t);
    for (int d = 0; d < 3; d++) memset(t->p.v_half[d], 0, (size_t)t->p.n * sizeof(double));
    memset(t->p.u_half, 0, (size_t)t->p.n * sizeof(double));
    for (int64_t i = 0; i < t->p.n; i++) t->p.near[i] = 1; /* the cost until an evaluation */
    TRY(swarm_balance(&t->swarm, NULL));
    t->p.n = t->swarm.n, t->p.ghosts = 0;
    return OK;
}

static enum err fresh(struct sim *s, struct sph *t)
{
    const bool file = strcmp(t->par->sph.setup, "file") == 0;
    TRY(file ? sph_read_file(t) : sph_setup(t));
    if (file && t->par->sph.nsink > 0) sph_sinks_begin(t);
    for (int64_t i = 0; file && !smooth_follows(&t->eq) && i < t->p.n; i++)
        t->p.alpha[i] = t->eq.alpha_max;
    TRY(check_state(t));
    log_setup(t);
    if (s->run.expect) return OK;
    TRY(place(t));
    TRY(sph_dev_open(s, t));
    TRY(sph_begin(t));
    sim_output_setup(s);
    return OK;
}

static enum err start(struct sim *s)
{
    struct sph *t = s->run.own = mem_zero(sizeof *t, "sph");
    char buf[4096];
    const char *path = sim_restart_path(s, buf);
    configure(t, s);
    if (!path) return fresh(s, t);
    TRY(sph_restart_open(s, t, path));
    if (s->run.expect) return OK;
    TRY(sph_restart(s, t));
    log_setup(t);
    TRY(place(t));
    return sph_dev_open(s, t);
}

static void fini(struct sim *s)
{
    struct sph *t = s->run.own;
    if (!t) return;
    sph_restart_close(t);
    sph_dev_close(t);
    near_free(&t->near);
    swarm_fini(&t->swarm);
    smooth_free(&t->p);
    FREE(t->reach);
    FREE(t->sink);
    FREE(s->run.own);
}

/* ---- a coarse step ---- */

static bool is_finite(const struct sim *s)
{
    struct sph *t = s->run.own;
    if (sph_home(t, SMOOTH_ALL) != OK) return false;
    double sum = 0 * s->time.t; /* 0 times an infinity or NaN is NaN */
    for (int c = 0; c < SMOOTH_COLUMNS; c++) {
        const struct smooth_row *r = &smooth_row[c];
        if (r->type != 'd' || r->keep != SMOOTH_STATE) continue;
        const double *x = *smooth_at(&t->p, c);
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
        for (int64_t i = 0; i < t->p.n; i++) sum += 0 * x[i];
    }
    int64_t bad = !isfinite(sum);
    comm_max_i64(t->comm, &bad, 1);
    return !bad;
}

static double longest(const struct sph *t)
{
    const double fixed = t->par->sph.dt_fixed;
    return fixed > 0 ? fixed : t->dt_next;
}

static enum err coarse(struct sim *s)
{
    struct sph *t = s->run.own;
    const int64_t it = s->time.nstep_coarse;
    TRY(sim_output(s));
    if (s->run.end.done) return OK;
    if (!t->begun) TRY(sph_series_begin(s, t, it));
    t->begun = true;
    sim_poll(s);
    const double dt = longest(t);
    if (sph_series_due(t, it)) TRY(sph_home(t, SMOOTH_ALL));
    if (sph_series_due(t, it)) TRY(sph_series_row(s, t, it, dt));
    const bool endless = dt >= DBL_MAX && is_finite(s);
    if (!endless && !(dt > 0 && dt < DBL_MAX)) s->run.end.broken = true;
    if (s->run.end.broken || sim_at_end(s)) {
        sph_dev_report(t);
        s->run.end.done = true;
        return OK;
    }
    if (endless)
        FAIL(ERR_LIMIT,
             "nothing limits the time step at coarse step %ld, t=%g: the gas is cold and at rest, "
             "or none is left: set dt_fixed in &SPH_PARAMS; earlier checkpoints are good",
             (long)it, s->time.t);
    TRY(sph_advance(t, it, dt));
    s->time.t += dt;
    s->time.nstep++;
    return OK;
}

/* ---- for the time loop ---- */

/* Whether the log and the table of energies have this step. */
static bool is_told(const struct sim *s)
{
    const struct sph *t = s->run.own;
    return t->par->sph.diag_every == 0 || sph_series_due(t, s->time.nstep_coarse);
}

static double updates(const struct sim *s)
{
    const struct sph *t = s->run.own;
    return (double)t->total;
}

const struct solver sph_solver = {.name = "sph",
                                  .advice = "the step (cfl, cfl_force, dt_fixed)",
                                  .start = start,
                                  .coarse = coarse,
                                  .finite = is_finite,
                                  .write = sph_write,
                                  .verify = sph_verify,
                                  .told = is_told,
                                  .updates = updates,
                                  .fini = fini};
