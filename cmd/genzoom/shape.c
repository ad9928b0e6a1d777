/* genzoom/shape: boxes, ellipsoids (minimum-volume ellipsoid by Khachiyan's algorithm with away
 * steps, Todd & Yıldırım 2007), and intersections of lines with all shapes. Hulls are computed in
 * hull.c. */
#include "shape.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static void jacobi(double a[3][3], double v[3][3]);
static bool invert(int n, double *a, double *out);

void shape_free(struct shape *s)
{
    FREE(s->face);
    FREE(s->vertex);
}

void shape_box(struct shape *s, const double center[3], const double side[3], double pad)
{
    *s = (struct shape){.kind = SHAPE_BOX};
    for (int d = 0; d < 3; d++) {
        s->lo[d] = center[d] - 0.5 * side[d] - pad;
        s->hi[d] = center[d] + 0.5 * side[d] + pad;
    }
}

/* ---- ellipsoids ---- */

/* Bounding box: the half widths are the square roots of the diagonal of A⁻¹. */
static bool ellipsoid_bounds(struct shape *s)
{
    double inv[3][3];
    if (!invert(3, &s->a[0][0], &inv[0][0])) return false;
    for (int d = 0; d < 3; d++) {
        if (!(inv[d][d] > 0)) return false;
        double h = sqrt(inv[d][d]);
        s->lo[d] = s->c[d] - h;
        s->hi[d] = s->c[d] + h;
    }
    return true;
}

void shape_ellipsoid(struct shape *s, const double center[3], const double axis[3], double pad)
{
    *s = (struct shape){.kind = SHAPE_ELLIPSOID};
    for (int d = 0; d < 3; d++) {
        s->c[d] = center[d];
        s->a[d][d] = 1 / ((axis[d] + pad) * (axis[d] + pad));
    }
    BUG_ON(!ellipsoid_bounds(s));
}

enum err shape_matrix(struct shape *s, const double center[3], double a[3][3], double pad)
{
    double v[3][3], e[3][3];
    *s = (struct shape){.kind = SHAPE_ELLIPSOID};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (fabs(a[i][j] - a[j][i]) > 1e-6 * (fabs(a[i][i]) + fabs(a[j][j])))
                FAIL(ERR_PARAM,
                     "the matrix of the ellipsoid is not symmetric: row %d, column %d is %g, row "
                     "%d, column %d %g",
                     i + 1, j + 1, a[i][j], j + 1, i + 1, a[j][i]);
            e[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
    jacobi(e, v);
    for (int i = 0; i < 3; i++)
        if (!(e[i][i] > 0) || !isfinite(e[i][i]))
            FAIL(ERR_PARAM,
                 "the matrix of the ellipsoid has the eigenvalue %g: all must be positive",
                 e[i][i]);
    for (int k = 0; k < 3; k++) {
        double axis = 1 / sqrt(e[k][k]) + pad;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) s->a[i][j] += v[i][k] * v[j][k] / (axis * axis);
    }
    memcpy(s->c, center, sizeof s->c);
    if (!ellipsoid_bounds(s))
        FAIL(ERR_PARAM, "the matrix of the ellipsoid is singular: it must be positive definite");
    return OK;
}

/* Jacobi method: eigenvalues on the diagonal of a, eigenvectors in the columns of v. */
static void jacobi(double a[3][3], double v[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) v[i][j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0) continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                    x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
                }
            }
}

/* Gauss–Jordan elimination with pivoting; n <= 4. */
static bool invert(int n, double *a, double *out)
{
    double m[4][8] = {{0}};
    for (int i = 0; i < n; i++) {
        memcpy(m[i], a + n * i, sizeof *a * (size_t)n);
        m[i][n + i] = 1;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[best][k])) best = i;
        if (m[best][k] == 0) return false;
        for (int j = 0; j < 2 * n; j++) {
            double t = m[k][j];
            m[k][j] = m[best][j], m[best][j] = t;
        }
        for (int i = 0; i < n; i++) {
            double f = m[i][k] / m[k][k];
            for (int j = 0; i != k && j < 2 * n; j++) m[i][j] -= f * m[k][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[n * i + j] = m[i][n + j] / m[i][i];
    return true;
}

/* Quadratic form (x, 1) X⁻¹ (x, 1) of a lifted point. */
static double lifted(const double inv[4][4], const double x[3])
{
    double q[4] = {x[0], x[1], x[2], 1}, sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum += q[i] * inv[i][j] * q[j];
    return sum;
}

static bool lifted_inverse(int n, const double (*x)[3], const double *u, double inv[4][4])
{
    double m[4][4] = {{0}};
    for (int k = 0; k < n; k++) {
        double q[4] = {x[k][0], x[k][1], x[k][2], 1};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) m[i][j] += u[k] * q[i] * q[j];
    }
    return invert(4, &m[0][0], &inv[0][0]);
}

