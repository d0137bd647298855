/* palette.h - what the boxes of the figures stand for, and their colours.
 *
 * Colours after Okabe and Ito, told apart by people of any colour vision; copies
 * are grey to black as well as lower than kernels, so that no meaning hangs on hue.
 */
#ifndef GRIDTIDE_PLOTS_DATA_PALETTE_H
#define GRIDTIDE_PLOTS_DATA_PALETTE_H

#include <stdint.h>

enum gt_class {
    GT_CLASS_KERNELS = 6, /* 0..5: the kernel names that take most time */
    GT_CLASS_OTHER_KERNEL = GT_CLASS_KERNELS,
    GT_CLASS_H2D,
    GT_CLASS_D2H,
    GT_CLASS_D2D,
    GT_CLASS_OTHER_COPY,
    GT_CLASS_MEMSET,
    GT_CLASS_HOST_FUNCTION,
    GT_CLASSES
};

struct gt_class_row {
    uint32_t rgb;
    const char *label; /* NULL: the kernel's name */
    double height;     /* of a box, as a share of its lane */
};
extern const struct gt_class_row gt_class_rows[GT_CLASSES];

/* The class of an operation that is no kernel, by its kind and direction in the store. */
enum gt_class gt_palette_class(const char *kind, const char *direction);

#endif
