/* sim/forecast: memory and time of a run, predicted from headers alone (simulate -n).
 *
 * The octs of each level are those of the complete levels, of the files of initial conditions, or
 * of the checkpoint. Ghosts of a complete level are a layer of octs around the box of a rank; a
 * level that fills a part of space has that part of them. Arrays that live from step to step are
 * these octs and the particles times the bytes of mesh_bytes and part_bytes; on top comes the phase
 * that takes most. The constants below are what runs have been seen to hold, by the names of
 * base/mem; tests/phys/forecast.py compares with runs. Refinement to come is not known. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "ckpt/batch.h"
#include "io/table.h"
#include "patch/reflux.h"
#include "sim/solver.h"

/* Memory in bytes: TRAVEL of a particle in an exchange; MULTIGRID of an oct in the multigrid
 * solver; TILE of an oct in the lists of the Godunov step; POINT of a point of a Fourier transform;
 * BATCH of a batch of values, per variable; FILES, WRITING of the buffers of RAMSES files; THREAD
 * of a thread in the Godunov step; MPI of the MPI libraries with several ranks. */
static const double TRAVEL = 81 + 89, MULTIGRID = 368, TILE = 12, POINT = 17.2,
                    BATCH = 64.0 * CKPT_PITCH, FILES = 12.6e6, WRITING = 10.6e6, THREAD = 1.7e6,
                    MPI = 18e6;
/* Fraction of the octs of finer levels that lie at a coarse–fine boundary. */
static const double AT_BOUNDARY = 0.5;

enum { ROWS = 24 };

/* Bytes of all ranks by name: permanent, and in the phase that needs most memory. */
struct row {
    const char *name;
    double always, more;
};

struct forecast {
    int ranks;
    /* octs of a rank by level, without and with ghosts */
    double own[LEVEL_MAX + 2], here[LEVEL_MAX + 2];
    double particles; /* particles of a rank */
    int nrow;
    struct row row[ROWS];
    double held, resident;
    double updates, each; /* cell updates in a coarse step; microseconds of a rank per update */
    const char *source;   /* source of `each` */
    double steps;         /* coarse steps until the end; 0: not known */
};

/* ---- octs ---- */

/* Octs of a complete level in the box of a rank and in a layer around it, relative to the octs in
 * the box. */
static double with_layer(int ndim, int ranks, int l)
{
    double side[3], whole = ldexp(1, l - 1), in = 1, out = 1;
    for (int d = 0; d < ndim; d++) side[d] = whole;
    for (int n = ranks, f = 2; n > 1; n /= f) {
        int axis = 0;
        for (f = 2; n % f && f * f <= n;) f++;
        if (n % f) f = n;
        for (int d = 1; d < ndim; d++)
            if (side[d] > side[axis]) axis = d;
        side[axis] /= f;
    }
    for (int d = 0; d < ndim; d++) {
        in *= side[d];
        out *= fmin(whole, side[d] < whole ? side[d] + 2 : whole);
    }
    return out / in;
}

static void count_octs(const struct sim *s, struct forecast *f)
{
    double parents = 1;
    for (int l = 1; l <= s->mesh.levelmax; l++) {
        f->own[l] = (double)s->amr.noct[l] / f->ranks;
        f->here[l] = f->own[l] * with_layer(s->mesh.ndim, f->ranks, l);
        f->updates += l == s->mesh.levelmin ? s->mesh.cells * (double)s->amr.noct[l] : 0;
        if (l <= s->mesh.levelmin) continue;
        parents *= s->time.nsubcycle[l - 1];
        f->updates += (s->mesh.cells - 1) * (double)s->amr.noct[l] * parents;
    }
    f->particles = (double)s->diag.particles / f->ranks;
}

static double sum_from(const double x[LEVEL_MAX + 2], int min)
{
    double sum = 0;
    for (int l = min; l < LEVEL_MAX + 2; l++) sum += x[l];
    return sum;
}

