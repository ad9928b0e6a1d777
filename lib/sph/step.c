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
#include "sph/leap.h"

enum { CORRECTIONS = 8 };

/* ---- evaluation ---- */

static int columns(smooth_set set, int which[SMOOTH_COLUMNS])
{
    int n = 0;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (set >> c & 1) which[n++] = c;
    return n;
}

/* Fills columns of ghosts, of which one rank has none. */
static enum err fill(struct sph *s, smooth_set set)
{
    int which[SMOOTH_COLUMNS];
    if (s->comm->size == 1) return OK;
    timer_start("ghosts");
    const int n = columns(set, which);
    TRY(sph_home(s, set));
    swarm_fill(&s->swarm, n, which);
    sph_changed(s, set);
    return OK;
}

/* Ghosts within factor × h, and the tree of all particles. */
static enum err neighbourhood(struct sph *s, double factor)
{
    int which[SMOOTH_COLUMNS];
    struct smooth *p = &s->p;
    const bool here = !s->device || s->comm->size > 1; /* the host knows the reach */
    timer_start("ghosts");
    const int n = columns(smooth_columns_of(SMOOTH_FIRST), which);
    if (here) TRY(sph_home(s, smooth_columns_of(SMOOTH_FIRST) | SMOOTH_BIT(H)));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (here ? p->n : 0); i++) s->reach[i] = factor * p->h[i];
    sph_count(s);
    TRY(swarm_ghosts(&s->swarm, s->reach, n, which));
    p->ghosts = s->swarm.ghosts;
    if (s->comm->size > 1) sph_changed(s, smooth_columns_of(SMOOTH_FIRST));
    timer_start("tree");
    return err_agree(s->comm, sph_tree(s));
}

/* Only the nearest image of a particle acts in a periodic box. */
static enum err check_images(struct sph *s)
{
    const double support = smooth_support(s->eq.kernel);
    double most = 0;
    if (!s->periodic) return OK;
    if (s->device)
        TRY(err_agree(s->comm, leap_dev_largest_h(s, &most)));
    else
        most = leap_largest_h(s);
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
        TRY(neighbourhood(s, factor));
        timer_start("density");
        TRY(err_agree(s->comm, sph_density(s, factor, &beyond)));
        comm_add_i64(s->comm, &beyond, 1);
    } while (beyond > 0);
    return check_images(s);
}

static bool is_pulled(const struct sph *s)
{
    return s->nsink > 0 || strcmp(s->par->sph.external, "none") != 0;
}

/* Accelerations and heating rates of own particles, once the columns of ghosts are valid. */
static enum err forces(struct sph *s)
{
    const smooth_set acceleration = SMOOTH_BIT(AX) | SMOOTH_BIT(AY) | SMOOTH_BIT(AZ);
    timer_start("forces");
    TRY(err_agree(s->comm, sph_forces(s)));
    s->epot = 0;
    if (!is_pulled(s) && !s->eq.gravity) return OK;
    TRY(sph_home(s, SMOOTH_ALL));
    if (is_pulled(s)) {
        timer_start("external");
        sph_external(s, &s->epot);
    }
    timer_start("gravity");
    const enum err err = s->eq.gravity ? sph_gravity(s) : OK;
    sph_changed(s, acceleration);
    return err;
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

static enum err next(struct sph *s, double *dt)
{
    const smooth_set places = SMOOTH_BIT(X) | SMOOTH_BIT(Y) | SMOOTH_BIT(Z) | SMOOTH_BIT(TYPE);
    double own;
    if (is_pulled(s)) TRY(sph_home(s, places));
    *dt = sph_external_dt(s);
    if (s->device)
        TRY(err_agree(s->comm, leap_dev_longest(s, &own)));
    else
        own = leap_longest(s);
    *dt = fmin(*dt, own);
    comm_min_f64(s->comm, dt, 1);
    return OK;
}

/* The switch of Cullen & Dehnen reads the accelerations of the evaluation before, so that there are
 * two; α begins with what it tends to, if that is more. */
enum err sph_begin(struct sph *s)
{
    const bool twice = s->eq.alpha_switch == SMOOTH_CD10;
    for (int turn = 0; turn < 1 + twice; turn++) {
        TRY(density(s));
        TRY(fill(s, smooth_columns_of(SMOOTH_SECOND)));
        TRY(forces(s));
    }
    TRY(sph_home(s, SMOOTH_BIT(ALPHA) | SMOOTH_BIT(ALPHA_LOC)));
    for (int64_t i = 0; i < s->p.n && twice; i++)
        s->p.alpha[i] = fmax(s->p.alpha[i], s->p.alpha_loc[i]);
    sph_changed(s, SMOOTH_BIT(ALPHA));
    return next(s, &s->dt_next);
}

/* ---- a step ---- */

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

/* An error names the lowest id of a particle whose energy is negative or not a number. */
static enum err check_energy(struct sph *s, bool is_bad)
{
    const struct smooth *p = &s->p;
    int64_t bad = INT64_MAX, any = is_bad;
    comm_max_i64(s->comm, &any, 1);
    if (!any) return OK;
    TRY(sph_home(s, SMOOTH_BIT(U) | SMOOTH_BIT(ID)));
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < p->n; i++)
        if (!(p->u[i] >= 0) && p->id[i] < bad) bad = p->id[i];
    comm_min_i64(s->comm, &bad, 1);
    FAIL(ERR_LIMIT,
         "the thermal energy of particle %ld is negative or not a number: look at the initial "
         "state, or lower the step (cfl, dt_fixed in &SPH_PARAMS); earlier checkpoints are good",
         (long)bad);
}

