/* ics_test: cosmic expansion, the reader of text, initial conditions. Laws and analytic solutions,
 * files that are written and read back, and files damaged in one place each, which must be refused
 * with a message that names the place. Catches, among others: a wrong power of a in a unit, an
 * offset of half a cell, planes of the wrong level, values that depend on the rank that read
 * them. */
#include "base/mem.h"
#include "ics_world.h"
#include "io/ascii_part.h"

static const bool PERIODIC[6];

/* ---- expansion ---- */

static struct cosmo_par params(double omega_m, double omega_l, double aexp)
{
    return (struct cosmo_par){.omega_m = omega_m,
                              .omega_l = omega_l,
                              .omega_k = 1 - omega_l - omega_m,
                              .omega_b = 0.04,
                              .h0 = 70,
                              .aexp_ini = aexp,
                              .boxlen_ini = 100};
}

static void test_einstein_de_sitter(void)
{
    struct cosmo *c;
    struct cosmo_par p = params(1, 0, 0.01);
    CHECK(cosmo_new(&p, &c) == OK);
    for (double a = 0.01; a < 9; a *= 1.37) {
        double x, h;
        CHECK(near(cosmo_tau(c, a) + 10, 2 - 2 / sqrt(a) + 10, 5e-14));
        CHECK(near(cosmo_time(c, a) + 1, 2.0 / 3 * (a * sqrt(a) - 1) + 1, 1e-13));
        cosmo_at(c, 2 - 2 / sqrt(a), &x, &h);
        CHECK(near(x, a, 1e-13) && near(h, sqrt(a), 1e-13));
        CHECK(near(cosmo_growth(&p, a), a, 1e-13) && near(cosmo_growth_rate(&p, a), 1, 1e-12));
        CHECK(near(cosmo_vfact(&p, a), sqrt(a), 1e-12));
    }
    cosmo_free(c);
}

static void test_lambda(void)
{
    struct cosmo *c;
    struct cosmo_par p = params(0.3, 0.7, 0.02);
    CHECK(cosmo_new(&p, &c) == OK);
    double now = 2 / (3 * sqrt(0.7)) * asinh(sqrt(0.7 / 0.3));
    for (double a = 0.02; a < 5; a *= 1.29) {
        double x, h, age = 2 / (3 * sqrt(0.7)) * asinh(sqrt(0.7 / 0.3 * a * a * a));
        CHECK(near(cosmo_time(c, a) + now + 1, age + 1, 1e-13));
        cosmo_at(c, cosmo_tau(c, a), &x, &h);
        CHECK(near(x, a, 2e-14) && near(h, cosmo_dadtau(&p, a) / a, 1e-13));
        double d = 1e-4,
               rate = log(cosmo_growth(&p, a * exp(d)) / cosmo_growth(&p, a * exp(-d))) / (2 * d);
        CHECK(near(rate, cosmo_growth_rate(&p, a), 1e-7));
    }
    CHECK(near(cosmo_growth(&p, 1), 0.7779, 2e-3)); /* Carroll, Press & Turner 1992, eq. 29 */
    cosmo_free(c);
}

/* Dark energy that is no constant: w = −1 as the limit of the general equations, and Simpson sums
 * that share no code. Times and distances agree to 1e-10; the growing mode obeys its equation. */
