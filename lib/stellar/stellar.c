/* stellar: the table of stellar objects and its coarse steps; see stellar.h. */
#include "stellar/stellar.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "stellar/supernova.h"

/* Maximum fraction of its mass that a sink gives to the ejecta of a supernova. */
static const double GIVES = 0.9;
static const double COARSE_CELLS = 3; /* minimum radius of a supernova, cells of levelmin */
/* cooling radius, pc, at a density of hydrogen atoms/cm^3 (Martizzi et al. 2015) */
static const double COOLING_PC = 6.3, COOLING_AT = 100;

/* ---- the table ---- */

struct stellar *stellar_new(const struct params *par, struct sink_state *sinks)
{
    if (!param_stellar(par)) return NULL;
    struct stellar *k = mem_zero(sizeof *k, "stellar objects");
    sinks->table.family |= SINK_STELLAR;
    log_info(" Stellar objects: %s, %s", par->stellar.stellar_strategy,
             par->stellar.sn_feedback_sink ? "with supernovae" : "without supernovae");
    return k;
}

void stellar_end(struct stellar **k)
{
    if (*k) FREE((*k)->at);
    FREE(*k);
}

struct stellar_object *stellar_add(struct stellar *k, int64_t n)
{
    if (k->n + n > k->room) {
        k->room = 2 * k->room + n;
        k->at = mem_grow(k->at, sizeof *k->at * (size_t)k->room, "stellar objects");
    }
    k->n += n;
    return k->at + k->n - n;
}

void stellar_follow_sinks(struct stellar *k, const struct sink_places *at)
{
    for (int64_t i = 0; i < k->n; i++) {
        const struct sink_place *w = sink_place_of(at, k->at[i].sink);
        if (w) k->at[i].sink = w->id;
    }
}

/* ---- the end of an object ---- */

static struct sink *sink_of(const struct sink_run *s, const struct stellar_object *o)
{
    return sinks_find(&s->sinks->table, o->sink);
}

static bool due(const struct sink_run *s, const struct stellar_object *o)
{
    return s->par->stellar.sn_feedback_sink && s->t - o->birth >= o->life;
}

static struct supernova_law supernova_law(const struct sink_run *s)
{
    const struct param_stellar *p = &s->par->stellar;
    const struct units *u = &s->units;
    double pc = CGS_PC / u->length, momentum = u->mass * u->velocity;
    double specific = gas_gm1(s->hydro->gamma) * u->temperature;
    double coarse = COARSE_CELLS * mesh_dx(s->mesh, s->mesh->levelmin);
    return (struct supernova_law){.radius = fmax(coarse, p->sn_r_sat * pc),
                                  .energy = p->sn_e_ref / (momentum * u->velocity),
                                  .momentum = p->sn_p_ref / momentum,
                                  .heat_max = p->tsat / specific,
                                  .v_max = p->vsat * CGS_KM / u->velocity,
                                  .either = strcmp(p->sn_injection, "resolved") == 0,
                                  .cooling = COOLING_PC * pc,
                                  .dense = COOLING_AT * RAMSES_MH / u->density};
}

/* Takes the ejecta from the sink of object i, which explodes. */
static struct supernova explosion(const struct sink_run *s, const struct stellar *k,
                                  const struct stellar_law *law, int64_t i, struct sink *a)
{
    const struct stellar_object *o = &k->at[i];
    struct supernova e = {.at.id = i, .sink = o->sink, .number = o->number};
    stellar_place(law, o, s->mesh, a->x, e.at.x);
    e.mass = fmin(o->mass, GIVES * a->m);
    for (int d = 0; d < 3; d++) e.v[d] = a->v[d];
    a->m -= e.mass;
    return e;
}

static void tell(const struct sink_run *s, const struct supernova_law *law,
                 const struct supernova *e)
{
    const struct units *u = &s->units;
    double momentum = u->mass * u->velocity, energy = momentum * u->velocity;
    log_info(" SN EVENT at %16.9E %16.9E %16.9E from sink %ld, star %ld, t=%16.9E", e->at.x[0],
             e->at.x[1], e->at.x[2], (long)e->sink, (long)e->number + 1, s->t);
    log_info(
        "  mass=%11.5E solar masses, density=%11.5E /cm^3, radius=%11.5E, cooling radius=%11.5E",
        e->mass * u->mass / RAMSES_MSUN, e->rho * u->density / RAMSES_MH, law->radius, e->cooling);
    log_info("  momentum=%11.5E g cm/s of %11.5E, energy=%11.5E erg as heat, %11.5E as motion",
             e->momentum * momentum, s->par->stellar.sn_p_ref, e->heat * energy,
             e->kinetic * energy);
}

