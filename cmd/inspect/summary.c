/* inspect: the summary: header, octs and leaf cells per level, minimum and maximum of the fields,
 * masses, particles per family. Sums are exact (base/sum), so that they do not depend on the number
 * of files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "part/family.h"
#include "view/gas.h"
#include "view/unit.h"

struct summary {
    double lo[CKPT_FIELDS], hi[CKPT_FIELDS];
    int64_t bad; /* number of values that are not finite, in leaf cells and particles */
    int density; /* index of the density field, -1: none */
    struct sum gas, family_mass[FAMILIES], part_mass;
    bool physical; /* physical units of fields and masses */
    struct units units;
    struct unit mass; /* unit of masses */
    int64_t family[FAMILIES];
};

static enum err summary_read(struct source *r, struct summary *s);
static void print_text(const struct source *r, const struct summary *s, const char *path,
                       const struct options *o);
static void print_json(const struct source *r, const struct summary *s, const char *path);

enum err summary_print(const char *path, const struct options *o, int *status)
{
    struct source *r;
    struct summary *s = mem_zero(sizeof *s, "summary");
    enum err err = source_open(path, &r);
    if (err == OK) err = summary_read(r, s);
    if (err == OK) {
        s->physical = o->physical;
        s->units = gas_of(r).units;
        s->mass = o->physical ? unit_mass(&r->head) : (struct unit){1, ""};
    }
    if (err == OK && o->json)
        print_json(r, s, path);
    else if (err == OK)
        print_text(r, s, path, o);
    source_close(&r);
    FREE(s);
    return err;
}

/* ---- reading ---- */

static void fold_extremes(const struct source_octs *o, int ncell, int f, struct summary *s)
{
    double lo = s->lo[f], hi = s->hi[f];
    int64_t bad = 0;
    for (int c = 0; c < ncell; c++) {
        const double *v = o->val[8 * f + c];
        for (int i = 0; i < o->n; i++) {
            bool leaf = !(o->split[i] >> c & 1), finite = isfinite(v[i]);
            bad += leaf && !finite;
            lo = leaf && finite && v[i] < lo ? v[i] : lo;
            hi = leaf && finite && v[i] > hi ? v[i] : hi;
        }
    }
    s->lo[f] = lo, s->hi[f] = hi;
    s->bad += bad;
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct summary *s = ctx;
    const struct source *r = o->source;
    int ncell = source_cells(r);
    for (int f = 0; f < r->nfield; f++) fold_extremes(o, ncell, f, s);
    if (s->density < 0) return OK;
    double dx = source_dx(r, o->level), volume = dx;
    for (int d = 1; d < r->head.ndim; d++) volume *= dx;
    for (int i = 0; i < o->n; i++) {
        double mass = 0; /* mass of an oct, summed in the order of its cells */
        for (int c = 0; c < ncell; c++)
            if (!(o->split[i] >> c & 1)) mass += o->val[8 * s->density + c][i] * volume;
        if (mass != 0) sum_add(&s->gas, mass);
    }
    return OK;
}

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct summary *s = ctx;
    const double *mass = p->m;
    for (int64_t i = 0; i < p->n; i++) {
        int k = family_row(p->family[i]);
        s->family[k]++;
        s->bad += !isfinite(mass[i]);
        if (!family_has_mass(p->family[i])) continue;
        sum_add(&s->family_mass[k], mass[i]);
        sum_add(&s->part_mass, mass[i]);
    }
    return OK;
}

static enum err summary_read(struct source *r, struct summary *s)
{
    s->density = -1;
    for (int f = 0; f < r->nfield; f++) {
        s->lo[f] = INFINITY, s->hi[f] = -INFINITY;
        if (strcmp(r->field[f].name, "density") == 0) s->density = f;
    }
    sum_init(&s->gas);
    sum_init(&s->part_mass);
    for (int k = 0; k < FAMILIES; k++) sum_init(&s->family_mass[k]);
    for (int piece = 0; piece < r->npiece; piece++) {
        TRY(source_octs(r, piece, SOURCE_STORED, fold_octs, s));
        TRY(source_parts(r, piece, SOURCE_STORED, fold_parts, s));
    }
    return source_check_tree(r);
}

static int64_t leaves_of(const struct source *r, int level)
{
    return source_cells(r) * r->counts.octs[level] - r->counts.split[level];
}

