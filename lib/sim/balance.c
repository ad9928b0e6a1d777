/* sim/balance: load of a rank, criterion for load imbalance, and new domains (docs/method/mesh.md,
 * "Balance").
 *
 * An oct weighs the bytes that it and the particles in it take (Kim 2026, eq. 4). With
 * time_balance_alpha > 0 the weight is multiplied, level by level, by the ratio of this rank's time
 * per oct to the average over ranks (eq. 12). Measured times thus shift domains, but no result
 * depends on domains. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/timer.h"
#include "oct/bits.h"
#include "sim/sim.h"

static const double MEMORY_OF_CLOCKS = 0.7; /* weight of the past in the smoothed times of octs */
/* Domains are kept while max/min of the ranks' loads is below ENOUGH, or below MORE times the ratio
 * that the last balance reached, limited to ENOUGH_MAX. */
static const double ENOUGH = 1.03, MORE = 1.005, ENOUGH_MAX = 1.1;
/* A change of domains takes as long as this many coarse steps: PLANES_COST if only planes move,
 * ORIGIN_COST if most octs do (measured with dark matter, and with gas, 64^3, on two ranks). It
 * pays when the imbalance since the last change has cost as much. */
static const double PLANES_COST = 1, ORIGIN_COST = 2;
/* Work of an oct with a magnetic field beside a plane within rows, more than beside another one
 * (docs/performance.md, "Short runs on two ranks"). Gas without a field is less sensitive, and then
 * cuts across x save more, as outputs need no octs to travel. */
static const double ROWS_FIELD = 1;

void sim_use_threads(struct sim *s)
{
    const int64_t PARTICLES_PER_OCT = 8; /* of about the same work */
    comm_use_threads(&s->comm, mesh_own_octs(&s->mesh) + s->parts.n / PARTICLES_PER_OCT);
}

void sim_count_octs(struct sim *s)
{
    int64_t n[LEVEL_MAX + 2] = {0};
    struct spread all[LEVEL_MAX + 2];
    for (int l = 1; l <= s->mesh.levelmax; l++) n[l] = s->mesh.lev[l].nown;
    comm_spread(&s->comm, LEVEL_MAX + 2, n, all);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        s->amr.noct[l] = s->mesh.lev[l].total;
        s->amr.noct_min[l] = all[l].low;
        s->amr.noct_max[l] = all[l].high;
    }
}

/* Whether an imbalance exceeds that after the last balance by more than remap_thresh. */
static bool has_grown(const struct sim *s)
{
    const struct param_run *run = &s->par->run;
    const struct sim_balance *b = &s->amr.balance;
    const bool of_time = run->time_balance_alpha > 0 || !run->memory_balance;
    return (run->memory_balance && spread_imbalance(b->memory) > b->left[0] + run->remap_thresh) ||
           (of_time && spread_imbalance(b->time) > b->left[1] + run->remap_thresh);
}

/* ---- weights ---- */

struct sim_weights sim_weights(const struct sim *s)
{
    const struct mesh *m = &s->mesh;
    const struct param_run *run = &s->par->run;
    struct sim_weights w = {.oct = {0}};
    double oct = run->mem_weight_grid > 0 ? run->mem_weight_grid
                                          : (double)mesh_oct_bytes(mesh_kind(m)),
           part = run->mem_weight_part > 0 ? run->mem_weight_part
                                           : (double)part_bytes(&s->parts.columns),
           repeat = 1;
    for (int l = 1; l <= m->levelmax; l++) {
        w.oct[l] = oct;
        w.part[l] = part;
        if (run->memory_balance) continue;
        /* work as RAMSES counts it, per cell: 80, and 1 for each particle of its oct */
        w.oct[l] = l < m->levelmin ? 1 : 8 * 80 * repeat;
        w.part[l] = 8 * repeat;
        if (l >= m->levelmin && run->cost_weighting) repeat *= s->time.nsubcycle[l];
    }
    return w;
}

