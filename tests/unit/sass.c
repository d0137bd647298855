/* CSV records, control fields and texts of instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/workload/workload.h"
#include "traces/io/csv.h"
#include "traces/sass/cubin.h"
#include "traces/sass/sass.h"

/* A file with this text, opened; the file is gone when it is closed. */
static struct gt_input *input_of(const char *text, size_t length)
{
    char path[] = "/tmp/gridtide-csv-XXXXXX";
    int file = mkstemp(path);
    struct gt_input *input;
    struct gt_error error;

    assert_int_equal(write(file, text, length), length);
    close(file);
    input = gt_input_open(path, &error);
    assert_non_null(input);
    unlink(path);
    return input;
}

static void records_are_taken_apart(void **state)
{
    static const char text[] = "a,\"b,c\",\"say \"\"so\"\"\",\r\n\n\"two\nlines\",x\nlast";
    struct gt_input *input = input_of(text, sizeof text - 1);
    struct gt_error error;
    struct gt_csv csv;

    (void)state;
    gt_csv_open(&csv, input);
    assert_int_equal(gt_csv_next(&csv, &error), 1);
    assert_int_equal(csv.count, 4);
    assert_string_equal(gt_csv_field(&csv, 0), "a");
    assert_string_equal(gt_csv_field(&csv, 1), "b,c");
    assert_string_equal(gt_csv_field(&csv, 2), "say \"so\"");
    assert_string_equal(gt_csv_field(&csv, 3), "");
    assert_string_equal(gt_csv_field(&csv, 4), "");
    assert_int_equal(gt_csv_next(&csv, &error), 1);
    assert_int_equal(csv.line, 3);
    assert_string_equal(gt_csv_field(&csv, 0), "two\nlines");
    assert_int_equal(gt_csv_next(&csv, &error), 1);
    assert_int_equal(csv.line, 5);
    assert_string_equal(gt_csv_field(&csv, 0), "last");
    assert_int_equal(gt_csv_next(&csv, &error), 0);
    gt_csv_close(&csv);
    gt_input_close(input);
}

