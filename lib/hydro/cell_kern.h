/* hydro/cell_kern: the Godunov scheme of one cell: primitive variables, limited slopes, tracing to
 * the faces, sums of fluxes, sources. Built on point_kern.h, for the planes of the CPU (flux.c) and
 * for device kernels. (van Leer 1979; Toro 2009 ch. 14; Teyssier 2002 §2.2) */
#pragma once
#include "hydro/hydro.h"
#include "hydro/point_kern.h"

/* Primitive variables from conserved ones, with floors. */
PTAH_HD struct hydro_state hydro_prim(double rho, double mx, double my, double mz, double etot,
                                      struct hydro_gas g)
{
    struct hydro_state q;
    double r = hydro_max(rho, g.smallr), inv = 1.0 / r;
    double vx = mx * inv, vy = my * inv, vz = mz * inv;
    double e = gas_internal_specific(etot * inv, vx, vy, vz);
    q.r = r;
    q.u = vx;
    q.v = vy;
    q.w = vz;
    q.p = g.gm1 * r * hydro_max(e, g.smalle);
    return q;
}

/* ---- slopes in three dimensions ---- */

struct hydro_slope3 {
    double c, x, y, z; /* cell value, limited differences */
};

/* Minimum and maximum of a cell and its eight neighbours in its plane; w: stride between rows.
 * Loops are unrolled by hand so that compilers vectorise the loops over cells. */
PTAH_HD void hydro_extremes_row(const double *q, double *min, double *max)
{
    *min = hydro_min(*min, hydro_min(q[0], hydro_min(q[-1], q[1])));
    *max = hydro_max(*max, hydro_max(q[0], hydro_max(q[-1], q[1])));
}

PTAH_HD void hydro_extremes_plane(const double *q, int w, double *min, double *max)
{
    hydro_extremes_row(q - w, min, max);
    hydro_extremes_row(q, min, max);
    hydro_extremes_row(q + w, min, max);
}

/* Positivity-preserving unlimited slopes: central differences, scaled so that the extreme corner
 * values stay within the range of the 26 neighbours. lo, mid, hi: the cell in its plane and in the
 * planes below and above; w: stride between rows. */
PTAH_HD struct hydro_slope3 hydro_slope_positive(const double *lo, const double *mid,
                                                 const double *hi, int w)
{
    double c = mid[0], vmin = c, vmax = c;
    hydro_extremes_plane(lo, w, &vmin, &vmax);
    hydro_extremes_plane(mid, w, &vmin, &vmax);
    hydro_extremes_plane(hi, w, &vmin, &vmax);
    struct hydro_slope3 d = {c, 0.5 * (mid[1] - mid[-1]), 0.5 * (mid[w] - mid[-w]),
                             0.5 * (hi[0] - lo[0])};
    double dff = 0.5 * (fabs(d.x) + fabs(d.y) + fabs(d.z));
    double lim = hydro_min(1.0, hydro_min(fabs(vmin - c), fabs(vmax - c)) / dff);
    lim = dff > 0.0 ? lim : 1.0;
    d.x *= lim;
    d.y *= lim;
    d.z *= lim;
    return d;
}

PTAH_HD struct hydro_slope3 hydro_slopes(enum slope type, const double *lo, const double *mid,
                                         const double *hi, int w, double theta)
{
    if (type == SLOPE_POSITIVE) return hydro_slope_positive(lo, mid, hi, w);
    double c = mid[0];
    struct hydro_slope3 d = {c, hydro_slope(type, c - mid[-1], mid[1] - c, theta),
                             hydro_slope(type, c - mid[-w], mid[w] - c, theta),
                             hydro_slope(type, c - lo[0], hi[0] - c, theta)};
    return d;
}

/* ---- tracing ---- */

struct hydro_velocity {
    double u, v, w;
};

/* Rate of change, times dx, of a quantity with slopes q that is advected at velocity x. */
PTAH_HD double hydro_rate_advected(struct hydro_velocity x, struct hydro_slope3 q)
{
    return -x.u * q.x - x.v * q.y - x.w * q.z;
}

/* Rate of change of the density; divergence: sum of the slopes of the velocities along their axes.
 */
PTAH_HD double hydro_rate_density(struct hydro_velocity x, struct hydro_slope3 r, double divergence)
{
    return hydro_rate_advected(x, r) - divergence * r.c;
}

