/* inspect: what a run has written about itself: its log, and the file of simulate -j. */
#pragma once

#include "base/err.h"

enum { RECORD_FILES = 16, RECORD_NAMES = 64, RECORD_LABEL = 40 };

/* Of a coarse step; NAN: not told. Steps that a restart did again count once, as last written. */
struct step {
    double a, elapsed;            /* expansion factor; seconds */
    double mcons, econs;          /* relative errors of mass and energy */
    double octs, held, resident;  /* of all ranks; bytes */
    double rank_mb[3], rank_s[3]; /* min, mean, max over ranks: memory, work */
};

/* Of all ranks: seconds by phase (low, mean, high), bytes by name at the peak. */
struct record_row {
    char label[RECORD_LABEL];
    double low, mean, high;
};

struct records {
    int nstep, nphase, nmemory;
    struct step *step; /* [nstep] by number */
    struct record_row phase[RECORD_NAMES], memory[RECORD_NAMES];
    int ranks, threads; /* of the last run that ended; 0: not told */
    int nfile;
    char file[RECORD_FILES][256]; /* names of those that were read */
};

/* Reads the files in dir that are such records; others are passed over. *r is zero. */
MUST_USE enum err records_read(struct records *r, const char *dir);
void records_free(struct records *r);
