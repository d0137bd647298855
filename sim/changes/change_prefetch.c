/* prefetch: copies in are asked for ahead, in a stream of their own; what used them waits for an event. */
#include "sim/changes/change.h"
#include "sim/frameworks/framework.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/host_waits.h"

#include <stdlib.h>
#include <string.h>

/* A run of copies in by one thread, which nothing keeps from being asked for when the first one is: no wait of the host,
 * unless so many ahead are asked for that they go beyond waits, and none that the trace states of a stream.  They keep
 * their order, whatever streams they are of. */
struct prefetch {
    const struct gt_workload *w;
    gt_call_index *next;    /* by call: the next copy of its run; GT_NONE: none, or no such copy */
    bool *heads;            /* by call: is it the first of a run? */
    gt_call_index *last;    /* by thread: the last copy of the run at hand; GT_NONE: none */
    bool *computes;         /* by stream: has it other work than copies in? */
    uint32_t copies, ahead; /* ahead: UINT32_MAX: all up to the host's next wait */
};

/* The copy in that may be asked for earlier; else NULL. */
static const struct gt_op *candidate(const struct prefetch *p, const struct gt_call *call)
{
    const struct gt_op *op = gt_call_copies(p->w, call, GT_H2D);

    return op != NULL && !(call->flags & GT_CALL_SYNCHRONOUS) && p->computes[op->stream] ? op : NULL;
}

static void add_copy(struct prefetch *p, gt_call_index call, const struct gt_op *op)
{
    gt_call_index *last = &p->last[p->w->calls[call].thread];

    if (op->afters > 0)
        *last = GT_NONE;
    if (*last == GT_NONE)
        p->heads[call] = true;
    else
        p->next[*last] = call;
    *last = call;
    p->copies++;
}

static bool waits(const struct gt_workload *w, const struct gt_call *call)
{
    return gt_call_synchronises(call) || gt_call_queries(call) || gt_call_holds_host(w, call);
}

static void look_at(struct prefetch *p, gt_call_index index)
{
    const struct gt_call *call = &p->w->calls[index];
    const struct gt_op *op = candidate(p, call);

    if (op != NULL)
        add_copy(p, index, op);
    else if (call->kind == GT_CALL_EVENT_WAIT || (p->ahead == UINT32_MAX && waits(p->w, call)))
        p->last[call->thread] = GT_NONE;
}

static void begin(struct prefetch *p, const struct gt_workload *w, uint32_t ahead)
{
    *p = (struct prefetch){
        .w = w,
        .ahead = ahead,
        .next = gt_realloc(NULL, w->call_count + 1ull, sizeof *p->next),
        .heads = gt_calloc(w->call_count + 1ull, sizeof *p->heads),
        .last = gt_realloc(NULL, w->thread_count + 1ull, sizeof *p->last),
        .computes = gt_calloc(w->stream_count + 1ull, sizeof *p->computes),
    };
    memset(p->next, 0xff, w->call_count * sizeof *p->next); /* GT_NONE */
    memset(p->last, 0xff, w->thread_count * sizeof *p->last);
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].kind != GT_OP_COPY || w->ops[i].direction != GT_H2D)
            p->computes[w->ops[i].stream] = true;
    for (uint32_t i = 0; i < w->call_count; i++)
        look_at(p, i);
}

static void end(struct prefetch *p)
{
    free(p->next);
    free(p->heads);
    free(p->last);
    free(p->computes);
}

/* While the new calls are written. */
struct writing {
    struct prefetch *p;
    struct gt_rebuild rebuild;
    gt_stream_index *own;    /* by stream: of its copies; GT_NONE: it has none */
    gt_call_index *to_issue; /* by thread: the next copy of its run that is not asked for yet */
    uint32_t *room;          /* by thread: how many more may be */
    gt_event_index *events;  /* by call: recorded behind the copy */
    gt_time_ps more_ps;      /* that the host takes for each copy */
    uint32_t calls;          /* inserted */
};

static void issue(struct writing *writing, gt_call_index copy)
{
    struct gt_rebuild *rebuild = &writing->rebuild;
    const struct gt_call *call = &writing->p->w->calls[copy];
    gt_stream_index own = writing->own[writing->p->w->ops[call->first_op].stream];
    gt_call_index added = gt_rebuild_copy(rebuild, copy);

    rebuild->to->calls[added].stream = own;
    rebuild->to->calls[added].before_ps -= call->before_ps; /* that stays where the copy was */
    rebuild->to->calls[added].kept_ps -= call->kept_ps;
    rebuild->to->calls[added].before_ps += writing->more_ps;
    rebuild->to->ops[rebuild->to->calls[added].first_op].stream = own;
    writing->events[copy] = gt_rebuild_new_event(rebuild);
    gt_rebuild_record(rebuild, call->thread, writing->events[copy], own);
    writing->calls++;
}

