#include "cool/table.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "vec/vec.h"

/* Which rows exist, and which have been read, at this expansion factor and at the one before. The
 * coefficients at each T2, and TABLE_DEX above, do not depend on it. A thread that computes in a
 * row has its lock. */
struct table_rows {
    bool recalled;
    bool made[TABLE_T][TABLE_PARTS], read[TABLE_T][TABLE_PARTS], before[TABLE_T][TABLE_PARTS];
    struct rate_path *path[TABLE_T][2];
    omp_lock_t lock[TABLE_T];
};

_Static_assert((int)TABLE_PART == (int)VEC, "gas_rates_on takes a part at a time");

/* log2 of a rate, finite also for a rate of 0. */
static double log_of(double rate)
{
    return log2(fmax(rate, 1e-100));
}

/* Limits the slope of a log rate. A rate changes by less than 2^100 in an interval except at its
 * onset; the limit keeps the cubics within the range of vec_exp2. */
static double limited(double slope)
{
    return fmin(fmax(slope, -100), 100);
}

static void put(const struct gas_rates *g, double value[RATE_COUNT])
{
    value[RATE_COOL] = log_of(g->cool);
    value[RATE_HEAT] = log_of(g->heat);
    value[RATE_COMPTON] = log_of(g->compton);
    value[RATE_COMPTON_HEAT] = log_of(g->compton_heat);
}

/* Computes all densities of a part at one T2, with slopes from rates at TABLE_DEX above. */
static void part_row_make(struct cool_table *t, int part, int k, struct rate_path *path[2])
{
    const double width = (TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1);
    int first = part * TABLE_PART, n = TABLE_N - first < TABLE_PART ? TABLE_N - first : TABLE_PART;
    double nH[TABLE_PART] = {0}, next[RATE_COUNT], slope, T2 = pow(10, table_log_T2(k));
    struct gas_rates here[TABLE_PART], shifted[TABLE_PART];
    for (int i = 0; i < n; i++) nH[i] = pow(10, table_log_nH(first + i));
    gas_rates_on(path[0], nH, n, &t->light, t->aexp, here);
    gas_rates_on(path[1], nH, n, &t->light, t->aexp, shifted);
    for (int i = 0; i < n; i++) {
        struct table_node *to = &t->node[first + i][k];
        put(&here[i], to->value);
        put(&shifted[i], next);
        for (int r = 0; r < RATE_METAL; r++)
            to->slope[r] = limited((next[r] - to->value[r]) / TABLE_DEX * width);
        double metals = metal_rate(T2 * here[i].mu, t->metal_measure / nH[i], &slope);
        to->value[RATE_METAL] = log_of(metals);
        to->slope[RATE_METAL] = limited(slope * width * log2(10));
    }
}

/* Computes row k of a part if it does not exist. */
static void row_make(struct cool_table *t, int part, int k)
{
    struct table_rows *rows = t->rows;
    struct rate_path **path = rows->path[k];
    if (rows->made[k][part]) return;
    if (!path[0]) path[0] = rate_path_new(t->light.atoms, pow(10, table_log_T2(k)));
    if (!path[1]) path[1] = rate_path_new(t->light.atoms, pow(10, table_log_T2(k) + TABLE_DEX));
    part_row_make(t, part, k, path);
    rows->made[k][part] = true;
}

void table_free(struct cool_table **t)
{
    struct table_rows *rows = *t ? (*t)->rows : NULL;
    for (int k = 0; k < TABLE_T && rows; k++) {
        omp_destroy_lock(&rows->lock[k]);
        for (int i = 0; i < 2; i++) rate_path_free(rows->path[k][i]);
    }
    if (rows) mem_free((*t)->have);
    mem_free(rows);
    FREE(*t);
}

static const struct table_span NONE = {.first = TABLE_PARTS, .last = -1};

static struct table_span both(struct table_span a, struct table_span b)
{
    return (struct table_span){.first = a.first < b.first ? a.first : b.first,
                               .last = a.last > b.last ? a.last : b.last};
}

static void rows_begin(struct cool_table *t)
{
    if (!t->rows) {
        t->rows = mem_zero(sizeof *t->rows, "cooling table");
        t->have = mem_new(TABLE_N * TABLE_T, "cooling table");
        for (int k = 0; k < TABLE_T; k++) omp_init_lock(&t->rows->lock[k]);
    }
    struct table_rows *rows = t->rows;
    memcpy(rows->before, rows->read, sizeof rows->before);
    memset(rows->read, 0, sizeof rows->read);
    memset(rows->made, 0, sizeof rows->made);
    memset(t->have, 0, TABLE_N * TABLE_T);
    rows->recalled = false;
}

