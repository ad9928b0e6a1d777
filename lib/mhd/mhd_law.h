/* mhd/mhd_law: gas with a magnetic field as a conservation law (patch/law.h). Private to mhd. */
#pragma once
#include "hydro/gas_law.h"
#include "mhd/face_kern.h"
#include "mhd/mhd.h"
#include "mhd/step_kern.h"
#include "patch/courant.h"
#include "patch/sweep.h"

struct mhd_law {
    struct gas_law gas; /* first: functions of hydro take the law as theirs */
    const struct mhd_par *par;
    struct mhd_gas g;
    double growth, first; /* struct mhd_expansion */
};

static inline const struct mhd_law *mhd_law_of(const struct sweep *s)
{
    return (const struct mhd_law *)s->law;
}

/* Primitive variables of a cell: of the gas as in hydro, then the field at the centre; before these
 * passive scalars. */
static inline int mhd_field(const struct sweep *s)
{
    return law_cells(s->law);
}

/* Number of the variables that are limited; with non-thermal energies MHD_MIXED more. */
static inline bool mhd_mixed(const struct sweep *s)
{
    return mhd_law_of(s)->par->gas->energy.n > 0;
}

static inline int mhd_variables(const struct sweep *s)
{
    return mhd_field(s) + 3 + (mhd_mixed(s) ? MHD_MIXED : 0);
}

/* Planes of the law, in sweep.own. By plane & 1: electromotive forces at lower edges at the start,
 * by axis; the field on lower faces after half a step; slopes of the field on lower faces at the
 * start, by the axis across the face and then along the next axis in cyclic order and the one
 * after; primitive variables after half a step; their slopes by axis. By plane & 3: velocities
 * without gravity (pressure_fix, non-thermal energies). A plane for the part of the mass flux that
 * carries left scalars. */
struct mhd_planes {
    double *start, *half, *steep, *cell, *slope[3], *old, *left, *none;
};

static inline int mhd_planes_count(int nq)
{
    return 2 * (3 + 3 + 6 + nq + 3 * nq) + 4 * 3 + 2;
}

static inline struct mhd_planes mhd_planes(const struct sweep *s, int k)
{
    enum { PS = PLANE_STRIDE };
    const int nq = mhd_variables(s), ring = k & 1;
    double *d = s->own;
    struct mhd_planes p;
    p.start = d + ring * 3 * PS, d += 6 * PS;
    p.half = d + ring * 3 * PS, d += 6 * PS;
    p.steep = d + ring * 6 * PS, d += 12 * PS;
    p.cell = d + ring * nq * PS, d += 2 * nq * PS;
    for (int a = 0; a < 3; a++, d += 2 * nq * PS) p.slope[a] = d + ring * nq * PS;
    p.old = d + 3 * (k & 3) * PS, d += 12 * PS;
    p.left = d;
    p.none = d + PS;
    return p;
}

/* cells.c */
void mhd_primitive(struct sweep *s, int k, struct run at);
void mhd_start(struct sweep *s, int k, struct run at);
void mhd_half(struct sweep *s, int k, bool z, struct run at);
void mhd_trace(struct sweep *s, int k, struct run at);
void mhd_expansion(struct sweep *s, int k, struct run at);
/* faces.c */
void mhd_fluxes(struct sweep *s, int d, int k, struct run at, double *F);
void mhd_forces(struct sweep *s, int d, int k, struct run at, double *E);
/* interp.c */
void mhd_missing_oct(const struct gathered *g, lidx parent, int cell, struct target t);
/* numbers.c */
struct mhd_signal mhd_signal_of(const struct mhd_law *x, double dx); /* mhd/number_kern.h */
double mhd_signal(const struct law *law, const struct patch_rows *r, double max);
struct mhd_law mhd_law_make(const struct mesh *m, const struct mhd_par *par);
