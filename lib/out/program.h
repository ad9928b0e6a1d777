/* out/program: the command line of a program: options from rows (base/opt.h), -h and -V, usage
 * errors, and the exit status (man/ptah.7). All functions are local. */
#pragma once
#include <stdbool.h>

#include "base/opt.h"

/* Exit status: success; the answer is no; failure; a run stopped early as requested. GO_ON: the
 * program continues. */
enum { GO_ON = -1, DONE = 0, NO = 1, TROUBLE = 2, STOPPED = 75 };

struct program {
    const char *name, *synopsis, *purpose;
    const struct opt *rows;
    bool silent;      /* prints nothing, as another rank does */
    const char *mode; /* the program is used as NAME MODE; NULL: it is not */
    /* prints what -h prints without a mode; NULL: the common options */
    void (*overview)(FILE *out);
};

/* Called first in main. Closed standard descriptors would be reused by the next files opened, and
 * messages would be written to these files. program_begin opens them so that reads of standard
 * input and writes to standard output stay errors, and messages vanish. A closed pipe becomes a
 * write error instead of a signal. */
void program_begin(void);
/* Handles an option other than -h and -V. Returns GO_ON or the exit status. */
typedef int program_take(int letter, const char *value, void *ctx);
/* Reads all options; prints the output of -h (the common options), --help (all) and -V, and usage
 * errors. Returns GO_ON, with the
 * operands argv[*first] … argv[argc-1], or the exit status. */
int program_read(const struct program *p, int argc, char **argv, program_take *take, void *ctx,
                 int *first);
/* Prints "NAME: WHAT VALUE (see NAME MODE -h)". value: NULL: no value. Returns TROUBLE. */
int program_refuse(const struct program *p, const char *what, const char *value);
