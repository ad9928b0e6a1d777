/* param/sph_choices: names of kernels, equations of state and switches of the viscosity: those of
 * the namelist, of logs and of summaries (smooth/smooth.h), with the symbols of smooth/law.h.
 * Checkpoints have their numbers, so that a new one is the last. For C, C++ and CUDA.
 *
 *   ROW(bar, SYMBOL, "name")   bar: "|", of the first row nothing */
#pragma once

#define SPH_KERNELS(ROW)                                                                           \
    ROW(, M4, "M4")                                                                                \
    ROW("|", M6, "M6")

/* locally_isothermal: c = c_0 (|x − centre|/r_0)^(−q) */
#define SPH_EOS(ROW)                                                                               \
    ROW(, ADIABATIC, "adiabatic")                                                                  \
    ROW("|", ISOTHERMAL, "isothermal")                                                             \
    ROW("|", LOCALLY, "locally_isothermal")

#define SPH_SWITCHES(ROW)                                                                          \
    ROW(, CD10, "cd10")                                                                            \
    ROW("|", MM97, "mm97")                                                                         \
    ROW("|", CONST, "const")                                                                       \
    ROW("|", DISC, "disc")

/* Names with | between, as rows of sph.def have them. */
#define SPH_OR(bar, symbol, name) bar name
#define SPH_KERNEL_NAMES SPH_KERNELS(SPH_OR)
#define SPH_EOS_NAMES SPH_EOS(SPH_OR)
#define SPH_SWITCH_NAMES SPH_SWITCHES(SPH_OR)
