/* builder.c - gathering a profile's calls, operations, targets, streams and threads. */
#include "traces/import/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/array.h"
#include "sim/workload/ranges.h"
#include "traces/import/index_map.h"
#include "traces/import/internal.h"
#include "traces/io/child.h"

struct gt_import_maps {
    struct gt_index_map *streams;       /* process, gpu, context, stream */
    struct gt_index_map *threads;       /* process, id */
    struct gt_index_map *contexts;      /* process, gpu, context; index: the context's number as shown */
    struct gt_index_map *range_threads; /* process, id */
    struct gt_index_map *owners;        /* (no process), gpu, context; index: processes that have it, less one */
};

/* Made-up context numbers of further processes with the same context are this far apart. */
enum { CONTEXT_STEP = 1 << 16 };

void gt_import_begin(struct gt_import *import, const char *source)
{
    memset(import, 0, sizeof *import);
    import->workload = gt_workload_new();
    import->workload->source = strdup(source);
    import->collectives.rank = GT_NONE;
    import->maps = gt_calloc(1, sizeof *import->maps);
}

void gt_import_give_notes(struct gt_import *import, struct gt_collective_notes *asked)
{
    if (asked == NULL)
        return;
    *asked = import->collectives;
    memset(&import->collectives, 0, sizeof import->collectives);
}

void gt_import_free(struct gt_import *import)
{
    if (import->maps != NULL) {
        gt_index_map_free(import->maps->streams);
        gt_index_map_free(import->maps->threads);
        gt_index_map_free(import->maps->range_threads);
        gt_index_map_free(import->maps->contexts);
        gt_index_map_free(import->maps->owners);
        free(import->maps);
    }
    gt_collective_notes_free(&import->collectives);
    free(import->calls);
    free(import->ops);
    free(import->targets);
    free(import->edges);
    free(import->accesses);
    free(import->ranges);
    free(import->range_threads);
    free(import->allocations);
    gt_workload_free(import->workload);
    memset(import, 0, sizeof *import);
}

struct gt_import_call *gt_import_add_call(struct gt_import *import)
{
    struct gt_import_call *call;

    gt_array_grow(import->calls, import->call_count, import->call_room);
    call = &import->calls[import->call_count++];
    *call = (struct gt_import_call){
        .correlation = GT_NO_CORRELATION,
        .thread = GT_NONE,
        .name = GT_NONE,
        .stream = GT_NONE,
        .event = GT_NONE,
        .buffer = GT_NONE,
        .executable = GT_NONE,
        .kind = GT_CALL_OTHER,
    };
    return call;
}

struct gt_import_op *gt_import_add_op(struct gt_import *import)
{
    struct gt_import_op *op;

    gt_array_grow(import->ops, import->op_count, import->op_room);
    op = &import->ops[import->op_count++];
    *op = (struct gt_import_op){
        .correlation = GT_NO_CORRELATION,
        .stream = GT_NONE,
        .kernel = GT_NONE,
        .peer_gpu = GT_NONE,
        .call = GT_NONE,
        .executable = GT_NONE,
        .memory = GT_MEMORY_UNKNOWN,
    };
    return op;
}

struct gt_import_target *gt_import_add_target(struct gt_import *import)
{
    struct gt_import_target *target;

    gt_array_grow(import->targets, import->target_count, import->target_room);
    target = &import->targets[import->target_count++];
    *target = (struct gt_import_target){
        .correlation = GT_NO_CORRELATION,
        .stream = GT_NONE,
        .event = GT_NONE,
    };
    return target;
}

void gt_import_add_edge(struct gt_import *import, uint32_t before, uint32_t after)
{
    gt_array_grow(import->edges, import->edge_count, import->edge_room);
    import->edges[import->edge_count++] = (struct gt_import_edge){ before, after };
}

void gt_import_add_access(struct gt_import *import, uint32_t op, const struct gt_buffer_access *access)
{
    gt_array_grow(import->accesses, import->access_count, import->access_room);
    import->accesses[import->access_count++] = (struct gt_import_access){ op, *access };
}

struct gt_import_range *gt_import_add_range(struct gt_import *import, uint32_t thread)
{
    struct gt_import_range *range;

    gt_array_grow(import->ranges, import->range_count, import->range_room);
    range = &import->ranges[import->range_count++];
    *range = (struct gt_import_range){ .name = GT_NONE, .inputs = GT_NONE, .thread = thread };
    return range;
}

uint32_t gt_import_marker_name(struct gt_import *import, const char *text, size_t length, uint8_t *kind)
{
    const char *id = memmem(text, length, ", op_id = ", 10), *seq = memmem(text, length, ", seq = ", 8);

    *kind = id != NULL && id > text ? GT_RANGE_OPERATOR : GT_RANGE_NVTX;
    if (*kind == GT_RANGE_OPERATOR)
        length = (size_t)((seq != NULL && seq > text && seq < id ? seq : id) - text);
    return gt_name(import->workload, text, length);
}

uint32_t gt_import_executable(struct gt_import *import, uint32_t id)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%u", id);

    return gt_name(import->workload, text, (size_t)length);
}

uint32_t gt_import_gpu(struct gt_import *import, uint32_t id)
{
    struct gt_workload *workload = import->workload;
    uint32_t gpu;

    for (gpu = 0; gpu < workload->gpu_count; gpu++) {
        if (workload->gpus[gpu].id == id)
            return gpu;
    }
    gpu = gt_workload_add_gpu(workload);
    workload->gpus[gpu].id = id;
    return gpu;
}

/* The number to show for a process's context: its own, unless another process had the same one on
 * that GPU first; streams of different contexts must not meet in the default stream's rules. */
