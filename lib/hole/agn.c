/* hole/agn: see agn.h. The home rank of an event decides the mode of feedback and loads the jets;
 * all cells are changed by heat first, then by jets; energy above the temperature ceiling returns
 * to the home, and to the owner of the black hole. */
#include "hole/agn.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/injection.h"
#include "hole/spin.h"
#include "phys/stars.h"

static const double QUARTER = 0.25; /* maximum fraction of the gas of a cell that its jets carry */
static const double ROUND = 1 + 1e-9; /* enlarges the sphere around a cylinder against rounding */
enum { WEIGHT_BITS = 40, SURPLUS_BITS = 60 };

typedef event_whole whole;

/* Feedback of a black hole: energy, and for jets gas. */
struct feedback {
    struct event_home home;
    int64_t mode;
    /* mass, v: mass and velocity of the gas in the jets; axis: a unit vector */
    double energy, mass, v[3], axis[3];
    double quantum;  /* unit of weights: mass of heated gas, volume for jets */
    double scalar[]; /* masses of passive scalars */
};

/* Sums over the cells of an event: w: weights; up: weights above minus weights below the hole. */
struct totals {
    whole w, up;
};

/* Row that the owner of a black hole sends to the home of its event. */
struct agn_row {
    struct agn agn;
    int64_t owner, index; /* rank of the owner, index of the hole on that rank */
    double excess; /* surplus energy of the central cell, for events that reach no cell centre */
    bool released;
};

struct agn_job {
    const struct term_run *r;
    struct injection in;
    const struct agn_law *law;
    double max; /* specific internal energy at the ceiling */
    /* surplus: energy in units of 2^-SURPLUS_BITS of the event's energy */
    struct injection_sums weights, surplus;
    int64_t mode; /* mode of the events being treated */
};

struct agn_law agn_law(const struct term_run *r)
{
    const struct param_physics *p = &r->par->physics;
    double finest = mesh_dx(r->mesh, r->mesh->levelmax) / r->aexp,
           light = CGS_C / r->units.velocity;
    return (struct agn_law){.radius = fmax(finest, p->ragn * CGS_KPC / r->units.length),
                            .light2 = light * light,
                            .x_floor = p->x_floor,
                            .heat = p->eagn_t,
                            .jet = p->eagn_k,
                            .loading = p->mloadagn,
                            .min = p->tagn,
                            .ceiling = p->t2maxagn * r->aexp,
                            .arrested = p->mad_jet};
}

/* ---- home ---- */

static double *var_of(const struct agn_job *k, const struct leaf_cell *s, int v)
{
    return &level_gas(&k->r->mesh->lev[s->level], v)[s->oct][s->cell];
}

static void add_energy(const struct agn_job *k, const struct leaf_cell *c, double energy)
{
    gas_add_energy(&k->r->mesh->lev[c->level], c->oct, c->cell, energy);
}

static double volume_of(const struct agn_job *k, int level)
{
    return leaf_cell_volume(k->r->mesh, level);
}

/* Moves gas of the cell into the jets; the velocity and specific internal energy of the rest stay
 * constant. */
static void load_jets(const struct agn_job *k, const struct leaf_cell *c, double mass,
                      struct feedback *o)
{
    double rho = *var_of(k, c, GAS_DENSITY), all = rho * volume_of(k, c->level);
    double share = fmin(mass / all, QUARTER);
    o->mass = share * all;
    injection_take(&k->in, c, share, rho * share, o->v, o->scalar);
}

/* Notes the load of jets from the cell for tracers. */
static void note_jets(const struct agn_job *k, const struct agn *a, const struct leaf_cell *c,
                      double rho, const struct feedback *o)
{
    struct star_ledger *to = k->r->ledger;
    struct jet_load j = {.radius = k->law->radius};
    const struct level *lv = &k->r->mesh->lev[c->level];
    MEM_ROOM(to->launched.row, to->launched.n, to->launched.room, 16, "tracers");
    j.from = (struct star_swap){
        .id = a->at.id, .at = -1, .share = o->mass / (rho * volume_of(k, c->level))};
    j.from.level = c->level;
    okey_coords(lv->key[c->oct] << 3 | (okey)c->cell, j.from.cell);
    memcpy(j.x, a->at.x, sizeof j.x);
    memcpy(j.axis, o->axis, sizeof j.axis);
    to->launched.row[to->launched.n++] = j;
}

