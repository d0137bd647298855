# gridtide import ncu: folders of pages and cubins, reports, and what is wrong with one launch of several.
# tests/data/ncu: three launches of two library kernels (chase, histogram, chase again) as Nsight Compute 2025.3.1
# profiled them on an H200, with the columns that are read; the table of the second is in its page twice.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$GRIDTIDE_SOURCE/tests/data/ncu" profile
    chmod -R u+w profile
}

# The import works, says $1 as a warning of kind $2, and has all three launches, of which $3 have no program.
warned() {
    run timeout 20 "$GRIDTIDE" import ncu profile -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"gridtide: warning: $2: launch "*"$1"* ]] || [[ "$output" == *"gridtide: warning: $2: $1"* ]]
    [[ "$output" == *"operations  3: 3 kernels"* ]]
    [ "$(grep -c '"call":"launch"' out.jsonl)" -eq 3 ]
    bars "$3"
    "$GRIDTIDE" import -q out.jsonl -o again.jsonl
    cmp out.jsonl again.jsonl
}

# $1 launches are of kernels without a program.
bars() {
    python3 - "$1" << 'END'
import json, sys
programs, bars = {}, 0
for line in open('out.jsonl'):
    row = json.loads(line)
    if 'call' in row:
        bars += programs[row['kernel']] is None
    elif 'kernel' in row:
        programs[row.get('id', row['kernel'])] = row.get('program')
assert bars == int(sys.argv[1]), bars
END
}

refused() {
    run timeout 20 "$GRIDTIDE" import ncu "$1" -o refused.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"$2"* ]]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e refused.jsonl ]
}

@test "a folder is sniffed; equal launches share a program; all that is read back is written again" {
    run "$GRIDTIDE" import profile/ -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"profile (ncu)"* ]]
    [[ "$output" != *warning* ]]
    [[ "$output" == *"device      h200"* ]]
    [ "$(grep -c '^{"program"' out.jsonl)" -eq 2 ]
    [ "$(grep -c '^{"kernel"' out.jsonl)" -eq 2 ]
    [ "$(grep -c '"profile":{"cycles":646987,' out.jsonl)" -eq 2 ]
    "$GRIDTIDE" import -q out.jsonl -o again.jsonl
    cmp out.jsonl again.jsonl
    bars 0
}

@test "executed instructions are the profile's, and so are times" {
    "$GRIDTIDE" import -q profile -o out.jsonl
    python3 - << 'END'
import csv, json
raw = list(csv.DictReader(open('profile/raw.csv')))[1:]
programs, kernels, launches = {}, {}, []
for line in open('out.jsonl'):
    row = json.loads(line)
    if 'call' in row:
        launches.append(row)
    elif 'kernel' in row:
        kernels[row.get('id', row['kernel'])] = row
    elif 'program' in row:
        programs[row['program']] = row
for launch, row in zip(launches, raw):
    program = programs[kernels[launch['kernel']]['program']]
    assert sum(program['executions']) == float(row['smsp__inst_executed.sum'])
    assert launch['profile']['cycles'] == float(row['gpc__cycles_elapsed.max'])
    assert abs(launch['op_duration_ns'] - 1e6 * float(row['gpu__time_duration.sum'])) < 1e-6
END
}

@test "a trace of programs runs" {
    run "$GRIDTIDE" run profile -o run.db
    [ "$status" -eq 0 ]
}

@test "a page without a column that is needed makes a bar; the other launches go on" {
    sed -i '2s/"Instructions Executed"/"Executed"/' profile/source.0001.csv
    warned 'profile/source.0001.csv:2: no column "Instructions Executed"' launches-without-counts 1
}

@test "a page that ends within quotes makes a bar" {
    head -c 20003 profile/source.0000.csv > cut
    mv cut profile/source.0000.csv
    warned 'within quotes' launches-without-counts 1
}