/* Removes objects that have exploded, or whose sinks do not exist any more. */
static void remove_gone(struct stellar *k, const bool *gone)
{
    int64_t n = 0;
    for (int64_t i = 0; i < k->n; i++)
        if (!gone[i]) k->at[n++] = k->at[i];
    k->n = n;
}

/* found[i]: whether the sink of object i exists on any rank. */
static void find_sinks(const struct sink_run *s, const struct stellar *k, int64_t *found)
{
    static const int64_t PIECE = 1 << 24;
    for (int64_t i = 0; i < k->n; i++) found[i] = sink_of(s, &k->at[i]) != NULL;
    for (int64_t i = 0; i < k->n; i += PIECE)
        comm_max_i64(s->comm, found + i, (int)(k->n - i < PIECE ? k->n - i : PIECE));
}

static enum err explode(const struct sink_run *s, const struct stellar *k,
                        const struct stellar_law *law, const bool *gone, bool *changed)
{
    struct supernova_law how = supernova_law(s);
    struct supernova_site site = {s->comm, s->dom, s->mesh, s->hydro};
    struct supernova *e = mem_new(sizeof *e * (size_t)k->n + 1, "supernovae"), *done = NULL;
    int64_t n = 0, all = 0;
    for (int64_t i = 0; i < k->n; i++) {
        struct sink *a = gone[i] ? sink_of(s, &k->at[i]) : NULL;
        if (a) e[n++] = explosion(s, k, law, i, a);
    }
    enum err err = supernovae_apply(&site, &how, n, e, &all, &done);
    for (int64_t i = 0; i < all && err == OK; i++) tell(s, &how, &done[i]);
    *changed = all > 0;
    FREE(done);
    FREE(e);
    return err;
}

static enum err deaths(const struct sink_run *s, struct stellar *k, const struct stellar_law *law,
                       bool *changed)
{
    if (k->n == 0) return OK;
    int64_t *found = mem_new(sizeof *found * (size_t)k->n, "stellar objects"), lost = 0;
    bool *gone = mem_new((size_t)k->n, "stellar objects"), any = false;
    find_sinks(s, k, found);
    for (int64_t i = 0; i < k->n; i++) {
        bool ends = found[i] && due(s, &k->at[i]);
        lost += !found[i];
        any |= ends;
        gone[i] = !found[i] || ends;
    }
    if (lost) log_info(" %ld stellar objects are lost with their sinks", (long)lost);
    enum err err = any ? explode(s, k, law, gone, changed) : OK;
    if (err == OK) remove_gone(k, gone);
    FREE(gone);
    FREE(found);
    return err;
}

/* Logs the number, the total mass and the least remaining lifetime of all objects. */
static void summary(const struct sink_run *s, const struct stellar *k)
{
    struct sum mass;
    double left = HUGE_VAL;
    if (!s->par->stellar.stellar_info || k->n == 0) return;
    if (s->nstep_coarse % s->par->run.ncontrol != 0) return;
    sum_init(&mass);
    for (int64_t i = 0; i < k->n; i++) {
        const struct stellar_object *o = &k->at[i];
        sum_add(&mass, o->mass);
        left = fmin(left, o->birth + o->life - s->t);
    }
    log_info(" Number of stellar objects=%8ld mass=%11.5E solar masses, next end in %11.5E Myr",
             (long)k->n, sum_get(&mass) * s->units.mass / RAMSES_MSUN,
             left * s->units.time / CGS_MYR);
}

enum err stellar_coarse(const struct sink_run *s, struct stellar *k, bool *changed)
{
    struct stellar_law law = stellar_law(s->par, &s->units);
    TRY(stellar_births(s, k, &law));
    TRY(deaths(s, k, &law, changed));
    summary(s, k);
    return OK;
}
