#include "hole/horizon.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "hole/agn.h"
#include "hole/create.h"
#include "hole/merge.h"
#include "hole/rates.h"
#include "hole/spin.h"
#include "phys/stars.h"

/* maximum fraction of a cell's gas that all holes accrete in a step */
static const double MAX = 0.25;
static const double EFFICIENCY = 0.1; /* radiative efficiency without spins */

/* Parameters of accretion and drag in code units at the time of the step. */
struct hole_law {
    double aexp;      /* expansion factor */
    double G, dx;     /* gravitational constant; finest cell size, at constant physical size */
    bool bondi, drag; /* whether holes accrete, whether they are dragged */
    double dense; /* density threshold of star formation: accretion from denser gas is boosted */
    double boost, boost_drag; /* exponents of the boost factors */
    double v2_max;            /* maximum squared relative velocity */
    double f_bondi, x_floor;  /* factor of accretion below the Eddington ratio x_floor */
    double eddington;         /* Eddington accretion rate per mass at an efficiency of 1 */
    double sun;               /* solar mass, code units */
    bool spin, arrested, self_gravity;
    double gamma, smallr, smallc;
    int nvar;
};

/* Parameters at expansion factor aexp; dx: finest cell size, at constant physical size; cosmo: NULL
 * without cosmology. */
static struct hole_law law_at(const struct params *par, const struct hydro_par *hydro,
                              const struct cosmo_par *cosmo, double aexp, double dx)
{
    const struct param_physics *p = &par->physics;
    struct units u = units_at(&par->units, cosmo, aexp);
    double v = p->sigmav_max * CGS_KM / u.velocity;
    return (struct hole_law){.aexp = aexp,
                             .G = cosmo ? 3 / (8 * M_PI) * cosmo->omega_m * aexp : 1,
                             .dx = dx,
                             .bondi = p->bondi,
                             .drag = p->drag,
                             .dense = p->n_star / u.hydrogen,
                             .boost = p->boost_acc,
                             .boost_drag = p->boost_drag,
                             .v2_max = v * v,
                             .f_bondi = p->f_bondi,
                             .x_floor = p->x_floor,
                             .eddington = hole_eddington(1) * u.time,
                             .sun = RAMSES_MSUN / u.mass,
                             .spin = p->spin_bh,
                             .arrested = p->mad_jet,
                             .self_gravity = p->selfgrav,
                             .gamma = hydro->gamma,
                             .smallr = hydro->smallr,
                             .smallc = hydro->smallc,
                             .nvar = hydro->nvar};
}

