/* sim/flag: which cells of a level are to be split at the next refinement (docs/method/step.md).
 *
 * Minimal rules first (a split cell with split or flagged children stays split, and one dilation
 * keeps neighbouring levels within one), then the physical criteria, then nexpand dilations. Only
 * own octs are decided. Ghosts are two cells thick, so an exchange serves two passes. The first
 * exchange needs no gas, and overlaps with that of the gas; the criteria do not depend on earlier
 * flags, so their results travel with the second exchange. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/bits.h"
#include "oct/field_sets.h"
#include "oct/gas_kern.h"
#include "sim/sim.h"
#include "sparse/rows.h"

/* Flags of a level while they are computed: a bit per cell, a byte per oct. */
struct sim_flags {
    struct sim *s;
    struct level *lv;
    unsigned char *bits, *next; /* [noct], in words of eight */
    unsigned char *wanted;      /* [noct] cells flagged by the criteria */
    /* [nown] cells that finer cells need split; NULL where no oct is held */
    unsigned char *needed;
    /* [nown] cells flagged by gradients on a device; NULL without a device */
    unsigned char *steep;
    int ndim;          /* dimensions of the mesh */
    unsigned cells;    /* bits of the cells of an oct */
    int valid;         /* number of valid layers of ghost cells */
    int narr;          /* number of arrays in an exchange: 1 bits, 2 bits and wanted */
    lidx nhalo, *halo; /* ghosts that share a face with own octs */
    struct ghost_rows on_way;
};

enum { PARALLEL_FROM = 4096 /* octs */, WORD = 8 /* octs in a word of flags */ };

static size_t words_bytes(lidx noct)
{
    return ((size_t)noct / WORD + 1) * WORD;
}

/* Whether any oct of a word has a flag; most words are zero. */
static inline bool any_of_word(const unsigned char *bytes, lidx first)
{
    uint64_t x;
    memcpy(&x, bytes + first, sizeof x);
    return x != 0;
}

static inline lidx word_end(lidx first, lidx n)
{
    return n - first > WORD ? first + WORD : n;
}

static void bits_or(lidx n, unsigned char *restrict to, const unsigned char *restrict from)
{
#pragma omp parallel for simd schedule(static) if (n >= PARALLEL_FROM)
    for (lidx i = 0; i < n; i++) to[i] |= from[i];
}

static void bits_keep(lidx n, unsigned char *bits, unsigned cells)
{
    for (lidx i = 0; cells != 0xff && i < n; i++) bits[i] &= (unsigned char)cells;
}

static void flag_minimal(struct sim_flags *f, const struct level *fine);
static void flag_dilate(struct sim_flags *f);
static void flag_criteria(struct sim_flags *f, int l);
static void flag_keep_needed(struct sim_flags *f);
static void flag_hold_boundary(struct sim_flags *f, int l);
static void flag_store(struct sim_flags *f);

static void share_begin(struct sim_flags *f)
{
    ghost_rows_begin(&f->on_way, &f->s->comm, COMM_PAIR_INT, &f->lv->plan, f->narr,
                     (void *[]){f->bits, f->wanted}, (size_t[]){1, 1});
}

static void share_end(struct sim_flags *f)
{
    ghost_rows_end(&f->on_way, f->narr, (void *[]){f->bits, f->wanted}, (size_t[]){1, 1});
    f->valid = 2;
}

static void share(struct sim_flags *f)
{
    share_begin(f);
    share_end(f);
}

