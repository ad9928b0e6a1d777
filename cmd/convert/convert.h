/* convert: what the files of this program share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/cut.h"
#include "comm/comm.h"
#include "formats/formats.h"

enum { REDSHIFTS = 256 };

struct request {
    const struct format *format; /* NULL: hdf5 from RAMSES binary, else ramses */
    const char *out;             /* NULL: directory with the name of the format */
    int ranks, deflate, files, verbosity;
    unsigned legacy;
    int64_t memory;
    struct cut cut;
    const char *region; /* as given */
    bool gas, named, force, json;
    bool cooling;  /* a cooling table instead of a checkpoint */
    int points[3]; /* of it: densities, metallicities, temperatures; 0: by default */
    int nz;        /* redshifts; 0: that of the checkpoint */
    double z[REDSHIFTS];
    const char *provenance;
    int npath;
    char **paths;
};

/* Reads the options into r. Returns the exit status, or GO_ON (out/program.h). */
int request_read(int argc, char **argv, struct request *r);
/* Converts one checkpoint; path (size n) receives that of the result. (collective) */
MUST_USE enum err convert_checkpoint(const struct request *r, const char *in, const struct comm *c,
                                     char *path, size_t n);
/* Writes the cooling table of what is at `in`: a checkpoint, or a table of Grackle. (local) */
MUST_USE enum err convert_cooling(const struct request *r, const char *in, char *path, size_t n);
