/* batch=N, seq=N, hidden=N: operators get other sizes, and their kernels take as long as they then do. */
#include <string.h>

#include "sim/changes/change.h"
#include "sim/changes/resize.h"
#include "sim/shapes/memory.h"
#include "sim/shapes/sizes.h"
#include "sim/shapes/widths.h"

static const uint64_t largest = 1u << 24;

/* The number that the text up to `end` is; 0: it is none from 1 on. */
static uint64_t size_of(const char *text, const char *end)
{
    uint64_t size = 0;

    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || size > largest)
            return 0;
        size = 10 * size + (uint64_t)(*text - '0');
    }
    return size <= largest ? size : 0;
}

/* "N" or "FROM:N" */
static int read_argument(const char *argument, uint64_t *from, uint64_t *to, struct gt_error *error)
{
    const char *colon = strchr(argument, ':'), *last = colon != NULL ? colon + 1 : argument;

    *from = colon != NULL ? size_of(argument, colon) : 0;
    *to = size_of(last, last + strlen(last));
    if (*to == 0 || (colon != NULL && *from == 0))
        return gt_error_set(error, "'%.40s' is no size; it takes a number N from 1 to 16777216, or RECORDED:N",
                            argument);
    return 0;
}

/* Rules: gt_resize_rule. */
static void follow_sizes(const void *sizes, gt_range_index range, struct gt_inputs *to)
{
    gt_sizes_apply(sizes, range, to);
}

static void follow_widths(const void *widths, gt_range_index range, struct gt_inputs *to)
{
    gt_widths_apply(widths, range, to);
}

/* Sizes that may be asked for. */
enum kind { BATCH, SEQ, WIDTH };
static const struct {
    const char *change, *what;
    uint64_t (*recorded)(const struct gt_all_inputs *all);
} kinds[] = {
    [BATCH] = { "batch", "batch", gt_recorded_batch },
    [SEQ] = { "seq", "length of sequences", gt_recorded_seq },
    [WIDTH] = { "hidden", "width of the model", gt_recorded_width },
};

struct question {
    enum kind kind;
    uint64_t before, elected, stated, from, to; /* after an earlier change, by the inputs, as asked; 0: none of it */
};

/* What earlier changes made of it. */
static uint64_t *made(struct gt_scenario *scenario, enum kind kind)
{
    return kind == BATCH ? &scenario->batch : kind == SEQ ? &scenario->seq : &scenario->width;
}

static void assume(struct gt_scenario *scenario, const struct question *q)
{
    bool sure = q->stated != 0 || q->before != 0;

    gt_scenario_assume(scenario, sure ? GT_TRUST_HIGH : GT_TRUST_MEDIUM, "The %s%s is %llu%s; it becomes %llu",
                       q->before != 0 ? "" : "recorded ", kinds[q->kind].what, (unsigned long long)q->from,
                       q->before != 0 ? " after the change before"
                       : sure         ? ""
                                      : ", by the inputs of the operators",
                       (unsigned long long)q->to);
    if (q->before == 0 && q->stated != 0 && q->elected != 0 && q->stated != q->elected)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM, "The inputs of the operators look as if it were %llu",
                           (unsigned long long)q->elected);
}

static void assume_seq(struct gt_scenario *scenario, const struct gt_sizes *sizes)
{
    if (gt_sizes_seq_is_unclear(sizes))
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "%llu is the length of sequences and a size of the model, too: which side is which was "
                           "guessed; record a length that is no other size",
                           (unsigned long long)sizes->change.seq);
}

static void assume_rounded(struct gt_scenario *scenario, const struct gt_width_sides *sides, enum gt_trust trust,
                           const char *what)
{
    for (uint32_t i = 0; i < sides->count; i++)
        if (!sides->sides[i].is_exact)
            gt_scenario_assume(scenario, trust, "%s of %llu becomes %llu: it is in no whole proportion to the width",
                               what, (unsigned long long)sides->sides[i].from,
                               (unsigned long long)sides->sides[i].to);
}

static void assume_widths(struct gt_scenario *scenario, const struct gt_widths *widths)
{
    if (widths->heads.count > 0)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Heads of attention keep their size; their number follows the width");
    assume_rounded(scenario, &widths->heads, GT_TRUST_LOW, "A number of heads");
    assume_rounded(scenario, &widths->features, GT_TRUST_MEDIUM, "An inner size");
}

static int check_question(const struct question *q, struct gt_error *error)
{
    const char *what = kinds[q->kind].what;

    if (q->before != 0 && q->stated != 0 && q->stated != q->before)
        return gt_error_set(error, "the %s is %llu after the change before, not %llu", what,
                            (unsigned long long)q->before, (unsigned long long)q->stated);
    if (q->from == 0)
        return gt_error_set(error,
                            "the recorded %s cannot be found in the operators' inputs; state it: %s=RECORDED:N", what,
                            kinds[q->kind].change);
    if (q->from > largest)
        return gt_error_set(error, "the recorded %s is %llu, which is more than %llu; state it: %s=RECORDED:N", what,
                            (unsigned long long)q->from, (unsigned long long)largest, kinds[q->kind].change);
    if (q->kind == SEQ && q->from == 1)
        return gt_error_set(error,
                            "a recorded length of 1 cannot be told from other sizes; record a longer sequence");
    return 0;
}

/* The batch and the length as they are: as changes before left them, or by the inputs.  Those that are absurd are left alone. */
static struct gt_size_change sizes_now(const struct gt_resize *r, const struct question *q)
{
    const struct gt_scenario *scenario = r->scenario;
    struct gt_size_change change;

