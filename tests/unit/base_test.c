/* Unit tests of lib/base and lib/param: checksum, sum, mem, param, opt, rng. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/rng.h"
#include "base/sum.h"
#include "check.h"
#include "param/param.h"

static struct params *par; /* large, hence one for all tests */

static enum err read_text(const char *text)
{
    return param_read_text(par, text, strlen(text), "t.nml");
}

/* Fails if a digit is lost between terms of very different size, or if rounding looks at 64 bits
 * only. */
static void test_sum_exact(void)
{
    struct sum s;
    const double big[] = {1e308, 1, -1e308}, tie[] = {1, 0x1p-53},
                 above[] = {1, 0x1p-53, 0x1p-1074};
    sum_init(&s);
    CHECK(sum_get(&s) == 0);
    for (int i = 0; i < 3; i++) sum_add(&s, big[i]);
    CHECK(sum_get(&s) == 1);
    sum_init(&s);
    for (int i = 0; i < 2; i++) sum_add(&s, tie[i]);
    CHECK(sum_get(&s) == 1);
    sum_init(&s);
    for (int i = 0; i < 3; i++) sum_add(&s, -above[i]);
    CHECK(sum_get(&s) == -(1 + 0x1p-52));
    sum_init(&s);
    sum_add(&s, 0x1p-1074);
    sum_add(&s, 0x1p-1074);
    CHECK(sum_get(&s) == 0x1p-1073);
    sum_add(&s, INFINITY);
    CHECK(isnan(sum_get(&s)));
}

/* Fails if the result depends on the order or on the partition into partial sums. */
static void test_sum_order(void)
{
    enum { N = 5000 };
    static double x[N];
    struct rng r = rng_make(1, 2, 3);
    for (int i = 0; i < N; i++) x[i] = ldexp(rng_normal(&r), (int)(rng_word(&r) % 600) - 300);
    struct sum forward, backward, part[7];
    sum_init(&forward);
    sum_init(&backward);
    for (int i = 0; i < 7; i++) sum_init(&part[i]);
    for (int i = 0; i < N; i++) {
        sum_add(&forward, x[i]);
        sum_add(&backward, x[N - 1 - i]);
        sum_add(&part[i * 5 % 7], x[i]);
    }
    for (int i = 1; i < 7; i++) sum_join(&part[0], &part[i]);
    double f = sum_get(&forward);
    CHECK(f == sum_get(&backward));
    CHECK(f == sum_get(&part[0]));
    for (int i = 0; i < N; i++) sum_add(&forward, -x[i]);
    CHECK(sum_get(&forward) == 0);
}

/* Compares sums to the last bit. */
static bool sums_equal(struct sum a, struct sum b)
{
    sum_carry(&a);
    sum_carry(&b);
    return memcmp(a.digit, b.digit, sizeof a.digit) == 0 && !a.bad == !b.bad;
}

/* Adds many terms at a time, with exponents in a range of `wide` around `middle`. Fails if one bit
 * of the remainder of a slice is lost: with a shift of 2^(e + 4) in slice_add, or with a single
 * slice. */
static void test_sum_many(void)
{
    enum { N = 2500 };
    static const struct {
        int middle, wide;
    } range[] = {{0, 1},     {0, 40},     {-20, 120}, {0, 600},   {970, 60},
                 {-890, 40}, {-960, 160}, {899, 4},   {-1022, 3}, {0, 4000}};
    static double x[N];
    struct rng r = rng_make(1, 2, 4);
    for (int t = 0; t < 200; t++) {
        int middle = range[t % 10].middle, wide = range[t % 10].wide, n = (int)(rng_word(&r) % N);
        struct sum one, many;
        struct sum_batch batch;
        sum_init(&one);
        sum_init(&many);
        sum_batch_begin(&batch);
        for (int i = 0; i < n; i++) {
            double v = 2 * rng_uniform(&r) - 1;
            x[i] = ldexp(t % 3 ? v : fabs(v), middle + (int)(rng_word(&r) % (unsigned)wide));
            if (t % 7 == 3 && i % 3) x[i] = 0;
            if (t % 7 == 5) x[i] = ldexp(1 - 0x1p-53, middle);
            if (t % 50 == 49 && i % 1024 == 77) x[i] = t == 99 ? INFINITY : NAN;
            sum_add(&one, x[i]);
            sum_batch_add(&batch, x[i]);
        }
        sum_add_many(&many, n, x);
        sum_batch_end(&batch);
        CHECK(sums_equal(one, many), "%d terms about 2^%d", n, middle);
        CHECK(sums_equal(one, batch.sum), "%d terms about 2^%d", n, middle);
    }
}

