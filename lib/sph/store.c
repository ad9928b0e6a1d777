/* sph/store: checkpoints of the solver (sphfile/sphfile.h): the STATE columns of all particles,
 * point masses, time, the next step, parameters of the equations for programs that derive values,
 * and the times of the next outputs; and initial particles from files. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sph/device.h"
#include "sph/run.h"
#include "sphfile/either.h"

/* Numbers that the next step begins with. */
static const char STEP[] = "dt_allowed", ENERGY[] = "epot";

/* Columns of the table of point masses, the members of struct sph_sink. */
static const char *const SINK[] = {"m",  "x",  "y",     "z",     "vx",    "vy",   "vz",      "ax",
                                   "ay", "az", "spinx", "spiny", "spinz", "racc", "accreted"};
enum { SINK_WIDTH = sizeof SINK / sizeof *SINK };
_Static_assert(sizeof(struct sph_sink) == SINK_WIDTH * sizeof(double), "a column a member");

/* ---- writing ---- */

enum err sph_write(struct sim *s, const struct ckpt_head *h)
{
    struct sph *t = s->run.own;
    TRY(sph_home(t, SMOOTH_ALL));
    struct sphfile_head g = {.n = t->total,
                             .t = s->time.t,
                             .dt = t->dt,
                             .it = s->time.nstep_coarse,
                             .nsink = t->nsink,
                             .sink_width = SINK_WIDTH,
                             .sink_column = SINK,
                             .sink = (double *)t->sink,
                             .namelist = h->namelist,
                             .provenance = h->provenance,
                             .backup = h->backup,
                             .overwrite = h->overwrite};
    sphfile_set_par(&g, &t->eq, t->lo, t->side, t->periodic);
    sphfile_set(&g, STEP, t->dt_next);
    sphfile_set(&g, ENERGY, t->epot);
    onefile_set_next(&g.keys, h);
    return sphfile_write(s->run.out.dir, s->run.out.ifout, &g, t->comm, &t->p, &s->run.late.out);
}

enum err sph_verify(const char *path, int number, const struct comm *c)
{
    struct sphfile *f = NULL;
    uint64_t digest[2];
    TRY(err_agree(c, sphfile_open(path, &f)));
    enum err err = sphfile_digest(f, c, digest); /* reads everything */
    sphfile_close(&f);
    return err;
}

/* ---- reading ---- */

void sph_restart_close(struct sph *t)
{
    sphfile_close(&t->from);
}

/* Compares the parameters of the checkpoint with those of this run. Rank 0. */
static enum err check_model(const struct sim *s, const struct sph *t)
{
    char *text = NULL;
    size_t bytes = 0;
    TRY(sphfile_text(t->from, false, &text, &bytes));
    enum err err = sim_compare_namelist(s, text, bytes, t->from->path);
    mem_free(text);
    return err;
}

enum err sph_restart_open(struct sim *s, struct sph *t, const char *path)
{
    if (!sphfile_is(path))
        FAIL(ERR_PARAM,
             "%s: is no checkpoint of solver='sph' (output_NNNNN with sph_NNNNN.h5): to begin with "
             "the particles of a dump, set setup='file' and init_file in &SPH_PARAMS",
             path);
    TRY(err_agree(t->comm, sphfile_open(path, &t->from)));
    TRY(err_agree(t->comm, sim_restart_from(s, t->from->path, t->from->number)));
    return err_agree(t->comm, t->comm->rank == 0 ? check_model(s, t) : OK);
}

/* This rank's rows of a checkpoint; its owners get them later (swarm_balance). */
static enum err read_rows(struct sph *t, struct sphfile *f)
{
    const int64_t n = f->head.n, ranks = t->comm->size, r = t->comm->rank;
    const int64_t first = n * r / ranks, end = n * (r + 1) / ranks;
    t->total = n;
    return sphfile_read(f, first, end - first, &t->p);
}

/* Point masses by the names of their columns; columns that the table lacks are 0. */
static enum err read_sinks(struct sph *t, const struct sphfile_head *h, const char *path)
{
    if (h->nsink > SPH_SINKS)
        FAIL(ERR_LIMIT, "%s: has %ld point masses, but at most %d are possible", path,
             (long)h->nsink, SPH_SINKS);
    t->nsink = (int)h->nsink;
    mem_free(t->sink);
    t->sink = mem_zero((size_t)(t->nsink + 1) * sizeof *t->sink, "sinks");
    for (int c = 0; c < SINK_WIDTH; c++)
        for (int k = 0; k < h->sink_width; k++) {
            if (strcmp(SINK[c], h->sink_column[k]) != 0) continue;
            for (int i = 0; i < t->nsink; i++)
                ((double *)&t->sink[i])[c] = h->sink[(int64_t)i * h->sink_width + k];
        }
    for (int i = 0; i < t->nsink; i++)
        if (t->sink[i].m < 0 || t->sink[i].racc < 0)
            FAIL(ERR_FORMAT,
                 "%s: point mass %d has the mass %g and the accretion radius %g, which must be 0 "
                 "or more",
                 path, i + 1, t->sink[i].m, t->sink[i].racc);
    return OK;
}

