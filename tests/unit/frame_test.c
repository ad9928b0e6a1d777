/* frame_test: text and drawing on a canvas that only records calls: numbers of axes, names,
 * units of lengths, markers, multipoles, the fit of a mass function. Catches: a name that
 * overlaps numbers, numbers that touch, a missing factor of ten, a hyphen for a minus, a single
 * point that is not drawn, a fit through the middles of bins only. Laws of layout for any range:
 * no two texts overlap, none leaves the page, no legend hides a curve. Catches: names that do
 * not give way to long numbers, labels at the end of an axis that leave the page, a legend in a
 * corner by default. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "plot/chart.h"
#include "view/halos.h"
#include "view/spectra.h"
#include "view/unit.h"

/* ---- the canvas of this program, in place of that of cairo ---- */

enum { MAX = 2000, LETTER = 8 };
struct canvas {
    int nlabel, nline, nfill, longest;
    struct label label[MAX];
    char text[MAX][200];
    struct box fill[MAX];
    FILE *numbers;
};

double canvas_text_width(struct canvas *c, const char *text, double size)
{
    double n = 0;
    for (; *text; text++) n += (*text & 0xc0) != 0x80 && *text != '^';
    return n * LETTER * (size > 0 ? size / CANVAS_FONT : 1);
}

void canvas_write(struct canvas *c, const struct label *label)
{
    if (!*label->text || c->nlabel == MAX) return;
    snprintf(c->text[c->nlabel], sizeof c->text[0], "%s", label->text);
    c->label[c->nlabel] = *label;
    c->label[c->nlabel].text = c->text[c->nlabel];
    c->nlabel++;
}

void canvas_line(struct canvas *c, int n, const double (*xy)[2], struct pen pen)
{
    c->nline++;
    if (n > c->longest) c->longest = n;
}

void canvas_line_seamed(struct canvas *c, int n, const double (*xy)[2])
{
    c->nline++;
}

void canvas_write_seamed(struct canvas *c, const struct label *label)
{
    canvas_write(c, label);
}

FILE *canvas_numbers(const struct canvas *c)
{
    return c->numbers;
}

void canvas_fill(struct canvas *c, struct box box, unsigned rgb)
{
    if (c->nfill < MAX) c->fill[c->nfill++] = box;
}

void canvas_pixels(struct canvas *c, struct box box, int columns, int rows,
                   const unsigned char *rgb)
{
}

void canvas_clip(struct canvas *c, const struct box *box)
{
}

static struct canvas notes;

static const struct label *find(const char *part)
{
    for (int i = 0; i < notes.nlabel; i++)
        if (strstr(notes.text[i], part)) return &notes.label[i];
    return NULL;
}

static int marks(void)
{
    int n = 0;
    for (int i = 0; i < notes.nfill; i++) n += notes.fill[i].width == 6;
    return n;
}

/* ---- axes ---- */

static bool is_number(const struct label *l)
{
    return strspn(l->text, "+-\u2212.0123456789e^\u00b7") == strlen(l->text);
}

/* Whether two labels overlap, neither of which is rotated. */
static bool overlap(const struct label *a, const struct label *b)
{
    double wa = canvas_text_width(&notes, a->text, a->size),
           wb = canvas_text_width(&notes, b->text, b->size);
    double xa = a->x - (a->anchor == ANCHOR_MIDDLE ? wa / 2
                        : a->anchor == ANCHOR_END  ? wa
                                                   : 0),
           xb = b->x - (b->anchor == ANCHOR_MIDDLE ? wb / 2
                        : b->anchor == ANCHOR_END  ? wb
                                                   : 0);
    return xa < xb + wb && xb < xa + wa && fabs(a->y - b->y) < CANVAS_FONT;
}

/* Draws axes from lo to hi, and a colour bar; no label overlaps another one, and no number is long.
 * Returns the label with the name of axis y. */
