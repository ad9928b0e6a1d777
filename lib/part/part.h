/* part: particles. Method: docs/method/part.md (spec/numerics §6,7).
 *
 * One structure of arrays. During a step of level l the particles at first[l]..n-1 belong to level l: each is hosted by
 * an oct of level l (host). Those in refined cells are then handed to level l+1, by a sort that puts them last: first[l+1] is where they
 * begin. So levels are nested ranges, and giving particles back to the coarser level costs nothing.
 * A host may be a ghost oct only between part_merge and the next part_enter. Bits never depend on the order of particles. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "base/sum.h"
#include "oct/mesh.h"

enum part_family { FAM_DM = 1, FAM_STAR = 2, FAM_CLOUD = 3, FAM_DEBRIS = 4, FAM_OTHER = 5 };

struct parts {
    int64_t n, cap;
    double *x[3], *v[3], *m;
    int64_t *id;
    int32_t *levelp; /* level of the last kick; its dt completes the kick */
    int8_t *family, *tag;
    double *birth, *metal; /* NULL unless the run has stars */
    lidx *host;            /* oct (index in its level's arrays) */
    int64_t first[LEVEL_MAX + 3];
};

void part_init(struct parts *p);
void part_fini(struct parts *p);
void part_reserve(struct parts *p, int64_t n);

/* Particles anywhere, with global positions only → rank and host on levelmin. Wraps periodically; first[] = all on levelmin.
 * Error if a particle is outside a box with walls. (collective) */
MUST_USE enum err part_distribute(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d);

/* Start of a step of level l: particles of the range that left their oct get the neighbouring oct of level l where that exists (else they keep
 * their host), and go to the rank that owns it. (collective) */
void part_enter(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d, int l);
/* Hands particles in refined cells of level l to level l+1 (sets first[l+1], hosts on level l+1, sends to the owner). (collective) */
void part_hand_down(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d, int l);
/* End: range of level l+1 joins that of level l; hosts become the parents. Local. */
void part_merge(struct parts *p, const struct mesh *m, int l);

/* CIC mass deposit of the particles of level l (all from first[l] on; call before part_hand_down) on existing cells of level l, own and ghost rows:
 * mass[noct][8] in units of quantum; number != NULL: also the CIC-weighted number (numerics §4: DM 1 whatever its mass, heavier
 * than mass_cut ignored if mass_cut > 0), in units of 2^-32. Caller adds the ghosts (ghost_add_i64). cic_levelmax as in RAMSES. Local. */
void part_deposit(const struct parts *p, const struct mesh *m, int l, double quantum, double mass_cut, int cic_levelmax,
                  int64_t (*mass)[8], int64_t (*number)[8]);

/* Kick of the particles of level l alone (first[l]..first[l+1]-1, or to n if l+1 has none) with the force of level l (or l-1 where the
 * cloud leaves the level): v += ½ dteff f; dteff = dtnew[levelp] if levelp >= l else dtold[levelp]; then levelp = l. F valid in ghosts. Local. */
void part_synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew, const double *dtold);
/* v += ½ dt f; x += v dt; no wrap. is_static: as RAMSES's static. Local. */
void part_move(struct parts *p, const struct mesh *m, int l, double dt);
/* max |v_i| over the particles of level l alone, for the Courant condition; kinetic energy Σ ½ m v² added to an exact sum. Local. */
double part_vmax(const struct parts *p, int l);
void part_kinetic(const struct parts *p, int l, struct sum *ekin);
