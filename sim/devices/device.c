/* device.c - a device by its keys: set, get, and whether it makes sense as a whole. */
#include "sim/devices/device.h"

#include <stdio.h>
#include <string.h>

#include "sim/devices/links.h"

const struct gt_key *gt_device_find_key(const char *key)
{
    return gt_key_find(&gt_device_table, key);
}

void gt_device_init(struct gt_device *device)
{
    struct gt_error error;
    memset(device, 0, sizeof(*device));
    for (size_t i = 0; i < gt_device_key_count; i++)
        if (gt_key_parse(device, &gt_device_keys[i], gt_device_keys[i].fallback, &error) != 0)
            gt_bug("default of %s", error.text);
}

int gt_device_set(struct gt_device *device, const char *key, const char *value, struct gt_error *error)
{
    const struct gt_key *row = gt_device_find_key(key);
    if (row == NULL)
        return gt_key_unknown(&gt_device_table, key, error);
    uint32_t sms = device->sms;
    if (gt_key_parse(device, row, value, error) != 0)
        return -1;
    if (device->sms != sms)
        device->gpcs = device->small_cpcs = device->sm_order_length = 0;
    return 0;
}

void gt_device_get(const struct gt_device *device, const struct gt_key *key, char *text, size_t bytes)
{
    gt_key_format(device, key, text, bytes);
}

static size_t value_bytes(const struct gt_key *key)
{
    switch (key->type) {
    case GT_KEY_TEXT: return key->count_offset;
    case GT_KEY_U32_LIST: return key->room * sizeof(uint32_t);
    case GT_KEY_U32:
    case GT_KEY_I32: return sizeof(uint32_t);
    default: return sizeof(uint64_t); /* bytes, times, rates */
    }
}

void gt_device_take_key(struct gt_device *to, const struct gt_device *from, const struct gt_key *key)
{
    memcpy((char *)to + key->offset, (const char *)from + key->offset, value_bytes(key));
    if (key->type == GT_KEY_U32_LIST)
        memcpy((char *)to + key->count_offset, (const char *)from + key->count_offset, sizeof(uint32_t));
}

bool gt_device_same_key(const struct gt_device *one, const struct gt_device *other, const struct gt_key *key)
{
    char first[GT_DEVICE_VALUE_BYTES], second[GT_DEVICE_VALUE_BYTES];

    gt_device_get(one, key, first, sizeof first);
    gt_device_get(other, key, second, sizeof second);
    return strcmp(first, second) == 0;
}

/* What is assigned in turn: pairs of GPCs with several, those of GPCs with one, SMs without another. */
enum turn { PAIRS, LONE_PAIRS, SINGLE_SMS, TURNS };

/* One round: to each GPC that has any left a pair, or an SM. */
static uint32_t deal_round(const struct gt_device *device, uint32_t *left, enum turn turn, uint32_t sm, uint8_t *gpc)
{
    uint32_t count = turn == SINGLE_SMS ? 1 : 2;

    for (uint32_t i = 0; i < device->gpcs; i++) {
        if (left[i] < count || (turn == PAIRS && device->gpc_sms[i] <= 2))
            continue;
        memset(gpc + sm, (int)i, count);
        sm += count;
        left[i] -= count;
    }
    return sm;
}

void gt_device_assign_gpcs(const struct gt_device *device, uint8_t *gpc)
{
    uint32_t left[GT_DEVICE_MAX_GPCS], sm = 0;

    memset(gpc, 0, device->sms);
    memcpy(left, device->gpc_sms, sizeof left);
    for (int turn = 0; turn < TURNS && device->gpcs > 0; turn++) {
        uint32_t before;

        do {
            before = sm;
            sm = deal_round(device, left, (enum turn)turn, sm, gpc);
        } while (sm > before);
    }
}

