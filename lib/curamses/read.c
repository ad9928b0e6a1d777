/* curamses/read: see read.h. Opening a checkpoint: header, Ptah's own group, fields and columns. */
#include "curamses/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/info.h"
#include "curamses/read_sets.h"
#include "curamses/sinks.h"

enum { PIECE_BLOCKS = 1, PIECES = 4096 };

static enum err snapshot_open(struct source *s, struct hdf5_in *h);

bool hdf5_is(const char *dir)
{
    struct files_name last;
    int found;
    return files_count(dir, FILES_HDF5, -1, &found, &last) == OK && found == 1;
}

enum err hdf5_open(struct source *s)
{
    struct hdf5_in *h = s->impl = mem_zero(sizeof *h, "snapshot");
    char path[PATH_MAX];
    h->file.fd = -1;
    struct files_name last;
    int found;
    TRY(files_count(s->path, FILES_HDF5, -1, &found, &last));
    if (found != 1) FAIL(ERR_FILE, "%s: has no data_NNNNN.h5, or more than one", s->path);
    s->number = last.number;
    TRY(hdf5_file_path(s, FILES_HDF5, 0, path));
    TRY(info_verify(s));
    TRY(h5_open(&h->file, path));
    h->path = h->file.path;
    TRY(snapshot_open(s, h));
    TRY(info_tables(s));
    info_log_missing(s);
    snprintf(s->format, sizeof s->format, "HDF5%s", s->state ? "" : " of cuRAMSES");
    return OK;
}

enum err hdf5_file_path(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX])
{
    return files_path(s->path, FILES_HDF5, s->number, 0, path);
}

void hdf5_close_in(struct source *s)
{
    struct hdf5_in *h = hdf5_in_of(s);
    if (h) h5_close(&h->file);
    if (h) FREE(h->sum);
    FREE(s->impl);
}

/* ---- texts and names ---- */

/* Reads a text (namelist or provenance) of an HDF5 file of Ptah, stored as bytes. */
static enum err read_own_text(const struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    const char *path = k == FILES_HISTORY ? "ptah/provenance" : "ptah/namelist";
    int64_t n;
    void *byte;
    TRY(hdf5_read_small(s, path, false, 1 << 20, &n, &byte));
    if (byte) *text = mem_zero((size_t)n + 1, "snapshot");
    for (int64_t i = 0; byte && i < n; i++) (*text)[i] = (char)((const int64_t *)byte)[i];
    /* remove the padding */
    while (n > 1 && (*text)[n - 1] == '\n' && (*text)[n - 2] == '\n') (*text)[--n] = 0;
    *bytes = (size_t)n;
    mem_free(byte);
    return OK;
}

enum err hdf5_read_text(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    TRY(read_own_text(s, k, text, bytes));
    return *text ? OK : info_text(s, k, text, bytes);
}

/* ---- opening ---- */

static enum err read_sums(struct hdf5_in *h)
{
    struct hdf5_open_set s;
    if (!hdf5_has(h, "ptah/checksum")) return h->file.err;
    TRY(hdf5_set_open(h, &s, "ptah/checksum", false, -1, 1));
    enum err err = OK;
    if (s.h5.type != 'q' || s.h5.n > h->file.size / 8)
        err = err_set(ERR_FORMAT, "%s: /ptah/checksum is damaged", h->path);
    if (err == OK) {
        h->sum = mem_new(sizeof *h->sum * (size_t)s.h5.n + 8, "snapshot");
        err = h5_set_read(&h->file, &s.h5, s.name, 0, s.h5.n, h->sum);
    }
    h->nsum = s.h5.n;
    hdf5_set_close(&s);
    return err;
}

static enum err read_times(struct source *s, struct hdf5_in *h)
{
    int64_t n;
    TRY(hdf5_get_count(h, "header", "noutput", 0, 1 << 20, &n));
    s->out_times = mem_zero(sizeof(double) * 2 * (size_t)n + 8, "snapshot");
    if (n) TRY(hdf5_get_attr(h, "header", "tout", 'd', n, s->out_times, true));
    if (n) TRY(hdf5_get_attr(h, "header", "aout", 'd', n, s->out_times + n, true));
    s->head.noutput = (int)n, s->head.tout = s->out_times, s->head.aout = s->out_times + n;
    return OK;
}

