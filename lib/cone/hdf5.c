/* cone/hdf5: a slice as one HDF5 file, in physical units, whose bytes do not depend on ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "ckpt/catalog.h"
#include "cone/priv.h"
#include "cone/rows.h"

#ifdef PTAH_HDF5
#include "hdf5/file.h"

enum { VERSION = 1, BLOCK = 8192, SETS = 80, GROUPS = 4 };

/* The rule by which a value of a row becomes one of a dataset: as it is, or times a power of the
 * unit of this kind at the expansion factor of the event. */
enum unit { PLAIN, LENGTH, SPEED, MASS, DENSITY, PRESSURE, SOLAR };
static const char *const UNIT[] = {
    "", "Mpc (comoving)", "km/s (peculiar)", "Msun", "g/cm3 (proper)", "erg/cm3 (proper)", "Msun"};

struct set {
    char name[64];
    char type;
    int value, count; /* first value of a row, −1: the replica; values of a row */
    enum unit unit;
    int number; /* of the dataset in the file */
};

struct group {
    const char *name;
    struct cone_rows *rows;
    int64_t total, first;
    int n;
    struct set set[SETS];
};

struct out {
    const struct cone_slice *s;
    struct hdf5_file f;
    struct group group[GROUPS]; /* particles, gas, sinks, galaxies */
};

static void add(struct group *g, const char *name, char type, int value, int count, enum unit unit)
{
    BUG_ON(g->n == SETS);
    struct set *s = &g->set[g->n++];
    *s = (struct set){.type = type, .value = value, .count = count, .unit = unit};
    snprintf(s->name, sizeof s->name, "%s/%s", g->name, name);
}

static void add_common(struct group *g)
{
    add(g, "position", 'd', ROW_POSITION, 3, LENGTH);
    add(g, "velocity", 'd', ROW_VELOCITY, 3, SPEED);
    add(g, "redshift", 'd', ROW_REDSHIFT, 1, PLAIN);
    add(g, "replica", 'i', -1, 3, PLAIN);
}

static void list_particles(struct out *w, struct cone_rows *rows)
{
    struct group *g = &w->group[0];
    *g = (struct group){.name = "particles", .rows = rows};
    add_common(g);
    add(g, "identity", 'q', ROW_ID, 1, PLAIN);
    add(g, "family", 'b', ROW_FAMILY, 1, PLAIN);
    add(g, "mass", 'd', ROW_MASS, 1, MASS);
    if (w->s->parts->birth) add(g, "birth_time", 'd', ROW_BIRTH, 1, PLAIN);
    if (w->s->parts->metal) add(g, "metallicity", 'd', ROW_METAL, 1, PLAIN);
}

static void list_gas(struct out *w, struct cone_rows *rows)
{
    struct group *g = &w->group[1];
    const struct gas_vars *names = w->s->head->gas;
    char name[GAS_NAME];
    *g = (struct group){.name = "gas", .rows = rows};
    add_common(g);
    add(g, "size", 'd', ROW_SIZE, 1, LENGTH);
    add(g, "density", 'd', ROW_GAS, 1, DENSITY);
    add(g, "pressure", 'd', ROW_GAS + 1, 1, PRESSURE);
    for (int k = GAS_SCALARS; k < w->s->mesh->nvar; k++) {
        if (names)
            snprintf(name, sizeof name, "%s", names->name[k]);
        else
            snprintf(name, sizeof name, "scalar_%02d", k - GAS_SCALARS);
        add(g, name, 'd', ROW_GAS + 2 + k - GAS_SCALARS, 1,
            k - GAS_SCALARS < w->s->head->energy.n ? PRESSURE : PLAIN);
    }
}

/* Further columns of sinks have the names of the table of sinks, and code units. */
static void list_sinks(struct out *w, struct cone_rows *rows)
{
    struct group *g = &w->group[2];
    *g = (struct group){.name = "sinks", .rows = rows};
    add_common(g);
    add(g, "identity", 'q', ROW_ID, 1, PLAIN);
    add(g, "mass", 'd', ROW_MASS, 1, MASS);
    for (int k = 0; k < SINK_VALUES; k++) {
        const struct catalog_column *c = cone_sink_column(w->s->sinks, k);
        if (c) add(g, c->name, 'd', ROW_SINK + k, 1, PLAIN);
    }
}

