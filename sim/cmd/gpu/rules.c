#include "sim/cmd/gpu/rules.h"

struct gt_table *gt_rules_table(const uint32_t traces[GT_RULES], enum gt_format format)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "rule", GT_COLUMN_TEXT }, { "traces", GT_COLUMN_NUMBER }, { "says", GT_COLUMN_WIDE },
        { "off", GT_COLUMN_TEXT }, { "file", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    size_t all = sizeof columns / sizeof columns[0];
    struct gt_table *table = gt_table_new("rules", columns, format == GT_FORMAT_TABLE ? 3 : all);

    for (int i = 0; i < GT_RULES; i++) {
        gt_table_text(table, gt_rules[i].name);
        gt_table_integer(table, traces[i]);
        gt_table_text(table, gt_rules[i].says);
        if (format == GT_FORMAT_TABLE)
            continue;
        gt_table_text(table, gt_rules[i].off);
        gt_table_text(table, gt_rules[i].file);
    }
    return table;
}
