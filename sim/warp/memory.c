/* memory.c - the memory system as one SM sees it: queues with a rate and a latency.
 *
 * The load/store unit serves a wavefront or a tag lookup a cycle for the whole SM.  What misses L1 goes
 * through the SM's port and its share of L2; what misses L2 through its share of DRAM.  Queues are served in
 * the order of issue, so the time at which an access is done is known when it issues.  Hits are spread
 * in whole lines at the rates of the launch.
 */
#include "sim/warp/memory.h"

#include <math.h>

#include "sim/warp/internal.h"

/* A queue busier than this counts as this busy: what waits for it is not endless. */
#define MOST_BUSY 0.97

/* Count `cycles` of work that came at `from` to how busy the queue is. */
static void count_busy(const struct gt_sm_core *sm, struct gt_mem_queue *queue, double from, double cycles)
{
    double window = sm->costs->crowd_window_cycles;
    double passed = fmax(0, from - queue->at);

    queue->busy = (queue->busy * window + cycles) / (window + passed);
    queue->at = fmax(queue->at, from);
}

/* When what comes at `from` and takes `cycles` has been served. */
static double serve(const struct gt_sm_core *sm, struct gt_mem_queue *queue, double from, double cycles)
{
    queue->free = fmax(queue->free, from) + cycles;
    queue->worked += cycles;
    count_busy(sm, queue, from, cycles);
    return queue->free;
}

/* Requests come in bursts and to the same banks: the wait beyond a fair queue's.  Loads of an H100 and an H200 that were read,
 * copied and added at 4 to 64 % of DRAM's peak waited longer nearly in proportion to that (validate/scripts/dram_load.cu). */
double gt_warp_queueing_delay(double busy, double cycles)
{
    busy = busy < MOST_BUSY ? busy : MOST_BUSY;
    return cycles * 2 * busy * sqrt(sqrt(0.5 / (1 - busy)));
}

static double crowd(const struct gt_mem_queue *queue, double cycles)
{
    return gt_warp_queueing_delay(queue->busy, cycles);
}

/* Close the gates to the load/store unit while its queue is longer than the device holds. */
static void close_gates(struct gt_sm_core *sm, uint64_t now)
{
    double lsu = sm->lsu.free - sm->costs->lsu_queue_cycles;
    double busy = fmax(fmax(sm->l2_read.free, sm->l2_write.free), fmax(sm->dram.free, sm->atomic.free));
    busy = fmax(busy, fmax(sm->fabric.free, sm->l2_tags.free));
    double lg = fmax(lsu, busy - sm->costs->lg_queue_cycles);

    for (uint32_t s = 0; s < GT_WARP_SUBS; s++) {
        uint64_t *free = sm->subs[s].free;

        if (lsu > (double)now && (uint64_t)lsu > free[GT_PIPE_LSU])
            free[GT_PIPE_LSU] = (uint64_t)lsu;
        if (lg > (double)now && (uint64_t)lg > free[GT_WARP_GATE_LG])
            free[GT_WARP_GATE_LG] = (uint64_t)lg;
    }
}

double gt_warp_lsu(struct gt_sm_core *sm, double cycles, uint64_t now)
{
    double done = serve(sm, &sm->lsu, (double)now, cycles);

    sm->lsu_busy += cycles;
    close_gates(sm, now);
    return done;
}

/* `amount` of which `share` is taken in whole units; the carry keeps what is owed. */
static double whole_part(double *carry, double amount, double share)
{
    double owe = *carry + amount * share, whole = fmin(floor(owe + 1e-6), ceil(amount));

    *carry = owe - whole;
    return whole;
}

/* Cycles of this SM for `bytes`, at the rate that all SMs share; none faster than its `port`. */
static double share_of(const struct gt_sm_core *sm, double bytes, double rate, double port)
{
    return fmax(bytes * sm->share / rate, bytes / port);
}