static enum err need(const struct sphfile *f, const char *key, double least, double *value)
{
    if (!sphfile_get(&f->head, key, value))
        FAIL(ERR_FORMAT, "%s: its header lacks %s, with which a run resumes", f->file, key);
    if (!(*value >= least && *value <= DBL_MAX))
        FAIL(ERR_FORMAT, "%s: /header: %s is %g, with which no run resumes", f->file, key, *value);
    return OK;
}

/* Mass and box, which this run's parameters may not define; *was: the equations of the file. */
static enum err read_par(struct sph *t, const struct sphfile_head *h, const char *path,
                         struct smooth_par *was)
{
    bool periodic;
    TRY(sphfile_get_par(h, path, was, t->lo, t->side, &periodic));
    if (periodic != t->periodic)
        FAIL(ERR_PARAM, "%s: has %s, but this run has boundary='%s' in &SPH_PARAMS", path,
             periodic ? "a periodic box" : "no box", t->par->sph.boundary);
    t->eq.mass = was->mass;
    return OK;
}

static enum err read_state(struct sph *t)
{
    struct sphfile *f = t->from;
    struct smooth_par was;
    if (f->head.it > INT_MAX)
        FAIL(ERR_LIMIT, "%s: /header: it is %ld, but runs have at most %d steps", f->file,
             (long)f->head.it, INT_MAX);
    TRY(need(f, STEP, DBL_MIN, &t->dt_next));
    TRY(need(f, ENERGY, -DBL_MAX, &t->epot));
    TRY(read_par(t, &f->head, f->path, &was));
    TRY(read_sinks(t, &f->head, f->path));
    return read_rows(t, f);
}

static enum err resume_history(struct sim *s, struct sph *t, const struct sim_origin *from)
{
    char *text = NULL;
    size_t bytes = 0;
    TRY(sphfile_text(t->from, true, &text, &bytes));
    sim_history_resume(s, from, text ? text : "");
    mem_free(text);
    return OK;
}

/* The times of outputs, as the header of an octree's checkpoint has them. */
static enum err resume_outputs(struct sim *s, struct sph *t)
{
    const struct sphfile_head *g = &t->from->head;
    struct ckpt_head h = {
        .t = g->t, .nstep = (int)g->it, .nstep_coarse = (int)g->it, .noutput = -1};
    onefile_get_next(&g->keys, &h);
    const struct sim_origin from = {t->from->path, "sph", t->from->number, &h, true};
    sim_output_setup(s);
    sim_output_resume(s, &from);
    TRY(sim_restart_end(s, t->from->path));
    return err_agree(t->comm, t->comm->rank == 0 ? resume_history(s, t, &from) : OK);
}

enum err sph_restart(struct sim *s, struct sph *t)
{
    const struct sphfile_head *g = &t->from->head;
    TRY(err_agree(t->comm, read_state(t)));
    s->time.t = g->t;
    s->time.nstep = s->time.nstep_coarse = (int)g->it;
    t->dt = g->dt;
    log_info(" Restarting from %s: step %ld, t=%.6E", t->from->path, (long)g->it, g->t);
    TRY(resume_outputs(s, t));
    sph_restart_close(t);
    return OK;
}

/* ---- initial particles ---- */

/* Values that no gas has, though they are numbers. */
static enum err check_gas(const struct sph *t, const char *path)
{
    const struct smooth *p = &t->p;
    const bool heats = t->eq.eos == SMOOTH_ADIABATIC;
    for (int64_t i = 0; i < p->n; i++) {
        const bool bad = heats && p->u[i] < 0;
        if (bad || p->alpha[i] < 0)
            FAIL(ERR_FORMAT, "%s: particle %ld has %s %g, expected 0 or more", path, (long)p->id[i],
                 bad ? "the thermal energy" : "alpha", bad ? p->u[i] : p->alpha[i]);
    }
    return OK;
}

enum { TEXT = 400 };