static double max_of(const double x[LEVEL_MAX + 2])
{
    double max = 0;
    for (int l = 1; l < LEVEL_MAX + 2; l++) max = fmax(max, x[l]);
    return max;
}

/* ---- bytes ---- */

static struct row *row_of(struct forecast *f, const char *name)
{
    int i = 0;
    while (i < f->nrow && strcmp(f->row[i].name, name) != 0) i++;
    BUG_ON(i == ROWS);
    if (i == f->nrow) f->row[f->nrow++] = (struct row){.name = name};
    return &f->row[i];
}

static void always(struct forecast *f, const char *name, double bytes_of_rank)
{
    row_of(f, name)->always += bytes_of_rank * f->ranks;
}

/* Photons that transport replaces on one level. */
static double light_bytes(const struct sim *s, const struct forecast *f)
{
    return max_of(f->own) * 64 * s->mesh.nphoton;
}

/* Registers of photons, and with rt_smooth their values before the last transport. */
static void light_lasting(const struct sim *s, struct forecast *f, double fine)
{
    const struct mesh *m = &s->mesh;
    if (m->nphoton == 0) return;
    always(f, "hydro tile scratch", THREAD * omp_get_max_threads());
    always(f, "hydro reflux",
           fine * (AT_BOUNDARY * (double)reflux_oct_bytes(m->ndim, m->nphoton, 0) + sizeof(lidx)));
    if (s->phys.rt->smooth) always(f, "mesh gas", light_bytes(s, f));
}

static void lasting(const struct sim *s, struct forecast *f)
{
    const struct mesh *m = &s->mesh;
    struct mesh_bytes b = mesh_bytes(mesh_kind(m));
    double octs = sum_from(f->here, 1), fine = sum_from(f->here, m->levelmin + 1);
    always(f, "mesh links", octs * (double)b.links);
    always(f, "mesh hash", octs * (double)b.hash);
    always(f, "mesh gas", octs * (double)b.gas);
    always(f, "mesh gravity", octs * (double)b.gravity);
    always(f, "mesh radiation", octs * (double)b.radiation);
    always(f, "gas moments", fine * (double)b.moments);
    if (m->hydro)
        always(f, "hydro reflux",
               fine * AT_BOUNDARY *
                       (double)reflux_oct_bytes(m->ndim, sim_reflux_nflux(s), sim_reflux_edges(s)) +
                   fine * (double)sizeof(lidx));
    light_lasting(s, f, fine);
    if (s->par->run.pic) {
        double sort = PART_SCRATCH_BYTES;
        always(f, "particles", f->particles * ((double)part_bytes(&s->parts.columns) - sort));
        if (m->gravity || s->amr.noct[m->levelmin + 1] > 0)
            always(f, "particle sort", f->particles * sort);
    }
    double layer = 0;
    for (int l = 1; l <= m->levelmax; l++) layer = fmax(layer, f->here[l] - f->own[l]);
    if (s->par->run.exchange_shared)
        always(f, "exchange window", layer * 64 * (m->nvar + (m->gravity ? 8 : 1)));
    if (s->phys.turb) always(f, "turbulence", (double)turb_bytes(s->phys.turb));
    always(f, "parameters and tables", (double)mem_now());
}

/* Memory that a phase needs in addition to permanent arrays, on one rank, by name. */
struct phase_rows {
    int n;
    struct row row[6];
};

static void add(struct phase_rows *p, const char *name, double bytes)
{
    if (bytes > 0) p->row[p->n++] = (struct row){.name = name, .more = bytes};
}

static double total(const struct phase_rows *p)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++) sum += p->row[i].more;
    return sum;
}

static struct phase_rows godunov(const struct sim *s, const struct forecast *f)
{
    struct phase_rows p = {.n = 0};
    if (!s->mesh.hydro) return p;
    double octs = max_of(f->own);
    add(&p, "mesh gas", octs * 64 * s->mesh.nvar);
    add(&p, "hydro tiles", octs * TILE);
    add(&p, "hydro tile scratch", THREAD * omp_get_max_threads());
    return p;
}

