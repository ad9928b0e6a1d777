/* Gravity by a tree: particles go to the rank of their key, so that all but a few cells are those
 * of one rank; each rank gets the cells and particles of others that its groups open, sums, and
 * sends the accelerations back. ζ of all particles comes before the forces. */
#include "multipole/multipole.h"

#include <math.h>

#include "base/mem.h"
#include "multipole/multipole_priv.h"
#include "multipole/soften.h"

struct answer {
    double a[3], phi;
};

static enum err check(const struct comm *c, const struct smooth *s)
{
    enum err err = OK;
    for (int64_t i = 0; i < s->n && err == OK; i++) {
        bool finite = isfinite(s->h[i]) && s->h[i] > 0;
        for (int k = 0; k < 3; k++) finite = finite && isfinite(s->x[k][i]);
        if (!finite)
            err = err_set(ERR_LIMIT,
                          "particle %lld at (%g, %g, %g) with h = %g: gravity needs a finite "
                          "position and h > 0",
                          (long long)s->id[i], s->x[0][i], s->x[1][i], s->x[2][i], s->h[i]);
    }
    return err_agree(c, err);
}

static struct body *bodies_of(const struct cube *q, const struct smooth *s)
{
    struct body *b = mem_new(sizeof *b * (size_t)s->n + 1, "particles of gravity");
    for (int64_t i = 0; i < s->n; i++) {
        const double x[3] = {s->x[0][i], s->x[1][i], s->x[2][i]};
        b[i] = (struct body){multipole_key(q, x), s->id[i], i,
                             {x[0], x[1], x[2]},  s->h[i],  s->omega[i]};
    }
    multipole_sort(s->n, b);
    return b;
}

/* The largest cells that may be groups. */
static int64_t groups_of(const struct forest *f, int64_t **group)
{
    int64_t n = 0;
    *group = mem_new(sizeof **group * (size_t)f->ncell + 1, "groups of gravity");
    for (int64_t i = 0; i < f->ncell;) {
        const struct cell *c = &f->cell[i];
        bool is_group = in_group(f->par, c);
        if (is_group) (*group)[n++] = i;
        i = is_group ? c->skip : i + 1;
    }
    return n;
}

/* zeta becomes ζ/Ω C/h⁴ per G and mass of a particle: ζ = −h/3ρ Σ m ∂φ/∂h, with ρ = m (η/h)³. */
static void find_zeta(struct forest *f, const struct smooth_par *p, int64_t n, const int64_t *group)
{
#pragma omp parallel
    {
        struct lists l = {0};
#pragma omp for schedule(dynamic, 16)
        for (int64_t g = 0; g < n; g++) {
            const struct cell *c = &f->cell[group[g]];
            lists_soft(f, c, &l);
            for (int64_t i = c->first; i < c->first + c->n; i++) {
                double h = f->h[i], h2 = h * h, volume = h2 * h / (p->eta * p->eta * p->eta);
                double zeta = -h / 3 * volume * soften_slope(f, &l, i);
                f->zeta[i] = zeta / f->zeta[i] * kern_norm(p->kernel) / (h2 * h2);
            }
        }
        lists_free(&l);
    }
}

static void find_forces(struct forest *f, int64_t n, const int64_t *group, const struct body *b,
                        struct answer *answer)
{
#pragma omp parallel
    {
        struct lists l = {0};
#pragma omp for schedule(dynamic, 16)
        for (int64_t g = 0; g < n; g++) {
            const struct cell *c = &f->cell[group[g]];
            lists_find(f, c, &l);
            for (int64_t i = c->first; i < c->first + c->n; i++) {
                double result[4];
                multipole_pull(f, &l, i, result);
                answer[b[i].row] = (struct answer){{result[0], result[1], result[2]}, result[3]};
            }
        }
        lists_free(&l);
    }
}

static void add_answers(double gm, int64_t n, const int64_t *row, const struct answer *answer,
                        double *const acc[3], double *phi)
{
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) acc[k][row[i]] += gm * answer[i].a[k];
        if (phi) phi[row[i]] = gm * answer[i].phi;
    }
}

enum err multipole_gravity(const struct multipole_par *g, const struct smooth_par *p,
                           const struct comm *c, const struct smooth *s, double *const acc[3],
                           double *phi)
{
    TRY(check(c, s));
    struct forest f = {.par = g, .support = smooth_support(p->kernel), .kernel = p->kernel};
    struct comm_counts from = {0};
    struct sent sent = {0};
    f.cube = multipole_cube(c, s);
    struct body *b = bodies_of(&f.cube, s);
    int64_t *row = mem_new(sizeof *row * (size_t)s->n + 1, "particles of gravity"), *group;
    for (int64_t i = 0; i < s->n; i++) row[i] = b[i].row;
    f.n = s->n;
    forest_deal(c, &f, &b, &f.n, &from);
    forest_grow(&f, b);
    forest_join(c, &f, &sent);
    int64_t ngroup = groups_of(&f, &group);
    find_zeta(&f, p, ngroup, group);
    forest_zeta(c, &f, &sent);
    struct answer *answer = mem_new(sizeof *answer * (size_t)f.n + 1, "particles of gravity");
    find_forces(&f, ngroup, group, b, answer);
    int64_t n;
    struct answer *back = comm_exchange(c, answer, &from, sizeof *answer, &n, NULL);
    BUG_ON(n != s->n);
    add_answers(g->g * p->mass, n, row, back, acc, phi);
    mem_free(back);
    mem_free(answer);
    mem_free(group);
    mem_free(row);
    mem_free(b);
    comm_counts_free(&from);
    sent_free(&sent);
    forest_free(&f);
    return OK;
}
