/* sim/start: from parameters and initial conditions to the state at step 0 (docs/method/step.md).
 *
 * Levels up to levelmin are complete. Then the initial flow is set on the mesh, flagged and
 * refined, level after level; with particles and regions a few more rounds apply the mass
 * criterion. GRAFIC files define only the levels that they cover: the first step refines
 * further. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dom/ghost.h"
#include "ics/gadget.h"
#include "ics/ics.h"
#include "ics/split.h"
#include "io/ascii_part.h"
#include "io/grafic.h"
#include "kinds/kinds.h"
#include "oct/field_sets.h"
#include "sim/solver.h"

struct start {
    struct sim *s;
    bool grafic, gadget; /* neither: regions, and particles in a text file */
    struct ics_grafic files;
    struct ics_gadget snapshot;
    struct ics_gas gas;
    int nregion;
    struct ics_region region[100];
    struct kinds kind; /* with neither: the initial state by name */
    /* largest difference of the magnetic field of a face in the files of both cells, and the
     * strongest field, of this rank */
    double faces[2];
    bool laid;            /* the initial flow is set on the present mesh */
    struct turb *initial; /* turbulent velocities; NULL: none */
};

static enum err start_regions(struct start *st)
{
    const struct param_init *p = &st->s->par->init;
    st->nregion = p->nregion;
    for (int i = 0; i < p->nregion; i++) {
        struct ics_region *r = &st->region[i];
        bool point = strcmp(p->region_type[i], "point") == 0;
        if (!point && strcmp(p->region_type[i], "square") != 0)
            FAIL(ERR_PARAM, "init_params/region_type(%d)='%s' must be 'square' or 'point'", i + 1,
                 p->region_type[i]);
        if (p->d_region[i] < 0 || p->p_region[i] < 0)
            FAIL(ERR_PARAM,
                 "init_params: region %d has density %g and pressure %g; neither may be negative",
                 i + 1, p->d_region[i], p->p_region[i]);
        *r = (struct ics_region){.shape = point ? ICS_POINT : ICS_SQUARE,
                                 .center = {p->x_center[i], p->y_center[i], p->z_center[i]},
                                 .length = {p->length_x[i], p->length_y[i], p->length_z[i]},
                                 .exponent = p->exp_region[i],
                                 .d = p->d_region[i],
                                 .v = {p->u_region[i], p->v_region[i], p->w_region[i]},
                                 .p = p->p_region[i],
                                 .b = {p->a_region[i], p->b_region[i], p->c_region[i]}};
        for (int d = st->s->mesh.ndim; d < 3; d++) {
            r->center[d] = 0, r->length[d] = 1; /* without bounds along missing axes */
            if (!st->s->mesh.magnetic) r->v[d] = 0;
        }
        const int nener = st->s->phys.hydro.energy.n;
        memcpy(r->var, p->prad_region[i], sizeof *r->var * (size_t)nener);
        for (int k = nener; k < st->s->phys.hydro.nvar - GAS_SCALARS; k++)
            r->var[k] = p->var_region[i][k - nener];
    }
    return OK;
}

/* ivar_refine restricts refinement to a scalar or a map that is read from files. Without the files
 * no initial conditions of finer levels would be used, and then the particles of the whole box
 * would refine it until memory is exhausted. The map on the finest files has no effect. */
static enum err check_mask(const struct start *st, int n, const char *const dirs[])
{
    const struct sim *s = st->s;
    int variable = s->par->refine.ivar_refine, number = variable - GAS_SCALARS,
        needed = variable ? n : n - 1;
    char name[32] = "ic_refmap";
    if (!s->mesh.gravity || s->mesh.levelmin == s->mesh.levelmax) return OK;
    if (variable && (!s->mesh.hydro || number < 1)) return OK;
    if (variable) snprintf(name, sizeof name, "ic_pvar_%05d", number);
    for (int i = 0; i < needed; i++)
        if (!ics_exists(dirs[i], name))
            FAIL(ERR_FILE,
                 "%s: has no %s, the mask that ivar_refine=%d in &REFINE_PARAMS needs on every "
                 "level: genzoom -i %d "
                 "writes it; without a mask set ivar_refine=-1",
                 dirs[i], name, variable, variable ? number : 0);
    return OK;
}

