/* fd/rhs_kern: differences at a cell and the right-hand side of the equations of fd.h, for vectors
 * of neighbouring cells along x on the CPU and for single cells on devices (vec/vec.h): the same
 * operations in the same order, hence the same bits.
 *
 * A derivative takes the address of the cell in the array of its field and the steps from a cell to
 * the next along each axis. The order of the differences and the parts of the equations are
 * constants where these functions are inlined, so that loops unroll; what costs little beside a
 * difference (the Lorentz force, upwinding, conduction) is asked at run time.
 *
 * The right-hand side has three stages: fd_induction, fd_shear for each axis, and fd_flow. The CPU
 * completes a stage, and an axis, for part of a row before the next: the values that are alive fit
 * into registers, fewer rows of arrays are read side by side, and the code of a stage is smaller
 * than the caches of a core. */
#pragma once
#include <stddef.h>

#include "fd/law.h"
#include "vec/vec.h"

/* Sums over distances are loops that are unrolled. */
#if defined(__CUDACC__) || defined(__clang__)
#define FD_UNROLL _Pragma("unroll")
#else
#define FD_UNROLL _Pragma("GCC unroll 8")
#endif

/* Statements for each axis. A loop over arrays of vectors would be unrolled too late for gcc 12 to
 * keep their elements in registers. */
#define FD_AXES(i, ...)                                                                            \
    do {                                                                                           \
        FD_AXIS(i, 0, __VA_ARGS__)                                                                 \
        FD_AXIS(i, 1, __VA_ARGS__)                                                                 \
        FD_AXIS(i, 2, __VA_ARGS__)                                                                 \
    } while (0)
#define FD_AXIS(i, n, ...)                                                                         \
    {                                                                                              \
        const int i = n;                                                                           \
        __VA_ARGS__                                                                                \
    }

/* e^x, within 0.7 units in the last place for |x| ≤ 708; beyond, the value at ±708; NaN of NaN.
 * x = n ln 2 + r with |r| ≤ ½ ln 2, in two parts; e^r = 1 + r + r² p(r), whose sum 1 + r is kept
 * exactly. */
VEC_INLINE vec fd_exp(vec x)
{
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    x = vec_min(vec_of(708.0), vec_max(vec_of(-708.0), x));
    vec shifted = x * 1.442695040888963407 + VEC_MAGIC, n = shifted - VEC_MAGIC;
    vec high = x - n * ln2_high, low = n * ln2_low, r = high - low;
    vec lost = (high - r) - low, r2 = r * r, r4 = r2 * r2;
    /* coefficients 1/k! */
    vec p2 = 1 / 2.0 + r * (1 / 6.0), p4 = 1 / 24.0 + r * (1 / 120.0);
    vec p6 = 1 / 720.0 + r * (1 / 5040.0), p8 = 1 / 40320.0 + r * (1 / 362880.0);
    vec p10 = 1 / 3628800.0 + r * (1 / 39916800.0);
    vec p12 = 1 / 479001600.0 + r * (1 / 6227020800.0);
    vec p = (p2 + r2 * p4) + r4 * ((p6 + r2 * p8) + r4 * (p10 + r2 * p12));
    vec sum = 1 + r, rest = (1 - sum) + r;
    vec e = sum + (rest + (lost + (r2 * p + lost * r)));
    return e * vec_from_bits((vec_as_bits(shifted) + 1023) << 52);
}

/* Where differences read: addresses of the cell in the arrays of the fields, and the steps to the
 * next cell along each axis. */
struct fd_cell {
    const double *f[FD_FIELDS];
    ptrdiff_t step[3];
};

/* The address itself, which nvcc then takes for another one: it would keep the addresses of all
 * rows that several differences share, in more registers than there are. */
VEC_INLINE const double *fd_anew(const double *f)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+l"(f)::"memory");
#endif
    return f;
}

