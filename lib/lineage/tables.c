/* lineage/tables: the table of links; see tables.h. */
#include "lineage/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lineage/fortran.h"

void fortran_real(FILE *f, int width, int digits, double x)
{
    char text[64], mantissa[64], out[80];
    int exponent;
    snprintf(text, sizeof text, "%.*E", digits - 1, x);
    const char *e = strchr(text, 'E');
    if (!e) {
        fprintf(f, "%*s", width, text); /* NaN or infinite */
        return;
    }
    exponent = (int)strtol(e + 1, NULL, 10) + (x != 0);
    const char *sign = *text == '-' ? "-" : "", *digit = text + (*text == '-');
    snprintf(mantissa, sizeof mantissa, "%c%.*s", *digit, digits - 1, digit + 2);
    if (abs(exponent) < 100)
        snprintf(out, sizeof out, "%s0.%sE%+03d", sign, mantissa, exponent);
    else
        snprintf(out, sizeof out, "%s0.%s%+04d", sign, mantissa, exponent);
    fprintf(f, "%*s", width, out);
}

static void names(FILE *f)
{
    static const char *const NUMBER[] = {"clump", "progenitor", "prog_outputnr"},
                             *const REAL[] = {"desc_mass", "desc_npart", "desc_x",  "desc_y",
                                              "desc_z",    "desc_vx",    "desc_vy", "desc_vz"};
    for (int i = 0; i < 3; i++) fprintf(f, "%15s", NUMBER[i]);
    for (int i = 0; i < 8; i++) fprintf(f, "%18s", REAL[i]);
    fprintf(f, "\n");
}

static void write_clump(FILE *f, const struct clump *c, double mass, double npart)
{
    const double x[8] = {mass,    npart,        c->x[0],      c->x[1],
                         c->x[2], c->part_v[0], c->part_v[1], c->part_v[2]};
    for (int i = 0; i < 8; i++) fortran_real(f, 18, 10, x[i]);
    fprintf(f, "\n");
}

static void write_merged(FILE *f, int64_t into, int64_t id, int output)
{
    fprintf(f, "%15ld%15ld%15d", (long)-into, (long)id, output);
    for (int i = 0; i < 8; i++) fprintf(f, "%18d", 0);
    fprintf(f, "\n");
}

char *lineage_links_text(const struct lineage_clumps *now, const struct lineage_groups *earlier,
                         const struct lineage_past *past, const struct lineage_links *k,
                         double min_mass, size_t *bytes)
{
    char *text;
    FILE *f = open_memstream(&text, bytes);
    if (!f) mem_exhausted("merger tree");
    names(f);
    for (int64_t b = 0; earlier && b < now->groups.n; b++) {
        int64_t a = k->progenitor[b], jumped = k->jumped[b], id = 0, output = earlier->output;
        if (a >= 0) id = earlier->id[a];
        if (a < 0 && jumped >= 0) id = -past->at[jumped].id, output = past->at[jumped].output;
        fprintf(f, "%15ld%15ld%15ld", (long)now->groups.id[b], (long)id, (long)output);
        double mass = now->groups.mass[b];
        write_clump(f, &now->at[b], mass, min_mass > 0 ? mass / min_mass : 0);
    }
    for (int64_t a = 0; earlier && a < earlier->n; a++)
        if (k->merged[a] && k->descendant[a] >= 0)
            write_merged(f, now->groups.id[k->descendant[a]], earlier->id[a], earlier->output);
    return mem_close_text(f, &text, bytes, "merger tree");
}
