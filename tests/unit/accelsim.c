/* Lines of Accel-Sim traces, and what their addresses ask of memory (traces/accelsim). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traces/accelsim/internal.h"

static struct gt_accelsim_line line;

static const struct gt_accelsim_header version5 = { .version = 5 }, version6 = { .version = 6 };

static void parse(const char *text, const struct gt_accelsim_header *header)
{
    struct gt_error error = { "" };

    if (gt_accelsim_line_parse(text, header, &line, &error) != 0)
        fail_msg("%s: %s", text, error.text);
}

static void refused(const char *text, const struct gt_accelsim_header *header, const char *why)
{
    struct gt_error error = { "" };

    assert_int_equal(gt_accelsim_line_parse(text, header, &line, &error), -1);
    assert_non_null(strstr(error.text, why));
}

static void addresses_come_in_three_modes(void **state)
{
    (void)state;
    parse("00a0 0000000f 1 R12 LDG.E.128.SYS 1 R2 16 0 0x100 0x200 0x180 0x7f580face400 7", &version5);
    assert_int_equal(line.pc, 0xa0);
    assert_int_equal(line.width_bytes, 16);
    assert_int_equal(line.address[3], 0x7f580face400);
    assert_int_equal(line.immediate, 7);
    parse("00a0 f0000000 1 R12 LDG.E.SYS 1 R2 4 1 0x100 -4 0", &version5);
    assert_int_equal(line.address[28], 0x100);
    assert_int_equal(line.address[31], 0xf4);
    /* A distance for each thread behind the first: 5 is lane 0, 2 and 3 follow. */
    parse("00a0 0000000d 1 R12 LDG.E.SYS 1 R2 4 2 0x100 16 -32 9", &version5);
    assert_int_equal(line.address[0], 0x100);
    assert_int_equal(line.address[2], 0x110);
    assert_int_equal(line.address[3], 0xf0);
    assert_int_equal(line.immediate, 9);
    /* No thread: no address but the base. */
    parse("00a0 00000000 1 R12 LDG.E.SYS 1 R2 4 2 0x0 3", &version5);
    assert_int_equal(line.immediate, 3);
}

static void what_stands_before_the_address_depends_on_the_tracer(void **state)
{
    static const struct gt_accelsim_header version2 = { .version = 2 },
                                           numbered = { .version = 5, .line_info = true };

    (void)state;
    parse("3 0 0 1 0040 ffffffff 0 EXIT 0 0", &version2);
    assert_int_equal(line.pc, 0x40);
    parse("118 0040 ffffffff 0 EXIT 0 0 0", &numbered);
    assert_int_equal(line.pc, 0x40);
}

static void version_6_has_more_of_products_and_copies(void **state)
{
    (void)state;
    parse("0010 ffffffff 1 R24 HGMMA.64x128x16.F32 3 R24 UR4 UR8 1 0 5 0 NoVal", &version6);
    assert_int_equal(line.immediate, 5);
    assert_int_equal(line.width_bytes, 0);
    parse("0020 00000001 0 UTMALDG.2D 2 UR8 UR4 128 0x7f00 0 4096 0 4 0x1000 3 128 -64 0 0 NoVal", &version6);
    assert_true(line.bulk);
    assert_int_equal(line.bulk_bytes, 4096);
    assert_int_equal(line.bulk_count, 3);
    assert_int_equal(line.bulk_address[2], 0x1040);
    parse("0020 00000001 0 UBLKCP.S.G 2 UR8 UR4 16 3 2 0x1000 0x2000 0", &version5);
    assert_int_equal(line.bulk_bytes, 32);
    assert_int_equal(line.bulk_address[1], 0x2000);
}

static void version_6_has_a_second_immediate(void **state)
{
    (void)state;
    parse("0010 ffffffff 0 BAR.SYNC 0 0 1 128 NoVal", &version6);
    assert_int_equal(line.immediate, 1);
    assert_int_equal(line.immediate2, 128);
    parse("0010 ffffffff 0 BAR.SYNC 0 0 1 NoVal", &version6);
    assert_int_equal(line.immediate2, 0);
    parse("0010 ffffffff 0 BAR.SYNC 0 0 1 128", &version5);
    assert_int_equal(line.immediate2, 0);
}

