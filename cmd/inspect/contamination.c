/* inspect: --contamination: counts heavy dark matter particles of a zoom in a region, and finds the
 * nearest one.
 *
 * Particle masses of successive levels of initial conditions differ by a factor of eight, so
 * particles are sorted into classes by the nearest power of eight of the ratio of their mass to the
 * minimum mass. All classes but the first are heavy: above sqrt(8) times the minimum mass, the
 * mass_cut_refine of genzoom. The region is a sphere, or the mask of the run: the leaf cells where
 * the scalar ivar_refine exceeds var_cut_refine. */
#include <math.h>
#include <stdio.h>

#include "audit/densest.h"
#include "audit/zone.h"
#include "base/mem.h"
#include "base/sum.h"
#include "formats/formats.h"
#include "inspect.h"
#include "param/param.h"

enum { CLASSES = LEVEL_MAX + 1 };

struct class {
    int64_t n, inside;
    struct sum mass_inside;
    double min, max; /* minimum and maximum particle mass */
    /* squared distance of the nearest particle, as zone_far2; infinite: no particle */
    double far2;
};

struct contamination {
    struct source *s;
    struct zone zone;
    int variable; /* variable of the mask, numbered as in RAMSES; 0: a sphere */
    double cut;   /* value above which a cell is in the mask */
    double min;   /* minimum mass of a particle */
    struct class class[CLASSES];
    int64_t light, heavy, inside_light, inside_heavy;
    double mass_light, mass_heavy; /* mass inside the region */
    double nearest;                /* distance of the nearest heavy particle; infinite: none */
};

static enum err find_lowest(struct contamination *t);
static enum err find_zone(struct contamination *t, const struct options *o);
static enum err find_heavy(struct contamination *t);
static void print_text(const struct contamination *t, const char *path, const struct options *o);
static void print_json(const struct contamination *t, const char *path);

enum err contamination_print(const char *path, const struct options *o, int *status)
{
    struct contamination *t = mem_zero(sizeof *t, "contamination");
    enum err err = OK;
    zone_begin(&t->zone, o->memory);
    TRY_OUT(source_open_state(path, 0, 0, &t->s));
    TRY_OUT(source_in_space(t->s, "zooms"));
    TRY_OUT(find_lowest(t));
    TRY_OUT(find_zone(t, o));
    TRY_OUT(find_heavy(t));
    if (o->json)
        print_json(t, path);
    else
        print_text(t, path, o);
    if (t->inside_heavy) *status = NO;
out:
    zone_free(&t->zone);
    source_close(&t->s);
    mem_free(t);
    return err;
}

/* ---- the minimum mass ---- */

static enum err take_lowest(const struct source_parts *q, void *ctx)
{
    struct contamination *t = ctx;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->family[i] != FAM_DM) continue;
        if (!(q->m[i] > 0 && isfinite(q->m[i])))
            FAIL(ERR_FORMAT,
                 "%s: particle %ld has the mass %g, which must be finite and above 0: see inspect "
                 "-cc",
                 q->file, (long)q->id[i], q->m[i]);
        if (q->m[i] < t->min) t->min = q->m[i];
    }
    return OK;
}

static enum err find_lowest(struct contamination *t)
{
    t->min = INFINITY;
    if (t->s->head.particles) TRY(source_all_parts(t->s, take_lowest, t));
    if (!(t->min < INFINITY))
        FAIL(ERR_PARAM,
             "%s: has no dark matter particles: there is nothing that could be contaminated",
             t->s->path);
    return OK;
}

/* ---- the region ---- */

/* Reads the definition of the mask from the namelist of the run. */
static enum err read_mask(struct contamination *t)
{
    struct params *p = mem_new(sizeof *p, "parameters");
    char *text = NULL;
    size_t bytes;
    int left_out;
    enum err err = OK;
    param_init(p);
    TRY_OUT(source_text(t->s, FILES_NAMELIST, &text, &bytes));
    if (!text)
        TRY_OUT(err_set(ERR_PARAM, "%s: contains no namelist that defines its mask: give --sphere",
                        t->s->path));
    TRY_OUT(param_read_loose(p, text, bytes, "namelist", &left_out));
    t->variable = p->refine.ivar_refine, t->cut = p->refine.var_cut_refine;
    if (t->variable < 6 || t->variable > t->s->head.nvar)
        TRY_OUT(err_set(ERR_PARAM,
                        "%s: has no mask among its %d variables (ivar_refine=%d): give --sphere",
                        t->s->path, t->s->head.nvar, t->variable));
out:
    mem_free(text);
    mem_free(p);
    return err;
}

static enum err add_cells(const struct source_octs *o, void *ctx)
{
    struct contamination *t = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++) {
            double mask = o->val[8 * (t->variable - 1) + c][i] / o->val[c][i];
            if (o->split[i] >> c & 1) continue;
            if (!isfinite(mask))
                FAIL(ERR_FORMAT,
                     "%s: level %d, oct %ld, cell %d: the mask, variable %d, has the value %g: see "
                     "inspect -cc",
                     o->file, o->level, (long)o->key[i], c, t->variable, mask);
            if (mask > t->cut) TRY(zone_add(&t->zone, o->level, o->key[i], c));
        }
    return OK;
}