@test "a page with a hole, another kernel's page and a page that is not there make bars" {
    sed -i 50d profile/source.0000.csv
    warned 'profile/source.0000.csv:50: address ' launches-without-counts 1
    cp profile/source.0001.csv profile/source.0000.csv
    warned 'belongs to kernel _ZN45' launches-without-counts 1
    rm profile/source.0000.csv profile/source.0002.csv
    warned 'profile/source.0000.csv: cannot open' launches-without-counts 2
}

@test "a count that is none is told with its line" {
    sed -i '6s/","[0-9]*","/","many","/' profile/source.0000.csv
    warned 'profile/source.0000.csv:6: "Instructions Executed" is "many", not a count' launches-without-counts 1
}

@test "code for another architecture makes bars" {
    printf '\x50' | dd of=profile/chase.cubin bs=1 seek=49 conv=notrunc status=none
    warned 'is for sm_80, but the launch ran on sm_90' launches-without-code 2
}

@test "a cubin cut off and one that is none are told; its launches are bars" {
    head -c 9000 profile/chase.cubin > cut
    mv cut profile/chase.cubin
    warned 'profile/chase.cubin: the cubin is cut off or broken' cubins-unreadable 2
    warned 'no cubin contains the machine code of _ZN40' launches-without-code 2
    echo no > profile/chase.cubin
    warned 'profile/chase.cubin: not a cubin' cubins-unreadable 2
}

@test "code that is not what the page shows makes a bar" {
    sed -i 's/"      EXIT"/"      NOP"/' profile/source.0001.csv
    warned 'differs from its source page' launches-without-code 1
}

@test "counts that contradict the control flow, or the whole launch, are told with their place" {
    sed -i -E '60,66s/^("[^"]*","[^"]*"),"[0-9]+"/\1,"90000"/' profile/source.0001.csv
    warned '90000 executions' flow-broken 0
    warned 'the source page has' counts-differ 0
}

# Set column $2 of row $3 (counted from 0) of profile/$1 to $4; row "all": wherever it has a number above 0.
change() {
    python3 - "$@" << 'END'
import csv, sys
name, column, row, value = sys.argv[1:]
rows = list(csv.reader(open('profile/' + name, newline='')))
head = next(r for r in rows if column in r)
at = head.index(column)
for number, fields in enumerate(rows):
    if len(fields) == len(head) and fields != head and \
            (fields[at].strip('0.,') if row == 'all' else number == int(row)):
        fields[at] = value
csv.writer(open('profile/' + name, 'w', newline=''), quoting=csv.QUOTE_ALL).writerows(rows)
END
}

fresh() {
    rm -rf profile
    cp -r "$GRIDTIDE_SOURCE/tests/data/ncu" profile
    chmod -R u+w profile
}

by_programs() {
    timeout 60 "$GRIDTIDE" run --cost program out.jsonl -o out.db
    rm out.db
}

@test "a counter beyond what a launch can have makes a bar or is left out; a run by programs goes on" {
    most=18446744073709551615
    change raw.csv smsp__inst_executed.sum 3 $most
    warned 'more warp instructions executed than a launch can have' launches-without-counts 1
    by_programs
    for column in gpc__cycles_elapsed.max.per_second dram__bytes_read.sum launch__registers_per_thread \
                  lts__t_sectors_srcunit_tex_op_read.sum launch__cluster_dim_x \
                  launch__shared_mem_per_block_dynamic; do
        fresh
        change raw.csv $column 3 $most
        "$GRIDTIDE" import -q ncu profile -o out.jsonl
        bars 0
        by_programs
    done
}

@test "a launch in clusters makes a kernel in clusters, where they divide its grid" {
    change raw.csv launch__cluster_dim_x 3 8
    "$GRIDTIDE" import -q ncu profile -o out.jsonl
    grep -q '"grid":\[264\],"block":\[[0-9]*\],"cluster":\[8\]' out.jsonl
    fresh
    change raw.csv launch__cluster_dim_x 3 5
    "$GRIDTIDE" import -q ncu profile -o out.jsonl
    ! grep -q '"grid":.*"cluster":' out.jsonl
}