void sim_flag_begin(struct sim *s, int l)
{
    struct mesh *m = &s->mesh;
    if (l >= m->levelmax || s->amr.noct[l] == 0 || s->amr.refine.frozen) return;
    struct level *lv = &m->lev[l];
    if (l < m->levelmin) {
        mesh_flag_all(m, l);
        ghosts_set(m, l, FLAG, true);
        return;
    }
    struct sim_flags *f = s->amr.flags = mem_zero(sizeof *f, "flag scratch");
    f->s = s;
    f->lv = lv;
    f->ndim = m->ndim;
    f->cells = (1u << m->cells) - 1;
    f->narr = 1;
    f->bits = mem_zero(words_bytes(lv->noct), "flag scratch");
    f->next = mem_new(words_bytes(lv->noct), "flag scratch");
    f->wanted = mem_zero((size_t)lv->noct + 1, "flag scratch");
    f->halo = mesh_halo(lv->nown, lv->noct, (const lidx(*)[6])lv->nbr, &f->nhalo);
    flag_minimal(f, &m->lev[l + 1]);
    share_begin(f);
}

void sim_flag_end(struct sim *s, int l, int icount)
{
    struct sim_flags *f = s->amr.flags;
    if (!f) return;
    share_end(f);
    flag_criteria(f, l);
    f->narr = 2;
    flag_dilate(f); /* exchanges ghosts in three dimensions, where there are three passes */
    f->narr = 1;
    if (f->ndim < 3) f->valid = 0; /* else what is wanted in ghosts is not known */
    if (l > s->mesh.levelmin && icount < s->time.nsubcycle[l - 1]) flag_keep_needed(f);
    bits_or(f->lv->noct, f->bits, f->wanted);
    bits_keep(f->lv->noct, f->bits, f->cells);
    for (int i = 0; i < s->amr.refine.nexpand[l]; i++) flag_dilate(f);
    if (f->needed) flag_hold_boundary(f, l);
    share(f);
    flag_store(f);
    FREE(f->halo);
    FREE(f->needed);
    FREE(f->steep);
    FREE(f->wanted);
    FREE(f->next);
    FREE(f->bits);
    FREE(s->amr.flags);
}

void sim_flag(struct sim *s, int l, int icount)
{
    sim_flag_begin(s, l);
    sim_flag_end(s, l, icount);
}

/* A split cell whose child is split or flagged stays split. Threads may write to one parent, hence
 * the atomic update. */
static void flag_minimal(struct sim_flags *f, const struct level *fine)
{
    const lidx nown = f->lv->nown;
    unsigned char *bits = f->bits;
#pragma omp parallel for schedule(static) if (fine->noct >= PARALLEL_FROM)
    for (lidx c = 0; c < fine->noct; c++) {
        lidx p = fine->parent[c];
        if (p >= nown ||
            (bits_of_bytes(fine->flag[c]) == 0 && bits_of_leaves(fine->child[c]) == 0xff))
            continue;
        unsigned char bit = (unsigned char)(1u << oct_slot(fine, c));
#pragma omp atomic
        bits[p] |= bit;
    }
}

/* Flags of the neighbours of the eight cells of oct i in directions −d and +d. `low`: cells with
 * bit d clear. */
static inline void flags_beside(const struct sim_flags *f, lidx i, int d, unsigned *minus,
                                unsigned *plus)
{
    static const unsigned low[3] = {0x55, 0x33, 0x0f};
    int shift = 1 << d;
    unsigned own = f->bits[i], lo = low[d], hi = ~lo & 0xff;
    lidx a = f->lv->nbr[i][2 * d], b = f->lv->nbr[i][2 * d + 1];
    unsigned left = a >= 0 ? f->bits[a] : 0, right = b >= 0 ? f->bits[b] : 0;
    *minus = (own & lo) << shift | (left & hi) >> shift;
    *plus = (own & hi) >> shift | (right & lo) << shift;
}

/* Flags of oct i after one pass: cells with a flagged neighbour, or with two flagged neighbours. */
static inline unsigned char dilated(const struct sim_flags *f, lidx i, bool first)
{
    unsigned one = 0, two = 0;
    for (int d = 0; d < f->ndim; d++) {
        unsigned a, b;
        flags_beside(f, i, d, &a, &b);
        two |= (one & (a | b)) | (a & b);
        one |= a | b;
    }
    return (unsigned char)((f->bits[i] | (first ? one : two)) & f->cells);
}

static inline void mark(unsigned char *to)
{
#pragma omp atomic write
    *to = 1;
}