static double clock_by_hand(const struct cosmo_par *p, double a, int power)
{
    enum { N = 200000 };
    double sum = 0, h = -log(a) / N;
    for (int i = 0; i <= N; i++) {
        double b = a * exp(i * h),
               x = p->dark.early > 0 ? pow(b / p->dark.a_early, 3 * (1 + p->dark.w_early)) : 0;
        double e = p->dark.a_early, rho = p->omega_l * pow(b, -3 * (p->dark.w1 + p->dark.wa)) *
                                          exp(-3 * p->dark.wa * (1 - b));
        if (e > 0) rho += p->dark.early * (p->omega_m / (e * e * e) + p->omega_l) * 2 / (1 + x);
        double rate = sqrt(p->omega_m / (b * b * b) + rho + p->omega_k / (b * b));
        sum += (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * pow(b, power) / rate;
    }
    return sum * h / 3;
}

static void test_dark_growth(const struct cosmo_par *p, double a)
{
    double d = 1e-3, g[3], e[3];
    for (int k = 0; k < 3; k++) {
        double b = a * exp((k - 1) * d);
        g[k] = cosmo_growth(p, b), e[k] = cosmo_dadtau(p, b) / (b * b * b);
    }
    double first = (g[2] - g[0]) / (2 * d), second = (g[2] - 2 * g[1] + g[0]) / (d * d),
           slope = log(e[2] / e[0]) / (2 * d),
           source = 1.5 * p->omega_m / (a * a * a * e[1] * e[1]) * g[1];
    CHECK(fabs(second + (2 + slope) * first - source) < 2e-5 * source);
    CHECK(near(first / g[1], cosmo_growth_rate(p, a), 1e-5));
    /* d²a/dτ² is d(da/dτ)²/da / 2 */
    double s[2];
    for (int k = 0; k < 2; k++) s[k] = cosmo_dadtau(p, a * (1 + (2 * k - 1) * 1e-5));
    double half = (s[1] * s[1] - s[0] * s[0]) / (4e-5 * a);
    CHECK(near(half, cosmo_d2adtau2(p, a), 1e-7));
}

static void test_dark(void)
{
    const struct cosmo_dark dark[] = {{.w1 = 0.1, .wa = 0.1},
                                      {.w1 = -0.2},
                                      {.w1 = 0.2, .wa = -0.7},
                                      {.w1 = 1e-13},
                                      {.early = 0.05, .a_early = 1. / 51, .w_early = 0.333},
                                      {.w1 = 0.1, .early = 0.02, .a_early = 0.1, .w_early = 1}};
    for (int k = 0; k < 6; k++) {
        struct cosmo *c;
        struct cosmo_par p = params(0.3, 0.7, 0.01);
        p.dark = dark[k];
        CHECK(cosmo_new(&p, &c) == OK);
        for (double a = 0.012; a < 1; a *= 2.3) {
            CHECK(near(-cosmo_tau(c, a), clock_by_hand(&p, a, -2), 1e-10));
            CHECK(near(-cosmo_time(c, a), clock_by_hand(&p, a, 0), 1e-10));
            CHECK(near(cosmo_distance(&p, a), clock_by_hand(&p, a, -1), 1e-10));
            test_dark_growth(&p, a);
        }
        cosmo_free(c);
    }
    struct cosmo_par lambda = params(0.3, 0.7, 0.01), p = lambda;
    p.dark.w1 = 1e-14;
    for (double a = 0.01; a < 3; a *= 1.9) {
        CHECK(near(cosmo_growth(&p, a), cosmo_growth(&lambda, a), 1e-10));
        CHECK(near(cosmo_growth_rate(&p, a), cosmo_growth_rate(&lambda, a), 1e-10));
    }
    /* published: early dark energy of 5 % at z = 3000 has at most 0.05391 of all density, and the
     * age is 0.96405/H0 */
    struct cosmo *c;
    lambda.aexp_ini = 1e-6;
    lambda.dark = (struct cosmo_dark){.early = 0.05, .a_early = 1. / 3001, .w_early = 1. / 3};
    double most = 0;
    for (double a = 1e-5; a < 1e-2; a *= 1.01) {
        double e = cosmo_dadtau(&lambda, a) / (a * a * a);
        most = fmax(most, (cosmo_dark_density(&lambda, a) - 0.7) / (e * e));
    }
    CHECK(near(most, 0.05391, 1e-3));
    CHECK(cosmo_new(&lambda, &c) == OK);
    CHECK(near(-cosmo_time(c, 1e-6), 0.96405, 1e-5));
    cosmo_free(c);
    p.dark = (struct cosmo_dark){.w1 = 1.2};
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "matter dominates"));
    p.dark = (struct cosmo_dark){.early = 0.7, .a_early = 0.01, .w_early = 0.3};
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "omega_ede"));
}

