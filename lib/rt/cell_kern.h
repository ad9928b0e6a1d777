/* rt/cell_kern: a leaf cell between the mesh and thermochemistry (lib/chem), which has cgs units:
 * formulas for the batches of hosts (rt/batch.c) and for devices. Private to rt. */
#pragma once
#include "cooldev/cell_kern.h"
#include "rt/face_kern.h"

/* T/μ above the floor. */
PTAH_HD double cell_T2(double internal, double rho, double per_T2)
{
    return internal / (rho * per_T2);
}

PTAH_HD double cell_T2_above(double T2, double floor, double most)
{
    return m1_min(m1_max(T2 - floor, COOLING_MIN), most);
}

/* Internal energy per volume of the new T/μ above the floor; gas in which cooling is delayed may
 * only be heated, from `begun`. */
PTAH_HD double cell_internal(double T2, double begun, double cools, double floor, double rho,
                             double per_T2)
{
    const double to = cools != 0 ? T2 : m1_max(T2, begun);
    return (to + floor) * (rho * per_T2);
}
