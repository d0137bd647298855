/* internal.h - the parts of the Accel-Sim importer.
 *
 * One kernel's way: header.c and line.c read what traceg.c or tracez.c hands them line by line; fold.c adds each
 * instruction to the row of its address, with access.c and caches.c for what its addresses mean; program.c makes a
 * program of the rows when the file ends.  Nothing grows with the file: rows with the code, all else has a limit.
 *
 * The other way, a program becomes a kernel's file: write_kernel.c has the warps walk and writes each instruction, with
 * addresses that places.c makes up; write.c writes the list.
 */
#ifndef GRIDTIDE_TRACES_ACCELSIM_INTERNAL_H
#define GRIDTIDE_TRACES_ACCELSIM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/devices/device.h"
#include "sim/warp/launch_types.h"
#include "sim/warp/paths.h"
#include "sim/workload/workload.h"
#include "traces/io/input.h"
#include "traces/io/output.h"

enum {
    GT_ACCELSIM_LANES = 32,
    GT_ACCELSIM_MOST_RANK = 15,                    /* of 16 blocks of a cluster */
    GT_ACCELSIM_MOST_WARPS = 32,                   /* of a block */
    GT_ACCELSIM_MOST_INSTRUCTIONS = 1 << 18,       /* of a kernel's code: 4 MiB */
    GT_ACCELSIM_MOST_GAP = 1 << 16,                /* instructions left out before one that is executed */
    GT_ACCELSIM_MOST_SHARED_BYTES = 1 << 20,       /* of a block; no bulk copy moves more */
    GT_ACCELSIM_MOST_FIELDS_BYTES = 512,           /* of a line, from the results to the sources */
    GT_ACCELSIM_MOST_BULK = 1024,                  /* addresses of a bulk copy that are looked at */
    GT_ACCELSIM_MOST_LINES = 2 * GT_ACCELSIM_LANES /* of 128 bytes, of an access: 16 bytes may lie in two */
};

/* ---- header.c: what a kernel's file says before its instructions */

struct gt_accelsim_header {
    char *name;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers; /* registers of a thread */
    uint32_t binary_version;          /* 70: compute capability 7.0; 0 not said */
    uint32_t version;                 /* of the tracer; 0 not said */
    uint64_t stream, shared_base, local_base;
    bool line_info;
};

/* Take in a line that begins with "-"; of others nothing.  Values that are none, or no GPU has, are errors. */
int gt_accelsim_header_line(struct gt_accelsim_header *header, const char *line, struct gt_error *error);
/* Has it all that a launch needs? */
int gt_accelsim_header_check(const struct gt_accelsim_header *header, struct gt_error *error);
/* Threads and warps of a block. */
uint32_t gt_accelsim_threads(const struct gt_accelsim_header *header);
uint32_t gt_accelsim_warps(const struct gt_accelsim_header *header);
/* Number of the instruction at offset `pc` of the code, as its compute capability lays it out; of the first of a group for
 * the group's control word.  UINT64_MAX where none begins. */
uint64_t gt_accelsim_index(const struct gt_accelsim_header *header, uint64_t pc);
/* The offset of instruction `index`. */
uint64_t gt_accelsim_offset(const struct gt_accelsim_header *header, uint64_t index);
void gt_accelsim_header_free(struct gt_accelsim_header *header);

/* ---- line.c: one executed instruction */

struct gt_accelsim_line {
    uint64_t pc;
    uint32_t mask;      /* threads that execute it: active, and not predicated off */
    const char *fields; /* in the line: "1 R12 LDG.E.128.SYS 1 R2" */
    uint32_t fields_length;
    uint32_t width_bytes;                /* 0: no memory instruction */
    uint64_t address[GT_ACCELSIM_LANES]; /* by lane, of those in `mask` */
    bool bulk;
    uint64_t bulk_bytes; /* of a bulk copy */
    uint32_t bulk_count; /* addresses in `bulk_address` */
    uint64_t bulk_address[GT_ACCELSIM_MOST_BULK];
    uint64_t immediate, immediate2; /* 0 where there is none */
};

/* `text` ends with a NUL; `line->fields` points into it.  The rest of the line, values of registers, is not read. */
int gt_accelsim_line_parse(const char *text, const struct gt_accelsim_header *header, struct gt_accelsim_line *line,
                           struct gt_error *error);

/* The parts of `fields`: results, mnemonic and sources, each a range of the text. */
enum { GT_ACCELSIM_MOST_REGISTERS = 16 };
struct gt_accelsim_word {
    const char *text;
    uint32_t length;
};
struct gt_accelsim_fields {
    struct gt_accelsim_word opcode, result[GT_ACCELSIM_MOST_REGISTERS], source[GT_ACCELSIM_MOST_REGISTERS];
    uint32_t results, sources;
};
/* Does an instruction move data in bulk, so that its line has the fields of such a copy? */
bool gt_accelsim_is_bulk(const struct gt_accelsim_word *opcode);
/* Of fields that gt_accelsim_line_parse() has taken. */
void gt_accelsim_fields_split(const char *fields, struct gt_accelsim_fields *split);

