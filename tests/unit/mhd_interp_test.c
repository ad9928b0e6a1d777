/* mhd: laws of interpolation and restriction between levels, on random graded meshes in one to
 * three dimensions with each kind of boundary, on any number of ranks. The divergence of every
 * child is that of its parent cell, finer faces have the mean of the coarser one, a face has the
 * same bits in both cells, means of the gas are conserved, energies are what interpol_var says;
 * octs that do not exist, and octs that refinement creates and removes, do not depend on ranks;
 * vectors have the bits of single numbers.
 * Catches: a face copied from the wrong children, a slope that one of two cells limits differently,
 * ghosts that are missing two octs away, octs created before those that they copy from.
 *
 * test: tier=quick mpi=1,3 */
#include <math.h>
#include <omp.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dom/ghost.h"
#include "mhd/interp_kern.h"
#include "oct/field_sets.h"

enum { NVAR = 6 };
static int lmin, lmax; /* of the mesh */

struct world {
    const struct comm *c;
    struct domain *d;
    struct mesh m;
    struct mhd_par par;
    struct hydro_par gas;
};

static uint64_t hash(uint64_t a, uint64_t b)
{
    return rng_mix(a * 0x9e3779b97f4a7c15u + rng_mix(b + 0x632be59bd9b4e019u));
}

static double uniform(uint64_t h)
{
    return (double)(rng_mix(h) >> 11) * 0x1p-53;
}

/* ---- meshes and states ---- */

static void cell_coords(const struct mesh *m, int l, lidx i, int c, int64_t x[3])
{
    okey_coords(m->lev[l].key[i], x);
    for (int d = 0; d < 3; d++) x[d] = 2 * x[d] + (d < m->ndim ? c >> d & 1 : 0);
}

static uint64_t cell_hash(const struct mesh *m, int l, lidx i, int c)
{
    return hash((uint64_t)m->lev[l].key[i] << 3 | (uint64_t)(c % m->cells), (uint64_t)l);
}

/* Number of a face on its level, the same for both cells. */
static uint64_t face_hash(const struct mesh *m, int l, lidx i, int c, int f)
{
    int64_t x[3], axis = f >> 1;
    cell_coords(m, l, i, c, x);
    x[axis] += f & 1;
    if (!m->bounded[2 * axis] && !m->bounded[2 * axis + 1]) x[axis] &= ((int64_t)1 << l) - 1;
    return hash(hash((uint64_t)(x[0] + (x[1] << 20) + (x[2] << 40)), (uint64_t)axis), (uint64_t)l);
}

/* Random cells, most of them in a ball. */
static bool wanted(const struct mesh *m, int l, lidx i, int c, uint64_t seed)
{
    int64_t x[3];
    double r2 = 0;
    cell_coords(m, l, i, c, x);
    for (int d = 0; d < m->ndim; d++) {
        double y = ((double)x[d] + 0.5) / (double)(1 << l) - 0.3;
        y = m->bounded[2 * d] ? y : y - floor(y + 0.5);
        r2 += y * y;
    }
    const double chance = uniform(hash(cell_hash(m, l, i, c), seed));
    return chance < (sqrt(r2) < 0.5 - 0.3 * (l - lmin) / (lmax - lmin) ? 0.9 : 0.25);
}

static void flag(struct world *w, int l, uint64_t seed)
{
    struct level *lv = &w->m.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) lv->flag[i][c] = c < w->m.cells && wanted(&w->m, l, i, c, seed);
    ghost_fill_flags(w->c, &w->m, l - 1);
    ghost_fill_flags(w->c, &w->m, l);
    adapt_drop_ungraded(&w->m, l);
}

static void exchange(struct world *w, int l)
{
    ghost_fill_set(w->c, &w->m, l, SET_GHOSTED & ~(field_set)SET_FLAG);
}