/* Fails if sizes are not accounted for or growing loses contents. */
static void test_mem(void)
{
    size_t before = mem_now();
    char *p = mem_zero(1000, "test");
    CHECK((uintptr_t)p % 64 == 0);
    CHECK(mem_now() == before + 1000);
    CHECK(p[0] == 0 && p[999] == 0);
    p[999] = 7;
    p = mem_grow(p, 100000, "test");
    CHECK(p[999] == 7 && mem_now() == before + 100000 && mem_peak() >= before + 100000);
    p = mem_grow(p, 500, "test");
    CHECK(mem_now() == before + 500);
    FREE(p);
    CHECK(!p && mem_now() == before);
    mem_free(NULL);
}

/* Fails if pages of large blocks are given out twice, lost when a block grows, or lost from the
 * account. */
static void test_mem_large(void)
{
    enum { BLOCKS = 24, TURNS = 4000 };
    uint64_t *p[BLOCKS] = {0}, state = 1;
    size_t n[BLOCKS] = {0}, before = mem_now(), held = 0, bad = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t i = state >> 33 & 31, words = 1000 + (state >> 40) % 200000;
        if (i >= BLOCKS) continue;
        for (size_t k = 0; k < n[i]; k += 509) bad += p[i][k] != (i << 32 | k);
        held -= 8 * n[i];
        size_t retained = words < n[i] ? words : n[i];
        if (turn % 3 && p[i]) {
            p[i] = mem_grow(p[i], 8 * words, "test");
            for (size_t k = 0; k < retained; k += 509) bad += p[i][k] != (i << 32 | k);
        } else {
            FREE(p[i]);
            p[i] = mem_new(8 * words, "test");
        }
        for (size_t k = 0; k < words; k++) p[i][k] = i << 32 | k;
        n[i] = words;
        held += 8 * words;
        bad += (uintptr_t)p[i] % 64 != 0 || mem_now() != before + held;
    }
    for (int i = 0; i < BLOCKS; i++) FREE(p[i]);
    CHECK(bad == 0 && mem_now() == before);
}

/* Fails if a part of a large block is not zeroed when its memory was used before. */
static void test_mem_zero(void)
{
    enum { SIZES = 3, LARGEST = 8 << 20 };
    static const size_t bytes[SIZES] = {256 << 10, (1 << 20) + 1, (5 << 20) - 7};
    for (int i = 0; i < SIZES; i++) {
        mem_free(memset(mem_new(LARGEST, "test"), 0xff, LARGEST));
        char *p = mem_zero(bytes[i], "test");
        size_t bad = 0;
        for (size_t k = 0; k < bytes[i]; k++) bad += p[k] != 0;
        CHECK(bad == 0, "%zu of %zu bytes", bad, bytes[i]);
        memset(p, i + 1, bytes[i]);
        mem_touch(p);
        for (size_t k = 0; k < bytes[i]; k++) bad += p[k] != i + 1;
        CHECK(bad == 0, "pages taken from the system take the place of %zu bytes in use", bad);
        FREE(p);
    }
}

static void touch(char *p[], int n, size_t bytes)
{
    for (int i = 0; i < n; i++) p[i] = memset(mem_new(bytes, "test"), i + 1, bytes);
}

/* Fails if a block that was divided is not merged when all its parts are free: its pages would be
 * faulted in again. */
static void test_mem_joined(void)
{
    enum { PARTS = 4, PAGES = 4096 };
    const size_t part = (size_t)PAGES << 12;
    char *p[PARTS], *whole;
    struct rusage before, after;
    touch(&whole, 1, PARTS * part);
    FREE(whole);
    for (int turn = 0; turn < 2; turn++) {
        touch(p, PARTS, part - 4096);
        for (int i = 0; i < PARTS; i++) FREE(p[(5 * i + 2 * turn) % PARTS]);
        getrusage(RUSAGE_SELF, &before);
        touch(&whole, 1, PARTS * part);
        getrusage(RUSAGE_SELF, &after);
        CHECK(after.ru_minflt - before.ru_minflt < PAGES / 4);
        whole = mem_grow(whole, (PARTS + 1) * part, "test");
        CHECK(whole[0] == 1 && whole[PARTS * part - 1] == 1);
        FREE(whole);
    }
}

