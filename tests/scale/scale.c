/* scale: decompositions for any number of ranks, made by one process without MPI.
 *
 *     scale [-d ksection|hilbert] [-n RANKS,…] [-s SAMPLE] [-t TILE] FIELD
 *     scale [-d …] [-n …] faces:N
 *
 * FIELD is a checkpoint of any format, or clusters:N (box.h). -t: 8^TILE copies of it side by
 * side. -n: default 64,128,… 1024. -s: the partners of at most so many ranks are looked up, evenly
 * chosen; loads are those of all ranks (default 4096). faces:N: a uniform mesh of N^3 cut into
 * equal volumes, its faces alone. walk: the messages of a k-section walk alone.
 *
 * A table on stdout, tab-separated, a line for each decomposition and number of ranks. Names ending
 * in _min, _max are over ranks; without an ending: the mean. Units: ranks, messages, octs, bytes of
 * one double per cell, shares of the mean, seconds.
 *
 *   cost        what the balancer divides · grain: of it, in one plane (of one rank), or one oct
 *   partners    ranks that get ghosts · p2p: messages, one for each of them and level
 *   ghosts      octs sent · bytes: point to point, or with alltoallv · slots: of alltoallv's counts
 *   walk        messages of the k-section walk (exact, all ranks) · walk_bytes: with what is
 *               passed on
 *   root        ranks that get the octs of level 1 as ghosts
 *   held        bytes of octs, ghosts and particles · tree: bytes of the decomposition
 *   seconds     of the balancer in one process · reductions: of it, and their bytes */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "faces.h"
#include "share.h"

struct options {
    bool kind[2]; /* by enum domain_kind */
    int nrank[64], n, sample, tile;
    const char *field;
};

/* The balancer's reductions over ranks, counted: the linker puts this function in front of the
 * library's (Makefile). */
static int64_t reductions, reduced;
void __wrap_comm_add_i64(const struct comm *c, int64_t *x, int n);
void __real_comm_add_i64(const struct comm *c, int64_t *x, int n);

void __wrap_comm_add_i64(const struct comm *c, int64_t *x, int n)
{
    reductions++;
    reduced += n * (int64_t)sizeof *x;
    __real_comm_add_i64(c, x, n);
}

static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.kind = {true, true}, .sample = 4096};
    for (int r = 64; r <= 1024; r *= 2) o->nrank[o->n++] = r;
    for (int opt; (opt = getopt(argc, argv, "d:n:s:t:")) != -1;) {
        if (opt == 'd') {
            o->kind[DOMAIN_KSECTION] = strcmp(optarg, "ksection") == 0;
            o->kind[DOMAIN_HILBERT] = strcmp(optarg, "hilbert") == 0;
        } else if (opt == 'n') {
            o->n = 0;
            for (char *at = optarg; *at && o->n < 64; at += *at == ',')
                o->nrank[o->n++] = (int)strtol(at, &at, 10);
        } else if (opt == 's') {
            o->sample = (int)strtol(optarg, NULL, 10);
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
    const bool wall[6] = {false};
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
            struct domain *d = domain_new((enum domain_kind)k, o->nrank[i], bits + 1, wall);
            faces_measure(d, bits, &f);
            domain_free(d);
            printf("%s\t%d\t%.1f\t%.5f\t%.2f\t%d\t%d\t%.1f\n", kind_name((enum domain_kind)k),
                   o->nrank[i], f.cells, f.surface, f.partners, f.least, f.most,
                   timer_wall() - begin);
            fflush(stdout);
        }
    return 0;
}

/* ---- the walk ---- */

