/* grid/read: opens a checkpoint and reads boxes of cells, block by block, by Ptah's own parser of
 * HDF5. No number in the file is trusted. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "ckpt/files.h"
#include "ckpt/manifest.h"
#include "grid/priv.h"
#include "h5/parse.h"

struct field_set {
    struct h5_set h5;
    int64_t sum; /* index of its first checksum */
    char name[96];
};

struct grid_in {
    struct h5_file file;
    struct field_set set[GRID_FIELDS];
    int64_t nsum;
    uint64_t *sum;
    int64_t rows; /* lines of a block */
    /* The last block read: its field and number, −1: none. */
    int field;
    int64_t number;
    double *block;
};

/* ---- paths ---- */

/* The directory of the path of a checkpoint, or of a file in it. */
static void directory_of(const char *path, char dir[PATH_MAX])
{
    struct stat st;
    snprintf(dir, PATH_MAX, "%s", path);
    if (strlen(path) >= PATH_MAX || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return;
    char *slash = strrchr(dir, '/');
    enum files_kind k = files_of(slash ? slash + 1 : dir).kind;
    if (k == FILES_KINDS || files_has_role(k, FILES_BESIDE)) return;
    if (slash)
        slash[slash == dir] = 0;
    else
        snprintf(dir, PATH_MAX, ".");
}

/* Whether a directory is such a checkpoint; its number. */
static bool find(const char *dir, int *number)
{
    struct files_name last;
    int n;
    bool is = files_count(dir, FILES_STENCIL, -1, &n, &last) == OK && n == 1;
    if (is) *number = last.number;
    return is;
}

bool grid_is(const char *path)
{
    char dir[PATH_MAX];
    int number;
    directory_of(path, dir);
    return find(dir, &number);
}

/* ---- header ---- */

/* Reads at most `max` numbers of an attribute, whose number becomes *n, 0 if it is missing. type: d
 * or q. */
static enum err get_numbers(struct grid *g, const char *name, char type, int64_t *n, int64_t max,
                            void *p)
{
    struct h5_file *f = &g->impl->file;
    struct h5_value v = {0};
    int64_t at = h5_find(f, "header");
    bool exists = at && h5_attr(f, at, name, &v);
    if (f->err != OK) return f->err;
    bool fits = exists && v.data && v.n <= max && strchr(type == 'd' ? "d" : "qi", v.type);
    if (fits) h5_widen(v.type, v.n, v.data, p);
    FREE(v.data);
    *n = exists ? v.n : 0;
    if (exists && !fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /header does not have %ld number%s", g->file, name,
             (long)max, max > 1 ? "s at most" : "");
    return OK;
}

static enum err get_one(struct grid *g, const char *name, char type, void *p)
{
    int64_t n;
    TRY(get_numbers(g, name, type, &n, 1, p));
    if (n != 1)
        FAIL(ERR_FORMAT, "%s: /header has no attribute %s: the file is damaged", g->file, name);
    return OK;
}

static enum err get_names(struct grid *g, const char *name, int max, char (*names)[GRID_NAME],
                          int *n)
{
    struct h5_file *f = &g->impl->file;
    struct h5_value v = {0};
    int64_t at = h5_find(f, "header");
    bool exists = at && h5_attr(f, at, name, &v);
    if (f->err != OK) return f->err;
    bool fits = exists && v.data && v.type == 's' && v.n % GRID_NAME == 0 &&
                v.n <= (int64_t)max * GRID_NAME;
    if (fits) memcpy(names, v.data, (size_t)v.n);
    *n = fits ? (int)(v.n / GRID_NAME) : 0;
    FREE(v.data);
    if (exists && !fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /header is not a list of names: the file is damaged",
             g->file, name);
    return OK;
}

static enum err check_solver(struct grid *g)
{
    struct h5_file *f = &g->impl->file;
    struct h5_value v = {0};
    int64_t at = h5_find(f, "header"), version;
    bool is = at && h5_attr(f, at, "solver", &v) && v.type == 's' && v.n >= 7 &&
              memcmp(v.data, "stencil", 7) == 0;
    FREE(v.data);
    if (f->err != OK) return f->err;
    if (!is)
        FAIL(ERR_FORMAT, "%s: attribute solver of /header is not 'stencil': the file is damaged",
             g->file);
    TRY(get_one(g, "version", 'q', &version));
    if (version != GRID_VERSION)
        FAIL(ERR_FORMAT, "%s: version of /header is %ld, expected %d", g->file, (long)version,
             GRID_VERSION);
    return OK;
}

static enum err read_head(struct grid *g)
{
    struct grid_head *h = &g->head;
    int64_t order, n;
    TRY(check_solver(g));
    TRY(get_one(g, "it", 'q', &h->it));
    TRY(get_one(g, "t", 'd', &h->t));
    TRY(get_one(g, "dt", 'd', &h->dt));
    for (int d = 0; d < 3; d++) {
        const char cells[] = {'n', (char)('x' + d), 0}, side[] = {'l', (char)('x' + d), 0};
        TRY(get_one(g, cells, 'q', &h->n[d]));
        TRY(get_one(g, side, 'd', &h->length[d]));
    }
    TRY(get_one(g, "order", 'q', &order));
    h->order = order < 0 || order > 100 ? 0 : (int)order;
    TRY(get_one(g, "rows", 'q', &g->impl->rows));
    TRY(get_names(g, "fields", GRID_FIELDS, h->field, &h->nfield));
    TRY(get_names(g, "keys", GRID_KEYS, h->key, &h->nkey));
    TRY(get_numbers(g, "values", 'd', &n, GRID_KEYS, h->value));
    if (n != h->nkey)
        FAIL(ERR_FORMAT, "%s: /header has %d keys, but %ld values", g->file, h->nkey, (long)n);
    TRY(grid_check_head(h, g->file));
    if (g->impl->rows < 1 || g->impl->rows > h->n[1] * h->n[2])
        FAIL(ERR_FORMAT, "%s: /header: rows is %ld, expected 1 to %ld", g->file,
             (long)g->impl->rows, (long)(h->n[1] * h->n[2]));
    return OK;
}

/* ---- datasets ---- */

static enum err read_sums(struct grid *g)
{
    struct grid_in *in = g->impl;
    struct h5_set s;
    int64_t at = h5_find(&in->file, "ptah/checksum");
    if (in->file.err != OK) return in->file.err;
    if (!at) FAIL(ERR_FORMAT, "%s: has no checksums: the file is damaged", g->file);
    TRY(h5_set_open(&in->file, at, "ptah/checksum", &s));
    enum err err = OK;
    if (s.type != 'q' || s.n > in->file.size / 8)
        err = err_set(ERR_FORMAT, "%s: /ptah/checksum is damaged", g->file);
    if (err == OK) {
        in->nsum = s.n;
        in->sum = mem_new(sizeof *in->sum * (size_t)s.n + 8, "snapshot");
        err = h5_set_read(&in->file, &s, "ptah/checksum", 0, s.n, in->sum);
    }
    h5_set_close(&s);
    return err;
}

/* Index of the first checksum of a dataset of n blocks. */
static enum err find_sum(struct grid *g, int64_t at, const char *name, int64_t n, int64_t *sum)
{
    struct grid_in *in = g->impl;
    struct h5_value v = {0};
    bool is = h5_attr(&in->file, at, "checksum", &v) && v.type == 'q' && v.n == 1 && v.data;
    if (is) memcpy(sum, v.data, 8);
    FREE(v.data);
    if (in->file.err != OK) return in->file.err;
    if (!is || *sum < 0 || *sum > in->nsum - n)
        FAIL(ERR_FORMAT, "%s: /%s has no checksums: the file is damaged", g->file, name);
    return OK;
}

static enum err open_field(struct grid *g, int i)
{
    struct grid_in *in = g->impl;
    struct field_set *s = &in->set[i];
    const int64_t *n = g->head.n;
    grid_dataset(&g->head, g->number, i, s->name);
    int64_t at = h5_find(&in->file, s->name);
    if (in->file.err != OK) return in->file.err;
    if (!at) FAIL(ERR_FORMAT, "%s: has no dataset /%s: the file is damaged", g->file, s->name);
    TRY(h5_table_open(&in->file, at, s->name, &s->h5));
    if (s->h5.type != 'd')
        FAIL(ERR_FORMAT, "%s: dataset /%s does not have numbers of double precision", g->file,
             s->name);
    if (s->h5.ndim != 3 || s->h5.dim[0] != n[2] || s->h5.dim[1] != n[1] || s->h5.dim[2] != n[0])
        FAIL(ERR_FORMAT, "%s: dataset /%s does not have %ld x %ld x %ld cells, as /header says",
             g->file, s->name, (long)n[0], (long)n[1], (long)n[2]);
    return find_sum(g, at, s->name, (n[1] * n[2] + in->rows - 1) / in->rows, &s->sum);
}

static enum err read_state(struct grid *g);

static enum err open_file(struct grid *g)
{
    struct grid_in *in = g->impl;
    TRY(files_path(g->path, FILES_STENCIL, g->number, 0, g->file));
    TRY(h5_open(&in->file, g->file));
    TRY(read_head(g));
    TRY(read_sums(g));
    for (int i = 0; i < g->head.nfield; i++) TRY(open_field(g, i));
    return read_state(g);
}

enum err grid_open(const char *path, struct grid **out)
{
    struct grid *g = mem_zero(sizeof *g, "snapshot");
    g->impl = mem_zero(sizeof *g->impl, "snapshot");
    g->impl->file.fd = -1;
    g->impl->field = -1;
    directory_of(path, g->path);
    *out = NULL;
    enum err err = find(g->path, &g->number)
                       ? open_file(g)
                       : err_set(ERR_FILE, "%s: has no stencil_NNNNN.h5, or more than one", path);
    if (err == OK)
        *out = g;
    else
        grid_close(&g);
    return err;
}

void grid_close(struct grid **g)
{
    struct grid_in *in = *g ? (*g)->impl : NULL;
    if (!in) return;
    for (int i = 0; i < GRID_FIELDS; i++) h5_set_close(&in->set[i].h5);
    h5_close(&in->file);
    FREE((*g)->head.state);
    FREE(in->sum);
    FREE(in->block);
    FREE((*g)->impl);
    FREE(*g);
}

/* ---- values ---- */

static enum err load_block(struct grid *g, int field, int64_t number)
{
    struct grid_in *in = g->impl;
    struct field_set *s = &in->set[field];
    const int64_t nx = g->head.n[0], first = number * in->rows * nx;
    int64_t n = in->rows * nx;
    if (in->field == field && in->number == number) return OK;
    if (n > s->h5.n - first) n = s->h5.n - first;
    if (!in->block) in->block = mem_new(sizeof(double) * (size_t)(in->rows * nx), "snapshot");
    in->field = -1;
    TRY(h5_set_read(&in->file, &s->h5, s->name, first, n, in->block));
    if (!checksum_agrees(in->sum[s->sum + number], checksum_of(in->block, 8 * (size_t)n)))
        FAIL(ERR_FORMAT, "%s: /%s is damaged: lines %ld to %ld do not match their checksum",
             g->file, s->name, (long)(first / nx), (long)((first + n) / nx - 1));
    in->field = field, in->number = number;
    return OK;
}

static int64_t wrapped(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}

static enum err check_line(const struct grid *g, const struct field_set *s, const double *line,
                           int64_t row)
{
    const int64_t nx = g->head.n[0], ny = g->head.n[1];
    for (int64_t x = 0; x < nx; x++)
        if (!isfinite(line[x]))
            FAIL(ERR_FORMAT, "%s: /%s is %s in cell %ld %ld %ld (counted from 0 along x, y, z)",
                 g->file, s->name, isnan(line[x]) ? "not a number" : "infinite", (long)x,
                 (long)(row % ny), (long)(row / ny));
    return OK;
}

enum err grid_read(struct grid *g, int field, const int64_t first[3], const int64_t n[3],
                   double *to, const int64_t stride[3])
{
    struct grid_in *in = g->impl;
    const int64_t *all = g->head.n;
    BUG_ON(field < 0 || field >= g->head.nfield);
    if (n[0] < 1) return OK;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            int64_t row = wrapped(first[2] + z, all[2]) * all[1] + wrapped(first[1] + y, all[1]),
                    x = wrapped(first[0], all[0]);
            TRY(load_block(g, field, row / in->rows));
            const double *line = in->block + row % in->rows * all[0];
            double *p = to + z * stride[2] + y * stride[1];
            if (!g->any) TRY(check_line(g, &in->set[field], line, row));
            for (int64_t i = 0; i < n[0]; i++) {
                p[i * stride[0]] = line[x++];
                if (x == all[0]) x = 0;
            }
        }
    return OK;
}

