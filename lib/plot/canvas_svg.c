/* plot/canvas_svg: a canvas that writes SVG. */
#include <errno.h>
#include <string.h>

#include "plot/canvas.h"

int canvas_raised(const char *text, int *before)
{
    const char *at = strchr(text, '^');
    *before = (int)(at ? at - text : (long)strlen(text));
    return at ? (int)strspn(at + 1, "-0123456789") : 0;
}

static void svg_line(void *to, int n, const double (*xy)[2], struct pen pen)
{
    fprintf(to,
            "<polyline fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.1f\" "
            "stroke-linejoin=\"round\"%s points=\"",
            pen.rgb, pen.width, pen.dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (int i = 0; i < n; i++) fprintf(to, "%.2f,%.2f ", xy[i][0], xy[i][1]);
    fputs("\"/>\n", to);
}

static void svg_fill(void *to, double x, double y, double width, double height, unsigned rgb)
{
    fprintf(to,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\" "
            "shape-rendering=\"crispEdges\"/>\n",
            x, y, width, height, rgb);
}

static void svg_write(void *to, const struct label *l)
{
    static const char *const anchor[] = {"start", "middle", "end"};
    int before, raised = canvas_raised(l->text, &before);
    fprintf(to, "<text transform=\"translate(%.2f %.2f)%s\" text-anchor=\"%s\">%.*s", l->x, l->y,
            l->up ? " rotate(-90)" : "", anchor[l->anchor], before, l->text);
    if (raised)
        fprintf(to, "<tspan dy=\"%d\" font-size=\"%d\">%.*s</tspan><tspan dy=\"%d\">%s</tspan>",
                -CANVAS_RAISE, CANVAS_SMALL, raised, l->text + before + 1, CANVAS_RAISE,
                l->text + before + 1 + raised);
    fputs("</text>\n", to);
}

int canvas_svg(FILE *out, canvas_draw *draw, const void *what)
{
    struct canvas c = {out, svg_line, svg_fill, svg_write};
    errno = 0;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" "
            "font-family=\"sans-serif\" font-size=\"%d\">\n",
            CANVAS_WIDTH, CANVAS_HEIGHT, CANVAS_WIDTH, CANVAS_HEIGHT, CANVAS_FONT);
    svg_fill(out, 0, 0, CANVAS_WIDTH, CANVAS_HEIGHT, 0xffffff);
    draw(&c, what);
    fputs("</svg>\n", out);
    return ferror(out) || fflush(out) != 0 ? (errno ? errno : EIO) : 0;
}
