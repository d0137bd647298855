/* device_value.h - one value of a device's key table, from text and to text. */
#ifndef GRIDTIDE_SIM_DEVICES_DEVICE_VALUE_H
#define GRIDTIDE_SIM_DEVICES_DEVICE_VALUE_H

#include "sim/devices/device.h"

/* Read `text` into the field of `device` that `key` names. Returns -1 with what is wrong with the
 * value, the field as it was. */
int gt_device_value_parse(struct gt_device *device, const struct gt_device_key *key, const char *text,
                          struct gt_error *error);
/* Write the field as text that gt_device_value_parse takes back exactly. */
void gt_device_value_format(const struct gt_device *device, const struct gt_device_key *key, char *text,
                            size_t bytes);

#endif
