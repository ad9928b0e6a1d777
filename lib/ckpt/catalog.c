#include "ckpt/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/fortran.h"

static const size_t TEXT_MAX = (size_t)256 << 20;
enum { ROW_MAX = CATALOG_COLUMNS }; /* maximum numbers per line of text */

/* Names in Ptah, csv and HDF5 files, and unit; in the order of RAMSES's csv files. */
static const struct name {
    const char *ours, *csv, *hdf5, *unit;
} NAME[] = {{"identity", "id", "idsink", "1"},
            {"mass", "msink", "msink", "m"},
            {"position_x", "x", "xsink_1", "l"},
            {"position_y", "y", "xsink_2", "l"},
            {"position_z", "z", "xsink_3", "l"},
            {"velocity_x", "vx", "vsink_1", "l t**-1"},
            {"velocity_y", "vy", "vsink_2", "l t**-1"},
            {"velocity_z", "vz", "vsink_3", "l t**-1"},
            {"lx", "lx", "lx", "m l**2 t**-1"},
            {"ly", "ly", "ly", "m l**2 t**-1"},
            {"lz", "lz", "lz", "m l**2 t**-1"},
            {"birth_time", "tform", "tsink", "t"},
            {"acc_rate", "acc_rate", "acc_rate", "m t**-1"},
            {"del_mass", "del_mass", "del_mass", "m"},
            {"rho_gas", "rho_gas", "rho_gas", "m l**-3"},
            {"cs**2", "cs**2", "cs**2", "l**2 t**-2"},
            {"etherm", "etherm", "etherm", "m l**2 t**-2"},
            {"vx_gas", "vx_gas", "vx_gas", "l t**-1"},
            {"vy_gas", "vy_gas", "vy_gas", "l t**-1"},
            {"vz_gas", "vz_gas", "vz_gas", "l t**-1"},
            {"mbh", "mbh", "mbh", "m"},
            {"dmfsink", "dmfsink", "dmfsink", "m"},
            {"level", "level", "level", "1"},
            {"tlife", "tlife", "tlife", "t"}};
enum { NAMES = sizeof NAME / sizeof *NAME };

static const struct name *known(const char *ours)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(ours, NAME[i].ours) == 0) return &NAME[i];
    return NULL;
}

const char *catalog_hdf5_name(const struct catalog_column *c)
{
    const struct name *k = known(c->name);
    return k ? k->hdf5 : c->name;
}

