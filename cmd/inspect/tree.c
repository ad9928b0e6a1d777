/* inspect: -t, the domains of a checkpoint, and the octs, particles and memory of each rank.
 *
 * Memory of a rank is the memory that simulate needs for the content of its files: arrays of octs
 * and ghosts (oct/mesh.h), a second copy of the gas during an update, and particles (part/part.h)
 * with scratch for sorting. Buffers are not included. */
#include <stdio.h>

#include "audit/domains.h"
#include "formats/formats.h"
#include "inspect.h"

/* Bytes of the links of an oct, a field of an oct, a particle, and a star's further columns. */
enum { OCT_LINKS = 92, FIELD = 64, PARTICLE = 90, STAR = 16, RANKS_SHOWN = 64 };

struct totals { /* sums of a rank */
    int64_t octs, leaves, need;
};

struct balance {
    const char *name;
    double sum, max;
};

static void print_text(const struct source *r, const struct domains *d, const char *path,
                       const struct options *o);
static void print_json(const struct source *r, const struct domains *d, const char *path);

enum err tree_print(const char *path, const struct options *o, int *status)
{
    struct source *r;
    struct domains d = {0};
    enum err err = source_open(path, &r);
    if (err == OK) err = domains_read(r, &d);
    if (err == OK && o->json)
        print_json(r, &d, path);
    else if (err == OK)
        print_text(r, &d, path, o);
    if (err == OK) domains_free(&d);
    source_close(&r);
    return err;
}

static struct totals total_of(const struct source *r, const struct rank_row *row)
{
    struct totals t = {0};
    int64_t oct = OCT_LINKS +
                  (int64_t)mesh_bytes((struct mesh_kind){.gravity = r->head.gravity}).gravity +
                  FIELD * 2 * (int64_t)r->nhydro;
    for (int l = 1; l <= LEVEL_MAX; l++) {
        t.octs += row->octs[l];
        t.leaves += source_cells(r) * row->octs[l] - row->split[l];
    }
    t.need = (t.octs + row->ghosts) * oct +
             row->particles * (PARTICLE + (r->head.stars ? STAR : 0));
    return t;
}

enum { BALANCES = 5 };

static void get_balance(const struct source *r, const struct domains *d, struct balance b[BALANCES])
{
    static const char *const name[BALANCES] = {"octs", "leaves", "particles", "memory", "bytes"};
    for (int k = 0; k < BALANCES; k++) b[k] = (struct balance){.name = name[k]};
    for (int i = 0; i < d->nrank; i++) {
        struct totals t = total_of(r, &d->rank[i]);
        const double x[BALANCES] = {(double)t.octs, (double)t.leaves, (double)d->rank[i].particles,
                                    (double)t.need, (double)d->rank[i].bytes};
        for (int k = 0; k < BALANCES; k++) {
            b[k].sum += x[k];
            b[k].max = x[k] > b[k].max ? x[k] : b[k].max;
        }
    }
}

static double ratio(const struct balance *b, int nrank)
{
    return b->sum > 0 ? b->max * nrank / b->sum : 1;
}

/* ---- text ---- */

static void print_node(const struct domains *d, int at)
{
    const struct domain_node *n = &d->node[at];
    printf("  %*s", 2 * n->depth, "");
    if (n->nchild == 0) {
        printf("rank %d\n", n->first);
        return;
    }
    printf("ranks %d-%d  %c at", n->first, n->last, "xyz"[n->axis]);
    for (int j = 0; j < n->nchild - 1; j++) printf(" %.9g", n->cut[j]);
    printf("\n");
    for (int j = 0; j < n->nchild; j++) print_node(d, n->child + j);
}

static void print_domains(const struct domains *d)
{
    printf("  %d rank%s, ordering %s\n", d->nrank, d->nrank > 1 ? "s" : "", d->ordering);
    if (d->nnode) print_node(d, 0);
    for (int i = 0; d->nbound > 2 && i < d->nbound - 1; i++)
        printf("  %s %d  keys %.17g to %.17g\n", d->nbound == d->nrank + 1 ? "rank" : "domain",
               i + 1, d->bound[i], d->bound[i + 1]);
}

static void print_ranks(const char *what, const int *rank, int n)
{
    if (n == 0) return;
    printf("    %s", what);
    for (int i = 0; i < n && i < RANKS_SHOWN; i++) { /* prints consecutive ranks as 4-9 */
        int j = i;
        while (j + 1 < n && rank[j + 1] == rank[j] + 1) j++;
        if (j > i + 1)
            printf(" %d-%d", rank[i], rank[j]), i = j;
        else
            printf(" %d", rank[i]);
    }
    printf("%s\n", n > RANKS_SHOWN ? " …" : "");
}

static void print_partners(const struct domains *d)
{
    if (d->nrank == 1) return;
    printf("\n  exchange partners%s\n",
           d->ghosts_known || d->nnode ? "" : " are not stored in this format");
    if (!d->ghosts_known && !d->nnode) return;
    for (int i = 0; i < d->nrank; i++) {
        const struct rank_row *row = &d->rank[i];
        printf("  rank %d\n", i + 1);
        print_ranks("down the tree:", row->walk, row->nwalk);
        print_ranks("ghosts of:", row->partner, row->npartner);
    }
}