static void get_ordering(struct hdf5_in *h, char ordering[129])
{
    struct h5_value v = {0};
    int64_t at = h5_find(&h->file, "header");
    ordering[0] = 0;
    if (at && h5_attr(&h->file, at, "ordering", &v) && v.type == 's' && v.data && v.n <= 128) {
        v.data[v.n] = 0; /* h5_attr allocates room for the terminator */
        size_t n = strspn((const char *)v.data, "abcdefghijklmnopqrstuvwxyz");
        snprintf(ordering, 129, "%.*s", (int)n, (const char *)v.data);
    }
    FREE(v.data);
}

static enum err read_reals(struct source *s, struct hdf5_in *h)
{
    struct ckpt_head *d = &s->head;
    double by_level[100];
#define HEAD_REAL(member, name, attribute)                                                         \
    TRY(hdf5_get_attr(h, "header", attribute, 'd', 1, &d->member, false));
#include "ckpt/head.def"
    for (int k = 0; k < 2; k++) {
        TRY(hdf5_get_attr(h, "header", k ? "dtnew" : "dtold", 'd', d->levelmax, by_level, false));
        for (int l = 1; l <= d->levelmax && l <= LEVEL_MAX; l++)
            (k ? d->dtnew : d->dtold)[l] = by_level[l - 1];
    }
    if (!(d->boxlen > 0) || !isfinite(d->boxlen))
        FAIL(ERR_FORMAT, "%s: boxlen is %g, which must be finite and above 0: the file is damaged",
             h->path, d->boxlen);
    d->cosmo = d->t < 0 || d->h0 != 1 || d->aexp != 1; /* yt's criterion */
    return OK;
}

static enum err read_header(struct source *s, struct hdf5_in *h)
{
    int64_t one, nboundary, ranks, levelmin, levelmax, nvar, step[4];
    static const char *const coarse[] = {"nx", "ny", "nz"};
    static const char *const count[] = {"nstep", "nstep_coarse", "iout", "ifout"};
    struct ckpt_head *d = &s->head;
    if (!hdf5_has(h, "header") && h->file.err == OK)
        FAIL(ERR_FORMAT, "%s: has no group /header: it is not a checkpoint of cuRAMSES", h->path);
    TRY(hdf5_get_count(h, "header", "ndim", 1, 3, &one));
    d->ndim = (int)one;
    TRY(hdf5_get_count(h, "header", "nboundary", 0, 100, &nboundary));
    for (int k = 0; k < 3; k++) {
        TRY(hdf5_get_count(h, "header", coarse[k], 1, 100, &one));
        h->skip[k] = one == 3 && nboundary > 0;
        if (one != 1 && !h->skip[k])
            FAIL(ERR_LIMIT, "%s: has more than one coarse cell, which is not supported", h->path);
    }
    s->nboundary = (int)nboundary;
    TRY(hdf5_get_count(h, "header", "ncpu", 1, INT32_MAX, &ranks));
    TRY(hdf5_get_count(h, "header", "nlevelmax", 1, 99, &levelmax));
    TRY(hdf5_get_count(h, "header", "levelmin", 1, levelmax, &levelmin));
    TRY(hdf5_get_count(h, "header", "nvar", 0, CKPT_FIELDS - GAS_SCALARS, &nvar));
    for (int k = 0; k < 4; k++)
        TRY(hdf5_get_count(h, "header", count[k], INT32_MIN, INT32_MAX, &step[k]));
    d->levelmin = (int)levelmin, d->levelmax = (int)levelmax, d->nvar = (int)nvar;
    d->nstep = (int)step[0], d->nstep_coarse = (int)step[1], d->iout = (int)step[2],
    d->ifout = (int)step[3];
    s->nwriter = (int)ranks;
    get_ordering(h, s->ordering);
    TRY(read_reals(s, h));
    return read_times(s, h);
}

