# What-ifs from recordings of gridtide record against those from Kineto's of the same programs (traces/recorded_pairs).

load figures_helpers

# figure RECORDER NAME FIELD: of the lines that whatif_recorded.py printed.
figure() {
    echo "$output" | awk -v recorder="$1" -v name="$2" -v field="$3" '$1 == recorder && $2 == name { print $field }'
}

# no_more A B: is A at most B?
no_more() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'
}

@test "programs that nothing was fitted to: what-ifs of gridtide record are no worse than Kineto's" {
    as_released
    run "$GRIDTIDE_SOURCE/validate/scripts/whatif_recorded.py" 'chains-*' 'graph-*' 'layers-*' 'priority-*' 'pipeline-*' \
        'mixer-*' 'feeds-*' mlp-large training-large gpt-large unet-large rank coats lattice
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(figure record refused 3)" -eq 0 ]
    [ "$(figure record signs 3)" -ge "$(figure kineto signs 3)" ]
    for what in baseline changed; do
        no_more "$(figure record $what 4)" "$(figure kineto $what 4)"
        no_more "$(figure record $what 5)" "$(figure kineto $what 5)"
    done
}

@test "an answer says that recording was measured and is taken off" {
    run "$GRIDTIDE" whatif -q "$GRIDTIDE_SOURCE/traces/recorded_pairs/record/chains-short.streams-1.jsonl.gz" --change streams=2 \
        '--independent=*'
    [[ "$output" == *"Measured profiler overhead is subtracted"* ]]
}

@test "programs that the GPU bounds: without what recording cost they take what they take alone, within 4%" {
    cd "$BATS_TEST_TMPDIR"
    "$GRIDTIDE_SOURCE/validate/scripts/whatif_recorded.py" --alone > alone.txt
    cat alone.txt
    [ "$(awk '$1 ~ /^(big|events|overlap|legacy|hostfn|priorities|big_gemms|graph-captured)$/ && $5 < 4 && $5 > -4' alone.txt |
        wc -l)" -eq 8 ]
}
