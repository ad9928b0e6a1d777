/* param/show: prints the table: listing, values in force, names without effect. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "param/row.h"

static const char *const status_text[] = {[PARAM_HONOURED] = "honoured",
                                          [PARAM_LIMIT] = "limited",
                                          [PARAM_HARMLESS] = "no effect",
                                          [PARAM_REFUSED] = "not supported",
                                          [PARAM_BUILD] = "not supported"};

/* Text of a type: int, real[100], text[100,59]. */
static const char *type_text(const struct param_row *row, char buf[64])
{
    static const char *const kind[] = {"logical", "integer", "integer*8", "real", "text"};
    if (row->n2 > 1)
        snprintf(buf, 64, "%s(%d,%d)", kind[row->kind], row->n1, row->n2);
    else if (row->base != 1)
        snprintf(buf, 64, "%s(%d:%d)", kind[row->kind], row->base, row->base + row->n1 - 1);
    else if (row->array)
        snprintf(buf, 64, "%s(%d)", kind[row->kind], row->n1);
    else
        snprintf(buf, 64, "%s", kind[row->kind]);
    return buf;
}

static const char *default_text(const struct param_row *row, char buf[PARAM_VALUE])
{
    if (row->kind == PARAM_TEXT) return param_value_text(row, row->def_text, buf);
    if (row->def == DBL_MAX) return "unset";
    return param_number_text(row->kind, row->def, buf);
}

/* Text of a status with its note and its condition, as clauses. */
static const char *status_note(const struct param_row *row, char buf[600])
{
    const char *when = param_condition_text(row->when), *note = row->note;
    bool plain = when && row->status == PARAM_HONOURED;
    snprintf(buf, 600, "%s%s%s%s%s%s%s", plain ? "" : status_text[row->status], note ? ": " : "",
             note ? note : "", when && !plain ? "; " : "", when ? "no effect unless " : "",
             when ? when : "", row->effect == PARAM_SAME ? "; changes no result" : "");
    return buf;
}

void param_list(FILE *out)
{
    const char *group = "";
    char type[64], def[PARAM_VALUE], range[PARAM_VALUE], status[600];
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (strcmp(row->group, group) != 0) {
            const struct param_group *g = param_group_find(group = row->group, true);
            fprintf(out, "%s&%s  %s\n", i ? "\n" : "", g->namelist, g->help);
        }
        fprintf(out, "  %-22s %-16s default %s", row->name, type_text(row, type),
                default_text(row, def));
        if (*row->unit) fprintf(out, " [%s]", row->unit);
        if (*param_range_text(row, range)) fprintf(out, "  (%s)", range);
        fprintf(out, "\n      %s. %s\n", row->help, status_note(row, status));
    }
}

/* Prints elements lo.. of column j up to n, as "a, b, c". */
static void print_elements(FILE *f, const struct params *p, const struct param_row *row, int n,
                           int j)
{
    char buf[PARAM_VALUE];
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%s", i ? "," : "",
                param_value_text(row, param_element_const(p, row, i, j), buf));
    fputc('\n', f);
}

/* Number of rows of a column up to the last that is not the default (2-D arrays are of reals). */
static int column_length(const struct params *p, const struct param_row *row, int j)
{
    int n = row->n1;
    while (n > 0 && *(const double *)param_element_const(p, row, n - 1, j) == row->def) n--;
    return n;
}

static void print_row(FILE *f, const struct params *p, const struct param_row *row)
{
    int count = p->count[param_row_index(row)];
    for (int j = 0; row->n2 > 1 && j < count; j++) {
        int n = column_length(p, row, j);
        if (n == 0) continue;
        fprintf(f, "%s(1,%d) = ", row->name, j + 1);
        print_elements(f, p, row, n, j);
    }
    if (row->n2 > 1 || (row->array && !count)) return;
    fprintf(f, "%s = ", row->name);
    print_elements(f, p, row, row->array ? count : 1, 0);
}

char *param_namelist(const struct params *p)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    BUG_ON(!f);
    fputs("The parameters that were given, with those of the command line.\n", f);
    for (int g = 0; g < param_group_count(); g++) {
        const struct param_group *group = param_group_at(g);
        bool open = false;
        for (int i = 0; i < PARAM_ROWS; i++) {
            const struct param_row *row = param_row_at(i);
            if (!p->given[i] || strcmp(row->group, group->name) != 0) continue;
            if (!open) fprintf(f, "\n&%s\n", group->namelist);
            open = true;
            print_row(f, p, row);
        }
        if (open) fputs("/\n", f);
    }
    return mem_close_text(f, &text, &bytes, "parameter text");
}

