/* oct/remap_kernel: arguments of the kernels that follow a change of a level. Pointers are device
 * pointers. Private to oct. */
#pragma once
#include "dev/kernel.h"
#include "oct/remap.h"

/* Computes source[i] of each new oct from the runs. */
struct remap_source_args {
    lidx noct, nrun;
    const struct remap_run *run;
    lidx *source;
};

/* Computes keys, parents and children of the new octs, and the new index of each old oct. */
struct remap_keys_args {
    lidx noct;
    const lidx *source;
    const int32_t *location;
    const okey *old_key, *up_key; /* up_key: keys of the coarser level */
    const lidx *old_parent;
    const lidx (*old_child)[8];
    okey *key;
    lidx *parent;
    lidx (*child)[8];
    lidx *now; /* [old octs] new index, −1: removed */
};

/* Sets child of the coarser level, which is −1 before. */
struct remap_child_args {
    lidx noct;
    int cells; /* of an oct */
    const okey *key;
    const lidx *parent;
    lidx (*child)[8];
};

/* Computes nbr from the links of the coarser level. */
struct remap_nbr_args {
    lidx noct;
    int ndim;
    const okey *key;
    const lidx *parent;
    const lidx (*up_nbr)[6], (*up_child)[8];
    lidx (*nbr)[6];
};

/* Sets parent of the finer level. */
struct remap_parent_args {
    lidx noct;
    const lidx *now;
    lidx *parent;
};

/* Fills the hash table, which is −1 before. */
struct remap_hash_args {
    lidx noct;
    const okey *key;
    struct okhash hash;
};

/* Fills the fields of the new octs: moved, or from rows [nrow][nfld][8]. */
struct remap_fields_args {
    lidx noct, nrow;
    int nfld;
    const lidx *source;
    const double *row;
    const double (*old[FLD_MAX])[8];
    double (*now[FLD_MAX])[8];
};

/* Computes rows of created octs: the first nfld fields, each by field_child. */
struct remap_inject_args {
    int32_t n;
    int nfld, width; /* width: number of fields in a row */
    const int32_t *location;
    double *row;
    const double (*from[FLD_MAX])[8], (*other[FLD_MAX])[8];
    unsigned char fixed[FLD_MAX], side[FLD_MAX];
};

#ifndef __CUDACC__
extern const struct dev_kernel remap_source, remap_keys, remap_child, remap_nbr, remap_parent,
    remap_hash, remap_fields, remap_inject;
#endif