/* Sets `next` to 1 for the octs of a word that have flagged cells, and for their face
 * neighbours. */
static void mark_near(struct sim_flags *f, lidx word)
{
    const lidx end = word_end(word, f->lv->noct);
    for (lidx i = word; i < end; i++) {
        const lidx *nbr = f->lv->nbr[i];
        if (!f->bits[i]) continue;
        mark(&f->next[i]);
        for (int k = 0; k < 6; k++)
            if (nbr[k] >= 0) mark(&f->next[nbr[k]]);
    }
}

/* One pass of flag_dilate over own octs and nhalo ghosts. Most octs are skipped, since neither they
 * nor their neighbours have a flagged cell. */
static void flag_pass(struct sim_flags *f, bool first, lidx nhalo)
{
    const lidx noct = f->lv->noct, nown = f->lv->nown, *halo = f->halo;
    unsigned char *bits = f->bits, *next = f->next;
#pragma omp parallel if (noct >= PARALLEL_FROM)
    {
#pragma omp for schedule(static)
        for (lidx w = 0; w < noct; w += WORD) memset(next + w, 0, WORD);
#pragma omp for schedule(static)
        for (lidx w = 0; w < noct; w += WORD)
            if (any_of_word(bits, w)) mark_near(f, w);
#pragma omp for schedule(static)
        for (lidx w = 0; w < nown; w += WORD) {
            if (!any_of_word(next, w)) continue;
            for (lidx i = w; i < word_end(w, nown); i++)
                if (next[i]) next[i] = dilated(f, i, first);
        }
#pragma omp for schedule(static)
        for (lidx k = 0; k < nhalo; k++)
            if (next[halo[k]]) next[halo[k]] = dilated(f, halo[k], first);
#pragma omp for schedule(static)
        for (lidx w = 0; w < nown; w += WORD)
            if (any_of_word(next, w)) memcpy(bits + w, next + w, (size_t)(word_end(w, nown) - w));
    }
    for (lidx k = 0; k < nhalo; k++) bits[halo[k]] = next[halo[k]];
}

/* Dilation by one cell: ndim passes over face neighbours, which flag cells with at least 1, 2, 2
 * flagged neighbours. Ghost cells next to own octs are flagged here too. */
static void flag_dilate(struct sim_flags *f)
{
    for (int pass = 0; pass < f->ndim; pass++) {
        if (f->valid == 0) share(f);
        flag_pass(f, pass == 0, f->valid == 2 ? f->nhalo : 0);
        f->valid--;
    }
}

static void flag_store(struct sim_flags *f)
{
#pragma omp parallel for schedule(static) if (f->lv->noct >= PARALLEL_FROM)
    for (lidx i = 0; i < f->lv->noct; i++) bits_to_bytes(f->bits[i], f->lv->flag[i]);
    ghosts_set(&f->s->mesh, f->lv->level, FLAG, true);
}

/* Is the cell inside the refinement geometry of level l? x in code units. */
static bool inside_geometry(const struct sim *s, int l, const double x[3])
{
    const struct param_refine *r = &s->par->refine;
    int i = l - s->mesh.levelmin;
    double c[3] = {r->x_refine[i], r->y_refine[i], r->z_refine[i]};
    double size[3] = {r->r_refine[i], r->a_refine[i] * r->r_refine[i],
                      r->b_refine[i] * r->r_refine[i]};
    double e = r->exp_refine[i], sum = 0, top = 0;
    for (int d = 0; d < s->mesh.ndim; d++) {
        double a = fabs(x[d] - c[d]);
        if (s->phys.cosmo && a > 0.5) a = 1.0 - a;
        a = 2 * a / size[d];
        if (e < 10) sum += pow(a, e);
        top = fmax(top, a);
    }
    return (e < 10 ? pow(sum, 1 / e) : top) < 1.0;
}

