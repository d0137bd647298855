#include "traces/io/json_line.h"

#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "sim/base/array.h"

struct gt_json_line {
    yajl_handle yajl;
    struct gt_json_token *tokens;
    uint32_t count, room;
    uint32_t open[GT_JSON_DEPTH_LIMIT]; /* the containers that are not yet closed */
    uint32_t depth;
    uint32_t objects; /* top-level values of this line */
    const char *line;
    size_t length;
    char *unescaped; /* strings that had escapes; never more than the line */
    size_t unescaped_used, unescaped_room;
    const char *wrong; /* why a callback stopped the parser */
};

static uint32_t offset(const struct gt_json_line *json)
{
    return (uint32_t)yajl_get_bytes_consumed(json->yajl);
}

static int add(struct gt_json_line *json, enum gt_json_type type, const char *text, size_t length)
{
    gt_array_grow(json->tokens, json->count, json->room);
    if (json->depth == 0 && (json->objects++ != 0 || type != GT_JSON_OBJECT)) {
        json->wrong = "a line is one JSON object in { }";
        return 0;
    }
    json->tokens[json->count] = (struct gt_json_token){ text, (uint32_t)length, 1, offset(json), type };
    json->count++;
    return 1;
}

static int on_null(void *context)
{
    return add(context, GT_JSON_NULL, NULL, 0);
}

static int on_boolean(void *context, int value)
{
    return add(context, value ? GT_JSON_TRUE : GT_JSON_FALSE, NULL, 0);
}

static int on_number(void *context, const char *text, size_t length)
{
    return add(context, GT_JSON_NUMBER, text, length);
}

/* Texts without escapes stay in the line; the others lie in yajl's own short-lived buffer. */
static int add_text(struct gt_json_line *json, enum gt_json_type type, const char *text, size_t length)
{
    if (memchr(text, '\0', length) != NULL) {
        json->wrong = "a NUL character in a string";
        return 0;
    }
    if (text < json->line || text > json->line + json->length) {
        char *copy = json->unescaped + json->unescaped_used;

        if (length > json->unescaped_room - json->unescaped_used)
            gt_bug("unescaped text longer than its line");
        memcpy(copy, text, length);
        json->unescaped_used += length;
        text = copy;
    }
    return add(json, type, text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    return add_text(context, GT_JSON_STRING, (const char *)text, length);
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    return add_text(context, GT_JSON_KEY, (const char *)text, length);
}

static int open_container(struct gt_json_line *json, enum gt_json_type type)
{
    if (!add(json, type, NULL, 0))
        return 0;
    if (json->depth == GT_JSON_DEPTH_LIMIT) {
        json->wrong = "nested too deeply";
        return 0;
    }
    json->open[json->depth++] = json->count - 1;
    return 1;
}

static int on_object(void *context)
{
    return open_container(context, GT_JSON_OBJECT);
}

static int on_array(void *context)
{
    return open_container(context, GT_JSON_ARRAY);
}

static int on_end(void *context)
{
    struct gt_json_line *json = context;
    uint32_t opened = json->open[--json->depth];
    struct gt_json_token *container = &json->tokens[opened];

    container->span = json->count - opened;
    container->raw_end = offset(json);
    return 1;
}

/* clang-format off */
static const yajl_callbacks callbacks = {
    .yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number, .yajl_string = on_string,
    .yajl_start_map = on_object, .yajl_map_key = on_key, .yajl_end_map = on_end,
    .yajl_start_array = on_array, .yajl_end_array = on_end,
};
/* clang-format on */

struct gt_json_line *gt_json_line_new(void)
{
    struct gt_json_line *json = gt_calloc(1, sizeof *json);

    json->yajl = yajl_alloc(&callbacks, NULL, json);
    if (json->yajl == NULL)
        gt_bug("yajl_alloc failed");
    yajl_config(json->yajl, yajl_allow_multiple_values, 1);
    return json;
}

void gt_json_line_free(struct gt_json_line *json)
{
    if (json == NULL)
        return;
    yajl_free(json->yajl);
    free(json->tokens);
    free(json->unescaped);
    free(json);
}

static void start(struct gt_json_line *json, const char *line, size_t length)
{
    json->line = line;
    json->length = length;
    json->count = json->depth = json->objects = 0;
    json->unescaped_used = 0;
    json->wrong = NULL;
    if (length > json->unescaped_room) {
        json->unescaped_room = length * 2;
        json->unescaped = gt_realloc(json->unescaped, json->unescaped_room, 1);
    }
}

/* yajl's own words, without the newline at their end. */
static void say_yajl_error(struct gt_json_line *json, struct gt_error *error)
{
    unsigned char *text = yajl_get_error(json->yajl, 0, (const unsigned char *)json->line, json->length);
    size_t length = strcspn((const char *)text, "\n");

    gt_error_set(error, "column %u: not JSON: %.*s", offset(json), (int)length, (const char *)text);
    yajl_free_error(json->yajl, text);
}

const struct gt_json_token *gt_json_line_parse(struct gt_json_line *json, const char *line, size_t length,
                                               struct gt_error *error)
{
    yajl_status status;

    start(json, line, length);
    status = yajl_parse(json->yajl, (const unsigned char *)line, length);
    if (json->wrong != NULL)
        gt_error_set(error, "column %u: %s", offset(json), json->wrong);
    else if (status != yajl_status_ok)
        say_yajl_error(json, error);
    else if (json->depth != 0 || json->objects == 0)
        gt_error_set(error, "column %zu: the line ends inside its JSON object", length);
    else
        return json->tokens;
    /* After an error yajl cannot go on. */
    yajl_free(json->yajl);
    json->yajl = yajl_alloc(&callbacks, NULL, json);
    yajl_config(json->yajl, yajl_allow_multiple_values, 1);
    return NULL;
}
