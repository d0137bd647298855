#include "sim/workload/tensor.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

/* "float32", "bfloat16", "int64", "bool", "?": the bits stand behind the last letter, but for float8's variants. */
static bool read_type(const char **at, struct gt_tensor *tensor)
{
    size_t length = strcspn(*at, "[ ");
    const char *digits = *at;

    if ((*at)[length] != '[' || length == 0 || length >= sizeof tensor->type)
        return false;
    digits += strcspn(digits, "0123456789");
    memcpy(tensor->type, *at, length);
    if (strcmp(tensor->type, "bool") == 0)
        tensor->element_bytes = 1;
    else if (digits < *at + length)
        tensor->element_bytes = (uint8_t)(atoi(digits) / 8);
    *at += length + 1;
    return true;
}

/* "8,128]" */
static bool read_sizes(const char **at, struct gt_tensor *tensor)
{
    while (**at != ']') {
        char *end;
        uint64_t size;

        errno = 0;
        size = strtoull(*at, &end, 10);
        if (!isdigit((unsigned char)**at) || errno != 0 || (*end != ',' && *end != ']'))
            return false;
        if (tensor->sides == GT_TENSOR_SIDES)
            return false;
        tensor->size[tensor->sides++] = size;
        if (*end == ',' && end[1] == ']')
            return false;
        *at = *end == ',' ? end + 1 : end;
    }
    ++*at;
    return true;
}

static bool read_input(const char **at, struct gt_tensor *tensor)
{
    memset(tensor, 0, sizeof *tensor);
    if (**at == '-') {
        ++*at;
        return true;
    }
    tensor->is_tensor = true;
    if (!read_type(at, tensor) || !read_sizes(at, tensor))
        return false;
    tensor->is_list = **at == '+';
    *at += tensor->is_list;
    return true;
}

int gt_tensors_read(const char *text, struct gt_tensor tensors[GT_MOST_INPUTS])
{
    struct gt_tensor left_out;
    int count = 0;

    for (;;) {
        if (!read_input(&text, count < GT_MOST_INPUTS ? &tensors[count] : &left_out))
            return -1;
        count += count < GT_MOST_INPUTS;
        if (*text == '\0')
            return count;
        if (*text++ != ' ')
            return -1;
    }
}

char *gt_tensors_text(const struct gt_tensor *tensors, int count)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_bug("no memory for a text");
    for (int i = 0; i < count; i++) {
        const struct gt_tensor *tensor = &tensors[i];

        fprintf(out, "%s%s", i > 0 ? " " : "", tensor->is_tensor ? tensor->type : "-");
        for (int j = 0; j < tensor->sides; j++)
            fprintf(out, "%c%llu", j == 0 ? '[' : ',', (unsigned long long)tensor->size[j]);
        if (tensor->is_tensor)
            fprintf(out, "%s]%s", tensor->sides == 0 ? "[" : "", tensor->is_list ? "+" : "");
    }
    fclose(out);
    return text;
}

double gt_tensor_elements(const struct gt_tensor *tensor)
{
    double elements = tensor->is_tensor;

    for (int i = 0; i < tensor->sides; i++)
        elements *= (double)tensor->size[i];
    return elements;
}

double gt_tensor_bytes(const struct gt_tensor *tensor)
{
    return gt_tensor_elements(tensor) * (tensor->element_bytes > 0 ? tensor->element_bytes : 4);
}

bool gt_tensor_is_whole(const struct gt_tensor *tensor)
{
    return strncmp(tensor->type, "int", 3) == 0 || strncmp(tensor->type, "uint", 4) == 0;
}

bool gt_tensors_alike(const struct gt_tensor *one, const struct gt_tensor *other)
{
    return one->is_tensor == other->is_tensor && one->sides == other->sides &&
           memcmp(one->size, other->size, sizeof one->size) == 0;
}
