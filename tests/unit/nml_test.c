/* Unit tests of the reader of namelists: values, errors and remarks. tests/fuzz/dialects.py
 * compares the reader with Fortran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "param/nml.h"
#include "param/param.h"

static struct params *par; /* large, hence one for all tests */

static enum err read_text(const char *text)
{
    return param_read_text(par, text, strlen(text), "t.nml");
}

static const char sample[] = "Remarks are ignored, also = and / and & here\n"
                             "&RUN_PARAMS ! a comment with 'one quote\n"
                             "Cosmo=.TRUE.  pic=T poisson = .t., hydro=true\r\n"
                             "nsubcycle=1,1,\n\t3*2, ! more\n"
                             "nsubcycle(6)=1 1\n"
                             "/ text after\n"
                             "&AMR_PARAMS levelmin=3, levelmax=10 boxlen=1D0 / &OUTPUT_PARAMS "
                             "aout(2:3)=.5,1. aout=0.25d0,, /\n"
                             "&INIT_PARAMS\n"
                             "initfile(1)='it''s/here' \"second ! / &\"\n"
                             "filetype='GRAFIC'\n"
                             "var_region(1,2)=0.5 var_region(2:3,1)=7,8\n"
                             "omega_b=-0.\n"
                             "&end\n"
                             "&REFINE_PARAMS m_refine=2*,2*8.,+1e+2,1-1 /\n";

/* Fails if any rule of the syntax is forgotten; expected numbers are those stored by a Fortran
 * compiler. */
static void test_nml_values(void)
{
    CHECK(read_text(sample) == OK);
    CHECK(par->run.cosmo && par->run.pic && par->run.poisson && par->run.hydro &&
          !par->run.verbose);
    const int sub[] = {1, 1, 2, 2, 2, 1, 1, 2};
    for (int i = 0; i < 8; i++) CHECK(par->run.nsubcycle[i] == sub[i]);
    CHECK(par->amr.levelmin == 3 && par->amr.levelmax == 10 && par->amr.boxlen == 1);
    CHECK(par->output.aout[0] == 0.25 && par->output.aout[1] == 0.5 && par->output.aout[2] == 1);
    CHECK(strcmp(par->init.initfile[0], "it's/here") == 0 &&
          strcmp(par->init.initfile[1], "second ! / &") == 0);
    CHECK(strcmp(par->init.filetype, "grafic") == 0 && par->init.omega_b == 0);
    CHECK(par->init.var_region[0][1] == 0.5 && par->init.var_region[1][0] == 7 &&
          par->init.var_region[2][0] == 8);
    CHECK(par->refine.m_refine[1] == -1 && par->refine.m_refine[2] == 8 &&
          par->refine.m_refine[4] == 100 && par->refine.m_refine[5] == 0.1);
    CHECK(param_given_count(par, "refine", "m_refine") == 6 &&
          param_given_count(par, "init", "var_region") == 2);
    CHECK(param_given(par, "run", "nsubcycle") && !param_given(par, "run", "nremap"));
    CHECK(param_check(par) == OK);
    CHECK(read_text("&INIT_PARAMS d_region=1,,3 p_region(2)=5,,7 var_region(1:2,2:3)=1,2,3,4 /") ==
          OK);
    CHECK(par->init.d_region[0] == 1 && par->init.d_region[1] == 0 && par->init.d_region[2] == 3);
    CHECK(par->init.p_region[1] == 5 && par->init.p_region[2] == 0 && par->init.p_region[3] == 7);
    CHECK(par->init.var_region[1][1] == 2 && par->init.var_region[0][2] == 3 &&
          par->init.var_region[1][2] == 4);
}

