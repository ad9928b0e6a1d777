/* The exchanges of a decomposition, rank by rank: what tests/scale/predict.py replays. */
#pragma once
#include "box.h"
#include "dom/domain.h"

/* Prints a line for each rank, level and receiver of ghosts, tab-separated: rank, level, receiver,
 * octs sent, and for the rank itself as receiver its own octs, their leaf cells and particles.
 * Levels below the base are included. */
void links_print(const struct box *f, const struct domain *d, const int32_t *owner);
/* Sets the cost of each oct to that of RAMSES's balancer: for each leaf cell 80 and the particles
 * of its oct, times the steps of its level in a coarse step. */
void links_ramses_cost(struct box *f);
/* Sets the cost of each oct to its steps in a coarse step. */
void links_work_cost(struct box *f);