/* Ratio of this rank's time per oct to the mean over the ranks that have octs, by level. Levels
 * below levelmin take no steps and get the factor of levelmin. */
static void time_factors(const struct sim *s, double factor[LEVEL_MAX + 2])
{
    double sum[2][LEVEL_MAX + 2] = {{0}}, alpha = s->par->run.time_balance_alpha;
    const double *mine = s->amr.balance.each;
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        sum[0][l] = mine[l];
        sum[1][l] = mine[l] > 0;
        factor[l] = 1;
    }
    if (!(alpha > 0)) return;
    comm_add_f64(&s->comm, sum[0], 2 * (LEVEL_MAX + 2));
    for (int l = 1; l <= s->mesh.levelmax; l++)
        if (mine[l] > 0)
            factor[l] = fmin(fmax(1 + alpha * (mine[l] * sum[1][l] / sum[0][l] - 1), 0.5), 2);
    for (int l = 1; l < s->mesh.levelmin; l++) factor[l] = factor[s->mesh.levelmin];
}

/* Weights of octs of all levels: own octs, and octs of other ranks that contain particles of this
 * rank. */
struct load {
    int64_t n;
    int *level;
    okey *key;
    double *cost, *copy, *part; /* costs in the sense of struct domain_load */
    double ghosts;
    int32_t *parts[LEVEL_MAX + 2]; /* [noct] number of particles whose finest oct this is */
};

/* Counts particles on the host, where their host octs are all on levelmin and neighbours in memory
 * mostly share an oct. */
static void count_parts_here(const struct sim *s, struct load *load)
{
    const struct mesh *m = &s->mesh;
    const struct parts *p = &s->parts;
    const struct level *lv = &m->lev[m->levelmin];
    lidx last = -1;
    bool split = false;
    for (int64_t i = 0; i < p->n; i++) {
        lidx h = p->host[i];
        if (h < 0 || h >= lv->nown) continue;
        if (h != last) split = bits_of_leaves(lv->child[h]) != 0xff;
        last = h;
        int l = m->levelmin;
        const double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]};
        if (split) h = part_finest(m, &l, h, x);
        load->parts[l][h]++;
    }
}

/* Counts particles on the device if they are there and memory for the counts suffices. */
static void count_parts(struct sim *s, struct load *load)
{
    struct part_dev *x = sim_parts_dev(s);
    if (x && part_dev_count(x, &s->parts, &s->mesh, load->parts) == OK) return;
    BUG_ON(sim_parts_home(s) != OK); /* the state is lost */
    count_parts_here(s, load);
}

static void load_add(struct load *load, int level, okey key, double oct, double part)
{
    load->level[load->n] = level;
    load->key[load->n] = key;
    load->cost[load->n] = oct + part;
    load->copy[load->n] = oct;
    load->part[load->n++] = part;
}

static struct load load_make(struct sim *s)
{
    const struct mesh *m = &s->mesh;
    struct sim_weights w = sim_weights(s);
    struct load load = {0};
    double factor[LEVEL_MAX + 2];
    size_t max = 0;
    time_factors(s, factor);
    for (int l = 1; l <= m->levelmax; l++) {
        max += (size_t)m->lev[l].noct;
        load.parts[l] = mem_zero(sizeof(int32_t) * (size_t)m->lev[l].noct + 1, "balance");
    }
    count_parts(s, &load);
    load.level = mem_new(sizeof *load.level * max + 1, "balance");
    load.key = mem_new(sizeof *load.key * max + 1, "balance");
    load.cost = mem_new(sizeof *load.cost * max + 1, "balance");
    load.copy = mem_new(sizeof *load.copy * max + 1, "balance");
    load.part = mem_new(sizeof *load.part * max + 1, "balance");
    for (int l = 1; l <= m->levelmax; l++) {
        const struct level *lv = &m->lev[l];
        load.ghosts += w.oct[l] * (lv->noct - lv->nown);
        for (lidx i = 0; i < lv->noct; i++) {
            double oct = i < lv->nown ? w.oct[l] : 0, part = w.part[l] * load.parts[l][i];
            if (oct + part > 0) load_add(&load, l, lv->key[i], factor[l] * oct, factor[l] * part);
        }
        FREE(load.parts[l]);
    }
    return load;
}

