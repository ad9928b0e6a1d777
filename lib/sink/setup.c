/* sink/setup: converts parameters, files and checkpoints to the sinks of a run, and sinks to
 * checkpoints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/file.h"
#include "sink/initial.h"
#include "sink/run.h"

/* ---- parameters ---- */

static int sink_level(const struct sink_run *s)
{
    int l = s->par->sink.nlevelmax_sink;
    return l > 0 ? l : s->par->amr.levelmax;
}

/* Threshold density of RAMSES if none is given: the Jeans length is four cells of the sinks'
 * level. */
static double threshold(const struct sink_run *s, const struct units *u)
{
    const struct params *p = s->par;
    if (p->sink.d_sink > 0) return p->sink.d_sink;
    if (p->sink.rho_sink > 0) return p->sink.rho_sink / u->density;
    if (p->physics.n_sink > 0) return p->physics.n_sink / u->hydrogen;
    double dx = mesh_dx(s->mesh, sink_level(s));
    return p->run.cosmo
               ? 0
               : p->physics.t2_star / u->temperature * (0.5 * RAMSES_TWOPI) / 16 / (dx * dx);
}

static void feedback_law(const struct sink_run *s, const struct units *u, struct sink_law *law)
{
    const struct param_sink *p = &s->par->sink;
    double efficiency = 0.1, opening = fmin(fmax(p->cone_opening, 1e-300), 180);
    law->agn = s->par->physics.agn;
    law->inject_mass = strcmp(p->agn_inj_method, "mass") == 0;
    law->temperature = u->temperature;
    law->T2_min = p->t2_min;
    law->T2_agn = p->t2_agn;
    law->T2_max = p->t2_max;
    law->heat = p->agn_fbk_frac_ener;
    law->kick = p->agn_fbk_frac_mom;
    law->switch_at = p->agn_fbk_mode_switch_threshold;
    law->load = p->kin_mass_loading;
    law->v_jet = sqrt(2 * efficiency * p->epsilon_kin / law->load) * RAMSES_C / u->velocity;
    law->v_max = p->v_max * CGS_KM / u->velocity;
    law->cone = 0.5 * RAMSES_TWOPI / 180 * opening / 2;
}

static void accretion_law(const struct sink_run *s, const struct units *u, struct sink_law *law)
{
    const struct params *p = s->par;
    double sun = RAMSES_MSUN / u->mass;
    law->accretion = strcmp(p->sink.accretion_scheme, "bondi") == 0       ? ACCRETE_BONDI
                     : strcmp(p->sink.accretion_scheme, "threshold") == 0 ? ACCRETE_THRESHOLD
                                                                          : ACCRETE_NONE;
    law->c_acc = p->sink.c_acc;
    law->d_sink = threshold(s, u);
    law->vrel = p->sink.bondi_use_vrel;
    bool by_density = param_stars(p) && p->sink.acc_sink_boost < 0;
    law->boost = by_density ? -1 : fabs(p->sink.acc_sink_boost);
    law->boost_density = p->sink.boost_threshold_density / u->hydrogen;
    law->limited = p->sink.eddington_limit;
    law->cap = p->sink.eddington_cap;
    law->eddington = 4 * (0.5 * RAMSES_TWOPI) * RAMSES_G * RAMSES_MH /
                     (0.1 * CGS_THOMSON * RAMSES_C) * u->time;
    law->seed = p->sink.mass_sink_seed * sun;
    law->seed_hole = p->sink.mass_smbh_seed * sun;
    law->holes = p->physics.smbh && p->sink.mass_smbh_seed > 0;
    law->cluster_max = p->sink.max_mass_nsc * sun;
    law->weigh_mass = strcmp(p->sink.agn_acc_method, "mass") == 0;
}

void sinks_law(const struct sink_run *s)
{
    struct sink_state *k = s->sinks;
    const struct param_sink *p = &s->par->sink;
    struct units u = s->units;
    struct sink_law *law = &k->law;
    sink_cloud_free(&law->cloud);
    *law = (struct sink_law){.gamma = s->hydro->gamma,
                             .smallr = s->hydro->smallr,
                             .smallc = s->hydro->smallc,
                             .nvar = s->hydro->nvar};
    law->G = s->cosmo ? 3. / 4 / RAMSES_TWOPI * s->cosmo->omega_m * s->aexp : 1;
    law->dx = mesh_dx(s->mesh, sink_level(s)) / s->aexp;
    sink_cloud_make(&law->cloud, p->ir_cloud, p->ir_cloud_massive, law->dx);
    accretion_law(s, &u, law);
    feedback_law(s, &u, law);
    if (k->kind) k->kind->law(s);
    double sun = RAMSES_MSUN / u.mass;
    k->direct = p->mass_sink_direct_force >= 0 ? p->mass_sink_direct_force * sun : -1;
    k->soft = (struct sink_softening){law->G, p->sink_soft * law->dx};
    k->merging = (struct sink_merging){.dx = law->dx,
                                       .cloud = law->cloud.radius,
                                       .G = law->G,
                                       .t = s->t,
                                       .young = fmax(p->merging_timescale, 0) * CGS_YEAR / u.time,
                                       .checked = p->mass_merger_vel_check * sun};
}

