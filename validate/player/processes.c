#include "validate/player/processes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/sort.h"
#include "sim/workload/processes.h"
#include "validate/gpu/mps.h"
#include "validate/gpu/together.h"
#include "validate/player/process_part.h"

enum { PROCESSES_MAX = 16 };

/* What a player's process is told, and what it says when that is done. */
enum { PLAY_WARM_UP = 'w', PLAY = 'p', END = 'q' };
struct answer {
    int status;
    struct gt_error error;
    struct gt_play_result result;
    char description[256];
    uint64_t records;
};

/* A record on its way from a player's process. */
struct record {
    enum { CALL, OP, BLOCKS } kind;
    gt_time_ps at_ps; /* by which they are told */
    union {
        struct gt_call_record call;
        struct gt_op_record op;
        struct gt_block_record blocks;
    } of;
};

struct process {
    pid_t pid;
    uint64_t process; /* of the workload */
    int tell, hear;   /* pipes */
    FILE *records;    /* a file that both have open */
};

struct gt_player {
    const struct gt_workload *workload;
    struct gt_play_options options;
    struct gt_together *together;
    struct process processes[PROCESSES_MAX];
    uint32_t count;
    struct answer answers[PROCESSES_MAX];
    char description[320];
};

static bool send_all(int to, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t sent = write(to, at, bytes);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool get_all(int from, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        ssize_t got = read(from, at, bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* In a player's process. */

struct telling {
    const struct gt_process_part *part;
    FILE *file;
    uint64_t count;
};

static int tell(struct telling *telling, const struct record *record, struct gt_error *error)
{
    telling->count++;
    return fwrite(record, sizeof *record, 1, telling->file) == 1
               ? 0
               : gt_error_set(error, "records do not fit the temporary folder: %s", strerror(errno));
}

static int tell_call(void *user, const struct gt_call_record *call, struct gt_error *error)
{
    struct telling *telling = user;
    struct record record = { .kind = CALL, .at_ps = call->end_ps, .of.call = *call };

    record.of.call.call = telling->part->call_of[call->call];
    if (call->cause_op != GT_NONE)
        record.of.call.cause_op = telling->part->op_of[call->cause_op];
    return tell(telling, &record, error);
}

static int tell_op(void *user, const struct gt_op_record *op, struct gt_error *error)
{
    struct telling *telling = user;
    struct record record = { .kind = OP, .at_ps = op->end_ps, .of.op = *op };

    record.of.op.op = telling->part->op_of[op->op];
    return tell(telling, &record, error);
}

static int tell_blocks(void *user, const struct gt_block_record *blocks, struct gt_error *error)
{
    struct telling *telling = user;
    struct record record = { .kind = BLOCKS, .at_ps = blocks->start_ps, .of.blocks = *blocks };

    record.of.blocks.op = telling->part->op_of[blocks->op];
    return tell(telling, &record, error);
}

static void play_part(const struct gt_process_part *part, struct gt_player *own, FILE *file, char what,
                      struct answer *answer)
{
    struct telling telling = { part, file, 0 };
    const struct gt_probe probe = { .user = &telling, .call = tell_call, .op = tell_op, .blocks = tell_blocks };

    rewind(file);
    answer->result.counter_count = 0;
    answer->status = gt_cuda_players.play(own, what == PLAY ? &probe : NULL, &answer->result, &answer->error);
    answer->records = telling.count;
    if (fflush(file) != 0 && answer->status == 0)
        answer->status = gt_error_set(&answer->error, "records do not fit the temporary folder: %s", strerror(errno));
}

/* A player's process, from its beginning to its end. */
static void be_player(const struct gt_player *player, const struct process *process)
{
    struct gt_play_options options = player->options;
    struct gt_sharing sharing = gt_process_sharing(player->workload, process->process);
    struct answer answer = { .status = -1 };
    struct gt_gpu_facts facts;
    struct gt_player *own = NULL;
    struct gt_process_part part;
    char what;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    options.together = player->together;
    gt_mps_join(&sharing);
    gt_process_part_make(&part, player->workload, process->process);
    if (gt_cuda_players.find(&facts, &answer.error) == 0)
        own = gt_cuda_players.open(part.workload, &options, &answer.error);
    if (own != NULL) {
        answer.status = 0;
        snprintf(answer.description, sizeof answer.description, "%s", gt_cuda_players.describe(own));
    }
    while (send_all(process->hear, &answer, sizeof answer) && answer.status == 0 &&
           get_all(process->tell, &what, 1) && what != END)
        play_part(&part, own, process->records, what, &answer);
    if (answer.status != 0)
        gt_together_fail(player->together);
    gt_cuda_players.close(own);
    _exit(answer.status != 0);
}

/* In the process that plays through them. */

static int start(struct gt_player *player, struct process *process, struct gt_error *error)
{
    int tell[2], hear[2];
    struct process theirs = *process;

    process->records = tmpfile();
    if (process->records == NULL || pipe(tell) != 0 || pipe(hear) != 0)
        return gt_error_set(error, "cannot start a process for a player: %s", strerror(errno));
    fflush(NULL);
    process->pid = fork();
    if (process->pid < 0)
        return gt_error_set(error, "cannot start a process for a player: %s", strerror(errno));
    if (process->pid == 0) {
        close(tell[1]);
        close(hear[0]);
        theirs.records = process->records;
        theirs.tell = tell[0];
        theirs.hear = hear[1];
        be_player(player, &theirs);
    }
    close(tell[0]);
    close(hear[1]);
    process->tell = tell[1];
    process->hear = hear[0];
    return 0;
}

/* A process has answered, or ended: did it do what it was told? */
static bool take_answer(struct gt_player *player, uint32_t number)
{
    struct answer *answer = &player->answers[number];

    if (!get_all(player->processes[number].hear, answer, sizeof *answer))
        *answer = (struct answer){ .status = -1 };
    if (answer->status != 0)
        gt_together_fail(player->together);
    return answer->status == 0;
}

/* Of those that did not: others end because one has failed, and that one says why. */
static int say_why(const struct gt_player *player, struct gt_error *error)
{
    for (uint32_t i = 0; i < player->count; i++)
        if (player->answers[i].status != 0 && player->answers[i].error.text[0] != '\0')
            return gt_error_set(error, "%s", player->answers[i].error.text);
    return gt_error_set(error, "a player's process has ended");
}

/* All have said that they are done, in whatever order: where one fails, others wait for it until they are told. */
static int await_all(struct gt_player *player, struct gt_error *error)
{
    struct pollfd waiting[PROCESSES_MAX];
    uint32_t left = player->count;
    bool done = true;

    for (uint32_t i = 0; i < player->count; i++)
        waiting[i] = (struct pollfd){ .fd = player->processes[i].hear, .events = POLLIN };
    while (left > 0) {
        if (poll(waiting, player->count, -1) < 0 && errno != EINTR)
            return gt_error_set(error, "cannot wait for players: %s", strerror(errno));
        for (uint32_t i = 0; i < player->count; i++) {
            if (waiting[i].fd < 0 || waiting[i].revents == 0)
                continue;
            done &= take_answer(player, i);
            waiting[i].fd = -1; /* poll() passes it over */
            waiting[i].revents = 0;
            left--;
        }
    }
    return done ? 0 : say_why(player, error);
}

/* False where that process has ended; which must not end this one. */
static bool tell_player(const struct process *process, char what)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool told = send_all(process->tell, &what, 1);

    signal(SIGPIPE, before);
    return told;
}

/* One for each process of the workload; all green contexts are of one. */
static int choose_processes(struct gt_player *player, struct gt_error *error)
{
    const struct gt_workload *w = player->workload;
    uint32_t *first = gt_thread_processes(w), green = 0;
    int status = 0;

    for (gt_thread_index i = 0; status == 0 && i < w->thread_count; i++) {
        struct gt_sharing sharing = gt_process_sharing(w, w->threads[i].process);

        if (first[i] != i)
            continue;
        green += sharing.how == GT_SHARE_GREEN;
        if (player->count == PROCESSES_MAX)
            status = gt_error_set(error, "more than %d processes cannot be played", PROCESSES_MAX);
        else if (sharing.how == GT_SHARE_MIG)
            status = gt_error_set(error, "MIG instances cannot be played; share sliced, mps or green");
        else if (sharing.how == GT_SHARE_MPS && gt_mps_start(error) != 0)
            status = -1;
        else
            player->processes[player->count++].process = w->threads[i].process;
    }
    free(first);
    if (status == 0 && green > 0 && green < player->count)
        return gt_error_set(error, "green contexts are of one process: all must share so, or none");
    if (green > 0) {
        player->count = 1;
        player->processes[0].process = GT_PROCESS_NONE;
    }
    return status;
}

static void close_player(struct gt_player *player)
{
    if (player == NULL)
        return;
    if (gt_together_failed(player->together))
        for (uint32_t i = 0; i < player->count; i++)
            if (player->processes[i].pid > 0)
                kill(player->processes[i].pid, SIGKILL);
    for (uint32_t i = 0; i < player->count; i++) {
        struct process *process = &player->processes[i];

        if (process->pid > 0) {
            tell_player(process, END);
            waitpid(process->pid, NULL, 0);
            close(process->tell);
            close(process->hear);
        }
        if (process->records != NULL)
            fclose(process->records);
    }
    gt_together_free(player->together);
    free(player);
}

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *error)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);
    uint32_t said = 0; /* whose description: of one that had copies within the device, which others need not have */
    int status;

    player->workload = workload;
    player->options = *options;
    status = choose_processes(player, error);
    player->together = gt_together_new(player->count);
    if (player->together == NULL)
        gt_no_memory("players of several processes");
    for (uint32_t i = 0; status == 0 && i < player->count; i++)
        status = start(player, &player->processes[i], error);
    if (status == 0)
        status = await_all(player, error);
    else
        gt_together_fail(player->together);
    if (status != 0) {
        close_player(player);
        return NULL;
    }
    for (uint32_t i = 1; i < player->count; i++)
        if (strstr(player->answers[i].description, GT_PLAYED_KERNELS_RECORDED) != NULL)
            said = i;
    snprintf(player->description, sizeof player->description, "%s processes=%u", player->answers[said].description,
             player->count);
    return player;
}