static void print_levels(const struct source *r, const struct domains *d)
{
    printf("\n  level           octs     leaf cells   octs per rank: min, mean, max\n");
    for (int l = 1; l <= LEVEL_MAX; l++) {
        int64_t min = INT64_MAX, max = 0, octs = r->counts.octs[l];
        if (!octs) continue;
        for (int i = 0; i < d->nrank; i++) {
            int64_t n = d->rank[i].octs[l];
            min = n < min ? n : min;
            max = n > max ? n : max;
        }
        printf("  %5d %14ld %14ld   %ld, %.6g, %ld\n", l, (long)octs,
               (long)(source_cells(r) * octs - r->counts.split[l]), (long)min,
               (double)octs / d->nrank, (long)max);
    }
}

static void print_table(const struct source *r, const struct domains *d)
{
    printf("\n  %6s %12s %12s %12s %12s %12s %12s\n", "rank", "octs", "ghosts", "leaf cells",
           "particles", "memory MB", "files MB");
    for (int i = 0; i < d->nrank; i++) {
        const struct rank_row *row = &d->rank[i];
        struct totals t = total_of(r, row);
        printf("  %6d %12ld ", i + 1, (long)t.octs);
        if (d->ghosts_known)
            printf("%12ld", (long)row->ghosts);
        else
            printf("%12s", "-");
        printf(" %12ld %12ld %12.3f %12.3f\n", (long)t.leaves, (long)row->particles,
               (double)t.need / 1e6, (double)row->bytes / 1e6);
    }
}

static void print_by_level(const struct source *r, const struct domains *d)
{
    printf("\n  octs and leaf cells per rank and level\n");
    for (int i = 0; i < d->nrank; i++)
        for (int l = 1; l <= LEVEL_MAX; l++)
            if (r->counts.octs[l])
                printf("  %6d %5d %12ld %12ld\n", i + 1, l, (long)d->rank[i].octs[l],
                       (long)(source_cells(r) * d->rank[i].octs[l] - d->rank[i].split[l]));
}

static void print_text(const struct source *r, const struct domains *d, const char *path,
                       const struct options *o)
{
    struct balance b[BALANCES];
    printf("%s\n", path);
    print_domains(d);
    if (!o->quiet) print_partners(d);
    print_levels(r, d);
    if (!o->quiet) print_table(r, d);
    if (o->verbose) print_by_level(r, d);
    get_balance(r, d, b);
    printf("\n  balance, max / mean:");
    for (int k = 0; k < 4; k++)
        if (b[k].sum > 0) printf(" %s %.4f", b[k].name, ratio(&b[k], d->nrank));
    printf("\n");
    if (o->many) printf("\n");
}

/* ---- JSON ---- */

static void json_list(const char *name, const int *x, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++) printf("%s%d", i ? "," : "", x[i]);
    printf("]");
}

static void json_reals(const char *name, const double *x, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++) {
        if (i) putchar(',');
        json_value(x[i]);
    }
    printf("]");
}

static void json_nodes(const struct domains *d)
{
    printf(",\"nodes\":[");
    for (int i = 0; i < d->nnode; i++) {
        const struct domain_node *n = &d->node[i];
        printf("%s{\"depth\":%d,\"ranks\":[%d,%d]", i ? "," : "", n->depth, n->first, n->last);
        if (n->nchild) {
            json_text("axis", (char[]){"xyz"[n->axis], 0});
            json_reals("cuts", n->cut, n->nchild - 1);
            json_count("first_child", n->child);
            json_count("children", n->nchild);
        }
        printf("}");
    }
    printf("]");
}

static void json_rank(const struct source *r, const struct domains *d, int i)
{
    const struct rank_row *row = &d->rank[i];
    struct totals t = total_of(r, row);
    printf("{\"rank\":%d", i + 1);
    json_count("octs", t.octs);
    json_count("leaves", t.leaves);
    json_count("particles", row->particles);
    json_count("memory", t.need);
    json_count("bytes", row->bytes);
    if (d->ghosts_known) json_count("ghosts", row->ghosts);
    if (d->ghosts_known) json_list("ghosts_of", row->partner, row->npartner);
    if (d->nnode) json_list("tree_partners", row->walk, row->nwalk);
    if (d->box) json_reals("lower", d->box[i][0], 3);
    if (d->box) json_reals("upper", d->box[i][1], 3);
    printf(",\"levels\":[");
    for (int l = 1, n = 0; l <= LEVEL_MAX; l++)
        if (row->octs[l])
            printf("%s{\"level\":%d,\"octs\":%ld,\"leaves\":%ld}", n++ ? "," : "", l,
                   (long)row->octs[l], (long)(source_cells(r) * row->octs[l] - row->split[l]));
    printf("]}");
}

static void print_json(const struct source *r, const struct domains *d, const char *path)
{
    struct balance b[BALANCES];
    json_begin("tree", path);
    json_text("ordering", d->ordering);
    json_count("ranks", d->nrank);
    if (d->nbound) json_reals("keys", d->bound, d->nbound);
    if (d->nnode) json_nodes(d);
    printf(",\"levels\":[");
    for (int l = 1, n = 0; l <= LEVEL_MAX; l++)
        if (r->counts.octs[l])
            printf("%s{\"level\":%d,\"octs\":%ld,\"leaves\":%ld}", n++ ? "," : "", l,
                   (long)r->counts.octs[l],
                   (long)(source_cells(r) * r->counts.octs[l] - r->counts.split[l]));
    printf("],\"by_rank\":[");
    for (int i = 0; i < d->nrank; i++) {
        if (i) putchar(',');
        json_rank(r, d, i);
    }
    get_balance(r, d, b);
    printf("],\"balance\":{");
    for (int k = 0; k < 4; k++) {
        printf("%s\"%s\":", k ? "," : "", b[k].name);
        json_value(ratio(&b[k], d->nrank));
    }
    printf("}");
    json_end();
}