/* Logs numbers that differ between the files and the namelist, or between two levels. */
static void log_files(const struct start *st, const struct ics_set *set)
{
    const struct ics_grafic *g = &st->files;
    double used = g->par.omega_b;
    if (set->gas && !isnan(g->omega_b) && !set->omega_b_given)
        log_info(" omega_b=%g is taken from the initial conditions", used);
    else if (set->gas && !isnan(g->omega_b) && !grafic_near(g->omega_b, used))
        log_info(" omega_b=%g of the namelist is used; the initial conditions have omega_b=%g",
                 used, g->omega_b);
    for (int l = g->levelmin + 1; l <= g->levelmax; l++)
        if (!grafic_near(g->lev[l].head.astart, g->lev[g->levelmin].head.astart))
            log_info(" Level %d is given at a=%g, level %d at a=%g: each is brought to a=%g by the "
                     "growing mode",
                     l, g->lev[l].head.astart, g->levelmin, g->lev[g->levelmin].head.astart,
                     g->par.aexp_ini);
}

/* Begins at the expansion factor of the initial conditions. */
static enum err start_cosmology(struct sim *s, const struct cosmo_par *par)
{
    s->phys.cosmo_par = *par;
    TRY(sim_cosmology(s));
    s->time.t = cosmo_tau(s->phys.cosmo, par->aexp_ini);
    cosmo_at(s->phys.cosmo, s->time.t, &s->time.aexp, &s->time.hexp);
    return OK;
}

static enum err start_files(struct start *st)
{
    struct sim *s = st->s;
    const struct param_init *p = &s->par->init;
    const char *dirs[LEVEL_MAX];
    int n = 0;
    for (; n < LEVEL_MAX && s->mesh.levelmin + n <= s->mesh.levelmax && p->initfile[n][0]; n++)
        dirs[n] = p->initfile[n];
    if (n == 0) FAIL(ERR_PARAM, "init_params/filetype='grafic' needs initfile(1)='directory'");
    TRY(err_agree(&s->comm, check_mask(st, n, dirs)));
    st->files.par.ramses = s->par->run.ramses_cosmology;
    st->files.par.dark = sim_dark(s->par);
    const struct ics_set set = {.levelmin = s->mesh.levelmin,
                                .nlev = n,
                                .dir = dirs,
                                .cosmo = s->par->run.cosmo,
                                .gas = s->mesh.hydro,
                                .omega_b = p->omega_b,
                                .omega_b_given = param_given(s->par, "init", "omega_b"),
                                .aexp_ini = p->aexp_ini};
    TRY(ics_grafic_open(&st->files, &set, &s->comm));
    if (!s->par->run.cosmo) return OK;
    log_files(st, &set);
    if (st->files.levelmax < s->mesh.levelmin)
        log_info(" Particles of %d^3 cells on a base mesh of %d^3", 1 << st->files.levelmax,
                 1 << s->mesh.levelmin);
    s->amr.refine.mass_sph = ics_grafic_mass_sph(&st->files);
    TRY(start_cosmology(s, &st->files.par));
    double astart = st->files.lev[st->files.levelmin].head.astart;
    if (fabs(s->phys.cosmo_par.aexp_ini - astart) > 1e-6 * astart)
        log_info(" The initial conditions are of a = %.6g: linear growth brings them to "
                 "aexp_ini = %.6g",
                 astart, s->phys.cosmo_par.aexp_ini);
    return OK;
}

static enum err start_snapshot(struct start *st)
{
    struct sim *s = st->s;
    const struct param_init *p = &s->par->init;
    const struct snap_given given = {
        .unit = p->gadget_unit, .h0 = p->gadget_h0, .omega_m = p->gadget_omega_m};
    st->snapshot.par.dark = sim_dark(s->par);
    TRY(ics_gadget_open(&st->snapshot, p->initfile[0], &given, &s->comm));
    s->amr.refine.mass_sph = 0; /* there is no gas */
    return start_cosmology(s, &st->snapshot.par);
}

/* Adds turbulent velocities to the gas of a level. */
static void stir(struct start *st, int l)
{
    struct sim *s = st->s;
    if (!st->initial) return;
    const struct turb_force f = turb_force_at(st->initial, s->time.t, l);
    hydro_drive(&s->mesh, l, 1.0, &f, s->phys.hydro.smallr);
}

