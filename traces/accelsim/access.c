/* access.c - sectors, lines and passes of an instruction's addresses. */
#include <string.h>

#include "traces/accelsim/internal.h"

enum { WORD_BYTES = 4, BANKS = 32, ROW_BYTES = 16 /* of a matrix */, MATRIX_ROWS = 8, MOST_WIDTH_BYTES = 16 };

/* Bytes first .. last of memory. */
static void add_bytes(struct gt_accelsim_access *access, uint64_t first, uint64_t last)
{
    for (uint64_t sector = first / GT_SECTOR_BYTES; sector <= last / GT_SECTOR_BYTES; sector++) {
        uint64_t line = sector / (GT_LINE_BYTES / GT_SECTOR_BYTES);
        uint8_t bit = (uint8_t)(1u << sector % (GT_LINE_BYTES / GT_SECTOR_BYTES));
        uint32_t i = access->lines;

        /* The line is mostly the last one. */
        while (i > 0 && access->line[i - 1] != line)
            i--;
        if (i == 0) {
            if (access->lines == GT_ACCELSIM_MOST_LINES)
                return;
            i = ++access->lines;
            access->line[i - 1] = line;
            access->sectors[i - 1] = 0;
        }
        access->sectors[i - 1] |= bit;
    }
}

static void count_sectors(struct gt_accelsim_access *access)
{
    access->sector_count = 0;
    for (uint32_t i = 0; i < access->lines; i++)
        access->sector_count += (uint32_t)__builtin_popcount(access->sectors[i]);
}