/* Fails if memory needed in one interval is kept for ever, or not for the next interval. */
static void test_mem_trim(void)
{
    enum { PAGES = 4096 };
    const size_t bytes = (size_t)PAGES << 12;
    mem_trim();
    mem_trim();
    size_t before = mem_rss();
    char *p;
    touch(&p, 1, bytes);
    FREE(p);
    mem_trim();
    CHECK(mem_rss() > before + bytes / 2);
    touch(&p, 1, bytes);
    FREE(p);
    mem_trim();
    mem_trim();
    CHECK(mem_rss() < before + bytes / 2);
}

static void test_param_names(void)
{
    CHECK_FAILS(read_text("&AMR_PARAMS levelmn=3 /"), "did you mean 'levelmin'?");
    CHECK_FAILS(read_text("&AMR_PARAM levelmin=3 /"),
                "no parameter group &AMR_PARAM; did you mean &AMR_PARAMS?");
    CHECK_FAILS(read_text("&AMR_PARAMS nstepmax=3 /"), "'nstepmax' belongs in &RUN_PARAMS");
    CHECK_FAILS(read_text("&HYDRO_PARAMS riemann='hlcc' /"),
                "possible values are 'llf', 'hll', 'hllc', 'exact', 'acoustic'");
    CHECK(read_text("&PHYSICS_PARAMS omega_b=0.04 units_time=3. /") == OK);
    CHECK(par->init.omega_b == 0.04 && par->units.units_time == 3);
    CHECK(read_text("&COSMO_PARAMS OMEGA_B=0.05 / &RUN_PARAMS static=T /") == OK);
    CHECK(par->init.omega_b == 0.05 && par->run.static_);
    CHECK(read_text("&SIDM_PARAMS sidm_energy(0)=1. sidm_energy(9)=2. /") == OK);
    CHECK(par->sidm.sidm_energy[0] == 1 && par->sidm.sidm_energy[9] == 2);
}

static void test_param_set(void)
{
    CHECK(read_text("&RUN_PARAMS nstepmax=1 hydro=T /") == OK);
    CHECK(param_set(par, "run/nstepmax=5") == OK && par->run.nstepmax == 5);
    CHECK(param_set(par, "RUN_PARAMS/nstepmax = 6") == OK && par->run.nstepmax == 6);
    CHECK(param_set(par, "levelmax=7") == OK && par->amr.levelmax == 7);
    CHECK(param_set(par, "m_refine=2*8.") == OK && par->refine.m_refine[1] == 8 &&
          par->refine.m_refine[2] == -1);
    CHECK(param_set(par, "init/initfile(2)=/data/it's here") == OK);
    CHECK(strcmp(par->init.initfile[1], "/data/it's here") == 0);
    CHECK(param_set(par, "initfile='a','b/c'") == OK && strcmp(par->init.initfile[1], "b/c") == 0);
    CHECK(param_set(par, "shader_frame=3*'cube'") == OK &&
          strcmp(par->movie.shader_frame[2], "cube") == 0);
    CHECK(param_set(par, "shader_frame=2*sphere") == OK &&
          strcmp(par->movie.shader_frame[1], "sphere") == 0 &&
          strcmp(par->movie.shader_frame[2], "cube") == 0);
    CHECK(param_set(par, "riemann=HLLC") == OK && strcmp(par->hydro.riemann, "hllc") == 0);
    CHECK_FAILS(param_set(par, "nstepmax"), "write group/name=value");
    CHECK_FAILS(param_set(par, "nstepmax="), "not one assignment");
    CHECK_FAILS(param_set(par, "nstepmax=1 / &y z=2 /"), "not one assignment");
    CHECK_FAILS(param_set(par, "nstepmax=1 levelmin=2"), "not one assignment");
    CHECK_FAILS(param_set(par, "nstepmax=1 / x"), "not one assignment: text follows the '/'");
    CHECK(param_set(par, "nstepmax=6 ! as long") == OK && par->run.nstepmax == 6);
    CHECK_FAILS(param_set(par, "nstpmax=1"), "did you mean 'nstepmax' of &RUN_PARAMS?");
    CHECK_FAILS(param_set(par, "amr/nstepmax=1"), "belongs in &RUN_PARAMS");
    CHECK_FAILS(param_set(par, "rum/nstepmax=1"), "no parameter group 'rum'");
    CHECK_FAILS(param_set(par, "hydro/gamma=0"), "command line: gamma=0 is out of range");
    CHECK(par->run.nstepmax == 6);
}

