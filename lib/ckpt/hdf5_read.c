/* ckpt/hdf5_read: see hdf5_read.h. Batches are the blocks of the writer's checksums, so that each is read whole. */
#ifdef PTAH_HDF5
#include "ckpt/hdf5_read.h"

#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ckpt/hdf5_file.h"
#include "ckpt/ramses_priv.h"

enum { OCTS = RAMSES_BATCH, PARTS = RAMSES_PART_BATCH, PIECE_BLOCKS = 8, PIECES = 4096 };
static const int64_t CHUNK_MAX = 64 << 20; /* bytes */

struct hdf5_in {
    hid_t file;
    char path[PATH_MAX];
    int64_t size; /* of the file */
    bool ours, state;
    double smallr;
    int64_t nsum;
    uint64_t *sum;
    int64_t npart;
};

/* A dataset that is open. */
struct set {
    hid_t id, space;
    char type; /* d f, q i h b, B: of one byte, unsigned */
    int64_t n, sum;
    char name[64];
};

static enum err snapshot_open(struct ramses *r, struct hdf5_in *h);

static int find_file(const char *dir, int *number)
{
    DIR *d = opendir(dir);
    int found = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        int k, end = 0;
        if (sscanf(e->d_name, "data_%5d.h5%n", &k, &end) != 1 || !end || e->d_name[end]) continue;
        *number = k;
        found++;
    }
    closedir(d);
    return found;
}

bool hdf5_is(const char *dir)
{
    int number;
    return find_file(dir, &number) == 1;
}

enum err hdf5_open(struct ramses *r)
{
    struct hdf5_in *h = r->hdf5 = mem_zero(sizeof *h, "snapshot");
    struct stat st;
    h->file = -1;
    if (find_file(r->dir, &r->number) != 1) FAIL(ERR_FILE, "%s: has no data_NNNNN.h5, or several", r->dir);
    int k = snprintf(h->path, sizeof h->path, "%s/data_%05d.h5", r->dir, r->number);
    if (k < 0 || k >= (int)sizeof h->path) FAIL(ERR_FILE, "%.80s…: path too long", r->dir);
    if (stat(h->path, &st) != 0) FAIL(ERR_FILE, "%s: cannot open: %s", h->path, strerror(errno));
    h->size = st.st_size;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0); /* no code from elsewhere to read a file */
    errno = 0;
    h->file = H5Fopen(h->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (h->file < 0) FAIL(ERR_FORMAT, "%s: %s", h->path, errno ? strerror(errno) : "is no HDF5 file, or a damaged one");
    return snapshot_open(r, h);
}

void hdf5_close_in(struct hdf5_in **h)
{
    if (*h && (*h)->file >= 0) H5Fclose((*h)->file);
    if (*h) FREE((*h)->sum);
    FREE(*h);
}

bool hdf5_has_state(const struct ramses *r)
{
    return r->hdf5 && r->hdf5->state;
}

/* ---- attributes ---- */

static bool has_object(const struct hdf5_in *h, const char *path)
{
    char part[64];
    for (const char *s = path; s; s = strchr(s, '/')) { /* every group on the way must be there before it is asked */
        s += *s == '/';
        const char *end = strchr(s, '/');
        snprintf(part, sizeof part, "%.*s", (int)(end ? end - path : (long)strlen(path)), path);
        if (H5Lexists(h->file, part, H5P_DEFAULT) <= 0) return false;
    }
    return true;
}

/* n values into p, type d or q. An attribute that is missing is an error unless `may_lack`: then *p stays. */
static enum err get_attr(const struct hdf5_in *h, const char *group, const char *name, char type, int64_t n, void *p,
                         bool may_lack)
{
    bool there = has_object(h, group) && H5Aexists_by_name(h->file, group, name, H5P_DEFAULT) > 0;
    if (!there && may_lack) return OK;
    hid_t a = there ? H5Aopen_by_name(h->file, group, name, H5P_DEFAULT, H5P_DEFAULT) : -1;
    hid_t t = a < 0 ? -1 : H5Aget_type(a), s = a < 0 ? -1 : H5Aget_space(a);
    H5T_class_t class = t < 0 ? H5T_NO_CLASS : H5Tget_class(t);
    bool fits = class == (type == 'd' ? H5T_FLOAT : H5T_INTEGER) && H5Tget_size(t) <= 8 && s >= 0 &&
                H5Sget_simple_extent_npoints(s) == n;
    if (fits) fits = H5Aread(a, type == 'd' ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, p) >= 0;
    if (s >= 0) H5Sclose(s);
    if (t >= 0) H5Tclose(t);
    if (a >= 0) H5Aclose(a);
    if (!there) FAIL(ERR_FORMAT, "%s: /%s has no attribute %s", h->path, group, name);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /%s is not %ld number%s", h->path, name, group, (long)n,
             n > 1 ? "s" : "");
    return OK;
}

