/* ckpt/gas: gas variables as a run has them, conserved, and as RAMSES stores them, primitive. Every
 * format computes one from the other with these operations, so that all get the same bits.
 *
 * Rows by variable: density, three velocities (momenta), pressure (energy), scalars (density times
 * scalar). */
#pragma once
#include <stdint.h>

enum { GAS_TILE = 64 };

/* Where part `part` of n octs begins; the parts are of whole tiles. */
static inline int gas_cut(int n, int part, int parts)
{
    int64_t tiles = (n + GAS_TILE - 1) / GAS_TILE, at = tiles * part / parts * GAS_TILE;
    return at < n ? (int)at : n;
}

void gas_conserved(int nvar, double gamma, double smallr, int64_t n, const double *const *prim,
                   double *const *u);
/* n <= GAS_TILE */
void gas_primitive(int nvar, double gamma, double smallr, int64_t n, const double *const *u,
                   double *const *prim);
