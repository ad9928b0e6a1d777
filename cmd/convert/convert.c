/* convert: converts checkpoints to another format or number of ranks, or to a part of the box. See
 * man/convert.1. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/lines.h"
#include "convert.h"
#include "formats/location.h"
#include "out/program.h"
#include "out/tidy.h"
#include "out/version.h"

static int convert_all(const struct request *r, const struct comm *c);

int main(int argc, char **argv)
{
    struct comm c;
    program_begin();
    char *provenance = version_provenance(&ptah_version, "convert", argc, argv);
    struct request r = {.provenance = provenance};
    int status = request_read(argc, argv, &r);
    if (status == GO_ON) {
        tidy_begin();
        comm_init(&argc, &argv, &c);
        log_init(c.rank == 0, r.verbosity);
        status = convert_all(&r, &c);
        comm_fini();
    }
    FREE(provenance);
    return log_stdout_end("convert") ? status : TROUBLE;
}

static void log_result(const struct request *r, const char *in, const char *path)
{
    if (r->out && strcmp(r->out, "-") == 0) return; /* the result is on standard output */
    if (!r->json) {
        printf("%s\n", path);
        return;
    }
    const char *particles = convert_particles_name(r, in);
    const struct format *f = r->cooling ? NULL : r->format ? r->format : format_of(path);
    printf("{\"input\":");
    json_quote(stdout, in);
    printf(",\"output\":");
    json_quote(stdout, path);
    printf(",\"format\":\"%s\"}\n", particles ? particles : f ? f->name : "table");
}

/* Converts one checkpoint. All ranks must know whether its path could be printed. (collective) */
static int convert_one(const struct request *r, const char *in, const struct comm *c)
{
    char path[4096];
    int64_t lost = 0;
    enum err err = r->cooling ? OK : convert_checkpoint(r, in, c, path, sizeof path);
    if (r->cooling && c->rank == 0) err = convert_cooling(r, in, path, sizeof path);
    log_live(NULL);
    if (r->npath > 1 || strcmp(r->paths[0], "-") == 0) err = err_about(err, in);
    if (c->rank == 0 && err != OK) fprintf(stderr, "convert: %s\n", err_message());
    if (c->rank == 0 && err == OK) {
        log_result(r, in, path);
        lost = !log_stdout_flush();
    }
    comm_max_i64(c, &lost, 1);
    return lost ? GO_ON : err == OK ? DONE : TROUBLE;
}

static int convert_stdin(const struct request *r, const struct comm *c)
{
    struct lines lines = {0};
    enum err err = OK;
    int status = DONE;
    for (bool got; status != GO_ON && (err = lines_next(&lines, c, &got)) == OK && got;) {
        int s = convert_one(r, lines.text, c);
        if (s != DONE) status = s;
    }
    if (c->rank == 0 && err != OK) fprintf(stderr, "convert: %s\n", err_message());
    return err == OK ? status : TROUBLE;
}

/* Converts all checkpoints; stops when the paths of results can no longer be printed. */
static int convert_all(const struct request *r, const struct comm *c)
{
    int status = DONE;
    struct locations all = {.n = r->npath, .path = r->paths, .ranks = true, .out = !r->out};
    /* with --cooling-table the input may be a Grackle table instead of a checkpoint */
    bool look = c->rank == 0 && !r->cooling;
    if (err_agree(c, look ? locations_check(&all) : OK) != OK) {
        if (c->rank == 0) fprintf(stderr, "convert: %s\n", err_message());
        return TROUBLE;
    }
    for (int i = 0; i < r->npath; i++) {
        int s = strcmp(r->paths[i], "-") == 0 ? convert_stdin(r, c)
                                              : convert_one(r, r->paths[i], c);
        if (s == GO_ON) return TROUBLE;
        if (s != DONE) status = s;
    }
    return status;
}
