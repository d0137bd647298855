# The program: main.c holds the command table, every command is one file.
bin_PROGRAMS += gridtide
gridtide_SOURCES = \
    sim/cmd/cmd.h \
    sim/cmd/main.c
gridtide_LDADD = $(GRIDTIDE_LIBS)
