/* order.c - the order in which SMs are taken, and which of them belong together. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/calibrate/analysis.h"

/* An SM and how many launches used it. */
struct use {
    uint32_t sm, launches;
};

static int by_use(const void *a, const void *b)
{
    const struct use *left = a, *right = b;
    if (left->launches != right->launches)
        return left->launches < right->launches ? 1 : -1;
    return (left->sm > right->sm) - (left->sm < right->sm);
}

/* Count one launch's SMs; `met` is all false before and after. */
static bool count_launch(const uint32_t *sms, size_t blocks, size_t count, struct use *uses, bool *met)
{
    bool good = true;
    for (size_t i = 0; i < blocks && good; i++) {
        good = sms[i] < count && !met[sms[i]];
        if (good) {
            met[sms[i]] = true;
            uses[sms[i]].launches++;
        }
    }
    memset(met, 0, count * sizeof(*met));
    return good;
}

static bool all_ranked_below(const uint32_t *sms, size_t blocks, const uint32_t *rank)
{
    for (size_t i = 0; i < blocks; i++)
        if (rank[sms[i]] >= blocks)
            return false;
    return true;
}

static size_t count_alike(const uint32_t *seen, size_t repeats, size_t count, const uint32_t *order)
{
    uint32_t *rank = gt_calloc(count, sizeof(*rank));
    size_t alike = 0;
    for (uint32_t i = 0; i < count; i++)
        rank[order[i]] = i;
    for (size_t blocks = 1; blocks <= count; blocks++)
        for (size_t r = 0; r < repeats; r++, seen += blocks)
            alike += all_ranked_below(seen, blocks, rank);
    free(rank);
    return alike;
}

int gt_find_order(const uint32_t *seen, size_t repeats, size_t count, uint32_t *order, size_t *alike)
{
    struct use *uses = gt_calloc(count + 1, sizeof(*uses));
    bool *met = gt_calloc(count + 1, sizeof(*met)), good = true;
    const uint32_t *launch = seen;
    for (uint32_t i = 0; i < count; i++)
        uses[i].sm = i;
    for (size_t blocks = 1; blocks <= count && good; blocks++)
        for (size_t r = 0; r < repeats && good; r++, launch += blocks)
            good = count_launch(launch, blocks, count, uses, met);
    qsort(uses, count, sizeof(*uses), by_use);
    for (size_t i = 0; i < count; i++)
        order[i] = uses[i].sm;
    free(uses);
    free(met);
    if (!good)
        return -1;
    *alike = count_alike(seen, repeats, count, order);
    return 0;
}

static uint32_t root_of(const uint32_t *parent, uint32_t thing)
{
    while (parent[thing] != thing)
        thing = parent[thing];
    return thing;
}

size_t gt_find_sets(const uint32_t (*pairs)[2], size_t pair_count, size_t count, uint32_t *sizes, size_t *rest)
{
    uint32_t *parent = gt_calloc(2 * count + 1, sizeof(*parent)), *members = parent + count;
    size_t sets = 0;
    for (uint32_t i = 0; i < count; i++)
        parent[i] = i;
    for (size_t i = 0; i < pair_count; i++) {
        uint32_t a = root_of(parent, pairs[i][0]), b = root_of(parent, pairs[i][1]);
        parent[a > b ? a : b] = a > b ? b : a; /* the lowest member is the root */
    }
    for (uint32_t i = 0; i < count; i++)
        members[root_of(parent, i)]++;
    *rest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] > 1)
            sizes[sets++] = members[i];
        *rest += members[i] == 1;
    }
    free(parent);
    return sets;
}
