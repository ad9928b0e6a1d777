/* ckpt/rest: what a checkpoint has beside mesh and particles. Programs that do not use it carry it
 * from one checkpoint to the next unchanged. */
#pragma once
#include "ckpt/catalog.h"

/* Stars that the run has formed, with what they have lost since, as the heads of particle files
 * give it. */
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
/* All that `s` has. Freed after errors too, or zeroed. */
MUST_USE enum err rest_copy(struct ckpt_rest *to, const struct source *s);
void rest_free(struct ckpt_rest *r);
