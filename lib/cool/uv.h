/* cool/uv: the ultraviolet background: a model, a power law, or a table from a file. */
#pragma once
#include "base/err.h"
#include "cool/rates.h"

enum uv_model { UV_COURTY, UV_THEUNS, UV_TABLE };

struct uv_table; /* opaque table of rates by redshift from a file */

struct uv {
    enum uv_model model;
    enum atomic_rates atoms; /* atomic rates of the ionised atoms */
    double z_reion;
    double j21;    /* UV_THEUNS: intensity J21, 1e-21 erg/cm²/s/Hz/sr */
    double a_spec; /* spectral index: power law ν^-a_spec */
    /* Intensity at a = 1e-4 that maintains the residual ionisation after recombination, falling as
     * a^-2; lower limit of every model (cool/start.h). */
    double j_floor;
    const struct uv_table *table; /* table of UV_TABLE (lent) */
};

struct uv_rates uv_at(const struct uv *uv, double a);
/* Strength of the ionising radiation that suppresses cooling by metals, times n_H (metal_rate). */
double uv_metal_measure(const struct uv *uv, double a);

/* Reads a table in the layout of TREECOOL files: per line log10(1+z), then photoionisation rates of
 * HI, HeI, HeII in 1/s and their heating rates in erg/s, each 0 to 1, ascending in z; rates are 0
 * beyond the last z. Lines that begin with # are comments. Errors name file and line. */
MUST_USE enum err uv_table_read(const char *path, struct uv_table **out);
void uv_table_free(struct uv_table *t);
