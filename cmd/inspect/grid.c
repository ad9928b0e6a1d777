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
                             o->mode == MAP || o->mode == TREE || o->mode == PDF);
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

/* ---- maps ---- */

/* A source that only has what titles and labels show. boxlen is the longest side. */
static void fill_source(struct source *r, const struct grid *g)
{
    const struct grid_head *h = &g->head;
    snprintf(r->path, sizeof r->path, "%.3999s", g->path);
    r->number = g->number;
    r->head = (struct ckpt_head){.ndim = 3, .t = h->t, .unit_l = 1, .unit_d = 1, .unit_t = 1};
    for (int d = 0; d < 3; d++) r->head.boxlen = fmax(r->head.boxlen, h->length[d]);
}

/* Pixels are nearly square; the longer side has as many as asked for. */
static void find_shape(struct map *m, const struct grid *g)
{
    const int w = m->o->axis, axis[3] = {w == 0 ? 1 : 0, w == 2 ? 1 : 2, w};
    for (int d = 0; d < 3; d++) m->side[d] = g->head.length[axis[d]] / m->r->head.boxlen;
    const double longer = fmax(m->side[0], m->side[1]);
    m->n = (int)fmax(1, rint(m->o->pixels * m->side[0] / longer));
    m->rows = (int)fmax(1, rint(m->o->pixels * m->side[1] / longer));
}

static enum err find_weight(struct map *m, const struct grid *g, const char *name)
{
    m->weight = m->o->weight != BY_DEFAULT     ? m->o->weight
                : strcmp(name, "density") == 0 ? COLUMN
                                               : BY_VOLUME;
    if (m->weight == BY_MASS && grid_field(&g->head, "lnrho") < 0)
        FAIL(ERR_PARAM, "%s: has no density to weight by mass: use --weight volume", g->path);
    return OK;
}

/* Whether planes z and beyond, n of them, can lie in the region. */
static bool meets(const struct map *m, const struct grid *g, int64_t z, int64_t n)
{
    const int d = m->w == 2 ? 2 : m->v == 2 ? 1 : 0; /* the place of axis z in the region */
    const double lo = (double)z / (double)g->head.n[2], hi = (double)(z + n) / (double)g->head.n[2];
    for (int k = -1; k <= 1; k++)
        if (lo + k < m->hi[d] && hi + k > m->lo[d]) return true;
    return false;
}

static void lay_planes(struct map *m, const struct grid *g, int64_t z, int64_t n, const double *q,
                       const double *lnrho)
{
    const int64_t *mesh = g->head.n;
    const int axis[3] = {m->u, m->v, m->w};
    double size[3];
    for (int d = 0; d < 3; d++) size[d] = 1 / (double)mesh[axis[d]];
    for (int64_t i = 0; i < n * mesh[1] * mesh[0]; i++) {
        const int64_t at[3] = {i % mesh[0], i / mesh[0] % mesh[1], z + i / mesh[0] / mesh[1]};
        const double weight = lnrho ? exp(lnrho[i]) : 1;
        double corner[3];
        for (int d = 0; d < 3; d++) corner[d] = (double)at[axis[d]] * size[d];
        map_lay(m, corner, size, q[i] * weight, weight);
    }
}

static enum err read_planes(struct map *m, struct grid *g, const struct grid_value *v)
{
    const int64_t *mesh = g->head.n, step = grid_value_planes(g);
    const size_t bytes = sizeof(double) * (size_t)(step * mesh[0] * mesh[1]);
    const struct grid_value lnrho = {.field = grid_field(&g->head, "lnrho")};
    double *q = mem_new(bytes, "map"),
           *weight = m->weight == BY_MASS ? mem_new(bytes, "map") : NULL;
    enum err err = OK;
    for (int64_t z = 0; z < mesh[2] && err == OK; z += step) {
        const int64_t n = step < mesh[2] - z ? step : mesh[2] - z;
        if (!meets(m, g, z, n)) continue;
        err = grid_value_read(g, v, z, n, q);
        if (err == OK && weight) err = grid_value_read(g, &lnrho, z, n, weight);
        if (err == OK) lay_planes(m, g, z, n, q, weight);
    }
    FREE(q);
    FREE(weight);
    return err;
}

static enum err make(struct map *m, struct source *r, struct grid *g, const struct map_options *o)
{
    struct grid_value v;
    if (o->physical)
        FAIL(ERR_PARAM, "%s: a run of solver='stencil' has no physical units: leave out -u",
             g->path);
    if (o->mesh) FAIL(ERR_PARAM, "%s: has no octs for --mesh: its mesh is uniform", g->path);
    TRY(grid_value_find(g, o->field, &v));
    fill_source(r, g);
    *m = (struct map){.r = r, .o = o, .plain = true, .periodic = true, .species = SPECIES_NONE};
    find_shape(m, g);
    TRY(find_weight(m, g, v.name));
    map_begin(m);
    TRY(read_planes(m, g, &v));
    map_end(m);
    return OK;
}

enum err grid_map(struct grid *g, const char *path, const struct options *o)
{
    struct source *r = mem_zero(sizeof *r, "map");
    struct map m = {0};
    char name[128];
    const char *file = o->out ? o->out : name;
    snprintf(name, sizeof name, "%.100s_%05d.%s", o->map.field, g->number, format_name(o->format));
    enum err err = temp_may_write(file, o->force);
    if (err == OK) err = make(&m, r, g, &o->map);
    if (err == OK) err = map_save(&m, path, file, o);
    map_free(&m);
    FREE(r);
    return err;
}

/* ---- choice ---- */

static enum err with_grid(struct grid *g, const char *path, const struct options *o)
{
    if (o->mode == DIGEST) return digest(g, path, o);
    if (o->c.rank > 0) return OK;
    if (o->mode == MAP) return grid_map(g, path, o);
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
