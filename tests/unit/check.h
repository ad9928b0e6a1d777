/* Counters of the unit tests, and the message of a failed check: its place, the condition, and
 * further text (printf). */
#pragma once
#include <stdio.h>
#include <string.h>

static int passed, failed;

#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (cond) {                                                                                \
            passed++;                                                                              \
        } else {                                                                                   \
            failed++;                                                                              \
            printf("FAILED %s:%d: %s:", __FILE__, __LINE__, #cond);                                \
            printf(" " __VA_ARGS__);                                                               \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

/* Checks that the call fails with a message that contains `part` (base/err.h). */
#define CHECK_FAILS(call, part)                                                                    \
    do {                                                                                           \
        bool fails_ = (call) != OK && strstr(err_message(), part);                                 \
        if (fails_)                                                                                \
            passed++;                                                                              \
        else                                                                                       \
            failed++, printf("FAILED %s:%d: '%s' is not in '%s'\n", __FILE__, __LINE__, part,      \
                             err_message());                                                       \
    } while (0)
