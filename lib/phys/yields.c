/* phys/yields: see yields.h. */
#include "phys/yields.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_METALS = 1000, MOST_AGES = 100000, MOST_ELEMENTS = 100 };

struct yields {
    int nmetal, nage;
    double *age, *log_age; /* [nage] Gyr */
    double *Z;             /* [nmetal] */
    struct yield *row;     /* [nmetal][nage] */
};

static struct yields *yields_make(int nmetal, int nage)
{
    struct yields *y = mem_zero(sizeof *y, "yields");
    y->nmetal = nmetal, y->nage = nage;
    y->age = mem_zero(sizeof *y->age * (size_t)nage, "yields");
    y->log_age = mem_zero(sizeof *y->log_age * (size_t)nage, "yields");
    y->Z = mem_zero(sizeof *y->Z * (size_t)nmetal, "yields");
    y->row = mem_zero(sizeof *y->row * (size_t)nmetal * (size_t)nage, "yields");
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

/* ---- interpolation ---- */

/* The last of n ascending numbers that is not above x, at most the last but one; n > 1. */
static int below(const double *list, int n, double x)
{
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        *(list[mid] <= x ? &lo : &hi) = mid;
    }
    return lo;
}

static struct yield mix(const struct yield *a, const struct yield *b, double w)
{
    return (struct yield){a->type2 + w * (b->type2 - a->type2),
                          a->type1 + w * (b->type1 - a->type1), a->mass + w * (b->mass - a->mass),
                          a->metals + w * (b->metals - a->metals)};
}

static struct yield at_age(const struct yields *y, int metal, double age)
{
    static const struct yield none = {0};
    const struct yield *row = y->row + (size_t)metal * (size_t)y->nage;
    if (!(age > 0)) return none;
    if (age <= y->age[0]) return mix(&none, row, age / y->age[0]);
    if (age >= y->age[y->nage - 1]) return row[y->nage - 1];
    int k = below(y->age, y->nage, age);
    return mix(&row[k], &row[k + 1],
               (log(age) - y->log_age[k]) / (y->log_age[k + 1] - y->log_age[k]));
}

struct yield yields_at(const struct yields *y, double age, double Z)
{
    int last = y->nmetal - 1;
    if (last == 0 || !(Z > y->Z[0])) return at_age(y, 0, age);
    if (Z >= y->Z[last]) return at_age(y, last, age);
    int k = below(y->Z, y->nmetal, Z);
    struct yield lo = at_age(y, k, age), hi = at_age(y, k + 1, age);
    double w = y->Z[k] > 0 ? log(Z / y->Z[k]) / log(y->Z[k + 1] / y->Z[k]) : Z / y->Z[k + 1];
    return mix(&lo, &hi, w);
}

/* ---- Hopkins et al. 2018 ---- */

/* Ages in Myr, Z in solar units; rates per Myr and solar mass. */
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

/* Ejecta of a supernova of type II have 10.5 solar masses, 1.995 of them metals; of type Ia 1.4,
 * all metals. Winds have the metals of the star. */
static struct yields *hopkins(void)
{
    enum { METALS = 8, AGES = 300, PARTS = 400 };
    static const double SUN = 0.02, FIRST = 0.1, LAST = 20000;
    struct yields *y = yields_make(METALS, AGES);
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
            y->row[z * AGES + k] = sum;
        }
    }
    return y;
}

/* ---- files ---- */

struct table_file {
    const char *path;
    FILE *f;
    long line;
    char text[8192], *at;
};

static enum err next_line(struct table_file *in)
{
    do {
        in->line++;
        bool got = fgets(in->text, sizeof in->text, in->f) != NULL;
        if (!got && ferror(in->f))
            FAIL(ERR_FILE, "%s: cannot be read: %s", in->path, strerror(errno));
        if (!got)
            FAIL(ERR_FORMAT, "%s: line %ld: the table of yields is cut short", in->path, in->line);
        if (strlen(in->text) + 1 == sizeof in->text)
            FAIL(ERR_FORMAT, "%s: line %ld is longer than %ld characters: it is no table of yields",
                 in->path, in->line, (long)sizeof in->text);
        in->at = in->text + strspn(in->text, " \t\r\n");
    } while (*in->at == 0);
    return OK;
}

static bool take_number(struct table_file *in, double *x)
{
    char *end;
    *x = strtod(in->at, &end);
    if (end == in->at || !isfinite(*x)) return false;
    in->at = end;
    return true;
}

