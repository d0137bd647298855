/* fold.c - executed instructions, added up by their address in the code.
 *
 * A warp's stream says which threads executed an instruction, not which were active.  The active ones are followed: all
 * of the warp at first; behind a branch those that took it, or those that did not; behind the BSYNC that ends a
 * region those that came to its BSSY.  A thread that executes something is active, whatever was thought.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"
#include "traces/sass/program_make.h"
#include "traces/sass/sass.h"

enum { MOST_NESTED = 32, WINDOW_BYTES = 1 << 24 /* of generic addresses: shared memory, and local */ };

/* Where the warp at hand is. */
struct warp {
    uint32_t number, threads; /* all that it has */
    uint32_t active;          /* of `threads` */
    uint32_t before;          /* row of the instruction before; GT_NONE: it is at its first */
    uint32_t before_mask;
    uint32_t joins[MOST_NESTED], nested; /* threads at BSSY of regions that are open */
    uint32_t sides[MOST_NESTED], split;  /* branches that split, whose target is to be seen */
};

struct gt_accelsim_fold {
    const struct gt_accelsim_header *header;
    struct gt_accelsim_row *rows;
    uint32_t count, room;
    struct gt_accelsim_caches *caches;
    struct gt_accelsim_order *order;
    uint32_t sms, warps_per_block;
    uint64_t grid_blocks, blocks, warps, instructions, ambiguous;
    uint32_t highest_rank;
    bool in_block;
    struct warp warp;
    struct gt_accelsim_line line;
    struct gt_accelsim_access access;
};

struct gt_accelsim_fold *gt_accelsim_fold_new(const struct gt_accelsim_header *header, const struct gt_device *device,
                                              const struct gt_kernel *kernel)
{
    struct gt_accelsim_fold *fold = gt_calloc(1, sizeof *fold);

    fold->header = header;
    fold->sms = device->sms;
    fold->warps_per_block = gt_accelsim_warps(header);
    fold->grid_blocks = (uint64_t)header->grid[0] * header->grid[1];
    fold->grid_blocks =
        fold->grid_blocks > UINT64_MAX / header->grid[2] ? UINT64_MAX : fold->grid_blocks * header->grid[2];
    fold->order = gt_accelsim_order_new();
    fold->caches = gt_accelsim_caches_new(device, gt_accelsim_l1_bytes(device, kernel, header->binary_version));
    return fold;
}

void gt_accelsim_fold_free(struct gt_accelsim_fold *fold)
{
    if (fold == NULL)
        return;
    for (uint32_t i = 0; i < fold->count; i++)
        free(fold->rows[i].fields);
    free(fold->rows);
    gt_accelsim_order_free(fold->order);
    gt_accelsim_caches_free(fold->caches);
    free(fold);
}

static uint32_t sm_of_block(const struct gt_accelsim_fold *fold)
{
    return (uint32_t)((fold->blocks - 1) % fold->sms);
}

void gt_accelsim_fold_block_end(struct gt_accelsim_fold *fold)
{
    if (fold->in_block)
        gt_accelsim_order_play(fold->order, fold->caches, sm_of_block(fold));
    fold->in_block = false;
}