enum err catalog_add(struct catalog *t, const char *path, const char *name, bool real,
                     struct catalog_column **col)
{
    if (strcmp(name, "mstellar") == 0) name = "mass";
    for (int i = 0; i < NAMES; i++)
        if (strcmp(name, NAME[i].csv) == 0 || strcmp(name, NAME[i].hdf5) == 0) {
            name = NAME[i].ours;
            break;
        }
    size_t k = strlen(name);
    if (t->ncol == CATALOG_COLUMNS)
        FAIL(ERR_LIMIT, "%s: has more than %d columns, the limit of this program", path,
             CATALOG_COLUMNS);
    if (k == 0 || k >= sizeof t->col->name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.*") != k)
        FAIL(ERR_FORMAT,
             "%s: the name of column %d is empty, too long, or contains other characters than "
             "letters, digits and _+-.*",
             path, t->ncol + 1);
    if (catalog_find(t, name)) FAIL(ERR_FORMAT, "%s: has two columns named %s", path, name);
    struct catalog_column *c = *col = &t->col[t->ncol++];
    memcpy(c->name, name, k + 1);
    if (real)
        c->real = mem_zero(sizeof *c->real * (size_t)t->n + 8, "snapshot");
    else
        c->whole = mem_zero(sizeof *c->whole * (size_t)t->n + 8, "snapshot");
    return OK;
}

const struct catalog_column *catalog_find(const struct catalog *t, const char *name)
{
    for (int i = 0; i < t->ncol; i++)
        if (strcmp(t->col[i].name, name) == 0) return &t->col[i];
    return NULL;
}

void catalog_free(struct catalog *t)
{
    for (int i = 0; i < t->ncol; i++) {
        FREE(t->col[i].real);
        FREE(t->col[i].whole);
    }
    *t = (struct catalog){0};
}

enum err catalog_select(struct catalog *t, const struct catalog *from, int64_t n,
                        const int64_t *which)
{
    *t = (struct catalog){.n = n};
    memcpy(t->from, from->from, sizeof t->from);
    for (int k = 0; k < from->ncol; k++) {
        const struct catalog_column *in = &from->col[k];
        struct catalog_column *out;
        TRY(catalog_add(t, from->from, in->name, in->real != NULL, &out));
        for (int64_t i = 0; i < n && in->real; i++) out->real[i] = in->real[which[i]];
        for (int64_t i = 0; i < n && in->whole; i++) out->whole[i] = in->whole[which[i]];
    }
    return OK;
}

/* ---- text files ---- */

static const char *next_line(const char *s)
{
    s += strcspn(s, "\n");
    return *s ? s + 1 : s;
}

/* Whether a line is a row. Csv files have rows, blanks and comments; other files have titles
 * too. */
static bool is_row(const struct catalog *t, const char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(t->from);
    if (n > 4 && strcmp(t->from + n - 4, ".csv") == 0) return *s && *s != '\n' && *s != '#';
    return *s && strchr("0123456789-+.*", *s);
}

/* A number in a text, as a real and, if integral, as an integer. */
struct number {
    double real;
    int64_t whole;
    bool is_whole;
};

/* Parses a number. Digits alone give a 64-bit integer; others must be exact as a double. */
static bool read_number(const char **s, struct number *n)
{
    const char *digits = *s;
    n->is_whole = text_whole(&digits, &n->whole);
    if (!text_real(s, &n->real)) return false;
    if (n->is_whole) return true;
    n->is_whole = n->real == floor(n->real) && fabs(n->real) <= 0x1p53;
    n->whole = n->is_whole ? (int64_t)n->real : 0;
    return true;
}

/* Parses the numbers of a line, separated by commas or blanks; returns their count, -1 if the line
 * contains anything else. */
static int read_row(const char *s, struct number x[ROW_MAX])
{
    int n = 0;
    for (; !text_line_ends(s); n++) {
        s += strspn(s, " \t\r");
        if (n && *s == ',') s++;
        if (n == ROW_MAX || !read_number(&s, &x[n])) return -1;
    }
    return n;
}

/* Reads the entries of the first comment line as names; returns their number. */
static int read_names(const char *text, char name[ROW_MAX][32])
{
    int n = 0;
    const char *s = text + strspn(text, " \t");
    if (*s != '#') return 0;
    for (s++; n < ROW_MAX; s++) {
        s += strspn(s, " \t");
        size_t k = strcspn(s, ", \t\r\n");
        if (k == 0 || k >= 32) return 0;
        memcpy(name[n], s, k);
        name[n++][k] = 0;
        s += k;
        s += strspn(s, " \t\r");
        if (*s != ',') return n;
    }
    return 0;
}

/* Chooses the names for a file without names by its number of columns. */
static void default_names(const char *path, int ncol, char name[ROW_MAX][32])
{
    static const char *const sink[] = {"id", "msink", "x", "y", "z", "vx", "vy", "vz"};
    static const char *const spin[] = {"lx", "ly", "lz", "age", "acc_rate"};
    static const char *const stellar[] = {"id", "mstellar", "tform", "tlife"};
    bool info = strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".info") == 0;
    for (int i = 0; i < ncol; i++) {
        const char *s = ncol == 4 ? stellar[i] : i < 8 && ncol >= 8 ? sink[i] : NULL;
        if (info && i == 1) s = "mass_msun";
        if (i >= 8 && ncol == 13) s = spin[i - 8];
        if (i >= 8 && ncol == 10) s = spin[i - 5];
        if (s)
            snprintf(name[i], 32, "%s", s);
        else
            snprintf(name[i], 32, "column_%02d", i + 1);
    }
}

/* ---- numbers in RAMSES's width ---- */

/* Suffix of a column of residuals. RAMSES reads 21 characters a number, too few for some doubles.
 * The residual of column x, in units in the last place, is stored in column x_ulps. */
static const char ULPS[] = "_ulps";
enum { WIDTH = 21, DIGITS = 10 }; /* RAMSES's edit descriptor ES21.10 */