static struct phase_rows radiation(const struct sim *s, const struct forecast *f)
{
    struct phase_rows p = {.n = 0};
    if (s->mesh.nphoton == 0) return p;
    if (!s->phys.rt->smooth) add(&p, "mesh gas", light_bytes(s, f));
    add(&p, "hydro tiles", max_of(f->own) * TILE);
    return p;
}

static struct phase_rows gravity(const struct sim *s, const struct forecast *f)
{
    const struct mesh *m = &s->mesh;
    struct phase_rows deposit = {.n = 0}, fft = {.n = 0}, multigrid = {.n = 0};
    if (!m->gravity) return deposit;
    bool whole = !m->bounded[0] && !m->bounded[2] && !m->bounded[4] &&
                 m->levelmin >= s->phys.grav.fft_levelmin;
    double fine = 0;
    for (int l = m->levelmin + whole; l <= m->levelmax; l++) fine = fmax(fine, f->here[l]);
    add(&deposit, "deposit",
        max_of(f->here) * 64 * (s->par->refine.m_refine[0] > -1 ? 2 + m->hydro : 1));
    if (whole) add(&fft, "fft", 8 * f->own[m->levelmin] * POINT);
    add(&multigrid, "multigrid", fine * MULTIGRID);
    struct phase_rows *max = total(&deposit) > total(&fft) ? &deposit : &fft;
    return total(&multigrid) > total(max) ? multigrid : *max;
}

/* A RAMSES-binary checkpoint is written by Hilbert domains: octs, then particles travel to them. */
static struct phase_rows output(const struct sim *s, const struct forecast *f)
{
    struct phase_rows files = {.n = 0}, octs = {.n = 0}, parts = {.n = 0}, *max = &files;
    double away = 1 - 1.0 / f->ranks;
    struct mesh_bytes b = mesh_bytes(mesh_kind(&s->mesh));
    double moved = sum_from(f->own, 1) * away * (double)(b.gas + b.gravity + b.radiation + b.links);
    bool ramses = strcmp(s->par->output.outformat, "hdf5") != 0;
    add(&files, "checkpoint", WRITING);
    if (ramses || f->ranks > 1) add(&files, ramses ? "file buffer" : "order", FILES);
    add(&octs, "moving octs", moved);
    add(&octs, "exchange", moved);
    add(&parts, "particles", f->particles * away * (double)part_bytes(&s->parts.columns));
    add(&parts, "particle exchange", f->particles * away * TRAVEL);
    if (ramses && total(&octs) > total(max)) max = &octs;
    return total(&parts) > total(max) ? parts : *max;
}

static struct phase_rows reading(const struct sim *s, const struct forecast *f)
{
    const struct source *from = s->run.restart.from;
    struct phase_rows p = {.n = 0};
    const field_set set = fields_written(mesh_kind(&s->mesh));
    double values = s->mesh.nvar + fields_count(set, FILE_HYDRO, s->mesh.ndim) +
                    fields_count(set, FILE_GRAVITY, s->mesh.ndim) +
                    photons_count(s->mesh.nphoton, s->mesh.ndim);
    if (!from) return p;
    double readers = fmin(1, (double)from->npiece / f->ranks);
    add(&p, "snapshot batch", BATCH * (12 + (values + 6) * readers));
    add(&p, "restart", 2 * fmin(CKPT_BATCH, max_of(f->own)) * 64 * values * readers);
    return p;
}

