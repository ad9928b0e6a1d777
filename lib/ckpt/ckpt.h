/* ckpt: the contents of the header of a checkpoint, whatever the format. */
#pragma once
#include "ckpt/boundary.h"
#include "ckpt/files.h"
#include "ckpt/rest.h"
#include "comm/comm.h"
#include "oct/mesh.h"
#include "part/part.h"

/* Older layouts of RAMSES binary: particles without family and tag, and descriptors in prose;
 * forces without potential. */
enum { CKPT_BEFORE_2017 = 1, CKPT_BEFORE_2015 = 2 };

/* A text of this rank that goes into the checkpoint beside its data. */
struct ckpt_file {
    enum files_kind kind;
    char *text;
    size_t bytes;
};

struct ckpt_head { /* names and units as at the beginning of RAMSES's amr files */
    int ndim, levelmin, levelmax;
    int64_t ngridmax; /* 0: none requested */
    bool hydro, gravity, particles, cosmo, stars, metal;
    int nvar;
    double gamma, smallr;
    double boxlen;
    struct boundary boundary; /* of the box; n = 0: it is periodic */
    int noutput, iout, ifout;
    const double *tout, *aout; /* [noutput] */
    double t;
    double dtold[LEVEL_MAX + 2], dtnew[LEVEL_MAX + 2]; /* by level */
    int nstep, nstep_coarse;
    double einit, mass_tot_0, rho_tot;
    double omega_m, omega_l, omega_k, omega_b, h0, aexp_ini, boxlen_ini;
    double aexp, hexp, aexp_old, epot_tot_int, epot_tot_old;
    double mass_sph;
    double unit_l, unit_d, unit_t;
    const char *namelist; /* text, written as namelist.txt */
    /* program, version, arguments: lines of text, written to compilation.txt */
    const char *provenance;
    /* Values that RAMSES does not store, in the files exact_NNNNN.outRRRRR. */
    double tout_next, aout_next;
    unsigned char safe[LEVEL_MAX + 2]; /* multigrid in safe mode */
    const struct gas_vars *gas;   /* names of the nvar variables; NULL: the usual ones (lent) */
    const struct ckpt_rest *rest; /* passed on; NULL: there is none (lent) */
    const struct ckpt_file *file; /* [nfile] of this rank (lent) */
    int nfile;
    int deflate;     /* HDF5: level of compression 1..9, 0: none */
    unsigned legacy; /* RAMSES: older layouts to be written */
    /* RAMSES binary: ids and counts of 8 bytes even if 4 would do */
    bool longint;
    bool backup; /* may be removed later (sim/output, keep_last) */
    /* replace output_NNNNN if it exists; otherwise that is an error */
    bool overwrite;
};