static double leaf_volume(const struct source *r) /* in units of the volume of the box */
{
    double v = 0;
    for (int l = LEVEL_MAX; l > 0; l--) v += ldexp((double)leaves_of(r, l), -r->head.ndim * l);
    return v / (double)(r->coarse[0] * r->coarse[1] * r->coarse[2]);
}

/* ---- text ---- */

static void print_header(const struct source *r, const char *path, const struct options *o)
{
    const struct ckpt_head *h = &r->head;
    printf("%s\n", path);
    printf("  format          %s\n", r->format);
    printf("  number          %d, written by %d rank%s, ordering %s\n", r->number, r->nwriter,
           r->nwriter > 1 ? "s" : "", r->ordering);
    if (h->cosmo)
        printf("  time            %.15g, a = %.15g, z = %.6g\n", h->t, h->aexp, 1 / h->aexp - 1);
    else
        printf("  time            %.15g\n", h->t);
    printf("  steps           %d coarse, %d fine\n", h->nstep_coarse, h->nstep);
    printf("  box             %.15g, %s", h->boxlen,
           r->nboundary ? "physical boundaries" : "periodic");
    if (h->ndim != 3) printf(", %d dimension%s", h->ndim, h->ndim > 1 ? "s" : "");
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        printf(", %ld x %ld x %ld coarse cells", (long)r->coarse[0], (long)r->coarse[1],
               (long)r->coarse[2]);
    printf("\n");
    printf("  levels          %d to %d\n", h->levelmin, h->levelmax);
    printf("  units           %.9g cm, %.9g g/cm3, %.9g s\n", h->unit_l, h->unit_d, h->unit_t);
    if (h->cosmo)
        printf("  cosmology       H0 %.6g, omega m %.6g, l %.6g, k %.6g, b %.6g\n", h->h0,
               h->omega_m, h->omega_l, h->omega_k, h->omega_b);
    if (h->hydro) printf("  gas             %d variables, gamma %.9g\n", r->nhydro, h->gamma);
    if (h->gravity) printf("  gravity         %d variables\n", r->ngrav);
    if (r->cooling_size[0])
        printf("  cooling table   %d x %d\n", r->cooling_size[0], r->cooling_size[1]);
    if (o->verbose < 1) return;
    printf("  conservation    einit %.15g, mass_tot_0 %.15g, rho_tot %.15g\n", h->einit,
           h->mass_tot_0, h->rho_tot);
    for (int l = 1; l <= h->levelmax && l <= LEVEL_MAX; l++)
        printf("  step of level %2d  dtold %.15g, dtnew %.15g\n", l, h->dtold[l], h->dtnew[l]);
}

static void print_levels(const struct source *r)
{
    int64_t octs = 0, leaves = 0;
    printf("\n  level           octs     leaf cells\n");
    for (int l = 1; l <= LEVEL_MAX; l++) {
        int64_t leaf = leaves_of(r, l);
        if (!r->counts.octs[l]) continue;
        printf("  %5d %14ld %14ld\n", l, (long)r->counts.octs[l], (long)leaf);
        octs += r->counts.octs[l], leaves += leaf;
    }
    printf("  %5s %14ld %14ld\n", "all", (long)octs, (long)leaves);
    printf("  volume of the leaf cells / box  %.15g\n", leaf_volume(r));
}

static double table_mass(const struct catalog *t)
{
    const struct catalog_column *mass = catalog_find(t, "mass");
    struct sum sum;
    sum_init(&sum);
    for (int64_t i = 0; mass && mass->real && i < t->n; i++) sum_add(&sum, mass->real[i]);
    return sum_get(&sum);
}

static void print_table(const struct catalog *t, const char *name, const struct summary *s)
{
    if (!*t->from) return;
    printf("  %-13s %13ld %22.15g  in %s, %d columns\n", name, (long)t->n,
           table_mass(t) * s->mass.worth, t->from, t->ncol);
}

static void print_mass(const char *what, double mass, const struct summary *s)
{
    printf("  %s %.15g%s%s\n", what, plain_number(mass * s->mass.worth), s->physical ? " " : "",
           s->mass.name);
}