static void list_galaxies(struct out *w, struct cone_rows *rows)
{
    struct group *g = &w->group[3];
    *g = (struct group){.name = "galaxies", .rows = rows};
    add_common(g);
    add(g, "identity", 'q', ROW_ID, 1, PLAIN);
    add(g, "mass", 'd', ROW_MASS, 1, MASS);
    add(g, "stellar_mass", 'd', ROW_STARS, 1, SOLAR);
    add(g, "kind", 'b', ROW_KIND, 1, PLAIN);
    add(g, "clump", 'q', ROW_CLUMP, 1, PLAIN);
}

/* Fills the rows of the groups that the slice has. (collective) */
static void fill_groups(struct out *w, struct cone_rows rows[GROUPS])
{
    const struct cone_slice *s = w->s;
    if (!s->galaxies) cone_rows_of(s, &rows[0]);
    if (!s->galaxies) list_particles(w, &rows[0]);
    if (s->mesh) cone_rows_gas(s, &rows[1]);
    if (s->mesh) list_gas(w, &rows[1]);
    if (s->sinks) cone_rows_sinks(s, &rows[2]);
    if (s->sinks) list_sinks(w, &rows[2]);
    if (s->galaxies) cone_rows_galaxies(s, &rows[3]);
    if (s->galaxies) list_galaxies(w, &rows[3]);
    for (int k = 0; k < GROUPS; k++)
        if (w->group[k].n)
            w->group[k].total = cone_rows_deal(&rows[k], s->comm, BLOCK, &w->group[k].first);
}

/* ---- values ---- */

/* The unit at redshift z. Code units: those of the header, with their powers of a. */
static double unit_at(const struct out *w, enum unit unit, double z)
{
    const struct ckpt_head *h = w->s->head;
    double a = 1 / (1 + z), grown = a / h->aexp;
    double speed = h->unit_l / h->unit_t / grown, rho = h->unit_d / (grown * grown * grown);
    switch (unit) {
    case PLAIN:
    case SOLAR:
        return 1;
    case LENGTH:
        return w->s->shell->box_mpc;
    case SPEED:
        return speed / CGS_KM;
    case MASS:
        return h->unit_d * h->unit_l * h->unit_l * h->unit_l / CGS_MSUN;
    case DENSITY:
        return rho;
    case PRESSURE:
        return rho * speed * speed;
    }
    return 1;
}

static void store(char type, int64_t at, int64_t x, char *to)
{
    const int32_t i = (int32_t)x;
    const int8_t b = (int8_t)x;
    if (type == 'q') memcpy(to + 8 * at, &x, 8);
    if (type == 'i') memcpy(to + 4 * at, &i, 4);
    if (type == 'b') memcpy(to + at, &b, 1);
}

static void fill(const struct out *w, const struct group *g, const struct set *s, char *to)
{
    double *x = (double *)to;
    for (int64_t i = 0; i < g->rows->n; i++) {
        int32_t image[3];
        double unit = unit_at(w, s->unit, cone_value(g->rows, i, ROW_REDSHIFT));
        cone_row_image(g->rows, i, image);
        for (int k = 0; k < s->count; k++) {
            if (s->type == 'd')
                x[i * s->count + k] = cone_value(g->rows, i, s->value + k) * unit;
            else
                store(s->type, i * s->count + k,
                      s->value < 0 ? image[k] : cone_whole(g->rows, i, s->value), to);
        }
    }
}

/* ---- the file ---- */

static void numbers(struct hdf5_file *f, const char *name, int n, const double *x)
{
    hdf5_attr(f, "header", name, 'd', n, x);
}