/* ---- settings without effect, likely mistakes ---- */

/* Prints parameters with values for regions beyond nregion. */
static int print_regions(const struct params *p, int ranks, FILE *out)
{
    int n = 0;
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        bool region = strcmp(row->group, "init") == 0 && row->n1 == PARAM_REGIONS && row->n2 == 1 &&
                      strcmp(row->name, "initfile") != 0; /* elements by level */
        if (!region || !p->given[i] || p->count[i] <= p->init.nregion) continue;
        if (!param_holds(p, row->when, ranks)) continue; /* reported elsewhere */
        fprintf(out,
                " init/%s has values for %d region%s, but nregion=%d: the values of other regions "
                "have no effect\n",
                row->name, p->count[i], p->count[i] == 1 ? "" : "s", p->init.nregion);
        n++;
    }
    return n;
}

/* Prints entries of tout or aout at which no output is written. */
static int print_times(const struct params *p, const char *name, const double *at, double end,
                       const char *end_name, FILE *out)
{
    int given = param_given_count(p, "output", name), used = p->output.noutput, late = 0;
    for (int i = 0; i < given && i < used; i++) late += end > 0 && at[i] > end;
    if (given > used)
        fprintf(out,
                " output/%s has %d entries, but noutput=%d: entries from %s(%d)=%g on are not used "
                "(RAMSES of 2026 ignores noutput, and uses them)\n",
                name, given, used, name, used + 1, at[used]);
    if (given > 0 && used > given && param_outputs(p) == given)
        fprintf(out,
                " output/noutput=%d, but output/%s has %d entr%s, which alone count (RAMSES before "
                "2026 goes on)\n",
                used, name, given, given > 1 ? "ies" : "y");
    if (late)
        fprintf(out,
                " output/%s: the last %d entr%s beyond %s=%g, where the run ends "
                "(RAMSES of 2026 refuses this)\n",
                name, late, late > 1 ? "ies lie" : "y lies", end_name, end);
    return (given > 0 && given != used) + (late > 0);
}

/* Prints expansion factors at which a run ends at once, or which no run reaches. */
static int print_expansion(const struct params *p, FILE *out)
{
    const struct param_output *o = &p->output;
    bool given = param_given(p, "output", "aout"), end = o->aend > 0, beyond = end && o->aend > 1;
    int n = param_given_count(p, "output", "aout");
    for (int i = 0; i < n && i < o->noutput; i++) beyond |= o->aout[i] > 1;
    if (!p->run.cosmo && (given || end)) {
        fprintf(out,
                " output/%s: without cosmo=.true. the expansion factor is 1, so that %s <= 1 ends "
                "the run at once\n",
                given ? "aout" : "aend", given ? "aout" : "aend");
        return 1;
    }
    if (!beyond) return 0;
    fprintf(out,
            " output/%s: expansion factors above 1 lie in the future; give 1/(1 + z) for a "
            "redshift z\n",
            given ? "aout" : "aend");
    if (o->aout[0] > 1 && given && !end)
        fprintf(out,
                " output/aout: no output lies before today, and the run goes on until a=%g; if "
                "aout(1)=%g is a redshift, write %.4g\n",
                o->aout[param_outputs(p) - 1], o->aout[0], 1 / (1 + o->aout[0]));
    return 1;
}

/* Prints times of cosmological runs with the wrong sign: t is conformal, negative up to an
 * expansion factor of 1. */
static int print_conformal(const struct params *p, FILE *out)
{
    const struct param_output *o = &p->output;
    const struct {
        const char *name, *instead;
        bool late;
    } is[] = {{"tout", "aout", o->tout[0] >= 0},
              {"tend", "aend", o->tend > 0},
              {"delta_tout", "delta_aout", true}};
    int n = 0;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        if (!p->run.cosmo || !is[i].late || !param_given(p, "output", is[i].name)) continue;
        fprintf(out,
                " output/%s: with cosmo=.true. times are below 0 until the expansion factor is 1: "
                "%s counts expansion factors\n",
                is[i].name, is[i].instead);
        n++;
    }
    return n;
}

static bool any_given(const struct params *p, const char *const *name)
{
    bool any = false;
    for (; *name; name++) any |= param_given(p, "init", *name);
    return any;
}