/* Corrects the prediction. *most: largest change of a velocity, squared; *mean: mean square of the
 * velocities. */
static enum err correct(struct sph *s, double dt, double *most, double *mean)
{
    struct leap_corrected c;
    if (s->device)
        TRY(err_agree(s->comm, leap_dev_correct(s, dt, &c)));
    else
        leap_correct_all(s, dt, &c);
    TRY(s->eq.eos == SMOOTH_ADIABATIC ? check_energy(s, c.bad) : OK);
    *most = c.most;
    comm_max_f64(s->comm, most, 1);
    comm_sum(s->comm, &c.square);
    *mean = sum_get(&c.square) / (double)(s->total ? s->total : 1);
    return OK;
}

/* Corrects the prediction, and evaluates forces again while the correction is large. *shorten:
 * factor of the step after this one, below 1 if the first correction was large. */
static enum err corrector(struct sph *s, double dt, double *shorten)
{
    const double vtol = s->par->sph.vtol;
    const smooth_set moved = SMOOTH_BIT(VX) | SMOOTH_BIT(VY) | SMOOTH_BIT(VZ) | SMOOTH_BIT(U);
    *shorten = INFINITY;
    for (int again = 0;; again++) {
        double most, mean;
        timer_start("kick");
        TRY(correct(s, dt, &most, &mean));
        if (!(most > vtol * vtol * mean) || again == CORRECTIONS) break;
        if (again == 0) *shorten = sqrt(vtol * sqrt(mean / most));
        TRY(fill(s, moved));
        TRY(forces(s));
    }
    return OK;
}

/* Particles of one rank go nowhere. Their device keeps them in the box, unless they are sorted, or
 * the frame follows them. */
static enum err move(struct sph *s, int64_t it)
{
    const bool sort = it % s->par->sph.balance_every == 0, alone = s->comm->size == 1;
    const smooth_set places = SMOOTH_BIT(X) | SMOOTH_BIT(Y) | SMOOTH_BIT(Z);
    const bool stay = s->device && alone && !sort;
    int64_t bad = 0;
    timer_start("migrate");
    sph_count(s);
    if (stay && s->periodic) {
        TRY(leap_dev_wrap(s, &bad));
        s->p.ghosts = 0;
        if (bad == 0) return OK;
    }
    TRY(sph_home(s, stay ? places : SMOOTH_ALL));
    TRY(sort ? swarm_balance(&s->swarm, s->p.near) : swarm_move(&s->swarm));
    if (!stay) sph_changed(s, SMOOTH_ALL);
    s->p.n = s->swarm.n, s->p.ghosts = 0;
    return OK;
}

/* From the beginning of a step to its end, where velocities and energies are predicted. */
static enum err leap(struct sph *s, double dt)
{
    if (s->device && s->nsink == 0) return err_agree(s->comm, leap_dev_drift_and_predict(s, dt));
    TRY(sph_home(s, SMOOTH_ALL));
    leap_drift_all(s, dt);
    sph_sinks_kick(s, 0.5 * dt);
    sph_sinks_drift(s, dt);
    accrete(s);
    sph_centre(s);
    leap_predict_all(s, dt);
    sph_changed(s, SMOOTH_ALL);
    return OK;
}

enum err sph_advance(struct sph *s, int64_t it, double dt)
{
    double shorten;
    timer_start("kick");
    TRY(leap(s, dt));
    TRY(move(s, it));
    TRY(density(s));
    TRY(fill(s, smooth_columns_of(SMOOTH_SECOND)));
    TRY(forces(s));
    TRY(corrector(s, dt, &shorten));
    sph_sinks_kick(s, 0.5 * dt);
    TRY(next(s, &s->dt_next));
    s->dt_next = fmin(s->dt_next, shorten * dt);
    s->dt = dt;
    return OK;
}
