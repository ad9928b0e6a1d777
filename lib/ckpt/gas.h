/* ckpt/gas: conversion between conserved gas variables of a run and primitive variables of RAMSES
 * files. All formats use these operations and so obtain equal bits.
 *
 * Rows by variable: density, three velocities (momenta), pressure (energy), non-thermal pressures
 * (energies per volume), scalars (density times scalar). */
#pragma once
#include <stdint.h>

#include "oct/gas.h"

enum { GAS_TILE = 64 };

/* First oct of part `part` of n octs; parts consist of whole tiles. */
static inline int gas_cut(int n, int part, int parts)
{
    int64_t tiles = (n + GAS_TILE - 1) / GAS_TILE, at = tiles * part / parts * GAS_TILE;
    return at < n ? (int)at : n;
}

/* The gas of a checkpoint. */
struct gas_equation {
    int nvar;
    double gamma, smallr;
    const struct gas_energies *energy; /* NULL: no non-thermal ones */
};

void gas_conserved(const struct gas_equation *g, int64_t n, const double *const *prim,
                   double *const *u);
/* Converts n <= GAS_TILE cells. */
void gas_primitive(const struct gas_equation *g, int64_t n, const double *const *u,
                   double *const *prim);
/* With a magnetic field, rows b of the six faces: after gas_conserved, adds its energy to e; before
 * gas_primitive, which has no field, gives it the energy without that of the field. */
void gas_add_field(int64_t n, const double *const *b, double *e);
void gas_leave_field(int64_t n, const double *const *b, const double *e, double *out);
