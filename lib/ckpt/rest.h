/* ckpt/rest: what a checkpoint contains beside mesh and particles. Programs that do not use it pass
 * it on unchanged from one checkpoint to the next. */
#pragma once
#include "ckpt/catalog.h"

/* Stars that the run has formed, and the mass that they have lost since, as in the headers of
 * particle files. */
struct stars_formed {
    int64_t number;
    double mass, lost;
};

struct ckpt_rest {
    struct catalog sinks, stellar;
    struct stars_formed formed;
    char *cooling; /* bytes of the file that has the cooling table; NULL: there is none */
    size_t cooling_bytes;
};

struct source;
/* Everything of this kind that `s` has. Freed after errors too, or if it is zeroed. */
MUST_USE enum err rest_copy(struct ckpt_rest *to, const struct source *s);
void rest_free(struct ckpt_rest *r);
