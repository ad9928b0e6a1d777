/* oct/gas_kern: energies of the gas, for hosts and devices: kinetic, internal and total energy,
 * pressure, sound speed; access of source terms to a cell. An energy that is neither kinetic nor
 * internal, such as magnetic energy, belongs here and in gas_vec.h.
 *
 * Results must be bitwise the same for all callers, so the order of operations is part of each
 * function. Kinetic energy per volume comes in forms that round differently: from momenta Σ ½m²/ρ
 * (gas_kinetic) or ½(Σm²)/ρ (gas_kinetic_m2), from velocities ½ρ(Σv²) (gas_kinetic_v), Σ ½ρvv
 * (gas_kinetic_flux) or Σ ½ρ(v²) (gas_kinetic_state), from both Σ ½mv (gas_kinetic_mv). New code
 * should use gas_kinetic or gas_kinetic_v. A factor ½ does not round: it may stand anywhere. */
#pragma once

#include "base/device.h"
#include "oct/mesh.h"

/* ---- kinetic energy per volume, and per mass ---- */

/* Kinetic energy per volume of one component of momentum m. */
PTAH_HD double gas_kinetic_part(double rho, double m)
{
    return 0.5 * m * m / rho;
}

PTAH_HD double gas_kinetic(double rho, double mx, double my, double mz)
{
    return gas_kinetic_part(rho, mx) + gas_kinetic_part(rho, my) + gas_kinetic_part(rho, mz);
}

/* Kinetic energy per volume from the square of the momentum, in the rounding of Jeans length and
 * clump criteria, so that threshold cells keep their side. */
PTAH_HD double gas_kinetic_m2(double rho, double m2)
{
    return 0.5 * m2 / rho;
}

/* Rise of the kinetic energy per volume from momentum `from` to `to` along one axis. */
PTAH_HD double gas_kinetic_rise(double rho, double from, double to)
{
    return 0.5 * (to * to - from * from) / rho;
}

/* Kinetic energy per mass. */
PTAH_HD double gas_kinetic_specific(double vx, double vy, double vz)
{
    return 0.5 * (vx * vx + vy * vy + vz * vz);
}

PTAH_HD double gas_kinetic_v(double rho, double vx, double vy, double vz)
{
    return 0.5 * rho * (vx * vx + vy * vy + vz * vz);
}

/* Kinetic energy per volume of one component, in the rounding of fluxes and files. */
PTAH_HD double gas_kinetic_flux_part(double rho, double v)
{
    return 0.5 * rho * v * v;
}

PTAH_HD double gas_kinetic_flux(double rho, double vx, double vy, double vz)
{
    return gas_kinetic_flux_part(rho, vx) + gas_kinetic_flux_part(rho, vy) +
           gas_kinetic_flux_part(rho, vz);
}

/* Kinetic energy per volume in the rounding of initial regions and refinement by gradients. */
PTAH_HD double gas_kinetic_state(double rho, double vx, double vy, double vz)
{
    return 0.5 * rho * (vx * vx) + 0.5 * rho * (vy * vy) + 0.5 * rho * (vz * vz);
}

/* Kinetic energy per volume from momenta and velocities, for gas that leaves a cell at its
 * velocity. */
PTAH_HD double gas_kinetic_mv(const double m[3], const double v[3])
{
    return 0.5 * m[0] * v[0] + 0.5 * m[1] * v[1] + 0.5 * m[2] * v[2];
}

/* Work per volume of a kick along one axis, which adds the momentum `kick` to m. */
PTAH_HD double gas_kick_work(double rho, double m, double kick)
{
    return kick * (m + 0.5 * kick) / rho;
}

/* Work per volume of the momentum `push` on gas of velocity v, for drag on gas that has just lost
 * mass. */
PTAH_HD double gas_drag_work(double rho, double v, double push)
{
    return push * (v + 0.5 * push / rho);
}

/* ---- magnetic energy per volume ---- */

PTAH_HD double gas_magnetic(double bx, double by, double bz)
{
    return 0.5 * (bx * bx + by * by + bz * bz);
}

/* Energy of the field at the centre of a cell, from the field on its faces −x,+x,−y,+y,−z,+z. */
PTAH_HD double gas_magnetic_faces(double xl, double xr, double yl, double yr, double zl, double zr)
{
    return gas_magnetic(0.5 * (xl + xr), 0.5 * (yl + yr), 0.5 * (zl + zr));
}

