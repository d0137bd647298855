# The simulator: no file format, no database, no terminal, no CUDA.
noinst_LIBRARIES += sim/libsim.a
sim_libsim_a_SOURCES = \
    sim/device.c sim/device.h \
    sim/device_keys.c \
    sim/device_value.c sim/device_value.h \
    sim/error.c sim/error.h \
    sim/probe.h \
    sim/simulate.h \
    sim/workload.c sim/workload.h

# Device files, found at run time by gt_data_path().
devicesdir = $(pkgdatadir)/devices
dist_devices_DATA = \
    sim/devices/a100.ini sim/devices/h100.ini sim/devices/h200.ini \
    sim/devices/toy.ini sim/devices/v100.ini