static int print_walk(const struct options *o)
{
    printf("ranks\tlevels\twalk_min\twalk_max\tfactors\n");
    for (int i = 0; i < o->n; i++) {
        struct tree t;
        int least = o->nrank[i], most = 0;
        tree_init(&t, o->nrank[i]);
        for (int r = 0; r < t.size; r++) {
            int n = tree_messages(&t, r);
            if (n < least) least = n;
            if (n > most) most = n;
        }
        printf("%d\t%d\t%d\t%d\t", t.size, t.nlev, least, most);
        for (int l = 0; l < t.nlev; l++) printf("%s%d", l ? "·" : "", t.factor[l]);
        printf("\n");
    }
    return 0;
}

/* ---- a field ---- */

static void print_head(void)
{
    printf("domains\tranks\tsampled\tlevels\tocts_all\tparts_all\tcost_all\tcost_min\tcost_"
           "max\tgrain\tempty\t"
           "octs\tocts_max\tparts\tparts_max\tpartners_min\tpartners\tpartners_max\tp2p\tp2p_max\t"
           "ghosts\tghosts_max\tbytes\tbytes_max\tslots\twalk_min\twalk_max\twalk_bytes\t"
           "walk_bytes_max\troot\theld\theld_ghosts_share\ttree\tseconds\treductions\t"
           "reduced_bytes\n");
}

static void print_row(const struct options *o, const struct box *f, enum domain_kind kind,
                      int nrank)
{
    struct comm one = {.size = 1};
    struct share s;
    struct domain *even = domain_new(kind, nrank, f->levelmax, f->wall);
    int64_t calls = reductions, bytes = reduced;
    size_t before = mem_now();
    double begin = timer_wall();
    struct domain *d = domain_balance(even, kind, &one, f->n, f->level, f->key, f->cost);
    double seconds = timer_wall() - begin;
    size_t tree = mem_now() - before;
    calls = reductions - calls, bytes = reduced - bytes;
    domain_free(even);
    int32_t *owner = share_owners(f, d);
    share_measure(f, d, owner, o->sample, &s);
    FREE(owner);
    domain_free(d);
    double own = s.octs.mean * f->oct_bytes + s.parts.mean * f->part_bytes,
           copies = s.ghosts.mean * f->oct_bytes;
    printf("%s\t%d\t%d\t%d\t%ld\t%ld\t%.6e\t%.4f\t%.4f\t%.4f\t%ld\t", kind_name(kind), nrank,
           s.sampled, s.levels, (long)f->n, (long)f->parts, s.cost_all, s.cost.min, s.cost.max,
           s.grain, (long)s.empty);
    printf("%.2f\t%.0f\t%.2f\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f\t%.0f\t", s.octs.mean, s.octs.max,
           s.parts.mean, s.parts.max, s.partners.min, s.partners.mean, s.partners.max, s.p2p.mean,
           s.p2p.max);
    printf("%.2f\t%.0f\t%.0f\t%.0f\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%ld\t", s.ghosts.mean, s.ghosts.max,
           s.bytes.mean, s.bytes.max, nrank, s.walk_msgs.min, s.walk_msgs.max, s.walk_bytes.mean,
           s.walk_bytes.max, (long)s.root_partners);
    printf("%.0f\t%.3f\t%zu\t%.3f\t%ld\t%ld\n", own + copies, copies / (own + copies), tree,
           seconds, (long)calls, (long)bytes);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct options o;
    struct box f;
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "usage: scale [-d ksection|hilbert] [-n RANKS,...] [-s SAMPLE] [-t TILE] "
                        "CHECKPOINT | clusters:N | faces:N | walk\n");
        return 2;
    }
    if (strncmp(o.field, "faces:", 6) == 0) return print_faces(&o);
    if (strcmp(o.field, "walk") == 0) return print_walk(&o);
    if (box_open(o.field, &f) != OK) {
        fprintf(stderr, "scale: %s\n", err_message());
        return 2;
    }
    if (o.tile > 0) box_tile(&f, o.tile);
    print_head();
    for (int k = 0; k < 2; k++)
        for (int i = 0; o.kind[k] && i < o.n; i++)
            print_row(&o, &f, (enum domain_kind)k, o.nrank[i]);
    box_close(&f);
    return 0;
}
