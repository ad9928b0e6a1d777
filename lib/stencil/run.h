/* stencil/run: the solver's checkpoints and its time series, between the state and the time loop.
 * Private header of the module. */
#pragma once
#include "sim/solver.h"
#include "stencil/stencil.h"

/* ---- store.c: checkpoints ---- */

/* Opens the checkpoint and compares its header and its namelist with this run. (collective,
 * agreed) */
MUST_USE enum err stencil_restart_open(struct sim *s, struct stencil *t, const char *path);
/* Reads it, closes it, and resumes time, outputs and time series. (collective, agreed) */
MUST_USE enum err stencil_restart(struct sim *s, struct stencil *t);
void stencil_restart_close(struct stencil *t);
MUST_USE enum err stencil_write(struct sim *s, const struct ckpt_head *h);
MUST_USE enum err stencil_verify(const char *path, int number, const struct comm *c);

/* ---- series.c: time_series.txt, with the columns of the Pencil Code ---- */

/* Begins the table: a new one, or, from step `it` on, that of the run that is resumed, whose later
 * rows are dropped. (collective, agreed) */
MUST_USE enum err stencil_series_begin(struct sim *s, const struct stencil *t, int64_t it);
bool stencil_series_due(const struct stencil *t, int64_t it);
/* Appends the row of step `it`, and logs it. Fields that are not finite end the run. Halos are
 * valid. (collective, agreed) */
MUST_USE enum err stencil_series_row(struct sim *s, const struct stencil *t, int64_t it, double dt);
