/* stencil: from the parameters to the state, a step, and the solver's functions for the time loop.
 *
 * A step has three substeps (fd/fd.h). Each fills the halos of the fields that it reads, computes
 * the cells that need no halo meanwhile, then the slabs at the surface of the brick. The step is
 * the shortest of the time in which the fastest signal crosses cdt cells, and of cdtv dx² over the
 * largest diffusivity; it needs the curl of A, so that halos are complete before the first
 * substep, unless dt_fixed sets the step. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "stencil/device.h"
#include "stencil/force.h"
#include "stencil/init.h"
#include "stencil/run.h"
#include "stencil/slices.h"

/* ---- from parameters to equations and arrays ---- */

static struct fd_par equations(const struct param_stencil *p)
{
    struct fd_par e = {.order = p->order,
                       .flow = p->hydro,
                       .entropy = p->hydro && p->entropy,
                       .magnetic = p->magnetic,
                       .lorentz = p->hydro && p->magnetic && p->lorentz,
                       .upwind = p->upwind,
                       .nu = p->nu,
                       .zeta = p->zeta,
                       .eta = p->eta,
                       .chi = p->chi,
                       .k = p->kcond,
                       .gamma = p->gamma,
                       .cp = p->cp,
                       .cs0 = p->cs0,
                       .rho0 = p->rho0,
                       .mu0 = p->mu0,
                       .heat = p->heating,
                       .dx = {p->lx / p->nx, p->ly / p->ny, p->lz / p->nz}};
    memcpy(e.bext, p->bext, sizeof e.bext);
    return e;
}

static void configure(struct stencil *t, struct sim *s)
{
    const struct param_stencil *p = &s->par->stencil;
    *t = (struct stencil){.par = s->par,
                          .comm = &s->comm,
                          .n = {p->nx, p->ny, p->nz},
                          .length = {p->lx, p->ly, p->lz},
                          .eq = equations(p)};
}

/* Bytes of the arrays of all ranks: of each field its values now and, if it is advanced, after the
 * substep, and the register of its change. */
static double bytes(const struct stencil *t)
{
    double cells = 1;
    for (int d = 0; d < 3; d++) {
        const double parts = t->brick.p[d];
        cells *= (double)t->n[d] + 2 * parts * fd_halo(&t->eq);
    }
    return 8 * cells * fd_array_count(&t->eq);
}

static enum err check_memory(const struct stencil *t)
{
    const double need = bytes(t) * t->comm->node_size / t->comm->size, have = (double)mem_machine();
    if (need > have)
        FAIL(ERR_LIMIT,
             "nx=%d, ny=%d and nz=%d in &STENCIL_PARAMS need %.3g GiB of memory on each node; this "
             "one has %.3g: use fewer cells or more nodes",
             (int)t->n[0], (int)t->n[1], (int)t->n[2], need / 0x1p30, have / 0x1p30);
    return OK;
}

static void log_setup(const struct stencil *t)
{
    const int *p = t->brick.p;
    log_info(" Stencil: %ld x %ld x %ld cells, order %d, %s%s%s%s", (long)t->n[0], (long)t->n[1],
             (long)t->n[2], t->eq.order, t->eq.flow ? "" : "frozen flow, ",
             t->eq.entropy ? "entropy" : "isothermal", t->eq.magnetic ? ", magnetic" : "",
             t->eq.upwind ? ", upwind" : "");
    log_info(" Bricks: %d x %d x %d, halo of %d cells, %.1f MB on all ranks", p[0], p[1], p[2],
             t->brick.halo, bytes(t) / 1e6);
    if (p[0] * p[1] * p[2] < t->comm->size)
        log_info(" %d of %d ranks have no cells: no division gives each at least %d along each "
                 "axis",
                 t->comm->size - p[0] * p[1] * p[2], t->comm->size, t->brick.halo);
}

/* ---- start ---- */

static enum err fresh(struct sim *s, struct stencil *t)
{
    TRY(stencil_initial(t));
    sim_output_setup(s);
    return OK;
}

