#include "cool/uv.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "io/table.h"

static const int64_t BYTES_MAX = 1 << 26; /* maximum size of a table file, bytes */
static const double A_FLOOR = 1e-4;       /* expansion factor to which j_floor refers */

/* ---- power law (Theuns et al. 1998) ---- */

static struct uv_rates power_law(double j, double s)
{
    double he1 = pow(0.553, s), he2 = pow(0.249, s);
    return (struct uv_rates){
        .ion = {1.26e10 * j / (3 + s), 1.48e10 * j * he1 * (1.66 / (s + 2.05) - 0.66 / (s + 3.05)),
                3.34e9 * j * he2 / (3 + s)},
        .heat = {0.291 * j / (2 + s) / (3 + s),
                 0.584 * j * he1 * (1.66 / (s + 1.05) - 2.32 / (s + 2.05) + 0.66 / (s + 3.05)),
                 0.292 * j * he2 / (2 + s) / (3 + s)}};
}

static double floor_at(const struct uv *uv, double a)
{
    return uv->j_floor * (A_FLOOR / a) * (A_FLOOR / a);
}

static double intensity(const struct uv *uv, double a)
{
    double share = a < 1 / (1 + uv->z_reion) ? 0
                   : a < 0.25                ? 4 * a
                   : a < 1 / 3.0             ? 1
                                             : 1 / (27 * a * a * a);
    return fmax(share * uv->j21 * 1e-21, floor_at(uv, a));
}

/* ---- Courty & Alimi (2004) ---- */

enum { ORDER = 7 };
static const struct courty {
    struct {
        double c[ORDER + 1];
    } ion[ION_COUNT], heat[ION_COUNT];
} FIT = {
#define COURTY(rate, i, ...) .rate[i] = {{__VA_ARGS__}},
#include "cool/uv.def"
};

static double courty(const double c[ORDER + 1], double z, double z_reion)
{
    double sum = 0, x = z / z_reion;
    for (int k = ORDER; k >= 0; k--) sum = sum * z + c[k];
    return pow(10, sum - 20 * (x * x * x) * (x * x * x));
}

static struct uv_rates courty_at(double z, double z_reion)
{
    struct uv_rates r = {0};
    for (int i = 0; i < ION_COUNT && z < z_reion; i++) {
        r.ion[i] = courty(FIT.ion[i].c, fmax(z, 0), z_reion);
        r.heat[i] = courty(FIT.heat[i].c, fmax(z, 0), z_reion);
    }
    return r;
}

static const struct {
    double z, phi;
} PHI[] = {
#define PHI(z, phi) {z, phi},
#include "cool/uv.def"
};
enum { NPHI = sizeof PHI / sizeof *PHI };

/* Interpolation in z, with intervals chosen as if z were equidistant, as in RAMSES. */
static double phi_at(double z)
{
    double last = PHI[NPHI - 1].z;
    if (z <= 0 || z >= last) return 0;
    int i = (int)(z / last * (NPHI - 1));
    if (i > NPHI - 2) i = NPHI - 2;
    double f = (z - PHI[i].z) / (PHI[i + 1].z - PHI[i].z);
    return PHI[i].phi * (1 - f) + PHI[i + 1].phi * f;
}

/* ---- table ---- */

struct uv_table {
    int n;
    double (*row)[1 + 2 * ION_COUNT]; /* rows of log10(1+z) and rates */
};

/* Interpolates logarithms, or the rates themselves if one of them is 0. */
static double between(double a, double b, double f)
{
    return a > 0 && b > 0 ? exp(log(a) * (1 - f) + log(b) * f) : a * (1 - f) + b * f;
}

static struct uv_rates table_at(const struct uv_table *t, double z)
{
    struct uv_rates r = {0};
    double x = fmax(log10(1 + z), t->row[0][0]);
    if (x > t->row[t->n - 1][0]) return r;
    int i = 0;
    while (i < t->n - 2 && t->row[i + 1][0] < x) i++;
    double f = (x - t->row[i][0]) / (t->row[i + 1][0] - t->row[i][0]);
    for (int k = 0; k < ION_COUNT; k++) {
        r.ion[k] = between(t->row[i][1 + k], t->row[i + 1][1 + k], f);
        r.heat[k] = between(t->row[i][1 + ION_COUNT + k], t->row[i + 1][1 + ION_COUNT + k], f);
    }
    return r;
}

static enum err table_line_read(struct uv_table *t, struct table *in)
{
    enum { COLUMNS = 1 + 2 * ION_COUNT };
    double v[COLUMNS];
    TRY(table_row(in, COLUMNS, "log10(1+z), three photoionisation rates and three heating rates",
                  v));
    for (int k = 0; k < COLUMNS; k++) {
        double max = k == 0 ? 4 : 1; /* z = 9999; at much larger z temperatures overflow */
        if (!(v[k] >= 0 && v[k] <= max))
            FAIL(ERR_FORMAT, "%s: line %ld: column %d is %g: %s must be 0 to %g", in->path,
                 (long)table_line(in), k + 1, v[k], k == 0 ? "log10(1+z)" : "a rate", max);
    }
    if (t->n && v[0] <= t->row[t->n - 1][0])
        FAIL(ERR_FORMAT, "%s: line %ld: log10(1+z)=%g must be above that of the line before",
             in->path, (long)table_line(in), v[0]);
    t->row = mem_grow(t->row, sizeof *t->row * (size_t)(t->n + 1), "ultraviolet table");
    memcpy(t->row[t->n++], v, sizeof v);
    return OK;
}

static enum err table_lines(struct uv_table *t, struct table *in)
{
    for (bool got;;) {
        TRY(table_next(in, &got));
        if (!got) break;
        TRY(table_line_read(t, in));
    }
    if (t->n < 2)
        FAIL(ERR_FORMAT, "%s: has %d lines of rates: an ultraviolet table needs two or more",
             in->path, t->n);
    return OK;
}

enum err uv_table_read(const char *path, struct uv_table **out)
{
    struct table in;
    *out = NULL;
    TRY(table_open(&in, path, TABLE_NOTES, BYTES_MAX));
    struct uv_table *t = mem_zero(sizeof *t, "ultraviolet table");
    enum err err = table_lines(t, &in);
    table_close(&in);
    if (err == OK)
        *out = t;
    else
        uv_table_free(t);
    return err;
}

void uv_table_free(struct uv_table *t)
{
    if (t) mem_free(t->row);
    mem_free(t);
}

/* ---- models ---- */

static struct uv_rates model_at(const struct uv *uv, double a)
{
    double z = 1 / a - 1;
    if (uv->model == UV_THEUNS) return power_law(intensity(uv, a), uv->a_spec);
    struct uv_rates min = power_law(floor_at(uv, a), uv->a_spec);
    struct uv_rates r = uv->model == UV_TABLE ? table_at(uv->table, z) : courty_at(z, uv->z_reion);
    for (int i = 0; i < ION_COUNT; i++) {
        r.ion[i] = fmax(r.ion[i], min.ion[i]);
        r.heat[i] = fmax(r.heat[i], min.heat[i]);
    }
    return r;
}

struct uv_rates uv_at(const struct uv *uv, double a)
{
    struct uv_rates r = model_at(uv, a);
    r.atoms = uv->atoms;
    return r;
}

double uv_metal_measure(const struct uv *uv, double a)
{
    return 1e-4 * (uv->model == UV_THEUNS ? intensity(uv, a) / 1e-22 : phi_at(1 / a - 1));
}
