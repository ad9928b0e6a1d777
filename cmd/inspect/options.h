/* inspect: the command line. */
#pragma once
#include "inspect.h"

enum { OPTIONS_GO_ON = -1 };

/* Fills in o, whose member c is set; returns the exit status, or OPTIONS_GO_ON. Prints on rank 0
 * only. */
int options_parse(int argc, char **argv, struct options *o);
