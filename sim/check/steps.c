#include "sim/check/steps.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/heap.h"

uint32_t gt_steps_add_line(struct gt_steps *steps)
{
    gt_array_grow(steps->last, steps->line_count, steps->line_room);
    steps->last[steps->line_count] = GT_NONE;
    return steps->line_count++;
}

gt_step_index gt_steps_add(struct gt_steps *steps, uint32_t line, enum gt_step_kind kind, uint32_t what)
{
    gt_array_grow(steps->list, steps->count, steps->room);
    steps->list[steps->count] = (struct gt_step){ line, what, (uint8_t)kind };
    if (line != GT_NONE)
        steps->last[line] = steps->count;
    return steps->count++;
}

void gt_steps_order(struct gt_steps *steps, gt_step_index before, gt_step_index after)
{
    if (before == GT_NONE || before == after)
        return;
    gt_array_grow(steps->edges, steps->edge_count, steps->edge_room);
    steps->edges[steps->edge_count++] = (struct gt_step_edge){ before, after };
    steps->backward |= before > after;
}

void gt_steps_free(struct gt_steps *steps)
{
    free(steps->list);
    free(steps->edges);
    free(steps->last);
    *steps = (struct gt_steps){ .list = NULL };
}

/* Neighbours by step: those of i are list[first[i] .. first[i + 1] - 1]. */
struct neighbours {
    uint64_t *first;
    gt_step_index *list;
};

struct walk {
    const struct gt_steps *steps;
    const struct gt_step_visitor *visitor;
    void *user;
    struct neighbours before;
    uint32_t *wanted; /* by step: how many still come to ask what it knows */
    bool *done;
    struct gt_line *known; /* by step: what it knows, while that is wanted */
    struct gt_line *lines; /* as they are now */
    /* Only where an edge goes backward. */
    struct neighbours after;
    gt_step_index *next;  /* on its line; GT_NONE */
    uint32_t *left;       /* by step: how many it still has to wait for */
    struct gt_heap freed; /* steps that were passed over and can happen now */
    gt_step_index at;     /* the next one, as they were added */
};

static struct neighbours list_neighbours(const struct gt_steps *steps, bool before)
{
    struct neighbours n = { gt_calloc(steps->count + 1ull, sizeof *n.first),
                            gt_calloc(steps->edge_count + 1, sizeof *n.list) };

    for (uint64_t i = 0; i < steps->edge_count; i++)
        n.first[before ? steps->edges[i].after : steps->edges[i].before]++;
    for (gt_step_index i = 0; i < steps->count; i++)
        n.first[i + 1] += n.first[i];
    for (uint64_t i = steps->edge_count; i-- > 0;) {
        const struct gt_step_edge *edge = &steps->edges[i];

        n.list[--n.first[before ? edge->after : edge->before]] = before ? edge->before : edge->after;
    }
    return n;
}

/* A line's steps come one after the other. */
static void follow_lines(struct walk *walk)
{
    const struct gt_steps *steps = walk->steps;
    gt_step_index *last = gt_realloc(NULL, steps->line_count + 1ull, sizeof *last);

    memset(last, 0xff, (steps->line_count + 1ull) * sizeof *last);        /* GT_NONE */
    memset(walk->next, 0xff, (steps->count + 1ull) * sizeof *walk->next); /* GT_NONE */
    for (gt_step_index i = 0; i < steps->count; i++) {
        uint32_t line = steps->list[i].line;

        if (line == GT_NONE)
            continue;
        if (last[line] != GT_NONE) {
            walk->next[last[line]] = i;
            walk->left[i]++;
        }
        last[line] = i;
    }
    free(last);
}

static void begin(struct walk *walk)
{
    const struct gt_steps *steps = walk->steps;

    walk->before = list_neighbours(steps, true);
    walk->wanted = gt_calloc(steps->count + 1ull, sizeof *walk->wanted);
    walk->done = gt_calloc(steps->count + 1ull, sizeof *walk->done);
    walk->known = gt_calloc(steps->count + 1ull, sizeof *walk->known);
    walk->lines = gt_calloc(steps->line_count + 1ull, sizeof *walk->lines);
    for (uint32_t i = 0; i < steps->line_count; i++)
        walk->lines[i] = gt_line_new(i);
    for (uint64_t i = 0; i < steps->edge_count; i++)
        walk->wanted[steps->edges[i].before]++;
}

