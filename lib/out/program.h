/* out/program: the command line of a program: options from rows (base/opt.h), -h and -V, the answer
 * to mistakes, and the exit status (man/ptah.7). All local. */
#pragma once
#include <stdbool.h>

#include "base/opt.h"

/* The exit status: done; the answer is no; trouble. GO_ON: there is none yet. */
enum { GO_ON = -1, DONE = 0, NO = 1, TROUBLE = 2 };

struct program {
    const char *name, *synopsis, *purpose;
    const struct opt *rows;
    bool silent; /* prints nothing: another rank does */
};

/* The first thing in main. Standard descriptors that are closed would be given to the next files
 * that are opened, and a log would be written into these. They are opened so that reading standard
 * input and writing to standard output stay errors, and messages vanish. A closed pipe is an error
 * of writing instead of a signal. */
void program_begin(void);
/* Takes an option other than -h and -V: GO_ON, or the exit status. */
typedef int program_take(int letter, const char *value, void *ctx);
/* Reads all options; prints what -h and -V ask for, and what is wrong. Returns GO_ON, and the
 * operands argv[*first] … argv[argc-1]; or the exit status. */
int program_read(const struct program *p, int argc, char **argv, program_take *take, void *ctx,
                 int *first);
/* Prints "NAME: WHAT VALUE (see NAME -h)". value: NULL if there is none. Returns TROUBLE. */
int program_refuse(const struct program *p, const char *what, const char *value);
