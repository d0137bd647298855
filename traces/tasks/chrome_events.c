/* chrome_events.c - from yajl's callbacks to one event at a time, with what else is in the file passed over. */
#include "traces/tasks/chrome_events.h"

#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

enum {
    CHUNK_BYTES = 64 * 1024,
    VALUE_MAX_BYTES = 16 * 1024 * 1024, /* yajl holds a text as a whole */
    MOST_DEPTH = 64,
};

const char *const gt_chrome_field_names[GT_CHROME_FIELDS] = { "ph", "cat", "name", "pid", "tid", "ts", "dur" };

struct events {
    gt_chrome_take *take;
    void *user;
    struct gt_error *error;
    unsigned depth, list_depth; /* of containers; of the list of events, 0 outside */
    bool in_list, in_event;     /* the next value at depth 2 is that list; what follows is of an event */
    enum gt_chrome_field field;
    struct gt_chrome_text texts[GT_CHROME_FIELDS];
    uint64_t values;
};

/* yajl's callbacks: 0 ends the reading, with the reason in events->error. */
static int on_value(struct events *events)
{
    events->values++;
    events->in_list = false;
    return 1;
}

static bool in_field(const struct events *events)
{
    return events->in_event && events->depth == events->list_depth + 1 && events->field != GT_CHROME_FIELDS;
}

static int on_open(struct events *events, bool object)
{
    if (++events->depth > MOST_DEPTH) {
        gt_error_set(events->error, "containers are nested deeper than %d", MOST_DEPTH);
        return 0;
    }
    if (events->list_depth == 0 && !object && (events->depth == 1 || events->in_list))
        events->list_depth = events->depth;
    else if (events->list_depth > 0 && object && events->depth == events->list_depth + 1) {
        events->in_event = true;
        for (int i = 0; i < GT_CHROME_FIELDS; i++)
            events->texts[i].present = false;
    }
    events->field = GT_CHROME_FIELDS;
    return on_value(events);
}

static int on_close(void *user)
{
    struct events *events = user;

    if (events->in_event && events->depth == events->list_depth + 1) {
        events->in_event = false;
        if (events->take(events->user, events->texts) != 0)
            return 0;
    }
    if (events->depth == events->list_depth)
        events->list_depth = 0;
    events->depth--;
    return 1;
}

static int on_open_object(void *user)
{
    return on_open(user, true);
}

static int on_open_list(void *user)
{
    return on_open(user, false);
}

static int on_key(void *user, const unsigned char *text, size_t length)
{
    static const char list[] = "traceEvents";
    struct events *events = user;

    events->in_list = events->depth == 1 && length == sizeof list - 1 && memcmp(text, list, length) == 0;
    events->field = GT_CHROME_FIELDS;
    for (int i = 0; i < GT_CHROME_FIELDS && events->field == GT_CHROME_FIELDS; i++)
        if (strlen(gt_chrome_field_names[i]) == length && memcmp(gt_chrome_field_names[i], text, length) == 0)
            events->field = (enum gt_chrome_field)i;
    return 1;
}

/* A value of the event's field; names end at a NUL. */
static int keep(struct events *events, const char *bytes, size_t length)
{
    struct gt_chrome_text *text = &events->texts[events->field];

    length = strnlen(bytes, length);
    if (length >= text->room) {
        text->room = 2 * length + 16;
        text->bytes = gt_realloc(text->bytes, text->room, 1);
    }
    memcpy(text->bytes, bytes, length);
    text->bytes[length] = '\0';
    text->length = length;
    text->present = true;
    return on_value(events);
}

static int on_string(void *user, const unsigned char *text, size_t length)
{
    struct events *events = user;

    return in_field(events) && events->field < GT_CHROME_START ? keep(events, (const char *)text, length)
                                                               : on_value(events);
}

static int on_number(void *user, const char *text, size_t length)
{
    struct events *events = user;

    return in_field(events) && events->field >= GT_CHROME_START ? keep(events, text, length) : on_value(events);
}

static int on_null(void *user)
{
    return on_value(user);
}

static int on_boolean(void *user, int value)
{
    (void)value;
    return on_value(user);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_open_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_close,
    .yajl_start_array = on_open_list,
    .yajl_end_array = on_close,
};

/* What yajl, or a callback, found wrong `at` bytes behind the start of the text. */
static int fail_at(yajl_handle yajl, yajl_status status, uint64_t at, const char *path, struct gt_error *error)
{
    unsigned char *text;

    if (status == yajl_status_client_canceled)
        return gt_error_prefix(error, "%s: byte %llu: ", path, (unsigned long long)at);
    text = yajl_get_error(yajl, 0, NULL, 0);
    gt_error_set(error, "%s: byte %llu: not JSON: %.*s", path, (unsigned long long)at,
                 (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(yajl, text);
    return -1;
}

static int read_text(struct events *events, yajl_handle yajl, struct gt_input *input, const char *path)
{
    unsigned char *bytes = gt_realloc(NULL, CHUNK_BYTES, 1);
    uint64_t offset = 0, values = 0, values_offset = 0;
    ssize_t got;
    int status = 0;

    while (status == 0 && (got = gt_input_read(input, bytes, CHUNK_BYTES, events->error)) != 0) {
        yajl_status parsed = got > 0 ? yajl_parse(yajl, bytes, (size_t)got) : yajl_status_ok;

        if (got < 0)
            status = -1;
        else if (parsed != yajl_status_ok)
            status = fail_at(yajl, parsed, offset + yajl_get_bytes_consumed(yajl), path, events->error);
        else if (events->values == values && offset - values_offset > VALUE_MAX_BYTES)
            status = gt_error_set(events->error, "%s: byte %llu: a value is longer than %d MiB", path,
                                  (unsigned long long)values_offset, VALUE_MAX_BYTES >> 20);
        offset += status == 0 ? (uint64_t)got : 0;
        if (events->values != values)
            values_offset = offset;
        values = events->values;
    }
    free(bytes);
    if (status == 0 && (yajl_complete_parse(yajl) != yajl_status_ok || events->depth > 0))
        return gt_error_set(events->error, "%s: byte %llu: the JSON text ends too early; is the file complete?", path,
                            (unsigned long long)offset);
    return status;
}

int gt_chrome_events_read(struct gt_input *input, const char *path, gt_chrome_take *take, void *user,
                          struct gt_error *error)
{
    struct events events = { .take = take, .user = user, .error = error, .field = GT_CHROME_FIELDS };
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, &events);
    int status;

    if (yajl == NULL)
        gt_no_memory("the JSON parser");
    yajl_config(yajl, yajl_dont_validate_strings, 1);
    yajl_config(yajl, yajl_allow_multiple_values, 1);
    status = read_text(&events, yajl, input, path);
    yajl_free(yajl);
    for (int i = 0; i < GT_CHROME_FIELDS; i++)
        free(events.texts[i].bytes);
    return status;
}
