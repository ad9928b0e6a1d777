/* sed/lamps: photons of sinks; see lamps.h. */
#include "sed/lamps.h"

#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"

static const double RADIATED = 0.1; /* of the rest mass that a hole accretes, as energy */

/* Fit of RAMSES to Vacca, Garmany & Shull (1996). */
double sed_vacca(double mass)
{
    double x = mass / 27.28098824280431;
    return 9.634642584812752e48 * pow(x, 6.840015602892084) /
           pow(1 + pow(x, 4.353614230584390), 1.142166657042991);
}

static void light_objects(const struct sink_run *s, const struct stellar *k,
                          const struct sed_lamp_law *law, struct sed_lamp *l)
{
    for (int64_t i = 0; i < k->n; i++) {
        const struct stellar_object *o = &k->at[i];
        if (o->sink != l->id || !((s->t - o->birth) * s->units.time < law->lifetime)) continue;
        l->rate[law->group] += sed_vacca(o->mass * s->units.mass / RAMSES_MSUN);
    }
}

/* Photons of the energy that a hole radiates as it accretes. */
static void light_hole(const struct sink_run *s, const struct sed_lamp_law *law,
                       const struct sink *a, struct sed_lamp *l)
{
    bool holes = s->sinks->law.holes || (s->sinks->table.family & SINK_HORIZON) != 0;
    double rate = s->sinks->law.holes ? a->rate_hole : a->rate;
    double part = a->efficiency > 0 && holes ? a->efficiency : RADIATED;
    double power = part * fmax(rate, 0) * (s->units.mass / s->units.time) * RAMSES_C * RAMSES_C;
    for (int g = 0; g < law->n; g++)
        if (law->egy[g] > 0) l->rate[g] += power * law->share[g] / (law->egy[g] * RAMSES_EV);
}

void sed_lamps_light(const struct sink_run *s, const struct stellar *k,
                     const struct sed_lamp_law *law, struct sed_lamps *out)
{
    const struct sinks *t = &s->sinks->table;
    *out = (struct sed_lamps){0};
    if (t->total == 0) return;
    bool *all = mem_new((size_t)t->n + 1, "sinks");
    for (int64_t i = 0; i < t->n; i++) all[i] = true;
    struct sink *a = sinks_share(t, all, s->comm, &out->n);
    out->at = mem_zero(sizeof *out->at * (size_t)out->n + 1, "sinks");
    for (int64_t i = 0; i < out->n; i++) {
        struct sed_lamp *l = &out->at[i];
        l->id = a[i].id;
        for (int d = 0; d < 3; d++) l->x[d] = a[i].x[d];
        if (law->objects && k) light_objects(s, k, law, l);
        if (law->holes) light_hole(s, law, &a[i], l);
    }
    FREE(a);
    FREE(all);
}

void sed_lamps_free(struct sed_lamps *l)
{
    FREE(l->at);
    l->n = 0;
}

/* ---- emission ---- */

/* The own leaf cell of a level that contains a point; false: there is none. */
static bool find_leaf(const struct mesh *m, int l, const double x[3], lidx *oct, int *cell)
{
    const struct level *lv = &m->lev[l];
    int64_t q[3] = {0};
    okey key;
    *cell = 0;
    for (int d = 0; d < m->ndim; d++) {
        int64_t at = (int64_t)floor(mesh_cells(m, l, x[d]));
        q[d] = at >> 1;
        *cell |= (int)(at & 1) << d;
    }
    if (!mesh_key_at(m, l, q, &key)) return false;
    *oct = mesh_find(lv, key);
    return *oct >= 0 && *oct < lv->nown && lv->child[*oct][*cell] < 0;
}

/* Emission of a point of a cloud; N: densities that it adds to a cell. */
static void emit_point(const struct mesh *m, int l, const double x[3], const double N[SED_GROUPS],
                       struct sed_light *light)
{
    lidx oct;
    int cell;
    if (!find_leaf(m, l, x, &oct, &cell)) return;
    for (int g = 0; g < light->n; g++) {
        for (int c = cell; c < 8; c += m->cells) light->N[g][oct][c] += N[g];
        sum_add(&light->emitted[g], N[g] * mesh_volume(m, l));
    }
}

static bool dark(const struct sed_lamp *l, int n)
{
    for (int g = 0; g < n; g++)
        if (l->rate[g] > 0) return false;
    return true;
}

void sed_sinks_emit(const struct sink_run *s, const struct sed_lamps *lamps, int l, double dt,
                    struct sed_light *light)
{
    const struct sink_cloud *cloud = &s->sinks->law.cloud;
    double size = mesh_dx(s->mesh, l) * s->units.length, volume = 1;
    for (int d = 0; d < s->mesh->ndim; d++) volume *= size;
    double per = dt * s->units.time / cloud->n / volume / light->unit_np;
    for (int64_t i = 0; i < lamps->n; i++) {
        const struct sed_lamp *a = &lamps->at[i];
        double N[SED_GROUPS] = {0};
        if (dark(a, light->n)) continue;
        for (int g = 0; g < light->n; g++) N[g] = a->rate[g] * per;
        for (int k = 0; k < cloud->n; k++) {
            double x[3];
            for (int d = 0; d < 3; d++) x[d] = a->x[d] + cloud->at[k][d];
            emit_point(s->mesh, l, x, N, light);
        }
    }
}