/* Sets U of one level from its source; split cells are set by start_flow. */
static enum err flow_level(struct start *st, int l)
{
    struct sim *s = st->s;
    if (l < s->mesh.levelmin) return OK;
    if (!st->grafic) {
        TRY(err_agree(&s->comm, kinds_level(&st->kind, &s->mesh, l)));
        stir(st, l);
    } else if (ics_grafic_has(&st->files, l))
        TRY(ics_grafic_gas(&st->files, &s->mesh, &s->comm, l, &st->gas));
    else
        return OK;
    sim_rt_initial(s, l);
    if (!st->grafic || !s->mesh.magnetic) return OK;
    ghost_fill_set(&s->comm, &s->mesh, l, MAGNETIC);
    ics_grafic_faces(&s->mesh, l, st->faces);
    return OK;
}

static enum err start_flow(struct start *st)
{
    struct sim *s = st->s;
    if (!s->mesh.hydro || st->laid) return OK;
    if (!st->grafic) TRY(kinds_flow(&st->kind, &s->mesh, s->dom));
    for (int l = s->mesh.levelmax; l >= 1; l--) {
        if (s->amr.noct[l] == 0) continue;
        TRY(flow_level(st, l));
        if (l < s->mesh.levelmax) sim_restrict_gas(s, l);
        if (l < s->mesh.levelmax) photons_restrict(&s->mesh, l);
        ghost_fill_set(&s->comm, &s->mesh, l, GAS | PHOTONS);
    }
    st->laid = true;
    return OK;
}

/* Fails if the files give a face two fields that differ by more than single precision does. */
static enum err check_faces(struct start *st)
{
    double max[2] = {st->faces[0], st->faces[1]};
    comm_max_f64(&st->s->comm, max, 2);
    if (max[0] <= SIM_SINGLE * max[1] || st->s->par->init.allow_divb) return OK;
    FAIL(ERR_PARAM,
         "the magnetic field on the upper face of a cell (ic_bxright, …) differs by %.2g of the "
         "strongest field from that on the lower face of the next one (ic_bxleft, …): they are one "
         "face; set allow_divb=.true. in &INIT_PARAMS to take the latter",
         max[0] / max[1]);
}

static void flag_all(struct sim *s)
{
    for (int l = s->mesh.levelmax - 1; l >= 1; l--) sim_flag(s, l, 2);
}

/* Refines; if the mesh changes, the flow must be set again. */
static enum err refine(struct start *st)
{
    struct sim *s = st->s;
    sim_use_threads(s);
    TRY(sim_refine(s, s->mesh.levelmin));
    for (int l = s->mesh.levelmin; l < s->mesh.levelmax; l++)
        if (s->amr.refine.all[l].created || s->amr.refine.all[l].removed) st->laid = false;
    return OK;
}

/* Whether one rank could hold the whole mesh: then domains wait for the balance of the first step,
 * before which they would change several times. The halves of the box that two ranks have until
 * then are also the Hilbert domains of a checkpoint in RAMSES's format: the first one moves no
 * octs. */
static bool is_small(const struct sim *s)
{
    const double SMALL = 0x1p26; /* bytes */
    int64_t octs = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) octs += s->amr.noct[l];
    return (double)octs * (double)mesh_oct_bytes(mesh_kind(&s->mesh)) +
               (double)s->diag.particles * (double)part_bytes(&s->parts.columns) <=
           SMALL;
}

static void balance(struct sim *s)
{
    if (s->par->run.nremap == 0 || s->comm.size == 1 || is_small(s)) return;
    sim_domains_become(s, domain_kind(s->dom), false, false);
}

/* Fails if a signal was caught: before the first step there is no state to write. */
static enum err check_stop(const struct sim *s)
{
    if (sim_caught(s))
        FAIL(ERR_STOPPED, "stopped early as requested, before the initial mesh was complete: there "
                          "is no checkpoint; run the same command again");
    return OK;
}

