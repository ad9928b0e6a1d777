/* fd/law: fields and numbers of the equations of fd, for the CPU and for devices. */
#pragma once

#include "base/device.h"

enum fd_field {
#define FIELD(symbol, name, needs) FD_##symbol,
#include "fd/fields.def"
    FD_FIELDS
};

/* Parts of the equations that a field needs (fd/fields.def), and that a variant computes. */
enum { FD_PART_FLOW = 1, FD_PART_ENTROPY = 2, FD_PART_MAGNETIC = 4, FD_PARTS = 8 };

PTAH_HD int fd_needs(enum fd_field f)
{
    switch (f) {
#define FIELD(symbol, name, needs)                                                                 \
    case FD_##symbol:                                                                              \
        return FD_PART_##needs;
#include "fd/fields.def"
    case FD_FIELDS:
        break;
    }
    return 0;
}

/* Whether the last stage of the right-hand side (fd_flow) completes a field: those of the flow but
 * u, to which its second derivatives are added. */
PTAH_HD int fd_by_flow(int parts, enum fd_field f)
{
    return (parts & fd_needs(f)) && fd_needs(f) != FD_PART_MAGNETIC && (f < FD_UX || f > FD_UZ);
}

enum { FD_REACH = 4 }; /* cells that differences reach, at most */

/* Numbers of the right-hand side. Weights include the sides of a cell. Index of an axis: x, y, z;
 * of a pair of axes: the third one. Index of a weight: the distance in cells. */
struct fd_law {
    double first[3][FD_REACH + 1], second[3][FD_REACH + 1], mixed[3][FD_REACH + 1];
    double upwind[3][FD_REACH + 1];
    double nu, zeta, eta, nu_along, nu_mixed; /* ν, ζ, η, 4ν/3 + ζ, ν/3 + ζ */
    double ohm, mu0_inv, bext[3];             /* η/μ0, 1/μ0, B_ext */
    double chi_cp, k, heat;                   /* χ c_p, K, H − C */
    double cs02, lnrho0, gm1, g_cp;           /* c_s0², ln ρ0, γ−1, γ/c_p */
    double cp_inv, t_inv;                     /* 1/c_p, (γ−1)c_p: c_s²/T */
    double pressure;                          /* P/(ρ c_s²) */
    int order, parts;
    int lorentz, upwinding, conducts; /* 0 or 1 */
};

/* The larger of two speeds; NaN if one of them is not a number. */
PTAH_HD double fd_faster(double max, double speed)
{
    return speed <= max || max != max ? max : speed;
}

/* A substep: change = α change + dt F; next = now + β change. */
struct fd_stage {
    double alpha, beta, dt;
    int fresh, last; /* 1: change has no value yet; its value is not needed any more */
};
