/* simulate: runs a simulation from a namelist and initial conditions or a checkpoint. This file has
 * the options; the order of a step is in lib/sim/step.c. */
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "comm/comm.h"
#include "comm/lines.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "io/file.h"
#include "out/leftover.h"
#include "out/program.h"
#include "out/version.h"
#include "param/param.h"
#include "sim/solver.h"
#include "watch.h"

enum { CHANGE_MODEL = 256, RANKS, LIKE, BUILD, LIVE, NO_LIVE, WATCH };

static const struct opt rows[] = {
    {'o', "output", "DIR", "write checkpoints into DIR (default: the current directory)"},
    {'r', "restart", "PATH",
     "resume from this checkpoint, on any number of ranks; -: the last one named on stdin"},
    {OPT_OLD('f'), "force", NULL, "replace checkpoints of the same number"},
    {OPT_MORE(CHANGE_MODEL), "change-model", NULL,
     "resume from a checkpoint whose model differs from the namelist's"},
    {BUILD, "build", "VARIABLES",
     "variables of RAMSES's Makefile, as 'NDIM=1 SOLVER=hydro NPSCAL=2': dimensions and scalars"},
    {'n', "check", NULL,
     "check the namelist and headers, predict memory and time, then stop; twice (-nn): build and "
     "check the initial state, too"},
    {RANKS, "ranks", "N", "with -n: predict for N ranks (default: the ranks of this call)"},
    {OPT_MORE(LIKE), "like", "FILE",
     "with -n: predict the time from FILE, which an earlier run wrote by -j"},
    {'p', "parameters", NULL, "list all parameters with defaults and meaning, then stop"},
    {'j', "json", "FILE",
     "append a line of JSON per coarse step to FILE, and one at the end: time per phase, memory by "
     "name"},
    {WATCH, "watch", "DIR",
     "show how far the run with outputs in DIR is, until it ends; exit status: that of the run"},
    {OPT_MORE(LIVE), "live", NULL,
     "show a live line with the time left even if standard error is no terminal, or with -q"},
    {OPT_MORE(NO_LIVE), "no-live", NULL, "show no live line"},
    {'v', "verbose", NULL, "print more (solver reports, momentum, memory by name)"},
    {'q', "quiet", NULL, "print errors only"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help (--help: all)"},
    {0, NULL, NULL, NULL}};

struct request {
    const char *outdir, *restart, *profile, *like, *build, *namelist, *watch;
    enum progress_wish live;
    int verbosity, check, ranks; /* check: number of times that -n is given */
    bool force, change_model, list;
    bool made; /* outdir was created by this run */
    int nset;
    char **set;
};

static const struct program PROGRAM = {
    .name = "simulate",
    .synopsis = "simulate [options] run.nml [group/name=value …]",
    .purpose = "Advances gas, dark matter and gravity on an octree, from a RAMSES namelist to "
               "checkpoints.",
    .rows = rows};

static int request_read(int argc, char **argv, struct request *r);
static enum err simulate(struct request *r, struct comm *c, struct sim *s, struct params *p,
                         char **text);
static void report_end(struct progress_reporter *r, int status, bool made);
static const struct solver *solver_named(const char *name);
static bool is_piped(const char *path);
static enum err path_read(const struct comm *c, char path[PATH_MAX]);
static enum err parameters_read(const struct request *r, const struct comm *c, struct params *p,
                                char **text);
static void announce(const char *path);

/* Open MPI binds each of one or two ranks to one core, where threads of OMP_NUM_THREADS then wait
 * for each other. This function tells the user, and the run goes on. */
static void advise_on_threads(int threads)
{
    const int cores = omp_get_num_procs(); /* those that this process may use */
    if (threads <= cores) return;
    if (cores < sysconf(_SC_NPROCESSORS_ONLN))
        log_info(" %d threads share %d core%s: start with mpirun --bind-to none, or --map-by "
                 "slot:PE=%d, or set OMP_NUM_THREADS=%d",
                 threads, cores, cores > 1 ? "s" : "", threads, cores);
    else
        log_info(" %d threads share %d core%s: set OMP_NUM_THREADS=%d", threads, cores,
                 cores > 1 ? "s" : "", cores);
}

int main(int argc, char **argv)
{
    struct request r;
    struct comm c;
    program_begin();
    int status = request_read(argc, argv, &r);
    if (status != GO_ON) return log_stdout_end("simulate") ? status : TROUBLE;
    comm_init(&argc, &argv, &c);
    struct sim *s = mem_zero(sizeof *s, "run");
    struct params *p = mem_zero(sizeof *p, "parameters");
    char *text = NULL;
    s->run.out.provenance = version_provenance(&ptah_version, "simulate", argc, argv);
    enum err e = simulate(&r, &c, s, p, &text);
    status = e == ERR_STOPPED                                        ? STOPPED
             : e != OK || (s->run.end.status == 0 && ferror(stdout)) ? TROUBLE
                                                                     : s->run.end.status;
    log_live(NULL);
    if (e != OK && c.rank == 0) fprintf(stderr, "simulate: %s\n", err_message());
    report_end(&s->run.progress, status, r.made);
    if (e != OK && r.made) dir_unmake(r.outdir);
    mem_free((void *)(uintptr_t)s->run.out.provenance);
    sim_fini(s);
    FREE(text);
    FREE(p);
    FREE(s);
    comm_fini();
    return status;
}

/* Tells those who watch how the run ended. A run that failed before its first step removes the
 * directory that it made. */
static void report_end(struct progress_reporter *r, int status, bool made)
{
    if (status == TROUBLE && made && r->p.state == PROGRESS_STARTS)
        progress_cancel(r);
    else
        progress_close(r, status == 0         ? PROGRESS_ENDED
                          : status == STOPPED ? PROGRESS_STOPPED
                                              : PROGRESS_FAILED);
}

/* Prepares the output directory, without changes if only the namelist is checked. */
static enum err prepare(struct request *r)
{
    TRY(dir_ready(r->outdir, r->check ? NULL : &r->made));
    if (!r->check) leftover_clear(r->outdir);
    return OK;
}

static enum err simulate(struct request *r, struct comm *c, struct sim *s, struct params *p,
                         char **text)
{
    log_init(c->rank == 0, r->verbosity);
    TRY(err_agree(c, parameters_read(r, c, p, text)));
    char from[PATH_MAX];
    bool piped = r->restart && is_piped(r->restart);
    if (piped) TRY(path_read(c, from));
    TRY(err_agree(c, c->rank == 0 ? prepare(r) : OK));
    s->run.out.dir = r->outdir;
    s->run.out.force = r->force;
    s->run.restart.change_model = r->change_model;
    s->run.cost.profile_path = r->profile;
    s->run.restart.path = piped ? from : r->restart;
    s->run.out.announce = announce;
    s->run.out.namelist_text = *text;
    s->run.expect = r->check == 1;
    s->run.solver = solver_named(p->run.solver);
    if (c->rank == 0) progress_watch(r->live);
    /* an output directory that is a checkpoint is refused later, and stays as it is */
    const char *shown = format_recognise(r->outdir) ? NULL : r->outdir;
    if (c->rank == 0 && !r->check) progress_open(&s->run.progress, shown);
    sim_catch_signals();
    int threads = comm_share_threads(c);
    log_info(" Ptah simulate on %d rank%s, %d thread%s each", c->size, c->size > 1 ? "s" : "",
             threads, threads > 1 ? "s" : "");
    advise_on_threads(threads);
    TRY(sim_start(s, p, c));
    if (!r->check) return sim_run(s);
    if (r->check > 1)
        sim_report_mesh(s, "Initial mesh structure");
    else
        TRY(sim_forecast(s, r->ranks ? r->ranks : c->size, r->like));
    log_info("The namelist and %s valid",
             r->check > 1 ? "the initial state are" : "all headers are");
    return OK;
}

#define SOLVER(name, groups) extern const struct solver name##_solver;
#include "param/solvers.def"

/* The solver of a row of the table; lib/param has checked the name. */
static const struct solver *solver_named(const char *name)
{
#define SOLVER(row, groups)                                                                        \
    if (strcmp(name, #row) == 0) return &row##_solver;
#include "param/solvers.def"
    return NULL; /* never comes here */
}

/* ---- options ---- */

static bool is_piped(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct request *r = ctx;
    switch (letter) {
    case 'o':
        r->outdir = value;
        break;
    case 'r':
        r->restart = value;
        break;
    case 'f':
        r->force = true;
        break;
    case CHANGE_MODEL:
        r->change_model = true;
        break;
    case BUILD:
        if (r->build) return program_refuse(&PROGRAM, "--build is given twice", NULL);
        r->build = value;
        break;
    case 'n':
        r->check++;
        break;
    case LIKE:
        r->like = value;
        break;
    case 'p':
        r->list = true;
        break;
    case 'j':
        r->profile = value;
        break;
    case WATCH:
        r->watch = value;
        break;
    case LIVE:
        r->live = PROGRESS_ALWAYS;
        break;
    case NO_LIVE:
        r->live = PROGRESS_NEVER;
        break;
    case 'v':
        r->verbosity++;
        break;
    case 'q':
        r->verbosity = -1;
        break;
    case RANKS:
        if (!opt_int(value, 1, 1 << 24, &r->ranks))
            return program_refuse(&PROGRAM, "the number of ranks must be 1 to 16777216, not",
                                  value);
        break;
    default:
        BUG_ON(true);
    }
    return GO_ON;
}

static int follow(const struct request *r)
{
    progress_watch(r->live);
    return watch_run(r->watch);
}

static int request_read(int argc, char **argv, struct request *r)
{
    int first;
    *r = (struct request){.outdir = "."};
    int status = program_read(&PROGRAM, argc, argv, set_option, r, &first);
    if (status != GO_ON) return status;
    argc -= first;
    argv += first;
    if (argc > 0) r->namelist = argv[0];
    r->nset = argc > 1 ? argc - 1 : 0;
    r->set = argv + 1;
    if (r->list) {
        param_list(stdout);
        return DONE;
    }
    if (r->watch && argc > 0)
        return program_refuse(&PROGRAM, "--watch takes no namelist, as it starts no run:", argv[0]);
    if (r->watch) return follow(r);
    if (!r->namelist) {
        fprintf(stderr, "simulate: no namelist is given\nusage: %s\n", PROGRAM.synopsis);
        return TROUBLE;
    }
    if (!r->restart || !is_piped(r->restart) || !is_piped(r->namelist)) return GO_ON;
    return program_refuse(&PROGRAM,
                          "the namelist and the path to resume from cannot both come from standard "
                          "input",
                          NULL);
}

/* ---- input and output ---- */

/* Fails if a word of the command line that cannot be a checkpoint is one. */
static enum err refuse_checkpoint(const struct request *r, const char *word, const char *namelist)
{
    if (!format_recognise(word)) return OK;
    if (r->restart)
        FAIL(
            ERR_PARAM,
            "%s: is a checkpoint, the second after -r %s: a run resumes from one, and its namelist "
            "follows, as in simulate -r %s %s",
            word, r->restart, r->restart, namelist);
    FAIL(ERR_PARAM, "%s: is a checkpoint; to resume from it: simulate -r %s %s", word, word,
         namelist);
}

/* Fails if the namelist is a directory, such as that of the initial conditions. */
static enum err refuse_directory(const char *path)
{
    struct stat st;
    if (is_piped(path) || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return OK;
    FAIL(ERR_PARAM,
         "%s: is a directory, and simulate begins with a namelist, a file such as run.nml, which "
         "names the initial conditions (initfile in &INIT_PARAMS)",
         path);
}

/* Fails if blanks make several words of "name = value"; word i is none, or half an assignment. */
static enum err refuse_blanks(const struct request *r, int i)
{
    const char *word = r->set[i], *next = i + 1 < r->nset ? r->set[i + 1] : "";
    const char *equal = strchr(word, '=');
    const bool split = equal ? !equal[1] && *next && !strchr(next, '=') : *next == '=';
    if (!split) return OK;
    const char *value = !equal && !next[1] && i + 2 < r->nset ? r->set[i + 2] : "";
    FAIL(ERR_PARAM,
         "'%.100s %.100s%s%.100s': an assignment is one word, without blanks around '=': write "
         "%.100s%.100s%.100s",
         word, next, *value ? " " : "", value, word, next, value);
}

/* Rank 0 reads the whole namelist; all ranks get the text. */
static enum err text_read(const struct request *r, const struct comm *c, char **text, size_t *bytes)
{
    enum { MAX = 1 << 24 };
    const char *path = r->namelist;
    *text = NULL;
    enum err err = c->rank == 0 ? refuse_checkpoint(r, path, "run.nml") : OK;
    if (err == OK && c->rank == 0) err = refuse_directory(path);
    if (err == OK && c->rank == 0) err = file_load_any(path, MAX, text, bytes);
    TRY(err_agree(c, err));
    comm_bcast(c, bytes, sizeof *bytes, 0);
    if (c->rank > 0) *text = mem_zero(*bytes + 1, "text file");
    comm_bcast(c, *text, *bytes, 0);
    return OK;
}

/* Last line of stdin, for all ranks: the last checkpoint written by the previous program of a
 * pipe. */
static enum err path_read(const struct comm *c, char path[PATH_MAX])
{
    struct lines lines = {0};
    path[0] = 0;
    for (bool got = true; got;) {
        TRY(lines_next(&lines, c, &got));
        if (got) memcpy(path, lines.text, sizeof lines.text);
    }
    if (!*path) FAIL(ERR_FILE, "standard input: contains no path of a checkpoint to resume from");
    return OK;
}

/* Whether the run resumes from a checkpoint, which knows its dimensions. */
static bool restarts(const struct request *r, const struct params *p)
{
    return r->restart || p->run.nrestart > 0;
}

static enum err parameters_read(const struct request *r, const struct comm *c, struct params *p,
                                char **text)
{
    size_t bytes = 0;
    TRY(text_read(r, c, text, &bytes));
    const char *file = is_piped(r->namelist) ? "standard input" : r->namelist;
    bool told = c->rank == 0 && r->verbosity >= 0;
    TRY(param_read_text(p, *text, bytes, file));
    if (told) param_remarks(*text, bytes, file, stderr);
    if (r->build) TRY(param_build(p, r->build, told ? stderr : NULL));
    for (int i = 0; i < r->nset; i++) {
        TRY(refuse_blanks(r, i));
        if (!strchr(r->set[i], '=')) TRY(refuse_checkpoint(r, r->set[i], file));
        TRY(param_set(p, r->set[i]));
    }
    if (r->build) TRY(param_patch(p, r->build, restarts(r, p), told ? stderr : NULL));
    p->resumes = restarts(r, p) || p->run.nrestart < 0;
    TRY(param_check(p));
    if (p->run.verbose && r->verbosity == 0) log_init(c->rank == 0, 1);
    int ranks = r->ranks ? r->ranks : c->size;
    if (told && !restarts(r, p)) param_hint_dims(p, stderr);
    if (told) param_unused(p, ranks, stderr);
    if (told) param_settings(p, ranks, stderr);
    if (r->nset == 0 && !r->build) return OK;
    FREE(*text); /* checkpoints must record the parameters in use */
    *text = param_namelist(p);
    return OK;
}

/* Prints the path of a checkpoint. A closed stdout does not end the run, since its checkpoints are
 * in place; the exit status reports the failure. */
static void announce(const char *path)
{
    progress_step_aside();
    if (ferror(stdout) || (printf("%s\n", path) >= 0 && fflush(stdout) == 0)) return;
    log_line(
        -1,
        "simulate: standard output: %s; the run continues, but prints no more paths of checkpoints",
        strerror(errno));
}
