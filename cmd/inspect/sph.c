/* inspect: smoothed particles, of a checkpoint or of a dump of Phantom (sphfile/either.h): choice
 * of the mode, digest, check, comparison, point masses. Pictures and tables of their gas, and modes
 * that need a tree, see an octree (deposit/source.c). */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "inspect.h"

bool sph_inspects(const char *path, const struct options *o)
{
    if (o->mode == COMPARE) return sphfile_either_is(path) && sphfile_either_is(o->paths[1]);
    return (o->mode == SUMMARY || o->mode == DIGEST || o->mode == CHECK || o->mode == PARAMS ||
            o->mode == TREE || o->mode == SINKS) &&
           sphfile_either_is(path);
}

static const char *line_name(int i)
{
    return i < SPHFILE_COLUMNS ? smooth_row[sphfile_column(i)].name : "header";
}

/* ---- digest ---- */

static enum err digest(struct sphfile_either *e, const struct options *o)
{
    uint64_t line[SPHFILE_COLUMNS + 1][2], state[2];
    TRY(sphfile_either_digests(e, &o->c, line));
    sphfile_join(line, state);
    const char *name[SPHFILE_COLUMNS + 1];
    for (int i = 0; i <= SPHFILE_COLUMNS; i++) name[i] = line_name(i);
    const struct digest_lines lines = {"columns", SPHFILE_COLUMNS + 1, name, line};
    if (o->c.rank == 0) print_digests(e->path, state, &lines, o);
    return OK;
}

/* ---- check ---- */

struct found {
    const struct options *o;
    int damages;
};

static void look(struct found *f, enum err err)
{
    if (err == OK) return;
    if (f->o->json) {
        printf("%s{\"what\":", f->damages ? "," : "");
        json_string(err_message());
        printf("}");
    } else {
        printf("%s\n", err_message());
    }
    f->damages++;
}

static enum err read_rows(struct sphfile_either *e)
{
    const int64_t n = e->head->n, step = sphfile_either_step(e);
    struct smooth p = {0};
    enum err err = OK;
    for (int64_t at = 0; at < n && err == OK; at += step)
        err = sphfile_either_rows(e, at, step < n - at ? step : n - at, &p);
    smooth_free(&p);
    return err;
}

static void look_at(struct found *f, struct sphfile_either *e)
{
    struct smooth_par par;
    double lo[3], side[3];
    bool periodic;
    look(f, sphfile_get_par(e->head, e->path, &par, lo, side, &periodic));
    look(f, read_rows(e));
    if (!e->file) return;
    for (int k = 0; k < 2; k++) {
        char *text = NULL;
        size_t n;
        look(f, sphfile_text(e->file, k, &text, &n));
        mem_free(text);
    }
    look(f, sphfile_check_files(e->file));
}

/* The values of a dump are checked at any depth, those of a checkpoint with -cc. */
static void print_verdict(const struct found *f, const char *path, const struct sphfile_either *e)
{
    const bool sums = e && e->file;
    if (f->o->json) {
        printf("]");
        json_text("verdict", f->damages ? "damaged" : "sound");
        json_count("damages", f->damages);
        json_count("level", f->o->depth);
        json_bool("checksums", sums);
        if (e) json_count("particles", e->head->n);
        json_end();
    } else if (!f->o->quiet && f->damages) {
        printf("%s: damaged: %d finding%s\n", path, f->damages, f->damages > 1 ? "s" : "");
    } else if (!f->o->quiet) {
        printf("%s: sound: %ld particles, %d columns; %s%s\n", path, (long)e->head->n,
               SPHFILE_COLUMNS, sums ? "values match their checksums" : "records are complete",
               f->o->depth > 1 || !sums ? ", values are finite, smoothing lengths positive" : "");
    }
}

static enum err check(const char *path, const struct options *o, int *status)
{
    struct found f = {o, 0};
    struct sphfile_either *e = NULL;
    if (o->json) {
        json_begin("check", path);
        printf(",\"damage\":[");
    }
    look(&f, sphfile_either_open(path, o->depth < 2, &e));
    if (e) look_at(&f, e);
    print_verdict(&f, path, e);
    sphfile_either_close(&e);
    if (f.damages) *status = NO;
    return OK;
}