static enum err get_count(const struct hdf5_in *h, const char *group, const char *name, int64_t lo, int64_t hi,
                          int64_t *x)
{
    TRY(get_attr(h, group, name, 'q', 1, x, false));
    if (*x < lo || *x > hi)
        FAIL(ERR_FORMAT, "%s: %s of /%s is %ld, expected %ld to %ld", h->path, name, group, (long)*x, (long)lo,
             (long)hi);
    return OK;
}

static void get_ordering(const struct hdf5_in *h, char ordering[129])
{
    hid_t a = H5Aopen_by_name(h->file, "header", "ordering", H5P_DEFAULT, H5P_DEFAULT), t = a < 0 ? -1 : H5Aget_type(a);
    char text[129] = "";
    if (t >= 0 && H5Tget_class(t) == H5T_STRING && H5Tis_variable_str(t) == 0 && H5Tget_size(t) <= 128) {
        hid_t s = H5Aget_space(a);
        if (H5Sget_simple_extent_npoints(s) == 1 && H5Aread(a, t, text) < 0) text[0] = 0;
        H5Sclose(s);
    }
    if (t >= 0) H5Tclose(t);
    if (a >= 0) H5Aclose(a);
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    snprintf(ordering, 129, "%.*s", (int)n, text);
}

/* ---- datasets ---- */

static void set_close(struct set *s)
{
    if (s->space > 0) H5Sclose(s->space);
    if (s->id > 0) H5Dclose(s->id);
    *s = (struct set){0};
}

/* Layout: in one place inside the file, or in chunks of bearable size with HDF5's own filters. */
static bool is_layout_sane(const struct hdf5_in *h, const struct set *s, int64_t bytes)
{
    static const H5Z_filter_t known[] = {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32};
    hid_t how = H5Dget_create_plist(s->id);
    H5D_layout_t layout = H5Pget_layout(how);
    hsize_t chunk = 0;
    bool ok = layout == H5D_COMPACT;
    if (layout == H5D_CONTIGUOUS) {
        int64_t at = (int64_t)H5Dget_offset(s->id);
        ok = H5Pget_external_count(how) == 0 && (bytes == 0 || (at >= 0 && at <= h->size - bytes));
    } else if (layout == H5D_CHUNKED) {
        ok = H5Pget_chunk(how, 1, &chunk) == 1 && chunk > 0 && chunk <= (hsize_t)CHUNK_MAX / 8;
        for (int i = 0, n = H5Pget_nfilters(how); ok && i < n; i++) {
            size_t none = 0;
            unsigned flags;
            H5Z_filter_t f = H5Pget_filter2(how, (unsigned)i, &flags, &none, NULL, 0, NULL, NULL);
            ok = f == known[0] || f == known[1] || f == known[2];
        }
    }
    H5Pclose(how);
    return ok;
}

static char set_type(hid_t id)
{
    hid_t t = H5Dget_type(id);
    size_t size = H5Tget_size(t);
    H5T_class_t class = H5Tget_class(t);
    char c = 0;
    if (class == H5T_FLOAT) c = size == 8 ? 'd' : size == 4 ? 'f' : 0;
    if (class == H5T_INTEGER) c = size == 8 ? 'q' : size == 4 ? 'i' : size == 2 ? 'h' : size == 1 ? 'b' : 0;
    if (c == 'b' && H5Tget_sign(t) == H5T_SGN_NONE) c = 'B';
    H5Tclose(t);
    return c;
}

static hid_t memory_type(char type)
{
    switch (type) {
    case 'd':
        return H5T_NATIVE_DOUBLE;
    case 'f':
        return H5T_NATIVE_FLOAT;
    case 'q':
        return H5T_NATIVE_INT64;
    case 'i':
        return H5T_NATIVE_INT32;
    case 'h':
        return H5T_NATIVE_INT16;
    case 'b':
        return H5T_NATIVE_INT8;
    default:
        return H5T_NATIVE_UINT8;
    }
}

static int type_size(char type)
{
    return type == 'd' || type == 'q' ? 8 : type == 'f' || type == 'i' ? 4 : type == 'h' ? 2 : 1;
}

