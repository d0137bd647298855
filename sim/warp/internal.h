/* internal.h - the insides of the warp tier, shared by the files of this room.
 *
 * Time is whole SM cycles from the start of the SM's first block.  Queues keep their time in fractions.
 */
#ifndef GRIDTIDE_SIM_WARP_INTERNAL_H
#define GRIDTIDE_SIM_WARP_INTERNAL_H

#include "sim/base/named_table.h"
#include "sim/devices/device.h"
#include "sim/warp/launch_types.h"
#include "sim/workload/workload.h"

enum {
    GT_WARP_SLOTS = 32,           /* warps that a sub-partition can hold, at most */
    GT_WARP_DEPTH = 32,           /* sides of divergences and calls a warp can have open */
    GT_WARP_BANKS = 2,            /* of a sub-partition's register file: Volta to Hopper */
    GT_WARP_RING = 16,            /* outstanding operations a counting wait looks back on */
    GT_WARP_BARRIERS = 16,        /* named barriers of a block */
    GT_WARP_PHASES = 64,          /* phases of a block's pipeline that are told apart */
    GT_WARP_GATES = GT_PIPES + 1, /* pipes, and the queue of global and local accesses */
    GT_WARP_GATE_LG = GT_PIPES
};
#define GT_WARP_NEVER UINT64_MAX

/* An instruction, ready to run. */
struct gt_decoded_inst {
    uint8_t action, pipe, gate;
    uint8_t stall; /* cycles, at least 1 */
    uint8_t wait_mask, write_barrier, read_barrier;
    uint8_t cause; /* gt_stall of those who wait for its result */
    bool last;     /* of its basic block */
    bool commits;  /* closes a group of asynchronous matrix products */
    uint16_t argument, argument2;
    uint32_t line;                  /* of the instruction cache */
    uint32_t constant;              /* line of the constant cache that it reads; GT_NONE */
    uint8_t reads[GT_WARP_BANKS];   /* registers, of each bank, with what the warp's last instruction kept */
    uint8_t all[GT_WARP_BANKS];     /* registers read, by bank, where another warp has issued since this one */
    float interval, latency;        /* cycles */
    float counts;                   /* an mbarrier's: the part of its executions that mean something, 0..1 */
    const struct gt_access *access; /* NULL: moves no data */
    float l1_miss, l2_miss;         /* a load: of its sectors, of those that reach L2 */
    float l2_wait;                  /* of its sectors that reach L2: they wait for DRAM, see in_flight.c */
    bool once;                      /* what it reads misses L2 the first time only */
};

/* One warp that is resident. */
struct gt_warp_state {
    const struct gt_decoded_inst *op; /* the next instruction; NULL: no warp here */
    uint64_t since;                   /* its last issue */
    uint64_t stall_until;             /* since, and the stall count */
    uint64_t hold_until;              /* what its last instruction waits for */
    uint64_t scoreboard[8];           /* when each is free */
    uint64_t ring[6][GT_WARP_RING];   /* outstanding by scoreboard, for waits that count */
    uint64_t copies_done;             /* of asynchronous copies so far */
    uint64_t stores_done, bulk_done;  /* of stores so far, of bulk stores */
    uint64_t gmma_done, gmma_ring[GT_WARP_RING];
    uint64_t gmma_groups, ring_count[6];
    double arrivals, waits;       /* at mbarriers: parts, where not every one counts */
    uint64_t fills;               /* phases that it has filled by asynchronous copies */
    uint32_t slot, number, block; /* of its thread block; in the thread block; of the basic blocks */
    uint32_t reads;               /* loads of global memory so far */
    uint32_t barrier;             /* that it waits in; GT_NONE */
    uint8_t sub, place;
    uint8_t scoreboard_cause[8], hold_cause;
    bool blocked;              /* until another warp wakes it */
    bool phase_wait;           /* has asked for a phase of the pipeline that is not there yet */
    uint8_t phase_mask;        /* who waits for this scoreboard needs the answer; 0: any instruction */
    uint8_t calls, simt_depth; /* on the stacks */
    uint32_t call[GT_WARP_DEPTH];
    struct {
        uint32_t block, join;
    } simt_stack[GT_WARP_DEPTH];
    uint32_t *trips;       /* [loop]: left, this one included */
    uint32_t *exits;       /* [loop]: edge that the last trip leaves by */
    uint32_t *fixed_trips; /* [loop]: by warp; GT_NONE not yet drawn */
    uint32_t *entries;     /* [loop]: times it came from outside */
    uint32_t *visits;      /* [basic block]: times it chose */
    uint8_t *decided;      /* [basic block]: 1 + choice, where a warp decides once */
};

