/* inspect: --halos: friends-of-friends groups and spherical overdensities (lib/halo). All ranks
 * read. */
#include "audit/halos.h"

#include "base/log.h"
#include "base/mem.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "view/halos.h"
#include "view/unit.h"

enum { MEMBERS = 1 << 20 }; /* ids in a batch */

struct halos {
    struct source *r;
    const struct options *o;
    struct halos_found found;
};

static void print_json(const struct halo_table *t, const struct mass_function *f)
{
    const char *unit;
    json_begin("halos", t->path);
    if (t->box->cosmo) json_number("redshift", 1 / t->box->aexp - 1);
    json_number("link", t->list->link);
    json_count("min", t->min);
    json_number("particle", t->list->lightest * halo_solar(t->box));
    printf(",\"units\":{");
    for (int c = 0, n = 0; c < halo_columns(); c++) {
        const char *name = halo_column(c, &unit);
        if (*unit) printf("%s\"%s\":\"%s\"", n++ ? "," : "", name, unit);
    }
    printf("},\"halos\":[");
    for (int64_t i = 0; i < t->list->n; i++) {
        printf("%s{\"halo\":%ld", i ? "," : "", (long)(i + 1));
        for (int c = 0; c < halo_columns(); c++) {
            double x = halo_value(t, i, c);
            const char *name = halo_column(c, &unit);
            if (halo_column_whole(c))
                json_count(name, c == 0 ? t->list->at[i].id : (int64_t)x);
            else
                json_number(name, x);
        }
        printf("}");
    }
    printf("],\"mass_function\":[");
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        printf("%s{\"from\":%.9g", i ? "," : "", b->lo);
        json_number("to", b->hi);
        json_count("halos", b->n);
        json_number("dn_dlnm", b->dn);
        json_number("low", b->low);
        json_number("high", b->high);
        json_number("fit", b->fit);
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err save_plot(const struct mass_function *f, const struct options *o, const char *path)
{
    struct stream out;
    struct picture p = {
        .format = (enum picture_format)o->halos.plot_format, .draw = halos_plot, .what = f};
    if (o->halos.plot_format != FORMAT_TSV) return picture_save(o->halos.plot, &p);
    TRY(stream_open(&out, o->halos.plot));
    mass_function_tsv(out.f, f, path);
    return stream_close(&out, 0);
}

static enum err write_member(int64_t halo, int64_t n, const int64_t *id, void *ctx)
{
    FILE *out = ctx;
    for (int64_t i = 0; i < n && out; i++)
        fprintf(out, "%ld\t%ld\n", (long)(halo + 1), (long)id[i]);
    return OK;
}

/* Writes the file of member ids. (collective) */
static enum err save_members(const struct halos *h)
{
    const struct comm *c = &h->o->c;
    struct stream out = {.f = NULL};
    TRY(err_agree(c, c->rank ? OK : stream_open(&out, h->o->halos.members)));
    if (out.f) fprintf(out.f, "# ptah members 1\n# source\t%s\n#halo\tid\n", h->r->path);
    enum err err = halo_each_member(c, &h->found.list, MEMBERS, write_member, out.f);
    if (out.f && err == OK) err = stream_close(&out, 0);
    return err_agree(c, err);
}

static enum err print_halos(const struct halos *h, const char *path)
{
    const struct options *o = h->o;
    struct halo_table t = {&h->found.box, &h->found.list, path, o->halos.link, o->halos.min};
    struct mass_function f = mass_function_of(&t, h->r->head.omega_b, o->halos.sigma8, o->halos.ns);
    char title[160];
    unit_title(h->r, true, title, sizeof title);
    f.title = title;
    enum err err = o->halos.plot ? save_plot(&f, o, path) : OK;
    if (err == OK && o->json) print_json(&t, &f);
    if (err == OK && !o->json) halo_table_tsv(stdout, &t);
    FREE(f.bin);
    return err;
}

/* Runs the halo finder. (collective) */
static enum err find_halos(struct halos *h)
{
    const struct options *o = h->o;
    struct halos_request q = {.link = o->halos.link,
                              .min = o->halos.min,
                              .bound = o->halos.bound,
                              .members = o->halos.members != NULL,
                              .has_sphere = o->has_sphere,
                              .memory = o->has_memory ? o->memory : 0};
    for (int k = 0; k < 4; k++) q.sphere[k] = o->sphere[k];
    TRY(source_halos(h->r, &o->c, &q, &h->found));
    if (h->found.cut)
        log_info("%s: %ld halos extend beyond the particles that were read: give a larger region",
                 h->r->path, (long)h->found.cut);
    return OK;
}

enum err halos_print(const char *path, const struct options *o, int *status)
{
    struct halos h = {.o = o};
    enum err err = OK;
    if (o->c.rank == 0 && o->halos.plot) err = temp_may_write(o->halos.plot, o->force);
    if (o->c.rank == 0 && o->halos.members && err == OK)
        err = temp_may_write(o->halos.members, o->force);
    err = err_agree(&o->c, err);
    if (err == OK) err = err_agree(&o->c, source_open_state(path, 0, 0, &h.r));
    if (err == OK) err = source_in_space(h.r, "halos");
    if (err == OK) err = find_halos(&h);
    if (err == OK && o->halos.members) err = save_members(&h);
    if (err == OK) err = err_agree(&o->c, o->c.rank == 0 ? print_halos(&h, path) : OK);
    halo_list_free(&h.found.list);
    source_close(&h.r);
    return err;
}