static uint32_t context_number(struct gt_import *import, uint64_t process, uint32_t gpu, uint32_t context)
{
    struct gt_import_maps *maps = import->maps;
    uint32_t *own = gt_index_map_at(&maps->contexts, (struct gt_index_key){ { process, gpu, context } });

    if (*own == GT_NONE) {
        uint32_t *shared = gt_index_map_at(&maps->owners, (struct gt_index_key){ { gpu, context } });

        ++*shared; /* from GT_NONE to 0 for the first */
        *own = context + *shared * CONTEXT_STEP;
    }
    return *own;
}

uint32_t gt_import_stream(struct gt_import *import, uint64_t process, uint32_t gpu, uint32_t context, uint64_t stream)
{
    uint32_t *index =
        gt_index_map_at(&import->maps->streams, (struct gt_index_key){ { process, gpu, context, stream } });

    if (*index == GT_NONE) {
        struct gt_stream *added;

        *index = gt_workload_add_stream(import->workload);
        added = &import->workload->streams[*index];
        added->gpu = gt_import_gpu(import, gpu);
        added->context = context_number(import, process, gpu, context);
        added->id = stream;
    }
    return *index;
}

uint32_t gt_import_thread(struct gt_import *import, uint64_t process, uint64_t shown_process, uint64_t id)
{
    uint32_t *index = gt_index_map_at(&import->maps->threads, (struct gt_index_key){ { process, id } });

    if (*index == GT_NONE) {
        *index = gt_workload_add_thread(import->workload);
        import->workload->threads[*index].process = shown_process;
        import->workload->threads[*index].id = id;
    }
    return *index;
}

uint32_t gt_import_range_thread(struct gt_import *import, uint64_t process, uint64_t shown_process, uint64_t id)
{
    uint32_t *index;

    if (import->range_count > 0) { /* neighbours are of one thread mostly */
        uint32_t last = import->ranges[import->range_count - 1].thread;

        if (import->range_threads[last].process == process && import->range_threads[last].id == id)
            return last;
    }
    index = gt_index_map_at(&import->maps->range_threads, (struct gt_index_key){ { process, id } });
    if (*index == GT_NONE) {
        gt_array_grow(import->range_threads, import->range_thread_count, import->range_thread_room);
        *index = import->range_thread_count++;
        import->range_threads[*index] = (struct gt_import_range_thread){ process, shown_process, id, GT_NONE };
    }
    return *index;
}

/* From a profile's operators, annotations and steps to a workload's ranges. */

/* The workload's thread of a gathered range, looked for when the first range of it is kept. */
static uint32_t thread_of(struct gt_import *import, const struct gt_import_range *range, uint32_t *threads)
{
    const struct gt_import_range_thread *thread = &import->range_threads[range->thread];
    uint32_t *known = &threads[range->thread];

    if (*known == GT_NONE) {
        *known = gt_import_thread(import, thread->process, thread->shown_process, thread->id);
        if (import->workload->threads[*known].name == GT_NONE)
            import->workload->threads[*known].name = thread->name;
    }
    return *known;
}

void gt_import_write_ranges(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    struct gt_workload *workload = import->workload;
    uint32_t *threads = gt_realloc(NULL, import->range_thread_count, sizeof *threads);
    int64_t limit_ns;

    if (__builtin_add_overflow(finish->origin_ns, (int64_t)(GT_TIME_LIMIT_PS / 1000), &limit_ns))
        limit_ns = INT64_MAX;
    memset(threads, 0xff, import->range_thread_count * sizeof *threads);
    workload->range_room = import->range_count;
    workload->ranges = gt_realloc(workload->ranges, workload->range_room, sizeof *workload->ranges);
    for (uint32_t i = 0; i < import->range_count; i++) {
        const struct gt_import_range *from = &import->ranges[i];
        int64_t start_ns = from->start_ns < finish->origin_ns ? finish->origin_ns : from->start_ns;
        struct gt_range *to;

        if (from->end_ns < start_ns)
            continue;
        if (from->end_ns > limit_ns) {
            gt_import_warn(workload, "ranges-unreadable", 1);
            continue;
        }
        to = &workload->ranges[gt_workload_add_range(workload)];
        to->start_ps = (uint64_t)(start_ns - finish->origin_ns) * 1000;
        to->duration_ps = (uint64_t)(from->end_ns - start_ns) * 1000;
        to->name = from->name;
        to->inputs = from->inputs;
        to->thread = thread_of(import, from, threads);
        to->kind = from->kind;
        to->flags = from->flags;
        GT_RANGE_PLAIN(GT_PLAIN_COPY)
    }
    finish->range_threads = threads;
    free(import->ranges);
    import->ranges = NULL;
    import->range_count = import->range_room = 0;
    gt_ranges_finish(workload, NULL);
}

extern char **environ;

int gt_tool_start(struct gt_tool_run *run, char *const arguments[], char *path, bool errors_too)
{
    posix_spawn_file_actions_t actions;
    int result;

    *run = (struct gt_tool_run){ .name = arguments[0], .path = path };
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (errors_too)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    result = gt_child_start(&run->child, &actions, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result != 0)
        free(path);
    return result;
}

/* The first line of what it printed instead of what was asked for. */
static void first_line(const char *path, char *text, int bytes)
{
    FILE *file = fopen(path, "r");

    if (file == NULL || fgets(text, bytes, file) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

int gt_tool_finish(struct gt_tool_run *run, struct gt_error *error)
{
    char said[200];
    int status, result = 0;

    while (waitpid(run->child, &status, 0) < 0)
        if (errno != EINTR)
            gt_bug("waiting for a child: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_line(run->path, said, sizeof said);
        result = gt_error_set(error, "%s failed on the report%s%s", run->name, said[0] != '\0' ? ": " : "", said);
        unlink(run->path);
    }
    free(run->path);
    return result;
}
