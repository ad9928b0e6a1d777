/* pk/energy: power spectra of the energy densities of gas in a checkpoint: of the magnetic field
 * B at the centres of cells, and of √ρ v, whose squares are twice the magnetic and the kinetic
 * energy.
 *
 * P(k) = V ½ Σ |w_k|² over the three components, so that the integral of P d³k/(2π)³ is the mean
 * energy of the part of w that varies. */
#pragma once
#include "ckpt/source.h"
#include "pk/pk.h"

enum energy { ENERGY_NONE, ENERGY_MAGNETIC, ENERGY_KINETIC, ENERGY_COUNT };
extern const char *const ENERGY_NAME[ENERGY_COUNT];

struct energy_spectrum {
    const struct comm *c;
    const struct pk_par *par;
    enum energy kind;
    int nbin;
    const double *edge; /* as of pk_spectra */
    int64_t cells;      /* result: number of leaf cells */
};

/* Computes out[nbin], in code units and units of the box. (collective, agreed) */
MUST_USE enum err energy_spectra(struct energy_spectrum *e, struct source *s, struct pk_bin *out);
