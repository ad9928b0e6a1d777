/* progress_test: the time left of runs whose steps are known, the line, and the file progress.json.
 *
 *     progress_test PLACE FILE [SHARE]    PLACE: time or aexp; FILE: of simulate -j
 *
 * prints the work that is left after a share (default 0.5) of that of the run by its steps so far,
 * over what it was; updates are the clock, so that the number is the same on every machine.
 *
 * Catches: the mean so far in place of the growth, points lost where memory is full, a speed that
 * includes a slow beginning, a line wider than its terminal, a torn file taken for a whole one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "progress/pace.h"
#include "progress/progress.h"

/* ---- the time left ---- */

/* A run from x0 to 1 in n steps of equal length in ln x or x, whose work per x is x^q; *left: what
 * the steps up to `half` say, over what is true. */
static double ratio(double x0, int n, bool logarithmic, double q, double half)
{
    struct pace p;
    double x = x0;
    pace_begin(&p, x);
    for (int i = 1; i <= n && x < half; i++) {
        const double to = logarithmic ? x0 * pow(1 / x0, (double)i / n) : x0 + (1 - x0) * i / n;
        const double work = (pow(to, q + 1) - pow(x, q + 1)) / (q + 1);
        pace_step(&p, to, 1e6 * work, 3e-3 * work);
        x = to;
    }
    return pace_left(&p, 1) / (3e-3 * (1 - pow(x, q + 1)) / (q + 1));
}

static void test_powers(void)
{
    static const double power[] = {-2.5, -0.5, 0, 1, 3};
    for (int k = 0; k < 5; k++)
        for (int n = 40; n <= 40000; n *= 10) {
            /* of 40 steps two make the last tenth of the work, which tell little */
            const double a = ratio(0.02, n, true, power[k], 0.4), near = power[k] < 2 ? 0.02
                                                                         : n > 40     ? 0.08
                                                                                      : 0.2;
            CHECK(fabs(a - 1) < near, "power %g, %d steps: %g", power[k], n, a);
        }
    for (int n = 40; n <= 4000; n *= 10) {
        const double a = ratio(0, n, false, 0, 0.3), b = ratio(0, n, false, 0.4, 0.5);
        CHECK(fabs(a - 1) < 1e-9, "steady, %d steps: %g", n, a);
        CHECK(fabs(b - 1) < 0.03, "%d steps: %g", n, b);
    }
    /* a short part of a run tells no power: that of noise must not blow up */
    CHECK(fabs(ratio(0.40, 20, true, 0, 0.41) - 1) < 1e-9);
}

/* Work per x of a box whose mesh refines from x0 on, and is as deep as it may be beyond x1. */
static double bend(double x, double x0, double x1)
{
    const double rise = pow(x / x0, 6);
    return 0.05 + rise / (1 + pow(x / x1, 6.5));
}

/* Estimate of a run to 1 at a share of its work, over the truth: steps with noise of 10 %. */
static double bent(double x0, double x1, double share)
{
    enum { STEPS = 400 };
    double work[STEPS + 1] = {0}, x[STEPS + 1] = {0.05};
    struct pace p;
    unsigned seed = 1;
    for (int i = 1; i <= STEPS; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double dx = 0.95 / STEPS * (0.9 + 0.2 * (seed / 4294967296.0));
        x[i] = x[i - 1] + dx;
        work[i] = work[i - 1] + bend(x[i] - dx / 2, x0, x1) * 0.95 / STEPS;
    }
    pace_begin(&p, x[0]);
    int i = 1;
    for (; work[i] < share * work[STEPS]; i++)
        pace_step(&p, x[i], work[i] - work[i - 1], work[i] - work[i - 1]);
    return pace_left(&p, x[STEPS]) / (work[STEPS] - work[i - 1]);
}

