/* lineage/merger_table: see merger_table.h. The table of Ptah. */
#include "lineage/merger_table.h"

#include <math.h>
#include <stddef.h>

#include "base/text.h"

enum kind { NODE, COUNT, REAL, PLACE, OUTPUT, SKIPPED, REDSHIFT, SCALE, TIME };

#define AT(member) offsetof(struct merger_node, member)
static const struct column {
    const char *name, *unit;
    enum kind kind;
    size_t at;
} COLUMN[] = {
    {"id", "", NODE, SIZE_MAX},
    {"output", "", OUTPUT, 0},
    {"a", "", SCALE, 0},
    {"redshift", "", REDSHIFT, 0},
    {"time", "Gyr", TIME, 0},
    {"number", "", COUNT, AT(number)},
    {"within", "", NODE, AT(within)},
    {"descendant", "", NODE, AT(descendant)},
    {"skipped", "", SKIPPED, 0},
    {"main", "", COUNT, SIZE_MAX},
    {"progenitors", "", COUNT, AT(progenitors)},
    {"root", "", NODE, AT(root)},
    {"depth", "", COUNT, AT(depth)},
    {"last", "", COUNT, AT(last)},
    {"leaf", "", COUNT, AT(leaf)},
    {"members", "", COUNT, AT(members)},
    {"mass", "Msun", REAL, AT(mass)},
    {"peak", "Msun", REAL, AT(peak)},
    {"major", "", REAL, AT(major)},
    {"x", "box", PLACE, AT(x[0])},
    {"y", "box", PLACE, AT(x[1])},
    {"z", "box", PLACE, AT(x[2])},
    {"vx", "km/s", REAL, AT(v[0])},
    {"vy", "km/s", REAL, AT(v[1])},
    {"vz", "km/s", REAL, AT(v[2])},
    {"m200m", "Msun", REAL, AT(m200m)},
    {"r200m", "kpc", REAL, AT(r200m)},
    {"m200c", "Msun", REAL, AT(m200c)},
    {"r200c", "kpc", REAL, AT(r200c)},
    {"mvir", "Msun", REAL, AT(mvir)},
    {"rvir", "kpc", REAL, AT(rvir)},
    {"sigma", "km/s", REAL, AT(sigma)},
    {"spin", "", REAL, AT(spin)},
};
enum { COLUMNS = sizeof COLUMN / sizeof *COLUMN };

int merger_columns(void)
{
    return COLUMNS;
}

const char *merger_column(int column, const char **unit)
{
    *unit = COLUMN[column].unit;
    return COLUMN[column].name;
}

bool merger_column_whole(int column)
{
    const enum kind k = COLUMN[column].kind;
    return k == NODE || k == COUNT || k == OUTPUT || k == SKIPPED;
}

static int64_t whole_of(const struct mergers *f, int64_t node, const struct column *c)
{
    const struct merger_node *n = &f->node[node];
    const int64_t *member = c->at == SIZE_MAX ? NULL : (const void *)((const char *)n + c->at);
    if (c->kind == NODE) return !member ? node + 1 : *member < 0 ? -1 : *member + 1; /* from 1 */
    if (c->kind == COUNT) return member ? *member : n->main;
    if (c->kind == OUTPUT) return f->output[n->output].number;
    return n->descendant < 0 ? 0 : f->node[n->descendant].output - n->output - 1;
}

static double real_of(const struct mergers *f, int64_t node, const struct column *c)
{
    const struct merger_node *n = &f->node[node];
    const struct merger_output *o = &f->output[n->output];
    if (c->kind == SCALE) return o->box.cosmo ? o->box.aexp : NAN;
    if (c->kind == REDSHIFT) return o->box.cosmo ? 1 / o->box.aexp - 1 : NAN;
    if (c->kind == TIME) return o->gyr;
    return *(const double *)(const void *)((const char *)n + c->at);
}

double merger_value(const struct mergers *f, int64_t node, int column)
{
    const struct column *c = &COLUMN[column];
    return merger_column_whole(column) ? (double)whole_of(f, node, c) : real_of(f, node, c);
}

static void print_head(FILE *out, const struct mergers *f, const struct merger_found *how)
{
    fprintf(out, "# ptah trees 1\n# groups\t%s\n", how->groups);
    if (how->link > 0)
        fprintf(out, "# link\t%.9g\tmean separations\n# min\t%ld\tmembers\n", how->link,
                (long)how->min);
    fprintf(out, "# tracers\t%d\tof a group at most\n# jump\t%d\toutputs at most\n", how->tracers,
            f->jump);
    const struct halo_box *b = &f->output[0].box;
    if (b->cosmo) fprintf(out, "# box\t%.9g\tMpc/h, comoving\n", b->boxlen_ini);
    fprintf(out, "# particle\t%.9g\tMsun\n", f->output[0].particle);
    for (int i = 0; i < f->noutput; i++) {
        const struct merger_output *o = &f->output[i];
        fprintf(out, "# output\t%d\t%s=%.9g\t%ld %s\t%s\n", o->number, b->cosmo ? "z" : "t",
                b->cosmo ? 1 / o->box.aexp - 1 : o->t, (long)o->n, how->groups, o->path);
    }
    fprintf(out, "# trees\t%ld\n# nodes\t%ld\n", (long)f->ntree, (long)f->n);
}

void merger_table_tsv(FILE *out, const struct mergers *f, const struct merger_found *how)
{
    print_head(out, f, how);
    for (int c = 0; c < COLUMNS; c++)
        fprintf(out, *COLUMN[c].unit ? "%s%s [%s]" : "%s%s", c ? "\t" : "#", COLUMN[c].name,
                COLUMN[c].unit);
    fprintf(out, "\n");
    for (int64_t d = 0; d < f->n; d++) {
        for (int c = 0; c < COLUMNS; c++) {
            if (c) fputc('\t', out);
            if (merger_column_whole(c))
                fprintf(out, "%ld", (long)whole_of(f, f->by_depth[d], &COLUMN[c]));
            else
                put_number(out, COLUMN[c].kind == PLACE ? 12 : 7,
                           real_of(f, f->by_depth[d], &COLUMN[c]));
        }
        fprintf(out, "\n");
    }
}
