/* comm/tree: the tree over ranks along which the k-section cuts space and its transport walks
 * (Kim 2026, section 2).
 *
 * The root is the group of all ranks; tree level l divides every group into factor[l] groups of
 * consecutive ranks whose sizes differ by one at most, until each is a single rank. Factors are the
 * primes of the number of ranks, largest first, as long as these are at most TREE_FACTOR_MAX. What
 * is left of a number with larger primes is halved: groups of unequal sizes, and a rank may then be
 * alone before the last level. So a rank has at most TREE_FACTOR_MAX - 1 partners per level, and
 * the number of levels is that of a logarithm, for prime numbers of ranks too. */
#pragma once

enum { TREE_LEVELS = 32, TREE_FACTOR_MAX = 7 };

struct tree {
    int size; /* ranks */
    int nlev; /* 0: one rank */
    int factor[TREE_LEVELS];
};

/* A group: ranks first … first + n - 1; n = 0: empty. */
struct group {
    int first, n;
};

void tree_init(struct tree *t, int size);

/* Child j of k of a group. The first n mod k children have one rank more than the others. */
static inline struct group group_child(struct group g, int k, int j)
{
    int each = g.n / k, more = g.n % k;
    return (struct group){g.first + j * each + (j < more ? j : more), each + (j < more)};
}

/* Which child of k holds the rank. */
static inline int group_slot(struct group g, int k, int rank)
{
    int each = g.n / k, more = g.n % k, at = rank - g.first;
    return at < more * (each + 1) ? at / (each + 1) : more + (at - more * (each + 1)) / each;
}

/* Partners of a rank of child `mine` in child `other` of the same group: it sends to one rank,
 * tree_partner, and receives from `n` ranks from `first` on: one, but where the groups are of
 * different sizes none or two. */
int tree_partner(struct group mine, struct group other, int rank);
struct group tree_sources(struct group mine, struct group other, int rank);

/* Messages that a rank sends in a walk: (children that hold ranks) - 1 per level. */
int tree_messages(const struct tree *t, int rank);
