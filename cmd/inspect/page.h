/* inspect: --campaign: what is said of each checkpoint of a directory, and the page of all: HTML,
 * and the figures in it. */
#pragma once
#include <stdio.h>
#include <time.h>

#include "inspect.h"
#include "plot/picture.h"
#include "records.h"

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
void entry_position(const struct entry *e, char *text, size_t n);

/* One HTML file with figures inside it, and no reference to another. */
MUST_USE enum err page_write(const char *dir, const struct entry *e, int n,
                             const struct options *o);

struct page {
    FILE *out;
    const char *name; /* of the file, for messages */
    const struct options *o;
    const struct entry *e; /* [n] */
    int n;
    struct records r;
    int figures; /* figures so far: their number is part of their ids */
};

/* The drawing as SVG inside the page. */
MUST_USE enum err page_figure(struct page *p, struct picture *q, const char *caption);
/* A sentence in place of a figure. */
void page_note(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

MUST_USE enum err page_progress(struct page *p);     /* place in time, octs */
MUST_USE enum err page_conservation(struct page *p); /* of mass and energy */
MUST_USE enum err page_costs(struct page *p);        /* time and memory by phase and rank */
MUST_USE enum err page_maps(struct page *p);
MUST_USE enum err page_spectra(struct page *p);
MUST_USE enum err page_stars(struct page *p);
