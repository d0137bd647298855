#include "validate/gpu/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int endings[] = { SIGINT, SIGTERM };
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static volatile sig_atomic_t child;

/* A terminal sends its signals to both processes; those of kill() come to the parent alone. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_USER && child > 0)
        kill((pid_t)child, number);
}

static void take_signals(struct sigaction *before)
{
    struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART };

    for (int i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &action, &before[i]);
}

static void give_signals_back(const struct sigaction *before)
{
    for (int i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &before[i], NULL);
}

static int wait_for(pid_t process)
{
    int status = 0;

    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* One process; its status as waitpid() gives it, -1 where there is none. */
static int run_one(int (*work)(void *user, int died_of), void *user, int died_of)
{
    struct sigaction before[ENDINGS];
    pid_t process, parent = getpid();
    sigset_t waiting, usual;
    int status;

    fflush(NULL);
    sigemptyset(&waiting);
    for (int i = 0; i < ENDINGS; i++)
        sigaddset(&waiting, endings[i]);
    sigprocmask(SIG_BLOCK, &waiting, &usual); /* none is lost before it is known whom to pass it on to */
    take_signals(before);
    process = fork();
    if (process == 0) {
        give_signals_back(before);
        sigprocmask(SIG_SETMASK, &usual, NULL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        exit(getppid() == parent ? work(user, died_of) : 1);
    }
    child = process;
    sigprocmask(SIG_SETMASK, &usual, NULL);
    status = process < 0 ? -1 : wait_for(process);
    give_signals_back(before);
    return status;
}

int gt_supervise(int (*work)(void *user, int died_of), void *user, struct gt_error *error)
{
    int died_of = 0;

    for (;;) {
        int status = run_one(work, user, died_of);

        if (status == -1)
            return gt_error_set(error, "no new process can be started: %s", strerror(errno));
        if (WIFEXITED(status) && WEXITSTATUS(status) != GT_GO_ON)
            return WEXITSTATUS(status);
        died_of = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        if (died_of == SIGALRM)
            fputs("gridtide: interrupted; what did not end (a GPU that does not answer, as a rule) was given up\n",
                  stderr);
        if (died_of == SIGINT || died_of == SIGTERM || died_of == SIGALRM || died_of == SIGKILL || died_of == SIGPIPE)
            return 1; /* of SIGPIPE: nobody reads any more, and the next process would die of it as well */
    }
}
