/* observe: the table of observers; see observe.h. */
#include "observe/observe.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "clump/clump.h"
#include "io/file.h"

#define OBSERVER(name) extern const struct observer observer_##name;
#include "observe/observers.def"

static const struct observer *const OBSERVERS[] = {
#define OBSERVER(name) &observer_##name,
#include "observe/observers.def"
};
enum { NOBSERVER = sizeof OBSERVERS / sizeof *OBSERVERS };
_Static_assert((int)NOBSERVER <= OBSERVERS_MAX, "a set of observers has 64 bits");

/* Coarse steps between tables of an observer that else runs at outputs; 0: it runs there alone. */
static int every(const struct observer *b, const struct params *p)
{
    return b->every && !(b->when & OBSERVE_STEP) ? b->every(p) : 0;
}

observer_set observers_wanted(const struct params *p, int when)
{
    observer_set set = 0;
    for (int i = 0; i < NOBSERVER; i++)
        if (((OBSERVERS[i]->when & when) || (when == OBSERVE_STEP && every(OBSERVERS[i], p) > 0)) &&
            OBSERVERS[i]->wanted(p))
            set |= (observer_set)1 << i;
    return set;
}

static bool is_due(const struct observation *o, const struct observer *b, int when)
{
    const int period = when == OBSERVE_STEP ? every(b, o->par) : 0;
    if (period > 0 && o->head->nstep_coarse % period != 0) return false;
    return !b->due || b->due(o);
}

observer_set observers_due(const struct observation *o, int when)
{
    observer_set set = observers_wanted(o->par, when);
    for (int i = 0; i < NOBSERVER; i++)
        if ((set >> i & 1) && !is_due(o, OBSERVERS[i], when)) set &= ~((observer_set)1 << i);
    return set;
}

static bool is_missing(const struct observation *o, const struct observer *b)
{
    char path[PATH_MAX];
    int64_t exists = o->comm->rank == 0 && observe_path(o, b->table, b->step_table, path) == OK &&
                     file_exists(path);
    comm_max_i64(o->comm, &exists, 1);
    return !exists;
}

observer_set observers_missing(const struct observation *o)
{
    observer_set due = observers_due(o, OBSERVE_OUTPUT), set = 0;
    for (int i = 0; i < NOBSERVER; i++)
        if (due >> i & 1 && OBSERVERS[i]->table != FILES_KINDS && is_missing(o, OBSERVERS[i]))
            set |= (observer_set)1 << i;
    return set;
}

static enum err check_all(const struct observation *o)
{
    for (int i = 0; i < NOBSERVER; i++)
        if (OBSERVERS[i]->check && OBSERVERS[i]->wanted(o->par)) TRY(OBSERVERS[i]->check(o));
    return OK;
}

enum err observers_check(const struct observation *o)
{
    return err_agree(o->comm, o->comm->rank == 0 ? check_all(o) : OK);
}

field_set observers_read(observer_set set)
{
    field_set reads = 0;
    for (int i = 0; i < NOBSERVER; i++)
        if (set >> i & 1) reads |= OBSERVERS[i]->reads;
    return reads;
}

static enum err run_all(struct observation *o, observer_set set)
{
    for (int i = 0; i < NOBSERVER; i++) {
        if (!(set >> i & 1)) continue;
        const double begin = timer_wall();
        timer_start(OBSERVERS[i]->name);
        TRY(OBSERVERS[i]->run(o));
        if (!o->cost) continue;
        o->cost[i].calls++;
        o->cost[i].seconds += timer_wall() - begin;
    }
    return OK;
}

void observers_report(const struct observer_cost cost[OBSERVERS_MAX], double seconds)
{
    for (int i = 0; i < NOBSERVER; i++) {
        const struct observer_cost *c = &cost[i];
        if (c->calls > 0)
            log_info(" Observer %s: %ld times, %.3g s, %.2f %% of the run", OBSERVERS[i]->name,
                     (long)c->calls, c->seconds, seconds > 0 ? 100 * c->seconds / seconds : 0);
    }
}

enum err observers_run(struct observation *o, observer_set set)
{
    enum err err = run_all(o, set);
    if (o->found) clumps_free(o->found);
    FREE(o->found);
    return err;
}