/* ---- internal and total energy ---- */

/* Internal energy per volume from the total energy e. */
PTAH_HD double gas_internal(double e, double rho, double mx, double my, double mz)
{
    return e - gas_kinetic(rho, mx, my, mz);
}

/* Internal energy per volume: total energy minus the kinetic energy of one component after another;
 * gas_total_by_parts is the inverse. Kicks, totals and RAMSES's files use this rounding. */
PTAH_HD double gas_internal_by_parts(double e, double rho, double mx, double my, double mz)
{
    return e - gas_kinetic_part(rho, mx) - gas_kinetic_part(rho, my) - gas_kinetic_part(rho, mz);
}

PTAH_HD double gas_total_by_parts(double internal, double rho, double mx, double my, double mz)
{
    return internal + gas_kinetic_part(rho, mx) + gas_kinetic_part(rho, my) +
           gas_kinetic_part(rho, mz);
}

/* Per mass, from the total energy per mass e. */
PTAH_HD double gas_internal_specific(double e, double vx, double vy, double vz)
{
    return e - gas_kinetic_specific(vx, vy, vz);
}

/* Per volume from velocities, and back: sources within the Godunov step. */
PTAH_HD double gas_internal_v(double e, double rho, double vx, double vy, double vz)
{
    return e - gas_kinetic_v(rho, vx, vy, vz);
}

PTAH_HD double gas_total_v(double internal, double rho, double vx, double vy, double vz)
{
    return internal + gas_kinetic_v(rho, vx, vy, vz);
}

/* With gas_kinetic_state. */
PTAH_HD double gas_internal_state(double e, double rho, double vx, double vy, double vz)
{
    return e - gas_kinetic_state(rho, vx, vy, vz);
}

/* By parts too, from velocities: the Courant step and fluxes. */
PTAH_HD double gas_internal_flux(double e, double rho, double vx, double vy, double vz)
{
    return e - gas_kinetic_flux_part(rho, vx) - gas_kinetic_flux_part(rho, vy) -
           gas_kinetic_flux_part(rho, vz);
}

PTAH_HD double gas_total_flux(double internal, double rho, double vx, double vy, double vz)
{
    return internal + gas_kinetic_flux_part(rho, vx) + gas_kinetic_flux_part(rho, vy) +
           gas_kinetic_flux_part(rho, vz);
}

/* ---- pressure ---- */

/* γ − 1, the ratio of pressure and internal energy per volume. */
PTAH_HD double gas_gm1(double gamma)
{
    return gamma - 1.0;
}

/* Of an internal energy per volume; of one per mass it is the square of the isothermal sound speed.
 */
PTAH_HD double gas_pressure(double internal, double gamma)
{
    return gas_gm1(gamma) * internal;
}

/* Internal energy per volume. */
PTAH_HD double gas_internal_of(double pressure, double gamma)
{
    return pressure / gas_gm1(gamma);
}

/* Square of the sound speed. */
PTAH_HD double gas_sound2(double rho, double pressure, double gamma)
{
    return gamma * pressure / rho;
}

/* ---- non-thermal energies ---- */

/* Sum of the energies per volume of variables u, of which u[GAS_SCALARS] is the first. */
PTAH_HD double gas_energies(int n, const double *u)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += u[GAS_SCALARS + k];
    return sum;
}

/* ---- cells ---- */

/* Magnetic energy per volume of a cell, from the means of the field on opposite faces; 0 without a
 * magnetic field. */
PTAH_HD double gas_cell_magnetic(const struct level *lv, lidx i, int c)
{
    double(*const *b)[8] = &lv->fld[FLD_MAGNETIC];
    if (!b[0]) return 0.0;
    return gas_magnetic_faces(b[0][i][c], b[1][i][c], b[2][i][c], b[3][i][c], b[4][i][c],
                              b[5][i][c]);
}

/* Sum of the non-thermal energies per volume of a cell. */
PTAH_HD double gas_cell_energies(const struct level *lv, lidx i, int c)
{
    double sum = 0.0;
    for (int k = 0; k < lv->nener; k++) sum += level_gas(lv, GAS_SCALARS + k)[i][c];
    return sum;
}

