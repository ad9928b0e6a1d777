/* stellar/supernova: see supernova.h. */
#include "stellar/supernova.h"

#include <math.h>

#include "base/mem.h"
#include "dom/injection.h"

typedef event_whole whole;
/* Exponent of the cooling radius in density (Martizzi et al. 2015). */
static const double COOLS = -0.42;
static const double LARGE = 0x1p96; /* limit of a term of sums */
enum { MASS_BITS = 40, GIVEN_BITS = 50 };

/* Data of a supernova for all ranks that it reaches. */
struct load {
    struct event_home home;
    double mass, v[3];
    double quantum; /* unit of gas mass in sums */
};

/* Sums over the cells: volume in finest cells, gas mass in quanta, volume times u and |u|. */
struct totals {
    whole volume, mass, wu[3], wu1;
};
/* In units of 2^-GIVEN_BITS of the nominal momentum and of the unit of energy. */
struct given {
    whole momentum, kinetic, heat;
};

/* What the cells of a supernova get. */
struct wave {
    double volume, q[3];
    double push; /* momentum per volume and per |u - q| */
    double heat; /* energy per volume */
    double rho, cooling;
};

struct job {
    const struct supernova_site *s;
    const struct supernova_law *law;
    struct injection in;
    struct injection_sums totals, given;
    struct wave *wave; /* [in.here.n] */
    int bits;          /* binary digits of u after the point */
};

/* ---- home ---- */

static void load_all(struct job *k)
{
    struct injection *in = &k->in;
    for (int64_t i = 0; i < in->home.n; i++) {
        const struct supernova *e = injection_row(in, i);
        const struct leaf_cell *c = &in->centre[i];
        struct load *o = injection_load(in, i);
        double rho = level_gas(&in->mesh->lev[c->level], GAS_DENSITY)[c->oct][c->cell];
        o->mass = e->mass;
        for (int d = 0; d < 3; d++) o->v[d] = e->v[d];
        o->quantum = ldexp(fmax(rho * leaf_cell_volume(in->mesh, c->level), 1e-300), -MASS_BITS);
        in->home.at[i].radius = k->law->radius;
    }
}

/* ---- sums ---- */

static whole fixed(double x, int bits)
{
    return (whole)rint(fmax(fmin(ldexp(x, bits), LARGE), -LARGE));
}

static void totals_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct job *k = ctx;
    struct totals *t = (struct totals *)sum;
    const struct mesh *m = k->in.mesh;
    const struct load *o = injection_here(&k->in, h->event);
    double mass = level_gas(&m->lev[h->level], GAS_DENSITY)[h->oct][h->cell] *
                  leaf_cell_volume(m, h->level);
    whole w = (whole)1 << 3 * (m->levelmax - h->level);
    double u2 = 0;
    for (int d = 0; d < 3; d++) {
        double u = h->r[d] / k->law->radius;
        u2 += u * u;
        t->wu[d] += w * fixed(u, k->bits);
    }
    t->volume += w;
    t->wu1 += w * fixed(sqrt(u2), k->bits);
    t->mass += fixed(mass / o->quantum, 0);
}

static struct wave wave_of(const struct job *k, const struct load *o, const struct totals *t)
{
    const struct supernova_law *law = k->law;
    double finest = leaf_cell_volume(k->in.mesh, k->in.mesh->levelmax), unit = ldexp(1, -k->bits);
    struct wave w = {.volume = (double)t->volume * finest};
    if (!(w.volume > 0)) return w;
    for (int d = 0; d < 3; d++) w.q[d] = (double)t->wu[d] / (double)t->volume * unit;
    w.rho = ((double)t->mass * o->quantum + o->mass) / w.volume;
    w.cooling = law->cooling * pow(w.rho / law->dense, COOLS);
    bool hot = !law->either || w.cooling > law->radius, pushed = !law->either || !hot;
    double u1 = (double)t->wu1 * unit * finest;
    w.push = pushed && u1 > 0 ? law->momentum / u1 : 0;
    w.heat = hot ? law->energy / w.volume : 0;
    return w;
}

/* ---- the explosion ---- */

/* Unit of energies: the nominal energy, and that of the momentum in the ejecta. */
static double energy_unit(const struct supernova_law *law, const struct load *o)
{
    double e = law->energy + law->momentum * law->momentum / o->mass;
    return e > 0 ? e : 1;
}

/* Adds momentum to a cell at constant internal energy; returns the work, per volume. */
static double push_cell(const struct level *lv, const struct bins_hit *h, const double p[3])
{
    double rho = level_gas(lv, GAS_DENSITY)[h->oct][h->cell], work = 0;
    for (int d = 0; d < 3; d++) {
        double *m = &level_gas(lv, GAS_MOMENTUM + d)[h->oct][h->cell];
        work += gas_kick_work(rho, *m, p[d]);
        *m += p[d];
    }
    gas_add_energy(lv, h->oct, h->cell, work);
    return work;
}

