/* hole/agn: see agn.h. In five steps: a hole is told to the rank of the cell that it is in, its
 * home, which decides what it does and loads its jets; then to all ranks that it meets; these send
 * the sums over their cells to its home, which returns the totals; each rank changes its own cells,
 * heat first, then jets; what was too much for them returns to the home, and to the owner. */
#include "hole/agn.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/bins.h"
#include "hole/spin.h"
#include "phys/blast.h"

static const double QUARTER = 0.25;   /* of the cell that a hole is in, at most */
static const double ROUND = 1 + 1e-9; /* of a radius: the edge of a cylinder is inside its ball */
enum { WEIGHT_BITS = 40, SURPLUS_BITS = 60 };

typedef event_whole whole;

/* Feedback of a black hole: the energy, and for jets the gas, that it releases. */
struct outburst {
    struct event_home home;
    int64_t mode;
    double energy, mass, v[3], axis[3]; /* mass, v: of the gas of jets; axis: a unit vector */
    double quantum;                     /* of weights: mass of heated gas, volume for jets */
    double scalar[NVAR_MAX];            /* masses */
};

/* Over its cells: weights, and those above minus those below the hole. */
struct tally {
    whole w, up;
};
enum { TALLY_WORDS = sizeof(struct tally) / sizeof(whole) };

/* At its home. */
struct house {
    struct agn agn;
    struct blast_site site;
    int64_t owner, place; /* rank, and its place there */
    double excess;        /* of the home's cell, where no centre is met */
    bool set_free;
};

struct releaser {
    const struct term_run *r;
    const struct agn_law *law;
    int brute, nscalar;
    size_t bytes; /* of an outburst on its way */
    double most;  /* internal energy per mass at the ceiling */
    int64_t nhome;
    struct house *house;
    struct event *centre; /* [nhome] */
    struct outburst *out; /* [nhome] */
    struct tally *sum;    /* [nhome] of all ranks */
    struct events here;
    struct outburst *burst;  /* [here.n] */
    struct event_home *home; /* [here.n] */
    struct tally *total;     /* [here.n] of all ranks */
    whole *surplus;          /* [thread][here.n] in energy/2^SURPLUS_BITS */
    int64_t mode;            /* of those that are treated now */
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
                            .least = p->tagn,
                            .ceiling = p->t2maxagn * r->aexp,
                            .arrested = p->mad_jet};
}

static double cube(double dx)
{
    return dx * dx * dx;
}

/* ---- home ---- */

static double *var_of(const struct releaser *k, const struct blast_site *s, int v)
{
    return &level_gas(&k->r->mesh->lev[s->level], v)[s->oct][s->cell];
}

static void add_energy(const struct releaser *k, const struct blast_site *s, double energy)
{
    gas_add_energy(&k->r->mesh->lev[s->level], s->oct, s->cell, energy);
}

static double volume_of(const struct releaser *k, int level)
{
    return cube(mesh_dx(k->r->mesh, level));
}

/* Gas of the cell leaves with the jets, at constant velocity and internal energy of what stays. */
static void load_jets(const struct releaser *k, const struct blast_site *s, double mass,
                      struct outburst *o)
{
    double volume = volume_of(k, s->level), *rho = var_of(k, s, 0), m[3];
    double share = fmin(mass / (*rho * volume), QUARTER);
    o->mass = share * (*rho * volume);
    for (int d = 0; d < 3; d++) {
        double *p = var_of(k, s, GAS_MOMENTUM + d);
        o->v[d] = *p / *rho;
        m[d] = *p;
        *p -= *p * share;
    }
    add_energy(k, s, -gas_kinetic_mv(m, o->v) * share);
    for (int i = 0; i < k->nscalar; i++) {
        double *u = var_of(k, s, GAS_SCALARS + i);
        o->scalar[i] = *u * share * volume;
        *u -= *u * share;
    }
    *rho -= *rho * share;
}

/* Mode, energy and axis of the feedback of black hole a. */
static struct outburst outburst_of(const struct releaser *k, const struct agn *a)
{
    const struct agn_law *law = k->law;
    struct outburst o = {.mode = AGN_QUIET};
    if (a->saved > 0) {
        o.mode = AGN_SAVED;
        o.energy = a->saved;
    } else if (isfinite(a->rate) && a->accreted > 0) {
        bool jet = a->rate < law->x_floor;
        double share = jet ? law->jet : law->heat, radiated = share * a->efficiency;
        if (jet && law->arrested) radiated = spin_jet(a->spin);
        o.mode = jet && spin_axis(a->axis, o.axis) > 0 && law->loading > 0 ? AGN_JET : AGN_HEAT;
        o.energy = radiated * a->accreted * law->light2;
    }
    if (!(o.energy > 0)) o.mode = AGN_QUIET;
    return o;
}

