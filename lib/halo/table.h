/* halo/table: a catalogue in physical units, as a text table. */
#pragma once
#include <stdio.h>

#include "cosmo/dark.h"
#include "halo/halo.h"

/* Properties of the box from the header of the checkpoint; code units except for unit_*. */
struct halo_box {
    bool cosmo;
    double aexp, omega_m, omega_l, omega_k, h0, boxlen_ini; /* cosmology; boxlen_ini: Mpc/h */
    struct cosmo_dark dark;
    double t, boxlen;
    double unit_l, unit_d, unit_t; /* cgs */
    bool periodic[3];
};

/* Parameters of the halo finder for bodies whose masses and velocities are in code units. */
struct halo_par halo_par_of(const struct halo_box *b, double part, int64_t min);

struct halo_table {
    const struct halo_box *box;
    const struct halo_list *list;
    const char *path; /* path of the checkpoint */
    double part;      /* linking length in units of the mean separation */
    int64_t min;      /* minimum number of members */
};

/* Number of columns: position in units of the box, masses in solar masses, radii in kpc, velocities
 * in km/s; all proper. */
int halo_columns(void);
const char *halo_column(int column, const char **unit); /* name of a column; unit: "" for none */
bool halo_column_whole(int column);                     /* whether the column holds integers */
double halo_value(const struct halo_table *t, int64_t halo, int column);
void halo_table_tsv(FILE *out, const struct halo_table *t);
double halo_solar(const struct halo_box *b); /* solar masses per code unit of mass */
