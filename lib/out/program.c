#include "out/program.h"

#include <signal.h>
#include <stdio.h>

#include "base/err.h"
#include "io/file.h"
#include "out/version.h"

void program_begin(void)
{
    file_fill_standard();
    signal(SIGPIPE, SIG_IGN);
}

int program_read(const struct program *p, int argc, char **argv, program_take *take, void *ctx,
                 int *first)
{
    struct opt_scan s;
    int verbose = 0, status;
    opt_begin(&s, argc, argv, p->rows);
    for (int c; (c = opt_next(&s)) != 0;) {
        if (c == OPT_BAD) {
            if (!p->silent) fprintf(stderr, "%s\n", err_message());
            return TROUBLE;
        }
        if (c == 'h' && !p->silent) opt_usage(stdout, p->synopsis, p->purpose, p->rows);
        if (c == 'V' && !p->silent) version_print(stdout, &ptah_version, p->name, verbose);
        if (c == 'h' || c == 'V') return DONE;
        verbose += c == 'v';
        if ((status = take(c, s.value, ctx)) != GO_ON) return status;
    }
    *first = s.index;
    return GO_ON;
}

int program_refuse(const struct program *p, const char *what, const char *value)
{
    if (!p->silent)
        fprintf(stderr, "%s: %s%s%s (see %s -h)\n", p->name, what, value ? " " : "",
                value ? value : "", p->name);
    return TROUBLE;
}
