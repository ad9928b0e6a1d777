/* base/alloc: libraries that run out of memory end the program.
 *
 * Requests of libraries (HDF5, GSL, zlib, OpenMP, the C library's streams) pass through malloc and
 * its relatives in this module on their way to the C library's. A refused request ends the program
 * with a message and status 2, as in base/mem, because most of these libraries crash, abort or
 * report damage instead (docs/decisions/0008). Programs built with a sanitizer omit this module:
 * sanitizers define functions of the same names. */
#pragma once
#include <stddef.h>

/* Like aligned_alloc: NULL if refused, and the program continues. */
void *alloc_try(size_t align, size_t bytes);

/* Prints one sentence on stderr and exits with status 2. Allocates no memory and skips atexit
 * handlers, in which interrupted libraries fail. */
_Noreturn void alloc_end(const char *sentence);
