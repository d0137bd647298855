/* recording.h - what the recorder writes, written by tests: with the library's own writer, without a GPU. */
#ifndef GRIDTIDE_TESTS_UNIT_RECORDING_H
#define GRIDTIDE_TESTS_UNIT_RECORDING_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/recorded/recorded.h"
#include "validate/record/writer.h"

enum { STREAM_A = 0xa000, STREAM_B = 0xb000, EVENT = 0xe000, THREAD = 7, KERNEL = 0xf000 };
#define MEMORY UINT64_C(0x7f0000000000)

static inline void *begin(enum gt_recorded_kind kind, size_t bytes)
{
    void *record = gt_writer_begin(kind, bytes);

    assert_non_null(record);
    return record;
}

static inline void write_call(enum gt_recorded_what what, uint32_t correlation, uint64_t start_ns, uint64_t stream,
                              uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t name = gt_writer_name("cudaSomething_ptsz_v7000");
    struct gt_record_call *call = begin(GT_RECORDED_CALL, sizeof *call);

    call->head.flags = stream != 0 ? GT_RECORDED_IN_STREAM : 0;
    call->start_ns = start_ns;
    call->end_ns = start_ns + 1000;
    call->thread = THREAD;
    call->stream = stream;
    call->a = a;
    call->b = b;
    call->c = c;
    call->correlation = correlation;
    call->name = name;
    call->context = 1;
    call->what = what;
    gt_writer_end(call);
}

static inline void write_stream(uint64_t handle, uint32_t id, uint32_t flags, int32_t priority)
{
    struct gt_record_stream *stream = begin(GT_RECORDED_STREAM, sizeof *stream);

    stream->time_ns = 100;
    stream->handle = handle;
    stream->context = 1;
    stream->id = id;
    stream->flags = flags;
    stream->priority = priority;
    gt_writer_end(stream);
}

/* To be ended by gt_writer_end(). */
static inline struct gt_record_op *begin_kernel(uint32_t correlation, uint32_t stream, uint64_t start_ns,
                                                uint64_t end_ns)
{
    uint32_t name = gt_writer_name("_Z5scalePfPKfi");
    struct gt_record_op *op = begin(GT_RECORDED_OP, sizeof *op);

    op->start_ns = start_ns;
    op->end_ns = end_ns;
    op->kind = GT_OP_KERNEL;
    op->context = 1;
    op->stream = stream;
    op->correlation = correlation;
    op->name = name;
    op->peer_gpu = UINT32_MAX;
    op->registers = 16;
    for (int i = 0; i < 3; i++)
        op->grid[i] = op->block[i] = 1;
    op->grid[0] = 8;
    op->block[0] = 256;
    return op;
}

static inline void write_kernel(uint32_t correlation, uint32_t stream, uint64_t start_ns, uint64_t end_ns,
                                uint64_t node)
{
    struct gt_record_op *op = begin_kernel(correlation, stream, start_ns, end_ns);

    op->node = node;
    gt_writer_end(op);
}

static inline void write_context(void)
{
    struct gt_record_context *context = begin(GT_RECORDED_CONTEXT, sizeof *context);

    context->context = 1;
    context->null_stream = 7;
    gt_writer_end(context);
}

static inline struct gt_workload *read_back(const char *path, struct gt_error *error)
{
    static const struct gt_import_options options = { .input = NULL };

    return gt_importer_recorded.read(path, &options, error);
}

static inline const struct gt_call *call_of(const struct gt_workload *w, uint32_t correlation)
{
    for (uint32_t i = 0; i < w->call_count; i++)
        if (w->calls[i].correlation == correlation)
            return &w->calls[i];
    fail_msg("no call %u", correlation);
    return NULL;
}

/* The path of the folder's one file, malloced. */
static inline char *only_file(const char *where)
{
    DIR *entries = opendir(where);
    struct dirent *entry;
    char *path = NULL;

    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.')
            path = gt_format("%s/%s", where, entry->d_name);
    closedir(entries);
    assert_non_null(path);
    return path;
}

#endif
