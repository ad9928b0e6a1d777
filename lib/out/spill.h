/* out/spill: rows spilled to temporary files, by list, in bounded memory.
 *
 * Every rank fills its own file. Rows of a list are collected in a page; a full page, or one whose
 * memory is needed, is written as a chunk. A row has sections (its key, its gas, …), and a chunk
 * contains them one after the other, so that they can be read separately. When all ranks have
 * finished, any rank can read any list: its rows in order of rank, then in the order in which they
 * were added. The files are unlinked as soon as all ranks have opened them, before they hold data:
 * they disappear even if the program is killed. */
#pragma once
#include "comm/comm.h"

enum { SPILL_SECTIONS = 256, SPILL_KINDS = 2 };

struct spill_kind { /* kind of row */
    int nsection;
    /* bytes of each section; row: their sum, set by spill_begin */
    size_t width[SPILL_SECTIONS], row;
};

struct spill_chunk {
    int64_t at;
    int32_t n, file; /* number of rows; rank whose file has them */
    int32_t list, kind;
};

struct spill {
    const struct comm *c;
    char dir[4000];
    int nlist;
    struct spill_kind kind[SPILL_KINDS];
    int *fd;                   /* [ranks] file descriptors */
    int64_t *first;            /* [nlist + 1] first chunk of each list, set by spill_share */
    struct spill_chunk *chunk; /* chunks sorted by list, rank and time */

    /* The following are private: pages of unwritten rows. */
    int64_t end, reserved, nchunk, room, clock;
    size_t page_bytes;
    int npage, nused;
    struct spill_page {
        int list, kind, n, cap;
        int64_t used; /* time of the last added rows */
        char *data;
    } * page;
    int32_t *page_of; /* [nlist] page of each list, or -1 */
};

/* Creates the files spill.RRRRR in dir; memory: bytes for pages; nactive: number of lists that
 * usually receive rows at the same time. (collective, agreed) */
MUST_USE enum err spill_begin(struct spill *s, const struct comm *c, const char *dir, int nlist,
                              int nactive, const struct spill_kind kind[SPILL_KINDS],
                              size_t memory);
void spill_end(struct spill *s); /* also after errors, or for a zeroed spill */
/* Reserves space for some of the next n rows; *n: their number. The caller writes to section[i],
 * kind.width[i] bytes per row, and then calls spill_add. All rows of a list are of one kind. */
MUST_USE enum err spill_room(struct spill *s, int list, int kind, int *n, char **section);
MUST_USE enum err spill_add(struct spill *s, int list, int n);
MUST_USE enum err spill_share(struct spill *s); /* (collective, agreed) */

int64_t spill_count(const struct spill *s, int list); /* number of rows on all ranks */
/* Reads n rows from `first` on of one section of a chunk. */
MUST_USE enum err spill_get(const struct spill *s, int64_t chunk, int section, int64_t first,
                            int64_t n, void *out);
