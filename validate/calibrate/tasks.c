/* tasks.c - what it costs that blocks of one kernel hand out tasks among themselves: one word of memory asked by many,
 * and the executor's own steps, each from its tasks' records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/calibrate/tasks.h"
#include "kernels/executor/executor.h"
#include "kernels/library.h"
#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum { ROUNDS = 400, SIZES = 6, SETTLE = 20, TASKS = 400, CHAIN_WORKERS = 2, THREADS = 128, MOST_BLOCKS = 528 };
static const double task_us = 2;

/* Where things lie in device[0]. */
enum { STATE_AT = 64 << 20, INITIAL_AT = 128 << 20, LOG_AT = 192 << 20 };

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Microseconds of one round, the median of `blocks` blocks; `word` is cleared before. */
static int round_us(struct gt_bench *bench, bool polls, uint32_t blocks, double *us)
{
    uint32_t *word = bench->device[1], *arrived = word + 64, rounds = ROUNDS;
    uint64_t *cycles = (uint64_t *)bench->log, taken[MOST_BLOCKS];
    void *queue[] = { &word, &arrived, &rounds, &cycles }, *poll[] = { &word, &rounds, &cycles };
    const void *kernel = polls ? (const void *)gt_calibrate_poll : (const void *)gt_calibrate_queue;
    GT_TRY(cudaMemset(word, 0, 1024));
    if (gt_bench_run(bench, kernel, blocks, 32, polls ? poll : queue) != 0 ||
        gt_bench_bring(bench, taken, cycles, blocks * sizeof(*taken)) != 0)
        return -1;
    qsort(taken, blocks, sizeof(*taken), by_size);
    *us = (double)taken[blocks / 2] / ROUNDS / bench->mhz;
    return 0;
}

/* One word asked by 1 to 528 blocks, four an SM, at once. */
static int measure_word(struct gt_bench *bench, bool polls, struct gt_bench_summary *alone, double *us)
{
    static const uint32_t blocks[SIZES] = { 1, 8, 66, 132, 264, MOST_BLOCKS };
    double samples[9];
    for (int s = 0; s < SIZES; s++) {
        for (int i = 0; i < 9; i++)
            if (round_us(bench, polls, blocks[s], &samples[i]) != 0)
                return -1;
        struct gt_bench_summary summary = gt_summarise(samples, 9);
        us[s] = summary.median;
        if (s == 0)
            *alone = summary;
    }
    gt_found_note(bench->found,
                  "%s one word, us each: 1 block %.3f, 8 %.3f, 66 %.3f, 132 %.3f, 264 %.3f, 528 %.3f at once",
                  polls ? "polling" : "adding to", us[0], us[1], us[2], us[3], us[4], us[5]);
    return 0;
}

/* Tasks that are all alike. */
struct trial {
    struct gt_executor_plan plan;
    struct gt_executor_task tasks[TASKS];
    struct gt_executor_wait waits[TASKS];
    uint32_t signals[TASKS], workers[TASKS], initial[TASKS];
    struct gt_executor_log log[TASKS]; /* as it came out */
};

/* `chain`: each task waits for the one before. */
static void make_trial(struct trial *trial, const struct gt_bench *bench, enum gt_executor_policy policy,
                       uint32_t workers, bool chain)
{
    memset(trial, 0, sizeof(*trial));
    for (uint32_t i = 0; i < TASKS; i++) {
        trial->tasks[i].amount = (uint64_t)(task_us * bench->mhz);
        trial->workers[i] = i % workers;
        trial->signals[i] = i;
        trial->waits[i] = (struct gt_executor_wait){ i, 1 }; /* the next one's */
        if (!chain)
            continue;
        trial->tasks[i].signals = 1;
        trial->tasks[i].first_signal = i;
        trial->tasks[i].waits = i > 0;
        trial->tasks[i].first_wait = i > 0 ? i - 1 : 0;
    }
    /* clang-format off */
    trial->plan = (struct gt_executor_plan){
        .policy = policy, .workers = workers, .seed = 1, .tasks = trial->tasks, .task_count = TASKS,
        .task_workers = trial->workers, .waits = trial->waits, .signals = trial->signals,
        .initial = trial->initial, .counter_count = TASKS,
    };
    /* clang-format on */
}

static int upload(struct gt_bench *bench, const struct gt_executor_image *image, char *base)
{
    GT_TRY(cudaMemcpy(base, image->graph, image->graph_bytes, cudaMemcpyHostToDevice));
    GT_TRY(cudaMemcpy(base + INITIAL_AT, image->state, image->state_bytes, cudaMemcpyHostToDevice));
    return 0;
}