/* cuRAMSES stores the units in the info file only. */
static enum err read_units(struct source *s)
{
    struct info info;
    TRY(info_read(s, &info));
    s->head.unit_l = info.value[INFO_UNIT_L];
    s->head.unit_d = info.value[INFO_UNIT_D];
    s->head.unit_t = info.value[INFO_UNIT_T];
    return OK;
}

/* Reads the boundary regions written by fill_boundary. */
static enum err read_boundary(struct ckpt_head *d, struct hdf5_in *h, int n)
{
    struct boundary b = {.n = n};
    int64_t face[BOUNDARY_MAX], type[BOUNDARY_MAX], extent[BOUNDARY_MAX][6] = {{-9}};
    double state[BOUNDARY_MAX][NVAR_MAX], field[BOUNDARY_MAX][3] = {{0}};
    if (n > BOUNDARY_MAX)
        FAIL(ERR_FORMAT, "%s: has %d boundary regions, more than %d", h->path, n, BOUNDARY_MAX);
    if (n == 0) return OK;
    TRY(hdf5_get_attr(h, "ptah", "boundary_extent", 'q', 6 * (int64_t)n, extent, true));
    if (extent[0][0] == -9) return OK; /* file of an older version */
    TRY(hdf5_get_attr(h, "ptah", "boundary_face", 'q', n, face, false));
    TRY(hdf5_get_attr(h, "ptah", "boundary_type", 'q', n, type, false));
    TRY(hdf5_get_attr(h, "ptah", "boundary_state", 'd', (int64_t)NVAR_MAX * n, state, false));
    TRY(hdf5_get_attr(h, "ptah", "boundary_field", 'd', 3 * (int64_t)n, field, true));
    for (int i = 0; i < n; i++) {
        struct boundary_region *q = &b.region[i];
        bool good = face[i] >= 0 && face[i] < 6 && type[i] >= 1 && type[i] <= 3;
        for (int k = 0; k < 6; k++) good &= extent[i][k] >= -1 && extent[i][k] <= 1;
        if (!good)
            FAIL(ERR_FORMAT,
                 "%s: boundary region %d in /ptah has invalid values: the file is damaged", h->path,
                 i + 1);
        q->face = (int)face[i], q->type = (enum boundary_type)type[i];
        for (int k = 0; k < 3; k++)
            q->low[k] = (int)extent[i][2 * k], q->high[k] = (int)extent[i][2 * k + 1];
        memcpy(q->state, state[i], sizeof q->state);
        memcpy(q->field, field[i], sizeof q->field);
    }
    d->boundary = b;
    return OK;
}

/* Reads the marks of fill_stored, which tell that the values come from another code. */
static enum err read_stored(struct source *s, struct hdf5_in *h)
{
    int64_t kind[CKPT_FIELDS] = {0}, ngrav = -1;
    TRY(hdf5_get_attr(h, "ptah", "stored_grav", 'q', 1, &ngrav, true));
    if (ngrav == -1) return OK;
    s->foreign = true;
    s->ngrav = (int)ngrav;
    if (ngrav != 0 && (ngrav > CKPT_FIELDS || !fields_of_gravity((int)ngrav, s->head.ndim, 0)))
        FAIL(ERR_FORMAT,
             "%s: attribute stored_grav of /ptah is %ld, which is not a valid number of gravity "
             "fields: the file is damaged",
             h->path, (long)ngrav);
    h->asis = (struct asis){.nvar = s->head.nvar, .gamma = s->head.gamma, .smallr = h->smallr};
    if (s->head.nvar) TRY(hdf5_get_attr(h, "ptah", "stored_gas", 'q', s->head.nvar, kind, false));
    for (int v = 0; v < s->head.nvar; v++) {
        if (kind[v] < ASIS_SAME || kind[v] > ASIS_ENERGY)
            FAIL(ERR_FORMAT,
                 "%s: attribute stored_gas of /ptah has an invalid value: the file is damaged",
                 h->path);
        h->asis.kind[v] = (enum asis_kind)kind[v];
    }
    return OK;
}

