/* inspect: the summary: header, octs and leaf cells by level, extremes of the fields, masses, particles by family.
 * Sums are exact (base/sum), so that they do not depend on the number of files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "inspect.h"

enum { FAMILY_MIN = -5, FAMILY_MAX = 5, FAMILIES = FAMILY_MAX - FAMILY_MIN + 2 }; /* the last: undefined */

static const char *const FAMILY[FAMILIES] = {"other_tracer", "debris_tracer", "cloud_tracer", "star_tracer",
                                             "dm_tracer",    "gas_tracer",    "dm",           "star",
                                             "cloud",        "debris",        "other",        "undefined"};

struct summary {
    double lo[RAMSES_FIELDS], hi[RAMSES_FIELDS];
    int64_t bad; /* values that are not finite, in leaf cells and particles */
    int density; /* field, -1: none */
    struct sum gas, family_mass[FAMILIES], part_mass;
    int64_t family[FAMILIES];
};

static enum err summary_read(struct ramses *r, struct summary *s);
static void print_text(const struct ramses *r, const struct summary *s, const char *path, const struct options *o);
static void print_json(const struct ramses *r, const struct summary *s, const char *path);

enum err summary_print(struct ramses *r, const char *path, const struct options *o)
{
    struct summary *s = mem_zero(sizeof *s, "summary");
    enum err err = summary_read(r, s);
    if (err == OK && o->json)
        print_json(r, s, path);
    else if (err == OK)
        print_text(r, s, path, o);
    FREE(s);
    return err;
}

/* ---- reading ---- */

