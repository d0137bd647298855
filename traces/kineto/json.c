/* json.c - from yajl's callbacks to one event, one device block at a time.
 *
 * The grammar is small and fixed, so a state says where we are and a table what a key means there.
 * All else is skipped: containers by counting, events as soon as their category is of no interest.
 */
#include "traces/kineto/internal.h"

#include <string.h>

#include <yajl/yajl_parse.h>

enum state {
    AT_START,
    IN_TOP,
    IN_DEVICES,
    IN_DEVICE,
    IN_DISTRIBUTED,
    IN_EVENTS,
    IN_EVENT,
    IN_ARGS,
    IN_TRIPLE,
    IN_SIZES,  /* of inputs */
    IN_SIZE,   /* of one */
    IN_FIRST,  /* of the first tensor of a list that is one, but [0] */
    IN_TYPES,  /* of inputs */
    IN_VALUES, /* likewise */
    IN_RANKS,  /* of a group */
    STATES
};
enum top_field { TOP_OTHER, TOP_EVENTS, TOP_DEVICES, TOP_DISTRIBUTED, TOP_BASE, TOP_RANK, TOP_RANKS };

struct key {
    uint8_t state, length, field;
    const char *text;
};
#define KEY(state, text, field)             \
    {                                       \
        state, sizeof text - 1, field, text \
    }

/* Of each state together. */
static const struct key keys[] = {
    KEY(IN_TOP, "traceEvents", TOP_EVENTS),
    KEY(IN_TOP, "deviceProperties", TOP_DEVICES),
    KEY(IN_TOP, "distributedInfo", TOP_DISTRIBUTED),
    KEY(IN_TOP, "baseTimeNanoseconds", TOP_BASE),
    KEY(IN_DISTRIBUTED, "rank", TOP_RANK),
    KEY(IN_DISTRIBUTED, "world_size", TOP_RANKS),
    KEY(IN_DEVICE, "id", KINETO_GPU_ID),
    KEY(IN_DEVICE, "name", KINETO_GPU_NAME),
    KEY(IN_DEVICE, "computeMajor", KINETO_GPU_MAJOR),
    KEY(IN_DEVICE, "computeMinor", KINETO_GPU_MINOR),
    KEY(IN_DEVICE, "maxThreadsPerBlock", KINETO_GPU_BLOCK_THREADS),
    KEY(IN_DEVICE, "maxThreadsPerMultiprocessor", KINETO_GPU_SM_THREADS),
    KEY(IN_DEVICE, "regsPerMultiprocessor", KINETO_GPU_SM_REGISTERS),
    KEY(IN_DEVICE, "warpSize", KINETO_GPU_WARP_THREADS),
    KEY(IN_DEVICE, "sharedMemPerBlock", KINETO_GPU_BLOCK_SHARED),
    KEY(IN_DEVICE, "sharedMemPerBlockOptin", KINETO_GPU_BLOCK_SHARED_OPTIN),
    KEY(IN_DEVICE, "sharedMemPerMultiprocessor", KINETO_GPU_SM_SHARED),
    KEY(IN_DEVICE, "numSms", KINETO_GPU_SMS),
    KEY(IN_EVENT, "ph", KINETO_PH),
    KEY(IN_EVENT, "cat", KINETO_CAT),
    KEY(IN_EVENT, "name", KINETO_NAME),
    KEY(IN_EVENT, "pid", KINETO_PID),
    KEY(IN_EVENT, "tid", KINETO_TID),
    KEY(IN_EVENT, "ts", KINETO_TS),
    KEY(IN_EVENT, "dur", KINETO_DUR),
    KEY(IN_EVENT, "args", KINETO_ARGS),
#define ARG_KEY(field, text) KEY(IN_ARGS, text, field),
    KINETO_ARG_NUMBERS(ARG_KEY) KEY(IN_ARGS, "grid", KINETO_GRID),
    KEY(IN_ARGS, "block", KINETO_BLOCK),
    KEY(IN_ARGS, "external id", KINETO_EXTERNAL), /* 2021 */
    KEY(IN_ARGS, "name", KINETO_ARG_NAME),
    KEY(IN_ARGS, "Collective name", KINETO_COLLECTIVE),
    KEY(IN_ARGS, "dtype", KINETO_DATATYPE),
    KEY(IN_ARGS, "Process Group Name", KINETO_GROUP_NAME),
    KEY(IN_ARGS, "Process Group Ranks", KINETO_GROUP_RANKS),
    KEY(IN_ARGS, "Input Dims", KINETO_INPUT_SIZES),
    KEY(IN_ARGS, "Input type", KINETO_INPUT_TYPES),
    KEY(IN_ARGS, "Concrete Inputs", KINETO_INPUT_VALUES),
};
enum { KEYS = sizeof keys / sizeof keys[0], LONGEST_KEY = 33 };

