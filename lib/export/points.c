/* export/points: particles of a checkpoint as PolyData of VTK, a vertex each: velocity, mass, id,
 * family, level, and further columns of numbers that the checkpoint has. The checkpoint is read
 * once per array. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "export/vtk.h"
#include "export/xml.h"
#include "io/dir.h"

struct points {
    struct source *s;
    struct sink sink;
    int64_t n;
    int first, width; /* column of a batch, and components */
    double *row;
};

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    ((struct points *)ctx)->n += p->n;
    return OK;
}

static enum err put_parts(const struct source_parts *p, void *ctx)
{
    struct points *w = ctx;
    const int there = w->width == 3 ? w->s->head.ndim : 1;
    w->row = mem_grow(w->row, 8 * 3 * (size_t)p->n + 8, "VTK");
    for (int k = 0; k < w->width; k++)
        for (int64_t i = 0; i < p->n; i++) {
            double *to = w->row + i * w->width + k;
            const char *column = k < there ? p->col[w->first + k] : NULL;
            *to = 0;
            if (column) memcpy(to, column + 8 * i, 8); /* a number or an integer */
        }
    return sink_put(&w->sink, w->row, 8 * (size_t)(p->n * w->width)) ? OK : sink_failed(&w->sink);
}

static enum err walk(struct points *w, source_parts_fn *fn)
{
    for (int k = 0; k < w->s->npiece; k++) TRY(source_parts(w->s, k, SOURCE_STATE, fn, w));
    return OK;
}

static void put_numbers(FILE *f, int64_t n, int64_t first)
{
    xml_bytes(f, 8 * n);
    for (int64_t i = first; i < first + n && !ferror(f); i++) fwrite(&i, sizeof i, 1, f);
}

/* Columns that are written behind positions and velocities. */
static bool is_written(const struct source *s, int c)
{
    return c >= COL_MASS && s->columns.has[c];
}

static const char *type_of(const struct source *s, int c)
{
    const char type = part_column(&s->columns, c)->type;
    return type == 'd' || type == 'f' ? "Float64" : "Int64";
}

/* Returns the bytes of all arrays. */
static uint64_t put_head(struct points *w)
{
    FILE *f = w->sink.f;
    uint64_t at = 0;
    xml_begin(f, "PolyData", "1.0");
    fprintf(f, "<PolyData>\n");
    xml_head_data(f, &w->s->head);
    xml_end_data(f);
    fprintf(f, "<Piece NumberOfPoints=\"%ld\" NumberOfVerts=\"%ld\">\n<Points>\n", (long)w->n,
            (long)w->n);
    xml_array(f, "Float64", "Points", 3, -1, 24 * w->n, &at);
    fprintf(f, "</Points>\n<PointData>\n");
    xml_array(f, "Float64", "velocity", 3, -1, 24 * w->n, &at);
    for (int c = 0; c < w->s->columns.n; c++)
        if (is_written(w->s, c))
            xml_array(f, type_of(w->s, c), part_column(&w->s->columns, c)->name, 1, -1, 8 * w->n,
                      &at);
    fprintf(f, "</PointData>\n<Verts>\n");
    xml_array(f, "Int64", "connectivity", 1, -1, 8 * w->n, &at);
    xml_array(f, "Int64", "offsets", 1, -1, 8 * w->n, &at);
    fprintf(f, "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    return at;
}

static enum err put_column(struct points *w, int first, int width)
{
    w->first = first, w->width = width;
    xml_bytes(w->sink.f, 8 * w->n * width);
    return walk(w, put_parts);
}

static enum err write_points(struct points *w, const char *path)
{
    TRY(dir_has_room(path, (double)put_head(w)));
    TRY(put_column(w, COL_X, 3));
    TRY(put_column(w, COL_VX, 3));
    for (int c = 0; c < w->s->columns.n; c++)
        if (is_written(w->s, c)) TRY(put_column(w, c, 1));
    put_numbers(w->sink.f, w->n, 0);
    put_numbers(w->sink.f, w->n, 1);
    fprintf(w->sink.f, "\n</AppendedData>\n</VTKFile>\n");
    return OK;
}

enum err vtk_write_vtp(struct source *s, const struct vtk_out *o)
{
    struct points w = {.s = s};
    TRY(walk(&w, count_parts));
    TRY(sink_open(&w.sink, o->path, o->force));
    enum err err = sink_close(&w.sink, write_points(&w, o->path));
    FREE(w.row);
    return err;
}
