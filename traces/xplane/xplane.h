/* xplane.h - profiles of JAX and TensorFlow (NAME.xplane.pb). */
#ifndef GRIDTIDE_TRACES_XPLANE_XPLANE_H
#define GRIDTIDE_TRACES_XPLANE_XPLANE_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_xplane;

#endif
