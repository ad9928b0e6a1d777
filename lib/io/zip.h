/* io/zip: checksums and decompression of zlib's format, by libdeflate where Ptah was built with
 * it, else by zlib: 2.8 and 2.5 times slower. Compression is zlib's own, so that the bytes of files
 * do not depend on the build. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extends the CRC-32 over all bytes so far by n bytes; the sum over none is 0. */
uint32_t zip_crc(uint32_t crc, const void *p, size_t n);

/* A whole zlib stream of n bytes into at most `room` bytes, *got of them. False if it is damaged or
 * longer. */
bool zip_inflate(const void *p, size_t n, void *out, size_t room, size_t *got);