static enum err read_radiation(struct ckpt_radiation *r, struct hdf5_in *h)
{
    int64_t count[6] = {0};
    TRY(hdf5_get_attr(h, "ptah", "radiation_groups", 'q', 6, count, true));
    if (count[0] == 0) return OK;
    bool good = count[0] > 0 && count[0] <= PHOTON_GROUPS && count[1] >= 0 && count[1] <= 4;
    for (int k = 0; k < 4; k++) good &= count[2 + k] >= 0 && count[2 + k] <= PHOTON_GROUPS;
    if (!good)
        FAIL(ERR_FORMAT,
             "%s: attribute radiation_groups of /ptah has an invalid value: the file is damaged",
             h->path);
    r->groups = (int)count[0], r->ions = (int)count[1];
    for (int k = 0; k < 4; k++) r->spec2group[k] = (int)count[2 + k];
    TRY(hdf5_get_attr(h, "ptah", "radiation", 'd', RADIATION_REALS, r->real, false));
    if (r->c > 0 && isfinite(r->c)) return OK;
    FAIL(ERR_FORMAT,
         "%s: attribute radiation of /ptah has %g as the speed of light: the file is damaged",
         h->path, r->c);
}

static enum err read_own(struct source *s, struct hdf5_in *h)
{
    struct ckpt_head *d = &s->head;
    int64_t version, safe[HDF5_SAFE] = {0};
    h->smallr = 1e-10; /* RAMSES's default */
    h->ours = hdf5_has(h, "ptah");
    TRY(h->file.err);
    if (!h->ours) return read_units(s);
    TRY(hdf5_get_count(h, "ptah", "version", 1, 1, &version));
    TRY(read_sums(h));
    TRY(hdf5_get_attr(h, "ptah", "imetal", 'q', 1, &h->imetal, true));
    TRY(hdf5_get_attr(h, "ptah", "smallr", 'd', 1, &h->smallr, false));
    TRY(read_radiation(&d->radiation, h));
    TRY(hdf5_get_attr(h, "ptah", "unit_l", 'd', 1, &d->unit_l, false));
    TRY(hdf5_get_attr(h, "ptah", "unit_d", 'd', 1, &d->unit_d, false));
    TRY(hdf5_get_attr(h, "ptah", "unit_t", 'd', 1, &d->unit_t, false));
    TRY(hdf5_get_attr(h, "ptah", "tout_next", 'd', 1, &d->tout_next, false));
    TRY(hdf5_get_attr(h, "ptah", "aout_next", 'd', 1, &d->aout_next, false));
    TRY(hdf5_get_attr(h, "ptah", "safe", 'q', HDF5_SAFE, safe, false));
    if (d->ndim < 3) TRY(hdf5_get_attr(h, "ptah", "far", 'd', 4, d->far, false));
    TRY(read_boundary(d, h, s->nboundary));
    TRY(read_stored(s, h));
    d->smallr = h->smallr;
    for (int l = 0; l < LEVEL_MAX + 2; l++) d->safe[l] = safe[l % HDF5_SAFE] >> l / HDF5_SAFE & 1;
    s->state = s->sums = true, h->sums = &s->sums;
    return OK;
}