/* Sets one value that makes param_check fail, with the given message. */
static void check_with(const char *assignment, const char *message)
{
    CHECK(read_text("&RUN_PARAMS hydro=T / &AMR_PARAMS levelmin=3 levelmax=5 /") == OK);
    CHECK(param_check(par) == OK);
    char text[200], *save = NULL;
    snprintf(text, sizeof text, "%s", assignment);
    for (char *a = strtok_r(text, ";", &save); a; a = strtok_r(NULL, ";", &save))
        CHECK(param_set(par, a) == OK);
    CHECK_FAILS(param_check(par), message);
}

/* As in RAMSES of 2026, a run ends at the last time that is listed. */
static void test_outputs(void)
{
    CHECK(read_text("&RUN_PARAMS hydro=T / &AMR_PARAMS levelmin=3 levelmax=5 / "
                    "&OUTPUT_PARAMS tout=1,2 noutput=3 /") == OK);
    CHECK(param_check(par) == OK && param_outputs(par) == 2);
}

static void test_param_check(void)
{
    check_with("levelmin=6", "levelmin=6 in &AMR_PARAMS must not be greater than levelmax=5");
    check_with("hydro=F", "hydro=.true. or pic=.true.");
    check_with("ndim=2;slope_type=5", "one dimension only");
    check_with("interpol_type=4", "interpol_var=2");
    check_with("aout=0.5,0.2", "aout(2)=0.2");
    check_with("filetype=grafic", "initfile(1)");
    check_with("npassive=1;var_region(1,2)=1.", "npassive=1");
    check_with("cooling=T;cooling_ism=T;cooling_method=implicit", "method of its own");
    check_with("eps_star=0.1;eta_sn=0.1;f_w=1;sf_imf=T", "set sf_imf=.false.");
    check_with("cooling=T;cooling_ism=T;self_shielding=T", "no ultraviolet background");
    check_with("nboundary=2;bound_type=1", "only 1 entry");
    check_with("nboundary=1;bound_type=1", "no side of the box");
    check_with("nboundary=1;bound_type=1;ibound_min=1", "is empty");
    CHECK(read_text("&OUTPUT_PARAMS noutput=5 tout=1. / &RUN_PARAMS hydro=T nstepmax=4 /") == OK);
    CHECK(param_check(par) == OK); /* nstepmax ends the run, as in RAMSES */
    CHECK(read_text("&RUN_PARAMS hydro=T / &OUTPUT_PARAMS noutput=1 aout=0.5,0.2 tout=2,1 /") ==
          OK);
    CHECK(param_check(par) == OK); /* entries beyond noutput are not used */
    CHECK(
        read_text(
            "&RUN_PARAMS pic=T / &HYDRO_PARAMS courant_factor=0.8 / &OUTPUT_PARAMS tout=1,2,3 /") ==
        OK);
    CHECK(param_check(par) == OK); /* as in RAMSES: &HYDRO_PARAMS is not read without hydro */
    CHECK(par->hydro.courant_factor == 0.5 && !param_given(par, "hydro", "courant_factor"));
    CHECK(par->init.omega_b == 0 && par->output.noutput == 3);
}