static enum err set_check(const struct hdf5_in *h, struct set *s, bool real, int64_t n, int64_t block)
{
    s->space = H5Dget_space(s->id);
    hsize_t extent = 0;
    if (H5Sget_simple_extent_ndims(s->space) != 1 || H5Sget_simple_extent_dims(s->space, &extent, NULL) != 1)
        FAIL(ERR_FORMAT, "%s: /%s is not one-dimensional", h->path, s->name);
    if (n < 0) n = (int64_t)extent;
    if (extent > INT64_MAX / 8 || (int64_t)extent != n)
        FAIL(ERR_FORMAT, "%s: /%s has %ld elements, expected %ld", h->path, s->name, (long)extent, (long)n);
    s->n = n;
    s->type = set_type(s->id);
    if (!s->type || (strchr("df", s->type) != NULL) != real)
        FAIL(ERR_FORMAT, "%s: /%s is not of type %s", h->path, s->name, real ? "real" : "integer");
    if (!is_layout_sane(h, s, type_size(s->type) * n))
        FAIL(ERR_FORMAT, "%s: /%s is stored in a way that cuRAMSES does not know, or beyond the file", h->path,
             s->name);
    s->sum = -1;
    if (!h->ours) return OK;
    TRY(get_attr(h, s->name, "checksum", 'q', 1, &s->sum, true));
    int64_t blocks = (n + block - 1) / block;
    if (s->sum >= 0 && s->sum > h->nsum - blocks)
        FAIL(ERR_FORMAT, "%s: the checksums of /%s lie beyond /ptah/checksum", h->path, s->name);
    return OK;
}

/* n < 0: whatever number it has. */
static enum err set_open(const struct hdf5_in *h, struct set *s, const char *path, bool real, int64_t n, int64_t block)
{
    *s = (struct set){0};
    snprintf(s->name, sizeof s->name, "%s", path);
    if (!has_object(h, path) || (s->id = H5Dopen2(h->file, path, H5P_DEFAULT)) < 0) {
        s->id = 0;
        FAIL(ERR_FORMAT, "%s: has no dataset /%s", h->path, path);
    }
    enum err err = set_check(h, s, real, n, block);
    if (err != OK) set_close(s);
    return err;
}