/* ---- small datasets ---- */

/* Reads a dataset of one block, at most `max` elements; *p is NULL if there is none. Two zero bytes
 * follow the elements. */
static enum err read_small(struct grid *g, const char *name, char type, int64_t max, void **p,
                           int64_t *n)
{
    struct grid_in *in = g->impl;
    struct h5_set s;
    int64_t sum, at = h5_find(&in->file, name);
    *p = NULL, *n = 0;
    if (in->file.err != OK) return in->file.err;
    if (!at) return OK;
    TRY(h5_set_open(&in->file, at, name, &s));
    enum err err = find_sum(g, at, name, 1, &sum);
    if (err == OK && (s.type != type || s.n > max))
        err = err_set(ERR_FORMAT,
                      "%s: /%s has a wrong type or too many elements: the file is damaged", g->file,
                      name);
    size_t bytes = err == OK ? (size_t)(s.n * h5_size(type)) : 0;
    char *got = mem_zero(bytes + 2, "snapshot");
    if (err == OK) err = h5_set_read(&in->file, &s, name, 0, s.n, got);
    if (err == OK && !checksum_agrees(in->sum[sum], checksum_of(got, bytes)))
        err = err_set(ERR_FORMAT, "%s: /%s is damaged: it does not match its checksum", g->file,
                      name);
    *n = s.n;
    h5_set_close(&s);
    if (err != OK) FREE(got);
    *p = got;
    return err;
}

