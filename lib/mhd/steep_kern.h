/* mhd/steep_kern: relative jumps of the gas and of its magnetic field between cells, for refinement
 * by gradients on the CPU (flag.c) and on devices. Private to mhd. */
#pragma once
#include "hydro/steep_kern.h"
#include "mhd/interp_kern.h"

/* Quantities after the variables of the gas, of which the momenta stand for velocities, the energy
 * for the pressure: magnetic energy, components of the field, non-thermal energies. */
enum { JUMP_B2 = GAS_SCALARS, JUMP_B, JUMP_ENERGY = JUMP_B + 3 };
enum { JUMPS_FIELD = 9, JUMPS = JUMPS_FIELD + GAS_ENERGIES };

/* Relative jumps of a quantity x, divided by the sum of both cells, or, where c exists, by the sum
 * of c: of velocities the sound speed, and both speeds; of a component of the field the square root
 * of the magnetic energy. */
struct jump {
    int quantity;
    double floor, limit; /* limit < 0: off */
};

struct value {
    double x, c;
};

/* Criterion number n. */
PTAH_HD struct jump jump_of(const struct mhd_par *p, int n)
{
    const struct hydro_par *g = p->gas;
    struct jump q;
    if (n >= JUMPS_FIELD) {
        const int k = n - JUMPS_FIELD;
        q.quantity = JUMP_ENERGY + k;
        q.floor = k < g->energy.n ? steep_energy_floor(g, k) : 0.0;
        q.limit = k < g->energy.n ? g->err_grad_energy[k] : -1.0;
        return q;
    }
    q.quantity = n == 0   ? GAS_DENSITY
                 : n == 1 ? GAS_ENERGY
                 : n < 5  ? GAS_MOMENTUM + n - 2
                          : JUMP_B2 + n - 5;
    q.floor = n == 0   ? g->floor_d
              : n == 1 ? g->floor_p
              : n < 5  ? g->floor_u
              : n == 5 ? p->floor_b2
                       : p->floor_b[n - 6];
    q.limit = n == 0   ? g->err_grad_d
              : n == 1 ? g->err_grad_p
              : n < 5  ? g->err_grad_u
              : n == 5 ? p->err_grad_b2
                       : p->err_grad_b[n - 6];
    return q;
}

PTAH_HD bool jump_is_velocity(const struct jump *q)
{
    return q->quantity >= GAS_MOMENTUM && q->quantity < GAS_MOMENTUM + 3;
}

/* Value in a cell with these variables of the gas and this field on its faces. */
PTAH_HD_FN struct value jump_value(const struct jump *q, const struct mhd_par *p, const double *u,
                                   const double *faces)
{
    const struct hydro_par *g = p->gas;
    const double magnetic = mhd_energy(faces);
    struct value v = {magnetic, 0.0};
    if (q->quantity == JUMP_B2) return v;
    if (q->quantity >= JUMP_ENERGY) {
        v.x = u[GAS_SCALARS + q->quantity - JUMP_ENERGY];
        return v;
    }
    if (q->quantity >= JUMP_B) {
        v.x = mhd_centre(faces, q->quantity - JUMP_B);
        v.c = sqrt(magnetic);
        return v;
    }
    const double r = hydro_max(u[0], g->smallr),
                 e = u[GAS_ENERGY] - magnetic - gas_energies(g->energy.n, u),
                 pressure = steep_pressure(r, u[1], u[2], u[3], e, g->gamma);
    v.x = steep_quantity(q->quantity, r, u[q->quantity], pressure);
    if (jump_is_velocity(q)) v.c = steep_sound(r, pressure, g->gamma, g->floor_u * g->floor_u);
    return v;
}

PTAH_HD_FN struct value jump_value_in(const struct mesh *m, struct patch_cell x,
                                      const struct jump *q, const struct mhd_par *p)
{
    double u[GAS_SCALARS + GAS_ENERGIES + LAW_FACES];
    const int n = GAS_SCALARS + p->gas->energy.n;
    mhd_cell_read(m, x, n, u);
    return jump_value(q, p, u, u + n);
}

/* Value beyond boundary f of a cell. */
PTAH_HD_OUT struct value jump_value_beyond(const struct mesh *m, struct patch_cell own, int f,
                                           const struct jump *q, const struct mhd_par *p)
{
    double u[MHD_VALUES], near[MHD_VALUES];
    mhd_cell_read(m, own, p->gas->nvar, near);
    mhd_beyond(p, f, 0, near, near, u);
    return jump_value(q, p, u, u + p->gas->nvar);
}

/* Denominator of the relative difference of the cells below and above a face. */
PTAH_HD_FN double jump_scale(const struct jump *q, struct value l, struct value u)
{
    if (q->quantity >= JUMP_B && q->quantity < JUMP_ENERGY) return l.c + u.c + q->floor;
    return steep_scale(jump_is_velocity(q), l.x, l.c, u.x, u.c, q->floor);
}

PTAH_HD_FN bool jump_is_steep(const struct jump *q, struct value below, struct value mid,
                              struct value above)
{
    return steep_exceeds(mid.x - below.x, above.x - mid.x, jump_scale(q, below, mid),
                         jump_scale(q, mid, above), q->limit);
}