/* Counts the octs of each level by the size of the dataset of their centres. */
static enum err count_octs(struct source *s, struct hdf5_in *h)
{
    int64_t total = 0;
    for (int l = 1; l <= s->head.levelmax; l++) {
        char path[64];
        struct hdf5_open_set x;
        snprintf(path, sizeof path, "amr/level_%d", l);
        if (!hdf5_has(h, path)) continue;
        if (l > LEVEL_MAX)
            FAIL(ERR_LIMIT,
                 "%s: has octs on level %d; this build reads %d levels (make MORTON128=1 for 42)",
                 h->path, l, LEVEL_MAX);
        snprintf(path, sizeof path, "amr/level_%d/xg_1", l);
        TRY(hdf5_set_open(h, &x, path, true, -1, OCTS));
        s->numbtot[l] = x.h5.n;
        total += x.h5.n;
        hdf5_set_close(&x);
        int64_t says;
        snprintf(path, sizeof path, "amr/level_%d", l);
        TRY(hdf5_get_count(h, path, "ngrid_total", 0, INT64_MAX, &says));
        if (says != s->numbtot[l])
            FAIL(ERR_FORMAT,
                 "%s: /%s has %ld octs, but its ngrid_total is %ld: the file is damaged", h->path,
                 path, (long)s->numbtot[l], (long)says);
    }
    if (s->numbtot[1] != 1)
        FAIL(ERR_FORMAT, "%s: level 1 has %ld octs instead of 1: the file is damaged", h->path,
             (long)s->numbtot[1]);
    int64_t pieces = total / (PIECE_BLOCKS * OCTS), more = h->npart / (PIECE_BLOCKS * PARTS);
    if (more > pieces) pieces = more;
    s->npiece = (int)(pieces < 1 ? 1 : pieces > PIECES ? PIECES : pieces);
    return OK;
}

/* Type letter of a particle column (ramses/read.h) that can hold the stored values. */
static char column_type(char type)
{
    if (strchr("df", type)) return 'd';
    return strchr("bhiq", type) ? type : h5_size(type) < 4 ? 'i' : 'q';
}

/* Adds a particle column beyond the layout of cuRAMSES. */
static enum err find_column(struct source *s, const char *name, int64_t at)
{
    struct hdf5_in *h = hdf5_in_of(s);
    struct h5_set x;
    char path[80];
    for (int i = 0; i < s->npart; i++)
        if (strcmp(s->part[i].name, name) == 0) return OK;
    if (snprintf(path, sizeof path, "ptah/particles/%s", name) >= (int)sizeof *h->part_set)
        FAIL(ERR_FORMAT, "%s: a dataset in /ptah/particles has a name that is too long", h->path);
    TRY(h5_set_open(&h->file, at, path, &x));
    char type = column_type(x.type);
    h5_set_close(&x);
    TRY(source_add_field(h->path, s->part, &s->npart, name, type));
    memcpy(h->part_set[s->npart - 1], path, strlen(path) + 1);
    return OK;
}

static bool add_column(struct h5_file *f, const char *name, int64_t at, void *ctx)
{
    enum err err = find_column(ctx, name, at);
    if (f->err == OK) f->err = err;
    return err != OK;
}

static enum err read_columns(struct source *s, struct hdf5_in *h)
{
    if (!hdf5_has(h, "particles")) return OK;
    struct hdf5_open_set x;
    TRY(hdf5_get_count(h, "particles", "npart_total", 0, INT64_MAX / 16, &h->npart));
    if (h->npart) { /* the first column gives the number of particles */
        TRY(hdf5_set_open(h, &x, "particles/x_1", true, h->npart, PARTS));
        hdf5_set_close(&x);
    }
    for (int c = 0; c < COL_COUNT; c++) {
        const struct part_column *col = part_column(NULL, c);
        if (c < COL_MASS && c % 3 >= s->head.ndim) continue;
        bool exists = hdf5_has(h, col->dataset), computed = col->lack == LACK_FAMILY && !exists;
        if (!exists && col->lack != LACK_ERROR && !computed) continue;
        struct ckpt_field *f = &s->part[s->npart];
        snprintf(f->name, sizeof f->name, "%s", col->name);
        snprintf(h->part_set[s->npart], sizeof *h->part_set, "%s", computed ? "" : col->dataset);
        f->type = col->type;
        s->column_at[c] = s->npart++;
    }
    int64_t more = h->ours ? h5_find(&h->file, "ptah/particles") : 0;
    if (more) h5_each(&h->file, more, add_column, s);
    if (h->file.err != OK) return h->file.err;
    TRY(hdf5_get_attr(h, "particles", "nstar_tot", 'q', 1, &s->formed.number, true));
    TRY(hdf5_get_attr(h, "particles", "mstar_tot", 'd', 1, &s->formed.mass, true));
    TRY(hdf5_get_attr(h, "particles", "mstar_lost", 'd', 1, &s->formed.lost, true));
    s->head.particles = true;
    s->head.stars = s->column_at[COL_BIRTH] >= 0;
    s->head.metal = s->column_at[COL_METAL] >= 0;
    return OK;
}

