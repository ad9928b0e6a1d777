/* ics/ics_grafic: gas and refinement maps from GRAFIC2 files (Bertschinger 2001).
 *
 * Level l has cells of dx_l Mpc; the box is 2^levelmin dx_levelmin. Linear theory: with D the
 * growing mode and F(a) = a f(a) sqrt(Ω_m/a + Ω_Λ a² + Ω_k) (cosmo_vfact), a velocity v [km/s] at
 * astart is a displacement v / (F(astart) H0/astart) [comoving Mpc], and a displacement of ψ code
 * lengths at aexp is a code velocity F(aexp) ψ. With g = D(aexp)/D(astart):
 *
 *   rho = max(1 + g δ, 0.1) Ω_b/Ω_m
 *   u   = g F(aexp) v / (F(astart) H0/astart) / box
 *   P   = rho (1 + ic_tempb) T2 / unit_T2
 *
 * The magnetic field of faces is in code units, as are the gas and its velocities without
 * cosmology. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "ics/field.h"
#include "ics/files.h"
#include "ics/split.h"
#include "oct/gas_kern.h"

static enum err read_heads(const struct ics_set *set, struct grafic_head *head);
static int particle_level(const struct grafic_head *h, int level);
static enum err take_levels(struct ics_grafic *g, const struct ics_set *set,
                            const struct grafic_head *head);
static enum err take_geometry(const struct ics_grafic *g, int l, struct ics_level *ic);
static enum err check_nested(const struct ics_grafic *g, int l);
static enum err take_cosmology(struct ics_grafic *g, const struct ics_set *set);
static enum err gas_local(const struct ics_grafic *g, struct mesh *m, int l,
                          const struct ics_gas *gas);
static enum err gas_variable(const struct ics_grafic *g, const struct ics_layers *s, int v,
                             const struct ics_gas *gas, double (*q)[8]);
static void gas_conserve(const struct ics_grafic *g, struct level *lv, const struct ics_gas *gas);
static enum err field_component(const struct ics_grafic *g, const struct ics_layers *s, int d,
                                const struct ics_gas *gas);
static enum err refmap_local(const struct ics_grafic *g, const struct mesh *m, int l,
                             unsigned char (*map)[8]);

enum err ics_grafic_open(struct ics_grafic *g, const struct ics_set *set, const struct comm *c)
{
    struct grafic_head head[LEVEL_MAX + 2];
    BUG_ON(set->nlev < 1 || set->levelmin < 1 || set->levelmin + set->nlev - 1 > LEVEL_MAX);
    *g = (struct ics_grafic){.cosmo = set->cosmo,
                             .levelmin = set->levelmin,
                             .levelmax = set->levelmin + set->nlev - 1,
                             .par.ramses = g->par.ramses};
    memset(head, 0, sizeof head);
    TRY(err_agree(c, c->rank == 0 ? read_heads(set, head) : OK));
    comm_bcast(c, head, sizeof head, 0);
    if (set->cosmo && !set->gas && set->nlev == 1)
        g->levelmin = g->levelmax = particle_level(head, set->levelmin);
    enum err err = take_levels(g, set, head);
    if (err == OK && set->cosmo) err = take_cosmology(g, set);
    if (err != OK) ics_grafic_close(g);
    return err_agree(c, err);
}

void ics_grafic_close(struct ics_grafic *g)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(g->lev[l].dir);
}

bool ics_grafic_has(const struct ics_grafic *g, int l)
{
    return l >= g->levelmin && l <= g->levelmax;
}

double ics_grafic_mass_sph(const struct ics_grafic *g)
{
    return g->par.omega_b / g->par.omega_m * ldexp(1, -3 * g->levelmax);
}

enum err ics_grafic_gas(const struct ics_grafic *g, struct mesh *m, const struct comm *c, int l,
                        const struct ics_gas *gas)
{
    return err_agree(c, gas_local(g, m, l, gas));
}

enum err ics_grafic_refmap(const struct ics_grafic *g, const struct mesh *m, const struct comm *c,
                           int l, unsigned char (*map)[8])
{
    return err_agree(c, refmap_local(g, m, l, map));
}

/* ---- headers ---- */

static enum err read_heads(const struct ics_set *set, struct grafic_head *head)
{
    for (int i = 0; i < set->nlev; i++) {
        struct ics_file f;
        const char *dir = set->dir[i], *first = ics_first_file(dir, set->cosmo, set->gas);
        TRY(ics_open(&f, dir, first, set->cosmo));
        head[i] = f.whole.head;
        ics_close(&f);
        TRY(ics_check_files(dir, set->cosmo, first, &head[i], NULL, NULL));
    }
    return OK;
}

/* Level of the particle grid of a level: particles alone may be coarser than the mesh. Files that
 * do not fill the box of a coarser level belong to `level`. */