/* Fails if a default differs from that of RAMSES. */
static void test_param_defaults(void)
{
    param_init(par);
    CHECK(par->hydro.gamma == 1.4 && par->hydro.courant_factor == 0.5 &&
          par->hydro.slope_type == 1);
    CHECK(par->hydro.slope_theta == 1.5 && par->hydro.niter_riemann == 10 &&
          strcmp(par->hydro.riemann, "llf") == 0);
    CHECK(par->hydro.smallr == 1e-10 && par->hydro.smallc == 1e-10 && par->hydro.npassive == -1);
    CHECK(par->refine.interpol_var == 0 && par->refine.interpol_type == 1 &&
          par->refine.m_refine[99] == -1);
    CHECK(par->refine.exp_refine[0] == 2 && par->refine.a_refine[5] == 1 &&
          par->refine.err_grad_d == -1);
    CHECK(par->run.nremap == 5 && par->run.nsubcycle[99] == 2 && par->run.nstepmax == 1000000);
    CHECK(par->amr.nexpand[0] == 1 && par->amr.boxlen == 1 && par->poisson.epsilon == 1e-4);
    CHECK(par->poisson.cg_levelmin == 999 && par->init.aexp_ini == 10 &&
          par->init.length_x[99] == 1e10);
    CHECK(par->output.foutput == 1000000 && par->output.noutput == 0 &&
          par->output.tout[999] > 1e308);
    CHECK(strcmp(par->run.ordering, "ksection") == 0 &&
          strcmp(par->init.region_type[99], "square") == 0);
}

/* The printed namelist, read again, gives the same parameters. Fails if a digit, quote or index is
 * lost. */
static void test_param_namelist(void)
{
    CHECK(read_text("&RUN_PARAMS hydro=T nsubcycle=1,1 / &AMR_PARAMS levelmax=4 / &HYDRO_PARAMS "
                    "gamma=1.6666667 /\n"
                    "&INIT_PARAMS initfile(3)='it''s' d_region=0.1,0.333333333333333333 "
                    "var_region(2,3)=1e-300 /") == OK);
    char *a = param_namelist(par);
    CHECK(read_text(a) == OK, "%s", err_message());
    char *b = param_namelist(par);
    CHECK(strcmp(a, b) == 0);
    CHECK(par->hydro.gamma == 1.6666667 && par->init.var_region[1][2] == 1e-300 &&
          par->init.d_region[1] == 1.0 / 3);
    CHECK(strstr(a, "\ninitfile = '','','it''s'\n") != NULL);
    FREE(a);
    FREE(b);
}

/* Fails if a row is left out of the listing. */
static void test_param_show(void)
{
    char *list = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&list, &n);
    param_list(f);
    fclose(f);
    int entries = 0;
    for (char *s = list; (s = strstr(s, "  default ")); s++) entries++;
    CHECK(entries == PARAM_ROWS);
    CHECK(strstr(list, "  static  ") && strstr(list, "&SIDM_PARAMS") && strstr(list, "real(0:9)"));
    free(list);
}

enum { LONG_ONLY = 300 };
static const struct opt opts[] = {{'v', "verbose", NULL, "say more"},
                                  {'o', "output", "DIR", "write to DIR"},
                                  {'n', NULL, NULL, "check only"},
                                  {LONG_ONLY, "long-only", "N", "a number"},
                                  {0}};

static void test_opt_scan(void)
{
    char *argv[] = {"bin/tool", "-vn", "a.nml", "--output=x y", "-oz", "--long-only",
                    "3",        "-",   "--",    "-v",           NULL};
    struct opt_scan s;
    opt_begin(&s, 10, argv, opts);
    CHECK(opt_next(&s) == 'v' && opt_next(&s) == 'n');
    CHECK(opt_next(&s) == 'o' && strcmp(s.value, "x y") == 0);
    CHECK(opt_next(&s) == 'o' && strcmp(s.value, "z") == 0);
    CHECK(opt_next(&s) == LONG_ONLY && strcmp(s.value, "3") == 0);
    CHECK(opt_next(&s) == 0 && s.index == 7);
    CHECK(strcmp(argv[7], "a.nml") == 0 && strcmp(argv[8], "-") == 0 && strcmp(argv[9], "-v") == 0);
}

static void opt_fails(const char *word, const char *message)
{
    char text[32];
    snprintf(text, sizeof text, "%s", word);
    char *argv[] = {"bin/tool", text, NULL};
    struct opt_scan s;
    opt_begin(&s, 2, argv, opts);
    int c = opt_next(&s);
    if (c == 'v') c = opt_next(&s);
    CHECK_FAILS(c == OPT_BAD ? ERR_PARAM : OK, message);
}

