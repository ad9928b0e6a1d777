/* inspect: -c, whether a checkpoint is complete and valid: one line per damage, and a verdict; -d,
 * the digest of the physical state. */
#include <stdio.h>

#include "audit/check.h"
#include "audit/digest.h"
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