/* Rate of change of a velocity component with slopes q; p: slope of the pressure along its axis;
 * volume: 1/ρ. */
PTAH_HD double hydro_rate_velocity(struct hydro_velocity x, struct hydro_slope3 q, double p,
                                   double volume)
{
    return hydro_rate_advected(x, q) - p * volume;
}

PTAH_HD double hydro_rate_pressure(struct hydro_velocity x, struct hydro_slope3 p,
                                   double divergence, double gamma)
{
    return hydro_rate_advected(x, p) - divergence * gamma * p.c;
}

/* State at the lower and at the upper face, with the change h over half the step. */
PTAH_HD double hydro_face_lower(double c, double slope, double h)
{
    return c - 0.5 * slope + h;
}

PTAH_HD double hydro_face_upper(double c, double slope, double h)
{
    return c + 0.5 * slope + h;
}

/* Density at a face; below the floor it is replaced by the cell value. */
PTAH_HD double hydro_floor_density(double r, double cell, double smallr)
{
    return r < smallr ? cell : r;
}

/* Waves of a cell in one dimension: amplitudes in the density of the two sound waves and of the
 * contact, and by how far each travels in a step, in cells. */
struct hydro_waves {
    double minus, plus, contact;
    double by_minus, by_plus, by_contact;
    double sound; /* over the density */
    double sound2;
};

/* Steep velocities are traced without sound: they are shocks (Colella 1990). */
PTAH_HD struct hydro_waves hydro_waves_of(double r, double u, double p, double dr, double du,
                                          double dp, double gamma, double dtdx)
{
    const double c2 = gas_sound2(r, p, gamma), c = sqrt(c2);
    const double speed = fabs(du) > 3.0 * c ? 0.0 : c, half = 0.5 * dp / c2,
                 jump = 0.5 * du * r / c;
    struct hydro_waves w = {half - jump,        half + jump, dr - dp / c2, (u - speed) * dtdx,
                            (u + speed) * dtdx, u * dtdx,    c / r,        c2};
    return w;
}

/* Change of a wave of amplitude a at the lower or the upper face, which it reaches only if it moves
 * towards it. */
PTAH_HD double hydro_wave_lower(double a, double by)
{
    return by > 0.0 ? 0.0 : 0.5 * (-1.0 - by) * a;
}

PTAH_HD double hydro_wave_upper(double a, double by)
{
    return by > 0.0 ? 0.5 * (1.0 - by) * a : 0.0;
}

/* ---- faces ---- */

/* Flux through a face by the solvers that take one face at a time (riemann.def). */
PTAH_HD struct hydro_flux hydro_face_solve(enum riemann rs, struct hydro_state L,
                                           struct hydro_state R, struct hydro_gas g)
{
    switch (rs) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        return flux(L, R, g);
#define ITERATED(name, text)                                                                       \
    case RIEMANN_##name:                                                                           \
        break;
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_COUNT:
        break;
    }
    struct hydro_flux none = {0, 0, 0, 0, 0, 0, 0}; /* unreachable */
    return none;
}

/* ---- faces of gas with non-thermal energies (energies.c) ---- */

/* The gas with the index stiff/p, where stiff = γP + Σ γ_i P_i and p is the total pressure. */
PTAH_HD struct hydro_gas hydro_gas_mean(struct hydro_gas g, double stiff, double p)
{
    const double index = p > 0.0 ? stiff / p : g.gamma;
    g.gamma = index;
    g.gm1 = gas_gm1(index);
    g.entho = 1.0 / g.gm1;
    g.gamma6 = (index + 1.0) / (2.0 * index);
    g.inv_gamma = 1.0 / index;
    return g;
}

PTAH_HD struct hydro_flux hydro_exact_alone(struct hydro_state L, struct hydro_state R,
                                            struct hydro_gas g)
{
    const struct hydro_exact x = hydro_exact_sides(L, R, g);
    double p = hydro_exact_guess(x), dp, change = 1.0;
    for (int it = 0; it < g.niter && change > HYDRO_EXACT_CHANGE; it++) {
        p = hydro_exact_newton(x, g, p, &dp);
        change = hydro_exact_change(g, p, dp);
    }
    return hydro_exact_flux(L, R, g, p);
}

