/* export/cube_vti: cubes as ImageData of VTK: an array of values of cells for each field. */
#include <stdio.h>

#include "export/cube_out.h"
#include "export/sink.h"
#include "export/xml.h"

struct image {
    struct sink sink;
    const struct cube *q;
};

static void put_head(FILE *f, const struct cube *q)
{
    const int64_t *n = q->n, cells = cube_cells(q);
    const double box = q->list.s->head.boxlen, side = q->side * box;
    char extent[100];
    uint64_t at = 0;
    snprintf(extent, sizeof extent, "0 %ld 0 %ld 0 %ld", (long)n[0], (long)(q->ndim > 1 ? n[1] : 0),
             (long)(q->ndim > 2 ? n[2] : 0));
    xml_begin(f, "ImageData", "1.0");
    fprintf(f,
            "<ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" "
            "Spacing=\"%.17g %.17g %.17g\">\n",
            extent, q->lo[0] * box, q->lo[1] * box, q->lo[2] * box, side, side, side);
    xml_field_data(f, &q->list, q->physical);
    fprintf(f, "<Piece Extent=\"%s\">\n<CellData>\n", extent);
    for (int i = 0; i < q->list.n; i++)
        xml_array(f, "Float64", q->list.field[i].name, 1, -1, 8 * cells, &at);
    fprintf(f, "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
}

static enum err take(void *ctx, int field, int64_t first, int64_t n, const double *value)
{
    struct image *m = ctx;
    if (first == 0) xml_bytes(m->sink.f, 8 * cube_cells(m->q));
    return sink_put(&m->sink, value, sizeof *value * (size_t)n) ? OK : sink_failed(&m->sink);
}

enum err cube_write_vti(struct cube *q, const struct cube_out *o)
{
    struct image m = {.q = q};
    TRY(sink_open(&m.sink, o->path, o->force));
    put_head(m.sink.f, q);
    enum err err = cube_read(q, true, take, &m);
    fprintf(m.sink.f, "\n</AppendedData>\n</VTKFile>\n");
    return sink_close(&m.sink, err);
}
