/* inspect: the page of a campaign: HTML, and the figures in it. For page.c and page_figures.c. */
#pragma once
#include <stdio.h>

#include "campaign.h"
#include "plot/picture.h"
#include "records.h"

struct page {
    FILE *out;
    const char *name; /* of the file, for messages */
    const struct options *o;
    const struct entry *e; /* [n] */
    int n;
    struct records r;
    int figures; /* so far: their ids differ by it */
};

void page_text(FILE *out, const char *s); /* with &lt; and the like */
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
