#include "phys/yields.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/table.h"

static const int64_t BYTES_MAX = (int64_t)1 << 32;
enum { MAX_METALS = 1000, MAX_AGES = 10000, NAME = 24, FIRST_ELEMENT = 4 };

static const char PREFIX[] = "element_";
/* Row of zeros, before the first age. */
static const double NONE[FIRST_ELEMENT + YIELD_ELEMENTS] = {0};

struct yields {
    int nmetal, nage;
    double *age, *log_age; /* [nage] Gyr, and logarithm */
    double *Z;             /* [nmetal] metallicity of each table */
    int nelement, width;
    double *row; /* [nmetal][nage][width] values of struct yield */
    char element[YIELD_ELEMENTS][NAME + sizeof PREFIX];
};

static struct yields *yields_make(int nmetal, int nage, int nelement)
{
    _Static_assert(offsetof(struct yield, element) == FIRST_ELEMENT * sizeof(double),
                   "struct yield is a row");
    struct yields *y = mem_zero(sizeof *y, "yields");
    y->nmetal = nmetal, y->nage = nage, y->width = FIRST_ELEMENT + nelement;
    y->age = mem_zero(sizeof *y->age * (size_t)nage, "yields");
    y->log_age = mem_zero(sizeof *y->log_age * (size_t)nage, "yields");
    y->Z = mem_zero(sizeof *y->Z * (size_t)nmetal, "yields");
    y->row = mem_zero(sizeof *y->row * (size_t)(nmetal * nage) * (size_t)y->width, "yields");
    return y;
}

void yields_free(struct yields *y)
{
    if (!y) return;
    FREE(y->age);
    FREE(y->log_age);
    FREE(y->Z);
    FREE(y->row);
    mem_free(y);
}

int yields_elements(const struct yields *y)
{
    return y ? y->nelement : 0;
}

const char *yields_element(const struct yields *y, int e)
{
    return y->element[e];
}

/* ---- interpolation ---- */

/* Index of the last of n ascending numbers that is not above x, at most n − 2; n > 1. */
static int below(const double *list, int n, double x)
{
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        *(list[mid] <= x ? &lo : &hi) = mid;
    }
    return lo;
}

static double *row_of(const struct yields *y, int metal, int age)
{
    return y->row + (size_t)(metal * y->nage + age) * (size_t)y->width;
}

static void mix(const struct yields *y, const double *a, const double *b, double w, double *out)
{
    for (int i = 0; i < y->width; i++) out[i] = a[i] + w * (b[i] - a[i]);
}

static void at_age(const struct yields *y, int metal, double age, double *out)
{
    const double *last = row_of(y, metal, y->nage - 1);
    if (!(age > 0)) {
        memcpy(out, NONE, sizeof *out * (size_t)y->width);
    } else if (age <= y->age[0]) {
        mix(y, NONE, row_of(y, metal, 0), age / y->age[0], out);
    } else if (age >= y->age[y->nage - 1]) {
        memcpy(out, last, sizeof *out * (size_t)y->width);
    } else {
        int k = below(y->age, y->nage, age);
        mix(y, row_of(y, metal, k), row_of(y, metal, k + 1),
            (log(age) - y->log_age[k]) / (y->log_age[k + 1] - y->log_age[k]), out);
    }
}

struct yield yields_at(const struct yields *y, double age, double Z)
{
    int last = y->nmetal - 1, k = Z >= y->Z[last] ? last : 0;
    double lo[FIRST_ELEMENT + YIELD_ELEMENTS], hi[FIRST_ELEMENT + YIELD_ELEMENTS];
    struct yield out = {0};
    if (!(Z > y->Z[0]) || k == last) {
        at_age(y, k, age, lo);
    } else {
        k = below(y->Z, y->nmetal, Z);
        double w = y->Z[k] > 0 ? log(Z / y->Z[k]) / log(y->Z[k + 1] / y->Z[k]) : Z / y->Z[k + 1];
        at_age(y, k, age, lo);
        at_age(y, k + 1, age, hi);
        mix(y, lo, hi, w, lo);
    }
    memcpy(&out, lo, sizeof *lo * (size_t)y->width);
    return out;
}

/* ---- Hopkins et al. 2018 ---- */

/* Supernova rates per Myr and solar mass; age in Myr, Z in solar units. */
static double rate_type2(double t)
{
    return t < 3.401 ? 0 : t < 10.37 ? 5.408e-4 : t < 37.53 ? 2.516e-4 : 0;
}