/* Clears the flags of cells outside of the refinement geometry. */
static void keep_inside(const struct sim *s, int l, unsigned char *bits)
{
    const struct level *lv = &s->mesh.lev[l];
    double dx = mesh_dx(&s->mesh, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double x[3];
            if (!(bits[i] >> k & 1)) continue;
            okey_cell_centre(lv->key[i], k, dx, x);
            if (!inside_geometry(s, l, x)) bits[i] = (unsigned char)(bits[i] & ~(1u << k));
        }
}

/* ---- the criteria ---- */

/* Whether a device has flagged the cells that its criteria want. */
static bool flagged_there(const struct sim *s)
{
    return s->amr.flags && s->amr.flags->steep;
}

static bool by_mass(const struct sim *s, int l)
{
    return s->par->refine.m_refine[l - s->mesh.levelmin] > -1.0;
}

/* Without gravity the mass is that of the gas, so that a device can flag cells. */
static bool wants_mass(const struct sim *s, int l)
{
    return by_mass(s, l) && (s->mesh.gravity || !flagged_there(s));
}

/* With dr_proper cells that are smaller than it, in proper length, need more mass by their volume
 * (Gnedin 2016, appendix A). */
double sim_m_refine(const struct sim *s, int l)
{
    const struct param_refine *r = &s->par->refine;
    const double m = r->m_refine[l - s->mesh.levelmin];
    if (!s->phys.cosmo || !(r->dr_proper > 0) || !(m > 0)) return m;
    const double size = mesh_dx(&s->mesh, l) * sim_units(s).length / CGS_KPC;
    return size < r->dr_proper ? m * pow(r->dr_proper / size, 3) : m;
}

/* Density of the gas from which cells are refined by the mass criterion. */
static double dense_from(const struct sim *s, int l)
{
    const double dx = mesh_dx(&s->mesh, l);
    return sim_m_refine(s, l) * (s->amr.refine.mass_sph / (dx * dx * dx));
}

/* Mass criterion (quasi-Lagrangian), RAMSES's poisson_refine. */
static void flag_mass(const struct sim *s, int l, unsigned char (*ok)[8])
{
    const struct mesh *m = &s->mesh;
    const struct level *lv = &m->lev[l];
    const struct param_refine *r = &s->par->refine;
    double m_refine = sim_m_refine(s, l);
    const double threshold = dense_from(s, l);
    if (m->gravity && (!s->amr.refine.starting || r->ivar_refine == 0)) {
        memcpy(ok, lv->dense, sizeof *ok * (size_t)lv->nown);
        return;
    }
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            if (!m->gravity)
                ok[i][k] = m->hydro && level_gas(lv, GAS_DENSITY)[i][k] >= threshold;
            else if (r->ivar_refine > 0)
                ok[i][k] = level_gas(lv, r->ivar_refine - 1)[i][k] /
                               level_gas(lv, GAS_DENSITY)[i][k] >
                           r->var_cut_refine;
            else
                ok[i][k] = m_refine == 0.0;
        }
}

static bool wants_gradients(const struct sim *s, int l)
{
    return s->mesh.hydro && !flagged_there(s);
}

static void flag_gradients(const struct sim *s, int l, unsigned char (*ok)[8])
{
    if (s->mesh.magnetic)
        mhd_flag(&s->mesh, l, &s->phys.mhd, ok);
    else
        hydro_flag(&s->mesh, l, &s->phys.hydro, ok);
}

static bool by_jeans(const struct sim *s, int l)
{
    return s->mesh.hydro && s->mesh.gravity &&
           s->par->refine.jeans_refine[l - s->mesh.levelmin] > 0;
}

static bool wants_jeans(const struct sim *s, int l)
{
    return by_jeans(s, l) && !flagged_there(s);
}