/* Decides the mode, energy and axis of the feedback of black hole a. */
static void decide(const struct agn_job *k, const struct agn *a, struct feedback *o)
{
    const struct agn_law *law = k->law;
    o->mode = AGN_QUIET;
    if (a->saved > 0) {
        o->mode = AGN_SAVED;
        o->energy = a->saved;
    } else if (isfinite(a->rate) && a->accreted > 0) {
        bool jet = a->rate < law->x_floor;
        double share = jet ? law->jet : law->heat, radiated = share * a->efficiency;
        if (jet && law->arrested) radiated = spin_jet(a->spin);
        o->mode = jet && spin_axis(a->axis, o->axis) > 0 && law->loading > 0 ? AGN_JET : AGN_HEAT;
        o->energy = radiated * a->accreted * law->light2;
    }
    if (!(o->energy > 0)) o->mode = AGN_QUIET;
}

static void load_all(struct agn_job *k)
{
    struct injection *in = &k->in;
    for (int64_t i = 0; i < in->home.n; i++) {
        const struct agn *a = &((const struct agn_row *)injection_row(in, i))->agn;
        struct feedback *o = injection_load(in, i);
        decide(k, a, o);
        const struct leaf_cell *c = &in->centre[i];
        const double rho = *var_of(k, c, GAS_DENSITY);
        if (o->mode == AGN_JET) load_jets(k, c, k->law->loading * a->accreted, o);
        if (o->mode == AGN_JET && k->r->ledger) note_jets(k, a, c, rho, o);
        in->home.at[i].radius = o->mode == AGN_QUIET ? -1
                                : o->mode == AGN_JET ? k->law->radius * (M_SQRT2 * ROUND)
                                                     : k->law->radius;
    }
    for (int64_t i = 0; i < in->home.n; i++) { /* the masses after all jets are loaded */
        struct feedback *o = injection_load(in, i);
        const struct leaf_cell *c = &in->centre[i];
        double volume = volume_of(k, c->level), mass = *var_of(k, c, GAS_DENSITY) * volume;
        o->quantum = ldexp(o->mode == AGN_JET ? volume : mass, -WEIGHT_BITS);
    }
}

/* ---- sums over the cells ---- */

/* Weight of a cell, and whether it is above (1) or below (-1) the hole. */
static whole weight_of(const struct agn_job *k, const struct bins_hit *h, const struct feedback *o,
                       int *side)
{
    const struct level *lv = &k->r->mesh->lev[h->level];
    double volume = volume_of(k, h->level), along = 0, r2 = 0, radius = k->law->radius;
    *side = 0;
    if (o->mode != AGN_JET)
        return (whole)rint(
            fmin(level_gas(lv, GAS_DENSITY)[h->oct][h->cell] * volume / o->quantum, 0x1p96));
    for (int d = 0; d < 3; d++) {
        along += h->r[d] * o->axis[d];
        r2 += h->r[d] * h->r[d];
    }
    double away2 = fmax(r2 - along * along, 0);
    if (fabs(along) > radius || away2 > radius * radius) return 0;
    *side = (along > 0) - (along < 0);
    return (whole)rint(volume / o->quantum * exp(-away2 / (2 * radius * radius)));
}

static void totals_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct agn_job *k = ctx;
    struct totals *t = (struct totals *)sum;
    int side;
    whole w = weight_of(k, h, injection_here(&k->in, h->event), &side);
    t->w += w;
    t->up += side * w;
}

/* ---- the release ---- */

/* Whether the energy heats this mass of gas enough. */
static bool hot_enough(const struct agn_job *k, const struct feedback *o, double mass)
{
    double rise = gas_gm1(k->r->hydro->gamma) * (o->energy / mass) * k->r->units.temperature;
    return o->mode != AGN_HEAT || !(rise < k->law->min);
}

