#include "io/zip.h"

#ifdef PTAH_DEFLATE
#include <libdeflate.h>

uint32_t zip_crc(uint32_t crc, const void *p, size_t n)
{
    return libdeflate_crc32(crc, p, n);
}

bool zip_inflate(const void *p, size_t n, void *out, size_t room, size_t *got)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    bool ok = d && libdeflate_zlib_decompress(d, p, n, out, room, got) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(d);
    return ok;
}
#else
#include <zlib.h>

uint32_t zip_crc(uint32_t crc, const void *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

bool zip_inflate(const void *p, size_t n, void *out, size_t room, size_t *got)
{
    uLongf bytes = (uLongf)room;
    bool ok = uncompress(out, &bytes, p, (uLong)n) == Z_OK;
    *got = bytes;
    return ok;
}
#endif
