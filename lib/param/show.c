/* param/show: prints the table: listing, values in force, names without effect. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "param/row.h"

static const char *const status_text[] = {[PARAM_HONOURED] = "honoured",
                                          [PARAM_LIMIT] = "limited",
                                          [PARAM_HARMLESS] = "no effect",
                                          [PARAM_NEEDS] = "no effect unless",
                                          [PARAM_REFUSED] = "not supported"};

/* int, real[100], text[100,59] */
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

/* Status with its note, as a clause. */
static const char *status_note(const struct param_row *row, char buf[400])
{
    const char *colon = row->status == PARAM_NEEDS ? " " : ": ";
    snprintf(buf, 400, "%s%s%s", status_text[row->status], row->note ? colon : "",
             row->note ? row->note : "");
    return buf;
}

void param_list(FILE *out)
{
    const char *group = "";
    char type[64], def[PARAM_VALUE], range[PARAM_VALUE], status[400];
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

/* Elements lo.. of column j up to n, as "a, b, c". */
static void print_elements(FILE *f, const struct params *p, const struct param_row *row, int n,
                           int j)
{
    char buf[PARAM_VALUE];
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%s", i ? "," : "",
                param_value_text(row, param_element_const(p, row, i, j), buf));
    fputc('\n', f);
}

/* Rows of a column up to the last that is not the default (2-D arrays are of reals). */
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

/* Values that nothing reads, or that end the run. */
static bool is_beyond(const struct params *p, int i, FILE *out)
{
    const struct param_row *row = param_row_at(i);
    bool region = strcmp(row->group, "init") == 0 && row->n1 == PARAM_REGIONS && row->n2 == 1 &&
                  strcmp(row->name, "initfile") != 0, /* by level */
        aout = strcmp(row->group, "output") == 0 && strcmp(row->name, "aout") == 0;
    if (aout && !p->run.cosmo) {
        fprintf(out, "output/aout: without cosmo=.true. the expansion factor is 1, so that "
                     "aout <= 1 ends the run at once\n");
        return true;
    }
    if (!region || p->count[i] <= p->init.nregion) return false;
    fprintf(out, "init/%s has values for %d region%s, but nregion=%d: the rest has no effect\n",
            row->name, p->count[i], p->count[i] == 1 ? "" : "s", p->init.nregion);
    return true;
}

/* The run has the black holes that the parameter needs. */
static bool has_holes(const struct params *p, const struct param_row *row)
{
    bool needs = row->status == PARAM_NEEDS && strcmp(row->note, PARAM_HORIZON) == 0;
    return needs && p->run.sink && !param_sinks_ramses(p);
}

int param_unused(const struct params *p, FILE *out)
{
    int n = 0;
    for (int i = 0; i < PARAM_ROWS; i++) {
        if (p->twice[i] && p->twice[i] == p->line[i])
            fprintf(out, "line %d of the namelist sets %s twice: the last counts\n", p->line[i],
                    param_row_at(i)->name);
        else if (p->twice[i])
            fprintf(out, "lines %d and %d of the namelist both set %s: the last counts\n",
                    p->twice[i], p->line[i], param_row_at(i)->name);
        n += p->twice[i] > 0;
        n += p->given[i] && is_beyond(p, i, out);
    }
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        const char *why;
        bool read = param_group_read(p, row->group, &why);
        if (!p->given[i] || (read && row->status != PARAM_NEEDS && row->status != PARAM_HARMLESS))
            continue;
        if (has_holes(p, row)) continue;
        n++;
        bool unless = !read || row->status == PARAM_NEEDS;
        fprintf(out, "%s/%s has no effect%s%s\n", param_group_said(p, i), row->name,
                unless ? " unless " : ": ", read ? row->note : why);
    }
    return n;
}