static const struct label *axes(double lo, double hi, bool log, double width)
{
    struct frame f = {.x = {.lo = lo, .hi = hi, .log = log, .name = "length [box]"},
                      .y = {.lo = lo, .hi = hi, .log = log, .name = "pressure [erg]"},
                      .in = {FRAME_LEFT, 50, width, 400},
                      .title = "a title that is rather long, output 2, t = 12345 code units"};
    struct axis bar = {.lo = lo, .hi = hi, .log = log, .name = "colours [K]"};
    notes = (struct canvas){.nlabel = 0};
    frame_draw(&f, &notes);
    frame_bar(&f, &notes, 0, &bar);
    for (int i = 0; i < notes.nlabel; i++) {
        const struct label *a = &notes.label[i];
        bool number = is_number(a);
        CHECK(!strchr(a->text, '-'), "%g to %g: hyphen in '%s'", lo, hi, a->text);
        CHECK(!number || !strchr(a->text, 'e'), "%g to %g: '%s'", lo, hi, a->text);
        for (int k = 0; k < i && !a->up; k++)
            CHECK(notes.label[k].up || !overlap(a, &notes.label[k]), "%g to %g, %g: '%s' on '%s'",
                  lo, hi, width, a->text, notes.text[k]);
        if (number && a->anchor == ANCHOR_END) { /* number of axis y */
            double left = a->x - canvas_text_width(&notes, a->text, 0);
            CHECK(find("pressure")->x <= left - 4, "%g to %g: name on '%s'", lo, hi, a->text);
        }
        if (number && a->anchor == ANCHOR_START) { /* number of the colour bar */
            double right = a->x + canvas_text_width(&notes, a->text, 0);
            CHECK(find("colours")->x - CANVAS_FONT >= right - 1, "%g to %g: name on '%s'", lo, hi,
                  a->text);
        }
    }
    const struct label *name = find("pressure");
    CHECK(name && name->x - CANVAS_FONT >= 0, "%g to %g: the name is cut off", lo, hi);
    return name;
}

/* Whether all numbers are distinct. */
static bool all_differ(void)
{
    for (int i = 0; i < notes.nlabel; i++)
        for (int k = 0; k < i; k++) {
            const struct label *a = &notes.label[i], *b = &notes.label[k];
            if (is_number(a) && is_number(b) && a->anchor == b->anchor &&
                strcmp(a->text, b->text) == 0)
                return false;
        }
    return true;
}

static void test_axes(void)
{
    const struct label *n = axes(-1.5e6, -5e5, false, 400);
    CHECK(strcmp(n->text, "pressure [10^6 erg]") == 0, "%s", n->text);
    CHECK(find("\u22121.4") && find("\u22120.6"));
    n = axes(-1e-16, 3e-16, false, 400);
    CHECK(strcmp(n->text, "pressure [10^\u221216 erg]") == 0, "%s", n->text);
    CHECK(strcmp(axes(-200, 5000, false, 400)->text, "pressure [erg]") == 0);
    CHECK(strcmp(axes(log10(1.2e-5), log10(1.8e-5), true, 400)->text,
                 "pressure [10^\u22125 erg]") == 0);
    axes(-28, -26.5, true, 400);
    CHECK(find("10^\u221227"));
    axes(-3, 15, true, 300);
    axes(0.50001, 0.50002, false, 220);
    CHECK(all_differ());
    axes(10000, 90000, false, 150);
    CHECK(find("a title")->size < 15 && find("a title")->size > 3);
    axes(0, 1, false, 600);
    CHECK(find("a title")->size == 15, "%g", find("a title")->size);
}

/* ---- laws of layout ---- */

/* The box that a text covers: letters rise 0.75 of their size above the baseline, and 0.22
 * below. */
