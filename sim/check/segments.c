#include "sim/check/memory.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/base/sort.h"

enum { MOST = 256 }; /* below one node */

/* A read of all that is below a node, which has still to go down. */
struct pending {
    struct gt_memory_touch touch;
    struct gt_line line;
};

/* The last write of a line below a node, where it stands first. */
struct top {
    struct gt_stamp stamp;
    struct gt_memory_touch touch;
    uint64_t from, to;
};

struct gt_segments_node {
    bool leaf, fresh; /* `fresh`: tops are of what is below */
    uint32_t count;
    struct pending *pending; /* in the order of time */
    uint32_t pending_count, pending_room;
    struct top *tops; /* by line, those that may not be done behind the others */
    uint32_t top_count, top_room;
    uint64_t keys[MOST]; /* where each begins */
    union {
        struct gt_segment *segments[MOST];
        struct gt_segments_node *nodes[MOST];
        void *below[MOST];
    };
};

void gt_segment_add_read(struct gt_segment *segment, struct gt_memory_touch touch)
{
    gt_array_grow(segment->reads, segment->read_count, segment->read_room);
    segment->reads[segment->read_count++] = touch;
}

static bool ordered(const struct gt_segments *segments, const struct gt_memory_touch *before, gt_op_index op,
                    const struct gt_line *line)
{
    return before->op == op || gt_line_knows(line, segments->stamps[before->op]);
}

/* A later access that has no order to an earlier read has none to what came after that read either. */
static void read_segment(const struct gt_segments *segments, struct gt_segment *segment, struct gt_memory_touch touch,
                         const struct gt_line *line)
{
    uint32_t kept = 0;

    if (segment->write.op == touch.op)
        return; /* who reads and writes it, writes it */
    for (uint32_t i = 0; i < segment->read_count; i++)
        if (!ordered(segments, &segment->reads[i], touch.op, line))
            segment->reads[kept++] = segment->reads[i];
    segment->read_count = kept;
    gt_segment_add_read(segment, touch);
}

/* Leave a read in all that is below the node, later. */
static void leave_read(const struct gt_segments *segments, struct gt_segments_node *node,
                       struct gt_memory_touch touch, const struct gt_line *line)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < node->pending_count; i++)
        if (ordered(segments, &node->pending[i].touch, touch.op, line))
            gt_line_free(&node->pending[i].line);
        else
            node->pending[kept++] = node->pending[i];
    node->pending_count = kept;
    gt_array_grow(node->pending, node->pending_count, node->pending_room);
    node->pending[node->pending_count++] = (struct pending){ touch, gt_line_copy(line) };
}

static void push_down(const struct gt_segments *segments, struct gt_segments_node *node)
{
    for (uint32_t i = 0; i < node->pending_count; i++) {
        struct pending *read = &node->pending[i];

        for (uint32_t j = 0; j < node->count; j++)
            if (node->leaf)
                read_segment(segments, node->segments[j], read->touch, &read->line);
            else
                leave_read(segments, node->nodes[j], read->touch, &read->line);
        gt_line_free(&read->line);
    }
    node->pending_count = 0;
}

/* Before something below the node is changed. */
static void open_node(const struct gt_segments *segments, struct gt_segments_node *node)
{
    if (node->pending_count > 0)
        push_down(segments, node);
    if (node->fresh) /* no write where none is needed: the line of the cache may be another's */
        node->fresh = false;
}

static uint32_t place_of(const struct gt_segments_node *node, uint64_t byte)
{
    return gt_count_until(node->keys, node->count, byte) - 1;
}

struct gt_segment *gt_segments_find(struct gt_segments *segments, uint64_t byte)
{
    struct gt_segments_node *node = segments->root;

    for (;;) {
        open_node(segments, node);
        if (node->leaf)
            return node->segments[place_of(node, byte)];
        node = node->nodes[place_of(node, byte)];
    }
}

bool gt_segments_begin_at(const struct gt_segments *segments, uint64_t byte)
{
    const struct gt_segments_node *node = segments->root;

    while (!node->leaf)
        node = node->nodes[place_of(node, byte)];
    return node->keys[place_of(node, byte)] == byte;
}

static void insert_at(struct gt_segments_node *node, uint32_t place, uint64_t key, void *below)
{
    memmove(&node->keys[place + 1], &node->keys[place], (node->count - place) * sizeof *node->keys);
    memmove(&node->below[place + 1], &node->below[place], (node->count - place) * sizeof *node->below);
    node->keys[place] = key;
    node->below[place] = below;
    node->count++;
}

/* The upper half of a full node becomes one of its own; NULL: it is not full. */
static struct gt_segments_node *split(struct gt_segments_node *node)
{
    struct gt_segments_node *upper;

    if (node->count < MOST)
        return NULL;
    upper = gt_calloc(1, sizeof *upper);
    upper->leaf = node->leaf;
    upper->count = MOST / 2;
    node->count -= upper->count;
    memcpy(upper->keys, &node->keys[node->count], upper->count * sizeof *upper->keys);
    memcpy(upper->below, &node->below[node->count], upper->count * sizeof *upper->below);
    return upper;
}

static struct gt_segments_node *insert(const struct gt_segments *segments, struct gt_segments_node *node,
                                       struct gt_segment *segment)
{
    uint32_t place = gt_count_until(node->keys, node->count, segment->from);
    struct gt_segments_node *upper;

