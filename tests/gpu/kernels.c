/* kernels.c - every kernel of the library on the GPU at hand: its output against the CPU's, what it refuses,
 * its resources and times, and what block logging costs. `kernels sanitized`, for compute-sanitizer, leaves
 * out all that times would upset. Output: TAP. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library.h"

enum { MEASUREMENTS = 50, WARM_UPS = 3, SEEDS = 2 };

struct test_case {
    const char *kernel, *arguments; /* "name=value name=value"; the others as they fall back */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes, registers_per_thread;
    bool one_answer; /* whatever the input */
};

/* Small and awkward ones, to be right. */
/* clang-format off */
static const struct test_case small_cases[] = {
    {"empty", "", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"empty", "", {7, 5, 3}, {33, 3, 2}, 100000, 0, false},
    {"spin", "cycles=20000", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"spin", "cycles=50000", {13, 11, 2}, {16, 16, 2}, 0, 32, false},
    {"spin", "cycles=50000", {300, 1, 1}, {256, 1, 1}, 200000, 0, false},
    {"spin", "cycles=30000", {132, 1, 1}, {256, 1, 1}, 0, 255, false},
    {"spin", "cycles=0", {64, 1, 1}, {1024, 1, 1}, 0, 64, false},
    {"stream", "operation=copy bytes=16", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"stream", "operation=copy bytes=1000016", {3, 2, 2}, {7, 5, 3}, 0, 0, false},
    {"stream", "operation=add bytes=4194304", {132, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"stream", "operation=triad bytes=1000016", {77, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"stream", "operation=read bytes=1000016", {5, 3, 1}, {31, 1, 1}, 4096, 0, false},
    {"stream", "operation=read bytes=64", {50, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"chase", "stride=128 footprint=1000000 steps=999", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"chase", "stride=8 footprint=8 steps=17", {3, 1, 1}, {33, 1, 1}, 0, 0, true},
    {"chase", "stride=4104 footprint=10000000 steps=5000", {4, 3, 2}, {5, 4, 3}, 0, 0, false},
    {"fma", "precision=fp32 chains=1 length=1000", {3, 1, 1}, {100, 1, 1}, 0, 0, false},
    {"fma", "precision=fp32 chains=8 length=37", {4, 4, 1}, {32, 8, 1}, 0, 0, false},
    {"fma", "precision=fp64 chains=2 length=101", {5, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"fma", "precision=fp64 chains=4 length=33", {5, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"fma", "precision=fp16 chains=4 length=1000", {5, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"fma", "precision=fp16 chains=1 length=15", {2, 2, 2}, {8, 8, 8}, 0, 0, false},
    {"gemm_tiled", "m=1 n=1 k=1", {1, 1, 1}, {16, 16, 1}, 0, 0, false},
    {"gemm_tiled", "m=129 n=67 k=45", {2, 1, 1}, {16, 16, 1}, 0, 0, false},
    {"gemm_tiled", "m=256 n=320 k=192", {5, 2, 4}, {16, 16, 1}, 0, 0, false},
    {"gemm_tensor", "m=64 n=64 k=32", {1, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"gemm_tensor", "m=256 n=320 k=192", {3, 1, 1}, {8, 4, 4}, 0, 0, false},
    {"reduce", "count=1", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"reduce", "count=100003", {7, 3, 1}, {33, 1, 1}, 0, 0, false},
    {"reduce", "count=1000003", {2000, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"histogram", "atomics=shared bins=1024 count=100003", {9, 1, 1}, {100, 3, 1}, 0, 0, false},
    {"histogram", "atomics=global bins=1000 count=100003", {9, 2, 1}, {257, 1, 1}, 0, 0, false},
    {"histogram", "atomics=shared bins=1 count=5000", {3, 1, 1}, {17, 1, 1}, 0, 0, false},
    {"transpose", "rows=1 columns=1", {1, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"transpose", "rows=333 columns=1025", {5, 7, 1}, {32, 8, 1}, 0, 0, false},
    {"transpose", "rows=1024 columns=64", {3, 1, 1}, {32, 32, 1}, 0, 0, false},
    {"softmax", "rows=3 columns=1", {1, 1, 1}, {64, 1, 1}, 0, 0, true},
    {"softmax", "rows=101 columns=1000", {17, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"softmax", "rows=33 columns=5000", {40, 2, 1}, {1024, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=0 count=100004", {5, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=1 count=100004", {5, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=2 count=100004 work=0", {5, 2, 1}, {512, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=3 count=4", {5, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=4 count=1000004", {7, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"gemm_cp_async", "m=128 n=128 k=32 stages=5", {1, 1, 1}, {256, 1, 1}, 81920, 0, false},
    {"gemm_cp_async", "m=256 n=384 k=224 stages=2", {3, 1, 1}, {16, 4, 4}, 32768, 0, false},
    {"gemm_cp_async", "m=256 n=384 k=512 stages=3", {2, 2, 2}, {256, 1, 1}, 60000, 0, false},
    {"gemm_cp_async", "m=256 n=128 k=320 stages=4", {5, 1, 1}, {256, 1, 1}, 65536, 0, false},
    {"gemm_wgmma", "m=128 n=128 k=64 feeding=tma", {3, 1, 1}, {384, 1, 1}, 132096, 0, false},
    {"gemm_wgmma", "m=384 n=512 k=704 feeding=tma", {5, 1, 1}, {96, 4, 1}, 150000, 0, false},
    {"gemm_wgmma", "m=128 n=128 k=64 feeding=cp_async", {3, 1, 1}, {384, 1, 1}, 132096, 0, false},
    {"gemm_wgmma", "m=384 n=512 k=704 feeding=cp_async", {5, 1, 1}, {96, 4, 1}, 150000, 0, false},
    {"flash_attention", "version=1 buffering=sync head=64 sequence=64 heads=1",
     {1, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=1 buffering=sync head=64 sequence=256 heads=3",
     {2, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=1 buffering=sync head=128 sequence=320 heads=3",
     {2, 2, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=1 buffering=async head=64 sequence=64 heads=1",
     {1, 1, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=1 buffering=async head=64 sequence=256 heads=3",
     {2, 1, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=1 buffering=async head=128 sequence=320 heads=3",
     {2, 2, 1}, {128, 1, 1}, 98304, 0, false},
    {"flash_attention", "version=2 buffering=sync head=64 sequence=64 heads=1",
     {1, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=2 buffering=sync head=64 sequence=256 heads=3",
     {2, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=2 buffering=sync head=128 sequence=320 heads=3",
     {2, 2, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=2 buffering=async head=64 sequence=64 heads=1",
     {1, 1, 1}, {128, 1, 1}, 40960, 0, false},
    {"flash_attention", "version=2 buffering=async head=64 sequence=256 heads=3",
     {2, 1, 1}, {128, 1, 1}, 40960, 0, false},
    {"flash_attention", "version=2 buffering=async head=128 sequence=320 heads=3",
     {2, 2, 1}, {128, 1, 1}, 81920, 0, false},
    {"stencil", "points=5 width=1 height=1", {1, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"stencil", "points=5 width=333 height=129", {7, 2, 1}, {33, 3, 2}, 0, 0, false},
    {"stencil", "points=7 width=65 height=43 depth=37", {5, 1, 1}, {32, 4, 2}, 0, 0, false},
    {"stencil", "points=7 width=3 height=3 depth=2", {5, 1, 1}, {8, 8, 1}, 0, 0, false},
    {"spmv", "method=scalar rows=1 columns=1 average=1", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"spmv", "method=scalar rows=5003 columns=777 average=17", {7, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"spmv", "method=vector rows=5003 columns=9001 average=70", {7, 3, 1}, {32, 5, 1}, 0, 0, false},
    {"scan", "count=1", {3, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"scan", "count=100003", {7, 3, 1}, {32, 3, 1}, 0, 0, false},
    {"scan", "count=5000002", {300, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"scan", "count=300000", {1, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"sort_block", "segments=1 keys=2", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"sort_block", "segments=37 keys=1024", {5, 3, 1}, {33, 3, 1}, 0, 0, false},
    {"sort_block", "segments=9 keys=8192", {5, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"gather", "count=1 entries=100", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"gather", "count=100003 entries=77777", {5, 3, 1}, {33, 3, 1}, 0, 0, false},
    {"layernorm", "rows=3 columns=1", {1, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"layernorm", "rows=101 columns=1000", {17, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"layernorm", "rows=33 columns=5000", {40, 2, 1}, {1024, 1, 1}, 0, 0, false},
    {"nbody", "count=2", {3, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"nbody", "count=1003", {5, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"nbody", "count=3000", {2, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"mandelbrot", "width=61 height=47 limit=1000", {5, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"mandelbrot", "width=640 height=480 limit=50", {100, 3, 1}, {256, 1, 1}, 0, 0, false},
#ifdef GT_DEVICE_RUNTIME
    {"quicksort", "count=1", {1, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"quicksort", "count=100003", {1, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"quicksort", "count=100003 how=flat", {7, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"quicksort", "count=1000003 how=flat", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"mergesort", "levels=0", {1, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"mergesort", "levels=5", {1, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"mergesort", "levels=0 how=flat", {3, 1, 1}, {100, 1, 1}, 0, 0, false},
    {"mergesort", "levels=6 how=flat", {40, 2, 1}, {256, 1, 1}, 0, 0, false},
    {"mandelbrot_adaptive", "levels=8 least=8", {1, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"mandelbrot_adaptive", "levels=9 limit=100 how=flat", {50, 1, 1}, {16, 8, 1}, 0, 0, false},
#endif
    {"atomics", "counters=1 count=10003", {5, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"atomics", "counters=100003 count=1000003", {50, 3, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=64 n=96 k=32 handing=block", {6, 1, 1}, {100, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=320 n=256 k=96 handing=shared", {7, 1, 1}, {33, 3, 1}, 0, 0, false},
    {"gemm_tasks", "m=320 n=256 k=96 handing=static", {7, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=320 n=256 k=96 handing=steal", {7, 2, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=32 n=32 k=32 handing=steal", {5, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"conv_bn", "inputs=3 channels=5 side=13 part=both", {3, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"conv_bn", "inputs=4 channels=40 side=20 part=both", {132, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"conv_bn", "inputs=3 channels=5 side=13 part=convolution", {4, 2, 1}, {33, 1, 1}, 0, 0, false},
    {"conv_bn", "inputs=1 channels=9 side=13 part=normalisation", {4, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"rnn", "steps=1", {32, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"rnn", "steps=7", {32, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"lstm", "network=lstm layers=1 steps=1 hidden=32 parts=1", {1, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"lstm", "network=lstm layers=3 steps=7 hidden=64 parts=4 handing=static", {12, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"lstm", "network=lstm layers=3 steps=7 hidden=64 parts=4 handing=shared", {9, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"lstm", "network=seq2seq layers=4 steps=10 hidden=64 parts=8 handing=ready", {20, 1, 1}, {64, 1, 1}, 0, 0, false},
    {"lstm", "network=seq2seq layers=3 steps=10 hidden=96 parts=3 handing=steal", {13, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"produce_consume", "chunks=7 chunk=100 part=both", {2, 1, 1}, {32, 1, 1}, 0, 0, false},
    {"produce_consume", "chunks=1000 chunk=777 part=both", {264, 1, 1}, {100, 1, 1}, 0, 0, false},
    {"produce_consume", "chunks=100 chunk=777 part=produce", {7, 1, 1}, {96, 1, 1}, 0, 0, false},
    {"produce_consume", "chunks=100 chunk=777 part=consume", {7, 1, 1}, {96, 1, 1}, 0, 0, false},
};
/* clang-format on */

/* Large enough for times that say something; each size checked too. */
/* clang-format off */
static const struct test_case timed_cases[] = {
    {"empty", "", {132, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"spin", "cycles=20000", {132, 1, 1}, {1024, 1, 1}, 0, 0, false},
    {"spin", "cycles=20000", {4224, 1, 1}, {256, 1, 1}, 0, 64, false},
    {"stream", "operation=copy bytes=268435456", {1056, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"stream", "operation=add bytes=268435456", {1056, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"stream", "operation=triad bytes=268435456", {1056, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"stream", "operation=read bytes=536870912", {1056, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"chase", "stride=128 footprint=65536 steps=10000", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"chase", "stride=128 footprint=8388608 steps=20000", {1, 1, 1}, {1, 1, 1}, 0, 0, false},
    {"fma", "precision=fp32 chains=4 length=20000", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"fma", "precision=fp64 chains=4 length=20000", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"fma", "precision=fp16 chains=4 length=20000", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"gemm_tiled", "m=2048 n=2048 k=2048", {1024, 1, 1}, {16, 16, 1}, 0, 0, false},
    {"gemm_tensor", "m=4096 n=4096 k=4096", {4096, 1, 1}, {128, 1, 1}, 0, 0, false},
    {"reduce", "count=16777216", {1056, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"histogram", "atomics=shared bins=256 count=16777216", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"histogram", "atomics=global bins=256 count=16777216", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"transpose", "rows=4096 columns=4096", {128, 128, 1}, {32, 8, 1}, 0, 0, false},
    {"softmax", "rows=8192 columns=1024", {8192, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=0 count=16777216 work=64", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=1 count=16777216 work=64", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=2 count=16777216 work=64", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"cp_async_pipeline", "stages=4 count=16777216 work=64", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_cp_async", "m=4096 n=4096 k=4096 stages=2", {1024, 1, 1}, {256, 1, 1}, 32768, 0, false},
    {"gemm_cp_async", "m=4096 n=4096 k=4096 stages=3", {1024, 1, 1}, {256, 1, 1}, 49152, 0, false},
    {"gemm_cp_async", "m=4096 n=4096 k=4096 stages=4", {1024, 1, 1}, {256, 1, 1}, 65536, 0, false},
    {"gemm_wgmma", "m=4096 n=4096 k=4096 feeding=tma", {132, 1, 1}, {384, 1, 1}, 132096, 0, false},
    {"gemm_wgmma", "m=4096 n=4096 k=4096 feeding=cp_async", {132, 1, 1}, {384, 1, 1}, 132096, 0, false},
    {"flash_attention", "version=1 buffering=sync head=64 sequence=2048 heads=132",
     {132, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=1 buffering=async head=64 sequence=2048 heads=132",
     {132, 1, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=2 buffering=sync head=64 sequence=2048 heads=64",
     {2048, 1, 1}, {128, 1, 1}, 24576, 0, false},
    {"flash_attention", "version=2 buffering=async head=64 sequence=2048 heads=64",
     {2048, 1, 1}, {128, 1, 1}, 40960, 0, false},
    {"flash_attention", "version=2 buffering=sync head=128 sequence=2048 heads=64",
     {2048, 1, 1}, {128, 1, 1}, 49152, 0, false},
    {"flash_attention", "version=2 buffering=async head=128 sequence=2048 heads=64",
     {2048, 1, 1}, {128, 1, 1}, 81920, 0, false},
    {"stencil", "points=5 width=8192 height=8192", {256, 1024, 1}, {32, 8, 1}, 0, 0, false},
    {"stencil", "points=7 width=512 height=512 depth=256", {16, 64, 1}, {32, 8, 1}, 0, 0, false},
    {"spmv", "method=scalar rows=262144 columns=262144 average=32", {1024, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"spmv", "method=vector rows=262144 columns=262144 average=32", {32768, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"scan", "count=16777216", {528, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"sort_block", "segments=4096 keys=2048", {4096, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"gather", "count=16777216 entries=67108864", {1056, 1, 1}, {512, 1, 1}, 0, 0, false},
    {"layernorm", "rows=8192 columns=1024", {8192, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"nbody", "count=33792", {132, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"mandelbrot", "width=4096 height=4096 limit=256", {65536, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"atomics", "counters=1 count=4194304", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"atomics", "counters=16777216 count=16777216", {1056, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=1024 n=1024 k=512 handing=block", {1024, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=1024 n=1024 k=512 handing=shared", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=1024 n=1024 k=512 handing=static", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"gemm_tasks", "m=1024 n=1024 k=512 handing=steal", {528, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"conv_bn", "part=both", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"conv_bn", "part=convolution", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"conv_bn", "part=normalisation", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"rnn", "steps=1", {32, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"rnn", "steps=64", {32, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"lstm", "network=lstm layers=10 steps=20 parts=8 handing=static", {132, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"lstm", "network=lstm layers=10 steps=20 parts=8 handing=ready", {132, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"lstm", "network=seq2seq layers=8 steps=100 hidden=128 parts=8 handing=static", {64, 1, 1}, {256, 1, 1}, 0, 0,
     false},
    {"produce_consume", "part=both", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"produce_consume", "part=produce", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
    {"produce_consume", "part=consume", {264, 1, 1}, {256, 1, 1}, 0, 0, false},
};
/* clang-format on */

/* What must be refused before the launch, and a word that the refusal must hold. */
/* clang-format off */
static const struct { struct test_case test; const char *word; } refused_cases[] = {
    {{"empty", "", {0, 1, 1}, {32, 1, 1}, 0, 0, false}, "grid's x"},
    {{"empty", "", {1, 65536, 1}, {32, 1, 1}, 0, 0, false}, "65535"},
    {{"empty", "", {1, 1, 1}, {1, 1, 65}, 0, 0, false}, "block's z"},
    {{"empty", "", {1, 1, 1}, {1024, 2, 1}, 0, 0, false}, "threads a block"},
    {{"empty", "", {1, 1, 1}, {1024, 1, 1}, 300000, 0, false}, "dynamic shared memory"},
    {{"spin", "", {1, 1, 1}, {1024, 1, 1}, 0, 128, false}, "registers a thread"},
    {{"spin", "", {1, 1, 1}, {32, 1, 1}, 0, 256, false}, "at most 255"},
    {{"stream", "bytes=20", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "multiple of 16"},
    {{"chase", "stride=12", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "multiple of 8"},
    {{"chase", "stride=128 footprint=64", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "smaller than the stride"},
    {{"fma", "chains=3", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "1, 2, 4 or 8"},
    {{"gemm_tiled", "", {1, 1, 1}, {256, 1, 1}, 0, 0, false}, "16 by 16"},
    {{"gemm_tensor", "", {1, 1, 1}, {256, 1, 1}, 0, 0, false}, "give 128"},
    {{"gemm_tensor", "m=65", {1, 1, 1}, {128, 1, 1}, 0, 0, false}, "multiples"},
    {{"transpose", "", {1, 1, 1}, {16, 16, 1}, 0, 0, false}, "32 by"},
    {{"cp_async_pipeline", "", {1, 1, 1}, {1024, 1, 1}, 0, 0, false}, "at most 512"},
    {{"cp_async_pipeline", "count=6", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "multiple of 4"},
    {{"gemm_cp_async", "", {1, 1, 1}, {128, 1, 1}, 65536, 0, false}, "give 256"},
    {{"gemm_cp_async", "stages=4", {1, 1, 1}, {256, 1, 1}, 49152, 0, false}, "need 65536"},
    {{"gemm_wgmma", "k=96", {1, 1, 1}, {384, 1, 1}, 132096, 0, false}, "multiples"},
    {{"gemm_wgmma", "", {1, 1, 1}, {384, 1, 1}, 131072, 0, false}, "need 132096"},
    {{"flash_attention", "sequence=100", {1, 1, 1}, {128, 1, 1}, 65536, 0, false}, "multiple of 64"},
    {{"flash_attention", "head=128", {1, 1, 1}, {128, 1, 1}, 40960, 0, false}, "need 81920"},
    {{"stencil", "depth=2", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "points=7"},
    {{"spmv", "", {1, 1, 1}, {33, 1, 1}, 0, 0, false}, "whole warps"},
    {{"scan", "", {1, 1, 1}, {33, 1, 1}, 0, 0, false}, "whole warps"},
    {{"sort_block", "keys=100", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "power of two"},
    {{"executor", "", {1, 1, 1}, {32, 1, 1}, 0, 0, false}, "task graph"},
    {{"gemm_tasks", "handing=block", {132, 1, 1}, {32, 1, 1}, 0, 0, false}, "a tile"},
    {{"rnn", "", {132, 1, 1}, {256, 1, 1}, 0, 0, false}, "give 32"},
    {{"lstm", "parts=7", {132, 1, 1}, {256, 1, 1}, 0, 0, false}, "equal size"},
    {{"produce_consume", "", {7, 1, 1}, {256, 1, 1}, 0, 0, false}, "even number"},
};
/* clang-format on */

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
