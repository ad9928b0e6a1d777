/* param_test: messages of simulate on parameters that are not supported, have no effect, or are
 * most likely a mistake. Comments on tests name the mistakes that they catch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "param/row.h"

static struct params *par; /* large, hence one for all tests */

static enum err read_text(const char *text)
{
    return param_read_text(par, text, strlen(text), "t.nml");
}

/* Fails if an unsupported parameter is silently accepted, or if its default or its details stop a
 * run. */
static void test_param_refused(void)
{
    CHECK_FAILS(read_text("&RT_PARAMS\nrt_vc=.true. /"),
                "t.nml:2: rt_vc=.true. is not supported: ");
    CHECK_FAILS(read_text("&RT_PARAMS rt_vc=T /"), "set rt_vc=.false.");
    CHECK_FAILS(read_text("&INIT_PARAMS filetype='gadget9' /"), "possible values");
    CHECK_FAILS(read_text("&RUN_PARAMS ordering='spiral' /"), "ksection");
    CHECK_FAILS(read_text("&RUN_PARAMS use_mond=T /"), "set use_mond=.false.");
    CHECK(read_text("&PHYSICS_PARAMS cooling=.false. ragn=0.1 tagn=0.3 drag=F / "
                    "&RUN_PARAMS sink=F nrestart=0 /") == OK);
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    CHECK(param_unused(par, 1, f) == 4);
    fclose(f);
    CHECK(strstr(text, "physics/ragn, physics/tagn have no effect unless sink=.true. without"));
    CHECK(strstr(text, "physics/drag has no effect unless sink=.true. without"));
    CHECK(strstr(text, "physics/cooling has no effect unless hydro=.true."));
    free(text);
}

static bool is_noted(const char *namelist, const char *note)
{
    char *text = NULL;
    size_t bytes = 0;
    CHECK(read_text(namelist) == OK);
    param_complete(par);
    FILE *f = open_memstream(&text, &bytes);
    param_unused(par, 1, f);
    param_hint_dims(par, f);
    fclose(f);
    bool found = strstr(text, note) != NULL;
    free(text);
    return found;
}

/* Fails if a line says "no effect" wrongly, or is missing. The test changes conditions, since
 * mentioning a switch is not enough. */
