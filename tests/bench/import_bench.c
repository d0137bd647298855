/* How fast, and in how much memory, a Kineto profile is read.
 *   import_bench write FILE OPERATIONS   a profile as PyTorch writes them: CPU operators, calls, flows
 *   import_bench read FILE               one line: MB/s of its text, bytes of memory an operation */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "traces/kineto/kineto.h"

enum { NAMES = 40 };
static const uint64_t base_ns = 4458676983543183; /* as many digits as real ones have */

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* "4458676983543.183", `time_ns` after the beginning. */
static const char *time_us(uint64_t time_ns, char text[40])
{
    time_ns += base_ns;
    snprintf(text, 40, "%llu.%03u", (unsigned long long)(time_ns / 1000), (unsigned)(time_ns % 1000));
    return text;
}

static void write_operator(FILE *out, unsigned i, uint64_t time_ns)
{
    char ts[40];

    fprintf(out,
            "  {\n"
            "    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::cudnn_convolution\", \"pid\": 2910249,"
            " \"tid\": 2919752,\n"
            "    \"ts\": %s, \"dur\": 21.456,\n"
            "    \"args\": {\n"
            "      \"External id\": %u,\"Record function id\": 0, \"Sequence number\": %u,"
            " \"Fwd thread id\": 0, \"Ev Idx\": %u\n"
            "    }\n"
            "  },\n",
            time_us(time_ns, ts), i, i, i);
}

static void write_call(FILE *out, const char *name, unsigned correlation, uint64_t time_ns)
{
    char ts[40];

    fprintf(out,
            "  {\n"
            "    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": 2910249,"
            " \"tid\": 2919752,\n"
            "    \"ts\": %s, \"dur\": 5.633,\n"
            "    \"args\": {\n"
            "      \"External id\": %u,\"cbid\": 211, \"correlation\": %u\n"
            "    }\n"
            "  },\n",
            name, time_us(time_ns, ts), correlation, correlation);
    fprintf(out,
            "  {\n"
            "    \"ph\": \"s\", \"id\": %u, \"pid\": 2910249, \"tid\": 2919752, \"ts\": %s,\n"
            "    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n"
            "  },\n",
            correlation, ts);
}

static void write_kernel(FILE *out, unsigned i, unsigned correlation, uint64_t time_ns)
{
    char ts[40];

    fprintf(out,
            "  {\n"
            "    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_"
            "elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, %u> >(int,"
            " at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)\", \"pid\": 0, \"tid\": 7,\n"
            "    \"ts\": %s, \"dur\": 4.407,\n"
            "    \"args\": {\n"
            "      \"External id\": %u,\n"
            "      \"queued\": 0, \"device\": 0, \"context\": 1,\n"
            "      \"stream\": 7, \"correlation\": %u,\n"
            "      \"registers per thread\": 32,\n"
            "      \"shared memory\": 0,\n"
            "      \"blocks per SM\": 1.185185,\n"
            "      \"warps per SM\": 4.740741,\n"
            "      \"grid\": [%u, 1, 1],\n"
            "      \"block\": [128, 1, 1],\n"
            "      \"est. achieved occupancy %%\": 7\n"
            "    }\n"
            "  },\n",
            i % NAMES, time_us(time_ns, ts), correlation, correlation, 128 + i % 7);
    fprintf(out,
            "  {\n"
            "    \"ph\": \"f\", \"id\": %u, \"pid\": 0, \"tid\": 7, \"ts\": %s,\n"
            "    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n"
            "  },\n",
            correlation, ts);
}

/* Every kernel with its launch and two operators, every fourth with an event record too. */
static int write_profile(const char *path, unsigned operations)
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        return -1;
    fputs("{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n", out);
    for (unsigned i = 0; i < operations; i++) {
        uint64_t time_ns = (uint64_t)i * 10000;
        unsigned correlation = 57541 + i * 2;

        write_operator(out, i, time_ns);
        write_operator(out, i, time_ns + 1000);
        write_call(out, "cudaLaunchKernel", correlation, time_ns + 2000);
        write_kernel(out, i, correlation, time_ns + 9000);
        if (i % 4 == 0)
            write_call(out, "cudaEventRecord", correlation + 1, time_ns + 8500);
    }
    fputs("  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"tid\": 0,"
          " \"args\": {\"name\": \"python\"}}\n"
          "  ],\n  \"traceName\": \"bench\"\n}\n",
          out);
    return fclose(out);
}

static int read_profile(const char *path)
{
    const struct gt_import_options options = { 0 };
    uint64_t before = peak_bytes();
    double began = now_s(), took, megabytes, grown;
    struct gt_error error;
    struct gt_workload *workload = gt_importer_kineto.read(path, &options, &error);
    struct stat file;

    took = now_s() - began;
    if (workload == NULL || stat(path, &file) != 0) {
        fprintf(stderr, "%s\n", workload == NULL ? error.text : path);
        return -1;
    }
    megabytes = (double)file.st_size / 1e6;
    grown = (double)(peak_bytes() - before);
    printf("%7.1f MB, %8u operations, %8u calls: %6.1f MB/s, %5.1f bytes an operation, %5.1f with calls "
           "counted\n",
           megabytes, workload->op_count, workload->call_count, megabytes / took, grown / workload->op_count,
           grown / (workload->op_count + workload->call_count));
    gt_workload_free(workload);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return write_profile(argv[2], (unsigned)strtoul(argv[3], NULL, 10)) == 0 ? 0 : 1;
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_profile(argv[2]) == 0 ? 0 : 1;
    fputs("usage: import_bench write FILE OPERATIONS | read FILE\n", stderr);
    return 2;
}