static double dram_cycles(const struct gt_sm_core *sm, double bytes)
{
    double per_cycle = sm->costs->dram_gbps * 1e3 / sm->device->clock_mhz * sm->code.dram_efficiency;

    return bytes * sm->share / per_cycle;
}

/* Part of L2's traffic crosses between its halves. */
static double cross(struct gt_sm_core *sm, double bytes, double from)
{
    return serve(sm, &sm->fabric, from, bytes * sm->share / sm->costs->l2_fabric_bytes_per_cycle);
}

/* `lines` looked up in L2; what crosses between the halves is looked up in both. */
static double look_up(struct gt_sm_core *sm, double lines, double from)
{
    return serve(sm, &sm->l2_tags, from, lines * sm->share / sm->costs->l2_requests_per_cycle);
}

/* Reads wait for the first one's translation of addresses. */
static double translate(struct gt_sm_core *sm, double from)
{
    if (sm->translated <= 0)
        sm->translated = from + (uint64_t)(sm->costs->first_access_cycles * (1 - sm->launch->l2_reuse_fraction));
    return fmax(from, sm->translated);
}

/* A sum of shares this much below a whole number is that number. */
#define WHOLE 1e-3

/* Lines that a read of `lines` waits for DRAM for.  What is read again and again misses the first time, and
 * then all of it; what does not stay in L2 misses here and there.  Blocks that read the same wait for it in the same
 * trips of a loop. */
static double missed_lines(struct gt_sm_core *sm, const struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                           double lines)
{
    if (op->l2_wait > op->l2_miss) {
        uint32_t left = warp->trips[sm->code.program->blocks[warp->block].loop];

        return floor(left * op->l2_wait + WHOLE) > floor((left - 1.0) * op->l2_wait + WHOLE) ? lines : 0;
    }
    if (op->once)
        return lines * whole_part(&sm->dram_carry[1], 1, op->l2_miss);
    return whole_part(&sm->dram_carry[0], lines, op->l2_miss);
}

/* DRAM answers at times that differ as if drawn from an exponential distribution: rows, banks, refresh.  Of
 * `lines` far apart the last one counts.  Those in a row (`whole`: 1) come together, and the warps of a block
 * that read side by side wait alike (measured on an H200).  In means of the distribution; the same in each
 * run. */
static double slowest(const struct gt_sm_core *sm, const struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                      double lines, double whole)
{
    double apart = fmax(1, 1 + (lines - 1) * (1 - whole * (1 - sm->costs->dram_row_part)));
    uint64_t row = sm->blocks[warp->slot].row, number = (uint64_t)(op - sm->code.ops);
    uint64_t x = row << 40 ^ number << 20 ^ warp->reads;

    x += whole < 0.5 ? (uint64_t)warp->number << 56 : 0;
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return -log(1 - pow((double)((x ^ x >> 32) >> 11) * 0x1p-53, 1 / apart));
}

/* A read that left L1: `missed` of its `lines` wait for DRAM, from which `dram_bytes` come. */
struct read {
    double bytes, lines, missed, dram_bytes, slowest, apart;
};

