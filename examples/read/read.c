/* read: the total mass of gas and of particles in a checkpoint, of whatever format.
 *
 *     cc read.c -o read $(pkg-config --cflags --libs ptah)      (CC=mpicc)
 *     ./read output_00002
 *
 * The reading contract is ckpt/source.h: a source passes on its octs and particles in batches. */
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"

struct sums {
    double gas, particles; /* code units */
    long leaves, n;
    int density; /* which field of the gas; -1: none */
};

static enum err add_octs(const struct source_octs *o, void *ctx)
{
    struct sums *s = ctx;
    double dx = source_dx(o->source, o->level), volume = dx * dx * dx;
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < o->n; i++) {
            if (o->split[i] >> c & 1) continue; /* its children count */
            s->leaves++;
            if (s->density >= 0) s->gas += o->val[8 * s->density + c][i] * volume;
        }
    return OK;
}

static enum err add_particles(const struct source_parts *p, void *ctx)
{
    struct sums *s = ctx;
    for (int64_t i = 0; i < p->n; i++) s->particles += p->m[i];
    s->n += p->n;
    return OK;
}

static enum err add_all(struct source *s, struct sums *sums)
{
    if (s->head.ndim != 3) FAIL(ERR_FORMAT, "%s: not in three dimensions", s->path);
    for (int f = 0; f < s->nhydro; f++)
        if (strcmp(s->field[f].name, "density") == 0) sums->density = f;
    for (int piece = 0; piece < s->npiece; piece++) {
        TRY(source_octs(s, piece, SOURCE_STORED, add_octs, sums));
        if (s->npart > 0) TRY(source_parts(s, piece, SOURCE_STORED, add_particles, sums));
    }
    return OK;
}

int main(int argc, char **argv)
{
    struct source *s = NULL;
    struct sums sums = {.density = -1};
    if (argc != 2) {
        fprintf(stderr, "usage: read CHECKPOINT\n");
        return 2;
    }
    enum err e = source_open(argv[1], &s);
    if (e == OK) e = add_all(s, &sums);
    if (e != OK)
        fprintf(stderr, "read: %s\n", err_message());
    else
        printf("%ld leaf cells, mass of the gas %.9g; %ld particles, mass %.9g (code units)\n",
               sums.leaves, sums.gas, sums.n, sums.particles);
    source_close(&s);
    return e == OK ? 0 : 2;
}
