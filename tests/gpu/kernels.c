/* kernels.c - every kernel of the library on the GPU at hand: its output against the CPU's, what it refuses,
 * its resources and times, and what block logging costs. `kernels sanitized`, for compute-sanitizer, leaves
 * out all that times would upset. Output: TAP. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library.h"
#include "tests/gpu/kernel_cases.h"

enum { MEASUREMENTS = 50, WARM_UPS = 3, SEEDS = 2 };

static int tests_done, tests_failed;
static bool sanitized;

static void report(bool good, const char *name, const char *detail)
{
    tests_done++;
    tests_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tests_done, name);
    if (!good && *detail)
        printf("# %s\n", detail);
    fflush(stdout);
}

static void require(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    printf("Bail out! %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

/* The case as a launch, without device memory; `arguments` has room for GT_LIBRARY_PARAMETERS. */
static const struct gt_library_kernel *set_up(const struct test_case *test, double *arguments,
                                              struct gt_gpu_launch *launch)
{
    struct gt_error error = { "" };
    const struct gt_library_kernel *kernel = gt_library_kernel_find(test->kernel, &error);
    char text[256], *rest = text, *word;
    snprintf(text, sizeof text, "%s", test->arguments);
    if (kernel)
        gt_library_defaults(kernel, arguments);
    while (kernel && (word = strsep(&rest, " ")) && *word) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (gt_library_argument(kernel, word, value, arguments, &error) < 0)
            kernel = NULL;
    }
    if (!kernel) {
        printf("Bail out! %s\n", error.text);
        exit(1);
    }
    *launch = (struct gt_gpu_launch){
        .grid = { test->grid[0], test->grid[1], test->grid[2] },
        .block = { test->block[0], test->block[1], test->block[2] },
        .dynamic_shared_bytes = test->dynamic_shared_bytes,
        .registers_per_thread = test->registers_per_thread,
        .arguments = arguments,
    };
    return kernel;
}

static void allocate(const struct gt_library_kernel *kernel, struct gt_gpu_launch *launch)
{
    size_t blocks = (size_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    size_t bytes = gt_library_scratch_bytes(kernel, launch);
    require(cudaMalloc((void **)&launch->log, blocks * sizeof *launch->log), "memory for the log");
    if (bytes)
        require(cudaMalloc(&launch->scratch, bytes), "memory for the kernel");
    require(cudaStreamCreateWithFlags(&launch->stream, cudaStreamNonBlocking), "a stream");
}

static void release(struct gt_gpu_launch *launch)
{
    require(cudaStreamDestroy(launch->stream), "the stream's end");
    require(cudaFree(launch->log), "the log's end");
    require(cudaFree(launch->scratch), "the memory's end");
}

static void describe(const struct test_case *test, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s, %ux%ux%u blocks of %ux%ux%u", test->kernel, *test->arguments ? " " : "",
             test->arguments, test->grid[0], test->grid[1], test->grid[2], test->block[0], test->block[1],
             test->block[2]);
}

/* A check that would let anything pass is none: outputs that were never written, and outputs of another
 * input, must both be noticed. */
static bool notices_wrong_output(const struct test_case *test, const struct gt_library_kernel *kernel,
                                 const struct gt_gpu_launch *launch)
{
    struct gt_error ignored;
    if (!kernel->scratch_bytes)
        return true;
    if (!test->one_answer && kernel->verify(launch, SEEDS + 1, &ignored) == 0)
        return false;
    require(cudaMemset(launch->scratch, 0xff, kernel->scratch_bytes(launch)), "poisoning");
    return kernel->verify(launch, SEEDS, &ignored) < 0;
}