/* First refinements, by flow criteria alone. */
static enum err start_refine(struct start *st)
{
    struct sim *s = st->s;
    s->amr.refine.starting = true;
    TRY(start_flow(st));
    for (int l = s->mesh.levelmin + 1; l <= s->mesh.levelmax; l++) {
        if (st->grafic && !ics_grafic_has(&st->files, l)) break;
        TRY(check_stop(s));
        if (l > s->mesh.levelmin + 1) TRY(start_flow(st));
        if (st->grafic && s->par->refine.ivar_refine == 0 && s->mesh.gravity)
            for (int k = s->mesh.levelmin; k < l; k++)
                TRY(ics_grafic_refmap(&st->files, &s->mesh, &s->comm, k, s->mesh.lev[k].dense));
        flag_all(s);
        TRY(refine(st));
        balance(s);
        if (s->amr.noct[l] == 0) break;
    }
    TRY(start_flow(st));
    for (int l = s->mesh.levelmin + 1;
         l <= s->mesh.levelmax && st->grafic && ics_grafic_has(&st->files, l); l++)
        if (s->amr.noct[l] == 0)
            log_info(" Initial conditions of level %d are not used: no cell of level %d is marked "
                     "for refinement",
                     l, l - 1);
    s->amr.refine.starting = false;
    return OK;
}

/* Logs particles that are wrapped into a periodic box. */
static void log_outside(const struct sim *s, const char *path)
{
    double far;
    int64_t n = part_outside(&s->parts, &s->mesh, s->mesh.boxlen * 0x1p-50, &far);
    comm_add_i64(&s->comm, &n, 1);
    comm_max_f64(&s->comm, &far, 1);
    if (n)
        log_info(" %ld particles of %s lie up to %.3g outside of the periodic box: they are "
                 "brought back into it",
                 (long)n, path, far);
}

/* Particles without mass in a text are tracers, as in RAMSES before 2017. */
static void massless_tracers(struct parts *p)
{
    for (int64_t i = 0; i < p->n; i++)
        if (p->m[i] == 0) p->family[i] = FAM_GAS_TRACER;
}

static enum err start_particles(struct start *st)
{
    struct sim *s = st->s;
    if (!s->par->run.pic) return OK;
    TRY(sim_more_columns(s));
    if (st->grafic) {
        TRY(ics_grafic_particles(&st->files, &s->mesh, &s->comm, &s->parts));
    } else if (st->gadget) {
        TRY(ics_gadget_particles(&st->snapshot, &s->mesh, &s->comm, &s->parts));
    } else if (kinds_has_particles(&st->kind)) {
        TRY(kinds_particles(&st->kind, &s->mesh, &s->parts));
    } else if (s->par->init.initfile[0][0]) {
        char path[512];
        snprintf(path, sizeof path, "%.256s/ic_part", s->par->init.initfile[0]);
        TRY(ics_ascii_particles(path, &s->mesh, &s->comm, &s->parts));
        if (s->par->run.tracer) massless_tracers(&s->parts);
        log_outside(s, path);
    }
    TRY(part_distribute(&s->parts, &s->mesh, &s->comm, s->dom));
    s->diag.particles = s->parts.n;
    comm_add_i64(&s->comm, &s->diag.particles, 1);
    log_info(" %ld particles", (long)s->diag.particles);
    return OK;
}

static enum err start_tracers(struct sim *s)
{
    if (!s->par->run.tracer) return OK;
    struct tracer_run r = sim_tracers(s);
    int64_t n;
    TRY(tracers_place(&r, &n));
    s->diag.particles += n;
    log_info(" %ld tracers are placed", (long)n);
    if (!s->mesh.hydro) log_info(" Tracers stay where they are: there is no gas (hydro=.true.)");
    balance(s);
    return OK;
}

static enum err start_sinks(struct sim *s)
{
    struct sink_run sinks = sim_sinks(s);
    return sinks_initial(&sinks);
}

static enum err mass_criterion(struct sim *s)
{
    struct mesh *m = &s->mesh;
    int top = m->levelmin;
    for (int l = m->levelmin; l <= m->levelmax && s->amr.noct[l] > 0; l++) {
        if (s->par->run.pic) part_enter(&s->parts, m, &s->comm, s->dom, l);
        if (m->gravity) TRY(sim_density(s, l, 2));
        if (s->par->run.pic) part_hand_down(&s->parts, m, &s->comm, s->dom, l);
        top = l;
    }
    for (int l = top; l >= m->levelmin && s->par->run.pic; l--) part_merge(&s->parts, m, l);
    return OK;
}

/* Further refinements for regions and text particles, with the mass criterion (init_refine_2 of
 * RAMSES). */
