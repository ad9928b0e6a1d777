/* sim/step: the order of one step of one level, one row per phase.
 *
 * Levels are advanced by recursion with adaptive steps: level l takes one step, level l+1 one or
 * two inside it (phase `finer`), and the coarse step ends as the exact sum of the fine ones. The
 * second-order scheme is kick-drift-kick for particles and, for gas, a half kick with the old
 * force, the Godunov step, and the other half with the new force in the next step. Fluxes through
 * the boundary of level l+1 are handed to level l (reflux), so mass, momentum and energy are
 * conserved to round-off. (Teyssier 2002; docs/method/step.md)
 *
 * A row: the phase (a function of sim/phases.c) · its timer in the log (SAME: that of the row
 * above) · when it runs · where it runs · what it reads in own cells · what it reads in ghosts too
 * · what it writes. Sets are those of level l; UP: of l-1 and l-2; NEXT: of l+1; FINER: of l+1 and
 * all beyond. With check_ghosts=.true. every run proves the last two columns (sim/phase.h). WORK:
 * the time of the phase counts for the balance. GPU: a row with a second function, for a device. */
#include "oct/field_sets.h"
#include "sim/phase.h"
#include "sim/solver.h"

#define SAME NULL
#define ROW(phase, timer, when, where, reads, ghosts, writes)                                      \
    {                                                                                              \
#phase, step_##phase, timer, when, where, reads, ghosts, writes, NULL                      \
    }
#define GPU(phase, timer, when, where, reads, ghosts, writes)                                      \
    {                                                                                              \
#phase, step_##phase, timer, when, where, reads, ghosts, writes, phase##_dev               \
    }
enum {
    SELF = IF_GRAVITY | IF_SELF_GRAVITY,
    PULLED = IF_GAS | IF_GRAVITY,
    FALLS = IF_FLOWS | IF_GRAVITY,
    GRAV_DEV = GPU_POISSON | OWN_READS
};

