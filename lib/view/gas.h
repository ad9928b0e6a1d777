/* view/gas: the gas of a checkpoint: fields that are computed from the stored ones. */
#pragma once
#include "ckpt/magnetic.h"
#include "ckpt/source.h"
#include "curl/curl.h"
#include "phys/units.h"

/* Indices of fields, -1: missing; units of the checkpoint. */
struct gas {
    int density, pressure, metal;
    int photons, ngroups, of_group; /* the density of the first group; groups; values of each */
    double per_photon;              /* photons per cm³ in a unit of these densities */
    struct magnetic magnetic;
    const struct curl *curl; /* lent; for fields that need it */
    struct units units;
};

struct gas gas_of(const struct source *r);

/* Computed fields, numbered after the stored ones, as in the table of gas.c. Temperature, nH,
 * metallicity and densities of photons N1 … are in physical units, the others in code units. */
enum { GAS_LEVEL = CKPT_FIELDS, GAS_TEMPERATURE, GAS_HYDROGEN, GAS_METALS };
/* Names of the computed fields of this gas that are not stored; returns their number. */
enum { GAS_COMPUTED = 15 + PHOTON_GROUPS };
int gas_computed(const struct gas *g, const char *name[GAS_COMPUTED]);
/* Number of the field of this name, stored or computed; -1: there is none. */
int gas_field(const struct source *r, const struct gas *g, const char *name);
/* The error that there is no field of this name: it lists the names that there are, and `more`
 * other ones, and suggests one of similar spelling. */
MUST_USE enum err gas_unknown(const struct source *r, const struct gas *g, const char *name,
                              int more, const char *const *other);
/* Whether values of the field need the current in their region. */
bool gas_needs_curl(int field);
/* Value of a stored or computed field in cell c of oct i of a batch of SOURCE_STORED. */
double gas_value(const struct gas *g, int field, const struct source_octs *o, int c, int i);

/* Properties of cell c of oct i of a batch of SOURCE_STORED: T/μ in K; hydrogen nuclei per cm³;
 * metals in solar units (Z/0.02). */
double gas_T2(const struct gas *g, const struct source_octs *o, int c, int i);
double gas_hydrogen(const struct gas *g, const struct source_octs *o, int c, int i);
double gas_metals(const struct gas *g, const struct source_octs *o, int c, int i);