static enum err start_refine_more(struct start *st)
{
    struct sim *s = st->s;
    if (st->grafic || s->mesh.levelmin == s->mesh.levelmax) return OK;
    for (int i = s->mesh.levelmin; i <= s->mesh.levelmax + 1; i++) {
        TRY(check_stop(s));
        TRY(refine(st));
        TRY(start_flow(st));
        balance(s);
        TRY(mass_criterion(s));
        flag_all(s);
    }
    return OK;
}

/* Fails for a cell without gas, which the solver would treat as one of density smallr. */
static enum err check_cell(const struct sim *s, int l, okey key, int cell, double rho)
{
    double x[3], dx = mesh_dx(&s->mesh, l);
    if (rho > 0 && rho < HUGE_VAL) return OK;
    okey_cell_centre(key, cell, dx, x);
    FAIL(ERR_PARAM, "the initial density of the gas is %g at x=%g, y=%g, z=%g: %s", rho, x[0], x[1],
         x[2],
         s->par->init.nregion > 0
             ? "give each of the nregion regions of &INIT_PARAMS a d_region above 0"
             : "it must be above 0");
}

static enum err check_gas(const struct sim *s)
{
    for (int l = s->mesh.levelmin; s->mesh.hydro && l <= s->mesh.levelmax; l++) {
        const struct level *lv = &s->mesh.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++)
                if (lv->child[i][k] < 0)
                    TRY(check_cell(s, l, lv->key[i], k, level_gas(lv, GAS_DENSITY)[i][k]));
    }
    return OK;
}

static enum err start_T2(struct sim *s, double *T2)
{
    TRY(err_agree(&s->comm, cool_start_T2(s->phys.cooling, T2)));
    log_info(" Starting with T/mu (K) = %.15g", *T2);
    return OK;
}

static enum err start_kind(struct start *st)
{
    struct sim *s = st->s;
    const struct kind_setup setup = {.par = s->par,
                                     .comm = &s->comm,
                                     .mesh = &s->mesh,
                                     .gas = &st->gas,
                                     .vars = &s->phys.hydro.vars,
                                     .units = sim_units(s)};
    return err_agree(&s->comm, kinds_open(&st->kind, &setup, st->region, st->nregion));
}

/* The run goes on where the galaxies of the files ended. */
static void start_dice(struct sim *s)
{
    s->time.t = s->par->dice.ic_t_restart;
    s->run.out.ifout = s->par->dice.ic_ifout;
}

/* Reads regions, tables and the headers of files. */
static enum err start_read(struct start *st)
{
    struct sim *s = st->s;
    if (st->grafic) TRY(start_files(st));
    if (st->gadget) TRY(start_snapshot(st));
    TRY(start_regions(st));
    if (param_turb_starts(s->par))
        TRY(turb_new_initial(s->par, sim_turb_seed(s), s->time.t, &st->initial));
    st->gas = (struct ics_gas){.nvar = s->phys.hydro.nvar,
                               .energy = s->phys.hydro.energy,
                               .magnetic = s->mesh.magnetic,
                               .b_ave = s->par->init.b_ave,
                               .gamma = s->phys.hydro.gamma,
                               .smallr = s->phys.hydro.smallr,
                               .smallc = s->phys.hydro.smallc};
    sim_initial_scalars(s, st->gas.initial);
    if (!st->grafic) TRY(start_kind(st));
    TRY(sim_physics(s));
    if (s->phys.cooling && s->phys.cosmo) TRY(start_T2(s, &st->gas.T2_start));
    sim_output_setup(s);
    if (st->kind.kind == &kind_dice) start_dice(s);
    return OK;
}

/* Fails if complete levels cannot fit into the memory of a node; otherwise the kernel would kill
 * this process or another one. */
static enum err check_memory(const struct sim *s)
{
    const struct mesh *m = &s->mesh;
    double levels = 1 / (1 - ldexp(1, -m->ndim)),
           octs = ldexp(levels, m->ndim * (m->levelmin - 1)) * s->comm.node_size / s->comm.size,
           need = octs * (double)mesh_oct_bytes(mesh_kind(m)), have = (double)mem_machine();
    if (need > have)
        FAIL(ERR_LIMIT,
             "levelmin=%d in &AMR_PARAMS needs %.3g GiB of memory on each node; this one has %.3g: "
             "lower levelmin or use more nodes",
             m->levelmin, need / 0x1p30, have / 0x1p30);
    return OK;
}

