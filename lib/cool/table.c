/* cool/table: see table.h. */
#include "cool/table.h"

#include <math.h>
#include <string.h>

#include "cool/vec.h"

_Static_assert((int)TABLE_PART == (int)VEC, "gas_rates_on takes a part at a time");

static double log_nH(int i)
{
    return TABLE_N_MIN + i * ((TABLE_N_MAX - TABLE_N_MIN) / (TABLE_N - 1));
}

static double log_T2(int i)
{
    return TABLE_T_MIN + i * ((TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1));
}

/* A rate of 0 has a logarithm too. */
static double log_of(double rate)
{
    return log2(fmax(rate, 1e-100));
}

/* A rate changes by less than 2^100 in an interval, but where it begins: the cubics stay within
 * what vec_exp2 takes. */
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

static const double DEX = 0.01; /* derivatives are differences over it, as in RAMSES */

/* The densities of a part at one temperature, here and DEX above. */
static void part_row_make(struct cool_table *t, int part, int k, struct rate_path *path[2])
{
    const double width = (TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1);
    int first = part * TABLE_PART, n = TABLE_N - first < TABLE_PART ? TABLE_N - first : TABLE_PART;
    double nH[TABLE_PART] = {0}, next[RATE_COUNT], slope, T2 = pow(10, log_T2(k));
    struct gas_rates here[TABLE_PART], there[TABLE_PART];
    for (int i = 0; i < n; i++) nH[i] = pow(10, log_nH(first + i));
    gas_rates_on(path[0], nH, n, &t->light, t->aexp, here);
    gas_rates_on(path[1], nH, n, &t->light, t->aexp, there);
    for (int i = 0; i < n; i++) {
        struct table_node *to = &t->node[first + i][k];
        put(&here[i], to->value);
        put(&there[i], next);
        for (int r = 0; r < RATE_METAL; r++)
            to->slope[r] = limited((next[r] - to->value[r]) / DEX * width);
        double metals = metal_rate(T2 * here[i].mu, t->metal_measure / nH[i], &slope);
        to->value[RATE_METAL] = log_of(metals);
        to->slope[RATE_METAL] = limited(slope * width * log2(10));
    }
}

static void row_make(struct cool_table *t, int first, int last, int k)
{
    struct rate_path *path[2] = {rate_path_new(t->light.atoms, pow(10, log_T2(k))),
                                 rate_path_new(t->light.atoms, pow(10, log_T2(k) + DEX))};
    for (int part = first; part <= last; part++)
        if (!t->made[part]) part_row_make(t, part, k, path);
    for (int i = 0; i < 2; i++) rate_path_free(path[i]);
}

static const struct table_span NONE = {.first = TABLE_PARTS, .last = -1};

static struct table_span both(struct table_span a, struct table_span b)
{
    return (struct table_span){.first = a.first < b.first ? a.first : b.first,
                               .last = a.last > b.last ? a.last : b.last};
}

void table_begin(struct cool_table *t, const struct uv *uv, double a)
{
    t->aexp = a;
    t->light = uv_at(uv, a);
    t->metal_measure = uv_metal_measure(uv, a);
    t->before = t->asked;
    t->asked = NONE;
    memset(t->made, 0, sizeof t->made);
}

static int part_at(double nH, int beyond)
{
    double at = (log10(nH) - TABLE_N_MIN) * ((TABLE_N - 1) / (TABLE_N_MAX - TABLE_N_MIN));
    return (int)fmin(fmax(floor(at) + beyond, 0), TABLE_N - 1) / TABLE_PART;
}

/* One density more on either side: rounding may place a cell there. */
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
    for (int k = 0; k < TABLE_T; k++) row_make(t, s.first, s.last, k);
    memset(t->made + s.first, true, (size_t)(s.last - s.first + 1));
}

void table_make(struct cool_table *t, const struct uv *uv, double a)
{
    table_begin(t, uv, a);
    table_need(t, pow(10, TABLE_N_MIN), pow(10, TABLE_N_MAX));
}
