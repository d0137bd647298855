/* delay=RANK:US[:gpu][:before=NAME]: one rank is so much later in every step, at its begin or before a range or kernel.
 *
 * Its thread computes for that time; or, with gpu, its stream is held by a kernel of one block that lasts as long.  What
 * the other ranks do meanwhile, and who waits for whom, is simulated. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/changes/change.h"
#include "sim/machine/durations.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/processes.h"
#include "sim/workload/range_calls.h"

static const double longest_us = 1e9;

struct step {
    gt_call_index first, behind;
    gt_call_index late; /* the rank is late before this one; GT_NONE */
    bool of_kernel;     /* that is there because of its kernel, not of a range */
};

struct delay {
    const struct gt_scenario *scenario;
    const struct gt_workload *w;
    uint32_t rank;
    gt_gpu_index gpu;
    gt_time_ps delay_ps;
    bool on_gpu;
    const char *before; /* NULL: a step's begin */
    uint32_t *process;  /* by thread */
    struct gt_thread_calls threads;
    struct step *steps; /* of its process, in order */
    uint32_t step_count, step_room;
    uint32_t places; /* how many of them it is late in */
};

/* Text before the next ':', or the rest, into *word (malloced); what follows, or NULL. */
static const char *next_word(const char *text, char **word)
{
    const char *colon = strchr(text, ':');

    *word = gt_strndup(text, colon != NULL ? (size_t)(colon - text) : strlen(text));
    return colon != NULL ? colon + 1 : NULL;
}

static int parse_rank(struct delay *d, const char *word, struct gt_error *error)
{
    char *end;
    unsigned long rank;

    errno = 0;
    rank = strtoul(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || rank >= GT_MOST_GPUS)
        return gt_error_set(error, "a rank is a number from 0 to %d, not '%.60s'", GT_MOST_GPUS - 1, word);
    d->rank = (uint32_t)rank;
    return 0;
}

static int parse_time(struct delay *d, const char *word, struct gt_error *error)
{
    char *end;
    double us = strtod(word, &end);

    if (word[0] < '0' || word[0] > '9' || *end != '\0' || !(us <= longest_us))
        return gt_error_set(error, "a delay has microseconds from 0 to %.0f, not '%.60s'", longest_us, word);
    d->delay_ps = gt_whole_ps(us * 1e6);
    return 0;
}

/* What follows the time; NAME may have colons of its own. */
static int parse_rest(struct delay *d, const char *rest, struct gt_error *error)
{
    static const char key[] = "before=";

    if (rest != NULL && strncmp(rest, "gpu", 3) == 0 && (rest[3] == '\0' || rest[3] == ':')) {
        d->on_gpu = true;
        rest = rest[3] == ':' ? rest + 4 : NULL;
    }
    if (rest == NULL)
        return 0;
    if (strncmp(rest, key, sizeof key - 1) != 0 || rest[sizeof key - 1] == '\0')
        return gt_error_set(error, "after the time comes gpu or before=NAME, not '%.60s'", rest);
    d->before = rest + sizeof key - 1;
    return 0;
}

static int parse(struct delay *d, const char *argument, struct gt_error *error)
{
    char *word;
    const char *rest = next_word(argument, &word);
    int result = parse_rank(d, word, error);

    free(word);
    if (result != 0)
        return -1;
    if (rest == NULL)
        return gt_error_set(error, "it takes RANK:US[:gpu][:before=NAME]");
    rest = next_word(rest, &word);
    result = parse_time(d, word, error);
    free(word);
    return result != 0 ? -1 : parse_rest(d, rest, error);
}

/* GPUs that work are the ranks, in the trace's order, which is that in which `import` puts them. */
static int find_gpu(struct delay *d, struct gt_error *error)
{
    bool *works = gt_calloc(d->w->gpu_count + 1ull, sizeof *works);
    uint32_t ranks = 0;

    for (gt_op_index i = 0; i < d->w->op_count; i++)
        works[d->w->streams[d->w->ops[i].stream].gpu] = true;
    d->gpu = GT_NONE;
    for (gt_gpu_index i = 0; i < d->w->gpu_count; i++)
        if (works[i] && ranks++ == d->rank)
            d->gpu = i;
    free(works);
    if (d->gpu == GT_NONE)
        return gt_error_set(error, "there is no rank %u: %u GPUs work, the first is rank 0", d->rank, ranks);
    return 0;
}

