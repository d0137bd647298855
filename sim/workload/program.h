/* program.h - a kernel's machine code with what one profiled launch said of it.
 *
 * What the warp tier runs.  Instructions carry the control fields of their encoding and how often
 * the launch executed them; basic blocks and edges say in which order, edges with counts, so that
 * warps can walk paths whose totals are the profile's.  Everything is plain arrays indexed by number;
 * GT_NONE (workload.h) is "no such thing".
 *
 * Counts are warp instructions, summed over all warps of the profiled launch (`warps`).  A launch with
 * another grid keeps the counts per warp.  Means are per execution of the instruction by a warp.
 *
 * How a warp walks: it starts in block 0 with an empty stack and runs each block from its first to its
 * last instruction; the block's `end` says what comes next.
 *   FALL, and BRANCH with one edge: that edge.
 *   BRANCH and SWITCH with several edges: `choice` and `who` say which one.
 *   CALL: push `resume`, go to edge 0 (to `resume` where it has none).  RETURN: pop.
 *   EXIT without an edge: the warp ends; with one: it goes on there in the edge's executions of the visits
 *   and ends in the others (`choice` RATIO, or NONE where all go on).
 *   JOIN: a side of a divergence has arrived.  While sides of its divergence wait on the stack, pop one
 *   and run it; then take edge 0.
 *
 * Divergence: in `divergent` of its visits a warp takes both edges of a branch: it pushes one side, runs the
 * other, and the JOIN of the region (`join`) brings it back for the one pushed; where there is no such JOIN
 * (`join` is GT_NONE), the end of the warp does.  So the edges of a block have executions + divergent
 * executions between them; visits that do not split take each edge in its `alone` of them.  With
 * GT_WHO_ROLE the warps whose bit both edges have are those that take both.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_PROGRAM_H
#define GRIDTIDE_SIM_WORKLOAD_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* The unit that executes it, as the profiler names pipes.  FMA stands for both halves of the pipe,
 * FMAHEAVY for what only the one half does (IMAD). */
enum gt_pipe {
    GT_PIPE_NONE, /* takes an issue slot and nothing else (NOP, BSSY, ...) */
    GT_PIPE_ALU,
    GT_PIPE_FMA,
    GT_PIPE_FMAHEAVY,
    GT_PIPE_FP16,
    GT_PIPE_FP64,
    GT_PIPE_XU,
    GT_PIPE_TENSOR,
    GT_PIPE_LSU,
    GT_PIPE_TEX,
    GT_PIPE_UNIFORM,
    GT_PIPE_CBU,
    GT_PIPE_ADU,
    GT_PIPE_TMA,
    GT_PIPES
};

