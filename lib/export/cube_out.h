/* export/cube_out: a cube as a file, streamed. */
#pragma once
#include "export/cube.h"

struct cube_out {
    const char *path; /* "-": standard output, where the format allows it */
    bool force;
    const char *provenance; /* program and arguments; lent */
};
/* A format of cubes: its name for convert -f, the suffix of its files, and whether they can be
 * written to a pipe. */
struct cube_format {
    const char *name, *suffix;
    bool pipes;
    enum err (*write)(struct cube *q, const struct cube_out *o);
};
const struct cube_format *cube_format_named(const char *name); /* NULL: it is not one of cubes */

/* The writers of cubes: each is in a file of its own. */
MUST_USE enum err cube_write_npy(struct cube *q, const struct cube_out *o);
MUST_USE enum err cube_write_fits(struct cube *q, const struct cube_out *o);
MUST_USE enum err cube_write_vti(struct cube *q, const struct cube_out *o);
MUST_USE enum err cube_write_hdf5(struct cube *q, const struct cube_out *o);
MUST_USE enum err cube_write_openpmd(struct cube *q, const struct cube_out *o);
