/* inspect: --halos: friends-of-friends groups and spherical overdensities (lib/halo). All ranks
 * read. */
#include "audit/halos.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "formats/formats.h"
#include "hdf5/table_h5.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "view/births.h"
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

/* The columns of the table, and those that yt looks for in a halo catalogue: names, columns of
 * ours, and units. */
static const struct alias {
    const char *name, *of, *unit, *text;
} ALIASES[] = {{"particle_identifier", "id", "", "id of the densest particle"},
               {"particle_mass", "mass", "Msun", "mass of the members"},
               {"particle_position_x", "x", "cm", "centre, proper"},
               {"particle_position_y", "y", "cm", "centre, proper"},
               {"particle_position_z", "z", "cm", "centre, proper"},
               {"particle_velocity_x", "vx", "km/s", "mean velocity of the members"},
               {"particle_velocity_y", "vy", "km/s", "mean velocity of the members"},
               {"particle_velocity_z", "vz", "km/s", "mean velocity of the members"},
               {"virial_radius", "rvir", "kpc", "radius of the sphere of virial overdensity"}};
enum { NALIAS = sizeof ALIASES / sizeof *ALIASES, H5_COLUMNS = 64 };

/* Fills a column of the file, and its values. */
static void h5_column(const struct halo_table *t, int of, const struct alias *a, double *row,
                      struct table_h5_column *c)
{
    const char *unit, *name = halo_column(of, &unit);
    const bool whole = halo_column_whole(of), box = strcmp(unit, "box") == 0;
    const double scale = a && box ? t->box->boxlen * t->box->unit_l : 1;
    for (int64_t i = 0; i < t->list->n; i++) {
        const int64_t n = of == 0 ? t->list->at[i].id : (int64_t)halo_value(t, i, of);
        const double x = halo_value(t, i, of) * scale;
        memcpy(row + i, whole ? (const void *)&n : &x, sizeof x);
    }
    *c = (struct table_h5_column){.name = a ? a->name : name,
                                  .unit = a     ? a->unit
                                          : box ? ""
                                                : unit,
                                  .description = a     ? a->text
                                                 : box ? "centre over the box"
                                                       : NULL,
                                  .real = whole ? NULL : row,
                                  .whole = whole ? (const int64_t *)(const void *)row : NULL};
}

static int column_named(const char *name)
{
    const char *unit;
    for (int c = 0; c < halo_columns(); c++)
        if (strcmp(halo_column(c, &unit), name) == 0) return c;
    return -1;
}

static enum err write_h5(const struct halo_table *t, const struct halos *h,
                         const struct table_h5_column *column, int columns)
{
    const struct options *o = h->o;
    const struct halo_box *b = t->box;
    const double side = b->boxlen * b->unit_l, zero[3] = {0}, edge[3] = {side, side, side},
                 z = b->cosmo ? 1 / b->aexp - 1 : 0, hubble = b->h0 / 100, time = births_age(h->r);
    const int64_t cosmo = b->cosmo;
    const struct table_h5_note note[] = {{"source", t->path, 0, NULL, NULL},
                                         {"data_type", "halo_catalog", 0, NULL, NULL},
                                         {"num_halos", NULL, 1, NULL, &t->list->n},
                                         {"cosmological_simulation", NULL, 1, NULL, &cosmo},
                                         {"current_redshift", NULL, 1, &z, NULL},
                                         {"current_time", NULL, 1, &time, NULL},
                                         {"current_time_units", "s", 0, NULL, NULL},
                                         {"hubble_constant", NULL, 1, &hubble, NULL},
                                         {"omega_matter", NULL, 1, &b->omega_m, NULL},
                                         {"omega_lambda", NULL, 1, &b->omega_l, NULL},
                                         {"domain_left_edge", NULL, 3, zero, NULL},
                                         {"domain_left_edge_units", "cm", 0, NULL, NULL},
                                         {"domain_right_edge", NULL, 3, edge, NULL},
                                         {"domain_right_edge_units", "cm", 0, NULL, NULL},
                                         {"link", NULL, 1, &t->part, NULL}};
    const struct table_h5 table = {.kind = "halos",
                                   .n = t->list->n,
                                   .columns = columns,
                                   .column = column,
                                   .notes = sizeof note / sizeof *note,
                                   .note = note};
    return table_h5_write(o->out, &table, o->force);
}

static enum err save_h5(const struct halo_table *t, const struct halos *h)
{
    struct table_h5_column column[H5_COLUMNS];
    const size_t n = (size_t)t->list->n;
    const int own = halo_columns(), all = own + NALIAS;
    double *row = mem_new(sizeof *row * n * (size_t)all + 1, "table");
    BUG_ON(all > H5_COLUMNS);
    for (int c = 0; c < all; c++) {
        const struct alias *a = c < own ? NULL : &ALIASES[c - own];
        h5_column(t, a ? column_named(a->of) : c, a, row + n * (size_t)c, &column[c]);
    }
    const enum err err = write_h5(t, h, column, all);
    FREE(row);
    return err;
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
    const struct picture numbers = {.draw = halos_plot, .what = &f};
    enum err err = o->halos.plot ? save_plot(&f, o, path) : OK;
    if (err == OK && o->out) err = save_h5(&t, h);
    if (err == OK) err = picture_save_numbers(o->data, path, &numbers);
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
    if (o->c.rank == 0 && err == OK) err = plot_allowed(o);
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
