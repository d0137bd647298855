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

/* "2", "-1" */
static bool read_number(const char **at, struct gt_tensor *tensor)
{
    char *end;
    long long number;

    if (!isdigit((unsigned char)(*at)[**at == '-']) || tensor->numbers == GT_TENSOR_SIDES)
        return false;
    errno = 0;
    number = strtoll(*at, &end, 10);
    if (errno != 0 || number < -INT32_MAX || number > INT32_MAX)
        return false;
    tensor->number[tensor->numbers++] = (int32_t)number;
    *at = end;
    return true;
}

/* "2,2)" */
static bool read_numbers(const char **at, struct gt_tensor *tensor)
{
    tensor->is_list = true;
    if (**at != ')')
        do {
            if (!read_number(at, tensor))
                return false;
        } while (*(*at)++ == ',');
    else
        ++*at;
    return (*at)[-1] == ')';
}

static bool read_input(const char **at, struct gt_tensor *tensor)
{
    memset(tensor, 0, sizeof *tensor);
    if (**at == '(') {
        ++*at;
        return read_numbers(at, tensor);
    }
    if (isdigit((unsigned char)(*at)[**at == '-']))
        return read_number(at, tensor);
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

static void write_tensor(FILE *out, const struct gt_tensor *tensor)
{
    fputs(tensor->type, out);
    for (int i = 0; i < tensor->sides; i++)
        fprintf(out, "%c%llu", i == 0 ? '[' : ',', (unsigned long long)tensor->size[i]);
    fprintf(out, "%s]%s", tensor->sides == 0 ? "[" : "", tensor->is_list ? "+" : "");
}

static void write_numbers(FILE *out, const struct gt_tensor *tensor)
{
    fputs(tensor->is_list ? "(" : "", out);
    for (int i = 0; i < tensor->numbers; i++)
        fprintf(out, "%s%d", i > 0 ? "," : "", (int)tensor->number[i]);
    fputs(tensor->is_list ? ")" : "", out);
}

char *gt_tensors_text(const struct gt_tensor *tensors, int count)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_bug("no memory for a text");
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? " " : "", out);
        if (tensors[i].is_tensor)
            write_tensor(out, &tensors[i]);
        else if (tensors[i].numbers > 0 || tensors[i].is_list)
            write_numbers(out, &tensors[i]);
        else
            fputc('-', out);
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
