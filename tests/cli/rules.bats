# The rules of the scheduler earn their place: validate/RULES.md says of each what is worse without it (tests/unit/rules switches
# off each on more traces).

load figures_helpers

setup()
{
    for tool in zstd sqlite3 python3; do
        command -v $tool > /dev/null || skip "$tool is not installed"
    done
    cd "$BATS_TEST_TMPDIR"
}

# A copy of what the page is made from, in ./copy.
copy_sources()
{
    mkdir -p copy/sim/machine copy/validate/recordings copy/tests
    ln -s "$GRIDTIDE_SOURCE/tests/golden" copy/tests/golden
    for file in sim/machine/rules.h validate/RULES.md validate/rules.txt validate/recordings/rules.csv; do
        cp "$GRIDTIDE_SOURCE/$file" copy/$file
        chmod u+w copy/$file
    done
    cp -r "$GRIDTIDE_SOURCE/validate/scripts" copy/validate/scripts
}

@test "rules: each earns its place, by what was measured or documented; the page of them is up to date" {
    "$GRIDTIDE_SOURCE/validate/scripts/rules_page.py" --check
}

@test "rules: one that is not supported, or not told, is refused" {
    copy_sources
    copy/validate/scripts/rules_page.py --check
    # No recording supports it any longer.
    sed -i '/^retire,/ s/,holds$/,doubtful/' copy/validate/recordings/rules.csv
    run copy/validate/scripts/rules_page.py --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"retire: doubtful, and validate/rules.txt gives no reason why it stays"* ]]
    sed -i '/^retire,/ s/,doubtful$/,unseen/' copy/validate/recordings/rules.csv
    run copy/validate/scripts/rules_page.py --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"retire: unseen, and"* ]]
    # A new rule, of which nothing is known.
    cp "$GRIDTIDE_SOURCE/validate/recordings/rules.csv" copy/validate/recordings/rules.csv
    sed -i 's|^    RULE(RETIRE, .*|&\n    RULE(NEW, "new", "scheduling.new=0", "gpu/new.c", "nobody knows") \\|' copy/sim/machine/rules.h
    run copy/validate/scripts/rules_page.py --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"validate/rules.txt: has no rule new"*"validate/recordings/rules.csv: has no rule new"* ]]
    # A claim that was changed, but not in the page.
    cp "$GRIDTIDE_SOURCE/sim/machine/rules.h" copy/sim/machine/rules.h
    sed -i 's/blocks that end together leave/blocks that end leave/' copy/sim/machine/rules.h
    run copy/validate/scripts/rules_page.py --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"validate/RULES.md: is not up to date"* ]]
}

@test "rules: the scenario of each fails without it" {
    [ -x "$GRIDTIDE_BUILD/tests/unit/golden" ] || skip "tests/unit/golden is not built"
    mkdir -p tests/golden
    # name|keys that switch it off
    sed -n 's/^ *RULE([A-Z_]*, "\([^"]*\)", "\([^"]*\)", .*/\1|\2/p' "$GRIDTIDE_SOURCE/sim/machine/rules.h" > rules
    [ "$(wc -l < rules)" -gt 30 ]
    while IFS='|' read -r name off; do
        scenario=$(awk -v name="$name" '/^[^ #]/ { rule = $0 } rule == name && $1 == "test:" { print $2 }' \
            "$GRIDTIDE_SOURCE/validate/rules.txt")
        # The keys behind those that the scenario sets itself; one without a value is left out, so that it is the toy's.
        awk -v off="$off" '
            BEGIN { n = split(off, to, " "); for (i = 1; i <= n; i++) { key = to[i]; sub(/=.*/, "", key); set[key] = 1 } }
            !/^\/\// && !told++ { for (i = 1; i <= n; i++) if (to[i] !~ /=$/) print "// set " to[i] }
            { key = $3; sub(/=.*/, "", key) }
            /^\/\/ set / && key in set { next }
            { print }' "$GRIDTIDE_SOURCE/tests/golden/$scenario.jsonl" > "tests/golden/$name.jsonl"
    done < rules
    GRIDTIDE_SOURCE=$PWD "$GRIDTIDE_BUILD/tests/unit/golden" > lines 2>&1 || true
    cat lines
    run grep -E '^ok .*\.jsonl' lines
    [ -z "$output" ]
    [ "$(grep -cE '^not ok .*\.jsonl' lines)" -eq "$(wc -l < rules)" ]
}

@test "rules: a script measures what each is good for" {
    as_released
    cp "$GRIDTIDE_SOURCE/validate/recordings/rules.csv" rules.csv
    "$GRIDTIDE_SOURCE/validate/scripts/rules.sh" -n 28 -r stream-gap -r engines -r block-turns -r sends-ahead -o rules.csv 2026 gpus > now.csv
    cat now.csv
    grep -qE '^engines,2026[^,]*(,[0-9.]+){8},holds$' now.csv
    grep -qE '^stream-gap,2026[^,]*(,[0-9.]+){8},holds$' now.csv
    grep -qE '^block-turns,,0,0,,,,,0,0,fixed$' now.csv
    grep -qE '^sends-ahead,,0,0,,,,,0,0,unseen$' now.csv
    # Only their lines are replaced.
    [ "$(diff "$GRIDTIDE_SOURCE/validate/recordings/rules.csv" rules.csv | grep -c '^>')" -eq 4 ]
    [ "$(sed 1d rules.csv | cut -d, -f1)" = "$(cut -d, -f1 "$GRIDTIDE_SOURCE/validate/recordings/rules.csv" | sed 1d)" ]
    run "$GRIDTIDE_SOURCE/validate/scripts/rules.sh" nothing
    [ "$status" -eq 2 ]
}

@test "rules: what fired is told for people and for programs, and is in the store" {
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-2026.db.zst" -o measured.db
    "$GRIDTIDE" validate --random 7 --draw-seed 2026 --repeat 2 --measured measured.db --blocks off -o now.db > table
    grep -E '^retire +[1-7] blocks that end together' table
    "$GRIDTIDE" validate --random 7 --draw-seed 2026 --repeat 2 --measured measured.db --blocks off -f json -o again.db > json
    told=$(sqlite3 :memory: "SELECT value->>'traces' FROM json_each(readfile('json'), '\$.rules') WHERE value->>'rule' = 'retire'")
    [ "$told" -eq "$(sqlite3 now.db "SELECT count(*) FROM counter JOIN run USING (run_id)
        WHERE name = 'rule.retire' AND options NOT LIKE '%host=measured%'")" ]
}
