/* part: storage of particles and their moves between levels and ranks.
 *
 * Every particle of a level is tied to an oct (host), so the mesh side (part_block.c) never
 * searches. part_enter compares the integer coordinates of a particle's oct with those of its host
 * and looks up the few that differ; part_hand_down reads the child of the host's cell. Both then
 * send away the particles whose host is a ghost.
 *
 * Order in memory: [level l | level l+1 | …]. Since the pieces stay in place when levels merge, a
 * step only has to swap the particles that changed level (Hoare's partition), and a piece is sorted
 * again (part_sort.c) only when enough of it is out of order. */
#include "part/part.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "part/part_block.h"
#include "part/part_priv.h"
#include "part/part_sort.h"

static const size_t BATCH = (size_t)1 << 24; /* bytes that a rank sends in one exchange */

enum { CHUNK = 4096 }; /* particles per chunk of a loop */

/* A particle between ranks: the columns of every run, then the other columns, each at a multiple of
 * its size, so that devices can copy them. */
struct packet {
    okey key; /* of its new host */
    double x[3], v[3];
#define COLUMN(symbol, member, type, ...) type member;
#include "part/columns.def"
};

void part_init(struct parts *p)
{
    _Static_assert(offsetof(struct parts, v) == offsetof(struct parts, col[COL_VX]) &&
                       offsetof(struct parts, m) == offsetof(struct parts, col[COL_MASS]) &&
                       offsetof(struct parts, metal) == offsetof(struct parts, col[COL_METAL]),
                   "members and numbers of columns agree");
    memset(p, 0, sizeof *p);
    p->block_depth = BLOCK_DEPTH_MAX;
    part_columns_init(&p->columns);
}

void part_fini(struct parts *p)
{
    for (int c = 0; c < COL_MOST; c++) FREE(p->col[c]);
    part_scratch_free(p);
    FREE(p->host);
    memset(p, 0, sizeof *p);
}

/* ---- columns ---- */

static size_t column_size(const struct parts *p, int c)
{
    return (size_t)part_type_size(part_column(&p->columns, c)->type);
}

/* Where the columns of `more` end in a packet. */
static int more_end(const struct parts *p)
{
    return p->nmore ? p->more[p->nmore - 1].at + p->more[p->nmore - 1].size : 0;
}

void part_want(struct parts *p, int c)
{
    size_t size = column_size(p, c);
    BUG_ON(c >= p->columns.n);
    p->columns.has[c] = true;
    for (int k = 0; k < p->nmore; k++)
        if (p->more[k].column == c) return;
    if (part_column(&p->columns, c)->when == WHEN_ALWAYS) return;
    int at = (more_end(p) + (int)size - 1) / (int)size * (int)size;
    p->more[p->nmore].column = c;
    p->more[p->nmore].size = (int)size;
    p->more[p->nmore++].at = at;
    if (p->cap) p->col[c] = mem_zero(size * (size_t)p->cap, "particles");
}

void part_want_all(struct parts *p, enum part_when when)
{
    for (int c = 0; c < COL_COUNT; c++)
        if (part_column(&p->columns, c)->when == when) part_want(p, c);
}

int part_add(struct parts *p, const char *name, char type)
{
    int c = part_column_add(&p->columns, name, type);
    if (c >= 0) part_want(p, c);
    return c;
}

size_t part_bytes(const struct part_columns *columns)
{
    size_t n = sizeof(lidx) + PART_SCRATCH_BYTES;
    for (int c = 0; c < columns->n; c++)
        if (columns->has[c]) n += (size_t)part_type_size(part_column(columns, c)->type);
    return n + n / 32; /* part_reserve */
}

static void part_resize(struct parts *p, int64_t cap)
{
    for (int c = 0; c < p->columns.n; c++)
        if (p->columns.has[c])
            p->col[c] = mem_grow(p->col[c], column_size(p, c) * (size_t)cap, "particles");
    p->host = mem_grow(p->host, sizeof *p->host * (size_t)cap, "particles");
    p->cap = cap;
}

