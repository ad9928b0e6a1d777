/* audit/domains: see domains.h. */
#include "audit/domains.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "curamses/read.h"
#include "ramses/priv.h"

enum { SMALL = 1 << 26 };

/* The k-section arrays as they are stored: [node][column], columns apart. */
struct ksec {
    int64_t nlev, kmax, nnode;
    int64_t *axis, *next, *rank; /* axis 1..3 by depth; next, rank from 1, 0: none */
    double *wall;
};

static enum err read_domains_binary(struct ramses *r, struct domains *d);
static enum err read_domains_hdf5(struct ramses *r, struct domains *d);
static enum err read_ranks_binary(struct ramses *r, struct domains *d);
static enum err read_ranks_hdf5(struct ramses *r, struct domains *d);

enum err domains_read(struct ramses *r, struct domains *d)
{
    *d = (struct domains){.nrank = r->nwriter, .ghosts_known = !r->hdf5};
    memcpy(d->ordering, r->ordering, sizeof d->ordering);
    d->rank = mem_zero(sizeof *d->rank * (size_t)d->nrank, "domains");
    enum err err = r->hdf5 ? read_domains_hdf5(r, d) : read_domains_binary(r, d);
    if (err == OK) err = r->hdf5 ? read_ranks_hdf5(r, d) : read_ranks_binary(r, d);
    if (err == OK) err = ramses_check_tree(r);
    if (err != OK) domains_free(d);
    return err;
}

void domains_free(struct domains *d)
{
    for (int i = 0; d->rank && i < d->nrank; i++) {
        FREE(d->rank[i].partner);
        FREE(d->rank[i].walk);
    }
    FREE(d->rank);
    FREE(d->bound);
    FREE(d->node);
    FREE(d->wall);
    FREE(d->box);
}

/* ---- the k-section tree ---- */

static enum err bad_tree(const char *path)
{
    FAIL(ERR_FORMAT, "%s: the tree of domains is damaged", path);
}

/* Children come after their father, so one walk downwards meets all; nothing can go round. */
static enum err make_nodes(const struct ksec *k, struct domains *d, const char *path)
{
    if (k->nlev > 31 || k->kmax < 1 || k->nnode < 1 || k->nnode > 3 * (int64_t)d->nrank + 4)
        return bad_tree(path);
    d->nnode = (int)k->nnode;
    d->node = mem_zero(sizeof *d->node * (size_t)d->nnode, "domains");
    d->wall = mem_new(sizeof *d->wall * (size_t)(k->nnode * k->kmax), "domains");
    for (int64_t i = 0; i < k->nnode; i++) {
        struct domain_node *node = &d->node[i];
        node->axis = -1;
        for (int64_t j = 0; j < k->kmax; j++) {
            int64_t to = k->next[j * k->nnode + i];
            if (to == 0) break;
            if (to < i + 2 || to > k->nnode || node->depth >= k->nlev) return bad_tree(path);
            if (j == 0) node->child = (int)to - 1;
            if (to - 1 != node->child + j) return bad_tree(path);
            node->nchild++;
            d->node[to - 1].depth = node->depth + 1;
        }
        node->wall = d->wall + i * k->kmax;
        for (int j = 0; j < node->nchild - 1; j++) node->wall[j] = k->wall[j * k->nnode + i];
        if (node->nchild) {
            node->axis = (int)k->axis[node->depth] - 1;
            if (node->axis < 0 || node->axis > 2) return bad_tree(path);
        } else {
            node->first = node->last = k->rank[i] >= 1 && k->rank[i] <= d->nrank ? (int)k->rank[i]
                                                                                 : 0;
            if (d->nnode > 1 && node->first == 0) return bad_tree(path);
        }
    }
    for (int i = d->nnode - 1; i >= 0; i--)
        for (int j = 0; j < d->node[i].nchild; j++) {
            const struct domain_node *to = &d->node[d->node[i].child + j];
            if (j == 0) d->node[i].first = to->first;
            d->node[i].last = to->last;
        }
    return OK;
}

/* On each level of the tree a rank meets, in every other child of its node, the rank at its own
 * place there (the exchange pattern of Kim 2026). */
