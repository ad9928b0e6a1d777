/* inspect: --campaign --follow prints the table of each run again whenever a checkpoint has
 * appeared, and how far the runs are (progress/progress.h), until all have ended. Tables go to
 * standard output, the rest to standard error: a live line on a terminal, otherwise a line each ten
 * seconds. Only checkpoints that have changed are looked at again. */
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "formats/formats.h"
#include "io/temp.h"
#include "page.h"
#include "progress/progress.h"

struct followed {
    struct progress_eye eye;
    struct campaign campaign;
    bool waited, over; /* it was said that no run has begun, or how it ended */
    double shown;      /* timer_wall of the last line */
};

static void say(const char *dir, const struct progress_eye *e)
{
    char line[PROGRESS_COLUMNS + 1];
    progress_line(&e->p, e->p.state == PROGRESS_RUNS ? progress_since(e) : 0, PROGRESS_COLUMNS,
                  line, sizeof line);
    log_line(e->p.state > PROGRESS_ENDED ? -1 : 0, "%s: %s%s%s", dir, line,
             *e->p.message ? ": " : "", e->p.message);
}

/* The end of a run as an exit status. */
static int end_of(const struct progress_eye *e)
{
    static const int status[PROGRESS_STATES] = {[PROGRESS_STARTS] = NO,
                                                [PROGRESS_RUNS] = NO,
                                                [PROGRESS_ENDED] = DONE,
                                                [PROGRESS_STOPPED] = STOPPED,
                                                [PROGRESS_FAILED] = TROUBLE};
    return status[e->p.state];
}

static void tell(struct followed *f, bool news)
{
    const double now = timer_wall();
    if (f->over || (!f->eye.found && f->waited)) return;
    if (!f->eye.found) {
        log_info("%s: no run has begun yet; waiting for its " PROGRESS_FILE, f->eye.dir);
        f->waited = true;
    } else if (progress_is_over(&f->eye)) {
        f->over = true;
        say(f->eye.dir, &f->eye);
        if (progress_is_lost(&f->eye))
            log_line(-1, "%s: the run has died without a word: continue it by simulate -r",
                     f->eye.dir);
    } else if (news && !progress_columns() && now - f->shown >= PROGRESS_PLAIN_S) {
        f->shown = now;
        say(f->eye.dir, &f->eye);
    }
}

/* The live line: that of the first run that goes on. */
static void draw(const struct followed *f, int n)
{
    char line[PROGRESS_COLUMNS + 1];
    const int columns = progress_columns();
    while (n > 0 && (!f->eye.found || f->over)) f++, n--;
    if (!columns || n == 0) return;
    progress_line(&f->eye.p, progress_since(&f->eye),
                  columns < PROGRESS_COLUMNS ? columns : PROGRESS_COLUMNS, line, sizeof line);
    log_live("%s", line);
}

/* Looks at a run again. Its last checkpoint is complete before the file says that it has ended. */
static enum err look(struct followed *f, const struct options *o, bool first)
{
    bool news, grown = false;
    int status; /* worst() finds it */
    TRY(progress_look(&f->eye, &news));
    if (f->over && !news) return OK;
    f->over &= !news; /* it was started again */
    if (f->eye.found || access(f->eye.dir, F_OK) == 0) TRY(campaign_renew(&f->campaign, o, &grown));
    if (grown || (first && f->campaign.n > 0)) {
        log_live(NULL);
        if (o->npath > 1 && !o->json && !o->quiet) printf("# %s\n", f->eye.dir);
        TRY(campaign_show(&f->campaign, o, &status));
    }
    tell(f, news);
    return OK;
}

static enum err follow(struct followed *f, const struct options *o)
{
    for (bool first = true, over = false; !over; first = false) {
        over = true;
        for (int i = 0; i < o->npath; i++) {
            TRY(look(&f[i], o, first));
            over &= f[i].over;
        }
        if (!log_stdout_flush()) return OK; /* the end of the program reports it */
        draw(f, o->npath);
        if (!over) usleep(PROGRESS_POLL_US);
    }
    log_live(NULL);
    return OK;
}

/* The worst of all: trouble, no, stopped. */
static int worst(const struct followed *f, const struct options *o)
{
    int status = DONE;
    for (int i = 0; i < o->npath; i++) {
        const int s = end_of(&f[i].eye);
        const bool mild = status == DONE || status == STOPPED;
        for (int k = 0; k < f[i].campaign.n && !o->quiet && mild; k++)
            if (!f[i].campaign.all[k].sound) status = NO;
        if (s == STOPPED ? status == DONE : s != DONE && (s > status || status == STOPPED))
            status = s;
    }
    return status;
}

enum err campaign_follow(const struct options *o, int *status)
{
    struct followed *f = mem_zero(sizeof *f * (size_t)o->npath, "campaign");
    enum err err = o->html ? temp_may_write(o->html, o->force) : OK;
    progress_watch(PROGRESS_AUTO);
    for (int i = 0; i < o->npath; i++) {
        if (err == OK && format_recognise(o->paths[i]))
            err = err_set(
                ERR_PARAM,
                "%s is a checkpoint: --follow needs the run's directory, which contains it",
                o->paths[i]);
        f[i].eye = (struct progress_eye){.dir = o->paths[i], .begun = timer_wall()};
        f[i].campaign.path = o->paths[i];
    }
    if (err == OK) err = follow(f, o);
    if (err == OK) *status = worst(f, o);
    for (int i = 0; i < o->npath; i++) FREE(f[i].campaign.all);
    FREE(f);
    return err;
}
