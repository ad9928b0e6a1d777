/* sink/run: the steps of sinks; see run.h and docs/method/sinks.md.
 *
 * At its deposit a level receives copies of the sinks nearby. When the force of the level is known,
 * copies collect gas and force from their clouds; before the Godunov step they remove gas from
 * cells, as accretion rates allow. Sinks move at the end of the finest steps. */
#include "sink/run.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"
#include "sink/descent.h"

struct sink_context sink_run_context(const struct sink_run *s)
{
    return (struct sink_context){s->comm, s->dom, s->mesh};
}

void sink_round_close(struct sink_round *r)
{
    for (int64_t i = 0; r->cells && i < r->copies.here.n; i++) FREE(r->cells[i].cell);
    FREE(r->cells);
    sink_copies_free(&r->copies);
    hydro_change_free(&r->change);
}

static enum err round_open(const struct sink_run *s, int l)
{
    struct sink_state *k = s->sinks;
    struct sink_round *r = &k->round[l];
    struct sink_context context = sink_run_context(s);
    sink_round_close(r);
    r->change.nvar = s->hydro->nvar;
    bool *alive = mem_new((size_t)k->table.n + 1, "sinks");
    struct sink_visit *row = mem_zero(sizeof *row * (size_t)k->table.n + 1, "sinks");
    for (int64_t i = 0; i < k->table.n; i++) {
        alive[i] = k->table.at[i].m > 0;
        row[i].m = k->table.at[i].m;
        row[i].direct = k->table.at[i].direct;
        if (k->kind) k->kind->visit(s, &k->table.at[i], &row[i]);
    }
    enum err err = sink_call(&context, &k->table, alive,
                             sink_cloud_reach(&k->law.cloud, s->mesh, l), sizeof *row, row,
                             &r->copies);
    FREE(row);
    FREE(alive);
    return err;
}

/* ---- deposit ---- */

enum err sinks_deposit(const struct sink_run *s, int l, int64_t (*mass)[8], int64_t (*number)[8])
{
    struct sink_state *k = s->sinks;
    const struct param_refine *p = &s->par->refine;
    const struct sink_cloud *cloud = &k->law.cloud;
    if (l == s->mesh->levelmin) sinks_law(s);
    TRY(round_open(s, l));
    const struct sink_copies *c = &k->round[l].copies;
    for (int64_t i = 0; i < c->here.n; i++) {
        struct sink_visit v;
        memcpy(&v, sink_row(c, i), sizeof v);
        struct sink_trace t = {.mass = v.direct ? 0 : v.m / cloud->nheavy, .quantum = s->quantum};
        if (number) t.mark = p->sink_refine ? p->m_refine[l - s->mesh->levelmin] : 0;
        if (param_stars(s->par))
            t.each_heavy = t.mass / s->mass_sph;
        else
            t.each = 1;
        sink_cloud_deposit(cloud, s->mesh, l, c->here.at[i].x, &t, mass, number);
    }
    return OK;
}

void sinks_mass(const struct sink_state *k, struct sum sum[4])
{
    for (int64_t i = 0; i < k->table.n; i++) {
        const struct sink *a = &k->table.at[i];
        if (a->direct) continue;
        sum_add(&sum[0], a->m);
        for (int d = 0; d < 3; d++) sum_add(&sum[1 + d], a->m * a->x[d]);
    }
}

void sinks_kinetic(const struct sink_state *k, struct sum *ekin)
{
    for (int64_t i = 0; i < k->table.n; i++) {
        const struct sink *a = &k->table.at[i];
        for (int d = 0; d < 3 && !a->direct; d++) sum_add(ekin, 0.5 * a->m * (a->v[d] * a->v[d]));
    }
}

/* ---- force and surrounding gas ---- */

