/* export/field: the fields of a checkpoint that are exported: by the names of maps (view/gas.h),
 * with units, a description, and the kind of their mean over several cells. */
#pragma once
#include "ckpt/source.h"
#include "part/family.h"
#include "view/gas.h"
#include "view/unit.h"

enum { EXPORT_FIELDS = 64 };

struct export_field {
    char name[48];
    int number;                /* as in view/gas.h; −1: the density of particles of `species` */
    enum part_species species; /* NONE: of cells */
    bool per_mass;             /* the mean of several cells is weighted by mass, not by volume */
    /* A number of the file times unit.worth is in units of unit.name. Radiation and other fields
     * without a physical unit: 1 and "code". */
    struct unit unit;
};

struct export_list {
    struct source *s; /* lent */
    struct gas gas;
    struct curl *curl;
    bool cells, parts; /* whether some are of cells, some of particles */
    int n;
    struct export_field field[EXPORT_FIELDS];
};

/* Finds the fields of a list of names with commas; NULL: the density, or the dark matter where
 * there is no gas. An unknown name is an error that lists those that are there. */
MUST_USE enum err export_find(struct export_list *l, struct source *s, const char *names);
/* All stored fields of cells, with the magnetic field at centres instead of those on faces. */
MUST_USE enum err export_find_stored(struct export_list *l, struct source *s);
/* Reads what computed fields need from a region, in units of the box. */
MUST_USE enum err export_prepare(struct export_list *l, const double lo[3], const double hi[3]);
void export_free(struct export_list *l);
/* A phrase for a field or column, by its name; "" if there is none. */
const char *export_description(const char *name);
/* Unit of a unit's name in SI, and its powers of length, mass, time, current, temperature, amount
 * and luminous intensity (openPMD's order). */
double export_si(const char *unit, double power[7]);
/* Whether field i begins a vector of ndim components p_x, p_y, … that follow one another; its name
 * without the component goes to name. */
bool export_is_vector(const struct export_list *l, int i, char name[48]);
