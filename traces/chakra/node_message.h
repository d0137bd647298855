/* node_message.h - one node of a plan as a message of the format. */
#ifndef GRIDTIDE_TRACES_CHAKRA_NODE_MESSAGE_H
#define GRIDTIDE_TRACES_CHAKRA_NODE_MESSAGE_H

#include "traces/chakra/et_def.pb-c.h"
#include "traces/chakra/node_plan.h"

/* Attributes that say more of a node than the format's own; other readers pass over them. */
#define GT_CHAKRA_START_NS    "start_ns"    /* of the operation or the call, as measured */
#define GT_CHAKRA_DURATION_NS "duration_ns" /* likewise */
#define GT_CHAKRA_PART        "part" /* "gap", "return", "host_work" or "receive": a node that is no call or operation */
#define GT_CHAKRA_CALL        "call"       /* a call's kind, as traces name it */
#define GT_CHAKRA_GROUP       "group_name" /* of a collective, as traces name it; pg_name is a number */
#define GT_CHAKRA_OPERATION   "operation"  /* an operation's kind, as traces name it */

enum { GT_CHAKRA_MOST_ATTRIBUTES = 32 };

/* A message with room for what it points to: good until the next is made in the same room. */
struct gt_node_message {
    ChakraProtoMsg__Node node;
    ChakraProtoMsg__IOInfo inputs;
    ChakraProtoMsg__AttributeProto attributes[GT_CHAKRA_MOST_ATTRIBUTES], *list[GT_CHAKRA_MOST_ATTRIBUTES];
    ChakraProtoMsg__Int64List lists[4];
    int64_t numbers[4][8];
    int64_t *involved; /* ranks; as many as the largest group has */
    uint64_t *deps, ctrl;
    uint32_t dep_room, list_count;
    char *name, *values, group[16];
};

void gt_node_message_make(struct gt_node_message *message, const struct gt_node_plan *plan, uint32_t rank,
                          uint32_t node);
void gt_node_message_free(struct gt_node_message *message);

#endif