static void fields_are_split(void **state)
{
    struct gt_accelsim_fields fields;

    (void)state;
    parse("0000 ffffffff 2 R4 P0 IADD3 3 R2 R255 UR4 0 12 Val 1 0x0", &version6);
    gt_accelsim_fields_split(line.fields, &fields);
    assert_int_equal(fields.results, 2);
    assert_int_equal(fields.sources, 3);
    assert_memory_equal(fields.opcode.text, "IADD3", fields.opcode.length);
    assert_memory_equal(fields.source[2].text, "UR4", 3);
    assert_int_equal(line.fields_length, strlen("2 R4 P0 IADD3 3 R2 R255 UR4"));
}

static void broken_lines_say_why(void **state)
{
    (void)state;
    refused("", &version5, "no instruction");
    refused("hello world", &version5, "no instruction");
    refused("0000 fffffffff 0 EXIT 0 0", &version5, "no instruction");
    refused("0000 ffffffff 99 EXIT 0 0", &version5, "number of registers");
    refused("0000 ffffffff 2 R1", &version5, "ends before its registers");
    refused("0000 ffffffff 0 0 0 0", &version5, "no opcode");
    refused("0000 ffffffff 0 EXIT 0", &version5, "no width");
    refused("0000 00000003 1 R0 LDG 1 R2 4 0 0x10", &version5, "fewer addresses");
    refused("0000 00000003 1 R0 LDG 1 R2 4 7 0x10", &version5, "mode 7");
    refused("0000 00000003 0 UTMALDG 1 UR4 4 3 99999999999 0x0", &version5, "fewer addresses");
    refused("0000 ffffffffffffffffffff 0 EXIT 0 0", &version5, "no instruction");
    /* 1 MiB and one byte more; 20 addresses of 65535 bytes. */
    parse("0000 00000001 0 UBLKCP.S.G 2 UR8 UR4 16 0x0 0 1048576 0 3 1 0x1000 0", &version6);
    refused("0000 00000001 0 UBLKCP.S.G 2 UR8 UR4 16 0x0 0 1048577 0 3 1 0x1000 0", &version6, "1048577 bytes");
    refused("0000 00000001 0 UBLKCP.S.G 2 UR8 UR4 65535 3 20 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", &version5,
            "1310700 bytes");
}

/* Thread i at base + stride * i. */
static void at(uint64_t base, uint64_t stride, uint32_t mask)
{
    line.mask = mask;
    for (uint64_t i = 0; i < GT_ACCELSIM_LANES; i++)
        line.address[i] = base + stride * i;
}

static void global_memory_is_asked_for_sectors(void **state)
{
    struct gt_accelsim_access access;

    (void)state;
    at(0x1000, 4, UINT32_MAX); /* 128 bytes in a row */
    gt_accelsim_access_global(&line, 4, &access);
    assert_int_equal(access.lines, 1);
    assert_int_equal(access.sectors[0], 15);
    assert_int_equal(access.sector_count, 4);
    assert_int_equal(access.sectors_ideal, 4);
    at(0x1010, 4, UINT32_MAX); /* half a sector further: five sectors in two lines, of which four would do */
    gt_accelsim_access_global(&line, 4, &access);
    assert_int_equal(access.lines, 2);
    assert_int_equal(access.sector_count, 5);
    assert_int_equal(access.sectors_ideal, 4);
    at(0x1000, 0, UINT32_MAX); /* all the same */
    gt_accelsim_access_global(&line, 4, &access);
    assert_int_equal(access.sector_count, 1);
    assert_int_equal(access.sectors_ideal, 1);
    at(0x1000, 4096, UINT32_MAX); /* each elsewhere */
    gt_accelsim_access_global(&line, 16, &access);
    assert_int_equal(access.lines, 32);
    assert_int_equal(access.sector_count, 32);
    assert_int_equal(access.sectors_ideal, 16);
    at(UINT64_MAX - 2, 0, 1); /* beyond the end of memory */
    gt_accelsim_access_global(&line, 4, &access);
    assert_int_equal(access.lines, 0);
}

/* Addresses of words 4 bytes apart from `base` on, by thread; all threads take part. */
static void put_words(uint64_t base, unsigned modulo)
{
    line.mask = UINT32_MAX;
    for (unsigned lane = 0; lane < GT_ACCELSIM_LANES; lane++)
        line.address[lane] = base + 4ull * (lane % modulo);
}

