/* A recorded timeline of any length, and what a command costs on it.
 *   write FILE KERNELS   launches on three streams whose kernels hold each other up, with the times that an H200
 *                        measured (traces/samples/cuda-leftover.json.gz), again and again
 *   time NAME COMMAND... run a command; one line: processor and wall time, peak of memory */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char head[] = "{\"gridtide\":1,\"name\":\"timeline\",\"device\":\"h200\"}\n"
                           "{\"thread\":\"main\"}\n"
                           "{\"stream\":13,\"flags\":[\"non_blocking\"]}\n"
                           "{\"stream\":14,\"flags\":[\"non_blocking\"]}\n"
                           "{\"stream\":15,\"flags\":[\"non_blocking\"]}\n"
                           "{\"kernel\":\"spin\",\"id\":0,\"grid\":[200],\"block\":[1024],\"registers\":16}\n"
                           "{\"kernel\":\"spin\",\"id\":1,\"grid\":[400],\"block\":[512],\"registers\":16}\n"
                           "{\"kernel\":\"spin\",\"id\":2,\"grid\":[64],\"block\":[256],\"registers\":16}\n";

/* One round: launches in turn on the three streams, then a wait for all. Nanoseconds. */
enum { PERIOD_NS = 350000, SYNC_NS = 34998, SYNC_DURATION_NS = 310238 };
static const struct launch {
    unsigned start, duration, op_start, op_duration;
} launches[] = {
    { 0, 4737, 7375, 77057 },       { 5149, 2804, 10512, 125600 },   { 8271, 3329, 83888, 27040 },
    { 11945, 3352, 86256, 114848 }, { 15845, 3873, 137488, 89472 },  { 20040, 3693, 124592, 26304 },
    { 24063, 3541, 202352, 94176 }, { 27936, 3218, 228240, 114145 }, { 31532, 3283, 178576, 65856 },
};
enum { LAUNCHES = sizeof launches / sizeof launches[0] };

static void write_round(FILE *out, unsigned long long from_ns)
{
    for (unsigned i = 0; i < LAUNCHES; i++)
        fprintf(out,
                "{\"call\":\"launch\",\"name\":\"cudaLaunchKernel\",\"thread\":\"main\",\"stream\":%u,"
                "\"start_ns\":%llu,\"duration_ns\":%u,\"kernel\":%u,\"op_start_ns\":%llu,\"op_duration_ns\":%u}\n",
                13 + i % 3, from_ns + launches[i].start, launches[i].duration, i % 3, from_ns + launches[i].op_start,
                launches[i].op_duration);
    fprintf(out,
            "{\"call\":\"device_sync\",\"name\":\"cudaDeviceSynchronize\",\"thread\":\"main\",\"start_ns\":%llu,"
            "\"duration_ns\":%d}\n",
            from_ns + SYNC_NS, SYNC_DURATION_NS);
}

static int write_trace(const char *path, unsigned long kernels)
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        return -1;
    fputs(head, out);
    for (unsigned long i = 0; i < kernels; i += LAUNCHES)
        write_round(out, (unsigned long long)(i / LAUNCHES) * PERIOD_NS);
    return fclose(out);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static int time_command(const char *name, char **command)
{
    struct timespec from, to;
    struct rusage usage;
    int status;
    pid_t child;

    clock_gettime(CLOCK_MONOTONIC, &from);
    child = fork();
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%-28s %7.2f s of processor time (%.2f of it the system's), %7.2f s in all, %6.0f MB\n", name,
           seconds(usage.ru_utime) + seconds(usage.ru_stime), seconds(usage.ru_stime),
           (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec),
           (double)usage.ru_maxrss / 1024);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return write_trace(argv[2], strtoul(argv[3], NULL, 10)) == 0 ? 0 : 1;
    if (argc > 3 && strcmp(argv[1], "time") == 0)
        return time_command(argv[2], argv + 3) == 0 ? 0 : 1;
    fputs("usage: timeline_bench write FILE KERNELS | time NAME COMMAND...\n", stderr);
    return 2;
}
