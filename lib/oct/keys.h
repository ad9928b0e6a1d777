/* oct/keys: searches in ascending lists of keys. */
#pragma once
#include "oct/okey.h"

/* Index of the first of key[begin..end-1] that is not less than k, or end. */
static inline lidx okeys_from(const okey *key, lidx begin, lidx end, okey k)
{
    while (begin < end) {
        lidx mid = begin + (end - begin) / 2;
        if (key[mid] < k)
            begin = mid + 1;
        else
            end = mid;
    }
    return begin;
}