@test "counts of a source page that no warp can have make a bar" {
    change source.0001.csv "Instructions Executed" all 4000000000000
    warned 'more warp instructions executed than a launch can have' launches-without-counts 1
    by_programs
    fresh
    change source.0001.csv "Thread Instructions Executed" all 9999999999
    warned 'a warp has 32 threads' launches-without-counts 1
    fresh
    change source.0001.csv "L1 Tag Requests Global" all 9999999999
    warned 'which is more than possible' launches-without-counts 1
    by_programs
}

@test "bytes of an instruction that are no text are read, and what is written can be read again" {
    sed -i '20s/UR7,/\xff\x01R7,/' profile/source.0000.csv
    "$GRIDTIDE" import -q ncu profile -o out.jsonl
    grep -qF '??R7,' out.jsonl
    "$GRIDTIDE" import -q out.jsonl -o again.jsonl
    cmp out.jsonl again.jsonl
}

@test "a row of raw.csv that cannot be read, or is cut off, costs its launch; the other launches go on" {
    change raw.csv "Grid Size" 3 "(0, 1, 1)"
    run "$GRIDTIDE" import ncu profile -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *'warning: launches-unreadable: profile/raw.csv:4: grid "(0, 1, 1)"'* ]]
    [ "$(grep -c '"call":"launch"' out.jsonl)" -eq 2 ]
    bars 0
    by_programs
    fresh
    change raw.csv gpu__time_duration.sum 3 18446744073709551615
    run "$GRIDTIDE" import ncu profile -o out.jsonl
    [[ "$output" == *'raw.csv:4: "gpu__time_duration.sum" is "18446744073709551615", not a number that a'* ]]
    bars 0
    fresh
    sed -i 4q profile/raw.csv
    truncate -s -9 profile/raw.csv
    run "$GRIDTIDE" import ncu profile -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *'warning: launches-unreadable: profile/raw.csv:4: '* ]]
    [ "$(grep -c '"call":"launch"' out.jsonl)" -eq 1 ]
}

@test "raw.csv that cannot be understood is an error with its line" {
    sed -i '1s/"gpc__cycles_elapsed.max"/"cycles"/' profile/raw.csv
    refused profile 'gridtide: profile/raw.csv:1: no column "gpc__cycles_elapsed.max"'
    cp "$GRIDTIDE_SOURCE/tests/data/ncu/raw.csv" profile/raw.csv
    sed -i 2d profile/raw.csv
    refused profile 'gridtide: profile/raw.csv:2: column "'
    cp "$GRIDTIDE_SOURCE/tests/data/ncu/raw.csv" profile/raw.csv
    for row in 2 3 4; do change raw.csv "Grid Size" $row "(0, 1, 1)"; done
    refused profile 'gridtide: profile/raw.csv:3: grid "(0, 1, 1)"'
    sed -i 2q profile/raw.csv
    refused profile 'contains no launch'
    mkdir empty
    refused empty 'empty/raw.csv: cannot open'
    run "$GRIDTIDE" import empty
    [ "$status" -eq 1 ]
    [[ "$output" == *"empty: a folder in no known format; formats are"* ]]
}

# A report as far as it is read, and a program that exports its pages.
report() {
    printf 'NVR\0some bytes' > chase.ncu-rep
    cat profile/chase.cubin >> chase.ncu-rep
    printf 'more \x7fELF bytes' >> chase.ncu-rep
    cat profile/histogram.cubin >> chase.ncu-rep
    printf 'end' >> chase.ncu-rep
    mkdir bin tmp
    cat > bin/ncu << END
#!/bin/sh
case "\$*" in
*"--page raw --csv --print-kernel-base mangled") cat $PWD/profile/raw.csv ;;
*"--launch-skip 0 "*) cat $PWD/profile/source.0000.csv ;;
*"--launch-skip 1 "*) cat $PWD/profile/source.0001.csv ;;
*"--launch-skip 2 "*) cat $PWD/profile/source.0002.csv ;;
*) exit 3 ;;
esac
END
    chmod +x bin/ncu
}