/* What every other key is. */
static const uint8_t other[STATES] = {
    [IN_TOP] = TOP_OTHER,      [IN_DISTRIBUTED] = TOP_OTHER, [IN_DEVICE] = KINETO_PROPERTIES + 1,
    [IN_EVENT] = KINETO_OTHER, [IN_ARGS] = KINETO_OTHER,
};

/* keys[] of a state and length, linked: first[state][length] and next[] are indexes plus one. */
static uint8_t first[STATES][LONGEST_KEY + 1], next[KEYS];

static void index_keys(void)
{
    if (first[IN_TOP][keys[0].length] != 0)
        return;
    for (unsigned i = KEYS; i-- > 0;) {
        next[i] = first[keys[i].state][keys[i].length];
        first[keys[i].state][keys[i].length] = (uint8_t)(i + 1);
    }
}

void kineto_json_begin(struct kineto_json *json, struct kineto *kineto, struct gt_error *error)
{
    index_keys();
    memset(json, 0, sizeof *json);
    json->kineto = kineto;
    json->error = error;
    json->state = AT_START;
}

static void begin_event(struct kineto_event *event)
{
    event->phase = 0;
    event->category = KINETO_UNKNOWN;
    event->present = 0;
    event->name.length = event->arg_name.length = 0;
    event->sizes.length = event->types.length = event->values.length = 0;
    for (int i = 0; i < KINETO_TEXTS; i++)
        event->texts[i].length = 0;
    for (int i = 0; i < 6; i++)
        event->shape[i / 3][i % 3] = -1;
}

/* The rest of this event may pass unread. */
static void skip_event(struct kineto_json *json)
{
    json->skip = 1;
    json->skip_event = true;
}

static void begin_device(struct kineto *kineto)
{
    kineto->gpus = gt_realloc(kineto->gpus, kineto->gpu_count + 1ull, sizeof *kineto->gpus);
    memset(&kineto->gpus[kineto->gpu_count++], 0, sizeof *kineto->gpus);
}

static int open_container(struct kineto_json *json, bool object)
{
    if (json->depth == KINETO_DEPTH_MAX)
        return gt_error_set(json->error, "containers are nested deeper than %d, so this is no Kineto trace",
                            KINETO_DEPTH_MAX);
    json->containers = json->containers << 1 | object;
    json->depth++;
    json->values++;
    return 0;
}