/* Weights u of the points: at the optimum, points with u > 0 lie on the ellipsoid, and all others
 * inside. */
static void khachiyan(int n, const double (*x)[3], double *u)
{
    const double tolerance = 1e-8;
    for (int i = 0; i < n; i++) u[i] = 1.0 / n;
    for (int round = 0; round < 100000; round++) {
        double inv[4][4], max = -1, min = 1e300;
        int far = 0, near = 0;
        if (!lifted_inverse(n, x, u, inv)) return;
        for (int i = 0; i < n; i++) {
            double w = lifted((const double(*)[4])inv, x[i]);
            if (w > max) max = w, far = i;
            if (u[i] > 1e-12 && w < min) min = w, near = i;
        }
        double over = max / 4 - 1, under = 1 - min / 4;
        if (over < tolerance && under < tolerance) return;
        int j = over > under ? far : near;
        double w = over > under ? max : min, step = (w - 4) / (4 * (w - 1));
        /* the weight must not become negative */
        if (step < -u[j] / (1 - u[j])) step = -u[j] / (1 - u[j]);
        for (int i = 0; i < n; i++) u[i] *= 1 - step;
        u[j] += step;
        if (u[j] < 0) u[j] = 0;
    }
}

static enum err smallest_around(struct shape *s, int n, const double (*x)[3])
{
    double *u = mem_new(sizeof *u * (size_t)n, "hull"), m[3][3] = {{0}}, max = 0;
    khachiyan(n, x, u);
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < n; i++) s->c[d] += u[i] * x[i][d];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[i][j] += 3 * u[k] * (x[k][i] - s->c[i]) * (x[k][j] - s->c[j]);
    mem_free(u);
    if (!invert(3, &m[0][0], &s->a[0][0]))
        FAIL(ERR_PARAM, "no ellipsoid of finite size encloses the points: use --shape hull");
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += (x[k][i] - s->c[i]) * s->a[i][j] * (x[k][j] - s->c[j]);
        max = fmax(max, sum);
    }
    /* margin for rounding: all points must be inside */
    for (int i = 0; i < 9; i++) s->a[i / 3][i % 3] /= max * (1 + 1e-12);
    if (!ellipsoid_bounds(s))
        FAIL(ERR_PARAM, "no ellipsoid of finite size encloses the points: use --shape hull");
    return OK;
}

enum err shape_smallest_ellipsoid(struct shape *s, int64_t n, const double (*x)[3], double pad)
{
    struct shape hull;
    TRY(shape_hull(&hull, n, x, pad));
    *s = (struct shape){.kind = SHAPE_ELLIPSOID};
    enum err err = smallest_around(s, hull.nvertex, (const double(*)[3])hull.vertex);
    shape_free(&hull);
    return err;
}

/* ---- lines ---- */

static bool row_ellipsoid(const struct shape *s, double y, double z, double *x0, double *x1)
{
    const double(*a)[3] = s->a;
    y -= s->c[1], z -= s->c[2];
    double b = a[0][1] * y + a[0][2] * z,
           c = a[1][1] * y * y + 2 * a[1][2] * y * z + a[2][2] * z * z - 1;
    double root = b * b - a[0][0] * c;
    if (root < 0) return false;
    *x0 = s->c[0] + (-b - sqrt(root)) / a[0][0];
    *x1 = s->c[0] + (-b + sqrt(root)) / a[0][0];
    return true;
}

static bool row_hull(const struct shape *s, double y, double z, double *x0, double *x1)
{
    *x0 = s->lo[0], *x1 = s->hi[0];
    for (int i = 0; i < s->nface; i++) {
        const double *f = s->face[i];
        double rest = f[3] - f[1] * y - f[2] * z;
        if (f[0] > 0)
            *x1 = fmin(*x1, rest / f[0]);
        else if (f[0] < 0)
            *x0 = fmax(*x0, rest / f[0]);
        else if (rest < 0)
            return false;
    }
    return *x0 <= *x1;
}

bool shape_row(const struct shape *s, double y, double z, double *x0, double *x1)
{
    if (y < s->lo[1] || y > s->hi[1] || z < s->lo[2] || z > s->hi[2]) return false;
    if (s->kind == SHAPE_ELLIPSOID) return row_ellipsoid(s, y, z, x0, x1);
    if (s->kind == SHAPE_HULL) return row_hull(s, y, z, x0, x1);
    *x0 = s->lo[0], *x1 = s->hi[0];
    return true;
}
