/* clump/core: quantities that decide whether a clump becomes a sink (clump.h): gas near the peak,
 * support and binding terms of the virial theorem, and existing sinks. */
#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"
#include "oct/gas_kern.h"

/* Properties of a clump needed by the ranks of its cells. */
struct centre {
    double x[3], com[3], v[3]; /* peak position, centre of mass, velocity of the centre of mass */
};

/* Indices of the sums over cells. */
enum { NEAR, STARS, KINETIC, THERMAL, GRAVITY, TERMS };

struct heap {
    fixed sum[TERMS];
};

/* Fetches the centres of clumps, by row of s (owner: caller, FREE). (collective) */
static struct centre *fetch_centres(const struct finder *f, const struct share *s)
{
    struct centre *own = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump cores"),
                  *row = mem_new(sizeof *row * (size_t)s->n + 1, "clump cores");
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct clump *c = &f->peak[i].c;
        memcpy(own[i].x, c->x, sizeof own[i].x);
        memcpy(own[i].com, c->com, sizeof own[i].com);
        memcpy(own[i].v, c->v, sizeof own[i].v);
    }
    share_fetch(s, f, sizeof *row, own, row);
    FREE(own);
    return row;
}

static okey *label_at(const struct finder *f, struct spot s)
{
    return &f->label[s.level][s.oct][s.cell];
}

static double square(const double r[3])
{
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

/* Vector from a to the nearest periodic image of a cell centre. */
static void offset(const struct finder *f, struct spot s, const double a[3], double r[3])
{
    spot_near(f->m, s, a, r);
    for (int d = 0; d < 3; d++) r[d] -= a[d];
}

/* ---- trimming ---- */

/* Removes cells far from their peak from the clumps and measures the clumps again. */
static void trim(struct finder *f, double radius)
{
    struct share s;
    int64_t n = 0;
    share_cells(&s, f);
    struct centre *at = fetch_centres(f, &s);
    for (int64_t i = 0; i < f->ncell; i++) {
        double r[3];
        okey *k = label_at(f, f->cell[i].at);
        offset(f, f->cell[i].at, at[share_find(&s, *k)].x, r);
        if (square(r) > radius * radius)
            *k = 0;
        else
            f->cell[n++] = f->cell[i];
    }
    f->ncell = n;
    FREE(at);
    share_free(&s);
    for (int64_t i = 0; i < f->npeak; i++) {
        f->peak[i].c.ncell = 0;
        f->peak[i].c.mass = 0;
    }
    measure_clumps(f);
}

/* ---- sums ---- */

static void cell_energies(const struct finder *f, const struct clump_core_par *p, struct spot s,
                          const struct centre *c, double term[TERMS])
{
    const struct level *lv = &f->m->lev[s.level];
    double dx = mesh_dx(f->m, s.level), volume = dx * dx * dx, r[3];
    const struct gas_cell g = gas_cell_above(lv, s.oct, s.cell, p->smallr);
    double d = g.rho;
    offset(f, s, c->com, r);
    for (int a = 0; a < 3; a++) {
        double v = g.m[a] / d - c->v[a];
        term[KINETIC] += v * v * volume * d;
        term[GRAVITY] += level_force(lv, a)[s.oct][s.cell] * r[a] * volume * d;
    }
    term[THERMAL] = 3 * volume * gas_gm1(p->gamma) * gas_cell_internal_m2(&g) +
                    volume * gas_cell_magnetic(lv, s.oct, s.cell);
}

static void cell_terms(const struct finder *f, const struct clump_core_par *p, struct spot s,
                       const struct centre *c, double term[TERMS])
{
    const double dx = mesh_dx(f->m, s.level), volume = dx * dx * dx;
    const double d = fmax(level_gas(&f->m->lev[s.level], GAS_DENSITY)[s.oct][s.cell], p->smallr);
    double near[3];
    offset(f, s, c->x, near);
    memset(term, 0, sizeof *term * TERMS);
    if (p->energies) cell_energies(f, p, s, c, term);
    if (square(near) > p->near * p->near) return;
    term[NEAR] = d * volume;
    if (p->stars[s.level]) term[STARS] = p->stars[s.level][s.oct][s.cell] * volume;
}

static void find_scales(const struct finder *f, const struct clump_core_par *p,
                        const struct share *s, const struct centre *at,
                        struct fixed_scale scale[TERMS])
{
    double max[TERMS] = {0}, term[TERMS];
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot c = f->cell[i].at;
        cell_terms(f, p, c, &at[share_find(s, *label_at(f, c))], term);
        for (int k = 0; k < TERMS; k++) max[k] = fmax(max[k], fabs(term[k]));
    }
    for (int k = 0; k < TERMS; k++) scale[k] = fixed_scale(f->c, max[k]);
}

