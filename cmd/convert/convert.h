/* convert: what the files of this program share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/cut.h"
#include "comm/comm.h"
#include "formats/formats.h"

struct request {
    const struct format *format; /* NULL: hdf5 from RAMSES binary, else ramses */
    const char *out;             /* NULL: directory with the name of the format */
    int ranks, deflate, files, verbosity;
    unsigned legacy;
    int64_t memory;
    struct cut cut;
    const char *region; /* as given */
    bool gas, named, force;
    const char *version, *provenance;
    int npath;
    char **paths;
};

/* Reads the options into r. Returns the exit status, or -1 to continue. */
int request_read(int argc, char **argv, struct request *r);
/* Converts one checkpoint; path (size n) receives that of the result. (collective) */
MUST_USE enum err convert_checkpoint(const struct request *r, const char *in, const struct comm *c,
                                     char *path, size_t n);
