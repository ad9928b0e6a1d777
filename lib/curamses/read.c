/* curamses/read: see read.h. Batches are the blocks of the writer's checksums, so that each is
 * read whole. */
#include "curamses/read.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "curamses/file.h"
#include "curamses/read_sets.h"
#include "curamses/sinks.h"

enum { PIECE_BLOCKS = 1, PIECES = 4096 };

static enum err snapshot_open(struct source *s, struct hdf5_in *h);

/* -1: the directory cannot be read; errno gives the reason */
static int find_file(const char *dir, int *number)
{
    DIR *d = opendir(dir);
    int found = 0;
    if (!d) return -1;
    for (struct dirent *e; errno = 0, (e = readdir(d));) {
        int k, end = 0;
        if (sscanf(e->d_name, "data_%5d.h5%n", &k, &end) != 1 || !end || e->d_name[end]) continue;
        *number = k;
        found++;
    }
    if (errno != 0) found = -1;
    return closedir(d) == 0 ? found : -1;
}

bool hdf5_is(const char *dir)
{
    int number;
    return find_file(dir, &number) == 1;
}

enum err hdf5_open(struct source *s)
{
    struct hdf5_in *h = s->impl = mem_zero(sizeof *h, "snapshot");
    char path[PATH_MAX];
    h->file.fd = -1;
    int found = find_file(s->path, &s->number);
    if (found < 0) FAIL(ERR_FILE, "%s: cannot read the directory: %s", s->path, strerror(errno));
    if (found != 1) FAIL(ERR_FILE, "%s: has no data_NNNNN.h5, or several", s->path);
    TRY(hdf5_file_path(s, NULL, 0, path));
    TRY(info_verify(s));
    TRY(h5_open(&h->file, path));
    h->path = h->file.path;
    TRY(snapshot_open(s, h));
    TRY(info_tables(s));
    info_say_missing(s);
    snprintf(s->format, sizeof s->format, "HDF5%s", s->state ? "" : " of cuRAMSES");
    return OK;
}

enum err hdf5_file_path(const struct source *s, const char *what, int piece, char path[PATH_MAX])
{
    int k = snprintf(path, PATH_MAX, "%s/data_%05d.h5", s->path, s->number);
    if (k < 0 || k >= PATH_MAX) FAIL(ERR_FILE, "%.80s…: path too long", s->path);
    return OK;
}

void hdf5_close_in(struct source *s)
{
    struct hdf5_in *h = hdf5_in_of(s);
    if (h) h5_close(&h->file);
    if (h) FREE(h->sum);
    FREE(s->impl);
}

/* ---- attributes ---- */

/* Damage found meanwhile is kept in h->file.err. */
bool hdf5_has(struct hdf5_in *h, const char *path)
{
    return h5_find(&h->file, path) != 0;
}

/* Reads n values into p, type d or q. A missing attribute is an error unless `may_lack`: then *p is
 * unchanged. */
static enum err get_attr(struct hdf5_in *h, const char *group, const char *name, char type,
                         int64_t n, void *p, bool may_lack)
{
    struct h5_value v = {0};
    int64_t at = h5_find(&h->file, group);
    bool there = at && h5_attr(&h->file, at, name, &v);
    if (h->file.err != OK) return h->file.err;
    if (!there && may_lack) return OK;
    bool fits = there && v.data && v.n == n && strchr(type == 'd' ? "df" : "qihbQIHB", v.type);
    if (fits) h5_widen(v.type, n, v.data, p);
    FREE(v.data);
    if (!there)
        FAIL(ERR_FORMAT,
             "%s: /%s has no attribute %s: the file is damaged or was not written by cuRAMSES",
             h->path, group, name);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /%s does not have %ld number%s", h->path, name, group,
             (long)n, n > 1 ? "s" : "");
    return OK;
}

static enum err get_count(struct hdf5_in *h, const char *group, const char *name, int64_t lo,
                          int64_t hi, int64_t *x)
{
    TRY(get_attr(h, group, name, 'q', 1, x, false));
    if (*x < lo || *x > hi)
        FAIL(ERR_FORMAT, "%s: %s of /%s is %ld, expected %ld to %ld", h->path, name, group,
             (long)*x, (long)lo, (long)hi);
    return OK;
}

