/* grid: checkpoints of fields on a uniform mesh: output_NNNNN/stencil_NNNNN.h5, an HDF5 file with
 *
 *     /header   attributes: solver, version, it, t, dt, nx ny nz, lx ly lz, order, rows (of a
 *               block), fields (their names), keys and values (numbers by name)
 *     /data/NNNNN/fields/lnrho, u/x, …   [nz][ny][nx] doubles
 *     /state   numbers of a further state of the run, if it has any
 *     /parameters, /history   texts
 *     /ptah/checksum   sums of the blocks, which are `rows` lines of cells along x
 *
 * which all ranks write at once, each its bricks; its bytes do not depend on the number of ranks or
 * the division, except the text of /history. Attributes of openPMD 1.1 make other programs open the
 * file unchanged: therefore three fields px, py, pz are the datasets x, y, z of a group p, and the
 * mesh is below /data. Readers read any box of cells, on any number of ranks. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "brick/brick.h"
#include "onefile/onefile.h"

enum { GRID_FIELDS = 32, GRID_NAME = ONEFILE_NAME };

struct grid_head {
    int64_t n[3];     /* cells along x, y, z */
    double length[3]; /* sides of the box */
    double t, dt;     /* time, and length of the last step */
    int64_t it;       /* steps so far */
    int order;        /* order of the differences */
    int nfield;
    char field[GRID_FIELDS][GRID_NAME]; /* names, in the order of the file */
    /* Numbers that a run needs to go on, by name: next output times, state of the forcing, and
     * parameters of the equations, for programs that derive values. Digests leave out numbers whose
     * name begins with `next_`. */
    struct onefile_keys keys;
    int64_t nstate; /* numbers of a further state, such as that of the forcing */
    double *state;  /* [nstate] (lent to grid_write; grid_open: owned by struct grid) */
    /* Texts (lent to grid_write; NULL from grid_open: use grid_text). */
    const char *namelist, *provenance;
    bool backup, overwrite; /* of the checkpoint to write, as in struct ckpt_head */
};
static inline void grid_set(struct grid_head *h, const char *key, double value)
{
    onefile_set(&h->keys, key, value);
}
static inline bool grid_get(const struct grid_head *h, const char *key, double *value)
{
    return onefile_get(&h->keys, key, value);
}
int grid_field(const struct grid_head *h, const char *name); /* its number; −1: not there */

/* Hands the files of <dir>/output_NNNNN to the operating system, as writer_kind.write does
 * (out/writer.h). field: [h->nfield] arrays of the brick; halos are not written. (collective,
 * agreed) */
MUST_USE enum err grid_write(const char *dir, int number, const struct grid_head *h,
                             const struct brick *b, double *const *field, struct out_pending *out);

bool grid_is(const char *path); /* whether a directory, or a file in it, is such a checkpoint */

struct grid {
    struct grid_head head;
    char path[PATH_MAX], file[PATH_MAX]; /* the directory; the HDF5 file */
    int number;
    bool any; /* grid_read also returns values that are not finite; set by the caller */
    struct grid_in *impl;
};
/* Opens a checkpoint and checks its header against the sizes of its datasets. Local. */
MUST_USE enum err grid_open(const char *path, struct grid **out);
void grid_close(struct grid **g);
/* Reads the box of cells first[d] ≤ cell < first[d] + n[d], which may extend beyond the mesh: its
 * cells are periodic. to[z*stride[2] + y*stride[1] + x*stride[0]]. Checksums of the blocks that it
 * reads are compared; a value that is not finite is an error. Local. */
MUST_USE enum err grid_read(struct grid *g, int field, const int64_t first[3], const int64_t n[3],
                            double *to, const int64_t stride[3]);
/* The namelist or the history (owner: caller, mem_free); NULL: it is empty. */
MUST_USE enum err grid_text(struct grid *g, bool history, char **text, size_t *bytes);
/* The dataset of a field, for messages. */
void grid_dataset(const struct grid_head *h, int number, int field, char path[96]);

/* A digest that depends on the values, the header's physics and nothing else, as that of other
 * checkpoints (audit/digest). (collective, agreed) */
MUST_USE enum err grid_digest(struct grid *g, const struct comm *c, uint64_t digest[2]);
/* Digests of each field, and of the header behind them. */
MUST_USE enum err grid_digests(struct grid *g, const struct comm *c,
                               uint64_t digest[GRID_FIELDS + 1][2]);
/* The digest of those of the fields and the header. */
void grid_digest_join(const struct grid *g, uint64_t (*part)[2], uint64_t digest[2]);
/* Checks the text files beside the HDF5 file against the list of checksums. */
MUST_USE enum err grid_check_files(const struct grid *g);
/* Planes first ≤ z < end of the mesh that rank r of `ranks` reads where ranks share the work. */
static inline int64_t grid_plane(const struct grid_head *h, int r, int ranks)
{
    return h->n[2] * r / ranks;
}
