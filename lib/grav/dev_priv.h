/* grav/dev_priv: what gravity has on a device. Private to grav. */
#pragma once
#include "grav/grav_dev.h"
#include "grav/mg_dev.h"

/* Faces of a level without a neighbour. */
struct dev_faces {
    bool known;
    uint64_t octs;
    int32_t n;
    int32_t *first, *missing; /* kernels.h; NULL: none */
};

/* Memory between launches; it only grows. */
struct dev_rows {
    void *p;
    size_t bytes;
};

struct grav_dev {
    struct mirror *mirror;
    struct dev *dev; /* of the mirror, as the stream */
    struct dev_stream *stream;
    struct mg_dev mg[LEVEL_MAX + 2];
    struct dev_faces faces[LEVEL_MAX + 2];
    struct dev_rows rhs, beyond;
    struct dev_rows com[LEVEL_MAX + 2], gas; /* 3 and 8 numbers an oct */
    struct dev_rows dense, top;              /* bytes of 8 cells; one number a block */
    int64_t *norm;                           /* there: [2][GRAV_NORM] */
    int64_t norm_here[2][GRAV_NORM];         /* its copy */
};

/* At least that many bytes, of any value. */
MUST_USE enum err grav_rows_need(struct grav_dev *d, struct dev_rows *r, size_t bytes,
                                 const char *name);

static inline int64_t grav_blocks(int64_t n, int each)
{
    return (n + each - 1) / each;
}
