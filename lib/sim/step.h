/* sim/step: the phases of sim/step.c as functions (sim/phases.c). Each is of one step of level l,
 * the icount-th within a step of level l-1. */
#pragma once
#include "sim/phase.h"

typedef enum err step_phase(struct sim *s, int l, int icount);
step_phase step_refine, step_balance, step_enter, step_output, step_keep_phi, step_deposit,
    step_hand_down, step_unkick_gas, step_poisson, step_first_phi, step_force, step_energy,
    step_kick_parts, step_kick_gas, step_send_gas, step_time_step, step_receive_gas,
    step_receive_early, step_publish, step_finer, step_send_edges, step_receive_edges,
    step_send_flags, step_godunov, step_kick_again, step_restrict_gas, step_move_parts, step_flag,
    step_merge, step_add_steps, step_cooling_table, step_coarse_terms, step_level_terms,
    step_pull_sinks, step_look_around, step_accrete, step_create_sinks, step_renew_sinks,
    step_black_holes;
/* Phases that have a second function, for the device (sim/phases.c). */
typedef enum err there_phase(struct sim *s, int l, int icount, bool *done);
there_phase there_unkick_gas, there_kick_gas, there_kick_again, there_time_step, there_godunov,
    there_keep_phi, there_deposit, there_poisson, there_first_phi, there_force, there_energy,
    there_restrict_gas, there_level_terms, there_enter, there_hand_down, there_kick_parts,
    there_move_parts, there_merge;
