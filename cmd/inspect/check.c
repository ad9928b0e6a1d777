/* inspect: what lib/audit finds: -c, whether a checkpoint is complete and valid, one line per
 * damage, and a verdict; -d, the digest of the physical state; two checkpoints, field by field. */
#include <stdio.h>

#include "audit/check.h"
#include "audit/compare.h"
#include "audit/digest.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"

struct printing {
    const struct options *o;
    int lines;
};

static void print_damage(const struct damage *d, void *ctx)
{
    struct printing *p = ctx;
    p->lines++;
    if (p->o->json) {
        printf("%s{\"file\":", p->lines > 1 ? "," : "");
        json_string(d->file);
        json_text("place", d->location);
        json_text("what", d->what);
        printf("}");
    } else {
        printf("%s%s%s%s%s\n", d->file, *d->file ? ": " : "", d->location, *d->location ? ": " : "",
               d->what);
    }
}

static void print_verdict(const char *path, const struct check_found *f, const struct options *o)
{
    if (o->quiet) return;
    if (f->damages) {
        printf("%s: damaged: %ld finding%s\n", path, (long)f->damages, f->damages > 1 ? "s" : "");
        return;
    }
    printf("%s: sound: %ld octs, %ld leaf cells, %ld particles; values %s\n", path, (long)f->octs,
           (long)f->leaves, (long)f->particles,
           f->sums ? "match their checksums" : "have no checksums");
    if (o->verbose && f->restricted > 0)
        printf("%s: split cells are the mean of their children within %.3g\n", path, f->restricted);
    if (f->magnetic)
        printf("%s: the copies of magnetic faces agree within %.3g of the strongest field; "
               "|div B| dx/|B| is at most %.3g\n",
               path, f->copies, f->divergence);
    if (f->cold)
        printf("%s: note: %ld cell%s negative pressure, which occurs in cold gas without "
               "pressure_fix\n",
               path, (long)f->cold, f->cold > 1 ? "s have a" : " has a");
    if (f->beyond)
        printf(
            "%s: note: %ld particle%s beyond the boundaries of the box, where RAMSES keeps them\n",
            path, (long)f->beyond, f->beyond > 1 ? "s are" : " is");
    if (f->strays)
        printf("%s: note: %ld particles are not on the rank of their cell, which RAMSES allows\n",
               path, (long)f->strays);
}

enum err check_print(const char *path, const struct options *o, int *status)
{
    struct printing p = {.o = o};
    struct check_found f;
    struct check_how how = {
        .depth = (enum check_depth)o->depth, .memory = o->memory, .fn = print_damage, .ctx = &p};
    if (o->json) {
        json_begin("check", path);
        printf(",\"damage\":[");
    }
    enum err err = ckpt_check(path, &how, &f);
    if (o->json) { /* the JSON line is closed after errors too */
        printf("]");
        json_text("verdict", err != OK ? "unknown" : f.damages ? "damaged" : "sound");
        json_count("damages", f.damages);
        json_count("level", o->depth);
        json_bool("checksums", f.sums);
        json_count("octs", f.octs);
        json_count("leaves", f.leaves);
        json_count("particles", f.particles);
        json_count("strays", f.strays);
        json_count("beyond", f.beyond);
        if (o->depth > 1) json_count("cold", f.cold);
        if (o->depth > 1) json_number("restriction", f.restricted);
        if (f.magnetic) json_number("face_copies", f.copies);
        if (f.magnetic) json_number("div_B", f.divergence);
        if (err != OK) json_text("trouble", err_message());
        json_end();
    } else if (err == OK) {
        print_verdict(path, &f, o);
    }
    if (err == OK && f.damages) *status = NO;
    return err;
}

/* ---- digest ---- */

static void digest_json(const char *path, const struct digest *d)
{
    char hex[33];
    json_begin("digest", path);
    digest_hex(d->state, hex);
    json_text("state", hex);
    printf(",\"fields\":{");
    for (int i = 0; i < d->n; i++) {
        digest_hex(d->line[i].hash, hex);
        printf("%s\"%s\":\"%s\"", i ? "," : "", d->line[i].name, hex);
    }
    printf("}");
    json_end();
}

static void digest_text(const char *path, const struct digest *d, const struct options *o)
{
    char hex[33];
    digest_hex(d->state, hex);
    if (o->quiet) {
        printf("%s  %s\n", hex, path);
        return;
    }
    if (o->many) printf("%s:\n", path);
    printf("%s  state\n", hex);
    for (int i = 0; i < d->n; i++) {
        digest_hex(d->line[i].hash, hex);
        printf("%s  %s\n", hex, d->line[i].name);
    }
}

enum err digest_print(const char *path, const struct options *o, int *status)
{
    struct source *r;
    struct digest d;
    enum err err = err_agree(&o->c, source_open(path, &r));
    if (err == OK) err = digest_snapshot(r, &o->c, &d);
    source_close(&r);
    if (err != OK || o->c.rank > 0) return err;
    if (o->json)
        digest_json(path, &d);
    else
        digest_text(path, &d, o);
    return OK;
}

/* ---- two checkpoints ---- */

static void print_text(const struct compared *c, const char *a, const char *b,
                       const struct options *o);
static void print_json(const struct compared *c, const char *a, const char *b,
                       const struct options *o);

