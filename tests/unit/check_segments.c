/* Many parts of one memory: what the tree of segments finds is what looking at every byte for itself finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/check/check.h"
#include "sim/check/order.h"
#include "validate/random/chance.h"
#include "validate/random/draw.h"

enum { PROGRAMS = 25, OPERATIONS = 1100, BYTES = 4000, STREAMS = 6 };

/* What has been done to each byte, one by one: the rule of check.h as it stands there. */
struct bytes {
    const struct gt_workload *w;
    struct gt_stamp *stamps;
    uint32_t *places, visited;
    gt_op_index write[BYTES];
    gt_op_index reads[BYTES][OPERATIONS + 1];
    uint32_t read_count[BYTES];
    struct gt_race *races; /* by operation; first GT_NONE: none */
};

static bool ordered(const struct bytes *b, gt_op_index before, gt_op_index op, const struct gt_line *line)
{
    return before == op || gt_line_knows(line, b->stamps[before]);
}

static void tell(struct bytes *b, gt_op_index first, gt_op_index second, enum gt_race_kind kind)
{
    struct gt_race *race = &b->races[second];

    if (race->first == GT_NONE || b->places[race->first] < b->places[first])
        *race = (struct gt_race){ .first = first, .second = second, .kind = (uint8_t)kind };
}

static void write_byte(struct bytes *b, uint64_t at, gt_op_index op, const struct gt_line *line)
{
    if (b->write[at] == op)
        return;
    for (uint32_t i = 0; i < b->read_count[at]; i++)
        if (!ordered(b, b->reads[at][i], op, line))
            tell(b, b->reads[at][i], op, GT_RACE_WRITE_AFTER_READ);
    if (b->read_count[at] == 0 && b->write[at] != GT_NONE && !ordered(b, b->write[at], op, line))
        tell(b, b->write[at], op, GT_RACE_WRITE_AFTER_WRITE);
    b->write[at] = op;
    b->read_count[at] = 0;
}

static void read_byte(struct bytes *b, uint64_t at, gt_op_index op, const struct gt_line *line)
{
    uint32_t kept = 0;

    if (b->write[at] == op)
        return;
    if (b->write[at] != GT_NONE && !ordered(b, b->write[at], op, line))
        tell(b, b->write[at], op, GT_RACE_READ_AFTER_WRITE);
    for (uint32_t i = 0; i < b->read_count[at]; i++)
        if (!ordered(b, b->reads[at][i], op, line))
            b->reads[at][kept++] = b->reads[at][i];
    b->reads[at][kept++] = op;
    b->read_count[at] = kept;
}

static void take_op(void *user, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp)
{
    struct bytes *b = user;
    const struct gt_op *o = &b->w->ops[op];

    b->stamps[op] = stamp;
    b->places[op] = b->visited++;
    for (int writes = 1; writes >= 0; writes--)
        for (uint32_t i = o->first_access; i < o->first_access + o->accesses; i++) {
            const struct gt_buffer_access *access = &b->w->accesses[i];
            uint64_t bytes = access->bytes == 0 ? BYTES - access->offset : access->bytes;

            for (uint64_t at = access->offset; access->writes == (bool)writes && at < access->offset + bytes; at++)
                (writes ? write_byte : read_byte)(b, at, op, line);
        }
}

static void given_back(void *user, gt_call_index call, const struct gt_line *line)
{
    (void)user;
    (void)call;
    (void)line;
}

static struct gt_race *races_by_byte(const struct gt_workload *w)
{
    static const struct gt_step_visitor visitor = { take_op, given_back };
    struct bytes *b = gt_calloc(1, sizeof *b);
    struct gt_order *order = gt_order_new(w, NULL);
    struct gt_race *races = gt_calloc(w->op_count, sizeof *races);

    b->w = w;
    b->stamps = gt_calloc(w->op_count, sizeof *b->stamps);
    b->places = gt_calloc(w->op_count, sizeof *b->places);
    b->races = races;
    memset(b->write, 0xff, sizeof b->write); /* GT_NONE */
    for (uint32_t i = 0; i < w->op_count; i++)
        races[i].first = GT_NONE;
    gt_order_walk(order, &visitor, b);
    gt_order_free(order);
    free(b->stamps);
    free(b->places);
    free(b);
    return races;
}

static void hold_against_bytes(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(text, &error);
    struct gt_race *expected;
    struct gt_check check;
    uint32_t count = 0;

    if (w == NULL)
        fail_msg("%s\n%s", error.text, text);
    expected = races_by_byte(w);
    gt_check_run(&check, w);
    for (uint32_t i = 0; i < w->op_count; i++)
        count += expected[i].first != GT_NONE;
    assert_int_equal(check.certain.count, count);
    for (uint32_t i = 0; i < check.certain.count; i++) {
        const struct gt_race *race = &check.certain.races[i], *wanted = &expected[race->second];

        assert_int_equal(race->first, wanted->first);
        assert_int_equal(race->kind, wanted->kind);
        assert_true(race->from < race->to);
    }
    gt_check_free(&check);
    free(expected);
    gt_workload_free(w);
}

static void write_part(FILE *out, struct gt_chance *chance, const char *what, bool whole)
{
    uint32_t from = gt_chance_between(chance, 0, BYTES - 1), most = BYTES - from < 12 ? BYTES - from : 12;

    if (whole)
        fprintf(out, ",\"%s\":[\"b\"]", what);
    else
        fprintf(out, ",\"%s\":[[\"b\",%u,%u]]", what, from,
                gt_chance_in(chance, 1, 8) ? BYTES - from : gt_chance_between(chance, 1, most));
}

/* Mostly small writes, and reads of all or much of it, in streams that wait for each other now and then. */
static char *draw(uint64_t seed)
{
    struct gt_chance chance = gt_chance_of(seed, "segments", 0);
    uint32_t orders = gt_chance_between(&chance, 1, 12), wide = gt_chance_between(&chance, 1, 12);
    size_t bytes;
    char *text;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    fprintf(out, "{\"gridtide\":1}\n{\"kernel\":\"k\",\"block_us\":1}\n{\"buffer\":\"b\",\"bytes\":%d}\n", BYTES);
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t stream = gt_chance_between(&chance, 1, STREAMS), other = gt_chance_between(&chance, 1, STREAMS);

        if (gt_chance_in(&chance, orders, 24))
            fprintf(out,
                    "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":%u}\n"
                    "{\"call\":\"event_wait\",\"event\":\"e\",\"stream\":%u}\n",
                    other, stream);
        fprintf(out, "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":%u", stream);
        if (gt_chance_in(&chance, 2, 3))
            write_part(out, &chance, "writes", gt_chance_in(&chance, 1, 100));
        if (gt_chance_in(&chance, 1, 2))
            write_part(out, &chance, "reads", gt_chance_in(&chance, wide, 12));
        fputs("}\n", out);
    }
    fclose(out);
    return text;
}

static void the_tree_finds_what_every_byte_does(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        char *text = draw(seed);

        hold_against_bytes(text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_finds_what_every_byte_does),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
