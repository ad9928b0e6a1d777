#include "out/program.h"

#include <errno.h>
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

/* -h fits a screen; --help has all options. */
static void help(const struct program *p, bool all)
{
    if (!all && p->overview && !p->mode) {
        p->overview(stdout);
        return;
    }
    if (!opt_usage(stdout, p->synopsis, p->purpose, p->rows, all)) return;
    /* as the program is called: it may be installed as ptah-inspect */
    const char *name = program_invocation_short_name, *mode = p->mode ? p->mode : "";
    fprintf(stdout, "\nAll options: %s%s%s --help, or man %s%s%s\n", name, *mode ? " " : "", mode,
            name, *mode ? "-" : "", mode);
}

int program_read(const struct program *p, int argc, char **argv, program_take *take, void *ctx,
                 int *first)
{
    struct opt_scan s;
    int verbose = 0, status;
    opt_begin(&s, argc, argv, p->rows);
    for (int c; s.mode = p->mode, (c = opt_next(&s)) != 0;) {
        if (c == OPT_BAD) {
            if (!p->silent) fprintf(stderr, "%s\n", err_message());
            return TROUBLE;
        }
        if (c == 'h' && !p->silent) help(p, s.is_long);
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
        fprintf(stderr, "%s: %s%s%s (see %s%s%s -h)\n", p->name, what, value ? " " : "",
                value ? value : "", p->name, p->mode ? " " : "", p->mode ? p->mode : "");
    return TROUBLE;
}
