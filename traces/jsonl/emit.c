#include "traces/jsonl/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/io/decimal.h"

static int compare_extras(const void *left, const void *right, void *user)
{
    const struct gt_extra *extras = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (extras[a].of != extras[b].of)
        return extras[a].of < extras[b].of ? -1 : 1;
    if (extras[a].index != extras[b].index)
        return extras[a].index < extras[b].index ? -1 : 1;
    return a < b ? -1 : 1;
}

void gt_emit_begin(struct gt_emit *emit, const struct gt_workload *workload, struct gt_output *output,
                   struct gt_error *error)
{
    *emit = (struct gt_emit){ .workload = workload, .output = output, .error = error };
    gt_keys_make(&emit->keys, workload);
    emit->extras = gt_calloc(workload->extra_count, sizeof *emit->extras);
    for (uint32_t i = 0; i < workload->extra_count; i++)
        emit->extras[i] = i;
    qsort_r(emit->extras, workload->extra_count, sizeof *emit->extras, compare_extras, workload->extras);
    emit->gen = yajl_gen_alloc(NULL);
    if (emit->gen == NULL)
        gt_bug("yajl_gen_alloc failed");
}

void gt_emit_end(struct gt_emit *emit)
{
    gt_keys_free(&emit->keys, emit->workload);
    free(emit->extras);
    yajl_gen_free(emit->gen);
}

static void write_text(struct gt_emit *emit, const void *text, size_t length)
{
    if (!emit->failed && gt_output_write(emit->output, text, length, emit->error) != 0)
        emit->failed = true;
}

/* Hand on what the generator holds. */
static void flush(struct gt_emit *emit)
{
    const unsigned char *text;
    size_t length;

    yajl_gen_get_buf(emit->gen, &text, &length);
    write_text(emit, text, length);
    yajl_gen_clear(emit->gen);
}

void gt_emit_open(struct gt_emit *emit)
{
    yajl_gen_map_open(emit->gen);
}

/* The first of an object's extras in `emit->extras`. */
static uint32_t first_extra(const struct gt_emit *emit, enum gt_extra_of of, uint32_t index)
{
    uint32_t low = 0, high = emit->workload->extra_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_extra *extra = &emit->workload->extras[emit->extras[middle]];

        if (extra->of < of || (extra->of == of && extra->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool gt_emit_has_extra(const struct gt_emit *emit, enum gt_extra_of of, uint32_t index)
{
    uint32_t first = first_extra(emit, of, index);
    const struct gt_extra *extra;

    if (first == emit->workload->extra_count)
        return false;
    extra = &emit->workload->extras[emit->extras[first]];
    return extra->of == of && extra->index == index;
}

void gt_emit_close(struct gt_emit *emit, enum gt_extra_of of, uint32_t index)
{
    for (uint32_t i = first_extra(emit, of, index); i < emit->workload->extra_count; i++) {
        const struct gt_extra *extra = &emit->workload->extras[emit->extras[i]];

        if (extra->of != of || extra->index != index)
            break;
        flush(emit);
        write_text(emit, ",", 1);
        write_text(emit, extra->json, strlen(extra->json));
    }
    yajl_gen_map_close(emit->gen);
}

void gt_emit_newline(struct gt_emit *emit)
{
    flush(emit);
    write_text(emit, "\n", 1);
    yajl_gen_reset(emit->gen, NULL);
}

void gt_emit_key(struct gt_emit *emit, const char *name)
{
    yajl_gen_string(emit->gen, (const unsigned char *)name, strlen(name));
}

void gt_emit_open_list(struct gt_emit *emit, const char *name)
{
    gt_emit_key(emit, name);
    yajl_gen_array_open(emit->gen);
}

void gt_emit_close_list(struct gt_emit *emit)
{
    yajl_gen_array_close(emit->gen);
}

void gt_emit_text(struct gt_emit *emit, const char *name, const char *value)
{
    gt_emit_key(emit, name);
    if (value == NULL)
        yajl_gen_null(emit->gen);
    else
        yajl_gen_string(emit->gen, (const unsigned char *)value, strlen(value));
}

void gt_emit_any_text(struct gt_emit *emit, const char *name, const char *value)
{
    char *clean = gt_utf8_clean(value);

    gt_emit_text(emit, name, clean);
    free(clean);
}

void gt_emit_number_value(struct gt_emit *emit, uint64_t value)
{
    char digits[GT_DIGITS_BYTES];
    size_t length = gt_digits(value, digits);

    yajl_gen_number(emit->gen, digits, length);
}

void gt_emit_mean_value(struct gt_emit *emit, double value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.6g", value);

    yajl_gen_number(emit->gen, digits, (size_t)length);
}

void gt_emit_number(struct gt_emit *emit, const char *name, uint64_t value)
{
    gt_emit_key(emit, name);
    gt_emit_number_value(emit, value);
}

void gt_emit_json(struct gt_emit *emit, const char *name, const char *json)
{
    gt_emit_key(emit, name);
    yajl_gen_number(emit->gen, json, strlen(json)); /* which yajl hands on untouched */
}

void gt_emit_signed_value(struct gt_emit *emit, int64_t value)
{
    yajl_gen_integer(emit->gen, value);
}

void gt_emit_signed(struct gt_emit *emit, const char *name, int64_t value)
{
    gt_emit_key(emit, name);
    gt_emit_signed_value(emit, value);
}

void gt_emit_time_value(struct gt_emit *emit, gt_time_ps time)
{
    char digits[GT_TIME_TEXT_BYTES];
    size_t length = gt_time_text_ns(time, digits);

    yajl_gen_number(emit->gen, digits, length);
}

void gt_emit_time(struct gt_emit *emit, const char *name, gt_time_ps time)
{
    if (time == GT_TIME_NONE)
        return;
    gt_emit_key(emit, name);
    gt_emit_time_value(emit, time);
}

void gt_emit_flag(struct gt_emit *emit, const char *name, bool value)
{
    if (!value)
        return;
    gt_emit_key(emit, name);
    yajl_gen_bool(emit->gen, 1);
}

void gt_emit_ref(struct gt_emit *emit, const char *name, const struct gt_key *key)
{
    if (key == NULL || key->text != NULL)
        gt_emit_text(emit, name, key == NULL ? NULL : key->text);
    else
        gt_emit_number(emit, name, key->number);
}

void gt_emit_key_value(struct gt_emit *emit, const struct gt_key *key)
{
    if (key->text != NULL)
        yajl_gen_string(emit->gen, (const unsigned char *)key->text, strlen(key->text));
    else
        gt_emit_number_value(emit, key->number);
}

void gt_emit_size3(struct gt_emit *emit, const char *name, const uint32_t size[3])
{
    unsigned last = size[2] != 1 ? 2 : size[1] != 1 ? 1 : 0;

    gt_emit_key(emit, name);
    yajl_gen_array_open(emit->gen);
    for (unsigned i = 0; i <= last; i++)
        yajl_gen_integer(emit->gen, size[i]);
    yajl_gen_array_close(emit->gen);
}