static void load_free(struct load *load)
{
    FREE(load->level);
    FREE(load->key);
    FREE(load->cost);
    FREE(load->copy);
    FREE(load->part);
}

/* Number of times that a unit of cost is spent in a coarse step, by level: the sub-steps, or 1 if
 * costs include them. */
static void work_of_costs(const struct sim *s, double work[LEVEL_MAX + 2])
{
    const struct param_run *run = &s->par->run;
    bool counted = !run->memory_balance && run->cost_weighting;
    double repeat = 1;
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++) {
        work[l] = counted ? 1 : repeat;
        repeat *= s->time.nsubcycle[l];
    }
}

/* Coarse steps since domains changed, with which the cost of a change is compared; HUGE_VAL: the
 * change costs nothing more (free), or is the first, or remap_thresh asks for it. */
static double steps_since(const struct sim *s, bool free)
{
    const struct sim_balance *b = &s->amr.balance;
    if (free || b->changed == 0 || has_grown(s)) return HUGE_VAL;
    return s->time.nstep_coarse + 1 - b->changed;
}

/* The ratio max/min of loads below which domains are kept so many coarse steps after a change.
 * Ranks wait for half of max/min − 1 of the time; the imbalance has grown since, so half of that
 * has been lost. */
static double enough_after(const struct sim *s, double steps)
{
    const double pays = 1 + 4 * PLANES_COST / fmax(steps, 1);
    return fmin(fmax(fmax(ENOUGH, pays), s->amr.balance.reached * MORE), ENOUGH_MAX);
}

/* New domains, or NULL if the present ones are good enough. Fields are not moved. stay: the run
 * will continue in these domains, so that ghosts are included, whose search takes most of the
 * time. steps: since domains changed. */
static struct domain *domains_make(struct sim *s, enum domain_kind kind, bool stay, bool timed,
                                   double steps)
{
    struct sim_balance *b = &s->amr.balance;
    if (timed) timer_start("balance: weights");
    struct load w = load_make(s);
    struct domain_load load = {
        .n = w.n, .level = w.level, .key = w.key, .cost = w.cost, .base = s->mesh.levelmin};
    double work[LEVEL_MAX + 2] = {0};
    work_of_costs(s, work);
    if (stay) load.work = work;
    load.gain = ORIGIN_COST / fmax(steps, 1);
    if (s->mesh.magnetic) load.rows = ROWS_FIELD;
    /* ghosts take memory and no time */
    if (stay && s->par->run.memory_balance && !(s->par->run.time_balance_alpha > 0)) {
        load.copy = w.copy;
        load.part = w.part;
        load.ghosts = &w.ghosts;
        load.enough = enough_after(s, steps);
    }
    if (timed) timer_start("balance: cut planes");
    double reached = 0;
    struct domain *d = domain_balance(s->dom, kind, &s->comm, &load, &reached);
    if (d && load.copy) b->reached = reached;
    load_free(&w);
    return d;
}

/* Sends sinks to the owners of their positions, as sink/copies.h requires. */
static void sinks_redistribute(struct sim *s)
{
    int64_t lost = 0; /* always 0: sinks do not move */
    if (sinks_any(s->phys.sinks))
        sinks_settle(&s->phys.sinks->table, &s->mesh, &s->comm, s->dom, &lost);
}