static double square(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static double relative2(const struct hole_law *law, const struct sink *s)
{
    double w[3];
    for (int d = 0; d < 3; d++) w[d] = s->vgas[d] - s->v[d];
    return fmin(square(w), law->v2_max);
}

/* Squared scale of the accretion kernel, from the gas properties of the last measurement. */
static double kernel2_of(const struct hole_law *law, const struct sink *s)
{
    double r = hole_kernel(law->G, s->m, s->c2, s->c2 > 0 ? relative2(law, s) : 0, law->dx);
    return r * r;
}

/* Request that a black hole sends to its copies, for accretion on one level. */
struct request {
    double v[3];          /* velocity of the hole */
    double kernel2, mass; /* mass: accreted per unit of weight */
    double push[3];       /* drag: momentum given to the gas per unit of weighted mass */
};
/* Sums that a copy returns: accreted mass, its momentum relative to the hole, and the momentum that
 * the gas gained by drag. */
enum { FEED_MASS, FEED_MOMENTUM, FEED_DRAG = 4, FEED_SUMS = 7 };
/* Kernel-weighted sums over the cells of a cloud: volume, mass, momentum, mass times c^2, and
 * angular momentum about the hole. */
enum { HOLE_VOLUME, HOLE_MASS, HOLE_MOMENTUM, HOLE_HEAT = 5, HOLE_TURN };

/* ---- surrounding gas ---- */

/* Kernel-weighted volume of a cell of size dx; the kernel is at least half a cell wide. */
static double weight_of(const struct sink_cell *c, double dx, double kernel2)
{
    return c->w * (dx * dx * dx) * exp(-square(c->r) / fmax(kernel2, 0.25 * dx * dx));
}

static void collect(const struct sink_run *s, int l, const struct sink_visit *v,
                    const struct sink_cells *cells, struct sum sums[SINK_GAS_SUMS])
{
    const struct hole_law *law = s->sinks->own;
    const struct mesh *m = s->mesh;
    double dx = mesh_dx(m, l);
    for (int64_t i = 0; i < cells->n; i++) {
        const struct sink_cell *c = &cells->cell[i];
        struct sink_cell_gas g = sink_cell_gas(&m->lev[l], c, law->smallr);
        double w = weight_of(c, dx, v->kernel2), mass = w * g.d, u[3];
        double c2 = law->gamma * gas_gm1(law->gamma) *
                    gas_internal_specific(g.e, g.v[0], g.v[1], g.v[2]);
        for (int d = 0; d < 3; d++) u[d] = g.v[d] - v->v[d];
        sum_add(&sums[HOLE_VOLUME], w);
        sum_add(&sums[HOLE_MASS], mass);
        sum_add(&sums[HOLE_HEAT], mass * fmax(c2, law->smallc * law->smallc));
        for (int d = 0; d < 3; d++) {
            int a = (d + 1) % 3, b = (d + 2) % 3;
            sum_add(&sums[HOLE_MOMENTUM + d], mass * g.v[d]);
            sum_add(&sums[HOLE_TURN + d], mass * (c->r[a] * u[b] - c->r[b] * u[a]));
        }
    }
}

static struct sink_gas gas_around(const struct sum sums[SINK_GAS_SUMS])
{
    struct sink_gas g = {.volume = sum_get(&sums[HOLE_VOLUME]),
                         .mass = sum_get(&sums[HOLE_MASS]),
                         .thermal = sum_get(&sums[HOLE_HEAT])};
    for (int d = 0; d < 3; d++) {
        g.momentum[d] = sum_get(&sums[HOLE_MOMENTUM + d]);
        g.turn[d] = sum_get(&sums[HOLE_TURN + d]);
    }
    return g;
}

/* Computes the accretion rates and stores the gas properties, from the sums over the cloud by
 * level. */
static void set_rates(const struct hole_law *law, int levelmin, int levelmax, struct sink *s)
{
    struct sink_gas g = sink_gas_sum(s, levelmin, levelmax);
    s->efficiency = law->spin ? spin_efficiency(s->spinmag) : EFFICIENCY;
    s->eddington = law->eddington * s->m / s->efficiency;
    s->rate = s->bondi = s->volume = s->mass_gas = 0;
    if (!(g.volume > 0) || !(g.mass > 0)) return;
    s->volume = g.volume;
    s->mass_gas = g.mass;
    s->rho = g.mass / g.volume;
    s->c2 = g.thermal / g.mass;
    for (int d = 0; d < 3; d++) {
        s->vgas[d] = g.momentum[d] / g.mass;
        s->jgas[d] = g.turn[d];
    }
    if (!law->bondi || s->Esave > 0) return; /* saved energy must be released first */
    s->bondi = hole_bondi(law->G, s->m, s->rho, s->c2, relative2(law, s)) *
               hole_boost(s->rho / law->dense, law->boost);
    if (s->bondi < law->x_floor * s->eddington) s->bondi *= law->f_bondi;
    s->rate = fmin(s->bondi, s->eddington);
}

/* ---- accretion ---- */

/* Fraction of the relative velocity that drag removes in dt, limited so that hole and gas at most
 * come to relative rest. */
static double drag_share(const struct hole_law *law, const struct sink *s, double dt)
{
    double max = s->mass_gas / (s->m + s->mass_gas), v2 = 0;
    for (int d = 0; d < 3; d++) v2 += (s->v[d] - s->vgas[d]) * (s->v[d] - s->vgas[d]);
    double rate = hole_drag(law->G, s->m, s->rho, sqrt(s->c2), sqrt(v2));
    return fmin(rate * hole_boost(s->rho / law->dense, law->boost_drag) * dt, max);
}

static struct request request_of(const struct hole_law *law, const struct sink *s, double dt)
{
    struct request e = {.kernel2 = kernel2_of(law, s)};
    memcpy(e.v, s->v, sizeof e.v);
    if (!(s->volume > 0)) return e;
    e.mass = s->rate * dt / s->volume;
    double share = law->drag ? drag_share(law, s, dt) * s->m / s->mass_gas : 0;
    for (int d = 0; d < 3; d++) e.push[d] = share * (s->v[d] - s->vgas[d]);
    return e;
}

/* Takes accreted gas from a cell at constant velocity and temperature, and adds momentum by drag
 * without heating. */
static void change_cell(const struct hole_law *law, const struct level *lv,
                        const struct sink_cell *c, const struct sink_cell_gas *g, double lost,
                        const double push[3], double (*u)[8])
{
    double left = g->d - lost;
    sink_cell_lose(lv, c, g, lost, law->nvar, u);
    for (int d = 0; d < 3; d++) {
        u[GAS_MOMENTUM + d][c->cell] += push[d] - lost * g->v[d];
        gas_change_energy(u, c->cell, gas_drag_work(left, g->v[d], push[d]));
    }
}

static void take(const struct hole_law *law, const struct mesh *m, int l, const struct request *e,
                 const struct sink_cells *cells, const struct sink_meal *meal,
                 struct sum sums[FEED_SUMS])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), volume = dx * dx * dx;
    for (int64_t i = 0; i < cells->n; i++) {
        const struct sink_cell *c = &cells->cell[i];
        struct sink_cell_gas g = sink_cell_gas(lv, c, law->smallr);
        double weight = weight_of(c, dx, e->kernel2), push[3];
        double(*u)[8] = hydro_change_row(meal->change, lv->nown, c->oct);
        double max = fmax(MAX * g.d + u[0][c->cell], 0) * volume;
        double mass = fmin(e->mass * weight, max);
        sum_add(&sums[FEED_MASS], mass);
        for (int d = 0; d < 3; d++) {
            push[d] = e->push[d] * (weight * g.d);
            sum_add(&sums[FEED_MOMENTUM + d], mass * (g.v[d] - e->v[d]));
            sum_add(&sums[FEED_DRAG + d], push[d]);
            push[d] /= volume;
        }
        change_cell(law, lv, c, &g, mass / volume, push, u);
        if (meal->captured && mass > 0)
            star_note(meal->captured, meal->id, -1, mass / volume, lv, c->oct, c->cell);
    }
}

