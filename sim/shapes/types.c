#include "sim/shapes/types.h"

#include <stdio.h>
#include <string.h>

#include "sim/shapes/roles.h"

const char *const gt_type_names[GT_TYPES] = { "bf16", "fp16", "fp32", "tf32", "fp8" };

/* As inputs name them; of products, and of all else. */
static const struct {
    const char *of_products, *of_others; /* NULL: as recorded */
    uint8_t bytes, other_bytes;
} elements[GT_TYPES] = {
    [GT_TYPE_BF16] = { "bfloat16", "bfloat16", 2, 2 }, [GT_TYPE_FP16] = { "float16", "float16", 2, 2 },
    [GT_TYPE_FP32] = { "fp32", "float32", 4, 4 },      [GT_TYPE_TF32] = { "tf32", "float32", 4, 4 },
    [GT_TYPE_FP8] = { "float8_e4m3fn", NULL, 1, 0 },
};

/* GT_CLASSES: of neither. */
static enum gt_type_class class_of(const struct gt_tensor *tensor)
{
    static const struct {
        const char *type;
        enum gt_type_class class;
    } rows[] = {
        { "float16", GT_CLASS_HALF }, { "bfloat16", GT_CLASS_HALF }, { "float32", GT_CLASS_SINGLE },
        { "tf32", GT_CLASS_SINGLE },  { "fp32", GT_CLASS_SINGLE },
    };

    for (size_t i = 0; tensor->is_tensor && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].type, tensor->type) == 0)
            return rows[i].class;
    return GT_CLASSES;
}

static bool is_large_work(const char *name)
{
    return gt_product_first(name) >= 0 || strstr(name, "conv") != NULL || strstr(name, "attention") != NULL;
}

/* The first floating input of each operator that made a call has a vote. */
static void count_classes(const struct gt_all_inputs *all, bool large_work, uint32_t counts[GT_CLASSES])
{
    const struct gt_workload *w = all->workload;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(all, all->operator_of[i]);

        if (inputs == NULL || w->calls[i].ops == 0 ||
            (large_work && !is_large_work(gt_operator_name(w, all->operator_of[i]))))
            continue;
        for (int j = 0; j < inputs->count; j++) {
            enum gt_type_class class = class_of(&inputs->tensors[j]);

            if (class == GT_CLASSES || inputs->tensors[j].sides == 0)
                continue;
            counts[class]++;
            break;
        }
    }
}

bool gt_recorded_class(const struct gt_all_inputs *all, enum gt_type_class *class)
{
    uint32_t counts[GT_CLASSES] = { 0 };

    count_classes(all, true, counts);
    if (counts[GT_CLASS_HALF] + counts[GT_CLASS_SINGLE] == 0)
        count_classes(all, false, counts);
    *class = counts[GT_CLASS_HALF] >= counts[GT_CLASS_SINGLE] ? GT_CLASS_HALF : GT_CLASS_SINGLE;
    return counts[GT_CLASS_HALF] + counts[GT_CLASS_SINGLE] > 0;
}

bool gt_class_is_there(const struct gt_all_inputs *all, enum gt_type_class class)
{
    for (uint32_t i = 0; i < all->names; i++)
        for (int j = 0; all->of_name[i] != NULL && j < all->of_name[i]->count; j++)
            if (all->of_name[i]->tensors[j].sides > 0 && class_of(&all->of_name[i]->tensors[j]) == class)
                return true;
    return false;
}

static void set_type(struct gt_tensor *tensor, const char *type, uint8_t bytes)
{
    memset(tensor->type, 0, sizeof tensor->type);
    snprintf(tensor->type, sizeof tensor->type, "%s", type);
    tensor->element_bytes = bytes;
}

void gt_types_apply(const struct gt_all_inputs *all, const struct gt_type_change *change, gt_range_index range,
                    struct gt_inputs *to)
{
    int first = gt_product_first(gt_operator_name(all->workload, range));

    *to = *gt_inputs_of(all, range);
    for (int i = 0; i < to->count; i++) {
        struct gt_tensor *tensor = &to->tensors[i];
        bool multiplied = first >= 0 && (i == first || i == first + 1);

        if (class_of(tensor) != change->from)
            continue;
        if (multiplied)
            set_type(tensor, elements[change->to].of_products, elements[change->to].bytes);
        else if (elements[change->to].of_others != NULL)
            set_type(tensor, elements[change->to].of_others, elements[change->to].other_bytes);
    }
}

bool gt_is_cast(const char *operator_name, const struct gt_inputs *inputs)
{
    const struct gt_tensor *to = &inputs->tensors[0], *from = &inputs->tensors[1];

    return strcmp(operator_name, "copy_") == 0 && inputs->count > 1 && class_of(to) != GT_CLASSES &&
           class_of(from) != GT_CLASSES && strcmp(to->type, from->type) != 0;
}