/* Choices that all warps of a block make alike at their n-th visit: the last ones. */
struct gt_wshared {
    uint32_t drawn, choice[GT_WARP_RING];
};

/* A thread block that is resident. */
struct gt_wblock {
    bool used;
    uint32_t warps, alive, row;     /* row: which of the SM's blocks it is */
    uint64_t stores_done;           /* of the warps that have ended */
    struct gt_warp_state **members; /* [warps]; NULL: ended */
    uint32_t arrived[GT_WARP_BARRIERS];
    uint64_t loads;   /* bulk loads issued */
    uint64_t expects; /* arrivals that state bytes */
    uint64_t phase_ready[GT_WARP_PHASES];
    uint64_t consumed;          /* phases that all consumers are done with */
    struct gt_wshared *trips;   /* [loop] */
    struct gt_wshared *choices; /* [basic block] */
};

/* A sub-partition. */
struct gt_smsp {
    uint64_t ready[GT_WARP_SLOTS]; /* of each place's next instruction; NEVER: none, or blocked */
    uint32_t age[GT_WARP_SLOTS];
    uint8_t gate[GT_WARP_SLOTS];
    uint64_t free[GT_WARP_GATES]; /* when each pipe takes the next instruction */
    uint64_t light_free;          /* the half of the FMA pipe that does not multiply integers */
    double carry[GT_WARP_GATES];  /* fractions of cycles */
    double tensor_free;
    uint64_t held;                     /* it does not issue before, for what is still to be read of registers */
    uint64_t bank_free[GT_WARP_BANKS]; /* when each bank of the register file has read what was issued */
    uint64_t next;                     /* the first cycle at which it may issue */
    uint32_t places, last;             /* in use at most; that issued last */
    uint32_t warps;
    uint64_t issued;
    struct gt_warp_state *warp[GT_WARP_SLOTS];
    void *scheduler_state; /* the scheduler's own */
};

/* A program, ready to run, and what the launch as a whole says about it. */
struct gt_decoded_program {
    const struct gt_program *program;
    struct gt_memory_use use;
    struct gt_decoded_inst *ops;  /* [instruction] */
    struct gt_access *no_access;  /* what an access without data points to */
    uint32_t *first_exit, *exits; /* [loop], [loop + 1]: where its edges that leave it begin in `exits` */
    double *exit_sum;             /* [loop]: executions of those */
    bool *long_loop;              /* [loop]: the one of its nest with the most trips */
    double *kept;                 /* [loop]: the part of trips beyond the first that are work, see waiting.c */
    bool *more_work;              /* [edge]: the fullest SM's first blocks take it, see rare_paths.c */
    bool *rare;                   /* [edge]: only the SM's last block takes it, see rare_paths.c */
    uint32_t lines, constants;
    uint8_t ring_mask;     /* scoreboards with waits that count */
    double atomic_sectors; /* of a global atomic, mean */
    double l2_per_bulk;    /* bytes that L2 reads by byte of a bulk load: less where one read serves
                                   * several blocks of a cluster */
    double loads_per_phase;
    uint32_t producers, consumers; /* masks of warps: fill and empty the block's pipeline */
    bool bulk, copies;             /* bulk loads fill phases; asynchronous copies do */
    bool consumers_arrive;
    double arrival_scale; /* phases that a weighted arrival empties */
    uint32_t stages;
    uint32_t pollers;                           /* mask of warps that wait in loops; 0: none is known to */
    double l2_per_load, l2_per_store;           /* sectors that L2 saw, by sector that misses L1 by its hit rates */
    double dram_per_l2_read, dram_per_l2_write; /* bytes of DRAM by byte of L2 read, and written */
    double dram_per_l2_atomic;                  /* bytes that DRAM reads, by byte of atomics */
    double kept_per_l2_write;                   /* bytes that L2 keeps as if they went to DRAM, by byte written */
    double l2_atomic_miss;                      /* share of atomics' sectors that wait for DRAM */
    double dram_per_l2_miss;                    /* bytes of DRAM by byte of L2 read that waits for it */
    double fabric_per_read, fabric_per_write;   /* bytes between the halves of L2, by byte read, by byte written */
    double l2_read_miss;                        /* share of reads that wait for DRAM */
    double dram_efficiency;
    double mixed; /* 0: DRAM reads, or writes; 1: half of it each */
};

