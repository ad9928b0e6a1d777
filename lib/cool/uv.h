/* cool/uv: the ultraviolet background: a model, a power law, or a table from a file. */
#pragma once
#include "base/err.h"
#include "cool/rates.h"

enum uv_model { UV_COURTY, UV_THEUNS, UV_TABLE };

struct uv_table; /* rates in redshift, of a file */

struct uv {
    enum uv_model model;
    enum atomic_rates atoms; /* rates of the atoms that it ionises */
    double z_reion;
    double j21;    /* UV_THEUNS: intensity, 1e-21 erg/cm²/s/Hz/sr */
    double a_spec; /* of the power law ν^-a_spec */
    /* Intensity at a = 1e-4 that keeps the ionisation left over from recombination, falling as
     * a^-2; no model is below it (cool/start.h) */
    double j_floor;
    const struct uv_table *table; /* UV_TABLE (lent) */
};

struct uv_rates uv_at(const struct uv *uv, double a);
/* Strength of the ionising radiation that suppresses cooling by metals, times n_H (metal_rate). */
double uv_metal_measure(const struct uv *uv, double a);

/* A table in the layout of TREECOOL files: per line log10(1+z), then photoionisation rates of HI,
 * HeI, HeII in 1/s and their heating rates in erg/s, each 0 to 1, ascending in z; 0 beyond
 * its last z. Lines that begin with # are comments. Errors name file and line. */
MUST_USE enum err uv_table_read(const char *path, struct uv_table **out);
void uv_table_free(struct uv_table *t);
