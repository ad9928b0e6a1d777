/* inspect: --stars, the history of star formation. */
#include <stdio.h>

#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "view/history.h"

static void print_text(const struct history *h, const char *path)
{
    int64_t stars = 0;
    double total = 0, step = h->end / h->n;
    for (int b = 0; b < h->n; b++) stars += h->stars[b];
    printf("# ptah stars 1\n# source\t%s\n# stars\t%ld\n# mass\t%.9g\n", path, (long)stars,
           h->mass);
    printf("# since the %s: from, to in Gyr; redshift of the middle; stars; mass formed in "
           "Msun; rate in Msun/yr; mass formed until then in Msun\n"
           "#from\tto\tredshift\tstars\tformed\trate\ttotal\n",
           h->cosmo ? "Big Bang" : "beginning");
    for (int b = 0; b < h->n; b++) {
        total += h->formed[b];
        printf("%.9g\t%.9g\t", b * step, (b + 1) * step);
        put_number(stdout, 6, h->redshift[b]);
        printf("\t%ld", (long)h->stars[b]);
        const double x[] = {h->formed[b], h->rate[b], total};
        for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
            printf("\t");
            put_number(stdout, 9, x[k]);
        }
        printf("\n");
    }
}

static void print_json(const struct history *h, const char *path)
{
    json_begin("stars", path);
    json_number("mass", h->mass);
    json_number("end", h->end);
    printf(",\"history\":[");
    for (int b = 0; b < h->n; b++) {
        printf("%s{\"from\":%.17g", b ? "," : "", b * h->end / h->n);
        json_number("to", (b + 1) * h->end / h->n);
        json_number("redshift", h->redshift[b]);
        json_count("stars", h->stars[b]);
        json_number("formed", h->formed[b]);
        json_number("rate", h->rate[b]);
        printf("}");
    }
    printf("]");
    json_end();
}

enum err stars_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct history h = {.n = o->stars.bins};
    struct picture plot = {
        .format = (enum picture_format)o->format, .draw = history_plot, .what = &h};
    enum err err = o->out ? temp_may_write(o->out, o->force) : OK;
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = history_read(&h, r);
    if (err == OK && o->out) err = picture_save(o->out, &plot);
    if (err == OK) (o->json ? print_json : print_text)(&h, path);
    history_free(&h);
    source_close(&r);
    return err;
}