/* The law of cells that are refined by their own gas. P/rho, not gamma P/rho, as in RAMSES. */
static struct small_law small_law_of(const struct sim *s, int l)
{
    const struct hydro_par *h = &s->phys.hydro;
    const double nj = s->par->refine.jeans_refine[l - s->mesh.levelmin];
    const double pi = 0.5 * RAMSES_TWOPI; /* RAMSES's, as everywhere in gravity */
    const bool dense = by_mass(s, l) && s->mesh.hydro && !s->mesh.gravity;
    return (struct small_law){
        .dense = dense ? dense_from(s, l) : HUGE_VAL,
        .width = by_jeans(s, l) ? nj * mesh_dx(&s->mesh, l) : 0,
        .pi = pi,
        .gravity = s->phys.cosmo ? 3 * s->phys.cosmo_par.omega_m * s->time.aexp / (8 * pi) : 1,
        .least = s->par->refine.d_jeans_thre / sim_units(s).hydrogen,
        .gamma = h->gamma,
        .smallr = h->smallr,
        .floor2 = h->smallc * h->smallc};
}

/* With collapse_jeans_refine: gamma P/rho of gas at collapse_jeans_Tfloor below a density, of the
 * gas itself above another, and between a temperature that is linear in the logarithm of the
 * density. */
struct collapse_jeans {
    bool on;
    double floor, low, per_log; /* P/rho at Tfloor, code units; density; 1/log(high/low) */
};

static struct collapse_jeans collapse_jeans(const struct sim *s)
{
    const struct param_refine *r = &s->par->refine;
    const struct units u = sim_units(s);
    return (struct collapse_jeans){
        .on = r->collapse_jeans_refine,
        .floor = r->collapse_jeans_tfloor / (s->par->cooling.mu_gas * u.temperature),
        .low = r->collapse_jeans_rho_low / u.density,
        .per_log = 1 / log(r->collapse_jeans_rho_high / r->collapse_jeans_rho_low)};
}

static double jeans_sound2(const struct collapse_jeans *j, double rho, double cs2, double gamma)
{
    if (!j->on) return cs2;
    const double part = fmin(fmax(log(rho / j->low) * j->per_log, 0), 1);
    return gamma * (j->floor + part * (cs2 - j->floor));
}

/* Jeans length resolved by fewer than jeans_refine cells. */
static void flag_jeans(const struct sim *s, int l, unsigned char (*ok)[8])
{
    const struct level *lv = &s->mesh.lev[l];
    const struct small_law w = small_law_of(s, l);
    const struct collapse_jeans collapse = collapse_jeans(s);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            const struct gas_cell u = gas_cell_above(lv, i, k, w.smallr);
            if (u.rho < w.least) continue;
            const double cs2 = jeans_sound2(&collapse, u.rho, small_sound2(&w, &u), w.gamma);
            if (small_jeans(&w, u.rho, cs2)) ok[i][k] = 1;
        }
}

/* Finest level with initial conditions. */
static int ics_level(const struct params *p)
{
    int l = p->amr.levelmin;
    if (strcmp(p->init.filetype, "grafic") != 0) return l;
    while (l < p->amr.levelmax && p->init.initfile[l + 1 - p->amr.levelmin][0]) l++;
    return l;
}

/* Gas that cools would refine to levelmax as soon as it collapses. Levels beyond those of the
 * initial conditions and nlevel_collapse wait until the expansion has made their cells as wide, in
 * proper length, as the finest cells will be today: less than 4^(1/3) of these, as in cuRAMSES. */
bool sim_held_back(const struct sim *s, int l)
{
    const struct params *p = s->par;
    if (!p->run.cosmo || !p->physics.cooling || !p->refine.q_refine_holdback) return false;
    if (l <= ics_level(p) + p->amr.nlevel_collapse) return false;
    return mesh_dx(&s->mesh, l) < cbrt(4) * mesh_dx(&s->mesh, s->mesh.levelmax) / s->time.aexp;
}

static bool wants_radiation(const struct sim *s, int l)
{
    return s->phys.rt && rt_flags(s->phys.rt, s->phys.cosmo ? s->time.aexp : 1);
}