/* Adds up the cell terms of own peaks: sum[npeak]. (collective) */
static void add_cells(const struct finder *f, const struct clump_core_par *p,
                      struct fixed_scale scale[TERMS], struct heap *sum)
{
    struct share s;
    double term[TERMS];
    share_cells(&s, f);
    struct centre *at = fetch_centres(f, &s);
    struct heap *mine = mem_zero(sizeof *mine * (size_t)s.n + 1, "clump cores");
    find_scales(f, p, &s, at, scale);
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot c = f->cell[i].at;
        int64_t row = share_find(&s, *label_at(f, c));
        cell_terms(f, p, c, &at[row], term);
        for (int k = 0; k < TERMS; k++) mine[row].sum[k] += fixed_of(scale[k], term[k]);
    }
    struct heap *in = share_give(&s, f, sizeof *in, mine);
    for (int64_t j = 0; j < s.nin; j++)
        for (int k = 0; k < TERMS; k++) sum[s.at[j]].sum[k] += in[j].sum[k];
    FREE(in);
    FREE(mine);
    FREE(at);
    share_free(&s);
}

/* ---- clumps with a sink ---- */

static bool relevant(const struct peak *p)
{
    return p->relevance > 0;
}

/* The label of the own leaf cell that contains x; 0 if there is none or it is in no clump. */
static okey label_of_position(const struct finder *f, const double x[3])
{
    for (int l = f->m->levelmax; l >= f->m->levelmin; l--) {
        const struct level *lv = &f->m->lev[l];
        int64_t q[3], o[3];
        okey key;
        for (int d = 0; d < 3; d++) {
            q[d] = (int64_t)floor(x[d] / f->m->boxlen * (double)((int64_t)1 << l));
            if (q[d] < 0 || q[d] >> l) return 0; /* another periodic image, or outside of the box */
            o[d] = q[d] >> 1;
        }
        lidx i = mesh_key_at(f->m, l, o, &key) ? mesh_find(lv, key) : -1;
        if (i < 0) continue;
        int c = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
        return i < lv->nown && lv->child[i][c] < 0 ? f->label[l][i][c] : 0;
    }
    return 0;
}

/* Marks the own peaks among n labels of all ranks; takes ownership of label. (collective) */
static void mark(const struct finder *f, int64_t n, okey *label, bool *taken)
{
    struct share s;
    share_make(&s, f, n, label);
    for (int64_t k = 0; k < s.nin; k++) taken[s.at[k]] = true;
    share_free(&s);
}

static void take_inside(const struct finder *f, const struct clump_core_par *p, bool *taken)
{
    int64_t n = 0;
    okey *label = mem_new(sizeof *label * (size_t)p->ntaken + 1, "clump cores");
    for (int64_t i = 0; i < p->ntaken; i++) {
        label[n] = label_of_position(f, p->taken[i]);
        n += label[n] != 0;
    }
    mark(f, n, label, taken);
}

static void take_near(const struct finder *f, const struct clump_core_par *p, bool *taken)
{
    for (int64_t i = 0; i < f->npeak; i++)
        for (int64_t k = 0; k < p->ntaken && relevant(&f->peak[i]) && !taken[i]; k++) {
            double r[3];
            for (int d = 0; d < 3; d++) r[d] = p->taken[k][d] - f->peak[i].c.x[d];
            taken[i] = square(r) < p->apart * p->apart;
        }
}

static void take_halos(const struct finder *f, bool *taken)
{
    int64_t n = 0;
    okey *label = mem_new(sizeof *label * (size_t)f->npeak + 1, "clump cores");
    for (int64_t i = 0; i < f->npeak; i++)
        if (taken[i]) label[n++] = f->peak[i].halo;
    mark(f, n, label, taken);
}

/* ---- the list ---- */

static struct clump_core core_of(const struct finder *f, const struct peak *p,
                                 const struct fixed_scale scale[TERMS], const struct heap *h)
{
    struct clump_core k = {.index = p->index,
                           .level = p->at.level,
                           .oct = p->at.oct,
                           .cell = p->at.cell,
                           .main = f->par->saddle > 0 && p->halo == p->label,
                           .max = p->max,
                           .mass = p->c.mass,
                           .near = fixed_get(scale[NEAR], h->sum[NEAR]),
                           .stars = fixed_get(scale[STARS], h->sum[STARS]),
                           .kinetic = fixed_get(scale[KINETIC], h->sum[KINETIC]),
                           .thermal = fixed_get(scale[THERMAL], h->sum[THERMAL]),
                           .gravity = fixed_get(scale[GRAVITY], h->sum[GRAVITY])};
    memcpy(k.x, p->c.x, sizeof k.x);
    return k;
}

void cores_make(struct finder *f, const struct clump_core_par *par, struct clump_cores *out)
{
    struct fixed_scale scale[TERMS];
    int64_t all[2] = {f->npeak, 0};
    if (par->trim > 0) trim(f, par->trim);
    struct heap *sum = mem_zero(sizeof *sum * (size_t)f->npeak + 1, "clump cores");
    bool *taken = mem_zero((size_t)f->npeak + 1, "clump cores");
    add_cells(f, par, scale, sum);
    take_near(f, par, taken);
    if (par->halos) take_inside(f, par, taken);
    if (par->halos) take_halos(f, taken);
    out->at = mem_new(sizeof *out->at * (size_t)f->npeak + 1, "clump cores");
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct peak *p = &f->peak[i];
        all[1] += relevant(p);
        if (!relevant(p) || p->c.ncell == 0) continue;
        out->at[out->n] = core_of(f, p, scale, &sum[i]);
        out->at[out->n++].taken = taken[i];
    }
    comm_add_i64(f->c, all, 2);
    out->peaks = all[0], out->relevant = all[1];
    FREE(taken);
    FREE(sum);
}
