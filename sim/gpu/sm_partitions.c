#include "sim/gpu/sm_partitions.h"

#include <stdlib.h>

#include "sim/workload/processes.h"

/* Of an instance with so many compute slices; 0: the device has none. */
static uint32_t mig_sms(const struct gt_device *device, uint32_t slices)
{
    static const uint8_t profiles[] = { 1, 2, 3, 4, 7 };

    for (uint32_t i = 0; i < device->mig_profiles && i < sizeof profiles; i++)
        if (profiles[i] == slices)
            return device->mig_sms[i];
    return 0;
}

uint32_t gt_sharing_sms(const struct gt_device *device, const struct gt_sharing *sharing)
{
    uint32_t sms = device->sms, step;

    if (sharing->how == GT_SHARE_MPS && sharing->percent > 0) {
        step = device->mps_step_sms;
        sms = device->sms * sharing->percent / 100 / step * step;
        sms = sms < device->mps_least_sms ? device->mps_least_sms : sms;
    } else if (sharing->how == GT_SHARE_GREEN) {
        step = device->green_step_sms;
        sms = (sharing->green_sms + step - 1) / step * step;
    } else if (sharing->how == GT_SHARE_MIG) {
        sms = mig_sms(device, sharing->mig_slices);
    }
    return sms < device->sms ? sms : device->sms;
}

/* Does another partition have the SM?  Green contexts of two recorded processes may have the same. */
static bool is_taken(const struct gt_machine *m, const struct gt_sm_partition *own, gt_sm_index sm)
{
    for (uint32_t i = 0; i < m->partition_count; i++) {
        const struct gt_sm_partition *other = &m->partitions[i];

        if (other->gpu == own->gpu && other->fixed && (other->sms[sm / 64] >> sm % 64 & 1) &&
            (own->green == 0 || other->green == 0 || other->process == own->process))
            return true;
    }
    return false;
}

/* The GPC with the most SMs that no green context has; `count`: so many. */
static uint32_t emptiest_gpc(const struct gt_machine *m, const struct gt_sm_partition *own, uint32_t *count)
{
    uint32_t sms[UINT8_MAX + 1] = { 0 }, best = 0;

    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        sms[m->gpus[own->gpu].gpc[sm]] += !is_taken(m, own, sm);
    for (uint32_t gpc = 1; gpc <= UINT8_MAX; gpc++)
        best = sms[gpc] > sms[best] ? gpc : best;
    *count = sms[best];
    return best;
}

/* Seen on H200: the SMs of a step are whole TPCs of one GPC, so that a cluster finds room; what no whole step is left of goes last. */
static void choose(const struct gt_machine *m, struct gt_sm_partition *partition)
{
    uint32_t step = m->device->green_step_sms;

    partition->fixed = true;
    for (uint32_t left = partition->size; left > 0;) {
        uint32_t room, gpc = emptiest_gpc(m, partition, &room), take = step < left ? step : left;

        if (room == 0)
            return;
        take = take < room ? take : room;
        left -= take;
        for (gt_sm_index sm = 0; sm < m->device->sms && take > 0; sm++) {
            if (m->gpus[partition->gpu].gpc[sm] != gpc || is_taken(m, partition, sm))
                continue;
            partition->sms[sm / 64] |= UINT64_C(1) << sm % 64;
            take--;
        }
    }
}

static uint32_t find_or_add(struct gt_machine *m, const struct gt_stream_state *stream, uint32_t green, uint32_t sms)
{
    for (uint32_t i = 0; i < m->partition_count; i++)
        if (m->partitions[i].process == stream->process && m->partitions[i].gpu == stream->gpu &&
            m->partitions[i].green == green)
            return i + 1;
    m->partitions = gt_realloc(m->partitions, m->partition_count + 1ull, sizeof *m->partitions);
    m->partitions[m->partition_count++] =
        (struct gt_sm_partition){ .process = stream->process, .green = green, .gpu = stream->gpu, .size = sms };
    return m->partition_count;
}

/* SMs, and slices of instances, that processes have for themselves, by GPU. */
struct owned {
    uint32_t sms, slices;
};

/* Is what the process asks for there beside what others have? */
static int take(const struct gt_machine *m, const struct gt_sharing *sharing, uint32_t sms, struct owned *owned,
                struct gt_error *error)
{
    enum { SLICES = 7 };

    if (sharing->how == GT_SHARE_MIG) {
        owned->slices += sharing->mig_slices;
        if (sms == 0)
            return gt_error_set(
                error, "the device has no MIG instances; sharing.mig_sms says how many SMs each profile has");
        if (owned->slices > SLICES)
            return gt_error_set(error, "the MIG instances ask for %u of the device's %d slices; ask for fewer",
                                owned->slices, SLICES);
        return 0;
    }
    owned->sms += sharing->green_sms > sms ? sharing->green_sms : sms;
    if (owned->sms > m->device->sms)
        return gt_error_set(error,
                            "the green contexts ask for %u of the device's %u SMs (in steps of %u); ask for fewer",
                            owned->sms, m->device->sms, m->device->green_step_sms);
    return 0;
}