static void append(struct kineto_text *text, const char *bytes, size_t length)
{
    if (text->length + length > text->room) {
        text->room = (text->length + length) * 2;
        text->bytes = gt_realloc(text->bytes, text->room, 1);
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/* Has nothing been written of the input that is being read? */
static bool begins_input(const struct kineto_text *sizes)
{
    return sizes->length == 0 || sizes->bytes[sizes->length - 1] == ';';
}

static bool may_be_operator(const struct kineto_event *event)
{
    return event->category == KINETO_OPERATOR || event->category == KINETO_UNKNOWN;
}

/* Inside a list of an event's args.  Inputs are of interest where an operator has them. */
static int state_of_list(const struct kineto_json *json)
{
    switch (json->field) {
    case KINETO_GRID:
    case KINETO_BLOCK: return IN_TRIPLE;
    case KINETO_INPUT_SIZES: return may_be_operator(&json->kineto->event) ? IN_SIZES : -1;
    case KINETO_GROUP_RANKS: return IN_RANKS;
    case KINETO_INPUT_TYPES: return may_be_operator(&json->kineto->event) ? IN_TYPES : -1;
    case KINETO_INPUT_VALUES: return may_be_operator(&json->kineto->event) ? IN_VALUES : -1;
    default: return -1;
    }
}

/* The state inside a container that begins here; -1: of no interest. */
static int state_inside(struct kineto_json *json, bool object)
{
    switch (json->state) {
    case AT_START: return object ? IN_TOP : IN_EVENTS;
    case IN_TOP:
        if (object)
            return json->field == TOP_DISTRIBUTED ? IN_DISTRIBUTED : -1;
        return json->field == TOP_EVENTS ? IN_EVENTS : json->field == TOP_DEVICES ? IN_DEVICES : -1;
    case IN_DEVICES: return object ? IN_DEVICE : -1;
    case IN_EVENTS: return object ? IN_EVENT : -1;
    case IN_EVENT: return object && json->field == KINETO_ARGS ? IN_ARGS : -1;
    case IN_ARGS: return object ? -1 : state_of_list(json);
    case IN_SIZES: return object ? -1 : IN_SIZE;
    case IN_SIZE: return object || !begins_input(&json->kineto->event.sizes) ? -1 : IN_FIRST;
    default: return -1;
    }
}

static int on_open(struct kineto_json *json, bool object)
{
    int inside;

    if (open_container(json, object) != 0)
        return 0;
    if (json->skip > 0) {
        json->skip++;
        return 1;
    }
    inside = state_inside(json, object);
    if (inside < 0) {
        json->skip = 1;
        return 1;
    }
    if (json->state == AT_START)
        json->list = !object;
    json->state = (uint8_t)inside;
    json->triple = 0;
    if (inside == IN_EVENT)
        begin_event(&json->kineto->event);
    else if (inside == IN_DEVICE)
        begin_device(json->kineto);
    else if (inside == IN_EVENTS)
        json->kineto->has_events = true;
    return 1;
}

/* A list's tensor of no elements, [0], fits beside all others and tells nothing (torch.cat() leaves it out): the next one counts. */
static void end_first(struct kineto_text *sizes)
{
    size_t length = sizes->length;

    if (length > 0 && sizes->bytes[length - 1] == '0' && (length == 1 || sizes->bytes[length - 2] == ';'))
        sizes->length--;
    else
        append(sizes, "+", 1);
}

static int on_close(struct kineto_json *json)
{
    static const uint8_t around[STATES] = {
        [IN_TOP] = AT_START,   [IN_DEVICES] = IN_TOP,  [IN_DEVICE] = IN_DEVICES, [IN_DISTRIBUTED] = IN_TOP,
        [IN_EVENTS] = IN_TOP,  [IN_EVENT] = IN_EVENTS, [IN_ARGS] = IN_EVENT,     [IN_TRIPLE] = IN_ARGS,
        [IN_SIZES] = IN_ARGS,  [IN_SIZE] = IN_SIZES,   [IN_FIRST] = IN_SIZE,     [IN_TYPES] = IN_ARGS,
        [IN_VALUES] = IN_ARGS, [IN_RANKS] = IN_ARGS,
    };
    bool end_of_event = json->state == IN_EVENT;

    json->containers >>= 1;
    json->depth--;
    if (json->skip > 0) {
        if (--json->skip > 0)
            return 1;
        if (json->skip_event)
            json->state = IN_EVENTS;
        json->skip_event = false;
        return 1;
    }
    if (json->state == IN_SIZE)
        append(&json->kineto->event.sizes, ";", 1);
    if (json->state == IN_FIRST)
        end_first(&json->kineto->event.sizes);
    json->state = json->list && json->state == IN_EVENTS ? AT_START : around[json->state];
    if (end_of_event && kineto_take_event(json->kineto, json->error) != 0)
        return 0;
    return 1;
}

static int on_open_object(void *user)
{
    return on_open(user, true);
}

static int on_open_array(void *user)
{
    return on_open(user, false);
}

static int on_close_any(void *user)
{
    return on_close(user);
}

static int on_key(void *user, const unsigned char *text, size_t length)
{
    struct kineto_json *json = user;

    if (json->skip > 0)
        return 1;
    json->field = other[json->state];
    if (length > LONGEST_KEY)
        return 1;
    for (unsigned i = first[json->state][length]; i != 0; i = next[i - 1]) {
        if (memcmp(keys[i - 1].text, text, length) == 0) {
            json->field = keys[i - 1].field;
            break;
        }
    }
    return 1;
}

static void set_number(struct kineto_event *event, unsigned field, int64_t value)
{
    event->number[field] = value;
    event->present |= UINT32_C(1) << field;
}

static void read_triple(struct kineto_json *json, const char *text, size_t length)
{
    int64_t value;

    if (json->triple < 3 && kineto_number(text, length, 0, &value))
        json->kineto->event.shape[json->field == KINETO_BLOCK][json->triple] = value;
    json->triple += json->triple < 3;
}

static void read_property(struct kineto_json *json, const char *text, size_t length)
{
    struct kineto_gpu *gpu = &json->kineto->gpus[json->kineto->gpu_count - 1];

    if (json->field < KINETO_PROPERTIES && kineto_number(text, length, 0, &gpu->number[json->field]))
        gpu->present |= UINT32_C(1) << json->field;
}

static void read_top(struct kineto_json *json, const char *text, size_t length)
{
    int64_t value;

    if (json->field <= TOP_DISTRIBUTED || !kineto_number(text, length, 0, &value))
        return;
    if (json->field == TOP_BASE)
        json->kineto->base_ns = value;
    else if (value >= 0)
        *(json->field == TOP_RANK ? &json->kineto->rank : &json->kineto->ranks) = value;
}

/* Names end at a NUL, as they will wherever they are printed. */
static void keep(struct kineto_text *text, const char *bytes, size_t length)
{
    text->length = 0;
    append(text, bytes, strnlen(bytes, length));
}

/* One side of a tensor that is an input. */
static void add_size(struct kineto_text *sizes, const char *number, size_t length)
{
    if (!begins_input(sizes))
        append(sizes, ",", 1);
    append(sizes, number, length);
}

/* A list of ranks becomes the text that PyTorch's profiler writes: "[0, 1]". */
static void add_rank(struct kineto_text *ranks, const char *number, size_t length)
{
    if (ranks->length > 0)
        ranks->length--;
    append(ranks, ranks->length > 0 ? ", " : "[", ranks->length > 0 ? 2 : 1);
    append(ranks, number, length);
    append(ranks, "]", 1);
}

static int on_number(void *user, const char *text, size_t length)
{
    struct kineto_json *json = user;
    unsigned field = json->field;
    int64_t value;

    json->values++;
    if (json->skip > 0)
        return 1;
    if (json->state == IN_TRIPLE)
        read_triple(json, text, length);
    else if (json->state == IN_DEVICE)
        read_property(json, text, length);
    else if (json->state == IN_SIZE || json->state == IN_FIRST)
        add_size(&json->kineto->event.sizes, text, length);
    else if (json->state == IN_RANKS)
        add_rank(&json->kineto->event.texts[KINETO_GROUP_RANKS - KINETO_COLLECTIVE], text, length);
    else if (json->state == IN_TOP || json->state == IN_DISTRIBUTED)
        read_top(json, text, length);
    else if ((json->state == IN_EVENT || json->state == IN_ARGS) && field < KINETO_NUMBERS &&
             kineto_number(text, length, field <= KINETO_DUR ? 3 : 0, &value))
        set_number(&json->kineto->event, field, value);
    return 1;
}

/* Once phase or category are known, most events are of no interest. */
static void read_phase(struct kineto_json *json, const char *text, size_t length)
{
    struct kineto_event *event = &json->kineto->event;

    event->phase = length == 1 ? (uint8_t)text[0] : '?';
    if (event->phase == 'M')
        event->category = KINETO_METADATA;
    else if (event->phase != 'X' && event->phase != 'i')
        skip_event(json);
}

static void read_category(struct kineto_json *json, const char *text, size_t length)
{
    struct kineto_event *event = &json->kineto->event;

    if (event->category == KINETO_METADATA)
        return;
    event->category = kineto_category_of(text, length);
    if (event->category == KINETO_NO_INTEREST && (event->phase == 'X' || event->phase == 'i'))
        skip_event(json);
}

static void read_event_text(struct kineto_json *json, const char *text, size_t length)
{
    struct kineto_event *event = &json->kineto->event;

    switch (json->field) {
    case KINETO_PH: read_phase(json, text, length); break;
    case KINETO_CAT: read_category(json, text, length); break;
    case KINETO_NAME:
        keep(&event->name, text, length);
        if ((event->category == KINETO_PYTHON && !kineto_is_module(text, length)) ||
            (event->category == KINETO_INSTANT && !kineto_is_memory(text, length)))
            skip_event(json);
        break;
    case KINETO_PID:
    case KINETO_TID: set_number(event, json->field, kineto_number_of_text(text, length)); break;
    default: break;
    }
}

static bool is_text(unsigned field)
{
    return field >= KINETO_COLLECTIVE && field < KINETO_COLLECTIVE + KINETO_TEXTS;
}

static int on_text(void *user, const unsigned char *bytes, size_t length)
{
    struct kineto_json *json = user;
    const char *text = (const char *)bytes;

    json->values++;
    if (json->skip > 0)
        return 1;
    if (json->state == IN_EVENT) {
        read_event_text(json, text, length);
    } else if (json->state == IN_ARGS && json->field == KINETO_ARG_NAME) {
        keep(&json->kineto->event.arg_name, text, length);
    } else if (json->state == IN_ARGS && is_text(json->field)) {
        keep(&json->kineto->event.texts[json->field - KINETO_COLLECTIVE], text, length);
    } else if (json->state == IN_TYPES) {
        append(&json->kineto->event.types, text, length);
        append(&json->kineto->event.types, ";", 1);
    } else if (json->state == IN_VALUES) {
        append(&json->kineto->event.values, text, memchr(text, ';', length) != NULL ? 0 : length);
        append(&json->kineto->event.values, ";", 1);
    } else if (json->state == IN_ARGS) {
        return on_number(user, text, length); /* numbers in quotes */
    } else if (json->state == IN_DEVICE && json->field == KINETO_GPU_NAME) {
        struct kineto_gpu *gpu = &json->kineto->gpus[json->kineto->gpu_count - 1];

        length = length < sizeof gpu->name - 1 ? length : sizeof gpu->name - 1;
        memcpy(gpu->name, text, length);
        gpu->name[length] = '\0';
    }
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_open_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_close_any,
    .yajl_start_array = on_open_array,
    .yajl_end_array = on_close_any,
};

const void *kineto_json_callbacks(void)
{
    return &callbacks;
}
