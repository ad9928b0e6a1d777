/* view/gas: the gas of a checkpoint in physical units. */
#pragma once
#include "ckpt/source.h"
#include "phys/units.h"

/* Indices of fields, -1: missing; units of the checkpoint. */
struct gas {
    int density, pressure, metal;
    struct units units;
};

struct gas gas_of(const struct source *r);

/* Properties of cell c of oct i of a batch of SOURCE_STORED: T/μ in K; hydrogen nuclei per cm³;
 * metals in solar units (Z/0.02). */
double gas_T2(const struct gas *g, const struct source_octs *o, int c, int i);
double gas_hydrogen(const struct gas *g, const struct source_octs *o, int c, int i);
double gas_metals(const struct gas *g, const struct source_octs *o, int c, int i);