static void turn(const struct hole_law *law, struct sink *s, double gain)
{
    double ratio = s->bondi / s->eddington;
    struct spin a = {s->spinmag, {s->spin[0], s->spin[1], s->spin[2]}};
    struct spin_flow f = {.mass = s->m / law->sun,
                          .gain = gain / law->sun,
                          .rate = fmin(ratio, 1),
                          .momentum = {s->jgas[0], s->jgas[1], s->jgas[2]},
                          .self_gravity = law->self_gravity,
                          .arrested = law->arrested && ratio < law->x_floor};
    spin_accrete(&a, &f);
    s->spinmag = a.a;
    memcpy(s->spin, a.axis, sizeof s->spin);
}

/* Updates a black hole by accretion on level l. Radiated mass leaves with the velocity of the
 * accreted gas. */
static void digest(const struct hole_law *law, const struct sum sums[FEED_SUMS], int l, double dt,
                   struct sink *s)
{
    double fed = sum_get(&sums[FEED_MASS]), ratio = s->bondi / s->eddington,
           radiates = s->efficiency;
    double share = s->volume > 0 ? s->gas[l].volume / s->volume : 0;
    if (law->arrested && ratio < law->x_floor)
        radiates *= ratio / law->x_floor; /* thick discs: Benson & Babul 2009 */
    double gain = (1 - radiates) * fed, m = s->m + gain;
    if (law->spin && gain > 0) turn(law, s, gain);
    for (int d = 0; d < 3; d++) {
        double beside = sum_get(&sums[FEED_MOMENTUM + d]);
        s->thrust[d] += radiates * (beside + fed * s->v[d]);
        s->v[d] += ((1 - radiates) * beside - sum_get(&sums[FEED_DRAG + d])) / m;
    }
    s->m = m;
    s->radiated += radiates * fed;
    s->dMsmbh += gain;
    s->dMBH_coarse += s->bondi * dt * share;
    s->dMEd_coarse += s->eddington * dt * share;
    if (law->spin) s->efficiency = spin_efficiency(s->spinmag);
}