/* Open, without Λ: a = Ω (cosh η − 1) / 2(1−Ω), H0 t = Ω (sinh η − η) / 2(1−Ω)^3/2. */
static void test_open(void)
{
    struct cosmo *c;
    double omega = 0.3, curve = 1 - omega, scale = 0.5 * omega / (curve * sqrt(curve));
    double eta = acosh(1 + 2 * curve / omega), now = scale * (sinh(eta) - eta);
    struct cosmo_par p = params(omega, 0, 0.02);
    CHECK(cosmo_new(&p, &c) == OK);
    for (double a = 0.03; a < 3; a *= 1.31) {
        double e = acosh(1 + 2 * curve / omega * a), d = 1e-5;
        CHECK(near(cosmo_time(c, a) + now, scale * (sinh(e) - e), 1e-12));
        double speed = (cosmo_tau(c, a * (1 + d)) - cosmo_tau(c, a * (1 - d))) / (2 * d * a);
        CHECK(near(speed * cosmo_dadtau(&p, a), 1, 1e-8));
    }
    cosmo_free(c);
}

/* Times and expansion factors printed by RAMSES, for Ω of its float32 headers. */
static void test_ramses_times(void)
{
    static const double pair[][2] = {{-0.309145361009211E+01, 0.251219881643174E+00},
                                     {-0.707439726544643E+01, 0.103252684427706E+00},
                                     {-0.390795083871131E+01, 0.201860678787247E+00},
                                     {-0.249504194663390E+01, 0.300240740858542E+00},
                                     {-0.706550762272646E+01, 0.103417308669912E+00}};
    struct cosmo_par p = params((double)0.3111f, (double)0.6889f, (double)0.02f);
    double worst[2] = {0, 0};
    for (int chords = 0; chords < 2; chords++) {
        struct cosmo *c;
        p.ramses = chords;
        CHECK(cosmo_new(&p, &c) == OK);
        for (int i = 0; i < 5; i++) {
            double a, h;
            cosmo_at(c, pair[i][0], &a, &h);
            worst[chords] = fmax(worst[chords], fabs(a / pair[i][1] - 1));
            CHECK(near(cosmo_tau(c, a), pair[i][0], 1e-12));
        }
        cosmo_free(c);
    }
    CHECK(worst[0] < 4e-6); /* linear interpolation of RAMSES */
    CHECK(worst[1] < 1e-13);
    printf("a(tau) against RAMSES: exact %.2e, chords %.2e\n", worst[0], worst[1]);
}

static void test_units(void)
{
    struct cosmo_par p = params((double)0.3111f, (double)0.6889f, (double)0.02f);
    double l, d, t;
    p.h0 = 0.676600036621094E+02;
    p.boxlen_ini = 32 * (double)1.15467036f * (p.h0 / 100);
    cosmo_units(&p, 0.103252684427706E+00, &l, &d, &t);
    CHECK(near(l, 0.117722613363279E+26, 1e-7)); /* as in an info file of RAMSES */
    CHECK(near(d, 0.243230396745345E-26, 1e-12));
    CHECK(near(t, 0.486207029978433E+16, 1e-12));
}

static void test_absurd_cosmology(void)
{
    struct cosmo *c;
    struct cosmo_par p = params(0.3, 0.7, 0.02);
    p.omega_k = 0.1;
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "must be 1") && !c);
    p = params(-0.3, 1.3, 0.02);
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "omega_m"));
    p = params(0.3, 0.7, 0);
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "expansion factor"));
    p = params(0.3, 0.7, NAN);
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "expansion factor"));
    p = params(0.1, 3, 0.02); /* bounces at about a = 0.3 */
    CHECK(says(cosmo_new(&p, &c), ERR_PARAM, "does not pass"));
    p = params(3, -0.5, 0.02); /* recollapses soon after today */
    CHECK(cosmo_new(&p, &c) == OK && isfinite(cosmo_tau(c, 1.2)));
    cosmo_free(c);
}

/* ---- text ---- */

