/* More than 32 bits number, and texts from memory that must be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/workload/workload.h"

/* What `act` says on standard error, and its exit status, in a process of its own. */
static int in_child(void (*act)(void), char *said, size_t bytes)
{
    int ends[2], status;
    ssize_t length;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    length = read(ends[0], said, bytes - 1);
    said[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A workload that has, by its count, as many events as there are numbers. */
static void add_one_event_too_many(void)
{
    struct gt_workload *w = gt_workload_new();
    uint32_t call = gt_workload_add_call(w);

    w->path = gt_strdup("big.jsonl");
    w->calls[call].line = 7;
    w->event_count = w->event_room = GT_NONE - 1;
    gt_workload_add_event(w);
}

static void too_many_elements_name_the_line(void **state)
{
    char said[512];

    (void)state;
    assert_int_equal(in_child(add_one_event_too_many, said, sizeof said), 1);
    assert_non_null(strstr(said, "gridtide: big.jsonl:7: more than"));
}

static void ask_for_too_much(void)
{
    gt_realloc(NULL, SIZE_MAX, 2);
}

static void no_memory_is_said(void **state)
{
    char said[512];

    (void)state;
    assert_int_equal(in_child(ask_for_too_much, said, sizeof said), 1);
    assert_non_null(strstr(said, "out of memory asking for 18446744073709551615 x 2 bytes"));
}

static void texts_are_copied(void **state)
{
    char *text = gt_format("%s %d", "four", 4), *copy = gt_strdup(text), *part = gt_strndup(text, 4);

    (void)state;
    assert_string_equal(text, "four 4");
    assert_string_equal(copy, text);
    assert_string_equal(part, "four");
    assert_null(gt_strdup(NULL));
    free(text);
    free(copy);
    free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_elements_name_the_line),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(texts_are_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