static void set_cell(struct world *w, int l, lidx i, int c)
{
    const struct mesh *m = &w->m;
    const struct level *lv = &m->lev[l];
    const uint64_t h = cell_hash(m, l, i, c);
    double u[NVAR], b[LAW_FACES];
    for (int f = 0; f < LAW_FACES; f++) {
        const bool centred = f >= 2 * m->ndim;
        b[f] = uniform(centred ? hash(h, (uint64_t)(f >> 1)) : face_hash(m, l, i, c, f)) - 0.4;
        level_magnetic(lv, f)[i][c] = b[f];
    }
    for (int v = 0; v < NVAR; v++) u[v] = 0.5 + uniform(hash(h, (uint64_t)(10 + v)));
    u[GAS_ENERGY] += mhd_not_internal(u[0], u[1], u[2], u[3], b);
    for (int v = 0; v < NVAR; v++) level_gas(lv, v)[i][c] = u[v];
}

static void restrict_all(struct world *w)
{
    for (int l = lmax - 1; l >= 1; l--) {
        exchange(w, l + 1);
        mhd_restrict(&w->m, l, &w->par);
    }
    exchange(w, 1);
}

static void fill(struct world *w)
{
    for (int l = 1; l <= lmax; l++)
        for (lidx i = 0; i < w->m.lev[l].nown; i++)
            for (int c = 0; c < 8; c++) set_cell(w, l, i, c);
    restrict_all(w);
}

/* kind: of domains, and with walls of all kinds of boundaries. */
static void world_make(struct world *w, const struct comm *c, int ndim, int kind, bool walls)
{
    static const enum bound_type types[6] = {BOUND_REFLECT, BOUND_OUTFLOW, BOUND_IMPOSED,
                                             BOUND_REFLECT, BOUND_OUTFLOW, BOUND_IMPOSED};
    bool bounded[6];
    lmin = ndim == 3 ? 3 : ndim == 2 ? 4 : 6;
    lmax = lmin + 2;
    *w = (struct world){.c = c};
    w->gas = (struct hydro_par){.nvar = NVAR, .gamma = 1.4, .smallr = 1e-10, .no_inflow = true};
    for (int f = 0; f < 6; f++) {
        bounded[f] = walls || f >= 2 * ndim;
        if (walls && f < 2 * ndim) w->gas.bound[f] = types[f];
        for (int v = 0; v < NVAR; v++) w->gas.bound_state[f][v] = 0.5 + 0.1 * v;
        for (int d = 0; d < 3; d++) w->par.bound_b[f][d] = 0.1 + 0.2 * d;
    }
    w->par.gas = &w->gas;
    mesh_init(&w->m, lmin, lmax, NVAR, true, true, 1.0, bounded);
    mesh_set_ndim(&w->m, ndim);
    mesh_set_magnetic(&w->m, true);
    w->d = domain_new_of(&w->m, (enum domain_kind)kind, c->size);
    adapt_build(&w->m, c, w->d);
    for (int l = lmin; l < lmax; l++) {
        flag(w, l, 1);
        adapt_refine(&w->m, c, w->d, l, NULL, NULL);
    }
    fill(w);
}

