#include "traces/store/placement.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct counts {
    uint32_t *by_sm;
    uint32_t sms, gpu;
};

struct gt_placement {
    struct counts *ops;
    uint32_t op_count;
};

struct gt_placement *gt_placement_new(uint32_t ops)
{
    struct gt_placement *placement = gt_calloc(1, sizeof *placement);

    placement->ops = gt_calloc(ops + 1ull, sizeof *placement->ops);
    placement->op_count = ops;
    return placement;
}

void gt_placement_free(struct gt_placement *placement)
{
    if (placement == NULL)
        return;
    for (uint32_t i = 0; i < placement->op_count; i++)
        free(placement->ops[i].by_sm);
    free(placement->ops);
    free(placement);
}

void gt_placement_add(struct gt_placement *placement, const struct gt_block_record *record, uint64_t times)
{
    struct counts *counts = &placement->ops[record->op];

    if (record->sm >= counts->sms) {
        counts->by_sm = gt_realloc(counts->by_sm, record->sm + 1ull, sizeof *counts->by_sm);
        while (counts->sms <= record->sm)
            counts->by_sm[counts->sms++] = 0;
    }
    counts->by_sm[record->sm] += (uint32_t)(times * record->blocks);
    counts->gpu = record->gpu;
}

char *gt_placement_text(const struct gt_placement *placement, uint32_t op, uint32_t *gpu)
{
    const struct counts *counts = &placement->ops[op];
    char *text;
    size_t bytes;
    FILE *out;

    if (counts->sms == 0)
        return NULL;
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        gt_bug("open_memstream failed");
    for (uint32_t sm = 0; sm < counts->sms; sm++)
        fprintf(out, "%c%u", sm == 0 ? '[' : ',', counts->by_sm[sm]);
    fputc(']', out);
    fclose(out);
    *gpu = counts->gpu;
    return text;
}

/* The next number of a list; 0 behind its end. Returns -1 where there is something else. */
static int next_count(const char **at, double *count)
{
    char *end;

    *count = 0;
    if (**at == '\0')
        return 0;
    if (**at != '[' && **at != ',')
        return -1;
    errno = 0;
    *count = (double)strtoul(*at + 1, &end, 10);
    if (end == *at + 1 || errno != 0)
        return -1;
    *at = *end == ']' && end[1] == '\0' ? end + 1 : end;
    return 0;
}

int gt_placement_moved(const char *left, const char *right, double *moved, double *blocks)
{
    double difference = 0, a, b;

    *blocks = 0;
    while (*left != '\0' || *right != '\0') {
        if (next_count(&left, &a) != 0 || next_count(&right, &b) != 0)
            return -1;
        difference += fabs(a - b);
        *blocks += a;
    }
    *moved = difference / 2;
    return 0;
}
