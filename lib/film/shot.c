#include "film/shot.h"

#include <stdio.h>
#include <string.h>

#include "atlas/atlas.h"
#include "base/mem.h"
#include "deposit/particles.h"
#include "formats/formats.h"
#include "grid/grid.h"
#include "gridview/gridview.h"
#include "plot/picture.h"
#include "sphview/sphview.h"

bool shot_is(const char *path)
{
    return grid_is(path) || sphfile_either_is(path) || format_of(path);
}

enum err shot_open(struct shot **out, const char *path, const struct map_options *o)
{
    struct shot *s = *out = mem_zero(sizeof *s, "film");
    s->o = *o;
    s->r.number = -1;
    enum err err;
    if (grid_is(path)) {
        err = grid_open(path, &s->grid);
        if (err == OK) s->r.number = s->grid->number;
    } else if (sphview_draws(path, o)) {
        err = deposit_open(path, &s->gas);
        if (err == OK) s->r.number = s->gas->in->number;
    } else {
        err = source_open(path, &s->tree);
        if (err == OK) s->r.number = s->tree->number;
    }
    return err;
}

/* Moves the region, given in units of the cube of these particles, to where it is in the cube of
 * the film. */
static void stay(struct map_options *o, const struct deposit_cube *now, struct shot_cube *first)
{
    enum { WHOLE = 1000 }; /* depth, in cubes, that has all particles */
    if (!first->known) {
        first->known = true, first->side = now->side;
        for (int d = 0; d < 3; d++) first->corner[d] = now->corner[d];
        return;
    }
    const double ratio = first->side / now->side;
    for (int d = 0; d < 3; d++)
        o->centre[d] = (first->corner[d] - now->corner[d]) / now->side + o->centre[d] * ratio;
    o->width *= ratio;
    o->depth = o->depth < 1 ? o->depth * ratio : WHOLE;
}

/* Axes count from the corner of the film's cube in its units. */
static void label_as_first(struct shot *s, const struct map_options *asked,
                           const struct shot_cube *first)
{
    struct map *m = &s->m;
    const int axis[2] = {m->u, m->v};
    for (int d = 0; d < 2; d++) {
        m->lo[d] = asked->centre[axis[d]] - 0.5 * asked->width;
        m->hi[d] = asked->centre[axis[d]] + 0.5 * asked->width;
    }
    s->r.head.boxlen = first->side;
    s->o.width = asked->width, s->o.depth = asked->depth;
}

static enum err draw_particles(struct shot *s, struct shot_cube *cube)
{
    const struct map_options asked = s->o;
    const bool open = cube && !s->gas->periodic;
    if (open) stay(&s->o, &s->gas->cube, cube);
    TRY(sphview_map(&s->m, &s->r, s->gas, &s->o));
    if (open) label_as_first(s, &asked, cube);
    return OK;
}

/* Keeps of an octree what titles and labels show. */
static void keep_head(struct shot *s)
{
    const struct source *t = s->tree;
    snprintf(s->r.path, sizeof s->r.path, "%s", t->path);
    s->r.number = t->number, s->r.nboundary = t->nboundary;
    s->r.head = t->head;
    /* lent by the source */
    s->r.head.tout = s->r.head.aout = NULL;
    s->r.head.namelist = s->r.head.provenance = NULL;
    s->r.head.gas = NULL, s->r.head.rest = NULL, s->r.head.file = NULL;
    s->m.r = &s->r;
    births_close(&s->m.births);
    curl_free(&s->m.curl);
    s->m.gas.curl = NULL;
}

static enum err draw_tree(struct shot *s)
{
    TRY(atlas_make(&s->m, s->tree, &s->o));
    keep_head(s);
    return OK;
}

static void close_all(struct shot *s)
{
    source_close(&s->tree);
    grid_close(&s->grid);
    deposit_close(&s->gas);
}

enum err shot_draw(struct shot *s, struct shot_cube *cube)
{
    const enum err err = s->grid  ? gridview_map(&s->m, &s->r, s->grid, &s->o)
                         : s->gas ? draw_particles(s, cube)
                                  : draw_tree(s);
    if (err != OK) return err;
    FREE(s->m.norm);
    close_all(s);
    return OK;
}

void shot_free(struct shot **out)
{
    struct shot *s = *out;
    if (!s) return;
    map_free(&s->m);
    FREE(s->rgb);
    close_all(s);
    FREE(*out);
}

size_t shot_bytes(const struct shot *s)
{
    const size_t pixels = (size_t)s->m.n * (size_t)s->m.rows;
    return sizeof *s + (s->rgb ? 3 : sizeof *s->m.sum) * pixels +
           sizeof *s->m.outline * (size_t)s->m.outlines;
}

enum err shot_paint(const struct shot *s, bool bare, int *columns, int *rows, unsigned char **rgb)
{
    const struct box size = atlas_size(&s->m);
    const struct picture p = {.format = PICTURE_PNG,
                              .draw = atlas_draw,
                              .what = &s->m,
                              .width = size.width,
                              .height = size.height};
    if (!bare && !s->rgb) return picture_pixels(&p, columns, rows, rgb);
    *columns = s->m.n, *rows = s->m.rows;
    if (!s->rgb) {
        *rgb = map_paint(&s->m);
        return OK;
    }
    const size_t bytes = 3 * (size_t)s->m.n * (size_t)s->m.rows;
    *rgb = mem_new(bytes, "film");
    memcpy(*rgb, s->rgb, bytes);
    return OK;
}
