#include "export/vtk.h"

#include <stdio.h>

int vtk_arrays(const struct export_list *l, struct vtk_array a[EXPORT_FIELDS])
{
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        struct vtk_array *next = &a[n++];
        *next = (struct vtk_array){.field = i, .parts = 1, .width = 1};
        if (export_is_vector(l, i, next->name)) {
            next->parts = l->s->head.ndim, next->width = 3;
            i += next->parts - 1;
        } else
            snprintf(next->name, sizeof next->name, "%s", l->field[i].name);
    }
    return n;
}

double vtk_value(const struct export_list *l, const struct vtk_array *a, bool physical, int k,
                 const struct source_octs *o, int c, int i)
{
    if (k >= a->parts) return 0;
    const struct export_field *e = &l->field[a->field + k];
    const double x = gas_value(&l->gas, e->number, o, c, i);
    return physical ? x * e->unit.worth : x;
}