static void test_opt_errors(void)
{
    opt_fails("-x", "tool: there is no option '-x'");
    opt_fails("-vx", "tool: there is no option '-x'");
    opt_fails("--foo", "tool: there is no option '--foo' (see tool -h)");
    opt_fails("--vebrose=3", "there is no option '--vebrose=3'; did you mean --verbose? (see");
    opt_fails("-o", "tool: option '-o' needs an argument");
    opt_fails("--output", "tool: option '--output' needs an argument");
    opt_fails("--verbose=3", "tool: option '--verbose=3' takes no argument");
}

/* Fails if a row is missing in the usage text. */
static void test_opt_text(void)
{
    char *use = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&use, &n);
    CHECK(!opt_usage(f, "tool [options] FILE", "Does nothing.", opts, true));
    fclose(f);
    CHECK(strncmp(use, "usage: tool [options] FILE\nDoes nothing.\n\n", 42) == 0);
    CHECK(strstr(use, "  -o, --output DIR           write to DIR\n"));
    CHECK(strstr(use, "  -n                         check only\n"));
    CHECK(strstr(use, "      --long-only N          a number\n") ||
          strstr(use, "     --long-only N"));
    free(use);
}

/* Fails if a line is longer than 80 columns, or begins with a word that resembles an option. */
static void test_opt_wrapped(void)
{
    static const struct opt rows[] = {
        {'z', "redshifts", "Z,…", "one two three four five six seven eight nineteen --ten eleven"},
        {300, "x", NULL, "11111111 22222222 33333333 44444444 55555555 1²3³5678"},
        {OPT_HEADING, NULL, "a map", "Options of"},
        {301, "y", NULL, "why"},
        {0, NULL, NULL, NULL}};
    static const char want[] =
        "usage: tool [options] FILE   (FILE - : from standard input, one path in each\n"
        "           line)\n"
        "       tool A B\n"
        "Does nothing.\n"
        "\n"
        "  -z, --redshifts Z,…        one two three four five six seven eight\n"
        "                             nineteen --ten eleven\n"
        "      --x                    11111111 22222222 33333333 44444444 55555555\n"
        "                             1²3³5678\n"
        "\n"
        "Options of a map:\n"
        "      --y                    why\n";
    char *use = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&use, &n);
    opt_usage(f,
              "tool [options] FILE   (FILE - : from standard input, one path in each line)\n"
              "       tool A B",
              "Does nothing.", rows, true);
    fclose(f);
    CHECK(strcmp(use, want) == 0, "%s", use);
    free(use);
}

/* Known answers of Random123 (kat_vectors, philox4x32 10). Fails on any wrong constant or order. */
static void test_rng_known(void)
{
    static const uint32_t in[3][6] = {
        {0, 0, 0, 0, 0, 0},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
    };
    static const uint32_t known[3][4] = {
        {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        rng_block(in[i], in[i] + 4, out);
        CHECK(memcmp(out, known[i], sizeof out) == 0);
    }
}

/* The same of philox2x32 7; many streams at a time as one by one. */
static void test_rng_pairs(void)
{
    enum { N = 77 };
    static const uint32_t in[3][3] = {
        {0, 0, 0}, {~0u, ~0u, ~0u}, {0x243f6a88, 0x85a308d3, 0x13198a2e}};
    static const uint32_t known[3][2] = {
        {0x257a3673, 0xcd26be2a}, {0xab302c4d, 0x3dc9d239}, {0xbedbbe6b, 0xe4c770b3}};
    int64_t key[N];
    uint32_t high[N], low[N];
    for (int i = 0; i < 3; i++) {
        uint32_t a = in[i][0], b = in[i][1];
        rng_two(in[i][2], &a, &b);
        CHECK(a == known[i][0] && b == known[i][1], "%08x %08x", a, b);
    }
    for (int i = 0; i < N; i++) key[i] = (int64_t)i * 0x123456789ab;
    rng_pairs(9, N, key, high, low);
    for (int i = 0; i < N; i++) {
        uint32_t a, b;
        rng_pairs(9, 1, key + i, &a, &b);
        CHECK(a == high[i] && b == low[i]);
        CHECK(i == 0 || high[i] != high[i - 1]);
    }
}

/* Mean and variance of Poisson deviates on both sides of the change of method, within 5 sigma. */
static void test_rng_poisson(void)
{
    static const double means[] = {0, 1e-3, 0.7, 11.9, 12.1, 250, 1e9};
    enum { N = 100000 };
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        struct rng r = rng_make(5, k, 0);
        double mean = means[k], sum = 0, square = 0;
        for (int i = 0; i < N; i++) {
            double d = (double)rng_poisson(&r, mean) - mean;
            sum += d / N;
            square += d * d / N;
        }
        CHECK(fabs(sum) <= 5 * sqrt(mean / N), "mean %g: off by %g", mean, sum);
        CHECK(fabs(square - mean) <= 5 * sqrt((mean + 2 * mean * mean) / N), "mean %g: variance %g",
              mean, square);
    }
}

