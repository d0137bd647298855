# The manual: one page for the program, one a command.
dist_man_MANS += \
    sim/cmd/man/gridtide.1 \
    sim/cmd/man/gridtide-calibrate.1 \
    sim/cmd/man/gridtide-compare.1 \
    sim/cmd/man/gridtide-devices.1 \
    sim/cmd/man/gridtide-explain.1 \
    sim/cmd/man/gridtide-export.1 \
    sim/cmd/man/gridtide-import.1 \
    sim/cmd/man/gridtide-report.1 \
    sim/cmd/man/gridtide-run.1 \
    sim/cmd/man/gridtide-stats.1 \
    sim/cmd/man/gridtide-validate.1
