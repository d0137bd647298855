/* validate.h - a trace simulated, played on a real GPU, and both held against each other in a store.
 *
 * Nothing here knows CUDA: who plays is a table of functions, filled by player.c on a machine that has
 * the toolkit, and by the tests with a machine of their own.
 */
#ifndef GRIDTIDE_VALIDATE_VALIDATE_H
#define GRIDTIDE_VALIDATE_VALIDATE_H

#include "sim/devices/device.h"
#include "sim/machine/rules.h"
#include "sim/workload/probe.h"
#include "sim/workload/workload.h"
#include "traces/compare/verdict.h"
#include "traces/store/store.h"
#include "validate/gpu/other_users.h"

/* The GPU that plays. */
struct gt_gpu_facts {
    char name[256];
    uint32_t sms, compute_major, compute_minor;
    int driver, runtime; /* CUDA versions, 13000 for 13.0 */
};

struct gt_play_options {
    uint64_t seed;                       /* of ranged block costs: the simulation's */
    bool surrogates;                     /* some of its kernels stand in for a recorded program's */
    const struct gt_device *recorded_on; /* that its measured times are from */
    struct gt_together *together;        /* with players of other processes; NULL: there are none */
};

/* What a repetition was, beyond its records; times in picoseconds. "operations_unseen" are those that the
 * player asked for and nobody saw run. */
enum { GT_PLAY_COUNTERS = 16 };
struct gt_play_result {
    struct {
        const char *name;
        double value;
    } counters[GT_PLAY_COUNTERS];
    uint32_t counter_count;
};

/* In the options of a measured run: CUPTI recorded its kernels too. */
#define GT_PLAYED_KERNELS_RECORDED "kernels=recorded"

struct gt_player;
struct gt_together; /* validate/gpu/together.h */

/* Who can play. */
struct gt_players {
    /* Is there a GPU? Returns 0 and its facts; or -1 and why not. */
    int (*find)(struct gt_gpu_facts *facts, struct gt_error *error);
    /* Get ready to play one workload: everything allocated, nothing timed yet. NULL with why not: what
     * cannot be played, does not fit, or failed on the GPU. The workload must outlast it. */
    struct gt_player *(*open)(const struct gt_workload *workload, const struct gt_play_options *options,
                              struct gt_error *error);
    /* Play it once. Records go to `probe` (NULL: a warm-up, nothing is recorded) when it is over, in the
     * order that probe.h states; counters behind those that `result` has, which has room for one time's.
     * Returns 0, or -1 with what failed, after which only close may follow. */
    int (*play)(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error);
    /* What the player is and does, for the run's options: "kernels=spin clock_mhz=1980". */
    const char *(*describe)(const struct gt_player *player);
    void (*close)(struct gt_player *player); /* NULL allowed */
    /* Who else uses the GPU, at any time after find. NULL: that is not known. */
    void (*others)(struct gt_other_gpu_users *others);
    /* A fault has taken the GPU from this process, for good. NULL: that does not happen. */
    bool (*lost)(void);
    /* Were its copies within the device kept apart from kernels, by the instrument that timed them?  CUPTI does so
     * while it records copies but no kernels, as players did up to November 2026. NULL: they were not. */
    bool (*kept_copies_apart)(const struct gt_workload *workload);
};

/* The real one. Built without CUDA it finds no GPU and says how to build it. */
extern const struct gt_players gt_cuda_players;

struct gt_validation {
    const struct gt_players *players;
    struct gt_store *store;              /* open for writing; one transaction a run */
    uint64_t seed;                       /* of ranged block costs */
    bool surrogates;                     /* kernels of recorded programs may be stood in for, see proxy_kernel.h */
    bool no_inference;                   /* nothing is inferred from recorded times (gt_options) */
    bool program_cost;                   /* kernels last as their programs say where they have one */
    const struct gt_device *recorded_on; /* that the trace's measured times are from */
    uint64_t host_calls;                 /* that the device's host keys are learned from, in this process; 0: they are
                                          * as in its file */
    uint32_t repetitions;                /* 1 or more, after one that is not kept */
    bool blocks;                         /* store every block, or only how many each SM got */
    /* Asked between repetitions: true ends the validation early with what there is. May be NULL. */
    bool (*stop)(void *user);
    /* Told what happens: "simulating", "playing", done of total repetitions. May be NULL. */
    void (*tell)(void *user, const char *what, uint32_t done, uint32_t total);
    void *user;
};

struct gt_validated {
    struct gt_verdict verdict;        /* good where measured > 0 */
    uint32_t measured;                /* repetitions in the store */
    uint64_t unseen;                  /* operations without a time in one of them, the worst one's */
    struct gt_other_gpu_users others; /* the most of them at any time */
    bool surrogates;                  /* kernels were stood in for */
    bool stopped;                     /* early, because `stop` said so */
    bool lost;                        /* the GPU, after a fault: nothing more can be played in this process */
    bool fired[GT_RULES];             /* rules of the scheduler that acted in the simulation */
};

/* Make `workload` one that can be played (proxy_kernel.h), simulate it on `device` (in the store as
 * `device_id`), play it, store all runs under `name`, judge. Others on the GPU become a warning of the
 * trace, "gpu-shared". A failure after some repetitions keeps these: -1 with `error`, and `validated` says
 * how many. */
int gt_validate(const struct gt_validation *validation, struct gt_workload *workload, const char *name,
                const struct gt_device *device, int64_t device_id, struct gt_validated *validated,
                struct gt_error *error);

#endif