@test "launches profiled with warm caches say so in the trace, others do not" {
    "$GRIDTIDE" import -q profile --warm-caches -o warm.jsonl
    "$GRIDTIDE" import -q profile -o cold.jsonl
    [ "$(grep -c '"sass"' warm.jsonl)" -eq "$(grep -c '"warm_caches":true' warm.jsonl)" ]
    ! grep -q warm_caches cold.jsonl
    cmp <(sed 's/,"warm_caches":true//' warm.jsonl) cold.jsonl
    "$GRIDTIDE" run -q warm.jsonl -o warm.db
}

@test "a report becomes such a folder, kept where asked" {
    report
    PATH="$PWD/bin:$PATH" TMPDIR="$PWD/tmp" "$GRIDTIDE" import -q chase.ncu-rep -o a.jsonl
    [ -z "$(ls tmp)" ]
    PATH="$PWD/bin:$PATH" "$GRIDTIDE" import -q ncu chase.ncu-rep --keep kept -o b.jsonl
    cmp a.jsonl b.jsonl
    cmp kept/0000.cubin profile/chase.cubin
    cmp kept/0001.cubin profile/histogram.cubin
    "$GRIDTIDE" import -q kept -o c.jsonl
    "$GRIDTIDE" import -q profile -o d.jsonl
    cmp <(sed 1d b.jsonl) <(sed 1d c.jsonl)
    cmp <(sed 1d b.jsonl) <(sed 1d d.jsonl)
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" import ncu chase.ncu-rep --keep kept
    [ "$status" -eq 1 ]
    [[ "$output" == *"kept: cannot create this folder"* ]]
}

# tests/data/ncu-report: what Nsight Compute 2025.3.1 wrote of one launch on an H200, whole, and its pages.
@test "a report as the profiler writes it: known by its head, its cubin cut out" {
    command -v zstd > /dev/null || skip "no zstd program"
    data="$GRIDTIDE_SOURCE/tests/data/ncu-report"
    zstd -dq "$data/dot.ncu-rep.zst" -o dot.ncu-rep
    mkdir bin
    cat > bin/ncu << END
#!/bin/sh
case "\$*" in
*"--page raw"*) cat $data/raw.csv ;;
*"--launch-skip 0 "*) cat $data/source.0000.csv ;;
*) exit 3 ;;
esac
END
    chmod +x bin/ncu
    PATH="$PWD/bin:$PATH" run "$GRIDTIDE" import dot.ncu-rep -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"dot (ncu)"*"operations  1: 1 kernels"*"device      h200"* ]]
    [[ "$output" != *warning* ]]
    bars 0
    PATH="$PWD/bin:$PATH" "$GRIDTIDE" import -q ncu dot.ncu-rep --keep kept -o kept.jsonl
    cmp kept/0000.cubin "$data/dot.cubin"
    [ "$(ls kept)" = "$(printf '0000.cubin\nraw.csv\nsource.0000.csv')" ]
    # Packed or from a pipe it is copied for the profiler, which takes files only.
    for way in 'import -q ncu "$0"' 'import -q "$0"' 'import -q - < "$0"' 'import -q <(cat "$0")'; do
        rm -f out.jsonl
        mkdir tmp
        PATH="$PWD/bin:$PATH" TMPDIR="$PWD/tmp" bash -c "\"\$GRIDTIDE\" $way -o out.jsonl" "$data/dot.ncu-rep.zst"
        cmp <(sed 1d out.jsonl) <(sed 1d kept.jsonl)
        rmdir tmp
    done
    by_programs
}

@test "a page that ncu cannot export makes a bar" {
    report
    sed -i 's/.*launch-skip 1 .*/*"--launch-skip 1 "*) echo "==ERROR=="; exit 4 ;;/' bin/ncu
    run env PATH="$PWD/bin:$PATH" TMPDIR="$PWD/tmp" "$GRIDTIDE" import chase.ncu-rep -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"launches-without-counts: launch 1 "*"source.0001.csv: cannot open"* ]]
    bars 1
}