/* ∂_a f, with weights law.first[a] and the step along a. */
VEC_INLINE vec fd_first(const int order, const double *weight, const double *f, ptrdiff_t a)
{
    f = fd_anew(f);
    vec d = (vec_load(f + a) - vec_load(f - a)) * weight[1];
    FD_UNROLL
    for (int k = 2; k <= order / 2; k++)
        d = d + (vec_load(f + k * a) - vec_load(f - k * a)) * weight[k];
    return d;
}

/* ∂_a² f with weights law.second[a]; the difference of upwinding with law.upwind[a]. */
VEC_INLINE vec fd_second(const int order, const double *weight, const double *f, ptrdiff_t a)
{
    f = fd_anew(f);
    vec d = vec_load(f) * weight[0];
    FD_UNROLL
    for (int k = 1; k <= order / 2; k++)
        d = d + (vec_load(f + k * a) + vec_load(f - k * a)) * weight[k];
    return d;
}

/* ∂_a ∂_b f with weights law.mixed of the pair. */
VEC_INLINE vec fd_mixed(const int order, const double *weight, const double *f, ptrdiff_t a,
                        ptrdiff_t b)
{
    vec d = {0};
    f = fd_anew(f);
    FD_UNROLL
    for (int k = 1; k <= order / 2; k++) {
        const double *up = f + k * a, *down = f - k * a;
        vec t = ((vec_load(up + k * b) - vec_load(up - k * b)) -
                 (vec_load(down + k * b) - vec_load(down - k * b))) *
                weight[k];
        d = k == 1 ? t : d + t;
    }
    return d;
}

VEC_INLINE void fd_gradient(const struct fd_law *p, const int order, const double *f,
                            const ptrdiff_t step[3], vec g[3])
{
    FD_AXES(a, g[a] = fd_first(order, p->first[a], f, step[a]););
}

VEC_INLINE vec fd_laplacian(const struct fd_law *p, const int order, const double *f,
                            const ptrdiff_t step[3])
{
    return fd_second(order, p->second[0], f, step[0]) +
           (fd_second(order, p->second[1], f, step[1]) +
            fd_second(order, p->second[2], f, step[2]));
}

VEC_INLINE vec fd_dot(const vec a[3], const vec b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

VEC_INLINE void fd_cross(const vec a[3], const vec b[3], vec c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Component i of the curl of the three fields from `first` on. */
VEC_INLINE vec fd_curl(const struct fd_law *p, const int order, const struct fd_cell *c,
                       const int first, const int i)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    return fd_first(order, p->first[j], c->f[first + k], c->step[j]) -
           fd_first(order, p->first[k], c->f[first + j], c->step[k]);
}

/* Second derivatives of component i of a vector field v that begins at `first`: along = ∂_i²v_i,
 * across = its second derivatives along the other axes, mixed = ∂_i of the other terms of ∇·v.
 * Then ∇²v = along + across, ∇(∇·v) = along + mixed, and ∇×∇×v = mixed − across. */
struct fd_seconds {
    vec along, across, mixed;
};

VEC_INLINE struct fd_seconds fd_seconds(const struct fd_law *p, const int order,
                                        const struct fd_cell *c, const int first, const int i)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double *f = c->f[first + i];
    struct fd_seconds d;
    d.along = fd_second(order, p->second[i], f, c->step[i]);
    d.across = fd_second(order, p->second[j], f, c->step[j]) +
               fd_second(order, p->second[k], f, c->step[k]);
    d.mixed = fd_mixed(order, p->mixed[k], c->f[first + j], c->step[i], c->step[j]) +
              fd_mixed(order, p->mixed[j], c->f[first + k], c->step[i], c->step[k]);
    return d;
}

/* B = ∇×A + B_ext. */
VEC_INLINE void fd_magnetic(const struct fd_law *p, const int order, const struct fd_cell *c,
                            vec b[3])
{
    FD_AXES(i, b[i] = fd_curl(p, order, c, FD_AX, i) + p->bext[i];);
}

VEC_INLINE void fd_velocity(const struct fd_cell *c, vec u[3])
{
    FD_AXES(i, u[i] = vec_load(c->f[FD_UX + i]););
}

