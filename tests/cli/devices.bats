# gridtide devices: the list, one device, every key described.

@test "devices lists each file with SMs, clock and source" {
    run "$GRIDTIDE" devices --format csv
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == name,chip,sms,clock_mhz,guesses,source* ]]
    [[ "$output" == *"h200,NVIDIA H200,132,1980,"*"measured on an NVIDIA H200"* ]]
    [[ "$output" == *"toy,toy,2,1000,"*",made up for teaching"* ]]
    for name in h100 a100 v100; do
        [[ "$output" == *"$name,"*"vendor document"* ]]
    done
}

@test "devices NAME shows every key with its value, default and source" {
    run "$GRIDTIDE" devices toy --format csv
    [ "$status" -eq 0 ]
    [[ "$output" == *"chip.sms,2,SMs,80,yes,no,made up for teaching"* ]]
    [[ "$output" == *"chip.sm_order,,SM,,no,no,default"* ]]
    run "$GRIDTIDE" devices toy
    [ "$status" -eq 0 ]
    [[ "$output" == *"latency.launch_us"* ]]
}

@test "devices marks values that are guesses, and an answer for such a device is trusted less" {
    run "$GRIDTIDE" devices a100 --format csv
    [[ "$output" == *"chip.sms,108,"*",no,vendor document"* ]]
    [[ "$output" == *"scheduling.launch_queue_depth,1024,launches,1024,no,yes,guess"* ]]
    run "$GRIDTIDE" devices --format json
    [ "$(jq -r '.devices[] | select(.name == "a100").guesses > 200' <<< "$output")" = true ]
    [ "$(jq -r '.devices[] | select(.name == "h200").guesses < 50' <<< "$output")" = true ]
    for device in h200 a100; do
        run "$GRIDTIDE" whatif "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" --device "$device" --change launch-cost=2 \
            --format json
        [ "$status" -eq 0 ]
        echo "$output" > "$BATS_TEST_TMPDIR/$device"
    done
    grep -q 'are estimates, not measurements' "$BATS_TEST_TMPDIR/a100"
    ! grep -q 'are estimates, not measurements' "$BATS_TEST_TMPDIR/h200"
}

@test "devices --describe names every key that a device has" {
    run "$GRIDTIDE" devices --describe
    [ "$status" -eq 0 ]
    description="$output"
    keys=$("$GRIDTIDE" devices toy --format csv | tr -d '\r' | tail -n +2 | cut -d, -f1)
    [ "$(wc -w <<< "$keys")" -gt 50 ]
    for key in $keys; do
        grep -qx "$key" <<< "$description"
    done
    [ "$(grep -c '^    unit .*, range .* to .*, default ' <<< "$description")" -eq "$(wc -w <<< "$keys")" ]
}

@test "devices --describe in CSV and JSON, with a device's value" {
    run "$GRIDTIDE" devices --describe --format csv toy
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == key,unit,range,default,help,value* ]]
    run "$GRIDTIDE" devices --describe --format json
    [ "$status" -eq 0 ]
    [[ "$output" == *'"key": "scheduling.connections"'* ]]
}

@test "devices takes a file and names the line that is wrong in it" {
    printf '[chip]\nsms = 3\n' > "$BATS_TEST_TMPDIR/mine.ini"
    run "$GRIDTIDE" devices "$BATS_TEST_TMPDIR/mine.ini" --format csv
    [ "$status" -eq 0 ]
    [[ "$output" == *"chip.sms,3,"* ]]
    printf '[chip]\nsms = 0\n' > "$BATS_TEST_TMPDIR/mine.ini"
    run "$GRIDTIDE" devices "$BATS_TEST_TMPDIR/mine.ini"
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: $BATS_TEST_TMPDIR/mine.ini:2: chip.sms: '0' is outside 1 to 1024 SMs" ]]
}

@test "devices refuses what is no device file" {
    run "$GRIDTIDE" devices h2000
    [ "$status" -eq 1 ]
    [[ "$output" == *"there is no device 'h2000'; there are "*h200* ]]
    run "$GRIDTIDE" devices /
    [ "$status" -eq 1 ]
    head -c 4000 /dev/urandom > "$BATS_TEST_TMPDIR/random.ini"
    run "$GRIDTIDE" devices "$BATS_TEST_TMPDIR/random.ini"
    [ "$status" -eq 1 ]
    truncate -s 5G "$BATS_TEST_TMPDIR/sparse.ini"
    run "$GRIDTIDE" devices "$BATS_TEST_TMPDIR/sparse.ini"
    [ "$status" -eq 1 ]
    [[ "$output" == *"no device file"* ]]
    : > "$BATS_TEST_TMPDIR/empty.ini"
    run "$GRIDTIDE" devices "$BATS_TEST_TMPDIR/empty.ini"
    [ "$status" -eq 1 ]
}

@test "devices refuses wrong usage" {
    run "$GRIDTIDE" devices --format xml
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" devices toy h200
    [ "$status" -eq 2 ]
}
