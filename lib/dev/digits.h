/* dev/digits: exact sums (base/sum.h) on their way from a device to the host. Most digits of a sum
 * are zero: a kernel finds the first and the last that is not, and packs those between them, of all
 * sums of a fetch. The host asks for as many as the longest fetch so far had, and for the rest
 * once it knows that there is one. No function is collective. */
#pragma once
#include "dev/dev.h"

struct dev_digits {
    struct dev_stream *s; /* stream of the fetch on its way; NULL: none */
    int n, width;         /* its sums, and numbers in each */
    int64_t each;         /* most packed numbers a sum in a fetch so far, rounded up */
    int64_t got;          /* words asked for */
    struct dev_room there;
    size_t bytes;
    int64_t *here; /* copy of `there` */
};

/* Provides memory for n sums of `width` numbers; the kernel that makes the sums packs them to
 * f->there.p (dev/digits_kern.h). ERR_LIMIT: it does not fit. name: of the traffic. */
MUST_USE enum err dev_digits_need(struct dev_digits *f, struct dev_stream *s, int n, int width,
                                  const char *name);
/* Packs from[n][width], an array of the device, into the memory of dev_digits_need. */
void dev_digits_pack(const struct dev_digits *f, struct dev_stream *s, const int64_t *from);
void dev_digits_get(struct dev_digits *f, struct dev_stream *s); /* begins the copy */
/* Waits for it: to[n][width] are the sums. Without a fetch on its way, `to` stays as it is. */
MUST_USE enum err dev_digits_take(struct dev_digits *f, int64_t *to);
/* Frees all memory; no fetch is on its way. */
void dev_digits_free(struct dev_digits *f, struct dev *d);
