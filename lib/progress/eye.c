/* progress/eye: the file of a run, looked at again and again. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "progress/progress.h"

static const double PATIENCE = 10, PATIENCE_MIN_S = 120, SEEN_S = 30;

enum err progress_look(struct progress_eye *e, bool *news)
{
    struct progress p;
    bool there;
    double age = 0;
    memset(&p, 0, sizeof p);
    if (news) *news = false;
    TRY(progress_read(e->dir, &p, &there, &age));
    if (!there) return OK;
    const bool same = e->found && p.pid == e->p.pid && p.elapsed == e->p.elapsed &&
                      p.state == e->p.state;
    if (same) return OK;
    e->found = true;
    e->p = p;
    e->changed = timer_wall();
    e->age = fmax(age, 0);
    if (news) *news = true;
    return OK;
}

double progress_since(const struct progress_eye *e)
{
    return timer_wall() - e->changed + e->age;
}

bool progress_is_lost(const struct progress_eye *e)
{
    const double limit = fmax(PATIENCE_MIN_S, PATIENCE * e->p.heard_s);
    if (!e->found || e->p.state > PROGRESS_RUNS) return false;
    return progress_is_gone(&e->p) ||
           (progress_since(e) > limit && timer_wall() - e->begun > fmin(SEEN_S, limit));
}

bool progress_is_over(const struct progress_eye *e)
{
    return e->found && (e->p.state > PROGRESS_RUNS || progress_is_lost(e));
}