static enum err start_build(struct start *st)
{
    struct sim *s = st->s;
    TRY(err_agree(&s->comm, check_memory(s)));
    s->dom = domain_new_of(&s->mesh, sim_domain_kind(s), s->comm.size);
    log_info(" Building initial AMR grid");
    adapt_build(&s->mesh, &s->comm, s->dom);
    sim_count_octs(s);
    sim_use_threads(s);
    TRY(start_refine(st));
    TRY(check_stop(s));
    TRY(start_particles(st));
    TRY(start_sinks(s));
    TRY(start_refine_more(st));
    TRY(check_stop(s));
    TRY(err_agree(&s->comm, check_gas(s)));
    TRY(check_faces(st));
    TRY(sim_check_field(s));
    return start_tracers(s);
}

/* In an expanding universe the box has the mass 1. */
static enum err expect_tracers(struct sim *s)
{
    if (!s->par->run.tracer) return OK;
    const struct cosmo_par *q = &s->phys.cosmo_par;
    struct tracer_run r = sim_tracers(s);
    const double cells = ldexp(1, s->mesh.ndim * s->mesh.levelmin);
    double n;
    TRY(tracers_expect(&r, cells, s->phys.cosmo ? q->omega_b / q->omega_m : NAN, &n));
    if (n < 1e18)
        s->diag.particles += (int64_t)n;
    else
        log_info(" Tracers are not in the forecast: their number depends on the mass of the gas; "
                 "-nn builds the initial state");
    return OK;
}

/* Octs and particles of the initial state that are known before it is built: complete levels, and
 * all that the files of finer levels cover. */
static enum err start_expect(struct start *st)
{
    struct sim *s = st->s;
    const struct param_init *p = &s->par->init;
    for (int l = 1; l <= s->mesh.levelmin; l++)
        s->amr.noct[l] = (int64_t)1 << s->mesh.ndim * (l - 1);
    for (int l = st->files.levelmin; st->grafic && l <= st->files.levelmax; l++) {
        const int32_t *n = st->files.lev[l].head.n;
        int64_t cells = (int64_t)n[0] * n[1] * n[2];
        s->amr.noct[l] = cells / 8;
        if (s->par->run.pic) s->diag.particles += cells - (l > st->files.levelmin ? cells / 8 : 0);
    }
    if (!s->par->run.pic) return OK;
    TRY(sim_more_columns(s));
    TRY(expect_tracers(s));
    if (st->gadget) s->diag.particles = st->snapshot.n;
    if (kinds_has_particles(&st->kind)) s->diag.particles += kinds_particle_count(&st->kind);
    if (st->grafic || st->gadget || kinds_has_particles(&st->kind) || !p->initfile[0][0]) return OK;
    char path[512];
    struct ascii_share share = {.n = 0};
    snprintf(path, sizeof path, "%.256s/ic_part", p->initfile[0]);
    TRY(err_agree(&s->comm, ascii_part_count(path, s->comm.rank, s->comm.size, &share)));
    comm_add_i64(&s->comm, &share.n, 1);
    s->diag.particles += share.n;
    return OK;
}

static enum err start_afresh(struct start *st)
{
    TRY(start_read(st));
    return st->s->run.expect ? start_expect(st) : start_build(st);
}

/* A run that resumes has the dimensions and the magnetic field of its checkpoint. */
static enum err take_dimensions(const struct sim *s, struct params *par)
{
    const struct source *from = s->run.restart.from;
    int ndim = from ? from->head.ndim : par->run.ndim;
    if (param_given(par, "run", "ndim") && ndim != par->run.ndim)
        FAIL(ERR_PARAM,
             "%s: has ndim=%d, but this run is to have ndim=%d (run_params/ndim or --build): leave "
             "it out, a run has the dimensions of its checkpoint",
             from->path, ndim, par->run.ndim);
    par->run.ndim = ndim;
    const bool mhd = from && par->run.hydro ? from->head.magnetic : par->run.mhd;
    if (param_given(par, "run", "mhd") && mhd != par->run.mhd)
        FAIL(ERR_PARAM,
             "%s: has %s magnetic field, but this run is to have mhd=%s (run_params/mhd or "
             "--build): leave it out, a run has the magnetic field of its checkpoint",
             from->path, mhd ? "a" : "no", mhd ? ".false." : ".true.");
    par->run.mhd = mhd;
    TRY(param_check_dims(par));
    return param_check_mhd(par);
}

