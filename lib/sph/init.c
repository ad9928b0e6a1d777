/* sph/init: initial particles by the name of a setup. Each rank makes a range of the candidates, of
 * which those that belong to the set are kept in their order. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sph/setup.h"

static enum err plan(struct setup *k);
static double bytes(const struct setup *k);
static enum err check_memory(const struct setup *k);
static void make(struct sph *s, const struct setup *k);
static void number(struct sph *s, const struct setup *k);
static void scale_energy(struct sph *s, double energy);

enum err sph_setup(struct sph *s)
{
    struct setup k = {.s = s, .par = &s->par->sph, .least = s->par->sph.rho0};
    TRY(err_agree(s->comm, plan(&k)));
    if (s->expect) {
        s->total = k.n, s->eq.mass = k.mass / (double)k.n;
        log_info(" Memory of particles: %.1f MB on all ranks, and in addition that of ghosts and "
                 "trees",
                 bytes(&k) / 1e6);
        return OK;
    }
    make(s, &k);
    number(s, &k);
    if (s->total == 0)
        FAIL(ERR_PARAM, "setup='%s' of &SPH_PARAMS has no particles with npx=%d: set it larger",
             k.par->setup, k.par->npx);
    if (k.energy > 0) scale_energy(s, k.energy);
    for (int d = 0; d < 3 && !k.open; d++) s->lo[d] = k.lo[d], s->side[d] = k.side[d];
    sph_sinks_begin(s);
    return OK;
}

static enum setup_lattice lattice_of(const char *name)
{
    if (strcmp(name, "hcp") == 0) return SETUP_HCP;
    return strcmp(name, "cubic") == 0 ? SETUP_CUBIC : SETUP_RANDOM;
}

/* The nearest image of a particle is the only one that interacts. */
static enum err check_box(const struct setup *k)
{
    if (!k->s->periodic) return OK;
    const struct smooth_par *eq = &k->s->eq;
    const double reach = smooth_support(eq->kernel) * eq->eta,
                 h = cbrt(k->mass / (double)k->n / k->least);
    for (int d = 0; d < 3; d++)
        if (k->side[d] < 2 * reach * h)
            FAIL(ERR_PARAM,
                 "with npx=%d in &SPH_PARAMS kernels reach over %g, more than half of the periodic "
                 "box along %c: set npx larger",
                 k->par->npx, reach * h, "xyz"[d]);
    return OK;
}

static enum err plan(struct setup *k)
{
    static const struct {
        const char *name;
        setup_fn *fn;
    } row[] = {
#define SETUP(name, function) {name, function},
#include "sph/setups.def"
    };
    k->lattice = lattice_of(k->par->lattice);
    size_t i = 0;
    while (strcmp(row[i].name, k->par->setup) != 0) {
        i++;
        BUG_ON(i == sizeof row / sizeof *row); /* sph.def has other names */
    }
    TRY(row[i].fn(k));
    TRY(check_memory(k));
    return k->open ? OK : check_box(k);
}

/* Of all columns of all candidates, and of their reach. */
static double bytes(const struct setup *k)
{
    size_t row = sizeof(double);
    for (int c = 0; c < SMOOTH_COLUMNS; c++) row += smooth_row[c].bytes;
    return (double)k->n * (double)row;
}

/* Before memory is requested, which the system might promise, but not have. */
static enum err check_memory(const struct setup *k)
{
    const struct comm *c = k->s->comm;
    const double need = bytes(k) * c->node_size / c->size, have = (double)mem_machine();
    if (need > have)
        FAIL(ERR_LIMIT,
             "setup='%s' of &SPH_PARAMS has %.3g particles, which need %.3g GiB of memory on each "
             "node; this one has %.3g: lower npx or np, or use more nodes",
             k->par->setup, (double)k->n, need / 0x1p30, have / 0x1p30);
    return OK;
}

/* Candidate i, in row `at`: h holds the density until the mass of a particle is known. Rows that do
 * not belong to the set have the type 0. */
static void place(struct smooth *p, int64_t at, const struct setup *k, int64_t i)
{
    struct setup_point q = {0};
    p->type[at] = k->place(k, i, &q) ? SMOOTH_GAS : 0;
    for (int d = 0; d < 3; d++) p->x[d][at] = q.x[d], p->v[d][at] = q.v[d];
    p->u[at] = q.u;
    p->h[at] = q.rho;
}

static void keep(struct smooth *p)
{
    int64_t to = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->type[i] == 0) continue;
        for (int d = 0; d < 3; d++) p->x[d][to] = p->x[d][i], p->v[d][to] = p->v[d][i];
        p->u[to] = p->u[i], p->h[to] = p->h[i];
        p->type[to++] = p->type[i];
    }
    p->n = to;
}

static void make(struct sph *s, const struct setup *k)
{
    struct smooth *p = &s->p;
    const int64_t ranks = s->comm->size, rank = s->comm->rank;
    const int64_t share = k->n / ranks, more = k->n % ranks;
    const int64_t first = share * rank + (rank < more ? rank : more);
    p->n = share + (rank < more);
    p->ghosts = 0;
    smooth_reserve(p, p->n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) place(p, i, k, first + i);
    keep(p);
}

static double first_alpha(const struct smooth_par *eq)
{
    return smooth_follows(eq) ? eq->alpha_min : eq->alpha_max;
}

/* Ids, the mass of a particle, and columns that follow from it. */
static void number(struct sph *s, const struct setup *k)
{
    struct smooth *p = &s->p;
    const int64_t first = 1 + comm_scan_i64(s->comm, p->n);
    s->total = p->n;
    comm_add_i64(s->comm, &s->total, 1);
    s->eq.mass = k->mass / (double)s->total;
    const double alpha = first_alpha(&s->eq);
    for (int64_t i = 0; i < p->n; i++) {
        p->id[i] = first + i;
        p->h[i] = s->eq.eta * cbrt(s->eq.mass / p->h[i]);
        p->alpha[i] = p->alpha_loc[i] = alpha;
        p->divv[i] = p->du[i] = p->vsig[i] = p->near[i] = 0;
        p->omega[i] = 1;
        for (int d = 0; d < 3; d++) p->a[d][i] = 0;
    }
}

/* The total thermal energy becomes this one. */
static void scale_energy(struct sph *s, double energy)
{
    struct sum sum;
    sum_init(&sum);
    sum_add_many(&sum, s->p.n, s->p.u);
    comm_sum(s->comm, &sum);
    const double factor = energy / (s->eq.mass * sum_get(&sum));
    for (int64_t i = 0; i < s->p.n; i++) s->p.u[i] *= factor;
}