/* Gravity between direct sinks and cells, in both directions. */
void sinks_pull(const struct sink_run *s, int l)
{
    struct sink_state *k = s->sinks;
    struct sink_context context = sink_run_context(s);
    struct sink_pulls all;
    sink_pulls_gather(&context, &k->table, &all);
    k->dense[l] = sink_pull_cells(&context, &all, &k->soft, l, s->on_ghosts, &k->table);
    FREE(all.at);
    if (!s->on_ghosts) ghost_fill_set(s->comm, s->mesh, l, FORCE);
}

enum { GAS_SUMS = SINK_GAS_SUMS, CLOUD_SUMS = GAS_SUMS + 3 };

static void collect_gas(const struct sink_run *s, int l, const struct sink_cells *cells,
                        struct sum sums[GAS_SUMS])
{
    const struct level *lv = &s->mesh->lev[l];
    for (int64_t i = 0; i < cells->n; i++) {
        const struct sink_cell *c = &cells->cell[i];
        struct sink_cell_gas g = sink_cell_gas(lv, c, s->hydro->smallr);
        double weight = s->sinks->law.cloud.volume * c->w;
        sum_add(&sums[0], weight);
        sum_add(&sums[1], weight * g.d);
        for (int d = 0; d < 3; d++) sum_add(&sums[2 + d], weight * g.d * g.v[d]);
        sum_add(&sums[5], weight * g.d * gas_internal_specific(g.e, g.v[0], g.v[1], g.v[2]));
    }
}

static struct sink_gas gas_of(const struct sum sums[GAS_SUMS])
{
    return (struct sink_gas){.volume = sum_get(&sums[0]),
                             .mass = sum_get(&sums[1]),
                             .momentum = {sum_get(&sums[2]), sum_get(&sums[3]), sum_get(&sums[4])},
                             .thermal = sum_get(&sums[5])};
}

void sinks_octs(const struct sink_run *s, int copies, int l, bool ghosts, struct rows *out)
{
    const struct sink_copies *c = &s->sinks->round[copies].copies;
    *out = (struct rows){0, NULL};
    for (int64_t i = 0; i < c->here.n; i++)
        sink_cloud_octs(&s->sinks->law.cloud, s->mesh, l, c->here.at[i].x, ghosts, out);
    rows_tidy(out);
}

/* Brings what the copies of level l see of a field set of level `at`. */
static enum err see(const struct sink_run *s, int l, int at, field_set set)
{
    struct rows octs;
    if (!s->mirror || at < 1) return OK;
    sinks_octs(s, l, at, true, &octs);
    enum err err = rows_home(s->mirror, s->mesh, at, set, &octs);
    FREE(octs.oct);
    return err;
}

/* Copies sum the gas in the cells of their clouds; with_force: sinks without direct gravity also
 * sum the force on their points. */
static enum err look(const struct sink_run *s, int l, bool with_force)
{
    TRY(see(s, l, l, with_force ? GAS | FORCE : GAS));
    if (with_force) TRY(see(s, l, l - 1, FORCE));
    struct sink_state *k = s->sinks;
    struct sink_round *r = &k->round[l];
    struct sink_context context = sink_run_context(s);
    int64_t n = r->copies.here.n, own = k->table.n;
    struct sum *sums = mem_new(sizeof *sums * CLOUD_SUMS * (size_t)n + 1, "sinks");
    struct sum *got = mem_new(sizeof *got * CLOUD_SUMS * (size_t)own + 1, "sinks");
    r->cells = mem_zero(sizeof *r->cells * (size_t)n + 1, "sinks");
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < n; i++) {
        struct sum *sum = sums + CLOUD_SUMS * i;
        struct sink_visit v;
        const double *x = r->copies.here.at[i].x;
        memcpy(&v, sink_row(&r->copies, i), sizeof v);
        for (int j = 0; j < CLOUD_SUMS; j++) sum_init(&sum[j]);
        if (s->mesh->hydro) sink_cloud_cells(&k->law.cloud, s->mesh, l, x, &r->cells[i]);
        if (k->kind)
            k->kind->collect(s, l, &v, &r->cells[i], sum);
        else
            collect_gas(s, l, &r->cells[i], sum);
        if (with_force && !v.direct)
            sink_cloud_force(&k->law.cloud, s->mesh, l, x, s->reflect, sum + GAS_SUMS);
    }
    sink_answer(&context, &k->table, &r->copies, CLOUD_SUMS, sums, got);
    for (int64_t i = 0; i < own; i++) {
        struct sink *a = &k->table.at[i];
        a->gas[l] = (k->kind ? k->kind->gas : gas_of)(got + CLOUD_SUMS * i);
        for (int d = 0; d < 3 && with_force && !a->direct; d++)
            a->force[l][d] = sum_get(&got[CLOUD_SUMS * i + GAS_SUMS + d]);
    }
    FREE(got);
    FREE(sums);
    return OK;
}

