#ifdef PTAH_HDF5
#include "curamses/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char ABOUT[] =
    "Checkpoint of Ptah, a simulation on an adaptive octree. amr/level_L has the octs of a level: "
    "xg_D their centres; son_flag 1 where a cell is split. Datasets of cells have 2^ndim values an "
    "oct: cell c of oct i is number 2^ndim*i + c, and bit d of c is set in the upper half along "
    "axis d. hydro has the conserved variables of the gas. A cell of level L is boxlen/2^L wide. A "
    "number times the attribute code_unit is in the units of the attribute units.";

/* A dataset: a pattern of its path, in which # is a number; powers of the units of density, length
 * and time. */
struct row {
    const char *path, *text, *unit;
    double power[3];
};
static const struct row ROWS[] = {
    {"amr/level_#/xg_#", "centres of the octs, in boxes", "", {0}},
    {"amr/level_#/son_flag", "1: the cell is split", "", {0}},
    {"amr/level_#/cpu_map", "rank of the cell, from 1", "", {0}},
    {"ptah/amr/level_#/flag", "bit c: cell c is to be split", "", {0}},
    {"gravity/level_#/phi", "gravitational potential over boxlen", "cm^2/s^2", {0, 2, -2}},
    {"gravity/level_#/f_#", "gravitational acceleration", "cm/s^2", {0, 1, -2}},
    {"ptah/gravity/level_#/rho", "density of all matter", "g/cm^3", {1, 0, 0}},
    {"ptah/gas/level_#/B_#", "magnetic field on faces, over sqrt(4 pi)", "G", {0.5, 1, -1}},
    {"ptah/radiation/level_#/photon_#_0", "density of photons, in unit_np", "", {0}},
    {"particles/x_#", "position of the particle", "cm", {0, 1, 0}},
    {"particles/v_#", "velocity of the particle", "cm/s", {0, 1, -1}},
    {"particles/mass", "mass of the particle", "g", {1, 3, 0}},
    {"particles/identity", "identity of the particle", "", {0}},
    {"particles/levelp", "level of its last kick", "", {0}},
    {"particles/birth_epoch", "time of birth; 0: no star", "", {0}},
    {"particles/metallicity", "mass fraction of metals", "", {0}},
    {"ptah/particles/family", "1: dark matter, 2: star, 0 and less: tracers", "", {0}},
    {"ptah/particles/tag", "tag", "", {0}},
    {"ptah/particles/potential", "gravitational potential", "", {0}},
};

static bool matches(const char *pattern, const char *path)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*pattern != *path++) return false;
            continue;
        }
        const size_t k = strspn(path, "0123456789");
        if (k == 0) return false;
        path += k;
    }
    return *path == 0;
}

/* The conserved variable uold_N, from 1, of a run; those of another code have meanings of their
 * own. */
static bool gas_row(const struct hdf5_out *w, const char *path, struct row *r)
{
    static const char *const MOMENTUM[] = {"momentum density along x", "momentum density along y",
                                           "momentum density along z"};
    const char *end = strrchr(path, '_');
    int n = 0;
    if (!matches("hydro/level_#/uold_#", path) || sscanf(end, "_%d", &n) != 1) return false;
    const int velocities = gas_velocities(w->o.h->ndim, w->o.h->magnetic);
    *r = (struct row){path, "variable of the gas as its code stores it", "", {0}};
    if (w->o.stored) return true;
    if (n == 1)
        *r = (struct row){path, "mass density of the gas", "g/cm^3", {1, 0, 0}};
    else if (n <= 1 + velocities)
        *r = (struct row){path, MOMENTUM[n - 2], "g/cm^2/s", {1, 1, -1}};
    else if (n == 2 + velocities)
        *r = (struct row){path, "density of the total energy of the gas", "erg/cm^3", {1, 2, -2}};
    else
        r->text = "density of a scalar of the gas, or a non-thermal energy";
    return true;
}

static bool find_row(const struct hdf5_out *w, const char *path, struct row *r)
{
    if (gas_row(w, path, r)) return true;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (matches(ROWS[i].path, path)) {
            *r = ROWS[i];
            return true;
        }
    return false;
}

void hdf5_describe(struct hdf5_file *f, const struct hdf5_out *w)
{
    static const double GAUSS = 0.28209479177387814; /* 1/sqrt(4 pi) */
    const struct ckpt_head *h = w->o.h;
    hdf5_word(f, "/", "description", ABOUT);
    for (int i = 0; i < f->nset && f->err == OK; i++) {
        struct row r;
        if (!find_row(w, f->set[i].path, &r)) continue;
        hdf5_word(f, f->set[i].path, "description", r.text);
        if (!*r.unit) continue;
        double worth = pow(h->unit_d, r.power[0]) * pow(h->unit_l, r.power[1]) *
                       pow(h->unit_t, r.power[2]);
        if (strcmp(r.unit, "G") == 0) worth /= GAUSS;
        hdf5_word(f, f->set[i].path, "units", r.unit);
        hdf5_scalar(f, f->set[i].path, "code_unit", 'd', &worth);
    }
}
#endif