/* Fails if a repeat count stores one value more or less, or at the wrong index. */
static void test_nml_repeats(void)
{
    for (int n = 1; n < 99; n++) {
        char text[80];
        int wrong = 0;
        snprintf(text, sizeof text, "&RUN_PARAMS nsubcycle=2,%d*1,2 /", n);
        CHECK(read_text(text) == OK);
        CHECK(param_given_count(par, "run", "nsubcycle") == n + 2);
        for (int i = 0; i < n + 2; i++) wrong += par->run.nsubcycle[i] != (i == 0 || i > n ? 2 : 1);
        CHECK(wrong == 0, "%s: %d wrong", text, wrong);
    }
}

/* Fails if a mistake passes silently or is reported at the wrong place. */
static void test_nml_errors(void)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"&RUN_PARAMS hydro=T\n", "t.nml:2: the file ends within group &RUN_PARAMS (line 1)"},
        {"&RUN_PARAMS hydro=T", "ends within group"},
        {"&REFINE_PARAMS\n\nm_refine=3\n", "t.nml:4: the file ends within group &REFINE_PARAMS"},
        {"&RUN_PARAMS hydro=T\n&AMR_PARAMS /", "t.nml:2: a new group begins"},
        {"&RUN_PARAMS /\n&RUN_PARAMS /",
         "t.nml:2: group &RUN_PARAMS appears a second time (first in line 1)"},
        {"&RUN_PARAMS\njobcontrolfile='abc\n/",
         "t.nml:2: the string that begins with ' is not closed"},
        {"&RUN_PARAMS jobcontrolfile=a/b /", "quotes"},
        {"&RUN_PARAMS jobcontrolfile='a'b /", "expected a comma or blank"},
        {"& RUN_PARAMS /", "a group name must follow '&'"},
        {"&RUN_PARAMS\n\n=3 /", "t.nml:3: expected a parameter name"},
        {"&RUN_PARAMS nremap 3 /", "expected '=' after 'nremap'"},
        {"&RUN_PARAMS nsubcycle(=3 /", "expected an index"},
        {"&RUN_PARAMS nsubcycle(1=3 /", "expected ')'"},
        {"&RUN_PARAMS nsubcycle(1::2)=1 /", "(first:last:step)"},
        {"&RUN_PARAMS nsubcycle(:9:2)=1 /", "(first:last:step)"},
        {"&RUN_PARAMS nsubcycle(1:9:0)=1 /", "(first:last:step)"},
        {"&RUN_PARAMS nsubcycle(9:1:2)=1 /", "section 9:1 of 'nsubcycle' is empty"},
        {"&RUN_PARAMS nsubcycle(101:1:-1)=1 /", "index 101"},
        {"&RUN_PARAMS nsubcycle(1:5:2)=4*1 /", "room for 3 values"},
        {"&RUN_PARAMS nsubcycle(1 :3)=1 /", "a blank stands before ':' in the index"},
        {"&INIT_PARAMS var_region(1 ,2)=1 /", "a blank stands before ',' in the index"},
        {"&RUN_PARAMS nsubcycle=101* /", "room for 100 values"},
        {"&RUN_PARAMS nsubcycle(1,2,3)=3 /", "more than two indices"},
        {"&RUN_PARAMS nsubcycle(99999999999)=1 /", "index of 'nsubcycle' is too large"},
        {"&RUN_PARAMS nsubcycle=99999999999999999999*1 /", "repeat count"},
        {"&RUN_PARAMS nsubcycle=0*1 /", "repeat count"},
        {"&RUN_PARAMS nsubcycle=1000000000*1 /", "room for 100 values"},
        {"&RUN_PARAMS nsubcycle(0)=1 /", "index 0 of 'nsubcycle' is outside 1..100"},
        {"&RUN_PARAMS nsubcycle(101)=1 /", "index 101"},
        {"&RUN_PARAMS nsubcycle(3:2)=1 /", "section 3:2"},
        {"&RUN_PARAMS nsubcycle(2:3)=1,1,1 /", "room for 2 values"},
        {"&RUN_PARAMS nremap(1)=1 /", "takes no index"},
        {"&RUN_PARAMS nremap=1,2 /", "room for 1 value here"},
        {"&RUN_PARAMS hydro=yes /", "'hydro' is a logical"},
        {"&RUN_PARAMS nremap=1.5 /", "'nremap' is an integer"},
        {"&RUN_PARAMS nremap=99999999999 /", "too large for an integer of 4 bytes"},
        {"&HYDRO_PARAMS gamma=1.4.2 /", "'gamma' is a number"},
        {"&HYDRO_PARAMS gamma=1e999 /", "'gamma' is a number"},
        {"&HYDRO_PARAMS gamma=nan /", "'gamma' is a number"},
        {"&HYDRO_PARAMS gamma='1.4' /", "'gamma' is a number"},
        {"&HYDRO_PARAMS\ngamma=0.5 /",
         "t.nml:2: gamma=0.5 is out of range: 1.000001 .. 10 allowed"},
        {"&RUN_PARAMS overload=2 /", "set overload=1"},
        {"&INIT_PARAMS var_region(1)=3 /", "needs 2 indices"},
        {"no group\n", "no namelist group"},
        {"&INIT_PARAMS filetype=grafic /", "needs quotes: write 'grafic'"},
        {"&HYDRO_PARAMS gamma=1.5&end", "'&' is not allowed in a value"},
        {"&HYDRO_PARAMS gamma=1.5$end", "'$' is not allowed in a value"},
        {"&RUN_PARAMS nsubcycle=1\n,1 /",
         "t.nml:2: in 'nsubcycle', compilers differ on a comma that begins a line"},
        {"&RUN_PARAMS nsubcycle=1, ! c\n1 /", "t.nml:1: in 'nsubcycle', compilers differ on a "
                                              "comment behind a comma: leave out this comma"},
        {"&RUN_PARAMS nsubcycle=! c\n1 /", "a comment before the first value"},
        {"&RUN_PARAMS nsubcycle=\n,1 /", "a comma that begins a line"},
        {"&MOVIE_PARAMS zoom_only_frame=true !c\nT /", "a logical without dots"},
        {"&MOVIE_PARAMS zoom_only_frame=T, !c\ntheta_camera=1. /", "a comment behind a comma"},
        {"&MOVIE_PARAMS zoom_only=true", "add a '/'"},
        {"&RUN_PARAMS nsubcycle=2*;1 /", "compilers differ on ';' behind '*'"},
        {"&RUN_PARAMS nsubcycle=2*!c\n1 /", "compilers differ on '!' behind '*'"},
        {"&RUN_PARAMS\fhydro=T /", "a blank must follow &RUN_PARAMS, not byte 0x0c"},
        {"&RUN_PARAMS: hydro=T /", "a blank must follow &RUN_PARAMS, not ':'"},
        {"&RUN_PARAMS hydro=T\rpic=T /", "byte 0x0d is not allowed"},
        {"&& RUN_PARAMS /\n &&RUN_PARAMS hydro=T /",
         "t.nml:2: Fortran does not find &RUN_PARAMS right after another '&'"},
        {"&INIT_PARAMS initfile='a!b' / &RUN_PARAMS hydro=T /",
         "t.nml:1: the '!' before it in the line hides &RUN_PARAMS from Fortran"},
        {"&INIT_PARAMS initfile='a &RUN_PARAMS hydro=F /' / &RUN_PARAMS hydro=T /",
         "Fortran takes &RUN_PARAMS in this string for the group"},
        {"see &RUN_PARAMS below\n&RUN_PARAMS hydro=T /",
         "t.nml:2: expected '=' after 'below', not '&' (Fortran reads the group from line 1, "
         "whatever precedes &RUN_PARAMS)"},
    };
    size_t before = mem_now();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(read_text(bad[i].text), bad[i].message);
    CHECK(mem_now() == before);
    CHECK_FAILS(param_read_text(par, "&RUN\0", 5, "t.nml"), "zero byte at offset 4");
}