/* A block, as it is stored; compared with its checksum. */
static enum err set_load(const struct hdf5_in *h, const struct set *s, int64_t at, int64_t n, int64_t block, void *p)
{
    hsize_t first = (hsize_t)at, count = (hsize_t)n;
    hid_t memory = H5Screate_simple(1, &count, NULL);
    bool ok = H5Sselect_hyperslab(s->space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
              H5Dread(s->id, memory_type(s->type), memory, s->space, H5P_DEFAULT, p) >= 0;
    H5Sclose(memory);
    if (!ok) FAIL(ERR_FORMAT, "%s: cannot read /%s from element %ld", h->path, s->name, (long)at);
    if (s->sum >= 0 && hdf5_sum(p, (size_t)(n * type_size(s->type))) != h->sum[s->sum + at / block])
        FAIL(ERR_FORMAT, "%s: /%s is damaged: elements %ld to %ld do not fit their checksum", h->path, s->name,
             (long)at, (long)(at + n - 1));
    return OK;
}

/* Widened to 8 bytes, in place of p. */
static enum err set_load_wide(const struct hdf5_in *h, const struct set *s, int64_t at, int64_t n, int64_t block,
                              void *raw, void *p)
{
    int64_t *i8 = p;
    double *r8 = p;
    if (type_size(s->type) == 8) return set_load(h, s, at, n, block, p);
    TRY(set_load(h, s, at, n, block, raw));
    for (int64_t i = 0; i < n; i++) {
        if (s->type == 'f')
            r8[i] = ((const float *)raw)[i];
        else if (s->type == 'i')
            i8[i] = ((const int32_t *)raw)[i];
        else if (s->type == 'h')
            i8[i] = ((const int16_t *)raw)[i];
        else if (s->type == 'b')
            i8[i] = ((const int8_t *)raw)[i];
        else
            i8[i] = ((const uint8_t *)raw)[i];
    }
    return OK;
}

/* ---- opening ---- */

static enum err read_sums(struct hdf5_in *h)
{
    struct set s;
    if (!has_object(h, "ptah/checksum")) return OK;
    TRY(set_open(h, &s, "ptah/checksum", false, -1, 1));
    enum err err = OK;
    if (s.type != 'q' || s.n > h->size / 8) err = err_set(ERR_FORMAT, "%s: /ptah/checksum is damaged", h->path);
    if (err == OK) {
        h->sum = mem_new(sizeof *h->sum * (size_t)s.n + 8, "snapshot");
        err = set_load(h, &s, 0, s.n, 1, h->sum);
    }
    h->nsum = s.n;
    set_close(&s);
    return err;
}

static enum err read_times(struct ramses *r, struct hdf5_in *h)
{
    int64_t n;
    TRY(get_count(h, "header", "noutput", 0, 1 << 20, &n));
    r->out_times = mem_zero(sizeof(double) * 2 * (size_t)n + 8, "snapshot");
    if (n) TRY(get_attr(h, "header", "tout", 'd', n, r->out_times, true));
    if (n) TRY(get_attr(h, "header", "aout", 'd', n, r->out_times + n, true));
    r->head.noutput = (int)n, r->head.tout = r->out_times, r->head.aout = r->out_times + n;
    return OK;
}

static enum err read_reals(struct ramses *r, struct hdf5_in *h)
{
    struct ckpt_head *d = &r->head;
    double by_level[100];
    const struct {
        const char *name;
        double *value;
    } real[] = {{"boxlen", &d->boxlen},
                {"gamma", &d->gamma},
                {"time", &d->t},
                {"const", &d->einit},
                {"mass_tot_0", &d->mass_tot_0},
                {"rho_tot", &d->rho_tot},
                {"omega_m", &d->omega_m},
                {"omega_l", &d->omega_l},
                {"omega_k", &d->omega_k},
                {"omega_b", &d->omega_b},
                {"h0", &d->h0},
                {"aexp_ini", &d->aexp_ini},
                {"boxlen_ini", &d->boxlen_ini},
                {"aexp", &d->aexp},
                {"hexp", &d->hexp},
                {"aexp_old", &d->aexp_old},
                {"epot_tot_int", &d->epot_tot_int},
                {"epot_tot_old", &d->epot_tot_old},
                {"mass_sph", &d->mass_sph}};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        TRY(get_attr(h, "header", real[i].name, 'd', 1, real[i].value, false));
    for (int k = 0; k < 2; k++) {
        TRY(get_attr(h, "header", k ? "dtnew" : "dtold", 'd', d->levelmax, by_level, false));
        for (int l = 1; l <= d->levelmax && l <= LEVEL_MAX; l++) (k ? d->dtnew : d->dtold)[l] = by_level[l - 1];
    }
    if (!(d->boxlen > 0) || !isfinite(d->boxlen)) FAIL(ERR_FORMAT, "%s: boxlen is %g", h->path, d->boxlen);
    d->cosmo = d->t < 0 || d->h0 != 1 || d->aexp != 1; /* as yt decides */
    return OK;
}

static enum err read_header(struct ramses *r, struct hdf5_in *h)
{
    int64_t one, ranks, levelmin, levelmax, nvar, step[4];
    static const char *const coarse[] = {"nx", "ny", "nz"};
    static const char *const count[] = {"nstep", "nstep_coarse", "iout", "ifout"};
    struct ckpt_head *d = &r->head;
    if (!has_object(h, "header")) FAIL(ERR_FORMAT, "%s: has no group /header: not a checkpoint of cuRAMSES", h->path);
    TRY(get_count(h, "header", "ndim", 1, 3, &one));
    if (one != 3) FAIL(ERR_LIMIT, "%s: has %ld dimensions; only 3 are supported", h->path, (long)one);
    for (int k = 0; k < 3; k++) {
        TRY(get_count(h, "header", coarse[k], 1, 100, &one));
        if (one != 1) FAIL(ERR_LIMIT, "%s: more than one coarse cell is not supported", h->path);
    }
    TRY(get_count(h, "header", "ncpu", 1, INT32_MAX, &ranks));
    TRY(get_count(h, "header", "nlevelmax", 1, 99, &levelmax));
    TRY(get_count(h, "header", "levelmin", 1, levelmax, &levelmin));
    TRY(get_count(h, "header", "nvar", 0, RAMSES_FIELDS - 5, &nvar));
    for (int k = 0; k < 4; k++) TRY(get_count(h, "header", count[k], INT32_MIN, INT32_MAX, &step[k]));
    d->ndim = 3, d->levelmin = (int)levelmin, d->levelmax = (int)levelmax, d->nvar = (int)nvar;
    d->nstep = (int)step[0], d->nstep_coarse = (int)step[1], d->iout = (int)step[2], d->ifout = (int)step[3];
    r->nwriter = (int)ranks;
    get_ordering(h, r->ordering);
    TRY(read_reals(r, h));
    return read_times(r, h);
}

/* cuRAMSES keeps them in the info file only. */
static enum err read_units(struct ramses *r)
{
    struct ckpt_head d = r->head;
    TRY(ramses_read_info(r));
    d.unit_l = r->head.unit_l, d.unit_d = r->head.unit_d, d.unit_t = r->head.unit_t;
    r->head = d;
    return OK;
}

static enum err read_own(struct ramses *r, struct hdf5_in *h)
{
    struct ckpt_head *d = &r->head;
    int64_t version, imetal = 0, safe[LEVEL_MAX + 2] = {0};
    h->smallr = 1e-10; /* RAMSES's default */
    h->ours = has_object(h, "ptah");
    if (!h->ours) return read_units(r);
    TRY(get_count(h, "ptah", "version", 1, 1, &version));
    TRY(read_sums(h));
    TRY(get_attr(h, "ptah", "imetal", 'q', 1, &imetal, true));
    TRY(get_attr(h, "ptah", "smallr", 'd', 1, &h->smallr, false));
    TRY(get_attr(h, "ptah", "unit_l", 'd', 1, &d->unit_l, false));
    TRY(get_attr(h, "ptah", "unit_d", 'd', 1, &d->unit_d, false));
    TRY(get_attr(h, "ptah", "unit_t", 'd', 1, &d->unit_t, false));
    TRY(get_attr(h, "ptah", "tout_next", 'd', 1, &d->tout_next, false));
    TRY(get_attr(h, "ptah", "aout_next", 'd', 1, &d->aout_next, false));
    TRY(get_attr(h, "ptah", "safe", 'q', LEVEL_MAX + 2, safe, false));
    for (int l = 0; l < LEVEL_MAX + 2; l++) d->safe[l] = safe[l] != 0;
    d->imetal = imetal > 5 && imetal <= d->nvar ? (int)imetal : 0;
    h->state = true;
    return OK;
}

/* Octs of each level: as many as there are centres. */
static enum err count_octs(struct ramses *r, struct hdf5_in *h)
{
    int64_t total = 0;
    for (int l = 1; l <= r->head.levelmax; l++) {
        char path[64];
        struct set s;
        snprintf(path, sizeof path, "amr/level_%d", l);
        if (!has_object(h, path)) continue;
        if (l > LEVEL_MAX)
            FAIL(ERR_LIMIT, "%s: has octs on level %d; this build reads %d levels (make MORTON128=1 for 42)", h->path,
                 l, LEVEL_MAX);
        snprintf(path, sizeof path, "amr/level_%d/xg_1", l);
        TRY(set_open(h, &s, path, true, -1, OCTS));
        r->numbtot[l] = s.n;
        total += s.n;
        set_close(&s);
        int64_t says;
        snprintf(path, sizeof path, "amr/level_%d", l);
        TRY(get_count(h, path, "ngrid_total", 0, INT64_MAX, &says));
        if (says != r->numbtot[l])
            FAIL(ERR_FORMAT, "%s: /%s has %ld octs, its ngrid_total is %ld", h->path, path, (long)r->numbtot[l],
                 (long)says);
    }
    if (r->numbtot[1] != 1) FAIL(ERR_FORMAT, "%s: level 1 has %ld octs instead of 1", h->path, (long)r->numbtot[1]);
    int64_t pieces = total / (PIECE_BLOCKS * OCTS), more = h->npart / (PIECE_BLOCKS * PARTS);
    if (more > pieces) pieces = more;
    r->ncpu = (int)(pieces < 1 ? 1 : pieces > PIECES ? PIECES : pieces);
    return OK;
}

static enum err read_columns(struct ramses *r, struct hdf5_in *h)
{
    static const struct {
        const char *path, *name;
        char type;
        int column;
    } row[] = {{"particles/x_1", "position_x", 'd', COL_X},
               {"particles/x_2", "position_y", 'd', COL_Y},
               {"particles/x_3", "position_z", 'd', COL_Z},
               {"particles/v_1", "velocity_x", 'd', COL_VX},
               {"particles/v_2", "velocity_y", 'd', COL_VY},
               {"particles/v_3", "velocity_z", 'd', COL_VZ},
               {"particles/mass", "mass", 'd', COL_MASS},
               {"particles/identity", "identity", 'q', COL_ID},
               {"particles/levelp", "levelp", 'i', COL_LEVEL},
               {"ptah/particles/family", "family", 'b', COL_FAMILY},
               {"ptah/particles/tag", "tag", 'b', COL_TAG},
               {"particles/birth_epoch", "birth_time", 'd', COL_BIRTH},
               {"particles/metallicity", "metallicity", 'd', COL_METAL}};
    for (int c = 0; c < COL_COUNT; c++) r->column[c] = -1;
    if (!has_object(h, "particles")) return OK;
    TRY(get_count(h, "particles", "npart_total", 0, INT64_MAX / 16, &h->npart));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool there = has_object(h, row[i].path), computed = row[i].column == COL_FAMILY && !there;
        if (!there && row[i].column > COL_LEVEL && !computed) continue;
        struct ramses_field *f = &r->part[r->npart_field];
        snprintf(f->name, sizeof f->name, "%s", row[i].name);
        snprintf(f->dataset, sizeof f->dataset, "%s", computed ? "" : row[i].path);
        f->type = row[i].type;
        r->column[row[i].column] = r->npart_field++;
    }
    r->head.particles = true;
    r->head.stars = r->column[COL_BIRTH] >= 0;
    r->head.metal = r->column[COL_METAL] >= 0;
    return OK;
}