static void print_text(const struct source *r, const struct summary *s, const char *path,
                       const struct options *o)
{
    print_header(r, path, o);
    print_levels(r);
    if (r->nfield) printf("\n  %-20s %22s %22s\n", "field (leaf cells)", "min", "max");
    for (int f = 0; f < r->nfield; f++) {
        struct unit u = unit_of(r->field[f].name, &s->units, s->physical);
        printf("  %-20s %22.15g %22.15g%s%s\n", r->field[f].name, s->lo[f] * u.worth,
               s->hi[f] * u.worth, s->physical ? " " : "", s->physical ? u.name : "");
    }
    if (s->density >= 0) print_mass("gas mass       ", sum_get(&s->gas), s);
    if (r->head.particles) {
        printf("\n  particles             count                   mass%s%s\n",
               s->physical ? " " : "", s->mass.name);
        for (int k = 0; k < FAMILIES; k++)
            if (s->family[k])
                printf("  %-13s %13ld %22.15g\n", FAMILY_ROW[k].name, (long)s->family[k],
                       plain_number(sum_get(&s->family_mass[k]) * s->mass.worth));
        printf("  %-13s %13ld %22.15g\n", "all", (long)r->counts.particles,
               plain_number(sum_get(&s->part_mass) * s->mass.worth));
    }
    print_table(r->sinks, "sinks", s);
    print_table(r->stellar, "stellar", s);
    if (s->bad) printf("\n  %ld values are not finite\n", (long)s->bad);
    if (o->many) printf("\n");
}

/* ---- JSON ---- */

static void json_table(const struct catalog *t, const char *name, struct unit mass)
{
    if (!*t->from) return;
    printf(",\"%s\":{\"count\":%ld", name, (long)t->n);
    json_number("mass", table_mass(t) * mass.worth);
    printf(",\"columns\":[");
    for (int i = 0; i < t->ncol; i++) printf("%s\"%s\"", i ? "," : "", t->col[i].name);
    printf("]}");
}

static void print_json(const struct source *r, const struct summary *s, const char *path)
{
    const struct ckpt_head *h = &r->head;
    json_begin("summary", path);
    json_text("format", r->format);
    json_count("ndim", h->ndim);
    json_count("number", r->number);
    json_count("ranks", r->nwriter);
    json_text("ordering", r->ordering);
    const struct {
        const char *name;
        double value;
    } row[] = {{"time", h->t},
               {"aexp", h->aexp},
               {"boxlen", h->boxlen},
               {"levelmin", h->levelmin},
               {"levelmax", h->levelmax},
               {"nstep", h->nstep},
               {"nstep_coarse", h->nstep_coarse},
               {"unit_l", h->unit_l},
               {"unit_d", h->unit_d},
               {"unit_t", h->unit_t},
               {"H0", h->h0},
               {"omega_m", h->omega_m},
               {"omega_l", h->omega_l},
               {"omega_k", h->omega_k},
               {"omega_b", h->omega_b}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) json_number(row[i].name, row[i].value);
    if (h->hydro) json_number("gamma", h->gamma);
    printf(",\"boundaries\":%d,\"levels\":[", r->nboundary);
    for (int l = 1, n = 0; l <= LEVEL_MAX; l++)
        if (r->counts.octs[l])
            printf("%s{\"level\":%d,\"octs\":%ld,\"leaves\":%ld}", n++ ? "," : "", l,
                   (long)r->counts.octs[l], (long)leaves_of(r, l));
    printf("],\"fields\":[");
    for (int f = 0; f < r->nfield; f++) {
        struct unit u = unit_of(r->field[f].name, &s->units, s->physical);
        printf("%s{\"name\":\"%s\"", f ? "," : "", r->field[f].name);
        json_number("min", s->lo[f] * u.worth);
        json_number("max", s->hi[f] * u.worth);
        if (s->physical) json_text("unit", u.name);
        printf("}");
    }
    printf("]");
    json_number("leaf_volume", leaf_volume(r));
    if (s->physical) json_text("mass_unit", s->mass.name);
    if (s->density >= 0) json_number("gas_mass", sum_get(&s->gas) * s->mass.worth);
    printf(",\"particles\":[");
    for (int k = 0, n = 0; k < FAMILIES; k++) {
        if (!s->family[k]) continue;
        printf("%s{\"family\":\"%s\",\"count\":%ld", n++ ? "," : "", FAMILY_ROW[k].name,
               (long)s->family[k]);
        json_number("mass", sum_get(&s->family_mass[k]) * s->mass.worth);
        printf("}");
    }
    printf("]");
    if (h->particles) json_number("particle_mass", sum_get(&s->part_mass) * s->mass.worth);
    json_table(r->sinks, "sinks", s->mass);
    json_table(r->stellar, "stellar", s->mass);
    json_count("not_finite", s->bad);
    json_end();
}