static double rate_type1(double t)
{
    double x = (t - 50) / 10;
    return t < 37.53 ? 0 : 5.3e-8 + 1.6e-5 * exp(-0.5 * (x * x));
}

static double rate_winds(double t, double Z)
{
    double per_gyr = t < 1     ? 4.763 * (0.01 + Z)
                     : t < 3.5 ? 4.763 * (0.01 + Z) * pow(t, 1.45 + 0.8 * log(Z))
                     : t < 100 ? 29.4 * pow(t / 3.5, -3.25) + 0.0042
                               : 0.42 * pow(t / 1000, -1.1) / (19.81 - log(t));
    return per_gyr / 1000;
}

/* Table of Hopkins et al. Ejecta of a supernova of type II have 10.5 solar masses, 1.995 of them
 * metals; of type Ia 1.4, all metals. Winds have the metallicity of the star. */
static struct yields *hopkins(void)
{
    enum { METALS = 8, AGES = 300, PARTS = 400 };
    static const double SUN = 0.02, FIRST = 0.1, LAST = 20000;
    struct yields *y = yields_make(METALS, AGES, 0);
    for (int k = 0; k < AGES; k++) {
        y->age[k] = FIRST / 1000 * pow(LAST / FIRST, (double)k / (AGES - 1));
        y->log_age[k] = log(y->age[k]);
    }
    for (int z = 0; z < METALS; z++) {
        struct yield sum = {0};
        double solar = 0.01 * pow(300, (double)z / (METALS - 1)), winds = 0, from = 0;
        y->Z[z] = solar * SUN;
        for (int k = 0; k < AGES; k++) {
            double step = (y->age[k] * 1000 - from) / PARTS;
            for (int i = 0; i < PARTS; i++) {
                double t = from + (i + 0.5) * step;
                sum.type2 += rate_type2(t) * step;
                sum.type1 += rate_type1(t) * step;
                winds += rate_winds(t, solar) * step;
            }
            from = y->age[k] * 1000;
            sum.mass = 10.5 * sum.type2 + 1.4 * sum.type1 + winds;
            sum.metals = 1.995 * sum.type2 + 1.4 * sum.type1 + winds * y->Z[z];
            memcpy(row_of(y, z, k), &sum, sizeof sum.type2 * (size_t)y->width);
        }
    }
    return y;
}

/* ---- files ---- */

/* Reads the next line; error at the end of the file. */
static enum err next_line(struct table *in)
{
    bool got;
    TRY(table_next(in, &got));
    if (!got)
        FAIL(ERR_FORMAT, "%s: line %ld: the table of yields is cut short", in->path,
             (long)table_line(in));
    return OK;
}

static enum err take_counts(struct table *in, int n[3])
{
    static const char *const what[] = {"the number of metallicities", "the number of ages",
                                       "the number of elements"};
    static const int min[] = {1, 2, 0}, max[] = {MAX_METALS, MAX_AGES, YIELD_ELEMENTS};
    for (int i = 0; i < 3; i++) {
        double x;
        TRY(table_flow(in, what[i], &x));
        if (x != floor(x) || x < min[i] || x > max[i])
            FAIL(ERR_FORMAT,
                 "%s: line %ld: %g is not %s: a table of yields begins with it, a whole number "
                 "from %d to %d",
                 in->path, (long)table_line(in), x, what[i], min[i], max[i]);
        n[i] = (int)x;
    }
    return OK;
}

/* Reads the name of an element: letters, digits, + and -; names must be unique. */
static enum err take_name(const struct table *in, struct yields *y, const char *word)
{
    size_t n = strlen(word);
    bool good = n > 0 && n <= NAME;
    for (size_t i = 0; i < n && good; i++)
        good = isalnum((unsigned char)word[i]) || word[i] == '+' || word[i] == '-';
    if (!good)
        FAIL(ERR_FORMAT,
             "%s: line %ld: '%.40s' is not the name of an element: at most %d letters, digits, + "
             "and - are expected",
             in->path, (long)table_line(in), word, NAME);
    char *name = y->element[y->nelement];
    snprintf(name, sizeof y->element[0], "%s%.*s", PREFIX, NAME, word);
    for (int e = 0; e < y->nelement; e++)
        if (strcmp(y->element[e], name) == 0)
            FAIL(ERR_FORMAT, "%s: line %ld: two elements have the name %s", in->path,
                 (long)table_line(in), word);
    y->nelement++;
    return OK;
}