/* When the last of a read that left L1 at `from` is in the SM. */
static double read_l2(struct gt_sm_core *sm, const struct read *read, double from)
{
    const struct gt_warp_costs *costs = sm->costs;

    /* The first request goes when the port is free. */
    from = fmax(translate(sm, from), sm->out.free);
    serve(sm, &sm->out, from, read->lines * costs->sm_line_cycles);
    double l2 = serve(sm, &sm->l2_read, from,
                      share_of(sm, read->bytes, costs->l2_read_bytes_per_cycle, costs->sm_bytes_per_cycle));
    double tags = look_up(sm, read->lines * (1 + sm->code.fabric_per_read), from);
    double dram = serve(sm, &sm->dram, from, dram_cycles(sm, read->dram_bytes));
    double fabric = cross(sm, read->bytes * sm->code.fabric_per_read, from);
    /* One line comes from the near or the far half of L2; of many, some come from the far one. */
    bool far = whole_part(&sm->far_count, 1, 1 - pow(0.5, fmax(1, read->lines))) > 0;
    double l2_crowd = crowd(&sm->l2_read, costs->l2_queueing_cycles);
    double done =
        fmax(fmax(fmax(l2, tags), fabric), from + l2_crowd) + (far ? costs->l2_far_latency : costs->l2_near_latency);

    if (read->missed > 0) {
        double mixed = sm->code.mixed;
        double dram_crowd =
            crowd(&sm->dram, costs->dram_queueing_cycles * (1 - mixed) + costs->dram_mixed_queueing_cycles * mixed);

        done = fmax(done, fmax(fmax(dram, fabric), from + dram_crowd) + costs->dram_latency +
                              costs->dram_spread * read->slowest + costs->dram_apart_cycles * read->apart);
    }
    sm->l2_bytes += read->bytes;
    sm->l2_read_bytes += read->bytes;
    sm->l2_read_cycles += read->bytes * sm->share / costs->l2_read_bytes_per_cycle;
    sm->dram_bytes += read->dram_bytes;
    sm->reads++;
    sm->read_cycles += done - from;
    return done;
}

/* `lookups` of lines in L2. */
static double write_l2(struct gt_sm_core *sm, double bytes, double lookups, double from)
{
    from = serve(sm, &sm->out, from, bytes / sm->costs->sm_write_bytes_per_cycle);
    double l2 = serve(sm, &sm->l2_write, from, bytes * sm->share / sm->costs->l2_write_bytes_per_cycle);
    double to_dram = bytes * sm->code.dram_per_l2_write;
    double dram = to_dram > 0 ? serve(sm, &sm->dram, from, dram_cycles(sm, to_dram)) : 0;
    count_busy(sm, &sm->dram, from, dram_cycles(sm, bytes * sm->code.kept_per_l2_write));
    double fabric = cross(sm, bytes * sm->code.fabric_per_write, from);
    double tags = look_up(sm, lookups, from);
    double done = fmax(fmax(fmax(l2, fabric), dram), tags) + sm->costs->l2_near_latency;

    sm->l2_bytes += bytes;
    sm->l2_write_cycles += bytes * sm->share / sm->costs->l2_write_bytes_per_cycle;
    sm->dram_bytes += to_dram;
    sm->memory_end = fmax(sm->memory_end, done);
    return done;
}

double gt_warp_hit_rate(const struct gt_memory_use *use, const struct gt_access *access, bool load)
{
    bool local = access->space == GT_SPACE_LOCAL;
    double rate = load ? (local ? use->local_load_hit : use->l1_load_hit) : (local ? use->local_store_hit : 0);

    return access->bypass_l1 || rate < 0 ? 0 : rate;
}

/* Cycles of the load/store unit for an access to L1: it looks up some lines at once and moves some bytes. */
static double l1_passes(const struct gt_warp_costs *costs, const struct gt_access *access)
{
    return fmax(fmax(1, access->tag_requests / costs->l1_lines_per_cycle),
                access->sectors_ideal * GT_SECTOR_BYTES / costs->l1_bytes_per_cycle);
}

/* A load is given what L1 has of it a line a cycle: 32 warps of an SM that each loaded from 32 lines, of which L1 had
 * 31, took 33 cycles a load (measured on an H200). */
static double load_passes(const struct gt_sm_core *sm, const struct gt_decoded_inst *op)
{
    return fmax(l1_passes(sm->costs, op->access), op->access->tag_requests * (1 - op->l1_miss));
}

/* Cycles that a wide load's registers come later by. */
static double taken_in(const struct gt_warp_costs *costs, const struct gt_decoded_inst *op)
{
    double registers = op->access->width_bytes / (double)GT_REGISTER_BYTES;

    return op->action == GT_ACTION_LOAD ? fmax(0, registers - 1) * costs->load_register_cycles : 0;
}