static void world_end(struct world *w)
{
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* ---- children of a cell ---- */

struct children {
    double gas[NVAR_MAX][8], face[LAW_FACES][8];
};

static void children_of(const struct world *w, int l, lidx i, int c, struct children *x)
{
    mhd_interp_oct(&w->m, l, i, c, &w->par, x->gas, x->face);
}

static double divergence(int ndim, const double (*face)[8], int k)
{
    double sum = 0;
    for (int d = 0; d < ndim; d++) sum += face[2 * d + 1][k] - face[2 * d][k];
    return sum;
}

/* Largest violation of a law. */
static void worst(double *max, double x)
{
    if (!(fabs(x) <= *max)) *max = fabs(x);
}

/* Whether all octs exist that touch cell c, so that an oct may be created in it. */
static bool surrounded(const struct mesh *m, int l, lidx i, int c)
{
    lidx around[8];
    bool all = true;
    mesh_corner(m, l, i, c, m->cells - 1, around);
    for (int k = 0; k < m->cells; k++) all &= around[k] != NBR_NONE;
    return all;
}

struct errors {
    double divergence, mean, gas, internal;
    int unlike, inside, made, cells;
};

/* The faces of child k and of its neighbour inside. */
static int unlike_inside(int ndim, const struct children *x)
{
    int n = 0;
    for (int d = 0; d < ndim; d++)
        for (int k = 0; k < 8; k++)
            if (!(k >> d & 1))
                n += memcmp(&x->face[2 * d + 1][k], &x->face[2 * d][k | 1 << d], 8) != 0;
    return n;
}

/* The faces that the cell across would interpolate, or has. */
static int unlike_outside(const struct world *w, int l, lidx i, int c, const struct children *x)
{
    const struct mesh *m = &w->m;
    int n = 0;
    for (int f = 0; f < 2 * m->ndim; f++) {
        const struct patch_cell a = patch_across(m, l, i, c, f);
        const int bit = 1 << (f >> 1);
        struct children other;
        if (a.oct < 0 || a.level < l || m->lev[l].child[i][c] >= 0) continue;
        if (!surrounded(m, l, i, c)) continue;
        const lidx fine = m->lev[l].child[a.oct][a.cell];
        if (fine < 0 && !surrounded(m, l, a.oct, a.cell)) continue;
        if (fine < 0) children_of(w, l, a.oct, a.cell, &other);
        for (int k = 0; k < 8; k++) {
            if (((k & bit) != 0) != (f & 1)) continue;
            const double *b = fine < 0 ? &other.face[f ^ 1][k ^ bit]
                                       : &level_magnetic(&m->lev[l + 1], f ^ 1)[fine][k ^ bit];
            n += memcmp(b, &x->face[f][k], 8) != 0;
        }
    }
    return n;
}

/* Numbers of the children by vectors that differ. */
static int unlike_made(const struct world *w, int l, lidx i, int c, const struct children *x)
{
    double out[FIELD_ALL][8];
    int n = 0, first = 0;
    for (int f = 0; f < FLD_MAGNETIC; f++) first += mesh_has_field(&w->m, f);
    mhd_prolong(&w->m, l, i, c, out, (void *)&w->par);
    for (int f = 0; f < LAW_FACES; f++) n += memcmp(out[first + f], x->face[f], 64) != 0;
    for (int v = 0; v < NVAR; v++) n += memcmp(out[first + LAW_FACES + v], x->gas[v], 64) != 0;
    return n;
}

static void check_children(const struct world *w, int l, lidx i, int c, struct errors *e)
{
    const struct mesh *m = &w->m;
    const int n = m->cells;
    double faces[LAW_FACES], mean[NVAR] = {0}, internal = 0;
    struct children x;
    children_of(w, l, i, c, &x);
    mhd_faces_read(&m->lev[l], i, c, faces);
    double whole = 0;
    for (int d = 0; d < m->ndim; d++) whole += faces[2 * d + 1] - faces[2 * d];
    for (int k = 0; k < 8; k++)
        worst(&e->divergence, divergence(m->ndim, (const double(*)[8])x.face, k) - 0.5 * whole);
    for (int f = 0; f < LAW_FACES; f++) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            if (f >= 2 * m->ndim || (k >> (f >> 1) & 1) == (f & 1)) sum += x.face[f][k];
        worst(&e->mean, sum / (f >= 2 * m->ndim ? n : n / 2) - faces[f]);
        if (f >= 2 * m->ndim) worst(&e->mean, x.face[f][n - 1] - x.face[f ^ 1][n - 1]);
    }
    for (int k = 0; k < n; k++) {
        double b[LAW_FACES];
        for (int f = 0; f < LAW_FACES; f++) b[f] = x.face[f][k];
        for (int v = 0; v < NVAR; v++) mean[v] += x.gas[v][k] / n;
        internal += (x.gas[GAS_ENERGY][k] -
                     mhd_not_internal(x.gas[0][k], x.gas[1][k], x.gas[2][k], x.gas[3][k], b)) /
                    n;
    }
    const struct gas_cell g = gas_cell_read(&m->lev[l], i, c);
    if (mhd_internal(&w->par)) worst(&e->internal, internal - gas_cell_internal(&g));
    for (int v = 0; v < NVAR; v++)
        if (v != GAS_ENERGY || !mhd_internal(&w->par))
            worst(&e->gas, mean[v] - level_gas(&m->lev[l], v)[i][c]);
    e->made += unlike_made(w, l, i, c, &x);
    e->inside += unlike_inside(m->ndim, &x);
    e->unlike += unlike_outside(w, l, i, c, &x);
    e->cells++;
}

