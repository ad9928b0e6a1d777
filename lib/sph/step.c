/* sph/step: evaluations of accelerations, and a step.
 *
 * An evaluation makes ghosts and the tree, iterates densities, and again with more ghosts if a
 * smoothing length grew beyond them; then forces, external forces, gravity. A step of the leapfrog
 * (Price et al. 2018, section 2.3.3) updates α, kicks to its middle, drifts, predicts velocities
 * and energies for the evaluation at its end, and corrects them with its result. Forces depend on
 * velocities through the viscosity: they are evaluated again while the correction is above vtol of
 * the root mean square of the velocities, and the next step is then shorter. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "multipole/multipole.h"
#include "sph/device.h"

enum { CORRECTIONS = 8 };

/* ---- evaluation ---- */

static int columns(enum smooth_ghost g, int which[SMOOTH_COLUMNS])
{
    int n = 0;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (smooth_row[c].ghost == g) which[n++] = c;
    return n;
}

static void fill(struct sph *s, enum smooth_ghost g)
{
    int which[SMOOTH_COLUMNS];
    timer_start("ghosts");
    const int n = columns(g, which);
    swarm_fill(&s->swarm, n, which);
}

/* Ghosts within `reach`, and the tree of all particles. */
static enum err neighbourhood(struct sph *s)
{
    int which[SMOOTH_COLUMNS];
    struct smooth *p = &s->p;
    timer_start("ghosts");
    const int n = columns(SMOOTH_FIRST, which);
    sph_count(s);
    TRY(swarm_ghosts(&s->swarm, s->reach, n, which));
    p->ghosts = s->swarm.ghosts;
    timer_start("tree");
    return err_agree(s->comm, sph_tree(s));
}

/* Only the nearest image of a particle acts in a periodic box. */
static enum err check_images(const struct sph *s)
{
    const double support = smooth_support(s->eq.kernel);
    double most = 0;
    if (!s->periodic) return OK;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < s->p.n; i++) most = fmax(most, s->p.h[i]);
    comm_max_f64(s->comm, &most, 1);
    for (int d = 0; d < 3; d++)
        if (2 * support * most > s->side[d])
            FAIL(ERR_LIMIT,
                 "a kernel of smoothing length %g reaches over %g, more than half of the periodic "
                 "box "
                 "along %c, %g: particles would meet their own images; use more particles, or a "
                 "thicker box",
                 most, support * most, "xyz"[d], s -> side[d]);
    return OK;
}

static enum err density(struct sph *s)
{
    const double factor = smooth_support(s->eq.kernel) * s->par->sph.ghost_tol;
    int64_t beyond = 0;
    do {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < s->p.n; i++) s->reach[i] = factor * s->p.h[i];
        TRY(neighbourhood(s));
        timer_start("density");
        TRY(err_agree(s->comm, sph_density(s, &beyond)));
        comm_add_i64(s->comm, &beyond, 1);
    } while (beyond > 0);
    return check_images(s);
}

/* Accelerations and heating rates of own particles, once the columns of ghosts are valid. */
static enum err forces(struct sph *s)
{
    timer_start("forces");
    TRY(err_agree(s->comm, sph_forces(s)));
    s->epot = 0;
    if (s->nsink > 0 || strcmp(s->par->sph.external, "none") != 0) {
        timer_start("external");
        sph_external(s, &s->epot);
    }
    if (!s->eq.gravity) return OK;
    timer_start("gravity");
    return sph_gravity(s);
}

/* Particles of boundaries attract the gas, but have no acceleration. */
static void hold_boundaries(struct smooth *p)
{
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++)
        for (int d = 0; d < 3; d++)
            if (p->type[i] == SMOOTH_BOUNDARY) p->a[d][i] = 0;
}

/* Potentials of the gas, and the mass that each counts with. */
struct potentials {
    const double *phi;
    double mass;
};