/* The state of a solver that no octree can hold, beside an empty mesh. */
static enum err start_alone(struct sim *s)
{
    TRY(sim_setup(s));
    s->dom = domain_new_of(&s->mesh, sim_domain_kind(s), s->comm.size);
    return err_agree(&s->comm, s->run.solver->start(s));
}

/* RAMSES takes particles of all kinds for dark matter where no stars form. */
static unsigned frozen_families(const struct params *p)
{
    unsigned frozen = 0;
    if (p->run.static_dm) frozen |= 1u << FAM_DM;
    if (p->run.static_stars) frozen |= 1u << FAM_STAR | 1u << FAM_DEBRIS;
    return frozen;
}

static enum err start_octs(struct sim *s, struct params *par)
{
    struct start *st = mem_zero(sizeof *st, "start");
    enum err e = err_agree(&s->comm, sim_restart_open(s));
    if (e == OK) e = kinds_params(par);
    if (e == OK) e = take_dimensions(s, par);
    if (e == OK) e = sim_setup(s);
    if (e == OK && s->run.solver == &octree_solver) e = sim_device_open(s);
    s->parts.is_static = par->run.static_;
    s->parts.frozen = frozen_families(par);
    s->parts.tracers = par->run.tracer || s->parts.frozen;
    s->parts.jumps = s->phys.tracers == TRACER_JUMPS;
    for (int f = 0; f < 6; f++) s->parts.reflect[f] = s->phys.hydro.bound[f] == BOUND_REFLECT;
    st->s = s;
    st->grafic = strcmp(par->init.filetype, "grafic") == 0;
    st->gadget = strcmp(par->init.filetype, "gadget") == 0;
    if (e == OK) e = s->run.restart.from ? sim_restart(s) : start_afresh(st);
    if (e == OK && s->run.solver->setup && !s->run.expect) e = s->run.solver->setup(s);
    e = err_agree(&s->comm, e);
    s->amr.refine.frozen = par->run.static_;
    if (st->grafic) ics_grafic_close(&st->files);
    if (st->gadget) ics_gadget_close(&st->snapshot);
    kinds_close(&st->kind);
    turb_free(&st->initial);
    mem_free(st);
    return e;
}

static enum err start_once(struct sim *s, struct params *par)
{
    s->time.aexp = 1;
    s->run.cost.wall_start = timer_wall();
    timer_start("start");
    part_init(&s->parts);
    return s->run.solver->start ? start_alone(s) : start_octs(s, par);
}

/* Starts from the newest complete checkpoint; damaged ones keep their numbers. */
static enum err start_newest(struct sim *s, struct params *par)
{
    struct sim empty = *s;
    char path[4096];
    int last = 0;
    enum err e = OK;
    unsigned char *present = mem_zero(SIM_NUMBERS, "start");
    sim_present(s, present);
    for (int i = SIM_NUMBERS - 1; i > 0; i--) {
        if (!present[i]) continue;
        if (!last) last = i;
        snprintf(path, sizeof path, "%.4000s/output_%05d", s->run.out.dir, i);
        s->run.restart.path = path;
        e = start_once(s, par);
        s->run.restart.path = NULL;
        if (e == OK || e == ERR_PARAM || e == ERR_STOPPED) break;
        log_info(" Skipped a checkpoint that cannot be read: %s", err_message());
        sim_fini(s);
        *s = empty;
    }
    mem_free(present);
    if (e != OK && e != ERR_PARAM && e != ERR_STOPPED)
        FAIL(e, "%s: none of its checkpoints can be read; the oldest one: %s", s->run.out.dir,
             err_message());
    if (e != OK) return e;
    if (s->run.out.ifout <= last) s->run.out.ifout = last + 1;
    if (last) return OK;
    log_info(" There is no checkpoint in %s yet: a new run starts", s->run.out.dir);
    return start_once(s, par);
}

enum err sim_start(struct sim *s, struct params *par, const struct comm *c)
{
    s->par = par;
    s->comm = *c;
    if (!s->run.solver) s->run.solver = &octree_solver;
    TRY(par->run.nrestart < 0 && !s->run.restart.path ? start_newest(s, par) : start_once(s, par));
    return sim_check_room(s);
}