static void atomics_on_a_word_follow_each_other(void **state)
{
    struct gt_accelsim_access access;
    uint8_t repeats[GT_ACCELSIM_MOST_LINES];

    (void)state;
    put_words(0x1000, 1); /* all on one: 32 operations */
    gt_accelsim_access_global(&line, 4, &access);
    gt_accelsim_access_repeats(&line, &access, repeats);
    assert_int_equal(access.lines, 1);
    assert_int_equal(repeats[0], 31);
    put_words(0x1000, 8); /* four on each word of a sector, which is changed four times */
    gt_accelsim_access_global(&line, 4, &access);
    gt_accelsim_access_repeats(&line, &access, repeats);
    assert_int_equal(repeats[0], 3);
    put_words(0x1000, 32);
    gt_accelsim_access_global(&line, 4, &access);
    gt_accelsim_access_repeats(&line, &access, repeats);
    assert_int_equal(repeats[0], 0);
    /* Of one sector a word twice and another one once, of the next a word three times: 1 + 2 more than sectors. */
    line.mask = 0x3f;
    for (int lane = 0; lane < 6; lane++)
        line.address[lane] = lane < 2 ? 0x1000 : lane == 2 ? 0x1004 : 0x1020;
    gt_accelsim_access_global(&line, 4, &access);
    gt_accelsim_access_repeats(&line, &access, repeats);
    assert_int_equal(access.lines, 1);
    assert_int_equal(repeats[0], 3);
}

static void local_memory_lies_thread_by_thread(void **state)
{
    struct gt_accelsim_access access;

    (void)state;
    at(0x7f00000ffc00, 0, UINT32_MAX); /* the same offset: a line for all 32 words */
    gt_accelsim_access_local(&line, 4, 3, &access);
    assert_int_equal(access.lines, 1);
    assert_int_equal(access.sector_count, 4);
    gt_accelsim_access_local(&line, 8, 3, &access);
    assert_int_equal(access.lines, 2);
    assert_int_equal(access.sectors_ideal, 8);
}

static void shared_memory_has_banks(void **state)
{
    struct gt_accelsim_access access;

    (void)state;
    at(0, 4, UINT32_MAX);
    gt_accelsim_access_shared(&line, 4, false, &access);
    assert_int_equal(access.wavefronts, 1);
    at(0, 8, UINT32_MAX); /* every second bank twice */
    gt_accelsim_access_shared(&line, 4, false, &access);
    assert_int_equal(access.wavefronts, 2);
    assert_int_equal(access.wavefronts_ideal, 1);
    at(0, 128, UINT32_MAX);
    gt_accelsim_access_shared(&line, 4, false, &access);
    assert_int_equal(access.wavefronts, 32);
    at(0, 0, UINT32_MAX); /* one word for all */
    gt_accelsim_access_shared(&line, 4, false, &access);
    assert_int_equal(access.wavefronts, 1);
    at(0, 8, UINT32_MAX); /* 16 threads of 8 bytes at once */
    gt_accelsim_access_shared(&line, 8, false, &access);
    assert_int_equal(access.wavefronts, 2);
    assert_int_equal(access.wavefronts_ideal, 2);
    at(0, 16, UINT32_MAX); /* four matrices, eight rows of 16 bytes each */
    gt_accelsim_access_shared(&line, 16, true, &access);
    assert_int_equal(access.wavefronts, 4);
    at(0, 128, UINT32_MAX); /* all rows in the same four banks */
    gt_accelsim_access_shared(&line, 4, true, &access);
    assert_int_equal(access.wavefronts, 8);
    assert_int_equal(access.wavefronts_ideal, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_come_in_three_modes),
        cmocka_unit_test(what_stands_before_the_address_depends_on_the_tracer),
        cmocka_unit_test(version_6_has_more_of_products_and_copies),
        cmocka_unit_test(version_6_has_a_second_immediate),
        cmocka_unit_test(fields_are_split),
        cmocka_unit_test(broken_lines_say_why),
        cmocka_unit_test(global_memory_is_asked_for_sectors),
        cmocka_unit_test(atomics_on_a_word_follow_each_other),
        cmocka_unit_test(local_memory_lies_thread_by_thread),
        cmocka_unit_test(shared_memory_has_banks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
