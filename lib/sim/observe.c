/* sim/observe: the state of the run as observers see it (observe/observe.h), and when they run; the
 * mesh of a source, which that of a solver may be (sim/solver.h). */
#include "observe/observe.h"

#include "base/log.h"
#include "cone/cone.h"
#include "oct/field_sets.h"
#include "resume/resume.h"
#include "sim/solver.h"

/* The order of scalars that the user asks for. RAMSES counts the variables of its files from 1, and
 * non-thermal energies with the scalars; what a file lacks has no number there. */
static enum err remap(const struct sim *s, struct resume *r)
{
    const int given = param_given_count(s->par, "run", "remap_pscalar"),
              gas = s->mesh.magnetic ? 8 : s->mesh.ndim + 2, energies = s->phys.hydro.energy.n,
              last = gas + s->phys.hydro.nvar - GAS_SCALARS;
    for (int i = 0; i < given && s->run.restart.from; i++) {
        const int to = s->par->run.remap_pscalar[i], first = gas + 1 + r->nremap;
        const bool is_energy = to > gas && to <= gas + energies;
        if (to > last)
            FAIL(ERR_PARAM,
                 "remap_pscalar(%d)=%d in &RUN_PARAMS: the last variable of the gas of this run is "
                 "number %d",
                 i + 1, to, last);
        if (to >= 0 && (first <= gas + energies || is_energy) && to != first)
            FAIL(
                ERR_PARAM,
                "remap_pscalar(%d)=%d in &RUN_PARAMS: variables %d to %d are non-thermal energies, "
                "which keep their numbers",
                i + 1, to, gas + 1, gas + energies);
        if (to >= 0) r->remap[r->nremap++] = to > 0 ? to - gas - 1 + GAS_SCALARS : -1;
    }
    return OK;
}

enum err sim_mesh_read(struct sim *s, struct source *from, struct parts *parts)
{
    struct sim_weights w = sim_weights(s); /* by the columns of particles, among others */
    struct resume r = {.from = from,
                       .comm = &s->comm,
                       .mesh = &s->mesh,
                       .parts = parts,
                       .drop_clouds = s->phys.sinks != NULL,
                       .gas = &s->phys.hydro.vars,
                       .kind = sim_domain_kind(s),
                       .oct_cost = w.oct,
                       .part_cost = w.part[s->mesh.levelmin]};
    TRY(remap(s, &r));
    enum err err = resume_read(&r);
    domain_free(s->dom);
    s->dom = r.dom;
    if (parts) s->diag.particles = r.particles;
    return err;
}

enum err sim_gather(struct sim *s)
{
    const struct solver *v = s->run.solver;
    struct source *from = NULL;
    struct ckpt_head h;
    if (!v->source || s->run.gathered) return OK;
    sim_head(s, &h);
    mesh_empty(&s->mesh);
    TRY(v->source(s, &h, &from));
    enum err err = source_state(from, h.gamma, h.smallr);
    if (err == OK) err = sim_mesh_read(s, from, NULL);
    source_close(&from);
    TRY(err);
    sim_count_octs(s);
    s->run.gathered = true;
    return s->par->run.pic ? part_distribute(&s->parts, &s->mesh, &s->comm, s->dom) : OK;
}

static enum err find_clumps(void *owner, struct clumps *out)
{
    return sim_clumps(owner, out);
}

struct observation sim_observation(struct sim *s, const struct ckpt_head *h, int number)
{
    return (struct observation){.par = s->par,
                                .comm = &s->comm,
                                .mesh = &s->mesh,
                                .parts = &s->parts,
                                .own = &s->parts,
                                .head = h,
                                .dir = s->run.out.dir,
                                .number = number,
                                .find_clumps = find_clumps,
                                .owner = s,
                                .cost = s->run.observer,
                                .last = s->run.out.last_good,
                                .movie = s->run.movie};
}

/* Copies sets of fields from the device to the host, if the device has newer copies. */
static enum err bring_home(struct sim *s, field_set reads)
{
    for (int l = 1; l <= s->mesh.levelmax; l++)
        TRY(sim_device_need(s, l, reads & ALL, LOCATION_HOST));
    return reads & PARTS ? sim_parts_home(s) : OK;
}

/* Makes the tables of sinks for observers that read them. */
static enum err store_sinks(struct sim *s, int when)
{
    const bool cones = when & (OBSERVE_STEP | OBSERVE_RESUME) && param_cone_sinks(s->par);
    if (!s->phys.sinks || !(when == OBSERVE_ENTRY || cones)) return OK;
    struct sink_run sinks = sim_sinks(s);
    TRY(sinks_store(&sinks, &s->run.restart.rest.sinks));
    return stellar_store(s->phys.stellar, &s->run.restart.rest.stellar);
}

/* Keeps the places of sinks, where their paths on light cones begin in the next step. */
static void remember_sinks(struct sim *s, int when)
{
    if (!s->phys.sinks || !(s->phys.sinks->table.family & SINK_CONE)) return;
    if (!(when & (OBSERVE_STEP | OBSERVE_RESUME))) return;
    const struct sinks *k = &s->phys.sinks->table;
    for (int64_t i = 0; i < k->n; i++)
        for (int d = 0; d < 3; d++) k->at[i].place[d] = cone_place(k->at[i].x[d]);
}

enum err sim_observe(struct sim *s, int when)
{
    struct ckpt_head h;
    if (!observers_wanted(s->par, when)) return OK;
    TRY(store_sinks(s, when));
    sim_head(s, &h);
    struct observation o = sim_observation(
        s, &h, when == OBSERVE_OUTPUT ? s->run.late.number : s->run.out.ifout);
    o.when = when;
    observer_set due = observers_due(&o, when);
    if (due) TRY(sim_gather(s));
    if (due) TRY(bring_home(s, observers_read(due)));
    TRY(observers_run(&o, due));
    remember_sinks(s, when);
    return OK;
}

enum err sim_measure_missing(struct sim *s)
{
    struct ckpt_head h;
    if (!s->run.restart.resumed) return OK;
    sim_head(s, &h);
    struct observation o = sim_observation(s, &h, s->run.restart.number);
    o.when = OBSERVE_OUTPUT;
    TRY(observers_check(&o));
    if (s->run.restart.number < 0) return OK;
    observer_set missing = observers_missing(&o);
    if (!missing) return OK;
    TRY(sim_gather(s));
    TRY(sim_device_home(s, false));
    TRY(sim_parts_home(s));
    log_info(" The tables of output_%05d are missing: they are written now", o.number);
    return observers_run(&o, missing);
}