void part_reserve(struct parts *p, int64_t n)
{
    if (n > p->cap) part_resize(p, p->cap == 0 ? n : n + n / 32);
}

/* Gives back what many particles that went have left. */
static void part_trim(struct parts *p)
{
    if (p->cap - p->n > p->n / 16) part_resize(p, p->n + p->n / 32);
    if (p->scratch_cap <= p->n + p->n / 16) return;
    part_scratch_free(p);
    part_scratch_reserve(p, p->n); /* what all ranks hold */
}

int64_t part_append(struct parts *p, int64_t n)
{
    int64_t first = p->n;
    part_reserve(p, first + n);
    for (int k = 0; k < p->nmore; k++) {
        size_t size = (size_t)p->more[k].size;
        memset((char *)p->col[p->more[k].column] + size * (size_t)first, 0, size * (size_t)n);
    }
    p->n += n;
    return first;
}

/* ---- one particle ---- */

static inline void value_copy(int size, char *to, const char *from)
{
    switch (size) { /* so that the compiler knows the length */
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    default:
        *to = *from;
        break;
    }
}

static inline char *value_at(const struct parts *p, int k, int64_t i)
{
    return (char *)p->col[p->more[k].column] + p->more[k].size * i;
}

static void particle_copy(struct parts *p, int64_t to, int64_t from)
{
    for (int d = 0; d < 3; d++) {
        p->x[d][to] = p->x[d][from];
        p->v[d][to] = p->v[d][from];
    }
#define COLUMN(symbol, member, ...) p->member[to] = p->member[from];
#include "part/columns.def"
    p->host[to] = p->host[from];
    for (int k = 0; k < p->nmore; k++)
        value_copy(p->more[k].size, value_at(p, k, to), value_at(p, k, from));
}

static void particle_pack(const struct parts *p, int64_t i, okey key, struct packet *out)
{
    char *more = (char *)(out + 1);
    out->key = key;
    for (int d = 0; d < 3; d++) {
        out->x[d] = p->x[d][i];
        out->v[d] = p->v[d][i];
    }
#define COLUMN(symbol, member, ...) out->member = p->member[i];
#include "part/columns.def"
    for (int k = 0; k < p->nmore; k++)
        value_copy(p->more[k].size, more + p->more[k].at, value_at(p, k, i));
}

static void particle_unpack(struct parts *p, int64_t i, lidx host, const struct packet *in)
{
    const char *more = (const char *)(in + 1);
    for (int d = 0; d < 3; d++) {
        p->x[d][i] = in->x[d];
        p->v[d][i] = in->v[d];
    }
#define COLUMN(symbol, member, ...) p->member[i] = in->member;
#include "part/columns.def"
    p->host[i] = host;
    for (int k = 0; k < p->nmore; k++)
        value_copy(p->more[k].size, value_at(p, k, i), more + p->more[k].at);
}

int64_t part_insert(struct parts *p, int l, int64_t n)
{
    int64_t end = part_append(p, n);
    part_forget(p, l + 1);
    for (int k = LEVEL_MAX + 2; k > l; k--) {
        int64_t begin = p->first[k], few = end - begin < n ? end - begin : n;
        for (int64_t i = 0; i < few; i++) particle_copy(p, end + n - few + i, begin + i);
        p->first[k] += n;
        p->run[k] = p->run[k] + n < p->n ? p->run[k] + n : p->n;
        end = begin;
    }
    for (int k = 0; k < p->nmore; k++) {
        size_t size = (size_t)p->more[k].size;
        memset((char *)p->col[p->more[k].column] + size * (size_t)end, 0, size * (size_t)n);
    }
    return end;
}

/* Bytes of a packet, whole words. */
size_t part_packet_size(const struct parts *p)
{
    size_t n = (size_t)more_end(p);
    return sizeof(struct packet) + (n + sizeof(okey) - 1) / sizeof(okey) * sizeof(okey);
}

