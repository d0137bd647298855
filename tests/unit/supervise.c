/* Work in processes one after the other. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "validate/gpu/supervise.h"

struct shared {
    int calls, died_of[8];
    pid_t process[8];
};

static struct shared *share(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(shared != MAP_FAILED);
    return shared;
}

/* Ends well, in the end: goes on twice, crashes once. */
static int work(void *user, int died_of)
{
    struct shared *shared = user;
    int call = shared->calls++;

    shared->died_of[call] = died_of;
    shared->process[call] = getpid();
    if (call == 2) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    return call == 4 ? 3 : GT_GO_ON;
}

static int interrupted(void *user, int died_of)
{
    struct shared *shared = user;

    (void)died_of;
    shared->calls++;
    kill(getppid(), SIGTERM); /* which passes it on */
    sleep(60);                /* it does not come to that */
    return 0;
}

static void another_process_goes_on(void **state)
{
    struct shared *shared = share();
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_supervise(work, shared, &error), 3);
    assert_int_equal(shared->calls, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(shared->died_of[i], i == 3 ? SIGABRT : 0);
        assert_int_not_equal(shared->process[i], getpid());
        assert_true(i == 0 || shared->process[i] != shared->process[i - 1]);
    }
    munmap(shared, sizeof *shared);
}

static void an_interrupt_ends_it(void **state)
{
    struct shared *shared = share();
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_supervise(interrupted, shared, &error), 1);
    assert_int_equal(shared->calls, 1);
    munmap(shared, sizeof *shared);
}

/* Told to end, it waits for a GPU that does not answer. */
static int stuck(void *user, int died_of)
{
    struct shared *shared = user;

    (void)died_of;
    shared->calls++;
    raise(SIGALRM);
    return GT_GO_ON;
}

static void a_gpu_that_does_not_answer_ends_it(void **state)
{
    struct shared *shared = share();
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_supervise(stuck, shared, &error), 1);
    assert_int_equal(shared->calls, 1);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_goes_on),
        cmocka_unit_test(an_interrupt_ends_it),
        cmocka_unit_test(a_gpu_that_does_not_answer_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