static void potential_terms(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK])
{
    const struct potentials *q = ctx;
    for (int i = 0; i < n; i++) term[0][i] = q->mass * q->phi[first + i];
}

enum err sph_gravity(struct sph *s)
{
    const struct param_sph *q = &s->par->sph;
    const struct multipole_par g = {.g = q->g, .theta = q->theta, .leaf = 16, .quadrupole = true};
    struct smooth *p = &s->p;
    double *phi = mem_new((size_t)(p->n + 1) * sizeof *phi, "gravity");
    const enum err err = multipole_gravity(&g, &s->eq, s->comm, p, p->a, phi);
    hold_boundaries(p);
    if (err == OK) {
        struct sum sum;
        sph_sums(s, 1, potential_terms, &(struct potentials){phi, s->eq.mass / 2}, &sum);
        comm_sum(s->comm, &sum);
        s->epot += sum_get(&sum);
    }
    mem_free(phi);
    return err;
}

/* ---- the next step ---- */

/* The longest step that a particle allows. */
static double limit(const struct sph *s, int64_t i)
{
    const struct param_sph *q = &s->par->sph;
    const struct smooth *p = &s->p;
    double pressure, c;
    smooth_pressure(&s->eq, p, i, &pressure, &c);
    const double alpha = smooth_follows(&s->eq) ? s->eq.alpha_min : s->eq.alpha_max;
    const double speed = fmax(p->vsig[i], c) * fmax(alpha, 1);
    const double a2 = p->a[0][i] * p->a[0][i] + p->a[1][i] * p->a[1][i] + p->a[2][i] * p->a[2][i];
    const double courant = speed > 0 ? q->cfl * p->h[i] / speed : DBL_MAX;
    const double force = a2 > 0 ? q->cfl_force * sqrt(p->h[i] / sqrt(a2)) : DBL_MAX;
    return fmin(courant, force);
}

static double next(const struct sph *s)
{
    double dt = sph_external_dt(s);
#pragma omp parallel for reduction(min : dt)
    for (int64_t i = 0; i < s->p.n; i++) dt = fmin(dt, limit(s, i));
    comm_min_f64(s->comm, &dt, 1);
    return dt;
}

/* The switch of Cullen & Dehnen reads the accelerations of the evaluation before, so that there are
 * two; α begins with what it tends to, if that is more. */
enum err sph_begin(struct sph *s)
{
    const bool twice = s->eq.alpha_switch == SMOOTH_CD10;
    for (int turn = 0; turn < 1 + twice; turn++) {
        TRY(density(s));
        fill(s, SMOOTH_SECOND);
        TRY(forces(s));
    }
    for (int64_t i = 0; i < s->p.n && twice; i++)
        s->p.alpha[i] = fmax(s->p.alpha[i], s->p.alpha_loc[i]);
    s->dt_next = next(s);
    return OK;
}

/* ---- a step ---- */

/* Velocities and energies in the middle of the step, positions at its end. */
static void kick_and_drift(struct sph *s, double dt)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 3; d++) {
            p->v[d][i] += half * p->a[d][i];
            p->x[d][i] += dt * p->v[d][i];
        }
        p->u[i] += half * p->du[i];
    }
}

/* Keeps velocities and energies of the middle of the step, and predicts those at its end. */
static void predict(struct sph *s, double dt)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 3; d++) {
            s->v_half[d][i] = p->v[d][i];
            p->v[d][i] += half * p->a[d][i];
        }
        s->u_half[i] = p->u[i];
        p->u[i] += half * p->du[i];
    }
}

/* Point masses accrete between a drift and the evaluation after it: each of kick, drift and
 * accretion conserves momentum and angular momentum. After the evaluation, the next kick would have
 * forces between gas and particles that are gone, whose torque no spin has. */
static void accrete(struct sph *s)
{
    int64_t gone = 0;
    if (s->nsink == 0) return;
    sph_accrete(s, &gone);
    s->total -= gone;
}

