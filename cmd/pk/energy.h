/* pk/energy: power spectra of vectors of the gas in a checkpoint: energies and helicities.
 *
 * Energies: P(k) = V ½ Σ |w_k|² over the three components of w, the magnetic field B at the centres
 * of cells, or √ρ v, whose squares are twice the magnetic and the kinetic energy. The integral of
 * P d³k/(2π)³ is the mean energy of the part of w that varies.
 *
 * Helicities: V (A_k · B_k*), with the vector potential A_k = i k × B_k / k² in the gauge of
 * Coulomb; and V (i k × w_k) · w_k* of the curl of w, B or the velocity. The integral is the mean
 * of A·B, or of w·curl w. A mean field has no periodic vector potential, and counts for nothing: A
 * is that of the field without its mean. */
#pragma once
#include "ckpt/source.h"
#include "pk/pk.h"

enum energy {
    ENERGY_NONE,
    ENERGY_MAGNETIC,
    ENERGY_KINETIC,
    ENERGY_HELICITY,
    ENERGY_CURRENT_HELICITY,
    ENERGY_KINETIC_HELICITY,
    ENERGY_COUNT
};
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