enum err sinks_look_around(const struct sink_run *s, int l)
{
    return look(s, l, true);
}

double sinks_timestep(const struct sink_run *s, int l, double *rho_max)
{
    struct sink_state *k = s->sinks;
    double dt = HUGE_VAL, dx = mesh_dx(s->mesh, l), rho[2] = {*rho_max, k->dense[l]};
    comm_max_f64(s->comm, rho, 2);
    *rho_max = rho[0] + rho[1];
    for (int64_t i = 0; i < k->table.n; i++) {
        const struct sink *a = &k->table.at[i];
        double v = sqrt(a->v[0] * a->v[0] + a->v[1] * a->v[1] + a->v[2] * a->v[2]) + a->descent;
        if (a->m > 0 && v > 0 && !a->born) dt = fmin(dt, s->hydro->courant_factor * dx / v);
    }
    return dt;
}

/* ---- motion ---- */

/* Time of a kick: half of this step and the second half of the last one, which may belong to
 * another level. */
static double kick_time(const struct sink_run *s, const struct sink *a, int l)
{
    int last = s->sinks->table.level;
    double rest = a->born || last <= 0 ? 0 : last > l ? s->dtnew[last] : s->dtold[last];
    return 0.5 * (s->dtnew[l] + rest);
}

/* After a drift: a sink that has been kicked before descends by at most half a cell. */
static void descend(const struct sink_run *s, struct sink *a, const double f[3], int l)
{
    double dt = s->dtnew[l], drift[3], step = 0;
    for (int d = 0; d < 3; d++) drift[d] = a->v[d] * dt;
    if (!a->born)
        step = sink_descend(s->par->sink.fudge_graddescent, dt, 0.5 * s->sinks->law.dx, drift,
                            a->pull, f, a->x);
    a->descent = step / dt;
    memcpy(a->pull, f, sizeof a->pull);
}

static void kick_and_drift(const struct sink_run *s, struct sink *a, const struct sink_pulls *all,
                           int l)
{
    const struct sink_state *k = s->sinks;
    double f[3] = {0};
    if (a->direct) sink_pull_sink(s->mesh, all, &k->soft, a, f);
    for (int lev = s->mesh->levelmin; lev <= s->mesh->levelmax && s->noct[lev] > 0; lev++)
        for (int d = 0; d < 3; d++) f[d] += a->force[lev][d];
    for (int d = 0; d < 3; d++) {
        if (!a->direct) f[d] /= k->law.cloud.n;
        a->v[d] += kick_time(s, a, l) * f[d];
        a->x[d] += a->v[d] * s->dtnew[l];
    }
    if (s->par->sink.sink_descent) descend(s, a, f, l);
    sink_wrap(s->mesh, a->x);
}

