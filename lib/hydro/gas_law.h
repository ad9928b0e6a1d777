/* hydro/gas_law: the gas as a conservation law (patch/law.h). Private to hydro and mhd. */
#pragma once
#include "hydro/cell_kern.h"
#include "patch/sweep.h"

struct gas_law {
    struct law law;
    const struct hydro_par *par;
    struct hydro_gas gas;
    bool gravity;
    double hexp;
    const struct hydro_change *change; /* changes by sources; NULL: none */
    struct gas_look *look;             /* of each thread: the present numbers of rows */
};

/* Conservation law of the gas for the engine; see hydro.c. */
struct gas_law gas_law_make(const struct mesh *m, const struct hydro_par *par);
struct hydro_gas hydro_gas_of(const struct hydro_par *par, int ndim);

static inline struct gas_signal gas_signal_of(const struct gas_law *g, double dx)
{
    struct gas_signal s = {g->gas, dx, g->par->courant_factor, .energy = g->par->energy,
                           .gravity = g->gravity};
    if (g->par->drive) s.drive = *g->par->drive;
    return s;
}

/* The signal as a kernel takes it: with the forces of turbulence in the device's memory. */
static inline struct gas_signal gas_signal_dev(const struct gas_law *g, double dx)
{
    struct gas_signal s = gas_signal_of(g, dx);
    s.drive.a = s.drive.a_dev, s.drive.b = s.drive.b_dev;
    return s;
}

/* Whether the signal is minus the step. */
static inline bool gas_signal_is_step(const struct gas_law *g)
{
    return g->gravity || g->par->drive;
}

static inline const struct gas_law *gas_law_of(const struct sweep *s)
{
    return (const struct gas_law *)s->law;
}

/* Planes of scratch memory of the law: the part of the mass flux that carries the left state's
 * scalars; velocity divergence at the lower corners of a plane (difmag), by plane & 1; velocities
 * without the gravity predictor [3] (pressure_fix, non-thermal energies), by plane & 3; with
 * non-thermal energies the slopes of the sum of their pressures [3], the divergence of velocities,
 * and the total energy without them. */
enum {
    GAS_LEFT = 0,
    GAS_DIV = 1,
    GAS_OLD = GAS_DIV + 2,
    GAS_SCRATCH = GAS_OLD + 4 * 3,
    GAS_STRESS = GAS_SCRATCH,
    GAS_THERMAL = GAS_STRESS + 4,
    GAS_SCRATCH_MIXED
};

static inline double *gas_left(const struct sweep *s)
{
    return s->own;
}

static inline double *gas_div(const struct sweep *s, int k)
{
    return s->own + (GAS_DIV + (k & 1)) * PLANE_STRIDE;
}

static inline double *gas_old(const struct sweep *s, int k)
{
    return s->own + (GAS_OLD + 3 * (k & 3)) * PLANE_STRIDE;
}

/* First passive scalar. */
static inline int gas_passive(const struct sweep *s)
{
    return GAS_SCALARS + gas_law_of(s)->par->energy.n;
}

/* Offsets of normal and transverse velocity components of faces in direction dir. */
struct gas_turned {
    int n, a, b;
};

static inline struct gas_turned gas_turned(int dir)
{
    return (struct gas_turned){(1 + dir) * PLANE_STRIDE, (dir == 0 ? 2 : 1) * PLANE_STRIDE,
                               (dir == 2 ? 2 : 3) * PLANE_STRIDE};
}

/* exact.c: the fluxes of gas alone by the exact solver. */
void gas_faces_exact(struct sweep *s, const struct face_jobs *jobs);

/* energies.c: with non-thermal energies. */
void gas_energies_primitive(struct sweep *s, int k, struct run at, double *e);
void gas_energies_fluxes(struct sweep *s, const struct face_jobs *jobs);

/* flux.c, trace.c, missing.c, hydro.c, drive.c, numbers.c */
void gas_to_primitive(struct sweep *s, int k, struct run at);
void gas_divergence(struct sweep *s, int k);
void gas_fluxes(struct sweep *s, const struct face_jobs *jobs);
void gas_expansion(struct sweep *s, int k, struct run at);
void gas_trace(struct sweep *s, int y, int k, struct run at);
void gas_missing_oct(const struct gathered *g, lidx i, int c, struct target t);
void gas_finish(struct oct_sums *o);
/* gas_finish where the total energy contains another energy: that of the old state, of the new. */
void gas_finish_with(struct oct_sums *o, const double *before, const double *after);
void gas_drive_row(const struct law *law, const struct law_row *row);
/* Makes the law look at its rows for p->fresh, if that is wanted and possible; afterwards look_end
 * keeps what they have found. */
void gas_look_begin(struct gas_law *g, const struct mesh *m, int l);
void gas_look_end(struct gas_law *g, const struct mesh *m, int l);
double gas_signal(const struct law *law, const struct patch_rows *r, double max);
double gas_step(const struct law *law, double dx, double signal);