/* A server of the memory system: it serves one after the other, and is the slower the busier it is. */
struct gt_mem_queue {
    double free;   /* when it has served all so far */
    double busy;   /* part of the last thousands of cycles that it worked */
    double at;     /* when that was last looked at */
    double worked; /* cycles, so far */
};

/* The SM. */
struct gt_sm_core {
    const struct gt_device *device;
    const struct gt_warp_costs *costs;
    const struct gt_warp_launch *launch;
    const struct gt_scheduler_policy *scheduler; /* scheduler.h */
    double scheduler_parameters[GT_NAMED_PARAMETERS];
    struct gt_decoded_program code;
    struct gt_smsp subs[GT_WARP_SUBS];
    struct gt_wblock *blocks;    /* [blocks_per_sm] */
    struct gt_warp_state *warps; /* [warps] */
    uint32_t *free_warps, free_warp_count;
    uint32_t warp_count, ages, resident;
    /* the grid as this SM sees it */
    uint64_t sm_blocks, sm_blocks_started, rows_ended;
    uint64_t more_rows; /* of these, beyond what each SM gets if all get alike */
    uint64_t *starts;   /* [blocks_per_sm]: places that a block comes to, and when; sorted */
    uint32_t start_count;
    double retire_free;
    double barrier_free;      /* when the warps so far have arrived at their barriers */
    double trip_share;        /* of the trips of long loops, that are made */
    double most_instructions; /* more are a walk that does not end */
    double share;             /* SMs that compete, in units of this one */
    uint64_t *ended_at;       /* [sm_blocks] */
    /* caches */
    uint64_t *line_ready, *constant_ready;
    /* queues */
    struct gt_mem_queue lsu, l2_read, l2_write, l2_tags, fabric, dram, atomic, tma, port, out;
    double l1_carry[4], dram_carry[3], far_count;
    double memory_end; /* of stores on their way */
    double translated; /* when addresses are first known; 0: nobody has asked */
    double *edge_carry, *loop_carry, *block_carry;
    /* what was seen */
    uint64_t now, issued[GT_PIPES], simulated;
    double bank_reads[GT_WARP_BANKS]; /* cycles, of all sub-partitions */
    uint64_t in_a_row;                /* warp instructions that could follow their warp's last one at once */
    double *stalls;                   /* [instruction * GT_STALLS + reason] */
    double lsu_busy, l2_bytes, dram_bytes, warp_cycles;
    double l2_read_bytes, l2_read_cycles, l2_write_cycles; /* cycles: of L2, for all SMs that compete */
    double reads, read_cycles;                             /* beyond L1, and how long they were under way */
    uint64_t forced;                                       /* waits for a phase that nothing would have ended */
    uint64_t resident_since;
};

/* sm_state.c: an SM whose code is decoded, before its first block; the end of one. */
void gt_warp_build(struct gt_sm_core *sm);
void gt_warp_tear_down(struct gt_sm_core *sm);

/* decode.c: `code` from a program, on a device; 0, or -1 with the reason. */
int gt_warp_decode(struct gt_decoded_program *code, const struct gt_device *device,
                   const struct gt_warp_launch *launch, struct gt_error *error);
void gt_warp_decode_free(struct gt_decoded_program *code);