/* Growth that ends: the power of the growing mesh must not be continued for long. */
static void test_bends(void)
{
    for (int k = 0; k < 6; k++) {
        const double x1 = 0.3 + 0.1 * k, early = bent(0.2, x1, 0.3), half = bent(0.2, x1, 0.5),
                     late = bent(0.2, x1, 0.7);
        CHECK(fabs(early - 1) < 0.3 && fabs(half - 1) < 0.2 && fabs(late - 1) < 0.1,
              "bend at %g: %g %g %g", x1, early, half, late);
    }
}

static void test_noise(void)
{
    struct pace p;
    unsigned seed = 1;
    pace_begin(&p, 0.24);
    for (int i = 1; i <= 30; i++) {
        seed = seed * 1664525u + 1013904223u;
        pace_step(&p, 0.24 + 0.0003 * i, 1e6 * (0.5 + seed / 4294967296.0), 1);
    }
    const double steps = (1 - p.now.x) / 0.0003, left = pace_left(&p, 1);
    CHECK(left > 0.5 * steps && left < 3 * steps, "%g of %g", left, steps);
}

static void test_speed(void)
{
    struct pace p;
    pace_begin(&p, 0);
    CHECK(isnan(pace_left(&p, 1)) && pace_speed(&p) == 0 && isnan(pace_next(&p)));
    for (int i = 1; i <= 100; i++) pace_step(&p, i, 10, i <= 50 ? 1 : 4);
    CHECK(fabs(pace_speed(&p) - 2.5) < 1e-12, "%g", pace_speed(&p));
    CHECK(fabs(pace_next(&p) - 4) < 1e-12);
    CHECK(fabs(pace_left(&p, 200) / 400 - 1) < 1e-9, "%g", pace_left(&p, 200));
    CHECK(pace_left(&p, 100) == 0 && pace_left(&p, 50) == 0);
    for (int i = 101; i <= 3000; i++) pace_step(&p, i, 10, 4);
    CHECK(p.n <= PACE_POINTS && fabs(pace_next(&p) - 4) < 1e-9);
    CHECK(fabs(p.now.work - 30000) < 1e-6 && fabs(p.now.wall - 50 - 4 * 2950) < 1e-6);
}

/* ---- the line ---- */

static struct progress example(void)
{
    return (struct progress){.state = PROGRESS_RUNS,
                             .cosmo = true,
                             .step = 1234,
                             .output = 7,
                             .t = -3.1,
                             .a = 0.25,
                             .dt = 4.2e-3,
                             .end = 1,
                             .elapsed = 60,
                             .step_s = 12,
                             .output_s = 185,
                             .end_s = 8000,
                             .job_s = NAN,
                             .updates_s = 12.3e6,
                             .bytes = 1.25e9,
                             .heard_s = 10,
                             .pid = 17,
                             .born = 4,
                             .host = "a b",
                             .message = "say \"no\" to \\"};
}

static void test_line(void)
{
    struct progress p = example();
    char line[PROGRESS_COLUMNS + 1];
    size_t before = 0;
    for (int n = 10; n <= PROGRESS_COLUMNS; n++) {
        progress_line(&p, 7, n, line, sizeof line);
        CHECK((int)strlen(line) <= n && strlen(line) >= before, "%d: '%s'", n, line);
        CHECK(strncmp(line, "step 1234", 9) == 0, "'%s'", line);
        before = strlen(line);
        if (n == 39) CHECK(strcmp(line, "step 1234  z=3  ends in 2 h 13 min") == 0, "'%s'", line);
    }
    CHECK(strcmp(line, "step 1234  (for 7 s of 12 s)  z=3  dt=0.0042  12.3 Mupdates/s  1.25 GB  "
                       "output 7 in 2 min 58 s  ends in 2 h 13 min") == 0,
          "'%s'", line);
    p.job_s = 100;
    progress_line(&p, 0, PROGRESS_COLUMNS, line, sizeof line);
    CHECK(strstr(line, "job ends in 1 min 40 s"), "'%s'", line);
    p.state = PROGRESS_STOPPED;
    progress_line(&p, 0, PROGRESS_COLUMNS, line, sizeof line);
    CHECK(strcmp(line, "stopped early, step 1234  z=3  after 1 min 00 s") == 0, "'%s'", line);
}