static void test_children(struct world *w, int type, int mag, int var)
{
    struct errors e = {0};
    w->gas.interpol_type = type, w->par.interpol_mag = mag, w->gas.interpol_var = var;
    fill(w);
    for (int l = lmin; l < lmax; l++)
        for (lidx i = 0; i < w->m.lev[l].nown; i++)
            for (int c = 0; c < w->m.cells; c++) check_children(w, l, i, c, &e);
    const int ndim = w->m.ndim;
    CHECK(e.divergence < 1e-14, "%g: %d-D, types %d, %d", e.divergence, ndim, type, mag);
    CHECK(e.mean < 1e-15, "%g: %d-D, types %d, %d", e.mean, ndim, type, mag);
    /* slopes without a limiter can leave no density, of which kinetic energies are none */
    CHECK(e.gas < 1e-14 && (type == 3 || e.internal < 1e-14), "%g, %g: %d-D, types %d, %d", e.gas,
          e.internal, ndim, type, mag);
    CHECK(e.made == 0, "%d of %d cells: %d-D, types %d, %d", e.made, e.cells, ndim, type, mag);
    CHECK(e.unlike == 0 && e.inside == 0, "%d, %d of %d cells: %d-D, types %d, %d", e.unlike,
          e.inside, e.cells, ndim, type, mag);
}

/* ---- copies of a face ---- */

/* Number of faces of own cells of level l whose two copies differ, or that differ from the mean of
 * the finer level. */
static int64_t copies_wrong(const struct world *w, int l)
{
    const struct mesh *m = &w->m;
    const struct level *lv = &m->lev[l];
    int64_t wrong = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int j = 0; j < m->cells * 2 * m->ndim; j++) {
            const int c = j % m->cells, f = j / m->cells;
            const struct patch_cell a = patch_across(m, l, i, c, f);
            const double *b = &level_magnetic(lv, f)[i][c];
            if (a.oct < 0 || a.level < l) continue;
            const lidx fine = lv->child[a.oct][a.cell];
            wrong += memcmp(b, &level_magnetic(lv, f ^ 1)[a.oct][a.cell], sizeof *b) != 0;
            wrong += fine >= 0 && *b != mhd_face_mean(lv + 1, fine, f ^ 1);
        }
    comm_add_i64(w->c, &wrong, 1);
    return wrong;
}

static void check_copies(const struct world *w, int from, const char *what)
{
    for (int l = from; l <= lmax; l++) {
        const int64_t wrong = copies_wrong(w, l);
        CHECK(wrong == 0, "%s: %d copies on level %d differ in %d-D", what, (int)wrong, l,
              w->m.ndim);
    }
}

static void test_restriction(struct world *w, int var)
{
    const struct mesh *m = &w->m;
    double gas = 0, energy = 0;
    w->gas.interpol_var = var;
    fill(w);
    check_copies(w, 1, "restriction");
    for (int l = lmin; l < lmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < m->cells; c++) {
                const struct level *lv = &m->lev[l];
                const lidx o = lv->child[i][c];
                double faces[LAW_FACES], mean[NVAR] = {0};
                mhd_faces_read(lv, i, c, faces);
                const struct gas_cell g = gas_cell_read(lv, i, c);
                const double internal = gas_cell_internal(&g);
                const uint64_t h = hash(cell_hash(m, l, i, c), 10 + GAS_ENERGY);
                if (o < 0 && var == 1) worst(&energy, internal - 0.5 - uniform(h));
                for (int k = 0; k < m->cells && o >= 0; k++) {
                    double b[LAW_FACES];
                    mhd_faces_read(lv + 1, o, k, b);
                    const struct gas_cell q = gas_cell_read(lv + 1, o, k);
                    for (int v = 0; v < NVAR; v++) mean[v] += level_gas(lv + 1, v)[o][k] / m->cells;
                    if (var == 1)
                        mean[GAS_ENERGY] -= mhd_not_internal(q.rho, q.m[0], q.m[1], q.m[2], b) /
                                            m->cells;
                }
                if (o >= 0 && var == 1) worst(&energy, internal - mean[GAS_ENERGY]);
                for (int v = 0; v < NVAR && o >= 0; v++)
                    if (v != GAS_ENERGY || var == 0) worst(&gas, level_gas(lv, v)[i][c] - mean[v]);
            }
    CHECK(gas < 1e-14 && energy < 1e-14, "%g, %g in %d-D", gas, energy, m->ndim);
}