/* Walk it twice, the second time with warm caches: its records, and those of its blocks in bench->blocks. */
static int walk(struct gt_bench *bench, struct trial *trial)
{
    const struct gt_library_kernel *kernel = gt_library_kernel_find("executor", bench->error);
    char *base = bench->device[0];
    struct gt_executor_image image;
    if (kernel == NULL || gt_executor_image_make(&trial->plan, &image, bench->error) != 0)
        return -1;
    struct gt_executor tasks = gt_executor_place(&image, base, base + STATE_AT);
    tasks.log = (struct gt_executor_log *)(void *)(base + LOG_AT);
    /* clang-format off */
    const struct gt_gpu_launch launch = {
        .grid = { trial->plan.workers, 1, 1 }, .block = { THREADS, 1, 1 }, .stream = bench->streams[0],
        .log = bench->log, .tasks = &tasks,
    };
    /* clang-format on */
    int status = upload(bench, &image, base);
    for (int i = 0; i < 2 && status == 0; i++) {
        status = gt_bench_check(
            bench, cudaMemcpy(base + STATE_AT, base + INITIAL_AT, image.state_bytes, cudaMemcpyDeviceToDevice),
            "cudaMemcpy()");
        if (status == 0)
            status = gt_bench_check(bench, kernel->launch(&launch), "executor()");
        if (status == 0)
            status = gt_bench_read(bench, trial->plan.workers);
    }
    gt_executor_image_free(&image);
    return status == 0 ? gt_bench_bring(bench, trial->log, tasks.log, sizeof(trial->log)) : -1;
}

static struct gt_bench_summary in_us(const struct gt_bench *bench, double *cycles, size_t count)
{
    return gt_summary_times(gt_summarise(cycles, count), 1 / bench->mhz);
}

/* What one worker spends on each of its tasks beside the work: a summary each, in microseconds. */
struct steps {
    struct gt_bench_summary ask, begin, tell; /* asking to knowing, that to the start, the end to asking again */
    struct gt_bench_summary rest;             /* from knowing to asking again, less the time that the task spins */
};

static int measure_steps(struct gt_bench *bench, enum gt_executor_policy policy, bool chain, struct steps *steps)
{
    static struct trial trial;
    double asks[TASKS], begins[TASKS], tells[TASKS], rests[TASKS];
    size_t count = 0;
    make_trial(&trial, bench, policy, 1, chain);
    if (walk(bench, &trial) != 0)
        return -1;
    for (uint32_t i = SETTLE; i + 1 < TASKS; i++) {
        const struct gt_executor_log *log = &trial.log[i];
        asks[count] = (double)(log->taken_cycles - log->asked_cycles);
        begins[count] = (double)(log->start_cycles - log->taken_cycles);
        tells[count] = (double)(log[1].asked_cycles - log->end_cycles);
        rests[count] = (double)(log[1].asked_cycles - log->taken_cycles) - (double)trial.tasks[i].amount;
        count++;
    }
    steps->ask = in_us(bench, asks, count);
    steps->begin = in_us(bench, begins, count);
    steps->tell = in_us(bench, tells, count);
    steps->rest = in_us(bench, rests, count);
    return 0;
}

static void state(struct gt_bench *bench, const char *key, struct gt_bench_summary summary, const char *how)
{
    gt_found(bench->found, key, fmax(0, summary.median), summary, "%s", how);
}

/* One worker: a list of tasks that wait for nothing; tasks of its own that wait for each other, from a list and from
 * the queue of those that are ready. */
static int measure_alone(struct gt_bench *bench, double queue_us, double poll_us)
{
    struct steps free, chain, ready;
    if (measure_steps(bench, GT_EXECUTOR_SHARED, false, &free) != 0 ||
        measure_steps(bench, GT_EXECUTOR_STATIC, true, &chain) != 0 ||
        measure_steps(bench, GT_EXECUTOR_READY, true, &ready) != 0)
        return -1;
    double load_us = chain.ask.median, ask_us = free.ask.median;
    struct gt_bench_summary signal = gt_summary_less(chain.tell, free.tell.median);
    gt_found(bench->found, "tasks.queue_us", ask_us, free.ask,
             "the executor's one worker, from asking to its number; an atomic by itself %.3f", queue_us);
    gt_found(bench->found, "tasks.overhead_us", fmax(0, free.rest.median), free.rest,
             "from a worker's number to its next asking, less the %.0f us that the task spins", task_us);
    state(bench, "tasks.load_us", chain.ask, "from asking to the next task of the worker's list");
    state(bench, "tasks.found_us", gt_summary_less(chain.begin, free.begin.median + load_us + poll_us),
          "to the start of a task whose counter is there already, less a task without, a load and a look");
    state(bench, "tasks.signal_us", signal, "from a task's end to the next asking, with a signal less without");
    /* Half an atomic and a look for the counter, one each for the task that it lets go, an atomic to publish that. */
    struct gt_bench_summary fence =
        gt_summary_less(ready.tell, free.tell.median + signal.median + 2.5 * ask_us + 2 * poll_us);
    state(bench, "tasks.fence_us", gt_summary_times(fence, 0.5),
          "half of what a task that makes one ready takes beyond two and a half atomics and two looks");
    return 0;
}

