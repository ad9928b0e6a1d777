/* base/checksum: see checksum.h. A piece may begin or end within a word; the partial word is kept
 * until its other bytes arrive. */
#include "base/checksum.h"

#include "base/err.h"
#include "base/mem.h"

bool checksum_blind;

/* Adds n bytes of a word, from byte `first` of the word. */
static void add_part(struct checksum *c, int64_t word, const char *p, int first, int n)
{
    int k = c->npart - 1;
    while (k >= 0 && c->part[k].word != word) k--;
    if (k < 0) {
        if (c->npart == c->room)
            c->part = mem_grow(c->part, sizeof *c->part * (size_t)(c->room += 64), "checksum");
        c->part[k = c->npart++] = (struct checksum_part){.word = word};
    }
    struct checksum_part *w = &c->part[k];
    memcpy((char *)&w->value + first, p, (size_t)n);
    w->have += n;
    BUG_ON(w->have > 8);
    if (w->have < 8) return;
    c->sum += checksum_mix(w->value, (uint64_t)word);
    *w = c->part[--c->npart];
}

/* Number of bytes of a piece before its first whole word. */
static size_t bytes_before(size_t n, int64_t at)
{
    size_t head = (size_t)(-at & 7);
    return head < n ? head : n;
}

uint64_t checksum_inner(const void *p, size_t n, int64_t at)
{
    size_t head = bytes_before(n, at);
    return checksum_words((const char *)p + head, (n - head) / 8,
                          (uint64_t)(at + (int64_t)head) / 8);
}

void checksum_add_inner(struct checksum *c, const void *p, size_t n, int64_t at, uint64_t inner)
{
    const char *s = p;
    int64_t end = at + (int64_t)n;
    size_t head = bytes_before(n, at), tail = (n - head) % 8;
    if (end > c->bytes) c->bytes = end;
    if (head) add_part(c, at / 8, s, (int)(at % 8), (int)head);
    c->sum += inner;
    if (tail) add_part(c, end / 8, s + n - tail, 0, (int)tail);
}

void checksum_add(struct checksum *c, const void *p, size_t n, int64_t at)
{
    checksum_add_inner(c, p, n, at, checksum_inner(p, n, at));
}

uint64_t checksum_end(struct checksum *c)
{
    int64_t last = c->bytes / 8;
    uint64_t value = 0;
    for (int k = 0; k < c->npart; k++) {
        BUG_ON(c->part[k].word != last || c->part[k].have != c->bytes % 8); /* bytes are missing */
        value = c->part[k].value;
    }
    uint64_t sum = (uint64_t)c->bytes + c->sum + checksum_mix(value, (uint64_t)last);
    FREE(c->part);
    c->npart = c->room = 0;
    return sum;
}
