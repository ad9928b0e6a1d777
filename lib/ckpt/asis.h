/* ckpt/asis: gas as another code stored it, in a format that stores conserved variables.
 *
 * RAMSES stores velocities, pressure and scalars. HDF5 files of cuRAMSES, and hence of Ptah,
 * contain momentum, energy and densities of scalars. The stored values follow from these up to
 * their last bits; the differences of the bits, mostly 0 or ±1, are stored in addition, so that
 * nothing is lost. A variable is recognised by its name; an unknown one is passed on unchanged. */
#pragma once
#include <stdint.h>

#include "ckpt/batch.h"
#include "ckpt/ckpt.h"

enum asis_kind { ASIS_SAME, ASIS_TIMES_DENSITY, ASIS_VELOCITY, ASIS_PRESSURE, ASIS_ENERGY };

struct asis {
    int nvar;
    enum asis_kind kind[CKPT_FIELDS];
    double gamma, smallr;
    struct gas_energies energy; /* of the variables ASIS_ENERGY, non-thermal pressures, in turn */
};

/* h: gamma, smallr, energy. */
void asis_of_fields(struct asis *a, const struct ckpt_field *field, int nvar,
                    const struct ckpt_head *h);
/* Converts rows of n cells by variable: stored to conserved values, and back. */
void asis_conserved(const struct asis *a, int n, const double *const *stored, double *const *u);
void asis_stored(const struct asis *a, int n, const double *const *u, double *const *stored);
/* asis_conserved for one oct: stored, u and word are rows of eight cells by variable; word receives
 * the differences for asis_mend. */
void asis_oct(const struct asis *a, const double (*stored)[8], double (*u)[8], uint64_t (*word)[8]);
/* Differences between the bits of values and the bits that asis_stored reconstructs, folded so that
 * small differences of either sign are small numbers. asis_mend applies them. */
void asis_differ(int n, const double *is, const double *made, uint64_t *word);
void asis_mend(int n, const uint64_t *word, double *made);
