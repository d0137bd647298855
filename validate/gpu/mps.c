#include "validate/gpu/mps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/io/child.h"

static char folder[] = "/tmp/gridtide-mps-XXXXXX"; /* sockets need short names */
static bool started;
static pid_t starter;

static const char pipes[] = "CUDA_MPS_PIPE_DIRECTORY", logs[] = "CUDA_MPS_LOG_DIRECTORY",
                  percentage[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";

/* With the daemon's folder in its environment: the exit status, or -1. */
static int control(char *const arguments[])
{
    pid_t child;
    int status = -1;

    setenv(pipes, folder, 1);
    setenv(logs, folder, 1);
    if (gt_child_start(&child, NULL, arguments, environ) != 0 || waitpid(child, &status, 0) < 0)
        status = -1;
    unsetenv(pipes);
    unsetenv(logs);
    return status;
}

/* It removes its files, and we its folder. */
void gt_mps_stop(void)
{
    char *const quit[] = { "sh", "-c", "echo quit | nvidia-cuda-mps-control > /dev/null 2>&1", NULL };
    char *removal;

    if (!started || getpid() != starter)
        return;
    control(quit);
    started = false;
    removal = gt_format("rm -rf %s", folder);
    control((char *const[]){ "sh", "-c", removal, NULL });
    free(removal);
}

int gt_mps_start(struct gt_error *error)
{
    char *const daemon[] = { "nvidia-cuda-mps-control", "-d", NULL };

    if (started)
        return 0;
    if (mkdtemp(folder) == NULL)
        return gt_error_set(error, "%s: %s", folder, strerror(errno));
    if (control(daemon) != 0)
        return gt_error_set(error, "nvidia-cuda-mps-control does not start; it comes with the driver");
    started = true;
    starter = getpid();
    atexit(gt_mps_stop);
    return 0;
}

void gt_mps_join(const struct gt_sharing *sharing)
{
    char text[8];

    unsetenv(percentage);
    if (sharing->how != GT_SHARE_MPS) {
        setenv(pipes, "/nonexistent", 1); /* not even of one that runs for others */
        return;
    }
    setenv(pipes, folder, 1);
    setenv(logs, folder, 1);
    if (sharing->percent > 0) {
        snprintf(text, sizeof text, "%u", sharing->percent);
        setenv(percentage, text, 1);
    }
}