enum err compare_print(const char *a, const struct options *o, int *status)
{
    const char *b = o->paths[1];
    struct compare_how how = {.rtol = o->rtol, .atol = o->atol, .memory = o->memory};
    struct compared *c = mem_new(sizeof *c, "comparison");
    enum err err = ckpt_compare(a, b, &how, c);
    if (err == OK && o->json)
        print_json(c, a, b, o);
    else if (err == OK && !o->quiet)
        print_text(c, a, b, o);
    if (err == OK && !c->same) *status = NO;
    FREE(c);
    return err;
}

/* ---- text ---- */

static const char *one_sided(const struct compare_field *f)
{
    return f->in_b < 0 ? "only in A" : f->in_a < 0 ? "only in B" : NULL;
}

static void print_where(const struct compare_field *f, bool cells)
{
    if (cells)
        printf("  level %d at %.9g %.9g %.9g\n", f->level, f->at[0], f->at[1], f->at[2]);
    else
        printf("  particle %ld\n", (long)f->id);
}

static void print_fields(const struct compare_field *f, int n, bool cells, int verbose)
{
    int lines = 0;
    for (int i = 0; i < n; i++) {
        if (one_sided(&f[i])) {
            printf("  %-20s %s\n", f[i].name, one_sided(&f[i]));
            continue;
        }
        if (!f[i].differing && !(verbose && f[i].max > 0)) continue;
        if (!lines++)
            printf("  %-20s %12s %12s %12s %12s  max at\n", cells ? "field" : "of particles",
                   "differing", "max", "relative", "L1");
        printf("  %-20s %12ld %12.4g %12.4g %12.4g", f[i].name, (long)f[i].differing,
               plain_number(f[i].max), plain_number(f[i].max_rel),
               plain_number(f[i].norm > 0 ? f[i].l1 / f[i].norm : f[i].l1));
        print_where(&f[i], cells);
    }
}

static void print_counts(const char *what, int64_t both, int64_t a, int64_t b)
{
    if (!both && !a && !b) return;
    printf("  %ld %s in both", (long)both, what);
    if (a) printf(", %ld only in A", (long)a);
    if (b) printf(", %ld only in B", (long)b);
    printf("\n");
}

static void print_text(const struct compared *c, const char *a, const char *b,
                       const struct options *o)
{
    printf("A: %s\nB: %s\n", a, b);
    for (int i = 0; i < c->nvalue; i++)
        if (c->value[i].differs)
            printf("  %-20s %.17g in A, %.17g in B\n", c->value[i].name,
                   plain_number(c->value[i].a), plain_number(c->value[i].b));
    print_counts("leaf cells", c->leaves, c->leaves_a, c->leaves_b);
    print_fields(c->field, c->nfield, true, o->verbose);
    print_counts("particles", c->parts, c->parts_a, c->parts_b);
    print_fields(c->part, c->npart_field, false, o->verbose);
    print_counts("sinks", c->sinks, c->sinks_a, c->sinks_b);
    print_fields(c->sink, c->nsink_field, false, o->verbose);
    printf("%s\n", !c->same                     ? "they differ"
                   : o->rtol > 0 || o->atol > 0 ? "the same within the tolerance"
                                                : "the same");
}

/* ---- JSON ---- */

static void json_fields(const char *name, const struct compare_field *f, int n, bool cells)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++) {
        printf("%s{\"name\":", i ? "," : "");
        json_string(f[i].name);
        if (one_sided(&f[i])) {
            printf(",\"only_in\":\"%s\"}", f[i].in_a < 0 ? "b" : "a");
            continue;
        }
        json_count("differing", f[i].differing);
        json_number("max_abs", f[i].max);
        json_number("max_rel", f[i].max_rel);
        json_number("l1", f[i].l1);
        json_number("norm", f[i].norm);
        if (f[i].max > 0 && cells) {
            json_count("level", f[i].level);
            printf(",\"at\":[%.17g,%.17g,%.17g]", f[i].at[0], f[i].at[1], f[i].at[2]);
            json_count("level_rel", f[i].level_rel);
            printf(",\"at_rel\":[%.17g,%.17g,%.17g]", f[i].at_rel[0], f[i].at_rel[1],
                   f[i].at_rel[2]);
        } else if (f[i].max > 0) {
            json_count("id", f[i].id);
            json_count("id_rel", f[i].id_rel);
        }
        printf("}");
    }
    printf("]");
}

static void print_json(const struct compared *c, const char *a, const char *b,
                       const struct options *o)
{
    json_begin("compare", a);
    json_text("path_b", b);
    json_bool("same", c->same);
    json_number("rtol", o->rtol);
    json_number("atol", o->atol);
    printf(",\"header\":[");
    int n = 0;
    for (int i = 0; i < c->nvalue; i++) {
        if (!c->value[i].differs) continue;
        printf("%s{\"name\":\"%s\",\"a\":", n++ ? "," : "", c->value[i].name);
        json_value(c->value[i].a);
        printf(",\"b\":");
        json_value(c->value[i].b);
        printf("}");
    }
    printf("]");
    json_count("leaves", c->leaves);
    json_count("leaves_only_a", c->leaves_a);
    json_count("leaves_only_b", c->leaves_b);
    json_fields("fields", c->field, c->nfield, true);
    json_count("particles", c->parts);
    json_count("particles_only_a", c->parts_a);
    json_count("particles_only_b", c->parts_b);
    json_fields("particle_fields", c->part, c->npart_field, false);
    json_count("sinks", c->sinks);
    json_count("sinks_only_a", c->sinks_a);
    json_count("sinks_only_b", c->sinks_b);
    json_fields("sink_fields", c->sink, c->nsink_field, false);
    json_end();
}