@test "a report without ncu, or with one that fails, is an error that leaves nothing" {
    report
    run env PATH=/nonexistent TMPDIR="$PWD/tmp" "$GRIDTIDE" import chase.ncu-rep -o out.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"chase.ncu-rep: "*"(no ncu in PATH)"*" run 'gridtide import ncu chase.ncu-rep -o chase.jsonl.zst' "* ]]
    printf '#!/bin/sh\necho "==ERROR== no such report"\nexit 3\n' > bin/ncu
    run env PATH="$PWD/bin:$PATH" TMPDIR="$PWD/tmp" "$GRIDTIDE" import chase.ncu-rep -o out.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"chase.ncu-rep: ncu failed on the report: ==ERROR== no such report"* ]]
    # A parent that ignores the ends of its children hands that down.
    run env PATH="$PWD/bin:$PATH" TMPDIR="$PWD/tmp" python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$GRIDTIDE" import ncu chase.ncu-rep -o out.jsonl
    [ "$status" -eq 1 ]
    [ -z "$(ls tmp)" ]
    [ ! -e out.jsonl ]
}

@test "programs of a trace that do not fit are refused with file and line" {
    "$GRIDTIDE" import -q profile -o out.jsonl
    sed -i 's/"warps_per_block":8/"warps_per_block":9/' out.jsonl
    refused_trace 'is for blocks of 9 warps'
    for change in 's/"control":\[/"control":[1,/' 's/"executions":\[/"executions":[-1,/' 's/"sass":\[/"sass":[7,/' \
                  's/"access":\[\[/"access":[[99999,/' 's/"l1_load_hit":[0-9.]*/"l1_load_hit":2/' \
                  's/"program":"p1"}/"program":"p7"}/' 's/"samples":\[\[\([0-9]*\),"[a-z_]*"/"samples":[[\1,"rest"/' \
                  's/"program":"p1","comp/"program":"p0","comp/' 's/"warps":[0-9]*/"warps":0/'; do
        "$GRIDTIDE" import -q profile -o out.jsonl
        sed -i "$change" out.jsonl
        refused_trace ''
    done
}

refused_trace() {
    run timeout 20 "$GRIDTIDE" import gridtide out.jsonl -o refused.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: out.jsonl:"[0-9]*": "*"$1"* ]]
    [ ! -e refused.jsonl ]
}

# The profiler's own choice is to print names demangled, and not as other demanglers do.
demangled() {
    sed -i 's/_ZN40_GLOBAL__N__93f0d874_8_chase_cu_b49194035chaseENS_15chase_argumentsEP12gt_block_log/<unnamed>::chase(<unnamed>::chase_arguments, gt_block_log *)/
        s/_ZN45_GLOBAL__N__4486dd33_12_histogram_cu_3ad7a32a9histogramILNS_10counted_inE0EEEvNS_19histogram_argumentsEP12gt_block_log/void <unnamed>::histogram<(<unnamed>::counted_in)0>(<unnamed>::histogram_arguments, gt_block_log *)/' "$@"
    ! grep -q _ZN4 "$@"
}

@test "pages that name kernels demangled are matched by their code" {
    "$GRIDTIDE" import -q profile -o mangled.jsonl
    demangled profile/source.*.csv
    run "$GRIDTIDE" import profile -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" != *warning* ]]
    cmp out.jsonl mangled.jsonl
    demangled profile/raw.csv
    run "$GRIDTIDE" import profile -o out.jsonl
    [[ "$output" != *warning* ]]
    bars 0
    grep '^{"program"' mangled.jsonl > a
    grep '^{"program"' out.jsonl > b
    cmp a b
}

@test "a page whose name says nothing is matched by its code alone, and one of other code is not" {
    demangled profile/source.*.csv
    sed -i 's/<unnamed>::chase(/elsewhere(/' profile/source.0000.csv
    run "$GRIDTIDE" import profile -o out.jsonl
    [[ "$output" != *warning* ]]
    bars 0
    cp profile/source.0001.csv profile/source.0000.csv
    warned 'differs from its source page' launches-without-code 1
    demangled profile/raw.csv
    warned 'belongs to kernel void <unnamed>::histogram' launches-without-counts 1
}
