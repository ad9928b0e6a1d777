#include "clump/heaps.h"

#include <float.h>
#include <string.h>

#include "base/mem.h"

/* ---- selection of clumps ---- */

/* Properties of a peak that its owner sends to other ranks. */
struct about {
    okey parent;
    double x[3];
    int level;
    bool relevant;
};

static struct about *about_peaks(const struct finder *f)
{
    struct about *a = mem_zero(sizeof *a * (size_t)f->npeak + 1, "unbinding");
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct peak *p = &f->peak[i];
        a[i] = (struct about){
            .parent = p->parent, .level = p->level, .relevant = p->relevance > f->par->relevance};
        memcpy(a[i].x, p->c.x, sizeof a[i].x);
    }
    return a;
}

/* Labels of the relevant clumps of own cells, and their number. */
static okey *relevant_labels(const struct finder *f, const struct about *own, int64_t *n)
{
    struct share s;
    share_cells(&s, f);
    struct about *a = mem_new(sizeof *a * (size_t)s.n + 1, "unbinding");
    okey *label = mem_new(sizeof *label * (size_t)s.n + 1, "unbinding");
    share_fetch(&s, f, sizeof *a, own, a);
    *n = 0;
    for (int64_t i = 0; i < s.n; i++)
        if (a[i].relevant) label[(*n)++] = s.label[i];
    FREE(a);
    share_free(&s);
    return label;
}

/* Adds the parents of all clumps; returns the number of new clumps over all ranks. */
static int64_t add_parents(struct heaps *b, const struct finder *f, struct about *a)
{
    int64_t n = b->s.n, new = 0;
    okey *label = mem_new(sizeof *label * 2 * (size_t)n + 1, "unbinding");
    for (int64_t i = 0; i < n; i++) {
        label[i] = b->s.label[i];
        if (share_seek(&b->s, a[i].parent) < 0) label[n + new ++] = a[i].parent;
    }
    share_free(&b->s);
    share_make(&b->s, f, n + new, label);
    comm_add_i64(f->c, &new, 1);
    return new;
}

static void find_heaps(struct heaps *b, const struct finder *f)
{
    int64_t n;
    struct about *own = about_peaks(f), *a = NULL;
    okey *label = relevant_labels(f, own, &n);
    share_make(&b->s, f, n, label);
    do {
        FREE(a);
        a = mem_new(sizeof *a * (size_t)b->s.n + 1, "unbinding");
        share_fetch(&b->s, f, sizeof *a, own, a);
    } while (add_parents(b, f, a) > 0);
    BUG_ON(b->s.n > INT32_MAX);
    b->at = mem_zero(sizeof *b->at * (size_t)b->s.n + 1, "unbinding");
    for (int64_t i = 0; i < b->s.n; i++) {
        struct clump_heap *k = &b->at[i];
        *k = (struct clump_heap){.parent = (int32_t)share_find(&b->s, a[i].parent),
                                 .level = a[i].level,
                                 .main = a[i].parent == b->s.label[i],
                                 .border = DBL_MAX};
        memcpy(k->x, a[i].x, sizeof k->x);
    }
    FREE(a);
    FREE(own);
}

/* ---- selection of particles ---- */

