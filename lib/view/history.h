/* view/history: the history of star formation, as it is printed and drawn. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/source.h"
#include "plot/canvas.h"

/* Bins of equal time, from the beginning to that of the checkpoint. */
struct history {
    int n;
    char title[160]; /* which checkpoint */
    double end;      /* Gyr */
    bool cosmo;      /* the beginning is the Big Bang, else t = 0 */
    double mass;     /* of all stars now, solar masses */
    int64_t *stars;
    double *formed, *rate, *redshift; /* solar masses; per year; of the middle, NAN without */
};

/* Fills in h, whose n is set; history_free also after an error. */
MUST_USE enum err history_read(struct history *h, struct source *r);
void history_free(struct history *h);
void history_plot(struct canvas *c, const void *history); /* a canvas_draw */
