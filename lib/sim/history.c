/* sim/history: the provenance that checkpoints record: of this run, what it has measured of its
 * exchanges, and of all runs before it, newest first. */
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "comm/tuner.h"
#include "sim/sim.h"

char *sim_history(const struct sim *s)
{
    enum { ROOM = 4096 };
    char state[ROOM], *text = NULL;
    size_t n = 0;
    tuner_state(&s->comm, state, ROOM);
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "%s", s->out.provenance);
    if (s->out.namelist_text)
        fprintf(
            f, "namelist: checksum %016llx\n",
            (unsigned long long)checksum_of(s->out.namelist_text, strlen(s->out.namelist_text)));
    fprintf(f, "%s", state);
    if (s->out.before) fprintf(f, "%s", s->out.before);
    return mem_close_text(f, &text, &n, "provenance");
}

/* Choices of the tuner count for the newest run only. */
void sim_history_resume(struct sim *s, const char *before)
{
    static const char choice[] = "exchange:";
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "from: %s (%s, output %d)\n", s->restart.from->path, s->restart.from->format,
            s->restart.from->number);
    for (const char *line = before, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (strncmp(line, choice, sizeof choice - 1) != 0) fwrite(line, 1, (size_t)(end - line), f);
    }
    FREE(s->out.before);
    s->out.before = mem_close_text(f, &text, &n, "provenance");
}
