/* grav/grav_kern: point functions of the Poisson solver on one oct.
 *
 * An oct's cells c = cx + 2 cy + 4 cz alternate in colour: red 0,3,5,6 and black 1,2,4,7. A cell's
 * neighbours have the other colour and lie in the oct itself or in one of its face neighbours,
 * n[0..5] = −x,+x,−y,+y,−z,+z. The six terms of a sum always come in the order −x,−y,−z,+x,+y,+z,
 * so that a cell's value never depends on which path computed it. */
#pragma once
#include "oct/okey.h"

static const double KERN_ZERO[8] __attribute__((aligned(64))) = {0};

/* Rows of the face neighbours if all exist. */
PTAH_HD_FN void kern_rows(const double (*u)[8], const lidx nbr[6], const double *n[6])
{
    for (int f = 0; f < 6; f++) n[f] = u[nbr[f]];
}

/* Rows of the face neighbours, zeros for missing ones. */
PTAH_HD_FN void kern_rows_boundary(const double (*u)[8], const lidx nbr[6], const double *n[6])
{
    for (int f = 0; f < 6; f++) n[f] = nbr[f] >= 0 ? u[nbr[f]] : KERN_ZERO;
}

/* The k-th red or black cell. */
PTAH_HD int kern_cell(bool red, int k)
{
    return 2 * k | (((k ^ k >> 1) & 1) ^ !red);
}

/* Sum over the six neighbours of cell c: in[d] in its own oct, out[d] beyond the oct's face. */
PTAH_HD double kern_sum6(int c, const double in[3], const double out[3])
{
    bool x = c & 1, y = c & 2, z = c & 4;
    return (x ? in[0] : out[0]) + (y ? in[1] : out[1]) + (z ? in[2] : out[2]) +
           (x ? out[0] : in[0]) + (y ? out[1] : in[1]) + (z ? out[2] : in[2]);
}

PTAH_HD double kern_sum_cell(const double o[8], const double *const n[6], int c)
{
    int x = c ^ 1, y = c ^ 2, z = c ^ 4;
    const double in[3] = {o[x], o[y], o[z]},
                 out[3] = {n[c & 1][x], n[2 + (c >> 1 & 1)][y], n[4 + (c >> 2)][z]};
    return kern_sum6(c, in, out);
}

/* Sums over the neighbours of the red cells, and of the black cells. */
PTAH_HD_FN void kern_sum_red(const double o[8], const double *const n[6], double s[4])
{
    s[0] = kern_sum_cell(o, n, 0);
    s[1] = kern_sum_cell(o, n, 3);
    s[2] = kern_sum_cell(o, n, 5);
    s[3] = kern_sum_cell(o, n, 6);
}

PTAH_HD_FN void kern_sum_black(const double o[8], const double *const n[6], double s[4])
{
    s[0] = kern_sum_cell(o, n, 1);
    s[1] = kern_sum_cell(o, n, 2);
    s[2] = kern_sum_cell(o, n, 4);
    s[3] = kern_sum_cell(o, n, 7);
}

PTAH_HD_FN void kern_sum(const double o[8], const double *const n[6], double s[8])
{
    double r[4], b[4];
    kern_sum_red(o, n, r);
    kern_sum_black(o, n, b);
    for (int k = 0; k < 4; k++) s[kern_cell(true, k)] = r[k], s[kern_cell(false, k)] = b[k];
}

/* Gauss-Seidel: u := (Σ u_nb − dx² rhs)/6. */
PTAH_HD double kern_relax(double s, double rhs, double dx2)
{
    return (s - dx2 * rhs) / 6.0;
}

/* Gauss-Seidel with missing or masked cells: diag = 6 − Σ weights; 0 leaves the cell unchanged. */
PTAH_HD double kern_relax_boundary(double s, double rhs, double diag, double dx2, double u)
{
    double v = (s - dx2 * rhs) / (diag > 0 ? diag : 1.0);
    return diag > 0 ? v : u;
}

/* Residual: rhs − (Σ u_nb − diag u)/dx². */
PTAH_HD double kern_residual(double s, double rhs, double u, double inv_dx2)
{
    return rhs - inv_dx2 * (s - 6.0 * u);
}

PTAH_HD double kern_residual_boundary(double s, double rhs, double u, double diag, double inv_dx2)
{
    return diag > 0 ? rhs - inv_dx2 * (s - diag * u) : 0.0;
}

/* Right-hand side of the Poisson equation. */
PTAH_HD double kern_source(double rho, double rho_tot, double fourpi)
{
    return fourpi * (rho - rho_tot);
}

/* Term subtracted from the right-hand side for a face to a missing neighbour; beyond: potential
 * outside the face; inside: first guess inside. */
PTAH_HD double kern_frozen(double beyond, double inside, double inv_dx2)
{
    return 2.0 * inv_dx2 * (0.5 * beyond + 0.5 * inside);
}

PTAH_HD_FN double kern_sum8(const double x[8])
{
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

PTAH_HD_FN double kern_dot8(const double x[8], const double y[8])
{
    double p[8];
    for (int c = 0; c < 8; c++) p[c] = x[c] * y[c];
    return kern_sum8(p);
}

/* Linear interpolation: 3/4 of the parent cell and 1/4 of the next cell on the fine cell's side. */
PTAH_HD double kern_between(double parent, double next)
{
    return 0.75 * parent + 0.25 * next;
}

/* Trilinear prolongation to one fine cell: v[0] is its parent cell, and v[k] the neighbour on its
 * side in the dimensions of the bits of k. One dimension after the other, as in kern_prolong. */
PTAH_HD double kern_prolong_cell(const double v[8])
{
    double y0 = kern_between(kern_between(v[0], v[1]), kern_between(v[2], v[3])),
           y1 = kern_between(kern_between(v[4], v[5]), kern_between(v[6], v[7]));
    return kern_between(y0, y1);
}

/* Trilinear prolongation of the 4³ coarse patch around an oct (its 2³ cells and one layer) to the
 * 4³ fine cells of its children. */
PTAH_HD_FN void kern_prolong(const double p[64], double fine[64])
{
    double x[64], y[64];
    for (int j = 0; j < 16; j++) {
        const double *a = p + 4 * j;
        x[4 * j + 0] = kern_between(a[1], a[0]);
        x[4 * j + 1] = kern_between(a[1], a[2]);
        x[4 * j + 2] = kern_between(a[2], a[1]);
        x[4 * j + 3] = kern_between(a[2], a[3]);
    }
    for (int z = 0; z < 4; z++)
        for (int i = 0; i < 4; i++) {
            const double *a = x + 16 * z + i;
            double *b = y + 16 * z + i;
            b[0] = kern_between(a[4], a[0]);
            b[4] = kern_between(a[4], a[8]);
            b[8] = kern_between(a[8], a[4]);
            b[12] = kern_between(a[8], a[12]);
        }
    for (int i = 0; i < 16; i++) {
        const double *a = y + i;
        double *b = fine + i;
        b[0] = kern_between(a[16], a[0]);
        b[16] = kern_between(a[16], a[32]);
        b[32] = kern_between(a[32], a[16]);
        b[48] = kern_between(a[32], a[48]);
    }
}
