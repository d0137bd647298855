/* What a sweep's jobs do: a task of the array its part, into a store of its own; the job behind it puts them together. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/text.h"
#include "sim/cmd/input/common.h"
#include "sim/cmd/run/sweep_parts.h"

/* A whole number that Slurm gives its jobs. */
static uint64_t variable(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

/* Of this task's points those that its store lacks: it may have been killed before. */
static uint64_t *points_of_task(const struct gt_sweep *whole, const struct gt_sweep *own, uint64_t *count)
{
    uint64_t tasks = variable("SLURM_ARRAY_TASK_MAX", 0) + 1, task = variable("SLURM_ARRAY_TASK_ID", 0), kept = 0;
    uint64_t *todo = gt_sweep_todo(whole, task < tasks ? task : tasks - 1, tasks, count);

    for (uint64_t i = 0; i < *count; i++)
        if (!own->done[todo[i]])
            todo[kept++] = todo[i];
    *count = kept;
    return todo;
}

static int work(const struct gt_sweep *whole, const char *path, const struct gt_sweep_plan *asked,
                const struct gt_sweep_arguments *arguments, struct gt_error *error)
{
    struct gt_sweep own;
    int signal = 0, result = gt_sweep_open(&own, path, asked, error);

    if (result == 0) {
        uint64_t count, *todo = points_of_task(whole, &own, &count);

        if (count > 0)
            result = gt_sweep_work(&own, arguments, (unsigned)variable("SLURM_CPUS_PER_TASK", 1), todo, count,
                                   &signal, error);
        free(todo);
    }
    gt_sweep_close(&own);
    return result >= 0 && signal != 0 ? 128 + signal : result;
}

int gt_sweep_task(const struct gt_sweep_plan *asked, const struct gt_sweep_arguments *arguments,
                  struct gt_error *error)
{
    char *folder = gt_sweep_folder(arguments->output);
    char *path = gt_format("%s/%" PRIu64 "-%" PRIu64 ".db", folder, variable("SLURM_ARRAY_JOB_ID", 0),
                           variable("SLURM_ARRAY_TASK_ID", 0));
    struct gt_sweep whole;
    int result = gt_sweep_open(&whole, arguments->output, asked, error);

    if (result == 0)
        result = work(&whole, path, asked, arguments, error);
    gt_sweep_close(&whole);
    free(folder);
    free(path);
    return result;
}

static int keep(void *user, const struct gt_sweep_row *row, struct gt_error *error)
{
    struct gt_sweep *sweep = user;

    return sweep->done[row->point] ? 0 : gt_sweep_keep(sweep, row, error);
}

static int take_traces(struct gt_sweep *sweep, const struct gt_sweep_plan *part, struct gt_error *error)
{
    for (uint32_t i = 0; i < part->trace_count; i++)
        if (part->traces[i].name != NULL && gt_sweep_keep_trace(sweep, i, &part->traces[i], error) != 0)
            return -1;
    return 0;
}

/* One task's store.  One that cannot be read is told and left: what it had is missing, and done again. */
static int take(struct gt_sweep *sweep, const char *path, struct gt_error *error)
{
    struct gt_sweep_plan plan = { .options = NULL };
    struct gt_error damaged = { "" };
    struct gt_store *store = gt_store_open(path, false, &damaged);
    int result = 0;

    if (store == NULL || gt_sweep_plan_read(store, &plan, &damaged) != 0 ||
        gt_sweep_plan_check(&plan, &sweep->plan, path, &damaged) != 0)
        fprintf(stderr, "gridtide: %s\n", damaged.text);
    else if (take_traces(sweep, &plan, error) != 0 || gt_sweep_each(store, &plan, keep, sweep, error) != 0)
        result = -1;
    gt_sweep_plan_free(&plan);
    gt_store_close(store);
    return result;
}

/* Is it a file of a task of that array? */
static bool is_of(const char *name, const char *array, const char *ending)
{
    size_t length = array != NULL ? strlen(array) : strspn(name, "0123456789");

    return length > 0 && (array == NULL || strncmp(name, array, length) == 0) && name[length] == '-' &&
           gt_ends(name, strlen(name), ending);
}

int gt_sweep_collect(struct gt_sweep *sweep, const char *array, struct gt_error *error)
{
    char *folder = gt_sweep_folder(sweep->path);
    DIR *list = opendir(folder);
    struct dirent *entry;
    int result = 0;

    while (list != NULL && result == 0 && (entry = readdir(list)) != NULL) {
        char *path = gt_format("%s/%s", folder, entry->d_name);

        if (is_of(entry->d_name, array, ".db"))
            result = take(sweep, path, error);
        free(path);
    }
    if (list != NULL)
        closedir(list);
    free(folder);
    return gt_sweep_flush(sweep, true, result == 0 ? error : NULL) == 0 ? result : -1;
}

/* What the tasks of `array` wrote (NULL: of all), and the folder where nothing else is in it. */
static void sweep_up(const char *sweep, const char *array)
{
    static const char *const endings[] = { ".db", ".db-journal", ".out" };
    char *folder = gt_sweep_folder(sweep);
    DIR *list = opendir(folder);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        char *path = gt_format("%s/%s", folder, entry->d_name);

        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
            if (is_of(entry->d_name, array, endings[i]))
                unlink(path);
        free(path);
    }
    if (list != NULL)
        closedir(list);
    rmdir(folder);
    free(folder);
}

int gt_sweep_merge(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, struct gt_error *error)
{
    const char *array = getenv(GT_SWEEP_ARRAY);

    if (gt_sweep_collect(sweep, array, error) != 0)
        return -1;
    printf("%" PRIu64 " of %" PRIu64 " points are in "
           "%s\n",
           sweep->points - sweep->left, sweep->points, sweep->path);
    if (sweep->left == 0) {
        sweep_up(sweep->path, NULL);
        return GT_EXIT_DONE;
    }
    if (arguments->part == GT_SWEEP_MERGE)
        return gt_sweep_submit(sweep, arguments, GT_SWEEP_MERGE_AGAIN, error);
    return gt_error_set(error,
                        "%s: %" PRIu64
                        " points failed twice (the tasks' logs are in %s.parts); run the same command to retry "
                        "them",
                        sweep->path, sweep->left, sweep->path);
}
