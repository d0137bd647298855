# The report: gnuplot templates and what fills them.
noinst_LIBRARIES += plots/libplots.a
plots_libplots_a_SOURCES = \
    plots/fig_copies.c \
    plots/fig_errors.c \
    plots/fig_kernels.c \
    plots/fig_placement.c \
    plots/fig_sms.c \
    plots/fig_suite.c \
    plots/fig_timeline.c \
    plots/figure.c plots/figure.h \
    plots/folder.c plots/folder.h \
    plots/gnuplot.c plots/gnuplot.h \
    plots/kernels.c plots/kernels.h \
    plots/page.c plots/page.h plots/page_answer.c plots/page_kernels.c plots/page_tables.c \
    plots/page_table.c plots/page_table.h \
    plots/palette.c plots/palette.h \
    plots/report.c plots/report.h \
    plots/residency.c plots/residency.h \
    plots/text.c plots/text.h \
    plots/units.c plots/units.h \
    plots/view.c plots/view.h

plotsdir = $(pkgdatadir)/plots
dist_plots_DATA = \
    plots/copies.gp plots/cycles.gp plots/errors.gp plots/families.gp plots/placement.gp plots/report.css \
    plots/roofline.gp plots/sms.gp plots/stalls.gp plots/style.gp plots/suite.gp \
    plots/timeline.gp plots/warps.gp
EXTRA_DIST += plots/example.png
