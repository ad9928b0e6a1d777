/* scale: domain decompositions for any number of ranks, computed by one process without MPI.
 *
 *     scale [-d ksection|hilbert] [-n RANKS,…] [-s SAMPLE] [-t TILE]
 *           [-u NSUBCYCLE,…] [-c memory|work|ramses] [-l] FIELD
 *     scale [-d …] [-n …] faces:N
 *
 * FIELD is a checkpoint of any format, clusters:N or uniform:N (box.h). -t: 8^TILE copies of the
 * field side by side. -n: default 64,128,… 1024. -s: max number of ranks, evenly chosen, whose
 * partners are searched (default 4096); loads are those of all ranks. -u: as in the namelist
 * (default 2). -c: what domains balance: memory (default), work (octs times the steps of their
 * level) or the cost of RAMSES's balancer. -l: instead of the table, the exchanges of each rank
 * (links.h) for the first decomposition and number of ranks. faces:N: a uniform mesh of N^3 divided
 * into equal volumes, surfaces only. walk: messages of a k-section walk only, and the mean number
 * of sends of an item on its way to a random rank.
 *
 * A table on stdout, tab-separated, one line per decomposition and number of ranks. Names ending in
 * _min, _max are extremes over ranks; without an ending: the mean. Units: ranks, messages, octs,
 * bytes of one double per cell, shares of the mean, seconds.
 *
 *   cost        cost that the balancer divides · grain: largest cost in one plane (of one rank), or
 *               of one oct
 *   partners    ranks that get ghosts · p2p: messages, one per partner and level
 *   ghosts      octs sent · bytes: point to point, or with alltoallv · slots: counts of alltoallv
 *   walk        messages of the k-section walk (exact, all ranks) · walk_bytes: including
 *               forwarded data
 *   work        octs times the steps of their level in a coarse step · step_msgs, step_ghosts:
 *               messages and octs sent in a coarse step, with one exchange per step of a level
 *   root        ranks that get the octs of level 1 as ghosts
 *   held        bytes of octs, ghosts and particles · tree: bytes of the decomposition
 *   seconds     time of the balancer in one process · reductions: their number, and their bytes */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "faces.h"
#include "links.h"
#include "share.h"

struct options {
    bool kind[2]; /* decompositions to compute, by enum domain_kind */
    int nrank[64], n, sample, tile, nsubcycle[64], nsub;
    bool links;
    const char *cost, *field;
};

/* Number and bytes of the balancer's reductions over ranks; the linker wraps the library's function
 * by the one below (Makefile). */
static int64_t reductions, reduced;
void __wrap_comm_add_i64(const struct comm *c, int64_t *x, int n);
void __real_comm_add_i64(const struct comm *c, int64_t *x, int n);

void __wrap_comm_add_i64(const struct comm *c, int64_t *x, int n)
{
    reductions++;
    reduced += n * (int64_t)sizeof *x;
    __real_comm_add_i64(c, x, n);
}

static int numbers(char *at, int out[64])
{
    int n = 0;
    for (; *at && n < 64; at += *at == ',') out[n++] = (int)strtol(at, &at, 10);
    return n;
}

static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){
        .kind = {true, true}, .sample = 4096, .nsubcycle = {2}, .nsub = 1, .cost = "memory"};
    for (int r = 64; r <= 1024; r *= 2) o->nrank[o->n++] = r;
    for (int opt; (opt = getopt(argc, argv, "d:n:s:t:u:c:l")) != -1;) {
        if (opt == 'd') {
            o->kind[DOMAIN_KSECTION] = strcmp(optarg, "ksection") == 0;
            o->kind[DOMAIN_HILBERT] = strcmp(optarg, "hilbert") == 0;
        } else if (opt == 'n') {
            o->n = numbers(optarg, o->nrank);
        } else if (opt == 'u') {
            o->nsub = numbers(optarg, o->nsubcycle);
        } else if (opt == 's') {
            o->sample = (int)strtol(optarg, NULL, 10);
        } else if (opt == 'c') {
            o->cost = optarg;
        } else if (opt == 'l') {
            o->links = true;
        } else if (opt == 't') {
            o->tile = (int)strtol(optarg, NULL, 10);
        } else {
            return 2;
        }
    }
    for (int i = 0; i < o->n; i++)
        if (o->nrank[i] < 1) return 2;
    if (optind + 1 != argc || o->sample < 1 || o->tile < 0 || o->tile > 8) return 2;
    o->field = argv[optind];
    return 0;
}