static int particle_level(const struct grafic_head *h, int level)
{
    bool cube = h->n[0] == h->n[1] && h->n[0] == h->n[2];
    for (int l = 1; l < level && cube; l++)
        if (h->n[0] == (int64_t)1 << l) return l;
    return level;
}

static enum err take_levels(struct ics_grafic *g, const struct ics_set *set,
                            const struct grafic_head *head)
{
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        const char *dir = set->dir[l - g->levelmin];
        struct ics_level *ic = &g->lev[l];
        size_t bytes = strlen(dir) + 1;
        ic->dir = memcpy(mem_new(bytes, "file names"), dir, bytes);
        ic->first = ics_first_file(dir, set->cosmo, set->gas);
        ic->head = head[l - g->levelmin];
        TRY(take_geometry(g, l, ic));
        if (l > g->levelmin) TRY(check_nested(g, l));
    }
    return OK;
}

static enum err take_geometry(const struct ics_grafic *g, int l, struct ics_level *ic)
{
    const struct grafic_head *h = &ic->head;
    const int64_t side = (int64_t)1 << l;
    for (int d = 0; d < 3; d++) {
        double off = h->off[d] / h->dx, cell = nearbyint(off);
        if (!(fabs(off - cell) < 0.1))
            FAIL(ERR_FORMAT, "%s: offset %.7g along %c is %.4f cells, not a whole number", ic->dir,
                 h->off[d], 'x' + d, off);
        ic->off[d] = (int64_t)cell;
        if (cell < 0 || cell + h->n[d] > (double)side)
            FAIL(ERR_FORMAT, "%s: cells %.0f to %.0f along %c are not within the %lld of level %d",
                 ic->dir, cell, cell + h->n[d] - 1, 'x' + d, (long long)side, l);
        if (l == g->levelmin && h->n[d] != side)
            FAIL(ERR_FORMAT, "%s: has %d x %d x %d cells where levelmin = %d needs %lld per side",
                 ic->dir, h->n[0], h->n[1], h->n[2], l, (long long)side);
    }
    double ratio = g->lev[g->levelmin].head.dx / h->dx / ldexp(1, l - g->levelmin);
    if (!(fabs(ratio - 1) < 1e-4))
        FAIL(ERR_FORMAT, "%s: cell size %.7g should be %.7g, that of level %d divided by %lld",
             ic->dir, h->dx, h->dx * ratio, g->levelmin, (long long)1 << (l - g->levelmin));
    return OK;
}

/* Checks that a level begins and ends at cells of its parent level: each refined cell has eight
 * children. */
static enum err check_nested(const struct ics_grafic *g, int l)
{
    const struct ics_level *in = &g->lev[l], *out = &g->lev[l - 1];
    for (int d = 0; d < 3; d++) {
        int64_t lo = in->off[d], hi = lo + in->head.n[d];
        if (lo < 2 * out->off[d] || hi > 2 * (out->off[d] + out->head.n[d]))
            FAIL(ERR_FORMAT, "%s: its region is not within the region of %s along %c", in->dir,
                 out->dir, 'x' + d);
        if (lo % 2 || hi % 2)
            FAIL(ERR_FORMAT,
                 "%s: its cells %lld to %lld along %c begin or end inside a cell of level %d",
                 in->dir, (long long)lo, (long long)(hi - 1), 'x' + d, l - 1);
    }
    return OK;
}

/* Finds Omega_b of the headers: the value of the first level that has it. */
static enum err find_baryons(struct ics_grafic *g)
{
    g->omega_b = NAN;
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        const struct ics_level *ic = &g->lev[l];
        if (!grafic_has_baryons(&ic->head)) continue;
        if (!isnan(g->omega_b) && !grafic_near(g->omega_b, ic->head.omega_b))
            FAIL(ERR_FORMAT, "%s: omega_b = %g differs from %g of a coarser level", ic->dir,
                 ic->head.omega_b, g->omega_b);
        if (isnan(g->omega_b)) g->omega_b = ic->head.omega_b;
    }
    return OK;
}