static enum err read_fields(struct ramses *r, struct hdf5_in *h)
{
    static const char *const grav[] = {"phi", "acc_x", "acc_y", "acc_z"};
    static const char *const from[] = {"phi", "f_1", "f_2", "f_3"};
    r->head.hydro = has_object(h, "hydro");
    r->head.gravity = has_object(h, "gravity");
    r->nhydro = r->head.hydro ? r->head.nvar : 0;
    if (!r->head.hydro) r->head.nvar = 0;
    if (r->nhydro && r->nhydro < 5)
        FAIL(ERR_FORMAT, "%s: has %d gas variables, at least 5 are expected", h->path, r->nhydro);
    if (r->nhydro) TRY(ramses_hydro_names(r, h->path, r->nhydro));
    for (int v = 0; v < r->nhydro; v++)
        snprintf(r->field[v].dataset, sizeof r->field[v].dataset, "hydro/level_%%d/uold_%d", v + 1);
    for (int k = 0; r->head.gravity && k < 4; k++) {
        struct ramses_field *f = &r->field[r->nhydro + r->ngrav++];
        snprintf(f->name, sizeof f->name, "%s", grav[k]);
        snprintf(f->dataset, sizeof f->dataset, "gravity/level_%%d/%s", from[k]);
        f->type = 'd';
    }
    return OK;
}

