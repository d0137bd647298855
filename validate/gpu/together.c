#include "validate/gpu/together.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct gt_together {
    uint32_t players;
    atomic_uint arrived, meetings; /* of the next meeting; so many have been */
    atomic_bool failed;
    uint64_t origin_ns;
    pthread_mutex_t turn;
};

struct gt_together *gt_together_new(uint32_t players)
{
    struct gt_together *together =
        mmap(NULL, sizeof *together, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;

    if (together == MAP_FAILED)
        return NULL;
    together->players = players;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&together->turn, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return together;
}

void gt_together_free(struct gt_together *together)
{
    if (together != NULL)
        munmap(together, sizeof *together);
}

/* As gt_clock_ns(), of all processes the same. */
static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void gt_together_meet(struct gt_together *together)
{
    if (together != NULL)
        gt_together_origin_ns(together, 0);
}

uint64_t gt_together_origin_ns(struct gt_together *together, uint64_t ahead_ns)
{
    unsigned meeting = atomic_load(&together->meetings);

    if (atomic_fetch_add(&together->arrived, 1) + 1 == together->players) {
        atomic_store(&together->arrived, 0);
        together->origin_ns = now_ns() + ahead_ns;
        atomic_store(&together->meetings, meeting + 1);
    }
    while (atomic_load(&together->meetings) == meeting && !atomic_load(&together->failed))
        sched_yield();
    if (atomic_load(&together->failed))
        _exit(1);
    return together->origin_ns;
}

void gt_together_take_turn(struct gt_together *together)
{
    if (together != NULL && pthread_mutex_lock(&together->turn) == EOWNERDEAD)
        pthread_mutex_consistent(&together->turn);
}

void gt_together_end_turn(struct gt_together *together)
{
    if (together != NULL)
        pthread_mutex_unlock(&together->turn);
}

void gt_together_fail(struct gt_together *together)
{
    atomic_store(&together->failed, true);
}

bool gt_together_failed(const struct gt_together *together)
{
    return atomic_load(&together->failed);
}
