/* convert: a checkpoint of a uniform mesh as ImageData of VTK (file.vti): one XML file with its
 * arrays appended raw, as values of cells: the fields, three components together, and the magnetic
 * field where the checkpoint has its potential. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "convert.h"
#include "grid/value.h"
#include "io/dir.h"
#include "io/stream.h"

/* An array of the file: values of one or three components. */
struct array {
    char name[GRID_NAME];
    int n;
    struct grid_value part[3];
};
enum { ARRAYS = GRID_FIELDS + 1 };

/* The arrays of a checkpoint; returns their number. */
static int find_arrays(const struct grid *g, struct array a[ARRAYS])
{
    const struct grid_head *h = &g->head;
    struct grid_value list[GRID_VALUES];
    int n = 0, all = grid_values(g, list);
    for (int i = 0; i < h->nfield; i++) {
        const size_t k = strlen(h->field[i]) - 1;
        struct array next = {.n = 1, .part = {{.field = i}}};
        snprintf(next.name, sizeof next.name, "%s", h->field[i]);
        /* components follow one another in the files of the solver */
        const bool vector = i + 2 < h->nfield && k > 0 && h->field[i][k] == 'x' &&
                            strlen(h->field[i + 1]) == k + 1 && h->field[i + 1][k] == 'y' &&
                            strlen(h->field[i + 2]) == k + 1 && h->field[i + 2][k] == 'z' &&
                            strncmp(h->field[i + 1], h->field[i], k) == 0 &&
                            strncmp(h->field[i + 2], h->field[i], k) == 0;
        if (vector) {
            next.n = 3, next.name[k] = 0;
            for (int d = 1; d < 3; d++) next.part[d].field = ++i;
        }
        a[n++] = next;
    }
    struct array field = {.name = "B"};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < all; i++)
            if (strcmp(list[i].name, (const char *[]){"bx", "by", "bz"}[d]) == 0)
                field.part[field.n++] = list[i];
    if (field.n == 3) a[n++] = field;
    return n;
}

static void print_head(FILE *out, const struct grid_head *h, const struct array *a, int n)
{
    const int64_t *m = h->n;
    uint64_t at = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
            "<ImageData WholeExtent=\"0 %ld 0 %ld 0 %ld\" Origin=\"0 0 0\" "
            "Spacing=\"%.17g %.17g %.17g\">\n",
            (long)m[0], (long)m[1], (long)m[2], h->length[0] / (double)m[0],
            h->length[1] / (double)m[1], h->length[2] / (double)m[2]);
    fprintf(out,
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray></FieldData>\n"
            "<Piece Extent=\"0 %ld 0 %ld 0 %ld\">\n<CellData>\n",
            h->t, (long)m[0], (long)m[1], (long)m[2]);
    for (int i = 0; i < n; i++) {
        fprintf(out,
                "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" "
                "format=\"appended\" offset=\"%lu\"/>\n",
                a[i].name, a[i].n, (unsigned long)at);
        at += 8 + 8 * (uint64_t)a[i].n * (uint64_t)(m[0] * m[1] * m[2]);
    }
    fprintf(out, "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
}

/* Writes an array, slab by slab. Errors of the stream are found when it is closed. */
static enum err write_array(FILE *out, struct grid *g, const struct array *a)
{
    const int64_t *m = g->head.n, step = grid_value_planes(g), plane = m[0] * m[1];
    const uint64_t bytes = 8 * (uint64_t)a->n * (uint64_t)(plane * m[2]);
    double *one = mem_new(sizeof *one * (size_t)(step * plane), "VTK"),
           *all = mem_new(sizeof *all * (size_t)(step * plane * a->n), "VTK");
    enum err err = OK;
    fwrite(&bytes, sizeof bytes, 1, out);
    for (int64_t z = 0; z < m[2] && err == OK; z += step) {
        const int64_t k = step < m[2] - z ? step : m[2] - z;
        for (int d = 0; d < a->n && err == OK; d++) {
            err = grid_value_read(g, &a->part[d], z, k, one);
            for (int64_t i = 0; i < k * plane && err == OK; i++) all[i * a->n + d] = one[i];
        }
        if (err == OK) fwrite(all, sizeof *all, (size_t)(k * plane * a->n), out);
    }
    FREE(one);
    FREE(all);
    return err;
}

static enum err name_file(const struct request *r, const struct grid *g, char *path, size_t n)
{
    const bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0;
    const char *dir = r->out ? r->out : "vti";
    if (!single && mkdir(dir, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: %s", dir, strerror(errno));
    const int k = single ? snprintf(path, n, "%s", dir)
                         : snprintf(path, n, "%s/stencil_%05d.vti", dir, g->number);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    return temp_may_write(path, r->force);
}

static enum err write_vti(struct grid *g, const char *path)
{
    struct array a[ARRAYS];
    struct stream s;
    const int n = find_arrays(g, a);
    enum err err = OK;
    double values = 0;
    for (int i = 0; i < n; i++) values += a[i].n;
    for (int d = 0; d < 3; d++) values *= (double)g->head.n[d];
    TRY(dir_has_room(path, (double)sizeof(double) * values));
    TRY(stream_open(&s, path));
    print_head(s.f, &g->head, a, n);
    for (int i = 0; i < n && err == OK; i++) err = write_array(s.f, g, &a[i]);
    fprintf(s.f, "\n</AppendedData>\n</VTKFile>\n");
    if (err == OK) return stream_close(&s, 0);
    stream_drop(&s);
    return err;
}

enum err convert_vti(const struct request *r, const char *in, char *path, size_t n)
{
    struct grid *g = NULL;
    if (!grid_is(in))
        FAIL(ERR_PARAM,
             "%s: -f vti needs --level LEVEL or --uniform N, the cells of the cube; without "
             "them it is for checkpoints of uniform meshes",
             in);
    TRY(grid_open(in, &g));
    enum err err = name_file(r, g, path, n);
    if (err == OK) err = write_vti(g, path);
    grid_close(&g);
    return err;
}
