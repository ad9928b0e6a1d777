/* param/param: all parameters of a run, from a RAMSES namelist and from group/name=value on the
 * command line.
 *
 * Each parameter is a row of params.def, from which follow the members of struct params, the
 * reader, the checks, the listing of `simulate -p` and the record in checkpoints. Members have the
 * namelist's names in lower case, grouped in the same way: par.run.nsubcycle[0] is nsubcycle(1) of
 * &RUN_PARAMS. (`static` is par.run.static_.) Element 0 of an array is the namelist's element 1; in
 * a level-wise array it belongs to level levelmin.
 *
 * A name that RAMSES or cuRAMSES knows is never "unknown", and never silently ignored: see enum
 * param_status. Order of calls: param_read_text, any number of param_set, then param_check once.
 * All functions are local: with many ranks, let one read and broadcast the text or the struct,
 * which is plain memory, and large: keep it on the heap. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum {
    PARAM_LEVELS = 100,             /* elements of level-wise arrays (RAMSES's MAXLEVEL) */
    PARAM_REGIONS = 100,            /* initial regions */
    PARAM_EXPRESSIONS = 64,         /* formulas of init_expr */
    PARAM_BOUNDS = 100,             /* boundary regions */
    PARAM_OUTPUTS = 1000,           /* output times */
    PARAM_GAS = 5,                  /* variables of a gas without passive scalars */
    PARAM_SCALARS = 64 - PARAM_GAS, /* passive scalars: at most 64 conserved variables in total */
    PARAM_ENERGIES = 8,             /* non-thermal energies of a gas, GAS_ENERGIES (oct/gas.h) */
    PARAM_PHOTONS = 16,             /* elements of arrays over groups of photons */
    PARAM_GROUPS = 8,               /* groups of photons, RT_GROUPS (rt/rt.h) */
    PARAM_FFT_LEVEL = 6, /* default lowest level that Fourier transforms solve without use_fftw */
#ifdef PTAH_MORTON128
    PARAM_LEVEL_LIMIT = 42 /* OKEY_LEVELS (oct/okey.h) */
#else
    PARAM_LEVEL_LIMIT = 21
#endif
};

typedef char param_string[256];

/* Number of rows. */
enum {
    PARAM_ROWS = 0
#define ROW(...) +1
#define ALIAS(...)
#define GROUP(...)
#define ENDGROUP(...)
#include "param/params.def"
};

struct params {
#define ROW(type, kind, group, member, name, dims, ...) type member dims;
#define ALIAS(...)
#define GROUP(group, ...) struct param_##group {
#define ENDGROUP(group)                                                                            \
    }                                                                                              \
    group;
#include "param/params.def"

    /* By row: whether the user set it and it is in force; highest index set. Read by param_given.
     */
    unsigned char given[PARAM_ROWS];
    int count[PARAM_ROWS];
    /* Lines of the namelist that set all of a row: the last, an earlier one; 0: none. */
    int line[PARAM_ROWS], twice[PARAM_ROWS];
    /* By row: 1 + index of the group (an alias) in which the user set it; 0: its own group. */
    unsigned char alias[PARAM_ROWS];
    bool resumes; /* the run begins with a checkpoint; set by the program */
};

void param_init(struct params *p); /* sets all defaults */
/* Sets defaults, then reads the text of a namelist. Errors give file, line, group, name and the
 * allowed values; `file` is used in messages only. */
MUST_USE enum err param_read_text(struct params *p, const char *text, size_t bytes,
                                  const char *file);
/* Reads parameters of another program or another version: unknown settings are skipped and counted,
 * and values are accepted whether supported or not. For comparison, not for running. */
MUST_USE enum err param_read_loose(struct params *p, const char *text, size_t bytes,
                                   const char *file, int *left_out);
/* Names for nml_parse. */
struct nml_names;
extern const struct nml_names param_names;
/* Prints doubtful text of the namelist, such as assignments outside of groups, one per line; takes
 * the arguments of param_read_text. Returns the number of lines. */
int param_remarks(const char *text, size_t bytes, const char *file, FILE *out);
/* Applies one `group/name=value`, with or without `_params`; the group may be omitted if only one
 * group has the name. The value is written as in a namelist; texts need no quotes. Later settings
 * override earlier ones. */
MUST_USE enum err param_set(struct params *p, const char *assignment);
/* Completes and checks all parameters. As in RAMSES, &HYDRO_PARAMS has no effect without hydro and
 * &REFINE_PARAMS none with levelmax = levelmin (their values return to the defaults), omega_b is 0
 * without hydro, and noutput = 0 stands for the number of listed outputs. */
MUST_USE enum err param_check(struct params *p);
/* Sets what variables of RAMSES's Makefile say ("NDIM=2 SOLVER=hydro NPSCAL=1"): dimensions,
 * magnetic field and passive scalars. A variable that would make another problem of the run, or
 * contradicts the namelist, is an error; variables without effect are printed to out, if it is not
 * NULL. Call it between param_read_text and param_set. */
MUST_USE enum err param_build(struct params *p, const char *text, FILE *out);
/* Refuses PATCH of the same text unless the run resumes (restart), or the parameters name the
 * initial state; the state of a patch of RAMSES itself becomes condinit_kind. out: as above. Call
 * it after all param_set, before param_check. */