static void find_particles(struct heaps *b, const struct finder *f)
{
    const struct parts *p = f->p;
    const struct mesh *m = f->m;
    double mass = 0, momentum = 0;
    b->n = p->n;
    b->first = mem_new(sizeof *b->first * (size_t)b->n + 1, "unbinding");
    b->now = mem_new(sizeof *b->now * (size_t)b->n + 1, "unbinding");
    b->counts = mem_new(sizeof *b->counts * (size_t)b->n + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++) b->first[i] = -1;
    for (int l = m->levelmin; l <= m->levelmax && m->lev[l].total > 0; l++)
        for (int64_t i = p->first[l]; i < p->first[l + 1]; i++) {
            int cell = 0;
            for (int d = 0; d < 3; d++)
                cell |= (int)((int64_t)mesh_cells(m, l, p->x[d][i]) & 1) << d;
            okey label = f->label[l][p->host[i]][cell];
            if (label && family_has_mass(p->family[i]))
                b->first[i] = (int32_t)share_seek(&b->s, label);
        }
    for (int64_t i = 0; i < b->n; i++) {
        b->now[i] = b->first[i];
        b->counts[i] = true;
        mass = fmax(mass, fabs(p->m[i]));
        for (int d = 0; d < 3; d++) momentum = fmax(momentum, fabs(p->m[i] * p->v[d][i]));
    }
    b->mass_scale = fixed_scale(f->c, mass);
    b->momentum_scale = fixed_scale(f->c, momentum);
}

/* ---- profiles ---- */

double heap_distance2(const struct finder *f, const struct clump_heap *b, int64_t i)
{
    double r2 = 0, x[3] = {f->p->x[0][i], f->p->x[1][i], f->p->x[2][i]};
    image_near(f->m, b->x, x);
    for (int d = 0; d < 3; d++) r2 += (x[d] - b->x[d]) * (x[d] - b->x[d]);
    return r2;
}

int heap_shell(const double *r, int nbin, double distance)
{
    for (int k = 1; k < nbin; k++)
        if (distance <= r[k]) return k;
    return nbin;
}

void heaps_join_rows(struct heaps *b, const struct finder *f, double *x, bool largest)
{
    double *in = share_give(&b->s, f, sizeof *in, x),
           *own = mem_zero(sizeof *own * (size_t)f->npeak + 1, "unbinding");
    for (int64_t k = 0; k < b->s.nin; k++) own[b->s.at[k]] = in[k];
    for (int64_t k = 0; k < b->s.nin; k++) {
        double *o = &own[b->s.at[k]];
        *o = largest ? fmax(*o, in[k]) : fmin(*o, in[k]);
    }
    share_fetch(&b->s, f, sizeof *own, own, x);
    FREE(own);
    FREE(in);
}

static void find_radii(struct heaps *b, const struct finder *f)
{
    double *r2 = mem_zero(sizeof *r2 * (size_t)b->s.n + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++)
        for (int32_t k = b->first[i]; k >= 0; k = heap_above(b, k))
            r2[k] = fmax(r2[k], heap_distance2(f, &b->at[k], i));
    heaps_join_rows(b, f, r2, true);
    for (int64_t k = 0; k < b->s.n; k++) b->at[k].radius = sqrt(r2[k]);
    FREE(r2);
}

/* Cell size of the finest existing level, code units. */
static double min_radius(const struct finder *f)
{
    int l = f->m->levelmin;
    while (l < f->m->levelmax && f->m->lev[l + 1].total > 0) l++;
    return mesh_dx(f->m, l);
}

static void make_shells(struct heaps *b, const struct finder *f)
{
    int n = f->par->unbind.nbin;
    double min = min_radius(f);
    for (int64_t k = 0; k < b->s.n; k++) {
        double *r = b->r + k * (n + 1), max = b->at[k].radius;
        for (int i = 1; i < n && max > 0; i++)
            r[i] = f->par->unbind.logbins ? min * pow(max / min, (double)i / n) : max / n * i;
        r[n] = max;
    }
}

