#include "sim/rewrite/graph_writer.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/workload/host_waits.h"

/* The stretch that a thread is in. */
struct stretch {
    struct gt_capture capture; /* launches 0: nothing yet */
    gt_call_index doubtful;    /* refused if anything is launched behind it; GT_NONE */
    const char *why;
    gt_call_index legacy, blocking; /* launches in the legacy default stream, and in one that waits for it; GT_NONE */
    uint32_t step;
};

struct finding {
    struct gt_captures *captures;
    const struct gt_workload *w;
    struct stretch *stretches; /* by team */
    const uint32_t *step_of;   /* by call */
    uint32_t *teams;           /* by thread: the lowest thread that launches into the same streams */
    bool steps;
};

static uint32_t lowest_of(uint32_t *teams, uint32_t thread)
{
    while (teams[thread] != thread)
        thread = teams[thread] = teams[teams[thread]];
    return thread;
}

static void find_teams(struct finding *f)
{
    const struct gt_workload *w = f->w;
    uint32_t *first = gt_calloc(w->stream_count + 1ull, sizeof *first); /* thread of the stream, from 1 */

    f->teams = gt_calloc(w->thread_count + 1ull, sizeof *f->teams);
    for (uint32_t i = 0; i < w->thread_count; i++)
        f->teams[i] = i;
    for (uint32_t i = 0; i < w->op_count; i++) {
        uint32_t thread = lowest_of(f->teams, w->calls[w->ops[i].call].thread), other;

        if (first[w->ops[i].stream] == 0)
            first[w->ops[i].stream] = thread + 1;
        other = lowest_of(f->teams, first[w->ops[i].stream] - 1);
        f->teams[thread > other ? thread : other] = thread > other ? other : thread;
    }
    free(first);
}

/* Whose stretch a call belongs to: its thread's, or in a step that of all who work for it. */
static uint32_t team_of(struct finding *f, gt_call_index call)
{
    gt_thread_index thread = f->w->calls[call].thread;

    return f->step_of[call] != 0 ? lowest_of(f->teams, thread) : thread;
}

static void begin_stretch(struct stretch *stretch, uint32_t step)
{
    *stretch = (struct stretch){
        .capture = { .refused = GT_NONE },
        .doubtful = GT_NONE,
        .legacy = GT_NONE,
        .blocking = GT_NONE,
        .step = step,
    };
}

static void refuse(struct gt_capture *capture, gt_call_index call, const char *why)
{
    if (capture->refused != GT_NONE)
        return;
    capture->refused = call;
    capture->why = why;
}

static void end_stretch(struct finding *f, struct stretch *stretch)
{
    struct gt_captures *captures = f->captures;

    if (stretch->legacy != GT_NONE && stretch->blocking != GT_NONE)
        refuse(&stretch->capture, stretch->legacy, "uses the legacy default stream beside blocking streams");
    if (stretch->legacy != GT_NONE)
        stretch->capture.stream = f->w->ops[f->w->calls[stretch->legacy].first_op].stream;
    else if (stretch->blocking != GT_NONE)
        stretch->capture.stream = f->w->ops[f->w->calls[stretch->blocking].first_op].stream;
    if (stretch->capture.launches >= 2) {
        gt_array_grow(captures->list, captures->count, captures->room);
        captures->list[captures->count++] = stretch->capture;
    }
    begin_stretch(stretch, stretch->step);
}

/* A stream that is captured takes no synchronous form of a copy or memset, whether that would wait or not (CUDA C++ Programming
 * Guide, "Prohibited and Unhandled Operations").  Where it was recorded and did not wait, the asynchronous form does the same. */
static bool is_synchronous_form(const struct gt_call *call)
{
    return (call->kind == GT_CALL_COPY || call->kind == GT_CALL_MEMSET) && call->flags & GT_CALL_SYNCHRONOUS &&
           !(call->flags & GT_CALL_STATED);
}

/* Why may this call not stand between captured ones?  NULL: it may. */
static const char *objection(const struct gt_workload *w, const struct gt_call *call)
{
    static const char unordered[] = "allocates or frees memory, but not in stream order";

    if (gt_call_allocates(w, call))
        return unordered;
    if (call->kind == GT_CALL_LAUNCH && call->ops > 0 && w->kernels[w->ops[call->first_op].kernel].launch_count > 0)
        return "launches a kernel that launches kernels itself";
    if (gt_call_synchronises(call))
        return "waits for the GPU";
    if (gt_call_queries(call))
        return "queries the GPU's progress";
    if (gt_call_holds_host(w, call))
        return "blocks the host until it is done";
    if (is_synchronous_form(call))
        return "is a synchronous call, which stream capture does not allow";
    return NULL;
}

/* The host waits for the GPU, or looks at it: what it does then may depend on that. */
static bool parts(const struct finding *f, const struct gt_call *call)
{
    if (call->kind == GT_CALL_GRAPH_LAUNCH)
        return true;
    return !f->steps && (gt_call_synchronises(call) || gt_call_queries(call) || gt_call_holds_host(f->w, call) ||
                         is_synchronous_form(call));
}