/* Two workers, each waiting for the other's last task. */
static int measure_flight(struct gt_bench *bench, double poll_us)
{
    static struct trial trial;
    double gaps[TASKS];
    size_t count = 0;
    make_trial(&trial, bench, GT_EXECUTOR_STATIC, CHAIN_WORKERS, true);
    if (walk(bench, &trial) != 0)
        return -1;
    for (uint32_t i = SETTLE; i + CHAIN_WORKERS < TASKS; i++)
        gaps[count++] =
            (double)(trial.log[i + CHAIN_WORKERS].start_cycles - trial.log[i].start_cycles) / CHAIN_WORKERS -
            (double)trial.tasks[i].amount;
    struct gt_bench_summary gap = in_us(bench, gaps, count);
    struct gt_bench_summary flight = gt_summary_less(gap, poll_us + gt_bench_known(bench, "tasks.found_us") +
                                                              gt_bench_known(bench, "tasks.signal_us"));
    gt_found(bench->found, "tasks.flight_us", fmax(0, flight.median), flight,
             "from a task's end to the start of one on another SM that waits for it %.3f, less signal and look",
             gap.median);
    return 0;
}

/* A worker an SM: from its block's start to its first asking, from its last task to its block's end. */
static int measure_ends(struct gt_bench *bench)
{
    static struct trial trial;
    double starts[TASKS], ends[TASKS], tells[TASKS];
    size_t workers = 0, count = 0;
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    make_trial(&trial, bench, GT_EXECUTOR_STATIC, sms < TASKS / 2 ? sms : TASKS / 2, false);
    if (walk(bench, &trial) != 0)
        return -1;
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct gt_executor_log *log = &trial.log[i];
        const struct gt_block_log *block = &bench->blocks[log->worker];
        uint32_t next = i + trial.plan.workers;
        if (i < trial.plan.workers)
            starts[workers++] = (double)(log->asked_cycles - block->start_cycles);
        if (next < TASKS)
            tells[i] = (double)(trial.log[next].asked_cycles - log->end_cycles);
        else
            ends[count++] = (double)(block->end_cycles - log->end_cycles);
    }
    struct gt_bench_summary start = in_us(bench, starts, workers),
                            tell = in_us(bench, tells, TASKS - trial.plan.workers);
    state(bench, "tasks.start_us", start, "from a block's start to its first asking");
    state(bench, "tasks.end_us", gt_summary_less(in_us(bench, ends, count), tell.median),
          "from the last task's end to its block's, less what is between other tasks");
    return 0;
}

/* tasks.look_us, which no record tells: as h200.ini has it. */
static const double LOOK_US = 0.38;

/* Two workers that steal: the even tasks, one's own, are long, so that the other one takes the later ones of them. */
static int measure_steal(struct gt_bench *bench)
{
    static struct trial trial;
    double asks[TASKS];
    size_t count = 0;
    make_trial(&trial, bench, GT_EXECUTOR_STEAL, CHAIN_WORKERS, false);
    for (uint32_t i = 0; i < TASKS; i += CHAIN_WORKERS)
        trial.tasks[i].amount *= 10;
    if (walk(bench, &trial) != 0)
        return -1;
    for (uint32_t i = 0; i < TASKS; i++)
        if (trial.log[i].stolen)
            asks[count++] = (double)(trial.log[i].taken_cycles - trial.log[i].asked_cycles);
    struct gt_bench_summary ask = in_us(bench, asks, count);
    if (count == 0) {
        gt_not_found(bench->found, "tasks.steal_us", "nobody stole");
        return 0;
    }
    double looks = gt_bench_known(bench, "tasks.poll_us") + gt_bench_known(bench, "tasks.found_us") + LOOK_US;
    struct gt_bench_summary steal = gt_summary_less(ask, looks);
    gt_found(
        bench->found, "tasks.steal_us", fmax(0, steal.median), steal,
        "from asking to a stolen task's number %.3f, two workers, less the look at its own and drawing a turn, %.2f",
        ask.median, looks);
    return 0;
}

int gt_calibrate_tasks(struct gt_bench *bench)
{
    struct gt_bench_summary queue, poll;
    double queue_us[SIZES], poll_us[SIZES];
    if (measure_word(bench, false, &queue, queue_us) != 0 || measure_word(bench, true, &poll, poll_us) != 0)
        return -1;
    double serial_ns = fmax(0, (queue_us[SIZES - 1] - queue_us[SIZES - 2]) * 1000 / (MOST_BLOCKS / 2.0));
    gt_found(bench->found, "tasks.queue_serial_ns", serial_ns,
             (struct gt_bench_summary){ serial_ns, serial_ns, serial_ns, 1 },
             "what each of 264 to 528 blocks more adds to an atomic on one word");
    gt_found(bench->found, "tasks.poll_us", poll.median, poll, "a look at a word, again and again");
    return measure_alone(bench, queue.median, poll.median) != 0 || measure_flight(bench, poll.median) != 0 ||
                   measure_ends(bench) != 0 || measure_steal(bench) != 0
               ? -1
               : 0;
}
