/* sim/density: the source of the Poisson equation and the quasi-Lagrangian refinement map
 * (docs/method/step.md).
 *
 * Gas cells (as pseudo-particles at their centre of mass) and particles are deposited by
 * cloud-in-cell as integers, so that the sum over cells, threads and ranks has no order. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/deposit_kern.h"
#include "sim/sim.h"

/* quantum of the particle number deposit (part.h) */
static const double NUMBER_QUANTUM = 1.0 / 4294967296.0;

enum { PARALLEL_FROM = 256 /* octs */, CHUNK = 1024 /* particles */ };

double sim_fourpi(const struct sim *s)
{
    /* pi has eight digits, as in RAMSES, so that results can be compared */
    /* matter on the mesh */
    double clustered = s->phys.cosmo_par.omega_m -
                       (s->phys.neutrino ? s->par->neutrino.omega_nu : 0);
    return s->phys.cosmo ? 1.5 * clustered * s->time.aexp : 2 * RAMSES_TWOPI * s->mesh.boxlen;
}

/* Number of sums per cell: the centre of mass is needed with boundaries only; otherwise mass
 * alone. */
static int moments_wanted(const struct sim *s)
{
    return mesh_has_boundaries(&s->mesh) ? 4 : 1;
}

/* Adds the leaf cells of level l: n sums per oct in floating point, then exact sums. */
static void add_leaf_mass(const struct sim *s, int l, int n, struct sum sum[4])
{
    const struct level *lv = &s->mesh.lev[l];
    double vol = mesh_share(&s->mesh, l), smallr = s->phys.hydro.smallr;
#pragma omp parallel if (lv->nown >= PARALLEL_FROM)
    {
        struct sum_batch mine[4];
        for (int j = 0; j < n; j++) sum_batch_begin(&mine[j]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            double part[4];
            if (n == 4)
                deposit_leaves(&s->mesh, l, i, smallr, part);
            else
                part[0] = deposit_leaf_mass(lv, i, vol, smallr);
            for (int j = 0; j < n; j++) sum_batch_add(&mine[j], part[j]);
        }
        for (int j = 0; j < n; j++) sum_batch_end(&mine[j]);
#pragma omp critical(leaf_mass)
        for (int j = 0; j < n; j++) sum_join(&sum[j], &mine[j].sum);
    }
}

/* Adds mass and, with n == 4, first moments of particles begin..end-1. */
static void add_some_mass(const struct parts *p, int64_t begin, int64_t end, int n, struct sum *sum)
{
    double m[CHUNK], mx[CHUNK];
    for (int64_t i = begin; i < end; i++) /* tracers have no gravity */
        m[i - begin] = family_has_mass(p->family[i]) ? p->m[i] : 0;
    sum_add_many(&sum[0], end - begin, m);
    for (int d = 0; d < n - 1; d++) {
        for (int64_t i = begin; i < end; i++) mx[i - begin] = m[i - begin] * p->x[d][i];
        sum_add_many(&sum[1 + d], end - begin, mx);
    }
}

static void add_particle_mass(const struct parts *p, int n, struct sum sum[4])
{
#pragma omp parallel if (p->n >= CHUNK)
    {
        struct sum mine[4];
        for (int j = 0; j < n; j++) sum_init(&mine[j]);
#pragma omp for schedule(static)
        for (int64_t b = 0; b < p->n; b += CHUNK)
            add_some_mass(p, b, b + CHUNK < p->n ? b + CHUNK : p->n, n, mine);
#pragma omp critical(particle_mass)
        for (int j = 0; j < n; j++) sum_join(&sum[j], &mine[j]);
    }
}

/* The monopole is the one of the last solves also on levels that had no octs then, as after a
 * restart. */
void sim_keep_monopole(struct sim *s)
{
    struct sim_matter *x = &s->phys.matter;
    for (int l = 0; l < LEVEL_MAX + 2; l++)
        x->far[l] = (struct far_field){x->mass, {x->com[0], x->com[1], x->com[2]}};
}

