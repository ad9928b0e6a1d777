/* out/version: which Ptah this is, and the record of who wrote a file. */
#pragma once
#include <stdio.h>

/* Of this build; the programs' own, from scripts/version (not part of the library). */
struct version {
    const char *number;   /* file VERSION */
    const char *commit;   /* of git, "-dirty" if files had been changed; "unknown" without git */
    const char *compiler; /* and its version */
    const char *flags;
    const char *mpi;
    const char *patch; /* make PATCH=DIR: its name and sum; "": none */
};
extern const struct version ptah_version;

/* Prints "ptah TOOL NUMBER (commit COMMIT)", with verbose also the rest, a line each. */
void version_print(FILE *f, const struct version *v, const char *tool, int verbose);

/* The provenance that a checkpoint records, lines "key: value": "ptah TOOL NUMBER", arguments,
 * build, the machine, the job of the batch system, if any, and the time (SOURCE_DATE_EPOCH, if set;
 * docs of reproducible-builds.org). (owner: caller, mem_free) */
char *version_provenance(const struct version *v, const char *tool, int argc, char *const *argv);