static void take_all(const struct sink_run *s, int l, struct sum *sums)
{
    struct sink_round *r = &s->sinks->round[l];
    for (int64_t i = 0; i < r->copies.here.n; i++) {
        struct request e;
        memcpy(&e, sink_row(&r->copies, i), sizeof e);
        for (int j = 0; j < FEED_SUMS; j++) sum_init(&sums[FEED_SUMS * i + j]);
        struct sink_meal meal = {&r->change, s->captured, r->copies.here.at[i].id};
        take(s->sinks->own, s->mesh, l, &e, &r->cells[i], &meal, sums + FEED_SUMS * i);
    }
}

static void rates(const struct sink_run *s, struct sink *a)
{
    set_rates(s->sinks->own, s->mesh->levelmin, s->mesh->levelmax, a);
}

/* Accretes from the cells around the positions at which the copies were made. */
static enum err accrete(const struct sink_run *s, int l)
{
    struct sinks *t = &s->sinks->table;
    struct sink_copies *c = &s->sinks->round[l].copies;
    const struct hole_law *law = s->sinks->own;
    struct sink_context p = sink_run_context(s);
    struct request *request = mem_zero(sizeof *request * (size_t)t->n + 1, "black holes");
    struct sum *got = mem_new(sizeof *got * FEED_SUMS * (size_t)t->n + 1, "black holes");
    for (int64_t i = 0; i < c->n; i++) {
        rates(s, &t->at[c->which[i]]);
        request[c->which[i]] = request_of(law, &t->at[c->which[i]], s->dtnew[l]);
    }
    enum err err = sink_call_again(&p, t, sizeof *request, request, c);
    size_t n = FEED_SUMS * (size_t)c->here.n;
    struct sum *sums = mem_new(sizeof *sums * n + 1, "black holes");
    if (err == OK) {
        take_all(s, l, sums);
        sink_answer(&p, t, c, FEED_SUMS, sums, got);
        for (int64_t i = 0; i < c->n; i++)
            digest(law, got + FEED_SUMS * c->which[i], l, s->dtnew[l], &t->at[c->which[i]]);
    }
    FREE(sums);
    FREE(got);
    FREE(request);
    return err;
}

/* Rescales saved energy, which is constant as the box expands, to the unit of velocity, which
 * changes as 1/aexp. */
static void keep_saved(struct sinks *t, double before, double now)
{
    double ratio = now / before;
    for (int64_t i = 0; i < t->n && ratio != 1; i++) t->at[i].Esave *= ratio * ratio;
}

static void law(const struct sink_run *s)
{
    struct sink_state *k = s->sinks;
    double dx = mesh_dx(s->mesh, s->mesh->levelmax) / s->aexp;
    struct hole_law now = law_at(s->par, s->hydro, s->cosmo, s->aexp, dx);
    if (k->own)
        keep_saved(&k->table, ((struct hole_law *)k->own)->aexp, now.aexp);
    else
        k->own = mem_new(sizeof now, "black holes");
    memcpy(k->own, &now, sizeof now);
}

static void visit(const struct sink_run *s, const struct sink *a, struct sink_visit *v)
{
    v->kernel2 = kernel2_of(s->sinks->own, a);
    memcpy(v->v, a->v, sizeof v->v);
}

const struct sink_kind hole_kind = {.family = SINK_HORIZON,
                                    .name = "the black holes of Horizon-AGN (&PHYSICS_PARAMS)",
                                    .law = law,
                                    .visit = visit,
                                    .collect = collect,
                                    .gas = gas_around,
                                    .rates = rates,
                                    .accrete = accrete};

/* ---- feedback ---- */

/* Random direction, isotropic and independent of the ranks. */
static void random_axis(const struct term_run *r, int64_t id, double axis[3])
{
    struct rng g = rng_make(star_seed(r->par, 0x6a6574), (uint64_t)id, (uint32_t)r->nstep);
    double z = 2 * rng_uniform(&g) - 1, phi = 2 * M_PI * rng_uniform(&g), s = sqrt(1 - z * z);
    axis[0] = s * cos(phi), axis[1] = s * sin(phi), axis[2] = z;
}

