/* halo/table: a catalogue in physical units, as text. */
#pragma once
#include <stdio.h>

#include "halo/halo.h"

/* The box that halos are in, as the header of its checkpoint has it; code units but for unit_*. */
struct halo_box {
    bool cosmo;
    double aexp, omega_m, omega_l, omega_k, h0, boxlen_ini; /* cosmology; boxlen_ini: Mpc/h */
    double t, boxlen;
    double unit_l, unit_d, unit_t; /* cgs */
    bool periodic[3];
};

/* Parameters for bodies whose masses and velocities are in code units. */
struct halo_par halo_par_of(const struct halo_box *b, double part, int64_t min);

struct halo_table {
    const struct halo_box *box;
    const struct halo_list *list;
    const char *path; /* of the checkpoint */
    double part;      /* the link, of the mean separation */
    int64_t min;      /* members */
};

/* Columns: position in units of the box, masses in solar masses, radii in kpc, velocities in km/s;
 * all proper. */
int halo_columns(void);
const char *halo_column(int column, const char **unit); /* its name; unit: "" for none */
bool halo_column_whole(int column);                     /* integers */
double halo_value(const struct halo_table *t, int64_t halo, int column);
void halo_table_tsv(FILE *out, const struct halo_table *t);
double halo_solar(const struct halo_box *b); /* solar masses of a unit of mass */
