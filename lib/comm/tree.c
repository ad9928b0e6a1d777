#include "comm/tree.h"

void tree_init(struct tree *t, int size)
{
    static const int primes[] = {7, 5, 3, 2};
    int rest = size;
    *t = (struct tree){.size = size};
    for (int i = 0; i < 4; i++)
        for (; rest % primes[i] == 0 && rest > 1; rest /= primes[i])
            t->factor[t->nlev++] = primes[i];
    for (int halves = 1; halves < rest; halves *= 2) t->factor[t->nlev++] = 2;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

int tree_partner(struct group mine, struct group other, int rank)
{
    return other.first + min(rank - mine.first, other.n - 1);
}

struct group tree_sources(struct group mine, struct group other, int rank)
{
    int at = rank - mine.first, end = at == mine.n - 1 ? other.n : min(at + 1, other.n);
    return (struct group){other.first + at, end > at ? end - at : 0};
}

int tree_messages(const struct tree *t, int rank)
{
    struct group g = {0, t->size};
    int n = 0;
    for (int l = 0; l < t->nlev; l++) {
        n += min(t->factor[l], g.n) - 1;
        g = group_child(g, t->factor[l], group_slot(g, t->factor[l], rank));
    }
    return n;
}
