/* recorded.h - the importer of what `gridtide record` leaves: a folder with a file a process, or one such file. */
#ifndef GRIDTIDE_TRACES_RECORDED_RECORDED_H
#define GRIDTIDE_TRACES_RECORDED_RECORDED_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_recorded;

#endif
