/* thread_team.c - a crew's threads, from their start to their end. */
#include "validate/calibrate/thread_team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* From the moment that all threads are there until they set off; none warms up for the last part of it. */
static const uint64_t head_start_ns = 1500000, still_ns = 300000;

struct crew {
    gt_thread_team_part *part;
    void *user;
    atomic_uint there;
    atomic_uint_fast64_t go_ns; /* 0: not yet */
};

struct member {
    struct crew *crew;
    uint32_t number;
    cudaError_t status;
    pthread_t handle;
};

static void *play(void *user)
{
    struct member *member = user;
    struct crew *crew = member->crew;
    uint64_t go_ns;
    member->status = cudaSetDevice(0);
    atomic_fetch_add(&crew->there, 1);
    while ((go_ns = atomic_load(&crew->go_ns)) == 0)
        sched_yield();
    while (member->status == cudaSuccess && gt_clock_ns() + still_ns < go_ns) {
        member->status = crew->part(crew->user, member->number, false);
        if (member->status == cudaSuccess)
            member->status = cudaDeviceSynchronize();
    }
    while (gt_clock_ns() < go_ns)
        ;
    if (member->status == cudaSuccess)
        member->status = crew->part(crew->user, member->number, true);
    return NULL;
}

int gt_thread_team_play(struct gt_bench *bench, uint32_t threads, gt_thread_team_part *part, void *user)
{
    struct crew crew = { .part = part, .user = user };
    struct member members[GT_CREW_MOST];
    uint32_t started = 0;
    for (; started < threads; started++) {
        members[started] = (struct member){ .crew = &crew, .number = started };
        if (pthread_create(&members[started].handle, NULL, play, &members[started]) != 0)
            break;
    }
    while (atomic_load(&crew.there) < started)
        sched_yield();
    atomic_store(&crew.go_ns, gt_clock_ns() + head_start_ns);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(members[i].handle, NULL);
    if (started < threads)
        return gt_error_set(bench->error, "no more than %u host threads can be started", started);
    for (uint32_t i = 0; i < threads; i++)
        GT_TRY(members[i].status);
    GT_TRY(cudaDeviceSynchronize());
    return 0;
}
