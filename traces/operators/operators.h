/* operators.h - operator graphs from files: JSON Lines as traces/GRAPH.md describes them. */
#ifndef GRIDTIDE_TRACES_OPERATORS_OPERATORS_H
#define GRIDTIDE_TRACES_OPERATORS_OPERATORS_H

#include "sim/schedule/operator_graph.h"

enum { GT_OPERATOR_GRAPH_VERSION = 1 };

/* Read a graph, finished (gt_operator_graph_finish), with the task times of `device`; NULL: of the device that the file
 * names.  The graph's device is the one that its times are of.  "-" is standard input.  NULL with "FILE:LINE: ..." in
 * `error`. */
struct gt_operator_graph *gt_operators_read(const char *path, const char *device, struct gt_error *error);

#endif
