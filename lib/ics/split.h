/* ics/split: a GRAFIC file, whole or split into blocks: DIR/ic_X, or DIR/dir_X/ic_X.00001,
 * ic_X.00002 and so on, as RAMSES reads them with multiple=.true., where each rank has a file with
 * the block of its cells. Here any rank reads cells from whichever blocks have them; blocks may
 * overlap, and the first that has a cell counts. Local. */
#pragma once
#include "io/grafic.h"

struct ics_block {
    int64_t lo[3], n[3]; /* cells, counted from the low corner of the union */
    int number, slot;    /* number in the file name; where it is open, −1: it is not */
};

enum { ICS_OPEN = 256 };

struct ics_file {
    struct grafic whole; /* the file; split: header of the union and path of the directory, fd −1 */
    char name[64];       /* ic_X */
    bool cosmo;
    int nblock;              /* 0: the file is whole */
    struct ics_block *block; /* sorted by number */
    struct grafic *open;     /* [ICS_OPEN] */
    int *owner, next;        /* blocks that are open; the slot that is used next */
};

/* Whether DIR has this field. */
bool ics_exists(const char *dir, const char *name);
/* Whether an entry of a directory is that of a split field; name: of the field. */
bool ics_is_split(const char *dir, const char *entry, char name[64]);
/* Opens a field, as grafic_open; the header of a split one is that of all blocks together. After an
 * error no close is needed. */
MUST_USE enum err ics_open(struct ics_file *f, const char *dir, const char *name, bool cosmo);
void ics_close(struct ics_file *f);
/* Read rows j0 … j0+nj−1 of plane k, as grafic_read_rows and grafic_read_ids. Cells that no block
 * has are an error. */
MUST_USE enum err ics_rows(struct ics_file *f, int64_t k, int64_t j0, int64_t nj, double *out);
MUST_USE enum err ics_ids(struct ics_file *f, int64_t k, int64_t j0, int64_t nj, int64_t *out);