/* RAMSES is compiled for a number of dimensions, which a namelist does not name. */
int param_hint_dims(const struct params *p, FILE *out)
{
    static const char *const x[] = {"x_center", "length_x", NULL},
                             *const y[] = {"y_center", "length_y", NULL},
                             *const z[] = {"z_center", "length_z", NULL};
    bool two = any_given(p, y);
    int ndim = two ? 2 : 1;
    if (param_given(p, "run", "ndim")) return 0;
    if (!p->run.hydro || p->init.nregion == 0 || any_given(p, z) || !(two || any_given(p, x)))
        return 0;
    fprintf(out,
            " init: regions are given along x%s only: if this namelist is for RAMSES compiled with "
            "NDIM=%d, this run is another problem, since it has three dimensions; then add --build "
            "NDIM=%d, or run_params/ndim=%d\n",
            two ? " and y" : "", ndim, ndim, ndim);
    return 1;
}

static int print_doubts(const struct params *p, int ranks, FILE *out)
{
    const struct param_output *o = &p->output;
    int n = print_regions(p, ranks, out) + print_expansion(p, out) + print_conformal(p, out);
    n += print_times(p, "tout", o->tout, o->tend, "tend", out);
    n += print_times(p, "aout", o->aout, o->aend, "aend", out);
    if (p->run.cosmo && !p->run.poisson) {
        fprintf(out, " run: cosmo=.true. without poisson=.true.: nothing gravitates, and no "
                     "structure grows\n");
        n++;
    }
    return n;
}

/* Reason why a parameter that was given has no effect, as the end of a sentence, or NULL. */
static const char *useless(const struct params *p, int i, int ranks, const char **link)
{
    const struct param_row *row = param_row_at(i);
    const char *why;
    *link = " unless ";
    if (!p->given[i]) return NULL;
    if (!param_group_read(p, row->group, &why)) return why;
    if (!p->run.mhd && param_of_mhd(row)) return NULL; /* refused elsewhere */
    if (!param_holds(p, row->when, ranks)) return param_condition_text(row->when);
    *link = ": ";
    return row->status == PARAM_HARMLESS ? row->note : NULL;
}

/* Prints one line for all parameters without effect for the reason of parameter i, the first of
 * them. Returns their number. */
static int print_useless(const struct params *p, int i, int ranks, FILE *out)
{
    const char *link, *other, *why = useless(p, i, ranks, &link);
    int n = 0;
    for (int j = 0; j < PARAM_ROWS; j++) {
        const char *same = useless(p, j, ranks, &other);
        if (!same || strcmp(same, why) != 0 || strcmp(link, other) != 0) continue;
        if (j < i) return 0;
        fprintf(out, "%s%s/%s", n++ ? ", " : " ", param_group_said(p, j), param_row_at(j)->name);
    }
    fprintf(out, " ha%s no effect%s%s\n", n > 1 ? "ve" : "s", link, why);
    return n;
}

/* Whether a scalar parameter is in force and not the default. */
static bool is_set(const struct params *p, int i, int ranks)
{
    const struct param_row *row = param_row_at(i);
    const void *value = param_element_const(p, row, 0, 0);
    char is[PARAM_VALUE], def[PARAM_VALUE];
    const char *why;
    return p->given[i] && param_group_read(p, row->group, &why) &&
           param_holds(p, row->when, ranks) &&
           strcmp(param_value_text(row, value, is), default_text(row, def)) != 0;
}

int param_settings(const struct params *p, int ranks, FILE *out)
{
    int n = 0;
    char value[PARAM_VALUE];
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (row->effect != PARAM_SAME || !is_set(p, i, ranks)) continue;
        fprintf(out, "%s%s/%s=%s", n++ ? ", " : " Settings that change no result: ", row->group,
                row->name, param_value_text(row, param_element_const(p, row, 0, 0), value));
    }
    if (n) fputc('\n', out);
    return n;
}

int param_unused(const struct params *p, int ranks, FILE *out)
{
    int n = 0;
    const char *link;
    for (int i = 0; i < PARAM_ROWS; i++) {
        if (p->twice[i] && p->twice[i] == p->line[i])
            fprintf(out, " line %d of the namelist sets %s twice: the last counts\n", p->line[i],
                    param_row_at(i)->name);
        else if (p->twice[i])
            fprintf(out, " lines %d and %d of the namelist both set %s: the last counts\n",
                    p->twice[i], p->line[i], param_row_at(i)->name);
        n += p->twice[i] > 0;
    }
    n += print_doubts(p, ranks, out);
    for (int i = 0; i < PARAM_ROWS; i++)
        if (useless(p, i, ranks, &link)) n += print_useless(p, i, ranks, out);
    return n;
}
