#include "sim/cmd/gpu/interrupts.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { GRACE_SECONDS = 10 };

static volatile sig_atomic_t interrupted;

static void note(int number)
{
    alarm(GRACE_SECONDS);
    if (++interrupted > 2) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void gt_interrupts_catch(void)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool gt_interrupted(void)
{
    return interrupted != 0;
}

void gt_interrupts_over(void)
{
    alarm(0);
}
