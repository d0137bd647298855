#include "sim/machine/machine.h"

void gt_engine_schedule(struct gt_engine *engine, gt_time_ps time_ps, enum gt_phase phase, uint32_t handler,
                        uint32_t subject, uint64_t stamp)
{
    if (time_ps < engine->now_ps)
        gt_bug("an event at %llu ps, scheduled at %llu ps", (unsigned long long)time_ps,
               (unsigned long long)engine->now_ps);
    gt_heap_push(&engine->heap, (struct gt_heap_event){
                                    .time_ps = time_ps,
                                    .order = (uint64_t)phase << 56 | engine->sequence++,
                                    .handler = handler,
                                    .subject = subject,
                                    .stamp = stamp,
                                });
}

void gt_engine_schedule_next(struct gt_engine *engine)
{
    engine->sequence++;
}

/* The next event: from the top of the heap, or from the row of events that share that place. */
static struct gt_heap_event next_event(struct gt_engine *engine, const struct gt_event_kind *kinds, void *machine)
{
    struct gt_heap_event *top = engine->heap.events, event = *top;
    const struct gt_event_kind *kind = &kinds[event.handler];
    uint32_t next = kind->take_next == NULL ? GT_NONE : kind->take_next(machine, event.subject);

    if (next == GT_NONE)
        return gt_heap_pop(&engine->heap);
    top->subject = next;
    top->order++;
    return event;
}

int gt_engine_run(struct gt_engine *engine, const struct gt_event_kind *kinds, void *machine, struct gt_error *error)
{
    while (engine->heap.count > 0) {
        struct gt_heap_event event = next_event(engine, kinds, machine);

        engine->now_ps = event.time_ps;
        engine->handled++;
        if (engine->now_ps > GT_TIME_LIMIT_PS)
            return gt_error_set(error, "the simulated time passed 53 days; "
                                       "look for an absurd duration, size or count in the trace");
        if (kinds[event.handler].handle(machine, event.subject, event.stamp, error) != 0)
            return -1;
    }
    return 0;
}

void gt_engine_free(struct gt_engine *engine)
{
    gt_heap_free(&engine->heap);
}
