/* cmd.h - the commands of the program: one file a command, one row a command. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_CMD_H
#define GRIDTIDE_SIM_CMD_INPUT_CMD_H

#include "sim/cmd/input/common.h"

struct gt_command {
    const char *name;
    const char *summary;               /* a line for `gridtide --help` */
    int (*run)(int argc, char **argv); /* argv[0] is "gridtide NAME"; returns an exit status */
};

extern const struct gt_command gt_command_import, gt_command_run, gt_command_stats, gt_command_compare,
    gt_command_export, gt_command_report, gt_command_devices, gt_command_validate, gt_command_calibrate,
    gt_command_explain, gt_command_check, gt_command_whatif, gt_command_diff, gt_command_sweep, gt_command_schedule,
    gt_command_record, gt_command_serve, gt_command_batch;

#endif
