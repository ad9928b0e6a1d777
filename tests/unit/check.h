/* Counts of the unit tests, and the sentence of one that fails: its place, the condition, and what
 * more it says (printf). */
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

/* The call fails and its sentence has this part (base/err.h). */
#define CHECK_FAILS(call, part)                                                                    \
    do {                                                                                           \
        bool fails_ = (call) != OK && strstr(err_message(), part);                                 \
        if (fails_)                                                                                \
            passed++;                                                                              \
        else                                                                                       \
            failed++, printf("FAILED %s:%d: '%s' is not in '%s'\n", __FILE__, __LINE__, part,      \
                             err_message());                                                       \
    } while (0)