static void fill_head(struct hdf5_file *f, const struct out *w)
{
    static const char *const kinds[] = {"open", "sky", "box"};
    const struct cone_slice *s = w->s;
    const struct ckpt_head *h = s->head;
    const struct cone_view *v = s->view;
    const struct cone_shell *e = s->shell;
    const int64_t version = VERSION, step = e->step;
    const double far[2] = {e->distance[0] * e->box_mpc, e->distance[1] * e->box_mpc};
    hdf5_word(f, "header", "format", "ptah-cone");
    hdf5_scalar(f, "header", "version", 'q', &version);
    hdf5_scalar(f, "header", "step", 'q', &step);
    hdf5_word(f, "header", "rule", e->rule == CONE_RAMSES ? "ramses" : "crossing");
    hdf5_word(f, "header", "shape", kinds[v->kind]);
    numbers(f, "aexp", 2, e->aexp);
    numbers(f, "redshift", 2, e->z);
    numbers(f, "distance_mpc", 2, far);
    numbers(f, "observer", 3, v->observer);
    numbers(f, "axes", 9, v->axis[0]);
    if (v->kind == CONE_OPEN) numbers(f, "tangents", 2, v->tangent);
    if (v->kind == CONE_BOX) numbers(f, "box_from", 3, v->lo), numbers(f, "box_to", 3, v->hi);
    hdf5_scalar(f, "header", "box_mpc", 'd', &e->box_mpc);
    hdf5_scalar(f, "header", "h0", 'd', &h->h0);
    hdf5_scalar(f, "header", "omega_m", 'd', &h->omega_m);
    hdf5_scalar(f, "header", "omega_l", 'd', &h->omega_l);
    hdf5_scalar(f, "header", "omega_b", 'd', &h->omega_b);
}

static void fill_file(struct hdf5_file *f, const void *ctx)
{
    const struct out *w = ctx;
    hdf5_small(f, "header/", 'i', 0, NULL); /* an empty group */
    hdf5_attr(f, "header", "particles", 'q', 1, &w->group[0].total);
    hdf5_attr(f, "header", "cells", 'q', 1, &w->group[1].total);
    if (w->s->sinks) hdf5_attr(f, "header", "sinks", 'q', 1, &w->group[2].total);
    if (w->s->galaxies) hdf5_attr(f, "header", "galaxies", 'q', 1, &w->group[3].total);
    fill_head(f, w);
    hdf5_make_sets(f);
    for (int k = 0; k < GROUPS; k++)
        for (int i = 0; i < w->group[k].n; i++)
            if (w->group[k].set[i].unit != PLAIN && w->group[k].total)
                hdf5_word(f, w->group[k].set[i].name, "unit", UNIT[w->group[k].set[i].unit]);
}

static void plan(struct out *w, struct group *g)
{
    for (int i = 0; i < g->n; i++) {
        struct set *s = &g->set[i];
        const int64_t dim[2] = {g->total, s->count};
        s->number = hdf5_add(&w->f, s->type, g->total * s->count, BLOCK * s->count, "%s", s->name);
        if (s->count > 1) hdf5_shape(&w->f, s->number, 2, dim);
    }
}

static enum err write_file(struct out *w)
{
    TRY(hdf5_create(&w->f, fill_file, w));
    for (int k = 0; k < GROUPS; k++) {
        const struct group *g = &w->group[k];
        if (!g->n) continue;
        char *values = mem_new(24 * (size_t)g->rows->n + 1, "light cone");
        for (int i = 0; i < g->n; i++) {
            const struct set *s = &g->set[i];
            fill(w, g, s, values);
            hdf5_put(&w->f, s->number, g->first * s->count, g->rows->n * s->count, values);
        }
        mem_free(values);
    }
    return hdf5_close(&w->f);
}

enum err cone_write_hdf5(const struct cone_slice *s)
{
    struct cone_rows rows[GROUPS] = {{0}};
    struct out *w = mem_zero(sizeof *w, "light cone");
    struct cone_folder f;
    char path[PATH_MAX];
    w->s = s;
    fill_groups(w, rows);
    enum err err = cone_folder_begin(&f, s);
    if (err == OK) {
        if (snprintf(path, sizeof path, "%s/%s_%05d.h5", f.tmp, cone_name(s), s->shell->step) >=
            (int)sizeof path)
            err = err_set(ERR_FILE, "%.80s…: the path is too long", f.tmp);
        hdf5_init(&w->f, s->comm, path, 0);
        w->f.sync = &f.files;
        for (int k = 0; k < GROUPS; k++) plan(w, &w->group[k]);
        if (err == OK) err = write_file(w);
        hdf5_fini(&w->f);
        err = cone_folder_end(&f, err);
    }
    for (int k = 0; k < GROUPS; k++) cone_rows_free(&rows[k]);
    mem_free(w);
    return err;
}

enum err cone_can_hdf5(void)
{
    return OK;
}
#else
enum err cone_can_hdf5(void)
{
    FAIL(ERR_LIMIT, "cone_format='hdf5' in &LIGHTCONE_PARAMS: this program was built without HDF5: "
                    "install its library, then run make, or leave cone_format out");
}

enum err cone_write_hdf5(const struct cone_slice *s)
{
    return cone_can_hdf5();
}
#endif