/* Σ γ_i P_i of a cell: of the square of the sound speed, the part times the density. */
PTAH_HD double gas_cell_stiffness(const struct level *lv, lidx i, int c,
                                  const struct gas_energies *g)
{
    double sum = 0.0;
    for (int k = 0; k < g->n; k++)
        sum += g->gamma[k] * gas_pressure(level_gas(lv, GAS_SCALARS + k)[i][c], g->gamma[k]);
    return sum;
}

/* Energy per volume of a cell that is neither kinetic nor internal: magnetic and non-thermal. */
PTAH_HD double gas_cell_beside(const struct level *lv, lidx i, int c)
{
    const double magnetic = gas_cell_magnetic(lv, i, c);
    return lv->nener > 0 ? magnetic + gas_cell_energies(lv, i, c) : magnetic;
}

/* Densities of mass, momentum, and kinetic and internal energy in cell c of oct i. Magnetic and
 * non-thermal energies are not among them: what heats a cell leaves them alone, and what takes gas
 * from a cell leaves the field alone. */
struct gas_cell {
    double rho, m[3], e;
};

PTAH_HD struct gas_cell gas_cell_read(const struct level *lv, lidx i, int c)
{
    struct gas_cell g;
    g.rho = level_gas(lv, GAS_DENSITY)[i][c];
    for (int d = 0; d < 3; d++) g.m[d] = level_gas(lv, GAS_MOMENTUM + d)[i][c];
    g.e = level_gas(lv, GAS_ENERGY)[i][c] - gas_cell_beside(lv, i, c);
    return g;
}

/* State of a cell with a density of at least smallr. */
PTAH_HD struct gas_cell gas_cell_above(const struct level *lv, lidx i, int c, double smallr)
{
    struct gas_cell g = gas_cell_read(lv, i, c);
    g.rho = g.rho > smallr ? g.rho : smallr;
    return g;
}

PTAH_HD double gas_cell_kinetic(const struct gas_cell *g)
{
    return gas_kinetic(g->rho, g->m[0], g->m[1], g->m[2]);
}

PTAH_HD double gas_cell_internal(const struct gas_cell *g)
{
    return gas_internal(g->e, g->rho, g->m[0], g->m[1], g->m[2]);
}

/* Internal energy per volume by gas_kinetic_m2. */
PTAH_HD double gas_cell_internal_m2(const struct gas_cell *g)
{
    return g->e - gas_kinetic_m2(g->rho, g->m[0] * g->m[0] + g->m[1] * g->m[1] + g->m[2] * g->m[2]);
}

/* Adds energy per volume to a cell: heat, or the work of a change of its momenta. */
PTAH_HD void gas_add_energy(const struct level *lv, lidx i, int c, double energy)
{
    level_gas(lv, GAS_ENERGY)[i][c] += energy;
}

/* Sets the internal energy of a cell; kinetic: value of gas_cell_kinetic there. */
PTAH_HD void gas_set_internal(const struct level *lv, lidx i, int c, double internal,
                              double kinetic)
{
    level_gas(lv, GAS_ENERGY)[i][c] = internal + kinetic + gas_cell_beside(lv, i, c);
}

/* Multiplies the gas of a cell by a factor: all of its nvar variables, but not magnetic energy. */
PTAH_HD void gas_cell_scale(const struct level *lv, lidx i, int c, int nvar, double factor)
{
    const double magnetic = gas_cell_magnetic(lv, i, c);
    for (int v = 0; v < nvar; v++) level_gas(lv, v)[i][c] *= factor;
    if (magnetic > 0) level_gas(lv, GAS_ENERGY)[i][c] += (1 - factor) * magnetic;
}

/* Adds gas to a cell: mass per volume rho at velocity v, with its total energy per volume. */
PTAH_HD void gas_add(const struct level *lv, lidx i, int c, double rho, const double v[3],
                     double energy)
{
    level_gas(lv, GAS_DENSITY)[i][c] += rho;
    for (int d = 0; d < 3; d++) level_gas(lv, GAS_MOMENTUM + d)[i][c] += rho * v[d];
    gas_add_energy(lv, i, c, energy);
}

/* Adds energy per volume to cell c of rows of changes, u[variable][cell]. */
PTAH_HD void gas_change_energy(double (*u)[8], int c, double energy)
{
    u[GAS_ENERGY][c] += energy;
}
