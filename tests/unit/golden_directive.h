/* golden_directive.h - the lines of a golden scenario's comment that say what goes in and what must come out.
 *
 *   // set KEY=VALUE               a device key
 *   // option blocks=off           or blocks=on, serialize=on, serialize=off, seed=N, noise=DRAW/DRAWS
 *   // change SPEC                 a change as of `gridtide whatif`: the numbers below are those of what it makes
 *   // independent PATTERN         what changes may take as independent
 *   // cost KERNEL CYCLES ...      see golden_cost.h
 *   // expect OP START END         operation number OP (from 0, in trace order) runs from START to END us; 0 0: it never runs
 *   // expect-wait OP REASON US    it waited so long for that reason
 *   // expect-call CALL START END  call number CALL of the trace lasts so
 *   // expect-blocks OP SM COUNT   so many of its blocks ran on that SM in all
 *   // expect-error TEXT           the run fails and says TEXT
 *
 * A comment whose first word is one of these, or begins with "expect", is a directive: where it cannot be read
 * whole, the scenario fails, so that no expectation goes unchecked for a slip of the pen.
 */
#ifndef GRIDTIDE_TESTS_UNIT_GOLDEN_DIRECTIVE_H
#define GRIDTIDE_TESTS_UNIT_GOLDEN_DIRECTIVE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/workload/probe.h"

enum golden_kind {
    GOLDEN_PROSE,
    GOLDEN_MALFORMED,
    GOLDEN_SET,
    GOLDEN_OPTION,
    GOLDEN_CHANGE,
    GOLDEN_INDEPENDENT,
    GOLDEN_COST, /* what goes in */
    GOLDEN_EXPECT,
    GOLDEN_EXPECT_WAIT,
    GOLDEN_EXPECT_CALL,
    GOLDEN_EXPECT_BLOCKS,
    GOLDEN_EXPECT_ERROR,
};

struct golden_directive {
    enum golden_kind kind;
    const char *rest;        /* behind its first word */
    char key[64], value[64]; /* SET, OPTION; CHANGE, INDEPENDENT: the value */
    unsigned number;         /* of the operation or call */
    double start_us, end_us; /* EXPECT_WAIT: how long is start_us */
    unsigned sm, count;
    int reason; /* gt_wait */
};

/* Has all of `text` been read, by its first `used` characters? */
static bool golden_all_read(const char *text, int used)
{
    return used > 0 && text[used + (int)strspn(text + used, " \t\r\n")] == '\0';
}

static bool golden_read_setting(struct golden_directive *d)
{
    int used = 0;

    return sscanf(d->rest, " %63[^= \t]=%63s%n", d->key, d->value, &used) == 2 && golden_all_read(d->rest, used);
}

static bool golden_read_option(struct golden_directive *d)
{
    unsigned draw, draws;
    int used = 0;
    bool number;

    if (!golden_read_setting(d))
        return false;
    if (strcmp(d->key, "noise") == 0)
        return sscanf(d->value, "%u/%u%n", &draw, &draws, &used) == 2 && d->value[used] == '\0' && draw <= draws;
    number = d->value[strspn(d->value, "0123456789")] == '\0';
    if (strcmp(d->key, "blocks") == 0 || strcmp(d->key, "serialize") == 0)
        return strcmp(d->value, "on") == 0 || strcmp(d->value, "off") == 0;
    return number && strcmp(d->key, "seed") == 0;
}

static bool golden_read_word(struct golden_directive *d)
{
    int used = 0;

    return sscanf(d->rest, " %63s%n", d->value, &used) == 1 && golden_all_read(d->rest, used);
}

static bool golden_read_times(struct golden_directive *d)
{
    int used = 0;

    return sscanf(d->rest, " %u %lf %lf%n", &d->number, &d->start_us, &d->end_us, &used) == 3 &&
           golden_all_read(d->rest, used);
}

static bool golden_read_blocks(struct golden_directive *d)
{
    int used = 0;

    return sscanf(d->rest, " %u %u %u%n", &d->number, &d->sm, &d->count, &used) == 3 &&
           golden_all_read(d->rest, used);
}

static bool golden_read_wait(struct golden_directive *d)
{
    char reason[32];
    int used = 0;

    if (sscanf(d->rest, " %u %31s %lf%n", &d->number, reason, &d->start_us, &used) != 3 ||
        !golden_all_read(d->rest, used))
        return false;
    for (d->reason = 0; d->reason < GT_WAITS; d->reason++) {
        if (strcmp(gt_wait_names[d->reason], reason) == 0)
            return true;
    }
    return false;
}

static bool golden_read_text(struct golden_directive *d)
{
    d->rest += strspn(d->rest, " \t");
    return *d->rest != '\0' && *d->rest != '\n';
}

/* What `line`, a line of a scenario, says.  A cost is read by golden_cost_line(). */
static struct golden_directive golden_directive_of(const char *line)
{
    static const struct {
        const char *word;
        enum golden_kind kind;
        bool (*read)(struct golden_directive *directive);
    } words[] = {
        { "set", GOLDEN_SET, golden_read_setting },
        { "option", GOLDEN_OPTION, golden_read_option },
        { "change", GOLDEN_CHANGE, golden_read_word },
        { "independent", GOLDEN_INDEPENDENT, golden_read_word },
        { "cost", GOLDEN_COST, golden_read_text },
        { "expect", GOLDEN_EXPECT, golden_read_times },
        { "expect-wait", GOLDEN_EXPECT_WAIT, golden_read_wait },
        { "expect-call", GOLDEN_EXPECT_CALL, golden_read_times },
        { "expect-blocks", GOLDEN_EXPECT_BLOCKS, golden_read_blocks },
        { "expect-error", GOLDEN_EXPECT_ERROR, golden_read_text },
    };
    struct golden_directive d = { .kind = GOLDEN_PROSE };
    const char *word = line + strspn(line, " \t");
    size_t length;

    if (strncmp(word, "//", 2) != 0)
        return d;
    word += 2 + strspn(word + 2, " \t");
    length = strcspn(word, " \t\r\n");
    d.rest = word + length;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0) {
            d.kind = words[i].read(&d) ? words[i].kind : GOLDEN_MALFORMED;
            return d;
        }
    }
    if (strncasecmp(word, "expect", 6) == 0)
        d.kind = GOLDEN_MALFORMED;
    return d;
}

#endif
