/* record_run.c - the program that is recorded: its environment, its start, its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cmd/trace/record_parts.h"
#include "traces/io/child.h"

static void set(const char *name, const char *value)
{
    if (value == NULL)
        unsetenv(name);
    else if (setenv(name, value, 1) != 0)
        gt_no_memory("the environment");
}

static void set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    set(name, value == 0 ? NULL : text);
}

/* In front of what is preloaded anyhow; a name with a space or colon cannot be. */
static char *preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");

    if (library == NULL || strpbrk(library, " :") != NULL)
        return before == NULL ? NULL : gt_format("%s", before);
    return before == NULL || *before == '\0' ? gt_format("%s", library) : gt_format("%s:%s", library, before);
}

/* Children have it from their parents, so that all processes of a program are recorded. */
static void set_environment(const struct gt_recording *recording, const char *library, const char *folder)
{
    set("CUDA_INJECTION64_PATH", library);
    set("NVTX_INJECTION64_PATH", library);
    set("GRIDTIDE_RECORD_DIR", folder);
    set("GRIDTIDE_RECORD_FROM", recording->from);
    set("GRIDTIDE_RECORD_RANGE", recording->range);
    set_number("GRIDTIDE_RECORD_DELAY_MS", recording->delay_ms);
    set_number("GRIDTIDE_RECORD_DURATION_MS", recording->duration_ms);
}

static void clear_environment(void)
{
    static const char *const names[] = {
        "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",    "GRIDTIDE_RECORD_DIR",         "GRIDTIDE_RECORD_FROM",
        "GRIDTIDE_RECORD_RANGE", "GRIDTIDE_RECORD_DELAY_MS", "GRIDTIDE_RECORD_DURATION_MS",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

int gt_record_run(const struct gt_recording *recording, const char *library, const char *folder, int *status,
                  struct gt_error *error)
{
    posix_spawn_file_actions_t actions;
    char *preloaded, *before;
    pid_t child;
    int failed;

    if (library != NULL)
        set_environment(recording, library, folder);
    preloaded = preload(library);
    before = getenv("LD_PRELOAD") == NULL ? NULL : gt_format("%s", getenv("LD_PRELOAD"));
    set("LD_PRELOAD", preloaded);
    posix_spawn_file_actions_init(&actions);
    if (recording->output != NULL) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, recording->output, O_WRONLY | O_CREAT | O_APPEND,
                                         0600);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    failed = gt_child_start(&child, &actions, recording->program, environ);
    posix_spawn_file_actions_destroy(&actions);
    set("LD_PRELOAD", before);
    clear_environment();
    free(before);
    free(preloaded);
    if (failed != 0)
        return gt_error_set(error, "cannot start %s: %s", recording->program[0], strerror(failed));
    gt_record_wait(child, folder, strcmp(recording->from, "signal") == 0, status);
    return 0;
}