static void broken_records_say_why(void **state)
{
    /* clang-format off */
    static const struct { const char *text, *says; size_t length; } cases[] = {
        { "a,\"b", "within quotes", 4 }, { "\"a\"b,c\n", "behind its closing quote", 7 },
        { "a\0b\n", "NUL", 4 }, { "\"a\0b\"\n", "NUL", 6 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gt_input *input = input_of(cases[i].text, cases[i].length);
        struct gt_error error;
        struct gt_csv csv;

        gt_csv_open(&csv, input);
        assert_int_equal(gt_csv_next(&csv, &error), -1);
        assert_non_null(strstr(error.text, cases[i].says));
        gt_csv_close(&csv);
        gt_input_close(input);
    }
}

static void numbers_may_have_separators(void **state)
{
    double number;
    uint64_t count;

    (void)state;
    assert_true(gt_csv_number("1,234,567.5", &number));
    assert_true(number == 1234567.5);
    assert_true(gt_csv_number("3e+06", &number));
    assert_true(number == 3e6);
    assert_false(gt_csv_number("", &number));
    assert_false(gt_csv_number("-", &number));
    assert_false(gt_csv_number("nan", &number));
    assert_false(gt_csv_number("1e999", &number));
    assert_false(gt_csv_number("12 us", &number));
    assert_true(gt_csv_count("4,096", &count));
    assert_int_equal(count, 4096);
    assert_false(gt_csv_count("-1", &count));
    assert_false(gt_csv_count("1e30", &count));
}

/* Bits 105-125 by hand: stall 4, yield, write barrier 1, none to read, waits for 0 and 5, reuse of operand 1.
 */
static void control_fields_stand_where_they_do(void **state)
{
    uint64_t high = (UINT64_C(4) << 41) | (UINT64_C(1) << 45) | (UINT64_C(1) << 46) | (UINT64_C(7) << 49) |
                    (UINT64_C(0x21) << 52) | (UINT64_C(2) << 58);
    unsigned char instruction[GT_SASS_BYTES] = { 0xff, 0xff };
    struct gt_sass_control control, again;

    (void)state;
    for (int i = 0; i < 8; i++)
        instruction[8 + i] = (unsigned char)(high >> (8 * i));
    gt_sass_control(instruction, &control);
    assert_int_equal(control.stall_cycles, 4);
    assert_int_equal(control.yield, 1);
    assert_int_equal(control.write_barrier, 1);
    assert_int_equal(control.read_barrier, 7);
    assert_int_equal(control.wait_mask, 0x21);
    assert_int_equal(control.reuse, 2);
    gt_sass_control_unpack(gt_sass_control_pack(&control), &again);
    assert_memory_equal(&control, &again, sizeof control);
}

static void mnemonics_are_sorted(void **state)
{
    static const char *const first_and_last[] = { "ACQBULK", "YIELD", "LD", "LDG", "LDGSTS", "BRA", "BRX" };

    (void)state;
    for (size_t i = 0; i < sizeof first_and_last / sizeof first_and_last[0]; i++)
        assert_non_null(gt_sass_find(first_and_last[i], (uint32_t)strlen(first_and_last[i])));
    assert_null(gt_sass_find("LDX", 3));
    assert_null(gt_sass_find("L", 1));
}

struct parsed {
    struct gt_instruction i;
    struct gt_access access;
    struct gt_sass_flow flow;
};

static struct parsed parse(const char *text)
{
    struct parsed parsed = { .i = { .write_barrier = GT_NO_BARRIER } };

    assert_true(gt_sass_parse(text, &parsed.i, &parsed.access, &parsed.flow));
    return parsed;
}

static void assert_operand(const struct parsed *parsed, unsigned index, int file, int number, int count, int flags)
{
    const struct gt_operand *operand = &parsed->i.operands[index];

    assert_true(index < parsed->i.operand_count);
    assert_int_equal(operand->file, file);
    assert_int_equal(operand->number, number);
    assert_int_equal(operand->count, count);
    assert_int_equal(operand->flags, flags);
}

static void operands_are_read_and_written(void **state)
{
    struct parsed p = parse("@!P3 FFMA R4, R5.reuse, -R6, |R4|");

    (void)state;
    assert_int_equal(p.i.pipe, GT_PIPE_FMA);
    assert_operand(&p, 0, GT_FILE_PREDICATE, 3, 1, GT_OPERAND_GUARD | GT_OPERAND_NEGATED);
    assert_operand(&p, 1, GT_FILE_VECTOR, 4, 1, GT_OPERAND_WRITTEN);
    assert_operand(&p, 2, GT_FILE_VECTOR, 5, 1, GT_OPERAND_REUSE);
    assert_operand(&p, 4, GT_FILE_VECTOR, 4, 1, 0);
    p = parse("IADD3 R4, P0, P1, R2, UR5, RZ");
    assert_operand(&p, 1, GT_FILE_PREDICATE, 0, 1, GT_OPERAND_WRITTEN);
    assert_operand(&p, 2, GT_FILE_PREDICATE, 1, 1, GT_OPERAND_WRITTEN);
    assert_operand(&p, 4, GT_FILE_UNIFORM, 5, 1, 0);
    p = parse("PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0");
    assert_operand(&p, 0, GT_FILE_PREDICATE, 0, 1, GT_OPERAND_WRITTEN);
    assert_operand(&p, 1, GT_FILE_UNIFORM_PREDICATE, 0, 1, 0);
    p = parse("VOTEU.ANY UP2, P0");
    assert_operand(&p, 1, GT_FILE_PREDICATE, 0, 1, 0);
    p = parse("ISETP.GE.AND P0, PT, R0, c[0x0][0x218], PT");
    assert_operand(&p, 1, GT_FILE_VECTOR, 0, 1, 0);
    p = parse("IMAD.WIDE R2, R5, R4, R8");
    assert_operand(&p, 0, GT_FILE_VECTOR, 2, 2, GT_OPERAND_WRITTEN);
    assert_operand(&p, 3, GT_FILE_VECTOR, 8, 2, 0);
    p = parse("DFMA R2, R4, R6, R2");
    assert_operand(&p, 1, GT_FILE_VECTOR, 4, 2, 0);
    p = parse("HMMA.16816.F32 R4, R8, R12, R4");
    assert_int_equal(p.i.pipe, GT_PIPE_TENSOR);
    assert_int_equal(p.i.gmma_k, 16);
    assert_operand(&p, 0, GT_FILE_VECTOR, 4, 4, GT_OPERAND_WRITTEN);
    assert_operand(&p, 1, GT_FILE_VECTOR, 8, 4, 0);
    assert_operand(&p, 2, GT_FILE_VECTOR, 12, 2, 0);
    p = parse("HGMMA.64x128x16.F32 R24, gdesc[UR16].tnspA, R24, !UP1");
    assert_int_equal(p.i.action, GT_ACTION_GMMA);
    assert_int_equal(p.i.gmma_n, 128);
    assert_operand(&p, 0, GT_FILE_VECTOR, 24, 64, GT_OPERAND_WRITTEN);
}

static void memory_has_space_and_width(void **state)
{
    struct parsed p = parse("LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10]");

    (void)state;
    assert_int_equal(p.i.action, GT_ACTION_LOAD);
    assert_int_equal(p.access.space, GT_SPACE_GLOBAL);
    assert_int_equal(p.access.width_bytes, 16);
    assert_operand(&p, 0, GT_FILE_VECTOR, 4, 4, GT_OPERAND_WRITTEN);
    assert_operand(&p, 2, GT_FILE_VECTOR, 2, 2, 0);
    p = parse("STG.E.U8 desc[UR4][R2.64], R7");
    assert_int_equal(p.access.width_bytes, 1);
    assert_operand(&p, 2, GT_FILE_VECTOR, 7, 1, 0);
    p = parse("LDSM.16.M88.4 R40, [R40]");
    assert_int_equal(p.access.space, GT_SPACE_SHARED);
    assert_int_equal(p.access.width_bytes, 16);
    p = parse("@!P1 LDGSTS.E.BYPASS.128 desc[UR10][R4.64], [R7]");
    assert_int_equal(p.i.action, GT_ACTION_ASYNC_COPY);
    assert_true(p.access.bypass_l1);
    p = parse("UTMALDG.3D.MULTICAST [UR8], [UR34], UR33");
    assert_int_equal(p.i.action, GT_ACTION_BULK_LOAD);
    assert_int_equal(p.access.space, GT_SPACE_GLOBAL);
    p = parse("ATOMG.E.ADD.STRONG.GPU PT, R14, desc[UR36][R8.64], R11");
    assert_operand(&p, 0, GT_FILE_VECTOR, 14, 1, GT_OPERAND_WRITTEN);
}

/* Sources are counted behind the vector register that is the result; predicates have no place.  Registers take
 * places in the order of the text, so that one of an address may have that of the data behind it. */
static void sources_have_places(void **state)
{
    struct parsed p = parse("@!P3 FFMA R4, R5.reuse, -R6, |R4|");

    (void)state;
    assert_true(p.i.operands[0].flags & GT_OPERAND_NEGATED);
    assert_int_equal(p.i.operands[1].place, GT_NO_PLACE);
    assert_int_equal(p.i.operands[2].place, 0);
    assert_int_equal(p.i.operands[3].place, 1);
    assert_int_equal(p.i.operands[4].place, 2);
    p = parse("ISETP.GE.AND P0, PT, R0, c[0x0][0x218], PT");
    assert_int_equal(p.i.operands[1].place, 0);
    assert_int_equal(p.i.compare, GT_COMPARE_AT_LEAST);
    p = parse("IADD3 R4, P0, P1, UR5, RZ, R2");
    assert_int_equal(p.i.operands[4].place, 2);
    p = parse("STG.E desc[UR4][R2.64], R7");
    assert_int_equal(p.i.operands[1].place, 1);
    assert_int_equal(p.i.operands[2].place, GT_NO_PLACE);
}

/* A text can name any number: what lies in no constant bank is no constant. */
static void constants_lie_in_banks(void **state)
{
    (void)state;
    assert_int_equal(parse("FADD R0, R1, c[0x0][0x210]").i.constant, 0x210);
    assert_int_equal(parse("LDC R0, c[0x3][0x8]").i.constant, 0x30008);
    assert_int_equal(parse("FADD R0, R1, c[0x0][0xf000000000]").i.constant, GT_NONE);
    assert_int_equal(parse("FADD R0, R1, c[0xf00000][0x0]").i.constant, GT_NONE);
    assert_int_equal(parse("LDC R0, c[0x3][R2+0x8]").i.constant, GT_NONE);
    assert_int_equal(parse("FADD R0, R1, R2").i.constant, GT_NONE);
}

static void addresses_are_taken_apart(void **state)
{
    struct gt_address a = parse("LDG.E R4, desc[UR4][R2.64+0x10]").access.address;

    (void)state;
    assert_int_equal(a.base, 2);
    assert_int_equal(a.base_count, 2);
    assert_int_equal(a.uniform, GT_NO_REGISTER);
    assert_int_equal(a.offset_bytes, 16);
    a = parse("LDS R4, [R2.X4+UR5+-0x8]").access.address;
    assert_int_equal(a.base_count, 1);
    assert_int_equal(a.scale, 4);
    assert_int_equal(a.uniform, 5);
    assert_int_equal(a.offset_bytes, -8);
    assert_int_equal(parse("LDS R4, [UR5]").access.address.base_count, 0);
    assert_int_equal(parse("LDS R4, [RZ]").access.address.base_count, 0);
}

static void products_have_elements(void **state)
{
    /* clang-format off */
    static const struct { const char *text; int m, element; } cases[] = {
        { "HMMA.16816.F32 R4, R8, R12, R4", 16, GT_ELEMENT_16_BITS },
        { "HMMA.1688.F32.TF32 R4, R8, R12, R4", 16, GT_ELEMENT_32_BITS },
        { "HMMA.884.F32.F32.STEP0 R4, R8, R12, R4", 8, GT_ELEMENT_16_BITS },
        { "IMMA.16832.S8.S8 R4, R8, R12, R4", 16, GT_ELEMENT_8_BITS },
        { "IMMA.8832.U4.U4 R4, R8, R12, R4", 8, GT_ELEMENT_4_BITS },
        { "DMMA.8x8x4 R4, R8, R12, R4", 8, GT_ELEMENT_64_BITS },
        { "QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR16], R24, gsb0", 64, GT_ELEMENT_8_BITS },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed p = parse(cases[i].text);

        assert_int_equal(p.i.gmma_m, cases[i].m);
        assert_int_equal(p.i.element, cases[i].element);
        assert_int_equal(p.i.argument, i == 6);
    }
}

static void what_threads_differ_by_is_told(void **state)
{
    (void)state;
    assert_int_equal(parse("S2R R0, SR_TID.X").i.special, GT_SPECIAL_THREAD);
    assert_int_equal(parse("S2UR UR4, SR_CTAID.X").i.special, GT_SPECIAL_BLOCK);
    assert_int_equal(parse("CS2R R2, SR_CLOCKLO").i.special, GT_SPECIAL_MACHINE);
    assert_int_equal(parse("CS2R R2, SRZ").i.special, GT_SPECIAL_OTHER);
    assert_true(parse("ELECT P1, URZ, PT").i.elects);
    assert_int_equal(parse("FSETP.GTU.AND P0, PT, R0, 1, PT").i.compare, GT_COMPARE_GREATER);
    assert_true(parse("@P0 BRA 0x40").i.guard_decides);
    assert_false(parse("BRA 0x40").i.guard_decides);
    assert_false(parse("@P0 BRA P1, 0x40").i.guard_decides);
    assert_false(parse("@P0 BRA.U UP1, 0x40").i.guard_decides);
    assert_int_equal(parse("NANOSLEEP.SYNCS 0x989680").i.argument2, 1);
    assert_int_equal(parse("NANOSLEEP 0x20").i.argument2, 0);
}

static void arguments_come_from_operands(void **state)
{
    struct parsed p = parse("BAR.SYNC.DEFER_BLOCKING 0x1, 0x80");

    (void)state;
    assert_int_equal(p.i.action, GT_ACTION_BARRIER_SYNC);
    assert_int_equal(p.i.argument, 1);
    assert_int_equal(p.i.argument2, 128);
    assert_int_equal(parse("BAR.ARV R4, 0x100").i.action, GT_ACTION_BARRIER_ARRIVE);
    p = parse("DEPBAR.LE SB0, 0x2");
    assert_int_equal(p.i.action, GT_ACTION_SCOREBOARD_WAIT);
    assert_int_equal(p.i.argument2, 2);
    p = parse("WARPGROUP.DEPBAR.LE gsb0, 0x1");
    assert_int_equal(p.i.action, GT_ACTION_GMMA_WAIT);
    assert_int_equal(p.i.argument2, 1);
    assert_int_equal(parse("WARPGROUP.ARRIVE").i.action, GT_ACTION_GMMA_ARRIVE);
    p = parse("USETMAXREG.DEALLOC.CTAPOOL 0x18");
    assert_int_equal(p.i.argument, 24);
    assert_int_equal(p.i.argument2, 1);
    assert_int_equal(parse("SYNCS.EXCH.64 URZ, [UR7], UR10").i.action, GT_ACTION_MBARRIER_INIT);
    p = parse("SYNCS.ARRIVE.TRANS64.RED RZ, [UR9], R6");
    assert_int_equal(p.i.action, GT_ACTION_MBARRIER_ARRIVE);
    assert_int_equal(p.i.argument, 1);
    assert_int_equal(parse("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R7], RZ").i.argument, 0);
    assert_int_equal(parse("SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR6], R4").i.action, GT_ACTION_MBARRIER_WAIT);
}

static void control_flow_is_told(void **state)
{
    struct parsed p = parse("@P0 BRA 0x2a0");

    (void)state;
    assert_int_equal(p.flow.kind, GT_SASS_BRANCH);
    assert_true(p.flow.conditional && p.flow.has_target);
    assert_int_equal(p.flow.target, 0x2a0);
    assert_false(parse("BRA 0x2a0").flow.conditional);
    assert_false(parse("@PT BRA 0x2a0").flow.conditional);
    assert_true(parse("BRA !P2, 0x3370").flow.conditional);
    assert_true(parse("BRA.U UP0, 0x100").flow.conditional);
    assert_true(parse("BRA.DIV UR8, 0x100").flow.conditional);
    p = parse("BSSY B7, 0x1f0");
    assert_int_equal(p.flow.kind, GT_SASS_DIVERGE);
    assert_int_equal(p.flow.barrier, 7);
    p = parse("BSYNC B7");
    assert_int_equal(p.flow.kind, GT_SASS_JOIN);
    assert_false(p.flow.has_target);
    assert_int_equal(parse("RET.REL.NODEC R6, 0x0").flow.kind, GT_SASS_RETURN);
    assert_int_equal(parse("@!P0 EXIT").flow.kind, GT_SASS_EXIT);
    assert_int_equal(parse("BRX R2 -0x1c0").flow.kind, GT_SASS_SWITCH);
}

static void what_is_not_known_counts_as_simple(void **state)
{
    struct gt_instruction instruction = { 0 };
    struct gt_sass_flow flow;
    struct gt_access access;

    (void)state;
    assert_false(gt_sass_parse("FROBNICATE.X R1, R2", &instruction, &access, &flow));
    assert_int_equal(instruction.pipe, GT_PIPE_ALU);
    assert_false(gt_sass_parse("", &instruction, &access, &flow));
    assert_false(gt_sass_parse("@", &instruction, &access, &flow));
    assert_false(gt_sass_parse("@P0", &instruction, &access, &flow));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_taken_apart),
        cmocka_unit_test(broken_records_say_why),
        cmocka_unit_test(numbers_may_have_separators),
        cmocka_unit_test(control_fields_stand_where_they_do),
        cmocka_unit_test(mnemonics_are_sorted),
        cmocka_unit_test(operands_are_read_and_written),
        cmocka_unit_test(memory_has_space_and_width),
        cmocka_unit_test(sources_have_places),
        cmocka_unit_test(constants_lie_in_banks),
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(products_have_elements),
        cmocka_unit_test(what_threads_differ_by_is_told),
        cmocka_unit_test(arguments_come_from_operands),
        cmocka_unit_test(control_flow_is_told),
        cmocka_unit_test(what_is_not_known_counts_as_simple),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