/* d: taken over. Returns the previous domains (owner: caller). */
static struct domain *domains_change(struct sim *s, struct domain *d, bool timed)
{
    struct domain *was = s->dom;
    s->dom = d;
    if (timed) timer_start("balance: octs");
    grav_forget(&s->phys.grav, 1);
    fifth_forget(s->phys.fifth, 1);
    s->phys.fresh.level = 0;
    adapt_redistribute(&s->mesh, &s->comm, was, d);
    if (timed) timer_start("balance: particles");
    if (s->par->run.pic && domain_agreement(was, d) > s->mesh.levelmin)
        part_redistribute(&s->parts, &s->mesh, &s->comm, d);
    sinks_redistribute(s);
    sim_count_octs(s);
    return was;
}

enum domain_kind sim_domain_kind(const struct sim *s)
{
    return strcmp(s->par->run.ordering, "hilbert") == 0 ? DOMAIN_HILBERT : DOMAIN_KSECTION;
}

void sim_domains_become(struct sim *s, enum domain_kind kind, bool timed, bool wait)
{
    struct domain *d = domains_make(s, kind, true, timed, steps_since(s, wait || !timed));
    domain_free(s->amr.balance.next); /* left over from an output that could not be written */
    s->amr.balance.next = NULL;
    if (timed && (d || s->amr.balance.changed == 0))
        s->amr.balance.changed = s->time.nstep_coarse + 1;
    if (!d) return;
    s->amr.balance.fresh = true;
    if (wait) {
        s->amr.balance.next = d;
        return;
    }
    BUG_ON(sim_device_home(s, true) != OK || sim_parts_home(s) != OK); /* the state is lost */
    domain_free(domains_change(s, d, timed));
}

struct domain *sim_domains_leave(struct sim *s)
{
    struct domain *d = domain_along(s->dom);
    return domains_change(s, d ? d : domains_make(s, DOMAIN_HILBERT, false, false, HUGE_VAL),
                          false);
}

void sim_domains_return(struct sim *s, struct domain *was)
{
    struct domain *to = s->amr.balance.next ? s->amr.balance.next : was;
    if (to != was) domain_free(was);
    s->amr.balance.next = NULL;
    domain_free(domains_change(s, to, false));
}

/* ---- when to balance ---- */

void sim_balance_own(struct sim *s, int64_t own[2])
{
    struct sim_balance *b = &s->amr.balance;
    double work = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) {
        double each = b->steps[l] > 0 ? b->work[l] / b->steps[l] : 0, was = b->each[l];
        b->each[l] = was > 0 && each > 0 ? MEMORY_OF_CLOCKS * was + (1 - MEMORY_OF_CLOCKS) * each
                                         : each;
        work += b->work[l];
        b->work[l] = b->steps[l] = 0;
    }
    own[0] = (int64_t)mem_now();
    own[1] = (int64_t)(1e9 * work);
}

void sim_balance_measured(struct sim *s, const struct spread all[2])
{
    struct sim_balance *b = &s->amr.balance;
    b->memory = all[0];
    b->time = all[1];
    if (b->fresh) {
        b->left[0] = spread_imbalance(b->memory);
        b->left[1] = spread_imbalance(b->time);
        b->fresh = false;
    }
}

/* Whether a balance would find domains to be changed, as far as the memory that ranks hold, buffers
 * included, tells without counting. */
static bool is_doubtful(const struct sim *s)
{
    const struct sim_balance *b = &s->amr.balance;
    const double steps = steps_since(s, false),
                 held = b->memory.low > 0 ? (double)b->memory.high / (double)b->memory.low
                                          : HUGE_VAL;
    if (!s->par->run.memory_balance || s->par->run.time_balance_alpha > 0) return true;
    return ORIGIN_COST <= DOMAIN_GAIN * steps || 2 * (held - 1) > enough_after(s, steps) - 1;
}

bool sim_balance_due(const struct sim *s)
{
    const struct param_run *run = &s->par->run;
    if (s->comm.size == 1) return false;
    if (run->nremap > 0 && s->time.nstep_coarse % run->nremap == 0 && is_doubtful(s)) return true;
    return (run->nremap > 0 || param_given(s->par, "run", "remap_thresh")) && has_grown(s);
}