/* ---- boundaries ---- */

static void test_beyond(const struct world *w)
{
    const int n = NVAR;
    for (int f = 0; f < 6; f++)
        for (enum bound_type type = BOUND_REFLECT; type <= BOUND_IMPOSED; type++) {
            struct hydro_par gas = w->gas;
            struct mhd_par par = w->par;
            double in[2][NVAR + 6], u[2][NVAR + 6], e[2];
            const int back = f ^ 1;
            par.gas = &gas;
            gas.bound[f] = type;
            for (int h = 0; h < 2; h++) {
                for (int v = 0; v < n + 6; v++) in[h][v] = 0.5 + uniform(hash(v, h + 3));
                in[h][1 + (f >> 1)] *= f & 1 ? 1 : -1;
            }
            in[1][n + f] = in[0][n + back];
            for (int h = 0; h < 2; h++) {
                mhd_beyond(&par, f, h, in[0], in[h], u[h]);
                const double *s = type == BOUND_REFLECT ? in[h] : in[0], *q = u[h];
                e[h] = q[4] - mhd_not_internal(q[0], q[1], q[2], q[3], q + n);
                e[h] -= s[4] - mhd_not_internal(s[0], s[1], s[2], s[3], s + n);
            }
            CHECK(u[0][n + back] == in[0][n + f], "the wall has one field: %d, %d", f, type);
            CHECK(u[1][n + back] == u[0][n + f], "and so has the face behind: %d, %d", f, type);
            if (type == BOUND_IMPOSED) continue;
            CHECK(fabs(e[0]) < 1e-15 && fabs(e[1]) < 1e-15, "%g, %g: %d, %d", e[0], e[1], f, type);
            const int h = type == BOUND_REFLECT;
            CHECK(fabs(u[1][n + f] - u[1][n + back] - (in[h][n + f] - in[h][n + back])) < 1e-15);
            const double before = in[h][1 + (f >> 1)], after = u[1][1 + (f >> 1)];
            CHECK(after == (type == BOUND_REFLECT ? -before : before));
        }
}

/* ---- ranks ---- */

static int64_t bits_of(const void *data, size_t n, uint64_t at)
{
    const double *x = data;
    uint64_t sum = 0, b;
    for (size_t k = 0; k < n; k++) {
        memcpy(&b, &x[k], sizeof b);
        sum += hash(b, at + k) >> 8;
    }
    return (int64_t)sum;
}

/* Interpolates the octs around own octs of level l that do not exist. */
static int64_t missing_bits(const struct world *w, int l, int64_t *n)
{
    const struct mesh *m = &w->m;
    const struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    int64_t sum = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        lidx cube[27];
        mesh_cube(m, l, i, cube);
        for (int j = 0; j < 27; j++) {
            bool outside;
            struct children x;
            if (cube[j] != NBR_NONE) continue;
            const okey key = okey_shift(lv->key[i], l, j % 3 - 1, j / 3 % 3 - 1, j / 9 - 1,
                                        &outside);
            const lidx parent = mesh_find(up, key >> 3);
            CHECK(parent >= 0, "a parent is missing on level %d", l);
            if (parent < 0) continue;
            children_of(w, l - 1, parent, (int)(key & 7), &x);
            const uint64_t at = hash((uint64_t)key, (uint64_t)l);
            sum += bits_of(x.gas, 8 * NVAR, at) + bits_of(x.face, 8 * LAW_FACES, at + 1000);
            ++*n;
        }
    }
    return sum;
}