int part_packet_columns(const struct parts *p, struct packet_column *col)
{
    int n = 0;
    for (int d = 0; d < 3; d++) {
        col[n++] = (struct packet_column){COL_X + d, (int)offsetof(struct packet, x[0]) + 8 * d};
        col[n++] = (struct packet_column){COL_VX + d, (int)offsetof(struct packet, v[0]) + 8 * d};
    }
#define COLUMN(symbol, member, ...)                                                                \
    col[n++] = (struct packet_column){COL_##symbol, (int)offsetof(struct packet, member)};
#include "part/columns.def"
    for (int k = 0; k < p->nmore; k++)
        col[n++] = (struct packet_column){p->more[k].column,
                                          (int)sizeof(struct packet) + p->more[k].at};
    return n;
}

static struct packet *packet_at(void *packets, size_t size, int64_t i)
{
    return (struct packet *)(void *)((char *)packets + size * (size_t)i);
}

/* Coordinates of the cell of level l that holds particle i (those of its oct of level l+1). */
static inline void particle_cell(const struct parts *p, const struct mesh *m, int l, int64_t i,
                                 int64_t q[3])
{
    part_cell(m, l, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]}, q);
}

static bool particle_wrap(struct parts *p, const struct mesh *m, int64_t i)
{
    double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]};
    bool in = part_wrap(m, x);
    for (int d = 0; d < 3; d++) p->x[d][i] = x[d];
    return in;
}

/* ---- migration ---- */

/* The particles that leave: indices ascending, and the packets by rank. */
struct leavers {
    int64_t n, nsend;
    int64_t *at;
    struct comm_counts to;
    size_t size; /* of a packet */
    void *send;
};

/* −1: nobody's, its particle is beyond a boundary. */
static int packet_rank(const struct domain *d, int l, okey key)
{
    return key == part_nowhere() ? -1 : domain_rank(d, l, key);
}

static okey leaver_key(const struct parts *p, const struct mesh *m, int l, int64_t i)
{
    if (p->host[i] >= 0) return m->lev[l].key[p->host[i]];
    int64_t q[3];
    particle_cell(p, m, l - 1, i, q);
    return okey_make((uint64_t)q[0], (uint64_t)q[1], (uint64_t)q[2]);
}

static void leavers_find(struct leavers *s, const struct parts *p, const struct mesh *m,
                         const struct domain *d, int l, int64_t begin, int64_t most)
{
    lidx nown = m->lev[l].nown;
    int64_t n = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : n)
    for (int64_t i = begin; i < p->n; i++) n += !host_is_own(p->host[i], nown);
    if (n > most) n = most;
    *s = (struct leavers){.n = n, .size = part_packet_size(p)};
    if (n == 0) return;
    s->at = mem_new(sizeof *s->at * (size_t)n, "particle exchange");
    s->send = mem_zero(s->size * (size_t)n, "particle exchange");
    okey *key = mem_new(sizeof *key * (size_t)n, "particle exchange");
    int *rank = mem_new(sizeof *rank * (size_t)n, "particle exchange");
    n = 0;
    for (int64_t i = begin; n < s->n; i++)
        if (!host_is_own(p->host[i], nown)) s->at[n++] = i;
    for (int64_t j = 0; j < n; j++) {
        bool lost = p->host[s->at[j]] == HOST_LOST;
        key[j] = lost ? part_nowhere() : leaver_key(p, m, l, s->at[j]);
        rank[j] = j > 0 && key[j] == key[j - 1] ? rank[j - 1] : packet_rank(d, l, key[j]);
    }
    int64_t *order = mem_new(sizeof *order * (size_t)n, "particle exchange");
    s->to = comm_counts_of(n, rank, order);
    s->nsend = comm_counts_total(&s->to);
    for (int64_t j = 0; j < s->nsend; j++)
        particle_pack(p, s->at[order[j]], key[order[j]], packet_at(s->send, s->size, j));
    FREE(order);
    FREE(rank);
    FREE(key);
}

/* The last particles fill the places at[0..n-1], which ascend. */
static void gaps_close(struct parts *p, int64_t n, const int64_t *at)
{
    for (int64_t j = 0; j < n;) {
        p->n--;
        if (at[n - 1] == p->n)
            n--; /* the last entry is itself a gap */
        else
            particle_copy(p, at[j++], p->n);
    }
}