static struct agn agn_of(const struct term_run *r, const struct sink *s)
{
    const struct param_physics *p = &r->par->physics;
    struct agn a = {.at = {.id = s->id, .x = {s->x[0], s->x[1], s->x[2]}},
                    .spin = s->spinmag,
                    .efficiency = p->spin_bh ? spin_efficiency(s->spinmag) : EFFICIENCY,
                    .rate = s->dMBH_coarse / s->dMEd_coarse,
                    .accreted = s->dMsmbh,
                    .saved = s->Esave};
    bool turns = p->spin_bh && s->spinmag != 0;
    memcpy(a.axis, turns ? s->spin : s->jgas, sizeof a.axis);
    if (p->random_jet) random_axis(r, s->id, a.axis);
    return a;
}

/* Logs the energy released by mode, the energy saved, and the mass that holes radiated since their
 * creation. */
static void log_agn(const struct term_run *r, const struct sinks *s, const struct agn *a)
{
    struct sum sum[4];
    for (int k = 0; k < 4; k++) sum_init(&sum[k]);
    for (int64_t i = 0; i < s->n; i++) {
        sum_add(&sum[a[i].mode == AGN_JET], a[i].given);
        sum_add(&sum[2], a[i].saved);
        sum_add(&sum[3], s->at[i].radiated);
    }
    comm_sums(r->comm, sum, 4);
    log_info(" Black holes: heat=%16.9E jets=%16.9E saved=%16.9E radiated=%16.9E (code units)",
             sum_get(&sum[0]), sum_get(&sum[1]), sum_get(&sum[2]), sum_get(&sum[3]));
}

static enum err release(const struct term_run *r, struct sinks *s, bool *changed)
{
    struct agn_law law = agn_law(r);
    struct agn *a = mem_new(sizeof *a * (size_t)s->n + 1, "black holes");
    for (int64_t i = 0; i < s->n; i++) a[i] = agn_of(r, &s->at[i]);
    enum err err = agn_release(r, &law, s->n, a, changed);
    for (int64_t i = 0; i < s->n && err == OK; i++) {
        struct sink *at = &s->at[i];
        at->dMsmbh = a[i].accreted;
        at->Esave = a[i].saved;
        *(a[i].mode == AGN_JET ? &at->jets : &at->heat) += a[i].given / law.light2;
        at->dMBH_coarse = at->dMEd_coarse = 0;
    }
    if (err == OK) log_agn(r, s, a);
    FREE(a);
    return err;
}

/* ---- coarse steps ---- */

static struct hole_merging merging(const struct term_run *r)
{
    const struct param_physics *p = &r->par->physics;
    double dx = mesh_dx(r->mesh, r->mesh->levelmax) / r->aexp;
    return (struct hole_merging){.link = fmin(p->rmerge * dx, 0.49 * r->mesh->boxlen),
                                 .G = r->cosmo ? 3 / (8 * M_PI) * r->cosmo->omega_m * r->aexp : 1,
                                 .bound = p->vrel_merge,
                                 .spin = p->spin_bh && p->bhspinmerge};
}

static void settle(const struct term_run *r, struct sinks *s)
{
    int64_t lost;
    sinks_settle(s, r->mesh, r->comm, r->dom, &lost);
}

enum err hole_coarse(const struct term_run *r, struct sinks *s, bool *changed)
{
    int64_t merged = 0, born = 0;
    struct sink_context p = {r->comm, r->dom, r->mesh};
    struct hole_merging friends = merging(r);
    struct hole_seeding seeding = hole_seeding(r);
    if (s->total && r->par->physics.sink_agn) TRY(release(r, s, changed));
    TRY(hole_merge(&p, &friends, s, &merged));
    if (merged) settle(r, s);
    TRY(hole_create(r, &seeding, s, &born));
    if (born) settle(r, s);
    if (merged) log_info(" %ld black holes merged into others", (long)merged);
    if (born) log_info(" %ld black holes have formed", (long)born);
    *changed |= born > 0;
    return OK;
}
