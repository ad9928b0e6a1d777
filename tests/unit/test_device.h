/* The device that tests run on: the emulated one, or that of PTAH_TEST_DEVICE (tests/gpu/run). */
#pragma once
#include <stdlib.h>

static inline const char *test_device(void)
{
    const char *kind = getenv("PTAH_TEST_DEVICE");
    return kind ? kind : "host";
}
