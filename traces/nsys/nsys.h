/* nsys.h - Nsight Systems reports, exported as SQLite (schema 2.9 to 3.25). */
#ifndef GRIDTIDE_TRACES_NSYS_NSYS_H
#define GRIDTIDE_TRACES_NSYS_NSYS_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_nsys;

#endif
