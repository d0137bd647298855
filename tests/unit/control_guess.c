/* Control fields that are guessed from texts (traces/sass/control_guess.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traces/sass/control_guess.h"
#include "traces/sass/cubin.h"

enum { MOST = 8, NONE = 7 };

/* The fields of up to MOST texts, ended by NULL. */
static void guess(const char *const *texts, struct gt_sass_control *control)
{
    struct gt_program_row rows[MOST] = { { .text = NULL } };
    uint32_t count = 0;

    for (; texts[count] != NULL; count++)
        rows[count].text = texts[count];
    gt_control_guess(rows, count);
    for (uint32_t i = 0; i < count; i++)
        gt_sass_control_unpack(rows[i].control, &control[i]);
}

/* The load is waited for by its barrier; the sum is there after 4 cycles, a predicate guards after 13. */
static void operands_are_waited_for(void **state)
{
    static const char *const texts[] = { "LDG.E R0, [R2.64]",
                                         "FADD R1, R0, 1",
                                         "FADD R6, R1, R1",
                                         "ISETP.GE.AND P0, PT, R6, 0x1, PT",
                                         "@P0 BRA 0x0",
                                         "EXIT",
                                         NULL };
    struct gt_sass_control control[MOST];

    (void)state;
    guess(texts, control);
    assert_int_equal(control[0].write_barrier, 0);
    assert_int_equal(control[0].read_barrier, NONE);
    assert_int_equal(control[0].stall_cycles, 1);
    assert_int_equal(control[1].wait_mask, 1);
    assert_int_equal(control[1].write_barrier, NONE);
    assert_int_equal(control[1].stall_cycles, 4);
    assert_int_equal(control[2].stall_cycles, 4);
    assert_int_equal(control[3].stall_cycles, 13);
    assert_int_equal(control[4].stall_cycles, 5);
    assert_int_equal(control[4].wait_mask, 0);
}

/* The store reads R2 and R0 late: what overwrites R2 waits for its second barrier, what reads R2 does not. */
static void registers_read_late_are_kept(void **state)
{
    static const char *const texts[] = { "STG.E [R2.64], R0", "FADD R5, R2, 1", "IADD3 R2, R4, R4, RZ", "EXIT",
                                         NULL };
    struct gt_sass_control control[MOST];

    (void)state;
    guess(texts, control);
    assert_int_equal(control[0].write_barrier, NONE);
    assert_int_equal(control[0].read_barrier, 0);
    assert_int_equal(control[1].wait_mask, 0);
    assert_int_equal(control[2].wait_mask, 1);
}

/* The load at a loop's end is read at its head, in the next trip. */
static void loops_wait_for_their_end(void **state)
{
    static const char *const texts[] = {
        "MOV R9, R8", "FADD R1, R0, R1", "LDS R0, [R9]", "@P0 BRA 0x10", "EXIT", NULL
    };
    struct gt_sass_control control[MOST];

    (void)state;
    guess(texts, control);
    assert_int_equal(control[2].write_barrier, 0);
    assert_int_equal(control[1].wait_mask, 1);
    assert_int_equal(control[0].wait_mask, 0);
}

/* Seven loads have six barriers: the seventh shares that of the first.  A group of copies has barrier 0 for itself. */
static void barriers_are_six(void **state)
{
    static const char *const loads[] = { "LDS R0, [R20]", "LDS R1, [R20]", "LDS R2, [R20]", "LDS R3, [R20]",
                                         "LDS R4, [R20]", "LDS R5, [R20]", "LDS R6, [R20]", NULL };
    static const char *const copies[] = { "LDG.E R0, [R2.64]", "LDGDEPBAR", "DEPBAR.LE SB0, 0x0", NULL };
    struct gt_sass_control control[MOST];

    (void)state;
    guess(loads, control);
    for (int i = 0; i < 7; i++)
        assert_int_equal(control[i].write_barrier, i % 6);
    guess(copies, control);
    assert_int_equal(control[0].write_barrier, 1);
    assert_int_equal(control[1].write_barrier, 0);
}

/* 24 cycles of a matrix product are more than one instruction can stall: 15 and 9. */
static void long_latencies_take_several_stalls(void **state)
{
    static const char *const texts[] = { "HMMA.16816.F32 R4, R8, R10, RZ", "NOP", "FADD R0, R4, 1", NULL };
    struct gt_sass_control control[MOST];

    (void)state;
    guess(texts, control);
    assert_int_equal(control[0].stall_cycles, 9);
    assert_int_equal(control[1].stall_cycles, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_waited_for),
        cmocka_unit_test(registers_read_late_are_kept),
        cmocka_unit_test(loops_wait_for_their_end),
        cmocka_unit_test(barriers_are_six),
        cmocka_unit_test(long_latencies_take_several_stalls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