static void add_masses(struct heaps *b, const struct finder *f)
{
    size_t n = (size_t)f->par->unbind.nbin + 1, bytes = sizeof(fixed) * n;
    fixed *mine = mem_zero(bytes * (size_t)b->s.n + 1, "unbinding"),
          *own = mem_zero(bytes * (size_t)f->npeak + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++)
        for (int32_t k = b->first[i]; k >= 0; k = heap_above(b, k)) {
            const double *r = b->r + (size_t)k * n;
            int at = heap_shell(r, (int)n - 1, sqrt(heap_distance2(f, &b->at[k], i)));
            mine[(size_t)k * n + (size_t)at] += fixed_of(b->mass_scale, f->p->m[i]);
        }
    fixed *in = share_give(&b->s, f, bytes, mine);
    for (int64_t j = 0; j < b->s.nin; j++)
        for (size_t i = 0; i < n; i++) own[(size_t)b->s.at[j] * n + i] += in[(size_t)j * n + i];
    share_fetch(&b->s, f, bytes, own, mine);
    for (int64_t k = 0; k < b->s.n; k++) {
        fixed sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += mine[(size_t)k * n + i];
            b->mass[(size_t)k * n + i] = fixed_get(b->mass_scale, sum);
        }
    }
    FREE(in);
    FREE(own);
    FREE(mine);
}

/* Potential of a spherical mass profile: −G M/R at the outermost shell, and from there inwards the
 * integral of G M/r² by trapezoids. */
static void potential(const double *r, const double *mass, int n, double gravity, double *phi)
{
    phi[n] = -gravity * mass[n] / r[n];
    for (int i = n - 1; i >= 0; i--) {
        double inner = i > 0 ? mass[i] / (r[i] * r[i]) : 0;
        double outer = mass[i + 1] / (r[i + 1] * r[i + 1]);
        phi[i] = phi[i + 1] - 0.5 * gravity * (outer + inner) * (r[i + 1] - r[i]);
    }
}

static void find_borders(struct heaps *b, const struct finder *f)
{
    struct spot s[AROUND];
    struct around a = {.level = 0};
    double *border = mem_new(sizeof *border * (size_t)b->s.n + 1, "unbinding");
    for (int64_t k = 0; k < b->s.n; k++) border[k] = DBL_MAX;
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot at = f->cell[i].at;
        okey mine = f->label[at.level][at.oct][at.cell];
        int64_t k = share_seek(&b->s, mine);
        if (k < 0 || b->at[k].main) continue;
        around_set(&a, f->m, at);
        int n = around_leaves(&a, at.cell, s);
        double x[3], y[3];
        spot_near(f->m, at, b->at[k].x, x);
        for (int j = 0; j < n; j++) {
            okey other = f->label[s[j].level][s[j].oct][s[j].cell];
            if (other == 0 || other == mine) continue;
            double r2 = 0;
            spot_near(f->m, s[j], x, y);
            for (int d = 0; d < 3; d++) {
                double away = 0.5 * (x[d] + y[d]) - b->at[k].x[d];
                r2 += away * away;
            }
            border[k] = fmin(border[k], r2);
        }
    }
    heaps_join_rows(b, f, border, false);
    for (int64_t k = 0; k < b->s.n; k++) b->at[k].border = border[k];
    FREE(border);
}

void heaps_make(struct heaps *b, const struct finder *f)
{
    const struct clump_unbind *u = &f->par->unbind;
    memset(b, 0, sizeof *b);
    find_heaps(b, f);
    find_particles(b, f);
    size_t n = (size_t)u->nbin + 1, bytes = sizeof(double) * n * (size_t)b->s.n + 1;
    b->r = mem_zero(bytes, "unbinding");
    b->mass = mem_zero(bytes, "unbinding");
    b->phi = mem_zero(bytes, "unbinding");
    find_radii(b, f);
    make_shells(b, f);
    add_masses(b, f);
    for (size_t k = 0; k < (size_t)b->s.n; k++)
        if (b->at[k].radius > 0)
            potential(b->r + k * n, b->mass + k * n, u->nbin, u->gravity, b->phi + k * n);
    if (u->saddle_pot) find_borders(b, f);
}

void heaps_free(struct heaps *b)
{
    share_free(&b->s);
    FREE(b->at);
    FREE(b->r);
    FREE(b->mass);
    FREE(b->phi);
    FREE(b->first);
    FREE(b->now);
    FREE(b->counts);
}
