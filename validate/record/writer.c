#include "validate/record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/hash.h"
#include "validate/record/chunks.h"

#define CHUNK GT_RECORDED_CHUNK_BYTES

/* A chunk that a thread writes to, or that waits for the next thread. */
struct chunk {
    struct chunk *next; /* of those that wait */
    unsigned char *bytes;
    size_t used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static struct chunk *waiting;
static pthread_key_t thread_end;
static _Thread_local struct chunk *mine;
static _Thread_local uint64_t my_thread;
static _Atomic uint64_t lost, lost_told;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t gt_writer_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void set_aside(struct chunk *chunk)
{
    pthread_mutex_lock(&lock);
    chunk->next = waiting;
    waiting = chunk;
    pthread_mutex_unlock(&lock);
}

/* A thread's end: the next new one goes on with its chunk. */
static void leave_chunk(void *chunk)
{
    mine = NULL;
    set_aside(chunk);
}

/* As the driver takes it: from 1 to 32. */
static uint32_t connections(void)
{
    const char *text = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    long number = text == NULL ? 0 : strtol(text, NULL, 10);

    return number <= 0 ? 0 : number > 32 ? 32 : (uint32_t)number;
}

static int write_header(void)
{
    union {
        struct gt_recorded_header header;
        char page[GT_RECORDED_HEADER_BYTES];
    } first = { .header = { .version = GT_RECORDED_VERSION } };

    memcpy(first.header.magic, GT_RECORDED_MAGIC, sizeof first.header.magic);
    first.header.pid = (uint32_t)getpid();
    first.header.connections = connections();
    first.header.parent_pid = (uint32_t)getppid();
    first.header.start_ns = clock_ns(CLOCK_MONOTONIC);
    first.header.start_unix_ns = clock_ns(CLOCK_REALTIME);
    snprintf(first.header.program, sizeof first.header.program, "%s", program_invocation_short_name);
    return pwrite(file, &first, sizeof first, 0) == sizeof first ? 0 : errno != 0 ? errno : ENOSPC;
}

int gt_writer_open(const char *folder, uint64_t most_bytes)
{
    char path[4096];
    int status;

    if (snprintf(path, sizeof path, "%s/%ld-%llu%s", folder, (long)getpid(),
                 (unsigned long long)clock_ns(CLOCK_MONOTONIC), GT_RECORDED_ENDING) >= (int)sizeof path)
        return ENAMETOOLONG;
    if (pthread_key_create(&thread_end, leave_chunk) != 0)
        return EAGAIN;
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return errno;
    errno = 0;
    status = write_header();
    if (status == 0)
        gt_chunks_open(file, GT_RECORDED_HEADER_BYTES, most_bytes);
    else {
        close(file);
        file = -1;
    }
    return status;
}

bool gt_writer_is_open(void)
{
    return file >= 0;
}

void gt_writer_forget(void)
{
    gt_chunks_forget();
    file = -1; /* the descriptor is the parent's too; it goes with the next exec */
    mine = NULL;
    waiting = NULL;
}

/* A chunk with room for `bytes`: one that waits, or a new one. NULL: there is none. */
static struct chunk *take_chunk(size_t bytes)
{
    struct chunk *chunk;

