/* ckpt/rest: contents of a checkpoint besides mesh and particles. Programs that do not use these
 * data pass them on unchanged. */
#pragma once
#include "ckpt/catalog.h"

/* Stars formed by the run and the mass lost by them since, as in the headers of particle files. */
struct stars_formed {
    int64_t number;
    double mass, lost;
};

struct ckpt_rest {
    struct catalog sinks, stellar;
    struct stars_formed formed;
    char *cooling; /* contents of the cooling table file; NULL: none */
    size_t cooling_bytes;
};

struct source;
/* Copies these data from s. Call rest_free even after an error; a zeroed struct may be freed. */
MUST_USE enum err rest_copy(struct ckpt_rest *to, const struct source *s);
void rest_free(struct ckpt_rest *r);