static void write_text(const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/ic_part", tmp);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static enum err read_share(int i, int n, double *col[7], int64_t *count)
{
    char path[256];
    struct ascii_share s;
    snprintf(path, sizeof path, "%s/ic_part", tmp);
    TRY(ascii_part_count(path, i, n, &s));
    *count = s.n;
    return ascii_part_read(path, &s, col, col + 3, col[6]);
}

static void test_text(void)
{
    double store[7][64], *col[7];
    char text[8192] = "";
    for (int i = 0; i < 7; i++) col[i] = store[i];
    for (int i = 0; i < 40; i++) {
        char line[200];
        snprintf(line, sizeof line, "%d.5 -0.25,1d-2\t %d 2E1 , .5D0 %d%s%s", i, -i, i + 1,
                 i % 7 ? "" : " 9 9",
                 i == 39 ? ""
                 : i % 5 ? "\n"
                         : "\r\n\n  \n");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", line);
    }
    write_text(text);
    for (int shares = 1; shares < 50; shares += 6) {
        int64_t n = 0, sum = 0;
        bool same = true;
        for (int s = 0; s < shares; s++) {
            CHECK(read_share(s, shares, col, &n) == OK);
            for (int64_t i = 0; i < n; i++, sum++)
                same = same && col[0][i] == (double)sum + 0.5 && col[1][i] == -0.25 &&
                       col[2][i] == 0.01 && col[3][i] == -(double)sum && col[4][i] == 20 &&
                       col[5][i] == 0.5 && col[6][i] == (double)sum + 1;
        }
        CHECK(same && sum == 40);
    }
    static const char *const wrong[][2] = {
        {"1 2 3 4 5 6 7\n\n1 2 3 4 5 6\n", "ic_part: line 3: needs 7"},
        {"1 2 3 4 5 6 7\n1 2 x 4 5 6 7\n", "line 2: 'x' is not a number"},
        {"1 2 3 4 5 6 7\n1 2 3 4z 5 6 7\n", "line 2: '4z' is not a number"},
        {"1 2 3 4 5 6 nan\n", "line 1"},
        {"1 2 3 4 5 6 -1\n", "negative mass"},
        {"1 2 3 4 5 6 7\n1 2 3 4 5 6 7 1 2 3 4 5 6 7\n", "line 2 has 1 column too many"}};
    int64_t n;
    for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++) {
        write_text(wrong[i][0]);
        CHECK(says(read_share(0, 1, col, &n), ERR_FORMAT, wrong[i][1]));
    }
    memset(text, '1', 5000), text[5000] = '\0';
    write_text(text);
    CHECK(says(read_share(0, 1, col, &n), ERR_FORMAT, "line 1: '1111"));
    write_text("");
    CHECK(read_share(0, 1, col, &n) == OK && n == 0);
}

static void test_text_particles(void)
{
    char path[256];
    struct parts p;
    part_init(&p);
    snprintf(path, sizeof path, "%s/ic_part", tmp);
    struct mesh m = {.ndim = 3, .boxlen = 2, .levelmin = 5};
    write_text("0.1 0 0 1 2 3 4\n-0.5 0.25 0 1 2 3 4\n");
    CHECK(ics_ascii_particles(path, &m, &ONE, &p) == OK && p.n == 2);
    CHECK(p.x[0][0] == 0.1 + 1 && p.x[0][1] == 0.5 && p.x[1][1] == 1.25 && p.v[2][1] == 3 &&
          p.m[0] == 4);
    CHECK(p.id[0] == 1 && p.id[1] == 2 && p.levelp[0] == 5 && p.family[1] == FAM_DM &&
          p.tag[0] == 0);
    part_fini(&p);
    for (m.ndim = 1; m.ndim < 3; m.ndim++) { /* further axes are ignored, far away or not */
        write_text(m.ndim == 1 ? "0.5 3e9 -7 1 2 3 4\n" : "0.5 0.5 -7 1 2 3 4\n");
        part_init(&p);
        CHECK(ics_ascii_particles(path, &m, &ONE, &p) == OK && p.n == 1 && p.m[0] == 4);
        for (int d = 0; d < 3; d++)
            CHECK(p.x[d][0] == (d < m.ndim ? 1.5 : 0) && p.v[d][0] == (d < m.ndim ? d + 1 : 0));
        part_fini(&p);
    }
    write_text("0 5 0 0 0 0 1\n");
    part_init(&p);
    m.ndim = 2;
    CHECK(says(ics_ascii_particles(path, &m, &ONE, &p), ERR_PARAM, "ic_part: line 1: particle at"));
    part_fini(&p);
    m.ndim = 3;
    /* up to a box away along a periodic axis; inside the box along others */
    static const struct {
        int axis;
        double x;
        bool good;
    } at[] = {{0, -1, true},     {0, -3, true},   {0, 2.999, true}, {0, -3.001, false},
              {0, 3, false},     {1, -1, true},   {1, 0.999, true}, {1, 1, false},
              {1, -1.01, false}, {2, 1.5, false}, {2, -2, false}};
    m.bounded[2] = m.bounded[3] = m.bounded[5] = true;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char text[200];
        double x[3] = {0};
        x[at[i].axis] = at[i].x;
        snprintf(text, sizeof text, "0 0 0 0 0 0 1\n\n%g %g %g 0 0 0 1\n", x[0], x[1], x[2]);
        write_text(text);
        part_init(&p);
        enum err err = ics_ascii_particles(path, &m, &ONE, &p);
        if (at[i].good) CHECK(err == OK);
        if (!at[i].good) CHECK(says(err, ERR_PARAM, "ic_part: line 3: particle at"));
        part_fini(&p);
    }
}