/* Completes the sums over the ranks, and with them whether all particles have one mass. here: mass
 * of those of this rank if they are alike, or 0. */
static void add_ranks(struct sim *s, double here, struct sum sum[4])
{
    double x[2] = {here, -here};
    struct comm_minima min = {2, x};
    if (s->parts.n == 0) x[0] = x[1] = HUGE_VAL;
    comm_sums_min(&s->comm, sum, 4, s->par->run.pic ? &min : NULL);
    s->phys.matter.alike = x[0] == -x[1] ? x[0] : 0;
}

/* Completes the sums of the leaf cells: adds particles and sinks, and derives the mass quantum. */
static void total_mass(struct sim *s, struct sum sum[4])
{
    const int n = moments_wanted(s);
    double alike = 0;
    if (!sim_parts_mass(s, n, sum)) {
        alike = part_alike(&s->parts, 0, s->parts.n);
        if (n == 1 && alike > 0)
            sum_add_times(&sum[0], s->parts.n, alike);
        else
            add_particle_mass(&s->parts, n, sum);
    }
    if (sinks_any(s->phys.sinks)) sinks_mass(s->phys.sinks, sum);
    add_ranks(s, alike, sum);
    sim_keep_monopole(s);
    s->phys.matter.mass = sum_get(&sum[0]);
    for (int d = 0; d < 3; d++)
        s->phys.matter.com[d] = s->phys.matter.mass > 0 ? sum_get(&sum[1 + d]) / s->phys.matter.mass
                                                        : 0;
    s->phys.matter.rho_tot = n > 1 ? 0 : s->phys.matter.mass / mesh_volume(&s->mesh, 0);
    int e;
    frexp(s->phys.matter.mass, &e);
    /* the whole mass in a single cell does not overflow */
    s->phys.matter.quantum = ldexp(1, e - 61);
}

/* Total mass and, with boundaries, centre of mass of all leaf cells and particles. */
void sim_total_mass(struct sim *s)
{
    struct sum sum[4];
    for (int j = 0; j < 4; j++) sum_init(&sum[j]);
    for (int l = s->mesh.levelmin; s->mesh.hydro && l <= s->mesh.levelmax; l++)
        add_leaf_mass(s, l, moments_wanted(s), sum);
    total_mass(s, sum);
}

/* Whether the moments of finer levels must be recomputed. All ranks decide alike, with a device or
 * without. */
static bool moments_due(const struct sim *s, int l, int icount)
{
    return s->mesh.hydro && (l == s->mesh.levelmin || icount > 1);
}

static void refresh_moments(struct sim *s, int l)
{
    for (int i = l + 1; i <= s->mesh.levelmax; i++) FREE(s->phys.matter.moments[i]);
    grav_moments(&s->mesh, &s->comm, l + 1, s->phys.matter.moments);
    s->phys.matter.moments_dev = false;
}

/* Whether the gas of a cell counts in the quasi-Lagrangian criterion. */
static bool gas_counts(const struct sim *s, const struct level *lv, lidx i, int k)
{
    const struct param_refine *r = &s->par->refine;
    return r->ivar_refine <= 0 ||
           level_gas(lv, r->ivar_refine - 1)[i][k] /
                   fmax(level_gas(lv, GAS_DENSITY)[i][k], s->phys.hydro.smallr) >
               r->var_cut_refine;
}

/* Index of the number in a row that was deposited in cell k: none is in cells that repeat others.
 */
static int deposited(const struct sim *s, int k)
{
    return k & (s->mesh.cells - 1);
}

/* The eight sums of an oct. */
static inline void deposited_row(const struct sim *s, const int64_t sum[8], int64_t row[8])
{
    memcpy(row, sum, sizeof(int64_t[8]));
    for (int k = s->mesh.cells; k < 8; k++) row[k] = sum[deposited(s, k)];
}

/* Sums of the deposits on a level. */
struct sums {
    int64_t (*mass)[8], (*number)[8], (*gas)[8];
};