struct sink_state *sinks_new(const struct sink_kind *kind)
{
    struct sink_state *k = mem_zero(sizeof *k, "sinks");
    k->kind = kind;
    k->table.family = (int)(kind ? kind->family : SINK_RAMSES);
    log_info(" Sinks: %s", kind ? kind->name : "those of RAMSES (&SINK_PARAMS)");
    return k;
}

void sinks_end(struct sink_state **k)
{
    if (!*k) return;
    for (int l = 0; l < LEVEL_MAX + 2; l++) sink_round_close(&(*k)->round[l]);
    sink_cloud_free(&(*k)->law.cloud);
    sinks_free(&(*k)->table);
    FREE((*k)->own);
    FREE(*k);
}

/* ---- initial sinks ---- */

/* Checks that a cloud with all cells that it touches fits into half the box. */
static enum err check_size(const struct sink_run *s)
{
    sinks_law(s);
    double reach = sink_cloud_reach(&s->sinks->law.cloud, s->mesh, s->mesh->levelmin);
    if (2 * reach > s->mesh->boxlen)
        FAIL(ERR_PARAM,
             "ir_cloud=%d in &SINK_PARAMS: clouds of radius %g, with the cells around them, do not "
             "fit into half of the box of %g (code units): lower ir_cloud, or raise levelmin or "
             "levelmax",
             s->par->sink.ir_cloud, s->sinks->law.cloud.radius, s->mesh->boxlen);
    return OK;
}

/* Sends sinks to their owners, and decides which are direct. */
static void settle(const struct sink_run *s)
{
    int64_t lost;
    struct sink_state *k = s->sinks;
    sinks_settle(&k->table, s->mesh, s->comm, s->dom, &lost);
    if (lost) log_info(" %ld sinks have left the box through its boundaries", (long)lost);
    for (int64_t i = 0; i < k->table.n; i++)
        k->table.at[i].direct = k->direct >= 0 && k->table.at[i].m >= k->direct;
}

static enum err check_count(const struct sink_run *s, const char *from)
{
    int64_t n = s->sinks->table.total, max = s->par->amr.nsinkmax;
    if (n > max)
        FAIL(ERR_PARAM, "%s has %ld sinks, more than nsinkmax=%ld: raise nsinkmax in &SINK_PARAMS",
             from, (long)n, (long)max);
    return OK;
}

/* Finds a file in initfile(1) or in the working directory; false: it does not exist.
 * (collective) */
static bool find_file(const struct sink_run *s, const char *name, char path[600])
{
    int64_t found = 0;
    snprintf(path, 600, "%.512s/%s", s->par->init.initfile[0], name);
    if (s->comm->rank == 0) {
        found = s->par->init.initfile[0][0] && file_exists(path);
        if (!found) found = file_exists(name) ? 2 : 0;
    }
    comm_max_i64(s->comm, &found, 1);
    if (found == 2) snprintf(path, 600, "%s", name);
    return found != 0;
}

enum err sinks_initial(const struct sink_run *s)
{
    char path[600];
    int64_t n = 0;
    if (!s->sinks) return OK;
    TRY(check_size(s));
    if (!find_file(s, "ic_sink", path)) return OK;
    TRY(sinks_read_initial(&s->sinks->table, path, s->comm, s->mesh, s->t, &n));
    s->sinks->table.level = s->mesh->levelmin;
    log_info(" %ld sinks read from %s", (long)n, path);
    settle(s);
    return check_count(s, path);
}

/* ---- checkpoints ---- */

static void take_column(struct sink *a, const struct sink_column *c,
                        const struct catalog_column *from, int64_t i)
{
    char *at = (char *)a + c->offset;
    if (c->whole)
        *(int64_t *)at = from->whole ? from->whole[i] : (int64_t)from->real[i];
    else
        *(double *)at = from->real ? from->real[i] : (double)from->whole[i];
}