static double internal_of(const struct agn_job *k, const struct leaf_cell *s)
{
    const struct gas_cell g = gas_cell_read(&k->r->mesh->lev[s->level], s->oct, s->cell);
    return gas_cell_internal(&g);
}

/* Gives a share of the energy to a cell; returns the surplus above the ceiling. */
static double heat_cell(const struct agn_job *k, const struct feedback *o, double share,
                        const struct leaf_cell *s)
{
    double volume = volume_of(k, s->level), energy = o->energy * share;
    double room = fmax(k->max * *var_of(k, s, 0) - internal_of(k, s), 0) * volume;
    double taken = fmin(energy, room);
    add_energy(k, s, taken / volume);
    return energy - taken;
}

/* Gives a share of the gas in the jets to a cell, at velocity w, with `heat` in addition to the
 * kinetic energy. Returns the surplus above the ceiling, or above the cell's previous internal
 * energy if that is higher. */
static double stream_cell(const struct agn_job *k, const struct feedback *o, double share,
                          const double w[3], double heat, const struct leaf_cell *s)
{
    double volume = volume_of(k, s->level), rho = o->mass * share / volume;
    double before = internal_of(k, s);
    gas_add(&k->r->mesh->lev[s->level], s->oct, s->cell, rho, w,
            gas_kinetic_v(rho, w[0], w[1], w[2]) + heat * share / volume);
    for (int i = 0; i < k->in.nscalar; i++)
        *var_of(k, s, GAS_SCALARS + i) += o->scalar[i] * share / volume;
    double surplus = internal_of(k, s) - fmax(before, k->max * *var_of(k, s, 0));
    if (!(surplus > 0)) return 0;
    add_energy(k, s, -surplus);
    return surplus * volume;
}

/* Gives a cell its share of the jets. Their velocity relative to v is speed (side - mean) along the
 * axis, so that the total momentum equals the momentum of the loaded gas; if all cells are on one
 * side there are no jets, and the gas is heated. */
static double jet_cell(const struct agn_job *k, const struct feedback *o, const struct totals *t,
                       double share, int side, const struct leaf_cell *s)
{
    double mean = (double)t->up / (double)t->w, spread = 1 - mean * mean, w[3];
    bool split = t->up != t->w && t->up != -t->w;
    double speed = split ? sqrt(2 * o->energy / (o->mass * spread)) : 0;
    for (int d = 0; d < 3; d++) w[d] = o->v[d] + speed * (side - mean) * o->axis[d];
    return stream_cell(k, o, share, w, split ? 0 : o->energy, s);
}

static void release_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct agn_job *k = ctx;
    const struct feedback *o = injection_here(&k->in, h->event);
    const struct totals *t = (const struct totals *)k->weights.here + h->event;
    const struct leaf_cell c = {h->level, h->oct, h->cell};
    int side;
    if ((o->mode == AGN_JET) != (k->mode == AGN_JET)) return;
    whole w = weight_of(k, h, o, &side);
    if (w == 0 || !hot_enough(k, o, (double)t->w * o->quantum)) return;
    double share = (double)w / (double)t->w;
    double surplus = o->mode == AGN_JET ? jet_cell(k, o, t, share, side, &c)
                                        : heat_cell(k, o, share, &c);
    *sum += (whole)rint(ldexp(surplus / o->energy, SURPLUS_BITS));
}

/* Feedback that reaches no cell centre acts on the cell that the black hole is in. */
static void release_centres(struct agn_job *k)
{
    const struct totals *sum = (const struct totals *)k->weights.home;
    for (int64_t i = 0; i < k->in.home.n; i++) {
        struct agn_row *a = injection_row(&k->in, i);
        const struct feedback *o = injection_load(&k->in, i);
        const struct leaf_cell *c = &k->in.centre[i];
        double mass = (double)sum[i].w * o->quantum;
        if (o->mode == AGN_QUIET) continue;
        if (sum[i].w == 0) mass = *var_of(k, c, GAS_DENSITY) * volume_of(k, c->level);
        a->released = hot_enough(k, o, mass);
        if (sum[i].w != 0 || !a->released) continue;
        a->excess = o->mode == AGN_JET ? stream_cell(k, o, 1, o->v, o->energy, c)
                                       : heat_cell(k, o, 1, c);
    }
}