/* The velocity and energy at the end of the step; the largest change of a velocity, squared. */
static double correct(struct sph *s, double dt)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
    double most = 0;
#pragma omp parallel for reduction(max : most)
    for (int64_t i = 0; i < p->n; i++) {
        double change = 0;
        for (int d = 0; d < 3; d++) {
            const double v = s->v_half[d][i] + half * p->a[d][i], by = v - p->v[d][i];
            change += by * by;
            p->v[d][i] = v;
        }
        most = fmax(most, change);
        p->u[i] = s->u_half[i] + half * p->du[i];
    }
    comm_max_f64(s->comm, &most, 1);
    return most;
}

static void square_terms(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK])
{
    const struct smooth *p = ctx;
    const double *x = p->v[0] + first, *y = p->v[1] + first, *z = p->v[2] + first;
#pragma omp simd
    for (int i = 0; i < n; i++) term[0][i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

/* The mean of the squares of the velocities. */
static double mean_square(const struct sph *s)
{
    struct sum sum;
    sph_sums(s, 1, square_terms, &s->p, &sum);
    comm_sum(s->comm, &sum);
    return sum_get(&sum) / (double)(s->total ? s->total : 1);
}

/* An error names the lowest id of a particle whose energy is negative or not a number. */
static enum err check_energy(const struct sph *s)
{
    const struct smooth *p = &s->p;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < p->n; i++)
        if (!(p->u[i] >= 0) && p->id[i] < bad) bad = p->id[i];
    comm_min_i64(s->comm, &bad, 1);
    if (bad == INT64_MAX) return OK;
    FAIL(ERR_LIMIT,
         "the thermal energy of particle %ld is negative or not a number: look at the initial "
         "state, or lower the step (cfl, dt_fixed in &SPH_PARAMS); earlier checkpoints are good",
         (long)bad);
}

/* Corrects the prediction, and evaluates forces again while the correction is large. *shorten:
 * factor of the step after this one, below 1 if the first correction was large. */
static enum err corrector(struct sph *s, double dt, double *shorten)
{
    const double vtol = s->par->sph.vtol;
    *shorten = INFINITY;
    for (int again = 0;; again++) {
        const double most = correct(s, dt), mean = mean_square(s);
        TRY(s->eq.eos == SMOOTH_ADIABATIC ? check_energy(s) : OK);
        if (!(most > vtol * vtol * mean) || again == CORRECTIONS) break;
        if (again == 0) *shorten = sqrt(vtol * sqrt(mean / most));
        int which[] = {SMOOTH_VX_COLUMN, SMOOTH_VY_COLUMN, SMOOTH_VZ_COLUMN, SMOOTH_U_COLUMN};
        timer_start("ghosts");
        swarm_fill(&s->swarm, sizeof which / sizeof *which, which);
        TRY(forces(s));
    }
    return OK;
}

static enum err move(struct sph *s, int64_t it)
{
    timer_start("migrate");
    sph_count(s);
    if (it % s->par->sph.balance_every == 0)
        TRY(swarm_balance(&s->swarm, s->p.near));
    else
        TRY(swarm_move(&s->swarm));
    s->p.n = s->swarm.n, s->p.ghosts = 0;
    return OK;
}

enum err sph_advance(struct sph *s, int64_t it, double dt)
{
    double shorten;
    timer_start("kick");
    smooth_switch(&s->eq, &s->p, dt);
    kick_and_drift(s, dt);
    sph_sinks_kick(s, 0.5 * dt);
    sph_sinks_drift(s, dt);
    accrete(s);
    sph_centre(s);
    predict(s, dt);
    TRY(move(s, it));
    TRY(density(s));
    fill(s, SMOOTH_SECOND);
    TRY(forces(s));
    TRY(corrector(s, dt, &shorten));
    sph_sinks_kick(s, 0.5 * dt);
    s->dt_next = fmin(next(s), shorten * dt);
    s->dt = dt;
    return OK;
}