/* Flux through a face of gas with the total pressure in L and R; sl, sr: γP + Σ γ_i P_i. */
PTAH_HD struct hydro_flux hydro_mixed_solve(enum riemann rs, struct hydro_state L,
                                            struct hydro_state R, struct hydro_gas g, double sl,
                                            double sr)
{
    const double cl2 = sl / hydro_max(L.r, g.smallr), cr2 = sr / hydro_max(R.r, g.smallr);
    const double c2 = hydro_max(hydro_max(cl2, cr2), g.smallc2);
    switch (rs) {
    case RIEMANN_HLL:
        return hydro_hll_flux(L, R, g, sqrt(cl2), sqrt(cr2));
    case RIEMANN_HLLC:
        return hydro_hllc_flux(L, R, g, hydro_hllc_contact(L, R, g, sqrt(c2)));
    case RIEMANN_EXACT:
        return hydro_exact_alone(L, R, g);
    case RIEMANN_ACOUSTIC:
        return hydro_riemann_acoustic(L, R, g);
    case RIEMANN_LLF:
    case RIEMANN_COUNT:
        break;
    }
    return hydro_llf_flux(L, R, g, sqrt(cl2), sqrt(cr2));
}

/* One side of a face: total pressure, Σ γP, sum of the internal energies per volume, the thermal
 * one, density. */
struct hydro_mixed {
    double p, stiff, e, thermal, r;
};

/* A side of thermal pressure p alone. floors: whether pressure and density have their floors, as
 * with all solvers but LLF and HLL, which have them in the sound speed alone. */
PTAH_HD struct hydro_mixed hydro_mix(int floors, double r, double p, struct hydro_gas g)
{
    const double least = hydro_max(r, g.smallr), floored = hydro_max(p, least * g.smallp);
    struct hydro_mixed m;
    m.r = floors ? least : r;
    m.p = floors ? floored : p;
    m.e = m.thermal = m.p * g.entho;
    m.stiff = g.gamma * floored;
    return m;
}

/* Adds a non-thermal pressure. */
PTAH_HD struct hydro_mixed hydro_mix_add(struct hydro_mixed m, double p, double gamma)
{
    m.p += p;
    m.stiff += gamma * p;
    m.e += gas_internal_of(p, gamma);
    return m;
}

PTAH_HD int hydro_mix_floors(enum riemann rs)
{
    return rs != RIEMANN_LLF && rs != RIEMANN_HLL;
}

/* Flux of a quantity per volume, l and r on both sides: that per mass goes with the mass. */
PTAH_HD double hydro_carried(double left, double mass, double l, double rl, double r, double rr)
{
    return left * (l / rl) + (mass - left) * (r / rr);
}

/* Flux through a face; the pressures in L and R are those of the mixtures l and r. */
PTAH_HD struct hydro_flux hydro_mixed_flux(enum riemann rs, struct hydro_state L,
                                           struct hydro_state R, struct hydro_gas g,
                                           struct hydro_mixed l, struct hydro_mixed r)
{
    if (rs == RIEMANN_EXACT || rs == RIEMANN_ACOUSTIC)
        g = hydro_gas_mean(g, l.stiff + r.stiff, l.p + r.p);
    struct hydro_flux f = hydro_mixed_solve(rs, L, R, g, l.stiff, r.stiff);
    f.e += hydro_carried(f.left, f.r, l.e - l.p * g.entho, l.r, r.e - r.p * g.entho, r.r);
    f.eint = hydro_carried(f.left, f.r, l.thermal, l.r, r.thermal, r.r);
    return f;
}

/* ---- the new state of a cell ---- */

/* Half a gravity kick with the old density, at constant internal energy, of a cell of new density
 * r. */
PTAH_HD void hydro_pull_cell(double r, double *mx, double *my, double *mz, double *etot,
                             double r_old, double fx, double fy, double fz, double smallr,
                             double dt)
{
    double d = hydro_max(r, smallr);
    double u = *mx / d, v = *my / d, x = *mz / d;
    double e = gas_internal_v(*etot, d, u, v, x);
    double fact = hydro_max(r_old, smallr) / d * 0.5 * dt;
    u += fx * fact;
    v += fy * fact;
    x += fz * fact;
    *mx = d * u;
    *my = d * v;
    *mz = d * x;
    *etot = gas_total_v(e, d, u, v, x);
}

