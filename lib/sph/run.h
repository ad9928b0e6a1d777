/* sph/run: the solver's checkpoints and its table of energies, between the state and the time loop.
 * Private header of the module. */
#pragma once
#include "sim/solver.h"
#include "sph/sph.h"

/* ---- store.c: checkpoints ---- */

/* Opens the checkpoint and compares its header and its namelist with this run. (collective,
 * agreed) */
MUST_USE enum err sph_restart_open(struct sim *s, struct sph *t, const char *path);
/* Reads it, closes it, and resumes time, outputs and the table of energies. (collective, agreed) */
MUST_USE enum err sph_restart(struct sim *s, struct sph *t);
void sph_restart_close(struct sph *t);
MUST_USE enum err sph_write(struct sim *s, const struct ckpt_head *h);
MUST_USE enum err sph_verify(const char *path, int number, const struct comm *c);
/* The particles of init_file: a checkpoint or a dump. (collective, agreed) */
MUST_USE enum err sph_read_file(struct sph *t);

/* ---- series.c: energies.txt, with the columns of Phantom's .ev files ---- */

/* Begins the table: a new one, or, from step `it` on, that of the run that is resumed, whose later
 * rows are dropped. (collective, agreed) */
MUST_USE enum err sph_series_begin(struct sim *s, const struct sph *t, int64_t it);
bool sph_series_due(const struct sph *t, int64_t it);
/* Appends the row of step `it`, and logs it. Energies that are not finite end the run. (collective,
 * agreed) */
MUST_USE enum err sph_series_row(struct sim *s, const struct sph *t, int64_t it, double dt);
