#include "sim/tasks/run.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum part { BYTES, OPERATIONS, PARTS };

struct job {
    struct gt_roofline_task task;
    double ends_at[PARTS]; /* count of its SM at which this part of it is done */
    uint32_t next[PARTS];  /* on its SM, by rising ends_at; free list */
    uint32_t parts_left;
};

/* What one SM's tasks have of a resource. */
struct sm_share {
    double count;        /* what each task here has had, as of ... */
    double clock;        /* ... this time of the resource's clock */
    uint32_t head, jobs; /* that ends first; GT_NONE */
};

/* The clock of a resource is what each SM that wants some has had. */
struct resource {
    double clock, pace; /* of the clock, a picosecond */
    gt_time_ps updated_ps;
    double whole, of_sm; /* all there is, and what one SM takes at most, a picosecond */
    struct sm_share *sms;
    uint32_t active; /* SMs with jobs */
    double *first;   /* a tree of the smaller of two: leaves are the clock at which each SM's first job is done */
};

struct gt_roofline {
    struct resource resources[PARTS];
    uint32_t leaves; /* of the trees: a power of two */
    double memory_whole;
    struct job *jobs;
    uint32_t job_count, job_room, jobs_free;
};

static void make_resource(struct resource *resource, uint32_t sms, uint32_t leaves, double whole, double of_sm)
{
    *resource = (struct resource){ .whole = whole, .of_sm = of_sm };
    resource->sms = gt_calloc(sms, sizeof *resource->sms);
    for (uint32_t i = 0; i < sms; i++)
        resource->sms[i].head = GT_NONE;
    resource->first = gt_realloc(NULL, 2ull * leaves, sizeof *resource->first);
    for (uint32_t i = 0; i < 2 * leaves; i++)
        resource->first[i] = INFINITY;
}

struct gt_roofline *gt_roofline_new(const struct gt_device *device)
{
    struct gt_roofline *roofline = gt_calloc(1, sizeof *roofline);
    double cycles_per_ps = device->clock_mhz * 1e-6;

    roofline->leaves = 1;
    while (roofline->leaves < device->sms)
        roofline->leaves *= 2;
    roofline->jobs_free = GT_NONE;
    roofline->memory_whole = device->warp.dram_gbps * device->warp.dram_efficiency * 1e-3;
    make_resource(&roofline->resources[BYTES], device->sms, roofline->leaves, roofline->memory_whole,
                  device->warp.sm_bytes_per_cycle * cycles_per_ps);
    make_resource(&roofline->resources[OPERATIONS], device->sms, roofline->leaves, INFINITY,
                  device->tasks.operations_per_cycle * cycles_per_ps);
    return roofline;
}

void gt_roofline_free(struct gt_roofline *roofline)
{
    if (roofline == NULL)
        return;
    for (int part = 0; part < PARTS; part++) {
        free(roofline->resources[part].sms);
        free(roofline->resources[part].first);
    }
    free(roofline->jobs);
    free(roofline);
}

/* The clock goes on to now. */
static void settle(struct resource *resource, gt_time_ps now_ps)
{
    resource->clock += (double)(now_ps - resource->updated_ps) * resource->pace;
    resource->updated_ps = now_ps;
}

static void set_pace(struct resource *resource)
{
    resource->pace = resource->active == 0 ? 0 : fmin(resource->of_sm, resource->whole / resource->active);
}

/* An SM's count goes on to the clock's time. */
static void settle_sm(const struct resource *resource, struct sm_share *sm)
{
    if (sm->jobs > 0)
        sm->count += (resource->clock - sm->clock) / sm->jobs;
    sm->clock = resource->clock;
}

/* Its first job may be another now, or be done at another time. */
static void set_first(struct gt_roofline *roofline, enum part part, uint32_t sm)
{
    struct resource *resource = &roofline->resources[part];
    const struct sm_share *share = &resource->sms[sm];
    uint32_t leaf = roofline->leaves + sm;

    resource->first[leaf] =
        share->head == GT_NONE
            ? INFINITY
            : share->clock + (roofline->jobs[share->head].ends_at[part] - share->count) * share->jobs;
    for (leaf /= 2; leaf > 0; leaf /= 2)
        resource->first[leaf] = fmin(resource->first[2 * leaf], resource->first[2 * leaf + 1]);
}

