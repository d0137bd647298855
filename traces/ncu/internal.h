/* internal.h - what the parts of the Nsight Compute importer share. */
#ifndef GRIDTIDE_TRACES_NCU_INTERNAL_H
#define GRIDTIDE_TRACES_NCU_INTERNAL_H

#include "sim/workload/program.h"
#include "sim/workload/workload.h"
#include "traces/sass/cubin.h"
#include "traces/sass/program_make.h"

/* One launch: a row of raw.csv (ncu --page raw --csv --print-kernel-base mangled). */
struct gt_ncu_launch {
    uint32_t number; /* of its row, from 0: source.NNNN.csv has its instructions */
    char *name;      /* mangled */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t registers, registers_allocated;
    double static_shared_bytes, dynamic_shared_bytes, allocated_shared_bytes, carveout_bytes;
    double blocks_limits[4]; /* blocks an SM can hold by number, registers, shared memory, warps; 0 unknown */
    double cycles, seconds, sm_hz, warp_instructions, busiest_warp_instructions;
    uint32_t compute_capability; /* 90 */
    double bulk_load_bytes, bulk_store_bytes;
    /* Counts and rates, below 0 where the report has none. */
    double hit_percent[7]; /* in the order of gt_memory_use's rates */
    double read_hit, read_miss, write_hit, write_miss, atomic_hit, atomic_miss, reduce_hit,
        reduce_miss;       /* sectors from L1 at L2 */
    double sectors[4];     /* from L1 to L2: read, write, atomic, reduction */
    double atomic_busy[2]; /* of L2 slices' atomic units, %: mean and busiest */
    double l2_sectors[2];  /* of an L2 slice, mean, and of all */
    double fabric_sectors, dram_read_bytes, dram_write_bytes;
};

struct gt_ncu_raw {
    struct gt_ncu_launch *launches;
    uint32_t count, room;
    uint32_t rows, unreadable; /* rows in all, and those without a launch that can be read */
    struct gt_error wrong;     /* the first of these: "FILE:LINE: ..." */
    char *gpu;                 /* its name; NULL unknown */
};

/* Read raw.csv.  A row without a number that everything needs (grid, block, cycles, time) is left out and
 * counted, and so is what follows a row that is no CSV; a missing column, or no row that can be read, is an
 * error: "FILE:LINE: ...". */
int gt_ncu_raw_read(const char *path, struct gt_ncu_raw *raw, struct gt_error *error);
void gt_ncu_raw_free(struct gt_ncu_raw *raw);
/* The memory behaviour of a launch as a program keeps it. */
void gt_ncu_memory_use(const struct gt_ncu_launch *launch, struct gt_memory_use *use);

/* The instructions of one launch: source.NNNN.csv (ncu --page source --print-source sass --csv). */
struct gt_ncu_source {
    char *kernel;                /* the name that the file gives */
    struct gt_program_row *rows; /* `text` into `texts`; control fields not filled */
    uint32_t count, room;
    uint32_t *samples; /* [row * GT_STALLS + reason] */
    uint64_t sampled;  /* all of them */
    char **texts;      /* blocks of text, freed with the source */
    uint32_t text_count;
};

/* Read the file's first table.  -1 with "FILE:LINE: ..." where a column is missing that everything needs, a
 * number is none, or addresses do not follow each other. */
int gt_ncu_source_read(const char *path, struct gt_ncu_source *source, struct gt_error *error);
void gt_ncu_source_free(struct gt_ncu_source *source);

/* Machine code of all cubins of a folder, by kernel name. */
struct gt_ncu_code;
/* Opens every NAME.cubin of the folder; those that cannot be read are counted as warnings of `workload`. */
struct gt_ncu_code *gt_ncu_code_open(const char *folder, struct gt_workload *workload, struct gt_error *error);
void gt_ncu_code_free(struct gt_ncu_code *code);
/* May both be names of one kernel?  The profiler prints them mangled or demangled, as it is told. */
bool gt_ncu_names_agree(const char *one, const char *other);
/* Fill the control fields of `source` from the code of kernel `name` for `architecture`: that which has the name in
 * a cubin, else (a demangled name is in none) that which is the page's, instruction by instruction.  -1 with why
 * not: no code, code for another architecture, code that is not what the rows say. */
int gt_ncu_code_fill(const struct gt_ncu_code *code, const char *name, uint32_t architecture,
                     struct gt_ncu_source *source, struct gt_error *error);

/* A report (.ncu-rep) as a folder: exports its pages with the program `ncu` and cuts the cubins out.
 * `folder` must be there.  -1 with what went wrong. */
int gt_ncu_report_unpack(const char *report, const char *folder, struct gt_error *error);
/* Write the cubins of the report that hold code of the kernels launched into `folder`, each content once, as
 * 0000.cubin and so on.  -1 with "PATH: ...". */
int gt_ncu_report_cut(const char *report, const struct gt_ncu_raw *raw, const char *folder, struct gt_error *error);

#endif
