/* view/profile_plot: charts of a profile: densities, masses, temperature, velocities, ions. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "plot/chart.h"
#include "view/profile.h"

/* indices of colours: blue, black, green, orange */
enum { CURVES = 5, GAS = 0, DM = 6, STARS = 2, OTHER = 1 };
enum { ION_HI = 0, ION_HII = 1, ION_HEII = 2, ION_HEIII = 6 };

/* Content of a chart: columns, their labels and colours. The last is drawn where the gas has
 * ions. */
static const struct panel {
    const char *what;
    bool log;
    struct {
        enum profile_column column;
        const char *label;
        int colour;
        bool dashed;
    } curve[CURVES];
} PANEL[] = {{"density",
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
               {PROFILE_STAR_SIGMA, "dispersion of stars", STARS, true}}},
             {"fraction of ions",
              true,
              {{PROFILE_HI, "H I", ION_HI, true},
               {PROFILE_HII, "H II", ION_HII, false},
               {PROFILE_HEII, "He II", ION_HEII, false},
               {PROFILE_HEIII, "He III", ION_HEIII, false}}}};
enum { PANELS = sizeof PANEL / sizeof *PANEL };

static bool is_present(const struct profile *p, enum profile_column c)
{
    if (c >= PROFILE_HI) {
        for (int i = 0; i < p->columns; i++)
            if (p->list[i] == c) return true;
        return false;
    }
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
        int shown = 0; /* bins with a value that the axis can show */
        for (int b = 0; b < p->n; b++) {
            at[b] = p->row[b][column];
            shown += a->log ? at[b] > 0 : isfinite(at[b]);
        }
        if (!shown && column >= PROFILE_HI) continue;
        curve[n++] = (struct curve){.label = a->curve[i].label,
                                    .n = p->n,
                                    .x = column_is_mass(column) ? x + p->n : x,
                                    .y = at,
                                    .dashed = a->curve[i].dashed,
                                    .colour = a->curve[i].colour};
    }
    if (a->curve[0].column == PROFILE_TEMPERATURE) curve[0].label = NULL; /* only gas has one */
    const char *unit = p->unit[a->curve[0].column];
    snprintf(name, sizeof name, *unit ? "%s [%s]" : "%s", a->what, unit);
    const double width = PROFILE_WIDTH / 2.0, height = PROFILE_ROW;
    bool log = p->row[p->n - 1][PROFILE_TO] > 1.5 * p->n * p->row[0][PROFILE_TO];
    struct chart h = {
        .x = {.log = log, .name = p->axis},
        .y = {.log = a->log, .name = name},
        .in = frame_in((struct box){k % 2 * width, PROFILE_TITLE + k / 2 * height, width, height},
                       0),
        .n = n,
        .curve = curve};
    chart_draw(c, &h);
}

/* Number of charts: ions come last. */
static int panels(const struct profile *p)
{
    for (int i = 0; i < CURVES && PANEL[PANELS - 1].curve[i].label; i++)
        if (is_present(p, PANEL[PANELS - 1].curve[i].column)) return PANELS;
    return PANELS - 1;
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
    for (int k = 0; k < panels(p); k++) draw_panel(c, p, k, x, x + 2 * p->n);
    FREE(x);
}

int profile_height(const struct profile *p)
{
    return PROFILE_TITLE + (panels(p) + 1) / 2 * PROFILE_ROW;
}
