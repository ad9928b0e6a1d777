/* ckpt/info: reads the text files common to checkpoints of several formats: info_NNNNN.txt,
 * descriptors of gas variables and particle columns, namelist.txt, compilation.txt; and the tables
 * besides mesh and particles: sinks, stellar objects, the cooling table. */
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
    double value[INFO_KEYS]; /* values by key; NaN: absent */
    int ndomain;             /* rows of the domain table; 0: none */
};

const char *info_key(enum info_key k);
MUST_USE enum err info_read(const struct source *s, struct info *info);
/* Path of a text or another file that rank 1 wrote, whether it exists or not. */
MUST_USE enum err info_path(const struct source *s, enum files_kind k, char path[PATH_MAX]);
bool info_has(const struct source *s, enum files_kind k); /* whether the file exists */
/* Loads a text; *text is NULL if the file does not exist. The caller frees with mem_free. */
MUST_USE enum err info_text(const struct source *s, enum files_kind k, char **text, size_t *bytes);
/* Loads s->list and verifies all texts needed for reading. */
MUST_USE enum err info_verify(struct source *s);
/* Reads FILES_GAS_NAMES or FILES_PART_NAMES: *n = 0 if the file does not exist; *old is set for the
 * layout before 2017. */
MUST_USE enum err info_descriptor(const struct source *s, enum files_kind k,
                                  struct ckpt_field *list, int *n, bool *old);
/* Sets the names of the nvar gas variables in s->field, from the descriptor if it exists. path:
 * file that states nvar, for messages. */
MUST_USE enum err info_gas(struct source *s, const char *path, int nvar, bool *old);
/* Brings s->field from the order of the descriptor, that of RAMSES's files, to the order of
 * sources: s->nhydro variables of the gas, then fields of other rows, `all` in all. */
MUST_USE enum err info_order(struct source *s, const char *path, int all);
/* Names variable v metallicity, unless another has that name; for lost descriptors. */
void info_metal(struct source *s, int v);
/* Reads the tables that exist: sink particles, unless the format has read its own, stellar objects,
 * and the cooling table. */
MUST_USE enum err info_tables(struct source *s);
/* Report missing optional files at log level 1: the texts, or one named file. */
void info_log_missing(const struct source *s);
void info_log_lacks(const struct source *s, bool really, const char *name);
