/* chunks.c - a thread maps chunks of the file before they are needed, and unmaps them afterwards.
 *
 * That takes the system up to 1 ms a chunk on a busy disk, which is more than the records in it take: it is kept out of the
 * program's calls. Where the thread is late, or could not be started, whoever needs a chunk maps it.
 */
#include "validate/record/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "traces/recorded/records.h"

#define CHUNK GT_RECORDED_CHUNK_BYTES
enum { READY = 8, PAGE_BYTES = 4096 };

static int file = -1;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* held while a chunk is mapped */
static uint64_t file_bytes, limit_bytes;                   /* under it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *ready[READY], *written[READY]; /* under it */
static unsigned ready_count, written_count;
static sem_t wake;
static bool thread_runs;

/* With disk space behind it: a write to it must not fail later.  Under `making`; NULL: there is no room. */
static unsigned char *map_chunk(void)
{
    unsigned char *chunk;

    if (file < 0 || file_bytes + CHUNK > limit_bytes || posix_fallocate(file, (off_t)file_bytes, CHUNK) != 0)
        return NULL;
    chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, (off_t)file_bytes);
    if (chunk == MAP_FAILED)
        return NULL;
    for (size_t page = 0; page < CHUNK; page += PAGE_BYTES)
        ((volatile unsigned char *)chunk)[page] = 0; /* a page that was only populated faults at its first write */
    file_bytes += CHUNK;
    return chunk;
}

/* The oldest, so that the file's first chunks are those that are written. */
static unsigned char *pop(unsigned char **chunks, unsigned *count)
{
    unsigned char *chunk = NULL;

    pthread_mutex_lock(&lock);
    if (*count > 0) {
        chunk = chunks[0];
        memmove(chunks, chunks + 1, --*count * sizeof *chunks);
    }
    pthread_mutex_unlock(&lock);
    return chunk;
}

/* False: there is no room. */
static bool push(unsigned char *chunk, unsigned char **chunks, unsigned *count)
{
    bool fits;

    pthread_mutex_lock(&lock);
    fits = *count < READY;
    if (fits)
        chunks[(*count)++] = chunk;
    pthread_mutex_unlock(&lock);
    return fits;
}

/* False: enough are ready, or no more can be. */
static bool make_one(void)
{
    unsigned char *chunk = NULL;
    bool wanted;

    pthread_mutex_lock(&making);
    pthread_mutex_lock(&lock);
    wanted = ready_count < READY;
    pthread_mutex_unlock(&lock);
    if (wanted)
        chunk = map_chunk();
    if (chunk != NULL)
        push(chunk, ready, &ready_count); /* nobody else does */
    pthread_mutex_unlock(&making);
    return chunk != NULL;
}

static void unmap_written(void)
{
    unsigned char *chunk;

    while ((chunk = pop(written, &written_count)) != NULL)
        munmap(chunk, CHUNK);
}

static void *work(void *unused)
{
    pthread_setname_np(pthread_self(), "gridtide-chunks");
    for (;;) {
        while (make_one())
            ;
        unmap_written();
        while (sem_wait(&wake) != 0 && errno == EINTR)
            ;
    }
    return unused;
}

void gt_chunks_open(int opened, uint64_t first, uint64_t limit)
{
    sigset_t all, before;
    pthread_t thread;

    file = opened;
    file_bytes = first;
    limit_bytes = limit;
    ready_count = written_count = 0;
    if (sem_init(&wake, 0, 0) != 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_runs = pthread_create(&thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (thread_runs)
        pthread_detach(thread);
}

unsigned char *gt_chunk_take(void)
{
    unsigned char *chunk = pop(ready, &ready_count);

    if (chunk == NULL) {
        pthread_mutex_lock(&making);
        chunk = pop(ready, &ready_count); /* it was being made */
        if (chunk == NULL)
            chunk = map_chunk();
        pthread_mutex_unlock(&making);
    }
    if (thread_runs)
        sem_post(&wake);
    return chunk;
}

void gt_chunk_give_back(unsigned char *chunk)
{
    if (chunk != NULL && !(thread_runs && push(chunk, written, &written_count)))
        munmap(chunk, CHUNK);
}

void gt_chunks_forget(void)
{
    file = -1;
    thread_runs = false;
    ready_count = written_count = 0;
}
