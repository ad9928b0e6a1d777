/* inspect: --campaign: data shown for each checkpoint of a directory, and the HTML page with its
 * figures. */
#pragma once
#include <stdio.h>
#include <time.h>

#include "inspect.h"
#include "plot/picture.h"
#include "records/records.h"

struct entry {
    char path[4400];
    double t, a;
    bool cosmo, gas, parts;
    int number, coarse, fine, ranks, levelmin;
    int64_t bytes, octs, particles;
    time_t written;
    double wall; /* seconds since the previous checkpoint; 0: the first one */
    char job[96], version[64];
    char verdict[200]; /* sound, not looked at, or the first damage */
    bool sound, readable;
};

/* The checkpoints output_NNNNN in a directory, by their numbers. */
struct campaign {
    const char *path;
    int n;
    struct entry *all; /* [n]; FREE it */
};
/* Lists the directory anew; looks only at checkpoints that are new or have changed. *news: there
 * are such, or some are gone. */
MUST_USE enum err campaign_renew(struct campaign *c, const struct options *o, bool *news);
/* Prints the table, and writes the page if there are checkpoints. */
MUST_USE enum err campaign_show(const struct campaign *c, const struct options *o, int *status);
/* Shows the campaigns of all paths until their runs have ended (follow.c). */
MUST_USE enum err campaign_follow(const struct options *o, int *status);

/* Texts of an entry: "2026-01-31T12:00:00Z"; "z=0.1234" or "t=1.5". */
void entry_written(const struct entry *e, char *text, size_t n);
void entry_position(const struct entry *e, char *text, size_t n);

/* Writes one HTML file with inline figures, without references to other files. */
MUST_USE enum err page_write(const char *dir, const struct entry *e, int n,
                             const struct options *o);

struct page {
    FILE *out;
    const char *name; /* name of the file, for messages */
    const struct options *o;
    const struct entry *e; /* [n] entries */
    int n;
    struct records r;
    int figures; /* number of figures so far, part of their ids */
};

/* The drawing as SVG inside the page. */
MUST_USE enum err page_figure(struct page *p, struct picture *q, const char *caption);
/* Adds a sentence in place of a figure. */
void page_note(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

MUST_USE enum err page_progress(struct page *p);     /* position in time, octs */
MUST_USE enum err page_conservation(struct page *p); /* errors of mass and energy */
MUST_USE enum err page_costs(struct page *p);        /* time and memory by phase and rank */
MUST_USE enum err page_maps(struct page *p);
MUST_USE enum err page_spectra(struct page *p);
MUST_USE enum err page_stars(struct page *p);