MUST_USE enum err param_patch(struct params *p, const char *text, bool restart, FILE *out);
/* Refuses what does not exist in the dimensions of the run; after param_check, when run.ndim is
 * known: a restart has it from its checkpoint. */
MUST_USE enum err param_check_dims(const struct params *p);
/* Refuses what does not exist with a magnetic field, or without one; when run.ndim and run.mhd are
 * known: a restart has them from its checkpoint. */
MUST_USE enum err param_check_mhd(const struct params *p);
/* Prints a line of the log if regions look like those of a run in fewer dimensions, and the user
 * has not set ndim. For runs that start. Returns the number of lines. */
int param_hint_dims(const struct params *p, FILE *out);
/* Checks only the parameters that clumpfind=.true. needs. */
MUST_USE enum err param_check_clumps(const struct params *p);
/* Checks the parameters that sink=.true. needs. */
MUST_USE enum err param_check_sinks(const struct params *p);
/* Whether sinks follow RAMSES, by &SINK_PARAMS; otherwise Horizon-AGN. */
bool param_sinks_ramses(const struct params *p);
/* Whether sinks have stellar objects. */
bool param_stellar(const struct params *p);
/* Whether sinks form in clumps. */
bool param_creates_sinks(const struct params *p);
/* Whether the temperature of the gas follows from its density alone: barotropic_eos, or isothermal,
 * its old name. The form is barotropic_eos_form for both. */
bool param_barotropic(const struct params *p);
/* Whether run_params/solver has this value. */
bool param_solver_is(const struct params *p, const char *name);
/* Whether the gas of solver='stencil' has this force. */
bool param_stencil_forced(const struct params *p, const char *forcing);
/* Gravity that the run asks for, by names of before and after 2026. */
struct param_gravity {
    bool self;          /* the field of matter is solved for */
    int density, force; /* types of the analytic density and acceleration; 0: none */
    const double *density_params, *force_params;
};
struct param_gravity param_gravity(const struct params *p);
/* Entries of tout and aout that count: a larger noutput has no effect, as in RAMSES of 2026. */
int param_outputs(const struct params *p);
bool param_solves_gravity(const struct params *p); /* whether Poisson's equation is solved */
/* &TURB_PARAMS of an octree run: turbulence is wanted; it is driven, and its field changes; the
 * initial state has turbulent velocities. */
bool param_turb(const struct params *p);
bool param_turb_drives(const struct params *p);
bool param_turb_evolves(const struct params *p);
bool param_turb_starts(const struct params *p);
/* Whether stars form. */
bool param_stars(const struct params *p);
/* Radiation: whether photons exist, and how many groups; whether the gas has fractions of ions,
 * whether those of helium are among them, and how many. */
bool param_radiates(const struct params *p);
int param_photon_groups(const struct params *p);
bool param_chemistry(const struct params *p);
bool param_helium(const struct params *p);
int param_ions(const struct params *p);
/* Bounds of a group of photons, from 0, in eV; upper 0: none. */
void param_group_bounds(const struct params *p, int i, double *lower, double *upper);
/* Checks &RT_PARAMS and &RT_GROUPS. */
MUST_USE enum err param_check_rt(const struct params *p);
/* Whether light cone 1 or 2 sees a part of the box (cuRAMSES); without both there is RAMSES's. */
bool param_cone_box(const struct params *p, int cone);
/* Whether light cones need the positions of particles at the beginning of a coarse step. */
bool param_cone_crossing(const struct params *p);
bool param_cone_sinks(const struct params *p);
/* Whether supernovae release their energy through debris particles and blast waves. */
bool param_debris(const struct params *p);
/* Whether supernovae inject momentum into all surrounding gas. */
bool param_momentum(const struct params *p);
/* Whether stars return mass by a table of yields. */
bool param_yields(const struct params *p);

/* Whether the user set a parameter, and it is in force. group: as in struct params; the name must
 * exist. */
bool param_given(const struct params *p, const char *group, const char *name);
/* Highest index set (of 2-D arrays the highest second index), 0: none. */
int param_given_count(const struct params *p, const char *group, const char *name);

/* prints type, default, range, status and help of all parameters (simulate -p) */
void param_list(FILE *out);
/* Namelist of all given parameters, including parameters of the command line. (owner: caller,
 * mem_free) */
char *param_namelist(const struct params *p);

/* A parameter that a restart changes; for an array, the first element that differs. Elements of
 * levels and regions that do not exist do not count, nor do names without effect, paths, and groups
 * that either run does not read. */
struct param_change {
    char name[64]; /* group_params/name(i) */
    const char *was, *is;
    bool model; /* whether it belongs to the model; otherwise it may change freely */
};
typedef void param_change_fn(void *ctx, const struct param_change *c);
void param_compare(const struct params *was, const struct params *is, param_change_fn *fn,
                   void *ctx);
/* Prints names that were given but have no effect in a run on `ranks` ranks, a line for each
 * reason, duplicates, and likely mistakes; a line of the log each, with a leading blank. Returns
 * the number of lines. Must follow param_check. */
int param_unused(const struct params *p, int ranks, FILE *out);
/* Prints a line of the log with the settings in force that differ from the defaults and affect
 * speed, memory or checks, but no result; nothing if there are none. Returns their number. */
int param_settings(const struct params *p, int ranks, FILE *out);
