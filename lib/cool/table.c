/* cool/table: see table.h. */
#include "cool/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

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

/* All densities at one temperature; derivatives are differences over 0.01 dex, as in RAMSES. */
static void row_make(struct cool_table *t, const struct uv_rates *uv, double metal_measure, int k)
{
    const double dex = 0.01, width = (TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1);
    double T2 = pow(10, log_T2(k)), above = pow(10, log_T2(k) + dex), next[RATE_COUNT], slope;
    struct rate_path *here = rate_path_new(T2), *there = rate_path_new(above);
    for (int i = 0; i < TABLE_N; i++) {
        struct table_node *n = &t->node[k][i];
        double nH = pow(10, log_nH(i));
        struct gas_rates g = gas_rates_on(here, nH, uv, t->aexp);
        struct gas_rates b = gas_rates_on(there, nH, uv, t->aexp);
        put(&g, n->value);
        put(&b, next);
        for (int r = 0; r < RATE_METAL; r++)
            n->slope[r] = limited((next[r] - n->value[r]) / dex * width);
        n->value[RATE_METAL] = log_of(metal_rate(T2 * g.mu, metal_measure / nH, &slope));
        n->slope[RATE_METAL] = limited(slope * width * log2(10));
    }
    rate_path_free(here);
    rate_path_free(there);
}

int64_t *table_words(struct cool_table *t, int *n)
{
    *n = (int)((sizeof *t - offsetof(struct cool_table, node)) / sizeof(int64_t));
    return (int64_t *)(void *)t->node;
}

void table_make(struct cool_table *t, const struct uv *uv, double a, int part, int parts)
{
    struct uv_rates rates = uv_at(uv, a);
    double metal_measure = uv_metal_measure(uv, a);
    memset(t, 0, sizeof *t);
    t->aexp = a;
#pragma omp parallel for schedule(dynamic)
    for (int k = part; k < TABLE_T; k += parts) row_make(t, &rates, metal_measure, k);
}
