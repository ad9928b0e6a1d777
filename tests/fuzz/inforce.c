/* fuzz/inforce: the values that Ptah reads from namelists, for dialects.py.
 *
 *   inforce table    the rows: GROUP KIND N1 N2 BASE DEFAULT MIN MAX STATUS NAME TEXT|CHOICES
 *   inforce          namelists from standard input, each as length (8 bytes) and bytes; of each
 *                    `refused MESSAGE`, or each element that is not its default; then `end`
 *
 * Numbers are their bits in hexadecimal, so that equal lines are equal values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "param/row.h"

static void print_table(void)
{
    static const char *const kinds[] = {"bool", "int", "long", "real", "text"};
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *r = param_row_at(i);
        printf("%s %s %s %d %d %d %d %.17g %.17g %.17g %d\t%s\t%s\n",
               param_group_find(r->group, true)->namelist, r->name, kinds[r->kind], r->array, r->n1,
               r->n2, r->base, r->def, r->min, r->max, (int)r->status,
               r->def_text ? r->def_text : "", r->choices ? r->choices : "");
    }
}

static void print_element(const struct param_row *r, const void *value)
{
    uint64_t bits = 0;
    if (r->kind == PARAM_TEXT) {
        printf("%s", (const char *)value);
        return;
    }
    if (r->kind == PARAM_INT)
        bits = (uint64_t)(int64_t) * (const int *)value;
    else
        memcpy(&bits, value, param_element_size(r));
    printf("%016" PRIX64, bits);
}

static void print_values(const struct params *p)
{
    static struct params def;
    param_init(&def);
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *r = param_row_at(i);
        for (int k = 0; k < r->n1 * r->n2; k++) {
            const void *value = param_element_const(p, r, k % r->n1, k / r->n1);
            if (memcmp(value, param_element_const(&def, r, k % r->n1, k / r->n1),
                       param_element_size(r)) == 0)
                continue;
            printf("%s %s %d %d ", param_group_find(r->group, true)->namelist, r->name,
                   k % r->n1 + r->base, k / r->n1 + 1);
            print_element(r, value);
            putchar('\n');
        }
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 24];
    static struct params p;
    uint64_t n;
    if (argc > 1) {
        print_table();
        return 0;
    }
    while (fread(&n, sizeof n, 1, stdin) == 1) {
        if (n > sizeof text || fread(text, 1, n, stdin) != n) return 3;
        if (param_read_text(&p, text, n, "t.nml") == OK)
            print_values(&p);
        else
            printf("refused %s\n", err_message());
        printf("end\n");
    }
    return 0;
}
