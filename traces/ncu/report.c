/* report.c - a report as a folder: pages exported by ncu. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/ncu/internal.h"

enum { MOST_AT_ONCE = 16 };

extern char **environ;

/* A run of ncu whose output goes into a file. */
struct export { pid_t child; char *path; };

static int start_ncu(struct export *export, char *path, char *const arguments[], struct gt_error *error)
{
    posix_spawn_file_actions_t actions;
    int result;

    export->path = path;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    result = posix_spawnp(&export->child, "ncu", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result == 0)
        return 0;
    free(path);
    return gt_error_set(error,
                        "cannot run ncu: %s; put Nsight Compute's folder into PATH, or export the pages "
                        "elsewhere and import the folder",
                        strerror(result));
}

/* The first line of what ncu wrote instead of a table. */
static void first_line(const char *path, char *text, int bytes)
{
    FILE *file = fopen(path, "r");

    if (file == NULL || fgets(text, bytes, file) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

/* Wait for its end; a page that could not be exported is not left there. */
static int finish_ncu(struct export *export, struct gt_error *error)
{
    char said[200];
    int status, result = 0;

    while (waitpid(export->child, &status, 0) < 0)
        if (errno != EINTR)
            gt_bug("waiting for a child: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_line(export->path, said, sizeof said);
        result = gt_error_set(error, "ncu failed on the report%s%s", said[0] != '\0' ? ": " : "", said);
        unlink(export->path);
    }
    free(export->path);
    return result;
}

static int export_raw(const char *report, const char *folder, struct gt_error *error)
{
    char *arguments[] = { "ncu", "-i", (char *)(uintptr_t)report, "--page", "raw", "--csv",
                          "--print-kernel-base", "mangled", NULL };
    struct export export;
    char *path = NULL;

    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    return start_ncu(&export, path, arguments, error) == 0 ? finish_ncu(&export, error) : -1;
}

static int start_source(struct export *export, const char *report, const char *folder, uint32_t launch,
                        struct gt_error *error)
{
    char number[16];
    char *arguments[] = { "ncu",
                          "-i",
                          (char *)(uintptr_t)report,
                          "--page",
                          "source",
                          "--print-source",
                          "sass",
                          "--csv",
                          "--print-kernel-base",
                          "mangled",
                          "--launch-skip",
                          number,
                          "--launch-count",
                          "1",
                          NULL };
    char *path = NULL;

    snprintf(number, sizeof number, "%" PRIu32, launch);
    if (asprintf(&path, "%s/source.%04" PRIu32 ".csv", folder, launch) < 0)
        gt_bug("no memory for a file name");
    return start_ncu(export, path, arguments, error);
}

/* The source pages of all launches, those that there are: as many at once as there are processors, for each
 * run of ncu reads the whole report. */
static int export_sources(const char *report, const char *folder, uint32_t launches, struct gt_error *error)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t at_once = processors < 1 ? 1 : processors > MOST_AT_ONCE ? MOST_AT_ONCE : (uint32_t)processors;
    struct export exports[MOST_AT_ONCE];
    uint32_t started = 0, finished = 0;
    int status = 0;

    while (finished < started || (started < launches && status == 0)) {
        if (started < launches && started - finished < at_once && status == 0) {
            status = start_source(&exports[started % at_once], report, folder, started, error);
            started += status == 0;
        } else {
            finish_ncu(&exports[finished++ % at_once], NULL);
        }
    }
    return status;
}

int gt_ncu_report_unpack(const char *report, const char *folder, struct gt_error *error)
{
    struct gt_ncu_raw raw;
    char *path = NULL;
    int status;

    if (export_raw(report, folder, error) != 0)
        return gt_error_prefix(error, "%s: ", report);
    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    status = gt_ncu_raw_read(path, &raw, error);
    if (status == 0)
        status = gt_ncu_report_cut(report, &raw, folder, error);
    if (status == 0 && export_sources(report, folder, raw.rows, error) != 0)
        status = gt_error_prefix(error, "%s: ", report);
    gt_ncu_raw_free(&raw);
    free(path);
    return status;
}