/* ---- point masses, in units of the code ---- */

/* Values of a point mass that are printed, with their columns in the file. */
static const struct {
    const char *name, *column;
} SINK[] = {{"mass", "m"},      {"x", "x"},         {"y", "y"},         {"z", "z"},
            {"vx", "vx"},       {"vy", "vy"},       {"vz", "vz"},       {"spinx", "spinx"},
            {"spiny", "spiny"}, {"spinz", "spinz"}, {"radius", "racc"}, {"accreted", "accreted"}};
enum { SINK_NUMBERS = sizeof SINK / sizeof *SINK };

/* Places of these columns; −1: the file has none. */
static void find_columns(const struct sphfile_head *h, int at[SINK_NUMBERS])
{
    for (int k = 0; k < SINK_NUMBERS; k++) {
        at[k] = -1;
        for (int c = 0; c < h->sink_width && h->nsink > 0; c++)
            if (strcmp(h->sink_column[c], SINK[k].column) == 0) at[k] = c;
    }
}

static double sink_value(const struct sphfile_head *h, int64_t i, int at)
{
    return at < 0 ? NAN : h->sink[i * h->sink_width + at];
}

static void print_sinks(const struct sphfile_either *e, const int at[SINK_NUMBERS])
{
    const struct sphfile_head *h = e->head;
    printf("# ptah sinks 1\n# source\t%s\n# sinks\t%ld\n", e->path, (long)h->nsink);
    printf(
        "# point masses by their number in the namelist or the file, in units of the code: mass, "
        "place, velocity, spin (angular momentum), radius of accretion, accreted mass\n"
        "#time\tid");
    for (int k = 0; k < SINK_NUMBERS; k++) printf("\t%s", SINK[k].name);
    printf("\n");
    for (int64_t i = 0; i < h->nsink; i++) {
        put_number(stdout, 9, h->t);
        printf("\t%ld", (long)i + 1);
        for (int k = 0; k < SINK_NUMBERS; k++) {
            printf("\t");
            put_number(stdout, 15, sink_value(h, i, at[k]));
        }
        printf("\n");
    }
}

static void json_sinks(const struct sphfile_either *e, const int at[SINK_NUMBERS])
{
    const struct sphfile_head *h = e->head;
    json_begin("sinks", e->path);
    printf(",\"sinks\":[");
    for (int64_t i = 0; i < h->nsink; i++) {
        printf("%s{\"id\":%ld", i ? "," : "", (long)i + 1);
        json_number("time", h->t);
        for (int k = 0; k < SINK_NUMBERS; k++) json_number(SINK[k].name, sink_value(h, i, at[k]));
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err sinks(const struct sphfile_either *e, const struct options *o)
{
    int at[SINK_NUMBERS];
    if (o->out)
        FAIL(ERR_PARAM,
             "%s: --sinks -o draws sinks in solar masses, but these point masses have no units: "
             "leave out -o for a table of their numbers",
             e->path);
    find_columns(e->head, at);
    (o->json ? json_sinks : print_sinks)(e, at);
    return OK;
}

/* ---- choice ---- */

static enum err tell_no_tree(const struct sphfile_either *e)
{
    FAIL(ERR_PARAM,
         "%s: has no tree and no domains: its %ld particles are in the order of ids, and the file "
         "does not depend on ranks",
         e->path, (long)e->head->n);
}

enum err sph_inspect(const char *path, const struct options *o, int *status)
{
    struct sphfile_either *e = NULL;
    const bool root = o->c.rank == 0;
    if (o->mode == PARAMS) return root ? params_print(path, o, status) : OK;
    if (o->mode == CHECK) return root ? check(path, o, status) : OK;
    if (o->mode == COMPARE) return root ? sph_compare(path, o->paths[1], o, status) : OK;
    enum err err = err_agree(&o->c, sphfile_either_open(path, true, &e));
    if (err == OK && o->mode == DIGEST) err = digest(e, o);
    if (err == OK && o->mode == TREE) err = tell_no_tree(e);
    if (err == OK && o->mode == SINKS && root) err = sinks(e, o);
    if (err == OK && o->mode == SUMMARY && root) err = sph_summary(e, o);
    sphfile_either_close(&e);
    return err;
}
