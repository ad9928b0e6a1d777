/* inspect: the command line. */
#pragma once
#include "inspect.h"

enum { OPTIONS_GO_ON = -1 };

/* Fills o, whose c stands; the status to end with, or OPTIONS_GO_ON. Speaks on rank 0 only. */
int options_parse(int argc, char **argv, struct options *o);
