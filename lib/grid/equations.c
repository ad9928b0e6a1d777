/* grid/equations: see equations.h. */
#include "grid/equations.h"

void grid_set_equations(struct grid_head *h, const struct fd_par *p)
{
#define SWITCH(member, name) grid_set(h, name, p->member);
#define NUMBER(member, name) grid_set(h, name, p->member);
#include "fd/numbers.def"
}

static enum err lacks(const struct grid *g, const char *name)
{
    FAIL(ERR_FORMAT, "%s: its header has no number '%s', a parameter of the equations", g->file,
         name);
}

enum err grid_equations(const struct grid *g, struct fd_par *p)
{
    const struct grid_head *h = &g->head;
    double x;
    *p = (struct fd_par){.order = h->order};
    for (int d = 0; d < 3; d++) p->dx[d] = h->length[d] / (double)h->n[d];
#define SWITCH(member, name)                                                                       \
    if (!grid_get(h, name, &x)) return lacks(g, name);                                             \
    p->member = x != 0;
#define NUMBER(member, name)                                                                       \
    if (!grid_get(h, name, &p->member)) return lacks(g, name);
#include "fd/numbers.def"
    return OK;
}