static const char *kind_name(enum domain_kind kind)
{
    return kind == DOMAIN_KSECTION ? "ksection" : "hilbert";
}

/* ---- a uniform mesh ---- */

static int print_faces(const struct options *o)
{
    int n = (int)strtol(o->field + 6, NULL, 10), bits = 0;
    const bool bounded[6] = {false};
    while (1 << bits < n) bits++;
    if (n < 2 || 1 << bits != n) {
        fprintf(stderr, "scale: %s: not a power of two\n", o->field);
        return 2;
    }
    printf(
        "domains\tranks\tcells\tsurface_volume\tpartners\tpartners_min\tpartners_max\tseconds\n");
    for (int k = 0; k < 2; k++)
        for (int i = 0; o->kind[k] && i < o->n; i++) {
            struct faces f;
            double begin = timer_wall();
            struct domain *d = domain_new((enum domain_kind)k, o->nrank[i], bits + 1, bounded);
            faces_measure(d, bits, &f);
            domain_free(d);
            printf("%s\t%d\t%.1f\t%.5f\t%.2f\t%d\t%d\t%.1f\n", kind_name((enum domain_kind)k),
                   o->nrank[i], f.cells, f.surface, f.partners, f.min, f.max, timer_wall() - begin);
            fflush(stdout);
        }
    return 0;
}

/* ---- the walk ---- */

/* Mean number of sends of an item, over all pairs of ranks, or over pairs that start at some
 * ranks. */
static double mean_hops(const struct tree *t)
{
    enum { PAIRS = 1 << 20 };
    int n = t->size <= PAIRS / t->size ? t->size : PAIRS / t->size + 1;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        int from = (int)((int64_t)i * t->size / n);
        for (int to = 0; to < t->size; to++) sum += share_hops(t, from, to);
    }
    return sum / n / t->size;
}

static int print_walk(const struct options *o)
{
    printf("ranks\tlevels\twalk_min\twalk_max\thops\tfactors\n");
    for (int i = 0; i < o->n; i++) {
        struct tree t;
        int min = o->nrank[i], max = 0;
        tree_init(&t, o->nrank[i]);
        for (int r = 0; r < t.size; r++) {
            int n = tree_messages(&t, r);
            if (n < min) min = n;
            if (n > max) max = n;
        }
        printf("%d\t%d\t%d\t%d\t%.6f\t", t.size, t.nlev, min, max, mean_hops(&t));
        for (int l = 0; l < t.nlev; l++) printf("%s%d", l ? "·" : "", t.factor[l]);
        printf("\n");
    }
    return 0;
}

/* ---- a field ---- */

/* A column: name, value, and number of decimals. */
struct column {
    const char *name;
    double value;
    int digits;
};

#define COLUMN(name, digits)                                                                       \
    {                                                                                              \
#name, (double)s->name, digits                                                             \
    }