/* Values of own octs. */
static int64_t level_bits(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    int64_t sum = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int f = 0; f < LAW_FACES + NVAR; f++) {
            const int field = f < LAW_FACES ? FLD_MAGNETIC + f : FLD_GAS + f - LAW_FACES;
            sum += bits_of(lv->fld[field][i], 8, hash((uint64_t)lv->key[i], (uint64_t)field));
        }
    return sum;
}

/* Sums over all ranks: bits of what is missing, of the mesh before and after it changes; numbers of
 * octs that are missing, and of octs. */
struct result {
    int64_t missing, before, after, nmissing, octs;
};

static struct result run(const struct comm *c, int ndim, int kind, bool walls)
{
    struct world w;
    struct result x = {0};
    world_make(&w, c, ndim, kind, walls);
    w.gas.interpol_type = w.par.interpol_mag = 1;
    w.gas.interpol_var = 1;
    fill(&w);
    for (int l = lmin + 1; l <= lmax; l++) x.missing += missing_bits(&w, l, &x.nmissing);
    for (int l = lmin; l <= lmax; l++) x.before += level_bits(&w.m, l);
    for (int l = lmax - 1; l >= lmin; l--) {
        if (l == lmax - 1) flag(&w, l, 2);
        adapt_refine(&w.m, c, w.d, l, mhd_prolong, &w.par);
    }
    check_copies(&w, lmax, "creation");
    restrict_all(&w);
    check_copies(&w, 1, "creation and restriction");
    for (int l = lmin; l <= lmax; l++) {
        x.after += level_bits(&w.m, l);
        x.octs += w.m.lev[l].nown;
    }
    comm_add_i64(c, &x.missing, 5);
    world_end(&w);
    return x;
}

static void test_ranks(const struct comm *alone, const struct comm *all)
{
    for (int ndim = 1; ndim <= 3; ndim++)
        for (int how = 0; how < 4; how++) {
            struct result a = run(alone, ndim, how & 1, how & 2),
                          b = run(all, ndim, how & 1, how & 2);
            CHECK(a.nmissing > 0 && a.after != a.before, "%d octs", (int)a.nmissing);
            CHECK(a.missing == b.missing && a.nmissing == b.nmissing,
                  "%d-D, %d: octs that do not exist depend on ranks", ndim, how);
            CHECK(a.before == b.before && a.after == b.after && a.octs == b.octs,
                  "%d-D, %d: octs depend on ranks", ndim, how);
        }
}

/* ---- refinement by gradients ---- */

/* Quantities of a cell: density, velocities, pressure, magnetic energy, field; sound speed. */
enum { Q_PRESSURE = 4, Q_B2, Q_B, Q_SOUND = Q_B + 3, QUANTITIES };

static void quantities(const struct mhd_par *p, const double *u, double *q)
{
    const struct hydro_par *g = p->gas;
    double kinetic = 0, b2 = 0;
    q[0] = fmax(u[0], g->smallr);
    for (int d = 0; d < 3; d++) {
        q[1 + d] = u[1 + d] / q[0];
        q[Q_B + d] = 0.5 * (u[NVAR + 2 * d] + u[NVAR + 2 * d + 1]);
        kinetic += 0.5 * q[0] * (q[1 + d] * q[1 + d]);
        b2 += q[Q_B + d] * q[Q_B + d];
    }
    q[Q_B2] = 0.5 * b2;
    q[Q_PRESSURE] = (g->gamma - 1.0) * (u[GAS_ENERGY] - q[Q_B2] - kinetic);
    q[Q_SOUND] = sqrt(fmax(g->gamma * q[Q_PRESSURE] / q[0], g->floor_u * g->floor_u));
}

/* Whether quantity v jumps between two cells. */
static bool jumps(const struct mhd_par *p, int v, const double *a, const double *b)
{
    const struct hydro_par *g = p->gas;
    double floor, limit, sum = a[v] + b[v];
    if (v == 0)
        floor = g->floor_d, limit = g->err_grad_d;
    else if (v < Q_PRESSURE)
        floor = g->floor_u, limit = g->err_grad_u;
    else if (v == Q_PRESSURE)
        floor = g->floor_p, limit = g->err_grad_p;
    else if (v == Q_B2)
        floor = p->floor_b2, limit = p->err_grad_b2;
    else
        floor = p->floor_b[v - Q_B], limit = p->err_grad_b[v - Q_B];
    if (v > 0 && v < Q_PRESSURE) sum = a[Q_SOUND] + b[Q_SOUND] + fabs(a[v]) + fabs(b[v]);
    if (v >= Q_B) sum = sqrt(a[Q_B2]) + sqrt(b[Q_B2]);
    return limit >= 0 && 2 * fabs((b[v] - a[v]) / (sum + floor)) > limit;
}