static void walk_down(struct domains *d, int rank)
{
    struct rank_row *row = &d->rank[rank - 1];
    int room = 0;
    for (int at = 0; d->node[at].nchild;) {
        const struct domain_node *node = &d->node[at];
        int mine = 0;
        while (mine < node->nchild - 1 && rank > d->node[node->child + mine].last) mine++;
        int place = rank - d->node[node->child + mine].first;
        for (int j = 0; j < node->nchild; j++) {
            const struct domain_node *other = &d->node[node->child + j];
            int last = other->last - other->first;
            if (j == mine) continue;
            if (row->nwalk == room)
                row->walk = mem_grow(row->walk, sizeof *row->walk * (size_t)(room += 16),
                                     "domains");
            row->walk[row->nwalk++] = other->first + (place < last ? place : last);
        }
        at = node->child + mine;
    }
}

static enum err finish_tree(const struct ksec *k, struct domains *d, const char *path)
{
    TRY(make_nodes(k, d, path));
    for (int r = 1; r <= d->nrank; r++) walk_down(d, r);
    return OK;
}

static void free_ksec(struct ksec *k)
{
    FREE(k->axis);
    FREE(k->next);
    FREE(k->rank);
    FREE(k->wall);
}

/* Corners as stored: all x, then y, then z. */
static void take_boxes(struct domains *d, const double *lo, const double *hi)
{
    d->box = mem_new(sizeof *d->box * (size_t)d->nrank, "domains");
    for (int i = 0; i < d->nrank; i++)
        for (int a = 0; a < 3; a++) {
            d->box[i][0][a] = lo[a * d->nrank + i];
            d->box[i][1][a] = hi[a * d->nrank + i];
        }
}

/* ---- binary files ---- */

static enum err get_words(struct fort_in *f, const char *what, int64_t n, int64_t **p)
{
    struct fort_rec rec;
    TRY(fort_expect(f, what, 4 * n, &rec));
    *p = mem_new(sizeof **p * (size_t)n + 8, "domains");
    for (int64_t i = 0; i < n; i++) {
        int32_t x;
        TRY(fort_load(f, &rec, 4, i, 1, &x));
        (*p)[i] = x;
    }
    return OK;
}

static enum err get_reals(struct fort_in *f, const char *what, int64_t n, double **p)
{
    struct fort_rec rec;
    TRY(fort_next_real(f, what, n, &rec));
    *p = mem_new(sizeof **p * (size_t)n + 8, "domains");
    return fort_load_real(f, &rec, n, 0, (size_t)n, *p);
}

/* Keys are doubles, or of 16 bytes (QUADHILBERT). */
static enum err get_bounds(struct fort_in *f, const struct ramses *r, struct domains *d)
{
    struct fort_rec rec;
    TRY(fort_next(f, "bound keys", &rec));
    int64_t width = r->wide_keys ? 16 : r->narrow ? 4 : 8, n = rec.bytes / width;
    if (rec.bytes != n * width || n < 2 || n > SMALL)
        FAIL(ERR_FORMAT, "%s: record %ld (bound keys) at byte %ld has %ld bytes", f->path,
             (long)rec.number, (long)rec.at, (long)rec.bytes);
    d->nbound = (int)n;
    d->bound = mem_new(sizeof *d->bound * (size_t)n, "domains");
    for (int64_t i = 0; i < n; i++) {
        __float128 wide;
        if (width == 16) {
            TRY(fort_load(f, &rec, 16, i, 1, &wide));
            d->bound[i] = (double)wide;
        } else {
            TRY(fort_load_real(f, &rec, n, i, 1, &d->bound[i]));
        }
    }
    return OK;
}

static enum err get_ksection(struct fort_in *f, struct domains *d, struct ksec *k)
{
    int32_t n[3];
    int64_t *factor;
    for (int i = 0; i < 3; i++) TRY(fort_get_i4(f, "tree of domains", &n[i]));
    if (n[0] < 0 || n[0] > 31 || n[1] < 0 || n[1] > d->nrank + 1 || n[2] < 0 ||
        n[2] > 3 * d->nrank + 4)
        return bad_tree(f->path);
    k->nlev = n[0], k->kmax = n[1], k->nnode = n[2];
    TRY(get_words(f, "factors", k->nlev, &factor));
    FREE(factor);
    TRY(get_words(f, "axes", k->nlev, &k->axis));
    TRY(get_reals(f, "walls", k->nnode * (k->kmax > 1 ? k->kmax - 1 : 0), &k->wall));
    TRY(get_words(f, "children", k->nnode * k->kmax, &k->next));
    TRY(get_words(f, "ranks", k->nnode, &k->rank));
    double *lo = NULL, *hi = NULL;
    enum err err = get_reals(f, "boxes", 3 * (int64_t)d->nrank, &lo);
    if (err == OK) err = get_reals(f, "boxes", 3 * (int64_t)d->nrank, &hi);
    if (err == OK) take_boxes(d, lo, hi);
    FREE(lo);
    FREE(hi);
    return err;
}

