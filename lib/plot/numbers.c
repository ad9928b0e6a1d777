#include "plot/numbers.h"

#include <math.h>

#include "base/text.h"

enum { DIGITS = 12 };

static const char *or_none(const char *text)
{
    return text ? text : "";
}

void numbers_of_chart(struct canvas *c, const struct chart *h)
{
    FILE *out = canvas_numbers(c);
    if (!out) return;
    fprintf(out, "# chart\t%s\n# x\t%s\n# y\t%s\n#curve\tx\ty\n", or_none(h->title),
            or_none(h->x.name), or_none(h->y.name));
    for (int i = 0; i < h->n; i++) {
        const struct curve *q = &h->curve[i];
        for (int k = 0; k < q->n || (k == 0 && isfinite(q->across)); k++) {
            fprintf(out, "%s\t", or_none(q->label));
            put_number(out, DIGITS, q->n ? q->x[k] : NAN);
            putc('\t', out);
            put_number(out, DIGITS, q->n ? q->y[k] : q->across);
            putc('\n', out);
        }
    }
}

static void put_axis(FILE *out, const char *which, const struct axis *a)
{
    fprintf(out, "# %s\t%s\t%.*g\t%.*g%s\n", which, or_none(a->name), DIGITS, a->lo, DIGITS, a->hi,
            a->log ? "\tlog10" : "");
}

void numbers_of_image(struct canvas *c, const struct frame *f, const char *name, int n, int rows,
                      const double *value)
{
    FILE *out = canvas_numbers(c);
    if (!out) return;
    fprintf(out, "# image\t%s\n# values\t%s\n", or_none(f->title), or_none(name));
    put_axis(out, "x", &f->x);
    put_axis(out, "y", &f->y);
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < n; i++) {
            put_number(out, DIGITS, value[(size_t)j * (size_t)n + (size_t)i]);
            putc(i + 1 < n ? '\t' : '\n', out);
        }
}
