/* The critical path's segments, found latest first and wanted earliest first, in any number:
 * they wait in a temporary file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/stats/internal.h"

/* A segment in the file; it ends where the one written before it begins. */
struct step {
    gt_time_ps from_ps;
    uint32_t part, op, call; /* part: in stats->path as found; op, call: or GT_NONE */
    uint32_t reserved;
};

struct gt_path_file {
    FILE *file;
    uint32_t *rank; /* in stats->path of a part as found */
};

enum { STEPS_AT_ONCE = 4096 };

static int file_error(struct gt_error *error)
{
    return gt_error_set(error, "temporary file for the critical path: %s", strerror(errno));
}

struct gt_path_file *gt_path_file_new(struct gt_error *error)
{
    struct gt_path_file *path = gt_calloc(1, sizeof *path);

    path->file = tmpfile();
    if (path->file == NULL) {
        file_error(error);
        free(path);
        return NULL;
    }
    return path;
}

void gt_path_file_free(struct gt_path_file *path)
{
    if (path == NULL)
        return;
    fclose(path->file);
    free(path->rank);
    free(path);
}

int gt_path_file_add(struct gt_path_file *path, gt_time_ps from_ps, uint32_t part, uint32_t op, uint32_t call,
                     struct gt_error *error)
{
    struct step step = { .from_ps = from_ps, .part = part, .op = op, .call = call };

    return fwrite(&step, sizeof step, 1, path->file) == 1 ? 0 : file_error(error);
}

static int by_total(const void *left, const void *right, void *parts)
{
    const struct gt_stats_path_part *all = parts;
    const struct gt_stats_path_part *a = &all[*(const uint32_t *)left], *b = &all[*(const uint32_t *)right];

    if (a->total_ps != b->total_ps)
        return a->total_ps > b->total_ps ? -1 : 1;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->name, b->name);
}

int gt_path_file_finish(struct gt_stats *stats, struct gt_error *error)
{
    struct gt_path_file *path = stats->path_file;
    size_t count = stats->path_count, kept = 0;
    gt_time_ps length_ps = stats->path_end_ps - stats->path_start_ps;
    struct gt_stats_path_part *sorted = gt_calloc(count + 1, sizeof *sorted);
    uint32_t *order = gt_calloc(count + 1, sizeof *order);

    path->rank = gt_calloc(count + 1, sizeof *path->rank);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by_total, stats->path);
    for (size_t i = 0; i < count; i++) {
        struct gt_stats_path_part *part = &stats->path[order[i]];

        if (part->segments == 0) { /* met, but no time passed in it */
            free(part->name);
            continue;
        }
        part->share = (double)part->total_ps / (double)length_ps;
        path->rank[order[i]] = (uint32_t)kept;
        sorted[kept++] = *part;
    }
    free(order);
    free(stats->path);
    stats->path = sorted;
    stats->path_count = kept;
    return fflush(path->file) == 0 ? 0 : file_error(error);
}

static int64_t number_of(uint32_t index)
{
    return index == GT_NONE ? -1 : (int64_t)index;
}

static int show(const struct gt_stats *stats, const struct step *step, gt_time_ps to_ps, gt_stats_segment_fn *each,
                void *user, struct gt_error *error)
{
    uint32_t place = stats->path_file->rank[step->part];
    const struct gt_stats_path_part *part = &stats->path[place];
    /* clang-format off */
    struct gt_stats_segment segment = {
        .kind = part->kind, .name = part->name, .part = place, .from_ps = step->from_ps, .to_ps = to_ps,
        .op = number_of(step->op), .call = number_of(step->call),
    };
    /* clang-format on */

    return each(user, &segment, error);
}

int gt_stats_path(struct gt_stats *stats, gt_stats_segment_fn *each, void *user, struct gt_error *error)
{
    struct step *steps = gt_calloc(STEPS_AT_ONCE, sizeof *steps), held = { 0 };
    uint64_t left = stats->path_segments;
    bool holding = false;
    int result = 0;

    while (left > 0 && result == 0) {
        size_t count = left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;

        left -= count;
        if (fseeko(stats->path_file->file, (off_t)(left * sizeof *steps), SEEK_SET) != 0 ||
            fread(steps, sizeof *steps, count, stats->path_file->file) != count) {
            result = file_error(error);
            break;
        }
        while (count-- > 0 && result == 0) {
            if (holding)
                result = show(stats, &held, steps[count].from_ps, each, user, error);
            held = steps[count];
            holding = true;
        }
    }
    if (holding && result == 0)
        result = show(stats, &held, stats->path_end_ps, each, user, error);
    free(steps);
    return result;
}
