/* A lock that threads of the trace share: handed on in the order in which they came for it, as the simulator's is.  Who
 * waits sleeps, as threads that wait for an interpreter's lock do. */
#include <stdlib.h>

#include "validate/player/internal.h"

void gt_player_make_locks(struct gt_player *player)
{
    const struct gt_workload *workload = player->workload;

    player->locks = gt_calloc(workload->thread_count + 1ull, sizeof *player->locks);
    for (uint32_t i = 0; i < player->thread_count; i++) {
        uint32_t thread = workload->calls[player->threads[i].calls[0]].thread, like = 0;
        const struct gt_thread *what = &workload->threads[thread];

        if (what->lock == GT_NONE)
            continue;
        while (like < i && (player->threads[like].lock == NULL || player->threads[like].lock->name != what->lock ||
                            player->threads[like].lock->process != what->process))
            like++;
        player->threads[i].lock = like < i ? player->threads[like].lock : &player->locks[player->lock_count];
        if (like < i)
            continue;
        player->locks[player->lock_count] = (struct gt_play_lock){ .name = what->lock, .process = what->process };
        pthread_mutex_init(&player->locks[player->lock_count++].mutex, NULL);
    }
}

void gt_player_free_locks(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->lock_count; i++)
        pthread_mutex_destroy(&player->locks[i].mutex);
    free(player->locks);
}

void gt_player_take_lock(struct gt_play_thread *thread)
{
    struct gt_play_lock *lock = thread->lock;
    struct gt_play_waiter *self = &thread->waiter;

    pthread_mutex_lock(&lock->mutex);
    if (!lock->taken) {
        lock->taken = true;
        pthread_mutex_unlock(&lock->mutex);
        return;
    }
    self->next = NULL;
    self->has_it = false;
    pthread_cond_init(&self->handed, NULL);
    if (lock->first == NULL)
        lock->first = self;
    else
        lock->last->next = self;
    lock->last = self;
    while (!self->has_it)
        pthread_cond_wait(&self->handed, &lock->mutex);
    pthread_mutex_unlock(&lock->mutex);
    pthread_cond_destroy(&self->handed);
}

void gt_player_give_lock(struct gt_play_thread *thread)
{
    struct gt_play_lock *lock = thread->lock;
    struct gt_play_waiter *next;

    pthread_mutex_lock(&lock->mutex);
    next = lock->first;
    if (next == NULL) {
        lock->taken = false;
    } else {
        lock->first = next->next;
        next->has_it = true;
        pthread_cond_signal(&next->handed);
    }
    pthread_mutex_unlock(&lock->mutex);
}
