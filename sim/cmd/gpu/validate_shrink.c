#include "sim/cmd/gpu/validate_shrink.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "traces/jsonl/trace.h"

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

char *gt_shrink_folder(const char *store)
{
    size_t length = strlen(store);

    if (length > 3 && strcmp(store + length - 3, ".db") == 0)
        length -= 3;
    return gt_format("%.*s-shrunk", (int)length, store);
}

/* random-7/mixed-3 is V-shrunk/random-7-mixed-3.jsonl. */
static char *file_of(const char *store, const char *name)
{
    char *folder = gt_shrink_folder(store), *file = gt_format("%s/%s.jsonl", folder, name);

    for (char *c = file + strlen(folder) + 1; *c != '\0'; c++)
        if (*c == '/')
            *c = '-';
    free(folder);
    return file;
}

/* By how many % the error is beyond the spread of the real runs; whether it is worth a look. */
static double beyond_pct(const struct gt_judged *judged)
{
    double spread_pct = judged->verdict.repeats.spread_pct;

    return fabs(judged->verdict.comparison.makespan_error_pct) - (isnan(spread_pct) ? 0 : spread_pct);
}

static bool is_left(const struct gt_shrinker *shrinker, uint32_t row)
{
    return !shrinker->rows[row].begun && beyond_pct(&shrinker->judged[row]) > GT_SHRINK_BEYOND_PCT;
}

uint32_t gt_shrink_left(const struct gt_shrinker *shrinker)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < shrinker->count; i++)
        left += is_left(shrinker, i);
    return left;
}

/* The worst that is left; the number of rows where none is. */
static uint32_t worst(const struct gt_shrinker *shrinker)
{
    uint32_t row = shrinker->count;

    for (uint32_t i = 0; i < shrinker->count; i++) {
        if (is_left(shrinker, i) &&
            (row == shrinker->count || beyond_pct(&shrinker->judged[i]) > beyond_pct(&shrinker->judged[row])))
            row = i;
    }
    return row;
}

/* One trace at work. */
struct one {
    const struct gt_shrinker *shrinker;
    struct gt_shrink_row *row;
    char *file;
    double ends_s;
};

static bool stop_one(void *user)
{
    const struct one *one = user;

    return now_s() > one->ends_s || one->shrinker->stop(one->shrinker->user);
}

static int make_folder(const char *store, struct gt_error *error)
{
    char *folder = gt_shrink_folder(store);
    int result = mkdir(folder, 0777) == 0 || errno == EEXIST ? 0 : -1;

    if (result != 0)
        gt_error_set(error, "cannot create %s: %s", folder, strerror(errno));
    free(folder);
    return result;
}

/* Written as often as it gets smaller: whatever ends the program, the smallest is there. */
static int keep(void *user, const struct gt_workload *smallest, struct gt_error *error)
{
    struct one *one = user;

    if (make_folder(one->shrinker->store, error) != 0 || gt_trace_write(smallest, one->file, error) != 0)
        return -1;
    one->row->written = true;
    return 0;
}

/* A name of its own: it is another trace than the one in the store. */
static void rename_trace(struct gt_workload *workload)
{
    char *name = gt_format("%s-shrunk", workload->name != NULL ? workload->name : "trace");

    free(workload->name);
    workload->name = name;
}

static int shrink_one(const struct gt_shrinker *shrinker, uint32_t row, struct gt_error *error)
{
    struct one one = {
        .shrinker = shrinker,
        .row = &shrinker->rows[row],
        .file = file_of(shrinker->store, shrinker->judged[row].name),
        .ends_s = fmin(now_s() + GT_SHRINK_TRACE_S, shrinker->time->ends_s),
    };
    struct gt_validation validation;
    struct gt_device device;
    struct gt_workload *workload = shrinker->read(shrinker->user, row, &validation, &device, error);
    const struct gt_shrink_trace shrink = { &validation, &device, stop_one, keep, &one };
    int result = -1;

    if (workload != NULL) {
        rename_trace(workload);
        result = gt_shrink_trace(&shrink, workload, &one.row->shrunk, error);
    }
    gt_workload_free(workload);
    free(one.file);
    return result;
}

int gt_shrink_all(const struct gt_shrinker *shrinker, struct gt_error *error)
{
    struct gt_shrink_time *time = shrinker->time;
    uint32_t row, total = time->begun + gt_shrink_left(shrinker);

    if (total == 0)
        return 0;
    if (time->ends_s == 0)
        time->ends_s = now_s() + GT_SHRINK_ALL_S;
    shrinker->tell(shrinker->user, "shrinking", 0, total);
    while ((row = worst(shrinker)) < shrinker->count && now_s() < time->ends_s && !shrinker->stop(shrinker->user)) {
        shrinker->rows[row].begun = true;
        time->last = row;
        time->begun++;
        if (shrink_one(shrinker, row, error) != 0)
            return -1;
        if (shrinker->rows[row].shrunk.lost)
            return 1;
        shrinker->tell(shrinker->user, "shrinking", time->begun, total);
    }
    return 0;
}

struct gt_table *gt_shrink_table(const struct gt_shrinker *shrinker)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "calls", GT_COLUMN_NUMBER }, { "calls_left", GT_COLUMN_NUMBER },
        { "operations", GT_COLUMN_NUMBER }, { "operations_left", GT_COLUMN_NUMBER },
        { "error_pct", GT_COLUMN_NUMBER }, { "error_left_pct", GT_COLUMN_NUMBER },
        { "beyond_left_us", GT_COLUMN_NUMBER }, { "part", GT_COLUMN_TEXT }, { "tries", GT_COLUMN_NUMBER }, { "file", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("shrunk", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < shrinker->count; i++) {
        const struct gt_shrunk *shrunk = &shrinker->rows[i].shrunk;
        char *file;

        if (!shrinker->rows[i].written)
            continue;
        file = file_of(shrinker->store, shrinker->judged[i].name);
        gt_table_text(table, shrinker->judged[i].name);
        gt_table_integer(table, shrunk->calls_before);
        gt_table_integer(table, shrunk->calls_after);
        gt_table_integer(table, shrunk->operations_before);
        gt_table_integer(table, shrunk->operations_after);
        gt_table_real(table, gt_trial_error_pct(&shrunk->before, shrunk->before.simulated_us), 2);
        gt_table_real(table, gt_trial_error_pct(&shrunk->after, shrunk->after.simulated_us), 2);
        gt_table_real(table, gt_trial_beyond_us(&shrunk->after, shrunk->after.simulated_us), 2);
        gt_table_text(table, shrunk->gpu ? "gpu" : "host");
        gt_table_integer(table, shrunk->tries);
        gt_table_text(table, file);
        free(file);
    }
    return table;
}

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