static void get_ordering(struct hdf5_in *h, char ordering[129])
{
    struct h5_value v = {0};
    int64_t at = h5_find(&h->file, "header");
    ordering[0] = 0;
    if (at && h5_attr(&h->file, at, "ordering", &v) && v.type == 's' && v.data && v.n <= 128) {
        v.data[v.n] = 0; /* h5_attr leaves room */
        size_t n = strspn((const char *)v.data, "abcdefghijklmnopqrstuvwxyz");
        snprintf(ordering, 129, "%.*s", (int)n, (const char *)v.data);
    }
    FREE(v.data);
}

/* ---- datasets ---- */

void hdf5_set_close(struct hdf5_open_set *s)
{
    h5_set_close(&s->h5);
    s->name[0] = 0;
}

static enum err set_check(struct hdf5_in *h, struct hdf5_open_set *s, bool real, int64_t n,
                          int64_t block)
{
    if (n < 0) n = s->h5.n;
    if (s->h5.n != n)
        FAIL(ERR_FORMAT, "%s: /%s has %ld elements, expected %ld", h->path, s->name, (long)s->h5.n,
             (long)n);
    if ((strchr("df", s->h5.type) != NULL) != real)
        FAIL(ERR_FORMAT, "%s: dataset /%s is not of type %s", h->path, s->name,
             real ? "real" : "integer");
    s->sum = -1;
    if (!h->ours) return OK;
    TRY(get_attr(h, s->name, "checksum", 'q', 1, &s->sum, true));
    if (s->sum < 0 && h->sums) *h->sums = false;
    int64_t blocks = (n + block - 1) / block;
    if (s->sum >= 0 && s->sum > h->nsum - blocks)
        FAIL(ERR_FORMAT,
             "%s: the checksums of /%s lie beyond the end of /ptah/checksum: the file is damaged",
             h->path, s->name);
    return OK;
}

/* n < 0: any number of elements. */
enum err hdf5_set_open(struct hdf5_in *h, struct hdf5_open_set *s, const char *path, bool real,
                       int64_t n, int64_t block)
{
    *s = (struct hdf5_open_set){0};
    snprintf(s->name, sizeof s->name, "%s", path);
    int64_t at = h5_find(&h->file, path);
    if (h->file.err != OK) return h->file.err;
    if (!at)
        FAIL(ERR_FORMAT,
             "%s: has no dataset /%s: the file is damaged or was not written by cuRAMSES", h->path,
             path);
    TRY(h5_set_open(&h->file, at, path, &s->h5));
    enum err err = set_check(h, s, real, n, block);
    if (err != OK) hdf5_set_close(s);
    return err;
}

/* Reads a block as it is stored and compares it with its checksum. */
static enum err set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                         int64_t block, void *p)
{
    TRY(h5_set_read(&h->file, &s->h5, s->name, at, n, p));
    if (s->sum >= 0 && !checksum_agrees(h->sum[s->sum + at / block],
                                        checksum_of(p, (size_t)(n * h5_size(s->h5.type)))))
        FAIL(ERR_FORMAT, "%s: /%s is damaged: elements %ld to %ld do not match their checksum",
             h->path, s->name, (long)at, (long)(at + n - 1));
    return OK;
}

/* Widened to 8 bytes, in place of p. */
enum err hdf5_set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                       int64_t block, void *raw, void *p)
{
    if (h5_size(s->h5.type) == 8) return set_load(h, s, at, n, block, p);
    TRY(set_load(h, s, at, n, block, raw));
    h5_widen(s->h5.type, n, raw, p);
    return OK;
}