/* Global and local loads and copies. */
static struct gt_wtimes load_global(struct gt_sm_core *sm, struct gt_warp_state *warp,
                                    const struct gt_decoded_inst *op, uint64_t now)
{
    warp->reads++;
    const struct gt_access *access = op->access;
    double lines = fmax(1, access->tag_requests);
    /* A copy that goes through L1 is written to shared memory in passes of its own; one that does not
     * arrives beside them (counted on an H200). */
    double copied = op->action == GT_ACTION_ASYNC_COPY && !access->bypass_l1 ? access->wavefronts : 0;
    double lsu = gt_warp_lsu(sm, load_passes(sm, op) + copied, now);
    bool local = access->space == GT_SPACE_LOCAL;
    double missed = whole_part(&sm->l1_carry[local], lines, op->l1_miss);
    struct gt_wtimes times = { lsu + sm->costs->l1_latency + taken_in(sm->costs, op), lsu };

    if (missed > 0 && access->sectors > 0) {
        double part = sm->code.l2_per_load, bytes = GT_SECTOR_BYTES * access->sectors * missed / lines * part;
        struct read read = { .bytes = bytes,
                             .lines = missed * part,
                             .missed = missed_lines(sm, warp, op, missed * part),
                             .dram_bytes = bytes * sm->code.dram_per_l2_miss * op->l2_miss };

        double whole = fmin(1, access->sectors_ideal / access->sectors);
        read.slowest = read.missed > 0 ? slowest(sm, warp, op, read.missed, whole) : 0;
        read.apart = 1 - whole;
        times.data = fmax(times.data, read_l2(sm, &read, lsu));
    }
    return times;
}

/* Lookups of a line that is stored.  A sector written in part is looked up again: an H200 stores 37.8 words a
 * cycle at random places in 8 MiB, where it loads 77 (and adds to 52). */
static double store_lookups(const struct gt_sm_core *sm, const struct gt_access *access)
{
    double filled = access->sectors > 0 ? fmin(1, access->sectors_ideal / access->sectors) : 1;

    return 1 + fmax(sm->code.fabric_per_write, 1 - filled);
}

static struct gt_wtimes store_global(struct gt_sm_core *sm, const struct gt_decoded_inst *op, uint64_t now)
{
    const struct gt_access *access = op->access;
    double lsu = gt_warp_lsu(sm, l1_passes(sm->costs, access), now);
    double part = sm->code.l2_per_store * (1 - gt_warp_hit_rate(&sm->code.use, access, false));
    double lines = fmax(1, access->tag_requests) * part;
    double lookups = lines * store_lookups(sm, access);
    struct gt_wtimes times = { write_l2(sm, GT_SECTOR_BYTES * access->sectors * part, lookups, lsu), lsu };

    return times;
}

static struct gt_wtimes shared(struct gt_sm_core *sm, const struct gt_decoded_inst *op, uint64_t now)
{
    double passes = fmax(1, op->access->wavefronts);
    double lsu = gt_warp_lsu(sm, passes, now);
    double latency = op->access->space == GT_SPACE_CLUSTER ? sm->costs->l2_near_latency : sm->costs->shared_latency;

    return (struct gt_wtimes){ lsu - 1 + latency + taken_in(sm->costs, op), lsu };
}

struct gt_wtimes gt_warp_access(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                                uint64_t now)
{
    const struct gt_access *access = op->access;

    switch (access->space) {
    case GT_SPACE_CONSTANT: return (struct gt_wtimes){ (double)now + sm->costs->constant_latency, (double)now };
    case GT_SPACE_SHARED:
    case GT_SPACE_CLUSTER: return shared(sm, op, now);
    case GT_SPACE_GENERIC:
        if (access->sectors <= 0)
            return shared(sm, op, now);
        /* fall through */
    default: return op->action == GT_ACTION_STORE ? store_global(sm, op, now) : load_global(sm, warp, op, now);
    }
}

/* Atomics count as spread over all slices if the busiest one gets no more than so many times an even part. */
#define SPREAD 1.5

