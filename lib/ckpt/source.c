#include "ckpt/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ckpt/magnetic.h"
#include "ckpt/manifest.h"
#include "ckpt/sane.h"
#include "oct/field_sets.h"
#include "param/param.h"

static const double SMALLR = 1e-10; /* RAMSES's default, which its files do not store */

/* ---- opening ---- */

static enum err set_path(struct source *s, const char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    if (n == 0) FAIL(ERR_FILE, "the path of the checkpoint is empty");
    if (n >= sizeof s->path) FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    memcpy(s->path, dir, n);
    return OK;
}

static enum err columns_locate(struct source *s)
{
    part_columns_init(&s->columns);
    for (int i = 0; i < s->npart; i++) {
        int c = part_column_add(&s->columns, s->part[i].name, s->part[i].type);
        if (c < 0)
            FAIL(ERR_LIMIT, "%s: has more than %d columns of particles, the limit of this program",
                 s->path, COL_MAX);
        s->column_at[c] = i, s->part_at[i] = c;
    }
    return OK;
}

/* Sets the names of the gas variables to the names in the format. */
static void name_gas(struct source *s)
{
    gas_vars_init(&s->gas);
    s->gas.n = s->nhydro;
    for (int v = 0; v < s->nhydro; v++) gas_vars_rename(&s->gas, v, s->field[v].name);
    s->head.gas = &s->gas;
}

void source_state_gas(struct source *s)
{
    if (s->head.magnetic || s->ordered) name_gas(s); /* whose fields may have changed places */
    const struct gas_vars file = s->gas;
    if (!s->ordered) s->head.energy.n = s->energy.n = 0; /* not those of a gas that is known */
    if (!s->head.hydro || s->head.nvar != s->nhydro) return;
    const int velocities = source_velocities(s);
    s->head.nvar = s->nhydro + 3 - velocities;
    gas_vars_init(&s->gas);
    for (int v = GAS_SCALARS; v < s->head.nvar; v++)
        gas_vars_add(&s->gas, file.name[gas_in_file(velocities, v)]);
}

struct gas_order source_order(const struct source *s)
{
    return (struct gas_order){s->nhydro, source_velocities(s) + 1,
                              s->ordered ? s->head.energy.n : 0};
}

void source_set_energies(struct source *s, const double gamma[GAS_ENERGIES])
{
    for (int k = 0; k < s->energy.n; k++) s->exact &= s->energy.gamma[k] == gamma[k];
    memcpy(s->energy.gamma, gamma, sizeof s->energy.gamma);
}

static bool is_pressure(const char *name)
{
    return strcmp(name, "pressure") == 0 || strcmp(name, "thermal_pressure") == 0;
}

/* Whether the six fields of faces are before the pressure. */
static bool faces_are_there(const struct source *s)
{
    const struct magnetic b = magnetic_of(s);
    const int all = s->nhydro, faces = fields_count(MAGNETIC, FILE_HYDRO, 3);
    const struct gas_order order = {all - faces, GAS_PRESSURE, 0};
    if (!b.there || b.face[0] != GAS_PRESSURE || all < GAS_SCALARS + faces) return false;
    for (int f = 0; f < faces; f++)
        if (b.face[f] != fields_column(MAGNETIC, order, all - faces + f)) return false;
    return true;
}

bool source_take_fields(struct source *s, int *was)
{
    const int all = s->nhydro, nener = s->head.energy.n;
    const bool faces = faces_are_there(s);
    const field_set set = faces ? MAGNETIC : 0;
    const int velocities = faces ? 3 : s->head.ndim, beside = fields_count(set, FILE_HYDRO, 3);
    const struct gas_order order = {all - beside, velocities + 1, nener};
    const int pressure = fields_column(set, order, order.pressure);
    if ((!faces && nener == 0) || pressure >= all || !is_pressure(s->field[pressure].name))
        return false;
    for (int k = 1; k <= nener; k++)
        if (!gas_name_energy(s->field[pressure - k].name)) return false;
    struct ckpt_field field[CKPT_FIELDS];
    memcpy(field, s->field, sizeof field);
    s->fields |= set;
    s->head.magnetic |= faces;
    s->ordered = true;
    s->nhydro = s->head.nvar = order.nvar;
    for (int v = 0; v < all; v++) {
        const int at = fields_column(set, order, v);
        s->field[v] = field[at];
        if (was) was[v] = at;
    }
    /* their numbers begin with 1; RAMSES's depend on the dimensions */
    for (int k = 0; k < nener; k++)
        snprintf(s->field[order.pressure + 1 + k].name, sizeof s->field->name, "%s",
                 gas_scalar_name((enum gas_scalar)(SCALAR_ENERGY_1 + k)));
    return true;
}