static int check_gpcs(const struct gt_device *device, struct gt_error *error)
{
    uint64_t sms = 0;
    for (uint32_t i = 0; i < device->gpcs; i++)
        sms += device->gpc_sms[i];
    if (device->gpcs > 0 && sms != device->sms)
        return gt_error_set(error, "chip.gpc_sms sums up to %llu SMs, chip.sms is %u", (unsigned long long)sms,
                            device->sms);
    return 0;
}

static int check_carveouts(const struct gt_device *device, struct gt_error *error)
{
    for (uint32_t i = 1; i < device->shared_carveouts; i++) {
        if (device->shared_carveouts_kib[i] <= device->shared_carveouts_kib[i - 1])
            return gt_error_set(error, "sm.shared_carveouts_kib: %u follows %u; list them in ascending order",
                                device->shared_carveouts_kib[i], device->shared_carveouts_kib[i - 1]);
    }
    return 0;
}

static int check_products(const struct gt_device *device, struct gt_error *error)
{
    const struct gt_product_costs *costs = &device->product;

    if (costs->plain_row_count != costs->plain_column_count)
        return gt_error_set(error, "product.plain_rows has %u numbers, product.plain_columns %u: one each a tile",
                            costs->plain_row_count, costs->plain_column_count);
    if (costs->plain_row_count == 0 || costs->long_side_count == 0 || costs->short_side_count == 0 ||
        costs->split_count == 0)
        return gt_error_set(error, "product.plain_rows, long_sides, short_sides and splits: one number at least");
    return 0;
}

/* A list of SMs, each of the device's and named once. */
static int check_sms(const struct gt_device *device, const char *key, const uint32_t *list, uint32_t count,
                     struct gt_error *error)
{
    bool seen[GT_DEVICE_MAX_SMS] = { false };
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sm = list[i];
        if (sm >= device->sms)
            return gt_error_set(error, "%s names SM %u, the last one is %u (chip.sms)", key, sm, device->sms - 1);
        if (seen[sm])
            return gt_error_set(error, "%s names SM %u twice", key, sm);
        seen[sm] = true;
    }
    return 0;
}

static int check_order(const struct gt_device *device, struct gt_error *error)
{
    if (check_sms(device, "chip.small_cpc_sms", device->small_cpc_sms, device->small_cpcs, error) != 0)
        return -1;
    if (device->sm_order_length == 0)
        return 0;
    if (check_sms(device, "chip.sm_order", device->sm_order, device->sm_order_length, error) != 0)
        return -1;
    if (device->sm_order_length != device->sms)
        return gt_error_set(error, "chip.sm_order names %u of the %u SMs (chip.sms)", device->sm_order_length,
                            device->sms);
    return 0;
}

int gt_device_check(const struct gt_device *device, struct gt_error *error)
{
    if (device->threads_per_block > device->threads_per_sm)
        return gt_error_set(error, "block.threads %u is above sm.threads %u: such a block fits no SM",
                            device->threads_per_block, device->threads_per_sm);
    if ((uint64_t)device->threads_per_sm > (uint64_t)device->warps_per_sm * device->warp_threads)
        return gt_error_set(error, "sm.threads %u is more than sm.warps %u of sm.warp_threads %u hold",
                            device->threads_per_sm, device->warps_per_sm, device->warp_threads);
    if ((uint64_t)device->shared_bytes_per_block + device->shared_reserved_bytes > device->shared_bytes_per_sm)
        return gt_error_set(error,
                            "block.shared_bytes %u and sm.shared_reserved_bytes %u are more than "
                            "sm.shared_bytes %u: such a block fits no SM",
                            device->shared_bytes_per_block, device->shared_reserved_bytes,
                            device->shared_bytes_per_sm);
    if (device->register_unit_per_warp > device->registers_per_sm)
        return gt_error_set(error, "sm.register_unit_per_warp %u is above sm.registers %u: no warp fits an SM",
                            device->register_unit_per_warp, device->registers_per_sm);
    if (check_gpcs(device, error) != 0 || check_carveouts(device, error) != 0 || check_products(device, error) != 0 ||
        gt_links_check(device, error) != 0)
        return -1;
    return check_order(device, error);
}
