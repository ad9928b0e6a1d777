/* snap/priv: what the files of this module share. */
#pragma once
#include "h5/parse.h"
#include "snap/snap.h"

/* A block of a binary file: its values, of `bytes` each. */
struct snap_block {
    int64_t at; /* offset of the first value; 0: the file has no such block */
    int bytes;  /* of a number */
    int64_t n;  /* rows */
};

struct snap_file {
    char path[PATH_MAX];
    struct snap_head head;
    int64_t here[SNAP_TYPES]; /* particles of each type */
    /* binary */
    int fd;
    int64_t size;
    const struct snap_layout *layout; /* NULL: a snapshot of Gadget */
    struct snap_block block[SNAP_COLUMNS];
    unsigned types[SNAP_COLUMNS]; /* bits of the types that a block has */
    /* HDF5: the datasets that are open */
    struct h5_file h5;
    struct h5_set set[SNAP_TYPES][SNAP_COLUMNS];
    char name[SNAP_TYPES][SNAP_COLUMNS][SNAP_NAME]; /* empty: not yet looked for */
    int64_t object[SNAP_TYPES][SNAP_COLUMNS];       /* 0: the file has no such dataset */
};

struct snap_row {
    int width;
    bool whole;
    const char *label, *name[3];
};
extern const struct snap_row snap_row[SNAP_COLUMNS];

/* Opens a file and reads its header; snap_file_close after errors too. */
MUST_USE enum err snap_file_open(struct snap_file *f, const char *path);
void snap_file_close(struct snap_file *f);
MUST_USE enum err snap_file_has(struct snap_file *f, int type, enum snap_column c, bool *has);
/* Reads rows of one file; doubles or int64_t. */
MUST_USE enum err snap_file_read(struct snap_file *f, int type, enum snap_column c, int64_t first,
                                 int64_t n, void *out);
/* "row 5 of type 1 in block POS", for messages. */
void snap_place(const struct snap_file *f, int type, enum snap_column c, char text[SNAP_NAME + 40]);

bool snap_binary_is(int fd); /* whether the first bytes are those of a binary file */
MUST_USE enum err snap_binary_open(struct snap_file *f);
MUST_USE enum err snap_binary_read(struct snap_file *f, int type, enum snap_column c, int64_t first,
                                   int64_t n, void *out);
bool snap_hdf5_is(int fd);
MUST_USE enum err snap_hdf5_open(struct snap_file *f);
void snap_hdf5_close(struct snap_file *f);
MUST_USE enum err snap_hdf5_has(struct snap_file *f, int type, enum snap_column c, bool *has);
MUST_USE enum err snap_hdf5_read(struct snap_file *f, int type, enum snap_column c, int64_t first,
                                 int64_t n, void *out);

/* Checks what a header says, whatever its format. */
MUST_USE enum err snap_check_head(const struct snap_file *f);

/* names.c */
MUST_USE enum err snap_find(struct snap *s);
/* After the header of the first file: whether its further files have numbers. */
MUST_USE enum err snap_find_rest(struct snap *s);
