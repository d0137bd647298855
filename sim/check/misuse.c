#include "sim/check/misuse.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

const char *const gt_misuse_kind_names[GT_MISUSE_KINDS] = {
    [GT_MISUSE_USE_AFTER_FREE] = "use-after-free",
    [GT_MISUSE_DOUBLE_FREE] = "double-free",
    [GT_MISUSE_FREE_IN_USE] = "free-in-use",
};

struct watched {
    bool in_streams;    /* it is freed in a stream's order somewhere */
    gt_op_index *users; /* then: but for those that come before others of them */
    uint32_t user_count, user_room;
    gt_call_index freed;     /* the last free that the walk has come to; GT_NONE */
    struct gt_misuse in_use; /* of that one: its misuse; op GT_NONE: none */
};

struct gt_misuse_watch {
    const struct gt_workload *w;
    const struct gt_stamp *stamps;
    struct gt_misuses *found;
    struct watched *buffers;
    gt_call_index *had; /* by call, of frees: the call since which the buffer was there, 0: always; GT_NONE: it is
                         * PyTorch's, or was freed already */
};

static const char *name_of(const struct gt_workload *w, gt_call_index call)
{
    return w->calls[call].name != GT_NONE ? gt_name_text(w, w->calls[call].name) : "";
}

static bool is_pytorchs(const struct gt_workload *w, gt_call_index call)
{
    return strcmp(name_of(w, call), "[memory]") == 0;
}

static void tell(struct gt_misuses *found, struct gt_misuse misuse)
{
    gt_array_grow(found->list, found->count, found->room);
    found->list[found->count++] = misuse;
}

/* What calls have made of a buffer so far. */
struct called {
    gt_call_index freed, had; /* `freed`: and not given out since; GT_NONE */
    gt_op_index told;         /* the last operation of which it was told; GT_NONE */
};

static void use_by_call(struct gt_misuse_watch *watch, struct called *called, gt_op_index index, bool writes)
{
    const struct gt_op *op = &watch->w->ops[index];

    for (uint32_t i = 0; i < op->accesses; i++) {
        const struct gt_buffer_access *access = &watch->w->accesses[op->first_access + i];
        struct called *buffer = access->buffer != GT_NONE ? &called[access->buffer] : NULL;

        if (buffer == NULL || access->possible || access->writes != writes || buffer->freed == GT_NONE ||
            buffer->told == index)
            continue;
        buffer->told = index;
        tell(watch->found,
             (struct gt_misuse){ access->buffer, buffer->freed, GT_NONE, index, GT_MISUSE_USE_AFTER_FREE, true });
    }
}

static void free_by_call(struct gt_misuse_watch *watch, struct called *called, gt_call_index call)
{
    gt_buffer_index index = watch->w->calls[call].buffer;
    struct called *buffer = &called[index];

    watch->had[call] = GT_NONE;
    if (is_pytorchs(watch->w, call))
        return;
    if (watch->w->calls[call].stream != GT_NONE)
        watch->buffers[index].in_streams = true;
    if (buffer->freed != GT_NONE) {
        tell(watch->found, (struct gt_misuse){ index, buffer->freed, call, GT_NONE, GT_MISUSE_DOUBLE_FREE, true });
        return;
    }
    watch->had[call] = buffer->had;
    buffer->freed = call;
}

/* What needs no more than the order of calls. */
static void find_by_calls(struct gt_misuse_watch *watch)
{
    const struct gt_workload *w = watch->w;
    struct called *called = gt_calloc(w->buffer_count + 1ull, sizeof *called);

    for (gt_buffer_index i = 0; i < w->buffer_count; i++)
        called[i] = (struct called){ GT_NONE, 0, GT_NONE };
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
            use_by_call(watch, called, op, true);
            use_by_call(watch, called, op, false);
        }
        if (call->kind == GT_CALL_FREE)
            free_by_call(watch, called, i);
        else if (call->kind == GT_CALL_ALLOC)
            called[call->buffer] = (struct called){ GT_NONE, i, called[call->buffer].told };
    }
    free(called);
}

struct gt_misuse_watch *gt_misuse_new(const struct gt_workload *w, const struct gt_stamp *stamps,
                                      struct gt_misuses *found)
{
    struct gt_misuse_watch *watch = gt_calloc(1, sizeof *watch);