static bool is_on_gpu(const struct delay *d, const struct gt_call *call)
{
    return call->ops > 0 && d->w->streams[d->w->ops[call->first_op].stream].gpu == d->gpu;
}

/* Where in the thread's calls the first from `call` on is. */
static uint32_t place_of(const struct delay *d, gt_thread_index thread, gt_call_index call)
{
    uint32_t low = GT_LOWER_BOUND(middle, d->threads.first[thread], d->threads.first[thread + 1],
                                  d->threads.calls[middle] < call);
    return low;
}

/* The thread's first call from `from` on, if it is before `behind` and what the thread asks for next is on the rank's GPU. */
static gt_call_index call_from(const struct delay *d, gt_thread_index thread, gt_call_index from,
                               gt_call_index behind)
{
    uint32_t first = place_of(d, thread, from), last = d->threads.first[thread + 1];

    if (first == last || d->threads.calls[first] >= behind)
        return GT_NONE;
    for (uint32_t i = first; i < last; i++)
        if (d->w->calls[d->threads.calls[i]].ops > 0)
            return is_on_gpu(d, &d->w->calls[d->threads.calls[i]]) ? d->threads.calls[first] : GT_NONE;
    return GT_NONE;
}

/* The step that has the call; NULL: none. */
static struct step *step_of(const struct delay *d, gt_call_index call)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, d->step_count, d->steps[middle].behind <= call);
    return low < d->step_count && call >= d->steps[low].first ? &d->steps[low] : NULL;
}

/* Before the first range of the name in each step. */
static void take_ranges(struct delay *d)
{
    for (gt_range_index i = 0; i < d->w->range_count; i++) {
        const struct gt_range *range = &d->w->ranges[i];
        struct step *step = step_of(d, range->first_call);
        gt_call_index call;

        if (step == NULL || fnmatch(d->before, gt_name_text(d->w, range->name), 0) != 0)
            continue;
        call = call_from(d, range->thread, range->first_call, step->behind);
        step->late = call < step->late ? call : step->late;
    }
}

static bool fits(const struct delay *d, const struct gt_op *op)
{
    return d->before == NULL ||
           (op->kernel != GT_NONE &&
            d->scenario->host->fit_kernel(gt_name_text(d->w, d->w->kernels[op->kernel].name), d->before) > 0);
}

/* Before the first kernel of the name, or whatever comes first, in steps that have no such range. */
static void take_calls(struct delay *d)
{
    for (gt_call_index i = 0; i < d->w->call_count; i++) {
        const struct gt_call *call = &d->w->calls[i];
        struct step *step = is_on_gpu(d, call) ? step_of(d, i) : NULL;

        if (step == NULL || step->late != GT_NONE || !fits(d, &d->w->ops[call->first_op]))
            continue;
        step->late = i;
        step->of_kernel = d->before != NULL;
    }
}

/* By process: does it ask the rank's GPU for something? */
static bool *find_processes(const struct delay *d)
{
    bool *works = gt_calloc(d->w->thread_count + 1ull, sizeof *works);

    for (gt_call_index i = 0; i < d->w->call_count; i++)
        if (is_on_gpu(d, &d->w->calls[i]))
            works[d->process[d->w->calls[i].thread]] = true;
    return works;
}

static void add_step(struct delay *d, gt_call_index first, gt_call_index behind)
{
    gt_array_grow(d->steps, d->step_count, d->step_room);
    d->steps[d->step_count++] = (struct step){ .first = first, .behind = behind, .late = GT_NONE };
}

/* Those that the first thread of the rank's process that marks steps does; where none does, all is one. */
static void find_steps(struct delay *d)
{
    gt_thread_index marking = GT_NONE;
    bool *works = find_processes(d);

    for (gt_range_index i = 0; i < d->w->range_count; i++) {
        const struct gt_range *range = &d->w->ranges[i];

        if (range->kind != GT_RANGE_STEP || range->end_call <= range->first_call ||
            !works[d->process[range->thread]] || (marking != GT_NONE && range->thread != marking) ||
            (d->step_count > 0 && range->first_call < d->steps[d->step_count - 1].behind))
            continue;
        marking = range->thread;
        add_step(d, range->first_call, range->end_call);
    }
    free(works);
    if (d->step_count == 0)
        add_step(d, 0, d->w->call_count);
}

static void find_places(struct delay *d)
{
    find_steps(d);
    if (d->before != NULL)
        take_ranges(d);
    take_calls(d);
    for (uint32_t i = 0; i < d->step_count; i++)
        d->places += d->steps[i].late != GT_NONE;
}

