/* base/alloc: libraries that run out of memory end the program.
 *
 * Requests of libraries (HDF5, GSL, zlib, OpenMP, the C library's streams) pass through malloc and
 * its relatives in this module on their way to the C library's. One that is refused ends the
 * program with a sentence and status 2, as those of base/mem do, because most of these libraries
 * crash, abort or report damage instead (docs/decisions/0008). Programs built with a sanitizer are
 * without: sanitizers have functions of the same names. */
#pragma once
#include <stddef.h>

/* As aligned_alloc: NULL if refused, and the program continues. */
void *alloc_try(size_t align, size_t bytes);

/* One sentence on stderr, status 2. Requests no memory and runs nothing that is registered with
 * atexit, where libraries that were interrupted fail. */
_Noreturn void alloc_end(const char *sentence);
