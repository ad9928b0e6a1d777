/* out/version: the version of Ptah, and the provenance record in files. */
#pragma once
#include <stdio.h>

/* Version of a build, from scripts/version; defined by the programs, not by the library. */
struct version {
    const char *number; /* version number (file VERSION) */
    const char *commit; /* git commit, "-dirty" if files had been changed; "unknown" without git */
    const char *compiler; /* compiler with its version */
    const char *flags;
    const char *mpi;
    const char *patch; /* name and checksum of make PATCH=DIR; "": none */
};
extern const struct version ptah_version;

/* Prints "ptah TOOL NUMBER (commit COMMIT)", with verbose also the other members, one per line. */
void version_print(FILE *f, const struct version *v, const char *tool, int verbose);

/* Provenance record of a checkpoint, lines "key: value": "ptah TOOL NUMBER", arguments, build,
 * machine, batch job, if any, and time (SOURCE_DATE_EPOCH, if set; docs of
 * reproducible-builds.org). (owner: caller, mem_free) */
char *version_provenance(const struct version *v, const char *tool, int argc, char *const *argv);