static enum err take_counts(struct table_file *in, int n[3])
{
    static const char *const what[] = {"metallicities", "ages", "elements"};
    static const int least[] = {1, 2, 0}, most[] = {MOST_METALS, MOST_AGES, MOST_ELEMENTS};
    for (int i = 0; i < 3; i++) {
        double x;
        while (*in->at && isspace((unsigned char)*in->at)) in->at++;
        if (*in->at == 0) TRY(next_line(in));
        if (!take_number(in, &x) || x != floor(x) || x < least[i] || x > most[i])
            FAIL(ERR_FORMAT,
                 "%s: line %ld: a table of yields begins with the number of its %s, a whole number "
                 "from %d to %d",
                 in->path, in->line, what[i], least[i], most[i]);
        n[i] = (int)x;
    }
    return OK;
}

/* The names of the elements, which may stand in several lines. */
static enum err skip_names(struct table_file *in, int n)
{
    while (n > 0) {
        in->at += strspn(in->at, " \t\r\n");
        if (*in->at == 0) TRY(next_line(in));
        if (*in->at == '#')
            FAIL(ERR_FORMAT, "%s: line %ld: the names of %d elements are missing", in->path,
                 in->line, n);
        in->at += strcspn(in->at, " \t\r\n");
        n--;
    }
    return OK;
}

/* The last number of a line that begins with #. */
static enum err take_metallicity(struct table_file *in, double before, double *Z)
{
    TRY(next_line(in));
    bool found = false;
    if (*in->at == '#')
        for (in->at++; *in->at; in->at += *in->at != 0) {
            char *end;
            double x = strtod(in->at, &end);
            if (end == in->at) continue;
            found = true, *Z = x, in->at = end;
            if (*in->at == 0) break;
        }
    if (!found || !isfinite(*Z) || !(*Z > before) || *Z > 1)
        FAIL(ERR_FORMAT,
             "%s: line %ld: a line of # and a metallicity is expected, above that before, %g, and "
             "at most 1",
             in->path, in->line, before);
    return OK;
}

/* A row of a metallicity: ages as at the first one, nothing that decreases. */
static enum err take_row(struct table_file *in, struct yields *y, int metal, int k, int elements)
{
    double x[5], skipped;
    bool good = true;
    TRY(next_line(in));
    for (int i = 0; i < 5; i++) good = good && take_number(in, &x[i]);
    for (int i = 0; i < elements; i++) good = good && take_number(in, &skipped);
    if (!good)
        FAIL(ERR_FORMAT, "%s: line %ld: %d finite numbers are expected", in->path, in->line,
             5 + elements);
    if (metal == 0) y->age[k] = x[0], y->log_age[k] = log(x[0]);
    if (!(x[0] > (k ? y->age[k - 1] : 0)) || fabs(x[0] - y->age[k]) > 1e-6 * x[0])
        FAIL(ERR_FORMAT,
             "%s: line %ld: the age, %g Gyr, must be above 0 and the age before, and the same for "
             "all metallicities",
             in->path, in->line, x[0]);
    struct yield *row = &y->row[(size_t)metal * (size_t)y->nage + (size_t)k], last = {0};
    *row = (struct yield){x[1], x[2], x[3], x[4]};
    if (k) last = row[-1];
    if (!(row->type2 >= last.type2 && row->type1 >= last.type1 && row->mass >= last.mass &&
          row->metals >= last.metals && row->mass < 1 && row->metals <= row->mass))
        FAIL(ERR_FORMAT,
             "%s: line %ld: yields are cumulative and must not decrease; the mass must stay below "
             "1, the metals within the mass",
             in->path, in->line);
    return OK;
}

static enum err read_rows(struct table_file *in, struct yields *y, int elements)
{
    for (int z = 0; z < y->nmetal; z++) {
        TRY(take_metallicity(in, z ? y->Z[z - 1] : -1e-300, &y->Z[z]));
        for (int k = 0; k < y->nage; k++) TRY(take_row(in, y, z, k, elements));
    }
    return OK;
}

static enum err read_table(struct table_file *in, struct yields **out)
{
    int n[3];
    TRY(next_line(in));
    TRY(take_counts(in, n));
    TRY(skip_names(in, n[2]));
    *out = yields_make(n[0], n[1]);
    return read_rows(in, *out, n[2]);
}

enum err yields_new(const char *name, struct yields **out)
{
    *out = NULL;
    if (strcmp(name, "hopkins2018") == 0) {
        *out = hopkins();
        return OK;
    }
    struct table_file in = {.path = name, .f = fopen(name, "r"), .at = in.text};
    if (!in.f)
        FAIL(ERR_FILE, "%s: cannot open the table of yields: %s ('hopkins2018' needs no file)",
             name, strerror(errno));
    enum err err = read_table(&in, out);
    fclose(in.f);
    if (err != OK) {
        yields_free(*out);
        *out = NULL;
    }
    return err;
}