static bool is_flagged(const struct world *w, int l, lidx i, int c)
{
    const struct mesh *m = &w->m;
    double own[MHD_VALUES], u[MHD_VALUES], a[QUANTITIES], b[QUANTITIES];
    bool any = false;
    mhd_cell_read(m, (struct patch_cell){l, i, c}, NVAR, own);
    quantities(&w->par, own, a);
    for (int f = 0; f < 2 * m->ndim; f++) {
        const struct patch_cell x = patch_across(m, l, i, c, f);
        if (x.oct >= 0)
            mhd_cell_read(m, x, NVAR, u);
        else
            mhd_beyond(&w->par, f, 0, own, own, u);
        quantities(&w->par, u, b);
        for (int v = 0; v < Q_SOUND; v++)
            any |= f & 1 ? jumps(&w->par, v, a, b) : jumps(&w->par, v, b, a);
    }
    return any;
}

/* k: the only criterion, or none or all of them. */
static void test_flag(struct world *w, int k)
{
    struct mhd_par *p = &w->par;
    int wrong = 0, n = 0, cells = 0;
    w->gas.floor_d = w->gas.floor_p = w->gas.floor_u = p->floor_b2 = 1e-10;
    w->gas.err_grad_d = k == 0 || k == 7 ? 0.7 : -1;
    w->gas.err_grad_p = k == 1 || k == 7 ? 0.7 : -1;
    w->gas.err_grad_u = k == 2 || k == 7 ? 0.4 : -1;
    p->err_grad_b2 = k == 3 || k == 7 ? 1.6 : -1;
    for (int d = 0; d < 3; d++) {
        p->floor_b[d] = 1e-10;
        p->err_grad_b[d] = k == 4 + d || k == 7 ? 1.6 : -1;
    }
    for (int l = lmin; l <= lmax; l++) {
        const struct level *lv = &w->m.lev[l];
        unsigned char(*ok)[8] = mem_zero(sizeof *ok * (size_t)lv->noct + 1, "test");
        mhd_flag(&w->m, l, p, ok);
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++, cells++) {
                wrong += ok[i][c] != is_flagged(w, l, i, c % w->m.cells);
                n += ok[i][c];
            }
        mem_free(ok);
    }
    CHECK(wrong == 0, "%d cells flagged otherwise than by the formula: %d-D, %d", wrong, w->m.ndim,
          k);
    CHECK((n > 0) == (k < 8) && n < cells, "%d of %d cells: %d-D, %d", n, cells, w->m.ndim, k);
}

static void test_laws(const struct comm *c)
{
    static const int mag[] = {0, 1, 2, 3, 5};
    for (int ndim = 1; ndim <= 3; ndim++)
        for (int walls = 0; walls < 2; walls++) {
            struct world w;
            world_make(&w, c, ndim, DOMAIN_HILBERT, walls);
            for (int k = 0; k < 5; k++) test_children(&w, k % 4, mag[k], k & 1);
            test_children(&w, 4, 1, 2);
            for (int type = 0; type < 4; type++) test_children(&w, 1, type, 0);
            for (int var = 0; var < 2; var++) test_restriction(&w, var);
            for (int k = 0; k < 9; k++) test_flag(&w, k);
            if (ndim == 3) test_beyond(&w);
            world_end(&w);
        }
}

int main(int argc, char **argv)
{
    struct comm all;
    const struct comm alone = {.size = 1};
    comm_init(&argc, &argv, &all);
    omp_set_num_threads(2);
    test_laws(&alone);
    test_ranks(&alone, &all);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    if (all.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed != 0;
}
