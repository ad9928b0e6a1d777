/* ramses/crc: the checksum of zlib, at memory speed where the machine has carry-less
 * multiplication. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Extends the sum over all bytes so far by n bytes; the sum over none is 0. */
uint32_t crc_add(uint32_t crc, const void *p, size_t n);
