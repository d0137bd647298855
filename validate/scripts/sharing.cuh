// What sharing.cu and arrivals.cu have in common: clocks, kernels that take a time, processes that meet.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

constexpr int SHARED_BYTES = 100 << 10, SLOTS_PER_SM = 2;

#define CHECK(x)                                                                                            \
    do {                                                                                                    \
        auto result = (x);                                                                                  \
        if (result != 0) {                                                                                  \
            fprintf(stderr, "%s:%d: error %d\n", __FILE__, __LINE__, (int)result);                          \
            _exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

struct Shared { // by all processes
    volatile int arrived[64], go[64];
};
static Shared *shared;

static void *share_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

// Once for each number, below 40.
[[maybe_unused]] static void meet(int number, int processes)
{
    if (__sync_add_and_fetch(&shared->arrived[number], 1) == processes)
        shared->go[number] = 1;
    while (!shared->go[number])
        sched_yield();
}

// All come together; the last one lets the others go.  As often as they like; `place`: 0 to 9.
[[maybe_unused]] static void come_together(int processes, int place = 0)
{
    volatile int *turn = shared->arrived + 40 + 2 * place, *round = turn + 1;
    int now = *round;

    if (__sync_add_and_fetch(turn, 1) == processes) {
        *turn = 0;
        __sync_add_and_fetch(round, 1);
    }
    while (*round == now)
        sched_yield();
}

static double now_us()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

// %globaltimer's clock.
static uint64_t day_ns()
{
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin_us(double us)
{
    for (double end = now_us() + us; now_us() < end;)
        ;
}

__device__ uint64_t global_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

// A chain of multiply-adds: takes its time whether it is interrupted or not.
__global__ void work(uint64_t rounds, float *out, uint64_t *start_ns, uint64_t *end_ns)
{
    float x = threadIdx.x;
    uint64_t start = global_ns();

    for (uint64_t i = 0; i < rounds; i++)
#pragma unroll
        for (int j = 0; j < 32; j++)
            x = x * 1.0001f + 0.5f;
    if (x == 1)
        *out = x;
    if (threadIdx.x == 0) {
        atomicMin((unsigned long long *)start_ns, start);
        atomicMax((unsigned long long *)end_ns, global_ns());
    }
}

// Of `work`, for a block to take so long: 32 multiply-adds of 4 cycles at 1,980 MHz.
static uint64_t rounds_of(double us)
{
    return (uint64_t)(us * 1980 / 128);
}

// A percentage of each process' own: MPS_PERCENT=50,25 is what the caller says.
static void take_percentage(int process)
{
    if (const char *percent = getenv("MPS_PERCENT")) {
        for (int i = 0; i < process && percent; i++)
            percent = strchr(percent, ',') ? strchr(percent, ',') + 1 : NULL;
        if (percent) {
            char number[16] = "";
            snprintf(number, sizeof number, "%d", atoi(percent));
            setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", number, 1);
        }
    }
}

static void print_files(const std::vector<FILE *> &files)
{
    for (FILE *file : files) {
        rewind(file);
        for (int c; (c = fgetc(file)) != EOF;)
            putchar(c);
    }
}
