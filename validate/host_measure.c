#include "validate/host_measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/replay/replay.h"
#include "validate/random/draw.h"

/* Any will do that nobody validates with: the traces are of the same families, not the same. */
static const uint64_t host_seed = 0x686f7374;

/* Pageable copies in and out that the host stages, of more than its buffers hold, with nothing to wait for: random traces
 * have few.  The copies of one direction share a buffer (validate/player), as large as the largest. */
enum { STAGED_ROUNDS = 3 };
static const uint64_t staged_bytes[] = { 3 << 20, 4 << 20, 8 << 20, 16 << 20 };
static const char *const staged_directions[] = { "h2d", "d2h" };
enum { STAGED_SIZES = sizeof staged_bytes / sizeof staged_bytes[0] };
static struct gt_workload *staged_copies(struct gt_error *error)
{
    struct gt_workload *workload;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_no_memory("a trace");
    fputs("{\"gridtide\":1,\"name\":\"staged copies\",\"device\":\"h200\"}\n", out);
    for (int i = 0; i < STAGED_ROUNDS * STAGED_SIZES * 2; i++)
        fprintf(out,
                "{\"call\":\"copy\",\"stream\":\"s\",\"direction\":\"%s\",\"bytes\":%" PRIu64
                ",\"memory\":\"pageable\"}\n"
                "{\"call\":\"device_sync\"}\n",
                staged_directions[i % 2], staged_bytes[i / 2 % STAGED_SIZES]);
    fclose(out);
    workload = gt_draw_read(text, error);
    free(text);
    return workload;
}

static struct gt_workload *draw(const struct gt_draws *draws, uint32_t number, struct gt_error *error)
{
    struct gt_workload *workload;
    char *text = gt_draw_text(draws, number);

    workload = gt_draw_read(text, error);
    free(text);
    return workload;
}

static int play_one(const struct gt_players *players, const struct gt_workload *workload, struct gt_host_costs *costs,
                    struct gt_error *error)
{
    struct gt_device generic; /* nothing in these traces was recorded anywhere */
    const struct gt_play_options options = { .seed = 1, .recorded_on = &generic };
    struct gt_play_result unused = { .counter_count = 0 };
    struct gt_measured_host host;
    struct gt_probe probe;
    struct gt_player *player;
    int result;

    gt_device_init(&generic);
    player = players->open(workload, &options, error);
    if (player == NULL)
        return -1;
    gt_measured_host_make(&host, workload);
    probe = gt_measured_host_probe(&host);
    result = players->play(player, NULL, &unused, error);
    if (result == 0)
        result = players->play(player, &probe, &unused, error);
    if (result == 0)
        gt_host_costs_add(costs, workload, &host.workload);
    gt_measured_host_free(&host);
    players->close(player);
    return result;
}

int gt_host_measure(const struct gt_players *players, struct gt_host_costs *costs, bool (*stop)(void *user),
                    void (*told)(void *user, uint32_t done), void *user, struct gt_error *error)
{
    struct gt_draws draws;
    int result = gt_draws_of(&draws, NULL, host_seed, error);

    for (uint32_t i = 0; i < GT_HOST_TRACES && result == 0 && !stop(user); i++) {
        struct gt_workload *workload = i == 0 ? staged_copies(error) : draw(&draws, i, error);

        result = workload != NULL ? play_one(players, workload, costs, error) : -1;
        gt_workload_free(workload);
        told(user, i + 1);
    }
    return result;
}

gt_time_ps gt_host_first_ps(const struct gt_workload *workload)
{
    gt_time_ps first_ps = GT_TIME_NONE;

    for (uint32_t i = 0; i < workload->call_count; i++)
        if (workload->calls[i].start_ps < first_ps) /* not known is later than all */
            first_ps = workload->calls[i].start_ps;
    return first_ps;
}

gt_time_ps gt_host_gap_ps(const struct gt_call *call, gt_time_ps *at_ps)
{
    gt_time_ps from_ps = *at_ps, end_ps = gt_call_measured_end(call);

    if (end_ps == GT_TIME_NONE || from_ps == GT_TIME_NONE || end_ps > from_ps)
        *at_ps = end_ps;
    if (call->start_ps == GT_TIME_NONE || from_ps == GT_TIME_NONE || from_ps > call->start_ps)
        return 0;
    return call->start_ps - from_ps;
}

void gt_measured_host_make(struct gt_measured_host *host, const struct gt_workload *workload)
{
    struct gt_workload *w = &host->workload;

    *w = *workload;
    w->calls = gt_calloc(w->call_count + 1ull, sizeof *w->calls);
    w->ops = gt_calloc(w->op_count + 1ull, sizeof *w->ops);
    for (uint32_t i = 0; i < w->call_count; i++) {
        w->calls[i] = workload->calls[i];
        w->calls[i].start_ps = w->calls[i].duration_ps = GT_TIME_NONE;
    }
    for (uint32_t i = 0; i < w->op_count; i++) {
        w->ops[i] = workload->ops[i];
        w->ops[i].start_ps = w->ops[i].duration_ps = GT_TIME_NONE;
    }
}

void gt_measured_host_free(struct gt_measured_host *host)
{
    free(host->workload.calls);
    free(host->workload.ops);
    memset(host, 0, sizeof *host);
}

static int take_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct gt_call *call = &((struct gt_measured_host *)user)->workload.calls[record->call];

    (void)error;
    call->start_ps = record->start_ps;
    call->duration_ps = record->end_ps - record->start_ps;
    return 0;
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct gt_op *op = &((struct gt_measured_host *)user)->workload.ops[record->op];

    (void)error;
    op->start_ps = record->start_ps;
    op->duration_ps = record->end_ps - record->start_ps;
    return 0;
}

struct gt_probe gt_measured_host_probe(struct gt_measured_host *host)
{
    return (struct gt_probe){ .user = host, .call = take_call, .op = take_op };
}
