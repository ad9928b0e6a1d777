/* ics/field: values of a GRAFIC file at the cells of own octs. Private to ics. */
#pragma once
#include "ics/ics.h"
#include "io/grafic.h"

/* Own octs of a level by z, so that a file is read once, plane by plane. */
struct ics_layers {
    const struct level *lv;     /* level (lent) */
    const struct ics_level *ic; /* files of the level (lent) */
    bool cosmo;
    lidx *oct;      /* [nown] own octs, z ascending */
    int64_t z0, nz; /* layers of octs z0 .. z0+nz-1 */
    lidx *first;    /* [nz+1] start of each layer in oct */
};

/* Sorts own octs of level l by layer. Error if an own cell lies outside of the files.
 * ics_layers_free must be called in any case. */
MUST_USE enum err ics_layers_new(const struct ics_grafic *g, const struct mesh *m, int l,
                                 struct ics_layers *s);
void ics_layers_free(struct ics_layers *s);

/* val[i][c] := value of file `name` at cell c of own oct i. Local. */
MUST_USE enum err ics_field_read(const struct ics_layers *s, const char *name, double (*val)[8]);
/* Reads a file of ids, as ics_field_read. */
MUST_USE enum err ics_ids_read(const struct ics_layers *s, const char *name, int64_t (*val)[8]);
