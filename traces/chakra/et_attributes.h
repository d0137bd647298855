/* et_attributes.h - a message of a file as a node, whatever types its attributes have. */
#ifndef GRIDTIDE_TRACES_CHAKRA_ET_ATTRIBUTES_H
#define GRIDTIDE_TRACES_CHAKRA_ET_ATTRIBUTES_H

#include "traces/chakra/et_def.pb-c.h"
#include "traces/chakra/et_file.h"

/* Without dependences; names go into the workload. */
struct gt_et_node gt_et_node_of(const ChakraProtoMsg__Node *message, struct gt_workload *workload);
/* The file's rank, device and name, where they are stated. */
void gt_et_metadata_of(const ChakraProtoMsg__GlobalMetadata *metadata, struct gt_et_file *file);

#endif