enum err hdf5_read_small(const struct source *s, const char *path, bool real, int64_t most,
                         int64_t *n, void **p)
{
    struct hdf5_in *h = hdf5_in_of(s);
    struct hdf5_open_set x;
    *n = 0, *p = NULL;
    if (!hdf5_has(h, path)) return OK;
    TRY(hdf5_set_open(h, &x, path, real, -1, most));
    enum err err = OK;
    if (x.h5.n > most)
        err = err_set(ERR_FORMAT, "%s: /%s has %ld elements", h->path, path, (long)x.h5.n);
    if (err == OK && x.h5.n > 0) {
        char *raw = mem_new(16 * (size_t)x.h5.n, "snapshot");
        err = hdf5_set_load(h, &x, 0, x.h5.n, most, raw + 8 * x.h5.n, raw);
        *n = x.h5.n, *p = raw;
    }
    hdf5_set_close(&x);
    if (err != OK) FREE(*p);
    return err;
}

/* What our HDF5 file keeps, a byte a letter. */
static enum err read_own_text(const struct source *s, const char *name, char **text, size_t *bytes)
{
    char path[64];
    int64_t n;
    void *letter;
    snprintf(path, sizeof path, "ptah/%s", strcmp(name, "compilation") == 0 ? "provenance" : name);
    TRY(hdf5_read_small(s, path, false, 1 << 20, &n, &letter));
    if (letter) *text = mem_zero((size_t)n + 1, "snapshot");
    for (int64_t i = 0; letter && i < n; i++) (*text)[i] = (char)((const int64_t *)letter)[i];
    /* it was filled up with them */
    while (n > 1 && (*text)[n - 1] == '\n' && (*text)[n - 2] == '\n') (*text)[--n] = 0;
    *bytes = (size_t)n;
    mem_free(letter);
    return OK;
}

enum err hdf5_read_text(struct source *s, const char *name, char **text, size_t *bytes)
{
    TRY(read_own_text(s, name, text, bytes));
    return *text ? OK : info_text(s, name, text, bytes);
}

void hdf5_grav_set(int k, char path[HDF5_GRAV_NAME])
{
    if (k > 1)
        snprintf(path, HDF5_GRAV_NAME, "gravity/level_%%d/f_%d", k - 1);
    else
        snprintf(path, HDF5_GRAV_NAME, k ? "gravity/level_%%d/phi" : "ptah/gravity/level_%%d/rho");
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
    TRY(get_count(h, "header", "noutput", 0, 1 << 20, &n));
    s->out_times = mem_zero(sizeof(double) * 2 * (size_t)n + 8, "snapshot");
    if (n) TRY(get_attr(h, "header", "tout", 'd', n, s->out_times, true));
    if (n) TRY(get_attr(h, "header", "aout", 'd', n, s->out_times + n, true));
    s->head.noutput = (int)n, s->head.tout = s->out_times, s->head.aout = s->out_times + n;
    return OK;
}

static enum err read_reals(struct source *s, struct hdf5_in *h)
{
    struct ckpt_head *d = &s->head;
    double by_level[100];
#define HEAD_REAL(member, name, attribute)                                                         \
    TRY(get_attr(h, "header", attribute, 'd', 1, &d->member, false));
#include "ckpt/head.def"
    for (int k = 0; k < 2; k++) {
        TRY(get_attr(h, "header", k ? "dtnew" : "dtold", 'd', d->levelmax, by_level, false));
        for (int l = 1; l <= d->levelmax && l <= LEVEL_MAX; l++)
            (k ? d->dtnew : d->dtold)[l] = by_level[l - 1];
    }
    if (!(d->boxlen > 0) || !isfinite(d->boxlen))
        FAIL(ERR_FORMAT, "%s: boxlen is %g, which must be finite and above 0: the file is damaged",
             h->path, d->boxlen);
    d->cosmo = d->t < 0 || d->h0 != 1 || d->aexp != 1; /* as yt decides */
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
    TRY(get_count(h, "header", "ndim", 1, 3, &one));
    d->ndim = (int)one;
    TRY(get_count(h, "header", "nboundary", 0, 100, &nboundary));
    for (int k = 0; k < 3; k++) {
        TRY(get_count(h, "header", coarse[k], 1, 100, &one));
        h->skip[k] = one == 3 && nboundary > 0;
        if (one != 1 && !h->skip[k])
            FAIL(ERR_LIMIT, "%s: has more than one coarse cell, which is not supported", h->path);
    }
    s->nboundary = (int)nboundary;
    TRY(get_count(h, "header", "ncpu", 1, INT32_MAX, &ranks));
    TRY(get_count(h, "header", "nlevelmax", 1, 99, &levelmax));
    TRY(get_count(h, "header", "levelmin", 1, levelmax, &levelmin));
    TRY(get_count(h, "header", "nvar", 0, CKPT_FIELDS - GAS_SCALARS, &nvar));
    for (int k = 0; k < 4; k++)
        TRY(get_count(h, "header", count[k], INT32_MIN, INT32_MAX, &step[k]));
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
    s->head.unit_l = info.unit_l, s->head.unit_d = info.unit_d, s->head.unit_t = info.unit_t;
    return OK;
}

