/* galaxy/dice: parameters, headers, the magnetic field, and the surrounding gas. */
#include "galaxy/dice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oct/gas_kern.h"

static const double MU = 1.2195; /* mean molecular weight that RAMSES multiplies energies by */

/* ---- parameters ---- */

/* Names of blocks have four letters; shorter ones end with blanks. */
static enum err take_name(struct dice *d, int k, const char *text, const char *parameter)
{
    if (strlen(text) > 4 || !*text)
        FAIL(ERR_PARAM, "dice_params/%s='%s': the names of blocks have four letters", parameter,
             text);
    snprintf(d->name[k], DICE_NAME, "%-4s", text);
    return OK;
}

static enum err take_names(struct dice *d)
{
    const struct param_dice *p = &d->par->dice;
    const struct {
        int column;
        const char *text, *parameter;
    } all[] = {{SNAP_COLUMNS, p->ic_head_name, "ic_head_name"},
               {SNAP_POSITION, p->ic_pos_name, "ic_pos_name"},
               {SNAP_VELOCITY, p->ic_vel_name, "ic_vel_name"},
               {SNAP_ID, p->ic_id_name, "ic_id_name"},
               {SNAP_MASS, p->ic_mass_name, "ic_mass_name"},
               {SNAP_ENERGY, p->ic_u_name, "ic_u_name"},
               {SNAP_METAL, p->ic_metal_name, "ic_metal_name"},
               {SNAP_BIRTH, p->ic_age_name, "ic_age_name"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        TRY(take_name(d, all[i].column, all[i].text, all[i].parameter));
        if (all[i].column == SNAP_COLUMNS)
            d->layout.head = d->name[SNAP_COLUMNS];
        else
            d->layout.label[all[i].column] = d->name[all[i].column];
    }
    return OK;
}

static enum err check_parameters(const struct params *par)
{
    const struct param_dice *p = &par->dice;
    if (!*p->ic_file || !*par->init.initfile[0])
        FAIL(ERR_PARAM, "filetype='dice' in &INIT_PARAMS needs initfile(1), a directory, and "
                        "ic_file in &DICE_PARAMS, a file in it");
    if (!*p->ic_format)
        FAIL(ERR_PARAM, "filetype='dice' in &INIT_PARAMS needs ic_format='Gadget1' or 'Gadget2' "
                        "in &DICE_PARAMS");
    if (par->run.cosmo)
        FAIL(ERR_PARAM, "filetype='dice' in &INIT_PARAMS is for runs with cosmo=.false.: "
                        "cosmological particles are read by filetype='gadget'");
    return OK;
}

static void take_units(struct dice *d)
{
    const struct param_dice *p = &d->par->dice;
    const double v = p->gadget_scale_v / d->units.velocity;
    d->length = p->gadget_scale_l / d->units.length * p->ic_scale_pos;
    d->speed = v * p->ic_scale_vel;
    d->mass = p->gadget_scale_m / d->units.mass * p->ic_scale_mass;
    d->energy = MU * (v * v) * p->ic_scale_u;
    d->time = p->gadget_scale_t / d->units.time * p->ic_scale_age;
}

/* ---- headers ---- */

bool dice_skips(const struct dice *d, int type)
{
    bool any = false;
    for (int i = 0; i < DICE_TYPES; i++) any |= d->par->dice.ic_skip_type[i] == type;
    return any;
}

void dice_path(const struct dice *d, int k, char path[600])
{
    const char *dir = d->par->init.initfile[0], *name = d->par->dice.ic_file;
    if (d->par->dice.ic_nfile == 1)
        snprintf(path, 600, "%.256s/%.256s", dir, name);
    else
        snprintf(path, 600, "%.256s/%.256s.%d", dir, name, k + 1);
}

/* Checks a file, and adds the number of its particles. */
static enum err add_file(struct dice *d, const char *path)
{
    struct snap s;
    bool energy = true;
    enum err err = snap_open_galaxies(path, &d->layout, &s);
    for (int t = 1; err == OK && t < DICE_TYPES; t++)
        if (!dice_skips(d, t)) d->kept += s.head.total[t];
    if (err == OK && s.head.total[0] && d->par->run.hydro && !dice_skips(d, 0))
        err = snap_has(&s, 0, SNAP_ENERGY, &energy);
    snap_close(&s);
    if (err == OK && !energy)
        FAIL(ERR_FORMAT,
             "%s: has particles of gas, but no block %s of their energies: see ic_u_name in "
             "&DICE_PARAMS",
             path, d->layout.label[SNAP_ENERGY]);
    return err;
}

enum err dice_open(struct dice *d, const struct params *par, const struct units *u, bool metal)
{
    char path[600];
    *d = (struct dice){.par = par, .units = *u, .metal = metal};
    part_init(&d->gas);
    TRY(check_parameters(par));
    TRY(take_names(d));
    d->layout.format = strcmp(par->dice.ic_format, "Gadget2") == 0 ? 2 : 1;
    take_units(d);
    for (int k = 0; k < par->dice.ic_nfile; k++) {
        dice_path(d, k, path);
        TRY(add_file(d, path));
    }
    return OK;
}

void dice_close(struct dice *d)
{
    part_fini(&d->gas);
}

/* ---- magnetic field ---- */

/* The potential of a toroidal field, along the axis of the galaxy: B0 R exp(-r/R - |h|/H). */
static void add_toroidal(const struct params *par, int k, const double x[3], double A[3])
{
    const struct param_dice *p = &par->dice;
    const double center[3] = {p->ic_mag_center_x[k], p->ic_mag_center_y[k], p->ic_mag_center_z[k]},
                 given[3] = {p->ic_mag_axis_x[k], p->ic_mag_axis_y[k], p->ic_mag_axis_z[k]};
    const double norm = sqrt(given[0] * given[0] + given[1] * given[1] + given[2] * given[2]);
    double from[3], h = 0, r2 = 0;
    for (int d = 0; d < 3; d++) {
        from[d] = x[d] - (center[d] + par->amr.boxlen / 2);
        h += from[d] * given[d] / norm;
    }
    for (int d = 0; d < 3; d++) {
        const double flat = from[d] - h * given[d] / norm;
        r2 += flat * flat;
    }
    const double a = p->ic_mag_scale_b[k] * p->ic_mag_scale_r[k] *
                     exp(-sqrt(r2) / p->ic_mag_scale_r[k] - fabs(h) / p->ic_mag_scale_h[k]);
    for (int d = 0; d < 3; d++) A[d] += a * given[d] / norm;
}

void dice_potential(const struct params *par, const double x[3], double A[3])
{
    A[0] = A[1] = A[2] = 0;
    for (int k = 0; k < 32; k++)
        if (par->dice.ic_mag_scale_b[k] != 0) add_toroidal(par, k, x, A);
}

/* ---- cells ---- */

/* Surrounds the gas of a cell that the particles leave too empty. */
static void fill_cell(const struct dice *d, const struct level *lv, const struct dice_cells *q,
                      lidx i, int c)
{
    const struct param_dice *p = &d->par->dice;
    const double least = p->ig_rho / d->units.hydrogen, rho = fmax(least, q->smallr),
                 has = level_gas(lv, GAS_DENSITY)[i][c];
    if (has >= least && has > 0) return;
    for (int v = 0; v < q->nvar; v++) level_gas(lv, v)[i][c] = 0;
    level_gas(lv, GAS_DENSITY)[i][c] = rho;
    level_gas(lv, GAS_ENERGY)[i][c] = gas_internal_of(p->ig_t2 / d->units.temperature * rho,
                                                      q->gamma);
    if (q->metal >= 0) level_gas(lv, q->metal)[i][c] = rho * p->ig_metal;
}

/* Sets the mark where the variable ic_mask_ivar lies in the given range; the energy is internal. */
static void mark_cell(const struct dice *d, const struct level *lv, const struct dice_cells *q,
                      lidx i, int c)
{
    const struct param_dice *p = &d->par->dice;
    const int v = p->ic_mask_ivar - 1;
    if (v < 0 || v >= q->nvar || q->mark < 0) return;
    const double rho = level_gas(lv, GAS_DENSITY)[i][c];
    double x = level_gas(lv, v)[i][c];
    if (v == GAS_ENERGY) x *= d->units.temperature * gas_gm1(q->gamma);
    if (v != GAS_DENSITY) x /= rho;
    if (x >= p->ic_mask_min && x <= p->ic_mask_max) level_gas(lv, q->mark)[i][c] = rho;
}

static void end_cell(const struct dice *d, const struct level *lv, const struct dice_cells *q,
                     lidx i, int c)
{
    fill_cell(d, lv, q, i, c);
    mark_cell(d, lv, q, i, c);
    level_gas(lv, GAS_ENERGY)[i][c] += gas_kinetic(level_gas(lv, 0)[i][c], level_gas(lv, 1)[i][c],
                                                   level_gas(lv, 2)[i][c], level_gas(lv, 3)[i][c]);
}

enum err dice_gas(struct dice *d, struct mesh *m, const struct comm *c, const struct domain *dom,
                  const struct dice_cells *q)
{
    if (!d->read) TRY(err_agree(c, dice_read_gas(d, m, c)));
    d->read = true;
    TRY(dice_spread(d, m, c, dom, q));
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        const struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) end_cell(d, lv, q, i, k);
    }
    return OK;
}
