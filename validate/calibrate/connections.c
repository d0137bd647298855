/* connections.c - how many streams have a hardware queue of their own, for several values of
 * CUDA_DEVICE_MAX_CONNECTIONS. CUDA reads it once, so each value gets a process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "validate/calibrate/groups.h"

enum { STREAMS = 48, AS_IT_IS = 0 };
static const char variable[] = "CUDA_DEVICE_MAX_CONNECTIONS";
static const double first_us = 4000;

/* Each stream gets a long kernel and a short one behind it, stream by stream. The short one waits at
 * the head of its queue, and with it every stream that shares the queue: those whose long kernel is
 * there from the beginning have a queue of their own. */
static int count_queues(struct gt_bench *bench, uint32_t *queues)
{
    const struct gt_bench_spin first = { 1, 32, 0, 0, first_us, 0, 0 }, second = { 1, 32, 0, 0, 10, 0, 0 };
    cudaStream_t streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        GT_TRY(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (uint32_t i = 0; i < STREAMS; i++)
        if (gt_bench_launch(bench, &first, 2 * i, streams[i]) != 0 ||
            gt_bench_launch(bench, &second, 2 * i + 1, streams[i]) != 0)
            return -1;
    if (gt_bench_read(bench, 2 * STREAMS) != 0)
        return -1;
    *queues = 0;
    for (uint32_t i = 0; i < STREAMS; i++)
        *queues += bench->blocks[2 * i].start_ns < bench->blocks[0].end_ns;
    return 0;
}

/* What the process does: the count, or why there is none, into the pipe. */
static void measure_in_child(struct gt_bench *bench, int connections, int pipe)
{
    struct gt_error error = { "" };
    struct gt_bench own = { .found = bench->found, .error = &error };
    char text[16], answer[GT_ERROR_TEXT_BYTES + 16];
    uint32_t queues = 0;
    snprintf(text, sizeof(text), "%d", connections);
    if (connections != AS_IT_IS)
        setenv(variable, text, 1);
    bool good = gt_bench_open(&own) == 0 && count_queues(&own, &queues) == 0;
    int length = snprintf(answer, sizeof(answer), "%u %s", queues, good ? "" : error.text);
    _exit(write(pipe, answer, (size_t)length) == length ? 0 : 1);
}

static int queues_with(struct gt_bench *bench, int connections, uint32_t *queues)
{
    char answer[GT_ERROR_TEXT_BYTES + 16] = "";
    size_t length = 0;
    int ends[2], status;
    ssize_t got;
    if (pipe(ends) != 0)
        return gt_error_set(bench->error, "no pipe for another process: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return gt_error_set(bench->error, "no other process: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        measure_in_child(bench, connections, ends[1]);
    }
    close(ends[1]);
    while ((got = read(ends[0], answer + length, sizeof(answer) - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    char *text;
    *queues = (uint32_t)strtoul(answer, &text, 10);
    if (*queues > 0)
        return 0;
    return gt_error_set(bench->error, "%s",
                        text[0] == ' ' && text[1] != '\0' ? text + 1 : "the process for it ended early");
}

int gt_calibrate_connections(struct gt_bench *bench)
{
    static const int settings[] = { AS_IT_IS, 1, 8, 32 };
    uint32_t queues[4];
    const char *set = getenv(variable);
    char text[16];
    for (int i = 0; i < 4; i++)
        if (queues_with(bench, settings[i], &queues[i]) != 0)
            return -1;
    snprintf(text, sizeof(text), "%u", queues[0]);
    gt_found_text(bench->found, "scheduling.connections", text,
                  "of %d streams so many began at once with %s %s; with 1, 8, 32: %u, %u, %u", STREAMS, variable,
                  set != NULL ? set : "unset", queues[1], queues[2], queues[3]);
    return 0;
}
