/* fuzz/mutate: changes that preserve the framing of a file of Fortran records: mostly within one
 * record, sometimes of its length. Otherwise nearly every input would end at a length that does not
 * match. */
#include <string.h>

#include "base/rng.h"
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

enum { RECORDS = 512 };

/* Finds the first byte of each record; returns the number of records. */
static int find_records(const uint8_t *data, size_t n, size_t *at)
{
    int k = 0;
    for (size_t i = 0; k < RECORDS && i + 8 <= n; k++) {
        int32_t head;
        memcpy(&head, data + i, 4);
        if (head < 0 || (size_t)head > n - i - 8) break;
        at[k] = i;
        i += 8 + (size_t)head;
    }
    return k;
}

static size_t resize(uint8_t *data, size_t n, size_t at, int32_t was, int32_t is)
{
    memmove(data + at + 4 + is, data + at + 4 + was, n - at - 4 - (size_t)was);
    memcpy(data + at, &is, 4);
    memcpy(data + at + 4 + is, &is, 4);
    return n - (size_t)was + (size_t)is;
}

static struct rng dice;

static size_t roll(size_t sides)
{
    return sides ? rng_word(&dice) % sides : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
    static const int32_t odd[] = {0,         1,         -1,           2, 3, 8, 99, 100, 128, 65536,
                                  INT32_MAX, INT32_MIN, INT32_MAX / 8};
    size_t at[RECORDS];
    int32_t size;
    int k = fuzz_has_records() ? find_records(data, n, at) : 0;
    dice = rng_make(seed, 0, 0);
    if (k == 0 || roll(8) == 0) return LLVMFuzzerMutate(data, n, max);
    size_t i = at[roll(roll(4) || k < 24 ? (size_t)k : 24)];
    memcpy(&size, data + i, 4);
    if (size >= 4 && roll(3) == 0) {
        memcpy(data + i + 4 + 4 * roll((size_t)size / 4), &odd[roll(sizeof odd / sizeof *odd)], 4);
        return n;
    }
    if (roll(6) || n >= max) {
        if (size) LLVMFuzzerMutate(data + i + 4, (size_t)size, (size_t)size);
        return n;
    }
    size_t room = max - n > 64 ? 64 : max - n,
           is = roll(2) ? roll((size_t)size + 1) : (size_t)size + roll(room + 1);
    return resize(data, n, i, size, (int32_t)is);
}