/* Boundary regions as fill_boundary wrote them. */
static enum err read_boundary(struct ckpt_head *d, struct hdf5_in *h, int n)
{
    struct boundary b = {.n = n};
    int64_t face[BOUNDARY_MAX], type[BOUNDARY_MAX], extent[BOUNDARY_MAX][6] = {{-9}};
    double state[BOUNDARY_MAX][NVAR_MAX];
    if (n > BOUNDARY_MAX) FAIL(ERR_FORMAT, "%s: has %d boundary regions", h->path, n);
    if (n == 0) return OK;
    TRY(get_attr(h, "ptah", "boundary_extent", 'q', 6 * (int64_t)n, extent, true));
    if (extent[0][0] == -9) return OK; /* of before */
    TRY(get_attr(h, "ptah", "boundary_face", 'q', n, face, false));
    TRY(get_attr(h, "ptah", "boundary_type", 'q', n, type, false));
    TRY(get_attr(h, "ptah", "boundary_state", 'd', (int64_t)NVAR_MAX * n, state, false));
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
    }
    d->boundary = b;
    return OK;
}

/* Are these values of another code, as fill_stored wrote them? */
static enum err read_stored(struct source *s, struct hdf5_in *h)
{
    int64_t kind[CKPT_FIELDS] = {0}, ngrav = -1;
    TRY(get_attr(h, "ptah", "stored_grav", 'q', 1, &ngrav, true));
    if (ngrav == -1) return OK;
    s->foreign = true;
    s->ngrav = (int)ngrav;
    if (ngrav != 0 && (ngrav < s->head.ndim || ngrav > s->head.ndim + 2))
        FAIL(ERR_FORMAT,
             "%s: attribute stored_grav of /ptah is %ld, which is not a valid number of gravity "
             "fields: the file is damaged",
             h->path, (long)ngrav);
    h->asis = (struct asis){.nvar = s->head.nvar, .gamma = s->head.gamma, .smallr = h->smallr};
    if (s->head.nvar) TRY(get_attr(h, "ptah", "stored_gas", 'q', s->head.nvar, kind, false));
    for (int v = 0; v < s->head.nvar; v++) {
        if (kind[v] < ASIS_SAME || kind[v] > ASIS_PRESSURE)
            FAIL(ERR_FORMAT,
                 "%s: attribute stored_gas of /ptah has an invalid value: the file is damaged",
                 h->path);
        h->asis.kind[v] = (enum asis_kind)kind[v];
    }
    return OK;
}

static enum err read_own(struct source *s, struct hdf5_in *h)
{
    struct ckpt_head *d = &s->head;
    int64_t version, safe[LEVEL_MAX + 2] = {0};
    h->smallr = 1e-10; /* RAMSES's default */
    h->ours = hdf5_has(h, "ptah");
    TRY(h->file.err);
    if (!h->ours) return read_units(s);
    TRY(get_count(h, "ptah", "version", 1, 1, &version));
    TRY(read_sums(h));
    TRY(get_attr(h, "ptah", "imetal", 'q', 1, &h->imetal, true));
    TRY(get_attr(h, "ptah", "smallr", 'd', 1, &h->smallr, false));
    TRY(get_attr(h, "ptah", "unit_l", 'd', 1, &d->unit_l, false));
    TRY(get_attr(h, "ptah", "unit_d", 'd', 1, &d->unit_d, false));
    TRY(get_attr(h, "ptah", "unit_t", 'd', 1, &d->unit_t, false));
    TRY(get_attr(h, "ptah", "tout_next", 'd', 1, &d->tout_next, false));
    TRY(get_attr(h, "ptah", "aout_next", 'd', 1, &d->aout_next, false));
    TRY(get_attr(h, "ptah", "safe", 'q', LEVEL_MAX + 2, safe, false));
    TRY(read_boundary(d, h, s->nboundary));
    TRY(read_stored(s, h));
    d->smallr = h->smallr;
    for (int l = 0; l < LEVEL_MAX + 2; l++) d->safe[l] = safe[l] != 0;
    s->state = s->sums = true, h->sums = &s->sums;
    return OK;
}

