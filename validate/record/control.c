/* control.c - when recording is on, a thread that hands over what CUPTI has, and how processes end.
 *
 * `gridtide record` says by the environment what is wanted:
 *  GRIDTIDE_RECORD_DIR          the folder of files; without it nothing is recorded
 *  GRIDTIDE_RECORD_FROM         start, profiler, range or signal: what switches recording on (and off again)
 *  GRIDTIDE_RECORD_RANGE        the range's name
 *  GRIDTIDE_RECORD_DELAY_MS     from the first CUDA call on, and
 *  GRIDTIDE_RECORD_DURATION_MS  for so long
 *  GRIDTIDE_RECORD_LIMIT_BYTES  the most that a process's file may have
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/record/internal.h"

enum { PERIOD_MS = 200, CRASH_WAIT_MS = 2000 };
#define DEFAULT_LIMIT_BYTES (UINT64_C(8) << 30)

enum from { FROM_START, FROM_PROFILER, FROM_RANGE, FROM_SIGNAL };
static const char *const from_names[] = { "start", "profiler", "range", "signal" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened = -1; /* an errno once it was tried */
static bool thread_runs, over;
static _Atomic bool recording;
static enum from from;
static pid_t own_pid;
/* The range that is wanted, by the numbers of its name: whole, or behind that of a domain ("loader:batch"). */
static uint32_t range_name, range_domain, range_in_domain;
static uint32_t open_ranges; /* of that name, on all threads; under the lock */
static uint64_t delay_ns, duration_ns, begin_ns;
static sem_t wake;
static _Atomic int dying, toggles; /* signal numbers; wishes to switch */
static _Atomic bool handed_over;

bool gt_recording(void)
{
    return atomic_load_explicit(&recording, memory_order_relaxed);
}