    pthread_mutex_lock(&lock);
    chunk = waiting;
    if (chunk != NULL)
        waiting = chunk->next;
    else
        chunk = calloc(1, sizeof *chunk);
    if (chunk != NULL && (chunk->bytes == NULL || chunk->used + bytes > CHUNK)) {
        gt_chunk_give_back(chunk->bytes);
        chunk->used = 0;
        chunk->bytes = gt_chunk_take();
        if (chunk->bytes == NULL) {
            free(chunk);
            chunk = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return chunk;
}

static void *reserve(enum gt_recorded_kind kind, size_t bytes)
{
    struct gt_record_head *head;

    bytes = (bytes + 7) & ~(size_t)7;
    if (file < 0 || bytes > CHUNK)
        return NULL;
    if (mine == NULL || mine->used + bytes > CHUNK) {
        if (mine != NULL) {
            gt_chunk_give_back(mine->bytes);
            free(mine);
        }
        mine = take_chunk(bytes);
        pthread_setspecific(thread_end, mine);
        if (mine == NULL)
            return NULL;
    }
    head = (struct gt_record_head *)(mine->bytes + mine->used);
    head->kind = (uint16_t)kind;
    mine->used += bytes;
    return head;
}

/* How many records found no room, told when there is some. */
static void tell_lost(void)
{
    uint64_t now = atomic_load(&lost), told = atomic_exchange(&lost_told, now);
    struct gt_record_dropped *record;

    if (now <= told)
        return;
    record = reserve(GT_RECORDED_DROPPED, sizeof *record);
    if (record == NULL)
        return;
    record->count = now - told;
    record->by = GT_DROPPED_FOR_SPACE;
    gt_writer_end(record);
}

void *gt_writer_begin(enum gt_recorded_kind kind, size_t bytes)
{
    void *record;

    if (atomic_load_explicit(&lost, memory_order_relaxed) != atomic_load_explicit(&lost_told, memory_order_relaxed))
        tell_lost();
    record = reserve(kind, bytes);
    if (record == NULL)
        atomic_fetch_add(&lost, 1);
    return record;
}

/* The size of what was reserved last: up to where the chunk is used. */
void gt_writer_end(void *record)
{
    struct gt_record_head *head = record;
    uint32_t bytes = (uint32_t)(mine->bytes + mine->used - (unsigned char *)record);

    atomic_store_explicit((_Atomic uint32_t *)&head->bytes, bytes, memory_order_release);
}

/* Names met so far, by their text. */
struct name {
    struct name *next;
    uint64_t hash;
    uint32_t id;
    char text[];
};
enum { BUCKETS = 4096 };
static struct name *names[BUCKETS];
static uint32_t name_count;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static void write_name(const struct name *name, size_t length)
{
    struct gt_record_name *record = gt_writer_begin(GT_RECORDED_NAME, sizeof *record + length);

    if (record == NULL)
        return;
    record->id = name->id;
    record->length = (uint32_t)length;
    memcpy(record->text, name->text, length);
    gt_writer_end(record);
}

uint32_t gt_writer_name(const char *text)
{
    size_t length = text == NULL ? 0 : strnlen(text, GT_RECORDED_TEXT_BYTES);
    uint64_t hash = gt_hash_bytes(GT_HASH_START, text, length);
    struct name *name;
    uint32_t id = 0;

    if (length == 0 || file < 0)
        return 0;
    pthread_mutex_lock(&names_lock);
    for (name = names[hash % BUCKETS]; name != NULL; name = name->next)
        if (name->hash == hash && strncmp(name->text, text, length) == 0 && name->text[length] == '\0')
            break;
    if (name == NULL && (name = malloc(sizeof *name + length + 1)) != NULL) {
        memcpy(name->text, text, length);
        name->text[length] = '\0';
        name->hash = hash;
        name->id = ++name_count;
        name->next = names[hash % BUCKETS];
        names[hash % BUCKETS] = name;
        write_name(name, length);
    }
    if (name != NULL)
        id = name->id;
    pthread_mutex_unlock(&names_lock);
    return id;
}

void gt_writer_problem(const char *format, ...)
{
    struct gt_record_problem *record;
    char text[1024];
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    length = strlen(text);
    record = gt_writer_begin(GT_RECORDED_PROBLEM, sizeof *record + length);
    if (record == NULL)
        return;
    record->length = (uint32_t)length;
    memcpy(record->text, text, length);
    gt_writer_end(record);
}

static void write_thread(uint64_t thread, const char *text, size_t length, uint16_t flags)
{
    struct gt_record_thread *record = gt_writer_begin(GT_RECORDED_THREAD, sizeof *record + length);

    if (record == NULL)
        return;
    record->head.flags = flags;
    record->thread = thread;
    record->length = (uint32_t)length;
    memcpy(record->text, text, length);
    gt_writer_end(record);
}

void gt_writer_name_thread(uint64_t thread, const char *text)
{
    if (text != NULL)
        write_thread(thread, text, strnlen(text, GT_RECORDED_TEXT_BYTES), GT_RECORDED_NAMED);
}

/* By the name that the system has for it. */
static void tell_thread(void)
{
    char path[64], text[64] = "";
    ssize_t length;
    int names_file;

    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)my_thread);
    names_file = open(path, O_RDONLY | O_CLOEXEC);
    length = names_file < 0 ? 0 : read(names_file, text, sizeof text - 1);
    if (names_file >= 0)
        close(names_file);
    length = length > 0 && text[length - 1] == '\n' ? length - 1 : length < 0 ? 0 : length;
    write_thread(my_thread, text, (size_t)length, 0);
}

uint64_t gt_writer_thread(void)
{
    if (my_thread == 0) {
        my_thread = (uint64_t)syscall(SYS_gettid);
        tell_thread();
    }
    return my_thread;
}