/* ---- mesh ---- */

/* Levels 1..levelmin, complete except `part` of `nparts` of the octs of levelmin, and, if fine, the
 * octs of levelmin+1 in the covered octs lo..hi-1 along each axis. */
static void build(struct mesh *m, int levelmin, int part, int nparts, int lo, int hi)
{
    mesh_init(m, levelmin, levelmin + 1, 7, true, false, 1, PERIODIC);
    okey *key = mem_new(sizeof *key << 3 * levelmin, "test keys");
    for (int l = 1; l <= levelmin + 1; l++) {
        okey all = (okey)1 << 3 * (l - 1);
        lidx n = 0;
        for (okey k = 0; k < all; k++) {
            int64_t x[3];
            okey_coords(k, x);
            bool in = true;
            for (int d = 0; d < 3; d++) in = in && x[d] >= lo && x[d] < hi;
            okey in_levelmin = l > levelmin ? k >> 3 : k;
            bool mine = l < levelmin ||
                        (in_levelmin * (okey)nparts) >> 3 * (levelmin - 1) == (okey)part;
            if (mine && (l <= levelmin || in)) key[n++] = k;
        }
        mesh_replace(m, l, n, key, 0, NULL, NULL);
        mesh_link(m, l);
    }
    mem_free(key);
}

/* ---- regions ---- */

static void test_regions(void)
{
    struct mesh m;
    build(&m, 4, 0, 1, 0, 0);
    struct ics_gas g = {.nvar = 7, .gamma = 1.5, .smallr = 1e-3, .smallc = 2};
    struct ics_region r[3] = {{.shape = ICS_SQUARE,
                               .center = {.5, .5, .5},
                               .length = {.5, .5, .25},
                               .exponent = 10,
                               .d = 2,
                               .v = {1, 2, 3},
                               .p = 4,
                               .var = {5, 6}},
                              {.shape = ICS_SQUARE,
                               .center = {0, 0, 0},
                               .length = {.5, .5, .5},
                               .exponent = 2,
                               .d = 3,
                               .p = 1},
                              {.shape = ICS_POINT,
                               .center = {.78125, .78125, .8},
                               .length = {1, 1, 1},
                               .exponent = 10,
                               .d = 1,
                               .v = {4, 0, 0},
                               .p = 2,
                               .var = {7, 8}}};
    ics_regions(&m, 4, r, 2, &g);
    double(**u)[8] = m.lev[4].fld + FLD_U;
    double mass = 0, energy = 0;
    for (lidx i = 0; i < m.lev[4].nown; i++)
        for (int c = 0; c < 8; c++) mass += u[0][i][c] / 4096;
    /* 8 x 8 x 4 cells of density 2; cells with centres within 0.25 of the corner, 34 by count, of
     * density 3 */
    int corner = 0;
    for (int z = 0; z < 16; z++)
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++)
                corner += (2 * x + 1) * (2 * x + 1) + (2 * y + 1) * (2 * y + 1) +
                              (2 * z + 1) * (2 * z + 1) <
                          64;
    CHECK(near(mass, (256 * 2 + corner * 3 + (4096 - 256 - corner) * 1e-3) / 4096, 1e-12));
    lidx at = mesh_find(&m.lev[4], okey_make(4, 4, 4));
    CHECK(u[1][at][0] == 2 && u[3][at][0] == 6 && u[4][at][0] == 0.5 * 2 * 14 + 4 / 0.5 &&
          u[6][at][0] == 12);
    at = mesh_find(&m.lev[4], okey_make(7, 0, 0));
    CHECK(u[0][at][0] == 1e-3 && near(u[4][at][0], 1e-3 * 4 / 1.5 / 0.5, 1e-14) &&
          u[5][at][0] == 0);
    ics_regions(&m, 4, r + 2, 1,
                &(struct ics_gas){.nvar = 7, .gamma = 1.5, .smallr = 1e-30, .smallc = 1e-10});
    mass = 0;
    for (lidx i = 0; i < m.lev[4].nown; i++)
        for (int c = 0; c < 8; c++) {
            double rho = u[0][i][c], v = u[1][i][c] / rho;
            mass += rho / 4096;
            energy += (u[4][i][c] - 0.5 * rho * v * v) * 0.5 / 4096;
            CHECK(near(u[6][i][c], 8 * rho, 1e-14));
        }
    CHECK(near(mass, 1, 1e-12) && near(energy, 2, 1e-12)); /* weights add up to 1 */
    mesh_fini(&m);
}

