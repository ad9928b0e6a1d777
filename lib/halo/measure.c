/* halo/measure: what is said of one halo. All sums run in an order that the bodies themselves
 * define, so that no digit depends on ranks. */
#include <stdlib.h>
#include <string.h>

#include "halo/halo_priv.h"

enum { NEIGHBOURS = 32, INNER = 10 };
static const double HEAVY = 2.8284271247461903; /* levels of initial conditions differ by eight */

static int compare_bodies(const struct halo_body *a, const struct halo_body *b)
{
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (a->v[k] != b->v[k]) return a->v[k] < b->v[k] ? -1 : 1;
    return a->m < b->m ? -1 : a->m > b->m;
}

static int compare_parts(const void *a, const void *b)
{
    const struct halo_part *p = a, *q = b;
    if (p->group != q->group) return p->group < q->group ? -1 : 1;
    return compare_bodies(&p->b, &q->b);
}

void halo_sort_parts(int64_t n, struct halo_part *p)
{
    qsort(p, (size_t)n, sizeof *p, compare_parts);
}

/* ---- members ---- */

/* The member whose NEIGHBOURS-th nearest member, itself the first, is the nearest. */
static enum err find_densest(const struct halo_space *s, int64_t n, const struct halo_part *p,
                             int64_t *densest)
{
    struct tree *t;
    int neighbours = n < NEIGHBOURS ? (int)n : NEIGHBOURS;
    TRY(halo_plant(s, n, &p->b, sizeof *p, &t));
    double *far2 = mem_new(sizeof *far2 * (size_t)n + 1, "halos: centre");
#pragma omp parallel for schedule(dynamic, 256) if (n > 4096)
    for (int64_t i = 0; i < n; i++) far2[i] = tree_nearest(t, p[i].b.x, neighbours);
    *densest = 0;
    for (int64_t i = 1; i < n; i++)
        if (far2[i] < far2[*densest]) *densest = i;
    tree_free(&t);
    FREE(far2);
    return OK;
}

enum err halo_measure_members(const struct halo_space *s, int64_t n, const struct halo_part *p,
                              struct halo *h)
{
    int64_t densest;
    *h = (struct halo){.id = p[0].b.id, .number = n};
    for (int64_t i = 0; i < n; i++) {
        h->mass += p[i].b.m;
        for (int k = 0; k < 3; k++) h->v[k] += p[i].b.m * p[i].b.v[k];
    }
    for (int k = 0; k < 3; k++) h->v[k] /= h->mass;
    TRY(find_densest(s, n, p, &densest));
    memcpy(h->x, p[densest].b.x, sizeof h->x);
    return OK;
}

/* ---- spheres ---- */

struct shell {
    double r2;
    int64_t at;
    const struct halo_body *b;
};

static int compare_shells(const void *a, const void *b)
{
    const struct shell *p = a, *q = b;
    if (p->r2 != q->r2) return p->r2 < q->r2 ? -1 : 1;
    return compare_bodies(p->b, q->b);
}

static struct shell *sort_shells(const struct halo_space *s, const double x[3], int64_t n,
                                 const struct halo_part *p)
{
    struct shell *shell = mem_new(sizeof *shell * (size_t)n + 1, "halos: spheres");
    for (int64_t i = 0; i < n; i++) {
        shell[i] = (struct shell){0, i, &p[i].b};
        for (int k = 0; k < 3; k++) {
            double d = halo_offset(s, k, p[i].b.x[k], x[k]);
            shell[i].r2 += d * d;
        }
    }
    qsort(shell, (size_t)n, sizeof *shell, compare_shells);
    return shell;
}

static double volume_of(double radius)
{
    return 4 * M_PI / 3 * radius * radius * radius;
}

/* The radius at which the mean density falls below `density`, outwards from the INNER-th body: a
 * sphere that far has mass m. NAN: it is lower there already. False: it falls only beyond
 * `radius`, which is where the bodies end. */
static bool find_sphere(double density, double radius, int64_t n, const struct shell *shell,
                        double *m, double *r)
{
    double mass = 0;
    *m = *r = NAN;
    for (int64_t i = 0; i < n; i++) {
        mass += shell[i].b->m;
        double next = i + 1 < n ? sqrt(shell[i + 1].r2) : radius;
        if (i + 1 < INNER && i + 1 < n) continue;
        if (mass >= density * volume_of(next)) continue;
        *r = cbrt(mass / (density * (4 * M_PI / 3)));
        *m = mass;
        if (*r * *r < shell[i].r2) *m = *r = NAN; /* the first: too thin from the start */
        return true;
    }
    return n == 0;
}

