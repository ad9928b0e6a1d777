/* io/zip: checksums and decompression of zlib's format, by libdeflate if Ptah was built with it,
 * otherwise by zlib, which is 2.8 and 2.5 times slower. Compression is always by zlib, so that the
 * bytes of files do not depend on the build. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extends the CRC-32 of all bytes so far by n bytes; the CRC of no bytes is 0. */
uint32_t zip_crc(uint32_t crc, const void *p, size_t n);

/* Decompresses a complete zlib stream of n bytes into at most `room` bytes; *got: their number.
 * False if the stream is damaged or longer. */
bool zip_inflate(const void *p, size_t n, void *out, size_t room, size_t *got);
