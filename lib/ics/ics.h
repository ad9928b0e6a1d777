/* ics: initial conditions (docs/method/part.md, step.md): regions, GRAFIC2 files, particles in
 * text.
 *
 * The value of a cell or particle depends only on its position and the files, not on the ranks. */
#pragma once
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "io/grafic.h"
#include "oct/mesh.h"
#include "part/part.h"

struct ics_gas {
    int nvar; /* GAS_SCALARS and passive scalars */
    double gamma, smallr, smallc;
    double initial[NVAR_MAX]; /* cosmology: of scalars that no file gives, per mass */
    double T2_start;          /* T/mu of the initial gas in K; <= 0: adiabatic, 1.356e-2/a² */
};

/* ---- regions (&INIT_PARAMS region_type, x_center, …), code units ---- */

enum ics_shape { ICS_SQUARE, ICS_POINT };

struct ics_region {
    enum ics_shape shape;
    double center[3], length[3], exponent; /* x_center.., length_x.., exp_region */
    double d, v[3], p;                     /* d_region, u_region.., p_region */
    double var[NVAR_MAX]; /* var_region: passive scalars, [0..nvar-GAS_SCALARS-1] */
};

/* U of all octs of level l, ghosts included. Later regions win over (square) or add to (point)
 * earlier ones. Local. */
void ics_regions(struct mesh *m, int l, const struct ics_region *r, int nregion,
                 const struct ics_gas *g);

/* ---- GRAFIC2 files, a directory per level ---- */

struct ics_level {
    char *dir;               /* owned */
    const char *first;       /* the file that the header is of */
    struct grafic_head head; /* all files of the level agree with it */
    int64_t off[3];          /* low corner in cells of this level */
    double growth;           /* D(aexp)/D(astart) */
    double vfact;            /* km/s a comoving Mpc of displacement, at astart */
};

struct ics_grafic {
    bool cosmo;
    int levelmin, levelmax; /* levels that have files */
    struct ics_level lev[LEVEL_MAX + 2];
    double omega_b;       /* of the headers; NAN: they lack it */
    struct cosmo_par par; /* of the files: Ω's, h0, boxlen_ini, aexp_ini (where the run starts) */
};

/* Initial conditions that are to be read, and properties of the run that they are for. */
struct ics_set {
    int levelmin, nlev;
    const char *const *dir; /* dir[i] has level levelmin + i */
    bool cosmo;             /* false: files ic_d, ic_u, ic_v, ic_w, ic_p in code units, gas only */
    bool gas;
    double omega_b;     /* of the baryons, with gas */
    bool omega_b_given; /* by the user; else that of the headers counts where they have it */
    double aexp_ini;
};

/* Reads the headers of all files of all levels, and checks that the files of a level agree
 * (ics/files.h) and that the levels fit together. aexp_ini < 1: the run starts there, and
 * velocities, overdensities and displacements are scaled by the growing mode; else it starts at the
 * smallest astart. (RAMSES does not scale ic_posc* displacements.) Without gas no ic_deltab is
 * needed, and one level may have fewer cells than levelmin: particles on a finer base mesh;
 * g->levelmin is theirs. g is zeroed before, but for par.ramses, which is kept. (collective) */
MUST_USE enum err ics_grafic_open(struct ics_grafic *g, const struct ics_set *set,
                                  const struct comm *c);
void ics_grafic_close(struct ics_grafic *g);
bool ics_grafic_has(const struct ics_grafic *g, int l); /* level l has files */
/* gas mass of a cell of the finest level with files */
double ics_grafic_mass_sph(const struct ics_grafic *g);

/* U of own octs of level l from that level's files. Error if an own cell lies outside of them (as
 * in RAMSES). Each rank reads the rows that its cells touch, 32 MB (or two planes) at a time.
 * (collective) */
MUST_USE enum err ics_grafic_gas(const struct ics_grafic *g, struct mesh *m, const struct comm *c,
                                 int l, const struct ics_gas *gas);

/* map[i][c] = 1 where ic_refmap of level l is 1 (own octs). (collective) */
MUST_USE enum err ics_grafic_refmap(const struct ics_grafic *g, const struct mesh *m,
                                    const struct comm *c, int l, unsigned char (*map)[8]);

/* Appends one dark matter particle for each own leaf cell of the levels that have files, at its
 * displaced place; part_distribute must follow. Mass 2^-3l (1 - Ω_b/Ω_m), or from ic_massc. Ids
 * from ic_particle_ids, else 1 + place of the cell in the order level, z, y, x. Error if leaves
 * exist on finer levels. (collective) */
MUST_USE enum err ics_grafic_particles(const struct ics_grafic *g, const struct mesh *m,
                                       const struct comm *c, struct parts *p);

/* ---- particles in text (io/ascii_part) ---- */

/* Appends the particles of a file, coordinates counted from the centre of the box; ids 1.. in the
 * order of the lines. One beyond a boundary, or further than a box away on a periodic axis, is an
 * error that names its line. Each rank reads a part; part_distribute must follow. (collective) */
MUST_USE enum err ics_ascii_particles(const char *path, const struct mesh *m, const struct comm *c,
                                      struct parts *p);
