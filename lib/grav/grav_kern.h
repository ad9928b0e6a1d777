/* grav/kern: point functions of the Poisson solver on one oct.
 *
 * An oct's cells c = cx + 2 cy + 4 cz alternate in colour: red 0,3,5,6 and black 1,2,4,7. A cell's
 * neighbours have the other colour and lie in the oct itself or in one of its face neighbours,
 * n[0..5] = −x,+x,−y,+y,−z,+z. The six terms of a sum always come in the order −x,−y,−z,+x,+y,+z,
 * so that a cell's value never depends on which path computed it. */
#pragma once
#include "oct/okey.h"

static const int KERN_RED[4] = {0, 3, 5, 6}, KERN_BLACK[4] = {1, 2, 4, 7};
static const double KERN_ZERO[8] __attribute__((aligned(64))) = {0};

/* Rows of the face neighbours when all are there. */
PTAH_HD_FN void kern_rows(const double (*u)[8], const lidx nbr[6], const double *n[6])
{
    for (int f = 0; f < 6; f++) n[f] = u[nbr[f]];
}

/* The same with zeros for those that are not. */
PTAH_HD_FN void kern_rows_edge(const double (*u)[8], const lidx nbr[6], const double *n[6])
{
    for (int f = 0; f < 6; f++) n[f] = nbr[f] >= 0 ? u[nbr[f]] : KERN_ZERO;
}

/* Sums over the neighbours of the red cells, and of the black cells. */
PTAH_HD_FN void kern_sum_red(const double o[8], const double *const n[6], double s[4])
{
    s[0] = n[0][1] + n[2][2] + n[4][4] + o[1] + o[2] + o[4];
    s[1] = o[2] + o[1] + n[4][7] + n[1][2] + n[3][1] + o[7];
    s[2] = o[4] + n[2][7] + o[1] + n[1][4] + o[7] + n[5][1];
    s[3] = n[0][7] + o[4] + o[2] + o[7] + n[3][4] + n[5][2];
}

PTAH_HD_FN void kern_sum_black(const double o[8], const double *const n[6], double s[4])
{
    s[0] = o[0] + n[2][3] + n[4][5] + n[1][0] + o[3] + o[5];
    s[1] = n[0][3] + o[0] + n[4][6] + o[3] + n[3][0] + o[6];
    s[2] = n[0][5] + n[2][6] + o[0] + o[5] + o[6] + n[5][0];
    s[3] = o[6] + o[5] + o[3] + n[1][6] + n[3][5] + n[5][3];
}

PTAH_HD_FN void kern_sum(const double o[8], const double *const n[6], double s[8])
{
    double r[4], b[4];
    kern_sum_red(o, n, r);
    kern_sum_black(o, n, b);
    for (int k = 0; k < 4; k++) s[KERN_RED[k]] = r[k], s[KERN_BLACK[k]] = b[k];
}

/* Gauss-Seidel of one colour: u := (Σ u_nb − dx² rhs)/6. */
PTAH_HD_FN void kern_relax(const int cell[4], const double s[4], const double rhs[8], double dx2,
                           double u[8])
{
    for (int k = 0; k < 4; k++) u[cell[k]] = (s[k] - dx2 * rhs[cell[k]]) / 6.0;
}

/* The same where neighbours are missing or masked: diag = 6 − Σ weights; diag = 0 leaves the cell
 * as it is. */
PTAH_HD_FN void kern_relax_edge(const int cell[4], const double s[4], const double rhs[8],
                                const double diag[8], double dx2, double u[8])
{
    for (int k = 0; k < 4; k++) {
        int c = cell[k];
        double d = diag[c], v = (s[k] - dx2 * rhs[c]) / (d > 0 ? d : 1.0);
        u[c] = d > 0 ? v : u[c];
    }
}

/* r := rhs − (Σ u_nb − diag u)/dx² */
PTAH_HD_FN void kern_residual(const double s[8], const double rhs[8], const double u[8],
                              double inv_dx2, double r[8])
{
    for (int c = 0; c < 8; c++) r[c] = rhs[c] - inv_dx2 * (s[c] - 6.0 * u[c]);
}

PTAH_HD_FN void kern_residual_edge(const double s[8], const double rhs[8], const double u[8],
                                   const double diag[8], double inv_dx2, double r[8])
{
    for (int c = 0; c < 8; c++)
        r[c] = diag[c] > 0 ? rhs[c] - inv_dx2 * (s[c] - diag[c] * u[c]) : 0.0;
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

/* Trilinear prolongation of the 4³ coarse patch around an oct (its 2³ cells and one layer) to the
 * 4³ fine cells of its children, one dimension after the other: each fine value is 3/4 of its
 * parent cell and 1/4 of the next cell on its side. */
PTAH_HD_FN void kern_prolong(const double p[64], double fine[64])
{
    double x[64], y[64];
    for (int j = 0; j < 16; j++) {
        const double *a = p + 4 * j;
        x[4 * j + 0] = 0.75 * a[1] + 0.25 * a[0];
        x[4 * j + 1] = 0.75 * a[1] + 0.25 * a[2];
        x[4 * j + 2] = 0.75 * a[2] + 0.25 * a[1];
        x[4 * j + 3] = 0.75 * a[2] + 0.25 * a[3];
    }
    for (int z = 0; z < 4; z++)
        for (int i = 0; i < 4; i++) {
            const double *a = x + 16 * z + i;
            double *b = y + 16 * z + i;
            b[0] = 0.75 * a[4] + 0.25 * a[0];
            b[4] = 0.75 * a[4] + 0.25 * a[8];
            b[8] = 0.75 * a[8] + 0.25 * a[4];
            b[12] = 0.75 * a[8] + 0.25 * a[12];
        }
    for (int i = 0; i < 16; i++) {
        const double *a = y + i;
        double *b = fine + i;
        b[0] = 0.75 * a[16] + 0.25 * a[0];
        b[16] = 0.75 * a[16] + 0.25 * a[32];
        b[32] = 0.75 * a[32] + 0.25 * a[16];
        b[48] = 0.75 * a[32] + 0.25 * a[48];
    }
}