static void test_durations(void)
{
    static const struct {
        double s;
        const char *text;
    } row[] = {{-3, "0 s"},          {0.4, "0 s"},          {59.4, "59 s"},
               {59.6, "1 min 00 s"}, {119.6, "2 min 00 s"}, {599, "9 min 59 s"},
               {1800, "30 min"},     {3599, "1 h 00 min"},  {7260, "2 h 01 min"},
               {90000, "1 d 1 h"},   {1e9, "over a year"},  {NAN, "-"}};
    char text[40];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        progress_duration(row[i].s, text, sizeof text);
        CHECK(strcmp(text, row[i].text) == 0, "%g: %s", row[i].s, text);
    }
}

/* ---- the file ---- */

static void truncate_at(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void test_file(void)
{
    const struct progress p = example();
    struct progress q = {.step = -1};
    char text[4096];
    bool there = true;
    double age = -1;
    CHECK(mkdir("run", 0777) == 0);
    CHECK(progress_read("run", &q, &there, &age) == OK && !there && q.step == -1);
    CHECK(progress_read("nowhere", &q, &there, &age) == OK && !there);
    for (int i = 0; i < 2; i++) CHECK(progress_write("run", &p) == OK, "%s", err_message());
    CHECK(progress_read("run", &q, &there, &age) == OK && there && age >= 0 && age < 60);
    CHECK(q.state == p.state && q.cosmo && q.step == p.step && q.a == p.a && q.dt == p.dt);
    CHECK(q.output_s == p.output_s && q.end_s == p.end_s && isnan(q.job_s) && q.pid == 17);
    CHECK(strcmp(q.host, p.host) == 0 && strcmp(q.message, p.message) == 0, "%s", q.message);
    FILE *f = fopen("run/" PROGRESS_FILE, "r");
    const size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    for (size_t k = 0; k < n; k += 7) {
        truncate_at("run/" PROGRESS_FILE, text, k);
        CHECK(progress_read("run", &q, &there, &age) == OK && !there, "%zu bytes", k);
    }
}

static void test_process(void)
{
    struct progress p = {.pid = 0};
    progress_self(&p);
    CHECK(p.pid == getpid() && p.born > 0 && *p.host && !progress_is_gone(&p));
    p.born++;
    CHECK(progress_is_gone(&p)); /* another process has its number now */
    snprintf(p.host, sizeof p.host, "elsewhere");
    CHECK(!progress_is_gone(&p));
}

/* ---- a run ---- */

static double number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

enum { LINE = 4096, STEPS = 100000 };

/* Steps of the file: place and updates so far. */
static int read_steps(const char *place, const char *path, double (*step)[2])
{
    char line[LINE], key[64];
    int n = 0;
    FILE *f = fopen(path, "r");
    snprintf(key, sizeof key, "\"%s\":", place);
    while (f && n < STEPS && fgets(line, sizeof line, f)) {
        if (strncmp(line, "{\"step\":", 8) != 0) continue;
        step[n][0] = number(line, key), step[n++][1] = number(line, "\"updates\":");
    }
    if (f) fclose(f);
    return n;
}

static int replay(const char *place, const char *path, double share)
{
    static double step[STEPS][2];
    struct pace p;
    const int n = read_steps(place, path, step);
    int i = 1;
    if (n < 4) return 1;
    pace_begin(&p, step[0][0]);
    for (; i < n && step[i][1] < share * step[n - 1][1]; i++)
        pace_step(&p, step[i][0], step[i][1] - step[i - 1][1], step[i][1] - step[i - 1][1]);
    printf("%g\n", pace_left(&p, step[n - 1][0]) / (step[n - 1][1] - step[i - 1][1]));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2) return replay(argv[1], argv[2], argc > 3 ? strtod(argv[3], NULL) : 0.5);
    test_powers();
    test_bends();
    test_noise();
    test_speed();
    test_line();
    test_durations();
    test_file();
    test_process();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