/* A GPU is late where the host comes to a range: before what it does there until its first call.  Before a kernel it is late when
 * the host has come to its launch, and nowhere before a thread has begun. */
static bool is_behind_work(const struct delay *d, const struct step *step)
{
    gt_call_index call = step->late;

    return step->of_kernel || d->threads.calls[d->threads.first[d->w->calls[call].thread]] == call;
}

static void wait_on_gpu(const struct delay *d, struct gt_rebuild *rebuild, const struct step *step)
{
    static const char name[] = "delay";
    gt_call_index next = step->late;
    gt_thread_index thread = d->w->calls[next].thread;
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 },
        .block = { 1, 1, 1 },
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .duration_ps = GT_TIME_NONE,
    };
    gt_call_index call = gt_rebuild_insert(rebuild, GT_CALL_LAUNCH, thread);
    struct gt_op *op;
    gt_op_index added;

    if (is_behind_work(d, step))
        rebuild->to->calls[call].before_ps += d->w->calls[next].before_ps;
    while (d->w->calls[next].ops == 0 || d->w->calls[next].thread != thread)
        next++;
    rebuild->to->calls[call].stream = d->w->ops[d->w->calls[next].first_op].stream;
    rebuild->to->calls[call].first_op = rebuild->to->op_count;
    kernel.name = gt_name(rebuild->to, name, sizeof name - 1);
    added = gt_rebuild_add_op(rebuild);
    op = &rebuild->to->ops[added];
    op->kind = GT_OP_KERNEL;
    op->stream = rebuild->to->calls[call].stream;
    op->kernel = gt_workload_kernel(rebuild->to, &kernel);
    op->duration_ps = d->delay_ps;
}

static void compute(const struct delay *d, struct gt_rebuild *rebuild, const struct step *step)
{
    gt_call_index call = gt_rebuild_insert(rebuild, GT_CALL_HOST_WORK, d->w->calls[step->late].thread);

    rebuild->to->calls[call].duration_ps = d->delay_ps;
    rebuild->to->calls[call].first_op = rebuild->to->op_count;
}

static struct gt_workload *rebuild_late(const struct delay *d)
{
    struct gt_rebuild rebuild;
    gt_call_index copied;
    uint32_t step = 0;
    bool late;

    gt_rebuild_begin(&rebuild, d->w);
    for (gt_call_index i = 0; i < d->w->call_count; i++) {
        while (step < d->step_count && d->steps[step].behind <= i)
            step++;
        late = step < d->step_count && d->steps[step].late == i;
        if (late)
            (d->on_gpu ? wait_on_gpu : compute)(d, &rebuild, &d->steps[step]);
        copied = gt_rebuild_copy(&rebuild, i);
        if (late && d->on_gpu && is_behind_work(d, &d->steps[step]))
            rebuild.to->calls[copied].before_ps -= d->w->calls[i].before_ps;
    }
    return gt_rebuild_end(&rebuild);
}

static int be_late(struct delay *d, struct gt_scenario *scenario, struct gt_error *error)
{
    find_places(d);
    if (d->places == 0)
        return gt_error_set(error,
                            "rank %u has no range and no kernel '%.60s' in its steps; 'gridtide stats --ranges' "
                            "of a "
                            "run lists ranges",
                            d->rank, d->before != NULL ? d->before : "");
    gt_scenario_replace(scenario, rebuild_late(d));
    gt_scenario_assume(scenario, GT_TRUST_HIGH, "%s of rank %u is late by %.3f us %u times, %s%s",
                       d->on_gpu ? "the GPU" : "the host", d->rank, (double)d->delay_ps / 1e6, d->places,
                       d->before != NULL ? "before " : "at a step's begin", d->before != NULL ? d->before : "");
    return 0;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct delay delay = { .scenario = scenario, .w = scenario->workload };
    int result;

    if (parse(&delay, argument, error) != 0 || find_gpu(&delay, error) != 0)
        return -1;
    delay.process = gt_thread_processes(delay.w);
    gt_thread_calls_find(&delay.threads, delay.w);
    result = be_late(&delay, scenario, error);
    gt_thread_calls_free(&delay.threads);
    free(delay.steps);
    free(delay.process);
    return result;
}

const struct gt_change_kind gt_change_delay = {
    .name = "delay",
    .keeps_gpu = true,
    .argument = "RANK:US[:gpu][:before=NAME]",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "delay one rank's host or GPU in every step",
    .apply = apply,
};