static enum err find_zone(struct contamination *t, const struct options *o)
{
    struct zone *z = &t->zone;
    z->sphere = o->has_sphere;
    z->radius = o->sphere[3];
    for (int d = 0; d < 3; d++) z->centre[d] = o->sphere[d];
    if (z->sphere) return o->densest ? source_densest(t->s, z->radius, z->centre) : OK;
    TRY(read_mask(t));
    for (int i = 0; i < t->s->npiece; i++) TRY(source_octs(t->s, i, SOURCE_STATE, add_cells, t));
    zone_end(z);
    if (z->n == 0)
        FAIL(ERR_PARAM, "%s: its mask is empty: variable %d exceeds %g nowhere; give --sphere",
             t->s->path, t->variable, t->cut);
    return OK;
}

/* ---- particles ---- */

static enum err take_part(const struct source_parts *q, void *ctx)
{
    struct contamination *t = ctx;
    for (int64_t i = 0; i < q->n; i++) {
        double x[3], power = nearbyint(log2(q->m[i] / t->min) / 3);
        if (q->family[i] != FAM_DM) continue;
        struct class *c = &t->class[power < CLASSES ? (int)power : CLASSES - 1];
        source_position(t->s, q, i, x);
        c->n++;
        c->min = fmin(c->min, q->m[i]);
        c->max = fmax(c->max, q->m[i]);
        c->far2 = zone_far2(&t->zone, x, c->far2);
        if (!zone_holds(&t->zone, x)) continue;
        c->inside++;
        sum_add(&c->mass_inside, q->m[i]);
    }
    return OK;
}

static enum err find_heavy(struct contamination *t)
{
    double far2 = INFINITY;
    for (int k = 0; k < CLASSES; k++) {
        t->class[k].min = t->class[k].far2 = INFINITY;
        sum_init(&t->class[k].mass_inside);
    }
    TRY(source_all_parts(t->s, take_part, t));
    for (int k = 0; k < CLASSES; k++) {
        const struct class *c = &t->class[k];
        *(k ? &t->heavy : &t->light) += c->n;
        *(k ? &t->inside_heavy : &t->inside_light) += c->inside;
        *(k ? &t->mass_heavy : &t->mass_light) += sum_get(&c->mass_inside);
        if (k) far2 = fmin(far2, c->far2);
    }
    t->nearest = sqrt(far2);
    return OK;
}

/* ---- output ---- */

static double part_heavy(const struct contamination *t)
{
    double all = t->mass_light + t->mass_heavy;
    return all > 0 ? t->mass_heavy / all : 0;
}

static void print_verdict(const struct contamination *t, const char *path)
{
    const double *c = t->zone.centre;
    char where[128];
    if (t->zone.sphere)
        snprintf(where, sizeof where, "within %.6g of %.6g, %.6g, %.6g", t->zone.radius, c[0], c[1],
                 c[2]);
    else
        snprintf(where, sizeof where, "in the mask (variable %d > %.6g)", t->variable, t->cut);
    printf("%s: %s: %s, %ld of %ld dark matter particles are heavy, %.3g %% of its mass", path,
           t->inside_heavy ? "contaminated" : "clean", where, (long)t->inside_heavy,
           (long)(t->inside_light + t->inside_heavy), 100 * part_heavy(t));
    if (t->heavy == 0)
        printf("; the checkpoint has particles of one mass only\n");
    else
        printf("; the nearest is %.6g from %s\n", t->nearest,
               t->zone.sphere ? "the centre" : "the mask");
}

static void print_text(const struct contamination *t, const char *path, const struct options *o)
{
    print_verdict(t, path);
    if (o->quiet) return;
    printf("  %-24s %12s %12s %12s\n", "mass", "particles", "in it", "nearest");
    for (int k = 0; k < CLASSES; k++) {
        const struct class *c = &t->class[k];
        char mass[32];
        int n = snprintf(mass, sizeof mass, "%.6g", c->min);
        if (c->max > c->min) snprintf(mass + n, sizeof mass - (size_t)n, " - %.6g", c->max);
        if (c->n)
            printf("  %-24s %12ld %12ld %12.6g\n", mass, (long)c->n, (long)c->inside,
                   sqrt(c->far2));
    }
}

static void print_classes(const struct contamination *t)
{
    int n = 0;
    printf(",\"masses\":[");
    for (int k = 0; k < CLASSES; k++) {
        const struct class *c = &t->class[k];
        if (!c->n) continue;
        printf("%s{\"heavy\":%s", n++ ? "," : "", k ? "true" : "false");
        json_number("min", c->min);
        json_number("max", c->max);
        json_count("particles", c->n);
        json_count("inside", c->inside);
        json_number("mass_inside", sum_get(&c->mass_inside));
        json_number("nearest", sqrt(c->far2));
        printf("}");
    }
    printf("]");
}

static void print_json(const struct contamination *t, const char *path)
{
    const double *c = t->zone.centre;
    json_begin("contamination", path);
    json_text("region", t->zone.sphere ? "sphere" : "mask");
    if (t->zone.sphere) {
        printf(",\"center\":[%.17g,%.17g,%.17g]", c[0], c[1], c[2]);
        json_number("radius", t->zone.radius);
    } else {
        json_count("variable", t->variable);
        json_number("cut", t->cut);
    }
    json_number("volume", zone_volume(&t->zone));
    json_bool("clean", t->inside_heavy == 0);
    json_count("light", t->inside_light);
    json_count("heavy", t->inside_heavy);
    json_number("light_mass", t->mass_light);
    json_number("heavy_mass", t->mass_heavy);
    json_count("heavy_in_box", t->heavy);
    json_number("nearest", t->nearest);
    json_number("mass_cut", sqrt(8) * t->min);
    print_classes(t);
    json_end();
}