/* The rows that the file has: files of before a row was added lack it. */
static field_set rows_of(struct hdf5_in *h, int nvar, bool gravity, int level)
{
    field_set all = fields_written((struct mesh_kind){nvar, gravity, true, 0}), has = 0;
    for (int i = 0; i < FIELD_ROWS; i++) {
        char path[64], form[FIELD_NAME];
        field_dataset(field_rows[i].first, form);
        snprintf(path, sizeof path, form, level);
        if (all >> i & 1 && (strncmp(form, "gravity/", 8) == 0 || hdf5_has(h, path)))
            has |= (field_set)1 << i;
    }
    return has;
}

/* Reads the names of the variables of the gas from the descriptor, which also lists the fields
 * beside the gas, and sets their datasets. */
static enum err read_gas(struct source *s, struct hdf5_in *h)
{
    bool old;
    const int nvar = s->nhydro;
    if (nvar == 0) return OK;
    TRY(info_gas(s, h->path, nvar + fields_count(s->fields, FILE_HYDRO, s->head.ndim), &old));
    s->nhydro = s->head.nvar = nvar;
    const int all = nvar + fields_count(s->fields, FILE_HYDRO, s->head.ndim);
    if (!s->foreign) TRY(info_order(s, h->path, all));
    if (h->ours && s->head.energy.n) {
        TRY(hdf5_get_attr(h, "ptah", "gamma_rad", 'd', s->head.energy.n, s->head.energy.gamma,
                          false));
        s->energy_untold = false;
    }
    h->asis.energy = s->head.energy;
    if (h->imetal > GAS_SCALARS && h->imetal <= nvar) info_metal(s, (int)h->imetal - 1);
    for (int v = 0; v < nvar; v++)
        snprintf(h->field_set[v], sizeof *h->field_set, "hydro/level_%%d/uold_%d", v + 1);
    return OK;
}

static enum err read_fields(struct source *s, struct hdf5_in *h)
{
    s->head.hydro = hdf5_has(h, "hydro");
    s->head.gravity = hdf5_has(h, "gravity");
    s->nhydro = s->head.hydro ? s->head.nvar : 0;
    if (!s->head.hydro) s->head.nvar = 0;
    if (!s->head.gravity) s->ngrav = 0;
    if (!s->foreign) {
        s->fields = rows_of(h, s->nhydro, s->head.gravity, s->head.levelmin);
        s->head.magnetic = fields_faces(s->fields, 0) >= 0;
        s->ngrav = fields_count(s->fields, FILE_GRAVITY, s->head.ndim);
    } else if (s->ngrav)
        s->fields = fields_of_gravity(s->ngrav, s->head.ndim, 0);
    const int least = gas_count_in_file(source_velocities(s), GAS_SCALARS);
    if (s->nhydro && s->nhydro < least && !s->foreign)
        FAIL(ERR_FORMAT, "%s: has %d gas variables where at least %d are expected", h->path,
             s->nhydro, least);
    const int nphoton = PHOTON_VALUES * s->head.radiation.groups;
    s->fields |= fields_written((struct mesh_kind){.nphoton = nphoton});
    s->nphoton = photons_count(nphoton, s->head.ndim);
    TRY(read_gas(s, h));
    TRY(source_add_rows(s));
    for (int v = s->nhydro; v < s->nfield; v++)
        field_dataset(field_stored(s->fields, s->nhydro, v, s->head.ndim), h->field_set[v]);
    return OK;
}

static enum err snapshot_open(struct source *s, struct hdf5_in *h)
{
    TRY(read_header(s, h));
    TRY(read_own(s, h));
    TRY(read_columns(s, h));
    TRY(count_octs(s, h));
    TRY(hdf5_read_sinks(&h->file, &s->table[0]));
    TRY(read_fields(s, h));
    return h->file.err;
}
