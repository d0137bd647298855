/* inputs.c - an operator's inputs: "Input Dims" and "Input type" of its event as one text (sim/workload/tensor.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/workload/tensor.h"
#include "traces/kineto/internal.h"

enum { WORD_BYTES = 256, TEXT_BYTES = GT_MOST_INPUTS * WORD_BYTES };

/* What is closed by the next ';'; *at moves behind it.  False: there is none. */
static bool next_part(const struct kineto_text *text, size_t *at, const char **part, size_t *length)
{
    const char *end;

    if (*at >= text->length)
        return false;
    *part = text->bytes + *at;
    end = memchr(*part, ';', text->length - *at);
    *length = end != NULL ? (size_t)(end - *part) : text->length - *at;
    *at += *length + 1;
    return true;
}

/* The word of one input; "-": no tensor, or one with too many sides.  Of a list of tensors the first but [0] is told, '+' behind it. */
static size_t put_word(char *word, const char *sizes, size_t sizes_length, const char *type, size_t type_length)
{
    const char *usual = NULL;
    bool is_list;

    if (type_length > 0)
        gt_datatype_bytes(type, type_length, &usual);
    if ((sizes_length == 0 && usual == NULL) || sizes_length > WORD_BYTES / 2)
        return (size_t)snprintf(word, WORD_BYTES, "-");
    is_list = sizes_length > 0 && sizes[sizes_length - 1] == '+';
    return (size_t)snprintf(word, WORD_BYTES, "%s[%.*s]%s", usual != NULL ? usual : "?",
                            (int)(sizes_length - is_list), sizes, is_list ? "+" : "");
}

uint32_t kineto_name_inputs(struct kineto *kineto)
{
    const struct kineto_event *event = &kineto->event;
    struct gt_tensor tensors[GT_MOST_INPUTS];
    size_t at_sizes = 0, at_types = 0, length = 0, end = 0, sizes_length, type_length;
    const char *sizes, *type;
    char text[TEXT_BYTES + WORD_BYTES];

    for (int i = 0; i < GT_MOST_INPUTS && next_part(&event->sizes, &at_sizes, &sizes, &sizes_length); i++) {
        if (!next_part(&event->types, &at_types, &type, &type_length))
            type_length = 0, type = "";
        size_t length_before;

        if (i > 0)
            text[length++] = ' ';
        length_before = length;
        length += put_word(text + length, sizes, sizes_length, type, type_length);
        if (gt_tensors_read(text + length_before, tensors) < 0)
            length = length_before + (size_t)snprintf(text + length_before, WORD_BYTES, "-");
        if (text[length - 1] != '-')
            end = length;
    }
    text[end] = '\0'; /* what is no tensor at the end need not be said */
    return end == 0 ? GT_NONE : gt_name(kineto->import.workload, text, end);
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
