/* base/mem: heap memory by name, so that `simulate -v` can print its use.
 *
 * All sizes are bytes; memory is 64-byte aligned. Running out of memory ends the program with a
 * message that names the array. Names are string literals (lent, never copied). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *mem_new(size_t bytes, const char *name);              /* uninitialised */
void *mem_zero(size_t bytes, const char *name);             /* zeroed */
void *mem_filled(size_t bytes, int byte, const char *name); /* every byte has this value */
/* Zeroed, on pages of 2 MiB where the system has them: for arrays that live as long as the run and
 * of which loops read many rows side by side, more than a core has addresses of small pages for. */
void *mem_zero_wide(size_t bytes, const char *name);
void *mem_grow(void *p, size_t bytes, const char *name); /* realloc; keeps the old contents */
/* Room for one more than the n elements of the list p; `room`, 0 at first, more than doubles. */
#define MEM_ROOM(p, n, room, min, name)                                                            \
    do {                                                                                           \
        if ((n) < (room)) break;                                                                   \
        (room) = 2 * (room) + (min);                                                               \
        (p) = mem_grow(p, sizeof *(p) * (size_t)(room), name);                                     \
    } while (0)
/* Comparisons for mem_sort and mem_find, ascending: of objects of a type by one member or by two,
 * and of numbers. */
#define MEM_ORDER(name, type, member)                                                              \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        return (x->member > y->member) - (x->member < y->member);                                  \
    }
#define MEM_ORDER2(name, type, first, second)                                                      \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        if (x->first != y->first) return x->first < y->first ? -1 : 1;                             \
        return (x->second > y->second) - (x->second < y->second);                                  \
    }
#define MEM_ORDER_OF(name, number)                                                                 \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const number *x = a, *y = b;                                                               \
        return (*x > *y) - (*x < *y);                                                              \
    }
/* Takes the pages of a new block, which will soon be written, from the system by all threads. */
void mem_touch(void *p);
/* Asks the system for large pages of 2 MiB in a block from mem_new that has not been touched. */
void mem_wide(void *p);
/* Closes a stream of open_memstream; returns its text as a block of base/mem. */
char *mem_close_text(FILE *f, char **text, const size_t *bytes, const char *name);
/* Ends the program with a message after a library has run out of memory. */
_Noreturn void mem_exhausted(const char *library);
void mem_free(void *p); /* p may be NULL */
/* Adds `more` bytes (negative: subtracts) of foreign memory to the account of this name. */
void mem_count(const char *name, ptrdiff_t more);
/* Marks the end of a recurring stretch of work (a coarse step). Freed pages stay cached up to the
 * peak of this stretch or the one before; the rest returns to the system. */
void mem_trim(void);
size_t mem_now(void);  /* bytes held by this rank now */
size_t mem_peak(void); /* peak so far, bytes */
/* Resident set size of this process now, bytes; 0 if not known. */
size_t mem_rss(void);
size_t mem_peak_rss(void); /* peak resident set size, bytes */
/* Total memory of the machine, bytes. */
size_t mem_machine(void);
/* Prints a table: name, bytes now, peak, bytes at the peak of the total. */
void mem_print(FILE *out);

/* A row of the table of names. */
struct mem_row {
    const char *name;
    size_t now, peak;
    size_t at_peak; /* bytes held when the total was at its maximum; sums to mem_peak() */
};
int mem_rows(void);
struct mem_row mem_row(int i);

#define FREE(p)                                                                                    \
    do {                                                                                           \
        mem_free(p);                                                                               \
        (p) = NULL;                                                                                \
    } while (0)

/* ---- arrays ---- */

/* Sort and binary search for arrays that may be empty. An empty array may be NULL, which qsort and
 * bsearch do not allow even for zero elements. */
typedef int mem_order(const void *a, const void *b);
static inline void mem_sort(void *at, size_t n, size_t size, mem_order *order)
{
    if (n > 1) qsort(at, n, size, order);
}
/* Returns NULL if no element matches the key. */
static inline void *mem_find(const void *key, const void *at, size_t n, size_t size,
                             mem_order *order)
{
    return n > 0 ? bsearch(key, at, n, size, order) : NULL;
}

/* Moves `lo` to the first index in lo..hi - 1 for which `below`, a condition on `mid`, is false; to
 * hi if there is none. The condition holds for all indices before that one and for none behind it.
 * `lo` and `hi` are variables of an integer type, and are equal afterwards; `mid` is a new name. */
#define MEM_BISECT(lo, hi, mid, below)                                                             \
    while ((lo) < (hi)) {                                                                          \
        const int64_t mid = (lo) + ((hi) - (lo)) / 2;                                              \
        if (below)                                                                                 \
            (lo) = mid + 1;                                                                        \
        else                                                                                       \
            (hi) = mid;                                                                            \
    }