void table_begin(struct cool_table *t, const struct uv *uv, double a)
{
    t->aexp = a;
    t->light = uv_at(uv, a);
    t->metal_measure = uv_metal_measure(uv, a);
    t->before = t->asked;
    t->asked = NONE;
    memset(t->made, 0, sizeof t->made);
    rows_begin(t);
}

void table_recall(struct cool_table *t)
{
    struct table_rows *rows = t->rows;
    if (rows->recalled) return;
    rows->recalled = true;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < TABLE_T; k++)
        for (int part = 0; part < TABLE_PARTS; part++)
            if (rows->before[k][part]) row_make(t, part, k);
}

void table_wanted(const struct cool_table *t, int64_t want[TABLE_ROWS])
{
    const struct table_rows *rows = t->rows;
    for (int at = 0; at < TABLE_ROWS; at++)
        want[at] = !rows->recalled && rows->before[at / TABLE_PARTS][at % TABLE_PARTS];
}

/* Copies the numbers of a row to `to`, or from it. */
static void row_copy(struct cool_table *t, int at, bool out, double to[TABLE_PART][2 * RATE_COUNT])
{
    const int k = at / TABLE_PARTS, first = at % TABLE_PARTS * TABLE_PART;
    const size_t bytes = sizeof(double) * RATE_COUNT;
    for (int i = 0; i < TABLE_PART && first + i < TABLE_N; i++) {
        struct table_node *node = &t->node[first + i][k];
        memcpy(out ? to[i] : node->value, out ? node->value : to[i], bytes);
        memcpy(out ? to[i] + RATE_COUNT : node->slope, out ? node->slope : to[i] + RATE_COUNT,
               bytes);
    }
}

void table_rows_make(struct cool_table *t, int n, const int at[], double (*row)[TABLE_ROW])
{
#pragma omp parallel for schedule(dynamic)
    for (int j = 0; j < n; j++) {
        const int k = at[j] / TABLE_PARTS;
        omp_set_lock(&t->rows->lock[k]);
        row_make(t, at[j] % TABLE_PARTS, k);
        row_copy(t, at[j], true, (double(*)[2 * RATE_COUNT]) row[j]);
        omp_unset_lock(&t->rows->lock[k]);
    }
}

void table_rows_take(struct cool_table *t, int n, const int at[], double (*row)[TABLE_ROW])
{
    for (int j = 0; j < n; j++) {
        row_copy(t, at[j], false, (double(*)[2 * RATE_COUNT]) row[j]);
        t->rows->made[at[j] / TABLE_PARTS][at[j] % TABLE_PARTS] = true;
    }
    t->rows->recalled = true;
}

/* Row k of the parts of density i and of the next. */
static void row_fill(struct cool_table *t, int i, int k)
{
    const int first = i / TABLE_PART, last = (i + 1 < TABLE_N ? i + 1 : i) / TABLE_PART;
    omp_set_lock(&t->rows->lock[k]);
    for (int part = first; part <= last; part++) {
        row_make(t, part, k);
        t->rows->read[k][part] = true;
    }
    omp_unset_lock(&t->rows->lock[k]);
}

void table_fill(const struct cool_table *lent, int at)
{
    struct cool_table *t = (struct cool_table *)lent;
    int i = at / TABLE_T, k = at % TABLE_T;
    row_fill(t, i, k);
    if (k + 1 < TABLE_T) row_fill(t, i, k + 1);
    __atomic_store_n(&t->have[at], 1, __ATOMIC_RELEASE);
}

void table_fill_part(const struct cool_table *lent, int i)
{
    for (int k = 0; k < TABLE_T; k++) row_fill((struct cool_table *)lent, i, k);
}

static int part_at(double nH, int beyond)
{
    double at = (log10(nH) - TABLE_N_MIN) * ((TABLE_N - 1) / (TABLE_N_MAX - TABLE_N_MIN));
    return (int)fmin(fmax(floor(at) + beyond, 0), TABLE_N - 1) / TABLE_PART;
}

/* Adds one density on either side, since rounding may place a cell there. */
void table_need(struct cool_table *t, double low, double high)
{
    struct table_span s = {part_at(low, -1), part_at(high, 2)};
    t->asked = both(t->asked, s);
    s = both(s, t->before);
    t->before = NONE;
    while (s.first <= s.last && t->made[s.first]) s.first++;
    while (s.first <= s.last && t->made[s.last]) s.last--;
    if (s.first > s.last) return;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < TABLE_T; k++)
        for (int part = s.first; part <= s.last; part++) row_make(t, part, k);
    memset(t->made + s.first, true, (size_t)(s.last - s.first + 1));
}

/* ---- the file of RAMSES ----
 *
 * Records of cooling_NNNNN.out: sizes of the axes; log10 n_H; log10 T2; tables with n_H running
 * fastest: log10 of the rates, in the order of enum table_rate, their derivatives by log10 T2, mu;
 * and one record of log10 of six number densities. */

