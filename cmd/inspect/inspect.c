/* inspect: shows the contents of checkpoints. See man/inspect.1. This file has the loop over
 * checkpoints, the list of modes, and the output of JSON. */
#include "inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "comm/lines.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "io/temp.h"
#include "page.h"
#include "plot/picture.h"

enum { LOST = TROUBLE + 1 }; /* status: standard output is lost */

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
    enum { ONE, ALL };
    if (grid_inspects(path, o)) return grid_inspect(path, o, status);
    if (sph_inspects(path, o)) return sph_inspect(path, o, status);
    switch (o->mode) {
#define MODE(symbol, letter, name, arg, set, run, ranks, ...)                                      \
    case symbol:                                                                                   \
        return ranks == ALL || o->c.rank == 0 ? run(path, o, status) : OK;
#include "modes.def"
    }
    return OK;
}

/* Inspects one checkpoint. All ranks return the same exit status, or LOST if rank 0 cannot
 * print. */
static int inspect_one(const char *path, const struct options *o)
{
    int status = DONE;
    enum err err = run_mode(path, o, &status);
    if (o->many && !(o->mode == MAP && o->panels)) err = err_about(err, path);
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

/* Whether further checkpoints are looked at: trees need all of them. */
static bool goes_on(const struct options *o, int status)
{
    return status < (o->mode == TREES ? TROUBLE : LOST);
}

static int inspect_stdin(const struct options *o)
{
    struct lines lines = {0};
    enum err err = OK;
    int status = DONE;
    for (bool got; goes_on(o, status) && (err = lines_next(&lines, &o->c, &got)) == OK && got;) {
        int s = inspect_one(lines.text, o);
        if (s > status) status = s;
    }
    if (o->c.rank == 0 && err != OK) fprintf(stderr, "inspect: %s\n", err_message());
    return err == OK ? status : TROUBLE;
}

/* Ends a mode that prints something about all checkpoints together. */
static enum err end_mode(struct options *o)
{
    if (o->mode == SINKS) return sinks_end_plot(o);
    if (o->mode == IONS) return ions_end(o);
    return o->mode == TREES ? trees_end(o) : OK;
}

static int fail(const struct options *o)
{
    if (o->c.rank == 0) fprintf(stderr, "inspect: %s\n", err_message());
    return TROUBLE;
}

/* No file that inspect writes may lie in a checkpoint: all its files would be known no longer, and
 * programs that remove it would refuse to. */
static enum err check_places(const struct options *o)
{
    const char *const file[] = {o->out,        o->data,          o->html,
                                o->halos.plot, o->halos.members, o->tree.consistent};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++)
        for (int i = 0; i < o->npath && file[k] && strcmp(file[k], "-") != 0; i++)
            if (format_recognise(o->paths[i])) TRY(dir_outside(file[k], o->paths[i]));
    return OK;
}

static int follow_all(const struct options *o)
{
    int status = DONE;
    if (o->c.rank == 0 && campaign_follow(o, &status) != OK) status = fail(o);
    int64_t all = status;
    comm_max_i64(&o->c, &all, 1);
    return (int)all;
}

static int inspect_all(struct options *o)
{
    int status = DONE;
    if (err_agree(&o->c, o->c.rank == 0 ? check_places(o) : OK) != OK) return fail(o);
    if (o->follow) return follow_all(o);
    const bool together = o->mode == COMPARE || o->mode == FILM || o->panels;
    const int n = together ? 1 : o->npath;
    if (o->mode == SINKS) o->sinks = sinks_begin();
    if (o->mode == IONS) o->ions = ions_begin();
    if (o->mode == TREES && trees_begin(o) != OK) status = fail(o);
    for (int i = 0; i < n && goes_on(o, status); i++) {
        const bool piped = o->mode != FILM && strcmp(o->paths[i], "-") == 0;
        int s = piped ? inspect_stdin(o) : inspect_one(o->paths[i], o);
        if (s > status) status = s;
    }
    return end_mode(o) == OK ? status : fail(o);
}

/* ---- the files of a plot ---- */

enum err plot_allowed(const struct options *o)
{
    if (o->out) TRY(temp_may_write(o->out, o->force));
    return o->data ? temp_may_write(o->data, o->force) : OK;
}

const char *plot_file(const struct options *o)
{
    return o->out ? o->out : o->data;
}

enum err plot_save(const struct options *o, const char *path, const struct picture *p)
{
    if (o->out && o->format != FORMAT_H5) TRY(picture_save(o->out, p)); /* else a table */
    return picture_save_numbers(o->data, path, p);
}

/* ---- the list of modes ---- */

static const struct {
    const char *name, *brief;
} MODES[] = {
#define MODE(symbol, letter, name, arg, set, run, ranks, check, phrase, help, brief, ...)          \
    {name, brief},
#include "modes.def"
};
enum { NMODE = sizeof MODES / sizeof *MODES, LINES = (NMODE + 1) / 2 };

void modes_print(FILE *out)
{
    fputs("usage: inspect [MODE] [options] DIR…     (DIR -: paths from standard input)\n"
          "Shows what is in checkpoints: without a MODE a summary, of two the differences.\n"
          "Modes:\n",
          out);
    for (int i = 0; i < LINES; i++) {
        fprintf(out, "  %-13s %-23s", MODES[i].name, MODES[i].brief);
        if (LINES + i < NMODE)
            fprintf(out, "  %-13s %s", MODES[LINES + i].name, MODES[LINES + i].brief);
        fputc('\n', out);
    }
    fputs("Options of most modes: -o FILE for a picture, -u physical units, -j JSON.\n"
          "  inspect MODE -h       common options of a mode, and an example\n"
          "  inspect MODE --help   all of its options; man inspect-MODE: its manual\n"
          "  inspect --help        all options; man inspect\n"
          "A directory with the name of a mode: ./map; inspect -V: the version.\n",
          out);
}

const char *mode_meant(const char *word)
{
    const char *found = NULL;
    int best = near_max(word) + 1;
    for (int m = 0; m < NMODE; m++) {
        int d = near_distance(word, MODES[m].name);
        if (d < best) best = d, found = MODES[m].name;
    }
    return found;
}

/* ---- JSON ---- */

void json_begin(const char *kind, const char *path)
{
    printf("{\"schema\":%d,\"kind\":\"%s\",\"path\":", JSON_SCHEMA, kind);
    json_string(path);
}

void json_end(void)
{
    printf("}\n");
}

void json_string(const char *s)
{
    json_quote(stdout, s);
}

void json_value(double x)
{
    json_real(stdout, x);
}

void json_number(const char *name, double x)
{
    printf(",\"%s\":", name);
    json_value(x);
}

void json_count(const char *name, int64_t n)
{
    printf(",\"%s\":%ld", name, (long)n);
}

void json_text(const char *name, const char *s)
{
    printf(",\"%s\":", name);
    json_string(s);
}

void json_bool(const char *name, bool x)
{
    printf(",\"%s\":%s", name, x ? "true" : "false");
}
