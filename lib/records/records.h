/* records: the records of a run: its log, and the file of simulate -j. */
#pragma once

#include "base/err.h"

enum { RECORD_FILES = 16, RECORD_NAMES = 64, RECORD_LABEL = 40 };

/* Record of a coarse step; NAN: not known. A step repeated after a restart counts once, as last
 * written. */
struct step {
    double a, elapsed;            /* expansion factor; wall-clock time, seconds */
    double mcons, econs;          /* relative errors of mass and energy */
    double octs, held, resident;  /* octs of all ranks; heap and resident memory, bytes */
    double rank_mb[3], rank_s[3]; /* min, mean, max over ranks: memory (MB), work (s) */
};

/* Row over all ranks: seconds of a phase (min, mean, max), or bytes of a name at the peak. */
struct record_row {
    char label[RECORD_LABEL];
    double low, mean, high;
};

struct records {
    int nstep, nphase, nmemory;
    struct step *step; /* [nstep] in ascending order */
    struct record_row phase[RECORD_NAMES], memory[RECORD_NAMES];
    int ranks, threads; /* ranks and threads of the last completed run; 0: not known */
    int nfile;
    char file[RECORD_FILES][256]; /* names of the files read */
};

/* Reads all files in dir that are such records, and skips others. *r is zero on entry. */
MUST_USE enum err records_read(struct records *r, const char *dir);
void records_free(struct records *r);