enum { NODES = TABLE_N * TABLE_T, SPECIES = 6 };
enum { SLOPES = RATE_COUNT, MU = 2 * RATE_COUNT, NUMBERS, TABLES = NUMBERS + SPECIES };

/* Parameters common to all nodes, and the table. */
struct file_job {
    struct uv_rates light;
    double aexp, metal_measure;
    double (*table)[NODES]; /* [TABLES] tables of the file */
};

/* log10 with a lower limit; RAMSES has -100 where metals do not cool. */
static double log10_of(double x, double min)
{
    return log10(fmax(x, min));
}

static void put_rates(const struct gas_rates *g, double value[RATE_METAL])
{
    value[RATE_COOL] = log10_of(g->cool, 1e-100);
    value[RATE_HEAT] = log10_of(g->heat, 1e-100);
    value[RATE_COMPTON] = log10_of(g->compton, 1e-100);
    value[RATE_COMPTON_HEAT] = log10_of(g->compton_heat, 1e-100);
}

static void put_node(const struct file_job *j, int at, double T2, double nH,
                     const struct gas_rates *g, const struct gas_rates *above)
{
    double here[RATE_METAL], shifted[RATE_METAL], slope;
    const double number[SPECIES] = {g->is.e,   g->is.hi,   g->is.hii,
                                    g->is.hei, g->is.heii, g->is.heiii};
    put_rates(g, here);
    put_rates(above, shifted);
    for (int r = 0; r < RATE_METAL; r++) {
        j->table[r][at] = here[r];
        j->table[SLOPES + r][at] = (shifted[r] - here[r]) / TABLE_DEX;
    }
    double metals = metal_rate(T2 * g->mu, j->metal_measure / nH, &slope);
    j->table[RATE_METAL][at] = log10_of(metals, 1e-100);
    j->table[SLOPES + RATE_METAL][at] = slope;
    j->table[MU][at] = g->mu;
    for (int s = 0; s < SPECIES; s++) j->table[NUMBERS + s][at] = log10_of(number[s] * nH, DBL_MIN);
}

static void file_row(const struct file_job *j, int k)
{
    double T2 = pow(10, table_log_T2(k)), nH[VEC];
    struct rate_path *here = rate_path_new(j->light.atoms, T2),
                     *shifted = rate_path_new(j->light.atoms, pow(10, table_log_T2(k) + TABLE_DEX));
    struct gas_rates g[VEC], above[VEC];
    for (int first = 0; first < TABLE_N; first += VEC) {
        int n = TABLE_N - first < VEC ? TABLE_N - first : VEC;
        for (int i = 0; i < n; i++) nH[i] = pow(10, table_log_nH(first + i));
        gas_rates_on(here, nH, n, &j->light, j->aexp, g);
        gas_rates_on(shifted, nH, n, &j->light, j->aexp, above);
        for (int i = 0; i < n; i++)
            put_node(j, k * TABLE_N + first + i, T2, nH[i], &g[i], &above[i]);
    }
    rate_path_free(here);
    rate_path_free(shifted);
}

/* Writes a Fortran record: data between two copies of their length. */
static char *put_record(char *to, const void *p, size_t n)
{
    int32_t mark = (int32_t)n;
    memcpy(to, &mark, sizeof mark);
    memcpy(to + sizeof mark, p, n);
    memcpy(to + sizeof mark + n, &mark, sizeof mark);
    return to + n + 2 * sizeof mark;
}

static size_t put_records(char *bytes, double (*table)[NODES])
{
    int32_t size[2] = {TABLE_N, TABLE_T};
    double axis[TABLE_N > TABLE_T ? TABLE_N : TABLE_T];
    char *at = put_record(bytes, size, sizeof size);
    for (int i = 0; i < TABLE_N; i++) axis[i] = table_log_nH(i);
    at = put_record(at, axis, TABLE_N * sizeof *axis);
    for (int k = 0; k < TABLE_T; k++) axis[k] = table_log_T2(k);
    at = put_record(at, axis, TABLE_T * sizeof *axis);
    for (int t = 0; t < NUMBERS; t++) at = put_record(at, table[t], sizeof table[t]);
    at = put_record(at, table[NUMBERS], SPECIES * sizeof table[0]);
    return (size_t)(at - bytes);
}

char *table_file(const struct uv *uv, double a, size_t *n)
{
    struct file_job j = {
        .light = uv_at(uv, a), .aexp = a, .metal_measure = uv_metal_measure(uv, a)};
    j.table = mem_new(TABLES * sizeof *j.table, "cooling table");
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < TABLE_T; k++) file_row(&j, k);
    char *bytes = mem_new(TABLES * sizeof *j.table + 4096, "cooling table");
    *n = put_records(bytes, j.table);
    mem_free(j.table);
    return bytes;
}
