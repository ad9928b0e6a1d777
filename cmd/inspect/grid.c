/* inspect: checkpoints of uniform meshes (lib/grid): choice of the mode, digest, check, and maps of
 * any field, or any value that follows from the fields, by the options of other maps. Modes for
 * trees, particles and gas of AMR runs see cubes of 2^n cells as octrees of one level
 * (lib/grid/source.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "inspect.h"
#include "io/stream.h"

bool grid_inspects(const char *path, const struct options *o)
{
    if (o->mode == COMPARE) return grid_is(path) && grid_is(o->paths[1]);
    return grid_is(path) && (o->mode == SUMMARY || o->mode == DIGEST || o->mode == CHECK ||
                             o->mode == TREE || o->mode == PDF);
}

/* ---- digest ---- */

static enum err digest(struct grid *g, const char *path, const struct options *o)
{
    uint64_t line[GRID_FIELDS + 1][2], state[2];
    TRY(grid_digests(g, &o->c, line));
    grid_digest_join(g, line, state);
    const char *name[GRID_FIELDS + 1];
    for (int i = 0; i < g->head.nfield; i++) name[i] = g->head.field[i];
    name[g->head.nfield] = "time";
    const struct digest_lines lines = {"fields", g->head.nfield + 1, name, line};
    if (o->c.rank == 0) print_digests(path, state, &lines, o);
    return OK;
}

/* ---- check ---- */

struct found {
    const char *path;
    const struct options *o;
    int damages;
};

static void report(struct found *f)
{
    if (f->o->json) {
        printf("%s{\"what\":", f->damages ? "," : "");
        json_string(err_message());
        printf("}");
    } else {
        printf("%s\n", err_message());
    }
    f->damages++;
}

static void look(struct found *f, enum err err)
{
    if (err != OK) report(f);
}

/* Reads a field; with -cc also its values must be finite. */
static enum err check_field(struct grid *g, int field)
{
    const int64_t *n = g->head.n, stride[3] = {1, n[0], n[0] * n[1]};
    double *line = mem_new(sizeof *line * (size_t)n[0], "check");
    enum err err = OK;
    for (int64_t row = 0; row < n[1] * n[2] && err == OK; row++)
        err = grid_read(g, field, (int64_t[3]){0, row % n[1], row / n[1]}, (int64_t[3]){n[0], 1, 1},
                        line, stride);
    FREE(line);
    return err;
}

static void check_all(struct found *f, struct grid *g)
{
    char *text = NULL;
    size_t n;
    g->any = f->o->depth < 2;
    for (int i = 0; i < g->head.nfield; i++) look(f, check_field(g, i));
    for (int k = 0; k < 2; k++) {
        look(f, grid_text(g, k, &text, &n));
        mem_free(text);
    }
    look(f, grid_check_files(g));
}

enum err grid_check(const char *path, const struct options *o, int *status)
{
    struct found f = {path, o, 0};
    struct grid *g = NULL;
    if (o->json) {
        json_begin("check", path);
        printf(",\"damage\":[");
    }
    look(&f, grid_open(path, &g));
    if (g) check_all(&f, g);
    if (o->json) {
        printf("]");
        json_text("verdict", f.damages ? "damaged" : "sound");
        json_count("damages", f.damages);
        json_count("level", o->depth);
        json_bool("checksums", true);
        if (g) json_count("cells", g->head.n[0] * g->head.n[1] * g->head.n[2]);
        json_end();
    } else if (!o->quiet && f.damages) {
        printf("%s: damaged: %d finding%s\n", path, f.damages, f.damages > 1 ? "s" : "");
    } else if (!o->quiet) {
        printf("%s: sound: %ld x %ld x %ld cells, %d fields; values match their checksums%s\n",
               path, (long)g->head.n[0], (long)g->head.n[1], (long)g->head.n[2], g->head.nfield,
               o->depth > 1 ? " and are finite" : "");
    }
    grid_close(&g);
    if (f.damages) *status = NO;
    return OK;
}

/* ---- choice ---- */

static enum err with_grid(struct grid *g, const char *path, const struct options *o)
{
    if (o->mode == DIGEST) return digest(g, path, o);
    if (o->c.rank > 0) return OK;
    if (o->mode == PDF) return grid_pdf(g, path, o);
    if (o->mode == TREE)
        FAIL(
            ERR_PARAM,
            "%s: has no tree and no domains: its mesh of %ld x %ld x %ld cells is uniform, and the "
            "file does not depend on ranks",
            path, (long)g->head.n[0], (long)g->head.n[1], (long)g->head.n[2]);
    return grid_summary(g, path, o);
}

enum err grid_inspect(const char *path, const struct options *o, int *status)
{
    struct grid *g = NULL;
    if (o->mode == CHECK) return o->c.rank == 0 ? grid_check(path, o, status) : OK;
    if (o->mode == COMPARE) return o->c.rank == 0 ? grid_compare(path, o->paths[1], o, status) : OK;
    enum err err = err_agree(&o->c, grid_open(path, &g));
    if (err == OK) err = with_grid(g, path, o);
    grid_close(&g);
    return err;
}
