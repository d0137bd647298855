/* Points of a sweep, done by workers: processes of this program, so that one that crashes takes nothing with it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/run/sweep_frame.h"
#include "sim/cmd/run/sweep_parts.h"
#include "sim/workload/workload.h"
#include "traces/io/child.h"
#include "traces/names/clean_text.h"

/* Which point a worker gets next: those of a trace that it has ready as long as there are any, as a trace
 * is read once by each that has a part of it. */

struct gt_sweep_queue {
    struct gt_sweep_queue_trace {
        uint64_t *points; /* to be done: a stack */
        uint64_t count;
        uint32_t workers; /* that were given some of it last */
        bool dropped;
    } * traces;
    uint32_t trace_count;
    uint64_t points_a_trace, left; /* left: points that wait */
    uint64_t *again;               /* points that were given a second time */
    uint64_t again_count;
};

static void sweep_queue_begin(struct gt_sweep_queue *queue, const uint64_t *todo, uint64_t count, uint32_t traces,
                              uint64_t points_a_trace)
{
    *queue = (struct gt_sweep_queue){ .trace_count = traces, .points_a_trace = points_a_trace, .left = count };
    queue->traces = gt_calloc(traces, sizeof *queue->traces);
    for (uint64_t i = count; i-- > 0;) { /* so that the first is on top */
        struct gt_sweep_queue_trace *trace = &queue->traces[todo[i] / points_a_trace];

        if (trace->points == NULL)
            trace->points = gt_calloc(points_a_trace, sizeof *trace->points);
        trace->points[trace->count++] = todo[i];
    }
}

static void sweep_queue_end(struct gt_sweep_queue *queue)
{
    for (uint32_t i = 0; i < queue->trace_count; i++)
        free(queue->traces[i].points);
    free(queue->traces);
    free(queue->again);
}

/* The trace with most points for each of its workers and a new one. */
static uint32_t fullest(const struct gt_sweep_queue *queue)
{
    uint32_t found = GT_NONE;
    double most = 0;

    for (uint32_t i = 0; i < queue->trace_count; i++) {
        double each = (double)queue->traces[i].count / (queue->traces[i].workers + 1);

        if (each > most) {
            most = each;
            found = i;
        }
    }
    return found;
}

/* A point for a worker that was at `*trace` (GT_NONE: none), and its trace; false, and GT_NONE, where there is none
 * left. */
static bool sweep_queue_next(struct gt_sweep_queue *queue, uint64_t *point, uint32_t *trace)
{
    uint32_t at = *trace, chosen = at;

    if (at == GT_NONE || queue->traces[at].count == 0) {
        chosen = fullest(queue);
        if (at != GT_NONE && chosen != GT_NONE)
            queue->traces[at].workers--;
        *trace = chosen;
        if (chosen == GT_NONE)
            return false;
        queue->traces[chosen].workers++;
    }
    *point = queue->traces[chosen].points[--queue->traces[chosen].count];
    queue->left--;
    return true;
}

/* The point was not done: once it is put back; false the second time. */
static bool sweep_queue_again(struct gt_sweep_queue *queue, uint64_t point)
{
    struct gt_sweep_queue_trace *trace = &queue->traces[point / queue->points_a_trace];

    trace->workers -= trace->workers > 0; /* its worker is gone */
    for (uint64_t i = 0; i < queue->again_count; i++)
        if (queue->again[i] == point)
            return false;
    if (trace->dropped)
        return true;
    queue->again = gt_realloc(queue->again, queue->again_count + 1, sizeof *queue->again);
    queue->again[queue->again_count++] = point;
    trace->points[trace->count++] = point;
    queue->left++;
    return true;
}

/* No point of that trace any more; false where that was said before. */
static bool sweep_queue_drop(struct gt_sweep_queue *queue, uint32_t number)
{
    struct gt_sweep_queue_trace *trace = &queue->traces[number];
    bool first = !trace->dropped;

    queue->left -= trace->count;
    trace->count = 0;
    trace->dropped = true;
    return first;
}

extern char **environ;

enum { LOOK_MS = 200 };

struct worker {
    pid_t process; /* 0: none */
    int in, out;   /* its standard input and output */
    struct gt_frame_reader reader;
    uint32_t trace;  /* it is at, GT_NONE */
    uint64_t point;  /* being done, */
    bool busy, idle; /* while busy; idle: there is nothing left for it */
};

struct pool {
    struct gt_sweep *sweep;
    const struct gt_sweep_arguments *arguments;
    struct worker *workers;
    unsigned jobs, at_work;
    struct gt_sweep_queue queue;
    struct gt_progress progress;
    bool failed;
};

static volatile sig_atomic_t stopped_by;

static void stop(int number)
{
    stopped_by = number;
}