/* ---- GRAFIC2 initial conditions ---- */

static const struct ics_gas GAS = {
    .nvar = 7, .gamma = 5.0 / 3, .smallr = 1e-10, .smallc = 1e-10, .initial[GAS_SCALARS] = 0.01};

/* Largest difference between the gas of level l and its files; also checks the refinement map. */
static double gas_error(const struct ics_grafic *g, const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    double(*const *u)[8] = lv->fld + FLD_U, worst = 0, a0 = (double)0.02f, a = g->par.aexp_ini, ul,
                  ud, ut;
    double growth = cosmo_growth(&g->par, a) / cosmo_growth(&g->par, a0);
    double faster = growth * cosmo_vfact(&g->par, a) / cosmo_vfact(&g->par, a0);
    cosmo_units(&g->par, a0, &ul, &ud, &ut);
    double kms0 = 1e5 / (ul / ut);
    cosmo_units(&g->par, a, &ul, &ud, &ut);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            int64_t k[3];
            okey_coords(lv->key[i], k);
            for (int d = 0; d < 3; d++) k[d] = 2 * k[d] + (c >> d & 1) - (l == 4 ? 4 : 0);
            double rho = fmax(1 + growth * (double)delta(k[0], k[1], k[2], l), 0.1) * 0.06 /
                         (double)0.3f,
                   e = 0;
            worst = fmax(worst, fabs(u[0][i][c] / rho - 1));
            for (int d = 0; d < 3; d++) {
                double v = faster * (double)speed(k[0], k[1], k[2], 20 * d) * kms0;
                worst = fmax(worst, fabs(u[1 + d][i][c] / rho - v));
                e += 0.5 * rho * v * v;
            }
            double p = rho * 1.356e-2 / (a * a) * 1.3806490e-16 / 1.6605390e-24 / (ul / ut) /
                       (ul / ut);
            worst = fmax(worst, fabs(u[4][i][c] / (e + p * 1.5) - 1));
            worst = fmax(worst, fabs(u[5][i][c] / rho - 0.01));
            worst = fmax(worst, fabs(u[6][i][c] / rho - (double)delta(k[0], k[1], k[2], 9)));
        }
    return worst;
}

static void test_grafic_gas(void)
{
    struct mesh m;
    struct ics_grafic g = {0};
    fresh("bs");
    build(&m, 3, 0, 1, 3, 5);
    for (int early = 0; early < 2; early++) {
        CHECK(open_files(&g, 3, 2, 0.06, early ? 0.012 : 10) == OK);
        CHECK(near(g.par.boxlen_ini, 128 * 0.7, 1e-7) &&
              g.par.aexp_ini == (early ? 0.012 : (double)0.02f));
        CHECK(near(ics_grafic_mass_sph(&g), 0.2 / 4096, 1e-7) && ics_grafic_has(&g, 4) &&
              !ics_grafic_has(&g, 5));
        for (int l = 3; l <= 4; l++) {
            CHECK(ics_grafic_gas(&g, &m, &ONE, l, &GAS) == OK);
            /* float32 header compared with the box length of the run */
            CHECK(gas_error(&g, &m, l) < 1e-6);
            unsigned char map[64][8];
            CHECK(ics_grafic_refmap(&g, &m, &ONE, l, map) == OK);
            CHECK(map[0][0] == 1 && map[0][7] == 1 && !map[0][1] && map[0][3] == 1 && !map[0][6]);
        }
        ics_grafic_close(&g);
    }
    mesh_fini(&m);
    CHECK(open_files(&g, 3, 2, 0.06, 10) == OK);
    build(&m, 3, 0, 1, 1, 5); /* beyond the files of level 4 */
    CHECK(says(ics_grafic_gas(&g, &m, &ONE, 4, &GAS), ERR_PARAM,
               "leaves the initial conditions of level 4"));
    mesh_fini(&m);
    ics_grafic_close(&g);
}