static int by_time(const void *left, const void *right)
{
    const struct record *a = left, *b = right;

    GT_ORDER(a->at_ps, b->at_ps);
    GT_ORDER(a->kind, b->kind);
    return 0;
}

static int hand_on(const struct record *record, const struct gt_probe *probe, struct gt_error *error)
{
    switch (record->kind) {
    case CALL: return probe->call != NULL ? probe->call(probe->user, &record->of.call, error) : 0;
    case OP: return probe->op != NULL ? probe->op(probe->user, &record->of.op, error) : 0;
    default: return probe->blocks != NULL ? probe->blocks(probe->user, &record->of.blocks, error) : 0;
    }
}

/* What all processes recorded, in order of time. */
static int merge(struct gt_player *player, const struct gt_probe *probe, struct gt_error *error)
{
    struct record *records;
    uint64_t total = 0, read = 0;
    int status = 0;

    for (uint32_t i = 0; i < player->count; i++)
        total += player->answers[i].records;
    records = gt_calloc(total + 1, sizeof *records);
    for (uint32_t i = 0; i < player->count && status == 0; i++) {
        uint64_t count = player->answers[i].records;

        rewind(player->processes[i].records);
        if (fread(records + read, sizeof *records, count, player->processes[i].records) != count)
            status = gt_error_set(error, "records of a player's process are missing");
        read += count;
    }
    qsort(records, read, sizeof *records, by_time);
    for (uint64_t i = 0; i < read && status == 0; i++)
        status = hand_on(&records[i], probe, error);
    free(records);
    return status;
}

