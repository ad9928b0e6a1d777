#include "ckpt/gas.h"

#include "oct/gas_kern.h"

static int energies_of(const struct gas_equation *g)
{
    return g->energy ? g->energy->n : 0;
}

void gas_conserved(const struct gas_equation *g, int64_t n, const double *const *prim,
                   double *const *u)
{
    const int nvar = g->nvar, passive = GAS_SCALARS + energies_of(g);
    const double gamma = g->gamma, smallr = g->smallr;
    double *e = u[GAS_ENERGY];
    for (int64_t i = 0; i < n; i++) {
        u[0][i] = prim[0][i];
        e[i] = gas_internal_of(prim[GAS_PRESSURE][i], gamma);
    }
    for (int v = 1; v < nvar; v++) {
        if (v == GAS_ENERGY) continue;
        if (v >= GAS_SCALARS && v < passive) {
            for (int64_t i = 0; i < n; i++) {
                u[v][i] = gas_internal_of(prim[v][i], g->energy->gamma[v - GAS_SCALARS]);
                e[i] += u[v][i];
            }
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            double rho = prim[0][i] > smallr ? prim[0][i] : smallr, q = prim[v][i];
            u[v][i] = q * rho;
            if (v < GAS_PRESSURE) e[i] += gas_kinetic_flux_part(rho, q);
        }
    }
}

/* Computes the pressure as RAMSES does, subtracting one momentum component after another. */
void gas_primitive(const struct gas_equation *g, int64_t n, const double *const *u,
                   double *const *prim)
{
    const int nvar = g->nvar, passive = GAS_SCALARS + energies_of(g);
    const double gamma = g->gamma, smallr = g->smallr;
    double rho[GAS_TILE], p[GAS_TILE];
    for (int64_t i = 0; i < n; i++) {
        double r = u[0][i];
        prim[0][i] = r;
        rho[i] = r > smallr ? r : smallr;
        p[i] = u[GAS_ENERGY][i];
    }
    for (int v = 1; v < nvar; v++) {
        const double *q = u[v];
        double *row = prim[v];
        if (v == GAS_ENERGY) continue;
        if (v >= GAS_SCALARS && v < passive) {
            for (int64_t i = 0; i < n; i++) {
                row[i] = gas_pressure(q[i], g->energy->gamma[v - GAS_SCALARS]);
                p[i] = p[i] - q[i];
            }
            continue;
        }
        for (int64_t i = 0; i < n; i++) row[i] = q[i] / rho[i];
        for (int64_t i = 0; v < GAS_PRESSURE && i < n; i++)
            p[i] = p[i] - gas_kinetic_part(rho[i], q[i]);
    }
    for (int64_t i = 0; i < n; i++) prim[GAS_PRESSURE][i] = gas_pressure(p[i], gamma);
}

static double field_energy(const double *const *b, int64_t i)
{
    return gas_magnetic_faces(b[0][i], b[1][i], b[2][i], b[3][i], b[4][i], b[5][i]);
}

void gas_add_field(int64_t n, const double *const *b, double *e)
{
    for (int64_t i = 0; i < n; i++) e[i] += field_energy(b, i);
}

void gas_leave_field(int64_t n, const double *const *b, const double *e, double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = e[i] - field_energy(b, i);
}