static void fold_extremes(const struct ramses_octs *o, int f, struct summary *s)
{
    double lo = s->lo[f], hi = s->hi[f];
    int64_t bad = 0;
    for (int c = 0; c < 8; c++) {
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

static enum err fold_octs(const struct ramses *r, const struct ramses_octs *o, void *ctx)
{
    struct summary *s = ctx;
    for (int f = 0; f < r->nhydro + r->ngrav; f++) fold_extremes(o, f, s);
    if (s->density < 0) return OK;
    double dx = ldexp(r->head.boxlen, -o->level), volume = dx * dx * dx;
    for (int i = 0; i < o->n; i++) {
        double mass = 0; /* of an oct, in the order of its cells */
        for (int c = 0; c < 8; c++)
            if (!(o->split[i] >> c & 1)) mass += o->val[8 * s->density + c][i] * volume;
        if (mass != 0) sum_add(&s->gas, mass);
    }
    return OK;
}

static enum err fold_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    struct summary *s = ctx;
    const double *mass = ramses_f64(r, p, COL_MASS);
    for (int64_t i = 0; i < p->n; i++) {
        int k = ramses_family(r, p, i) - FAMILY_MIN;
        if (k < 0 || k > FAMILY_MAX - FAMILY_MIN) k = FAMILIES - 1;
        s->family[k]++;
        s->bad += !isfinite(mass[i]);
        sum_add(&s->family_mass[k], mass[i]);
        sum_add(&s->part_mass, mass[i]);
    }
    return OK;
}

static enum err summary_read(struct ramses *r, struct summary *s)
{
    s->density = -1;
    for (int f = 0; f < r->nhydro + r->ngrav; f++) {
        s->lo[f] = INFINITY, s->hi[f] = -INFINITY;
        if (strcmp(r->field[f].name, "density") == 0) s->density = f;
    }
    sum_init(&s->gas);
    sum_init(&s->part_mass);
    for (int k = 0; k < FAMILIES; k++) sum_init(&s->family_mass[k]);
    for (int file = 1; file <= r->ncpu; file++) {
        TRY(ramses_read_octs(r, file, true, fold_octs, s));
        TRY(ramses_read_parts(r, file, fold_parts, s));
    }
    return ramses_check_tree(r);
}

static double leaf_volume(const struct ramses *r) /* of the box */
{
    double v = 0;
    for (int l = LEVEL_MAX; l > 0; l--) v += ldexp((double)(8 * r->tally.octs[l] - r->tally.split[l]), -3 * l);
    return v;
}

/* ---- text ---- */

static void print_header(const struct ramses *r, const char *path, const struct options *o)
{
    const struct ckpt_head *h = &r->head;
    printf("%s\n", path);
    printf("  number          %d, written by %d rank%s, ordering %s\n", r->number, r->nwriter,
           r->nwriter > 1 ? "s" : "", r->ordering);
    if (h->cosmo)
        printf("  time            %.15g, a = %.15g, z = %.6g\n", h->t, h->aexp, 1 / h->aexp - 1);
    else
        printf("  time            %.15g\n", h->t);
    printf("  steps           %d coarse, %d fine\n", h->nstep_coarse, h->nstep);
    printf("  box             %.15g, %s\n", h->boxlen, r->nboundary ? "physical boundaries" : "periodic");
    printf("  levels          %d to %d\n", h->levelmin, h->levelmax);
    printf("  units           %.9g cm, %.9g g/cm3, %.9g s\n", h->unit_l, h->unit_d, h->unit_t);
    if (h->cosmo)
        printf("  cosmology       H0 %.6g, omega m %.6g, l %.6g, k %.6g, b %.6g\n", h->h0, h->omega_m, h->omega_l,
               h->omega_k, h->omega_b);
    if (h->hydro) printf("  gas             %d variables, gamma %.9g\n", r->nhydro, h->gamma);
    if (h->gravity) printf("  gravity         %d variables\n", r->ngrav);
    if (o->verbose < 1) return;
    printf("  conservation    einit %.15g, mass_tot_0 %.15g, rho_tot %.15g\n", h->einit, h->mass_tot_0, h->rho_tot);
    for (int l = 1; l <= h->levelmax && l <= LEVEL_MAX; l++)
        printf("  step of level %2d  dtold %.15g, dtnew %.15g\n", l, h->dtold[l], h->dtnew[l]);
}

static void print_levels(const struct ramses *r)
{
    int64_t octs = 0, leaves = 0;
    printf("\n  level           octs     leaf cells\n");
    for (int l = 1; l <= LEVEL_MAX; l++) {
        int64_t leaf = 8 * r->tally.octs[l] - r->tally.split[l];
        if (!r->tally.octs[l]) continue;
        printf("  %5d %14ld %14ld\n", l, (long)r->tally.octs[l], (long)leaf);
        octs += r->tally.octs[l], leaves += leaf;
    }
    printf("  %5s %14ld %14ld\n", "all", (long)octs, (long)leaves);
    printf("  volume of the leaf cells / box  %.15g\n", leaf_volume(r));
}

static void print_text(const struct ramses *r, const struct summary *s, const char *path, const struct options *o)
{
    print_header(r, path, o);
    print_levels(r);
    if (r->nhydro + r->ngrav) printf("\n  %-20s %22s %22s\n", "field (leaf cells)", "least", "greatest");
    for (int f = 0; f < r->nhydro + r->ngrav; f++)
        printf("  %-20s %22.15g %22.15g\n", r->field[f].name, s->lo[f], s->hi[f]);
    if (s->density >= 0) printf("  gas mass        %.15g\n", sum_get(&s->gas));
    if (r->head.particles) {
        printf("\n  particles             count                   mass\n");
        for (int k = 0; k < FAMILIES; k++)
            if (s->family[k])
                printf("  %-13s %13ld %22.15g\n", FAMILY[k], (long)s->family[k], sum_get(&s->family_mass[k]));
        printf("  %-13s %13ld %22.15g\n", "all", (long)r->tally.particles, sum_get(&s->part_mass));
    }
    if (s->bad) printf("\n  %ld values are not finite\n", (long)s->bad);
    if (o->many) printf("\n");
}

/* ---- JSON ---- */

static void json_number(const char *name, double x)
{
    if (isfinite(x))
        printf(",\"%s\":%.17g", name, x);
    else
        printf(",\"%s\":null", name);
}

static void print_json(const struct ramses *r, const struct summary *s, const char *path)
{
    const struct ckpt_head *h = &r->head;
    printf("{\"path\":");
    json_string(path);
    printf(",\"number\":%d,\"ranks\":%d,\"ordering\":", r->number, r->nwriter);
    json_string(r->ordering);
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
        if (r->tally.octs[l])
            printf("%s{\"level\":%d,\"octs\":%ld,\"leaves\":%ld}", n++ ? "," : "", l, (long)r->tally.octs[l],
                   (long)(8 * r->tally.octs[l] - r->tally.split[l]));
    printf("],\"fields\":[");
    for (int f = 0; f < r->nhydro + r->ngrav; f++) {
        printf("%s{\"name\":\"%s\"", f ? "," : "", r->field[f].name);
        json_number("min", s->lo[f]);
        json_number("max", s->hi[f]);
        printf("}");
    }
    printf("]");
    json_number("leaf_volume", leaf_volume(r));
    if (s->density >= 0) json_number("gas_mass", sum_get(&s->gas));
    printf(",\"particles\":[");
    for (int k = 0, n = 0; k < FAMILIES; k++) {
        if (!s->family[k]) continue;
        printf("%s{\"family\":\"%s\",\"count\":%ld", n++ ? "," : "", FAMILY[k], (long)s->family[k]);
        json_number("mass", sum_get(&s->family_mass[k]));
        printf("}");
    }
    printf("]");
    if (h->particles) json_number("particle_mass", sum_get(&s->part_mass));
    printf(",\"not_finite\":%ld}\n", (long)s->bad);
}
