/* export/cube_npy: cubes as arrays of numpy (.npy, version 1), in C order: [z][y][x], behind an
 * axis of the fields where there are several; and the table of the formats of cubes. */
#include <stdio.h>
#include <string.h>

#include "export/cube_out.h"
#include "export/sink.h"

static const struct cube_format FORMATS[] = {
    {"npy", "npy", true, cube_write_npy},         {"fits", "fits", true, cube_write_fits},
    {"vti", "vti", true, cube_write_vti},         {"hdf5", "h5", false, cube_write_hdf5},
    {"openpmd", "h5", false, cube_write_openpmd},
};

const struct cube_format *cube_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
    return NULL;
}

static enum err take(void *ctx, int field, int64_t first, int64_t n, const double *value)
{
    struct sink *s = ctx;
    return sink_put(s, value, sizeof *value * (size_t)n) ? OK : sink_failed(s);
}

static bool put_head(struct sink *s, const struct cube *q)
{
    enum { LINE = 64, PREFIX = 10 };
    char text[256];
    int k = snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    if (q->list.n > 1) k += snprintf(text + k, sizeof text - (size_t)k, "%d, ", q->list.n);
    for (int d = q->ndim - 1; d >= 0; d--)
        k += snprintf(text + k, sizeof text - (size_t)k, "%ld, ", (long)q->n[d]);
    k += snprintf(text + k, sizeof text - (size_t)k, "), }");
    while ((PREFIX + k + 1) % LINE) text[k++] = ' ';
    text[k++] = '\n';
    const unsigned char length[2] = {(unsigned char)(k & 255), (unsigned char)(k >> 8)};
    return sink_put(s, "\x93NUMPY\x01\x00", 8) && sink_put(s, length, 2) &&
           sink_put(s, text, (size_t)k);
}

enum err cube_write_npy(struct cube *q, const struct cube_out *o)
{
    struct sink s;
    TRY(sink_open(&s, o->path, o->force));
    enum err err = put_head(&s, q) ? OK : sink_failed(&s);
    if (err == OK) err = cube_read(q, true, take, &s);
    return sink_close(&s, err);
}