enum err sinks_move(const struct sink_run *s, int l)
{
    struct sink_state *k = s->sinks;
    struct sink_context context = sink_run_context(s);
    struct sink_pulls all;
    int64_t merged = 0;
    k->merging.t = s->t;
    if (k->table.total > 1 && !k->kind) TRY(sinks_merge(&context, &k->merging, &k->table, &merged));
    if (merged) log_info(" %ld sinks merged into others", (long)merged);
    if (k->table.total == 1 && k->table.n) k->table.at[0].near = k->table.at[0].m;
    sink_pulls_gather(&context, &k->table, &all);
    for (int64_t i = 0; i < k->table.n; i++)
        if (k->table.at[i].m > 0) kick_and_drift(s, &k->table.at[i], &all, l);
    for (int64_t i = 0; i < k->table.n; i++) k->table.at[i].born = 0;
    k->table.level = l;
    FREE(all.at);
    return OK;
}

/* ---- accretion ---- */

/* The octs of the cells of all copies. */
static struct rows octs_of(const struct sink_round *r)
{
    struct rows o = {0, NULL};
    for (int64_t i = 0; i < r->copies.here.n; i++) {
        const struct sink_cells *c = &r->cells[i];
        o.oct = mem_grow(o.oct, sizeof *o.oct * (size_t)(o.n + c->n) + 1, "sinks");
        for (int64_t j = 0; j < c->n; j++) o.oct[o.n++] = c->cell[j].oct;
    }
    rows_tidy(&o);
    return o;
}

static void take_all(const struct sink_run *s, int l, struct sum *sums)
{
    struct sink_state *k = s->sinks;
    struct sink_round *r = &k->round[l];
    struct rows octs = octs_of(r);
    BUG_ON(rows_home(s->mirror, s->mesh, l, GAS, &octs) != OK); /* the state is lost */
    FREE(octs.oct);
    for (int64_t i = 0; i < r->copies.here.n; i++) {
        struct sink_request e;
        memcpy(&e, sink_row(&r->copies, i), sizeof e);
        for (int j = 0; j < REQUEST_SUMS; j++) sum_init(&sums[REQUEST_SUMS * i + j]);
        struct sink_meal meal = {&r->change, s->captured, r->copies.here.at[i].id};
        sink_take(&k->law, s->mesh, l, &e, &r->cells[i], &meal, sums + REQUEST_SUMS * i);
    }
}

/* Makes requests. Cells of a copy are relative to the position at which the round was opened. */
static void ask(const struct sink_run *s, int l, bool ended, struct sink_request *request)
{
    struct sink_state *k = s->sinks;
    const struct sink_copies *c = &k->round[l].copies;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t at = c->which[i];
        const struct sink *a = &k->table.at[at];
        if (!(a->m > 0)) continue;
        request[at] = sink_request(&k->law, a, l, s->dtnew[l], ended);
        sink_between(s->mesh, c->centre[i].x, a->x, request[at].shift);
    }
}

/* Accretion on a level: round[l].change gets the changes of its gas. */
static enum err eat(const struct sink_run *s, int l, bool ended)
{
    struct sink_state *k = s->sinks;
    struct sink_round *r = &k->round[l];
    struct sink_context context = sink_run_context(s);
    int64_t own = k->table.n;
    struct sink_request *request = mem_zero(sizeof *request * (size_t)own + 1, "sinks");
    struct sum *got = mem_new(sizeof *got * REQUEST_SUMS * (size_t)own + 1, "sinks");
    for (int64_t i = 0; i < own; i++)
        sink_rates(&k->law, s->mesh->levelmin, s->mesh->levelmax, &k->table.at[i]);
    ask(s, l, ended, request);
    enum err err = sink_call_again(&context, &k->table, sizeof *request, request, &r->copies);
    size_t sums = REQUEST_SUMS * (size_t)r->copies.here.n;
    struct sum *sum = mem_new(sizeof *sum * sums + 1, "sinks");
    if (err == OK) {
        take_all(s, l, sum);
        sink_answer(&context, &k->table, &r->copies, REQUEST_SUMS, sum, got);
        for (int64_t i = 0; i < own; i++)
            if (k->table.at[i].m > 0)
                sink_digest(&k->law, got + REQUEST_SUMS * i, request[i].blast, &k->table.at[i]);
        for (int64_t i = 0; i < own; i++) sink_wrap(s->mesh, k->table.at[i].x);
    }
    FREE(sum);
    FREE(got);
    FREE(request);
    return err;
}

