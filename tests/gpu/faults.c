/* faults.c - validation goes on after the GPU has not: a kernel that faults between two repetitions, a
 * trace that asks for more memory than there is. Output: TAP. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "validate/gpu/supervise.h"
#include "validate/validate.h"

/* Writes where no memory is. */
static const char fault_ptx[] =
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .entry fault() { .reg .b64 %at; mov.b64 %at, 64; st.global.b32 [%at], 1; ret; }\n";

enum { REPETITIONS = 5, FAULT_AT = 3 };
static uint32_t plays;

/* Between the processes of the test. */
struct shared {
    int tests, processes;
    bool wrong;
    char path[64];
};

static void check(struct shared *shared, bool right, const char *what)
{
    printf("%sok %d - %s\n", right ? "" : "not ", ++shared->tests, what);
    shared->wrong = shared->wrong || !right;
}

static cudaError_t fault(void)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaError_t code = cudaLibraryLoadData(&library, fault_ptx, NULL, NULL, 0, NULL, NULL, 0);

    if (code == cudaSuccess)
        code = cudaLibraryGetKernel(&kernel, library, "fault");
    return code != cudaSuccess ? code : cudaLaunchKernel(kernel, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
}

/* The player, and a fault of somebody's before repetition FAULT_AT; the first play warms up. */
static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    if (plays++ == FAULT_AT + 1 && fault() != cudaSuccess)
        printf("# the fault could not be made\n");
    return gt_cuda_players.play(player, probe, result, error);
}

/* One kernel, and a copy to the GPU of `bytes`. */
static struct gt_workload *make_workload(uint64_t bytes)
{
    struct gt_workload *workload = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .name = gt_name(workload, "k", 1), .grid = { 8, 1, 1 }, .block = { 64, 1, 1 },
        .registers_per_thread = 32,
        .cost = GT_COST_FIXED, .block_min_ps = 10000000, .block_max_ps = 10000000,
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE, .arguments = GT_NONE,
    };
    /* clang-format on */

    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_thread(workload);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call].kind = i == 0 ? GT_CALL_LAUNCH : GT_CALL_COPY;
        workload->calls[call].ops = 1;
        workload->calls[call].first_op = op;
        workload->calls[call].stream = 0;
        workload->calls[call].thread = 0;
        workload->ops[op].call = call;
        workload->ops[op].stream = 0;
        workload->ops[op].kind = i == 0 ? GT_OP_KERNEL : GT_OP_COPY;
        if (i == 0) {
            workload->ops[op].kernel = gt_workload_kernel(workload, &kernel);
        } else {
            workload->ops[op].bytes = bytes;
            workload->ops[op].direction = GT_H2D;
            workload->ops[op].memory = GT_MEMORY_PAGEABLE;
        }
    }
    return workload;
}

/* Validate a workload; how many repetitions there are, and what went wrong. */
static uint32_t validate(struct gt_store *store, const struct gt_players *players, uint64_t bytes,
                         struct gt_error *error)
{
    struct gt_validation validation = { .players = players, .store = store, .seed = 1, .repetitions = REPETITIONS };
    struct gt_validated validated = { .measured = 0 };
    struct gt_workload *workload = make_workload(bytes);
    struct gt_device device;
    int64_t device_id;

    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, error);
    plays = 0;
    error->text[0] = '\0';
    validation.recorded_on = &device;
    if (gt_validate(&validation, workload, "fault", &device, device_id, &validated, error) != 0)
        printf("# %s\n", error->text);
    gt_workload_free(workload);
    return validated.measured;
}

/* One process's part; the fault takes the GPU from the one that it happens in. */
static int work(void *user, int died_of)
{
    struct shared *shared = user;
    struct gt_players faulty = gt_cuda_players;
    struct gt_error error = { "" };
    struct gt_gpu_facts facts;
    struct gt_store *store = gt_store_open(shared->path, true, &error);

    faulty.play = play;
    check(shared, died_of == 0 && store != NULL && gt_cuda_players.find(&facts, &error) == 0, "there is a GPU");
    if (shared->processes++ == 0) {
        check(shared, validate(store, &gt_cuda_players, 4096, &error) == REPETITIONS, "a trace is played");
        check(shared, validate(store, &faulty, 4096, &error) == FAULT_AT, "what was measured before a fault is kept");
        check(shared, strstr(error.text, "fault") != NULL, "and the fault is told");
        check(shared, gt_cuda_players.lost(), "the GPU is lost for this process");
        gt_store_close(store);
        return GT_GO_ON;
    }
    check(shared, validate(store, &gt_cuda_players, 4096, &error) == REPETITIONS, "the next trace is played");
    check(shared,
          validate(store, &gt_cuda_players, 1ull << 40, &error) == 0 &&
              strstr(error.text, "out of device memory") != NULL,
          "a copy of a terabyte does not fit, which is told");
    check(shared, validate(store, &gt_cuda_players, 4096, &error) == REPETITIONS, "the next trace is played");
    gt_store_close(store);
    return 0;
}

static int look_for_gpu(void *user, int died_of)
{
    struct gt_gpu_facts facts;
    struct gt_error error = { "" };

    (void)user;
    if (died_of == 0 && gt_cuda_players.find(&facts, &error) == 0)
        return 0;
    printf("1..0 # SKIP %s\n", error.text);
    return 1;
}

int main(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct gt_error error = { "" };
    struct gt_store *store;

    if (shared == MAP_FAILED || gt_supervise(look_for_gpu, NULL, &error) != 0)
        return 0;
    snprintf(shared->path, sizeof shared->path, "gridtide-faults-%ld.db", (long)getpid());
    store = gt_store_create(shared->path, &error);
    if (store == NULL || gt_store_commit(store, &error) != 0 || gt_supervise(work, shared, &error) != 0) {
        printf("Bail out! %s\n", error.text);
        return 1;
    }
    unlink(shared->path);
    printf("1..%d\n", shared->tests);
    return shared->wrong;
}
