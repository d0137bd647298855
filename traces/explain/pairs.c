/* Kernels that waited while another ran, and whether both could have run. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of pairs")
#include <uthash.h>

#include "traces/explain/explain.h"
#include "traces/explain/part.h"

struct pair_key {
    gt_kernel_index first, second;
    uint32_t why;
};

struct found {
    UT_hash_handle hh;
    struct pair_key key;
    struct gt_pair pair;
    gt_time_ps most_ps;
};

struct finding_pairs {
    const struct gt_loaded_run *t;
    gt_kernel_index *alike; /* by kernel: the first one of its name */
    struct found *found;
};

static gt_time_ps overlap(gt_time_ps a_from, gt_time_ps a_to, gt_time_ps b_from, gt_time_ps b_to)
{
    gt_time_ps from = a_from > b_from ? a_from : b_from, to = a_to < b_to ? a_to : b_to;

    return to > from ? to - from : 0;
}

static struct found *find_or_add(struct finding_pairs *f, gt_kernel_index first, gt_kernel_index second,
                                 enum gt_why why)
{
    struct pair_key key = { f->alike[first], f->alike[second], why };
    struct found *found;

    HASH_FIND(hh, f->found, &key, sizeof key, found);
    if (found != NULL)
        return found;
    found = gt_calloc(1, sizeof *found);
    found->key = key;
    found->pair = (struct gt_pair){ .first = first, .second = second, .why = why };
    HASH_ADD(hh, f->found, key, sizeof found->key, found);
    return found;
}

/* The second, which ran at its own time, could have run beside the first for `lost_ps`. */
static void add(struct finding_pairs *f, gt_op_index first, gt_op_index second, gt_time_ps lost_ps,
                const struct gt_hold *hold)
{
    const struct gt_loaded_op *ops = f->t->ops;
    gt_time_ps runs_ps = ops[second].end_ps - ops[second].start_ps;
    struct found *found = find_or_add(f, ops[first].kernel, ops[second].kernel, hold->why);

    lost_ps = lost_ps < runs_ps ? lost_ps : runs_ps;
    found->pair.times++;
    found->pair.lost_ps += lost_ps;
    if (lost_ps < found->most_ps && found->pair.times > 1)
        return;
    found->most_ps = lost_ps;
    found->pair.example = second;
    found->pair.first = ops[first].kernel;
    found->pair.second = ops[second].kernel;
    found->pair.hold = *hold;
}

static bool is_kernel(const struct gt_loaded_run *t, gt_op_index op)
{
    return op != GT_NONE && t->ops[op].kind == GT_OP_KERNEL;
}

/* It had been asked for while the one before it in its stream still ran. */
static void look_at_stream(struct finding_pairs *f, gt_op_index index)
{
    const struct gt_loaded_run *t = f->t;
    const struct gt_loaded_op *op = &t->ops[index];
    struct gt_hold hold = { .why = GT_WHY_STREAM, .op = op->before };
    gt_time_ps lost_ps;

    if (!is_kernel(t, op->before) || t->ops[op->before].call == op->call)
        return;
    lost_ps = overlap(op->submit_ps, op->start_ps, t->ops[op->before].start_ps, t->ops[op->before].end_ps);
    if (lost_ps > 0 && (gt_free_sms(t, t->ops[op->before].kernel) > 0 ||
                        gt_lacking(t, t->ops[op->before].kernel, op->kernel) == NULL))
        add(f, op->before, index, lost_ps, &hold);
}

/* The kernel that ran while this one waited: the cause, or what that one waited for itself in its stream. */
static gt_op_index find_runner(const struct gt_loaded_run *t, const struct gt_loaded_op *op, gt_time_ps from_ps,
                               gt_time_ps *lost_ps)
{
    gt_op_index runner = op->cause_op;

    for (int back = 0; back < 2 && is_kernel(t, runner); back++, runner = t->ops[runner].before) {
        *lost_ps = overlap(from_ps, op->start_ps, t->ops[runner].start_ps, t->ops[runner].end_ps);
        if (*lost_ps > 0)
            return runner;
    }
    return GT_NONE;
}

/* The last thing that it waited for was a kernel of another stream. */
static void look_at_cause(struct finding_pairs *f, gt_op_index index)
{
    const struct gt_loaded_run *t = f->t;
    const struct gt_loaded_op *op = &t->ops[index];
    gt_time_ps waited_ps = 0, lost_ps = 0;
    gt_op_index runner;
    struct gt_hold hold;

    if (!is_kernel(t, op->cause_op) || t->ops[op->cause_op].stream == op->stream)
        return;
    for (int wait = GT_WAIT_STREAM; wait < GT_WAITS; wait++)
        waited_ps += op->wait_ps[wait];
    runner = find_runner(t, op, waited_ps < op->start_ps ? op->start_ps - waited_ps : 0, &lost_ps);
    if (runner == GT_NONE)
        return;
    gt_why(t, index, op->start_ps - op->wait_ps[gt_last_wait(op)], op->start_ps, &hold);
    add(f, runner, index, lost_ps, &hold);
}

/* Kernels by name, the first of each: names are few and long, so they are looked up. */
struct named {
    UT_hash_handle hh;
    gt_kernel_index kernel;
};

static gt_kernel_index *find_alike(const struct gt_loaded_run *t)
{
    gt_kernel_index *alike = gt_calloc(t->kernel_count + 1ull, sizeof *alike);
    struct named *names = NULL, *named, *next;

    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const char *name = t->kernels[i].name;

        HASH_FIND(hh, names, name, strlen(name), named);
        if (named == NULL) {
            named = gt_calloc(1, sizeof *named);
            named->kernel = i;
            HASH_ADD_KEYPTR(hh, names, name, strlen(name), named);
        }
        alike[i] = named->kernel;
    }
    HASH_ITER(hh, names, named, next)
    {
        HASH_DEL(names, named);
        free(named);
    }
    return alike;
}

static int by_lost(const void *a, const void *b)
{
    const struct gt_pair *left = a, *right = b;

    if (left->lost_ps != right->lost_ps)
        return left->lost_ps > right->lost_ps ? -1 : 1;
    return (left->example > right->example) - (left->example < right->example);
}

/* What was found, as a list in no order; the table is given back. */
static struct gt_pair *taken(struct finding_pairs *f, size_t *count)
{
    struct gt_pair *pairs = gt_calloc(HASH_COUNT(f->found) + 1ull, sizeof *pairs);
    struct found *found, *next;

    *count = 0;
    HASH_ITER(hh, f->found, found, next)
    {
        pairs[(*count)++] = found->pair;
        HASH_DEL(f->found, found);
        free(found);
    }
    return pairs;
}

struct gt_pair *gt_pairs(const struct gt_loaded_run *t, size_t *count)
{
    struct finding_pairs f = { .t = t, .alike = find_alike(t) };
    struct gt_pair *pairs;

    for (uint32_t i = 0; i < t->started; i++) {
        if (!is_kernel(t, t->by_start[i]) || !gt_part_has_op(t, t->by_start[i]))
            continue;
        look_at_stream(&f, t->by_start[i]);
        look_at_cause(&f, t->by_start[i]);
    }
    pairs = taken(&f, count);
    for (size_t i = 0; i < *count; i++) {
        pairs[i].lacking = gt_lacking(t, pairs[i].first, pairs[i].second);
        pairs[i].free_sms = gt_free_sms(t, pairs[i].first);
    }
    if (*count > 0)
        qsort(pairs, *count, sizeof *pairs, by_lost);
    free(f.alike);
    return pairs;
}