/* misses.c: which loads miss: l1_miss, l2_miss and, of an L2 that holds `l2_bytes`, once of each op. */
void gt_warp_find_misses(struct gt_decoded_program *code, double l2_bytes);
/* Sectors that the executions of instruction `i`, if it is a load, ask of L1, or of L2; 0: it is none. */
double gt_warp_sectors_asked(const struct gt_decoded_program *code, uint32_t i, bool l2);

/* Trips of a loop that is entered once, in the mean. */
static inline double gt_warp_mean_trips(const struct gt_loop *loop)
{
    return loop->entries > 0 ? (double)loop->trips / (double)loop->entries : 1;
}

/* in_flight.c: l2_wait of each op, of a launch on a GPU of `sms`. */
void gt_warp_find_in_flight(struct gt_decoded_program *code, const struct gt_warp_launch *launch,
                            const struct gt_warp_costs *costs, uint32_t sms);

/* rare_paths.c: find the edges that few blocks take, and those with the work: code->rare, code->more_work. */
void gt_warp_find_rare(struct gt_decoded_program *code, const struct gt_device *device);

/* register_banks.c: the registers that each instruction reads: `reads` of each op. */
void gt_warp_find_reads(struct gt_decoded_program *code);

/* waiting.c: what of a program's loops is waiting for others. */
struct gt_warp_waiting {
    double
        *kept;   /* [loop]: the part of trips beyond the first that are work; 0: it is gone through once. free() it */
    double idle; /* warp instructions of the profiled launch that are not run for it */
};
struct gt_warp_waiting gt_warp_find_waiting(const struct gt_warp_launch *launch);

/* control_flow.c: the warp's first instruction; the one behind the last of a basic block (NULL: the warp has
 * ended); *taken: it takes a jump to get there. */
void gt_warp_walk_start(struct gt_sm_core *sm, struct gt_warp_state *warp);
const struct gt_decoded_inst *gt_warp_walk_next(struct gt_sm_core *sm, struct gt_warp_state *warp, bool *taken);

/* memory.c: an access at `now`: when its result is there, and when its sources have been read. */
struct gt_wtimes {
    double data, read;
};
/* Of an access's sectors, 0..1. */
double gt_warp_hit_rate(const struct gt_memory_use *use, const struct gt_access *access, bool load);
struct gt_wtimes gt_warp_access(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                                uint64_t now);
struct gt_wtimes gt_warp_atomic(struct gt_sm_core *sm, const struct gt_decoded_inst *op, uint64_t now);
double gt_warp_bulk(struct gt_sm_core *sm, double bytes, bool write, uint64_t now);
double gt_warp_lsu(struct gt_sm_core *sm, double cycles, uint64_t now);

/* sync.c: barriers of a block, its pipeline of bulk loads.  gt_warp_fill: the warp's copies so far fill
 * a phase.  gt_warp_force: nothing can issue; let warps that wait for a phase go on; false: there is none. */
void gt_warp_barrier(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                     uint64_t now, bool wait);
bool gt_warp_force(struct gt_sm_core *sm, uint64_t now);
void gt_warp_fill(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t now);
void gt_warp_ended(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t now);
void gt_warp_bulk_load(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                       uint64_t now);
void gt_warp_phase_arrive(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                          uint64_t now);
void gt_warp_phase_wait(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                        uint64_t now);

/* execute.c: what an instruction does when it issues. */
void gt_warp_act(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now);

/* issue.c: make the warp's next instruction known to its sub-partition; run until all blocks ended. */
void gt_warp_set_ready(struct gt_sm_core *sm, struct gt_warp_state *warp);
/* A blocked warp goes on at `at`, for `cause`. */
void gt_warp_wake(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t at);
int gt_warp_loop(struct gt_sm_core *sm, struct gt_error *error);

/* blocks.c: blocks come and go; gt_warp_block_place() has a place's next block begin its walk, without time. */
void gt_warp_block_place(struct gt_sm_core *sm, struct gt_wblock *block);
void gt_warp_grid_begin(struct gt_sm_core *sm);
void gt_warp_block_start(struct gt_sm_core *sm, uint64_t now);
void gt_warp_block_end(struct gt_sm_core *sm, struct gt_wblock *block, uint64_t now);

#endif
