/* calibrate.cu - kernels that take a known time and say where and when they ran. */
#include "kernels/calibrate/calibrate.h"

#include "kernels/base/kernel.cuh"

GT_KERNEL void gt_calibrate_empty()
{
}

/* One thread of a block writes its record. */
static __device__ void write_log(struct gt_block_log *log, uint64_t start_ns, uint64_t start_cycles,
                                 uint64_t end_cycles)
{
    uint64_t end_ns = global_ns();
    log += blockIdx.x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(log->sm));
    log->start_ns = start_ns;
    log->end_ns = end_ns;
    log->start_cycles = start_cycles;
    log->end_cycles = end_cycles;
}

GT_KERNEL void gt_calibrate_spin(struct gt_block_log *log, uint64_t cycles, uint64_t step, uint32_t kinds)
{
    if (threadIdx.x == 0) {
        uint64_t start_ns = global_ns();
        uint64_t start_cycles = (uint64_t)clock64(), now;
        uint64_t wanted = cycles + blockIdx.x % kinds * step;
        do
            now = (uint64_t)clock64();
        while (now - start_cycles < wanted);
        if (log != NULL)
            write_log(log, start_ns, start_cycles, now);
    }
    __syncthreads();
}

GT_KERNEL void gt_calibrate_together(struct gt_block_log *log, uint64_t period_ns, uint64_t cycles_in_1024_ns)
{
    if (threadIdx.x == 0) {
        const uint64_t nap_cycles = 4096;
        uint64_t start_ns = global_ns(), start_cycles = (uint64_t)clock64(), now;
        uint64_t left_ns = (start_ns / period_ns + 2) * period_ns - start_ns;
        uint64_t end_cycles = start_cycles + left_ns * cycles_in_1024_ns / 1024;
        while ((now = (uint64_t)clock64()) < end_cycles)
            if (end_cycles - now > nap_cycles) /* so that all blocks get to run */
                __nanosleep(500);
        write_log(log, start_ns, start_cycles, now);
    }
    __syncthreads();
}

GT_KERNEL void gt_calibrate_stretches(struct gt_block_log *log, uint64_t ns, uint64_t pause_ns, uint32_t most)
{
    uint64_t first = global_ns(), begun = first, last = first, now;
    bool writes = blockIdx.x == 0 && threadIdx.x == 0;
    uint32_t count = 0;
    do {
        now = global_ns();
        if (writes && now - last > pause_ns && count + 2 < most) {
            log[count].start_ns = begun;
            log[count++].end_ns = last;
            begun = now;
        }
        last = now;
    } while (now - first < ns);
    if (writes) {
        log[count].start_ns = begun;
        log[count].end_ns = last;
        log[count + 1].start_ns = 0;
    }
}

GT_KERNEL void gt_calibrate_gate(const volatile uint32_t *gate, uint32_t open, uint64_t limit_ns)
{
    uint64_t start_ns = global_ns();
    while (*gate < open && global_ns() - start_ns < limit_ns)
        ;
}

GT_KERNEL void gt_calibrate_ping(const volatile uint32_t *request, volatile uint64_t *reply, uint32_t count,
                                 uint64_t limit_ns)
{
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t start_ns = global_ns();
        while (*request != i)
            if (global_ns() - start_ns > limit_ns)
                return;
        *reply = global_ns();
        __threadfence_system();
    }
}

GT_KERNEL void gt_calibrate_ticks(uint64_t *ticks, uint32_t count)
{
    uint64_t last = global_ns();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t now;
        do
            now = global_ns();
        while (now == last);
        ticks[i] = last = now;
    }
}
