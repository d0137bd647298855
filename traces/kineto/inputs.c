/* inputs.c - an operator's inputs: "Input Dims", "Input type" and "Concrete Inputs" of its event as one text
 * (sim/workload/tensor.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/shapes/convolution.h"
#include "sim/workload/tensor.h"
#include "traces/kineto/internal.h"

enum { NAME_BYTES = 64, WORD_BYTES = 256, TEXT_BYTES = GT_MOST_INPUTS * WORD_BYTES };

/* Texts each of which is closed by ';', one an input. */
struct parts {
    struct kineto_text text;
    size_t at; /* where the next one begins */
    const char *part;
    size_t length;
};

/* To the next part; an empty one where there is none.  Returns whether there was one. */
static bool next_part(struct parts *parts)
{
    size_t left = parts->text.length - parts->at;
    const char *end;

    parts->length = 0;
    if (left == 0)
        return false;
    parts->part = parts->text.bytes + parts->at;
    end = memchr(parts->part, ';', left);
    parts->length = end != NULL ? (size_t)(end - parts->part) : left;
    parts->at += parts->length + (end != NULL);
    return true;
}

static size_t count_parts(const struct kineto_text *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->length; i++)
        count += text->bytes[i] == ';';
    return count;
}

static size_t put_unknown(char *word)
{
    return (size_t)snprintf(word, WORD_BYTES, "-");
}

/* "[1, 1]", "-1", "True" become "(1,1)", "-1", "1". */
static size_t put_numbers(char *word, const struct parts *values)
{
    static const struct {
        const char *from;
        char to;
    } others[] = { { "True", '1' }, { "False", '0' }, { "[", '(' }, { "]", ')' }, { ", ", ',' } };
    size_t written = 0, taken;

    if (values->length == 0 || values->length > WORD_BYTES / 2)
        return put_unknown(word);
    for (size_t i = 0; i < values->length; i += taken) {
        char byte = values->part[i];

        taken = 1;
        for (size_t j = 0; j < sizeof others / sizeof others[0]; j++) {
            if (!gt_begins(&values->part[i], values->length - i, others[j].from))
                continue;
            byte = others[j].to;
            taken = strlen(others[j].from);
        }
        if (strchr("0123456789-,()", byte) == NULL || byte == '\0')
            return put_unknown(word);
        word[written++] = byte;
    }
    word[written] = '\0';
    return written;
}

/* The word of one input; "-": neither numbers nor a tensor, or one with too many sides.  Of a list of tensors the first but [0] is told, '+'
 * behind it. */
static size_t put_word(char *word, const struct parts *sizes, const struct parts *types, const struct parts *values)
{
    struct gt_tensor tensors[GT_MOST_INPUTS];
    const char *usual = NULL;
    size_t length;
    bool is_list;

    if (types->length > 0)
        gt_datatype_bytes(types->part, types->length, &usual);
    if (sizes->length > WORD_BYTES / 2)
        return put_unknown(word);
    is_list = sizes->length > 0 && sizes->part[sizes->length - 1] == '+';
    if (sizes->length == 0 && usual == NULL)
        length = put_numbers(word, values);
    else
        length = (size_t)snprintf(word, WORD_BYTES, "%s[%.*s]%s", usual != NULL ? usual : "?",
                                  (int)(sizes->length - is_list), sizes->length > 0 ? sizes->part : "",
                                  is_list ? "+" : "");
    return gt_tensors_read(word, tensors) == 1 ? length : put_unknown(word);
}

/* The work of these depends on numbers.  Others' may be sizes, which would be wrong once a change gives them other tensors. */
static bool keeps_numbers(const struct kineto_event *event)
{
    static const char space[] = "aten::";
    size_t skipped = strlen(space);
    char name[NAME_BYTES];

    if (!gt_begins(event->name.bytes, event->name.length, space) || event->name.length - skipped >= NAME_BYTES)
        return false;
    memcpy(name, event->name.bytes + skipped, event->name.length - skipped);
    name[event->name.length - skipped] = '\0';
    return gt_is_convolution(name) && count_parts(&event->values) == count_parts(&event->sizes);
}

uint32_t kineto_name_inputs(struct kineto *kineto)
{
    const struct kineto_event *event = &kineto->event;
    struct parts sizes = { .text = event->sizes }, types = { .text = event->types }, values = { .at = 0 };
    size_t length = 0, end = 0;
    char text[TEXT_BYTES + WORD_BYTES];

    if (keeps_numbers(event))
        values.text = event->values;
    for (int i = 0; i < GT_MOST_INPUTS && next_part(&sizes); i++) {
        next_part(&types);
        next_part(&values);
        if (i > 0)
            text[length++] = ' ';
        length += put_word(text + length, &sizes, &types, &values);
        if (text[length - 1] != '-')
            end = length;
    }
    text[end] = '\0'; /* what is unknown at the end need not be said */
    return memchr(text, '[', end) == NULL ? GT_NONE : gt_name(kineto->import.workload, text, end);
}

uint64_t kineto_first_input_bytes(const struct kineto *kineto, uint32_t inputs)
{
    struct gt_tensor tensors[GT_MOST_INPUTS];
    double bytes;

    if (inputs == GT_NONE || gt_tensors_read(gt_name_text(kineto->import.workload, inputs), tensors) < 1 ||
        tensors[0].element_bytes == 0)
        return 0;
    bytes = gt_tensor_bytes(&tensors[0]);
    return bytes < (double)INT64_MAX ? (uint64_t)bytes : 0;
}