enum err source_check_magnetic(const struct source *s)
{
    const struct magnetic b = magnetic_of(s);
    for (int i = 0; i < s->nhydro; i++) {
        char name[16], lacks[48] = "";
        if (strncmp(s->field[i].name, "B_", 2) != 0) continue;
        for (int f = 5; f >= 0; f--) {
            magnetic_name(f, name);
            if (b.face[f] < 0) snprintf(lacks, sizeof lacks, ", and has no field %s", name);
        }
        FAIL(ERR_LIMIT,
             "%s: has a magnetic field, but not in the fields B_x_left to B_z_right behind three "
             "velocities and before the pressure, as RAMSES has it%s",
             s->path, lacks);
    }
    return OK;
}

void source_count_state(struct source *s)
{
    s->nvalue = (s->head.hydro ? s->head.nvar : 0) + fields_count(s->values, FILE_HYDRO, 3) +
                fields_count(s->values, FILE_GRAVITY, 3);
    if (s->values & PHOTONS) s->nvalue += PHOTON_VALUES * s->head.radiation.groups;
}

int source_value_of(const struct source *s, int f)
{
    for (int v = 0; v < s->nfield; v++)
        if (field_stored(s->fields, s->nhydro, v, s->head.ndim) == f) return v;
    return -1;
}

/* Fills in the columns that every run has but the checkpoint lacks. */
static void fill_in(struct source *s)
{
    for (int c = 0; c < COL_COUNT; c++) {
        enum part_lack lack = part_column(&s->columns, c)->lack;
        if (!s->columns.has[c] || s->column_at[c] >= 0) continue;
        s->lacking[c] = mem_zero(sizeof(int64_t) * CKPT_PART_BATCH, "snapshot batch");
        for (int i = 0; lack == LACK_LEVELMIN && i < CKPT_PART_BATCH; i++)
            s->lacking[c][i] = s->head.levelmin;
    }
}

static void add_name(struct source *s, const char *name)
{
    size_t n = strlen(s->left_out);
    snprintf(s->left_out + n, sizeof s->left_out - n, "%s%s", n ? ", " : "", name);
}

static void list_rest(struct source *s)
{
    for (int c = 0; c < s->columns.n; c++) {
        const struct part_column *col = part_column(&s->columns, c);
        if (s->columns.has[c] && col->when == WHEN_FOUND) add_name(s, col->name);
    }
    if (s->sinks->n) add_name(s, "sink particles");
    if (s->stellar->n) add_name(s, "stellar objects");
}

/* Makes names from files safe to print. */
static void plain_names(struct source *s)
{
    for (int i = 0; i < s->nfield; i++) plain_text(s->field[i].name);
    for (int i = 0; i < s->npart; i++) plain_text(s->part[i].name);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < s->table[k].ncol; i++) plain_text(s->table[k].col[i].name);
    plain_text(s->ordering);
    plain_text(s->format);
}

/* Another code stores the density times the reduced speed of light, and calls it flux. */
static void ramses_photons(int f, char name[FIELD_NAME])
{
    snprintf(name, FIELD_NAME, "photon_flux_%02d", photons_group(f) + 1);
}

enum err source_add_rows(struct source *s)
{
    const int end = s->nhydro + fields_count(s->fields, FILE_HYDRO, s->head.ndim) + s->ngrav +
                    s->nphoton;
    for (s->nfield = s->nhydro; s->nfield < end;) {
        char name[FIELD_NAME];
        const int f = field_stored(s->fields, s->nhydro, s->nfield, s->head.ndim);
        field_name(f, name);
        if (s->foreign && field_in(PHOTONS, f) && field_axis(f) < 0) ramses_photons(f, name);
        TRY(source_add_field(s->path, s->field, &s->nfield, name, 'd'));
    }
    return OK;
}

