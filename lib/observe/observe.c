/* observe: the table of observers; see observe.h. */
#include "observe/observe.h"

#include "base/timer.h"
#include "io/file.h"

#define OBSERVER(name) extern const struct observer observer_##name;
#include "observe/observers.def"

static const struct observer *const OBSERVERS[] = {
#define OBSERVER(name) &observer_##name,
#include "observe/observers.def"
};
enum { NOBSERVER = sizeof OBSERVERS / sizeof *OBSERVERS };
_Static_assert((int)NOBSERVER <= 64, "a set of observers has 64 bits");

observer_set observers_wanted(const struct params *p, int when)
{
    observer_set set = 0;
    for (int i = 0; i < NOBSERVER; i++)
        if ((OBSERVERS[i]->when & when) && OBSERVERS[i]->wanted(p)) set |= (observer_set)1 << i;
    return set;
}

observer_set observers_due(const struct observation *o, int when)
{
    observer_set set = observers_wanted(o->par, when);
    for (int i = 0; i < NOBSERVER; i++)
        if ((set >> i & 1) && OBSERVERS[i]->due && !OBSERVERS[i]->due(o))
            set &= ~((observer_set)1 << i);
    return set;
}

static bool is_missing(const struct observation *o, const struct observer *b)
{
    char path[PATH_MAX];
    int64_t exists = o->comm->rank == 0 && observe_path(o, b->table, path) == OK &&
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

field_set observers_read(observer_set set)
{
    field_set reads = 0;
    for (int i = 0; i < NOBSERVER; i++)
        if (set >> i & 1) reads |= OBSERVERS[i]->reads;
    return reads;
}

enum err observers_run(struct observation *o, observer_set set)
{
    for (int i = 0; i < NOBSERVER; i++) {
        if (!(set >> i & 1)) continue;
        timer_start(OBSERVERS[i]->name);
        TRY(OBSERVERS[i]->run(o));
    }
    return OK;
}
