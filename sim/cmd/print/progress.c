#include "sim/cmd/print/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 40 };
static const double first_s = 1.0, every_s = 0.1;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void gt_progress_begin(struct gt_progress *progress, const char *what, bool quiet)
{
    *progress = (struct gt_progress){ .what = what, .enabled = !quiet && isatty(STDERR_FILENO) };
    if (progress->enabled)
        progress->began_s = progress->drawn_s = now_s();
}

static void draw(const struct gt_progress *progress, uint64_t done, uint64_t total)
{
    char bar[BAR_CELLS + 1];
    int full;

    if (total == 0) {
        fprintf(stderr, "\r%s %" PRIu64 "\033[K", progress->what, done);
        return;
    }
    if (done > total)
        done = total;
    full = (int)((double)done / (double)total * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%%\033[K", progress->what, bar, (double)done / (double)total * 100.0);
}

void gt_progress_update(void *user, uint64_t done, uint64_t total)
{
    struct gt_progress *progress = user;
    double now;

    if (!progress->enabled)
        return;
    now = now_s();
    if (now - progress->began_s < first_s || now - progress->drawn_s < every_s)
        return;
    draw(progress, done, total);
    progress->drawn_s = now;
    progress->shown = true;
}

int gt_progress_probe(void *user, uint64_t done, uint64_t total, struct gt_error *error)
{
    (void)error;
    gt_progress_update(user, done, total);
    return 0;
}

void gt_progress_end(struct gt_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
