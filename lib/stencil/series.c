/* stencil/series: time_series.txt in the directory of outputs, a row every diag_every steps, with
 * the names that the Pencil Code has: means, root mean squares and extrema over the box. Sums are
 * exact, so that the text depends on neither ranks nor restarts. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "observe/series.h"
#include "stencil/run.h"

static const char NAME[] = "time_series.txt";

/* The columns behind it, t and dt: means and root mean squares of exact sums; extrema. */
enum kind { MEAN, RMS, EXTREME };
struct column {
    const char *name;
    enum kind kind;
    int what; /* enum fd_sum, or offset of the extreme in struct fd_totals */
};
#define AT(member) (int)offsetof(struct fd_totals, member)
static const struct column COLUMN[] = {
    {"urms", RMS, FD_SUM_U2},    {"umax", EXTREME, AT(umax)},     {"brms", RMS, FD_SUM_B2},
    {"bmax", EXTREME, AT(bmax)}, {"jrms", RMS, FD_SUM_J2},        {"orms", RMS, FD_SUM_O2},
    {"rhom", MEAN, FD_SUM_RHO},  {"rhomin", EXTREME, AT(rhomin)}, {"rhomax", EXTREME, AT(rhomax)},
    {"ssm", MEAN, FD_SUM_S},     {"ekin", MEAN, FD_SUM_EKIN},     {"emag", MEAN, FD_SUM_EMAG},
    {"oum", MEAN, FD_SUM_OU},    {"abm", MEAN, FD_SUM_AB},        {"jbm", MEAN, FD_SUM_JB},
};
enum { COLUMNS = sizeof COLUMN / sizeof *COLUMN };

static void path_of(const struct sim *s, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.4000s/%s", s->run.out.dir, NAME);
}

/* ---- the file ---- */

static void names(char text[512])
{
    int n = snprintf(text, 512, "#--it--t--dt");
    for (int i = 0; i < COLUMNS; i++)
        n += snprintf(text + n, 512 - (size_t)n, "--%s", COLUMN[i].name);
    snprintf(text + n, 512 - (size_t)n, "\n");
}

enum err stencil_series_begin(struct sim *s, const struct stencil *t, int64_t it)
{
    char path[PATH_MAX], text[512];
    path_of(s, path);
    names(text);
    if (t->par->stencil.diag_every == 0 || s->run.end.done) return OK;
    return err_agree(t->comm, t->comm->rank == 0 ? series_begin(path, text, it) : OK);
}

/* ---- a row ---- */

bool stencil_series_due(const struct stencil *t, int64_t it)
{
    const int every = t->par->stencil.diag_every;
    return every > 0 && it % every == 0;
}

/* Sums and extrema of all ranks. */
static void measure(const struct stencil *t, struct fd_totals *all)
{
    fd_totals(&t->eq, &t->brick, t->a.now, all);
    double max[] = {all->umax, all->bmax, all->rhomax};
    comm_sums(t->comm, all->sum, FD_SUMS);
    comm_max_f64(t->comm, max, 3);
    comm_min_f64(t->comm, &all->rhomin, 1);
    all->umax = max[0], all->bmax = max[1], all->rhomax = max[2];
}

static double value(const struct column *c, const struct fd_totals *all, double cells)
{
    if (c->kind == EXTREME) return *(const double *)((const char *)all + c->what);
    const double mean = sum_get(&all->sum[c->what]) / cells;
    return c->kind == RMS ? sqrt(mean) : mean;
}

enum err stencil_series_row(struct sim *s, const struct stencil *t, int64_t it, double dt)
{
    char path[PATH_MAX];
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
    double row[2 + COLUMNS] = {s->time.t, dt}, *v = row + 2, sum = dt;
    struct fd_totals *all = mem_zero(sizeof *all, "time series");
    measure(t, all);
    for (int i = 0; i < COLUMNS; i++) sum += v[i] = value(&COLUMN[i], all, cells);
    mem_free(all);
    if (!isfinite(sum)) {
        s->run.end.broken = true;
        return OK;
    }
    log_info(" Step=%7ld t=%12.5E dt=%10.3E urms=%10.3E umax=%10.3E brms=%10.3E ekin=%10.3E "
             "emag=%10.3E",
             (long)it, s->time.t, dt, v[0], v[1], v[2], v[10], v[11]);
    path_of(s, path);
    return err_agree(t->comm, t->comm->rank == 0 ? series_append(path, it, 2 + COLUMNS, row) : OK);
}
