/* view/history: star formation history, printed and plotted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/source.h"
#include "plot/canvas.h"

/* Bins of equal width in time, from the Big Bang or t = 0 to the time of the checkpoint. */
struct history {
    int n;
    char title[160]; /* name of the checkpoint */
    double end;      /* time of the checkpoint, Gyr */
    bool cosmo;      /* time is since the Big Bang, else since t = 0 */
    double mass;     /* mass of all stars at present, solar masses */
    int64_t *stars;
    /* [n] solar masses formed; solar masses per year; redshift of the middle of the bin, NAN
     * without cosmology */
    double *formed, *rate, *redshift;
};

/* Fills h, whose n is set. history_free must be called after errors too. */
MUST_USE enum err history_read(struct history *h, struct source *r);
void history_free(struct history *h);
void history_plot(struct canvas *c, const void *history); /* a canvas_draw */