static struct box covered(const struct label *l)
{
    const double size = l->size > 0 ? l->size : CANVAS_FONT,
                 width = canvas_text_width(&notes, l->text, size),
                 back = l->anchor == ANCHOR_MIDDLE ? width / 2
                        : l->anchor == ANCHOR_END  ? width
                                                   : 0,
                 up = 0.75 * size, down = 0.22 * size;
    if (l->up) return (struct box){l->x - up, l->y - width + back, up + down, width};
    return (struct box){l->x - back, l->y - up, width, up + down};
}

static bool share_a_point(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

/* No two texts of axes with a bar of colours overlap, and none is outside of the page. */
static void check_page(const struct axis *a, double width, double height)
{
    enum { EDGE = 1 };
    struct frame f = {.x = *a, .y = *a, .in = {FRAME_LEFT, 44, width, height}, .title = "a title"};
    const struct box page = {0, 0, FRAME_LEFT + width + FRAME_RIGHT + FRAME_BAR,
                             44 + height + FRAME_BOTTOM};
    notes = (struct canvas){.nlabel = 0};
    frame_draw(&f, &notes);
    frame_bar(&f, &notes, 0, a);
    CHECK(notes.nlabel >= 4, "%g to %g has %d texts", a->lo, a->hi, notes.nlabel);
    for (int i = 0; i < notes.nlabel; i++) {
        const struct box b = covered(&notes.label[i]);
        CHECK(b.x >= -EDGE && b.y >= -EDGE && b.x + b.width <= page.width + EDGE &&
                  b.y + b.height <= page.height + EDGE,
              "%g to %g, %g x %g: '%s' is outside of the page: %g %g, %g x %g", a->lo, a->hi, width,
              height, notes.text[i], b.x, b.y, b.width, b.height);
        const double end = f.in.x + width + FRAME_RIGHT;
        CHECK(notes.label[i].y < f.in.y + height + 15 || notes.label[i].up ||
                  b.x + b.width <= end + EDGE,
              "%g to %g, %g: '%s' is beyond the margin of its axis", a->lo, a->hi, width,
              notes.text[i]);
        for (int k = 0; k < i; k++) {
            const struct box o = covered(&notes.label[k]);
            CHECK(!share_a_point(&b, &o), "%g to %g, %g x %g: '%s' on '%s'", a->lo, a->hi, width,
                  height, notes.text[i], notes.text[k]);
        }
    }
}

static double draw_number(unsigned long *seed)
{
    *seed = *seed * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void test_layout(void)
{
    static const double RANGE[][2] = {{0, 1e-300},     {-1e-300, 1e-300}, {-1e6, 1e6},
                                      {0, 0},          {-1.5e6, -5e5},    {1e300, 2e300},
                                      {0, 5},          {1e6, 1e6 + 1},    {-1e-12, 1},
                                      {99999, 100001}, {-3, 1e15}};
    enum { RANDOM = 300 };
    unsigned long seed = 7;
    const char *name = "a rather long name of what there is [erg/cm^3]";
    for (size_t i = 0; i < sizeof RANGE / sizeof *RANGE; i++)
        for (int k = 0; k < 3; k++)
            check_page(&(struct axis){.lo = RANGE[i][0], .hi = RANGE[i][1], .name = name},
                       150 + 125 * k, 400 - 100 * k);
    for (int i = 0; i < RANDOM; i++) {
        const double width = 140 + 600 * draw_number(&seed),
                     height = 140 + 600 * draw_number(&seed);
        struct axis a = {.name = name};
        const int kind = i % 3;
        const double size = pow(10, 600 * draw_number(&seed) - 300);
        a.lo = (2 * draw_number(&seed) - 1) * (kind == 1 ? 300 : size);
        a.hi = a.lo + draw_number(&seed) * (kind == 1 ? 30 : size);
        a.log = kind == 1;
        if (kind == 2) {
            a.threshold = size;
            a.lo = -1 - 12 * draw_number(&seed), a.hi = 1 + 12 * draw_number(&seed);
        }
        check_page(&a, width, height);
    }
}

/* A legend has a place without curves: there is one, or axis y makes it. Points of a curve that
 * fills the frame would be under any legend. */
static void test_legend(void)
{
    enum { N = 400 };
    static double x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = i, y[i] = sin(0.7 * i);
    const struct curve q = {.label = "a curve", .n = N, .x = x, .y = y};
    const struct chart h = {.in = {96, 20, 400, 300}, .n = 1, .curve = &q};
    notes = (struct canvas){.nlabel = 0};
    chart_draw(&notes, &h);
    const struct label *l = find("a curve");
    const double range = 2.2, grown = range * 300 / (300 - 18 - 24); /* one row and its margins */
    const double top = 20 + 300 * (1 - range / grown);
    CHECK(l && l->y < top, "the legend is at %g, curves reach %g", l ? l->y : 0, top);
}

/* A symmetric axis is odd, continuous at its threshold, and has labels of both signs. */
static void test_symmetric(void)
{
    struct axis a = {.threshold = 10, .name = "v [km/s]"};
    const double x[] = {0, 1, 9.999999, 10, 10.000001, 1e3};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        CHECK(axis_shape(&a, -x[i]) == -axis_shape(&a, x[i]), "%g", x[i]);
    CHECK(axis_shape(&a, 10) == 1 && fabs(axis_shape(&a, 1000) - 3) < 1e-12);
    CHECK(fabs(axis_shape(&a, 10.000001) - 1) < 1e-6);
    a.lo = -3, a.hi = 3;
    check_page(&a, 400, 400);
    CHECK(find("\u221210^3") && find("10^2") && find("0"));
}

/* ---- units ---- */

static void test_lengths(void)
{
    const struct row {
        double unit, size;
        const char *name;
    } ROWS[] = {{3.0857e24 * 10, 1, "Mpc"},
                {3.0857e24, 1, "kpc"},
                {3.0857e24, 1e-5, "pc"},
                {3.0857e21 * 2, 1, "kpc"},
                {3e18, 1, "pc"},
                {3e18, 1e-3, "AU"},
                {1e8, 1, "km"},
                {10, 1, "cm"},
                {1, 1, "code units"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct ckpt_head h = {.boxlen = 2, .unit_l = ROWS[i].unit / 2, .unit_t = 1};
        if (ROWS[i].unit == 1) h.unit_l = 1;
        struct unit u = unit_length(&h, ROWS[i].size, true);
        CHECK(strcmp(u.name, ROWS[i].name) == 0, "%g cm: %s", ROWS[i].unit * ROWS[i].size, u.name);
        u = unit_length(&h, ROWS[i].size, false);
        CHECK(strcmp(u.name, "box") == 0 && u.worth == 1);
    }
    struct ckpt_head h = {.boxlen = 2, .unit_l = 3.0856776e21, .cosmo = true};
    struct unit u = unit_length(&h, 1, true);
    char text[64];
    CHECK(fabs(u.worth - 2) < 1e-12, "%g", u.worth);
    unit_axis(&h, "x", u, text, sizeof text);
    CHECK(strcmp(text, "x [kpc, proper]") == 0, "%s", text);
    unit_axis(&h, "x", unit_length(&h, 1, false), text, sizeof text);
    CHECK(strcmp(text, "x [box]") == 0, "%s", text);
    h.cosmo = false;
    unit_axis(&h, "x", u, text, sizeof text);
    CHECK(strcmp(text, "x [kpc]") == 0, "%s", text);
}

static void test_title(void)
{
    static struct source r;
    const struct {
        double t, unit;
        const char *end;
    } ROWS[] = {{2, 3.15576e16, "output 7, t = 2 Gyr"},
                {2, 3.15576e13, "output 7, t = 2 Myr"},
                {2, 3.15576e7, "output 7, t = 2 yr"},
                {2, 10, "output 7, t = 20 s"},
                {2, 1, "output 7, t = 2 code units"}};
    char text[160];
    r.number = 7;
    snprintf(r.path, sizeof r.path, "/usr/bin"); /* a directory that exists on all systems */
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        r.head = (struct ckpt_head){.t = ROWS[i].t, .unit_t = ROWS[i].unit, .aexp = 1};
        unit_title(&r, true, text, sizeof text);
        const char *end = strstr(text, "output");
        CHECK(end && end > text && strcmp(end, ROWS[i].end) == 0, "%s", text);
    }
}

/* ---- curves ---- */

static void test_single(void)
{
    const double x[3] = {1, 2, 3}, y[3] = {1, NAN, 3};
    for (int n = 1; n <= 3; n++) {
        const struct curve q = {.n = n, .x = x, .y = y};
        const struct chart h = {.y = {.log = true}, .in = {96, 20, 400, 300}, .n = 1, .curve = &q};
        notes = (struct canvas){.nlabel = 0};
        chart_draw(&notes, &h);
        CHECK(marks() == (n == 3 ? 2 : 1), "%d points: %d", n, marks());
    }
}

static void test_multipoles(void)
{
    enum { BINS = 4 };
    struct pk_bin bin[BINS];
    static const char name[1][40] = {"all"};
    for (int b = 0; b < BINS; b++)
        bin[b] = (struct pk_bin){.k = b + 1, .p = {3, b < 2 ? 2 : -2, 1}, .shot = 0.1, .modes = 10};
    struct pk_table t = {.from = {.t = 1, .length = 1},
                         .axis = 2,
                         .npair = 1,
                         .nbin = BINS,
                         .name = name,
                         .bin = bin};
    struct spectra p = {.n = 0};
    for (int axis = 2; axis >= -1; axis -= 3) {
        t.axis = axis;
        notes = (struct canvas){.nlabel = 0};
        spectra_add(&p, &t);
        spectra_draw(&notes, &p);
        CHECK(!find("P2") == (axis < 0) && !find("P4") == (axis < 0) && !find("P0") == (axis < 0));
        CHECK(marks() == (axis < 0 ? 0 : 2 + 1), "%d", marks()); /* negative values, legend */
        CHECK(find("shot noise"));
        spectra_free(&p);
    }
}

static void test_fit(void)
{
    struct mass_bin bin[2] = {{1e12, 1e13, 4, 1e-3, 5e-4, 2e-3, NAN},
                              {1e13, 1e14, 1, 2e-4, 1e-4, 4e-4, NAN}};
    struct mass_function f = {.n = 2, .complete = 2e12, .bin = bin, .title = "a run"};
    for (int k = 0; k < MASS_CURVE; k++) f.curve[k] = 1e-3 / (k + 1);
    CHECK(fabs(mass_of_curve(&f, MASS_CURVE / 2) / 1e13 - 1) < 1e-12);
    notes = (struct canvas){.nlabel = 0};
    halos_plot(&notes, &f);
    CHECK(notes.longest == MASS_CURVE, "%d", notes.longest);
    CHECK(find("Tinker") && find("50 particles") && find("halos") && find("a run"));
    for (int i = 0; i < notes.nlabel; i++) {
        const struct label *a = &notes.label[i];
        double half = canvas_text_width(&notes, a->text, 0) / 2;
        CHECK(a->anchor != ANCHOR_MIDDLE || a->up || a->x + half <= CANVAS_WIDTH, "cut: %s",
              a->text);
    }
    memset(f.curve, 0, sizeof f.curve);
    notes = (struct canvas){.nlabel = 0};
    halos_plot(&notes, &f);
    CHECK(!find("Tinker"));
}

int main(void)
{
    test_axes();
    test_layout();
    test_legend();
    test_symmetric();
    test_lengths();
    test_title();
    test_single();
    test_multipoles();
    test_fit();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