static void explode_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct job *k = ctx;
    const struct supernova_law *law = k->law;
    const struct wave *w = &k->wave[h->event];
    const struct load *o = injection_here(&k->in, h->event);
    const struct level *lv = &k->in.mesh->lev[h->level];
    struct given *g = (struct given *)sum;
    double volume = leaf_cell_volume(k->in.mesh, h->level), add = o->mass / w->volume, p[3], p2 = 0;
    gas_add(lv, h->oct, h->cell, add, o->v, gas_kinetic_v(add, o->v[0], o->v[1], o->v[2]));
    double rho = level_gas(lv, GAS_DENSITY)[h->oct][h->cell];
    for (int d = 0; d < 3; d++) {
        p[d] = w->push * (h->r[d] / law->radius - w->q[d]);
        p2 += p[d] * p[d];
    }
    double size = sqrt(p2), max = law->v_max * rho;
    for (int d = 0; d < 3 && size > max; d++) p[d] *= max / size;
    double work = push_cell(lv, h, p), heat = fmin(w->heat, law->heat_max * rho);
    double unit = energy_unit(law, o);
    gas_add_energy(lv, h->oct, h->cell, heat);
    if (law->momentum > 0)
        g->momentum += fixed(fmin(size, max) * volume / law->momentum, GIVEN_BITS);
    g->kinetic += fixed(work * volume / unit, GIVEN_BITS);
    g->heat += fixed(heat * volume / unit, GIVEN_BITS);
}

/* ---- results ---- */

MEM_ORDER(by_id, struct supernova, at.id)

/* Every rank gets the results of all supernovae. */
static struct supernova *report(struct job *k, int64_t all)
{
    struct injection *in = &k->in;
    struct supernova *at = mem_new(sizeof *at * (size_t)(all + in->home.n) + 1, in->name);
    for (int64_t i = 0; i < in->home.n; i++) {
        const struct load *o = injection_load(in, i);
        const struct given *g = (const struct given *)k->given.home + i;
        struct wave w = wave_of(k, o, (const struct totals *)k->totals.home + i);
        double unit = ldexp(energy_unit(k->law, o), -GIVEN_BITS);
        memcpy(&at[i], injection_row(in, i), sizeof *at);
        at[i].rho = w.rho;
        at[i].cooling = w.cooling;
        at[i].momentum = (double)g->momentum * ldexp(k->law->momentum, -GIVEN_BITS);
        at[i].kinetic = (double)g->kinetic * unit;
        at[i].heat = (double)g->heat * unit;
    }
    comm_union(in->comm, in->home.n, all, sizeof *at, at, 0, NULL);
    mem_sort(at, (size_t)all, sizeof *at, by_id);
    return at;
}

static enum err apply(struct job *k, int64_t n, const struct supernova *e)
{
    struct injection *in = &k->in;
    TRY(injection_gather(in, n, sizeof *e, e));
    load_all(k);
    TRY(injection_send(in));
    injection_each(in, &k->totals, totals_cell, k);
    injection_total(in, &k->totals, true);
    k->wave = mem_new(sizeof *k->wave * (size_t)in->here.n + 1, in->name);
    for (int64_t i = 0; i < in->here.n; i++)
        k->wave[i] = wave_of(k, injection_here(in, i), (const struct totals *)k->totals.here + i);
    injection_each(in, &k->given, explode_cell, k);
    injection_total(in, &k->given, false);
    return OK;
}

static enum err check_radius(const struct supernova_site *s, const struct supernova_law *law)
{
    if (!(2 * law->radius <= s->mesh->boxlen))
        FAIL(ERR_PARAM,
             "supernovae of radius %g do not fit into the box of %g (code units): the radius is "
             "three cells of levelmin, or sn_r_sat of &STELLAR_PARAMS: lower it, or raise levelmin",
             law->radius, s->mesh->boxlen);
    return OK;
}

enum err supernovae_apply(const struct supernova_site *s, const struct supernova_law *law,
                          int64_t n, const struct supernova *e, int64_t *all,
                          struct supernova **done)
{
    int deep = 120 - 3 * s->mesh->levelmax; /* sums of the whole box fit into 128 bits */
    struct job k = {.s = s,
                    .law = law,
                    .in = {.comm = s->comm,
                           .dom = s->dom,
                           .mesh = s->mesh,
                           .name = "supernovae",
                           .bytes = sizeof(struct load)},
                    .totals.words = sizeof(struct totals) / sizeof(whole),
                    .given.words = sizeof(struct given) / sizeof(whole),
                    .bits = deep > 60 ? 60 : deep};
    *done = NULL;
    *all = n;
    comm_add_i64(s->comm, all, 1);
    if (*all == 0) return OK;
    TRY(check_radius(s, law));
    enum err err = apply(&k, n, e);
    if (err == OK) *done = report(&k, *all);
    FREE(k.wave);
    injection_sums_free(&k.given);
    injection_sums_free(&k.totals);
    injection_free(&k.in);
    return err;
}