/* What it does, as far as a model must tell. */
enum gt_action {
    GT_ACTION_COMPUTE,         /* result after the pipe's latency */
    GT_ACTION_LOAD,            /* LDG, LDL, LDS, LDSM, LD, LDC: see memory */
    GT_ACTION_STORE,           /* STG, STL, STS, STSM, ST */
    GT_ACTION_ATOMIC,          /* ATOM, ATOMG, ATOMS: returns the old value */
    GT_ACTION_REDUCE,          /* RED: returns nothing */
    GT_ACTION_SHUFFLE,         /* SHFL: through the shared-memory crossbar */
    GT_ACTION_ASYNC_COPY,      /* LDGSTS: global to shared past the registers */
    GT_ACTION_ASYNC_COMMIT,    /* LDGDEPBAR; argument: scoreboard; ARRIVES.LDGSTSBAR too, 255 */
    GT_ACTION_SCOREBOARD_WAIT, /* DEPBAR.LE SBn, k; argument: n, argument2: k groups may be left */
    GT_ACTION_BARRIER_SYNC,    /* BAR.SYNC, BAR.RED; argument: barrier, argument2: threads or 0 (all) */
    GT_ACTION_BARRIER_ARRIVE,  /* BAR.ARV; the same */
    GT_ACTION_WARP_SYNC,       /* WARPSYNC and its kin */
    GT_ACTION_MBARRIER_INIT,   /* SYNCS.EXCH */
    GT_ACTION_MBARRIER_ARRIVE, /* SYNCS.ARRIVE; argument 1: with a count of bytes to expect */
    GT_ACTION_MBARRIER_WAIT,   /* SYNCS.PHASECHK.TRYWAIT: polled in a loop where it fails */
    GT_ACTION_BULK_LOAD,       /* UTMALDG, UBLKCP to shared: memory.bulk_bytes */
    GT_ACTION_BULK_STORE,      /* UTMASTG, UTMAREDG, UBLKCP, UBLKRED to global */
    GT_ACTION_BULK_PREFETCH,   /* UTMAPF, UBLKPF */
    GT_ACTION_BULK_COMMIT,     /* UTMACMDFLUSH: closes a group of bulk stores */
    GT_ACTION_GMMA,        /* HGMMA, QGMMA, IGMMA, BGMMA: a warp group's, asynchronous; argument 1: closes a group */
    GT_ACTION_GMMA_ARRIVE, /* WARPGROUP.ARRIVE */
    GT_ACTION_GMMA_WAIT,   /* WARPGROUP.DEPBAR.LE gsb0, k; argument2: k groups may be left */
    GT_ACTION_CLUSTER_ARRIVE, /* UCGABAR_ARV */
    GT_ACTION_CLUSTER_WAIT,   /* UCGABAR_WAIT */
    GT_ACTION_SET_REGISTERS,  /* USETMAXREG; argument: registers per thread, argument2: 1 gives, 0 takes */
    GT_ACTION_FENCE,          /* MEMBAR, FENCE, ERRBAR, CCTL */
    GT_ACTION_GRID_WAIT,      /* ACQBULK: waits for the grid before (programmatic launch) */
    GT_ACTION_GRID_RELEASE,   /* PREEXIT */
    GT_ACTION_SLEEP,          /* NANOSLEEP; argument: ns, 0 where a register says; argument2 1: .SYNCS, ends with
                                 * the phase that the instruction before it waited for */
    GT_ACTION_SPECIAL,        /* S2R, S2UR, CS2R: reads a special register */
    GT_ACTION_DIVERGE,        /* BSSY: a region begins in which warps may split */
    GT_ACTION_BRANCH,         /* whatever ends a basic block: BRA, BRX, CALL, RET, EXIT, BSYNC, ... */
    GT_ACTIONS
};

enum gt_space {
    GT_SPACE_NONE,
    GT_SPACE_GLOBAL,
    GT_SPACE_LOCAL,
    GT_SPACE_SHARED,
    GT_SPACE_CONSTANT,
    GT_SPACE_GENERIC,
    GT_SPACE_TEXTURE,
    GT_SPACE_CLUSTER /* another block's shared memory */,
    GT_SPACES
};

/* Where warps wait; the profiler's reasons (its column stall_NAME) and the model's. */
enum gt_stall {
    GT_STALL_SELECTED, /* issued: not a stall */
    GT_STALL_NOT_SELECTED,
    GT_STALL_WAIT,
    GT_STALL_LONG_SCOREBOARD,
    GT_STALL_SHORT_SCOREBOARD,
    GT_STALL_BARRIER,
    GT_STALL_MEMBAR,
    GT_STALL_MATH_PIPE,
    GT_STALL_LG_THROTTLE,
    GT_STALL_MIO_THROTTLE,
    GT_STALL_TEX_THROTTLE,
    GT_STALL_DISPATCH,
    GT_STALL_DRAIN,
    GT_STALL_CONSTANT_MISS,
    GT_STALL_NO_INSTRUCTION,
    GT_STALL_BRANCH_RESOLVING,
    GT_STALL_SLEEPING,
    GT_STALL_GMMA,
    GT_STALL_WARPGROUP_ARRIVE,
    GT_STALL_MISC,
    GT_STALLS
};

/* What SPECIAL reads, by what it is the same for. */
enum gt_special {
    GT_SPECIAL_OTHER,
    GT_SPECIAL_THREAD,
    GT_SPECIAL_LANE,
    GT_SPECIAL_BLOCK,
    GT_SPECIAL_MACHINE /* SM, clock */
};