static enum err snapshot_open(struct ramses *r, struct hdf5_in *h)
{
    TRY(read_header(r, h));
    TRY(read_own(r, h));
    TRY(read_columns(r, h));
    TRY(count_octs(r, h));
    return read_fields(r, h);
}

/* ---- octs ---- */

struct walk {
    struct ramses *r;
    struct hdf5_in *h;
    bool values, conserved, has_flag;
    struct set x[3], son, flag, *field;
    double *raw, *store; /* a dataset's batch · [8*field + cell][OCTS] */
    const double **val;
    okey *key;
    unsigned char *split, (*flagged)[8];
    double *centre[3];
};

static void walk_free(struct walk *w)
{
    for (int d = 0; d < 3; d++) FREE(w->centre[d]);
    FREE(w->field);
    FREE(w->raw);
    FREE(w->store);
    FREE(w->val);
    FREE(w->key);
    FREE(w->split);
    FREE(w->flagged);
}

static void level_close(struct walk *w)
{
    for (int d = 0; d < 3; d++) set_close(&w->x[d]);
    set_close(&w->son);
    set_close(&w->flag);
    for (int i = 0; w->values && i < w->r->nhydro + w->r->ngrav; i++) set_close(&w->field[i]);
}

static enum err level_open(struct walk *w, int l)
{
    char path[64];
    int64_t n = w->r->numbtot[l];
    for (int d = 0; d < 3; d++) {
        snprintf(path, sizeof path, "amr/level_%d/xg_%d", l, d + 1);
        TRY(set_open(w->h, &w->x[d], path, true, n, OCTS));
    }
    snprintf(path, sizeof path, "amr/level_%d/son_flag", l);
    TRY(set_open(w->h, &w->son, path, false, 8 * n, 8 * OCTS));
    snprintf(path, sizeof path, "ptah/amr/level_%d/flag", l);
    w->has_flag = w->h->ours && has_object(w->h, path);
    if (w->has_flag) TRY(set_open(w->h, &w->flag, path, false, n, OCTS));
    for (int i = 0; w->values && i < w->r->nhydro + w->r->ngrav; i++) {
        const char *form = w->r->field[i].dataset, *at = strchr(form, '%');
        snprintf(path, sizeof path, "%.*s%d%s", (int)(at - form), form, l, at + 2);
        TRY(set_open(w->h, &w->field[i], path, true, 8 * n, 8 * OCTS));
    }
    return OK;
}

