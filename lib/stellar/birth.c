/* stellar/birth: the mass that sinks have accreted becomes stellar objects. */
#include <math.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "stellar/stellar.h"

/* Objects that a sink makes. */
struct brood {
    int64_t sink;
    int64_t first, n; /* number of the first, and how many */
    double dmf;       /* accreted mass of the sink, by which strategy 'global' ranks sinks */
};

static int by_sink(const void *a, const void *b)
{
    const struct brood *x = a, *y = b;
    return (x->sink > y->sink) - (x->sink < y->sink);
}

static int by_mass(const void *a, const void *b)
{
    const struct brood *x = a, *y = b;
    if (x->dmf != y->dmf) return x->dmf > y->dmf ? 1 : -1;
    return by_sink(a, b);
}

/* All ranks get the broods of all sinks. all: how many there are on all ranks. */
static struct brood *share(const struct sink_run *s, const struct brood *own, int64_t n,
                           int64_t all)
{
    struct brood *at = mem_new(sizeof *at * (size_t)(all + n) + 1, "stellar objects");
    for (int64_t i = 0; i < n; i++) at[i] = own[i];
    comm_union(s->comm, n, all, sizeof *at, at, 0, NULL);
    return at;
}

/* Takes the mass of n objects from a sink. */
static void take(struct sink *a, const struct stellar_law *law, int64_t n)
{
    for (int64_t i = 0; i < n; i++) a->dmf -= law->threshold;
    a->made += n;
}

/* Objects that a sink can make by itself, at most max + 1. */
static int64_t ready(const struct sink *a, const struct stellar_law *law, int64_t max)
{
    int64_t n = 0;
    for (double left = a->dmf; left > law->threshold && n <= max; n++) left -= law->threshold;
    return n;
}

/* The k-th sink of `all` in the order of accreted mass makes this many of n objects: those with
 * most mass make one more. */
static int64_t part_of(int64_t k, int64_t all, int64_t n)
{
    return n / all + (k >= all - n % all);
}

/* Broods by the accreted mass of each sink. total[0..1]: broods and objects on all ranks. */
static struct brood *local(const struct sink_run *s, const struct stellar_law *law,
                           int64_t total[2])
{
    const struct sinks *t = &s->sinks->table;
    struct brood *own = mem_new(sizeof *own * (size_t)t->n + 1, "stellar objects");
    int64_t n = 0;
    total[0] = total[1] = 0;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t k = ready(&t->at[i], law, s->par->stellar.nstellarmax);
        total[1] += k;
        if (k) own[n++] = (struct brood){t->at[i].id, t->at[i].made, k, t->at[i].dmf};
    }
    total[0] = n;
    comm_add_i64(s->comm, total, 2);
    struct brood *at = NULL;
    if (total[0] && total[1] <= s->par->stellar.nstellarmax) {
        at = share(s, own, n, total[0]);
        mem_sort(at, (size_t)total[0], sizeof *at, by_sink);
    }
    FREE(own);
    return at;
}

/* Broods by the accreted mass of all sinks together. */
static struct brood *global(const struct sink_run *s, const struct stellar_law *law,
                            int64_t total[2])
{
    const struct sinks *t = &s->sinks->table;
    struct sum sum;
    sum_init(&sum);
    for (int64_t i = 0; i < t->n; i++) sum_add(&sum, t->at[i].dmf);
    comm_sum(s->comm, &sum);
    double all = floor(sum_get(&sum) / law->threshold);
    total[0] = t->total;
    total[1] = all >= 1 ? (int64_t)fmin(all, 0x1p40) : 0;
    if (total[1] == 0 || total[1] > s->par->stellar.nstellarmax) return NULL;
    struct brood *own = mem_new(sizeof *own * (size_t)t->n + 1, "stellar objects");
    for (int64_t i = 0; i < t->n; i++)
        own[i] = (struct brood){t->at[i].id, t->at[i].made, 0, t->at[i].dmf};
    struct brood *at = share(s, own, t->n, t->total);
    FREE(own);
    mem_sort(at, (size_t)t->total, sizeof *at, by_mass);
    for (int64_t k = 0; k < t->total; k++) at[k].n = part_of(k, t->total, total[1]);
    return at;
}

static enum err check_room(const struct sink_run *s, const struct stellar *k, int64_t born)
{
    int64_t max = s->par->stellar.nstellarmax;
    if (k->n + born > max)
        FAIL(ERR_LIMIT,
             "%ld or more new stellar objects beside %ld would be more than nstellarmax=%ld of "
             "&STELLAR_PARAMS: raise nstellarmax, or stellar_msink_th",
             (long)born, (long)k->n, (long)max);
    return OK;
}

/* Mass of the n-th object of the run: that of mstellarini, unless it is 0, or a random one. */
static double mass_of(const struct sink_run *s, const struct stellar_law *law, int64_t nth,
                      const struct stellar_object *o)
{
    const struct param_stellar *p = &s->par->stellar;
    int64_t given = (int64_t)(sizeof p->mstellarini / sizeof *p->mstellarini);
    double mass = nth < given ? p->mstellarini[nth] : 0;
    return mass > 0 ? mass * RAMSES_MSUN / s->units.mass : stellar_draw(law, o->born_in, o->number);
}

static void tell(const struct sink_run *s, const struct stellar_object *o)
{
    if (!s->par->stellar.stellar_info) return;
    log_info(" Stellar object %ld of sink %ld: mass=%11.5E solar masses, lifetime=%11.5E Myr",
             (long)o->number + 1, (long)o->sink, o->mass * s->units.mass / RAMSES_MSUN,
             o->life * s->units.time / CGS_MYR);
}

static void append(const struct sink_run *s, struct stellar *k, const struct stellar_law *law,
                   const struct brood *b, int64_t *nth)
{
    for (int64_t i = 0; i < b->n; i++) {
        struct stellar_object *o = stellar_add(k, 1);
        *o = (struct stellar_object){
            .sink = b->sink, .born_in = b->sink, .number = b->first + i, .birth = s->t};
        o->mass = mass_of(s, law, (*nth)++, o);
        o->life = stellar_life(law, o->mass);
        tell(s, o);
    }
}

/* Number of objects that all sinks have made so far. */
static int64_t made(const struct sink_run *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->sinks->table.n; i++) n += s->sinks->table.at[i].made;
    comm_add_i64(s->comm, &n, 1);
    return n;
}

enum err stellar_births(const struct sink_run *s, struct stellar *k, const struct stellar_law *law)
{
    struct sinks *t = &s->sinks->table;
    bool alone = strcmp(s->par->stellar.stellar_strategy, "local") == 0;
    int64_t total[2];
    struct brood *at = alone ? local(s, law, total) : global(s, law, total);
    if (total[1] == 0) {
        FREE(at);
        return OK;
    }
    enum err err = check_room(s, k, total[1]);
    int64_t nth = err == OK ? made(s) : 0;
    for (int64_t i = 0; i < total[0] && err == OK; i++) append(s, k, law, &at[i], &nth);
    if (err == OK) mem_sort(at, (size_t)total[0], sizeof *at, by_sink);
    for (int64_t i = 0; i < t->n && err == OK; i++) {
        const struct brood *mine = mem_find(&(struct brood){.sink = t->at[i].id}, at,
                                            (size_t)total[0], sizeof *at, by_sink);
        if (mine) take(&t->at[i], law, mine->n);
    }
    FREE(at);
    return err;
}
