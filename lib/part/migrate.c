/* part/migrate: sends particles between ranks as packets: particles of a level that have left the
 * octs of this rank, and all particles when domains have changed. */
#include <string.h>

#include "base/mem.h"
#include "part/priv.h"
#include "part/sort.h"

static const size_t BATCH = (size_t)1 << 24; /* bytes that a rank sends in one exchange */

/* A particle in transfer: the columns of every run, then the other columns, each at a multiple of
 * its size, so that devices can copy them. */
struct packet {
    okey key; /* key of the new host */
    double x[3], v[3];
#define COLUMN(symbol, member, type, ...) type member;
#include "part/columns.def"
};

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
        part_value_copy(p->more[k].size, more + p->more[k].at, part_value_at(p, k, i));
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
        part_value_copy(p->more[k].size, part_value_at(p, k, i), more + p->more[k].at);
}

/* Bytes of a packet, a multiple of the word size. */
size_t part_packet_size(const struct parts *p)
{
    size_t n = (size_t)part_more_end(p);
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

/* Coordinates of the cell of level l that contains particle i (equal to the coordinates of its oct
 * of level l+1). */
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

/* ---- particles that leave ---- */

/* Particles that leave: ascending indices, and packets sorted by rank. */
struct leavers {
    int64_t n, nsend;
    int64_t *at;
    struct comm_counts to;
    size_t size; /* bytes of a packet */
    void *send;
};

/* Rank of a packet; −1: none, the particle is beyond a boundary. */
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
                         const struct domain *d, int l, int64_t begin, int64_t max)
{
    lidx nown = m->lev[l].nown;
    int64_t n = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : n)
    for (int64_t i = begin; i < p->n; i++) n += !host_is_own(p->host[i], nown);
    if (n > max) n = max;
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

void part_packets_put(struct parts *p, const struct level *lv, int64_t nleft, const int64_t *at,
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
    if (n < nleft) part_gaps_close(p, nleft - n, at + n);
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

/* Sends the first `max` of the particles from `begin` on whose host is no own oct of level l to the
 * rank of that oct. (collective) */
static void migrate_some(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d, int l, int64_t begin, int64_t max)
{
    struct leavers s;
    leavers_find(&s, p, m, d, l, begin, max);
    p->lost += s.n - s.nsend;
    if (c->size > 1) {
        int64_t n;
        void *in = comm_exchange(c, s.send, &s.to, s.size, &n, NULL);
        part_packets_put(p, &m->lev[l], s.n, s.at, n, in);
        FREE(in);
    } else {
        BUG_ON(s.nsend);
        part_packets_put(p, &m->lev[l], s.n, s.at, 0, NULL);
    }
    FREE(s.send);
    FREE(s.at);
    comm_counts_free(&s.to);
}

/* Few particles leave in a step: one exchange suffices. */
void part_migrate(struct parts *p, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int l, int64_t begin)
{
    migrate_some(p, m, c, d, l, begin, INT64_MAX);
}

/* ---- all particles ---- */

/* Finds hosts of particles begin..end-1; consecutive particles are mostly in the same oct. */
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

/* Finds the host on levelmin of each particle from its position; HOST_AWAY if that oct is on
 * another rank. */
static void host_all(struct parts *p, const struct mesh *m)
{
    part_forget(p, 0);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < p->n; b += PART_CHUNK)
        host_block(p, m, b, b + PART_CHUNK < p->n ? b + PART_CHUNK : p->n);
}

static bool is_periodic(const struct mesh *m, int d)
{
    return !m->bounded[2 * d] && !m->bounded[2 * d + 1];
}

/* Whether a lost particle is beyond a boundary, and not too far away on a periodic axis. */
static bool has_left(const struct parts *p, const struct mesh *m, int64_t i)
{
    bool left = true;
    for (int d = 0; d < 3; d++)
        left &= !is_periodic(m, d) || (p->x[d][i] >= -m->boxlen && p->x[d][i] < 2 * m->boxlen);
    return left;
}

int64_t part_outside(const struct parts *p, const struct mesh *m, double rounding, double *far)
{
    int64_t n = 0;
    *far = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double out = 0;
        for (int d = 0; d < 3; d++)
            if (is_periodic(m, d)) out = fmax(out, fmax(-p->x[d][i], p->x[d][i] - m->boxlen));
        n += out > rounding;
        *far = fmax(*far, out);
    }
    return n;
}

/* Error if a particle that was read is outside the box. */
static enum err check_all(const struct parts *p, const struct mesh *m, bool may_have_left)
{
    for (int64_t i = 0; i < p->n; i++)
        if (p->host[i] == HOST_LOST && !(may_have_left && has_left(p, m, i)))
            FAIL(ERR_PARAM, "particle %lld is outside the box: position %g %g %g, box 0 to %g",
                 (long long)p->id[i], p->x[0][i], p->x[1][i], p->x[2][i], m->boxlen);
    return OK;
}

/* Sends particles in batches, which bounds the memory of packets. (collective) */
static void migrate_many(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d, int l)
{
    int64_t n = 0, per = (int64_t)(BATCH / part_packet_size(p));
    for (int64_t i = 0; i < p->n; i++) n += !host_is_own(p->host[i], m->lev[l].nown);
    int64_t turns = (n + per - 1) / per;
    comm_max_i64(c, &turns, 1);
    for (int64_t k = 0; k < turns; k++) migrate_some(p, m, c, d, l, 0, per);
}

/* Sends all particles from the ranks of host_all to their owners. (collective) */
static void send_all(struct parts *p, const struct mesh *m, const struct comm *c,
                     const struct domain *d)
{
    int l = m->levelmin;
    migrate_many(p, m, c, d, l);
    part_trim(p);
    for (int k = 0; k < LEVEL_MAX + 3; k++) p->first[k] = p->run[k] = k <= l ? 0 : p->n;
    part_sort(p, 0, p->n);
}

static enum err distribute(struct parts *p, const struct mesh *m, const struct comm *c,
                           const struct domain *d, bool may_have_left)
{
    host_all(p, m);
    TRY(err_agree(c, check_all(p, m, may_have_left)));
    send_all(p, m, c, d);
    return OK;
}

enum err part_distribute(struct parts *p, const struct mesh *m, const struct comm *c,
                         const struct domain *d)
{
    return distribute(p, m, c, d, false);
}

enum err part_take(struct parts *p, const struct mesh *m, const struct comm *c,
                   const struct domain *d)
{
    return distribute(p, m, c, d, true);
}

void part_redistribute(struct parts *p, const struct mesh *m, const struct comm *c,
                       const struct domain *d)
{
    host_all(p, m);
    send_all(p, m, c, d);
}
