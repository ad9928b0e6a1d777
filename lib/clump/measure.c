/* clump/measure: masses, positions and velocities of clumps and halos. */
#include <float.h>
#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"
#include "oct/gas.h"

/* ---- position of a peak ---- */

/* Density at offset x (each −1..1 cells of the peak's level) from the peak cell: from this level,
 * else from the next coarser level; beyond a boundary the density of the peak cell. */
static double around_value(const struct finder *f, const struct around *a, int cell,
                           const int off[3])
{
    double(*const *rho)[8] = f->f->location;
    int fine[3], coarse[3], c, slot = oct_slot(&f->m->lev[a->level], a->oct);
    for (int d = 0; d < 3; d++) {
        fine[d] = (cell >> d & 1) + off[d];
        coarse[d] = (slot >> d & 1) + ((fine[d] + 2) >> 1) - 1;
    }
    lidx oct = cube_cell(a->same, fine, &c);
    if (oct >= 0) return rho[a->level][oct][c];
    oct = cube_cell(a->coarse, coarse, &c);
    if (oct >= 0 && a->level > f->m->levelmin) return rho[a->level - 1][oct][c];
    return rho[a->level][a->oct][cell];
}

/* Gradient and Hessian in units of cells, by central differences. */
static void derivatives(const struct finder *f, const struct around *a, int cell, double g[3],
                        double h[3][3])
{
    double mid = around_value(f, a, cell, (int[3]){0, 0, 0});
    for (int i = 0; i < 3; i++) {
        int lo[3] = {0}, hi[3] = {0};
        lo[i] = -1, hi[i] = 1;
        double below = around_value(f, a, cell, lo), above = around_value(f, a, cell, hi);
        g[i] = 0.5 * (above - below);
        h[i][i] = above + below - 2 * mid;
        for (int j = 0; j < i; j++) {
            double v[4];
            for (int k = 0; k < 4; k++) {
                int off[3] = {0};
                off[i] = k & 1 ? 1 : -1, off[j] = k & 2 ? 1 : -1;
                v[k] = around_value(f, a, cell, off);
            }
            h[i][j] = h[j][i] = 0.25 * (v[3] + v[0] - v[1] - v[2]);
        }
    }
}

/* Newton step from the centre of a cell to the maximum, in cells, kept inside the cell. As in
 * RAMSES, only positive terms of the product of cofactors and gradient count. */
static void newton_step(const double g[3], const double h[3][3], double step[3])
{
    double cofactor[3][3], det = 0, max = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            cofactor[i][j] = h[a][c] * h[b][d] - h[a][d] * h[b][c];
        }
    for (int j = 0; j < 3; j++) det += h[0][j] * cofactor[0][j];
    for (int i = 0; i < 3; i++) {
        step[i] = 0;
        for (int j = 0; j < 3; j++) {
            double term = g[j] * cofactor[i][j];
            if (term > 0) step[i] -= term / (det + DBL_MIN * term);
        }
        max = fmax(max, fabs(step[i]));
    }
    if (!isfinite(max)) memset(step, 0, 3 * sizeof *step);
    for (int i = 0; i < 3 && max > 0.499999; i++) step[i] *= 0.499999 / max;
}

static void find_place(const struct finder *f, struct peak *p)
{
    double g[3], h[3][3], step[3], dx = mesh_dx(f->m, p->at.level);
    spot_centre(f->m, p->at, p->c.x);
    for (int d = 0; d < 3; d++) p->c.x[d] *= f->m->boxlen;
    if (!f->f->location[p->at.level]) return;
    struct around a = {.level = 0};
    around_set(&a, f->m, p->at);
    derivatives(f, &a, p->at.cell, g, h);
    if (g[0] == 0 && g[1] == 0 && g[2] == 0) return;
    newton_step(g, (const double(*)[3])h, step);
    for (int d = 0; d < 3; d++) p->c.x[d] += step[d] * dx;
}

/* ---- sums over the cells of clumps ---- */

struct totals {
    fixed mass, volume, moment[3], momentum[3];
    int64_t n;
    double min;
};

struct scales {
    struct fixed_scale mass, moment, momentum;
};

/* Mass of a cell. */
static double cell_mass(const struct finder *f, struct spot s, double volume)
{
    return f->f->mass[s.level][s.oct][s.cell] * volume;
}

static double cell_momentum(const struct finder *f, struct spot s, double volume, int d)
{
    return f->m->hydro && !f->f->still
               ? level_gas(&f->m->lev[s.level], GAS_MOMENTUM + d)[s.oct][s.cell] * volume
               : 0;
}

static double cell_volume(const struct finder *f, int level)
{
    double dx = mesh_dx(f->m, level);
    return dx * dx * dx;
}

static struct scales find_scales(const struct finder *f)
{
    double mass = 0, momentum = 0;
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot s = f->cell[i].at;
        double volume = cell_volume(f, s.level);
        mass = fmax(mass, fabs(cell_mass(f, s, volume)));
        for (int d = 0; d < 3; d++) momentum = fmax(momentum, fabs(cell_momentum(f, s, volume, d)));
    }
    struct scales k = {.mass = fixed_scale(f->c, mass)};
    k.moment = fixed_scale(f->c, mass * f->m->boxlen);
    k.momentum = fixed_scale(f->c, momentum);
    return k;
}