static enum err take_cosmology(struct ics_grafic *g, const struct ics_set *set)
{
    double aexp = 1, omega_b = set->omega_b;
    const struct grafic_head *h = &g->lev[g->levelmin].head;
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        const struct grafic_head *k = &g->lev[l].head;
        if (!grafic_near(k->omega_m, h->omega_m) || !grafic_near(k->omega_l, h->omega_l) ||
            !grafic_near(k->h0, h->h0))
            FAIL(ERR_FORMAT, "%s: omega_m, omega_v, h0 = %g, %g, %g differ from %g, %g, %g of %s",
                 g->lev[l].dir, k->omega_m, k->omega_l, k->h0, h->omega_m, h->omega_l, h->h0,
                 g->lev[g->levelmin].dir);
        aexp = fmin(aexp, k->astart);
    }
    TRY(find_baryons(g));
    if (!set->omega_b_given && !isnan(g->omega_b)) omega_b = g->omega_b;
    if (set->aexp_ini < 1) aexp = set->aexp_ini;
    h = &g->lev[g->levelmax].head; /* as RAMSES: the last header read */
    double side = ldexp(1, g->levelmin);
    g->par = (struct cosmo_par){.omega_m = h->omega_m,
                                .omega_l = h->omega_l,
                                .omega_b = set->gas ? omega_b : 0,
                                .h0 = h->h0,
                                .dark = g->par.dark,
                                .ramses = g->par.ramses};
    g->par.omega_k = 1 - h->omega_l - h->omega_m;
    g->par.aexp_ini = aexp;
    g->par.boxlen_ini = side * g->lev[g->levelmin].head.dx * (h->h0 / 100);
    struct cosmo *check;
    TRY(cosmo_new(&g->par, &check));
    cosmo_free(check);
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        struct ics_level *ic = &g->lev[l];
        double astart = ic->head.astart;
        ic->growth = cosmo_growth(&g->par, aexp) / cosmo_growth(&g->par, astart);
        ic->vfact = cosmo_vfact(&g->par, astart) / astart * g->par.h0;
    }
    return OK;
}

/* ---- gas ---- */

static enum err gas_local(const struct ics_grafic *g, struct mesh *m, int l,
                          const struct ics_gas *gas)
{
    struct level *lv = &m->lev[l];
    struct ics_layers s;
    enum err err = OK;
    TRY_OUT(ics_layers_new(g, m, l, &s));
    for (int v = 0; v < gas->nvar; v++) TRY_OUT(gas_variable(g, &s, v, gas, level_gas(lv, v)));
    for (int d = 0; d < 3 && gas->magnetic; d++) TRY_OUT(field_component(g, &s, d, gas));
    gas_conserve(g, lv, gas); /* with the energy of the field */
out:
    ics_layers_free(&s);
    return err;
}

/* The letter of the files of velocities. The gas has its own, or else those of the dark matter; as
 * in RAMSES, with a magnetic field the other way round. */
static char gas_velocity(const char *dir, bool magnetic)
{
    if (magnetic) return ics_exists(dir, "ic_velcx") ? 'c' : 'b';
    return ics_exists(dir, "ic_velbx") ? 'b' : 'c';
}

/* Finds the file of variable v (0-4: rho, u, v, w, T or P; then scalars), and whether it exists. */
static bool gas_file(const struct ics_grafic *g, const char *dir, int v, bool magnetic,
                     char name[32])
{
    static const char *const plain[] = {"ic_d", "ic_u", "ic_v", "ic_w", "ic_p"};
    if (v >= GAS_SCALARS)
        snprintf(name, 32, "ic_pvar_%05d", v - GAS_SCALARS + 1);
    else if (!g->cosmo)
        snprintf(name, 32, "%s", plain[v]);
    else if (v >= 1 && v <= 3)
        snprintf(name, 32, "ic_vel%c%c", gas_velocity(dir, magnetic), 'w' + v);
    else
        snprintf(name, 32, "%s", v == 0 ? "ic_deltab" : "ic_tempb");
    /* required files: the reader reports the error */
    return ics_exists(dir, name) || v == 0 || (g->cosmo && v <= 3);
}

/* Finds the conversion to code units: base + factor * (value in the file). */
static void gas_scale(const struct ics_grafic *g, const struct level *lv,
                      const struct ics_level *ic, int v, const struct ics_gas *gas, double *base,
                      double *factor)
{
    const struct cosmo_par *p = &g->par;
    double ul, ud, ut, aexp = p->aexp_ini;
    *base = 0;
    *factor = 1;
    if (!g->cosmo || v >= GAS_SCALARS) return;
    if (v == 0) {
        *base = p->omega_b / p->omega_m;
        *factor = ic->growth * *base;
    } else if (v <= 3) {
        *factor = ic->growth * cosmo_vfact(p, aexp) * ldexp(1, -lv->level) / ic->head.dx /
                  ic->vfact;
    } else {
        cosmo_units(p, aexp, &ul, &ud, &ut);
        *base = (gas->T2_start > 0 ? gas->T2_start : 1.356e-2 / (aexp * aexp)) /
                (RAMSES_MH / CGS_KB * (ul / ut) * (ul / ut));
        *factor = *base;
    }
}

