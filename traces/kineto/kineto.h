/* kineto.h - profiles of PyTorch's profiler (libkineto): Chrome-trace JSON. */
#ifndef GRIDTIDE_TRACES_KINETO_KINETO_H
#define GRIDTIDE_TRACES_KINETO_KINETO_H

#include "traces/import/importer.h"

/* Its errors read "PATH: byte N: ...", N counting the bytes of the uncompressed text.  A profile
 * without GPU work is read, with a warning. */
extern const struct gt_importer gt_importer_kineto;

#endif