/* Mass of the gas in each cell of oct i in units of `unit`, where it counts. */
static void gas_numbers(const struct sim *s, const struct level *lv, lidx i, int64_t (*gas)[8],
                        double unit, double n[8])
{
    const double vol = mesh_volume(&s->mesh, lv->level), quantum = s->phys.matter.quantum;
    int64_t row[8];
    memset(n, 0, sizeof(double[8]));
    if (!gas) return;
    deposited_row(s, gas[i], row);
    for (int k = 0; k < 8; k++) n[k] = deposit_density(row[k], quantum, vol) / unit;
    for (int k = 0; gas && s->par->refine.ivar_refine > 0 && k < 8; k++)
        if (!gas_counts(s, lv, i, k)) n[k] = 0;
}

/* Quasi-Lagrangian criterion from gas and particles. */
static void mark_dense(const struct sim *s, struct level *lv, double m_refine, const struct sums *x)
{
    double unit = fmax(s->amr.refine.mass_sph / mesh_volume(&s->mesh, lv->level),
                       s->phys.hydro.smallr);
#pragma omp parallel for schedule(static) if (lv->nown >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->nown; i++) {
        double n[8];
        gas_numbers(s, lv, i, x->gas, unit, n);
        for (int k = 0; k < 8; k++)
            lv->dense[i][k] = deposit_dense(n[k], x->number ? x->number[i][deposited(s, k)] : 0,
                                            NUMBER_QUANTUM, m_refine);
    }
}

/* Mass of each particle that was deposited on level l by this rank, equal on all ranks that return
 * one; 0: they differ. */
static double one_mass(const struct sim *s, int l)
{
    const double alike = s->phys.matter.alike;
    const int64_t begin = s->parts.first[l], end = s->parts.n;
    if (l == s->mesh.levelmin) return alike;
    if (begin == end && s->comm.size > 1) return alike;
    if (begin == end) return end > 0 ? s->parts.m[0] : 0;
    const double here = part_alike(&s->parts, begin, end);
    return s->comm.size == 1 || here == alike ? here : 0;
}

/* Makes out from masses alone which cells are dense. A cell's number is the sum of the parts of
 * clouds, and so is its mass if all particles have the mass `one`; each part is rounded to a
 * quantum of its own. At most as many particles as the box has reach a cell, so the two differ by
 * less than `error`. Returns false if a cell is too close to the threshold, or if particles differ:
 * then the numbers are needed, and no cell is valid. Local. */
static bool mark_by_mass(const struct sim *s, struct level *lv, double m_refine,
                         const struct sums *x)
{
    const struct sim_matter *a = &s->phys.matter;
    const double one = one_mass(s, lv->level);
    if (!(one > 0)) return false;
    double per_one = a->quantum / one,
           error = a->mass / one * (0.5 * NUMBER_QUANTUM + 0.5 * per_one + 0x1p-50) +
                   0x1p-48 * fabs(m_refine),
           vol = mesh_volume(&s->mesh, lv->level),
           unit = fmax(s->amr.refine.mass_sph / vol, s->phys.hydro.smallr);
    int64_t unsure = 0;
#pragma omp parallel for schedule(static) reduction(+ : unsure) if (lv->nown >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->nown; i++) {
        double n[8];
        int64_t row[8];
        int near = 0;
        gas_numbers(s, lv, i, x->gas, unit, n);
        deposited_row(s, x->mass[i], row);
        unsigned char *restrict dense = lv->dense[i];
#pragma omp simd reduction(| : near)
        for (int k = 0; k < 8; k++) {
            const double more = n[k] + ((double)row[k] * per_one - m_refine);
            near |= !(fabs(more) > error);
            dense[k] = more > 0;
        }
        unsure += near;
    }
    return unsure == 0;
}

/* Allocates zeroed arrays for the sums that a level needs. Gas has a separate array where a
 * criterion needs one. by_mass: no numbers, which masses may tell. All ranks choose the same
 * arrays, also on a device. */
