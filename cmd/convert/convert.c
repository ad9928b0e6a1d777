/* convert: checkpoints → checkpoints, in another format, for other ranks, or a part of them. See man/convert.1. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "convert.h"

#define VERSION "ptah convert 0.1"

enum { DONE = 0, TROUBLE = 2, GO_ON = -1 };

static char *join(int argc, char **argv);
static int convert_all(const struct request *r, const struct comm *c);
static int flush_stdout(void);

int main(int argc, char **argv)
{
    struct comm c;
    char *arguments = join(argc, argv);
    struct request r = {.program = VERSION, .arguments = arguments};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that we report */
    int status = request_read(argc, argv, &r);
    if (status == GO_ON) {
        comm_init(&argc, &argv, &c);
        log_init(c.rank == 0, r.verbosity);
        status = convert_all(&r, &c);
        comm_fini();
    }
    FREE(arguments);
    return flush_stdout() ? TROUBLE : status;
}

static int flush_stdout(void)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return 0;
    fprintf(stderr, "convert: standard output: %s\n", errno ? strerror(errno) : "cannot write");
    return 1;
}

static char *join(int argc, char **argv)
{
    size_t n = 1;
    for (int i = 1; i < argc; i++) n += strlen(argv[i]) + 1;
    char *s = mem_zero(n, "provenance"), *at = s;
    for (int i = 1; i < argc; i++) {
        size_t k = strlen(argv[i]);
        if (i > 1) *at++ = ' ';
        memcpy(at, argv[i], k);
        at += k;
    }
    return s;
}

/* Whether the path of the result could be printed is everybody's business. (collective) */
static int convert_one(const struct request *r, const char *in, const struct comm *c)
{
    char path[4096];
    int64_t lost = 0;
    enum err err = convert_checkpoint(r, in, c, path, sizeof path);
    log_live(NULL);
    if (c->rank == 0 && err != OK) fprintf(stderr, "convert: %s\n", err_message());
    if (c->rank == 0 && err == OK) lost = printf("%s\n", path) < 0 || fflush(stdout) != 0;
    comm_max_i64(c, &lost, 1);
    return lost ? GO_ON : err == OK ? DONE : TROUBLE;
}

/* Rank 0 reads lines; *line is empty at the end, on all ranks. (collective) */
static void next_line(const struct comm *c, char **line, size_t *room)
{
    int64_t n = 0;
    if (c->rank == 0) {
        do n = getline(line, room, stdin);
        while (n == 1 && **line == '\n');
        if (n > 0 && (*line)[n - 1] == '\n') (*line)[--n] = 0;
        if (n < 0) n = 0;
    }
    comm_bcast(c, &n, sizeof n, 0);
    if (c->rank > 0 && (size_t)n + 1 > *room) *line = realloc(*line, *room = (size_t)n + 1);
    BUG_ON(!*line);
    comm_bcast(c, *line, (size_t)n, 0);
    (*line)[n] = 0;
}

static int convert_stdin(const struct request *r, const struct comm *c)
{
    char *line = NULL;
    size_t room = 0;
    int status = DONE;
    for (;;) {
        next_line(c, &line, &room);
        if (!*line) break;
        int s = convert_one(r, line, c);
        if (s != DONE) status = s;
        if (s == GO_ON) break;
    }
    if (c->rank == 0 && ferror(stdin)) {
        fprintf(stderr, "convert: cannot read standard input\n");
        status = TROUBLE;
    }
    free(line);
    return status;
}

/* Without a reader there is no sense in going on. */
static int convert_all(const struct request *r, const struct comm *c)
{
    int status = DONE;
    for (int i = 0; i < r->npath; i++) {
        int s = strcmp(r->paths[i], "-") == 0 ? convert_stdin(r, c) : convert_one(r, r->paths[i], c);
        if (s == GO_ON) return TROUBLE;
        if (s != DONE) status = s;
    }
    return status;
}
