#include "traces/diff/matching.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

/* Sequences with more differences are matched by name alone: how far the search goes, in time and memory. */
enum { DIFFERENCES_MAX = 2000, NONE = -1 };

struct matching {
    const uint32_t *a, *b;
    uint32_t *b_of_a;
    int64_t a_count, b_count; /* of what lies between a common beginning and a common end */
    int64_t skipped;          /* the common beginning */
    int64_t **reached;        /* by number of differences and diagonal: how far along a */
};

/* Along a diagonal as long as elements are equal. */
static int64_t slide(const struct matching *m, int64_t x, int64_t diagonal)
{
    while (x < m->a_count && x - diagonal < m->b_count && m->a[m->skipped + x] == m->b[m->skipped + x - diagonal])
        x++;
    return x;
}

/* Diagonals of d differences are -d, -d + 2 ... d: place (diagonal + d) / 2.  Where a path comes from: a step along b
 * (an element that only b has) or along a. */
static bool from_b(const int64_t *before, int64_t d, int64_t diagonal)
{
    return diagonal == -d || (diagonal != d && before[(diagonal + d - 2) / 2] < before[(diagonal + d) / 2]);
}

static int64_t step(const int64_t *before, int64_t d, int64_t diagonal)
{
    return from_b(before, d, diagonal) ? before[(diagonal + d) / 2] : before[(diagonal + d - 2) / 2] + 1;
}

/* The fewest differences that lead to the end of both; NONE: more than are looked for. */
static int64_t search(struct matching *m)
{
    for (int64_t d = 0; d <= DIFFERENCES_MAX; d++) {
        m->reached[d] = gt_calloc((size_t)d + 1, sizeof *m->reached[d]);
        for (int64_t diagonal = -d; diagonal <= d; diagonal += 2) {
            int64_t x = slide(m, d == 0 ? 0 : step(m->reached[d - 1], d, diagonal), diagonal);

            m->reached[d][(diagonal + d) / 2] = x;
            if (x >= m->a_count && x - diagonal >= m->b_count)
                return d;
        }
    }
    return NONE;
}

/* Back along the path: what was slid over is equal. */
static void join(struct matching *m, int64_t differences)
{
    int64_t x = m->a_count, diagonal = m->a_count - m->b_count;

    for (int64_t d = differences; d >= 0; d--) {
        int64_t begin = d == 0 ? 0 : step(m->reached[d - 1], d, diagonal);

        for (; x > begin; x--)
            m->b_of_a[m->skipped + x - 1] = (uint32_t)(m->skipped + x - 1 - diagonal);
        if (d == 0)
            return;
        if (from_b(m->reached[d - 1], d, diagonal)) {
            diagonal++;
        } else {
            diagonal--;
            x--;
        }
    }
}

static void match_in_order(struct matching *m)
{
    int64_t differences;

    m->reached = gt_calloc(DIFFERENCES_MAX + 1, sizeof *m->reached);
    differences = search(m);
    if (differences != NONE)
        join(m, differences);
    for (int d = 0; d <= DIFFERENCES_MAX && m->reached[d] != NULL; d++)
        free(m->reached[d]);
    free(m->reached);
}

/* What has no partner yet: the first of a name with the first of that name. */
static void match_by_name(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t names,
                          uint32_t *b_of_a)
{
    bool *taken = gt_calloc(b_count + 1ull, sizeof *taken);
    uint32_t *first = gt_calloc(names + 1ull, sizeof *first), *next = gt_calloc(b_count + 1ull, sizeof *next);

    for (uint32_t i = 0; i < a_count; i++)
        if (b_of_a[i] != UINT32_MAX)
            taken[b_of_a[i]] = true;
    for (uint32_t i = b_count; i-- > 0;) {
        if (taken[i])
            continue;
        next[i] = first[b[i]]; /* places from 1: 0 is none */
        first[b[i]] = i + 1;
    }
    for (uint32_t i = 0; i < a_count; i++) {
        if (b_of_a[i] != UINT32_MAX || first[a[i]] == 0)
            continue;
        b_of_a[i] = first[a[i]] - 1;
        first[a[i]] = next[b_of_a[i]];
    }
    free(taken);
    free(first);
    free(next);
}

void gt_match(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t names,
              uint32_t *b_of_a)
{
    struct matching m = { .a = a, .b = b, .b_of_a = b_of_a, .a_count = a_count, .b_count = b_count };

    memset(b_of_a, 0xff, a_count * sizeof *b_of_a);
    while (m.skipped < m.a_count && m.skipped < m.b_count && a[m.skipped] == b[m.skipped]) {
        b_of_a[m.skipped] = (uint32_t)m.skipped;
        m.skipped++;
    }
    while (m.a_count > m.skipped && m.b_count > m.skipped && a[m.a_count - 1] == b[m.b_count - 1])
        b_of_a[--m.a_count] = (uint32_t)--m.b_count;
    m.a_count -= m.skipped;
    m.b_count -= m.skipped;
    if (m.a_count > 0 && m.b_count > 0)
        match_in_order(&m);
    match_by_name(a, a_count, b, b_count, names, b_of_a);
}
