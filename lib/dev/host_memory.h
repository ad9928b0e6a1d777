/* dev/host_memory: memory of an emulated device: pages without access, but while they are open.
 * Private to dev. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct host_memory;

struct host_memory *host_memory_new(void);
void host_memory_free(struct host_memory **m);
/* Filled with ones: as doubles NaN, as indices −1. NULL: there is no more. The name is lent. */
void *host_memory_take(struct host_memory *m, size_t bytes, const char *name);
void host_memory_give(struct host_memory *m, void *p);
/* Kernels and copies run between these. */
void host_memory_open(struct host_memory *m);
void host_memory_close(struct host_memory *m);
/* The name of the live array that holds all of these bytes, or NULL. */
const char *host_memory_name(const struct host_memory *m, const void *p, size_t bytes);
/* Whether any of these bytes is in memory of the device. */
bool host_memory_touches(const struct host_memory *m, const void *p, size_t bytes);