static void test_param_conditions(void)
{
    static const struct {
        const char *namelist, *name;
        bool vain;
    } table[] = {
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS t_eos=20. /", "cooling/t_eos", true},
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS barotropic_eos=T t_eos=20. /", "cooling/t_eos",
         true},
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS barotropic_eos=T barotropic_eos_form='polytrope' "
         "t_eos=20. /",
         "cooling/t_eos", false},
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS isothermal=T barotropic_eos_form='isothermal' "
         "t_eos=20. /",
         "cooling/t_eos", false},
        {"&RUN_PARAMS hydro=T / &HYDRO_PARAMS slope_type=1 slope_theta=1.2 /", "slope_theta", true},
        {"&RUN_PARAMS hydro=T / &HYDRO_PARAMS slope_type=8 slope_theta=1.2 /", "slope_theta",
         false},
        {"&RUN_PARAMS cosmo=T hydro=T / &AMR_PARAMS boxlen=100. /", "amr/boxlen", true},
        {"&RUN_PARAMS hydro=T / &AMR_PARAMS boxlen=100. /", "amr/boxlen", false},
        {"&RUN_PARAMS hydro=T nremap=3 /", "run/nremap", true},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS eps_star=.1 / &FEEDBACK_PARAMS f_w=3. f_ek=.5 /", "f_ek",
         false},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS eps_star=.1 / &FEEDBACK_PARAMS f_ek=.5 /", "f_ek", true},
        {"&RUN_PARAMS cosmo=T hydro=T / &COOLING_PARAMS cooling=T / &AMR_PARAMS levelmin=5 "
         "levelmax=9 / &REFINE_PARAMS q_refine_holdback=F /",
         "q_refine_holdback", false},
        {"&RUN_PARAMS rt=F / &RT_PARAMS rt_nsubcycle=2 /", "rt_nsubcycle", true},
        {"&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 length_x=.1 /", "length_x", false},
        {"&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 region_type='point' length_x=.1 /",
         "length_x", true},
        {"&RUN_PARAMS hydro=T / &AMR_PARAMS levelmin=3 levelmax=5 / &REFINE_PARAMS m_refine(2)=8. "
         "mass_sph=1. /",
         "mass_sph", false},
        {"&RUN_PARAMS hydro=T / &AMR_PARAMS levelmin=3 levelmax=5 / &REFINE_PARAMS m_refine(3)=8. "
         "mass_sph=1. /",
         "mass_sph", true},
        {"&RUN_PARAMS hydro=T nsubcycle=1 / &AMR_PARAMS levelmin=3 levelmax=5 /", "nsubcycle",
         true},
        {"&RUN_PARAMS hydro=T nsubcycle=1 / &AMR_PARAMS levelmin=3 levelmax=5 / &REFINE_PARAMS "
         "err_grad_u=.1 /",
         "nsubcycle", false},
        {"&RUN_PARAMS hydro=T nsubcycle=1 / &AMR_PARAMS levelmin=3 levelmax=5 / &REFINE_PARAMS "
         "jeans_refine=4. /",
         "nsubcycle", true},
        {"&RUN_PARAMS hydro=T / &REFINE_PARAMS ivar_refine=3 / &AMR_PARAMS levelmax=2 /",
         "ivar_refine", true},
        {"&RUN_PARAMS hydro=T / &REFINE_PARAMS ivar_refine=6 / &AMR_PARAMS levelmax=2 /",
         "ivar_refine", false},
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS cooling=T t2max=1e5 /", "t2max", false},
        {"&RUN_PARAMS hydro=T / &COOLING_PARAMS cooling=T isothermal=T t2max=1e5 /", "t2max", true},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS t2_star=10. g_star=2. /", "g_star", true},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS t2_star=10. g_star=2. eps_star=.1 /", "g_star", false},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS eps_star=.1 / &PHYSICS_PARAMS "
         "yieldtablefilename='hopkins2018' z_ave=.1 /",
         "z_ave", false},
        {"&RUN_PARAMS hydro=T / &SF_PARAMS eps_star=.1 / &PHYSICS_PARAMS "
         "yieldtablefilename='hopkins2018' metal=T z_ave=.1 /",
         "z_ave", true},
        {"&RUN_PARAMS pic=T gpu_hydro=T gpu_device='host' /", "gpu_device", true},
        {"&RUN_PARAMS pic=T gpu_particles=T gpu_device='host' /", "gpu_device", false},
        {"&RUN_PARAMS pic=T poisson=T use_fftw=F / &AMR_PARAMS levelmin=4 levelmax=5 /", "use_fftw",
         true},
        {"&RUN_PARAMS pic=T poisson=T use_fftw=F / &AMR_PARAMS levelmin=4 levelmax=6 /", "use_fftw",
         false},
        {"&RUN_PARAMS pic=T poisson=T gpu_fft=T / &AMR_PARAMS levelmin=5 levelmax=6 /", "gpu_fft",
         true},
        {"&RUN_PARAMS pic=T poisson=T gpu_fft=T / &AMR_PARAMS levelmin=6 levelmax=6 /", "gpu_fft",
         false},
        {"&RUN_PARAMS pic=T poisson=T gpu_fft=T use_fftw=T / &AMR_PARAMS levelmin=5 levelmax=6 /",
         "gpu_fft", false},
        {"&RUN_PARAMS pic=T poisson=T use_fftw=T / &AMR_PARAMS levelmin=5 levelmax=5 / "
         "&POISSON_PARAMS epsilon=.1 /",
         "epsilon", true},
        {"&RUN_PARAMS pic=T poisson=T use_fftw=T / &AMR_PARAMS levelmin=5 levelmax=6 / "
         "&POISSON_PARAMS epsilon=.1 /",
         "epsilon", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK(is_noted(table[i].namelist, table[i].name) == table[i].vain, "%s", table[i].namelist);
    for (enum param_condition c = PARAM_ALWAYS + 1; c < PARAM_CONDITIONS; c++) {
        const char *text = param_condition_text(c);
        CHECK(text && *text);
        int used = 0;
        for (int i = 0; i < PARAM_ROWS; i++) used += param_row_at(i)->when == c;
        CHECK(used > 0, "no parameter has the condition '%s'", text);
    }
}

static enum err checked(const char *namelist)
{
    TRY(read_text(namelist));
    TRY(param_check(par));
    return param_check_mhd(par);
}

/* Fails if magnetic fields of RAMSES are taken for plain gas because a default is named, or if a
 * run with a field accepts what is not built for it. */
static void test_param_builds(void)
{
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T / &HYDRO_PARAMS riemann2d='llf' /"),
                "riemann2d in &HYDRO_PARAMS is a parameter of RAMSES compiled with SOLVER=mhd");
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T / &INIT_PARAMS A_region=0. /"), "--build SOLVER=mhd");
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T / &HYDRO_PARAMS riemann='hlld' /"), "'acoustic'");
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T mhd=T / &HYDRO_PARAMS riemann='hllc' /"), "'hlld'");
    CHECK_FAILS(checked("&RUN_PARAMS mhd=T pic=T /"), "set hydro=.true.");
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T mhd=T / &HYDRO_PARAMS slope_type=3 /"),
                "give slope_mag_type, 0, 1, 2, 7 or 8");
    CHECK_FAILS(checked("&RUN_PARAMS hydro=T / &HYDRO_PARAMS scheme='induction' /"),
                "set scheme='muscl'");
    CHECK(checked("&RUN_PARAMS hydro=T mhd=T / &HYDRO_PARAMS eta_mag=.1 scheme='induction' "
                  "velana='ponomarenko' /") == OK);
    CHECK(checked("&RUN_PARAMS hydro=T mhd=T / &HYDRO_PARAMS riemann='hlld' riemann2d='hlla' "
                  "slope_type=3 slope_mag_type=1 / &INIT_PARAMS A_region=1. /") == OK);
    int left = 0;
    const char *old = "&HYDRO_PARAMS riemann2d='hlld' /";
    CHECK(param_read_loose(par, old, strlen(old), "t.nml", &left) == OK && left == 0);
}