    change.batch = scenario->batch != 0 ? scenario->batch : gt_recorded_batch(&r->inputs);
    change.seq = scenario->seq != 0 ? scenario->seq : gt_recorded_seq(&r->inputs);
    if (q->kind != WIDTH)
        *(q->kind == SEQ ? &change.seq : &change.batch) = q->from;
    if (change.batch == 0 || change.batch > largest)
        change.batch = 1;
    if (change.seq > largest)
        change.seq = 0;
    change.new_batch = change.batch;
    change.new_seq = change.seq;
    if (q->kind != WIDTH)
        *(q->kind == SEQ ? &change.new_seq : &change.new_batch) = q->to;
    return change;
}

static int resize(struct gt_resize *r, const struct question *q, gt_resize_rule *rule, const void *how,
                  struct gt_error *error)
{
    if (gt_resize_apply(r, rule, how, error) != 0)
        return -1;
    if (r->changed == 0 && q->from != q->to)
        return gt_error_set(error, "no operator's input follows a recorded %s of %llu%s", kinds[q->kind].what,
                            (unsigned long long)q->from, q->stated != 0 ? "; is that what was recorded?" : "");
    assume(r->scenario, q);
    gt_resize_assume(r);
    return 0;
}

/* Allocations that fit nothing are told from this part of all on. */
static const double least_unknown_part = 0.02;

static void assume_memory(struct gt_scenario *scenario, const struct gt_memory_sizing *m, const struct question *q)
{
    double gib = 0x1p30, all = m->fitted + m->grown + m->kept;

    if (scenario->workload->allocation_count == 0) {
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "The profile has no allocations, so that peak memory is not known: record with "
                           "profile_memory=True");
        return;
    }
    gt_scenario_assume(
        scenario, GT_TRUST_MEDIUM,
        "Peak memory: of %.2f GiB that were allocated before the recording, %.2f GiB follow the %s: inputs "
        "that no recorded allocation made; the rest stays, %.2f GiB of it of unknown use",
        m->held_bytes / gib, m->held.data / gib, kinds[q->kind].what, m->held.unknown / gib);
    gt_scenario_assume(
        scenario, GT_TRUST_HIGH,
        "Reserved memory is what PyTorch's caching allocator with its default settings reserves if all "
        "allocations are on one stream");
    if (m->grown > least_unknown_part * all)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Peak memory: %.0f%% of the allocated bytes are no size that follows from the operators' "
                           "inputs; they grow as these do",
                           100 * m->grown / all);
}

static int answer_sizes(struct gt_resize *r, const struct question *q, struct gt_error *error)
{
    struct gt_size_change change = sizes_now(r, q);
    struct gt_memory_sizing memory;
    struct gt_sizes sizes;
    int result;

    gt_sizes_find(&sizes, &r->inputs, &change);
    gt_allocations_resize(r->scenario->workload, &sizes, &memory);
    result = resize(r, q, follow_sizes, &sizes, error);
    if (result == 0) {
        assume_memory(r->scenario, &memory, q);
        assume_seq(r->scenario, &sizes);
    }
    gt_sizes_free(&sizes);
    return result;
}

static int answer_widths(struct gt_resize *r, const struct question *q, struct gt_error *error)
{
    struct gt_size_change now = sizes_now(r, q);
    struct gt_widths widths;
    int result;

    gt_widths_find(&widths, &r->inputs, &now, q->from, q->to);
    r->parameters = gt_resize_parameters(r, follow_widths, &widths);
    result = resize(r, q, follow_widths, &widths, error);
    if (result == 0) {
        assume_widths(r->scenario, &widths);
        gt_resize_assume_parameters(r);
    }
    gt_widths_free(&widths);
    return result;
}

static int ask(struct gt_resize *r, struct question *q, struct gt_error *error)
{
    uint64_t *before = made(r->scenario, q->kind);

    q->before = *before;
    q->elected = kinds[q->kind].recorded(&r->inputs);
    q->from = q->before != 0 ? q->before : q->stated != 0 ? q->stated : q->elected;
    if (check_question(q, error) != 0 || (q->kind == WIDTH ? answer_widths : answer_sizes)(r, q, error) != 0)
        return -1;
    *before = q->to;
    return 0;
}

static int apply(struct gt_scenario *scenario, const char *argument, enum kind kind, struct gt_error *error)
{
    struct question q = { .kind = kind };
    struct gt_resize r;
    int result = read_argument(argument, &q.stated, &q.to, error);

    if (result != 0)
        return -1;
    result = gt_resize_begin(&r, scenario, error);
    if (result == 0)
        result = ask(&r, &q, error);
    gt_resize_end(&r);
    return result;
}

static int apply_batch(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return apply(scenario, argument, BATCH, error);
}

static int apply_seq(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return apply(scenario, argument, SEQ, error);
}

static int apply_hidden(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return apply(scenario, argument, WIDTH, error);
}

const struct gt_change_kind gt_change_batch = {
    .name = "batch",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "give operators inputs of another batch size; RECORDED:N also states the recorded one",
    .apply = apply_batch,
};
const struct gt_change_kind gt_change_seq = {
    .name = "seq",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "the same with sequences of another length",
    .apply = apply_seq,
};
const struct gt_change_kind gt_change_hidden = {
    .name = "hidden",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "give the model layers of another width; RECORDED:N also states the recorded one",
    .allocates = true,
    .apply = apply_hidden,
};
