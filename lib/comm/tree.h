/* comm/tree: the tree over ranks along which the k-section cuts space and its transport walks (Kim
 * 2026, section 2).
 *
 * The root is the group of all ranks; tree level l divides every group into factor[l] groups of
 * consecutive ranks whose sizes differ by at most one, until each is a single rank. Factors are the
 * prime factors of the number of ranks up to TREE_FACTOR_MAX, largest first. A remaining product of
 * larger primes is halved repeatedly: groups then have unequal sizes, and a rank may be alone
 * before the last level. So a rank has at most TREE_FACTOR_MAX - 1 partners per level, and the
 * number of levels is logarithmic, even for prime numbers of ranks. */
#pragma once

enum { TREE_LEVELS = 32, TREE_FACTOR_MAX = 7 };

struct tree {
    int size; /* number of ranks */
    int nlev; /* number of levels; 0: one rank */
    int factor[TREE_LEVELS];
};

/* A group of ranks first … first + n - 1; n = 0: empty. */
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

/* Index of the child, of k, that holds the rank. */
static inline int group_slot(struct group g, int k, int rank)
{
    int each = g.n / k, more = g.n % k, at = rank - g.first;
    return at < more * (each + 1) ? at / (each + 1) : more + (at - more * (each + 1)) / each;
}

/* Partners of a rank of child `mine` in child `other` of the same group: tree_partner is the one
 * rank it sends to; tree_sources are the ranks it receives from: one rank, or none or two if the
 * groups differ in size. */
int tree_partner(struct group mine, struct group other, int rank);
struct group tree_sources(struct group mine, struct group other, int rank);

/* Number of messages that a rank sends in a walk: (children that hold ranks) - 1 per level. */
int tree_messages(const struct tree *t, int rank);