/* Remarks on settings that are most likely a mistake, though not an error. */
static void test_param_noted(void)
{
    CHECK(is_noted("&RUN_PARAMS hydro=T\npic=F\nhydro=F /",
                   "lines 1 and 3 of the namelist both set hydro: the last counts"));
    CHECK(!is_noted("&RUN_PARAMS hydro=T\npic=F /", "both set"));
    CHECK(!is_noted("&INIT_PARAMS nregion=2 d_region(1)=1.\nd_region(2)=1. /", "both set"));
    CHECK(is_noted("&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 d_region=1.,2.,3. /",
                   "init/d_region has values for 3 regions, but nregion=1"));
    CHECK(!is_noted("&INIT_PARAMS nregion=1 d_region=1.,2.,3. /", "has values for"));
    CHECK(!is_noted("&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=3 d_region=1.,2.,3. /", "nregion"));
    CHECK(!is_noted("&INIT_PARAMS filetype='grafic' initfile(1)='ics' /", "nregion"));
    CHECK(is_noted("&OUTPUT_PARAMS aout=0.5 /", "output/aout: without cosmo"));
    CHECK(!is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS aout=0.5 /", "output/aout"));
    CHECK(is_noted("&RUN_PARAMS cosmo=T hydro=T /", "nothing gravitates"));
    CHECK(!is_noted("&RUN_PARAMS cosmo=T poisson=T hydro=T /", "nothing gravitates"));
    CHECK(is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS aout=10,20,30 /", "lie in the future"));
    CHECK(!is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS aout=.5,1 /", "lie in the future"));
    CHECK(is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS tout=.5 /",
                   "output/tout: with cosmo=.true."));
    CHECK(is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS tend=.5 /",
                   "output/tend: with cosmo=.true."));
    CHECK(is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS delta_tout=.5 /", "delta_aout counts"));
    CHECK(!is_noted("&RUN_PARAMS cosmo=T / &OUTPUT_PARAMS tout=-5,-2 /", "output/tout"));
    CHECK(!is_noted("&OUTPUT_PARAMS tout=.5 delta_tout=.1 tend=1 /", "with cosmo"));
    CHECK(is_noted("&OUTPUT_PARAMS noutput=1 tout=.1,.2,.3 /", "from tout(2)=0.2 on are not used"));
    CHECK(is_noted("&OUTPUT_PARAMS tout=.1,.3 tend=.2 /", "last 1 entry lies beyond tend=0.2"));
    CHECK(!is_noted("&OUTPUT_PARAMS tout=.1,.2 tend=.2 /", "output/tout"));
    CHECK(is_noted("&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 x_center=.5 /", "NDIM=1"));
    CHECK(is_noted("&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 length_y=.5 /", "NDIM=2"));
    CHECK(!is_noted("&RUN_PARAMS hydro=T / &INIT_PARAMS nregion=1 x_center=.5 z_center=.5 /",
                    "NDIM"));
    CHECK(is_noted("&FEEDBACK_PARAMS ir_eff=1. /", "feedback/ir_eff has no effect"));
    CHECK(is_noted("&PHYSICS_PARAMS ir_eff=1. /", "physics/ir_eff has no effect"));
}

/* Fails if a setting that changes no result is not reported when in force, or is reported though it
 * is the default or has no effect. */
static void test_param_settings(void)
{
    static const struct {
        int ranks;
        const char *namelist, *line;
    } table[] = {
        {1, "&RUN_PARAMS hydro=T nremap=3 ordering='hilbert' / &HYDRO_PARAMS tile_depth=1 /",
         " Settings that change no result: hydro/tile_depth=1\n"},
        {2, "&RUN_PARAMS hydro=T nremap=3 ordering='Hilbert' / &HYDRO_PARAMS tile_depth=1 /",
         " Settings that change no result: run/nremap=3, run/ordering='hilbert', "
         "hydro/tile_depth=1\n"},
        {2,
         "&RUN_PARAMS hydro=T nremap=5 ordering='ksection' memory_balance=T / "
         "&HYDRO_PARAMS tile_depth=0 /",
         ""},
        {2, "&RUN_PARAMS pic=T / &HYDRO_PARAMS tile_depth=1 /", ""},
        {1, "&RUN_PARAMS pic=T static=T /", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *text = NULL;
        size_t bytes = 0;
        CHECK(read_text(table[i].namelist) == OK);
        FILE *f = open_memstream(&text, &bytes);
        int n = param_settings(par, table[i].ranks, f);
        fclose(f);
        CHECK(strcmp(text, table[i].line) == 0, "%s", text);
        CHECK((n > 0) == (*table[i].line != 0));
        free(text);
    }
}

int main(void)
{
    par = mem_new(sizeof *par, "test");
    test_param_refused();
    test_param_conditions();
    test_param_builds();
    test_param_noted();
    test_param_settings();
    mem_free(par);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