/* c_s² and ρ⁻¹ */
VEC_INLINE vec fd_sound2(const struct fd_law *p, const int parts, const struct fd_cell *c)
{
    if (!(parts & FD_PART_ENTROPY)) return vec_of(p->cs02);
    return p->cs02 *
           fd_exp(p->g_cp * vec_load(c->f[FD_S]) + p->gm1 * (vec_load(c->f[FD_LNRHO]) - p->lnrho0));
}

VEC_INLINE vec fd_volume(const struct fd_cell *c)
{
    return fd_exp(-vec_load(c->f[FD_LNRHO]));
}

/* u·∇f, given ∇f. */
VEC_INLINE vec fd_advection(const struct fd_law *p, const int order, const double *f,
                            const ptrdiff_t step[3], const vec u[3], const vec g[3])
{
    vec t = fd_dot(u, g);
    if (p->upwinding)
        FD_AXES(a, t = t - vec_abs(u[a]) * fd_second(order, p->upwind[a], f, step[a]););
    return t;
}

/* ∂_t A; μ0 j × B and (μ0 j)² */
struct fd_current {
    vec force[3], square;
};

/* Results of stages of the right-hand side that later ones need: the current, ∇u_i, and the part of
 * ∂_t u_i that has second derivatives. */
struct fd_known {
    struct fd_current j;
    vec du[3][3], viscous[3];
};

VEC_INLINE void fd_induction(const struct fd_law *p, const int order, const struct fd_cell *c,
                             struct fd_current *j, vec out[FD_FIELDS])
{
    vec u[3], b[3], emf[3], current[3];
    fd_velocity(c, u);
    fd_magnetic(p, order, c, b);
    fd_cross(u, b, emf);
    FD_AXES(i, struct fd_seconds d = fd_seconds(p, order, c, FD_AX, i);
            out[FD_AX + i] = emf[i] + p->eta * (d.along + d.across);
            current[i] = d.mixed - d.across;);
    fd_cross(current, b, j->force);
    j->square = fd_dot(current, current);
}

/* Conduction: χ c_p [L + g·(g + ∇lnρ)] + (K/ρ)(L + g²). */
VEC_INLINE vec fd_conduction(const struct fd_law *p, const int order, const struct fd_cell *c,
                             const vec dlnrho[3], const vec ds[3], vec volume)
{
    vec l = p->g_cp * fd_laplacian(p, order, c->f[FD_S], c->step) +
            p->gm1 * fd_laplacian(p, order, c->f[FD_LNRHO], c->step);
    vec g[3], sum[3];
    FD_AXES(i, g[i] = p->g_cp * ds[i] + p->gm1 * dlnrho[i]; sum[i] = g[i] + dlnrho[i];);
    return p->chi_cp * (l + fd_dot(g, sum)) + (p->k * volume) * (l + fd_dot(g, g));
}

/* Twice the rate of strain without its trace, 2 S: the diagonal and yz, xz, xy. */
struct fd_strain {
    vec same[3], other[3], div;
};

VEC_INLINE struct fd_strain fd_strain(vec du[3][3])
{
    struct fd_strain s;
    s.div = du[0][0] + du[1][1] + du[2][2];
    vec third = s.div * (2 / 3.0);
    FD_AXES(i, s.same[i] = 2.0 * du[i][i] - third;
            s.other[i] = du[(i + 1) % 3][(i + 2) % 3] + du[(i + 2) % 3][(i + 1) % 3];);
    return s;
}

/* 2 S·v, component i; 2 S:S */
VEC_INLINE vec fd_strain_dot(const struct fd_strain *s, const vec v[3], const int i)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    return s->same[i] * v[i] + (s->other[k] * v[j] + s->other[j] * v[k]);
}

VEC_INLINE vec fd_strain_square(const struct fd_strain *s)
{
    return fd_dot(s->same, s->same) * 0.5 + fd_dot(s->other, s->other);
}

