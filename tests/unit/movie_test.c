/* movie: maps of random gas. The same bits whether octs come in cubes of 4³, which are added four
 * at a time, or in other batches, one oct at a time, and in whatever order; also if some octs have
 * children, cells are selected, or only part of the depth or of the columns is in the frame. A map
 * of sums beside sums in another order. Catches: octs of a cube that are taken for one another, a
 * column or a depth that is added though it is out of the frame, bits of magic numbers that stay in
 * a sum.
 *
 * test: tier=quick mpi=1 */
#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "comm/comm.h"
#include "movie/paint.h"

enum { LEVEL = 5, SIDE = 1 << (LEVEL - 1), OCTS = SIDE * SIDE * SIDE, NVAR = 5, PIXELS = 32 };

/* [8 NVAR][OCTS] values of cells of all octs in the order of keys. */
static double (*value)[OCTS];
static okey key[OCTS];
static unsigned char split[OCTS];

static double draw(int i, int v, int c)
{
    return ((double)((unsigned)(((i * 8 + c) * 5 + v) * 2654435761u) >> 8) + 1) / (1 << 24);
}

/* Densities over twelve powers of ten: terms that need all digits. */
static void make_gas(void)
{
    value = mem_new(sizeof *value * 8 * NVAR, "test");
    for (int i = 0; i < OCTS; i++) {
        key[i] = (okey)i;
        split[i] = i % 97 == 5 && i > OCTS / 2 ? (unsigned char)(i % 255 + 1) : 0;
        for (int c = 0; c < 8; c++) {
            const double rho = pow(10, 12 * draw(i, 0, c) - 6);
            value[c][i] = rho;
            for (int d = 1; d < 4; d++) value[8 * d + c][i] = rho * (draw(i, d, c) - 0.5);
            value[8 * 4 + c][i] = rho * (1 + draw(i, 4, c));
        }
    }
}

static struct movie_camera camera(int axis, enum movie_method method, double centre, double width)
{
    struct movie_camera k = {.axis = axis,
                             .method = method,
                             .smooth = 1,
                             .shader = SHADER_SQUARE,
                             .ivar = -1,
                             .varmin = -1e60,
                             .varmax = 1e60};
    for (int d = 0; d < 3; d++) k.centre[d][0] = centre, k.width[d][0] = width;
    return k;
}

static struct movie the_movie(void)
{
    struct movie m = {.ncamera = 5,
                      .nvariable = 3,
                      .nw = PIXELS,
                      .nh = PIXELS,
                      .levelmax = LEVEL + 1,
                      .zoom_ivar = -1};
    m.camera[0] = camera(2, METHOD_SUM, 0.5, 1);
    m.camera[1] = camera(1, MEAN_MASS, 0.5, 1);
    m.camera[2] = camera(0, MEAN_VOLUME, 0.5, 0.75);
    m.camera[3] = camera(1, MEAN_DENSITY, 0.4, 0.43);
    m.camera[4] = camera(0, MEAN_MASS, 0.5, 1);
    m.camera[4].ivar = 0, m.camera[4].varmin = 1e-3;
    m.variable[0] = (struct movie_variable){"dens", MOVIE_DENSITY, 0};
    m.variable[1] = (struct movie_variable){"temp", MOVIE_TEMPERATURE, 0};
    m.variable[2] = (struct movie_variable){"vx", MOVIE_VX, 0};
    return m;
}

static const struct ckpt_head HEAD = {.ndim = 3,
                                      .levelmin = LEVEL,
                                      .levelmax = LEVEL + 1,
                                      .hydro = true,
                                      .nvar = NVAR,
                                      .gamma = 1.4,
                                      .smallr = 1e-10,
                                      .boxlen = 1,
                                      .aexp = 1,
                                      .unit_l = 1,
                                      .unit_d = 1,
                                      .unit_t = 1};

/* A frame of octs in batches of n, of which the first is shorter by `less`. */
static struct paint *frame(const struct comm *c, const struct movie *m, int n, int less)
{
    struct paint *p;
    const struct paint_par par = {.comm = c, .movie = m, .head = &HEAD, .finest = LEVEL};
    const struct source s = {.head = HEAD, .nvalue = NVAR};
    CHECK(paint_begin(&par, &p) == OK);
    for (int at = 0, many = n - less; at < OCTS; at += many, many = n) {
        const double *val[8 * NVAR];
        if (many > OCTS - at) many = OCTS - at;
        for (int v = 0; v < 8 * NVAR; v++) val[v] = value[v] + at;
        const struct source_octs o = {.source = &s,
                                      .level = LEVEL,
                                      .n = many,
                                      .key = key + at,
                                      .split = split + at,
                                      .val = val};
        CHECK(paint_source_octs(&o, p) == OK);
    }
    paint_finish(p);
    return p;
}

static bool same(const struct paint *a, const struct paint *b, int camera, int v)
{
    const size_t bytes = sizeof(float) * PIXELS * PIXELS;
    return memcmp(paint_map(a, camera, v), paint_map(b, camera, v), bytes) == 0;
}

/* Sums of densities of camera 0, whose pixels are cells. */
static double worst_sum(const struct paint *p)
{
    static double sum[PIXELS][PIXELS];
    double worst = 0;
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < OCTS; i++) {
        int64_t x[3];
        okey_coords(key[i], x);
        for (int c = 0; c < 8; c++)
            if (!(split[i] >> c & 1))
                sum[2 * x[1] + (c >> 1 & 1)][2 * x[0] + (c & 1)] += value[c][i];
    }
    for (int k = 0; k < PIXELS * PIXELS; k++)
        worst = fmax(worst, fabs(paint_map(p, 0, 0)[k] / sum[k / PIXELS][k % PIXELS] - 1));
    return worst;
}

int main(int argc, char **argv)
{
    static const int BATCH[][2] = {{OCTS, 0}, {64, 1}, {63, 0}, {7, 3}, {OCTS, OCTS / 2 + 17}};
    struct comm all;
    comm_init(&argc, &argv, &all);
    const struct movie m = the_movie();
    make_gas();
    struct paint *whole = frame(&all, &m, 64, 0);
    CHECK(worst_sum(whole) < 1e-7, "%g", worst_sum(whole));
    for (int i = 0; i < (int)(sizeof BATCH / sizeof *BATCH); i++) {
        struct paint *p = frame(&all, &m, BATCH[i][0], BATCH[i][1]);
        for (int k = 0; k < m.ncamera; k++)
            for (int v = 0; v < m.nvariable; v++)
                CHECK(same(whole, p, k, v), "batch %d, camera %d, variable %d", i, k, v);
        paint_free(&p);
    }
    paint_free(&whole);
    FREE(value);
    comm_fini();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
