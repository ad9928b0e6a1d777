/* ckpt/info: the text files that checkpoints of several formats have, read: info_NNNNN.txt,
 * descriptors of gas variables and particle columns, namelist.txt, compilation.txt; and the tables
 * beside mesh and particles: sinks, stellar objects, the cooling table. */
#pragma once
#include "ckpt/source.h"

struct info {
    int ncpu, ndim, levelmin;
    double boxlen, unit_l, unit_d, unit_t;
    int ndomain; /* of its table; 0: none */
};

MUST_USE enum err info_read(const struct source *s, struct info *info);
/* As strtod, but takes Fortran's exponents of three digits, which have no letter: 0.1-120. */
double info_real(const char *s, char **end);
/* Path of a text or of another file that rank 1 wrote, there or not. */
MUST_USE enum err info_path(const struct source *s, const char *name, char *path, size_t n);
bool info_has(const struct source *s, const char *name); /* such a file is there */
/* NAME.txt; *text NULL if there is none. Caller frees with mem_free. */
MUST_USE enum err info_text(const struct source *s, const char *name, char **text, size_t *bytes);
/* Loads s->list and compares all texts that matter to reading. */
MUST_USE enum err info_verify(struct source *s);
/* KIND_file_descriptor.txt: *n = 0 if there is no such file; old: of before 2017. */
MUST_USE enum err info_descriptor(const struct source *s, const char *kind, struct ckpt_field *list,
                                  int *n, bool *old);
/* Names of the nvar gas variables into s->field, from the descriptor if there is one; path: who
 * says nvar. */
MUST_USE enum err info_gas(struct source *s, const char *path, int nvar, bool *old);
/* Variable v is the metallicity, unless another has that name: the descriptor may be lost. */
void info_metal(struct source *s, int v);
/* Sink particles, unless the format had some, stellar objects, cooling table: what there is. */
MUST_USE enum err info_tables(struct source *s);
/* Says what is missing and need not be (log level 1): texts · one thing more. */
void info_say_missing(const struct source *s);
void info_say_lacks(const struct source *s, bool really, const char *name);