/* ∂_t s without advection. */
VEC_INLINE vec fd_heating(const struct fd_law *p, const int parts, const struct fd_strain *s,
                          const struct fd_current *j, vec volume, vec sound2)
{
    vec q = p->nu * fd_strain_square(s) + p->zeta * (s->div * s->div) + p->heat * volume;
    if (parts & FD_PART_MAGNETIC) q = q + (p->ohm * j->square) * volume;
    return q * (p->t_inv / sound2);
}

/* ∇u_i and the viscous part of ∂_t u_i, whose differences read the same numbers. */
VEC_INLINE void fd_shear(const struct fd_law *p, const int order, const struct fd_cell *c,
                         const int i, struct fd_known *k)
{
    fd_gradient(p, order, c->f[FD_UX + i], c->step, k->du[i]);
    struct fd_seconds d = fd_seconds(p, order, c, FD_UX, i);
    k->viscous[i] = p->nu_along * d.along + p->nu * d.across + p->nu_mixed * d.mixed;
}

/* ∂_t lnρ and ∂_t s, and ∂_t u but for its viscous part. A thread of a device, which has no room
 * for ∇u_i of an earlier stage, computes them here. */
VEC_INLINE void fd_flow(const struct fd_law *p, const int order, const int parts,
                        const struct fd_cell *c, const struct fd_known *k, vec out[FD_FIELDS])
{
    const bool entropy = parts & FD_PART_ENTROPY, lorentz = parts & FD_PART_MAGNETIC && p->lorentz;
    vec u[3], du[3][3], dlnrho[3], push[3];
    vec volume = fd_volume(c), sound2 = fd_sound2(p, parts, c);
    fd_velocity(c, u);
    fd_gradient(p, order, c->f[FD_LNRHO], c->step, dlnrho);
    FD_AXES(i, push[i] = dlnrho[i];);
    FD_AXES(i, if (VEC == 1) fd_gradient(p, order, c->f[FD_UX + i], c->step, du[i]);
            else memcpy(du[i], k->du[i], sizeof du[i]););
    struct fd_strain s = fd_strain(du);
    out[FD_LNRHO] = -fd_advection(p, order, c->f[FD_LNRHO], c->step, u, dlnrho) - s.div;
    if (entropy) {
        vec ds[3];
        fd_gradient(p, order, c->f[FD_S], c->step, ds);
        vec t = fd_heating(p, parts, &s, &k->j, volume, sound2);
        if (p->conducts) t = t + fd_conduction(p, order, c, dlnrho, ds, volume);
        out[FD_S] = t - fd_advection(p, order, c->f[FD_S], c->step, u, ds);
        FD_AXES(i, push[i] = ds[i] * p->cp_inv + push[i];);
    }
    FD_AXES(i, vec t = p->nu * fd_strain_dot(&s, dlnrho, i) - sound2 * push[i];
            if (lorentz) t = t + k->j.force[i] * (p->mu0_inv * volume);
            out[FD_UX + i] = t - fd_advection(p, order, c->f[FD_UX + i], c->step, u, du[i]););
}

/* The change of a field in a substep, which is kept if another substep follows; returns its next
 * value. */
VEC_INLINE vec fd_put(const struct fd_stage *s, double *change, const double *now, vec rate)
{
    vec w = rate * s->dt;
    if (!s->fresh) w = vec_load(change) * s->alpha + w;
    if (!s->last) vec_store(change, w);
    return vec_load(now) + w * s->beta;
}

/* |u| + sqrt(c_s² + v_A²); frozen flows have no waves. */
VEC_INLINE vec fd_signal(const struct fd_law *p, const int order, const struct fd_cell *c)
{
    vec u[3], b[3];
    fd_velocity(c, u);
    vec speed = vec_sqrt(fd_dot(u, u));
    if (!(p->parts & FD_PART_FLOW)) return speed;
    vec wave2 = fd_sound2(p, p->parts & FD_PART_ENTROPY, c);
    if (p->lorentz) {
        fd_magnetic(p, order, c, b);
        wave2 = wave2 + fd_dot(b, b) * (p->mu0_inv * fd_volume(c));
    }
    return speed + vec_sqrt(wave2);
}
