/* Calls at random, a line each. */
#include <inttypes.h>
#include <stdarg.h>

#include "validate/random/script.h"

/* `{"call":"KIND"` and what says who calls, and into which stream. */
static void begin_call(struct gt_script *script, const char *kind, uint32_t thread)
{
    fprintf(script->out, "{\"call\":\"%s\"", kind);
    if (script->threads > 1)
        fprintf(script->out, ",\"thread\":\"t%" PRIu32 "\"", thread);
}

static void say_stream(struct gt_script *script, uint32_t stream)
{
    if (stream == GT_SCRIPT_DEFAULT_STREAM)
        fputs(",\"stream\":0", script->out);
    else
        fprintf(script->out, ",\"stream\":\"s%" PRIu32 "\"", stream);
}

static void end_call(struct gt_script *script, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void end_call(struct gt_script *script, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(script->out, format, arguments);
    va_end(arguments);
    fputs("}\n", script->out);
}

void gt_script_streams(struct gt_script *script, uint32_t count, bool priorities)
{
    static const uint32_t urgencies[] = { 0, 0, 0, 1, 2, 3, 5, 5 };

    for (; count > 0 && script->streams < GT_SCRIPT_STREAMS; count--) {
        uint32_t urgency = priorities ? gt_chance_pick(&script->chance, urgencies, 8) : 0;

        fprintf(script->out, "{\"stream\":\"s%" PRIu32 "\"", script->streams++);
        if (gt_chance_in(&script->chance, 1, 3))
            fputs(",\"flags\":[\"non_blocking\"]", script->out);
        if (urgency > 0)
            fprintf(script->out, ",\"priority\":-%" PRIu32, urgency);
        fputs("}\n", script->out);
    }
}

uint32_t gt_script_any_stream(struct gt_script *script)
{
    if (script->default_stream && gt_chance_in(&script->chance, 1, 12))
        return GT_SCRIPT_DEFAULT_STREAM;
    return gt_chance_between(&script->chance, 0, script->streams - 1);
}

/* A kernel that there is work left for; the first one once there is not. */
static uint32_t draw_kernel(struct gt_script *script)
{
    uint32_t kernel = gt_chance_between(&script->chance, 0, script->kernels - 1);

    if (script->work_us[kernel] > script->left_us)
        kernel = 0;
    script->left_us -= script->work_us[kernel] < script->left_us ? script->work_us[kernel] : script->left_us;
    return kernel;
}

void gt_script_launch_of(struct gt_script *script, uint32_t thread, uint32_t stream, uint32_t kernel,
                         const char *more)
{
    begin_call(script, "launch", thread);
    say_stream(script, stream);
    end_call(script, ",\"kernel\":\"k%" PRIu32 "\"%s", kernel, more);
}

void gt_script_launch(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    uint32_t kernel = draw_kernel(script);

    if (script->left_us > 0)
        gt_script_launch_of(script, thread, stream, kernel, "");
}

/* Sizes about the steps at which the driver and the engines change their ways, and any between. */
static uint32_t draw_bytes(struct gt_chance *chance)
{
    static const uint32_t corners[] = { 4,       4096,          65535,   65536,  65537, 1 << 20, (1 << 20) + 4,
                                        2 << 20, (2 << 20) + 4, 4 << 20, 8 << 20 };

    return gt_chance_in(chance, 1, 2) ? gt_chance_pick(chance, corners, sizeof corners / sizeof *corners)
                                      : gt_chance_scale(chance, 4, 16 << 20);
}

static const char *draw_direction(struct gt_chance *chance)
{
    static const char *const directions[] = { "h2d", "h2d", "d2h", "d2h", "d2d" };

    return directions[gt_chance_between(chance, 0, 4)];
}

void gt_script_copy(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    struct gt_chance *chance = &script->chance;
    const char *direction = draw_direction(chance);
    uint32_t bytes = draw_bytes(chance);
    bool pageable =
        script->pageable && direction[1] == '2' && direction[0] != direction[2] && gt_chance_in(chance, 1, 3);

    begin_call(script, "copy", thread);
    say_stream(script, stream);
    if (script->pageable && gt_chance_in(chance, 1, 6))
        fputs(",\"synchronous\":true", script->out);
    end_call(script, ",\"direction\":\"%s\",\"bytes\":%" PRIu32 "%s", direction, bytes,
             pageable ? ",\"memory\":\"pageable\"" : "");
}

void gt_script_memset(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    uint32_t bytes = draw_bytes(&script->chance);

    begin_call(script, "memset", thread);
    say_stream(script, stream);
    end_call(script, ",\"bytes\":%" PRIu32, bytes);
}

void gt_script_record(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    uint32_t event;

    if (script->events < GT_SCRIPT_EVENTS && gt_chance_in(&script->chance, 3, 4))
        event = script->events++;
    else
        event = gt_chance_between(&script->chance, 0, script->events == 0 ? 0 : script->events - 1);
    if (script->events == 0)
        script->events = 1;
    begin_call(script, "event_record", thread);
    say_stream(script, stream);
    end_call(script, ",\"event\":\"e%" PRIu32 "\"", event);
}

void gt_script_wait(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    uint32_t event;

    if (script->events == 0)
        return;
    event = gt_chance_between(&script->chance, 0, script->events - 1);
    begin_call(script, "event_wait", thread);
    say_stream(script, stream);
    end_call(script, ",\"event\":\"e%" PRIu32 "\"", event);
}

void gt_script_host_work(struct gt_script *script, uint32_t thread)
{
    uint32_t us = gt_chance_scale(&script->chance, 2, 120);

    begin_call(script, "host_work", thread);
    end_call(script, ",\"duration_us\":%" PRIu32, us);
}

void gt_script_wait_until(struct gt_script *script, uint32_t thread, uint32_t us)
{
    begin_call(script, "host_work", thread);
    end_call(script, ",\"until_us\":%" PRIu32, us);
}

void gt_script_stream_sync(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    begin_call(script, "stream_sync", thread);
    end_call(script, ",\"stream\":\"s%" PRIu32 "\"", stream);
}

void gt_script_poll(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    static const uint32_t pieces[] = { 5, 20, 50, 100, 250 };
    struct gt_chance *chance = &script->chance;
    uint32_t tenths =
        gt_chance_in(chance, 1, 6) ? gt_chance_between(chance, 2, 400) : gt_chance_pick(chance, pieces, 5);
    bool event = script->events < GT_SCRIPT_EVENTS && gt_chance_in(chance, 3, 5);

    if (event) {
        begin_call(script, "event_record", thread);
        say_stream(script, stream);
        end_call(script, ",\"event\":\"e%" PRIu32 "\"", script->events++);
    }
    begin_call(script, "poll", thread);
    if (event)
        fprintf(script->out, ",\"event\":\"e%" PRIu32 "\"", script->events - 1);
    else
        say_stream(script, stream);
    gt_script_us(script, "piece_us", tenths);
    if (gt_chance_in(chance, 3, 10))
        fprintf(script->out, ",\"most_pieces\":%" PRIu32, gt_chance_between(chance, 1, 20));
    end_call(script, "%s", "");
}

void gt_script_host_function(struct gt_script *script, uint32_t thread, uint32_t stream)
{
    uint32_t us = gt_chance_scale(&script->chance, 5, 80);

    begin_call(script, "host_function", thread);
    say_stream(script, stream);
    end_call(script, ",\"duration_us\":%" PRIu32, us);
}

void gt_script_sync(struct gt_script *script, uint32_t thread)
{
    uint32_t stream = gt_chance_between(&script->chance, 0, script->streams - 1);

    switch (gt_chance_between(&script->chance, 0, 2)) {
    case 0:
        begin_call(script, "device_sync", thread);
        end_call(script, "%s", "");
        return;
    case 1:
        if (script->events > 0) {
            begin_call(script, "event_sync", thread);
            end_call(script, ",\"event\":\"e%" PRIu32 "\"",
                     gt_chance_between(&script->chance, 0, script->events - 1));
            return;
        } /* fall through */
    default:
        begin_call(script, "stream_sync", thread);
        say_stream(script, stream);
        end_call(script, "%s", "");
    }
}

void gt_script_end(struct gt_script *script)
{
    for (uint32_t thread = 0; thread < script->threads; thread++) {
        begin_call(script, "device_sync", thread);
        end_call(script, "%s", "");
    }
}
