/* smooth: smoothed-particle hydrodynamics: kernels, density and smoothing length, gradients, the
 * switch of the viscosity, accelerations and heating (Price et al. 2018, sections 2.1 to 2.2;
 * Cullen & Dehnen 2010):
 *
 *     ρ_a = m (η/h_a)³ = Σ_b m W(r_ab, h_a),   Ω_a = 1 + (h_a/3ρ_a) Σ_b m ∂W(r_ab,h_a)/∂h_a
 *     dv_a/dt = −Σ_b m [(P_a+q_a)/(Ω_a ρ_a²) F_ab(h_a) + (P_b+q_b)/(Ω_b ρ_b²) F_ab(h_b)] r̂_ab
 *     du_a/dt = (P_a+q_a)/(Ω_a ρ_a²) Σ_b m w F_ab(h_a) + conductivity
 *     q_a = −½ ρ_a max(α_a c_a − β w, 0) w where w = v_ab·r̂_ab < 0, else 0
 *
 * with F_ab(h) = ∂W(r_ab,h)/∂r. ρ is m(η/h)³ of the stored h wherever it is used. All particles
 * have the mass m.
 *
 * Sums over neighbours take these in the order of tree/near.h, selected by their distance alone, in
 * eight partial sums: neighbour number k of the list adds to sum k mod 8, and at the end
 * ((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7)). So bits depend neither on ranks nor on the tree, and a
 * device has the same. A displacement is x_a − x_b, minus the nearest multiple of the period along
 * periodic axes. Functions are local, and use the threads of OpenMP. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "smooth/law.h"
#include "tree/near.h"

double smooth_support(enum smooth_kernel k); /* R: W is 0 beyond R h */
double smooth_eta(enum smooth_kernel k);     /* the usual η */
/* The names of kernels, equations of state and switches in &SPH_PARAMS (param/sph_choices.h). */
const char *smooth_kernel_name(enum smooth_kernel k);
const char *smooth_eos_name(enum smooth_eos e);
const char *smooth_switch_name(enum smooth_switch s);

/* Particles of a rank: own ones 0 ≤ i < n, then copies of other ranks' ones n ≤ i < n + ghosts. */
struct smooth {
    int64_t n, ghosts, room;
    double *x[3], *v[3], *a[3], *v_half[3];
    int64_t *id;
    int8_t *type;
    double *u, *h, *alpha, *divv, *du, *omega, *alpha_loc, *vsig, *near, *u_half;
};
enum smooth_column {
#define COLUMN(symbol, ...) SMOOTH_##symbol##_COLUMN,
#define AXIS(symbol, ...) SMOOTH_##symbol##_COLUMN,
#include "smooth/columns.def"
    SMOOTH_COLUMNS
};
enum smooth_ghost { SMOOTH_FIRST, SMOOTH_SECOND, SMOOTH_NEVER };
enum smooth_keep { SMOOTH_STATE, SMOOTH_MOVES, SMOOTH_SCRATCH };
struct smooth_row {
    const char *name;
    char type; /* d double, q int64_t, b int8_t: as hdf5/file.h has them */
    size_t bytes;
    enum smooth_ghost ghost;
    enum smooth_keep keep;
};
extern const struct smooth_row smooth_row[SMOOTH_COLUMNS];
typedef uint32_t smooth_set; /* a set of columns: bit c */
#define SMOOTH_BIT(symbol) ((smooth_set)1 << SMOOTH_##symbol##_COLUMN)
enum { SMOOTH_ALL = (1 << SMOOTH_COLUMNS) - 1 };
/* The columns that copies on other ranks get at this occasion, and those that are kept so. */
smooth_set smooth_columns_of(enum smooth_ghost g);
smooth_set smooth_columns_kept(enum smooth_keep k);
/* The address of the member that points to a column. */
void **smooth_at(struct smooth *p, enum smooth_column c);
void smooth_reserve(struct smooth *p, int64_t room); /* rows of all columns; keeps contents */
void smooth_free(struct smooth *p);

/* Pressure and sound speed of a particle from ρ, u and its position; on the host and on devices the
 * same (smooth/eos_kern.h). */
double smooth_rho(const struct smooth_par *p, double h);
void smooth_pressure(const struct smooth_par *p, const struct smooth *s, int64_t i,
                     double *pressure, double *speed);

/* Iterates h of own particles from the present values, with the neighbours among own and ghost
 * particles of the tree. reach: a particle a has all its neighbours within reach[a], and the
 * iteration does not go beyond (own particles); *beyond: number of own particles whose h needs more
 * than that, whose h is then the largest one possible: the caller gets ghosts of a larger reach and
 * repeats. Sets h, Ω, div v, alpha_loc (from v and from a, that of the last evaluation with
 * external accelerations). An error names a particle without neighbours at any h, or whose h is not
 * finite. near: of all n + ghosts points. */
MUST_USE enum err smooth_density(const struct smooth_par *p, struct smooth *s, struct near *t,
                                 const double *reach, int64_t *beyond);

/* Whether α follows a switch; otherwise it is alpha_max everywhere. */
static inline bool smooth_follows(const struct smooth_par *p)
{
    return p->alpha_switch == SMOOTH_CD10 || p->alpha_switch == SMOOTH_MM97;
}
/* α at the end of a step dt from alpha_loc. */
void smooth_switch(const struct smooth_par *p, struct smooth *s, double dt);

/* Accelerations a, heating rates du, vsig and near of own particles from x, v, u, h, Ω, α of own
 * and ghost particles; without gravity and external forces. An error names a particle whose h or Ω
 * is not positive. */
MUST_USE enum err smooth_forces(const struct smooth_par *p, struct smooth *s, struct near *t);