/* Gravity kick: momentum += dt f rho at constant internal energy. */
PTAH_HD void hydro_kick_cell(double r, double *mx, double *my, double *mz, double *etot, double fx,
                             double fy, double fz, double smallr, double dt)
{
    double d = hydro_max(r, smallr);
    double x = *mx, y = *my, z = *mz;
    double eint = gas_internal_by_parts(*etot, d, x, y, z);
    x += d * fx * dt;
    y += d * fy * dt;
    z += d * fz * dt;
    *mx = x;
    *my = y;
    *mz = z;
    *etot = gas_total_by_parts(eint, d, x, y, z);
}

/* Changes the velocity by g = f dt at constant internal energy, without a division: the work is
 * g (m + ½ d g). */
PTAH_HD void hydro_push_cell(double r, double *mx, double *my, double *mz, double *etot,
                             const double g[3], double smallr)
{
    const double d = hydro_max(r, smallr), x = d * g[0], y = d * g[1], z = d * g[2];
    *etot += g[0] * (*mx + 0.5 * x) + g[1] * (*my + 0.5 * y) + g[2] * (*mz + 0.5 * z);
    *mx += x;
    *my += y;
    *mz += z;
}

/* Factor of the old scalar densities where the density falls below its floor (r1) or rises from
 * below it (r0); 0: the new scalar densities are kept. */
PTAH_HD double hydro_scalar_factor(double r0, double r1, double smallr)
{
    if (r0 < smallr && r1 > r0) return hydro_max(r1, smallr) / smallr;
    if (r1 < smallr && r0 > r1) return smallr / hydro_max(r0, smallr);
    return 0.0;
}

/* ---- non-thermal energies ---- */

/* Change of a non-thermal energy e per volume by compression over a step, with the divergence of
 * the old velocities. */
PTAH_HD double hydro_energy_pdv(double e, double gamma, double div, double dt)
{
    return -gas_gm1(gamma) * e * div * dt;
}

/* ---- pressure_fix ---- */

/* New auxiliary internal energy from the old state: fluxes, and −P dV with the old velocities. */
PTAH_HD double hydro_pdv_cell(double r, double mx, double my, double mz, double etot, double flux,
                              double div, double smallr, double gm1, double dt)
{
    double d = hydro_max(r, smallr), u = mx / d, v = my / d, w = mz / d;
    double e = gas_internal_v(etot, d, u, v, w);
    return e + flux - gm1 * e * div * dt;
}

/* Total energy: the auxiliary internal energy replaces the conserved one where that is lost in the
 * kinetic energy's truncation error. change: −dt ∇·v from the faces; hubble: 3 H dx. */
PTAH_HD double hydro_energy_choose(double r, double mx, double my, double mz, double etot,
                                   double eint, double change, double hubble, double dx, double dt,
                                   double smallr, double beta)
{
    double d = hydro_max(r, smallr);
    double u = mx / d, v = my / d, w = mz / d;
    double div = hydro_max(dt > 0 ? fabs(change) * dx / dt : 0, hubble);
    bool lost = gas_internal_v(etot, d, u, v, w) < beta * d * (div * div);
    return lost ? gas_total_v(eint, d, u, v, w) : etot;
}

/* ---- the Courant condition ---- */

/* The signal of a cell (patch/courant.h) is its speed; with gravity or driven turbulence, minus its
 * step. */
struct gas_signal {
    struct hydro_gas gas;
    double dx, courant;
    struct gas_energies energy;
    struct turb_force drive; /* driven turbulence; a NULL: none */
    bool gravity;
};

PTAH_HD double gas_signal_speed(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct gas_signal *s = (const struct gas_signal *)ctx;
    return hydro_cell_speed(lv->fld[FLD_U][i][c], lv->fld[FLD_U + 1][i][c],
                            lv->fld[FLD_U + 2][i][c], lv->fld[FLD_U + 3][i][c],
                            lv->fld[FLD_U + GAS_ENERGY][i][c], s->gas);
}

/* The speed of gas with non-thermal energies. */
PTAH_HD double gas_signal_mixed(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct gas_signal *s = (const struct gas_signal *)ctx;
    return hydro_mixed_speed(lv->fld[FLD_U][i][c], lv->fld[FLD_U + 1][i][c],
                             lv->fld[FLD_U + 2][i][c], lv->fld[FLD_U + 3][i][c],
                             lv->fld[FLD_U + GAS_ENERGY][i][c] - gas_cell_energies(lv, i, c),
                             gas_cell_stiffness(lv, i, c, &s->energy), s->gas);
}

