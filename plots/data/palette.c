#include "plots/data/palette.h"

#include <stddef.h>
#include <string.h>

const struct gt_class_row gt_class_rows[GT_CLASSES] = {
    { 0x0072b2, NULL, 1 },
    { 0xe69f00, NULL, 1 },
    { 0x009e73, NULL, 1 },
    { 0xcc79a7, NULL, 1 },
    { 0x56b4e9, NULL, 1 },
    { 0xd55e00, NULL, 1 },
    [GT_CLASS_OTHER_KERNEL] = { 0xa6b4c2, "other kernels", 1 },
    [GT_CLASS_H2D] = { 0x1a1a1a, "copy host to device", 0.6 },
    [GT_CLASS_D2H] = { 0x7d7d7d, "copy device to host", 0.6 },
    [GT_CLASS_D2D] = { 0x6b4c1e, "copy within the device", 0.6 },
    [GT_CLASS_OTHER_COPY] = { 0x4b2e83, "copy between devices or hosts", 0.6 },
    [GT_CLASS_MEMSET] = { 0xd9c400, "memset", 0.6 },
    [GT_CLASS_HOST_FUNCTION] = { 0x8c2d19, "host function", 0.3 },
};

enum gt_class gt_palette_class(const char *kind, const char *direction)
{
    /* clang-format off */
    static const struct { const char *kind, *direction; enum gt_class class; } known[] = {
        { "kernel", NULL, GT_CLASS_OTHER_KERNEL },
        { "memset", NULL, GT_CLASS_MEMSET },
        { "host_function", NULL, GT_CLASS_HOST_FUNCTION },
        { "copy", "h2d", GT_CLASS_H2D },
        { "copy", "d2h", GT_CLASS_D2H },
        { "copy", "d2d", GT_CLASS_D2D },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (kind != NULL && strcmp(kind, known[i].kind) == 0 &&
            (known[i].direction == NULL || (direction != NULL && strcmp(direction, known[i].direction) == 0)))
            return known[i].class;
    return GT_CLASS_OTHER_COPY;
}