/* Maps doubles to integers in the same order; adjacent doubles differ by 1. */
static int64_t rank_of_real(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double real_of_rank(int64_t location)
{
    double x;
    int64_t bits = location < 0 ? INT64_MIN - location : location;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Formats x with RAMSES's eleven digits if these are exact, else with as many digits as fit.
 * Returns the residual in units in the last place. */
static int64_t fit(double x, char s[40])
{
    snprintf(s, 40, "%.*E", DIGITS, x);
    if (!isfinite(x) || strtod(s, NULL) == x) return 0;
    for (int digits = 16; digits >= DIGITS; digits--) {
        snprintf(s, 40, "%.*E", digits, x);
        if (strlen(s) <= WIDTH) break;
    }
    return rank_of_real(x) - rank_of_real(strtod(s, NULL));
}

/* The column that a column of residuals corrects; NULL if c is no such column. */
static struct catalog_column *ulps_of(struct catalog *t, const struct catalog_column *c)
{
    char name[32];
    size_t n = strlen(c->name), k = strlen(ULPS);
    if (!c->whole || n <= k || strcmp(c->name + n - k, ULPS) != 0) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(n - k), c->name);
    for (int i = 0; i < NAMES; i++)
        if (strcmp(name, NAME[i].csv) == 0) snprintf(name, sizeof name, "%s", NAME[i].ours);
    if (strcmp(name, "mstellar") == 0) snprintf(name, sizeof name, "mass");
    for (int i = 0; i < t->ncol; i++)
        if (strcmp(t->col[i].name, name) == 0 && t->col[i].real) return &t->col[i];
    return NULL;
}

/* Adds the residuals to their columns and removes the residual columns. */
static enum err add_ulps(struct catalog *t, const char *path)
{
    static const int64_t MAX = 1 << 24;
    int n = 0;
    for (int k = 0; k < t->ncol; k++) {
        struct catalog_column c = t->col[k], *to = ulps_of(t, &c);
        for (int64_t i = 0; to && i < t->n; i++) {
            if (!isfinite(to->real[i]) || llabs(c.whole[i]) > MAX)
                FAIL(ERR_FORMAT,
                     "%s: %s of row %ld is %ld, too large a correction of %g: the file is damaged",
                     path, c.name, (long)i + 1, (long)c.whole[i], to->real[i]);
            to->real[i] = real_of_rank(rank_of_real(to->real[i]) + c.whole[i]);
        }
        if (to) FREE(t->col[k].whole);
        if (!to) t->col[n++] = c;
    }
    t->ncol = n;
    return OK;
}

/* Whether a column of a text file holds integers, by its name. */
static bool is_whole(const char *name)
{
    size_t n = strlen(name), k = strlen(ULPS);
    if (n > k && strcmp(name + n - k, ULPS) == 0) return true;
    static const char *const whole[] = {"id",           "level",   "new_born", "blast",
                                        "stellar_made", "born_in", "number"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0) return true;
    return strncmp(name, "integer_", 8) == 0;
}

static enum err add_columns(struct catalog *t, const char *path, const char *text, int ncol)
{
    char name[ROW_MAX][32];
    struct catalog_column *col;
    int named = read_names(text, name);
    if (named && named != ncol)
        FAIL(ERR_FORMAT, "%s: the header names %d columns, but the lines below have %d", path,
             named, ncol);
    if (!named) default_names(path, ncol, name);
    for (int i = 0; i < ncol; i++) {
        TRY(catalog_add(t, path, name[i], !is_whole(name[i]), &col));
    }
    return OK;
}

static enum err parse_text(struct catalog *t, const char *path, const char *text)
{
    struct number x[ROW_MAX];
    int64_t row = 0, line = 1;
    int ncol = 0;
    for (const char *s = text; *s; s = next_line(s)) t->n += is_row(t, s);
    for (const char *s = text; *s; s = next_line(s), line++) {
        if (!is_row(t, s)) continue;
        int n = read_row(s, x);
        if (n < 0)
            FAIL(ERR_FORMAT, "%s: line %ld: expected numbers separated by commas", path,
                 (long)line);
        if (row == 0) TRY(add_columns(t, path, text, ncol = n));
        if (n != ncol)
            FAIL(ERR_FORMAT, "%s: line %ld has %d columns, the lines before it have %d", path,
                 (long)line, n, ncol);
        for (int i = 0; i < n; i++) {
            if (t->col[i].whole && !x[i].is_whole)
                FAIL(ERR_FORMAT, "%s: line %ld: %s is not an integer", path, (long)line,
                     t->col[i].name);
            if (t->col[i].whole)
                t->col[i].whole[row] = x[i].whole;
            else
                t->col[i].real[row] = x[i].real;
        }
        row++;
    }
    return add_ulps(t, path);
}

/* Reads a text file. Every complete line ends in \n; a last line without it was truncated. */
enum err catalog_read_text(struct catalog *t, const char *path)
{
    char *text;
    size_t n;
    TRY(file_load(path, TEXT_MAX, &text, &n));
    enum err err = OK;
    if (n && text[n - 1] != '\n')
        err = err_set(ERR_FORMAT, "%s: ends in the middle of a line: the file is truncated", path);
    else if (strlen(text) != n)
        err = err_set(ERR_FORMAT, "%s: is not a text file", path);
    if (err == OK) err = parse_text(t, path, text);
    mem_free(text);
    return err;
}

/* Prints a number of a column that RAMSES reads (fixed), or with all digits otherwise. */
static void put_real(FILE *f, double x, bool fixed)
{
    char s[40];
    if (fit(x, s) != 0 && !fixed) snprintf(s, sizeof s, "%.16E", x);
    fprintf(f, "%*s", WIDTH, s);
}

/* Whether any number of this column has a residual. */
static bool lacks(const struct catalog_column *c, int64_t n)
{
    char s[40];
    for (int64_t i = 0; i < n && c->real && known(c->name); i++)
        if (fit(c->real[i], s) != 0) return true;
    return false;
}

/* Sorts columns: RAMSES's columns in its order, then the others. Returns their number. */
static int in_order(const struct catalog *t, const struct catalog_column *col[])
{
    int n = 0;
    for (int i = 0; i < NAMES; i++) {
        const struct catalog_column *c = catalog_find(t, NAME[i].ours);
        if (c) col[n++] = c;
    }
    for (int k = 0; k < t->ncol; k++)
        if (!known(t->col[k].name)) col[n++] = &t->col[k];
    return n;
}

/* Writes the head of a table without rows, which has no columns, with the names of RAMSES. */
static void put_empty(FILE *f, bool stellar)
{
    static const int star[] = {0, 1, 11, NAMES - 1};
    for (int line = 0; line < 2; line++)
        for (int i = 0, n = stellar ? 4 : NAMES - 1; i < n; i++) {
            const struct name *k = &NAME[stellar ? star[i] : i];
            const char *name = stellar && i == 1 ? "mstellar" : k->csv;
            fprintf(f, "%s%s%s", i ? "," : " # ", line ? k->unit : name, i == n - 1 ? "\n" : "");
        }
}

static const char *csv_name(const struct catalog_column *c, const char *mass)
{
    const struct name *k = known(c->name);
    return !k ? c->name : strcmp(k->ours, "mass") == 0 ? mass : k->csv;
}

/* Writes the names of the columns, then of their columns of residuals. */
static void put_head(FILE *f, int n, const struct catalog_column *const col[], int64_t rows,
                     const char *mass)
{
    for (int line = 0; line < 2; line++) {
        fputs(" # ", f);
        for (int i = 0; i < n; i++) {
            const struct name *k = known(col[i]->name);
            const char *unit = k ? k->unit : "1";
            fprintf(f, "%s%s", i ? "," : "", line == 0 ? csv_name(col[i], mass) : unit);
        }
        for (int i = 0; i < n; i++) {
            if (!lacks(col[i], rows)) continue;
            if (line == 0)
                fprintf(f, ",%s%s", csv_name(col[i], mass), ULPS);
            else
                fputs(",1", f);
        }
        putc('\n', f);
    }
}

static void put_row(FILE *f, int n, const struct catalog_column *const col[], const bool *lack,
                    int64_t i)
{
    char s[40];
    for (int k = 0; k < n; k++) {
        if (k) putc(',', f);
        if (col[k]->real)
            put_real(f, col[k]->real[i], known(col[k]->name));
        else
            fprintf(f, "%10ld", (long)col[k]->whole[i]);
    }
    /* E0 is needed: pynbody inserts an E before a minus sign if there is none */
    for (int k = 0; k < n; k++)
        if (lack[k]) fprintf(f, ",%ldE0", (long)fit(col[k]->real[i], s));
    putc('\n', f);
}

void catalog_write_text(const struct catalog *t, FILE *f, const char *mass)
{
    const struct catalog_column *col[CATALOG_COLUMNS];
    bool lack[CATALOG_COLUMNS];
    int n = in_order(t, col);
    for (int k = 0; k < n; k++) lack[k] = lacks(col[k], t->n);
    if (n)
        put_head(f, n, col, t->n, mass);
    else
        put_empty(f, strcmp(mass, "mstellar") == 0);
    for (int64_t i = 0; i < t->n; i++) put_row(f, n, col, lack, i);
}

/* ---- binary ---- */

/* Adds a column named by its index among the real or integer records. */
static enum err name_record(struct catalog *t, const char *path, bool real, int *nreal, int *nwhole,
                            int ndim, struct catalog_column **col)
{
    static const char *const vector[] = {"x", "y", "z", "vx", "vy", "vz", "lx", "ly", "lz"};
    static const char *const after[] = {"del_mass", "acc_rate"}, *const whole[] = {"id", "new_born",
                                                                                   "level"};
    char name[32];
    int k = real ? (*nreal)++ : (*nwhole)++, v = k - 2;
    snprintf(name, sizeof name, real ? "real_%02d" : "integer_%02d", k + 1);
    if (real && k < 2)
        snprintf(name, sizeof name, "%s", k ? "tsink" : "msink");
    else if (real && v < 3 * ndim)
        snprintf(name, sizeof name, "%s", vector[v / ndim * 3 + v % ndim]);
    else if (real && v < 3 * ndim + 2)
        snprintf(name, sizeof name, "%s", after[v - 3 * ndim]);
    else if (!real && k < 3)
        snprintf(name, sizeof name, "%s", whole[k]);
    return catalog_add(t, path, name, real, col);
}

/* Reads a record of n reals, n integers, or one integer for all sinks (the level). Ids follow the
 * reals, so that with one or two sinks the record lengths alone identify the type. */
static enum err read_record(struct catalog *t, struct fort_in *f, int ndim, int *nreal, int *nwhole)
{
    struct fort_rec rec;
    struct catalog_column *col;
    TRY(fort_next(f, "sinks", &rec));
    bool one = rec.bytes == 4 && t->n > 1, real = !one && rec.bytes == 8 * t->n;
    if (!one && !real && rec.bytes != 4 * t->n)
        FAIL(ERR_FORMAT, "%s: record %ld at byte %ld has %ld bytes, which does not fit %ld sinks",
             f->path, (long)rec.number, (long)rec.at, (long)rec.bytes, (long)t->n);
    TRY(name_record(t, f->path, real, nreal, nwhole, ndim, &col));
    if (real) return fort_load(f, &rec, 8, 0, (size_t)t->n, col->real);
    for (int64_t i = 0; i < t->n; i++) {
        int32_t x;
        TRY(fort_load(f, &rec, 4, one ? 0 : i, 1, &x));
        col->whole[i] = x;
    }
    return OK;
}

static enum err read_sinks(struct catalog *t, struct fort_in *f, int ndim)
{
    int32_t n, made;
    int nreal = 0, nwhole = 0;
    TRY(fort_get_i4(f, "nsink", &n));
    TRY(fort_get_i4(f, "nindsink", &made));
    if (n < 0 || n > f->size / 8)
        FAIL(ERR_FORMAT, "%s: the number of sinks is %d: the file is damaged", f->path, n);
    t->n = n;
    while (n && f->at < f->size) TRY(read_record(t, f, ndim, &nreal, &nwhole));
    if (n && (nreal < 2 + 2 * ndim || nwhole < 1))
        FAIL(ERR_FORMAT, "%s: ends before the sinks are complete: the file is truncated", f->path);
    return fort_at_end(f);
}

enum err catalog_read_sinks(struct catalog *t, const char *path, int ndim)
{
    struct fort_in f;
    enum err err = fort_open(&f, path);
    if (err == OK) err = read_sinks(t, &f, ndim);
    fort_shut(&f);
    return err;
}
