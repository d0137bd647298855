/* export_chakra.c - a recording as execution traces of MLCommons Chakra, a file a rank. */
#include "traces/chakra/chakra.h"
#include "traces/export/export.h"

const struct gt_exporter gt_exporter_chakra = {
    .name = "chakra",
    .help = "execution traces of MLCommons Chakra, for ASTRA-sim and others: of a recorded TRACE, PREFIX.RANK.et for "
            "each "
            "process, with the order of streams, events, synchronisations and host calls as dependences",
    .write_trace = gt_chakra_write,
};