/* ---- access.c: what the addresses of an instruction ask of the memory system */

struct gt_accelsim_access {
    uint64_t line[GT_ACCELSIM_MOST_LINES];   /* addresses / 128 */
    uint8_t sectors[GT_ACCELSIM_MOST_LINES]; /* of each, a bit a sector */
    uint32_t lines;
    uint32_t sector_count, sectors_ideal, wavefronts, wavefronts_ideal;
};

/* Of global memory, `width_bytes` a thread. */
void gt_accelsim_access_global(const struct gt_accelsim_line *line, uint32_t width_bytes,
                               struct gt_accelsim_access *access);
/* Of atomics to global memory, by line: L2 changes a word for one thread after the other, those of a sector at once.  Beyond
 * the sectors of the line as many operations as threads that wait for others, in the sector where most do. */
void gt_accelsim_access_repeats(const struct gt_accelsim_line *line, const struct gt_accelsim_access *access,
                                uint8_t *repeats);
/* Of local memory: a word of all threads of warp `warp` is a line. */
void gt_accelsim_access_local(const struct gt_accelsim_line *line, uint32_t width_bytes, uint64_t warp,
                              struct gt_accelsim_access *access);
/* Of shared memory; of matrices (LDSM, STSM) `width_bytes` / 4, whose rows the lanes name, eight a matrix. */
void gt_accelsim_access_shared(const struct gt_accelsim_line *line, uint32_t width_bytes, bool matrices,
                               struct gt_accelsim_access *access);

/* ---- caches.c: an L1 for each SM and an L2, empty before each launch */

enum gt_accelsim_way { GT_ACCELSIM_LOAD, GT_ACCELSIM_STORE, GT_ACCELSIM_ATOMIC, GT_ACCELSIM_PAST_L1 };

struct gt_accelsim_caches;

/* Caches of `device`; L1 has what shared memory leaves of an SM's `sm_bytes`. */
struct gt_accelsim_caches *gt_accelsim_caches_new(const struct gt_device *device, uint64_t l1_bytes);
void gt_accelsim_caches_free(struct gt_accelsim_caches *caches);
/* Sectors of one line, on SM `sm`; `local` memory is counted by itself, and written back. */
void gt_accelsim_caches_access(struct gt_accelsim_caches *caches, uint32_t sm, uint64_t line, uint8_t sectors,
                               enum gt_accelsim_way way, bool local);
/* So many atomics, counted as L2 carries them out, go to a line. */
void gt_accelsim_caches_atomics(struct gt_accelsim_caches *caches, uint64_t line, uint32_t operations);
/* What they did. */
void gt_accelsim_caches_use(const struct gt_accelsim_caches *caches, struct gt_memory_use *use);
/* L1 and shared memory of an SM together; 0 where the table has no such compute capability (CUDA C++ Programming Guide,
 * "Compute Capabilities": unified data cache). */
uint64_t gt_accelsim_unified_bytes(uint32_t binary_version);
/* Bytes of L1 beside the shared memory that blocks of the kernel set an SM to; of 256 KiB where the capability is not known. */
uint64_t gt_accelsim_l1_bytes(const struct gt_device *device, const struct gt_kernel *kernel,
                              uint32_t binary_version);

/* ---- block_order.c: the accesses of a block, whose warps run in turns */

struct gt_accelsim_order;

struct gt_accelsim_order *gt_accelsim_order_new(void);
void gt_accelsim_order_free(struct gt_accelsim_order *order);
/* Keep what an instruction of `warp` asks for. */
void gt_accelsim_order_add(struct gt_accelsim_order *order, uint32_t warp, const struct gt_accelsim_access *access,
                           enum gt_accelsim_way way, bool local);
bool gt_accelsim_order_is_full(const struct gt_accelsim_order *order);
/* Hand all that was kept to the caches, an instruction of each warp in turn, and forget it. */
void gt_accelsim_order_play(struct gt_accelsim_order *order, struct gt_accelsim_caches *caches, uint32_t sm);

/* ---- fold.c: instructions by their address */

struct gt_accelsim_row {
    char *fields; /* NULL: no warp came here */
    uint64_t executions, threads, threads_on;
    uint64_t partly;    /* executions by a part of the active threads, or none */
    uint64_t divergent; /* executions of a branch that split the warp */
    uint64_t jumps;     /* executions of a branch that some thread took */
    uint64_t sectors, sectors_ideal, tag_requests, wavefronts, wavefronts_ideal, bulk_bytes;
    uint64_t spaces[GT_SPACES]; /* executions of a generic access, by where it went */
    uint64_t immediate, immediate2;
    uint32_t target; /* instruction that a branch jumps to; GT_NONE: not seen */
    uint32_t fields_length;
    uint16_t width_bytes;
    uint8_t flow, action, space; /* gt_sass_flow_kind, gt_action, gt_space by the mnemonic */
    uint8_t barrier;             /* of BSSY and BSYNC: how many regions are around */
    bool matrices, bypass_l1, shared_side;
};