/* Eigenvalues of a symmetric matrix, ascending (Jacobi's rotations). */
static void eigenvalues(double a[3][3], double e[3])
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int k = 0; k < 3; k++) {
            int p = k == 2, q = k == 0 ? 1 : 2, o = 3 - p - q;
            if (a[p][q] == 0) continue;
            double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
            double c = 1 / sqrt(t * t + 1), s = t * c, apq = a[p][q], ao = a[o][p];
            a[p][p] -= t * apq;
            a[q][q] += t * apq;
            a[p][q] = a[q][p] = 0;
            a[o][p] = a[p][o] = c * ao - s * a[o][q];
            a[o][q] = a[q][o] = s * ao + c * a[o][q];
        }
    for (int k = 0; k < 3; k++) e[k] = a[k][k];
    for (int k = 0; k < 3; k++)
        for (int q = 0; q < 2; q++)
            if (e[q] > e[q + 1]) {
                double x = e[q];
                e[q] = e[q + 1], e[q + 1] = x;
            }
}

struct moments {
    double m, v[3], v2, spin[3], tensor[3][3], heavy;
};

/* First and second moments of the dark matter of a sphere. */
static void add_moments(const struct halo_space *s, const struct halo *h, const struct halo_body *b,
                        const double mean[3], struct moments *q)
{
    double d[3], v[3];
    for (int k = 0; k < 3; k++) {
        d[k] = halo_offset(s, k, b->x[k], h->x[k]);
        v[k] = b->v[k] - mean[k];
        q->v2 += b->m * v[k] * v[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        q->spin[k] += b->m * (d[i] * v[j] - d[j] * v[i]);
        for (int a = 0; a < 3; a++) q->tensor[k][a] += b->m * d[k] * d[a];
    }
}

static void measure_inside(const struct halo_space *s, double gravity, double radius, double total,
                           int64_t n, const struct shell *shell, struct halo *h)
{
    struct moments q = {0};
    double mean[3], e[3];
    int64_t inside = 0;
    h->gas = h->stars = 0;
    for (; inside < n && shell[inside].r2 <= radius * radius; inside++) {
        const struct halo_body *b = shell[inside].b;
        if (b->kind == HALO_GAS) h->gas += b->m;
        if (b->kind == HALO_STAR) h->stars += b->m;
        if (b->kind != HALO_DM) continue;
        q.m += b->m;
        for (int k = 0; k < 3; k++) q.v[k] += b->m * b->v[k];
        if (b->m > HEAVY * s->lightest) h->heavy++, q.heavy += b->m;
    }
    h->heavy_mass = q.heavy / q.m;
    for (int k = 0; k < 3; k++) mean[k] = q.v[k] / q.m;
    for (int64_t i = 0; i < inside; i++)
        if (shell[i].b->kind == HALO_DM) add_moments(s, h, shell[i].b, mean, &q);
    h->sigma = sqrt(q.v2 / (3 * q.m));
    double spin = sqrt(q.spin[0] * q.spin[0] + q.spin[1] * q.spin[1] + q.spin[2] * q.spin[2]);
    if (gravity > 0) h->spin = spin / q.m / sqrt(2 * gravity * total * radius);
    eigenvalues(q.tensor, e);
    h->b_a = sqrt(e[1] / e[2]);
    h->c_a = sqrt(fmax(e[0], 0) / e[2]);
}

bool halo_measure_spheres(const struct halo_space *s, double gravity, double radius, int64_t n,
                          struct halo_part *p, struct halo *h)
{
    struct shell *shell = sort_shells(s, h->x, n, p);
    bool enough = true;
    h->sigma = h->spin = h->b_a = h->c_a = h->gas = h->stars = h->heavy_mass = NAN;
    h->heavy = 0;
    for (int k = 0; k < HALO_SPHERES; k++) {
        h->m[k] = h->r[k] = NAN;
        if (s->density[k] > 0)
            enough &= find_sphere(s->density[k], radius, n, shell, &h->m[k], &h->r[k]);
    }
    int k = s->density[HALO_VIR] > 0 ? HALO_VIR : HALO_200M;
    if (h->r[k] > 0) measure_inside(s, gravity, h->r[k], h->m[k], n, shell, h);
    FREE(shell);
    return enough;
}