void part_packets_place(struct parts *p, const struct level *lv, int64_t nleft, const int64_t *at,
                        int64_t n, void *packets)
{
    const size_t size = part_packet_size(p);
    part_reserve(p, p->n + (n > nleft ? n - nleft : 0));
    for (int64_t j = 0; j < n; j++) {
        const struct packet *in = packet_at(packets, size, j);
        lidx host = mesh_find(lv, in->key);
        BUG_ON(!host_is_own(host, lv->nown));
        particle_unpack(p, j < nleft ? at[j] : p->n++, host, in);
    }
    if (n < nleft) gaps_close(p, nleft - n, at + n);
}

void *part_packets_exchange(struct parts *p, const struct comm *c, const struct domain *d, int l,
                            int64_t n, void *packets, int64_t *nin)
{
    const size_t size = part_packet_size(p);
    int64_t nsend = 0;
    void *in = NULL;
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "particle exchange");
    for (int64_t j = 0; j < n; j++) {
        rank[j] = packet_rank(d, l, packet_at(packets, size, j)->key);
        nsend += rank[j] >= 0;
    }
    p->lost += n - nsend;
    *nin = 0;
    if (c->size > 1)
        in = comm_exchange_by(c, packets, n, rank, size, nin, NULL);
    else
        BUG_ON(nsend);
    FREE(rank);
    return in;
}

/* Sends particles from `begin` on whose host is no own oct of level l, the first `most` of them, to
 * the rank of that oct. (collective) */
static void migrate_some(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d, int l, int64_t begin, int64_t most)
{
    struct leavers s;
    leavers_find(&s, p, m, d, l, begin, most);
    p->lost += s.n - s.nsend;
    if (c->size > 1) {
        int64_t n;
        void *in = comm_exchange(c, s.send, &s.to, s.size, &n, NULL);
        part_packets_place(p, &m->lev[l], s.n, s.at, n, in);
        FREE(in);
    } else {
        BUG_ON(s.nsend);
        part_packets_place(p, &m->lev[l], s.n, s.at, 0, NULL);
    }
    FREE(s.send);
    FREE(s.at);
    comm_counts_free(&s.to);
}

/* Few leave in a step. */
void part_migrate(struct parts *p, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int l, int64_t begin)
{
    migrate_some(p, m, c, d, l, begin, INT64_MAX);
}

/* ---- all particles ---- */

/* Most are next to others of their oct. */
static void host_block(struct parts *p, const struct mesh *m, int64_t begin, int64_t end)
{
    int64_t last[3] = {-1, -1, -1}, q[3];
    lidx host = HOST_AWAY;
    for (int64_t i = begin; i < end; i++) {
        p->host[i] = HOST_LOST;
        if (!particle_wrap(p, m, i)) continue;
        particle_cell(p, m, m->levelmin - 1, i, q);
        if ((q[0] ^ last[0]) | (q[1] ^ last[1]) | (q[2] ^ last[2])) {
            host = mesh_find(&m->lev[m->levelmin],
                             okey_make((uint64_t)q[0], (uint64_t)q[1], (uint64_t)q[2]));
            memcpy(last, q, sizeof last);
        }
        p->host[i] = host;
    }
}

/* Host on levelmin: where position says, if that oct is here. */
static void host_all(struct parts *p, const struct mesh *m)
{
    part_forget(p, 0);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < p->n; b += CHUNK)
        host_block(p, m, b, b + CHUNK < p->n ? b + CHUNK : p->n);
}

/* Positions that were read. */
static enum err check_all(const struct parts *p, const struct mesh *m)
{
    for (int64_t i = 0; i < p->n; i++)
        if (p->host[i] == HOST_LOST)
            FAIL(ERR_PARAM, "particle %lld is outside the box: position %g %g %g, box 0 to %g",
                 (long long)p->id[i], p->x[0][i], p->x[1][i], p->x[2][i], m->boxlen);
    return OK;
}

