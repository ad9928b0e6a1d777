/* out/radiation: the text files of radiation, as RAMSES writes them. Behind its lines follow the
 * numbers of the header as hexadecimal ones, with all bits, for a restart. */
#include <string.h>

#include "out/out.h"

/* The first of the species H2, HI, HeI, HeII that a run with n fractions has. */
static int first_species(int n)
{
    return n % 2 == 0 ? 0 : 1;
}

static void put_count(FILE *t, const char *name, int n)
{
    fprintf(t, "%-13s=%12d\n", name, n);
}

static void put_named(FILE *t, const char *name, double x)
{
    fprintf(t, "%-13s= ", name);
    out_real(t, x);
    putc('\n', t);
}

/* Fortran's ES12.3. */
static void put_short(FILE *t, const char *name, int n, const double *x)
{
    fprintf(t, "  %-15s= ", name);
    for (int i = 0; i < n; i++) fprintf(t, "%12.3E", x[i]);
    putc('\n', t);
}

static void put_bound(FILE *t, const char *name, int n, const double *x)
{
    fprintf(t, "  %-15s= ", name);
    for (int i = 0; i < n; i++) fprintf(t, "%12.3f", x[i]);
    putc('\n', t);
}

/* Column of the first fraction in the files of gas, from 1; 0: there is none. */
static int ion_column(const struct ckpt_out *o)
{
    const struct gas_vars *g = o->h->gas;
    const int velocities = gas_velocities(o->h->ndim, o->h->magnetic);
    const struct gas_order order = {gas_count_in_file(velocities, o->h->nvar), velocities + 1,
                                    o->h->energy.n};
    for (int v = 0; o->stored && v < o->nhydro; v++)
        if (strncmp(o->stored[v].name, "x_H", 3) == 0) return v + 1;
    for (int v = 0; !o->stored && g && v < g->n; v++)
        if (strncmp(g->name[v], "x_H", 3) == 0)
            return fields_column(o->fields, order, gas_in_file(velocities, v)) + 1;
    return 0;
}

static void put_groups(FILE *t, const struct ckpt_radiation *r)
{
    const int n = r->ions, first = first_species(n);
    put_bound(t, "groupL0  [eV]", r->groups, r->l0);
    put_bound(t, "groupL1  [eV]", r->groups, r->l1);
    fprintf(t, "  %-15s= ", "spec2group");
    for (int i = 0; i < n; i++) fprintf(t, "%12d", r->spec2group[i]);
    putc('\n', t);
    for (int g = 0; g < r->groups; g++) {
        fprintf(t, "  ---Group %d\n", g + 1);
        put_short(t, "egy      [eV]", 1, &r->egy[g]);
        put_short(t, "csn    [cm^2]", n, r->csn[g] + first);
        put_short(t, "cse    [cm^2]", n, r->cse[g] + first);
    }
}

void out_radiation_info(FILE *t, const struct ckpt_out *o)
{
    const struct ckpt_radiation *r = &o->h->radiation;
    put_count(t, "nRTvar", out_photons_file(o));
    put_count(t, "nIons", r->ions);
    put_count(t, "nGroups", r->groups);
    put_count(t, "iIons", ion_column(o));
    putc('\n', t);
    put_named(t, "X_fraction", r->x);
    put_named(t, "Y_fraction", r->y);
    putc('\n', t);
    put_named(t, "unit_np", r->unit_np);
    put_named(t, "unit_pf", r->unit_pf);
    put_named(t, "rt_c_frac", r->c_fraction);
    putc('\n', t);
    put_named(t, "n_star", r->n_star);
    put_named(t, "T2_star", r->t2_star);
    put_named(t, "g_star", r->g_star);
    fputs("\n Photon group properties------------------------------ \n", t);
    put_groups(t, r);
    fputs(" -------------------------------------------------------\n", t);
    if (o->stored) return;
    for (int i = 0; i < RADIATION_REALS; i++)
        fprintf(t, "%s%a%s", i % 4 ? " " : " exact ", r->real[i],
                i % 4 == 3 || i + 1 == RADIATION_REALS ? "\n" : "");
}

void out_radiation_names(FILE *t, const struct ckpt_out *o)
{
    static const char *const part[] = {"", "_x", "_y", "_z"};
    const int ncol = out_photons_file(o), each = 1 + o->h->ndim;
    fputs("# version:  1\n# ivar, variable_name, variable_type\n", t);
    for (int v = 0; v < ncol; v++)
        fprintf(t, "%2d, photon_flux_%02d%s, d\n", v + 1, v / each + 1, part[v % each]);
}