static void add_cell(const struct finder *f, const struct scales *k, struct spot s,
                     const double peak[3], struct totals *t)
{
    double volume = cell_volume(f, s.level), mass = cell_mass(f, s, volume), x[3];
    spot_near(f->m, s, peak, x);
    t->n++;
    t->min = fmin(t->min, f->f->mass[s.level][s.oct][s.cell]);
    t->mass += fixed_of(k->mass, mass);
    t->volume += (fixed)1 << 3 * (f->m->levelmax - s.level);
    for (int d = 0; d < 3; d++) {
        t->moment[d] += fixed_of(k->moment, mass * (x[d] - peak[d]));
        t->momentum[d] += fixed_of(k->momentum, cell_momentum(f, s, volume, d));
    }
}

static void join(struct totals *t, const struct totals *other)
{
    t->n += other->n;
    t->min = fmin(t->min, other->min);
    t->mass += other->mass;
    t->volume += other->volume;
    for (int d = 0; d < 3; d++) {
        t->moment[d] += other->moment[d];
        t->momentum[d] += other->momentum[d];
    }
}

static void take(const struct finder *f, const struct scales *k, const struct totals *t,
                 struct peak *p)
{
    struct clump *c = &p->c;
    double box = f->m->boxlen;
    p->mass = t->mass;
    c->ncell = t->n;
    c->min = t->min;
    c->max = p->max;
    c->mass = c->halo_mass = fixed_get(k->mass, t->mass);
    c->volume = (double)t->volume * cell_volume(f, f->m->levelmax);
    c->relevance = p->relevance;
    c->saddle = p->saddle;
    for (int d = 0; d < 3; d++) {
        double x = c->x[d] + fixed_get(k->moment, t->moment[d]) / c->mass;
        if (!f->m->bounded[2 * d]) x -= box * floor(x / box);
        c->com[d] = x;
        c->v[d] = fixed_get(k->momentum, t->momentum[d]) / c->mass;
    }
}

/* Adds up the mass of all cells above the threshold. */
static void add_total(struct finder *f, struct fixed_scale scale)
{
    struct sum all;
    sum_init(&all);
    for (int64_t i = 0; i < f->npeak; i++) {
        fixed hi = f->peak[i].mass >> 43, lo = f->peak[i].mass - (hi << 43);
        sum_add(&all, ldexp((double)hi, scale.exponent + 43));
        sum_add(&all, fixed_get(scale, lo));
    }
    comm_sum(f->c, &all);
    f->out->mass = sum_get(&all);
}

void measure_clumps(struct finder *f)
{
    struct share s;
    struct scales k = find_scales(f);
    f->mass_scale = k.mass;
    for (int64_t i = 0; i < f->npeak; i++) find_place(f, &f->peak[i]);
    share_cells(&s, f);
    double(*own)[3] = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump sums"),
    (*peak)[3] = mem_new(sizeof *peak * (size_t)s.n + 1, "clump sums");
    for (int64_t i = 0; i < f->npeak; i++) memcpy(own[i], f->peak[i].c.x, sizeof own[i]);
    share_fetch(&s, f, sizeof *peak, own, peak);
    FREE(own);
    struct totals *mine = mem_zero(sizeof *mine * (size_t)s.n + 1, "clump sums");
    for (int64_t i = 0; i < s.n; i++) mine[i].min = DBL_MAX;
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot at = f->cell[i].at;
        int64_t row = share_find(&s, f->label[at.level][at.oct][at.cell]);
        add_cell(f, &k, at, peak[row], &mine[row]);
    }
    FREE(peak);
    struct totals *in = share_give(&s, f, sizeof *in, mine),
                  *sum = mem_zero(sizeof *sum * (size_t)f->npeak + 1, "clump sums");
    for (int64_t i = 0; i < f->npeak; i++) sum[i].min = DBL_MAX;
    for (int64_t j = 0; j < s.nin; j++) join(&sum[s.at[j]], &in[j]);
    for (int64_t i = 0; i < f->npeak; i++)
        if (sum[i].n > 0) take(f, &k, &sum[i], &f->peak[i]);
    add_total(f, k.mass);
    FREE(sum);
    FREE(in);
    FREE(mine);
    share_free(&s);
}

/* ---- halos ---- */

struct halo {
    fixed mass;
    int64_t ncell;
};

void measure_halos(struct finder *f)
{
    struct share s;
    okey *label = mem_new(sizeof *label * (size_t)f->npeak + 1, "halos");
    for (int64_t i = 0; i < f->npeak; i++) label[i] = f->peak[i].halo;
    share_make(&s, f, f->npeak, label);
    struct halo *mine = mem_zero(sizeof *mine * (size_t)s.n + 1, "halos"),
                *sum = mem_zero(sizeof *sum * (size_t)f->npeak + 1, "halos");
    for (int64_t i = 0; i < f->npeak; i++) {
        struct halo *h = &mine[share_find(&s, f->peak[i].halo)];
        h->mass += f->peak[i].mass;
        h->ncell += f->peak[i].c.ncell;
    }
    struct halo *in = share_give(&s, f, sizeof *in, mine);
    for (int64_t j = 0; j < s.nin; j++) {
        sum[s.at[j]].mass += in[j].mass;
        sum[s.at[j]].ncell += in[j].ncell;
    }
    FREE(in);
    share_fetch(&s, f, sizeof *sum, sum, mine);
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct halo *h = &mine[share_find(&s, f->peak[i].halo)];
        f->peak[i].c.halo_mass = fixed_get(f->mass_scale, h->mass);
        f->peak[i].c.ncell_halo = h->ncell;
    }
    FREE(sum);
    FREE(mine);
    share_free(&s);
}