/* Forms of namelists that Fortran reads; each sets only hydro. Fails if one of them is skipped. */
static void test_nml_forms(void)
{
    static const char *const forms[] = {
        "$RUN_PARAMS\nhydro=T\n$END\n",
        "$run_params hydro=T &End",
        "run: &RUN_PARAMS hydro=T /",
        "#&RUN_PARAMS hydro=T /",
        "&AMR_PARAMS / end of amr &RUN_PARAMS hydro=T /",
        "&AMR_PARAMS /&RUN_PARAMS hydro=T/",
        "&AMR_PARAMS /$RUN_PARAMS hydro=T/",
        "\f&RUN_PARAMS,hydro=T /",
        "&RUN_PARAMS;hydro=T; /",
        "&RUN_PARAMS!c &AMR_PARAMS x\n,, hydro=T /",
        "&RUN_PARAMS hydro=T / &POISSON_PARAMS epsilon=1e-4",
        "&RUN_PARAMS hydro=T / \n&INIT_PARAMS\n",
        "! &RUN_PARAMS pic=T /\n&RUN_PARAMS hydro=T / &\n& x / $ y / see &RUN_PARAMS pic=T /",
        "&RUN_PARAMS_X: pic=T / &\n&RUN_PARAMS hydro=T /",
        "Q&A R&D $3 & &!\n&RUN_PARAMS hydro=T /",
        "&RUN_PARAMS hydro=T jobcontrolfile='jobcontrol.txt' / a 'string' & &RUN_PARAMS x",
        "&RUN_PARAMS hydro=\n! c\n T /",
        "\xef\xbb\xbf&RUN_PARAMS hydro=T\r\n/\r\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        CHECK(read_text(forms[i]) == OK, "%s: %s", forms[i], err_message());
        CHECK(par->run.hydro && !par->run.pic, "%s", forms[i]);
    }
    CHECK(read_text("&RUN_PARAMS nsubcycle(2:8:3)=3*1 nsubcycle(6:5:-1)=1 2 /") == OK);
    CHECK(par->run.nsubcycle[0] == 2 && par->run.nsubcycle[1] == 1 && par->run.nsubcycle[2] == 2 &&
          par->run.nsubcycle[7] == 1 && par->run.nsubcycle[4] == 2 && par->run.nsubcycle[5] == 1);
    CHECK(
        read_text("&INIT_PARAMS d_region(3)=2*1 var_region(1:4:2,1:3:2)=1;2,3;;p_region=16.-1 /") ==
        OK);
    CHECK(par->init.d_region[3] == 1 && par->init.d_region[4] == 0 && par->init.p_region[0] == 1.6);
    CHECK(par->init.var_region[2][0] == 2 && par->init.var_region[0][2] == 3 &&
          par->init.var_region[2][2] == 0);
}