static enum err gas_variable(const struct ics_grafic *g, const struct ics_layers *s, int v,
                             const struct ics_gas *gas, double (*q)[8])
{
    char name[32];
    double base, factor;
    gas_scale(g, s->lv, s->ic, v, gas, &base, &factor);
    bool given = gas_file(g, s->ic->dir, v, gas->magnetic, name);
    if (given) TRY(ics_field_read(s, name, q));
    if (!given && g->cosmo && v >= GAS_SCALARS) base = gas->initial[v];
    double min = v == 0 && g->cosmo ? 0.1 * g->par.omega_b / g->par.omega_m : -HUGE_VAL;
#pragma omp parallel for
    for (lidx i = 0; i < s->lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            const double x = given ? base + factor * q[i][c] : base;
            q[i][c] = given && x < min ? min : x;
        }
    return OK;
}

/* Converts rho, v, T (cosmology: P/rho) or P, and scalars to conserved variables, in place. */
static void gas_conserve(const struct ics_grafic *g, struct level *lv, const struct ics_gas *gas)
{
    const int passive = GAS_SCALARS + gas->energy.n;
    double(*u[NVAR_MAX])[8];
    for (int v = 0; v < gas->nvar; v++) u[v] = level_gas(lv, v);
#pragma omp parallel for
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double rho = u[0][i][c], q = u[GAS_PRESSURE][i][c], p = g->cosmo ? rho * q : q;
            double kinetic = gas_kinetic_v(rho, u[1][i][c], u[2][i][c], u[3][i][c]);
            for (int v = GAS_VELOCITY; v < gas->nvar; v++)
                u[v][i][c] = v >= GAS_SCALARS && v < passive
                                 ? gas_internal_of(u[v][i][c], gas->energy.gamma[v - GAS_SCALARS])
                                 : u[v][i][c] * rho;
            gas_set_internal(lv, i, c, gas_internal_of(p, gas->gamma), kinetic);
        }
}

/* ---- magnetic field ---- */

/* Reads a component on the lower and on the upper faces of cells. */
static enum err field_component(const struct ics_grafic *g, const struct ics_layers *s, int d,
                                const struct ics_gas *gas)
{
    char name[2][32];
    bool given[2];
    for (int side = 0; side < 2; side++) {
        snprintf(name[side], sizeof name[side], "ic_b%c%s", 'x' + d, side ? "right" : "left");
        given[side] = ics_exists(s->ic->dir, name[side]);
    }
    if (given[0] != given[1])
        FAIL(ERR_FILE, "%s: has %s but no %s: a magnetic field is given on both faces of a cell",
             s->ic->dir, name[given[1]], name[given[0]]);
    const double none = g->cosmo && d == 2 ? gas->b_ave : 0;
    for (int side = 0; side < 2; side++) {
        double(*b)[8] = level_magnetic(s->lv, 2 * d + side);
        if (given[0]) TRY(ics_field_read(s, name[side], b));
        for (lidx i = 0; i < s->lv->nown && !given[0]; i++)
            for (int c = 0; c < 8; c++) b[i][c] = none;
    }
    return OK;
}

/* Takes the field on the upper face of cell c across axis d from the cell above. Returns by how
 * much it changes. */
static double face_join(const struct level *lv, lidx i, int c, int d)
{
    const int bit = 1 << d;
    const lidx above = c & bit ? lv->nbr[i][2 * d + 1] : i;
    if (above < 0) return 0;
    double *b = &level_magnetic(lv, 2 * d + 1)[i][c];
    const double was = *b;
    *b = level_magnetic(lv, 2 * d)[above][c ^ bit];
    return fabs(*b - was);
}

void ics_grafic_faces(struct mesh *m, int l, double max[2])
{
    const struct level *lv = &m->lev[l];
    double apart = max[0], strong = max[1];
#pragma omp parallel for reduction(max : apart, strong)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            const double was = gas_cell_magnetic(lv, i, c);
            for (int d = 0; d < 3; d++) {
                apart = fmax(apart, face_join(lv, i, c, d));
                strong = fmax(strong, fabs(level_magnetic(lv, 2 * d)[i][c]));
            }
            gas_add_energy(lv, i, c, gas_cell_magnetic(lv, i, c) - was);
        }
    max[0] = apart;
    max[1] = strong;
}

/* ---- refinement map ---- */

static enum err refmap_local(const struct ics_grafic *g, const struct mesh *m, int l,
                             unsigned char (*map)[8])
{
    struct ics_layers s;
    enum err err = OK;
    lidx nown = m->lev[l].nown;
    double(*val)[8] = mem_new(sizeof *val * (size_t)nown + 1, "ics values");
    TRY_OUT(ics_layers_new(g, m, l, &s));
    TRY_OUT(ics_field_read(&s, "ic_refmap", val));
    for (lidx i = 0; i < nown; i++)
        for (int c = 0; c < 8; c++) map[i][c] = trunc(val[i][c]) == 1;
out:
    ics_layers_free(&s);
    mem_free(val);
    return err;
}
