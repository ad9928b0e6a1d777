/* inspect: -d, the digest of the physical state. */
#include "audit/digest.h"

#include <stdio.h>

#include "formats/formats.h"
#include "inspect.h"

static void print_json(const char *path, const struct digest *d)
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

static void print_text(const char *path, const struct digest *d, const struct options *o)
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
        print_json(path, &d);
    else
        print_text(path, &d, o);
    return OK;
}
