/* ics: initial conditions (docs/method/part.md, step.md): regions, GRAFIC2 files, particles in text
 * files.
 *
 * The value of a cell or particle depends only on its position and the files, not on the ranks. */
#pragma once
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "io/grafic.h"
#include "oct/mesh.h"
#include "part/part.h"

struct ics_gas {
    int nvar; /* number of variables: GAS_SCALARS and passive scalars */
    struct gas_energies energy;
    double gamma, smallr, smallc;
    double initial[NVAR_MAX]; /* values per mass of scalars without a file (cosmology) */
    bool magnetic;            /* the mesh has a magnetic field */
    double b_ave;    /* field along z without ic_bzleft (cosmology), divided by sqrt(4 pi) */
    double T2_start; /* T/mu of the initial gas in K; <= 0: adiabatic, 1.356e-2/a² */
};

/* ---- regions (&INIT_PARAMS region_type, x_center, …), code units ---- */

enum ics_shape { ICS_SQUARE, ICS_POINT };

struct ics_region {
    enum ics_shape shape;
    double center[3], length[3], exponent; /* x_center.., length_x.., exp_region */
    double d, v[3], p;                     /* d_region, u_region.., p_region */
    double b[3]; /* A_region..: magnetic field / sqrt(4 pi) of square regions, with mesh.magnetic */
    /* prad_region, then var_region: non-thermal pressures and passive scalars,
     * [0..nvar-GAS_SCALARS-1] */
    double var[NVAR_MAX];
};

/* Sets U, and the magnetic field, of all octs of level l, ghosts included. Square regions replace
 * the values of earlier regions, point regions add to them, but have no field. The field of a face
 * is that of the cell above it, where there is one. Local. */
void ics_regions(struct mesh *m, int l, const struct ics_region *r, int nregion,
                 const struct ics_gas *g);
/* Sets q to the state of all regions in a cell of level l with its centre at x (0 along missing
 * axes): density, velocities, pressure, scalars per mass. */
void ics_region_cell(const struct mesh *m, int l, const struct ics_region *r, int nregion,
                     const struct ics_gas *g, const double x[3], double *q);
/* The conserved variables, without the energy of a magnetic field. */
void ics_conserved(const struct ics_gas *g, const double *q, double *u);

/* ---- GRAFIC2 files, a directory per level ---- */

struct ics_level {
    char *dir;               /* path of the directory (owner: this struct) */
    const char *first;       /* name of the file whose header was read */
    struct grafic_head head; /* header common to all files of the level */
    int64_t off[3];          /* low corner in cells of this level */
    double growth;           /* D(aexp)/D(astart) */
    double vfact;            /* velocity in km/s per comoving Mpc of displacement, at astart */
};

struct ics_grafic {
    bool cosmo;
    int levelmin, levelmax; /* range of levels with files */
    struct ics_level lev[LEVEL_MAX + 2];
    double omega_b; /* Omega_b of the headers; NAN: not in the headers */
    /* cosmology of the files: Ω's, h0, boxlen_ini, aexp_ini (start of the run) */
    struct cosmo_par par;
};

/* Initial conditions to be read, and the properties of the run that they are for. */
struct ics_set {
    int levelmin, nlev;
    const char *const *dir; /* [nlev] directories; dir[i] has level levelmin + i */
    /* false: files ic_d, ic_u, ic_v, ic_w, ic_p, ic_bxleft, ic_bxright … in code units, gas only */
    bool cosmo;
    bool gas;
    double omega_b;     /* Omega_b of the run, with gas */
    bool omega_b_given; /* Omega_b is set by the user; otherwise the headers decide */
    double aexp_ini;
};

/* Reads the headers of all files of all levels, and checks that the files of a level agree
 * (ics/files.h) and that the levels fit together. If aexp_ini < 1 the run starts there, and
 * velocities, overdensities and displacements are scaled by the growing mode; otherwise the run
 * starts at the smallest astart. (RAMSES does not scale ic_posc* displacements.) Without gas no
 * ic_deltab is needed, and a single level may have fewer cells than levelmin: particles on a finer
 * base mesh; g->levelmin is then the level of the files. g is zeroed first, except for par.ramses.
 * (collective) */
MUST_USE enum err ics_grafic_open(struct ics_grafic *g, const struct ics_set *set,
                                  const struct comm *c);
void ics_grafic_close(struct ics_grafic *g);
bool ics_grafic_has(const struct ics_grafic *g, int l); /* whether level l has files */
/* Gas mass of a cell of the finest level with files. */
double ics_grafic_mass_sph(const struct ics_grafic *g);

/* Sets U of own octs of level l from that level's files, and with a magnetic field the numbers of
 * their faces, each from the files of its own cell: ics_grafic_faces must follow. Error if an own
 * cell lies outside of them (as in RAMSES). Each rank reads the rows that its cells touch, 32 MB
 * (or two planes) at a time. (collective) */
MUST_USE enum err ics_grafic_gas(const struct ics_grafic *g, struct mesh *m, const struct comm *c,
                                 int l, const struct ics_gas *gas);

/* Gives the cells of own octs of level l one field for each of their faces, after ics_grafic_gas
 * and an exchange of ghosts: that of the cell above it, where there is one on the level. The
 * internal energy does not change. max: raised to the largest difference of the files of both
 * cells, and to the strongest component. Local. */
void ics_grafic_faces(struct mesh *m, int l, double max[2]);

/* Sets map[i][c] = 1 for own octs where ic_refmap of level l is 1. (collective) */
MUST_USE enum err ics_grafic_refmap(const struct ics_grafic *g, const struct mesh *m,
                                    const struct comm *c, int l, unsigned char (*map)[8]);

/* Appends one dark matter particle for each own leaf cell of the levels that have files, at its
 * displaced position; part_distribute must follow. Mass 2^-3l (1 - Ω_b/Ω_m), or from ic_massc. Ids
 * from ic_particle_ids, or else 1 + the index of the cell in the order level, z, y, x. Error if
 * leaves exist on finer levels. (collective) */
MUST_USE enum err ics_grafic_particles(const struct ics_grafic *g, const struct mesh *m,
                                       const struct comm *c, struct parts *p);

/* ---- particles in text files (io/ascii_part) ---- */

/* Appends the particles of a file, whose coordinates are relative to the centre of the box; ids 1..
 * in the order of the lines. A particle beyond a boundary, or more than a box length away on a
 * periodic axis, is an error that names its line. Each rank reads a part of the file;
 * part_distribute must follow. (collective) */
MUST_USE enum err ics_ascii_particles(const char *path, const struct mesh *m, const struct comm *c,
                                      struct parts *p);