/* Fails if streams coincide, or the moments are wrong (5 sigma of 10^6 draws). */
static void test_rng_streams(void)
{
    struct rng a = rng_make(1, 2, 3), b = a, c = rng_make(1, 2, 4), d = rng_make(1, 3, 3),
               e = rng_make(2, 2, 3);
    uint32_t w = rng_word(&a);
    CHECK(w == rng_word(&b) && w != rng_word(&c) && w != rng_word(&d) && w != rng_word(&e));
    enum { N = 1000000 };
    double mean = 0, square = 0, gauss = 0, gauss2 = 0, gauss4 = 0, min = 1, max = 0;
    for (int i = 0; i < N; i++) {
        double u = rng_uniform(&a), g = rng_normal(&b);
        mean += u / N;
        square += u * u / N;
        gauss += g / N;
        gauss2 += g * g / N;
        gauss4 += g * g * g * g / N;
        min = fmin(min, u);
        max = fmax(max, u);
    }
    CHECK(min >= 0 && max < 1 && min < 1e-4 && max > 1 - 1e-4);
    CHECK(fabs(mean - 0.5) < 5 * sqrt(1.0 / 12 / N) &&
          fabs(square - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
    CHECK(fabs(gauss) < 5 / sqrt(N) && fabs(gauss2 - 1) < 5 * sqrt(2.0 / N) &&
          fabs(gauss4 - 3) < 5 * sqrt(96.0 / N));
}

/* Fails if a word is counted twice or in halves where pieces meet, or if a changed bit, position or
 * length is not noticed. */
static void test_checksum(void)
{
    enum { N = 300 };
    unsigned char data[N + 8], seen[N + 1];
    struct rng r = rng_make(7, 1, 0);
    for (int i = 0; i < N + 8; i++) data[i] = (unsigned char)(rng_uniform(&r) * 256);
    for (int trial = 0; trial < 2000; trial++) {
        struct checksum c = {0};
        int n = (int)(rng_uniform(&r) * (N + 1)), at[N + 1], pieces = 0;
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < n; i += 1 + (int)(rng_uniform(&r) * 40)) at[pieces++] = i;
        at[pieces] = n;
        for (int left = pieces; left > 0;) {
            int k = (int)(rng_uniform(&r) * pieces);
            if (seen[k]) continue;
            seen[k] = 1, left--;
            checksum_add(&c, data + at[k], (size_t)(at[k + 1] - at[k]), at[k]);
        }
        CHECK(checksum_end(&c) == checksum_of(data, (size_t)n) && c.bytes == n);
    }
    uint64_t whole = checksum_of(data, N);
    for (int i = 0; i < 8 * N; i++) {
        data[i / 8] ^= (unsigned char)(1 << i % 8);
        CHECK(checksum_of(data, N) != whole);
        data[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    memset(data, 0, sizeof data);
    CHECK(checksum_of(data, 16) != checksum_of(data, 17) &&
          checksum_of(data, 16) != checksum_of(data, 8));
}

int main(void)
{
    par = mem_new(sizeof *par, "parameters");
    test_checksum();
    test_sum_exact();
    test_sum_order();
    test_sum_many();
    test_mem();
    test_mem_large();
    test_mem_zero();
    test_mem_joined();
    test_mem_trim();
    test_param_names();
    test_param_set();
    test_param_check();
    test_outputs();
    test_param_defaults();
    test_param_namelist();
    test_param_show();
    test_opt_scan();
    test_opt_errors();
    test_opt_text();
    test_opt_wrapped();
    test_rng_known();
    test_rng_pairs();
    test_rng_poisson();
    test_rng_streams();
    FREE(par);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
