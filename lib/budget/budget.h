/* budget: the masses of a checkpoint by what they are. Baryons change their kind, gas into stars
 * and black holes and back, so that only their sum is conserved. */
#pragma once
#include "ckpt/source.h"

/* In code units, in which masses do not change with the expansion. */
struct budget {
    double gas, stars, sinks; /* sinks are black holes, too */
};

/* Sums all pieces of a checkpoint. Sums are exact, hence the same for any division. Local. */
MUST_USE enum err budget_read(struct budget *b, struct source *r);
/* The mass of all that was gas once. */
double budget_baryons(const struct budget *b);