static void add_part(struct gt_roofline *roofline, enum part part, uint32_t sm, uint32_t job, double amount,
                     gt_time_ps now_ps)
{
    struct resource *resource = &roofline->resources[part];
    struct sm_share *share = &resource->sms[sm];
    uint32_t *link = &share->head;
    double ends_at;

    settle(resource, now_ps);
    settle_sm(resource, share);
    ends_at = roofline->jobs[job].ends_at[part] = share->count + amount;
    while (*link != GT_NONE && roofline->jobs[*link].ends_at[part] <= ends_at)
        link = &roofline->jobs[*link].next[part];
    roofline->jobs[job].next[part] = *link;
    *link = job;
    resource->active += share->jobs++ == 0;
    set_pace(resource);
    set_first(roofline, part, sm);
}

/* A place for a job, with nothing to do. */
static uint32_t new_job(struct gt_roofline *roofline, struct gt_roofline_task task)
{
    uint32_t job = roofline->jobs_free;

    if (job != GT_NONE) {
        roofline->jobs_free = roofline->jobs[job].next[0];
    } else {
        gt_array_grow(roofline->jobs, roofline->job_count, roofline->job_room);
        job = roofline->job_count++;
    }
    roofline->jobs[job] = (struct job){ .task = task };
    return job;
}

bool gt_roofline_begin(struct gt_roofline *roofline, gt_time_ps now_ps, struct gt_roofline_task task, uint32_t sm,
                       uint64_t bytes, uint64_t operations)
{
    const uint64_t amounts[PARTS] = { bytes, operations };
    uint32_t job;

    if (bytes == 0 && operations == 0)
        return false;
    job = new_job(roofline, task);
    for (int part = 0; part < PARTS; part++) {
        if (amounts[part] == 0)
            continue;
        roofline->jobs[job].parts_left++;
        add_part(roofline, part, sm, job, (double)amounts[part], now_ps);
    }
    return true;
}

void gt_roofline_set_memory_part(struct gt_roofline *roofline, gt_time_ps now_ps, double part)
{
    struct resource *bytes = &roofline->resources[BYTES];

    settle(bytes, now_ps);
    bytes->whole = roofline->memory_whole * part;
    set_pace(bytes);
}

double gt_roofline_memory_wanted(const struct gt_roofline *roofline, uint32_t *sms)
{
    const struct resource *bytes = &roofline->resources[BYTES];

    *sms = bytes->active;
    return fmin(1, bytes->of_sm * bytes->active / roofline->memory_whole);
}

/* When the first job of all SMs has done this part. */
static gt_time_ps first_ps(const struct resource *resource)
{
    double left = resource->first[1] - resource->clock;

    if (resource->active == 0)
        return GT_TIME_NONE;
    if (left <= 0)
        return resource->updated_ps;
    left = ceil(left / resource->pace - 1e-6); /* what rounding has added is no picosecond more */
    return left < (double)GT_TIME_LIMIT_PS ? resource->updated_ps + (gt_time_ps)left : GT_TIME_LIMIT_PS + 1;
}

gt_time_ps gt_roofline_next_ps(const struct gt_roofline *roofline)
{
    gt_time_ps bytes_ps = first_ps(&roofline->resources[BYTES]);
    gt_time_ps operations_ps = first_ps(&roofline->resources[OPERATIONS]);

    return bytes_ps < operations_ps ? bytes_ps : operations_ps;
}

/* The SM whose job is done first. */
static uint32_t first_sm(const struct gt_roofline *roofline, const struct resource *resource)
{
    uint32_t node = 1;

    while (node < roofline->leaves)
        node = 2 * node + (resource->first[2 * node] > resource->first[2 * node + 1]);
    return node - roofline->leaves;
}

bool gt_roofline_step(struct gt_roofline *roofline, gt_time_ps now_ps, struct gt_roofline_task *task)
{
    enum part part =
        first_ps(&roofline->resources[BYTES]) <= first_ps(&roofline->resources[OPERATIONS]) ? BYTES : OPERATIONS;
    struct resource *resource = &roofline->resources[part];
    uint32_t sm = first_sm(roofline, resource), index = resource->sms[sm].head;
    struct sm_share *share = &resource->sms[sm];
    struct job *job = &roofline->jobs[index];

    settle(resource, now_ps);
    settle_sm(resource, share);
    share->count = fmax(share->count, job->ends_at[part]); /* whatever was rounded */
    share->head = job->next[part];
    resource->active -= --share->jobs == 0;
    set_pace(resource);
    set_first(roofline, part, sm);
    if (--job->parts_left > 0) {
        job->task.first_ps = now_ps;
        return false;
    }
    *task = job->task;
    job->next[0] = roofline->jobs_free;
    roofline->jobs_free = index;
    return true;
}