/* The number of octs of each level is that of their centres. */
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
        TRY(get_count(h, path, "ngrid_total", 0, INT64_MAX, &says));
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

/* Letter of a particle column (ramses/read.h) that can hold its values. */
static char column_type(char type)
{
    if (strchr("df", type)) return 'd';
    return strchr("bhiq", type) ? type : h5_size(type) < 4 ? 'i' : 'q';
}

/* A column that the layout of cuRAMSES does not have. */
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
    TRY(get_count(h, "particles", "npart_total", 0, INT64_MAX / 16, &h->npart));
    if (h->npart) { /* the number is that of the first column */
        TRY(hdf5_set_open(h, &x, "particles/x_1", true, h->npart, PARTS));
        hdf5_set_close(&x);
    }
    for (int c = 0; c < COL_COUNT; c++) {
        const struct part_column *col = part_column(NULL, c);
        if (c < COL_MASS && c % 3 >= s->head.ndim) continue;
        bool there = hdf5_has(h, col->dataset), computed = col->lack == LACK_FAMILY && !there;
        if (!there && col->lack != LACK_ERROR && !computed) continue;
        struct ckpt_field *f = &s->part[s->npart];
        snprintf(f->name, sizeof f->name, "%s", col->name);
        snprintf(h->part_set[s->npart], sizeof *h->part_set, "%s", computed ? "" : col->dataset);
        f->type = col->type;
        s->column_at[c] = s->npart++;
    }
    int64_t more = h->ours ? h5_find(&h->file, "ptah/particles") : 0;
    if (more) h5_each(&h->file, more, add_column, s);
    if (h->file.err != OK) return h->file.err;
    TRY(get_attr(h, "particles", "nstar_tot", 'q', 1, &s->formed.number, true));
    TRY(get_attr(h, "particles", "mstar_tot", 'd', 1, &s->formed.mass, true));
    TRY(get_attr(h, "particles", "mstar_lost", 'd', 1, &s->formed.lost, true));
    s->head.particles = true;
    s->head.stars = s->column_at[COL_BIRTH] >= 0;
    s->head.metal = s->column_at[COL_METAL] >= 0;
    return OK;
}

static enum err read_fields(struct source *s, struct hdf5_in *h)
{
    bool old;
    static const char *const grav[] = {"rho_poisson", "phi", "acc_x", "acc_y", "acc_z"};
    int ndim = s->head.ndim, ngrav = s->foreign ? s->ngrav : 4;
    s->head.hydro = hdf5_has(h, "hydro");
    s->head.gravity = hdf5_has(h, "gravity");
    s->nhydro = s->head.hydro ? s->head.nvar : 0;
    if (!s->head.hydro) s->head.nvar = 0;
    if (s->nhydro && s->nhydro < GAS_SCALARS && !s->foreign)
        FAIL(ERR_FORMAT, "%s: has %d gas variables where at least %d are expected", h->path,
             s->nhydro, GAS_SCALARS);
    if (s->nhydro) TRY(info_gas(s, h->path, s->nhydro, &old));
    if (h->imetal > GAS_SCALARS && h->imetal <= s->nhydro) info_metal(s, (int)h->imetal - 1);
    for (int v = 0; v < s->nhydro; v++)
        snprintf(h->field_set[v], sizeof *h->field_set, "hydro/level_%%d/uold_%d", v + 1);
    s->ngrav = 0;
    for (int k = ndim + 2 - ngrav; s->head.gravity && k < ndim + 2; k++) {
        int i = s->nhydro + s->ngrav++;
        struct ckpt_field *f = &s->field[i];
        snprintf(f->name, sizeof f->name, "%s", grav[k]);
        hdf5_grav_set(k, h->field_set[i]);
        f->type = 'd';
    }
    return OK;
}

