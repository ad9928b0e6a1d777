/* export/vtu: see vtk.h. Leaf cells are voxels, pixels or lines of VTK, each with points of its
 * own, so that nothing needs to be known of its neighbours. The checkpoint is read once per
 * array. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "export/vtk.h"
#include "export/xml.h"
#include "io/dir.h"

/* An array of the file while it is written. */
struct grid {
    struct export_list *l;
    const struct vtk_out *o;
    struct sink sink;
    int ndim, corners;
    int64_t n;      /* leaf cells */
    bool has_level; /* whether the level is among the fields asked for */
    const struct vtk_array *array;
    double *row; /* values of a batch */
};

static enum err count_octs(const struct source_octs *o, void *ctx)
{
    struct grid *g = ctx;
    for (int i = 0; i < o->n; i++) g->n += g->corners - __builtin_popcount(o->split[i]);
    return OK;
}

static enum err walk(struct grid *g, enum source_mode mode, source_octs_fn *fn)
{
    struct source *s = g->l->s;
    s->counts = (struct ckpt_counts){0};
    for (int k = 0; k < s->npiece; k++) TRY(source_octs(s, k, mode, fn, g));
    return s->is_cut ? OK : source_check_tree(s);
}

/* Puts 3 coordinates of each corner; those of VTK's voxels are numbered as cells of an oct. */
static enum err put_points(const struct source_octs *o, void *ctx)
{
    struct grid *g = ctx;
    const double side = ldexp(g->l->s->head.boxlen, -o->level);
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        double row[8 * 8 * 3] = {0};
        int k = 0;
        okey_coords(o->key[i], x);
        for (int c = 0; c < g->corners; c++) {
            if (o->split[i] >> c & 1) continue;
            for (int p = 0; p < g->corners; p++, k += 3)
                for (int d = 0; d < g->ndim; d++)
                    row[k + d] = (double)(2 * x[d] + (c >> d & 1) + (p >> d & 1)) * side;
        }
        if (!sink_put(&g->sink, row, sizeof *row * (size_t)k)) return sink_failed(&g->sink);
    }
    return OK;
}

static enum err put_levels(const struct source_octs *o, void *ctx)
{
    struct grid *g = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < g->corners; c++)
            if (!(o->split[i] >> c & 1)) fputc(o->level, g->sink.f);
    return ferror(g->sink.f) ? sink_failed(&g->sink) : OK;
}

static enum err put_values(const struct source_octs *o, void *ctx)
{
    struct grid *g = ctx;
    const struct vtk_array *a = g->array;
    double *to = g->row = mem_grow(g->row, sizeof *g->row * 24 * (size_t)o->n + 1, "VTK");
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < g->corners; c++)
            for (int k = 0; k < a->width && !(o->split[i] >> c & 1); k++)
                *to++ = vtk_value(g->l, a, g->o->physical, k, o, c, i);
    return sink_put(&g->sink, g->row, sizeof *to * (size_t)(to - g->row)) ? OK
                                                                          : sink_failed(&g->sink);
}

static void put_numbers(FILE *f, int64_t n, int64_t first, int64_t step)
{
    xml_bytes(f, 8 * n);
    for (int64_t i = 0, x = first; i < n && !ferror(f); i++, x += step) fwrite(&x, sizeof x, 1, f);
}

static void put_types(FILE *f, const struct grid *g)
{
    enum { VTK_LINE = 3, VTK_PIXEL = 8, VTK_VOXEL = 11 };
    const int type[] = {0, VTK_LINE, VTK_PIXEL, VTK_VOXEL};
    xml_bytes(f, g->n);
    for (int64_t i = 0; i < g->n && !ferror(f); i++) fputc(type[g->ndim], f);
}

/* Returns the bytes of all arrays. */
static uint64_t put_head(const struct grid *g, const struct vtk_array *array, int arrays)
{
    FILE *f = g->sink.f;
    const int64_t n = g->n, points = n * g->corners;
    uint64_t at = 0;
    xml_begin(f, "UnstructuredGrid", "1.0");
    fprintf(f, "<UnstructuredGrid>\n");
    xml_field_data(f, g->l, g->o->physical);
    fprintf(f, "<Piece NumberOfPoints=\"%ld\" NumberOfCells=\"%ld\">\n<Points>\n", (long)points,
            (long)n);
    xml_array(f, "Float64", "Points", 3, -1, 24 * points, &at);
    fprintf(f, "</Points>\n<Cells>\n");
    xml_array(f, "Int64", "connectivity", 1, -1, 8 * points, &at);
    xml_array(f, "Int64", "offsets", 1, -1, 8 * n, &at);
    xml_array(f, "UInt8", "types", 1, -1, n, &at);
    fprintf(f, "</Cells>\n<CellData>\n");
    if (!g->has_level) xml_array(f, "UInt8", "level", 1, -1, n, &at);
    for (int a = 0; a < arrays; a++)
        xml_array(f, "Float64", array[a].name, array[a].width, -1, 8 * n * array[a].width, &at);
    fprintf(f, "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    return at;
}

static enum err write_grid(struct grid *g)
{
    struct vtk_array array[EXPORT_FIELDS];
    const int arrays = vtk_arrays(g->l, array);
    FILE *f = g->sink.f;
    TRY(dir_has_room(g->o->path, (double)put_head(g, array, arrays)));
    xml_bytes(f, 24 * g->n * g->corners);
    TRY(walk(g, SOURCE_TREE, put_points));
    put_numbers(f, g->n * g->corners, 0, 1);
    put_numbers(f, g->n, g->corners, g->corners);
    put_types(f, g);
    if (!g->has_level) xml_bytes(f, g->n);
    if (!g->has_level) TRY(walk(g, SOURCE_TREE, put_levels));
    for (int a = 0; a < arrays; a++) {
        g->array = &array[a];
        xml_bytes(f, 8 * g->n * array[a].width);
        TRY(walk(g, SOURCE_STORED, put_values));
    }
    fprintf(f, "\n</AppendedData>\n</VTKFile>\n");
    return OK;
}

enum err vtk_write_vtu(struct export_list *l, const struct vtk_out *o)
{
    struct grid g = {.l = l, .o = o, .ndim = l->s->head.ndim, .corners = source_cells(l->s)};
    for (int i = 0; i < l->n; i++) g.has_level |= l->field[i].number == GAS_LEVEL;
    TRY(walk(&g, SOURCE_TREE, count_octs));
    TRY(sink_open(&g.sink, o->path, o->force));
    enum err err = sink_close(&g.sink, write_grid(&g));
    FREE(g.row);
    return err;
}
