/* script.h - a random trace while it is written: its text, and what later lines may refer to. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_SCRIPT_H
#define GRIDTIDE_VALIDATE_RANDOM_SCRIPT_H

#include <stdio.h>

#include "validate/random/chance.h"

struct gt_kernel_list; /* validate/random/kernel_list.h */

enum { GT_SCRIPT_STREAMS = 64, GT_SCRIPT_KERNELS = 16, GT_SCRIPT_EVENTS = 24, GT_SCRIPT_THREADS = 4 };

struct gt_script {
    FILE *out;
    const struct gt_kernel_list *list; /* families of its kernels alone; else NULL */
    struct gt_chance chance;
    uint32_t streams, kernels, events, threads; /* defined: s0.., k0.., e0.., t0.. */
    uint64_t work_us[GT_SCRIPT_KERNELS];        /* about how long each kernel keeps the whole GPU busy */
    uint64_t left_us;                           /* of such work: launches stop when it is used up */
    bool default_stream;                        /* calls may use the legacy default stream too */
    bool pageable;                              /* copies may be pageable or synchronous */
};

/* shapes.c: define `count` kernels; `longest_us` bounds a block's time, `blocks_most` a grid. */
void gt_script_kernels(struct gt_script *script, uint32_t count, uint32_t longest_us, uint32_t blocks_most);
/* Blocks that an SM holds of that shape, near enough to draw corners by; 0 registers: the compiler's few. */
uint32_t gt_script_blocks_per_sm(uint32_t threads, uint32_t registers, uint32_t shared_bytes);
enum { GT_SCRIPT_SMS = 132 };
/* `,"FIELD":TIME`, of tenths of microseconds. */
void gt_script_us(struct gt_script *script, const char *field, uint32_t tenths);

/* calls.c: a line each. `thread` numbers a thread, with one thread it is not said. */
void gt_script_streams(struct gt_script *script, uint32_t count, bool priorities);
void gt_script_launch(struct gt_script *script, uint32_t thread, uint32_t stream);
/* Of kernel k`kernel`, whatever work is left; `more` of the line, as ",\"programmatic\":true". */
void gt_script_launch_of(struct gt_script *script, uint32_t thread, uint32_t stream, uint32_t kernel,
                         const char *more);
void gt_script_copy(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_memset(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_record(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_wait(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_host_work(struct gt_script *script, uint32_t thread);
/* It waits until so many microseconds after the beginning; for the stream. */
void gt_script_wait_until(struct gt_script *script, uint32_t thread, uint32_t us);
void gt_script_stream_sync(struct gt_script *script, uint32_t thread, uint32_t stream);
/* The thread works piece by piece until the stream, or an event recorded there right before, is done. */
void gt_script_poll(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_host_function(struct gt_script *script, uint32_t thread, uint32_t stream);
void gt_script_sync(struct gt_script *script, uint32_t thread);
/* A graph of up to `nodes` nodes: a chain, branches that join, layers, or edges at random. */
void gt_script_graph(struct gt_script *script, uint32_t thread, uint32_t stream, uint32_t nodes);
/* A stream that exists, at random; now and then the default stream where that is allowed. */
uint32_t gt_script_any_stream(struct gt_script *script);
/* Every thread waits for the GPU: after what stands so far, and at a trace's end. */
void gt_script_end(struct gt_script *script);

/* Families that fill a file: task graphs in persistent kernels (tasks.c), kernels that blocks launch (children.c), grids
 * that meet, come early, or are polled for (grid_sync.c). */
void gt_script_write_tasks(struct gt_script *script);
void gt_script_write_children(struct gt_script *script);
void gt_script_write_grid_sync(struct gt_script *script);
/* Two GPUs (gpus.c). */
void gt_script_write_gpus(struct gt_script *script);
/* Two or three kernels of the list, alone and at once (pairs.c). */
void gt_script_write_pairs(struct gt_script *script);
void gt_script_write_triples(struct gt_script *script);

#define GT_SCRIPT_DEFAULT_STREAM GT_SCRIPT_STREAMS

#endif
