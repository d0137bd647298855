# How near Gridtide comes to what GPUs were recorded to do: tables in tests/accuracy, under version control. A change of the model
# that moves a number comes with `tests/accuracy/table.sh write GROUP`, and says why.

load figures_helpers

setup()
{
    for tool in zstd sqlite3 jq python3; do
        command -v $tool > /dev/null || skip "$tool is not installed"
    done
}

same_as_recorded()
{
    as_released
    "$GRIDTIDE_SOURCE/tests/accuracy/table.sh" check "$@"
}

@test "accuracy: replays of recordings" {
    same_as_recorded replays
}

@test "accuracy: random traces" {
    same_as_recorded random
}

@test "accuracy: tasks, kernels that blocks launch, grids that synchronise" {
    same_as_recorded handed
}

@test "accuracy: several GPUs and collectives" {
    same_as_recorded gpus
}

@test "accuracy: kernels from machine code, and side by side" {
    same_as_recorded kernels
}

@test "accuracy: timelines from machine code" {
    same_as_recorded programs
}

@test "accuracy: what-ifs" {
    same_as_recorded whatifs
}

@test "accuracy: a table that differs is shown and fails" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p copy/tests/accuracy
    cp "$GRIDTIDE_SOURCE/tests/accuracy/table.sh" copy/tests/accuracy
    ln -s "$GRIDTIDE_SOURCE/validate" "$GRIDTIDE_SOURCE/traces" copy
    sed 's/^figure traces .*/figure traces 1/' "$GRIDTIDE_SOURCE/tests/accuracy/gpus.txt" > copy/tests/accuracy/gpus.txt
    run copy/tests/accuracy/table.sh check gpus
    [ "$status" -eq 1 ]
    [[ "$output" == *"was figure traces 1"*"differs"* ]]
    run copy/tests/accuracy/table.sh check nothing
    [ "$status" -ne 0 ]
}

@test "other people's profiles replay within 3%" {
    as_released
    [ -d "$GRIDTIDE_TRACES" ] || skip "no profiles in $GRIDTIDE_TRACES"
    "$GRIDTIDE_SOURCE/tests/accuracy.sh" "$GRIDTIDE_TRACES" > lines
    tail -n 1 lines
    tail -n 1 lines | grep -Eq '^(1[6-9]|[2-9][0-9]) files: makespan within 3%: (1[6-9]|[2-9][0-9]),'
}

@test "what one recording says of another number of streams is what was recorded with it" {
    makespan() {
        "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-$1.json.gz" --streams "$2" --independent '*' \
            -o "$BATS_TEST_TMPDIR/run.db"
        "$GRIDTIDE" compare "$BATS_TEST_TMPDIR/run.db" --format csv | tail -1 | cut -d, -f8
    }
    # Recorded: 1989.8, 1117.9 and 889.9 us on 1, 2 and 4 streams. What four streams are put in one with are constants
    # learned from four: gaps between engines, which look for work every 8 us, were 1.1 to 1.5 us longer there, copies 0.4
    # and 1.1 us: that is about half of the 2.8% that it is too long by; what the rest comes from is not known.
    awk -v from4to1="$(makespan 4 1)" -v from4to2="$(makespan 4 2)" -v from1to2="$(makespan 1 2)" 'BEGIN {
        exit !(from4to1 > 1950 && from4to1 < 2060 && from4to2 > 1096 && from4to2 < 1140 && from1to2 > 1062 && from1to2 < 1174) }'
}
