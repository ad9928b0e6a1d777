/* out/spill: rows spilled to temporary files, list by list, in bounded memory.
 *
 * Every rank fills a file of its own. Rows of a list wait in a page; a full page, or one whose
 * memory is needed, is written as a chunk. A row has sections (its key, its gas, …), and a chunk
 * contains them one after the other, so that they can be read separately. When all ranks have
 * finished, any rank can read any list: its rows in order of rank, then in the order in which they
 * were added. The files are unlinked as soon as all ranks have opened them, before anything is in
 * them: they disappear even if the program is killed. */
#pragma once
#include "comm/comm.h"

enum { SPILL_SECTIONS = 256, SPILL_KINDS = 2 };

struct spill_kind { /* of rows: bytes of each section */
    int nsection;
    size_t width[SPILL_SECTIONS], row; /* row: their sum, set by spill_begin */
};

struct spill_chunk {
    int64_t at;
    int32_t n, file; /* rows · whose */
    int32_t list, kind;
};

struct spill {
    const struct comm *c;
    char dir[4000];
    int nlist;
    struct spill_kind kind[SPILL_KINDS];
    int *fd;                   /* [ranks] */
    int64_t *first;            /* [nlist + 1] into chunk, once spill_share has been called */
    struct spill_chunk *chunk; /* by list, rank, time */

    /* Private: what waits. */
    int64_t end, reserved, nchunk, room, clock;
    size_t page_bytes;
    int npage, nused;
    struct spill_page {
        int list, kind, n, cap;
        int64_t used; /* when rows were put last */
        char *data;
    } * page;
    int32_t *page_of; /* [nlist] or -1 */
};

/* Creates the files spill.RRRRR in dir; memory bounds the pages. Usually nactive of the lists
 * receive rows at a time. (collective, agreed) */
MUST_USE enum err spill_begin(struct spill *s, const struct comm *c, const char *dir, int nlist,
                              int nactive, const struct spill_kind kind[SPILL_KINDS],
                              size_t memory);
void spill_end(struct spill *s); /* after errors too, or if it is zeroed */
/* Room for some of the next n rows, *n of them: the caller writes to section[i], kind.width[i]
 * bytes per row, and then calls spill_add. A list has rows of one kind. */
MUST_USE enum err spill_room(struct spill *s, int list, int kind, int *n, char **section);
MUST_USE enum err spill_add(struct spill *s, int list, int n);
MUST_USE enum err spill_share(struct spill *s); /* (collective, agreed) */

int64_t spill_count(const struct spill *s, int list); /* rows of all ranks */
/* Rows first.. of one section of a chunk. */
MUST_USE enum err spill_get(const struct spill *s, int64_t chunk, int section, int64_t first,
                            int64_t n, void *out);
