/* ckpt: the contents of a checkpoint header, independent of the format. */
#pragma once
#include "ckpt/boundary.h"
#include "ckpt/files.h"
#include "ckpt/rest.h"
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "oct/mesh.h"
#include "part/part.h"

/* Older layouts of RAMSES binary files. Before 2017 particles have no family and tag, and
 * descriptors are prose; before 2015 forces come without potential. */
enum { CKPT_BEFORE_2017 = 1, CKPT_BEFORE_2015 = 2 };

/* A text file that this rank adds to the checkpoint. */
struct ckpt_file {
    enum files_kind kind;
    char *text;
    size_t bytes;
};

/* Numbers of clumps of particles of this rank, by id; other particles are in none. */
struct ckpt_tags {
    int64_t n;
    int64_t *id, *clump; /* [n] */
};

/* Radiation of a checkpoint. Cross sections in cm² of each group, mean over photons (csn) and over
 * their energy (cse), for H2, HI, HeI, HeII; energies in eV; l1 = 0: no upper bound. */
enum { RADIATION_REALS = 9 + 3 * PHOTON_GROUPS + 2 * 4 * PHOTON_GROUPS };
struct ckpt_radiation {
    int groups;        /* 0: no radiation */
    int ions;          /* fractions of ions among the scalars of the gas */
    int spec2group[4]; /* of these ions, group from 1, 0: none */
    union {
        struct {
            double c;    /* reduced speed of light, code units; 0: not known */
            double x, y; /* mass fractions of hydrogen and helium */
            double unit_np, unit_pf, c_fraction; /* cgs; reduced speed of light / that of light */
            double n_star, t2_star, g_star;
            double l0[PHOTON_GROUPS], l1[PHOTON_GROUPS], egy[PHOTON_GROUPS];
            double csn[PHOTON_GROUPS][4], cse[PHOTON_GROUPS][4];
        };
        double real[RADIATION_REALS];
    };
};

struct ckpt_head { /* names and units as in the header of RAMSES's amr files */
    int ndim, levelmin, levelmax;
    int64_t ngridmax; /* RAMSES's ngridmax; 0: not set */
    bool hydro, gravity, particles, cosmo, stars, metal;
    bool magnetic; /* whether the gas has a magnetic field */
    int nvar;
    double gamma, smallr;
    struct ckpt_radiation radiation;
    struct gas_energies energy; /* non-thermal energies among the variables */
    bool conservative;          /* RAMSES binary: files shall have conserved variables of the gas */
    double boxlen;
    struct boundary boundary; /* boundaries of the box; n = 0: periodic */
    int noutput, iout, ifout;
    const double *tout, *aout; /* [noutput] output times and expansion factors */
    double t;
    double dtold[LEVEL_MAX + 2], dtnew[LEVEL_MAX + 2]; /* time steps by level */
    int nstep, nstep_coarse;
    double einit, mass_tot_0, rho_tot;
    double omega_m, omega_l, omega_k, omega_b, h0, aexp_ini, boxlen_ini;
    double aexp, hexp, aexp_old, epot_tot_int, epot_tot_old;
    double mass_sph;
    double unit_l, unit_d, unit_t;
    struct cosmo_dark dark; /* of the namelist: headers of RAMSES have a constant only */
    const char *namelist;   /* text of namelist.txt */
    /* Program, version and arguments: lines of text, written to compilation.txt. */
    const char *provenance;
    /* Values that RAMSES does not store, in the files exact_NNNNN.outRRRRR. */
    double tout_next, aout_next;
    unsigned char safe[LEVEL_MAX + 2]; /* multigrid in safe mode, by level */
    /* Mass and centre of mass in the last solves (lib/grav/far.h) in fewer than three dimensions,
     * otherwise 0. */
    double far[4];
    const struct gas_vars *gas;   /* names of the nvar variables; NULL: default names (lent) */
    const struct ckpt_rest *rest; /* data passed on unchanged; NULL: none (lent) */
    const struct ckpt_file *file; /* [nfile] text files of this rank (lent) */
    int nfile;
    /* Clumps of particles, for formats that store them; NULL: not known (lent). */
    const struct ckpt_tags *tags;
    int deflate;     /* HDF5 compression level 1..9, 0: none */
    unsigned legacy; /* RAMSES: flags of older layouts to be written */
    /* RAMSES binary: true to write ids and counts with 8 bytes even if 4 suffice. */
    bool longint;
    bool backup; /* permission for keep_last to remove the checkpoint later (sim/output) */
    /* True to replace output_NNNNN if it exists; otherwise an existing directory is an error. */
    bool overwrite;
};

/* The fields of a run that has nvar variables of the gas of a checkpoint. */
static inline struct mesh_kind ckpt_kind(const struct ckpt_head *h, int nvar)
{
    return (struct mesh_kind){nvar, h->gravity, h->magnetic, PHOTON_VALUES * h->radiation.groups};
}

/* The cosmology of a checkpoint, exact (cosmo_par.ramses is false). */
static inline struct cosmo_par ckpt_cosmology(const struct ckpt_head *h)
{
    return (struct cosmo_par){.omega_m = h->omega_m,
                              .omega_l = h->omega_l,
                              .omega_k = h->omega_k,
                              .omega_b = h->omega_b,
                              .h0 = h->h0,
                              .dark = h->dark,
                              .aexp_ini = h->aexp_ini,
                              .boxlen_ini = h->boxlen_ini};
}