static void test_output(const struct test_case *test, uint64_t seeds)
{
    char name[512];
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
    struct gt_error error = { "" };
    const struct gt_library_kernel *kernel = set_up(test, arguments, &launch);
    describe(test, name, sizeof name);
    bool good = gt_library_accepts(kernel, &launch, &error) == 0;
    allocate(kernel, &launch);
    for (uint64_t seed = 1; good && seed <= seeds; seed++)
        good = gt_library_check(kernel, &launch, seed, &error) == 0;
    if (good && seeds == SEEDS && !notices_wrong_output(test, kernel, &launch))
        good = gt_error_set(&error, "a wrong output passes the check") == 0;
    release(&launch);
    report(good, name, error.text);
}

static void test_refusal(const struct test_case *test, const char *word)
{
    char name[512];
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
    struct gt_error error = { "" };
    const struct gt_library_kernel *kernel = set_up(test, arguments, &launch);
    describe(test, name + snprintf(name, sizeof name, "refuses "), sizeof name - 8);
    int refused = gt_library_accepts(kernel, &launch, &error) < 0;
    report(refused && strstr(error.text, word), name, error.text);
}

static void test_names(void)
{
    struct gt_error error;
    double arguments[GT_LIBRARY_PARAMETERS];
    int listed = !gt_library_kernel_find("sgemm", &error);
    for (unsigned i = 0; i < gt_library_kernel_count; i++)
        listed = listed && strstr(error.text, gt_library_kernels[i]->name);
    report(listed, "an unknown kernel: the names there are", error.text);
    const struct gt_library_kernel *stream = gt_library_kernel_find("stream", &error);
    int refused = gt_library_argument(stream, "size", "1", arguments, &error) < 0;
    report(refused && strstr(error.text, "operation, bytes"), "an unknown parameter: the names there are",
           error.text);
    refused = gt_library_argument(stream, "operation", "scale", arguments, &error) < 0;
    report(refused && strstr(error.text, "triad"), "an unknown choice: the choices there are", error.text);
    refused = gt_library_argument(stream, "bytes", "1e99", arguments, &error) < 0;
    report(refused && strstr(error.text, "from 16 to"), "a number out of range: the range", error.text);
}

/* Registers to order: what the compiler took must fill the same 8-register step of the register file. */
static void test_registers(void)
{
    const struct test_case test = { "spin", "", { 1, 1, 1 }, { 32, 1, 1 }, 0, 0, false };
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
    const struct gt_library_kernel *spin = set_up(&test, arguments, &launch);
    struct gt_error error = { "" };
    bool good = true;
    for (uint32_t ordered = 24; ordered <= 255; ordered++) {
        struct cudaFuncAttributes attributes;
        launch.registers_per_thread = ordered;
        require(gt_library_attributes(spin, &launch, &attributes), "attributes");
        if ((uint32_t)(attributes.numRegs + 7) / 8 == (ordered + 7) / 8 && attributes.localSizeBytes == 0)
            continue;
        good = false;
        gt_error_set(&error, "%u ordered: %d registers, %zu bytes of local memory", ordered, attributes.numRegs,
                     attributes.localSizeBytes);
    }
    report(good, "spin takes the registers ordered, 24 to 255, and spills none", error.text);
}