static enum err load_keys(struct walk *w, int l, int64_t at, int n)
{
    double side = ldexp(1, l - 1);
    for (int d = 0; d < 3; d++) TRY(set_load_wide(w->h, &w->x[d], at, n, OCTS, w->raw, w->centre[d]));
    for (int i = 0; i < n; i++) {
        uint64_t c[3] = {0};
        for (int d = 0; d < 3; d++) {
            double x = w->centre[d][i] * side - 0.5;
            if (!(x > -0.25 && x < side - 0.75) || fabs(x - rint(x)) > 1e-3)
                FAIL(ERR_FORMAT, "%s: /%s: oct %ld is centred at %g, which is no place of level %d", w->h->path,
                     w->x[d].name, (long)at + i, w->centre[d][i], l);
            c[d] = (uint64_t)rint(x);
        }
        w->key[i] = okey_make(c[0], c[1], c[2]);
    }
    return OK;
}

/* Where flags were not stored, cells that are refined are flagged to stay so. */
static enum err load_tree(struct walk *w, int l, int64_t at, int n)
{
    struct ramses_tally *t = &w->r->tally;
    const int64_t *v = (const int64_t *)w->store;
    TRY(set_load_wide(w->h, &w->son, 8 * at, 8 * n, 8 * OCTS, w->raw, w->store));
    for (int i = 0; i < n; i++) {
        w->split[i] = 0;
        for (int c = 0; c < 8; c++) {
            bool split = v[8 * i + c] != 0;
            w->split[i] |= (unsigned char)(split << c);
            t->split[l] += split;
        }
    }
    if (w->has_flag) TRY(set_load_wide(w->h, &w->flag, at, n, OCTS, w->raw, w->store));
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 8; c++) w->flagged[i][c] = (unsigned char)((w->has_flag ? v[i] : w->split[i]) >> c & 1);
    t->octs[l] += n;
    return OK;
}

/* The same operations in the same order as in the binary writer, so that both give the same bits. */
static void make_primitive(struct walk *w, int n)
{
    double smallr = w->h->smallr, gamma1 = w->r->head.gamma - 1;
#pragma omp parallel for schedule(static)
    for (int c = 0; c < 8; c++) {
        double *rho = w->store + (size_t)c * OCTS, *p = w->store + (size_t)(32 + c) * OCTS;
        for (int v = 1; v < w->r->nhydro; v++) {
            double *q = w->store + (size_t)(8 * v + c) * OCTS;
            for (int i = 0; v != 4 && i < n; i++) {
                double m = q[i], r = rho[i] > smallr ? rho[i] : smallr;
                q[i] = m / r;
                if (v < 4) p[i] = p[i] - 0.5 * (m * m) / r;
            }
        }
        for (int i = 0; i < n; i++) p[i] = gamma1 * p[i];
    }
}

static enum err load_values(struct walk *w, int64_t at, int n)
{
    void *narrow = w->raw + 8 * OCTS;
    for (int f = 0; f < w->r->nhydro + w->r->ngrav; f++) {
        TRY(set_load_wide(w->h, &w->field[f], 8 * at, 8 * n, 8 * OCTS, narrow, w->raw));
        double *out = w->store + (size_t)(8 * f) * OCTS;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 8; c++) out[c * OCTS + i] = w->raw[8 * i + c];
    }
    if (w->r->nhydro && !w->conserved) make_primitive(w, n);
    return OK;
}

/* Blocks of the k-th of `pieces` parts of n rows. */
static void part_of(int64_t n, int64_t block, int k, int pieces, int64_t *first, int64_t *end)
{
    int64_t blocks = (n + block - 1) / block;
    *first = blocks * k / pieces * block;
    *end = blocks * (k + 1) / pieces * block;
    if (*end > n) *end = n;
}