static struct sums sums_new(const struct sim *s, int l, bool counts, bool by_mass)
{
    size_t rows = sizeof(int64_t[8]) * (size_t)s->mesh.lev[l].noct + 1;
    bool points = s->par->run.pic || sinks_any(s->phys.sinks) || l == s->par->poisson.cic_levelmax,
         gas = s->mesh.hydro;
    return (struct sums){points || (gas && !counts) ? mem_zero(rows, "deposit") : NULL,
                         points && counts && !by_mass ? mem_zero(rows, "deposit") : NULL,
                         gas && counts ? mem_zero(rows, "deposit") : NULL};
}

static void sums_free(struct sums *x)
{
    FREE(x->mass);
    FREE(x->number);
    FREE(x->gas);
}

/* Sends the sums deposited in ghosts to their owners, which add them. */
static void sums_exchange(const struct sim *s, int l, const struct sums *x)
{
    int64_t(*const all[])[8] = {x->mass, x->number, x->gas}, (*present[3])[8];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (all[i]) present[n++] = all[i];
    ghost_add_i64(&s->comm, &s->mesh.lev[l].plan, n, present);
}

static void make_density(struct sim *s, struct level *lv, const struct sums *x)
{
    double vol = mesh_volume(&s->mesh, lv->level), quantum = s->phys.matter.quantum;
#pragma omp parallel for schedule(static) if (lv->nown >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->nown; i++) {
        double *rho = level_rho(lv)[i];
        int64_t all[8] = {0}, gas[8];
        if (x->mass) deposited_row(s, x->mass[i], all);
        if (x->gas) {
            deposited_row(s, x->gas[i], gas);
            for (int k = 0; k < 8; k++) all[k] += gas[k];
        }
#pragma omp simd
        for (int k = 0; k < 8; k++) rho[k] = deposit_density(all[k], quantum, vol);
    }
}

static void add_analytic(const struct sim *s, int l)
{
    const struct level *lv = &s->mesh.lev[l];
    double dx = mesh_dx(&s->mesh, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double x[3];
            okey_cell_centre(lv->key[i], k, dx, x);
            level_rho(lv)[i][k] += grav_analytic_density(&s->phys.grav, s->mesh.ndim, x);
        }
}

/* cic_levelmax: stores the dark matter density deposited on this level. */
static void keep_top(struct sim *s, int l, int64_t (*dm)[8], int64_t (*mass)[8])
{
    const struct level *lv = &s->mesh.lev[l];
    double vol = mesh_volume(&s->mesh, l);
    FREE(s->phys.matter.rho_top[l]);
    s->phys.matter.rho_top[l] = mem_zero(sizeof s->phys.matter.rho_top[l][0] * (size_t)lv->noct + 1,
                                         "deposit");
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) mass[i][k] += dm[i][k];
    ghost_add_i64(&s->comm, &lv->plan, 1, &dm);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            s->phys.matter.rho_top[l][i][k] = (double)dm[i][deposited(s, k)] *
                                              s->phys.matter.quantum / vol;
    void *arr = s->phys.matter.rho_top[l];
    size_t stride = sizeof s->phys.matter.rho_top[l][0];
    ghost_fill_rows(&s->comm, COMM_FINE_DP, &lv->plan, 1, &arr, &stride);
    mem_free(dm);
}

/* cic_levelmax: gives each cell of a finer level the dark matter density of its parent. */
static void add_top(struct sim *s, int l)
{
    const struct level *lv = &s->mesh.lev[l];
    FREE(s->phys.matter.rho_top[l]);
    s->phys.matter.rho_top[l] = mem_new(sizeof s->phys.matter.rho_top[l][0] * (size_t)lv->noct + 1,
                                        "deposit");
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++)
            s->phys.matter.rho_top[l][i][k] =
                s->phys.matter.rho_top[l - 1][lv->parent[i]][oct_slot(lv, i)];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) level_rho(lv)[i][k] += s->phys.matter.rho_top[l][i][k];
}