static void take_namelist(struct source *s, const struct params *p)
{
    if (s->head.cosmo)
        s->head.dark = cosmo_dark_of(p->cpl.w0, p->cpl.wa, p->run.use_ede, p->ede.omega_ede,
                                     p->ede.z_ede, p->ede.w_ede);
    if (s->energy_untold)
        memcpy(s->head.energy.gamma, p->hydro.gamma_rad, sizeof s->head.energy.gamma);
}

/* Of dark energy that is no constant, and of indices of non-thermal energies, only the namelist
 * tells. Without a namelist that can be read they have their defaults: a restart reports the
 * namelist. */
static void read_namelist(struct source *s)
{
    char *text = NULL;
    size_t bytes = 0;
    int left_out;
    if (!(s->head.cosmo || s->energy_untold) || !s->kind->text) return;
    struct params *p = mem_zero(sizeof *p, "parameters");
    if (source_text(s, FILES_NAMELIST, &text, &bytes) == OK && text &&
        param_read_loose(p, text, bytes, "its namelist", &left_out) == OK)
        take_namelist(s, p);
    mem_free(text);
    mem_free(p);
}

enum err source_open_as(const struct source_kind *kind, const char *dir, struct source **out)
{
    return source_open_with(kind, dir, NULL, out);
}

enum err source_open_with(const struct source_kind *kind, const char *dir, void *impl,
                          struct source **out)
{
    struct source *s = mem_zero(sizeof *s, "snapshot");
    s->kind = kind, s->impl = impl;
    s->table = mem_zero(2 * sizeof *s->table, "snapshot");
    s->sinks = &s->table[0], s->stellar = &s->table[1];
    for (int c = 0; c < COL_MAX; c++) s->column_at[c] = -1;
    for (int d = 0; d < 3; d++) s->coarse[d] = 1;
    snprintf(s->format, sizeof s->format, "%s", kind->name);
    enum err err = set_path(s, dir);
    if (err == OK) err = kind->open(s);
    if (err == OK) plain_names(s);
    if (err == OK) name_gas(s);
    if (err == OK) err = columns_locate(s);
    if (err == OK && s->head.particles) fill_in(s);
    if (err == OK) list_rest(s);
    if (err == OK) read_namelist(s);
    if (err != OK) source_close(&s);
    *out = s;
    return err;
}

void source_close(struct source **out)
{
    struct source *s = *out;
    if (!s) return;
    if (s->kind->close) s->kind->close(s);
    manifest_free(&s->list);
    FREE(s->out_times);
    for (int k = 0; s->table && k < 2; k++) catalog_free(&s->table[k]);
    FREE(s->table);
    for (int c = 0; c < COL_COUNT; c++) FREE(s->lacking[c]);
    FREE(*out);
}

enum err source_state(struct source *s, double gamma, double smallr)
{
    s->gamma = gamma, s->smallr = smallr;
    s->energy = s->head.energy;
    if (!s->kind->state)
        FAIL(ERR_LIMIT, "%s: the format %s does not contain the state of a run", s->path,
             s->kind->name);
    TRY(s->kind->state(s));
    if (s->gamma == 0) s->gamma = s->head.gamma;
    if (s->smallr == 0) s->smallr = s->head.smallr > 0 ? s->head.smallr : SMALLR;
    s->head.smallr = s->smallr;
    return OK;
}

enum err source_whole(struct source *s, enum source_mode *mode)
{
    *mode = s->foreign ? SOURCE_STORED : SOURCE_STATE;
    if (!s->foreign) return source_state(s, 0, 0);
    if (s->coarse[0] * s->coarse[1] * s->coarse[2] != 1)
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld coarse cells inside the box; only checkpoints with one can "
             "be written (inspect can read this one)",
             s->path, (long)s->coarse[0], (long)s->coarse[1], (long)s->coarse[2]);
    s->nvalue = s->nfield;
    s->gamma = s->head.gamma;
    s->smallr = s->head.smallr > 0 ? s->head.smallr : SMALLR;
    s->head.smallr = s->smallr;
    return OK;
}