/* In batches, so that what is under way stays bounded. (collective) */
static void migrate_many(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d, int l)
{
    int64_t n = 0, per = (int64_t)(BATCH / part_packet_size(p));
    for (int64_t i = 0; i < p->n; i++) n += !host_is_own(p->host[i], m->lev[l].nown);
    int64_t turns = (n + per - 1) / per;
    comm_max_i64(c, &turns, 1);
    for (int64_t k = 0; k < turns; k++) migrate_some(p, m, c, d, l, 0, per);
}

/* From host_all to owners. (collective) */
static void send_all(struct parts *p, const struct mesh *m, const struct comm *c,
                     const struct domain *d)
{
    int l = m->levelmin;
    migrate_many(p, m, c, d, l);
    part_trim(p);
    for (int k = 0; k < LEVEL_MAX + 3; k++) p->first[k] = p->run[k] = k <= l ? 0 : p->n;
    part_sort(p, 0, p->n);
}

enum err part_distribute(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d)
{
    host_all(p, m);
    TRY(err_agree(c, check_all(p, m)));
    send_all(p, m, c, d);
    return OK;
}

void part_redistribute(struct parts *p, const struct mesh *m, const struct comm *c,
                       const struct domain *d)
{
    host_all(p, m);
    send_all(p, m, c, d);
}

/* ---- start of a level's step ---- */

/* part_new_host of one that is not in its oct h any more: mostly it is beyond one face. */
static inline lidx new_host(const struct mesh *m, int l, lidx h, const int64_t o[3],
                            const int64_t q[3])
{
    int64_t n = (int64_t)1 << (l - 1);
    int face = -1, off = 0;
    for (int d = 0; d < 3; d++) {
        int64_t s = (q[d] - o[d] + 1) & (n - 1); /* 0, 1, 2: before it, beside it, after it */
        if (s == 1) continue;
        off++;
        face = s == 0 ? 2 * d : s == 2 ? 2 * d + 1 : -1;
    }
    if (off == 1 && face >= 0 && n > 2 && m->lev[l].nbr[h][face] >= 0)
        return m->lev[l].nbr[h][face];
    return part_new_host(m, l, h, o, q);
}

static void rehost_block(struct parts *p, const struct mesh *m, int l, int64_t begin, int64_t end)
{
    const okey *key = m->lev[l].key;
    double box = m->boxlen;
    lidx last = -1;
    int64_t o[3] = {0}, q[3];
    for (int64_t i = begin; i < end; i++) {
        bool in = true;
        double x[3];
        for (int d = 0; d < 3; d++) {
            x[d] = p->x[d][i];
            in &= x[d] >= 0 && x[d] < box;
        }
        if (!in) {
            if (!part_wrap(m, x)) {
                p->host[i] = HOST_LOST;
                continue;
            }
            for (int d = 0; d < 3; d++) p->x[d][i] = x[d];
        }
        lidx h = p->host[i];
        if (h != last) okey_coords(key[h], o);
        last = h;
        part_cell(m, l - 1, x, q);
        if ((q[0] ^ o[0]) | (q[1] ^ o[1]) | (q[2] ^ o[2])) p->host[i] = new_host(m, l, h, o, q);
    }
}

void part_runs_tidy(struct parts *p, const struct mesh *m, int l)
{
    for (int k = l + 1; k < LEVEL_MAX + 3; k++) {
        int64_t low = k == l + 1 ? p->first[l] : p->run[k - 1];
        if (k > m->levelmax || m->lev[k].noct == 0 || p->run[k] > p->n) p->run[k] = p->n;
        if (p->run[k] < low) p->run[k] = low;
        p->first[k] = p->n;
    }
}

void part_remove(struct parts *p, const struct mesh *m, int l, int64_t n, const int64_t *at)
{
    BUG_ON(p->first[l + 1] != p->n);
    part_forget(p, l);
    if (n > 0) gaps_close(p, n, at);
    part_runs_tidy(p, m, l);
}

