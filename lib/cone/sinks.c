/* cone/sinks: sinks on light cones. All ranks know all of them; rank 0 finds the events. Columns
 * cone_x, cone_y and cone_z of a table have the places of sinks at the beginning of the step. */
#include <string.h>

#include "base/mem.h"
#include "ckpt/catalog.h"
#include "cone/rows.h"

/* cuRAMSES's columns behind the mass; RAMSES has the angular momentum by another name. */
static const char *const COLUMN[SINK_VALUES][2] = {
    {"birth_time", NULL}, {"dMsmbh", NULL},   {"dMBH_coarse", NULL}, {"dMEd_coarse", NULL},
    {"jsink_1", "lx"},    {"jsink_2", "ly"},  {"jsink_3", "lz"},     {"bhspin_1", NULL},
    {"bhspin_2", NULL},   {"bhspin_3", NULL}, {"spinmag", NULL},     {"eps_sink", NULL}};

const struct catalog_column *cone_sink_column(const struct catalog *t, int i)
{
    const struct catalog_column *c = catalog_find(t, COLUMN[i][0]);
    return c || !COLUMN[i][1] ? c : catalog_find(t, COLUMN[i][1]);
}

static const double *reals(const struct catalog *t, const char *name, int d)
{
    char axis[40];
    snprintf(axis, sizeof axis, "%s%c", name, "xyz"[d]);
    const struct catalog_column *c = catalog_find(t, axis);
    return c ? c->real : NULL;
}

void cone_select_sinks(const struct cone_view *v, const struct cone_shell *s,
                       const struct catalog *sinks, const double clock[2], struct cone_events *out)
{
    const struct catalog_column *birth = catalog_find(sinks, "birth_time");
    struct cone_points p = {
        .n = sinks->n, .birth = birth ? birth->real : NULL, .clock = {clock[0], clock[1]}};
    int32_t *was = mem_zero(sizeof *was * 3 * (size_t)sinks->n + 1, "light cone");
    for (int d = 0; d < 3; d++) {
        const double *place = reals(sinks, "cone_", d);
        p.x[d] = reals(sinks, "position_", d), p.v[d] = reals(sinks, "velocity_", d);
        for (int64_t i = 0; place && i < sinks->n; i++) was[d * sinks->n + i] = (int32_t)place[i];
        p.was[d] = was + d * sinks->n;
    }
    cone_select(v, s, &p, out);
    mem_free(was);
}

static void put(uint64_t *row, int v, double x)
{
    memcpy(row + CONE_KEY + v, &x, sizeof x);
}

static double value(const struct catalog_column *c, int64_t i)
{
    if (!c) return 0;
    return c->real ? c->real[i] : (double)c->whole[i];
}

void cone_rows_sinks(const struct cone_slice *s, struct cone_rows *out)
{
    const int width = ROW_SINK + SINK_VALUES;
    const struct catalog *t = s->sinks;
    *out = (struct cone_rows){.width = width, .n = s->seen->n};
    out->at = mem_zero(sizeof(uint64_t) * (size_t)(CONE_KEY + width) * (size_t)out->n + 1,
                       "light cone");
    for (int64_t i = 0; i < out->n; i++) {
        const struct cone_event *e = &s->seen->at[i];
        const int64_t id = catalog_find(t, "identity")->whole[e->at];
        uint64_t *row = cone_row(out, i);
        double v[3], u[3];
        for (int d = 0; d < 3; d++) v[d] = reals(t, "velocity_", d)[e->at];
        cone_turn(s->view, v, u);
        cone_row_key(e->image, 0, (uint64_t)id ^ (uint64_t)1 << 63, row);
        for (int d = 0; d < 3; d++)
            put(row, ROW_POSITION + d, e->r[d]), put(row, ROW_VELOCITY + d, u[d]);
        put(row, ROW_REDSHIFT, e->z);
        put(row, ROW_MASS, value(catalog_find(t, "mass"), e->at));
        row[CONE_KEY + ROW_ID] = (uint64_t)id;
        for (int k = 0; k < SINK_VALUES; k++)
            put(row, ROW_SINK + k, value(cone_sink_column(t, k), e->at));
    }
    cone_rows_sort(out);
}
