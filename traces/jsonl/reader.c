#include "traces/jsonl/reader.h"

void gt_jsonl_keep_unknown(struct gt_jsonl *jsonl, enum gt_extra_of of, uint32_t index)
{
    if (jsonl->unknown.length != 0)
        gt_workload_add_extra(jsonl->workload, of, index, jsonl->unknown.text);
}
