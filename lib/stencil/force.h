/* stencil/force: forces per mass on the gas, constant over a step: u += dt·f after its third
 * substep (Brandenburg 2001; Schmidt et al. 2009 for the Ornstein–Uhlenbeck process). Amplitudes of
 * helical and solenoidal forces are in units of cs0 sqrt(|k| cs0/dt).
 *
 * Random numbers have the seed and the number of the step as key, so that a force depends on
 * neither ranks nor restarts. The Ornstein–Uhlenbeck process has a clock of its own, which
 * checkpoints contain. */
#pragma once
#include "stencil/stencil.h"

/* The force that par->stencil.forcing names; *out is NULL for 'none'. Errors name the parameter. */
MUST_USE enum err force_new(const struct stencil *t, struct force **out);
void force_free(struct force **f);
/* Draws the force of step `it` (0, 1, …), which has length dt, and adds dt·f to the velocities
 * u[3], own cells only. Steps come in order: a process in time moves on by dt. Local. */
void force_kick(struct force *f, const struct stencil *t, int64_t it, double dt,
                double *const u[3]);
/* Numbers that a restart needs: their count, and the numbers themselves (lent). */
int force_state(struct force *f, double **state);
