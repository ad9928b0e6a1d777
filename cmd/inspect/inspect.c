/* inspect: what is in a checkpoint. See man/inspect.1. Here: options, and one checkpoint after the other. */
#include "inspect.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "options.h"

static int inspect_all(struct options *o);
static int flush_stdout(void);
static bool is_parallel(void);

int main(int argc, char **argv)
{
    struct options o = {.c = {0, 1}};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that we report */
    bool parallel = is_parallel();
    if (parallel) comm_init(&argc, &argv, &o.c);
    int status = options_parse(argc, argv, &o);
    if (status == OPTIONS_GO_ON) {
        log_init(o.c.rank == 0, o.quiet ? -1 : o.verbose);
        status = inspect_all(&o);
    }
    if (flush_stdout()) status = TROUBLE;
    if (parallel) comm_fini();
    return status;
}

/* Started by mpirun or the like? A single process does without MPI, which takes its time to start. */
static bool is_parallel(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (getenv(name[i])) return true;
    return false;
}

static int flush_stdout(void)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return 0;
    fprintf(stderr, "inspect: standard output: %s\n", errno ? strerror(errno) : "cannot write");
    return 1;
}

static enum err run_mode(const char *path, const struct options *o, int *status)
{
    if (o->mode == DIGEST) return digest_print(path, o); /* all ranks */
    if (o->c.rank > 0) return OK;
    switch (o->mode) {
    case TREE:
        return tree_print(path, o);
    case PARAMS:
        return params_print(path, o);
    case CHECK:
        return check_print(path, o, status);
    case COMPARE:
        return compare_print(path, o->paths[1], o, status);
    case MAP:
        return map_draw(path, o);
    case CONTAMINATION:
        return contamination_print(path, o, status);
    default:
        return summary_print(path, o);
    }
}

/* The same on all ranks. */
static int inspect_one(const char *path, const struct options *o)
{
    int status = DONE;
    enum err err = run_mode(path, o, &status);
    log_live(NULL);
    if (err != OK) {
        fflush(stdout);
        if (o->c.rank == 0) fprintf(stderr, "inspect: %s\n", err_message());
        status = TROUBLE;
    }
    if (ferror(stdout) || fflush(stdout) != 0) status = TROUBLE;
    int64_t all = status;
    comm_max_i64(&o->c, &all, 1);
    return (int)all;
}

/* A line that rank 0 read, on all ranks; NULL at the end. */
static char *next_line(const struct comm *c, char **line, size_t *room)
{
    int64_t n = -1;
    if (c->rank == 0 && !ferror(stdout)) {
        n = getline(line, room, stdin);
        if (n > 0 && (*line)[n - 1] == '\n') (*line)[--n] = 0;
    }
    comm_bcast(c, &n, sizeof n, 0);
    if (n < 0) return NULL;
    char *copy = mem_new((size_t)n + 1, "path");
    if (c->rank == 0) memcpy(copy, *line, (size_t)n + 1);
    comm_bcast(c, copy, (size_t)n + 1, 0);
    return copy;
}

static int inspect_stdin(const struct options *o)
{
    char *line = NULL, *path;
    size_t room = 0;
    int status = DONE;
    while ((path = next_line(&o->c, &line, &room))) {
        int s = *path ? inspect_one(path, o) : DONE;
        if (s > status) status = s;
        mem_free(path);
    }
    if (o->c.rank == 0 && ferror(stdin)) {
        fprintf(stderr, "inspect: cannot read standard input\n");
        status = TROUBLE;
    }
    free(line);
    return status;
}

static int inspect_all(struct options *o)
{
    int status = DONE, n = o->mode == COMPARE ? 1 : o->npath;
    for (int i = 0; i < n && !ferror(stdout); i++) {
        int s = strcmp(o->paths[i], "-") == 0 ? inspect_stdin(o) : inspect_one(o->paths[i], o);
        if (s > status) status = s;
    }
    return status;
}