static uint64_t number_in(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

/* Under the lock. */
static void switch_to(bool on)
{
    struct gt_record_switch *record;

    if (over || on == gt_recording())
        return;
    if (gt_api.cuptiActivityEnable != NULL) {
        gt_activities_enable(on);
        gt_calls_switch(on);
    }
    atomic_store(&recording, on);
    record = gt_writer_begin(GT_RECORDED_SWITCH, sizeof *record);
    if (record == NULL)
        return;
    record->time_ns = gt_writer_now_ns();
    record->on = on;
    gt_writer_end(record);
}

static void switch_safely(bool on)
{
    gt_calls_own(true);
    pthread_mutex_lock(&lock);
    switch_to(on);
    pthread_mutex_unlock(&lock);
    gt_calls_own(false);
}

void gt_control_profiler(bool begins)
{
    if (from == FROM_PROFILER)
        switch_safely(begins);
}

bool gt_control_wants(uint32_t domain, uint32_t name)
{
    return from == FROM_RANGE && name != 0 &&
           (name == range_name || (name == range_in_domain && domain == range_domain));
}

void gt_control_range(bool begins)
{
    gt_calls_own(true);
    pthread_mutex_lock(&lock);
    if (begins)
        open_ranges++;
    else if (open_ranges > 0)
        open_ranges--;
    if (thread_runs) /* else CUDA has not begun */
        switch_to(open_ranges > 0);
    pthread_mutex_unlock(&lock);
    gt_calls_own(false);
}

static void hand_over(bool all)
{
    if (gt_api.cuptiActivityFlushAll != NULL && opened == 0)
        gt_api.cuptiActivityFlushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

static void write_cost(void)
{
    struct gt_record_cost cost = { .calls = 0 }, *record;

    gt_calls_cost(&cost.calls, &cost.calls_ns);
    gt_activities_cost(&cost.buffers, &cost.buffers_ns, &cost.overhead_ns);
    record = gt_writer_begin(GT_RECORDED_COST, sizeof *record);
    if (record == NULL)
        return;
    cost.head = (struct gt_record_head){ 0, GT_RECORDED_COST, 0 };
    memcpy(record, &cost, sizeof cost);
    gt_writer_end(record);
}

void gt_control_last_words(enum gt_recorded_end how, int number)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct gt_record_end *record;

    if (!gt_writer_is_open() || getpid() != own_pid || atomic_flag_test_and_set(&said))
        return;
    gt_calls_own(true);
    hand_over(true);
    write_cost();
    record = gt_writer_begin(GT_RECORDED_END, sizeof *record);
    if (record != NULL) {
        record->time_ns = gt_writer_now_ns();
        record->how = how;
        record->signal = (uint32_t)number;
        gt_writer_end(record);
    }
    gt_calls_own(false);
    if (how == GT_ENDED_BY_EXEC)
        atomic_flag_clear(&said); /* it may fail, and the program go on */
}

static void end_normally(void)
{
    gt_control_last_words(GT_ENDED, 0);
}

/* What is due by the clock. */
static void look_at_clock(void)
{
    uint64_t now_ns = gt_writer_now_ns();

    pthread_mutex_lock(&lock);
    if (atomic_exchange(&toggles, 0) % 2 != 0 && from == FROM_SIGNAL)
        switch_to(!gt_recording());
    if (from == FROM_START && !over && now_ns >= begin_ns + delay_ns)
        switch_to(true);
    if (duration_ns > 0 && from == FROM_START && now_ns >= begin_ns + delay_ns + duration_ns) {
        switch_to(false);
        over = true;
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t next_ns(void)
{
    uint64_t now_ns = gt_writer_now_ns(), next = now_ns + PERIOD_MS * UINT64_C(1000000);
    const uint64_t due[] = { begin_ns + delay_ns, begin_ns + delay_ns + duration_ns };

    for (size_t i = 0; i < sizeof due / sizeof due[0]; i++)
        if (due[i] > now_ns && due[i] < next)
            next = due[i];
    return next;
}

static void die_of(int number)
{
    gt_control_last_words(GT_ENDED_BY_SIGNAL, number);
    atomic_store(&handed_over, true);
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

static void *work(void *unused)
{
    pthread_setname_np(pthread_self(), "gridtide-record");
    gt_calls_own(true);
    for (;;) {
        uint64_t until_ns = next_ns();
        const struct timespec until = { (time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000) };

        while (sem_clockwait(&wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
            ;
        if (atomic_load(&dying) != 0)
            die_of(atomic_load(&dying));
        look_at_clock();
        hand_over(false);
        write_cost();
    }
    return unused;
}

/* Asked to end: the thread hands over, then lets the signal end the process. */
static void on_request(int number)
{
    int none = 0;

    atomic_compare_exchange_strong(&dying, &none, number);
    sem_post(&wake);
}

/* The program is broken: give the thread a moment, then let it die as it would have. */
static void on_crash(int number)
{
    const struct timespec moment = { 0, 1000000 };
    int none = 0;

    if (atomic_compare_exchange_strong(&dying, &none, number)) {
        sem_post(&wake);
        for (int i = 0; i < CRASH_WAIT_MS && !atomic_load(&handed_over); i++)
            nanosleep(&moment, NULL);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void on_toggle(int number)
{
    (void)number;
    atomic_fetch_add(&toggles, 1);
    sem_post(&wake);
}

/* Only where the program leaves the signal to the system. False: it does not. */
static bool handle(int number, void (*handler)(int))
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != handler))
        return false;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    return sigaction(number, &action, NULL) == 0;
}

static void handle_signals(void)
{
    static const int requests[] = { SIGTERM, SIGINT, SIGHUP },
                     crashes[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        handle(requests[i], on_request);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        handle(crashes[i], on_crash);
    if (from == FROM_SIGNAL && !handle(SIGUSR2, on_toggle))
        gt_writer_problem("the program handles SIGUSR2 itself, so that this signal cannot switch recording");
}

static enum from wished(void)
{
    const char *wish = getenv("GRIDTIDE_RECORD_FROM");

    for (size_t i = 0; wish != NULL && i < sizeof from_names / sizeof from_names[0]; i++)
        if (strcmp(wish, from_names[i]) == 0)
            return (enum from)i;
    return FROM_START;
}

/* Where the library is preloaded the signal may come before CUDA begins: it is counted, and ends nothing. */
__attribute__((constructor)) static void hear_early(void)
{
    if (getenv("GRIDTIDE_RECORD_DIR") != NULL && wished() == FROM_SIGNAL)
        handle(SIGUSR2, on_toggle);
}

/* After the file was made: the names are in it. */
static void name_range(const char *text)
{
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    char domain[256];

    range_name = gt_writer_name(text);
    if (colon == NULL || (size_t)(colon - text) >= sizeof domain)
        return;
    memcpy(domain, text, (size_t)(colon - text));
    domain[colon - text] = '\0';
    range_domain = gt_writer_name(domain);
    range_in_domain = gt_writer_name(colon + 1);
}

/* A child of fork() has neither CUDA nor the thread. */
static void forget(void)
{
    gt_writer_forget();
    atomic_store(&recording, false);
    opened = ECANCELED;
}

static int start_thread(void)
{
    sigset_t all, before;
    pthread_t thread;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = sem_init(&wake, 0, 0) != 0 ? errno : pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0)
        pthread_detach(thread);
    return status;
}

static int open_once(void)
{
    const char *folder = getenv("GRIDTIDE_RECORD_DIR");
    int status;

    if (folder == NULL || *folder == '\0')
        return ENOENT;
    own_pid = getpid();
    from = wished();
    delay_ns = number_in("GRIDTIDE_RECORD_DELAY_MS", 0) * 1000000;
    duration_ns = number_in("GRIDTIDE_RECORD_DURATION_MS", 0) * 1000000;
    status = gt_writer_open(folder, number_in("GRIDTIDE_RECORD_LIMIT_BYTES", DEFAULT_LIMIT_BYTES));
    if (status == 0)
        name_range(getenv("GRIDTIDE_RECORD_RANGE"));
    return status;
}

int gt_control_open(void)
{
    static _Atomic bool done;

    if (atomic_load_explicit(&done, memory_order_acquire))
        return opened;
    pthread_mutex_lock(&lock);
    if (opened == -1) {
        opened = open_once();
        if (opened == 0)
            pthread_atfork(NULL, NULL, forget);
    }
    atomic_store_explicit(&done, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    return opened;
}

/* CUDA begins: from now on there is something to hand over. */
int gt_control_begin(void)
{
    int status = gt_control_open();

    if (status != 0)
        return status;
    pthread_mutex_lock(&lock);
    if (!thread_runs) {
        begin_ns = gt_writer_now_ns();
        if ((from == FROM_START && delay_ns == 0) || (from == FROM_RANGE && open_ranges > 0) ||
            (from == FROM_SIGNAL && atomic_exchange(&toggles, 0) % 2 != 0))
            switch_to(true);
        status = start_thread();
        thread_runs = status == 0;
        if (thread_runs)
            handle_signals();
        atexit(end_normally);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