    open_node(segments, node);
    if (node->leaf) {
        insert_at(node, place, segment->from, segment);
        return split(node);
    }
    upper = insert(segments, node->nodes[place - 1], segment);
    if (upper != NULL)
        insert_at(node, place, upper->keys[0], upper);
    return split(node);
}

void gt_segments_add(struct gt_segments *segments, struct gt_segment *segment)
{
    struct gt_segments_node *upper, *root;

    if (segments->root == NULL) {
        segments->root = gt_calloc(1, sizeof *segments->root);
        segments->root->leaf = true;
    }
    upper = insert(segments, segments->root, segment);
    if (upper == NULL)
        return;
    root = gt_calloc(1, sizeof *root);
    insert_at(root, 0, segments->root->keys[0], segments->root);
    insert_at(root, 1, upper->keys[0], upper);
    segments->root = root;
}

static void free_segment(struct gt_segment *segment)
{
    free(segment->reads);
    free(segment);
}

static void free_node(struct gt_segments_node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->leaf)
            free_segment(node->segments[i]);
        else
            free_node(node->nodes[i]);
    for (uint32_t i = 0; i < node->pending_count; i++)
        gt_line_free(&node->pending[i].line);
    free(node->pending);
    free(node->tops);
    free(node);
}

static void take_out(const struct gt_segments *segments, struct gt_segments_node *node, uint64_t from)
{
    uint32_t place = place_of(node, from);

    open_node(segments, node);
    if (node->leaf) {
        free_segment(node->segments[place]);
    } else {
        take_out(segments, node->nodes[place], from);
        if (node->nodes[place]->count > 0) {
            node->keys[place] = node->nodes[place]->keys[0];
            return;
        }
        free_node(node->nodes[place]);
    }
    node->count--;
    memmove(&node->keys[place], &node->keys[place + 1], (node->count - place) * sizeof *node->keys);
    memmove(&node->below[place], &node->below[place + 1], (node->count - place) * sizeof *node->below);
}

void gt_segments_remove(struct gt_segments *segments, uint64_t from)
{
    take_out(segments, segments->root, from);
}

/* Of one line what is done stands before what may not be, so that each of both has its last. */
static uint64_t rank_of(const struct top *top)
{
    return (uint64_t)top->stamp.index << 1 | top->touch.possible;
}

static void note_top(struct gt_segments_node *node, const struct top *top)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, node->top_count, rank_of(&node->tops[middle]) < rank_of(top));
    if (low < node->top_count && rank_of(&node->tops[low]) == rank_of(top)) {
        if (top->stamp.number > node->tops[low].stamp.number)
            node->tops[low] = *top;
        return;
    }
    gt_array_grow(node->tops, node->top_count, node->top_room);
    memmove(&node->tops[low + 1], &node->tops[low], (node->top_count - low) * sizeof *node->tops);
    node->tops[low] = *top;
    node->top_count++;
}

static void refresh(const struct gt_segments *segments, struct gt_segments_node *node)
{
    if (node->fresh)
        return;
    node->fresh = true;
    node->top_count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        if (!node->leaf) {
            refresh(segments, node->nodes[i]);
            for (uint32_t j = 0; j < node->nodes[i]->top_count; j++)
                note_top(node, &node->nodes[i]->tops[j]);
        } else if (node->segments[i]->write.op != GT_NONE) {
            const struct gt_segment *segment = node->segments[i];

            note_top(node, &(struct top){ segments->stamps[segment->write.op], segment->write, segment->from,
                                          segment->to });
        }
    }
}

static void read_all(const struct gt_segments *segments, struct gt_segments_node *node,
                     const struct gt_reading *reading)
{
    refresh(segments, node);
    for (uint32_t i = 0; i < node->top_count; i++) {
        const struct top *top = &node->tops[i];

        if (!ordered(segments, &top->touch, reading->touch.op, reading->line))
            reading->race(reading->user, &top->touch, top->from, top->to);
    }
    leave_read(segments, node, reading->touch, reading->line);
}

static void read_one(const struct gt_segments *segments, struct gt_segment *segment, const struct gt_reading *reading)
{
    if (segment->write.op != GT_NONE && !ordered(segments, &segment->write, reading->touch.op, reading->line))
        reading->race(reading->user, &segment->write, segment->from, segment->to);
    read_segment(segments, segment, reading->touch, reading->line);
}

/* `end`: where the node's last segment ends. */
static void read_node(const struct gt_segments *segments, struct gt_segments_node *node, uint64_t end, uint64_t from,
                      uint64_t to, const struct gt_reading *reading)
{
    uint32_t i;

    if (node->keys[0] >= from && end <= to) {
        read_all(segments, node, reading);
        return;
    }
    push_down(segments, node);
    for (i = node->keys[0] > from ? 0 : place_of(node, from); i < node->count && node->keys[i] < to; i++) {
        if (node->leaf)
            read_one(segments, node->segments[i], reading);
        else
            read_node(segments, node->nodes[i], i + 1 < node->count ? node->keys[i + 1] : end, from, to, reading);
    }
}

void gt_segments_read(struct gt_segments *segments, uint64_t from, uint64_t to, const struct gt_reading *reading)
{
    read_node(segments, segments->root, UINT64_MAX, from, to, reading);
}

void gt_segments_end(struct gt_segments *segments)
{
    if (segments->root != NULL)
        free_node(segments->root);
    segments->root = NULL;
}