/* Initial conditions are identical on any rank that holds a cell. */
static void test_ranks(void)
{
    struct mesh whole, some;
    struct ics_grafic g = {0};
    struct parts all, mine;
    fresh("p");
    part_init(&all);
    CHECK(open_files(&g, 3, 2, 0.06, 0.01) == OK);
    build(&whole, 3, 0, 1, 3, 5);
    for (int l = 3; l <= 4; l++) CHECK(ics_grafic_gas(&g, &whole, &ONE, l, &GAS) == OK);
    CHECK(ics_grafic_particles(&g, &whole, &ONE, &all) == OK);
    int64_t total = 0;
    for (int r = 0; r < 3; r++) {
        bool same = true;
        part_init(&mine);
        build(&some, 3, r, 3, 3, 5);
        for (int l = 3; l <= 4; l++) {
            CHECK(ics_grafic_gas(&g, &some, &ONE, l, &GAS) == OK);
            for (lidx i = 0; i < some.lev[l].nown; i++) {
                lidx j = mesh_find(&whole.lev[l], some.lev[l].key[i]);
                for (int v = 0; v < 7; v++)
                    same = same && memcmp(some.lev[l].fld[FLD_U + v][i],
                                          whole.lev[l].fld[FLD_U + v][j], 64) == 0;
            }
        }
        CHECK(same);
        CHECK(ics_grafic_particles(&g, &some, &ONE, &mine) == OK);
        for (int64_t i = 0; i < mine.n; i++) {
            int64_t j = 0;
            while (j < all.n && all.id[j] != mine.id[i]) j++;
            same = same && j < all.n && all.m[j] == mine.m[i];
            for (int d = 0; d < 3 && same; d++)
                same = all.x[d][j] == mine.x[d][i] && all.v[d][j] == mine.v[d][i];
        }
        CHECK(same);
        total += mine.n;
        part_fini(&mine);
        mesh_fini(&some);
    }
    CHECK(total == all.n && total == 512 - 8 + 64);
    part_fini(&all);
    mesh_fini(&whole);
    ics_grafic_close(&g);
}

/* Checks position and velocity of the particle with this id, which starts in cell k of level l,
 * counted in the files. */
static void check_particle(const struct ics_grafic *g, const struct parts *p, const int64_t k[3],
                           int l, int64_t id, bool pos, double growth)
{
    int64_t j = 0;
    double ul, ud, ut, a = (double)0.02f;
    while (j < p->n && p->id[j] != id) j++;
    CHECK(j < p->n);
    if (j == p->n) return;
    cosmo_units(&g->par, a, &ul, &ud, &ut);
    for (int d = 0; d < 3; d++) {
        double v = (double)speed(k[0], k[1], k[2], 10 * d) * 1e5 / (ul / ut); /* at astart */
        double psi = pos ? (double)shift(k[0], k[1], k[2], d) / g->par.boxlen_ini
                         : v / cosmo_vfact(&g->par, a);
        double x = ((double)(k[d] + (l == 4 ? 4 : 0)) + 0.5) / (1 << l) + growth * psi;
        x -= floor(x);
        CHECK(fabs(p->x[d][j] - x) < 1e-8);
        double rate = cosmo_vfact(&g->par, g->par.aexp_ini) / cosmo_vfact(&g->par, a);
        CHECK(near(p->v[d][j], growth * rate * v, 1e-6));
    }
    CHECK(near(p->m[j], ldexp(1 - 0.06 / (double)0.3f, -3 * l), 1e-12));
    CHECK(p->family[j] == FAM_DM && p->levelp[j] == 3 && p->tag[j] == 0);
}

