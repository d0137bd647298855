/* rpd.h - the importer of databases of rocmProfileData (NAME.rpd). */
#ifndef GRIDTIDE_TRACES_ROCPD_RPD_H
#define GRIDTIDE_TRACES_ROCPD_RPD_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_rpd;

#endif
