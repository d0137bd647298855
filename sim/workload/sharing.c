#include "sim/workload/sharing.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *const gt_share_names[GT_SHARES] = { "", "sliced", "mps", "green", "mig" };

enum { SMS_MOST = 1024 };

/* "3g", or with its memory "3g.40gb": the compute slices; 0: no profile is called so. */
static uint32_t mig_slices(const char *text, size_t length)
{
    uint32_t slices =
        length >= 2 && text[1] == 'g' && text[0] >= '1' && text[0] <= '7' ? (uint32_t)(text[0] - '0') : 0;
    size_t digits = 0;

    if (slices == 5 || slices == 6)
        return 0;
    if (length <= 2)
        return slices;
    while (3 + digits < length && text[3 + digits] >= '0' && text[3 + digits] <= '9')
        digits++;
    return text[2] == '.' && digits > 0 && length == 3 + digits + 2 && memcmp(text + 3 + digits, "gb", 2) == 0
               ? slices
               : 0;
}

/* The number behind the colon: 1 to `most`, and nothing behind it. */
static bool number_in(const char *text, size_t length, uint32_t most, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *number > most)
            return false;
        *number = *number * 10 + (uint32_t)(text[i] - '0');
    }
    return *number >= 1 && *number <= most;
}

int gt_sharing_parse(const char *text, size_t length, struct gt_sharing *sharing, struct gt_error *error)
{
    const char *colon = memchr(text, ':', length);
    size_t name = colon != NULL ? (size_t)(colon - text) : length, rest = colon != NULL ? length - name - 1 : 0;
    uint32_t number;

    *sharing = (struct gt_sharing){ .how = GT_SHARE_SLICED };
    while (sharing->how < GT_SHARES &&
           (strlen(gt_share_names[sharing->how]) != name || memcmp(gt_share_names[sharing->how], text, name) != 0))
        sharing->how++;
    if (sharing->how == GT_SHARES || (sharing->how == GT_SHARE_SLICED && colon != NULL))
        return gt_error_set(
            error, "'%.*s' is no way to share a GPU; there are sliced, mps, mps:PERCENT, green:SMS, mig:PROFILE",
            (int)length, text);
    if (sharing->how == GT_SHARE_MPS && colon != NULL) {
        if (!number_in(colon + 1, rest, 100, &number))
            return gt_error_set(error, "'%.*s': the percentage of an MPS client is a whole number from 1 to 100",
                                (int)length, text);
        sharing->percent = (uint8_t)number;
    }
    if (sharing->how == GT_SHARE_GREEN) {
        if (colon == NULL || !number_in(colon + 1, rest, SMS_MOST, &number))
            return gt_error_set(error, "'%.*s': a green context needs its number of SMs, as in green:32", (int)length,
                                text);
        sharing->green_sms = (uint16_t)number;
    }
    if (sharing->how == GT_SHARE_MIG) {
        sharing->mig_slices = (uint8_t)(colon != NULL ? mig_slices(colon + 1, rest) : 0);
        if (sharing->mig_slices == 0)
            return gt_error_set(error, "'%.*s': an instance needs its profile, mig:1g, 2g, 3g, 4g or 7g", (int)length,
                                text);
    }
    return 0;
}

int gt_sharing_parse_all(const char *text, struct gt_sharing *sharings, uint32_t count, struct gt_error *error)
{
    size_t name = strcspn(text, ":") + (strchr(text, ':') != NULL), numbers = 1;
    const char *at = text + name;

    for (const char *c = at; *c != '\0'; c++)
        numbers += *c == ',';
    if (numbers > 1 && numbers != count)
        return gt_error_set(error, "'%s' has %zu numbers for %u processes", text, numbers, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ",");
        char one[64];

        if (name + length >= sizeof one)
            return gt_error_set(error, "'%s' is too long", text);
        snprintf(one, sizeof one, "%.*s%.*s", (int)name, text, (int)length, at);
        if (gt_sharing_parse(one, strlen(one), &sharings[i], error) != 0)
            return -1;
        if (numbers > 1)
            at += length + (at[length] == ',');
    }
    return 0;
}

void gt_sharing_text(const struct gt_sharing *sharing, char text[GT_SHARING_TEXT_BYTES])
{
    unsigned number;

    if (sharing->how == GT_SHARE_MIG) {
        snprintf(text, GT_SHARING_TEXT_BYTES, "mig:%ug", sharing->mig_slices);
        return;
    }
    number = sharing->how == GT_SHARE_GREEN ? sharing->green_sms : sharing->percent;

    snprintf(text, GT_SHARING_TEXT_BYTES, number > 0 ? "%s:%u" : "%s", gt_share_names[sharing->how], number);
}