static void tell_number(char *text, const char *name, double was, double is)
{
    const size_t at = strlen(text);
    if (fabs(was - is) <= 1e-6 * fabs(is)) return; /* dumps have some in single precision */
    snprintf(text + at, TEXT - at, "%s %s=%.6g (this run %.6g)", at ? "," : "", name, was, is);
}

static void tell_word(char *text, const char *name, const char *was, const char *is)
{
    const size_t at = strlen(text);
    if (was == is) return;
    snprintf(text + at, TEXT - at, "%s %s=%s (this run %s)", at ? "," : "", name, was, is);
}

/* A line if the particles come from a run of other equations. (rank 0) */
static void tell_equations(const struct smooth_par *was, const struct smooth_par *is,
                           const char *path)
{
    char text[TEXT] = "";
    tell_word(text, "eos", smooth_eos_name(was->eos), smooth_eos_name(is->eos));
    if (is->eos == SMOOTH_ADIABATIC) tell_number(text, "gamma", was->gamma, is->gamma);
    if (is->eos == was->eos && is->eos != SMOOTH_ADIABATIC)
        tell_number(text, "cs0", was->c0, is->c0);
    tell_word(text, "kernel", smooth_kernel_name(was->kernel), smooth_kernel_name(is->kernel));
    tell_number(text, "hfact", was->eta, is->eta);
    if (*text) log_info(" init_file: %s has%s", path, text);
}

/* Numbers of a dump that rank 0 has read, for all ranks. */
struct dump {
    double mass, lo[3], side[3];
    int64_t total, nsink;
    bool periodic;
};

/* All particles of a dump or snapshot become those of rank 0; the owners get theirs later
 * (swarm_balance). */
static enum err read_dump(struct sph *t, const char *path, struct dump *k)
{
    struct sphfile_either *e = NULL;
    struct smooth_par was = t->eq;
    if (!sphfile_either_is(path))
        FAIL(ERR_PARAM,
             "init_file='%s' in &SPH_PARAMS is no dump of Phantom, no checkpoint of solver='sph' "
             "and no Gadget snapshot with gas, or cannot be read",
             path);
    TRY(sphfile_either_open(path, false, &e));
    enum err err = sphfile_either_rows(e, 0, e->head->n, &t->p);
    if (err == OK) err = sphfile_get_par(e->head, path, &was, k->lo, k->side, &k->periodic);
    if (err == OK) err = check_gas(t, path);
    if (err == OK) err = read_sinks(t, e->head, path);
    if (err == OK) tell_equations(&was, &t->eq, path);
    k->mass = was.mass, k->total = t->p.n, k->nsink = t->nsink;
    sphfile_either_close(&e);
    return err;
}

/* A periodic run has the box of the file, unless the namelist has one. */
static bool has_own_box(const struct sph *t)
{
    return !t->periodic || param_given(t->par, "sph", "xmin") || param_given(t->par, "sph", "xmax");
}

/* (collective, agreed) */
static enum err share_dump(struct sph *t, const char *path)
{
    struct dump k = {0};
    TRY(err_agree(t->comm, t->comm->rank == 0 ? read_dump(t, path, &k) : OK));
    comm_bcast(t->comm, &k, sizeof k, 0);
    t->total = k.total, t->eq.mass = k.mass, t->nsink = (int)k.nsink;
    const size_t bytes = (size_t)t->nsink * sizeof *t->sink;
    if (t->comm->rank != 0) t->sink = mem_zero(bytes + sizeof *t->sink, "sinks");
    comm_bcast(t->comm, t->sink, bytes, 0);
    if (has_own_box(t) || !k.periodic) return OK;
    memcpy(t->lo, k.lo, sizeof k.lo);
    memcpy(t->side, k.side, sizeof k.side);
    return OK;
}

static enum err read_checkpoint(struct sph *t, const char *path)
{
    struct sphfile *f = NULL;
    const struct sph mine = *t;
    struct smooth_par was;
    TRY(sphfile_open(path, &f));
    enum err err = read_par(t, &f->head, path, &was);
    if (err == OK) tell_equations(&was, &t->eq, path);
    if (has_own_box(t)) {
        memcpy(t->lo, mine.lo, sizeof t->lo);
        memcpy(t->side, mine.side, sizeof t->side);
    }
    if (err == OK) err = read_sinks(t, &f->head, path);
    if (err == OK) err = read_rows(t, f);
    if (err == OK) err = check_gas(t, path);
    sphfile_close(&f);
    return err;
}

enum err sph_read_file(struct sph *t)
{
    const char *path = t->par->sph.init_file;
    if (!sphfile_is(path)) return share_dump(t, path);
    return err_agree(t->comm, read_checkpoint(t, path));
}