/* Fails (crashes, hangs, leaks) if any damage of a good file is not detected. */
static void test_nml_hostile(void)
{
    struct rng r = rng_make(42, 0, 0);
    size_t before = mem_now();
    static const char nasty[] = "&/'\"=(),:*!\n\t\r 0123456789.dE+-$%\\\x01\x7f\xff_aT";
    int good = 0, rounds = 20000;
    for (int k = 0; k < rounds; k++) {
        char text[sizeof sample];
        memcpy(text, sample, sizeof text);
        for (int hits = 1 + (int)(rng_word(&r) % 6); hits > 0; hits--)
            text[rng_word(&r) % (sizeof text - 1)] = nasty[rng_word(&r) % (sizeof nasty - 1)];
        size_t bytes = rng_word(&r) % 4 ? sizeof text - 1 : rng_word(&r) % sizeof text;
        struct nml n;
        enum err err = nml_parse(&n, text, bytes, "t.nml", &param_names);
        if (err == OK) nml_free(&n);
        good += err == OK || *err_message();
    }
    CHECK(good == rounds);
    CHECK(mem_now() == before);
    for (int k = 0; k < 200; k++) { /* the complete reader, less often: struct params is large */
        char text[sizeof sample];
        memcpy(text, sample, sizeof text);
        text[rng_word(&r) % (sizeof text - 1)] = nasty[rng_word(&r) % (sizeof nasty - 1)];
        enum err err = read_text(text);
        if (err == OK) err = param_check(par);
        good += err == OK || *err_message();
    }
    CHECK(good == rounds + 200 && mem_now() == before);
    size_t huge = 1 << 20;
    char *many = mem_new(huge + 2, "test");
    memset(many, '9', huge);
    memcpy(many, "&RUN_PARAMS nsubcycle=", 22);
    many[huge] = '*', many[huge + 1] = '1';
    CHECK_FAILS(param_read_text(par, many, huge + 2, "t.nml"), "repeat count");
    memset(many + 22, '(', huge - 22);
    CHECK_FAILS(param_read_text(par, many, huge, "t.nml"), "not allowed in a value");
    FREE(many);
}