/* Sum of the magnitudes of the acceleration along the axes, which shortens a step. */
PTAH_HD double gas_pull(const struct level *lv, lidx i, int c)
{
    return fabs(lv->fld[FLD_FX][i][c]) + fabs(lv->fld[FLD_FY][i][c]) + fabs(lv->fld[FLD_FZ][i][c]);
}

/* Sum of the magnitudes of the acceleration by gravity, if there is any, and driven turbulence
 * together. */
PTAH_HD double gas_pull_driven(const struct turb_force *f, bool gravity, const struct level *lv,
                               lidx i, int c)
{
    double a[3], sum = 0.0;
    turb_acceleration(f, lv->key[i], c, a);
    const double driven = lv->fld[FLD_U][i][c] < f->min_rho ? 0.0 : 1.0;
    for (int d = 0; d < 3; d++)
        sum += fabs(a[d] * driven + (gravity ? lv->fld[FLD_FX + d][i][c] : 0.0));
    return sum;
}

/* Whether certainly the step of a cell with no higher acceleration than `pull` is above -max, in
 * spite of rounding. */
PTAH_HD bool gas_step_is_longer(double speed, double pull, double dx, double courant, double max)
{
    return -hydro_speed_dt(speed, pull, dx, courant) * (1.0 - 1e-9) <= max;
}

PTAH_HD double gas_signal_driven(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct gas_signal *s = (const struct gas_signal *)ctx;
    const double speed = s->energy.n > 0 ? gas_signal_mixed(s, lv, i, c)
                                         : gas_signal_speed(s, lv, i, c);
    return -hydro_speed_dt(speed, gas_pull_driven(&s->drive, s->gravity, lv, i, c), s->dx,
                           s->courant);
}

PTAH_HD double gas_signal_step(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct gas_signal *s = (const struct gas_signal *)ctx;
    return -hydro_speed_dt(gas_signal_speed(s, lv, i, c), gas_pull(lv, i, c), s->dx, s->courant);
}

PTAH_HD double gas_signal_mixed_step(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct gas_signal *s = (const struct gas_signal *)ctx;
    return -hydro_speed_dt(gas_signal_mixed(s, lv, i, c), gas_pull(lv, i, c), s->dx, s->courant);
}

/* ---- sums over an oct ---- */

/* Sum of eight values, by halves. */
PTAH_HD double hydro_sum8(const double x[8])
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* Mass, energy, internal energy and momentum of the leaf cells of an oct; non-thermal energies are
 * not internal. */
PTAH_HD void hydro_oct_totals(const struct level *lv, lidx i, double vol, double smallr,
                              double sum[6])
{
    const double *r = lv->fld[FLD_U][i], *e = lv->fld[FLD_U + GAS_ENERGY][i];
    const lidx *child = lv->child[i];
    double d[8], eint[8], x[8];
    for (int c = 0; c < 8; c++) {
        d[c] = hydro_max(r[c], smallr);
        eint[c] = e[c];
    }
    for (int k = 0; k < 3; k++) {
        const double *p = lv->fld[FLD_U + GAS_MOMENTUM + k][i];
        for (int c = 0; c < 8; c++) {
            eint[c] -= gas_kinetic_part(d[c], p[c]);
            x[c] = child[c] < 0 ? p[c] * vol : 0.0;
        }
        sum[3 + k] = hydro_sum8(x);
    }
    for (int k = 0; k < lv->nener; k++)
        for (int c = 0; c < 8; c++) eint[c] -= lv->fld[FLD_U + GAS_SCALARS + k][i][c];
    for (int c = 0; c < 8; c++) x[c] = child[c] < 0 ? r[c] * vol : 0.0;
    sum[0] = hydro_sum8(x);
    for (int c = 0; c < 8; c++) x[c] = child[c] < 0 ? e[c] * vol : 0.0;
    sum[1] = hydro_sum8(x);
    for (int c = 0; c < 8; c++) x[c] = child[c] < 0 ? eint[c] * vol : 0.0;
    sum[2] = hydro_sum8(x);
}