/* Where the copy was asked for: ask for those of its run that may be by now, and let its stream wait for it. */
static void write_copy(struct writing *writing, gt_call_index copy)
{
    const struct gt_call *call = &writing->p->w->calls[copy];
    gt_stream_index stream = writing->p->w->ops[call->first_op].stream;
    gt_call_index *to_issue = &writing->to_issue[call->thread];
    uint32_t *room = &writing->room[call->thread];

    if (writing->p->heads[copy]) {
        *to_issue = copy;
        *room = writing->p->ahead;
    }
    *room += *room < UINT32_MAX;
    gt_rebuild_drop(&writing->rebuild, copy);
    for (; *room > 0 && *to_issue != GT_NONE; (*room)--) {
        issue(writing, *to_issue);
        *to_issue = writing->p->next[*to_issue];
    }
    gt_rebuild_wait(&writing->rebuild, call->thread, writing->events[copy], stream);
    writing->calls++;
}

/* What the copies' stream waited for, their new one waits for, too. */
static void write_call(struct writing *writing, gt_call_index index)
{
    const struct gt_call *call = &writing->p->w->calls[index];

    if (candidate(writing->p, call) != NULL) {
        write_copy(writing, index);
        return;
    }
    gt_rebuild_copy(&writing->rebuild, index);
    if (call->kind != GT_CALL_EVENT_WAIT || call->stream == GT_NONE || writing->own[call->stream] == GT_NONE)
        return;
    gt_rebuild_wait(&writing->rebuild, call->thread, call->event, writing->own[call->stream]);
    writing->calls++;
}

static void add_streams(struct writing *writing)
{
    const struct gt_workload *w = writing->p->w;

    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_op *op = candidate(writing->p, &w->calls[i]);

        if (op != NULL && writing->own[op->stream] == GT_NONE)
            writing->own[op->stream] = gt_rebuild_new_stream(&writing->rebuild, op->stream);
    }
}

static bool has_operators(const struct gt_workload *w)
{
    for (gt_range_index i = 0; i < w->range_count; i++)
        if (w->ranges[i].kind == GT_RANGE_OPERATOR)
            return true;
    return false;
}

/* For a copy on another stream PyTorch's host changes streams and back, waits, and keeps memory for the other stream. */
static struct gt_workload *rebuild_ahead(struct prefetch *p, const struct gt_scenario *scenario, uint32_t *calls)
{
    const struct gt_workload *w = p->w;
    struct writing writing = {
        .p = p,
        .own = gt_realloc(NULL, w->stream_count + 1ull, sizeof *writing.own),
        .to_issue = gt_calloc(w->thread_count + 1ull, sizeof *writing.to_issue),
        .room = gt_calloc(w->thread_count + 1ull, sizeof *writing.room),
        .events = gt_calloc(w->call_count + 1ull, sizeof *writing.events),
        .more_ps =
            has_operators(w) ? gt_scenario_host_ps(scenario, scenario->host->framework->prefetch.side_copy_ps) : 0,
    };

    memset(writing.own, 0xff, w->stream_count * sizeof *writing.own); /* GT_NONE */
    gt_rebuild_begin(&writing.rebuild, w);
    add_streams(&writing);
    for (uint32_t i = 0; i < w->call_count; i++)
        write_call(&writing, i);
    *calls = writing.calls;
    free(writing.own);
    free(writing.to_issue);
    free(writing.room);
    free(writing.events);
    return gt_rebuild_end(&writing.rebuild);
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    struct prefetch p;
    bool some;

    (void)argument;
    begin(&p, scenario->workload, UINT32_MAX);
    some = p.copies > 0;
    end(&p);
    return some;
}

/* How many ahead: a number from 1; "": all that may be. */
static int read_ahead(const char *argument, uint32_t *ahead, struct gt_error *error)
{
    enum { MOST = 1000000 };
    char *rest;
    unsigned long number = strtoul(argument, &rest, 10);

    *ahead = UINT32_MAX;
    if (argument[0] == '\0')
        return 0;
    if (argument[0] < '0' || argument[0] > '9' || *rest != '\0' || number == 0 || number > MOST)
        return gt_error_set(error, "how many copies ahead is a number from 1 to %d, not '%s'", MOST, argument);
    *ahead = (uint32_t)number;
    return 0;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct prefetch p;
    uint32_t ahead, calls;

    if (read_ahead(argument, &ahead, error) != 0)
        return -1;
    begin(&p, scenario->workload, ahead);
    if (p.copies > 0) {
        struct gt_workload *changed = rebuild_ahead(&p, scenario, &calls);

        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u copies in use a stream of their own and are submitted %s; their events take %u more "
                           "calls",
                           p.copies,
                           ahead == UINT32_MAX ? "together, not before the host's last wait"
                                               : "ahead of their use, also before the host's waits for other work",
                           calls);
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Assumes the host has the data when each copy is submitted, and the device has a buffer "
                           "for each copy in flight");
        gt_scenario_replace(scenario, changed);
    }
    end(&p);
    return 0;
}

static const char *const tried[] = { "", NULL };
const struct gt_change_kind gt_change_prefetch = {
    .name = "prefetch",
    .allocates = true,
    .argument = "N",
    .takes = GT_ARGUMENT_OPTIONAL,
    .help = "submit host-to-device copies early, in a separate stream: N ahead, or all up to the host's next wait",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