/* Deposits matter in own octs and ghosts. */
static enum err deposit(struct sim *s, int l, struct sums *x)
{
    struct mesh *m = &s->mesh;
    const double(*com)[3] = l < m->levelmax ? (const double(*)[3])s->phys.matter.moments[l + 1]
                                            : NULL;
    /* finest level on which dark matter is deposited; 0: all */
    int top = s->par->poisson.cic_levelmax;
    int64_t(*dm)[8] = x->mass;
    enum err err = OK;
    if (m->hydro)
        grav_deposit_gas(m, l, s->phys.matter.quantum, com, s->phys.hydro.smallr,
                         x->gas ? x->gas : x->mass);
    if (l == top) dm = mem_zero(sizeof *dm * (size_t)m->lev[l].noct + 1, "deposit");
    if (s->par->run.pic)
        err = sim_parts_deposit(s, l, s->phys.matter.quantum, s->par->refine.mass_cut_refine, top,
                                dm, x->number);
    if (l == top) keep_top(s, l, dm, x->mass);
    struct sink_run sinks = sim_sinks(s);
    if (err == OK && sinks_any(s->phys.sinks)) err = sinks_deposit(&sinks, l, x->mass, x->number);
    return err;
}

static double m_refine_of(const struct sim *s, int l)
{
    return l < s->mesh.levelmax ? sim_m_refine(s, l) : -1;
}

/* Whether masses may tell which cells of level l are dense. mass_cut_refine is for particles of
 * several masses. Ranks agree by a reduction, so that they need many octs of the level: an oct
 * stands for about eight particles, whose numbers take 0.06 µs. A device has numbers. */
static bool by_mass(struct sim *s, int l)
{
    enum { WORTH = 2048 /* octs of a rank */ };
    const bool devices = s->par->run.gpu_poisson || s->par->run.gpu_particles,
               pays = s->comm.size == 1 ||
                      (s->phys.matter.alike > 0 && s->amr.noct[l] >= (int64_t)WORTH * s->comm.size);
    return s->par->run.pic && pays && !devices && !sinks_any(s->phys.sinks) &&
           s->par->poisson.cic_levelmax == 0 && s->par->refine.mass_cut_refine <= 0 &&
           --s->phys.matter.unsure[l] < 0;
}

/* Marks dense cells by masses, or else by numbers, which are deposited now; the masses, of which
 * the density has been made, are then added a second time. (collective) */
static enum err mark_alike(struct sim *s, int l, double m_refine, struct sums *x)
{
    enum { AGAIN = 16 };
    struct level *lv = &s->mesh.lev[l];
    int64_t unsure = !mark_by_mass(s, lv, m_refine, x);
    comm_max_i64(&s->comm, &unsure, 1);
    s->phys.matter.unsure[l] = 0;
    if (!unsure) return OK;
    s->phys.matter.unsure[l] = AGAIN;
    x->number = mem_zero(sizeof *x->number * (size_t)lv->noct + 1, "deposit");
    enum err err = sim_parts_deposit(s, l, s->phys.matter.quantum, 0, 0, x->mass, x->number);
    sums_exchange(s, l, &(struct sums){.number = x->number});
    mark_dense(s, lv, m_refine, x);
    return err;
}

enum err sim_density(struct sim *s, int l, int icount)
{
    struct level *lv = &s->mesh.lev[l];
    double m_refine = m_refine_of(s, l);
    bool counts = m_refine > -1.0;
    TRY(sim_dense_home(s, l));
    if (l == s->mesh.levelmin) sim_total_mass(s);
    if (moments_due(s, l, icount))
        refresh_moments(s, l);
    else
        TRY(sim_moments_home(s));
    const bool masses = counts && by_mass(s, l);
    struct sums x = sums_new(s, l, counts, masses);
    enum err err = deposit(s, l, &x);
    sums_exchange(s, l, &x);
    make_density(s, lv, &x);
    if (s->par->poisson.cic_levelmax > 0 && l > s->par->poisson.cic_levelmax) add_top(s, l);
    if (s->phys.grav.density_type > 0) add_analytic(s, l);
    if (masses)
        err = err == OK ? mark_alike(s, l, m_refine, &x) : err;
    else if (counts)
        mark_dense(s, lv, m_refine, &x);
    sums_free(&x);
    return err;
}