/* Remarks on a namelist; caller frees. */
static char *remarks_on(const char *namelist)
{
    char *said = NULL;
    size_t bytes = 0;
    CHECK(read_text(namelist) == OK, "%s: %s", namelist, err_message());
    FILE *f = open_memstream(&said, &bytes);
    param_remarks(namelist, strlen(namelist), "t.nml", f);
    fclose(f);
    return said;
}

/* Fails if text outside of groups that looks like settings is silently ignored, or if every remark
 * is reported. */
static void test_nml_remarks(void)
{
    static const struct {
        const char *text, *note;
    } notes[] = {
        {"&RUN_PARAMS /\nnstepmax=5\n", "line 2 of the namelist: 'nstepmax=5' is outside"},
        {"&RUN_PARAMS / nstepmax (1) = 5 ! c", "line 1 of the namelist: 'nstepmax (1) = 5' is out"},
        {"set hydro=T\n&RUN_PARAMS /", "'hydro=T' is outside of all groups, and is not read"},
        {"x3=2\n&RUN_PARAMS /", "'x3=2' is outside"},
        {"&RUN_PARAMS /\n  /\n", "line 2 of the namelist: '/' ends no group"},
        {"&RUN_PARAMS /\n$end\n", "'$end' ends no group"},
        {"&RUN_PARAMS /\n#AMR_PARAMS\n", "line 2 of the namelist: '#AMR_PARAMS' begins no group"},
        {"&RUN_PARAMS /\nAMR_PARAMS\n", "'AMR_PARAMS' begins no group"},
        {"&RUN_PARAMS /\nsee &RUN_PARAMS", "line 2 of the namelist: '&RUN_PARAMS' is in a remark"},
        {"a: &RUN_PARAMS /", "line 1 of the namelist: 'a:' is outside of all groups; the group"},
        {"\n&SF_PARAMS", "line 2 of the namelist: &SF_PARAMS has no closing '/'"},
    };
    static const char *const quiet = "Remarks (a==b) about x = 1, & $ / and RUN_PARAMS\n"
                                     "&RUN_PARAMS / end of run\n! pic=T\n/path\n";
    size_t before = mem_now();
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char *said = remarks_on(notes[i].text);
        CHECK(strstr(said, notes[i].note), "'%s': %s", notes[i].text, said);
        free(said);
    }
    char *said = remarks_on(quiet);
    CHECK(!*said, "%s", said);
    free(said);
    char many[4000] = "&RUN_PARAMS /\n";
    for (int i = 0; i < 50; i++) snprintf(many + strlen(many), 40, "line%d=%d\n", i, i);
    said = remarks_on(many);
    CHECK(strstr(said, "line 21 of the namelist: 'line19=19'") && strstr(said, "and 30 more"));
    free(said);
    CHECK(mem_now() == before);
}

int main(void)
{
    par = mem_new(sizeof *par, "parameters");
    test_nml_values();
    test_nml_repeats();
    test_nml_errors();
    test_nml_forms();
    test_nml_hostile();
    test_nml_remarks();
    FREE(par);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
