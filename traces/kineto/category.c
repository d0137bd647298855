/* category.c - what an event is, by the category that it stands in: names of all years. */
#include <string.h>

#include "traces/kineto/internal.h"

static const struct category {
    const char *name;
    size_t length;
    enum kineto_category category;
} categories[] = {
#define CATEGORY(name, category)         \
    {                                    \
        name, sizeof name - 1, category, \
    }
    CATEGORY("cpu_op", KINETO_OPERATOR),
    CATEGORY("kernel", KINETO_KERNEL),
    CATEGORY("cuda_runtime", KINETO_CALL),
    CATEGORY("gpu_memcpy", KINETO_COPY),
    CATEGORY("gpu_memset", KINETO_MEMSET),
    CATEGORY("cuda_driver", KINETO_CALL),
    CATEGORY("cuda_sync", KINETO_SYNC),
    CATEGORY("cuda_event", KINETO_RECORD),
    CATEGORY("user_annotation", KINETO_ANNOTATION),
    CATEGORY("python_function", KINETO_PYTHON),
    CATEGORY("cpu_instant_event", KINETO_INSTANT),
    CATEGORY("Kernel", KINETO_KERNEL), /* until 2022 */
    CATEGORY("Memcpy", KINETO_COPY),
    CATEGORY("Memset", KINETO_MEMSET),
    CATEGORY("Runtime", KINETO_CALL),
    CATEGORY("Operator", KINETO_OPERATOR),
#undef CATEGORY
};

enum kineto_category kineto_category_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (categories[i].length == length && memcmp(name, categories[i].name, length) == 0)
            return categories[i].category;
    return KINETO_NO_INTEREST;
}