/* clang-format off */
static const struct phase STEP[] = {
    /*  phase        timer           when                   reads         ghosts           writes */
    ROW(refine,      "refine",       IF_MESH | IF_TURN, OWN_COPIES,      ALL,
                        GAS | FLAG | UP(GAS) | FINER(GAS | FLAG),               FINER(ALL)),
    ROW(balance,     "load balance", IF_BASE | IF_BALANCE, OWN_COPIES,
                                                            ALL | FINER(ALL),  0,   DOMAIN),
    GPU(enter,       "particles",    IF_PARTS, GPU_PARTS,   PARTS,        0,                PARTS),
    ROW(settle_tracers, "tracers",   IF_PARTS | IF_JUMPS | IF_TURN, HOST,
                                                            PARTS,  GAS | FINER(GAS),       PARTS),
    ROW(frames,      "movies",       IF_FRAME, OWN_COPIES,  GAS | PARTS,  0,                0),
    ROW(output,      "particles",    IF_BASE, OWN_COPIES,   ALL | PARTS,  GAS,              0),
    ROW(cooling_table, "cooling table", IF_BASE | IF_COOLING, HOST,
                                                            0,          0,                0),
    /* where the gas changes, the phase fills its ghosts */
    ROW(coarse_terms, "particles",   IF_BASE | IF_COARSE_TERMS, OWN_COPIES,
                                                            ALL | PARTS,  0,                PARTS),
    ROW(black_holes, "sinks",        IF_BASE | IF_GAS | IF_HOLES, AT_HOME,
                                                            ALL | PARTS,  0,          GAS | PARTS),
    ROW(stellar,     "sinks",        IF_BASE | IF_GAS | IF_SINKS | IF_STELLAR, AT_HOME,
                                                            GAS,          0,                GAS),
    ROW(light,       "radiation",    IF_BASE | IF_CHEMISTRY, HOST, PARTS,  0,                0),
    GPU(keep_phi,    "particles",    IF_GRAVITY, GRAV_DEV,  0,          PHI,              PHI_OLD),
    GPU(deposit,     "rho",          IF_GRAVITY, GRAV_DEV | PARTS_ANYWHERE,
                                                            PARTS,  GAS | FINER(GAS),  RHO | DENSE),
    GPU(hand_down,   "particles",    IF_PARTS, GPU_PARTS,   PARTS,        0,         NEXT(PARTS)),
    ROW(aim_tracers, "tracers",      IF_DRIFTS, HOST,       PARTS,  GAS | UP(GAS),          PARTS),
    GPU(unkick_gas,  "poisson",      FALLS, WORK | ON_GHOSTS | GPU_HYDRO,
                                                            GAS | FORCE,  0,                GAS),
    GPU(poisson,     "poisson",      SELF, GRAV_DEV,      RHO, UP(PHI | PHI_OLD),  PHI | UP(TIME)),
    GPU(first_phi,   SAME,           IF_GRAVITY | IF_FIRST, GRAV_DEV,  0, PHI,            PHI_OLD),
    ROW(fifth,       "fifth force",  SELF | IF_FIFTH, HOST, RHO, UP(SCALAR), SCALAR),
    GPU(force,       "poisson",      IF_GRAVITY, GRAV_DEV,  0, PHI | UP(PHI | PHI_OLD),   FORCE),
    ROW(fifth_force, "fifth force",  SELF | IF_FIFTH, HOST, FORCE, SCALAR | UP(SCALAR), FORCE),
    ROW(pull_sinks,  "sinks",        SELF | IF_SINKS, ON_GHOSTS | OWN_COPIES,
                                                            FORCE | RHO,  0,                FORCE),
    GPU(energy,      "poisson",      IF_GRAVITY, GRAV_DEV,  RHO | FORCE, 0,               0),
    GPU(kick_parts,  SAME,           IF_GRAVITY | IF_PARTS, WORK | GPU_PARTS,
                                                            PARTS,   FORCE | UP(FORCE),     PARTS),
    GPU(kick_gas,    SAME,           FALLS, WORK | ON_GHOSTS | GPU_HYDRO,
                                                            GAS | FORCE,  0,                GAS),
    ROW(look_around, "sinks",        IF_GRAVITY | IF_SINKS, OWN_COPIES,
                                                            GAS,     FORCE | UP(FORCE),     0),
    ROW(send_gas,    "poisson",      PULLED, OWN_COPIES,    GAS,          0,                0),
    ROW(impose,      "courant",      IF_FLOWS | IF_INDUCTION, WORK | ON_GHOSTS,
                                                            GAS,          0,                GAS),
    GPU(time_step,   "courant",      ALWAYS, GPU_HYDRO | GPU_POISSON | OWN_READS | PARTS_ANYWHERE,
                                                            GAS | FORCE | PARTS, 0,         TIME),
    ROW(receive_early, "ghosts",     PULLED, OWN_COPIES,    0,            0,                0),
    ROW(publish,     "io",           IF_ON_DISK, OWN_COPIES,  0,           0,                0),
    ROW(finer,       "courant",      ALWAYS, OWN_COPIES,    0, 0, /* levels l+1 and finer */
                                                                     FINER(ALL | REFLUX) | TIME),
    ROW(accrete,     "sinks",        PULLED | IF_SINKS, OWN_COPIES,
                                                            GAS,          0,                0),
    GPU(godunov,     "hydro",        IF_FLOWS, WORK | GPU_HYDRO,  NEXT(REFLUX),
                                                  GAS | FORCE | UP(GAS | FORCE),  GAS | REFLUX),
    /* on the host the row above does so, while it has the gas at hand */
    GPU(drive_gas,   "turbulence",   IF_GAS | IF_FLOWS | IF_DRIVEN, WORK | GPU_HYDRO,
                                                            GAS,          0,                GAS),
    ROW(jump_tracers, "tracers",     IF_PARTS | IF_JUMPS, WORK,
                                                  GAS | PARTS, UP(GAS),  PARTS | UP(PARTS)),
    GPU(kick_again,  "hydro",        FALLS, WORK | GPU_HYDRO,  GAS | FORCE, 0,             GAS),
    /* the temperature is that without the energy of the field, which finer cells change on the
     * faces that they share with this level */
    GPU(restrict_field, SAME,        IF_HEATED | IF_FINER, WORK | GPU_HYDRO,
                                                            0,            NEXT(GAS),        GAS),
    ROW(level_terms, "hydro",        IF_TERMS, WORK | OWN_COPIES,
                                                            ALL | PARTS,  0,          GAS | PARTS),
    ROW(radiation,   "radiation",    IF_GAS | IF_CHEMISTRY, WORK | OWN_COPIES,
                GAS | PARTS, PHOTONS | UP(PHOTONS) | NEXT(PHOTONS), GAS | PHOTONS | UP(PHOTONS)),
    ROW(late_terms,  "hydro",        IF_CHEMISTRY | IF_TERMS, WORK | OWN_COPIES,
                                                            ALL | PARTS,  0,          GAS | PARTS),
    GPU(restrict_gas, SAME,          IF_GAS | IF_FINER, WORK | GPU_HYDRO,
                                                            0,     NEXT(GAS | MEANS),  GAS | MEANS),
    ROW(send_gas,    "ghosts",       IF_GAS, OWN_COPIES,    GAS,          0,                0),
    ROW(send_reflux,  SAME,           IF_FLOWS | IF_LAST, OWN_COPIES,  REFLUX, 0,                0),
    ROW(send_flags,  "flag",         IF_MESH, HOST,         0,            NEXT(FLAG),       FLAG),
    GPU(move_parts,  "particles",    IF_PARTS, WORK | GPU_PARTS,
                                                            PARTS,   FORCE | UP(FORCE),     PARTS),
    ROW(receive_gas, "ghosts",       IF_GAS, OWN_COPIES,    0,            0,                0),
    ROW(receive_reflux, SAME,         IF_FLOWS | IF_LAST, OWN_COPIES,  0,    0, REFLUX),
    ROW(drift_tracers, "tracers",    IF_DRIFTS, WORK,       PARTS,  GAS | UP(GAS),          PARTS),
    ROW(swap_tracers, "tracers",     IF_PARTS | IF_JUMPS | IF_TERMS, HOST,
                                                            PARTS,  0,                      PARTS),
    ROW(diffuse,     "diffusion",    IF_BASE | IF_FLOWS | IF_DIFFUSES, AT_HOME,
                                        0,  GAS | FINER(GAS),  GAS | FINER(GAS | REFLUX)),
    ROW(flag,        "flag",         IF_MESH, OWN_COPIES,
                                                 DENSE,  GAS | PHOTONS | UP(GAS | PHOTONS), FLAG),
    GPU(merge,       "particles",    IF_PARTS, GPU_PARTS,   NEXT(PARTS),  0,                PARTS),
    /* after sinks have formed, renew_sinks fills all ghosts of the gas */
    ROW(create_sinks, "sinks",       IF_BASE | PULLED | IF_CREATES, OWN_COPIES,
                                FORCE | FINER(FORCE) | PARTS,  GAS | FINER(GAS),          PARTS),
    ROW(renew_sinks, "sinks",        IF_BASE | PULLED | IF_SINKS, OWN_COPIES,
                                                    GAS | FINER(GAS) | PARTS, 0,        PARTS),
    ROW(add_steps,   "particles",    ALWAYS, HOST,          TIME,         0,            UP(TIME)),
};
/* clang-format on */

enum err sim_step(struct sim *s, int l, int icount)
{
    return phases_run(s, STEP, sizeof STEP / sizeof *STEP, l, icount);
}

static enum err coarse_step(struct sim *s)
{
    sim_use_threads(s);
    TRY(sim_step(s, s->mesh.levelmin, 1));
    if (!s->run.end.done) sim_time_meet(s);
    return OK;
}

const struct solver octree_solver = {.name = "octree", .coarse = coarse_step};
