#include "sim/check/misuse.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

const char *const gt_misuse_kind_names[GT_MISUSE_KINDS] = {
    [GT_MISUSE_USE_AFTER_FREE] = "use-after-free",
    [GT_MISUSE_DOUBLE_FREE] = "double-free",
    [GT_MISUSE_FREE_IN_USE] = "free-in-use",
};

struct watched {
    gt_call_index freed; /* and not given out since; GT_NONE */
    gt_op_index told;    /* the last operation of which it was told; GT_NONE */
    bool in_streams;     /* it is freed in a stream's order somewhere */
    gt_op_index *users;  /* then: since it was given out, but for those that come before others of them */
    uint32_t user_count, user_room;
};

struct gt_misuse_watch {
    const struct gt_workload *w;
    const struct gt_stamp *stamps;
    struct gt_misuses *found;
    struct watched *buffers;
};

static const char *name_of(const struct gt_workload *w, gt_call_index call)
{
    return w->calls[call].name != GT_NONE ? gt_name_text(w, w->calls[call].name) : "";
}

static bool is_pytorchs(const struct gt_workload *w, gt_call_index call)
{
    return strcmp(name_of(w, call), "[memory]") == 0;
}

struct gt_misuse_watch *gt_misuse_new(const struct gt_workload *w, const struct gt_stamp *stamps,
                                      struct gt_misuses *found)
{
    struct gt_misuse_watch *watch = gt_calloc(1, sizeof *watch);

    *watch = (struct gt_misuse_watch){ .w = w, .stamps = stamps, .found = found };
    watch->buffers = gt_calloc(w->buffer_count + 1ull, sizeof *watch->buffers);
    for (gt_buffer_index i = 0; i < w->buffer_count; i++)
        watch->buffers[i].freed = watch->buffers[i].told = GT_NONE;
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kind == GT_CALL_FREE && w->calls[i].stream != GT_NONE && !is_pytorchs(w, i))
            watch->buffers[w->calls[i].buffer].in_streams = true;
    return watch;
}

void gt_misuse_end(struct gt_misuse_watch *watch)
{
    for (gt_buffer_index i = 0; i < watch->w->buffer_count; i++)
        free(watch->buffers[i].users);
    free(watch->buffers);
    free(watch);
}

static void tell(struct gt_misuse_watch *watch, struct gt_misuse misuse)
{
    struct gt_misuses *found = watch->found;

    gt_array_grow(found->list, found->count, found->room);
    found->list[found->count++] = misuse;
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

void gt_misuse_use(struct gt_misuse_watch *watch, gt_op_index op, gt_buffer_index index, const struct gt_line *line)
{
    struct watched *buffer = &watch->buffers[index];

    if (buffer->freed != GT_NONE && buffer->told != op) {
        buffer->told = op;
        tell(watch, (struct gt_misuse){ index, buffer->freed, GT_NONE, op, GT_MISUSE_USE_AFTER_FREE, true });
    }
    if (buffer->in_streams && buffer->freed == GT_NONE)
        keep_user(watch, buffer, op, line);
}

void gt_misuse_alloc(struct gt_misuse_watch *watch, gt_call_index call)
{
    struct watched *buffer = &watch->buffers[watch->w->calls[call].buffer];

    buffer->freed = GT_NONE;
    buffer->user_count = 0;
}

static bool comes_after(const struct gt_freed *freed, struct gt_stamp stamp)
{
    if (gt_line_knows(&freed->line, stamp))
        return true;
    for (uint32_t i = 0; i < freed->recorded_count; i++)
        if (gt_line_knows(&freed->recorded[i], stamp))
            return true;
    return false;
}

/* The last operation that may go on when the memory is given back; GT_NONE. */
static gt_op_index in_use(const struct gt_misuse_watch *watch, const struct watched *buffer,
                          const struct gt_freed *freed)
{
    gt_op_index last = GT_NONE;

    for (uint32_t i = 0; i < buffer->user_count; i++)
        if (!comes_after(freed, watch->stamps[buffer->users[i]]) && (last == GT_NONE || buffer->users[i] > last))
            last = buffer->users[i];
    return last;
}

void gt_misuse_free(struct gt_misuse_watch *watch, gt_call_index call, const struct gt_freed *freed)
{
    gt_buffer_index index = watch->w->calls[call].buffer;
    struct watched *buffer = &watch->buffers[index];
    bool async = strstr(name_of(watch->w, call), "FreeAsync") != NULL;
    gt_op_index op;

    if (is_pytorchs(watch->w, call))
        return;
    if (buffer->freed != GT_NONE) {
        tell(watch, (struct gt_misuse){ index, buffer->freed, call, GT_NONE, GT_MISUSE_DOUBLE_FREE, true });
        return;
    }
    op = freed->in_stream ? in_use(watch, buffer, freed) : GT_NONE;
    if (op != GT_NONE)
        tell(watch, (struct gt_misuse){ index, call, GT_NONE, op, GT_MISUSE_FREE_IN_USE, async });
    buffer->freed = call;
    buffer->user_count = 0;
}
