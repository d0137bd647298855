/* export_accelsim.c - kernels with programs as a trace of executed instructions for Accel-Sim. */
#include "traces/accelsim/accelsim.h"
#include "traces/export/export.h"

const struct gt_exporter gt_exporter_accelsim = {
    .name = "accelsim",
    .help = "a trace for Accel-Sim, in the folder that -o names: of a TRACE of kernels with programs, as import ncu "
            "makes it, kernelslist.g and the executed instructions of each kernel; paths and counts are as profiled, "
            "addresses are made up so that sectors, conflicts and hit rates are",
    .write_trace = gt_accelsim_write,
};
