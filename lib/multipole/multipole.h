/* multipole: gravity of particles by a tree of multipoles, the same on any number of ranks.
 *
 * Cells are those of the octree of a cube around all particles, 42 levels deep. A cell is split if
 * it has more than a number of particles of all ranks together, so the tree is a function of the
 * positions alone. Moments (mass, centre, quadrupole) are sums of integers, exact in any order: a
 * cell whose particles several ranks have is the same on each. A cell acts as a whole on a group
 * of particles, a cell or a few, if all of the group sees it under an angle below θ and beyond the
 * softening: a condition on cells alone. Other cells are opened, and particles of cells that are
 * not split act one by one. Terms are added in the order of keys. So bits depend neither on ranks
 * and threads nor on the order of rows.
 *
 * Particles attract each other softened by the kernel of smoothed particles, with the mean of the
 * forces for h_a and h_b, and with the term of ζ that conserves energy where h varies (Price &
 * Monaghan 2007); beyond the support it is Newton's law:
 *
 *     dv_a/dt = −G Σ_b m { ½[φ'(h_a) + φ'(h_b)] + ½[ζ_a/Ω_a F(h_a) + ζ_b/Ω_b F(h_b)] } r̂_ab
 *     ζ_a = −h_a/(3ρ_a) Σ_b m ∂φ(r_ab,h_a)/∂h_a,   Φ_a = G Σ_b m ½[φ(h_a) + φ(h_b)]
 *
 * Pairs attract each other exactly equally, but a cell and a particle do not: the sum of all forces
 * is of the order of the error of θ. */
#pragma once
#include "comm/comm.h"
#include "smooth/smooth.h"

struct multipole_par {
    double g, theta; /* gravitational constant; opening angle; 0: all pairs */
    int leaf;        /* particles of a cell that is not split, at most; 16 is fast */
    bool quadrupole; /* without it, cells act as points at their centres of mass */
};
/* Adds accelerations to acc[3][n] of own particles and sets potentials phi[n] (per mass, with the
 * particle's own, which is that of a sphere as smooth as the kernel; NULL: not asked): half of Σ m
 * phi is the potential energy whose gradient the accelerations are. Needs x, h, omega and id of own
 * particles as the density has left them, no ghosts. Space is open: no periodic images. Error: a
 * position or h that is not finite. (collective, agreed) */
MUST_USE enum err multipole_gravity(const struct multipole_par *g, const struct smooth_par *p,
                                    const struct comm *c, const struct smooth *s,
                                    double *const acc[3], double *phi);
