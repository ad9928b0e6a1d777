/* view/profile_plot: four charts of a profile: densities, masses, temperature, velocities. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "plot/chart.h"
#include "view/profile.h"

/* indices of colours: blue, black, green, orange */
enum { CURVES = 5, TEMPERATURE = 2, GAS = 0, DM = 6, STARS = 2, OTHER = 1 };

/* Content of a chart: columns, their labels and colours. */
static const struct panel {
    const char *what;
    bool log;
    struct {
        enum profile_column column;
        const char *label;
        int colour;
        bool dashed;
    } curve[CURVES];
} PANEL[4] = {{"density",
               true,
               {{PROFILE_GAS_DENSITY, "gas", GAS, false},
                {PROFILE_DM_DENSITY, "dark matter", DM, false},
                {PROFILE_STAR_DENSITY, "stars", STARS, false},
                {PROFILE_OTHER_DENSITY, "other particles", OTHER, false}}},
              {"mass within r",
               true,
               {{PROFILE_GAS_MASS, "gas", GAS, false},
                {PROFILE_DM_MASS, "dark matter", DM, false},
                {PROFILE_STAR_MASS, "stars", STARS, false},
                {PROFILE_OTHER_MASS, "other particles", OTHER, false}}},
              {"T/μ", true, {{PROFILE_TEMPERATURE, "gas", GAS, false}}},
              {"radial velocity",
               false,
               {{PROFILE_GAS_VR, "gas", GAS, false},
                {PROFILE_DM_VR, "dark matter", DM, false},
                {PROFILE_DM_SIGMA, "dispersion of dark matter", DM, true},
                {PROFILE_STAR_VR, "stars", STARS, false},
                {PROFILE_STAR_SIGMA, "dispersion of stars", STARS, true}}}};

static bool is_present(const struct profile *p, enum profile_column c)
{
    return p->has[c < PROFILE_DM_DENSITY      ? SPECIES_GAS
                  : c < PROFILE_STAR_DENSITY  ? SPECIES_DM
                  : c < PROFILE_OTHER_DENSITY ? SPECIES_STAR
                                              : SPECIES_OTHER];
}

static bool column_is_mass(enum profile_column c)
{
    return c == PROFILE_GAS_MASS || c == PROFILE_DM_MASS || c == PROFILE_STAR_MASS ||
           c == PROFILE_OTHER_MASS;
}

/* x: middle of each bin, then end of each bin, for cumulative masses; y: scratch for the curves. */
static void draw_panel(struct canvas *c, const struct profile *p, int k, const double *x, double *y)
{
    const struct panel *a = &PANEL[k];
    struct curve curve[CURVES];
    char name[64];
    int n = 0;
    for (int i = 0; i < CURVES && a->curve[i].label; i++) {
        enum profile_column column = a->curve[i].column;
        double *at = y + (size_t)i * (size_t)p->n;
        if (!is_present(p, column)) continue;
        for (int b = 0; b < p->n; b++) at[b] = p->row[b][column];
        curve[n++] = (struct curve){.label = a->curve[i].label,
                                    .n = p->n,
                                    .x = column_is_mass(column) ? x + p->n : x,
                                    .y = at,
                                    .dashed = a->curve[i].dashed,
                                    .colour = a->curve[i].colour};
    }
    if (n == 1 && k == TEMPERATURE) curve[0].label = NULL; /* only gas has one */
    snprintf(name, sizeof name, "%s [%s]", a->what, p->unit[a->curve[0].column]);
    double width = PROFILE_WIDTH / 2.0, height = (PROFILE_HEIGHT - 40) / 2.0;
    bool log = p->row[p->n - 1][PROFILE_TO] > 1.5 * p->n * p->row[0][PROFILE_TO];
    struct chart h = {
        .x = {.log = log, .name = p->axis},
        .y = {.log = a->log, .name = name},
        .in = frame_in((struct box){k % 2 * width, 40 + k / 2 * height, width, height}, 0),
        .n = n,
        .curve = curve};
    chart_draw(c, &h);
}

void profile_plot(struct canvas *c, const void *profile)
{
    const struct profile *p = profile;
    double *x = mem_new(sizeof *x * (size_t)p->n * (CURVES + 2), "profile");
    for (int b = 0; b < p->n; b++) {
        double from = p->stretch * p->row[b][PROFILE_FROM], to = p->stretch * p->row[b][PROFILE_TO];
        x[b] = from > 0 ? sqrt(from * to) : 0.5 * to;
        x[p->n + b] = to;
    }
    canvas_write(c, &(struct label){PROFILE_WIDTH / 2.0, 30, ANCHOR_MIDDLE, false, p->title, 15});
    for (int k = 0; k < 4; k++) draw_panel(c, p, k, x, x + 2 * p->n);
    FREE(x);
}