/* A new partition of fixed SMs, or not. */
static void begin_partition(struct gt_machine *m, uint32_t partition, bool fixed)
{
    m->partitions[partition].blocks = gt_calloc(m->device->sms, sizeof(uint32_t));
    if (fixed)
        choose(m, &m->partitions[partition]);
}

/* The stream has the SMs of the green context that it was recorded in: so many as were recorded, of its process's own. */
static int keep_context(struct gt_machine *m, gt_stream_index index, struct gt_error *error)
{
    const struct gt_stream *recorded = &m->workload->streams[index];
    struct gt_stream_state *stream = &m->streams[index];
    uint32_t before = m->partition_count, all = 0;

    stream->partition = find_or_add(m, stream, recorded->green, recorded->sms);
    for (uint32_t i = 0; i < m->partition_count; i++)
        if (m->partitions[i].process == stream->process && m->partitions[i].gpu == stream->gpu &&
            m->partitions[i].green > 0)
            all += m->partitions[i].size;
    if (m->partitions[stream->partition - 1].size != recorded->sms)
        return gt_error_set(error, "streams of green context %u say that it has %u SMs, and %u", recorded->green,
                            m->partitions[stream->partition - 1].size, recorded->sms);
    if (all > m->device->sms)
        return gt_error_set(error, "the green contexts of a process have %u SMs, and the device %u", all,
                            m->device->sms);
    if (m->partition_count > before)
        begin_partition(m, before, true);
    return 0;
}

/* The SMs by how the stream's process shares. */
static int give_share(struct gt_machine *m, gt_stream_index index, struct owned *owned, struct gt_error *error)
{
    struct gt_stream_state *stream = &m->streams[index];
    uint32_t before = m->partition_count, sms = gt_sharing_sms(m->device, &stream->sharing);
    bool fixed = stream->sharing.how == GT_SHARE_GREEN || stream->sharing.how == GT_SHARE_MIG;

    if (stream->sharing.how == GT_SHARE_UNSAID || (sms == m->device->sms && !fixed))
        return 0;
    stream->partition = find_or_add(m, stream, 0, sms);
    if (m->partition_count == before)
        return 0;
    if (fixed && take(m, &stream->sharing, sms, &owned[stream->gpu], error) != 0)
        return -1;
    begin_partition(m, before, fixed);
    return 0;
}

/* Does the process keep the green contexts that it was recorded with?  With SMs by another rule it has these. */
static bool keeps_contexts(const struct gt_machine *m, gt_stream_index stream)
{
    const struct gt_sharing *sharing = &m->streams[stream].sharing;

    return m->workload->streams[stream].green > 0 && m->streams[stream].process != GT_PROCESS_NONE &&
           (sharing->how <= GT_SHARE_SLICED || (sharing->how == GT_SHARE_MPS && sharing->percent == 0));
}

int gt_sm_partitions_build(struct gt_machine *m, struct gt_error *error)
{
    struct owned *owned = gt_calloc(m->gpu_count, sizeof *owned);
    int result = 0;

    for (gt_stream_index i = 0; result == 0 && i < m->workload->stream_count; i++)
        result = keeps_contexts(m, i) ? keep_context(m, i, error) : give_share(m, i, owned, error);
    free(owned);
    return result;
}

void gt_sm_partitions_free(struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->partition_count; i++)
        free(m->partitions[i].blocks);
    free(m->partitions);
}

bool gt_sm_is_in(const struct gt_machine *m, uint32_t partition, gt_sm_index sm)
{
    const struct gt_sm_partition *p = partition == 0 ? NULL : &m->partitions[partition - 1];

    if (p == NULL)
        return true;
    if (p->fixed)
        return (p->sms[sm / 64] >> sm % 64 & 1) != 0;
    return p->blocks[sm] > 0 || p->used < p->size;
}

uint32_t gt_sm_partition_size(const struct gt_machine *m, uint32_t partition)
{
    return partition == 0 ? m->device->sms : m->partitions[partition - 1].size;
}

bool gt_sm_partition_has(const struct gt_machine *m, uint32_t partition, uint32_t sms)
{
    const struct gt_sm_partition *p = partition == 0 ? NULL : &m->partitions[partition - 1];

    return p == NULL || p->fixed || p->used + sms <= p->size;
}

bool gt_sm_partition_uses(const struct gt_machine *m, uint32_t partition, gt_sm_index sm)
{
    return partition > 0 && m->partitions[partition - 1].blocks[sm] > 0;
}

bool gt_sm_partition_takes(struct gt_machine *m, uint32_t partition, gt_sm_index sm)
{
    struct gt_sm_partition *p = partition == 0 ? NULL : &m->partitions[partition - 1];

    if (p == NULL || p->fixed || p->blocks[sm]++ > 0)
        return false;
    return ++p->used == p->size;
}

void gt_sm_partition_leaves(struct gt_machine *m, uint32_t partition, gt_sm_index sm, uint32_t blocks)
{
    struct gt_sm_partition *p = partition == 0 ? NULL : &m->partitions[partition - 1];

    if (p == NULL || p->fixed)
        return;
    p->blocks[sm] -= blocks;
    p->used -= p->blocks[sm] == 0;
}