/* The comparison that sets a predicate (ISETP, FSETP, ...). */
enum gt_compare {
    GT_COMPARE_NONE,
    GT_COMPARE_LESS,
    GT_COMPARE_AT_MOST,
    GT_COMPARE_EQUAL,
    GT_COMPARE_UNEQUAL,
    GT_COMPARE_AT_LEAST,
    GT_COMPARE_GREATER
};

/* The elements that a matrix product multiplies. */
enum gt_element { GT_ELEMENT_16_BITS, GT_ELEMENT_4_BITS, GT_ELEMENT_8_BITS, GT_ELEMENT_32_BITS, GT_ELEMENT_64_BITS };

/* A register operand: `count` registers from `number` on.  RZ, URZ and PT are left out. */
enum gt_register_file { GT_FILE_VECTOR, GT_FILE_UNIFORM, GT_FILE_PREDICATE, GT_FILE_UNIFORM_PREDICATE };
enum gt_operand_flag { GT_OPERAND_WRITTEN = 1, GT_OPERAND_REUSE = 2, GT_OPERAND_GUARD = 4, GT_OPERAND_NEGATED = 8 };
struct gt_operand {
    uint8_t file, number, count, flags;
    uint8_t place; /* of a vector register read: among the sources, from 0; GT_NO_PLACE: in none */
};

enum { GT_INSTRUCTION_OPERANDS = 8, GT_NO_BARRIER = 7, GT_NO_PLACE = 255, GT_NO_REGISTER = 255 };
enum { GT_CONSTANT_BANKS = 32, GT_CONSTANT_BANK_BYTES = 1 << 16 };

struct gt_instruction {
    uint32_t offset_bytes; /* in the kernel's code section */
    uint32_t text;         /* offset in gt_program.text: "@P0 FFMA R4, R5, R6, R4", to be shown and written */
    uint64_t executions;   /* warp instructions, by all warps */
    float threads;         /* mean threads of the warp that are active, 0..32 */
    float threads_on;      /* of those, mean not predicated off */
    uint32_t memory;       /* in gt_program.memory; GT_NONE where it moves no data */
    uint32_t constant;     /* the constant operand's address, banks one behind the other; GT_NONE where none is */
    uint16_t argument, argument2; /* see gt_action */
    uint16_t gmma_n;              /* GMMA and HMMA-like: columns (N), see also gmma_k; else 0 */
    uint16_t gmma_k;              /* GMMA and HMMA-like: depth (K) */
    uint8_t gmma_m;               /* GMMA and HMMA-like: rows (M), 64 for GMMA, 16 or 8 for HMMA */
    uint8_t element;              /* GMMA and HMMA-like: gt_element */
    uint8_t special, compare;     /* gt_special, gt_compare */
    bool guard_decides;           /* BRANCH: its guard alone says who jumps: "@P0 BRA 0x40", not "@P0 BRA P1, 0x40" */
    bool elects;                  /* ELECT: its result is true for one thread */
    uint8_t pipe, action;         /* gt_pipe, gt_action */
    /* Of the 128-bit encoding. */
    uint8_t stall_cycles;  /* before the warp's next instruction may issue, 0..15 */
    bool yield;            /* bit 109 as it stands (1: no hint to switch warps) */
    uint8_t write_barrier; /* 0..5, released when the result is there; GT_NO_BARRIER */
    uint8_t read_barrier;  /* 0..5, released when the sources have been read; GT_NO_BARRIER */
    uint8_t wait_mask;     /* bit i: waits for barrier i to be free */
    uint8_t reuse;         /* bit i: source operand i is kept for the warp's next instruction */
    uint8_t operand_count;
    struct gt_operand operands[GT_INSTRUCTION_OPERANDS]; /* the first ones in the order of the text */
};

/* Of a line of L1 or L2, what moves and is counted; the line; a register of a thread. */
enum { GT_SECTOR_BYTES = 32, GT_LINE_BYTES = 128, GT_REGISTER_BYTES = 4 };

/* Where it is: "[R2.64+UR4+0x10]" is 16 bytes behind the place that the registers name.  Of several, as LDGSTS
 * has, the first. */
struct gt_address {
    uint8_t base, base_count; /* vector registers: 2 for R2.64; base_count 0: there is none, or not known */
    uint8_t uniform;          /* register; GT_NO_REGISTER: none */
    uint8_t scale;            /* of the base, 4 for R2.X4, else 1 */
    int32_t offset_bytes;
};

