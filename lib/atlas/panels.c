/* atlas/panels: several maps in one picture. */
#include <math.h>

#include "atlas/over.h"
#include "plot/frame.h"

/* Size of a panel; a shared bar needs its room in the last one of a row only. */
static struct box panel_size(const struct atlas_sheet *s)
{
    struct box b = atlas_size(s->map[0]);
    for (int i = 1; i < s->n; i++) {
        const struct box q = atlas_size(s->map[i]);
        b.width = fmax(b.width, q.width), b.height = fmax(b.height, q.height);
    }
    if (s->shared) b.width -= FRAME_BAR;
    return b;
}

struct box atlas_sheet_size(const struct atlas_sheet *s)
{
    const struct box b = panel_size(s);
    const int rows = (s->n + s->columns - 1) / s->columns;
    return (struct box){0, 0, b.width * s->columns + (s->shared ? FRAME_BAR : 0), b.height * rows};
}

void atlas_draw_sheet(struct canvas *c, const void *sheet)
{
    const struct atlas_sheet *s = sheet;
    const struct box b = panel_size(s);
    for (int i = 0; i < s->n; i++) {
        const int column = i % s->columns;
        const bool last = column == s->columns - 1 || i == s->n - 1;
        atlas_draw_at(c, s->map[i], column * b.width, i / s->columns * b.height,
                      !s->shared || last);
    }
}