static enum err read_level(struct walk *w, int l, int piece, ramses_octs_fn *fn, void *ctx)
{
    int64_t first, end;
    part_of(w->r->numbtot[l], OCTS, piece - 1, w->r->ncpu, &first, &end);
    if (first >= end) return OK;
    TRY(level_open(w, l));
    for (int64_t at = first; at < end; at += OCTS) {
        int n = end - at < OCTS ? (int)(end - at) : OCTS;
        TRY(load_keys(w, l, at, n));
        TRY(load_tree(w, l, at, n));
        if (w->values) TRY(load_values(w, at, n));
        struct ramses_octs o = {.level = l,
                                .file = piece,
                                .n = n,
                                .key = w->key,
                                .split = w->split,
                                .flag = (const unsigned char(*)[8])w->flagged,
                                .val = w->values ? w->val : NULL};
        TRY(fn(w->r, &o, ctx));
    }
    return OK;
}

enum err hdf5_read_octs(struct ramses *r, int piece, bool values, bool conserved, ramses_octs_fn *fn, void *ctx)
{
    struct walk w = {.r = r, .h = r->hdf5, .values = values, .conserved = conserved};
    size_t nfield = (size_t)(values ? r->nhydro + r->ngrav : 0);
    w.field = mem_zero(sizeof *w.field * nfield + 1, "snapshot batch");
    w.raw = mem_new(2 * 64 * OCTS, "snapshot batch");
    w.store = mem_new(64 * OCTS * (nfield + 1), "snapshot batch");
    w.val = mem_new(sizeof *w.val * 8 * nfield + 1, "snapshot batch");
    w.key = mem_new(sizeof *w.key * OCTS, "snapshot batch");
    w.split = mem_new(OCTS, "snapshot batch");
    w.flagged = mem_new(8 * OCTS, "snapshot batch");
    for (int d = 0; d < 3; d++) w.centre[d] = mem_new(8 * OCTS, "snapshot batch");
    for (size_t i = 0; i < 8 * nfield; i++) w.val[i] = w.store + i * OCTS;
    enum err err = OK;
    for (int l = 1; err == OK && l <= LEVEL_MAX; l++) {
        if (r->numbtot[l]) err = read_level(&w, l, piece, fn, ctx);
        level_close(&w);
    }
    walk_free(&w);
    return err;
}

/* ---- particles ---- */

/* Where families were not stored: clouds of sinks have negative ids, stars a time of birth. */
static void make_family(const struct ramses *r, const struct ramses_parts *p, int64_t *family)
{
    const int64_t *id = ramses_i64(r, p, COL_ID);
    const double *birth = ramses_f64(r, p, COL_BIRTH);
    for (int64_t i = 0; i < p->n; i++) family[i] = id[i] < 0 ? FAM_CLOUD : birth && birth[i] != 0 ? FAM_STAR : FAM_DM;
}

static enum err part_batches(struct ramses *r, int piece, const struct set *set, ramses_parts_fn *fn, void *ctx)
{
    int nf = r->npart_field, family = r->column[COL_FAMILY];
    char *store = mem_new(8 * (size_t)PARTS * (size_t)(nf + 1), "snapshot batch"),
         *raw = store + 8 * (size_t)PARTS * (size_t)nf;
    const void *col[RAMSES_FIELDS];
    int64_t first, end;
    enum err err = OK;
    for (int i = 0; i < nf; i++) col[i] = store + (size_t)i * 8 * PARTS;
    part_of(r->hdf5->npart, PARTS, piece - 1, r->ncpu, &first, &end);
    for (int64_t at = first; err == OK && at < end; at += PARTS) {
        struct ramses_parts p = {.file = piece, .n = end - at < PARTS ? end - at : PARTS, .col = col};
        for (int i = 0; err == OK && i < nf; i++)
            if (*r->part[i].dataset)
                err = set_load_wide(r->hdf5, &set[i], at, p.n, PARTS, raw, store + (size_t)i * 8 * PARTS);
        if (err != OK) break;
        if (!*r->part[family].dataset) make_family(r, &p, (int64_t *)(void *)(store + (size_t)family * 8 * PARTS));
        r->tally.particles += p.n;
        err = fn(r, &p, ctx);
    }
    FREE(store);
    return err;
}

enum err hdf5_read_parts(struct ramses *r, int piece, ramses_parts_fn *fn, void *ctx)
{
    struct set set[RAMSES_FIELDS] = {0};
    enum err err = OK;
    if (!r->head.particles || !r->hdf5->npart) return OK;
    for (int i = 0; err == OK && i < r->npart_field; i++)
        if (*r->part[i].dataset)
            err = set_open(r->hdf5, &set[i], r->part[i].dataset, strchr("df", r->part[i].type) != NULL, r->hdf5->npart,
                           PARTS);
    if (err == OK) err = part_batches(r, piece, set, fn, ctx);
    for (int i = 0; i < r->npart_field; i++) set_close(&set[i]);
    return err;
}
#endif
