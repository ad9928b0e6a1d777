/* ckpt/info: reads the text files that checkpoints of several formats have: info_NNNNN.txt,
 * descriptors of gas variables and particle columns, namelist.txt, compilation.txt; and the tables
 * beside mesh and particles: sinks, stellar objects, the cooling table. */
#pragma once
#include "ckpt/source.h"

/* Entries of info_NNNNN.txt. */
enum info_key {
    INFO_NCPU,
    INFO_NDIM,
    INFO_LEVELMIN,
    INFO_LEVELMAX,
    INFO_STEP,
    INFO_BOXLEN,
    INFO_TIME,
    INFO_AEXP,
    INFO_H0,
    INFO_OMEGA_M,
    INFO_OMEGA_L,
    INFO_OMEGA_K,
    INFO_OMEGA_B,
    INFO_UNIT_L,
    INFO_UNIT_D,
    INFO_UNIT_T,
    INFO_KEYS
};
struct info {
    double value[INFO_KEYS]; /* NaN: it says nothing */
    int ndomain;             /* of its table; 0: none */
};

const char *info_key(enum info_key k);
MUST_USE enum err info_read(const struct source *s, struct info *info);
/* Path of a text or another file that rank 1 wrote, whether it exists or not. */
MUST_USE enum err info_path(const struct source *s, enum files_kind k, char path[PATH_MAX]);
bool info_has(const struct source *s, enum files_kind k); /* does such a file exist? */
/* *text is NULL if there is none. Caller frees with mem_free. */
MUST_USE enum err info_text(const struct source *s, enum files_kind k, char **text, size_t *bytes);
/* Loads s->list and verifies all texts that are needed for reading. */
MUST_USE enum err info_verify(struct source *s);
/* Reads FILES_GAS_NAMES or FILES_PART_NAMES: *n = 0 if there is no such file; old: of before 2017.
 */
MUST_USE enum err info_descriptor(const struct source *s, enum files_kind k,
                                  struct ckpt_field *list, int *n, bool *old);
/* Names of the nvar gas variables into s->field, from the descriptor if there is one; path: the
 * file that gives nvar. */
MUST_USE enum err info_gas(struct source *s, const char *path, int nvar, bool *old);
/* Variable v is the metallicity, unless another one has that name: the descriptor may be lost. */
void info_metal(struct source *s, int v);
/* Reads the sink particles, unless the format has some, stellar objects, and the cooling table,
 * where they exist. */
MUST_USE enum err info_tables(struct source *s);
/* Reports optional files that are missing (log level 1): the texts; one further file. */
void info_log_missing(const struct source *s);
void info_log_lacks(const struct source *s, bool really, const char *name);