static void bytes(const struct sim *s, struct forecast *f)
{
    lasting(s, f);
    struct phase_rows phase[] = {godunov(s, f), radiation(s, f), gravity(s, f), output(s, f),
                                 reading(s, f)},
                      *max = phase;
    for (size_t i = 1; i < sizeof phase / sizeof *phase; i++)
        if (total(&phase[i]) > total(max)) max = &phase[i];
    for (int i = 0; i < max->n; i++)
        row_of(f, max->row[i].name)->more += f->ranks * max->row[i].more;
    for (int i = 0; i < f->nrow; i++) f->held += f->row[i].always + f->row[i].more;
    double rss = (double)mem_rss() - (double)mem_now();
    if (s->comm.size == 1 && f->ranks > 1) rss += MPI;
    f->resident = f->held + f->ranks * rss;
}

/* ---- seconds ---- */

static bool number_at(const char *line, const char *key, double *x)
{
    const char *at = strstr(line, key);
    if (at) *x = strtod(at + strlen(key), NULL);
    return at != NULL;
}

static enum err read_profile(struct table *t, double *each)
{
    double first[2] = {0}, last[2] = {0}, now[2], ranks = 0, step, before = 0;
    for (bool got;;) {
        TRY(table_next(t, &got));
        if (!got) break;
        if (!number_at(t->at, "\"step\":", &step) || !number_at(t->at, "\"wall_s\":", &now[0]) ||
            !number_at(t->at, "\"updates\":", &now[1]) || !number_at(t->at, "\"ranks\":", &ranks))
            continue;
        if (step <= before || before == 0) memcpy(first, now, sizeof first);
        memcpy(last, now, sizeof last);
        before = step;
    }
    if (!(last[1] > first[1] && last[0] > first[0]))
        FAIL(ERR_FORMAT,
             "%s: contains fewer than two coarse steps: give a file that simulate -j wrote",
             t->path);
    *each = 1e6 * ranks * (last[0] - first[0]) / (last[1] - first[1]);
    return OK;
}

/* Microseconds per update from the coarse steps of the last run in a file of simulate -j. Rank
 * 0. */
static enum err from_profile(const char *path, double *each)
{
    enum { BYTES_MAX = 1 << 30 };
    struct table t;
    TRY(table_open(&t, path, 0, BYTES_MAX));
    enum err err = read_profile(&t, each);
    table_close(&t);
    return err;
}

static double from_documents(const struct params *p)
{
    double cooling = p->run.hydro && p->physics.cooling ? 0.09 : 0;
    /* one sub-step of photons, with their chemistry */
    if (param_radiates(p)) cooling = 0.2 * param_photon_groups(p);
    if (p->run.hydro && p->run.pic) return 0.40 + cooling;
    if (p->run.hydro && p->run.poisson) return 0.33 + cooling;
    return p->run.hydro ? 0.15 + cooling : 0.20;
}

/* Coarse steps until the end, from nstepmax and, for a restart, from its time step. */
static double steps_left(const struct sim *s)
{
    const struct params *p = s->par;
    int last = s->run.out.noutput - 1;
    double steps = param_given(p, "run", "nstepmax") ? p->run.nstepmax - s->time.nstep_coarse : 0,
           dt = s->time.dtnew[s->mesh.levelmin];
    if (!s->run.restart.from || last < 0 || !(dt > 0)) return steps;
    double end = s->run.out.tout[last], a = s->run.out.aout[last];
    if (s->phys.cosmo && a <= 1) end = fmin(end, cosmo_tau(s->phys.cosmo, a));
    if (end < 1e300 && (steps == 0 || (end - s->time.t) / dt < steps))
        steps = ceil((end - s->time.t) / dt);
    return steps;
}

static enum err seconds(const struct sim *s, const char *like, struct forecast *f)
{
    static const char key[] = "cost: ";
    const char *at = s->run.out.before;
    while (at && strncmp(at, key, sizeof key - 1) != 0)
        at = (at = strchr(at, '\n')) && at[1] ? at + 1 : NULL;
    f->steps = steps_left(s);
    f->source = like ? like : at ? "the run of the checkpoint" : "docs/performance.md";
    if (like) return from_profile(like, &f->each);
    const char *each = at ? at + sizeof key - 1 : "";
    if (!text_real(&each, &f->each)) f->each = 0;
    if (!(f->each > 0)) f->each = from_documents(s->par);
    return OK;
}

