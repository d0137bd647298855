/* profile.c - launches each case of a list once, for a profiler to look at: `profile CASES [KERNEL...]`.
 *
 * CASES is a text file, a launch a line: KERNEL GRID BLOCK SHARED_BYTES [PARAMETER=VALUE]..., where GRID and
 * BLOCK are X, XxY or XxYxZ; empty lines and lines that begin with # are skipped. With kernel names, only
 * their cases are launched. Inputs are filled outside, and the launch made inside, a window of
 * cudaProfilerStart() and cudaProfilerStop(): `ncu --profile-from-start off` sees the launch alone.
 * A line a launch on standard output, in the profiler's order. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_profiler_api.h>

#include "kernels/library.h"

enum { LINE_BYTES = 512, SEED = 1 };
static const char blanks[] = " \t\r\n";

struct profile_case {
    const struct gt_library_kernel *kernel;
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
};

/* "X", "XxY" or "XxYxZ" into `size`; the rest are 1. */
static int parse_size(const char *text, uint32_t *size, struct gt_error *error)
{
    const char *rest = text;
    for (int i = 0; i < 3; i++)
        size[i] = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(rest, &end, 10);
        if (end == rest || *rest == '-' || value == 0 || value > INT32_MAX)
            break;
        size[i] = (uint32_t)value;
        if (!*end)
            return 0;
        if (*end != 'x')
            break;
        rest = end + 1;
    }
    return gt_error_set(error, "'%.64s' is no size; write it as 8, 8x4 or 8x4x2", text);
}

static int parse_arguments(struct profile_case *test, char *rest, struct gt_error *error)
{
    gt_library_defaults(test->kernel, test->arguments);
    for (char *word = strtok_r(NULL, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            return gt_error_set(error, "'%.64s' has no value; write it as PARAMETER=VALUE", word);
        *value++ = '\0';
        if (gt_library_argument(test->kernel, word, value, test->arguments, error) < 0)
            return -1;
    }
    return gt_library_accepts(test->kernel, &test->launch, error);
}

static int parse_case(char *line, struct profile_case *test, struct gt_error *error)
{
    char *rest, *end, *name = strtok_r(line, blanks, &rest);
    char *grid = strtok_r(NULL, blanks, &rest), *block = strtok_r(NULL, blanks, &rest);
    char *shared = strtok_r(NULL, blanks, &rest);
    if (!shared)
        return gt_error_set(error, "a case is KERNEL GRID BLOCK SHARED_BYTES [PARAMETER=VALUE]...");
    *test = (struct profile_case){ .kernel = gt_library_kernel_find(name, error) };
    test->launch.arguments = test->arguments;
    if (!test->kernel || parse_size(grid, test->launch.grid, error) < 0 ||
        parse_size(block, test->launch.block, error) < 0)
        return -1;
    unsigned long bytes = strtoul(shared, &end, 10);
    if (*end || *shared == '-' || bytes > INT32_MAX)
        return gt_error_set(error, "'%.64s' is no number of bytes", shared);
    test->launch.dynamic_shared_bytes = (uint32_t)bytes;
    return parse_arguments(test, rest, error);
}

static cudaError_t launch_in_window(const struct profile_case *test)
{
    cudaError_t status = gt_library_prepare(test->kernel, &test->launch, SEED);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(test->launch.stream);
    if (status == cudaSuccess)
        status = cudaProfilerStart();
    if (status != cudaSuccess)
        return status;
    status = test->kernel->launch(&test->launch);
    cudaError_t ended = cudaStreamSynchronize(test->launch.stream), stopped = cudaProfilerStop();
    return status != cudaSuccess ? status : ended != cudaSuccess ? ended : stopped;
}

static int run_case(struct profile_case *test, struct gt_error *error)
{
    size_t bytes = gt_library_scratch_bytes(test->kernel, &test->launch);
    cudaError_t status = cudaStreamCreateWithFlags(&test->launch.stream, cudaStreamNonBlocking);
    if (status == cudaSuccess && bytes)
        status = cudaMalloc(&test->launch.scratch, bytes);
    if (status == cudaSuccess)
        status = launch_in_window(test);
    cudaFree(test->launch.scratch);
    if (test->launch.stream)
        cudaStreamDestroy(test->launch.stream);
    if (status != cudaSuccess)
        return gt_error_set(error, "%s: %s", test->kernel->name, cudaGetErrorString(status));
    return 0;
}

/* Is the line a case, and of one of the `names`, if there are any? */
static bool is_wanted(const char *line, char **names)
{
    const char *word = line + strspn(line, blanks);
    size_t length = strcspn(word, blanks);
    if (length == 0 || *word == '#')
        return false;
    for (char **name = names; *name; name++)
        if (strlen(*name) == length && strncmp(*name, word, length) == 0)
            return true;
    return !*names;
}

static int run_cases(FILE *file, const char *path, char **names, struct gt_error *error)
{
    char line[LINE_BYTES], text[LINE_BYTES];
    for (int number = 1, launches = 0; fgets(line, sizeof line, file); number++) {
        struct profile_case test;
        if (!is_wanted(line, names))
            continue;
        strcpy(text, line);
        if (parse_case(text, &test, error) < 0 || run_case(&test, error) < 0)
            return gt_error_prefix(error, "%s:%d: ", path, number);
        printf("%d %s%s", launches++, line, strchr(line, '\n') ? "" : "\n");
    }
    return ferror(file) ? gt_error_set(error, "%s: %s", path, strerror(errno)) : 0;
}

int main(int argc, char **argv)
{
    struct gt_error error = { "" };
    if (argc < 2) {
        fprintf(stderr, "gridtide: usage: profile CASES [KERNEL...]\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    int status =
        file ? run_cases(file, argv[1], argv + 2, &error) : gt_error_set(&error, "%s: %s", argv[1], strerror(errno));
    if (file)
        fclose(file);
    if (status < 0)
        fprintf(stderr, "gridtide: %s\n", error.text);
    return status < 0 ? 1 : 0;
}