/* Cycles of the busiest L2 slice for an atomic.  Those that keep only a few slices busy follow each other there as fast
 * as it takes them; of those spread over all slices, each waits for others on the way (counted on an H200: 1.45 where the
 * busiest slice gets an eighth of them or more, 1.75 to 1.85 where it gets a 40th or less). */
static double slice_cycles(const struct gt_warp_costs *costs, double slice)
{
    double spread = fmin(1, pow(SPREAD * costs->atomic_slice_part / slice, 2));

    return costs->atomic_cycles + spread * (costs->atomic_spread_cycles - costs->atomic_cycles);
}

struct gt_wtimes gt_warp_atomic(struct gt_sm_core *sm, const struct gt_decoded_inst *op, uint64_t now)
{
    const struct gt_warp_costs *costs = sm->costs;
    const struct gt_access *access = op->access;

    if (access->space == GT_SPACE_SHARED || (access->space == GT_SPACE_GENERIC && access->sectors <= 0)) {
        double lsu = gt_warp_lsu(sm, fmax(1, access->wavefronts) * costs->shared_atomic_cycles, now);

        return (struct gt_wtimes){ lsu + costs->shared_latency, lsu };
    }
    double sectors = sm->code.atomic_sectors;
    double lsu =
        gt_warp_lsu(sm, fmax(l1_passes(costs, access), sectors * GT_SECTOR_BYTES / costs->l1_bytes_per_cycle), now);
    double share = sm->code.use.l2_atomic_slice_share, slice = share > 0 ? share : costs->atomic_slice_part;
    double busy = sectors * slice * slice_cycles(costs, slice) * sm->share;
    serve(sm, &sm->out, lsu, access->tag_requests * costs->sm_line_cycles);
    lsu = fmax(lsu, sm->out.free);
    double l2 = serve(sm, &sm->atomic, lsu, busy);
    double bytes = GT_SECTOR_BYTES * sectors, lookups = sectors * (1 + sm->code.fabric_per_write);
    double done = fmax(l2, write_l2(sm, bytes, lookups, lsu) - costs->l2_near_latency);

    double missed = whole_part(&sm->dram_carry[2], sectors, sm->code.l2_atomic_miss);
    if (missed > 0) {
        double dram = serve(sm, &sm->dram, lsu, dram_cycles(sm, bytes * sm->code.dram_per_l2_atomic));

        /* 1 + log(n): about the mean of the last of n that are exponentially distributed. */
        done = fmax(done, dram + costs->dram_latency + costs->dram_apart_cycles +
                              costs->dram_spread * (1 + log(fmax(1, missed))) - costs->l2_far_latency);
    }
    sm->memory_end = fmax(sm->memory_end, done + costs->l2_near_latency);
    close_gates(sm, now);
    return (struct gt_wtimes){ done + costs->l2_far_latency, lsu };
}

double gt_warp_bulk(struct gt_sm_core *sm, double bytes, bool write, uint64_t now)
{
    double start = serve(sm, &sm->tma, (double)now, sm->costs->bulk_issue_cycles);

    if (write)
        return write_l2(sm, bytes, fmax(1, bytes / GT_LINE_BYTES) * (1 + sm->code.fabric_per_write), start) +
               sm->costs->bulk_latency;
    double port = serve(sm, &sm->port, start, bytes / sm->costs->sm_bytes_per_cycle);
    bytes *= sm->code.l2_per_bulk;
    struct read read = { .bytes = bytes,
                         .lines = fmax(1, bytes / GT_LINE_BYTES),
                         .slowest = 1,
                         .dram_bytes = bytes * sm->code.dram_per_l2_read };
    read.missed = whole_part(&sm->dram_carry[0], read.lines, sm->code.l2_read_miss);
    double done = read_l2(sm, &read, start);
    return fmax(done, port + sm->costs->l2_near_latency) + sm->costs->bulk_latency;
}