static enum err check_sink(const struct sink_run *s, const char *path, const struct sink *a)
{
    bool good = a->m > 0 && isfinite(a->m) && sink_reached(s->mesh, a->x);
    for (int d = 0; d < 3; d++) good &= isfinite(a->v[d]) != 0;
    if (!good)
        FAIL(ERR_FORMAT,
             "%s: sink %ld, of mass %g at %g %g %g, has no mass, lies outside of the box, or has a "
             "velocity that is not finite: see inspect",
             path, (long)a->id, a->m, a->x[0], a->x[1], a->x[2]);
    return OK;
}

static enum err take_row(const struct sink_run *s, const char *path, const struct catalog *t,
                         int64_t i)
{
    struct sinks *k = &s->sinks->table;
    struct sink *a = sinks_add(k, 1);
    a->id = catalog_find(t, "identity")->whole[i];
    for (int c = 0; c < sink_columns(); c++) {
        const struct sink_column *col = sink_column(c);
        const struct catalog_column *from = catalog_find(t, col->name);
        if (from && (col->family & k->family)) take_column(a, col, from, i);
    }
    if (a->level > k->level) k->level = (int)a->level;
    return check_sink(s, path, a);
}

enum err sinks_restore(const struct sink_run *s, const struct catalog *t, const char *path)
{
    enum err err = OK;
    char file[600];
    if (!s->sinks) return OK;
    TRY(check_size(s));
    if (find_file(s, "ic_sink_restart", file))
        FAIL(ERR_PARAM, "%s: no sinks are added at a restart: remove the file", file);
    struct sinks *k = &s->sinks->table;
    k->level = s->mesh->levelmin;
    if (t->n && (!catalog_find(t, "identity") || !catalog_find(t, "mass")))
        FAIL(ERR_FORMAT, "%s: its sinks have no ids or no masses", path);
    for (int64_t i = 0; i < t->n && err == OK; i++) {
        int64_t id = catalog_find(t, "identity")->whole[i];
        if (id > k->made) k->made = id;
        if (i % s->comm->size == s->comm->rank) err = take_row(s, path, t, i);
    }
    TRY(err_agree(s->comm, err));
    int64_t level = k->level;
    comm_max_i64(s->comm, &level, 1);
    k->level = (int)level;
    settle(s);
    log_info(" %ld sinks", (long)k->total);
    return check_count(s, path);
}

/* A row of the table in a message. */
struct row {
    int64_t id;
    double value[]; /* values by column; integers are exact */
};

static void put_row(const struct sink *a, struct row *r)
{
    r->id = a->id;
    for (int c = 0; c < sink_columns(); c++) {
        const char *at = (const char *)a + sink_column(c)->offset;
        r->value[c] = sink_column(c)->whole ? (double)*(const int64_t *)at : *(const double *)at;
    }
}

MEM_ORDER(row_order, struct row, id)

static enum err fill_catalog(const struct sink_run *s, struct catalog *t, const char *rows,
                             size_t row)
{
    struct catalog_column *col;
    TRY(catalog_add(t, "sinks", "identity", false, &col));
    for (int64_t i = 0; i < t->n; i++)
        col->whole[i] = ((const struct row *)(rows + row * (size_t)i))->id;
    for (int c = 0; c < sink_columns(); c++) {
        const struct sink_column *k = sink_column(c);
        if (!(k->family & s->sinks->table.family)) continue;
        TRY(catalog_add(t, "sinks", k->name, !k->whole, &col));
        for (int64_t i = 0; i < t->n; i++) {
            double x = ((const struct row *)(rows + row * (size_t)i))->value[c];
            if (k->whole)
                col->whole[i] = (int64_t)x;
            else
                col->real[i] = x;
        }
    }
    return OK;
}

enum err sinks_store(const struct sink_run *s, struct catalog *t)
{
    if (!s->sinks) return OK;
    const struct sinks *k = &s->sinks->table;
    size_t row = sizeof(struct row) + sizeof(double) * (size_t)sink_columns();
    char *rows = mem_new(row * (size_t)(k->total + k->n) + 1, "sinks");
    for (int64_t i = 0; i < k->n; i++) {
        k->at[i].level = k->level;
        put_row(&k->at[i], (struct row *)(rows + row * (size_t)i));
    }
    int64_t n = k->total ? comm_union(s->comm, k->n, k->total, row, rows, 0, NULL) : 0;
    mem_sort(rows, (size_t)n, row, row_order);
    catalog_free(t);
    *t = (struct catalog){.n = n, .from = "sinks"};
    enum err err = fill_catalog(s, t, rows, row);
    FREE(rows);
    return err;
}
