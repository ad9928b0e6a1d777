/* oct/gas_vec: energies of four cells as a vector, with the operations of gas_kern.h, on hosts. */
#pragma once
#include "vec/vec4.h"

/* Kinetic energy per volume, as gas_kinetic. */
static inline vec4 gas_kinetic4(vec4 rho, vec4 x, vec4 y, vec4 z)
{
    return 0.5 * x * x / rho + 0.5 * y * y / rho + 0.5 * z * z / rho;
}

/* Internal energy per volume, as gas_internal_by_parts. */
static inline vec4 gas_internal4(vec4 e, vec4 rho, vec4 x, vec4 y, vec4 z)
{
    return e - 0.5 * x * x / rho - 0.5 * y * y / rho - 0.5 * z * z / rho;
}

/* Kinetic energy per volume times density. */
static inline vec4 gas_kinetic4_rho(vec4 x, vec4 y, vec4 z)
{
    return 0.5 * (x * x + y * y + z * z);
}