/* ---- on the device ---- */

/* Whether the device can deposit all matter: gas, and particles that are on the device. */
static bool has_kernels(const struct sim *s)
{
    return (s->par->run.pic ? sim_parts_dev(s) != NULL : !sinks_any(s->phys.sinks)) &&
           s->phys.grav.density_type == 0 && s->par->poisson.cic_levelmax == 0 &&
           s->par->refine.ivar_refine <= 0;
}

static enum err deposit_dev(struct sim *s, int l, struct grav_density *how)
{
    if (!s->par->run.pic) return OK;
    how->number_quantum = NUMBER_QUANTUM;
    return part_dev_deposit_density(s->device.parts, &s->parts, &s->mesh, l, s->phys.matter.quantum,
                                    s->par->refine.mass_cut_refine, 0, &how->mass,
                                    how->dense ? &how->number : NULL);
}

/* Adds the masses of sinks, few cells that the host finds. (collective) */
static enum err deposit_sinks(struct sim *s, int l, const struct grav_density *how)
{
    struct rows octs;
    struct sink_run sinks = sim_sinks(s);
    const size_t bytes = sizeof(int64_t[8]) * (size_t)s->mesh.lev[l].nown + 1;
    if (!sinks_any(s->phys.sinks)) return OK;
    int64_t(*mass)[8] = mem_zero(bytes, "deposit"),
    (*number)[8] = how->number ? mem_zero(bytes, "deposit") : NULL;
    enum err err = sinks_deposit(&sinks, l, mass, number);
    if (err == OK) {
        sinks_octs(&sinks, l, l, false, &octs);
        err = rows_add(s->device.mirror, &octs, mass, how->mass);
        if (err == OK && number) err = rows_add(s->device.mirror, &octs, number, how->number);
        FREE(octs.oct);
    }
    FREE(mass);
    FREE(number);
    return err;
}

/* Reserves all device memory that is needed, before any message is sent. */
static enum err need_dev(struct sim *s, int l, int icount, const struct grav_density *how)
{
    struct mesh *m = &s->mesh;
    if (s->par->run.pic) TRY(part_dev_deposit_need(s->device.parts, &s->parts, m, l));
    if (m->hydro && !moments_due(s, l, icount) && !s->phys.matter.moments_dev)
        TRY(grav_dev_moments_put(s->device.grav, m, l + 1, s->phys.matter.moments));
    return grav_dev_density_need(s->device.grav, m, l, l + 1, how);
}

static enum err make_dev(struct sim *s, int l, int icount, struct grav_density *how)
{
    struct mesh *m = &s->mesh;
    struct grav_dev *g = s->device.grav;
    if (l == m->levelmin) {
        struct sum sum[4];
        for (int j = 0; j < 4; j++) sum_init(&sum[j]);
        if (m->hydro) TRY(grav_dev_gas_mass(g, m, s->phys.hydro.smallr, sum));
        total_mass(s, sum);
    }
    how->quantum = s->phys.matter.quantum;
    if (moments_due(s, l, icount)) TRY(grav_dev_moments(g, m, l + 1));
    s->phys.matter.moments_dev = m->hydro;
    TRY(deposit_dev(s, l, how));
    TRY(deposit_sinks(s, l, how));
    return grav_dev_density(g, m, l, how);
}

enum err sim_density_dev(struct sim *s, int l, int icount, bool *done)
{
    struct mesh *m = &s->mesh;
    double m_refine = m_refine_of(s, l);
    if (!has_kernels(s)) return OK;
    struct grav_density how = {
        .gas = m->hydro,
        .smallr = s->phys.hydro.smallr,
        .dense = m_refine > -1.0,
        .m_refine = m_refine,
        .unit = fmax(s->amr.refine.mass_sph / mesh_volume(m, l), s->phys.hydro.smallr)};
    TRY(need_dev(s, l, icount, &how));
    BUG_ON(make_dev(s, l, icount, &how) != OK); /* the state is lost */
    *done = true;
    return OK;
}