/* ---- reading ---- */

struct counting {
    struct source *s;
    int piece;
    enum source_mode mode;
    char file[PATH_MAX];
    source_octs_fn *octs;
    source_parts_fn *parts;
    void *ctx;
};

static enum err count_octs(const struct source_octs *o, void *ctx)
{
    const struct counting *k = ctx;
    struct ckpt_counts *t = &k->s->counts;
    struct source_octs mine = *o;
    mine.source = k->s, mine.piece = k->piece;
    if (!mine.file) mine.file = k->file;
    for (int i = 0; i < o->n; i++) t->split[o->level] += __builtin_popcount(o->split[i]);
    t->octs[o->level] += o->n;
    return k->octs(&mine, k->ctx);
}

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    const struct counting *k = ctx;
    struct source_parts mine = *p;
    mine.source = k->s, mine.piece = k->piece;
    if (!mine.file) mine.file = k->file;
    k->s->counts.particles += p->n;
    if (k->mode == SOURCE_STATE) TRY(sane_parts(mine.file, k->s->head.boxlen, &mine));
    return k->parts(&mine, k->ctx);
}

enum err source_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                     void *ctx)
{
    struct counting k = {.s = s, .piece = piece, .octs = fn, .ctx = ctx};
    source_file(s, FILES_HYDRO, piece, k.file);
    return s->kind->octs(s, piece, mode, count_octs, &k);
}

enum err source_parts(struct source *s, int piece, enum source_mode mode, source_parts_fn *fn,
                      void *ctx)
{
    struct counting k = {.s = s, .piece = piece, .mode = mode, .parts = fn, .ctx = ctx};
    source_file(s, FILES_PART, piece, k.file);
    return s->head.particles ? s->kind->parts(s, piece, count_parts, &k) : OK;
}

enum err source_text(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    *text = NULL, *bytes = 0;
    return s->kind->text ? s->kind->text(s, k, text, bytes) : OK;
}

bool source_places(int n, const double *restrict x, double skip, double scale, double side,
                   uint64_t *restrict ix)
{
    const double shift = 0x1.8p52;
    int bad = 0;
    for (int i = 0; i < n; i++) {
        double at = (x[i] - skip) * scale - 0.5, moved = at + shift;
        uint64_t bits;
        memcpy(&bits, &moved, sizeof bits);
        bad |= !(at > -0.25) | !(at < side - 0.75) | !(fabs(at - (moved - shift)) <= 1e-3);
        ix[i] = bits & (((uint64_t)1 << 51) - 1);
    }
    return !bad;
}

/* ---- consistency ---- */

enum err source_check_tree(const struct source *s)
{
    const struct ckpt_counts *t = &s->counts;
    for (int l = 1; l <= LEVEL_MAX; l++) {
        int64_t made = l == 1 ? s->coarse[0] * s->coarse[1] * s->coarse[2] : t->split[l - 1];
        if (t->octs[l] != made)
            FAIL(ERR_FORMAT,
                 "%s: level %d has %ld octs, but %ld cells of level %d are refined: the checkpoint "
                 "is damaged",
                 s->path, l, (long)t->octs[l], (long)made, l - 1);
        if (t->octs[l] != s->numbtot[l])
            FAIL(ERR_FORMAT,
                 "%s: level %d has %ld octs, but the header counts %ld: the checkpoint is damaged",
                 s->path, l, (long)t->octs[l], (long)s->numbtot[l]);
    }
    if (t->split[LEVEL_MAX])
        FAIL(ERR_FORMAT,
             "%s: cells of the finest possible level are marked as refined: the checkpoint is "
             "damaged",
             s->path);
    return OK;
}

int source_values(const struct source *s, enum source_mode mode)
{
    switch (mode) {
    case SOURCE_STATE:
        return s->nvalue;
    case SOURCE_STORED:
        return s->nfield;
    case SOURCE_TREE:
        break;
    }
    return 0;
}

int source_cells(const struct source *s)
{
    return 1 << s->head.ndim;
}

enum err source_in_space(const struct source *s, const char *what)
{
    const int ndim = s->head.ndim;
    if (ndim < 3)
        FAIL(ERR_LIMIT, "%s: has %d dimension%s, and %s need three", s->path, ndim,
             ndim > 1 ? "s" : "", what);
    return OK;
}