void part_enter(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d,
                int l)
{
    part_forget(p, l);
#pragma omp parallel for schedule(static)
    for (int64_t b = p->first[l]; b < p->n; b += CHUNK)
        rehost_block(p, m, l, b, b + CHUNK < p->n ? b + CHUNK : p->n);
    part_migrate(p, m, c, d, l, p->first[l]);
    part_runs_tidy(p, m, l);
    part_sort(p, p->first[l], p->run[l + 1]);
}

/* ---- to the finer level ---- */

/* Marks particles in refined cells: host := ~child. A particle outside its host has left the level
 * and stays. */
static int64_t mark_block(struct parts *p, const struct mesh *m, int l, int64_t begin, int64_t end)
{
    const struct level *lv = &m->lev[l];
    lidx last = -1;
    int64_t o[3] = {0}, n = 0;
    for (int64_t i = begin; i < end; i++) {
        lidx h = p->host[i];
        if (h != last) okey_coords(lv->key[h], o);
        last = h;
        lidx child = part_child(m, l, h, o, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]});
        if (child < 0) continue;
        p->host[i] = ~child;
        n++;
    }
    return n;
}

/* Moves marked particles after the others, from `middle` on. */
static void partition(struct parts *p, int64_t begin, int64_t middle)
{
    part_reserve(p, p->n + 1); /* one place to swap through */
    for (int64_t i = begin, j = middle; i < middle; i++) {
        if (p->host[i] >= 0) continue;
        while (p->host[j] < 0) j++;
        particle_copy(p, p->n, i);
        particle_copy(p, i, j);
        particle_copy(p, j, p->n);
    }
}

void part_hand_down(struct parts *p, const struct mesh *m, const struct comm *c,
                    const struct domain *d, int l)
{
    int64_t begin = p->first[l], down = 0;
    part_forget(p, l);
    if (l < m->levelmax && m->lev[l + 1].noct > 0) {
#pragma omp parallel for schedule(static) reduction(+ : down)
        for (int64_t b = begin; b < p->n; b += CHUNK)
            down += mark_block(p, m, l, b, b + CHUNK < p->n ? b + CHUNK : p->n);
    }
    int64_t middle = p->n - down;
    if (down) partition(p, begin, middle);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = middle; i < p->n; i++) p->host[i] = ~p->host[i];
    p->run[l + 1] = middle;
    if (l < m->levelmax) part_migrate(p, m, c, d, l + 1, middle);
    p->first[l + 1] = middle;
    part_runs_tidy(p, m, l + 1);
}

void part_merge(struct parts *p, const struct mesh *m, int l)
{
    int64_t begin = p->first[l + 1];
    const lidx *parent = m->lev[l + 1].parent;
    part_forget(p, l + 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = begin; i < p->n; i++) p->host[i] = parent[p->host[i]];
    for (int k = l + 1; k < LEVEL_MAX + 3; k++) p->first[k] = p->n;
}

/* ---- sums ---- */

double part_vmax(const struct parts *p, int l)
{
    double top = 0;
#pragma omp parallel for simd schedule(static) reduction(max : top)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++) {
        double a = part_fastest(p->v[0][i], p->v[1][i], p->v[2][i]);
        top = top > a ? top : a;
    }
    return top;
}

void part_kinetic(const struct parts *p, int l, struct sum *ekin)
{
    enum { KINETIC = 1024 };
    int64_t begin = p->first[l], end = p->first[l + 1];
#pragma omp parallel
    {
        struct sum mine;
        double e[KINETIC];
        sum_init(&mine);
#pragma omp for schedule(static)
        for (int64_t b = begin; b < end; b += KINETIC) {
            int64_t n = end - b < KINETIC ? end - b : KINETIC;
#pragma omp simd
            for (int64_t k = 0; k < n; k++) {
                double x = part_energy(p->m[b + k], p->v[0][b + k], p->v[1][b + k], p->v[2][b + k]);
                e[k] = p->family[b + k] > 0 ? x : 0; /* tracers have no mass */
            }
            sum_add_many(&mine, n, e);
        }
#pragma omp critical(part_kinetic)
        sum_join(ekin, &mine);
    }
}