static void test_block_cycles(void)
{
    const struct test_case test = { "spin", "", { 100, 1, 1 }, { 64, 1, 1 }, 0, 0, false };
    const uint64_t cycles[] = { 5000, 80000, 20000 };
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
    struct gt_error error = { "" };
    const struct gt_library_kernel *spin = set_up(&test, arguments, &launch);
    void *list;
    allocate(spin, &launch);
    require(cudaMalloc(&list, sizeof cycles), "the list");
    require(cudaMemcpy(list, cycles, sizeof cycles, cudaMemcpyHostToDevice), "the list");
    launch.block_cycles = list;
    launch.block_cycles_length = 3;
    bool good = gt_library_accepts(spin, &launch, &error) == 0 && gt_library_check(spin, &launch, 1, &error) == 0;
    report(good, "spin with cycles by block", error.text);
    require(cudaFree(list), "the list's end");
    release(&launch);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median time of one launch between two events, in microseconds. */
static double median_us(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch)
{
    float ms[MEASUREMENTS];
    cudaEvent_t before, after;
    require(cudaEventCreate(&before), "an event");
    require(cudaEventCreate(&after), "an event");
    for (int i = -WARM_UPS; i < MEASUREMENTS; i++) {
        require(cudaEventRecord(before, launch->stream), "recording");
        require(kernel->launch(launch), "launching");
        require(cudaEventRecord(after, launch->stream), "recording");
        require(cudaEventSynchronize(after), kernel->name);
        require(cudaEventElapsedTime(&ms[i < 0 ? 0 : i], before, after), "timing");
    }
    require(cudaEventDestroy(before), "an event");
    require(cudaEventDestroy(after), "an event");
    qsort(ms, MEASUREMENTS, sizeof *ms, by_value);
    return ms[MEASUREMENTS / 2] * 1e3;
}

static int by_cycles(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How exactly spin's blocks kept to their cycles in the launch that was logged last. */
static void print_excess(const struct gt_gpu_launch *launch)
{
    size_t blocks = (size_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    struct gt_block_log *log = gt_calloc(blocks, sizeof *log);
    int64_t *excess = gt_calloc(blocks, sizeof *excess);
    require(cudaMemcpy(log, launch->log, blocks * sizeof *log, cudaMemcpyDeviceToHost), "fetching the log");
    for (size_t i = 0; i < blocks; i++)
        excess[i] = (int64_t)(log[i].end_cycles - log[i].start_cycles) - (int64_t)launch->arguments[0];
    qsort(excess, blocks, sizeof *excess, by_cycles);
    printf("#   blocks took %+" PRId64 " cycles beside those asked for (median; %+" PRId64 " to %+" PRId64 ")\n",
           excess[blocks / 2], excess[0], excess[blocks - 1]);
    free(log);
    free(excess);
}

static void print_times(const struct test_case *test)
{
    char name[512];
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_gpu_launch launch;
    struct cudaFuncAttributes attributes;
    const struct gt_library_kernel *kernel = set_up(test, arguments, &launch);
    allocate(kernel, &launch);
    require(gt_library_prepare(kernel, &launch, 1), "preparing");
    require(gt_library_attributes(kernel, &launch, &attributes), "attributes");
    double with = median_us(kernel, &launch);
    struct gt_gpu_launch silent = launch;
    silent.log = NULL;
    double without = median_us(kernel, &silent);
    describe(test, name, sizeof name);
    printf("# %s: %d registers, %zu B static shared; median of %d %.2f us, with log %.2f us"
           " (%+.2f us, %+.2f%%)\n",
           name, attributes.numRegs, attributes.sharedSizeBytes, MEASUREMENTS, without, with, with - without,
           100 * (with - without) / without);
    if (strcmp(test->kernel, "spin") == 0)
        print_excess(&launch);
    release(&launch);
}

int main(int argc, char **argv)
{
    int devices = 0;
    cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
        printf("1..0 # SKIP no GPU, or no driver for it: %s\n", cudaGetErrorString(status));
        return 0;
    }
    sanitized = argc > 1 && strcmp(argv[1], "sanitized") == 0;
    test_names();
    for (size_t i = 0; i < sizeof refused_cases / sizeof *refused_cases; i++)
        test_refusal(&refused_cases[i].test, refused_cases[i].word);
    test_registers();
    for (size_t i = 0; i < sizeof small_cases / sizeof *small_cases; i++)
        if (!sanitized || strcmp(small_cases[i].kernel, "spin") != 0)
            test_output(&small_cases[i], SEEDS);
    if (!sanitized)
        test_block_cycles();
    for (size_t i = 0; !sanitized && i < sizeof timed_cases / sizeof *timed_cases; i++) {
        test_output(&timed_cases[i], 1);
        print_times(&timed_cases[i]);
    }
    printf("1..%d\n", tests_done);
    return tests_failed ? 1 : 0;
}