/* What a memory instruction asks of the memory system: means per execution of a warp. */
struct gt_access {
    uint8_t space;       /* gt_space */
    uint8_t width_bytes; /* per thread: 1, 2, 4, 8, 16; LDSM/STSM: 4 x matrices; 0 bulk copies */
    struct gt_address address;
    bool data_address;       /* goes where loaded data say: an index, a pointer */
    uint16_t l2_fetch_bytes; /* that L2 reads of DRAM at once for it, by its modifier (LTC128B); 0: none */
    bool bypass_l1;          /* LDGSTS.BYPASS, .STRONG.GPU/SYS: not served by L1 */
    float sectors;           /* 32-byte sectors asked for (global, local), hit or miss */
    float sectors_ideal;     /* with perfect coalescing */
    float tag_requests;      /* L1 tag lookups (128-byte lines), global and local */
    float wavefronts;        /* shared-memory passes, conflicts and all; shared side of LDGSTS too */
    float wavefronts_ideal;
    float bulk_bytes; /* of one bulk copy, as far as L2 traffic tells; 0 unknown */
};

enum gt_end {
    GT_END_FALL,
    GT_END_BRANCH,
    GT_END_SWITCH,
    GT_END_CALL,
    GT_END_RETURN,
    GT_END_EXIT,
    GT_END_JOIN,
    GT_ENDS
};

/* How a warp chooses among the edges of a block. */
enum gt_choice {
    GT_CHOICE_NONE, /* one edge at most, and no warp ends here */
    GT_CHOICE_LOOP, /* one edge leaves `loop`: taken when the loop's trips are done, see gt_loop */
    GT_CHOICE_RATIO /* each edge in the share of its executions, spread by `who` */
};

/* What decides alike. */
enum gt_who {
    GT_WHO_VISIT, /* nothing: each visit of each warp anew */
    GT_WHO_WARP,  /* a warp decides the same way at each visit; shares are over the grid's warps */
    GT_WHO_ROLE,  /* warps by their number in the block: gt_edge.warps says which go where */
    GT_WHO_BLOCK  /* all warps of a thread block the same way at their n-th visit; shares are over
                   * blocks, inside loops over blocks and visits */
};

struct gt_edge {
    uint32_t to;    /* basic block */
    uint32_t warps; /* bit w: warp w of a thread block may come this way (see GT_WHO_ROLE) */
    uint64_t executions;
    uint64_t alone; /* of these: visits that took this edge only, and split no warp */
    bool back;      /* to the head of a loop that it is in */
    bool leaves;    /* the innermost loop of the block it comes from */
    bool leads_out; /* that loop can be left this way without passing its head again (or this leaves it):
                     * in a loop's last trip only such edges are taken */
};

struct gt_basic_block {
    uint32_t first, count;           /* instructions */
    uint32_t first_edge, edge_count; /* BRANCH with two: edge 0 is the target, edge 1 the next block */
    uint32_t resume;                 /* CALL: the block to return to; else GT_NONE */
    uint32_t join;                   /* where sides of a divergence begun here meet, behind a JOIN; GT_NONE */
    uint32_t loop;                   /* innermost loop it is in; GT_NONE */
    uint32_t warps;                  /* bit w: warp w of a thread block may come here */
    /* Visits by warps (a side of a divergence is a visit of its own), without tries of an mbarrier after a
     * first one failed, which the instructions' counts have. */
    uint64_t executions;
    uint64_t divergent;       /* visits after which the warp took both edges */
    uint8_t end, choice, who; /* gt_end, gt_choice, gt_who */
};

/* A natural loop.  A warp that comes to `head` from outside makes `trips` / `entries` trips (mean; whole
 * numbers spread by `who`) and leaves in its last trip, by one of the leaving edges in the ratio of their
 * executions; in trips before the last one none is taken, except for the pushed sides of divergences. */