static void begin_backward(struct walk *walk)
{
    const struct gt_steps *steps = walk->steps;

    walk->after = list_neighbours(steps, false);
    walk->next = gt_calloc(steps->count + 1ull, sizeof *walk->next);
    walk->left = gt_calloc(steps->count + 1ull, sizeof *walk->left);
    for (gt_step_index i = 0; i < steps->count; i++)
        walk->left[i] = (uint32_t)(walk->before.first[i + 1] - walk->before.first[i]);
    follow_lines(walk);
}

static void end(struct walk *walk)
{
    for (gt_step_index i = 0; i < walk->steps->count; i++)
        gt_line_free(&walk->known[i]);
    for (uint32_t i = 0; i < walk->steps->line_count; i++)
        gt_line_free(&walk->lines[i]);
    free(walk->before.first);
    free(walk->before.list);
    free(walk->after.first);
    free(walk->after.list);
    free(walk->next);
    free(walk->left);
    free(walk->wanted);
    free(walk->done);
    free(walk->known);
    free(walk->lines);
    gt_heap_free(&walk->freed);
}

static void learn(struct walk *walk, gt_step_index step, struct gt_line *line)
{
    for (uint64_t i = walk->before.first[step]; i < walk->before.first[step + 1]; i++) {
        gt_step_index before = walk->before.list[i];

        gt_line_join(line, &walk->known[before]);
        if (walk->done[before] && --walk->wanted[before] == 0)
            gt_line_free(&walk->known[before]);
    }
}

static void happen(struct walk *walk, gt_step_index index)
{
    const struct gt_step *step = &walk->steps->list[index];
    struct gt_line none = gt_line_new(GT_NONE), *line = step->line != GT_NONE ? &walk->lines[step->line] : &none;

    learn(walk, index, line);
    if (step->line != GT_NONE)
        gt_line_next(line);
    if (walk->wanted[index] > 0)
        walk->known[index] = gt_line_copy(line);
    if (step->kind == GT_STEP_PART) /* its end is not told */
        gt_line_next(line);
    if (step->kind == GT_STEP_OP || step->kind == GT_STEP_PART)
        walk->visitor->op(walk->user, step->what, line, (struct gt_stamp){ line->index, line->number });
    else if (step->kind == GT_STEP_GIVEN_BACK)
        walk->visitor->given_back(walk->user, step->what, line);
    gt_line_free(&none);
    walk->done[index] = true;
}

/* One less to wait for. */
static void let_go(struct walk *walk, gt_step_index step)
{
    bool passed_over = step < walk->at && !walk->done[step];

    if (--walk->left[step] == 0 && passed_over)
        gt_heap_push(&walk->freed, (struct gt_heap_event){ .time_ps = step, .subject = step });
}

static void happen_and_let_go(struct walk *walk, gt_step_index step)
{
    happen(walk, step);
    for (uint64_t i = walk->after.first[step]; i < walk->after.first[step + 1]; i++)
        let_go(walk, walk->after.list[i]);
    if (walk->next[step] != GT_NONE)
        let_go(walk, walk->next[step]);
}

/* Steps that were passed over, once they can happen: the first of them first. */
static void catch_up(struct walk *walk)
{
    while (walk->freed.count > 0)
        happen_and_let_go(walk, gt_heap_pop(&walk->freed).subject);
}

/* Steps that wait for later ones are passed over until they can happen; at last those that never can. */
static void walk_backward(struct walk *walk)
{
    begin_backward(walk);
    while (walk->at < walk->steps->count) {
        gt_step_index step = walk->at++;

        if (walk->left[step] > 0)
            continue;
        happen_and_let_go(walk, step);
        catch_up(walk);
    }
    for (gt_step_index i = 0; i < walk->steps->count; i++) {
        if (walk->done[i])
            continue;
        happen_and_let_go(walk, i);
        catch_up(walk);
    }
}

void gt_steps_walk(const struct gt_steps *steps, const struct gt_step_visitor *visitor, void *user)
{
    struct walk walk = { .steps = steps, .visitor = visitor, .user = user };

    begin(&walk);
    if (steps->backward)
        walk_backward(&walk);
    for (gt_step_index i = 0; i < steps->count && !steps->backward; i++)
        happen(&walk, i);
    end(&walk);
}