enum files_kind source_file_of(const struct source *s, int f)
{
    if (f >= s->nfield - s->nphoton && f < s->nfield) return FILES_RT;
    return f < source_hydro(s) || f >= s->nfield ? FILES_HYDRO : FILES_GRAV;
}

double source_dx(const struct source *s, int level)
{
    return ldexp(s->head.boxlen / (double)s->coarse[0], -level);
}

double source_rounding(const struct source *s)
{
    int at = s->column_at[COL_X];
    bool single = at >= 0 && s->part[at].type == 'f';
    return s->head.boxlen * (single ? 0x1p-23 : 0x1p-50);
}

void source_file(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX])
{
    if (!s->kind->file || s->kind->file(s, k, piece, path) != OK)
        snprintf(path, PATH_MAX, "%s", s->path);
}

/* ---- for kinds ---- */

enum err source_add_field(const char *path, struct ckpt_field *list, int *n, const char *name,
                          char type)
{
    if (*n == CKPT_FIELDS)
        FAIL(ERR_LIMIT, "%s: has more than %d variables, the limit of this program", path,
             CKPT_FIELDS);
    size_t k = strlen(name);
    if (k == 0 || k >= sizeof list->name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.") != k)
        FAIL(ERR_FORMAT,
             "%s: the name of variable %d is empty, too long, or contains other characters than "
             "letters, digits and _+-.",
             path, *n + 1);
    if (!strchr("dfiqhb?", type))
        FAIL(ERR_FORMAT, "%s: variable %s has an unknown type '%c'", path, name, type);
    memcpy(list[*n].name, name, k + 1);
    list[(*n)++].type = type == '?' ? 'i' : type;
    return OK;
}

enum err source_running(struct source *s, const struct ckpt_head *h, int ranks)
{
    struct gas_vars g; /* the first variables have RAMSES's names, as in files */
    s->head = *h;
    s->head.namelist = s->head.provenance = NULL;
    s->head.rest = NULL, s->head.nfile = 0;
    s->npiece = s->nwriter = ranks;
    s->by_rank = true;
    s->nboundary = h->boundary.n;
    gas_vars_init(&g);
    for (int v = 0; h->hydro && v < h->nvar; v++) {
        if (v >= GAS_SCALARS) gas_vars_add(&g, h->gas && v < h->gas->n ? h->gas->name[v] : NULL);
        if (gas_in_file(source_velocities(s), v) >= 0)
            TRY(source_add_field(s->path, s->field, &s->nhydro, g.name[v], 'd'));
    }
    s->fields = fields_written(ckpt_kind(h, s->nhydro));
    s->ngrav = fields_count(s->fields, FILE_GRAVITY, s->head.ndim);
    s->nphoton = photons_count(PHOTON_VALUES * h->radiation.groups, s->head.ndim);
    return source_add_rows(s);
}

enum err source_running_state(struct source *s)
{
    s->values = s->fields;
    source_count_state(s);
    s->exact = s->state = true;
    return OK;
}

bool source_is_position(const struct source *s, int location)
{
    return location == s->column_at[COL_X] || location == s->column_at[COL_Y] ||
           location == s->column_at[COL_Z];
}

/* The values of a batch column; by_location is in file order. */
static const void *column_of(const struct source *s, const void *const *by_location, int c)
{
    if (s->column_at[c] >= 0) return by_location[s->column_at[c]];
    return c < COL_COUNT ? s->lacking[c] : NULL;
}

bool source_picks_parts(const struct source *s, int64_t n, const void *const *by_location)
{
    const double *x[3];
    for (int d = 0; d < 3; d++) x[d] = column_of(s, by_location, COL_X + d);
    return !s->pick || s->pick->parts(s->pick->ctx, n, x);
}

enum err source_hand_parts(const struct source *s, int64_t n, const void *const *by_location,
                           source_parts_fn *fn, void *ctx)
{
    struct source_parts p = {.n = n};
    for (int c = 0; c < s->columns.n; c++) p.col[c] = column_of(s, by_location, c);
    return fn(&p, ctx);
}