static void take_home(struct releaser *k, const struct events *sent)
{
    const struct mesh *m = k->r->mesh;
    size_t n = (size_t)sent->n + 1;
    k->house = mem_zero(sizeof *k->house * n, "black holes");
    k->centre = mem_new(sizeof *k->centre * n, "black holes");
    k->out = mem_new(sizeof *k->out * n, "black holes");
    for (int64_t i = 0; i < sent->n; i++) {
        struct house h = {0};
        memcpy(&h, sent->payload + sizeof h * (size_t)i, sizeof h);
        if (!blast_find_site(m, sent->at[i].x, &h.site)) continue;
        struct outburst o = outburst_of(k, &h.agn);
        int64_t j = k->nhome++;
        o.home = (struct event_home){k->r->comm->rank, j};
        if (o.mode == AGN_JET) load_jets(k, &h.site, k->law->loading * h.agn.accreted, &o);
        k->centre[j] = h.agn.at;
        k->centre[j].radius = k->law->radius * (o.mode == AGN_JET ? M_SQRT2 * ROUND : 1);
        k->house[j] = h;
        k->out[j] = o;
    }
    for (int64_t j = 0; j < k->nhome; j++) { /* all jets are loaded */
        const struct blast_site *s = &k->house[j].site;
        double volume = volume_of(k, s->level), mass = *var_of(k, s, 0) * volume;
        k->out[j].quantum = ldexp(k->out[j].mode == AGN_JET ? volume : mass, -WEIGHT_BITS);
    }
}

static enum err send_home(struct releaser *k, int64_t n, const struct agn *a)
{
    const struct term_run *r = k->r;
    struct events sent;
    struct house *row = mem_zero(sizeof *row * (size_t)n + 1, "black holes");
    for (int64_t i = 0; i < n; i++) {
        row[i].agn = a[i];
        row[i].owner = r->comm->rank, row[i].place = i;
    }
    enum err err = event_route_home(r->comm, r->dom, r->mesh, n, sizeof *row, row, &sent);
    FREE(row);
    if (err != OK) return err;
    take_home(k, &sent);
    events_free(&sent);
    return OK;
}

/* Sends the outbursts of holes that are not quiet to all ranks whose cells they reach. */
static enum err send_out(struct releaser *k)
{
    const struct term_run *r = k->r;
    char *row = mem_new(k->bytes * (size_t)k->nhome + 1, "black holes");
    struct event *at = mem_new(sizeof *at * (size_t)k->nhome + 1, "black holes");
    int64_t n = 0;
    for (int64_t i = 0; i < k->nhome; i++) {
        if (k->out[i].mode == AGN_QUIET) continue;
        at[n] = k->centre[i];
        memcpy(row + k->bytes * (size_t)n++, &k->out[i], k->bytes);
    }
    enum err err = event_route(r->comm, r->dom, r->mesh, n, at, k->bytes, row, &k->here);
    FREE(at);
    FREE(row);
    if (err != OK) return err;
    k->burst = mem_zero(sizeof *k->burst * (size_t)k->here.n + 1, "black holes");
    k->home = mem_new(sizeof *k->home * (size_t)k->here.n + 1, "black holes");
    for (int64_t i = 0; i < k->here.n; i++) {
        memcpy(&k->burst[i], k->here.payload + k->bytes * (size_t)i, k->bytes);
        k->home[i] = k->burst[i].home;
    }
    return OK;
}

/* ---- sums over the cells ---- */

