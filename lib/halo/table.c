#include "halo/table.h"

#include <math.h>
#include <stddef.h>

#include "base/cgs.h"
#include "base/text.h"
#include "cosmo/cosmo.h"

/* Units to which columns are converted from code units. */
enum unit { NUMBER, COUNT, BOX, MASS, LENGTH, SPEED, UNITS };
static const char *const UNIT[UNITS] = {"", "", "box", "Msun", "kpc", "km/s"};

#define AT(member) offsetof(struct halo, member)
static const struct column {
    const char *name;
    enum unit unit;
    size_t at;
} COLUMN[] = {
    {"id", COUNT, AT(id)},
    {"members", COUNT, AT(number)},
    {"mass", MASS, AT(mass)},
    {"x", BOX, AT(x[0])},
    {"y", BOX, AT(x[1])},
    {"z", BOX, AT(x[2])},
    {"vx", SPEED, AT(v[0])},
    {"vy", SPEED, AT(v[1])},
    {"vz", SPEED, AT(v[2])},
    {"m200c", MASS, AT(m[HALO_200C])},
    {"r200c", LENGTH, AT(r[HALO_200C])},
    {"m200m", MASS, AT(m[HALO_200M])},
    {"r200m", LENGTH, AT(r[HALO_200M])},
    {"mvir", MASS, AT(m[HALO_VIR])},
    {"rvir", LENGTH, AT(r[HALO_VIR])},
    {"m500c", MASS, AT(m[HALO_500C])},
    {"r500c", LENGTH, AT(r[HALO_500C])},
    {"sigma", SPEED, AT(sigma)},
    {"spin", NUMBER, AT(spin)},
    {"b_a", NUMBER, AT(b_a)},
    {"c_a", NUMBER, AT(c_a)},
    {"gas", MASS, AT(gas)},
    {"stars", MASS, AT(stars)},
    {"heavy", COUNT, AT(heavy)},
    {"heavy_mass", NUMBER, AT(heavy_mass)},
    {"other", MASS, AT(other)},
};
enum { COLUMNS = sizeof COLUMN / sizeof *COLUMN };

struct halo_par halo_par_of(const struct halo_box *b, double part, int64_t min)
{
    struct halo_par p = {.part = part, .min = min};
    for (int k = 0; k < 3; k++) p.periodic[k] = b->periodic[k];
    for (int k = 0; k < HALO_SPHERES; k++) p.over[k] = NAN;
    p.over[HALO_200M] = 200;
    p.gravity = 1 / b->boxlen;
    if (!b->cosmo) return p;
    /* super-comoving variables: the mean density of matter is 1, 4πG is 3/2 Ω_m a */
    p.mean = b->boxlen * b->boxlen * b->boxlen;
    p.gravity *= 1.5 * b->omega_m * b->aexp / (4 * M_PI);
    const struct cosmo_par c = {
        .omega_m = b->omega_m, .omega_l = b->omega_l, .omega_k = b->omega_k, .dark = b->dark};
    halo_densities(b->omega_m, cosmo_dark_density(&c, b->aexp), b->omega_k, b->aexp, p.over);
    return p;
}

double halo_solar(const struct halo_box *b)
{
    return b->unit_d * b->unit_l * b->unit_l * b->unit_l / CGS_MSUN;
}

int halo_columns(void)
{
    return COLUMNS;
}

const char *halo_column(int column, const char **unit)
{
    *unit = UNIT[COLUMN[column].unit];
    return COLUMN[column].name;
}

bool halo_column_whole(int column)
{
    return COLUMN[column].unit == COUNT;
}

static const void *place_of(const struct halo_table *t, int64_t halo, int column)
{
    return (const char *)&t->list->at[halo] + COLUMN[column].at;
}

double halo_value(const struct halo_table *t, int64_t halo, int column)
{
    const struct halo_box *b = t->box;
    const void *at = place_of(t, halo, column);
    switch (COLUMN[column].unit) {
    case COUNT:
        return (double)*(const int64_t *)at;
    case MASS:
        return *(const double *)at * halo_solar(b);
    case LENGTH: /* units of the box */
        return *(const double *)at * b->boxlen * b->unit_l / CGS_KPC;
    case SPEED:
        return *(const double *)at * (b->unit_l / b->unit_t) / CGS_KM;
    case NUMBER:
    case BOX:
    case UNITS:
        break;
    }
    return *(const double *)at;
}

static void print_head(FILE *out, const struct halo_table *t)
{
    const struct halo_box *b = t->box;
    const struct halo_list *l = t->list;
    fprintf(out, "# ptah halos 1\n# source\t%s\n", t->path);
    if (b->cosmo)
        fprintf(out, "# redshift\t%.9g\n# box\t%.9g\tMpc/h, comoving\n", 1 / b->aexp - 1,
                b->boxlen_ini);
    else
        fprintf(out, "# time\t%.9g\tcode units\n", b->t);
    fprintf(out, "# link\t%.9g\tmean separations\n# link\t%.9g\tbox\n# min\t%ld\tmembers\n",
            t->part, l->link, (long)t->min);
    if (l->centre == HALO_BOUND) fprintf(out, "# centre\tof the member that is bound most\n");
    fprintf(out, "# particle\t%.9g\tMsun\n",
            isfinite(l->lightest) ? l->lightest * halo_solar(b) : 0);
    fprintf(out, "# bodies\t%ld\tdark matter\n# bodies\t%ld\tstars\n# bodies\t%ld\tcells of gas\n",
            (long)l->points[SPECIES_DM], (long)l->points[SPECIES_STAR],
            (long)l->points[SPECIES_GAS]);
    if (l->points[SPECIES_OTHER])
        fprintf(out, "# bodies\t%ld\tother particles\n", (long)l->points[SPECIES_OTHER]);
    fprintf(out, "# grouped\t%ld\n", (long)l->grouped);
}

void halo_table_tsv(FILE *out, const struct halo_table *t)
{
    const char *unit;
    print_head(out, t);
    fprintf(out, "#halo");
    for (int c = 0; c < COLUMNS; c++) {
        const char *name = halo_column(c, &unit);
        fprintf(out, *unit ? "\t%s [%s]" : "\t%s", name, unit);
    }
    fprintf(out, "\n");
    for (int64_t i = 0; i < t->list->n; i++) {
        fprintf(out, "%ld", (long)(i + 1));
        for (int c = 0; c < COLUMNS; c++) {
            fputc('\t', out);
            if (halo_column_whole(c))
                fprintf(out, "%ld", (long)*(const int64_t *)place_of(t, i, c));
            else
                put_number(out, COLUMN[c].unit == BOX ? 12 : 7, halo_value(t, i, c));
        }
        fprintf(out, "\n");
    }
}
