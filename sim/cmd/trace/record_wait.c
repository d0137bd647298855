/* record_wait.c - until the program ends: signals that are meant for it go on to it. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/cmd/trace/record_parts.h"
#include "traces/recorded/records.h"

static volatile sig_atomic_t asked_to_end, asked_to_switch;

static void on_signal(int number)
{
    if (number == SIGTERM)
        asked_to_end = 1;
    else if (number == SIGUSR2)
        asked_to_switch = 1;
}

/* The recorder names a process's file PID-TIME.gtrecord. 0: it is no such file. */
static pid_t process_of(const char *file)
{
    char *end;
    long pid = strtol(file, &end, 10);

    return pid > 0 && *end == '-' && strstr(end, GT_RECORDED_ENDING) != NULL ? (pid_t)pid : 0;
}

/* To all processes that are recorded: which of them do so the caller of `gridtide record` need not know. */
static void pass_to_all(const char *folder, int number)
{
    DIR *files = opendir(folder);
    const struct dirent *file;
    int reached = 0;

    while (files != NULL && (file = readdir(files)) != NULL) {
        pid_t pid = process_of(file->d_name);

        reached += pid > 0 && kill(pid, number) == 0;
    }
    if (files != NULL)
        closedir(files);
    if (reached == 0)
        fprintf(stderr, "gridtide: no process uses CUDA yet; the signal was not forwarded, send it again\n");
}

/* What `signals` did before, to be put back. */
static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGUSR2, SIGCHLD };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void listen_to(struct sigaction before[SIGNALS], bool switches)
{
    for (int i = 0; i < SIGNALS; i++) {
        /* From the terminal the program has these itself; what is recorded by then is to be kept. */
        bool ignored = signals[i] == SIGINT || signals[i] == SIGQUIT;
        struct sigaction ours = { .sa_handler = ignored ? SIG_IGN : on_signal };

        if (signals[i] != SIGUSR2 || switches)
            sigaction(signals[i], &ours, &before[i]);
        else
            sigaction(signals[i], NULL, &before[i]);
    }
}

void gt_record_wait(pid_t child, const char *folder, bool switches, int *status)
{
    struct sigaction before[SIGNALS];
    sigset_t blocked, as_before, asleep;
    pid_t ended;

    sigemptyset(&blocked);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &as_before); /* but while it sleeps, so that none is missed */
    asleep = as_before;
    for (int i = 0; i < SIGNALS; i++)
        sigdelset(&asleep, signals[i]);
    listen_to(before, switches);
    while ((ended = waitpid(child, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (asked_to_end)
            kill(child, SIGTERM);
        if (asked_to_switch)
            pass_to_all(folder, SIGUSR2);
        asked_to_end = asked_to_switch = 0;
        sigsuspend(&asleep);
    }
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &as_before, NULL);
}
