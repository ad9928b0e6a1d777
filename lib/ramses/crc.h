/* ramses/crc: the checksum of zlib, at the speed of memory where the machine multiplies without
 * carries. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The sum over all so far and n bytes more; 0 over none. */
uint32_t crc_add(uint32_t crc, const void *p, size_t n);