int gt_accelsim_fold_block(struct gt_accelsim_fold *fold, const uint32_t at[3], struct gt_error *error)
{
    const uint32_t *grid = fold->header->grid;

    if (at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
        return gt_error_set(error,
                            "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 " lies outside the grid (%" PRIu32
                            ",%" PRIu32 ",%" PRIu32 ")",
                            at[0], at[1], at[2], grid[0], grid[1], grid[2]);
    if (fold->blocks == fold->grid_blocks)
        return gt_error_set(error, "more thread blocks than the grid has (%" PRIu64 ")", fold->grid_blocks);
    gt_accelsim_fold_block_end(fold);
    fold->in_block = true;
    fold->blocks++;
    return 0;
}

void gt_accelsim_fold_rank(struct gt_accelsim_fold *fold, uint32_t rank)
{
    if (rank > fold->highest_rank)
        fold->highest_rank = rank;
}

int gt_accelsim_fold_warp(struct gt_accelsim_fold *fold, uint32_t warp, struct gt_error *error)
{
    uint32_t threads;

    if (warp >= fold->warps_per_block)
        return gt_error_set(error, "warp %" PRIu32 " of blocks that have %" PRIu32, warp, fold->warps_per_block);
    threads = gt_accelsim_threads(fold->header) - warp * GT_ACCELSIM_LANES;
    fold->warp = (struct warp){ .number = warp, .before = GT_NONE };
    fold->warp.threads = threads >= GT_ACCELSIM_LANES ? UINT32_MAX : (1u << threads) - 1;
    fold->warp.active = fold->warp.threads;
    return 0;
}

/* What the fields say of a row that is new. */
static void begin_row(struct gt_accelsim_row *row, const struct gt_accelsim_line *line)
{
    struct gt_accelsim_fields fields;
    struct gt_instruction instruction = { 0 };
    const struct gt_sass_opcode *opcode;
    struct gt_access access;
    struct gt_sass_flow flow;
    char *mnemonic;

    row->fields = strndup(line->fields, line->fields_length);
    row->fields_length = line->fields_length;
    row->target = GT_NONE;
    row->immediate = line->immediate;
    row->immediate2 = line->immediate2;
    gt_accelsim_fields_split(row->fields, &fields);
    mnemonic = strndup(fields.opcode.text, fields.opcode.length);
    gt_sass_parse(mnemonic, &instruction, &access, &flow);
    opcode = gt_sass_find(mnemonic, (uint32_t)strcspn(mnemonic, "."));
    row->flow = flow.kind;
    row->action = instruction.action;
    row->space = line->width_bytes == 0 ? GT_SPACE_NONE : access.space;
    row->width_bytes = access.width_bytes;
    row->bypass_l1 = access.bypass_l1;
    row->matrices = opcode != NULL && (strcmp(opcode->name, "LDSM") == 0 || strcmp(opcode->name, "STSM") == 0);
    row->shared_side = instruction.action == GT_ACTION_ASYNC_COPY;
    free(mnemonic);
}

static int find_row(struct gt_accelsim_fold *fold, uint32_t *index, struct gt_error *error)
{
    const struct gt_accelsim_line *line = &fold->line;
    struct gt_accelsim_row *row;

    uint64_t number = gt_accelsim_index(fold->header, line->pc);

    if (number >= GT_ACCELSIM_MOST_INSTRUCTIONS)
        return gt_error_set(error,
                            "0x%" PRIx64 " is not the offset of an instruction: a multiple of %d below 0x%" PRIx64
                            " (binary version %" PRIu32 ")",
                            line->pc, gt_accelsim_index(fold->header, 8) == UINT64_MAX ? 16 : 8,
                            gt_accelsim_offset(fold->header, GT_ACCELSIM_MOST_INSTRUCTIONS),
                            fold->header->binary_version);
    *index = (uint32_t)number;
    if (*index > fold->count + GT_ACCELSIM_MOST_GAP)
        return gt_error_set(error, "0x%" PRIx64 " is more than %d instructions behind all that were executed before",
                            line->pc, GT_ACCELSIM_MOST_GAP);
    if (*index >= fold->room) {
        uint32_t room = *index + 1 < 512 ? 512 : (*index + 1) * 2;

        fold->rows = gt_realloc(fold->rows, room, sizeof *fold->rows);
        memset(fold->rows + fold->room, 0, (room - fold->room) * sizeof *fold->rows);
        fold->room = room;
    }
    if (*index >= fold->count)
        fold->count = *index + 1;
    row = &fold->rows[*index];
    if (row->fields == NULL)
        begin_row(row, line);
    else if (row->fields_length != line->fields_length || memcmp(row->fields, line->fields, row->fields_length) != 0)
        fold->ambiguous++;
    return 0;
}

/* A branch whose target is to be seen, where the warp has just come to `index` from somewhere else. */
static void see_target(struct gt_accelsim_fold *fold, struct gt_accelsim_row *before, uint32_t index)
{
    struct warp *warp = &fold->warp;
    uint32_t branch;

    if (before->flow == GT_SASS_BRANCH || before->flow == GT_SASS_CALL) {
        before->target = index;
        return;
    }
    if (before->flow == GT_SASS_NEXT || before->flow == GT_SASS_RETURN || before->flow == GT_SASS_SWITCH)
        return;
    /* A side has ended (BSYNC, EXIT, WARPSYNC): the other one begins, the last split first. */
    if (warp->split > 0 && (branch = warp->sides[--warp->split]) != GT_NONE && fold->rows[branch].target == GT_NONE)
        fold->rows[branch].target = index;
}

/* Which threads are active behind the instruction before. */
static void go_on(struct gt_accelsim_fold *fold, uint32_t index)
{
    struct warp *warp = &fold->warp;
    struct gt_accelsim_row *before;
    uint32_t took = warp->before_mask;
    bool next;

    if (warp->before == GT_NONE)
        return;
    before = &fold->rows[warp->before];
    next = index == warp->before + 1;
    if (!next)
        see_target(fold, before, index);
    switch (before->flow) {
    case GT_SASS_BRANCH:
        if (took != 0 && took != warp->active && warp->split < MOST_NESTED)
            warp->sides[warp->split++] = next && before->target == GT_NONE ? warp->before : GT_NONE;
        warp->active = next ? warp->active & ~took : took;
        break;
    case GT_SASS_EXIT:
        warp->threads &= ~took;
        warp->active &= ~took;
        break;
    case GT_SASS_JOIN:
        warp->active = 0;
        before->barrier = (uint8_t)(warp->nested > 0 ? warp->nested - 1 : 0);
        if (warp->nested > 0 && next)
            warp->active = warp->joins[--warp->nested] & warp->threads;
        break;
    case GT_SASS_DIVERGE:
        before->barrier = (uint8_t)warp->nested;
        if (warp->nested < MOST_NESTED)
            warp->joins[warp->nested++] = warp->active;
        break;
    default: break;
    }
}

static enum gt_accelsim_way way_of(const struct gt_accelsim_row *row)
{
    switch (row->action) {
    case GT_ACTION_STORE:
    case GT_ACTION_BULK_STORE: return GT_ACCELSIM_STORE;
    case GT_ACTION_ATOMIC:
    case GT_ACTION_REDUCE: return GT_ACCELSIM_ATOMIC;
    default: return row->bypass_l1 || row->space == GT_SPACE_TEXTURE ? GT_ACCELSIM_PAST_L1 : GT_ACCELSIM_LOAD;
    }
}

/* Where a generic access goes, by its first thread. */
static uint8_t space_of(const struct gt_accelsim_fold *fold, const struct gt_accelsim_row *row)
{
    const struct gt_accelsim_header *header = fold->header;
    uint64_t address;

    if (row->space != GT_SPACE_GENERIC)
        return row->space;
    address = fold->line.address[__builtin_ctz(fold->line.mask)];
    if (header->shared_base != 0 && address - header->shared_base < WINDOW_BYTES)
        return GT_SPACE_SHARED;
    return header->local_base != 0 && address - header->local_base < WINDOW_BYTES ? GT_SPACE_LOCAL : GT_SPACE_GLOBAL;
}

static void count_atomics(struct gt_accelsim_fold *fold)
{
    const struct gt_accelsim_access *access = &fold->access;
    uint8_t repeats[GT_ACCELSIM_MOST_LINES];

    gt_accelsim_access_repeats(&fold->line, access, repeats);
    for (uint32_t i = 0; i < access->lines; i++)
        gt_accelsim_caches_atomics(fold->caches, access->line[i],
                                   (uint32_t)__builtin_popcount(access->sectors[i]) + repeats[i]);
}

static void add_access(struct gt_accelsim_fold *fold, struct gt_accelsim_row *row)
{
    struct gt_accelsim_access *access = &fold->access;
    uint8_t space = space_of(fold, row);

    row->spaces[space]++;
    if (space == GT_SPACE_SHARED || space == GT_SPACE_CLUSTER)
        gt_accelsim_access_shared(&fold->line, row->width_bytes, row->matrices, access);
    else if (space == GT_SPACE_LOCAL)
        gt_accelsim_access_local(&fold->line, row->width_bytes,
                                 (fold->blocks - 1) * fold->warps_per_block + fold->warp.number, access);
    else
        gt_accelsim_access_global(&fold->line, row->width_bytes, access);
    row->sectors += access->sector_count;
    row->sectors_ideal += access->sectors_ideal;
    row->tag_requests += access->lines;
    row->wavefronts += access->wavefronts;
    row->wavefronts_ideal += access->wavefronts_ideal;
    if (row->shared_side)
        row->wavefronts +=
            ((uint64_t)__builtin_popcount(fold->line.mask) * row->width_bytes + GT_LINE_BYTES - 1) / GT_LINE_BYTES;
    if (way_of(row) == GT_ACCELSIM_ATOMIC && space == GT_SPACE_GLOBAL)
        count_atomics(fold);
    if (access->lines > 0)
        gt_accelsim_order_add(fold->order, fold->warp.number, access, way_of(row), space == GT_SPACE_LOCAL);
}

/* The pieces of a bulk copy go past L1, MOST_LINES lines at a time. */
static void add_bulk(struct gt_accelsim_fold *fold, struct gt_accelsim_row *row)
{
    enum { ALL_SECTORS = 15 };
    const struct gt_accelsim_line *line = &fold->line;
    enum gt_accelsim_way way = row->action == GT_ACTION_BULK_STORE ? GT_ACCELSIM_STORE : GT_ACCELSIM_PAST_L1;
    uint64_t piece = line->bulk_count > 0 ? line->bulk_bytes / line->bulk_count : 0;

    row->bulk_bytes += line->bulk_bytes;
    for (uint32_t i = 0; i < line->bulk_count; i++) {
        uint64_t at = line->bulk_address[i] / GT_LINE_BYTES, end = at + (piece + GT_LINE_BYTES - 1) / GT_LINE_BYTES;

        while (at < end && !gt_accelsim_order_is_full(fold->order)) {
            fold->access.lines = 0;
            for (; at < end && fold->access.lines < GT_ACCELSIM_MOST_LINES; at++) {
                fold->access.line[fold->access.lines] = at;
                fold->access.sectors[fold->access.lines++] = ALL_SECTORS;
            }
            gt_accelsim_order_add(fold->order, fold->warp.number, &fold->access, way, false);
        }
    }
}

static void add_up(struct gt_accelsim_fold *fold, struct gt_accelsim_row *row)
{
    struct warp *warp = &fold->warp;
    uint32_t mask = fold->line.mask;

    warp->active |= mask;
    row->executions++;
    row->threads += (uint64_t)__builtin_popcount(warp->active);
    row->threads_on += (uint64_t)__builtin_popcount(mask);
    row->partly += mask != warp->active;
    if (row->flow == GT_SASS_BRANCH || row->flow == GT_SASS_EXIT) {
        row->jumps += mask != 0;
        row->divergent += row->flow == GT_SASS_BRANCH && mask != 0 && mask != warp->active;
    }
    if (fold->line.bulk)
        add_bulk(fold, row);
    else if (row->space != GT_SPACE_NONE && row->space != GT_SPACE_CONSTANT && mask != 0)
        add_access(fold, row);
}

/* Accel-Sim 2.0 marks where warps wait for a lock by lines that are no machine code. */
static bool is_marker(const struct gt_accelsim_line *line)
{
    struct gt_accelsim_fields fields;

    gt_accelsim_fields_split(line->fields, &fields);
    return fields.opcode.length > 7 && memcmp(fields.opcode.text, "REPLAY_", 7) == 0;
}

int gt_accelsim_fold_line(struct gt_accelsim_fold *fold, const char *text, struct gt_error *error)
{
    uint32_t index = 0;

    if (gt_accelsim_line_parse(text, fold->header, &fold->line, error) != 0)
        return -1;
    if (is_marker(&fold->line))
        return 0;
    if (find_row(fold, &index, error) != 0)
        return -1;
    fold->warps += fold->warp.before == GT_NONE;
    go_on(fold, index);
    add_up(fold, &fold->rows[index]);
    fold->warp.before = index;
    fold->warp.before_mask = fold->line.mask;
    fold->instructions++;
    if (gt_accelsim_order_is_full(fold->order))
        gt_accelsim_order_play(fold->order, fold->caches, sm_of_block(fold));
    return 0;
}

void gt_accelsim_fold_result(const struct gt_accelsim_fold *fold, struct gt_accelsim_folded *folded)
{
    *folded = (struct gt_accelsim_folded){
        .rows = fold->rows,
        .count = fold->count,
        .blocks = fold->blocks,
        .grid_blocks = fold->grid_blocks,
        .warps = fold->warps,
        .cluster = fold->highest_rank + 1,
        .instructions = fold->instructions,
        .ambiguous = fold->ambiguous,
    };
    gt_accelsim_caches_use(fold->caches, &folded->use);
}
