/* fd: compressible magnetohydrodynamics by centred finite differences of order 2, 4, 6 or 8, with
 * the three substeps of Williamson (1980) in two registers (Pekkilä et al. 2022, appendix B):
 *
 *     ∂t lnρ = −u·∇lnρ − ∇·u
 *     ∂t u   = −u·∇u − c_s²(∇s/c_p + ∇lnρ) + j×B/ρ + ν[∇²u + ⅓∇(∇·u) + 2 S·∇lnρ] + ζ∇(∇·u)
 *     ∂t s   = −u·∇s + [(H−C)/ρ + ημ0 j²/ρ + 2ν S:S + ζ(∇·u)²]/T + conduction
 *     ∂t A   = u×B + η∇²A
 *
 * with B = ∇×A + B_ext, μ0 j = ∇(∇·A) − ∇²A, S_ij = ½(∂_i u_j + ∂_j u_i) − ⅓δ_ij ∇·u,
 * c_s² = c_s0² exp[γ s/c_p + (γ−1)(lnρ − lnρ0)], T = c_s²/((γ−1)c_p); conduction, with
 * g = γ∇s/c_p + (γ−1)∇lnρ and L = γ∇²s/c_p + (γ−1)∇²lnρ: χ c_p [L + g·(g+∇lnρ)] + (K/ρ)(L + g²).
 *
 * The text of the right-hand side (rhs_kern.h) is the same on the CPU and on devices. Each cell has
 * the same operations in the same order wherever it is computed, so bits depend on nothing but the
 * fields. */
#pragma once
#include <stdbool.h>

#include "base/sum.h"
#include "brick/brick.h"
#include "fd/law.h"

extern const char *const fd_name[FD_FIELDS];

enum { FD_SUBSTEPS = 3 };

struct fd_par {
    int order; /* 2, 4, 6 or 8 */
    /* Which equations: flow advances lnρ and u, which are frozen otherwise; entropy advances s,
     * with flow alone, else c_s = c_s0; magnetic advances A; lorentz: A acts on u; upwind: u·∇ of
     * lnρ, u and s with |u| times a difference of the next order, which damps what the mesh does
     * not resolve. */
    bool flow, entropy, magnetic, lorentz, upwind;
    double nu, zeta, eta, chi, k, gamma, cp, cs0, rho0, mu0, heat; /* heat: H − C */
    double bext[3];
    double dx[3]; /* sides of a cell */
};

/* Width of the halo that the differences read. */
static inline int fd_halo(const struct fd_par *p)
{
    return p->order / 2;
}
/* Whether these equations have, and whether they advance a field. */
bool fd_has(const struct fd_par *p, enum fd_field f);
bool fd_advances(const struct fd_par *p, enum fd_field f);

/* Number of arrays of a brick: one of a field, three of one that is advanced. */
int fd_array_count(const struct fd_par *p);

/* Arrays of the fields of a brick, of brick.size numbers each; NULL where fd_has is false. now: the
 * state, with halos; next: the state after the substep (that of fields that are not advanced is
 * NULL, too); change: the second register, of the advanced fields. In rows of fewer than 8 cells
 * numbers behind the row are read: brick.size covers 8 numbers from the first own cell of the last
 * row of the halo on. */
struct fd_arrays {
    double *now[FD_FIELDS], *next[FD_FIELDS], *change[FD_FIELDS];
    double *block; /* of fd_arrays_new, or NULL */
};
/* Allocates the arrays, zeroed, so that the same cell of different arrays lies in different sets of
 * a cache. */
void fd_arrays_new(const struct fd_par *p, const struct brick *b, struct fd_arrays *a);
void fd_arrays_free(struct fd_arrays *a);
/* After a substep: what was next is now. */
static inline void fd_arrays_swap(struct fd_arrays *a)
{
    for (int f = 0; f < FD_FIELDS; f++) {
        double *next = a->next[f];
        if (!next) continue;
        a->next[f] = a->now[f];
        a->now[f] = next;
    }
}

/* Substep i, 0 to 2, of a step dt on the box lo ≤ cell < hi of own cells:
 * change = α_i change + dt·F(now); next = now + β_i change. The caller swaps now and next when all
 * boxes are done. If fd_wraps, next values are also stored in the halo beside own cells beyond axes
 * that are not cut (brick_beside). Local; uses the threads of OpenMP. */
void fd_substep(const struct fd_par *p, const struct brick *b, const int lo[3], const int hi[3],
                const struct fd_arrays *a, int i, double dt);

/* Whether no axis that is not cut has fewer cells than the halo. */
bool fd_wraps(const struct brick *b);

/* Times of the substeps within a step: 0, 1/3, 3/4. */
extern const double fd_time[FD_SUBSTEPS];

/* The maximum over own cells of |u| + sqrt(c_s² + v_A²), of |u| where u is frozen; NaN if it is
 * not a number anywhere. Halos of A must be valid. Local. */
double fd_signal_speed(const struct fd_par *p, const struct brick *b,
                       double *const field[FD_FIELDS]);
/* Diffusivity whose step is cdtv dx² / it: max(4ν/3 + ζ, η, γχ, …). */
double fd_diffusivity(const struct fd_par *p);

/* The first difference of a wave e^{iθx/dx} along an axis is i times this times the wave. */
double fd_symbol(const struct fd_par *p, int axis, double theta);

/* Values that are derived from the fields at a cell, with the differences of this order: rows of
 * fd/derived.def. */
enum fd_derived {
#define DERIVED(symbol, name, text) FD_##symbol,
#include "fd/derived.def"
    FD_DERIVED
};
extern const char *const fd_derived_name[FD_DERIVED], *const fd_derived_text[FD_DERIVED];
/* n cells of a row along x from cell x[3] of the brick on. Halos must be valid. Returns false if
 * the equations do not have the value. Local. */
bool fd_derive(const struct fd_par *p, const struct brick *b, double *const field[FD_FIELDS],
               enum fd_derived what, const int x[3], int n, double *value);

/* Exact sums over own cells of u², B², j², ω², ρ, ρu²/2, B²/2μ0, ω·u, A·B, j·B and s, 0 where the
 * equations have no such value; maxima of |u| and |B|, 0 without cells; minimum and maximum of ρ,
 * ∞ and 0 without cells. comm_sums and comm_max_f64 join them over ranks. Halos must be valid.
 * Local; uses the threads of OpenMP. */
enum fd_sum {
    FD_SUM_U2,
    FD_SUM_B2,
    FD_SUM_J2,
    FD_SUM_O2,
    FD_SUM_RHO,
    FD_SUM_EKIN,
    FD_SUM_EMAG,
    FD_SUM_OU,
    FD_SUM_AB,
    FD_SUM_JB,
    FD_SUM_S,
    FD_SUMS
};
struct fd_totals {
    struct sum sum[FD_SUMS];
    double umax, bmax, rhomin, rhomax;
};
void fd_totals(const struct fd_par *p, const struct brick *b, double *const field[FD_FIELDS],
               struct fd_totals *t);