static enum err read_state(struct grid *g)
{
    enum { STATE_MAX = 1 << 24 };
    struct grid_head *h = &g->head;
    void *p;
    TRY(read_small(g, "state", 'd', STATE_MAX, &p, &h->nstate));
    h->state = p;
    for (int64_t i = 0; i < h->nstate; i++)
        if (!isfinite(h->state[i]))
            FAIL(ERR_FORMAT, "%s: /state: number %ld is not finite", g->file, (long)i + 1);
    return OK;
}

enum err grid_text(struct grid *g, bool history, char **text, size_t *bytes)
{
    enum { TEXT_MAX = 1 << 26 };
    void *p;
    int64_t n;
    *text = NULL, *bytes = 0;
    TRY(read_small(g, history ? "history" : "parameters", 'B', TEXT_MAX, &p, &n));
    char *t = p;
    while (n > 1 && t[n - 1] == '\n' && t[n - 2] == '\n') n--; /* the text is padded */
    if (t) t[n] = 0;
    *text = t, *bytes = (size_t)n;
    return OK;
}

enum err grid_check_files(const struct grid *g)
{
    static const enum files_kind TEXTS[] = {FILES_NAMELIST, FILES_HISTORY};
    struct manifest *list;
    TRY(manifest_load(g->path, g->number, &list));
    if (!list) FAIL(ERR_FILE, "%s: has no list of checksums: a file is missing", g->path);
    enum err err = OK;
    for (int i = 0; i < 2 && err == OK; i++) {
        char name[FILES_NAME];
        files_name(TEXTS[i], g->number, 0, name);
        err = manifest_check_file(list, g->path, name);
    }
    manifest_free(&list);
    return err;
}
