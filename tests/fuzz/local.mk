# Readers against damaged files: some thousand in `make check`, 100,000 for each reader in `make fuzz`.
check_PROGRAMS += tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = tests/fuzz/fuzz.c tests/fuzz/mutation.c tests/fuzz/mutation.h
tests_fuzz_fuzz_LDADD = $(GRIDTIDE_LIBS)
FUZZ_SAMPLES = \
    tests/fuzz/samples/chakra.et \
    tests/fuzz/samples/chakra_recorded.et \
    tests/fuzz/samples/kernel.traceg \
    tests/fuzz/samples/kernel.tracez \
    tests/fuzz/samples/kernelslist.g \
    tests/fuzz/samples/kineto.json \
    tests/fuzz/samples/ranks.json \
    tests/fuzz/samples/ranks_beside.json \
    tests/fuzz/samples/ir.json \
    tests/fuzz/samples/proton.json \
    tests/fuzz/samples/nsys.sql \
    tests/fuzz/samples/record.gtrecord.gz \
    tests/fuzz/samples/slices.pftrace \
    tests/fuzz/samples/step.xplane.pb \
    tests/fuzz/samples/task_graph.json \
    tests/fuzz/samples/tasks.jsonl \
    tests/fuzz/samples/text.gz \
    tests/fuzz/samples/text.xz \
    tests/fuzz/samples/text.zst \
    tests/fuzz/samples/trace.jsonl
FUZZ_TESTS = tests/fuzz.sh
EXTRA_DIST += $(FUZZ_SAMPLES)

.PHONY: fuzz
fuzz: all tests/fuzz/fuzz
	@$(AM_TESTS_ENVIRONMENT) FUZZ_COUNT=$${FUZZ_COUNT-100000} $(SHELL) $(top_srcdir)/tests/fuzz.sh