    *watch = (struct gt_misuse_watch){ .w = w, .stamps = stamps, .found = found };
    watch->buffers = gt_calloc(w->buffer_count + 1ull, sizeof *watch->buffers);
    watch->had = gt_calloc(w->call_count + 1ull, sizeof *watch->had);
    for (gt_buffer_index i = 0; i < w->buffer_count; i++)
        watch->buffers[i].freed = watch->buffers[i].in_use.op = GT_NONE;
    find_by_calls(watch);
    return watch;
}

/* The call that is wrong; of calls with several operations these are told in their order. */
static gt_call_index wrong_call(const struct gt_misuse *misuse, const struct gt_workload *w)
{
    if (misuse->kind == GT_MISUSE_USE_AFTER_FREE)
        return w->ops[misuse->op].call;
    return misuse->kind == GT_MISUSE_DOUBLE_FREE ? misuse->again : misuse->freed;
}

static int by_wrong_call(const void *left, const void *right, void *user)
{
    const struct gt_misuse *a = left, *b = right;

    GT_ORDER(wrong_call(a, user), wrong_call(b, user));
    GT_ORDER(a->op, b->op);
    GT_ORDER(a->buffer, b->buffer);
    return 0;
}

static void tell_in_use(struct gt_misuse_watch *watch, struct watched *buffer)
{
    if (buffer->in_use.op != GT_NONE)
        tell(watch->found, buffer->in_use);
    buffer->in_use.op = GT_NONE;
}

void gt_misuse_end(struct gt_misuse_watch *watch)
{
    for (gt_buffer_index i = 0; i < watch->w->buffer_count; i++) {
        tell_in_use(watch, &watch->buffers[i]);
        free(watch->buffers[i].users);
    }
    if (watch->found->count > 0)
        qsort_r(watch->found->list, watch->found->count, sizeof *watch->found->list, by_wrong_call,
                (void *)(uintptr_t)watch->w);
    free(watch->buffers);
    free(watch->had);
    free(watch);
}

/* Is the operation asked for between the free and the call since which its buffer was there? */
static bool within(const struct gt_misuse_watch *watch, gt_op_index op, gt_call_index freed)
{
    gt_call_index call = watch->w->ops[op].call;

    return call < freed && call >= watch->had[freed];
}

/* Who comes before this one need not be kept: what has an order to this one has it to that. */
static void keep_user(struct gt_misuse_watch *watch, struct watched *buffer, gt_op_index op,
                      const struct gt_line *line)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < buffer->user_count; i++)
        if (buffer->users[i] != op && !gt_line_knows(line, watch->stamps[buffer->users[i]]))
            buffer->users[kept++] = buffer->users[i];
    buffer->user_count = kept;
    gt_array_grow(buffer->users, buffer->user_count, buffer->user_room);
    buffer->users[buffer->user_count++] = op;
}

/* Of the last free: the operation may go on when the memory is given back. */
static void note_in_use(struct gt_misuse_watch *watch, gt_buffer_index index, gt_op_index op)
{
    struct watched *buffer = &watch->buffers[index];
    bool async = strstr(name_of(watch->w, buffer->freed), "FreeAsync") != NULL;

    if (buffer->in_use.op == GT_NONE || op > buffer->in_use.op)
        buffer->in_use = (struct gt_misuse){ index, buffer->freed, GT_NONE, op, GT_MISUSE_FREE_IN_USE, async };
}

void gt_misuse_use(struct gt_misuse_watch *watch, gt_op_index op, gt_buffer_index index, const struct gt_line *line)
{
    struct watched *buffer = &watch->buffers[index];

    if (!buffer->in_streams)
        return;
    if (buffer->freed != GT_NONE && within(watch, op, buffer->freed)) /* asked for before it, but comes behind it */
        note_in_use(watch, index, op);
    else
        keep_user(watch, buffer, op, line);
}

void gt_misuse_given_back(struct gt_misuse_watch *watch, gt_call_index call, const struct gt_line *line)
{
    gt_buffer_index index = watch->w->calls[call].buffer;
    struct watched *buffer = &watch->buffers[index];
    uint32_t kept = 0;

    if (watch->had[call] == GT_NONE || watch->w->calls[call].stream == GT_NONE)
        return;
    tell_in_use(watch, buffer);
    buffer->freed = call;
    for (uint32_t i = 0; i < buffer->user_count; i++) {
        gt_op_index user = buffer->users[i];

        if (!within(watch, user, call))
            buffer->users[kept++] = user;
        else if (!gt_line_knows(line, watch->stamps[user]))
            note_in_use(watch, index, user);
    }
    buffer->user_count = kept;
}