static enum err start(struct sim *s)
{
    struct stencil *t = s->run.own = mem_zero(sizeof *t, "stencil");
    char buf[4096];
    const char *path = sim_restart_path(s, buf);
    configure(t, s);
    TRY(brick_init(&t->brick, &s->comm, t->n, fd_halo(&t->eq), s->par->stencil.parts));
    log_setup(t);
    TRY(err_agree(&s->comm, check_memory(t)));
    TRY(stencil_slices_check(t));
    if (path) TRY(stencil_restart_open(s, t, path));
    TRY(err_agree(&s->comm, force_new(t, &t->force)));
    if (s->run.expect) return *t->par->stencil.init_file && !path ? stencil_read_file(t) : OK;
    fd_arrays_new(&t->eq, &t->brick, &t->a);
    TRY(path ? stencil_restart(s, t) : fresh(s, t));
    return stencil_dev_open(s, t);
}

static void fini(struct sim *s)
{
    struct stencil *t = s->run.own;
    if (!t) return;
    stencil_restart_close(t);
    stencil_dev_close(t);
    force_free(&t->force);
    fd_arrays_free(&t->a);
    brick_fini(&t->brick);
    FREE(s->run.own);
}

/* ---- a step ---- */

static bool has_cells(const struct brick *b)
{
    return b->own[0] > 0;
}

/* The fields whose halos a substep reads, all that the equations have; their number. */
static int fields(struct stencil *t, double *field[FD_FIELDS])
{
    int n = 0;
    for (int f = 0; f < FD_FIELDS; f++)
        if (t->a.now[f]) field[n++] = t->a.now[f];
    return n;
}

static void fill_begin(struct stencil *t)
{
    double *field[FD_FIELDS];
    timer_start("halos");
    const int n = fields(t, field);
    brick_fill_begin(&t->brick, n, field);
}

static void fill_end(struct stencil *t)
{
    timer_start("halos");
    brick_fill_end(&t->brick);
}

static void box(struct stencil *t, const int lo[3], const int hi[3], int i, double dt)
{
    timer_start("stencil");
    for (int d = 0; d < 3; d++)
        if (lo[d] >= hi[d]) return;
    fd_substep(&t->eq, &t->brick, lo, hi, &t->a, i, dt);
}

/* The substep of all boxes; those that read no halo while halos travel. filled: halos are valid. */
static void substep(struct stencil *t, int i, double dt, bool filled)
{
    static const int zero[3];
    int lo[7][3], hi[7][3];
    const bool whole = filled || !t->par->stencil.overlap;
    if (!filled) fill_begin(t);
    if (whole && !filled) fill_end(t);
    if (whole) {
        if (has_cells(&t->brick)) box(t, zero, t->brick.own, i, dt);
    } else {
        const int n = has_cells(&t->brick) ? brick_boxes(&t->brick, lo, hi) : 0;
        if (n > 0) box(t, lo[0], hi[0], i, dt);
        fill_end(t);
        for (int k = 1; k < n; k++) box(t, lo[k], hi[k], i, dt);
    }
    fd_arrays_swap(&t->a);
    brick_beside(&t->brick, fd_wraps(&t->brick));
}

static void advance(struct stencil *t, int64_t it, double dt, bool filled)
{
    for (int i = 0; i < FD_SUBSTEPS; i++) substep(t, i, dt, filled && i == 0);
    if (!t->force || !has_cells(&t->brick)) return;
    timer_start("force");
    force_kick(t->force, t, it, dt, &t->a.now[FD_UX]);
    brick_beside(&t->brick, false);
    timer_start("stencil");
}

/* The step that the parameters allow for this signal speed; 0 if the fields are not finite. */
static double longest(const struct stencil *t, double speed)
{
    const struct param_stencil *p = &t->par->stencil;
    double h = DBL_MAX;
    if (p->dt_fixed > 0) return p->dt_fixed;
    for (int d = 0; d < 3; d++)
        if (t->n[d] > 1) h = fmin(h, t->eq.dx[d]);
    if (h == DBL_MAX) h = t->eq.dx[0];
    if (!isfinite(speed)) return 0;
    const double diffusivity = fd_diffusivity(&t->eq);
    return fmin(speed > 0 ? p->cdt * h / speed : DBL_MAX,
                diffusivity > 0 ? p->cdtv * h * h / diffusivity : DBL_MAX);
}