/* The weight of a cell, and whether it is above (1) or below (-1) the hole. */
static whole weight_of(const struct releaser *k, const struct bins_hit *h, const struct outburst *o,
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

struct tallies {
    const struct releaser *k;
    struct tally *of; /* [thread][event] */
};

static void tally_cell(const struct bins_hit *h, void *ctx)
{
    const struct tallies *c = ctx;
    struct tally *t = &c->of[h->thread * c->k->here.n + h->event];
    int side;
    whole w = weight_of(c->k, h, &c->k->burst[h->event], &side);
    t->w += w;
    t->up += side * w;
}

static void tally_here(struct releaser *k, const struct bins *bins)
{
    int64_t n = k->here.n;
    int threads = bins_threads();
    struct tallies c = {k, mem_zero(sizeof *c.of * (size_t)(n * threads) + 1, "black holes")};
    bool brute = k->brute & AGN_BRUTE_SUMS;
    (brute ? bins_each_brute : bins_each)(bins, k->r->mesh, tally_cell, &c);
    for (int64_t i = n; i < n * threads; i++) {
        c.of[i % n].w += c.of[i].w;
        c.of[i % n].up += c.of[i].up;
    }
    k->total = c.of;
}

/* Sums here become totals of all ranks. (collective) */
static void tally_all(struct releaser *k)
{
    k->sum = mem_zero(sizeof *k->sum * (size_t)k->nhome + 1, "black holes");
    event_sums(k->r->comm, k->here.n, k->home, TALLY_WORDS, &k->total->w, &k->sum->w, true);
}

/* ---- the release ---- */

/* Is this mass of gas heated enough? */
static bool hot_enough(const struct releaser *k, const struct outburst *o, double mass)
{
    double rise = (k->r->hydro->gamma - 1) * (o->energy / mass) * k->r->units.temperature;
    return o->mode != AGN_HEAT || !(rise < k->law->least);
}

static double internal_of(const struct releaser *k, const struct blast_site *s)
{
    const struct gas_cell g = gas_cell_read(&k->r->mesh->lev[s->level], s->oct, s->cell);
    return gas_cell_internal(&g);
}

/* A share of the energy to a cell; returns what of it would lift it above the ceiling. */
static double heat_cell(const struct releaser *k, const struct outburst *o, double share,
                        const struct blast_site *s)
{
    double volume = volume_of(k, s->level), energy = o->energy * share;
    double room = fmax(k->most * *var_of(k, s, 0) - internal_of(k, s), 0) * volume;
    double taken = fmin(energy, room);
    add_energy(k, s, taken / volume);
    return energy - taken;
}

/* A share of the gas of jets, at velocity w, with heat beside the energy of its motion. Where that
 * lifts the cell above the ceiling, or it was there, the surplus is taken out and returned. */
static double stream_cell(const struct releaser *k, const struct outburst *o, double share,
                          const double w[3], double heat, const struct blast_site *s)
{
    double volume = volume_of(k, s->level), rho = o->mass * share / volume;
    double before = internal_of(k, s);
    gas_add(&k->r->mesh->lev[s->level], s->oct, s->cell, rho, w,
            gas_kinetic_v(rho, w[0], w[1], w[2]) + heat * share / volume);
    for (int i = 0; i < k->nscalar; i++)
        *var_of(k, s, GAS_SCALARS + i) += o->scalar[i] * share / volume;
    double surplus = internal_of(k, s) - fmax(before, k->most * *var_of(k, s, 0));
    if (!(surplus > 0)) return 0;
    add_energy(k, s, -surplus);
    return surplus * volume;
}

/* The jets' velocity beside v is speed (side - mean) along the axis, so that all momenta together
 * are those of the gas that was loaded; on one side alone there are none, and it is heated. */
static double jet_cell(const struct releaser *k, const struct outburst *o, const struct tally *t,
                       double share, int side, const struct blast_site *s)
{
    double mean = (double)t->up / (double)t->w, spread = 1 - mean * mean, w[3];
    bool split = t->up != t->w && t->up != -t->w;
    double speed = split ? sqrt(2 * o->energy / (o->mass * spread)) : 0;
    for (int d = 0; d < 3; d++) w[d] = o->v[d] + speed * (side - mean) * o->axis[d];
    return stream_cell(k, o, share, w, split ? 0 : o->energy, s);
}

static void release_cell(const struct bins_hit *h, void *ctx)
{
    struct releaser *k = ctx;
    const struct outburst *o = &k->burst[h->event];
    const struct tally *t = &k->total[h->event];
    const struct blast_site s = {h->level, h->oct, h->cell};
    int side;
    if ((o->mode == AGN_JET) != (k->mode == AGN_JET)) return;
    whole w = weight_of(k, h, o, &side);
    if (w == 0 || !hot_enough(k, o, (double)t->w * o->quantum)) return;
    double share = (double)w / (double)t->w;
    double surplus = o->mode == AGN_JET ? jet_cell(k, o, t, share, side, &s)
                                        : heat_cell(k, o, share, &s);
    k->surplus[h->thread * k->here.n + h->event] += (whole)rint(
        ldexp(surplus / o->energy, SURPLUS_BITS));
}

/* Outbursts that reach no cell centre act on the cell that the black hole is in. */
static void release_homes(struct releaser *k)
{
    for (int64_t i = 0; i < k->nhome; i++) {
        struct house *h = &k->house[i];
        const struct outburst *o = &k->out[i];
        double mass = (double)k->sum[i].w * o->quantum;
        if (o->mode == AGN_QUIET) continue;
        if (k->sum[i].w == 0) mass = *var_of(k, &h->site, 0) * volume_of(k, h->site.level);
        h->set_free = hot_enough(k, o, mass);
        if (k->sum[i].w != 0 || !h->set_free) continue;
        h->excess = o->mode == AGN_JET ? stream_cell(k, o, 1, o->v, o->energy, &h->site)
                                       : heat_cell(k, o, 1, &h->site);
    }
}

static void release(struct releaser *k, const struct bins *bins)
{
    int64_t n = k->here.n;
    int threads = bins_threads();
    bool brute = k->brute & AGN_BRUTE_RELEASE;
    k->surplus = mem_zero(sizeof *k->surplus * (size_t)(n * threads) + 1, "black holes");
    for (k->mode = AGN_HEAT; k->mode <= AGN_JET; k->mode++)
        (brute ? bins_each_brute : bins_each)(bins, k->r->mesh, release_cell, k);
    release_homes(k);
    for (int64_t i = n; i < n * threads; i++) k->surplus[i % n] += k->surplus[i];
}

/* ---- back ---- */

struct receipt {
    struct agn agn;
    int64_t place;
};

/* surplus: of all ranks. */
static struct agn settled(const struct house *h, const struct outburst *o, whole surplus)
{
    struct agn a = h->agn;
    a.mode = h->set_free ? (enum agn_mode)o->mode : AGN_QUIET;
    a.given = 0;
    if (!h->set_free) return a;
    a.saved = h->excess + ldexp((double)surplus, -SURPLUS_BITS) * o->energy;
    a.given = o->energy - a.saved;
    if (o->mode != AGN_SAVED) a.accreted = 0;
    return a;
}

/* Sends surplus energy to the homes of the black holes, and the results to their owners.
 * (collective) */
static void send_back(struct releaser *k, struct agn *a)
{
    const struct comm *c = k->r->comm;
    int64_t n;
    struct receipt *y = mem_zero(sizeof *y * (size_t)k->nhome + 1, "black holes");
    whole *surplus = mem_zero(sizeof *surplus * (size_t)k->nhome + 1, "black holes");
    int *to = mem_new(sizeof *to * (size_t)k->nhome + 1, "black holes");
    event_sums(c, k->here.n, k->home, 1, k->surplus, surplus, false);
    for (int64_t i = 0; i < k->nhome; i++) {
        y[i] = (struct receipt){settled(&k->house[i], &k->out[i], surplus[i]), k->house[i].place};
        to[i] = (int)k->house[i].owner;
    }
    struct receipt *got = comm_exchange_by(c, y, k->nhome, to, sizeof *y, &n, NULL);
    for (int64_t i = 0; i < n; i++) a[got[i].place] = got[i].agn;
    FREE(got);
    FREE(to);
    FREE(surplus);
    FREE(y);
}

static enum err apply(struct releaser *k, int64_t n, struct agn *a, bool *changed)
{
    TRY(send_home(k, n, a));
    TRY(send_out(k));
    struct bins *bins = bins_new(k->r->mesh, k->here.n, k->here.at);
    tally_here(k, bins);
    tally_all(k);
    release(k, bins);
    bins_free(bins);
    send_back(k, a);
    *changed |= k->here.n > 0;
    return OK;
}

enum err agn_release_brute(const struct term_run *r, const struct agn_law *law, int64_t n,
                           struct agn *a, int brute, bool *changed)
{
    int nscalar = r->hydro->nvar - GAS_SCALARS;
    double specific = (r->hydro->gamma - 1) * r->units.temperature;
    struct releaser k = {
        .r = r, .law = law, .brute = brute, .nscalar = nscalar, .most = law->ceiling / specific};
    int64_t all = n;
    comm_add_i64(r->comm, &all, 1);
    if (all == 0) return OK;
    if (2 * M_SQRT2 * ROUND * law->radius > r->mesh->boxlen)
        FAIL(ERR_PARAM,
             "black holes: jets of radius %g do not fit into the box of %g (code units): reduce "
             "rAGN, or raise levelmax",
             law->radius, r->mesh->boxlen);
    k.bytes = offsetof(struct outburst, scalar) + sizeof(double) * (size_t)nscalar;
    enum err err = apply(&k, n, a, changed);
    events_free(&k.here);
    FREE(k.surplus);
    FREE(k.total);
    FREE(k.home);
    FREE(k.burst);
    FREE(k.sum);
    FREE(k.out);
    FREE(k.centre);
    FREE(k.house);
    return err;
}

enum err agn_release(const struct term_run *r, const struct agn_law *law, int64_t n, struct agn *a,
                     bool *changed)
{
    return agn_release_brute(r, law, n, a, 0, changed);
}
