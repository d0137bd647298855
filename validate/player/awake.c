/* CPUs that do not fall asleep.  A CPU with nothing to do halts, and what wakes it, a host function whose
 * turn has come above all, waits for that: on a virtual machine with an H200 30 us when it had halted a
 * moment ago, 200 to 600 us else.  It differs from play to play by as much as it lasts, and says nothing of
 * the GPU. So a thread on each CPU hands it on all the time, and is the last one to get it. Only for traces
 * with host functions: a CPU shares its core with another one, and launches took 3.8 us in place of 3.2 when
 * all were awake. Not for several host threads: where no CPU is idle the system put two of them on one now
 * and then, and the makespan of host/two-threads-launch-bound doubled. */
#include <sched.h>
#include <stdlib.h>

#include "validate/player/internal.h"

struct keeper {
    struct gt_player *player;
    int cpu;
};

static bool settle(int cpu)
{
    const struct sched_param lowest = { 0 };
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0 &&
           pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest) == 0;
}

/* One that would not be last is none. */
static void *keep_awake(void *user)
{
    struct keeper keeper = *(struct keeper *)user;

    free(user);
    if (!settle(keeper.cpu))
        return NULL;
    while (!atomic_load_explicit(&keeper.player->over, memory_order_relaxed))
        sched_yield();
    return NULL;
}

static bool start_keeper(struct gt_player *player, int cpu)
{
    struct keeper *keeper = gt_calloc(1, sizeof *keeper);

    *keeper = (struct keeper){ player, cpu };
    if (pthread_create(&player->keepers[player->keeper_count], NULL, keep_awake, keeper) == 0) {
        player->keeper_count++;
        return true;
    }
    free(keeper);
    return false;
}

static bool has_host_functions(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == GT_OP_HOST_FUNCTION)
            return true;
    return false;
}

bool gt_player_keep_cpu_awake(struct gt_player *player)
{
    bool all = true;
    cpu_set_t set;

    if (player->thread_count != 1 || !has_host_functions(player->workload) ||
        sched_getaffinity(0, sizeof set, &set) != 0)
        return false;
    player->keepers = gt_calloc((uint64_t)CPU_COUNT(&set) + 1, sizeof *player->keepers);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            all = start_keeper(player, i) && all;
    return all;
}

void gt_player_sleep(struct gt_player *player)
{
    atomic_store(&player->over, true);
    for (uint32_t i = 0; i < player->keeper_count; i++)
        pthread_join(player->keepers[i], NULL);
    free(player->keepers);
}
