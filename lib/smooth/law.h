/* smooth/law: the numbers of the equations of smooth.h. For C, C++ and CUDA. */
#pragma once
#include <stdbool.h>

#include "param/sph_choices.h"

/* SMOOTH_M4 …, SMOOTH_ADIABATIC …, SMOOTH_CD10 … */
#define SMOOTH_SYMBOL(bar, symbol, name) SMOOTH_##symbol,
enum smooth_kernel { SPH_KERNELS(SMOOTH_SYMBOL) SMOOTH_KERNELS };
enum smooth_eos { SPH_EOS(SMOOTH_SYMBOL) SMOOTH_EOS };
enum smooth_switch { SPH_SWITCHES(SMOOTH_SYMBOL) SMOOTH_SWITCHES };
#undef SMOOTH_SYMBOL

/* Numbered as in Phantom. */
enum smooth_type {
    SMOOTH_GAS = 1,
    SMOOTH_BOUNDARY = 3 /* acts on the gas as gas does, but has no acceleration and no heating */
};

enum { SMOOTH_LEAF = 24 }; /* points of a leaf of the tree with which sums are fastest */
struct smooth_par {
    enum smooth_kernel kernel;
    double eta;   /* hfact: h = η (m/ρ)^(1/3) */
    double mass;  /* of a particle */
    double h_tol; /* |Δh|/h at which the iteration of h ends */
    enum smooth_eos eos;
    double gamma, c0, r0, q, centre[3];
    enum smooth_switch alpha_switch;
    double alpha_min, alpha_max, beta, alpha_u, sigma; /* sigma: of τ = h/(σ c), 0.1 */
    bool gravity;                                      /* conductivity with |w| as signal speed */
    bool shock_heating, pdv_heating;                   /* terms of du/dt that count */
};