struct gt_accelsim_fold;

/* For a kernel of this header, on `device`, whose caches are modelled; both must last as long. */
struct gt_accelsim_fold *gt_accelsim_fold_new(const struct gt_accelsim_header *header, const struct gt_device *device,
                                              const struct gt_kernel *kernel);
void gt_accelsim_fold_free(struct gt_accelsim_fold *fold);
/* A block begins, the number `blocks` is in, and a warp of it; each ends where the next begins. */
int gt_accelsim_fold_block(struct gt_accelsim_fold *fold, const uint32_t at[3], struct gt_error *error);
int gt_accelsim_fold_warp(struct gt_accelsim_fold *fold, uint32_t warp, struct gt_error *error);
int gt_accelsim_fold_line(struct gt_accelsim_fold *fold, const char *text, struct gt_error *error);
/* The block's number in its cluster, from 0. */
void gt_accelsim_fold_rank(struct gt_accelsim_fold *fold, uint32_t rank);
void gt_accelsim_fold_block_end(struct gt_accelsim_fold *fold);

/* What came of it. */
struct gt_accelsim_folded {
    const struct gt_accelsim_row *rows;
    uint32_t count;  /* of rows: up to the last address */
    uint64_t blocks; /* that the trace has */
    uint64_t grid_blocks;
    uint64_t warps;        /* that executed something */
    uint64_t instructions; /* lines */
    uint32_t cluster;      /* blocks of a cluster; 1: none, or not said */
    uint64_t ambiguous;    /* instructions at an address that has another one */
    struct gt_memory_use use;
};
void gt_accelsim_fold_result(const struct gt_accelsim_fold *fold, struct gt_accelsim_folded *folded);

/* ---- sass_text.c, program.c */

/* The row as SASS; `guarded`: a part of the threads may skip it.  The caller frees it. */
char *gt_accelsim_sass(const struct gt_accelsim_row *row, const struct gt_accelsim_header *header, bool guarded);
/* The program of at least one instruction, the caller's.  What is odd is warned of. */
struct gt_program *gt_accelsim_program(struct gt_workload *workload, const struct gt_accelsim_header *header,
                                       const struct gt_accelsim_folded *folded);

/* ---- traceg.c, tracez.c: the two forms of a kernel's file */

struct gt_accelsim_file; /* a kernel's file of which the header is read */

/* Open it and read the header; NULL with FILE: or FILE:LINE:. */
struct gt_accelsim_file *gt_accelsim_file_open(const char *path, struct gt_input *opened,
                                               struct gt_accelsim_header *header, struct gt_error *error);
/* Read the instructions. */
int gt_accelsim_file_fold(struct gt_accelsim_file *file, struct gt_accelsim_fold *fold, struct gt_error *error);
void gt_accelsim_file_close(struct gt_accelsim_file *file);

/* A .tracez by its name, of which `header` was read. */
int gt_accelsim_tracez_header(const char *path, struct gt_accelsim_header *header, struct gt_error *error);
int gt_accelsim_tracez_fold(const char *path, struct gt_accelsim_fold *fold, struct gt_error *error);

/* ---- places.c: addresses for the accesses of a program */

struct gt_accelsim_places;

/* Of a launch; program, use and paths must last as long. */
struct gt_accelsim_places *gt_accelsim_places_new(const struct gt_warp_launch *launch,
                                                  const struct gt_warp_paths *paths);
/* A thread block begins. */
void gt_accelsim_places_block(struct gt_accelsim_places *places);
/* Threads, of those active, that instruction `i` is not predicated off for. */
uint32_t gt_accelsim_places_threads(struct gt_accelsim_places *places, uint32_t i, uint32_t active);
/* An address for each of the threads in `mask`, which has some, at instruction `i`, which moves data. */
void gt_accelsim_places_choose(struct gt_accelsim_places *places, uint32_t i, uint32_t mask,
                               const struct gt_accelsim_header *header, uint64_t *address);
/* Where a bulk copy of so many bytes begins. */
uint64_t gt_accelsim_places_bulk(struct gt_accelsim_places *places, uint32_t i, uint64_t bytes);
void gt_accelsim_places_free(struct gt_accelsim_places *places); /* NULL allowed */

/* ---- write_kernel.c: a launch as a kernel's file */

/* Warp instructions that the file of a launch has, about. */
double gt_accelsim_kernel_instructions(const struct gt_workload *workload, gt_op_index op);
/* Write `op`, a kernel with a program, as number `id` of the trace. */
int gt_accelsim_write_kernel(const struct gt_workload *workload, gt_op_index op, uint32_t id,
                             const struct gt_device *device, struct gt_output *output, struct gt_error *error);

#endif