static enum err read_records(struct fort_in *f, const struct ramses *r, struct domains *d)
{
    struct ksec k = {0};
    /* header, state, lists, counts, lists of boundaries, free memory, ordering */
    TRY(fort_skip(f, "header", 23 - r->no_mass_sph + (r->nboundary ? 3 : 0) + 2));
    if (strcmp(d->ordering, "bisection") == 0) return OK;
    if (strcmp(d->ordering, "ksection") != 0) return get_bounds(f, r, d);
    enum err err = get_ksection(f, d, &k);
    if (err == OK && d->nrank > 1) err = finish_tree(&k, d, f->path);
    free_ksec(&k);
    return err;
}

static enum err read_domains_binary(struct ramses *r, struct domains *d)
{
    char path[PATH_MAX];
    struct fort_in f;
    TRY(ramses_path(r, "amr", 1, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = read_records(&f, r, d);
    fort_shut(&f);
    return err;
}

/* Own octs are counted by the reader; those of others are in the lists of the amr file's header. */
static enum err read_ghosts(struct ramses *r, int file, struct rank_row *row)
{
    char path[PATH_MAX];
    struct fort_in f;
    struct amr_head a = {0};
    int nlist = r->ncpu + r->nboundary;
    TRY(ramses_path(r, "amr", file, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_amr_head(&f, r, &a, false);
    fort_shut(&f);
    int room = 0;
    for (int i = 0; err == OK && i < nlist; i++) {
        int64_t n = 0;
        for (int l = 0; l < a.nlevelmax; l++) n += a.numbl[(size_t)l * (size_t)nlist + (size_t)i];
        if (i == file - 1 || n == 0) continue;
        row->ghosts += n;
        if (i >= r->ncpu) continue;
        if (row->npartner == room)
            row->partner = mem_grow(row->partner, sizeof *row->partner * (size_t)(room += 16),
                                    "domains");
        row->partner[row->npartner++] = i + 1;
    }
    ramses_amr_head_free(&a);
    return err;
}

static void add_bytes(const struct ramses *r, int file, struct rank_row *row)
{
    static const char *const kind[] = {"amr", "hydro", "grav", "part", "exact"};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        char path[PATH_MAX];
        struct stat st;
        if (ramses_path(r, kind[i], file, path, sizeof path) == OK && stat(path, &st) == 0)
            row->bytes += st.st_size;
    }
}

static enum err count_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    (void)r;
    *(int64_t *)ctx += p->n;
    return OK;
}

static enum err pass_octs(const struct ramses *r, const struct ramses_octs *o, void *ctx)
{
    (void)r, (void)o, (void)ctx;
    return OK;
}

static enum err read_ranks_binary(struct ramses *r, struct domains *d)
{
    struct ckpt_tally *t = &r->tally, all = {0};
    for (int file = 1; file <= r->ncpu; file++) {
        struct rank_row *row = &d->rank[file - 1];
        memset(t, 0, sizeof *t);
        TRY(ramses_read_octs(r, file, false, pass_octs, NULL));
        TRY(read_ghosts(r, file, row));
        TRY(ramses_read_parts(r, file, count_parts, &row->particles));
        add_bytes(r, file, row);
        for (int l = 0; l < LEVEL_MAX + 2; l++) {
            all.octs[l] += row->octs[l] = t->octs[l];
            all.split[l] += row->split[l] = t->split[l];
        }
        all.particles += row->particles;
    }
    *t = all;
    return OK;
}

/* ---- HDF5 ---- */

static enum err read_ksection_hdf5(struct ramses *r, struct domains *d, struct ksec *k)
{
    int64_t n, m, nlo, nhi;
    void *p, *q = NULL;
    TRY(hdf5_read_small(r, "domain/ksec_dir", false, 31, &k->nlev, &p));
    k->axis = p;
    TRY(hdf5_read_small(r, "domain/ksec_indx", false, SMALL, &k->nnode, &p));
    k->rank = p;
    TRY(hdf5_read_small(r, "domain/ksec_next", false, SMALL, &n, &p));
    k->next = p;
    TRY(hdf5_read_small(r, "domain/ksec_wall", true, SMALL, &m, &p));
    k->wall = p;
    k->kmax = k->nnode > 0 ? n / k->nnode : 0;
    if (k->nlev == 0 || k->kmax < 2 || m < k->nnode * (k->kmax - 1)) return bad_tree(r->dir);
    TRY(hdf5_read_small(r, "domain/bisec_cpubox_min", true, SMALL, &nlo, &p));
    enum err err = hdf5_read_small(r, "domain/bisec_cpubox_max", true, SMALL, &nhi, &q);
    if (err == OK && nlo == 3 * (int64_t)d->nrank && nhi == nlo) take_boxes(d, p, q);
    mem_free(p);
    mem_free(q);
    return err;
}

static enum err read_domains_hdf5(struct ramses *r, struct domains *d)
{
    struct ksec k = {0};
    int64_t n;
    void *p;
    enum err err = OK;
    if (strcmp(d->ordering, "ksection") != 0) {
        TRY(hdf5_read_small(r, "domain/bound_key", true, SMALL, &n, &p));
        d->bound = p, d->nbound = (int)n;
        return OK;
    }
    if (d->nrank > 1) err = read_ksection_hdf5(r, d, &k);
    if (err == OK && d->nrank > 1) err = finish_tree(&k, d, r->dir);
    free_ksec(&k);
    return err;
}

/* Rows stand in order of rank: each level's counts say where a rank begins. */
struct shares {
    struct domains *d;
    int64_t *end[LEVEL_MAX + 2]; /* [nrank] row after the last of each rank */
    int64_t at[LEVEL_MAX + 2];   /* rows met */
    int rank[LEVEL_MAX + 2];     /* of the next row, from 0 */
};

static enum err share_octs(const struct ramses *r, const struct ramses_octs *o, void *ctx)
{
    struct shares *s = ctx;
    int l = o->level;
    (void)r;
    for (int i = 0; i < o->n; i++, s->at[l]++) {
        while (s->rank[l] < s->d->nrank - 1 && s->at[l] >= s->end[l][s->rank[l]]) s->rank[l]++;
        s->d->rank[s->rank[l]].octs[l]++;
        s->d->rank[s->rank[l]].split[l] += __builtin_popcount(o->split[i]);
    }
    return OK;
}

static enum err read_shares(struct ramses *r, struct domains *d, const char *path, int64_t total,
                            int64_t **end)
{
    int64_t n, sum = 0;
    void *p;
    TRY(hdf5_read_small(r, path, false, SMALL, &n, &p));
    *end = p;
    for (int64_t i = 0; i < n; i++) {
        if ((*end)[i] < 0 || (*end)[i] > total - sum) n = -1;
        if (n >= 0) (*end)[i] = sum += (*end)[i];
    }
    if (n != d->nrank || sum != total)
        FAIL(ERR_FORMAT, "%s: /%s does not add up to %ld", r->dir, path, (long)total);
    return OK;
}

static enum err read_all_shares(struct ramses *r, struct domains *d, struct shares *s)
{
    for (int l = 1; l <= LEVEL_MAX; l++) {
        char path[64];
        if (!r->numbtot[l]) continue;
        snprintf(path, sizeof path, "amr/level_%d/ngrid_per_cpu", l);
        TRY(read_shares(r, d, path, r->numbtot[l], &s->end[l]));
    }
    memset(&r->tally, 0, sizeof r->tally);
    for (int piece = 1; piece <= r->ncpu; piece++)
        TRY(ramses_read_octs(r, piece, false, share_octs, s));
    return OK;
}

static enum err read_ranks_hdf5(struct ramses *r, struct domains *d)
{
    struct shares s = {.d = d};
    char path[PATH_MAX];
    struct stat st;
    int64_t n = 0;
    void *p = NULL;
    enum err err = read_all_shares(r, d, &s);
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(s.end[l]);
    if (err == OK && r->head.particles)
        err = hdf5_read_small(r, "particles/npart_per_cpu", false, SMALL, &n, &p);
    for (int64_t i = 0; i < n && i < d->nrank; i++)
        r->tally.particles += d->rank[i].particles = ((int64_t *)p)[i];
    mem_free(p);
    snprintf(path, sizeof path, "%.4000s/data_%05d.h5", r->dir, r->number);
    if (err == OK && stat(path, &st) == 0) /* of one file there is no telling whose a byte is */
        for (int i = 0; i < d->nrank; i++) d->rank[i].bytes = st.st_size / d->nrank;
    return err;
}