#define MEAN(name, digits)                                                                         \
    {#name, s->name.mean, digits},                                                                 \
    {                                                                                              \
#name "_max", s->name.max, 0                                                               \
    }
#define RANGE(name, digits) {#name "_min", s->name.min, 0}, MEAN(name, digits)

struct balancer {
    double seconds;
    int64_t reductions, reduced_bytes;
    size_t tree;
};

static void print_line(const struct box *f, enum domain_kind kind, const struct share *s,
                       const struct balancer *b, bool head)
{
    double own = s->octs.mean * f->oct_bytes + s->parts.mean * f->part_bytes,
           copies = s->ghosts.mean * f->oct_bytes;
    const struct column row[] = {{"ranks", s->nrank, 0},
                                 COLUMN(sampled, 0),
                                 COLUMN(levels, 0),
                                 {"octs_all", (double)f->n, 0},
                                 {"parts_all", (double)f->parts, 0},
                                 COLUMN(cost_all, 1),
                                 {"cost_min", s->cost.min, 4},
                                 {"cost_max", s->cost.max, 4},
                                 COLUMN(grain, 4),
                                 COLUMN(empty, 0),
                                 MEAN(octs, 2),
                                 MEAN(parts, 2),
                                 RANGE(partners, 2),
                                 MEAN(p2p, 2),
                                 MEAN(ghosts, 2),
                                 MEAN(bytes, 0),
                                 {"slots", s->nrank, 0},
                                 {"walk_min", s->walk_msgs.min, 0},
                                 {"walk_max", s->walk_msgs.max, 0},
                                 MEAN(walk_bytes, 0),
                                 MEAN(work, 2),
                                 MEAN(step_msgs, 2),
                                 MEAN(step_ghosts, 2),
                                 {"root", (double)s->root_partners, 0},
                                 {"held", own + copies, 0},
                                 {"held_ghosts_share", copies / (own + copies), 3},
                                 {"tree", (double)b->tree, 0},
                                 {"seconds", b->seconds, 3},
                                 {"reductions", (double)b->reductions, 0},
                                 {"reduced_bytes", (double)b->reduced_bytes, 0}};
    size_t n = sizeof row / sizeof *row;
    for (size_t i = 0; head && i < n; i++) printf("%s%s", i ? "\t" : "domains\t", row[i].name);
    if (head) printf("\n");
    printf("%s", kind_name(kind));
    for (size_t i = 0; i < n; i++) printf("\t%.*f", row[i].digits, row[i].value);
    printf("\n");
    fflush(stdout);
}

static void print_row(const struct options *o, const struct box *f, enum domain_kind kind,
                      int nrank, bool head)
{
    struct comm one = {.size = 1};
    struct share s;
    struct domain *even = domain_new(kind, nrank, f->levelmax, f->bounded);
    int64_t calls = reductions, bytes = reduced;
    size_t before = mem_now();
    double begin = timer_wall();
    struct domain *d = domain_balance(
        even, kind, &one,
        &(struct domain_load){.n = f->n, .level = f->level, .key = f->key, .cost = f->cost}, NULL);
    struct balancer b = {timer_wall() - begin, reductions - calls, reduced - bytes,
                         mem_now() - before};
    domain_free(even);
    int32_t *owner = share_owners(f, d);
    if (o->links) {
        links_print(f, d, owner);
    } else {
        share_measure(f, d, owner, o->sample, &s);
        print_line(f, kind, &s, &b, head);
    }
    FREE(owner);
    domain_free(d);
}

int main(int argc, char **argv)
{
    struct options o;
    struct box f;
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "usage: scale [-d ksection|hilbert] [-n RANKS,...] [-s SAMPLE] [-t TILE] "
                        "[-u NSUBCYCLE,...] [-c memory|work|ramses] [-l] CHECKPOINT | clusters:N | "
                        "uniform:N | faces:N | walk\n");
        return 2;
    }
    if (strncmp(o.field, "faces:", 6) == 0) return print_faces(&o);
    if (strcmp(o.field, "walk") == 0) return print_walk(&o);
    if (box_open(o.field, &f) != OK) {
        fprintf(stderr, "scale: %s\n", err_message());
        return 2;
    }
    if (o.tile > 0) box_tile(&f, o.tile);
    box_subcycle(&f, o.nsub, o.nsubcycle);
    if (strcmp(o.cost, "ramses") == 0) links_ramses_cost(&f);
    if (strcmp(o.cost, "work") == 0) links_work_cost(&f);
    bool head = true;
    for (int k = 0; k < 2; k++)
        for (int i = 0; o.kind[k] && i < o.n && (head || !o.links); i++) {
            print_row(&o, &f, (enum domain_kind)k, o.nrank[i], head);
            head = false;
        }
    box_close(&f);
    return 0;
}
