/* inspect: what is in a checkpoint. See man/inspect.1. This file has the loop over checkpoints. */
#include "inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "comm/lines.h"

/* modes whose functions are collective; the others are rank 0's */
enum { ALL_RANKS = 1 << DIGEST | 1 << PHASE | 1 << HALOS | 1 << CLUMPS };
enum { LOST = TROUBLE + 1 }; /* status: nothing can be printed any more */

static int inspect_all(struct options *o);

int main(int argc, char **argv)
{
    struct options o = {0};
    program_begin();
    comm_init(&argc, &argv, &o.c);
    int status = options_parse(argc, argv, &o);
    if (status == GO_ON) {
        log_init(o.c.rank == 0, o.quiet ? -1 : o.verbose);
        status = inspect_all(&o);
    }
    if (!log_stdout_end("inspect") || status == LOST) status = TROUBLE;
    comm_fini();
    return status;
}

static enum err run_mode(const char *path, const struct options *o, int *status)
{
    if (o->c.rank > 0 && !(ALL_RANKS >> o->mode & 1)) return OK;
    switch (o->mode) {
    case DIGEST:
        return digest_print(path, o);
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
    case PHASE:
        return phase_draw(path, o);
    case HALOS:
        return halos_print(path, o);
    case CLUMPS:
        return clumps_print(path, o);
    case STARS:
        return stars_print(path, o);
    case SINKS:
        return sinks_print(path, o);
    case CAMPAIGN:
        return campaign_print(path, o, status);
    case PROFILE:
        return profile_print(path, o);
    case SUMMARY:
        return summary_print(path, o);
    }
    return OK;
}

/* Inspects one checkpoint. The exit status is the same on all ranks, LOST if rank 0 cannot print.
 */
static int inspect_one(const char *path, const struct options *o)
{
    int status = DONE;
    enum err err = run_mode(path, o, &status);
    if (o->many) err = err_about(err, path);
    log_live(NULL);
    if (err != OK) {
        fflush(stdout);
        if (o->c.rank == 0) fprintf(stderr, "inspect: %s\n", err_message());
        status = TROUBLE;
    }
    if (!log_stdout_flush()) status = LOST;
    int64_t all = status;
    comm_max_i64(&o->c, &all, 1);
    return (int)all;
}

static int inspect_stdin(const struct options *o)
{
    struct lines lines = {0};
    enum err err = OK;
    int status = DONE;
    for (bool got; status != LOST && (err = lines_next(&lines, &o->c, &got)) == OK && got;) {
        int s = inspect_one(lines.text, o);
        if (s > status) status = s;
    }
    if (o->c.rank == 0 && err != OK) fprintf(stderr, "inspect: %s\n", err_message());
    return err == OK ? status : TROUBLE;
}

static int inspect_all(struct options *o)
{
    int status = DONE, n = o->mode == COMPARE ? 1 : o->npath;
    if (o->mode == SINKS) o->sinks = sinks_begin();
    for (int i = 0; i < n && status != LOST; i++) {
        int s = strcmp(o->paths[i], "-") == 0 ? inspect_stdin(o) : inspect_one(o->paths[i], o);
        if (s > status) status = s;
    }
    if (o->mode == SINKS && sinks_end_plot(o) != OK) {
        fprintf(stderr, "inspect: %s\n", err_message());
        status = TROUBLE;
    }
    return status;
}
