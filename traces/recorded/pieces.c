/* pieces.c - the memory that copies and memsets read and write: rows of it, slices, arrays. */
#include <stdlib.h>

#include "traces/recorded/internal.h"

/* Rows that are written down one by one; of more the first and the last are, and all between "may be". */
enum { MOST_ROWS = 64 };

/* What is written where, as one end of a piece has it. */
struct rows {
    uint64_t address, row, slice;
    uint64_t width, height, depth;
    bool writes;
};

static void add(struct gt_recorded *recorded, uint32_t op, uint32_t buffer, uint64_t offset, uint64_t bytes,
                const struct rows *rows, bool possible)
{
    const struct gt_buffer_access access = {
        .offset = offset,
        .bytes = bytes,
        .buffer = buffer,
        .writes = rows->writes,
        .possible = possible,
    };

    gt_import_add_access(&recorded->import, op, &access);
}

static void touch(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                  uint64_t address, uint64_t bytes, uint64_t time_ns, const struct rows *rows, bool possible)
{
    const struct gt_recorded_memory *memory =
        address == 0 || bytes == 0 ? NULL : gt_recorded_memory_at(process, address, time_ns);

    if (memory != NULL && bytes <= memory->bytes - (address - memory->address))
        add(recorded, op, memory->buffer, address - memory->address, bytes, rows, possible);
    else if (address != 0 && bytes != 0 && bytes <= UINT64_MAX - address &&
             recorded->import.ops[op].kind == GT_OP_COPY) /* memory that nobody allocated through CUDA */
        add(recorded, op, GT_NONE, address, bytes, rows, possible);
}

/* Where in an array the bytes lie is its own matter: all of it, or some. */
static void touch_array(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                        uint64_t time_ns, const struct rows *rows)
{
    const struct gt_recorded_memory *memory = gt_recorded_memory_at(process, rows->address, time_ns);

    if (memory != NULL)
        add(recorded, op, memory->buffer, 0, 0, rows, rows->width * rows->height * rows->depth != memory->bytes);
}

/* Rows and slices without a gap between them are one row. */
static void join(struct rows *rows)
{
    if (rows->height > 1 && rows->row == rows->width && rows->width <= UINT64_MAX / rows->height) {
        rows->width *= rows->height;
        rows->height = 1;
        rows->row = rows->slice;
    }
    if (rows->height == 1) { /* slices of one row are rows */
        rows->height = rows->depth;
        rows->row = rows->slice;
        rows->depth = 1;
        if (rows->height > 1 && rows->row == rows->width && rows->width <= UINT64_MAX / rows->height) {
            rows->width *= rows->height;
            rows->height = 1;
        }
    }
}

/* From the first byte to behind the last one; 0: no memory is so large. */
static uint64_t span(const struct rows *rows)
{
    uint64_t slices = 0, lines = 0, all;

    if (__builtin_mul_overflow(rows->depth - 1, rows->slice, &slices) ||
        __builtin_mul_overflow(rows->height - 1, rows->row, &lines) || __builtin_add_overflow(slices, lines, &all) ||
        __builtin_add_overflow(all, rows->width, &all) || all > UINT64_MAX - rows->address)
        return 0;
    return all;
}

static void touch_rows(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                       uint64_t time_ns, struct rows rows)
{
    uint64_t bytes, count;

    if (rows.address == 0 || rows.width == 0 || rows.height == 0 || rows.depth == 0)
        return;
    if (rows.address & GT_RECORDED_ARRAY) {
        touch_array(recorded, process, op, time_ns, &rows);
        return;
    }
    join(&rows);
    bytes = span(&rows);
    if (bytes == 0 || __builtin_mul_overflow(rows.height, rows.depth, &count))
        return;
    if (count <= MOST_ROWS) {
        for (uint64_t i = 0; i < count; i++)
            touch(recorded, process, op, rows.address + i / rows.height * rows.slice + i % rows.height * rows.row,
                  rows.width, time_ns, &rows, false);
        return;
    }
    touch(recorded, process, op, rows.address, rows.width, time_ns, &rows, false);
    touch(recorded, process, op, rows.address + bytes - rows.width, rows.width, time_ns, &rows, false);
    touch(recorded, process, op, rows.address, bytes, time_ns, &rows, true);
}

static void touch_piece(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                        uint64_t time_ns, const struct gt_record_piece *piece)
{
    const struct rows from = { piece->from,  piece->from_row, piece->from_slice,
                               piece->width, piece->height,   piece->depth,
                               false },
                      to = { piece->to,    piece->to_row, piece->to_slice, piece->width, piece->height,
                             piece->depth, true };

    if (recorded->import.ops[op].kind == GT_OP_COPY)
        touch_rows(recorded, process, op, time_ns, from);
    touch_rows(recorded, process, op, time_ns, to);
}

static uint64_t bytes_of(const struct gt_record_piece *piece)
{
    return piece->width * piece->height * piece->depth;
}

/* Of a call's several pieces (a batch) those of this operation: all, where it has the bytes of all, else the first of its
 * size that is not another's. */
static void choose(struct gt_recorded_process *process, uint64_t bytes, uint32_t *first, uint32_t *count)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_PIECE];
    uint64_t all = 0;

    for (uint32_t i = *first; i < *first + *count; i++)
        all += bytes_of(list->items[i]);
    if (*count < 2 || all == bytes)
        return;
    if (process->taken == NULL)
        process->taken = gt_calloc(list->count, sizeof *process->taken);
    for (uint32_t i = *first; i < *first + *count; i++)
        if (!process->taken[i] && bytes_of(list->items[i]) == bytes) {
            process->taken[i] = true;
            *first = i;
            *count = 1;
            return;
        }
    *count = 0;
}

/* A copy of one length, as its call says. */
static void touch_length(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                         uint64_t time_ns, const struct gt_record_call *call)
{
    const struct gt_record_piece piece = {
        .to = call->a,
        .from = call->what == GT_DID_COPY ? call->b : 0,
        .width = call->c,
        .height = 1,
        .depth = 1,
    };

    touch_piece(recorded, process, op, time_ns, &piece);
}

void gt_recorded_add_pieces(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t op,
                            const struct gt_record_op *record, const struct gt_recorded_giver *giver)
{
    const struct gt_record_call *call = gt_recorded_find_call(process, record->correlation);
    uint64_t time_ns = call != NULL ? call->start_ns : record->start_ns;
    uint32_t first = 0, count = gt_recorded_given(process, GT_RECORDED_PIECE, giver, &first);
    uint32_t of = record->kind == GT_OP_COPY ? GT_DID_COPY : GT_DID_MEMSET;

    if (count == 0 && giver->node == 0 && call != NULL && call->what == of)
        touch_length(recorded, process, op, time_ns, call);
    choose(process, record->bytes, &first, &count);
    for (uint32_t i = first; i < first + count; i++)
        touch_piece(recorded, process, op, time_ns, GT_RECORDS(process, GT_RECORDED_PIECE)[i]);
}