/* The first process's, but for what adds up. */
static void merge_counters(const struct gt_player *player, struct gt_play_result *result)
{
    for (uint32_t i = 0; i < player->count; i++) {
        const struct gt_play_result *own = &player->answers[i].result;

        for (uint32_t j = 0; j < own->counter_count; j++) {
            uint32_t at = 0;

            while (at < result->counter_count && strcmp(result->counters[at].name, own->counters[j].name) != 0)
                at++;
            if (at == result->counter_count && at < GT_PLAY_COUNTERS)
                result->counters[result->counter_count++] = own->counters[j];
            else if (at < result->counter_count && strcmp(own->counters[j].name, "operations_unseen") == 0)
                result->counters[at].value += own->counters[j].value;
        }
    }
}

static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    const char what = probe != NULL ? PLAY : PLAY_WARM_UP;

    for (uint32_t i = 0; i < player->count; i++)
        if (!tell_player(&player->processes[i], what))
            gt_together_fail(player->together);
    if (await_all(player, error) != 0)
        return -1;
    if (probe == NULL)
        return 0;
    merge_counters(player, result);
    return merge(player, probe, error);
}

static const char *describe(const struct gt_player *player)
{
    return player->description;
}

/* In a process of its own, which uses CUDA in place of this one. */
static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    struct found {
        int status;
        struct gt_gpu_facts facts;
        struct gt_error error;
    } found = { .status = -1 };
    int hear[2];
    pid_t pid;

    if (pipe(hear) != 0)
        return gt_error_set(error, "cannot start a process: %s", strerror(errno));
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        found.status = gt_cuda_players.find(&found.facts, &found.error);
        _exit(!send_all(hear[1], &found, sizeof found));
    }
    close(hear[1]);
    if (pid < 0 || !get_all(hear[0], &found, sizeof found))
        gt_error_set(&found.error, "the process that searched for a GPU has ended");
    close(hear[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    *facts = found.facts;
    return found.status == 0 ? 0 : gt_error_set(error, "%s", found.error.text);
}

const struct gt_players gt_process_players = { find, open_player, play, describe, close_player, NULL, NULL, NULL };
