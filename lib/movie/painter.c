/* movie/painter: the sums of one thread, and the highest places of their digits. */
#include <omp.h>

#include "base/mem.h"
#include "movie/priv.h"

static void start_painter(const struct paint *p, struct painter *a)
{
    for (int g = 0; g < p->ngroup; g++)
        for (int v = 0; v < p->group[g].n; v++) scale_set(&a->scale[g][v], DIGIT_TOP_MIN);
    for (int v = 0; v < p->ndots; v++) scale_set(&a->light[v], DIGIT_TOP_MIN);
    for (int c = 0; c < p->ncamera; c++) {
        const struct plan *k = &p->plan[c];
        const struct group *g = &p->group[k->group];
        const bool extreme = g->method >= METHOD_MIN;
        const int site = g->n * (extreme ? 1 : DIGITS);
        const int64_t empty = extreme ? INT64_MIN : 0;
        if (p->ngas > 0) sheet_init(&a->pixels[c], k->view.nw, k->view.nh, site, empty);
        if (p->ndots > 0) sheet_init(&a->dots[c], k->view.nw, k->view.nh, p->ndots * DIGITS, 0);
        if (p->ndots > 0) sheet_init(&a->count[c], k->view.nw, k->view.nh, 1, 0);
        for (int l = 1; l <= p->finest; l++)
            if (k->column[l].used)
                sheet_init(&a->column[c][l], k->column[l].slots[0], k->column[l].slots[1], 4 * site,
                           empty);
    }
    a->value = mem_new(sizeof *a->value * PAINT_ROWS * PAINT_CELLS, "movie frame");
    for (int g = 0; g < p->ngroup; g++)
        a->sum[g] = mem_new(sizeof *a->sum[g] * PAINT_VALUES * PAINT_CELLS, "movie frame");
}

static void end_painter(const struct paint *p, struct painter *a)
{
    for (int c = 0; c < p->ncamera; c++) {
        sheet_fini(&a->pixels[c]);
        sheet_fini(&a->dots[c]);
        sheet_fini(&a->count[c]);
        for (int l = 1; l <= p->finest; l++) sheet_fini(&a->column[c][l]);
    }
    FREE(a->value);
    for (int g = 0; g < MOVIE_CAMERAS; g++) FREE(a->sum[g]);
}

void paint_painters(struct paint *p)
{
    const int n = omp_get_max_threads();
    if (n <= p->npainter) return;
    p->painter = mem_grow(p->painter, sizeof *p->painter * (size_t)n, "movie frame");
    memset(p->painter + p->npainter, 0, sizeof *p->painter * (size_t)(n - p->npainter));
    while (p->npainter < n) start_painter(p, &p->painter[p->npainter++]);
}

int paint_thread(void)
{
    return omp_get_thread_num();
}

int paint_threads(void)
{
    return omp_get_num_threads();
}

void painter_raise(const struct paint *p, struct painter *a, int g, int v, int top)
{
    struct scale *s = &a->scale[g][v];
    const int places = top - s->top;
    if (places <= 0) return;
    for (int c = 0; c < p->ncamera; c++) {
        if (p->plan[c].group != g) continue;
        sheet_shift(&a->pixels[c], v, 1, places);
        for (int l = 1; l <= p->finest; l++) sheet_shift(&a->column[c][l], v, 4, places);
    }
    scale_set(s, top);
}

void painter_raise_dots(const struct paint *p, struct painter *a, int v, int top)
{
    const int places = top - a->light[v].top;
    if (places <= 0) return;
    for (int c = 0; c < p->ncamera; c++) sheet_shift(&a->dots[c], v, 1, places);
    scale_set(&a->light[v], top);
}

void paint_painters_free(struct paint *p)
{
    for (int i = 0; i < p->npainter; i++) end_painter(p, &p->painter[i]);
    FREE(p->painter);
}
