/* oct/remap_kernel: arguments of the kernels that follow a change of a level. Pointers are the
 * device's. Private to oct. */
#pragma once
#include "dev/kernel.h"
#include "oct/remap.h"

/* source[i] of each new oct from the runs. */
struct remap_source_args {
    lidx noct, nrun;
    const struct remap_run *run;
    lidx *source;
};

/* Keys, parents and children of the new octs; where each old oct is now. */
struct remap_keys_args {
    lidx noct;
    const lidx *source;
    const int32_t *location;
    const okey *old_key, *up_key; /* up: of the coarser level */
    const lidx *old_parent;
    const lidx (*old_child)[8];
    okey *key;
    lidx *parent;
    lidx (*child)[8];
    lidx *now; /* [old octs], −1: removed */
};

/* child of the coarser level, which is −1 before */
struct remap_child_args {
    lidx noct;
    const okey *key;
    const lidx *parent;
    lidx (*child)[8];
};

/* nbr, from the links of the coarser level */
struct remap_nbr_args {
    lidx noct;
    const okey *key;
    const lidx *parent;
    const lidx (*up_nbr)[6], (*up_child)[8];
    lidx (*nbr)[6];
};

/* parent of the finer level */
struct remap_parent_args {
    lidx noct;
    const lidx *now;
    lidx *parent;
};

/* The hash table, of −1 before. */
struct remap_hash_args {
    lidx noct;
    const okey *key;
    struct okhash hash;
};

/* Fields of the new octs: moved, or from rows [nrow][nfld][8]. */
struct remap_fields_args {
    lidx noct, nrow;
    int nfld;
    const lidx *source;
    const double *row;
    const double (*old[FLD_MAX])[8];
    double (*now[FLD_MAX])[8];
};

/* Rows of created octs: the first nfld fields, each by field_child. */
struct remap_inject_args {
    int32_t n;
    int nfld, width; /* a row has `width` fields */
    const int32_t *location;
    double *row;
    const double (*from[FLD_MAX])[8], (*other[FLD_MAX])[8];
    unsigned char fixed[FLD_MAX], side[FLD_MAX];
};

#ifndef __CUDACC__
extern const struct dev_kernel remap_source, remap_keys, remap_child, remap_nbr, remap_parent,
    remap_hash, remap_fields, remap_inject;
#endif