/* ---- results ---- */

/* Stores the results of an event; surplus: sum over all ranks. */
static void settle(struct agn_row *h, const struct feedback *o, whole surplus)
{
    struct agn *a = &h->agn;
    a->mode = h->released ? (enum agn_mode)o->mode : AGN_QUIET;
    a->given = 0;
    if (!h->released) return;
    a->saved = h->excess + ldexp((double)surplus, -SURPLUS_BITS) * o->energy;
    a->given = o->energy - a->saved;
    if (o->mode != AGN_SAVED) a->accreted = 0;
}

/* Sends surplus energy to the homes of the events, and results to the owners of the black holes.
 * (collective) */
static void send_back(struct agn_job *k, struct agn *a)
{
    struct injection *in = &k->in;
    int64_t n;
    int *to = mem_zero(sizeof *to * (size_t)in->home.n + 1, in->name);
    injection_total(in, &k->surplus, false);
    for (int64_t i = 0; i < in->home.n; i++) {
        struct agn_row *h = injection_row(in, i);
        settle(h, injection_load(in, i), k->surplus.home[i]);
        to[i] = (int)h->owner;
    }
    struct agn_row *got = comm_exchange_by(in->comm, in->home.payload, in->home.n, to, sizeof *got,
                                           &n, NULL);
    for (int64_t i = 0; i < n; i++) a[got[i].index] = got[i].agn;
    FREE(got);
    FREE(to);
}

static enum err apply(struct agn_job *k, int64_t n, struct agn *a)
{
    struct injection *in = &k->in;
    struct agn_row *row = mem_zero(sizeof *row * (size_t)n + 1, in->name);
    for (int64_t i = 0; i < n; i++)
        row[i] = (struct agn_row){.agn = a[i], .owner = in->comm->rank, .index = i};
    enum err err = injection_gather(in, n, sizeof *row, row);
    FREE(row);
    if (err != OK) return err;
    load_all(k);
    TRY(injection_send(in));
    injection_each(in, &k->weights, totals_cell, k);
    injection_total(in, &k->weights, true);
    for (k->mode = AGN_HEAT; k->mode <= AGN_JET; k->mode++)
        injection_each(in, &k->surplus, release_cell, k);
    release_centres(k);
    send_back(k, a);
    return OK;
}

enum err agn_release(const struct term_run *r, const struct agn_law *law, int64_t n, struct agn *a,
                     bool *changed)
{
    double specific = gas_gm1(r->hydro->gamma) * r->units.temperature;
    int nscalar = r->hydro->nvar - GAS_SCALARS;
    struct agn_job k = {.r = r,
                        .in = {.comm = r->comm,
                               .dom = r->dom,
                               .mesh = r->mesh,
                               .name = "black holes",
                               .nscalar = nscalar,
                               .bytes = sizeof(struct feedback) + sizeof(double) * (size_t)nscalar},
                        .law = law,
                        .max = law->ceiling / specific,
                        .weights.words = sizeof(struct totals) / sizeof(whole),
                        .surplus.words = 1};
    if (!injection_any(r->comm, n)) return OK;
    if (2 * M_SQRT2 * ROUND * law->radius > r->mesh->boxlen)
        FAIL(ERR_PARAM,
             "black holes: jets of radius %g do not fit into the box of %g (code units): reduce "
             "rAGN, or raise levelmax",
             law->radius, r->mesh->boxlen);
    enum err err = apply(&k, n, a);
    *changed |= k.in.here.n > 0;
    injection_sums_free(&k.surplus);
    injection_sums_free(&k.weights);
    injection_free(&k.in);
    return err;
}
