/* dev/host_memory: memory of an emulated device, whose pages are accessible only between open and
 * close. Private to dev. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct host_memory;

struct host_memory *host_memory_new(void);
void host_memory_free(struct host_memory **m);
/* Allocates memory of one bits: NaN as double, −1 as index. NULL: none left. name is lent. */
void *host_memory_take(struct host_memory *m, size_t bytes, const char *name);
void host_memory_give(struct host_memory *m, void *p);
/* Kernels and copies run between host_memory_open and host_memory_close. */
void host_memory_open(struct host_memory *m);
void host_memory_close(struct host_memory *m);
/* Name of the live array that contains all of these bytes, or NULL. */
const char *host_memory_name(const struct host_memory *m, const void *p, size_t bytes);
/* Whether any of these bytes lies in device memory. */
bool host_memory_touches(const struct host_memory *m, const void *p, size_t bytes);