/* What it is for ends by its own hand; whoever has chosen to ignore a signal ignores it still. */
static void watch(struct sigaction old[2])
{
    struct sigaction action = { .sa_handler = stop };

    stopped_by = 0;
    sigaction(SIGINT, NULL, &old[0]);
    if (old[0].sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, &old[1]);
    signal(SIGPIPE, SIG_IGN); /* a worker that is gone is seen at its other end */
}

static void unwatch(const struct sigaction old[2])
{
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    signal(SIGPIPE, SIG_DFL);
}

static char **worker_arguments(const struct gt_sweep_arguments *arguments)
{
    char **list = gt_calloc((size_t)arguments->count + 4, sizeof *list);
    size_t count = 0;

    list[count++] = (char *)"/proc/self/exe";
    list[count++] = (char *)"sweep";
    list[count++] = (char *)"--part=worker";
    for (int i = gt_sweep_first_given(arguments); i < arguments->count; i++)
        list[count++] = arguments->given[i];
    return list;
}

static int start(const struct pool *pool, struct worker *worker, struct gt_error *error)
{
    posix_spawn_file_actions_t actions;
    char **arguments;
    int in[2], out[2], result;

    if (pipe2(in, O_CLOEXEC) != 0)
        return gt_error_set(error, "cannot start a worker: %s; reduce their number with -j", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return gt_error_set(error, "cannot start a worker: %s; reduce their number with -j", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    arguments = worker_arguments(pool->arguments);
    result = gt_child_start(&worker->process, &actions, arguments, environ);
    free(arguments);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    worker->in = in[1];
    worker->out = out[0];
    worker->trace = GT_NONE;
    worker->busy = false;
    if (result == 0)
        return 0;
    worker->process = 0;
    close(worker->in);
    close(worker->out);
    return gt_error_set(error, "cannot start a worker: %s; reduce their number with -j", strerror(result));
}

/* Its status; it is gone then. */
static int end(struct worker *worker)
{
    int status = 0;

    close(worker->in);
    close(worker->out);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    gt_frame_free(&worker->reader);
    worker->process = 0;
    return status;
}

/* The next point for it: of its trace, as long as there is one. */
static void give(struct pool *pool, struct worker *worker)
{
    char line[32];
    int bytes;

    if (!sweep_queue_next(&pool->queue, &worker->point, &worker->trace)) {
        worker->idle = true;
        return;
    }
    worker->busy = true;
    pool->at_work++;
    bytes = snprintf(line, sizeof line, "%" PRIu64 "\n", worker->point);
    if (write(worker->in, line, (size_t)bytes) != bytes)
        kill(worker->process, SIGKILL); /* it takes nothing any more: seen at its other end */
}

/* Where the point is done, or will not be, the worker is free. */
static void release(struct pool *pool, struct worker *worker)
{
    pool->at_work -= worker->busy;
    worker->busy = false;
}

static void tell_crash(struct pool *pool, uint64_t point, int status)
{
    struct gt_change changes[GT_GRID_PARAMETERS_MAX];
    uint32_t count = gt_change_grid_at(&pool->arguments->grid, point, changes);

    fprintf(stderr, "gridtide: %s: ", pool->arguments->traces[point / pool->arguments->grid.points]);
    for (uint32_t i = 0; i < count; i++) {
        char *clean = gt_clean_name(changes[i].spec);

        fprintf(stderr, "%s%s", i > 0 ? " + " : "", clean);
        free(clean);
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, ": its worker was terminated twice by signal %d (%s); ", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, ": its worker exited twice with status %d; ", WEXITSTATUS(status));
    fputs("the other points continue; run the same command to retry this one\n", stderr);
    pool->failed = true;
}

/* A worker ended by itself, or was: what it was at is done again, once. */
static int lost(struct pool *pool, struct worker *worker, struct gt_error *error)
{
    uint64_t point = worker->point;
    bool busy = worker->busy;
    int status = end(worker);

    release(pool, worker);
    if (!busy)
        return gt_error_set(error, "a worker exited while it was idle; try again");
    if (!sweep_queue_again(&pool->queue, point))
        tell_crash(pool, point, status);
    if (start(pool, worker, error) != 0)
        return -1;
    give(pool, worker);
    return 0;
}

static int take_trace(struct pool *pool, const char *const *fields, struct gt_error *error)
{
    const struct gt_sweep_trace trace = {
        .name = (char *)fields[2],
        .device = (char *)fields[3],
        .measured_us = strtod(fields[4], NULL),
        .replay_us = strtod(fields[5], NULL),
        .baseline_us = strtod(fields[6], NULL),
        .step_us = strtod(fields[7], NULL),
        .steps = strtoll(fields[8], NULL, 10),
    };

    return gt_sweep_keep_trace(pool->sweep, (uint32_t)strtoul(fields[1], NULL, 10), &trace, error);
}

static int take_point(struct pool *pool, const char *const *fields, struct gt_error *error)
{
    const struct gt_sweep_row row = {
        .point = strtoull(fields[1], NULL, 10),
        .change = fields[2],
        .predicted_us = strtod(fields[3], NULL),
        .step_us = strtod(fields[4], NULL),
        .low_us = strtod(fields[5], NULL),
        .high_us = strtod(fields[6], NULL),
        .change_pct = strtod(fields[7], NULL),
        .trust = fields[8],
        .assumptions = fields[9],
        .bound_by = fields[10],
        .bound_pct = strtod(fields[11], NULL),
        .refusal = fields[12],
    };

    return gt_sweep_keep(pool->sweep, &row, error);
}

/* A trace that cannot be read or simulated: told, and none of its points is tried any more. */
static void take_failure(struct pool *pool, const char *const *fields)
{
    if (sweep_queue_drop(&pool->queue, (uint32_t)strtoul(fields[1], NULL, 10)))
        fprintf(stderr, "gridtide: %s\n", fields[2]);
    pool->failed = true;
}

static int take_frames(struct pool *pool, struct worker *worker, struct gt_error *error)
{
    const char *fields[GT_FRAME_FIELDS];
    int result = 0;

    while (result == 0 && gt_frame_next(&worker->reader, fields) > 0) {
        if (strcmp(fields[0], GT_FRAME_TRACE) == 0) {
            result = take_trace(pool, fields, error);
            continue;
        }
        release(pool, worker);
        if (strcmp(fields[0], GT_FRAME_FAILED) == 0)
            take_failure(pool, fields);
        else
            result = take_point(pool, fields, error);
        if (result == 0)
            give(pool, worker);
    }
    return result;
}

static int look(struct pool *pool, struct pollfd *pipes, struct gt_error *error)
{
    for (unsigned i = 0; i < pool->jobs; i++)
        pipes[i] = (struct pollfd){ .fd = pool->workers[i].busy ? pool->workers[i].out : -1, .events = POLLIN };
    if (poll(pipes, pool->jobs, LOOK_MS) < 0)
        return errno == EINTR ? 0 : gt_error_set(error, "cannot wait for workers: %s", strerror(errno));
    for (unsigned i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];

        if (pipes[i].fd < 0 || pipes[i].revents == 0)
            continue;
        if ((gt_frame_take(&worker->reader, worker->out) > 0 ? take_frames(pool, worker, error)
                                                             : lost(pool, worker, error)) != 0)
            return -1;
    }
    return gt_sweep_flush(pool->sweep, false, error);
}

/* Workers that found nothing left have something again where another's crash left it. */
static void wake(struct pool *pool)
{
    for (unsigned i = 0; i < pool->jobs && pool->queue.left > 0; i++) {
        struct worker *worker = &pool->workers[i];

        if (worker->process != 0 && worker->idle) {
            worker->idle = false;
            give(pool, worker);
        }
    }
}

static int run(struct pool *pool, uint64_t count, struct gt_error *error)
{
    struct pollfd *pipes = gt_calloc(pool->jobs, sizeof *pipes);
    uint64_t left = pool->sweep->left;
    int result = 0;

    for (unsigned i = 0; i < pool->jobs && result == 0; i++) {
        result = start(pool, &pool->workers[i], error);
        if (result == 0)
            give(pool, &pool->workers[i]);
    }
    while (result == 0 && pool->at_work > 0 && stopped_by == 0) {
        result = look(pool, pipes, error);
        wake(pool);
        gt_progress_update(&pool->progress, left - pool->sweep->left, count);
    }
    free(pipes);
    return result;
}

int gt_sweep_work(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, unsigned jobs,
                  const uint64_t *todo, uint64_t count, int *signal, struct gt_error *error)
{
    struct pool pool = { .sweep = sweep, .arguments = arguments };
    struct gt_error late = { "" };
    struct sigaction old[2];
    int result, kept;

    pool.jobs = jobs < count ? jobs : (unsigned)count;
    pool.workers = gt_calloc(pool.jobs + 1, sizeof *pool.workers);
    sweep_queue_begin(&pool.queue, todo, count, arguments->trace_count, arguments->grid.points);
    gt_progress_begin(&pool.progress, "sweeping", arguments->model.quiet);
    watch(old);
    result = run(&pool, count, error);
    for (unsigned i = 0; i < pool.jobs; i++) {
        if (pool.workers[i].process == 0)
            continue;
        if (pool.workers[i].busy)
            kill(pool.workers[i].process, SIGKILL);
        end(&pool.workers[i]);
    }
    kept = gt_sweep_flush(sweep, true, &late);
    unwatch(old);
    *signal = stopped_by;
    gt_progress_end(&pool.progress);
    sweep_queue_end(&pool.queue);
    free(pool.workers);
    if (result == 0 && kept != 0)
        *error = late;
    return result != 0 || kept != 0 ? -1 : pool.failed;
}
