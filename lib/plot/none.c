/* plot/none: replaces the canvas in a build without cairo, which draws nothing and never calls the
 * functions of canvas.h. */
#ifndef PTAH_CAIRO
#include "plot/canvas_priv.h"
#include "plot/picture.h"

enum err picture_write(FILE *out, const char *name, const struct picture *p)
{
    FAIL(ERR_LIMIT,
         "%s: this program was built without cairo, which draws plots: install its library "
         "(libcairo2-dev), then run make",
         name);
}

void picture_numbers(FILE *out, const struct picture *p)
{
    struct canvas c = {.numbers = out};
    p->draw(&c, p->what);
}

enum err picture_pixels(const struct picture *p, int *columns, int *rows, unsigned char **rgb)
{
    *columns = *rows = 0, *rgb = NULL;
    FAIL(ERR_LIMIT,
         "this program was built without cairo, which draws axes: give --bare, or install its "
         "library (libcairo2-dev), then run make");
}

void canvas_line(struct canvas *c, int n, const double (*xy)[2], struct pen pen)
{
}
void canvas_line_seamed(struct canvas *c, int n, const double (*xy)[2])
{
}
FILE *canvas_numbers(const struct canvas *c)
{
    return c->numbers;
}
void canvas_fill(struct canvas *c, struct box box, unsigned rgb)
{
}
void canvas_write(struct canvas *c, const struct label *label)
{
}
void canvas_write_seamed(struct canvas *c, const struct label *label)
{
}
double canvas_text_width(struct canvas *c, const char *text, double size)
{
    return 0;
}
void canvas_pixels(struct canvas *c, struct box box, int columns, int rows,
                   const unsigned char *rgb)
{
}
void canvas_clip(struct canvas *c, const struct box *box)
{
}
#endif
