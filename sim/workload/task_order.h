/* task_order.h - an order in which the tasks of a graph can be done, each after those that it needs. */
#ifndef GRIDTIDE_SIM_WORKLOAD_TASK_ORDER_H
#define GRIDTIDE_SIM_WORKLOAD_TASK_ORDER_H

#include "sim/workload/task_graph.h"

/* A task needs all tasks that signal a counter for which it waits, and the one that makes it; with `lists` also the
 * one before it in its worker's list.  `order` has room for all tasks: those whose needs are met by the ones before
 * them, first come first served, from the lowest number on.  Returns how many there are: fewer than all where tasks
 * need each other in a circle, and then `circle` is one of them and `needs` another that it needs. */
uint32_t gt_task_order(const struct gt_task_graph *graph, bool lists, gt_task_index *order, gt_task_index *circle,
                       gt_task_index *needs);

#endif