/* The signal speed of all ranks, where the step needs it: halos then become valid, which *filled
 * tells, and are valid here if it was true. */
static enum err signal_speed(struct stencil *t, bool *filled, double *speed)
{
    *speed = 0;
    if (t->par->stencil.dt_fixed > 0) return OK;
    if (t->device) {
        TRY(stencil_dev_speed(t, speed));
    } else {
        if (!*filled) fill_begin(t), fill_end(t);
        timer_start("time step");
        if (has_cells(&t->brick)) *speed = fd_signal_speed(&t->eq, &t->brick, t->a.now);
    }
    *filled = true;
    if (!isfinite(*speed)) *speed = HUGE_VAL; /* a maximum over ranks may ignore NaN */
    comm_max_f64(t->comm, speed, 1);
    return OK;
}

/* Time series and slices that are due. Halos are valid. */
static enum err measure(struct sim *s, struct stencil *t, double dt, bool told, bool shown)
{
    if (told || shown) timer_start("series");
    if (told) TRY(stencil_series_row(s, t, s->time.nstep_coarse, dt));
    return shown ? stencil_slices(s, t, s->time.nstep_coarse) : OK;
}

static enum err coarse(struct sim *s)
{
    struct stencil *t = s->run.own;
    const int64_t it = s->time.nstep_coarse;
    double speed;
    TRY(sim_output(s));
    if (s->run.end.done) return OK;
    if (!t->begun) TRY(stencil_series_begin(s, t, it));
    t->begun = true;
    sim_poll(s);
    const bool told = stencil_series_due(t, it), shown = stencil_slices_due(t, it);
    bool filled = told || shown;
    if (filled) TRY(err_agree(t->comm, stencil_dev_home(t)));
    if (filled) fill_begin(t), fill_end(t);
    filled = filled && !t->device; /* halos of the device are not */
    TRY(signal_speed(t, &filled, &speed));
    const double dt = longest(t, speed);
    TRY(measure(s, t, dt, told, shown));
    if (!(dt > 0 && dt < DBL_MAX)) s->run.end.broken = true;
    if (s->run.end.broken || sim_at_end(s)) {
        s->run.end.done = true;
        return OK;
    }
    if (t->device)
        TRY(stencil_dev_step(t, it, dt, filled));
    else
        advance(t, it, dt, filled);
    t->dt = dt;
    s->time.t += dt;
    s->time.nstep++;
    return OK;
}

/* ---- for the time loop ---- */

static bool is_finite(const struct sim *s)
{
    struct stencil *t = s->run.own;
    const struct brick *b = &t->brick;
    const bool lost = stencil_dev_home(t) != OK;
    double sum = 0; /* 0 times an infinity or NaN is NaN */
    for (int f = 0; f < FD_FIELDS; f++)
        for (int z = 0; t->a.now[f] && z < b->own[2]; z++)
            for (int y = 0; y < b->own[1]; y++) {
                const double *row = t->a.now[f] + stencil_at(b, 0, y, z);
#pragma omp simd reduction(+ : sum)
                for (int x = 0; x < b->own[0]; x++) sum += 0 * row[x];
            }
    int64_t bad = lost || !isfinite(sum + 0 * s->time.t);
    comm_max_i64(t->comm, &bad, 1);
    return !bad;
}

/* Where the table of the time series has a row. */
static bool is_told(const struct sim *s)
{
    const struct stencil *t = s->run.own;
    return t->par->stencil.diag_every == 0 || stencil_series_due(t, s->time.nstep_coarse);
}

static double updates(const struct sim *s)
{
    const struct stencil *t = s->run.own;
    return (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
}

const struct solver stencil_solver = {
    .name = "stencil",
    .advice = "the step (cdt, cdtv, dt_fixed), or raise nu and eta",
    .start = start,
    .coarse = coarse,
    .finite = is_finite,
    .write = stencil_write,
    .verify = stencil_verify,
    .told = is_told,
    .updates = updates,
    .fini = fini};
