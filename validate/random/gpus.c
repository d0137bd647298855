/* Family gpus: two GPUs, even streams on the first, odd ones on the second; copies between them both ways, pushed and
 * pulled, with peer access or without; events across; one host thread, or one a GPU, at times with one lock. */
#include <inttypes.h>

#include "validate/random/families.h"

enum { STREAMS_MOST = 4, COPIES_LEFT_MIB = 512 };

static void define(struct gt_script *script)
{
    struct gt_chance *chance = &script->chance;
    bool lock = gt_chance_in(chance, 1, 2);

    script->threads = gt_chance_in(chance, 1, 3) ? 2 : 1;
    fputs("{\"gpu\":0}\n", script->out);
    fputs(gt_chance_in(chance, 1, 8) ? "{\"gpu\":1,\"peers\":[]}\n" : "{\"gpu\":1}\n", script->out);
    for (uint32_t i = 0; i < script->threads && script->threads > 1; i++)
        fprintf(script->out, "{\"thread\":\"t%" PRIu32 "\"%s}\n", i, lock ? ",\"lock\":\"gil\"" : "");
    script->streams = 2 * gt_chance_between(chance, 1, STREAMS_MOST);
    for (uint32_t i = 0; i < script->streams; i++)
        fprintf(script->out, "{\"stream\":\"s%" PRIu32 "\",\"gpu\":%" PRIu32 "%s}\n", i, i % 2,
                gt_chance_in(chance, 1, 2) ? ",\"flags\":[\"non_blocking\"]" : "");
    gt_script_kernels(script, gt_chance_between(chance, 1, 4), 80, 1024);
}

static void copy_between(struct gt_script *script, uint32_t thread, uint32_t stream, uint32_t *left_bytes)
{
    static const uint32_t corners[] = { 4, 4096, 65536, 1 << 20, 4 << 20, 16 << 20 };
    struct gt_chance *chance = &script->chance;
    uint32_t bytes = gt_chance_in(chance, 1, 2) ? gt_chance_pick(chance, corners, sizeof corners / sizeof *corners)
                                                : gt_chance_scale(chance, 4, 64 << 20);
    bool pull = gt_chance_in(chance, 1, 4);

    if (bytes > *left_bytes)
        return;
    *left_bytes -= bytes;
    fputs("{\"call\":\"copy\"", script->out);
    if (script->threads > 1)
        fprintf(script->out, ",\"thread\":\"t%" PRIu32 "\"", thread);
    fprintf(script->out,
            ",\"stream\":\"s%" PRIu32 "\",\"direction\":\"p2p\",\"bytes\":%" PRIu32 ",\"peer_gpu\":%" PRIu32 "%s}\n",
            stream, bytes, 1 - stream % 2, pull ? ",\"from_peer\":true" : "");
}

/* A wait in another GPU's stream for what was just recorded. */
static void hand_over(struct gt_script *script, uint32_t stream)
{
    uint32_t event = script->events;

    if (event == GT_SCRIPT_EVENTS)
        return;
    script->events++;
    fprintf(script->out, "{\"call\":\"event_record\",\"stream\":\"s%" PRIu32 "\",\"event\":\"e%" PRIu32 "\"}\n",
            stream, event);
    fprintf(script->out, "{\"call\":\"event_wait\",\"stream\":\"s%" PRIu32 "\",\"event\":\"e%" PRIu32 "\"}\n",
            (stream + 1) % script->streams, event);
}

/* What one thread does next; with two each has the streams of its GPU, and no events, which would be recorded and
 * waited for in an order of chance. */
static void step(struct gt_script *script, uint32_t *left_bytes)
{
    struct gt_chance *chance = &script->chance;
    uint32_t stream = gt_chance_between(chance, 0, script->streams - 1),
             thread = script->threads > 1 ? stream % 2 : 0;
    uint32_t what = gt_chance_between(chance, 0, 15);

    if (what < 5)
        copy_between(script, thread, stream, left_bytes);
    else if (what < 8 && script->threads == 1)
        hand_over(script, stream);
    else if (what == 8)
        gt_script_host_work(script, thread);
    else if (what == 9)
        gt_script_copy(script, thread, stream);
    else if (what == 10 && script->threads == 1 && gt_chance_in(chance, 1, 2))
        gt_script_sync(script, thread);
    else
        gt_script_launch(script, thread, stream);
}

void gt_script_write_gpus(struct gt_script *script)
{
    uint32_t steps, left_bytes = (uint32_t)COPIES_LEFT_MIB << 20;

    define(script);
    steps = gt_chance_between(&script->chance, 12, 60);
    while (steps-- > 0)
        step(script, &left_bytes);
}
