/* inspect: --campaign: what is said of each checkpoint of a directory, and the page of all. */
#pragma once
#include <time.h>

#include "inspect.h"

struct entry {
    char path[4400];
    double t, a;
    bool cosmo, gas, parts;
    int number, coarse, fine, ranks, levelmin;
    int64_t bytes, octs, particles;
    time_t written;
    double wall; /* seconds since the one before; 0: the first */
    char job[96], version[64];
    char verdict[200]; /* sound, not looked at, or the first damage */
    bool sound, readable;
};

/* "2026-01-31T12:00:00Z", "z=0.1234" or "t=1.5" */
void entry_written(const struct entry *e, char *text, size_t n);
void entry_place(const struct entry *e, char *text, size_t n);

/* One HTML file with figures inside it, and no reference to another. */
MUST_USE enum err page_write(const char *dir, const struct entry *e, int n,
                             const struct options *o);