/* Whether a criterion needs the gas on the host: photons, the starting mesh, and logarithms. */
static bool flags_here(const struct sim *s, int l)
{
    const bool mass = by_mass(s, l) && s->mesh.gravity && s->amr.refine.starting,
               jeans = by_jeans(s, l) && (s->par->refine.collapse_jeans_refine || s->mesh.magnetic);
    return mass || jeans || wants_radiation(s, l);
}

enum err sim_flag_steep(struct sim *s, int l, bool *all)
{
    struct sim_flags *f = s->amr.flags;
    *all = !f || (s->device.gas && !flags_here(s, l));
    if (!f || !*all) return OK;
    unsigned char *bits = mem_new((size_t)s->mesh.lev[l].nown + 1, "flag scratch");
    const struct small_law w = small_law_of(s, l);
    enum err err = s->mesh.magnetic
                       ? mhd_dev_steep(s->device.field, &s->mesh, l, &s->phys.mhd, bits)
                       : hydro_dev_steep(s->device.gas, &s->mesh, l, &s->phys.hydro, bits);
    if (err == OK && (w.dense < HUGE_VAL || w.width > 0))
        err = rows_small(s->device.mirror, &s->mesh, l, &w, bits);
    if (err != OK) FREE(bits);
    f->steep = bits;
    return err;
}

static void flag_radiation(const struct sim *s, int l, unsigned char (*ok)[8])
{
    rt_flag(s->phys.rt, &s->phys.hydro.vars, &s->mesh, l, ok);
}

static const struct sim_criterion CRITERIA[] = {
    {"mass", wants_mass, flag_mass},
    {"gradients", wants_gradients, flag_gradients},
    {"jeans", wants_jeans, flag_jeans},
    {"radiation", wants_radiation, flag_radiation},
};

void sim_criteria_mark(const struct sim *s, int l, const struct sim_criterion *c, int n,
                       unsigned char *bits)
{
    lidx nown = s->mesh.lev[l].nown;
    unsigned char(*ok)[8] = NULL;
    for (; n > 0; n--, c++) {
        if (!c->wanted(s, l)) continue;
        if (!ok) ok = mem_new(sizeof ok[0] * (size_t)nown + 1, "flag scratch");
        memset(ok, 0, sizeof ok[0] * (size_t)nown);
        c->mark(s, l, ok);
#pragma omp parallel for schedule(static) if (nown >= PARALLEL_FROM)
        for (lidx i = 0; i < nown; i++) bits[i] |= bits_of_bytes(ok[i]);
    }
    FREE(ok);
}

static void flag_criteria(struct sim_flags *f, int l)
{
    const struct sim *s = f->s;
    if (sim_held_back(s, l)) return;
    if (f->steep) bits_or(f->lv->nown, f->wanted, f->steep);
    sim_criteria_mark(s, l, CRITERIA, sizeof CRITERIA / sizeof *CRITERIA, f->wanted);
    if (s->par->refine.r_refine[l - s->mesh.levelmin] > -1.0) keep_inside(s, l, f->wanted);
}

/* Marks split cells that must stay split, since cells of finer levels next to them are flagged or
 * split. */
static void flag_keep_needed(struct sim_flags *f)
{
    const lidx nown = f->lv->nown;
    f->needed = mem_new((size_t)nown + 1, "flag scratch");
#pragma omp parallel for schedule(static) if (nown >= PARALLEL_FROM)
    for (lidx i = 0; i < nown; i++)
        f->needed[i] = f->bits[i] ? f->bits[i] & (unsigned char)~bits_of_leaves(f->lv->child[i])
                                  : 0;
}

/* Between two sub-steps an oct whose 26 neighbours do not all exist must not refine: level l−1
 * could not follow. Flags of finer cells that rely on such a refinement are dropped by
 * adapt_drop_ungraded. */
static void flag_hold_boundary(struct sim_flags *f, int l)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < f->lv->nown; i++) {
        if (!f->bits[i]) continue;
        lidx cube[27];
        mesh_cube(&f->s->mesh, l, i, cube);
        for (int k = 0; k < 27; k++)
            if (cube[k] == NBR_NONE) f->bits[i] &= f->needed[i];
    }
}
