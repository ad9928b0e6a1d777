/* oct/fields: the table of fields (fields.def), sets of fields of a level, and the validity of
 * ghosts.
 *
 * level.valid states for each field of a level whether its ghosts hold the values of their owners:
 * an exchange (dom/ghost) makes them valid, a new list of octs makes them stale, and so does a
 * phase that writes own cells (sim/phase). The refinement flags count as a field of their own. */
#pragma once
#include <assert.h>

#include "oct/mesh.h"

/* ---- the table ---- */

enum field_centre { FIELD_CELL, FIELD_FACE, FIELD_EDGE };
enum field_prolong { PROLONG_COPY, PROLONG_LINEAR, PROLONG_GAS };
enum field_restrict { RESTRICT_NONE, RESTRICT_MEAN, RESTRICT_GROUPS, RESTRICT_GAS };
enum field_file { FILE_NONE, FILE_DERIVED, FILE_GAS, FILE_HYDRO, FILE_GRAVITY, FILE_RADIATION };

struct field_row {
    int first,
        n; /* fields first … first + n − 1; n = NVAR_MAX for the gas, NPHOTON_MAX for photons */
    enum field_centre centre;
    enum field_prolong prolong;
    enum field_restrict restrict_by;
    enum field_file file;
    const char *words, *name, *dataset;
};

enum {
#define ROW(symbol, ...) ROW_##symbol,
#include "oct/fields.def"
    FIELD_ROWS,
};

extern const struct field_row field_rows[FIELD_ROWS];
const struct field_row *field_row_of(int f);
/* All fields with ghosts: fields of the table and the flags. field_array returns the array of a
 * field (NULL: none) and the bytes of an oct in it. */
enum { FIELD_ALL = FLD_FLAG + 1 };
const char *field_array(const struct level *lv, int f, size_t *row);
/* Number of values of a row that the mesh has. */
int field_row_count(const struct mesh *m, const struct field_row *r);
/* The axis of a component of a vector or flux, on faces the one across; −1: none. */
int field_axis(int f);
/* Position of a value in its cell: on the side `side` (a bit per axis) along the axes `fixed`. */
struct field_place {
    int fixed, side;
};
struct field_place field_place(int f);
enum { FIELD_NAME = 48 };
void field_name(int f, char name[FIELD_NAME]);
void field_dataset(int f, char form[FIELD_NAME]); /* form: contains %d for the level */

/* Prolongs field f to a new oct in cell `cell` of oct i; where its row says GAS, with the value of
 * the cell. */
void field_prolong(const struct level *lv, int f, lidx i, int cell, double out[8]);
/* Restricts all fields of rows MEAN, or the photons: split own cells of level l get the mean of the
 * finer level. */
void fields_restrict(struct mesh *m, int l);
void photons_restrict(struct mesh *m, int l);

/* ---- sets ---- */

enum field_bit {
#define ROW(symbol, ...) BIT_##symbol,
#define SET(symbol, words) BIT_##symbol,
#include "oct/fields.def"
    FIELD_BITS
};
static_assert(FIELD_BITS < 32 && sizeof(field_set) * 8 >= 4 * 32, "a level has a bit for each");

enum {
#define ROW(symbol, ...) SET_##symbol = 1 << BIT_##symbol,
#define SET(symbol, words) SET_##symbol = 1 << BIT_##symbol,
#include "oct/fields.def"
    SET_GHOSTED = 2 * SET_FLAG - 1, /* sets of higher bits have no ghosts */
    SET_RESTRICTED = 0
#define ROW(symbol, n, centre, when, prolong, restricts, ...)                                      \
    +(RESTRICT_##restricts == RESTRICT_MEAN ? SET_##symbol : 0)
#include "oct/fields.def"
};

bool field_in(field_set set, int f); /* f: of FIELD_ALL */
/* The fields of the set that the mesh has, ascending, without the flags; returns their number. */
int mesh_fields(const struct mesh *m, field_set set, int f[FIELD_ALL]);
/* The number of fields of a bit that the mesh has, *first and up (the flags: FLD_FLAG). */
int field_bit(const struct mesh *m, int bit, int *first);
const char *field_set_name(field_set one);

/* ---- in checkpoints ---- */

/* The rows that a run writes in addition to the variables of the gas. */
field_set fields_written(struct mesh_kind k);
/* The rows that n values in gravity files are; 0: no code writes n. These files have no list of
 * names. RAMSES stores the force, potential and force, or the density before them. `own` are the
 * rows that this code wrote if these are its files, else 0: so five values are no riddle. */
field_set fields_of_gravity(int n, int ndim, field_set own);
/* The rows of a checkpoint with these that are the state of a run: potential and force of all that
 * have gravity. */
field_set fields_state(field_set rows, int gravity);
/* Files have vectors of as many components as the run has dimensions, memory has three: whether a
 * field is in files of ndim dimensions with the rows of the set. Faces and edges are there in all
 * dimensions, and so are the velocities of a gas with a magnetic field. */
bool field_in_file(field_set set, int f, int ndim);
/* Number of values of rows of the set in the files of gas (FILE_HYDRO) or of gravity; ndim 3: in
 * memory. Those of photons: of nphoton values in memory. */
int fields_count(field_set set, enum field_file file, int ndim);
int photons_count(int nphoton, int ndim);
/* The group of a field of photons, from 0; −1: of another field. */
int photons_group(int f);
/* The field of value v of a checkpoint with nvar variables of the gas and the rows of the set: the
 * variables, further fields in the same files, then the fields of gravity, then photons, as many as
 * there are; −1: there is none.
 * ndim 3: of a state in memory. */
int field_stored(field_set set, int nvar, int v, int ndim);
/* The number of the first of six values of the magnetic field among these; −1: there is none. */
int fields_faces(field_set set, int nvar);
/* Column of value v in RAMSES's files of the gas, where the field of lower faces, then that of
 * upper faces, then non-thermal pressures come before the pressure. */
struct gas_order {
    int nvar;     /* variables of the gas that these files have */
    int pressure; /* number of the pressure among these */
    int nener;    /* number of non-thermal pressures, which follow it */
};
int fields_column(field_set set, struct gas_order g, int v);
/* The row of the field of this name that is in files of the gas, but not one of its variables; 0:
 * none. */
field_set field_beside_gas(const char *name);

/* ---- ghosts ---- */

/* Ghosts of the fields of the set, as far as they exist, are valid or not. */
void ghosts_set(struct mesh *m, int l, field_set set, bool valid);
bool ghosts_valid(const struct mesh *m, int l, field_set set);
/* The fields whose ghosts are valid. */
field_set ghosts_all_valid(const struct mesh *m, int l);