static void add_launch(struct finding *f, struct stretch *stretch, gt_call_index index)
{
    const struct gt_call *call = &f->w->calls[index];
    gt_stream_index stream = f->w->ops[call->first_op].stream;
    uint32_t flags = f->w->streams[stream].flags;

    if (stretch->capture.launches++ == 0) {
        stretch->capture.thread = call->thread;
        stretch->capture.team = team_of(f, index);
        stretch->capture.first = index;
        stretch->capture.stream = stream;
    } else if (stretch->doubtful != GT_NONE) {
        refuse(&stretch->capture, stretch->doubtful, stretch->why);
    }
    stretch->capture.last = index;
    if (flags & GT_STREAM_LEGACY_DEFAULT)
        stretch->legacy = index;
    else if (!(flags & GT_STREAM_NON_BLOCKING) && stretch->blocking == GT_NONE)
        stretch->blocking = index;
}

static void look_at(struct finding *f, gt_call_index index)
{
    const struct gt_call *call = &f->w->calls[index];
    struct stretch *stretch = &f->stretches[team_of(f, index)];
    uint32_t step = f->step_of[index];
    const char *why = objection(f->w, call);

    if (step != stretch->step || parts(f, call))
        end_stretch(f, stretch);
    stretch->step = step;
    if (call->kind == GT_CALL_GRAPH_LAUNCH)
        return;
    if (why == NULL && call->ops > 0) {
        add_launch(f, stretch, index);
    } else if (why != NULL && stretch->capture.launches > 0 && stretch->doubtful == GT_NONE) {
        stretch->doubtful = index;
        stretch->why = why;
    }
}

/* A team's captures stand in the order of its calls. */
static void number_calls(struct finding *f)
{
    struct gt_captures *captures = f->captures;
    const struct gt_workload *w = f->w;
    uint32_t *next = gt_calloc(captures->count + 1ull, sizeof *next); /* capture of the same team */
    uint32_t *at = gt_calloc(w->thread_count + 1ull, sizeof *at);     /* by team; GT_NONE: none is left */

    memset(at, 0xff, w->thread_count * sizeof *at);
    for (uint32_t i = captures->count; i-- > 0;) {
        next[i] = at[captures->list[i].team];
        at[captures->list[i].team] = i;
    }
    for (gt_call_index call = 0; call < w->call_count; call++) {
        uint32_t *now = &at[team_of(f, call)];

        if (*now != GT_NONE && captures->list[*now].last < call)
            *now = next[*now];
        captures->of[call] = *now != GT_NONE && captures->list[*now].first <= call ? *now : GT_NONE;
    }
    free(next);
    free(at);
}

/* An event recorded within that somebody outside waits for or asks about. */
static void refuse_events(struct gt_captures *captures, const struct gt_workload *w)
{
    gt_call_index *records = gt_realloc(NULL, w->event_count + 1ull, sizeof *records);

    memset(records, 0xff, w->event_count * sizeof *records); /* GT_NONE */
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        gt_call_index record = call->event != GT_NONE ? records[call->event] : GT_NONE;

        if (call->event != GT_NONE && (call->kind == GT_CALL_EVENT_RECORD || call->kind == GT_CALL_EVENT_CREATE))
            records[call->event] = call->kind == GT_CALL_EVENT_RECORD ? i : GT_NONE;
        else if (record != GT_NONE && captures->of[record] != GT_NONE && captures->of[record] != captures->of[i])
            refuse(&captures->list[captures->of[record]], record, "records an event that is used outside the graph");
    }
    free(records);
}

void gt_captures_find(struct gt_captures *captures, const struct gt_workload *w, bool steps, const uint32_t *step_of)
{
    struct finding f = {
        .captures = captures,
        .w = w,
        .stretches = gt_calloc(w->thread_count + 1ull, sizeof *f.stretches),
        .step_of = step_of,
        .steps = steps,
    };

    *captures = (struct gt_captures){ .of = gt_calloc(w->call_count + 1ull, sizeof *captures->of) };
    find_teams(&f);
    for (uint32_t i = 0; i < w->thread_count; i++)
        begin_stretch(&f.stretches[i], GT_NONE);
    for (gt_call_index i = 0; i < w->call_count; i++)
        look_at(&f, i);
    for (uint32_t i = 0; i < w->thread_count; i++)
        end_stretch(&f, &f.stretches[i]);
    number_calls(&f);
    free(f.stretches);
    free(f.teams);
    refuse_events(captures, w);
}

void gt_captures_free(struct gt_captures *captures)
{
    free(captures->list);
    free(captures->of);
}

uint32_t gt_capture_of(const struct gt_captures *captures, gt_call_index call)
{
    uint32_t capture = captures->of[call];

    return capture != GT_NONE && captures->list[capture].refused == GT_NONE ? capture : GT_NONE;
}
