/* io/grafic: one file of initial conditions in GRAFIC2 format (Bertschinger 2001): a record with
 * the header, then n[2] records (planes) of n[0]*n[1] values, x fastest. Values are float32; files
 * of particle ids hold int32 or int64. The header is three int32 and eight float32, or nine:
 * omega_b follows h0 in files of cuRAMSES and its descendants.
 *
 * Either byte order is recognised. All functions are local: each rank opens the file and reads the
 * rows that it needs. Every error is one sentence with file and offset. Limits: 65536 cells per
 * side, 2 GiB per plane. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "io/temp.h"

struct grafic_head {
    int32_t n[3];
    double dx, off[3];                   /* cell size and low corner, comoving Mpc */
    double astart, omega_m, omega_l, h0; /* h0 in km/s/Mpc */
    double omega_b;                      /* density parameter of baryons; NAN: not in the header */
};

struct grafic {
    struct grafic_head head;
    char *path; /* path (owner: this struct) */
    int fd;
    int width; /* bytes per value: 4 or 8 (ids only) */
    int start; /* file offset of the leading marker of the first plane */
    bool swap; /* whether the byte order is not the native one */
};

/* Whether directory dir has a file of this name. */
bool grafic_exists(const char *dir, const char *name);

/* Opens dir/name and checks the header and the size of the file; with cosmo also 0 < astart <= 1,
 * omega_m and h0. After an error no close is needed. */
MUST_USE enum err grafic_open(struct grafic *f, const char *dir, const char *name, bool cosmo);
void grafic_close(struct grafic *f);
bool grafic_has_baryons(const struct grafic_head *h); /* whether the header has omega_b */

/* Whether two header values are equal within float32 rounding. */
bool grafic_near(double a, double b);
/* Error if the header of f does not agree with the header of another file of its level, called
 * `first`: cells, their size and position, and with cosmo the time and the cosmology. */
MUST_USE enum err grafic_check_same(const struct grafic *f, const struct grafic_head *head,
                                    const char *first, bool cosmo);

/* Reads planes k0 .. k0+nk-1 (counted from 0) of a file of reals into out[nk][n[1]][n[0]]. NaN and
 * infinity are errors. */
MUST_USE enum err grafic_read_planes(const struct grafic *f, int64_t k0, int64_t nk, float *out);

/* Reads rows j0 .. j0+nj-1 of plane k of a file of reals into out[nj][n[0]]. */
MUST_USE enum err grafic_read_rows(const struct grafic *f, int64_t k, int64_t j0, int64_t nj,
                                   double *out);
/* Reads rows j0 .. j0+nj-1 of plane k of a file of ids into out[nj][n[0]], as integers without
 * loss. */
MUST_USE enum err grafic_read_ids(const struct grafic *f, int64_t k, int64_t j0, int64_t nj,
                                  int64_t *out);

/* ---- writing ---- */

struct grafic_out {
    struct grafic_head head;
    struct temp temp;
    bool swap;
    int64_t at;   /* offset of the next plane */
    int64_t done; /* number of planes written */
    int64_t sent; /* offset up to which writing to disk has been requested */
    char *record; /* buffer of one plane with its markers, as on disk */
};

/* Creates dir/name under a temporary name; swap: in the other byte order. The header has 48 bytes
 * if `head` has omega_b, as all files of the level. An existing file of this name is an error
 * unless force. After an error no clean-up is needed. */
MUST_USE enum err grafic_create(struct grafic_out *f, const char *dir, const char *name,
                                const struct grafic_head *head, bool swap, bool force);
/* Writes the next plane, [n[1]][n[0]]. */
MUST_USE enum err grafic_write_plane(struct grafic_out *f, const float *v);
/* Syncs the file after the last plane, still under its temporary name. */
MUST_USE enum err grafic_finish(struct grafic_out *f);
/* Renames the file after grafic_finish to its final name, and replaces any previous file. */
MUST_USE enum err grafic_publish(struct grafic_out *f);
void grafic_drop(struct grafic_out *f); /* frees memory; removes an unpublished file */
