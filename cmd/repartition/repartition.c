/* repartition: rewrites a checkpoint for another number of ranks. See man/repartition.1; the method
 * is in lib/reshape/reshape.h. */
#include "repartition.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/text.h"
#include "comm/lines.h"
#include "formats/formats.h"
#include "formats/location.h"
#include "grid/grid.h"
#include "out/program.h"
#include "out/tidy.h"
#include "out/version.h"
#include "sphfile/either.h"

static const struct opt ROWS[] = {
    {OPT_OLD('n'), "ranks", "M", "write for M ranks (default: as many as wrote the input)"},
    {OPT_OLD('d'), "domains", "ORDER", "domains: ksection or hilbert (default hilbert)"},
    {'f', "format", "FORMAT", "ramses or hdf5 (default ramses)"},
    {'o', "output", "OUT",
     "the directory to create; without it, the balance is printed and nothing is written"},
    {OPT_OLD('m'), "memory", "SIZE",
     "memory limit of all ranks together, such as 2G (default 512M, at least 64M per rank)"},
    {OPT_OLD('c'), "chunk", "FILES",
     "instead of --memory: as much memory as FILES files of the input contain"},
    {OPT_OLD('w'), "weights", "G,P,S",
     "weights of an oct, a particle, a particle of a sink's cloud in the balance, in bytes"},
    {OPT_OLD('F'), "force", NULL, "replace OUT if it exists"},
    {'j', "json", NULL, "print JSON, one line per checkpoint"},
    {'q', "quiet", NULL, "print errors only"},
    {'v', "verbose", NULL, "print more: the load of each rank; twice: memory by name"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help (--help: all)"},
    {0, NULL, NULL, NULL}};

static const struct program PROGRAM = {
    .name = "repartition",
    .synopsis = "repartition [options] IN…   (IN - : paths from standard input, one per line)",
    .purpose = "Writes a checkpoint for another number of ranks, with balanced domains, in bounded "
               "memory.",
    .rows = ROWS};

static int parse(int argc, char **argv, struct options *o);
static int repartition_all(const struct options *o, const struct comm *c);

int main(int argc, char **argv)
{
    struct options o = {
        .reshape = {.writer = format_named("ramses")->writer, .kind = DOMAIN_HILBERT}};
    struct comm c;
    program_begin();
    int status = parse(argc, argv, &o);
    if (status == GO_ON) {
        tidy_begin();
        comm_init(&argc, &argv, &c);
        log_init(c.rank == 0, o.quiet ? -1 : o.verbose);
        comm_share_threads(&c);
        o.reshape.provenance = version_provenance(&ptah_version, "repartition", argc, argv);
        status = repartition_all(&o, &c);
        mem_free((void *)(uintptr_t)o.reshape.provenance);
        if (c.rank == 0 && o.verbose > 1) mem_print(stderr);
        comm_fini();
    }
    return log_stdout_end("repartition") ? status : TROUBLE;
}

/* ---- options ---- */

static int usage(const char *what, const char *value)
{
    return program_refuse(&PROGRAM, what, value);
}

static int set_ranks(const char *value, struct options *o)
{
    if (!opt_int(value, 1, 99999, &o->reshape.nrank))
        return usage("the number of ranks must be 1 to 99999, not", value);
    o->ranks_given = true;
    return GO_ON;
}

static int set_memory(const char *value, struct options *o)
{
    if (!opt_bytes(value, &o->reshape.memory))
        return usage("the memory must be a number with K, M, G or T, not", value);
    o->memory_given = true;
    return GO_ON;
}

static int set_weights(const char *value, struct options *o)
{
    double *w = o->reshape.weight;
    if (opt_reals(value, 3, w) != 3)
        return usage("the weights must be three numbers G,P,S, not", value);
    for (int k = 0; k < 3; k++)
        if (!(w[k] >= 0 && w[k] <= 1e9))
            return usage("the weights must be 0 (what simulate needs) to 1e9 bytes, not", value);
    o->weights_given = true;
    return GO_ON;
}

static int set_domains(const char *value, struct options *o)
{
    bool tree = strcmp(value, "ksection") == 0;
    if (!tree && strcmp(value, "hilbert") != 0)
        return usage("the domains must be ksection or hilbert, not", value);
    o->reshape.kind = tree ? DOMAIN_KSECTION : DOMAIN_HILBERT;
    o->order_given = true;
    return GO_ON;
}

static int set_format(const char *value, struct options *o)
{
    const struct format *f = format_named(value);
    if (!format_is(f, value) || !f->writer)
        return usage("the format must be ramses or hdf5, not", value);
    o->reshape.writer = f->writer;
    o->hdf5 = !f->writer->by_rank;
    return GO_ON;
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct options *o = ctx;
    switch (letter) {
    case 'n':
        return set_ranks(value, o);
    case 'd':
        return set_domains(value, o);
    case 'f':
        return set_format(value, o);
    case 'o':
        o->out = value;
        break;
    case 'm':
        return set_memory(value, o);
    case 'c':
        if (!opt_int(value, 1, INT_MAX, &o->chunk))
            return usage("the chunk must be a number of files, not", value);
        break;
    case 'w':
        return set_weights(value, o);
    case 'F':
        o->reshape.overwrite = true;
        break;
    case 'j':
        o->json = true;
        break;
    case 'q':
        o->quiet = true;
        break;
    case 'v':
        o->verbose++;
        break;
    default:
        BUG_ON(true);
    }
    return GO_ON;
}

static int parse(int argc, char **argv, struct options *o)
{
    int first, status;
    if ((status = program_read(&PROGRAM, argc, argv, set_option, o, &first)) != GO_ON)
        return status;
    o->paths = argv + first;
    o->npath = argc - first;
    if (o->npath == 0) return usage("no checkpoint is given", NULL);
    if (o->memory_given && o->chunk) return usage("--memory and --chunk exclude each other", NULL);
    if (o->hdf5 && (o->ranks_given || o->order_given || o->weights_given))
        return usage(
            "an HDF5 checkpoint has no domains: --ranks, --domains and --weights are for -f ramses",
            NULL);
    if (o->hdf5 && !o->out) return usage("-f hdf5 needs -o", NULL);
    if (o->out && !*o->out) return usage("-o needs a path", NULL);
    o->many = o->npath > 1 || strcmp(o->paths[0], "-") == 0;
    return GO_ON;
}

/* ---- work ---- */

static int64_t bytes_of(const struct source *s, enum files_kind k, int file)
{
    char path[PATH_MAX];
    struct stat st;
    bool exists = files_path(s->path, k, s->number, file, path) == OK && stat(path, &st) == 0;
    return exists ? st.st_size : 0;
}

/* Estimates the bytes of `chunk` input files, from the largest one; for a single file, the bytes of
 * `chunk` of its pieces. */
static int64_t chunk_bytes(const struct source *s, int64_t chunk)
{
    int64_t max = 0;
    for (int file = 1; file <= s->npiece; file++) {
        int64_t bytes = 0;
        for (int k = 0; k < FILES_KINDS; k++)
            if (files_has_role((enum files_kind)k, FILES_PIECE))
                bytes += bytes_of(s, (enum files_kind)k, file);
        if (bytes > max) max = bytes;
    }
    if (max == 0) max = bytes_of(s, FILES_HDF5, 0) / s->npiece;
    return max * (chunk < s->npiece ? chunk : s->npiece);
}

/* Path of the result: OUT, or with several inputs OUT/<name of the input>; OUT is created. */
static enum err output_path(const struct options *o, const char *in, const struct comm *c,
                            char path[PATH_MAX])
{
    if (!o->many) {
        snprintf(path, PATH_MAX, "%s", o->out);
        return OK;
    }
    size_t n = strlen(in);
    while (n > 1 && in[n - 1] == '/') n--;
    size_t at = n;
    while (at > 0 && in[at - 1] != '/') at--;
    enum err err = OK;
    if (strncmp(in + at, "..", n - at) == 0)
        FAIL(ERR_FILE,
             "%s: does not end in a name that the result in %s could take: give a path that ends "
             "in the name "
             "of the checkpoint",
             in, o->out);
    if (snprintf(path, PATH_MAX, "%s/%.*s", o->out, (int)(n - at), in + at) >= PATH_MAX)
        err = err_set(ERR_FILE, "%.80s…: the path is too long", o->out);
    if (err == OK && c->rank == 0 && mkdir(o->out, 0777) != 0 && errno != EEXIST)
        err = err_set(ERR_FILE, "%s: cannot create the directory: %s", o->out, strerror(errno));
    return err_agree(c, err);
}

/* Text of a file of the result: the record of this program, followed by the history of the
 * input. */
static enum err text_of(struct source *s, enum files_kind kind, const char *before, char **all)
{
    char *text = NULL;
    size_t n = 0, k = before ? strlen(before) : 0;
    TRY(source_text(s, kind, &text, &n));
    if (!text) n = 0;
    *all = mem_zero(k + n + 1, "text file");
    if (k) memcpy(*all, before, k);
    if (n) memcpy(*all + k, text, n);
    if (text) mem_free(text);
    return OK;
}

static void announce(const struct options *o, const struct source *s, const struct reshape_plan *p,
                     const char *written)
{
    if (o->json || !written)
        report_print(o, s, p, written, stdout);
    else
        printf("%s\n", written);
    log_stdout_flush();
}

static enum err write_one(struct options *o, struct source *s, const struct reshape_plan *p,
                          const struct comm *c)
{
    const char *ours = o->reshape.provenance;
    char *namelist = NULL, *history = NULL;
    enum err err = text_of(s, FILES_NAMELIST, NULL, &namelist);
    if (err == OK) err = text_of(s, FILES_HISTORY, ours, &history);
    err = err_agree(c, err);
    o->reshape.namelist = namelist;
    o->reshape.provenance = history;
    if (err == OK && c->rank == 0 && !o->quiet && !o->json)
        report_print(o, s, p, o->reshape.out, stderr);
    if (err == OK) err = reshape_write(&o->reshape, s, p, c);
    o->reshape.provenance = ours;
    FREE(namelist);
    FREE(history);
    return err;
}

static enum err repartition_source(struct options *o, struct source *s, const struct comm *c)
{
    struct reshape_plan p = {0};
    char out[PATH_MAX];
    if (!o->ranks_given) o->reshape.nrank = s->npiece;
    if (o->chunk) {
        int64_t min = RESHAPE_MIN * c->size;
        o->reshape.memory = chunk_bytes(s, o->chunk);
        if (o->reshape.memory < min) o->reshape.memory = min;
    }
    if (o->out) TRY(output_path(o, s->path, c, out));
    o->reshape.out = o->out ? out : NULL;
    enum err err = reshape_plan(&o->reshape, s, c, &p);
    if (err == OK && o->out) err = write_one(o, s, &p, c);
    if (err == OK && c->rank == 0) announce(o, s, &p, o->reshape.out);
    reshape_plan_free(&p);
    return err;
}

/* A checkpoint of a uniform mesh or of smoothed particles fits any number of ranks as it is. */
static void tell_rank_free(const char *path, const char *what, const struct options *o)
{
    if (o->json) {
        printf("{\"path\":");
        json_quote(stdout, path);
        printf(",\"output\":");
        json_quote(stdout, path);
        printf(",\"rank_free\":true}\n");
    } else {
        printf("%s\n", path);
    }
    if (!o->quiet)
        fprintf(stderr,
                "repartition: %s: the file of %s does not depend on ranks, and any number "
                "of ranks reads it: there is nothing to do%s\n",
                path, what, o->out ? ", and nothing is written" : "");
}

static int repartition_one(const char *path, const struct options *options, const struct comm *c)
{
    struct options o = *options;
    struct source *s = NULL;
    if (grid_is(path) || sphfile_either_is(path)) {
        const char *what = grid_is(path) ? "a uniform mesh" : "smoothed particles";
        if (c->rank == 0) tell_rank_free(path, what, &o);
        return DONE;
    }
    enum err err = err_agree(c, source_open_whole(path, &o.reshape.mode, &s));
    if (err == OK) err = repartition_source(&o, s, c);
    source_close(&s);
    if (err == OK) return DONE;
    if (c->rank == 0) {
        fflush(stdout);
        fprintf(stderr, "repartition: %s\n", err_message());
    }
    return TROUBLE;
}

static int repartition_stdin(const struct options *o, const struct comm *c)
{
    struct lines lines = {0};
    enum err err = OK;
    int status = DONE;
    for (bool got; (err = lines_next(&lines, c, &got)) == OK && got;)
        if (repartition_one(lines.text, o, c) != DONE) status = TROUBLE;
    if (c->rank == 0 && err != OK) fprintf(stderr, "repartition: %s\n", err_message());
    return err == OK ? status : TROUBLE;
}

static int complain(const struct comm *c, enum err err)
{
    if (err != OK && c->rank == 0) fprintf(stderr, "repartition: %s\n", err_message());
    return err == OK ? DONE : TROUBLE;
}

static int repartition_all(const struct options *o, const struct comm *c)
{
    struct locations all = {.n = o->npath, .path = o->paths, .ranks = true, .out = !o->out};
    int status = complain(c, err_agree(c, c->rank == 0 ? locations_check(&all) : OK));
    if (status != DONE) return status;
    for (int i = 0; i < o->npath; i++) {
        int s = strcmp(o->paths[i], "-") == 0 ? repartition_stdin(o, c)
                                              : repartition_one(o->paths[i], o, c);
        if (s != DONE) status = s;
    }
    return status;
}