enum err sinks_accrete(const struct sink_run *s, int l)
{
    if (s->sinks->kind) return s->sinks->kind->accrete(s, l);
    if (s->sinks->law.accretion == ACCRETE_NONE) return OK;
    return eat(s, l, false);
}

/* ---- the end of a coarse step ---- */

/* Logs the total mass and accretion rate of all sinks. */
static void tell(const struct sink_run *s)
{
    const struct sinks *t = &s->sinks->table;
    struct sum sum[2];
    sum_init(&sum[0]);
    sum_init(&sum[1]);
    if (s->nstep_coarse % s->par->run.ncontrol != 0) return;
    for (int64_t i = 0; i < t->n; i++) {
        sum_add(&sum[0], t->at[i].m);
        sum_add(&sum[1], t->at[i].rate);
    }
    comm_sums(s->comm, sum, 2);
    log_info(" Number of sinks=%8ld mass=%16.9E accretion rate=%16.9E (code units)", (long)t->total,
             sum_get(&sum[0]), sum_get(&sum[1]));
}

static bool exists(const struct sink_run *s, int l)
{
    return l <= s->mesh->levelmax && s->noct[l] > 0;
}

/* Gives new sinks of RAMSES their seeds; the rounds of all levels are open. */
static enum err feed_new(const struct sink_run *s)
{
    int top = s->mesh->levelmin;
    while (exists(s, top + 1)) top++;
    for (int l = top; l >= s->mesh->levelmin; l--) {
        TRY(eat(s, l, true));
        struct rows octs = octs_of(&s->sinks->round[l]);
        hydro_change_apply(&s->sinks->round[l].change, &s->mesh->lev[l]);
        enum err err = rows_send(s->mirror, s->mesh, l, GAS, &octs);
        FREE(octs.oct);
        TRY(err);
    }
    return OK;
}

static bool any_new(const struct sink_run *s)
{
    int64_t born = 0;
    for (int64_t i = 0; i < s->sinks->table.n; i++) born |= s->sinks->table.at[i].born;
    comm_max_i64(s->comm, &born, 1);
    return born != 0;
}

/* Removes merged sinks, sends the others to their owners, and computes rates of the new state. */
enum err sinks_renew(const struct sink_run *s, bool *fed)
{
    struct sink_state *k = s->sinks;
    int64_t lost;
    sinks_settle(&k->table, s->mesh, s->comm, s->dom, &lost);
    if (lost) log_info(" %ld sinks have left the box through its boundaries", (long)lost);
    sinks_law(s);
    for (int64_t i = 0; i < k->table.n; i++) {
        struct sink *a = &k->table.at[i];
        a->direct = k->direct >= 0 && a->m >= k->direct;
        memset(a->gas, 0, sizeof a->gas);
        memset(a->force, 0, sizeof a->force);
    }
    *fed = s->par->sink.create_sinks && any_new(s);
    for (int l = s->mesh->levelmin; exists(s, l); l++) {
        TRY(round_open(s, l));
        TRY(look(s, l, false));
        if (!*fed) sink_round_close(&k->round[l]);
    }
    if (*fed) TRY(feed_new(s));
    for (int l = s->mesh->levelmin; exists(s, l); l++) sink_round_close(&k->round[l]);
    for (int64_t i = 0; i < k->table.n; i++) {
        struct sink *a = &k->table.at[i];
        if (k->kind)
            k->kind->rates(s, a);
        else
            sink_rates(&k->law, s->mesh->levelmin, s->mesh->levelmax, a);
    }
    tell(s);
    return OK;
}