static void insert(uint64_t *sorted, uint32_t count, uint64_t value)
{
    uint32_t at = count;

    for (; at > 0 && sorted[at - 1] > value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

/* Sectors that as many different bytes fill. */
static uint32_t ideal(const struct gt_accelsim_line *line, uint32_t width)
{
    uint64_t sorted[GT_ACCELSIM_LANES] = { 0 }, bytes = 0, end = 0;
    uint32_t count = 0;

    for (int lane = 0; lane < GT_ACCELSIM_LANES; lane++)
        if ((line->mask >> lane & 1) != 0)
            insert(sorted, count++, line->address[lane]);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t from = i > 0 && sorted[i] < end ? end : sorted[i], to = sorted[i] + width;

        bytes += to > from ? to - from : 0;
        end = to;
    }
    return (uint32_t)((bytes + GT_SECTOR_BYTES - 1) / GT_SECTOR_BYTES);
}

static uint32_t width_of(uint32_t width_bytes)
{
    return width_bytes == 0 ? WORD_BYTES : width_bytes > MOST_WIDTH_BYTES ? MOST_WIDTH_BYTES : width_bytes;
}

void gt_accelsim_access_global(const struct gt_accelsim_line *line, uint32_t width_bytes,
                               struct gt_accelsim_access *access)
{
    uint32_t width = width_of(width_bytes);

    access->lines = access->wavefronts = access->wavefronts_ideal = 0;
    for (int lane = 0; lane < GT_ACCELSIM_LANES; lane++)
        if ((line->mask >> lane & 1) != 0 && line->address[lane] <= UINT64_MAX - width)
            add_bytes(access, line->address[lane], line->address[lane] + width - 1);
    count_sectors(access);
    access->sectors_ideal = ideal(line, width);
}

void gt_accelsim_access_repeats(const struct gt_accelsim_line *line, const struct gt_accelsim_access *access,
                                uint8_t *repeats)
{
    uint8_t most[GT_ACCELSIM_MOST_LINES][GT_LINE_BYTES / GT_SECTOR_BYTES] = { 0 };

    memset(repeats, 0, access->lines);
    for (int lane = 0; lane < GT_ACCELSIM_LANES; lane++) {
        uint64_t word = line->address[lane] / WORD_BYTES, sector = line->address[lane] / GT_SECTOR_BYTES;
        uint8_t before = 0; /* threads that change the same word first */
        uint32_t i = 0;

        if ((line->mask >> lane & 1) == 0)
            continue;
        for (int other = 0; other < lane; other++)
            before += (line->mask >> other & 1) != 0 && line->address[other] / WORD_BYTES == word;
        while (i < access->lines && access->line[i] != line->address[lane] / GT_LINE_BYTES)
            i++;
        if (i == access->lines || before <= most[i][sector % (GT_LINE_BYTES / GT_SECTOR_BYTES)])
            continue;
        repeats[i] += (uint8_t)(before - most[i][sector % (GT_LINE_BYTES / GT_SECTOR_BYTES)]);
        most[i][sector % (GT_LINE_BYTES / GT_SECTOR_BYTES)] = before;
    }
}

void gt_accelsim_access_local(const struct gt_accelsim_line *line, uint32_t width_bytes, uint64_t warp,
                              struct gt_accelsim_access *access)
{
    enum { OFFSET_BITS = 24 };
    uint32_t width = width_of(width_bytes), words = (width + WORD_BYTES - 1) / WORD_BYTES;
    uint32_t threads = (uint32_t)__builtin_popcount(line->mask);

    access->lines = access->wavefronts = access->wavefronts_ideal = 0;
    for (int lane = 0; lane < GT_ACCELSIM_LANES; lane++)
        for (uint32_t w = 0; (line->mask >> lane & 1) != 0 && w < words; w++) {
            uint64_t word = (line->address[lane] / WORD_BYTES + w) & ((1u << OFFSET_BITS) - 1);
            uint64_t at = (warp << OFFSET_BITS | word) * GT_LINE_BYTES + (uint64_t)lane * WORD_BYTES;

            add_bytes(access, at, at + WORD_BYTES - 1);
        }
    count_sectors(access);
    access->sectors_ideal = (threads * words * WORD_BYTES + GT_SECTOR_BYTES - 1) / GT_SECTOR_BYTES;
}

/* Passes of some threads at once: the bank of which most distinct words are wanted.  `distinct_words`: in all. */
static uint32_t bank_passes(const uint64_t *words, uint32_t count, uint32_t *distinct_words)
{
    uint64_t sorted[GT_ACCELSIM_LANES * ROW_BYTES / WORD_BYTES];
    uint8_t of_bank[BANKS] = { 0 };
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        insert(sorted, i, words[i]);
    *distinct_words = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        (*distinct_words)++;
        if (++of_bank[sorted[i] % BANKS] > most)
            most = of_bank[sorted[i] % BANKS];
    }
    return most;
}

void gt_accelsim_access_shared(const struct gt_accelsim_line *line, uint32_t width_bytes, bool matrices,
                               struct gt_accelsim_access *access)
{
    uint32_t width = matrices ? ROW_BYTES : width_of(width_bytes), words_each = (width + WORD_BYTES - 1) / WORD_BYTES;
    uint32_t group = GT_ACCELSIM_LANES / words_each, all = 0; /* threads that are served at once */
    uint32_t lanes = matrices ? MATRIX_ROWS * width_of(width_bytes) / WORD_BYTES : GT_ACCELSIM_LANES;

    access->lines = access->sector_count = access->sectors_ideal = access->wavefronts = 0;
    for (uint32_t first = 0; first < lanes; first += group) {
        uint64_t words[GT_ACCELSIM_LANES * ROW_BYTES / WORD_BYTES];
        uint32_t count = 0, distinct_words;

        for (uint32_t lane = first; lane < first + group; lane++)
            for (uint32_t w = 0; (line->mask >> lane & 1) != 0 && w < words_each; w++)
                words[count++] = line->address[lane] / WORD_BYTES + w;
        access->wavefronts += bank_passes(words, count, &distinct_words);
        all += distinct_words;
    }
    access->wavefronts_ideal = (all + BANKS - 1) / BANKS;
}
