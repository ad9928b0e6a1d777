#include "out/version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

void version_print(FILE *f, const struct version *v, const char *tool, int verbose)
{
    fprintf(f, "ptah %s %s (commit %s)\n", tool, v->number, v->commit);
    if (!verbose) return;
    fprintf(f, "built: %s, %s\nmpi: %s\n", v->compiler, v->flags, v->mpi);
    if (*v->patch) fprintf(f, "patch: %s\n", v->patch);
}

/* Prints a text of external origin as part of a line, at most `max` bytes. */
static void put_plain(FILE *f, const char *s, int max)
{
    size_t n = strlen(s);
    char *copy = memcpy(mem_new(n + 1, "provenance"), s, n + 1);
    plain_line(copy);
    fprintf(f, "%.*s", max, copy);
    mem_free(copy);
}

/* Prints the job of the batch system that this process belongs to. */
static void job_print(FILE *f)
{
    static const struct {
        const char *system, *id;
    } known[] = {{"Slurm", "SLURM_JOB_ID"}, {"PBS", "PBS_JOBID"},    {"LSF", "LSB_JOBID"},
                 {"SGE", "JOB_ID"},         {"Flux", "FLUX_JOB_ID"}, {"OAR", "OAR_JOB_ID"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *id = getenv(known[i].id);
        if (!id || !*id) continue;
        fprintf(f, "job: %s ", known[i].system);
        put_plain(f, id, 80);
        putc('\n', f);
        return;
    }
}

static void time_print(FILE *f)
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    char text[32];
    struct tm utc;
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        fprintf(f, "date: %s\n", text);
}

char *version_provenance(const struct version *v, const char *tool, int argc, char *const *argv)
{
    char *text = NULL, host[256] = "";
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "ptah %s %s\narguments:", tool, v->number);
    for (int i = 1; i < argc; i++) {
        putc(' ', f);
        put_plain(f, argv[i], INT_MAX);
    }
    fprintf(f, "\ncommit: %s\nbuilt: %s, %s\nmpi: %s\n", v->commit, v->compiler, v->flags, v->mpi);
    if (*v->patch) fprintf(f, "patch: %s\n", v->patch);
    if (gethostname(host, sizeof host - 1) == 0 && *host) fprintf(f, "host: %s\n", host);
    job_print(f);
    time_print(f);
    return mem_close_text(f, &text, &n, "provenance");
}