static enum err snapshot_open(struct source *s, struct hdf5_in *h)
{
    TRY(read_header(s, h));
    TRY(read_own(s, h));
    if (s->head.ndim != 3 && !s->foreign)
        FAIL(ERR_LIMIT, "%s: has %d dimensions; HDF5 files of cuRAMSES need 3", h->path,
             s->head.ndim);
    TRY(read_columns(s, h));
    TRY(count_octs(s, h));
    TRY(hdf5_read_sinks(&h->file, &s->table[0]));
    TRY(read_fields(s, h));
    return h->file.err;
}

/* ---- particles ---- */

/* Blocks of the k-th of `pieces` parts of n rows. */
void hdf5_part_of(int64_t n, int64_t block, int k, int pieces, int64_t *first, int64_t *end)
{
    int64_t blocks = (n + block - 1) / block;
    *first = blocks * k / pieces * block;
    *end = blocks * (k + 1) / pieces * block;
    if (*end > n) *end = n;
}

/* Where families are not stored, clouds of sinks have negative ids and stars a birth time. */
static void make_family(const struct source *s, int64_t n, const void *const *col, int64_t *family)
{
    const int64_t *id = col[s->column_at[COL_ID]];
    const double *birth = s->column_at[COL_BIRTH] < 0 ? NULL : col[s->column_at[COL_BIRTH]];
    for (int64_t i = 0; i < n; i++)
        family[i] = id[i] < 0 ? FAM_CLOUD : birth && birth[i] != 0 ? FAM_STAR : FAM_DM;
}

static enum err part_batches(struct source *s, int piece, struct hdf5_open_set *set,
                             source_parts_fn *fn, void *ctx)
{
    struct hdf5_in *h = hdf5_in_of(s);
    int nf = s->npart, family = s->column_at[COL_FAMILY];
    char *store = mem_new(8 * (size_t)PARTS * (size_t)(nf + 1), "snapshot batch"),
         *raw = store + 8 * (size_t)PARTS * (size_t)nf;
    const void *col[CKPT_FIELDS];
    int64_t first, end;
    enum err err = OK;
    for (int i = 0; i < nf; i++) col[i] = store + (size_t)i * 8 * PARTS;
    hdf5_part_of(h->npart, PARTS, piece, s->npiece, &first, &end);
    for (int64_t at = first; err == OK && at < end; at += PARTS) {
        int64_t n = end - at < PARTS ? end - at : PARTS;
        bool wanted = true;
        for (int pass = 0; err == OK && wanted && pass < 2; pass++) {
            for (int i = 0; err == OK && i < nf; i++)
                if (*h->part_set[i] && source_is_position(s, i) == (pass == 0))
                    err = hdf5_set_load(h, &set[i], at, n, PARTS, raw,
                                        store + (size_t)i * 8 * PARTS);
            if (pass == 0) wanted = err == OK && source_picks_parts(s, n, col);
        }
        if (err != OK || !wanted) continue;
        if (!*h->part_set[family])
            make_family(s, n, col, (int64_t *)(void *)(store + (size_t)family * 8 * PARTS));
        err = source_hand_parts(s, n, col, fn, ctx);
    }
    FREE(store);
    return err;
}

enum err hdf5_read_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct hdf5_in *h = hdf5_in_of(s);
    struct hdf5_open_set set[CKPT_FIELDS] = {0};
    enum err err = OK;
    if (!h->npart) return OK;
    for (int i = 0; err == OK && i < s->npart; i++)
        if (*h->part_set[i])
            err = hdf5_set_open(h, &set[i], h->part_set[i], strchr("df", s->part[i].type) != NULL,
                                h->npart, PARTS);
    if (err == OK) err = part_batches(s, piece, set, fn, ctx);
    for (int i = 0; i < s->npart; i++) hdf5_set_close(&set[i]);
    return err;
}