struct gt_loop {
    uint32_t head;    /* basic block */
    uint32_t parent;  /* the loop around it; GT_NONE */
    uint64_t entries; /* arrivals at the head from outside */
    uint64_t trips;   /* executions of the head */
    uint8_t who;      /* gt_who: what trips may differ by; ROLE: by the warp's number in its block */
    bool polls;       /* waits in an mbarrier or memory: its trips are an outcome, not a cause */
    bool ends;        /* warps leave it by EXIT alone: in their last trip, and in no trip before */
};

/* The memory behaviour of a launch: what the caches did.  Rates are 0..1; negative: not known. */
struct gt_memory_use {
    double l1_load_hit, l1_store_hit;                              /* global, by sector */
    double local_load_hit, local_store_hit;                        /* local memory in L1 */
    double l2_read_hit, l2_write_hit, l2_atomic_hit;               /* of what comes from L1, by sector */
    uint64_t l2_read_sectors, l2_write_sectors, l2_atomic_sectors; /* from the SMs */
    uint64_t l2_fabric_sectors;                                    /* that went between the partitions of L2 */
    uint64_t dram_read_bytes, dram_write_bytes;
    double l2_atomic_slice_share; /* of all atomic sectors, at the busiest L2 slice; <= 0 unknown */
};

struct gt_program {
    char *key;  /* its name in the trace */
    char *text; /* instruction texts, each NUL-ended */
    uint32_t text_bytes;
    uint32_t registers_per_thread, shared_bytes; /* allocated per block, as profiled */
    uint32_t compute_capability;                 /* 90 for 9.0: of the machine code */
    uint64_t warps;                              /* of the profiled launch */
    uint32_t warps_per_block;
    uint64_t warp_instructions; /* executed by the profiled launch: the sum over instructions */
    bool warm_caches; /* profiled with caches as launches before had left them: `use` knows what they held */
    bool reuse_known; /* instructions' `reuse` was recorded, though none may keep anything */
    bool flow_broken; /* counts contradict the flow somewhere: totals of walks will be off */
    struct gt_instruction *instructions;
    uint32_t instruction_count;
    struct gt_access *memory;
    uint32_t memory_count;
    struct gt_basic_block *blocks;
    uint32_t block_count;
    struct gt_edge *edges;
    uint32_t edge_count;
    struct gt_loop *loops;
    uint32_t loop_count;
    uint32_t *samples; /* [instruction * GT_STALLS + reason]: profiler's stall samples; NULL none */
    /* Of the launch it was made from: the default for launches that have no profile of their own. */
    struct gt_memory_use use;
    uint32_t cluster_blocks; /* thread blocks of a cluster; 0 not known */
    /* The SMs' clock while it ran, as a part of what it is otherwise: tensor cores at work draw so much power
     * that the clock falls.  0: not known, as ever. */
    double clock_share;
    uint64_t launch_warp_instructions, busiest_warp_instructions; /* see gt_profile; 0 unknown */
    uint32_t sharers; /* workloads that hold it beside the first: gt_program_free() counts down */
};

/* A launch that was profiled. */
struct gt_profile {
    uint32_t op;                        /* in the workload's ops */
    uint64_t cycles;                    /* gpc__cycles_elapsed.max */
    double sm_hz;                       /* mean SM clock while it ran; 0 unknown */
    uint64_t warp_instructions;         /* smsp__inst_executed.sum */
    uint64_t busiest_warp_instructions; /* smsp__inst_executed.max: of one sub-partition; 0 unknown */
    uint32_t cluster[3];                /* thread blocks; 1, 1, 1 without clusters */
    uint32_t shared_carveout_bytes;     /* shared memory that the SM was set to; 0 unknown */
    uint32_t blocks_per_sm;             /* the profiler's limit of residents; 0 unknown */
    struct gt_memory_use use;
};

/* The text of an instruction, to be shown; "?" in a program without. */
const char *gt_program_text(const struct gt_program *program, uint32_t instruction);

/* Let go of a program: the last of its sharers frees what it owns, and the program. NULL is allowed. */
void gt_program_free(struct gt_program *program);

/* Names of enum values as they stand in reports ("alu", "long_scoreboard", ...). */
extern const char *const gt_pipe_names[GT_PIPES];
extern const char *const gt_stall_names[GT_STALLS];
extern const char *const gt_space_names[GT_SPACES];

#endif
