/* sphfile: checkpoints of smoothed particles: output_NNNNN/sph_NNNNN.h5, an HDF5 file with
 *
 *     /header      attributes: solver, version, it, t, dt, npart, keys and values (numbers by name)
 *     /particles/NAME   a dataset of npart values for each STATE column of smooth/columns.def
 *     /sinks       [nsink][width] doubles, attribute `columns`: their names
 *     /parameters, /history   texts
 *     /ptah/checksum
 *
 * in the order of ids. All ranks write at once; the bytes of the file do not depend on their
 * number, except the text of /history. Readers read any rows, on any number of ranks. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "onefile/onefile.h"
#include "smooth/smooth.h"

enum { SPHFILE_NAME = ONEFILE_NAME, SPHFILE_SINK_COLUMNS = 32 };

struct sphfile_head {
    int64_t n;    /* particles */
    double t, dt; /* time, and length of the last step */
    int64_t it;   /* steps so far */
    /* Numbers that a run needs to go on and that programs need to derive values, by name: mass,
     * eta, kernel, gamma, eos …, box, next output times. Digests leave out those that begin with
     * next_. */
    struct onefile_keys keys;
    /* Table of point masses (lent to sphfile_write; sphfile_open: owned by struct sphfile). */
    int64_t nsink;
    int sink_width;
    const char *const *sink_column;    /* [sink_width] names */
    double *sink;                      /* [nsink][sink_width] */
    const char *namelist, *provenance; /* as in grid_head */
    bool backup, overwrite;
};
static inline void sphfile_set(struct sphfile_head *h, const char *key, double value)
{
    onefile_set(&h->keys, key, value);
}
static inline bool sphfile_get(const struct sphfile_head *h, const char *key, double *value)
{
    return onefile_get(&h->keys, key, value);
}
/* The parameters of smooth.h and the box as numbers of a header, and back: an error names the first
 * one that is missing or out of range. */
void sphfile_set_par(struct sphfile_head *h, const struct smooth_par *p, const double lo[3],
                     const double side[3], bool periodic);
MUST_USE enum err sphfile_get_par(const struct sphfile_head *h, const char *path,
                                  struct smooth_par *p, double lo[3], double side[3],
                                  bool *periodic);

/* Parameters of gas whose file has none: the kernel M4, the ratio 5/3 of specific heats, the switch
 * of Cullen & Dehnen (2010), and the usual strengths; no mass. */
struct smooth_par sphfile_usual(void);

/* Hands the files of <dir>/output_NNNNN to the operating system, as grid_write does. p: own
 * particles of this rank. (collective, agreed) */
MUST_USE enum err sphfile_write(const char *dir, int number, const struct sphfile_head *h,
                                const struct comm *c, const struct smooth *p,
                                struct out_pending *out);

bool sphfile_is(const char *path); /* whether a directory, or a file in it, is such a checkpoint */

struct sphfile {
    struct sphfile_head head;
    char path[PATH_MAX], file[PATH_MAX]; /* the directory; the HDF5 file */
    int number;
    int64_t block; /* rows of a block: reading is cheapest from multiples of it on */
    bool any;      /* values are returned whatever they are; set by the caller */
    struct sphfile_in *impl;
};
/* Opens a checkpoint and checks its header against the sizes of its datasets. Local. */
MUST_USE enum err sphfile_open(const char *path, struct sphfile **out);
void sphfile_close(struct sphfile **f);
/* Rows first … first + n − 1 of all STATE columns become the own particles of p, after those that
 * it has. Checksums are compared; a value that is not finite, h ≤ 0, an unknown type or an id
 * twice in these rows is an error. Local. */
MUST_USE enum err sphfile_read(struct sphfile *f, int64_t first, int64_t n, struct smooth *p);
/* The namelist or the history (owner: caller, mem_free); NULL: it is empty. */
MUST_USE enum err sphfile_text(struct sphfile *f, bool history, char **text, size_t *bytes);
/* The columns of a file are the STATE columns of smooth/columns.def, in their order. */
enum {
    SPHFILE_COLUMNS = 0
#define COLUMN(symbol, member, type, name, ghost, keep) +(SMOOTH_##keep == SMOOTH_STATE)
#define AXIS(symbol, member, axis, name, ghost, keep) +(SMOOTH_##keep == SMOOTH_STATE)
#include "smooth/columns.def"
};
enum smooth_column sphfile_column(int i); /* the column of smooth number i of a file */
/* The digest of the values and the header's physics, as that of other checkpoints (audit/digest).
 * (collective, agreed) */
MUST_USE enum err sphfile_digest(struct sphfile *f, const struct comm *c, uint64_t digest[2]);
/* Digests of each column, and of the header behind them. */
MUST_USE enum err sphfile_digests(struct sphfile *f, const struct comm *c,
                                  uint64_t digest[SPHFILE_COLUMNS + 1][2]);
/* sphfile_digests of all particles in memory, in the order of ids. */
void sphfile_digests_of(const struct sphfile_head *h, struct smooth *p,
                        uint64_t digest[SPHFILE_COLUMNS + 1][2]);
void sphfile_join(uint64_t (*part)[2], uint64_t digest[2]); /* the digest of those */
/* Checks the text files beside the HDF5 file against the list of checksums. */
MUST_USE enum err sphfile_check_files(const struct sphfile *f);
/* Rows first ≤ row < end that rank r of `ranks` reads where ranks share the work. */
void sphfile_rows(const struct sphfile *f, int r, int ranks, int64_t row[2]);