static void test_particles(void)
{
    static const int64_t at[3] = {3, 0, 7}, fine[3] = {5, 4, 2};
    struct mesh m;
    struct ics_grafic g = {0};
    struct parts p;
    build(&m, 3, 0, 1, 3, 5);
    for (int way = 0; way < 4; way++) {
        bool pos = way & 1, ids = way & 2;
        fresh(pos && ids ? "pi" : pos ? "p" : ids ? "i" : "");
        part_init(&p);
        CHECK(open_files(&g, 3, 2, 0.06, way == 3 ? 0.01 : 10) == OK);
        double growth = way == 3 ? cosmo_growth(&g.par, 0.01) / cosmo_growth(&g.par, (double)0.02f)
                                 : 1;
        CHECK(ics_grafic_particles(&g, &m, &ONE, &p) == OK);
        check_particle(&g, &p, at, 3, ids ? (int64_t)location(3, 0, 7, 3e6) : 1 + 3 + 7 * 64, pos,
                       growth);
        check_particle(&g, &p, fine, 4,
                       ids ? (int64_t)location(5, 4, 2, 4e6) : 1 + 512 + 5 + 4 * 8 + 2 * 64, pos,
                       growth);
        double mass = 0;
        for (int64_t i = 0; i < p.n; i++) mass += p.m[i];
        CHECK(near(mass, 1 - 0.06 / (double)0.3f, 1e-12));
        part_fini(&p);
        ics_grafic_close(&g);
    }
    mesh_fini(&m);
}

static void test_grafic_misfits(void)
{
    struct mesh m;
    struct ics_grafic g = {0};
    struct parts p;
    fresh("p");
    CHECK(says(open_files(&g, 4, 1, 0, 10), ERR_FORMAT, "levelmin = 4 needs 16"));
    CHECK(says(open_files(&g, 3, 2, 0.9, 10), ERR_PARAM, "omega_b"));
    struct file h = LEVEL_4;
    h.real[3] = 36;
    only_file(&h);
    CHECK(says(open_files(&g, 3, 2, 0, 10), ERR_FORMAT, "offset 36 along z"));
    h.real[3] = 72;
    only_file(&h);
    CHECK(says(open_files(&g, 3, 2, 0, 10), ERR_FORMAT, "along z are not within"));
    h.real[3] = 24;
    only_file(&h);
    CHECK(says(open_files(&g, 3, 2, 0, 10), ERR_FORMAT,
               "cells 3 to 10 along z begin or end inside a cell of level 3"));
    h.real[3] = 32;
    h.real[0] = 16;
    only_file(&h);
    CHECK(says(open_files(&g, 3, 2, 0, 10), ERR_FORMAT, "cell size 16 should be 8"));
    h.real[0] = 8;
    h.real[5] = 0.31f;
    only_file(&h);
    CHECK(says(open_files(&g, 3, 2, 0, 10), ERR_FORMAT, "omega_m"));
    fresh("p");
    CHECK(open_files(&g, 3, 2, 0.06, 10) == OK);
    build(&m, 3, 0, 1, 3, 5);
    part_init(&p);
    h = (struct file){.n = {8, 8, 7}, .real = {8, 32, 32, 32, 0.02f, 0.3f, 0.7f, 70}, .width = 4};
    write_file(dirs[1], "ic_velcy", &h, speed, 0, false);
    CHECK(says(ics_grafic_particles(&g, &m, &ONE, &p), ERR_FORMAT,
               "ic_velcy: has 7 cells along z where ic_deltab has 8"));
    remove(path_in(dirs[1], "ic_velcy"));
    CHECK(says(ics_grafic_particles(&g, &m, &ONE, &p), ERR_FILE, "ic_velcy: cannot open"));
    remove(path_in(dirs[0], "ic_poscz"));
    CHECK(says(ics_grafic_particles(&g, &m, &ONE, &p), ERR_FILE, "only 2 of the files"));
    h.n[2] = 8;
    write_file(dirs[1], "ic_particle_ids", &h, location, 0, true);
    CHECK(says(ics_grafic_particles(&g, &m, &ONE, &p), ERR_FILE, "ic_particle_ids"));
    part_fini(&p);
    mesh_fini(&m);
    ics_grafic_close(&g);
}

int main(void)
{
    world_begin();
    test_einstein_de_sitter();
    test_lambda();
    test_open();
    test_dark();
    test_ramses_times();
    test_units();
    test_absurd_cosmology();
    test_text();
    test_text_particles();
    test_regions();
    test_grafic_gas();
    test_ranks();
    test_particles();
    test_grafic_misfits();
    clean_level(tmp);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