/* Reads the names of the elements, which may be on several lines. */
static enum err take_names(struct table *in, struct yields *y, int n)
{
    while (y->nelement < n) {
        const char *word = table_word(in);
        if (!word) {
            TRY(next_line(in));
            continue;
        }
        if (*word == '#')
            FAIL(ERR_FORMAT, "%s: line %ld: the names of %d elements are missing", in->path,
                 (long)table_line(in), n - y->nelement);
        TRY(take_name(in, y, word));
    }
    return table_end(in, "the names of the elements");
}

/* Reads the metallicity: the last number of a line that begins with #. */
static enum err take_metallicity(struct table *in, double before, double *Z)
{
    TRY(next_line(in));
    char *at = in->at + strspn(in->at, " \t");
    bool found = false;
    if (*at == '#')
        for (at++; *at; at += *at != 0) {
            char *end;
            double x = strtod(at, &end);
            if (end == at) continue;
            found = true, *Z = x, at = end;
            if (*at == 0) break;
        }
    if (!found || !isfinite(*Z) || !(*Z > before) || *Z > 1)
        FAIL(ERR_FORMAT,
             "%s: line %ld: expected a line of # and a metallicity, above the one before, %g, and "
             "at most 1",
             in->path, (long)table_line(in), before);
    return OK;
}

/* Whether a row is cumulative: nothing decreases with age, and no part exceeds the whole. */
static bool plausible(int width, const double *row, const double *last)
{
    double mass = row[offsetof(struct yield, mass) / sizeof *row];
    bool good = mass < 1;
    for (int i = 0; i < width; i++) good = good && row[i] >= last[i];
    for (int i = FIRST_ELEMENT - 1; i < width; i++) good = good && row[i] <= mass;
    return good;
}

/* Reads row k of a metallicity; ages must equal the ages of the first metallicity. */
static enum err take_row(struct table *in, struct yields *y, int metal, int k)
{
    double x[1 + FIRST_ELEMENT + YIELD_ELEMENTS];
    TRY(next_line(in));
    TRY(table_row(in, 1 + y->width, "an age and yields", x));
    if (metal == 0) y->age[k] = x[0], y->log_age[k] = log(x[0]);
    if (!(x[0] > (k ? y->age[k - 1] : 0)) || fabs(x[0] - y->age[k]) > 1e-6 * x[0])
        FAIL(ERR_FORMAT,
             "%s: line %ld: the age, %g Gyr, must be above 0 and the age before, and the same for "
             "all metallicities",
             in->path, (long)table_line(in), x[0]);
    double *row = row_of(y, metal, k);
    memcpy(row, x + 1, sizeof *x * (size_t)y->width);
    if (!plausible(y->width, row, k ? row_of(y, metal, k - 1) : NONE))
        FAIL(ERR_FORMAT,
             "%s: line %ld: yields are cumulative and must not decrease; the mass must stay below "
             "1, metals and each element within the mass",
             in->path, (long)table_line(in));
    return OK;
}

static enum err read_rows(struct table *in, struct yields *y)
{
    for (int z = 0; z < y->nmetal; z++) {
        TRY(take_metallicity(in, z ? y->Z[z - 1] : -1e-300, &y->Z[z]));
        for (int k = 0; k < y->nage; k++) TRY(take_row(in, y, z, k));
    }
    return OK;
}

static enum err read_table(struct table *in, struct yields **out)
{
    int n[3];
    TRY(take_counts(in, n));
    TRY(table_holds(in, (double)n[0] * n[1] * (1 + FIRST_ELEMENT + n[2])));
    *out = yields_make(n[0], n[1], n[2]);
    TRY(take_names(in, *out, n[2]));
    TRY(read_rows(in, *out));
    return table_over(in, "the end of the last row");
}

enum err yields_new(const char *name, struct yields **out)
{
    *out = NULL;
    if (strcmp(name, "hopkins2018") == 0) {
        *out = hopkins();
        return OK;
    }
    struct table in;
    TRY(table_open(&in, name, 0, BYTES_MAX));
    enum err err = read_table(&in, out);
    table_close(&in);
    if (err != OK) {
        yields_free(*out);
        *out = NULL;
    }
    return err;
}