/* ---- report ---- */

static double step_seconds(const struct forecast *f)
{
    return f->updates * f->each / 1e6 / f->ranks;
}

static void tell(const struct sim *s, const struct forecast *f)
{
    log_info(" Forecast for %d rank%s. Later refinement and load imbalance cannot be predicted",
             f->ranks, f->ranks > 1 ? "s" : "");
    for (int l = 1; l <= s->mesh.levelmax; l++)
        if (s->amr.noct[l] && (l >= s->mesh.levelmin || l == 1))
            log_info(" Level %2d has %10ld octs%s", l, (long)s->amr.noct[l],
                     l > s->mesh.levelmin && !s->run.restart.from ? " at most" : "");
    if (s->par->run.pic) log_info(" %ld particles", (long)s->diag.particles);
    log_info(" Memory of all ranks, MB: between steps, and in addition at the peak");
    for (int i = 0; i < f->nrow; i++)
        log_info("   %-22s %12.1f %12.1f", f->row[i].name, f->row[i].always / 1e6,
                 f->row[i].more / 1e6);
    log_info(" Memory at the peak: %.1f MB held by name, %.1f MB resident with libraries; per rank "
             "%.1f and %.1f MB",
             f->held / 1e6, f->resident / 1e6, f->held / 1e6 / f->ranks,
             f->resident / 1e6 / f->ranks);
    log_info(" Time: %.3g s per coarse step: %.3g cell updates, %.2f microseconds per update and "
             "rank (%s)",
             step_seconds(f), f->updates, f->each, f->source);
    if (f->steps > 0)
        log_info(" Time: %.3g s for the remaining %.0f coarse steps, if their cost stays the same",
                 f->steps * step_seconds(f), f->steps);
}

static void put(FILE *out, const struct sim *s, const struct forecast *f)
{
    fprintf(out, "{\"forecast\":true,\"ranks\":%d,\"octs\":[", f->ranks);
    for (int l = 1; l <= s->mesh.levelmax; l++)
        fprintf(out, "%s%ld", l > 1 ? "," : "", (long)s->amr.noct[l]);
    fprintf(out, "],\"particles\":%ld,\"peak_bytes\":%.0f,\"peak_rss_bytes\":%.0f,",
            (long)s->diag.particles, f->held, f->resident);
    fputs("\"memory_bytes\":{", out);
    for (int i = 0; i < f->nrow; i++)
        fprintf(out, "%s\"%s\":[%.0f,%.0f]", i ? "," : "", f->row[i].name,
                f->row[i].always + f->row[i].more, f->row[i].always);
    fprintf(out, "},\"updates\":%.17g,\"us_per_update\":%.6g,\"step_s\":%.6g,\"steps\":%.0f}\n",
            f->updates, f->each, step_seconds(f), f->steps);
}

/* Says if the last output lies before the beginning, so that the run ends at once. */
static void warn_end(const struct sim *s)
{
    const int n = s->run.out.noutput;
    const double a = n > 0 ? s->run.out.aout[n - 1] : DBL_MAX;
    if (!s->par->run.cosmo || a > s->time.aexp) return;
    log_info("WARNING: the last output, aout=%g, does not lie after the beginning, a=%g: the run "
             "ends at once",
             a, s->time.aexp);
}

enum err sim_forecast(struct sim *s, int ranks, const char *like)
{
    struct forecast f = {.ranks = ranks};
    if (s->run.solver->start) return OK; /* which has said what it needs */
    count_octs(s, &f);
    bytes(s, &f);
    TRY(err_agree(&s->comm, s->comm.rank == 0 ? seconds(s, like, &f) : OK));
    tell(s, &f);
    warn_end(s);
    TRY(sim_profile_begin(s));
    if (s->run.cost.profile) put(s->run.cost.profile, s, &f);
    return sim_profile_close(s);
}
