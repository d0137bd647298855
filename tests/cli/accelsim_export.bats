# gridtide export accelsim: programs as traces of executed instructions, which import accelsim reads back.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    made=$GRIDTIDE_SOURCE/tests/data/accelsim/made.py
}

# again TRACE: export it, and import what was written: again.jsonl.
again() {
    rm -rf again
    "$GRIDTIDE" export accelsim "$1" -o again
    "$GRIDTIDE" import -q again -o again.jsonl
}

# program FILE FIELD...: fields of its first program.
program() {
    local file=$1
    shift
    jq -c "select(has(\"sass\")) | [$(printf '.%s,' "$@" | sed 's/,$//')]" "$file" | head -1
}

# The loop of made.py: 4 blocks of 2 warps, each 3 + 10 * 5 + 2 = 55 instructions.  Each of 10 trips loads a line of its own,
# 4 sectors, 320 in all, which DRAM reads: 10,240 bytes.
@test "a program by hand: every instruction of every warp, and nothing is found in a cache" {
    python3 "$made" loop-native > native.jsonl
    again native.jsonl
    [ "$(cat again/kernelslist.g)" = kernel-1.traceg ]
    [ "$(grep -c '^insts = 55$' again/kernel-1.traceg)" -eq 8 ]
    [ "$(program native.jsonl executions threads_on access)" = "$(program again.jsonl executions threads_on access)" ]
    [ "$(program again.jsonl l1_load_hit l2_read_sectors l2_write_sectors dram_read_bytes)" = '[0,320,32,10240]' ]
    sed -n '/^warp = 0/,/^$/p' again/kernel-1.traceg | sed -n 6,11p > trip
    cat > expected <<'TRIP'
0030 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x700000000000 4 0 0 NoVal
0040 ffffffff 1 R5 FADD 2 R4 R5 0 0 0 NoVal
0050 ffffffff 1 R2 IADD3 1 R2 0 0 0 NoVal
0060 ffffffff 1 P0 ISETP.NE.AND 1 R2 0 0 0 NoVal
0070 ffffffff 0 BRA 0 0 48 0 NoVal
0030 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x700000000080 4 0 0 NoVal
TRIP
    diff expected trip
}

# Half of the threads load two sectors, the other half computes, then all go on: the branch is executed by those that jump.
@test "sides of a divergence have threads of their own, and all go on behind it" {
    python3 "$made" split > split.traceg
    "$GRIDTIDE" import -q split.traceg -o split.jsonl
    again split.jsonl
    [ "$(program split.jsonl executions threads threads_on divergent access)" = "$(program again.jsonl executions threads threads_on divergent access)" ]
    [ "$(program again.jsonl threads_on)" = '[[32,32,32,16,16,16,16,16,32]]' ]
}

@test "divergences in divergences, threads that end before, loops that threads leave one by one" {
    for kernel in nested trips; do
        python3 "$made" "$kernel" > traced.traceg
        "$GRIDTIDE" import -q traced.traceg -o traced.jsonl
        again traced.jsonl
        [ "$(program traced.jsonl executions divergent)" = "$(program again.jsonl executions divergent)" ]
    done
}

# 48 threads: the second warp of each block has 16.
@test "a warp that the block does not fill" {
    python3 "$made" loop-native | sed 's/"block": 64/"block": 48/' > native.jsonl
    again native.jsonl
    grep -q '^-block dim = (48,1,1)$' again/kernel-1.traceg
    [ "$(grep -c '^0000 0000ffff ' again/kernel-1.traceg)" -eq 4 ]
    [ "$(grep -c '^0000 ffffffff ' again/kernel-1.traceg)" -eq 4 ]
}

# Of 80 loads of 4 sectors three quarters are to hit L1; of the others half are to be in L2: 80 sectors of 320 go to L2.
# Blocks that run first find nothing of others there: 3 of 4 blocks can.
@test "hit rates come back: loads return to what their block, or blocks before, have loaded" {
    python3 "$made" loop-native |
        sed 's/"l1_load_hit": 0,/"l1_load_hit": 0.75,/; s/"l2_read_hit": 0,/"l2_read_hit": 0.5,/; s/"l2_read_sectors": 320/"l2_read_sectors": 80/; s/"dram_read_bytes": 10240/"dram_read_bytes": 1280/' > native.jsonl
    again native.jsonl
    program again.jsonl l1_load_hit l2_read_hit l2_read_sectors
    program again.jsonl l1_load_hit l2_read_hit |
        jq -e '(.[0] - 0.75 | fabs) < 0.02 and (.[1] - 0.5 | fabs) < 0.13'
}

# A barrier of some warps has its number and their threads; "@P0" is not in the trace.
@test "results, sources and immediates are those of the code, as many as Accel-Sim takes: one and four" {
    python3 "$made" loop-native | sed 's/"MOV R5, RZ"/"@P0 BAR.SYNC 0x1, 0x40"/; s/"FADD R4, R4, R5"/"IADD3 R5, P0, P1, R4, R5, R6"/; s/"FADD R5, R4, R5"/"IADD3.X R5, P0, P1, R4, R5, R6, P2, P3"/' > native.jsonl
    again native.jsonl
    grep -q '^0020 ffffffff 0 BAR.SYNC 0 0 1 64 NoVal$' again/kernel-1.traceg
    grep -q '^0040 ffffffff 1 R5 IADD3.X 4 R4 R5 R6 P2 0 0 0 NoVal$' again/kernel-1.traceg
    [ "$(program again.jsonl sass | jq -c '.[0][2]')" = '"BAR.SYNC 0x1, 0x40"' ]
}

# Code of Pascal has 8 bytes an instruction and control words between.
@test "code of GPUs before Volta keeps its offsets" {
    python3 "$made" pascal > pascal.traceg
    "$GRIDTIDE" import -q pascal.traceg -o pascal.jsonl
    again pascal.jsonl
    [ "$(program pascal.jsonl executions threads_on)" = "$(program again.jsonl executions threads_on)" ]
    [ "$(grep -oE '^[0-9a-f]{4} ' pascal.traceg | sort -u)" = "$(grep -oE '^[0-9a-f]{4} ' again/kernel-1.traceg | sort -u)" ]
}

@test "launches share a file where nothing tells them apart; copies to the GPU are in the list, in order" {
    python3 "$made" loop-native > native.jsonl
    launch=$(grep '"launch"' native.jsonl)
    { cat native.jsonl
      echo '{"call":"copy","direction":"h2d","bytes":4096,"memory":"pinned"}'
      echo '{"call":"copy","direction":"d2h","bytes":4096,"memory":"pinned"}'
      echo "$launch"; } > twice.jsonl
    again twice.jsonl
    printf 'kernel-1.traceg\nMemcpyHtoD,0x0000700000000000,4096\nkernel-1.traceg\n' | diff - again/kernelslist.g
    [ "$(ls again)" = "$(printf 'kernel-1.traceg\nkernelslist.g')" ]
}

@test "what cannot be exported is refused, and leaves no folder" {
    printf '{"gridtide":1}\n{"kernel":"k","grid":[1],"block":[32],"block_ns":1000}\n{"stream":0}\n{"call":"launch","kernel":"k"}\n' > plain.jsonl
    run "$GRIDTIDE" export accelsim plain.jsonl -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"no kernel has a program: import a profile of Nsight Compute"* ]]
    [ ! -e out ]
    python3 "$made" loop-native > native.jsonl
    run "$GRIDTIDE" export accelsim native.jsonl -o -
    [ "$status" -eq 1 ]
    [[ "$output" == *"is a folder, not standard output"* ]]
    sed 's/"grid": 4/"grid": 40000000/' native.jsonl > large.jsonl
    run timeout 10 "$GRIDTIDE" export accelsim large.jsonl -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"4.4e+09 warp instructions, of which 2e+09 are written at most"* ]]
    [ ! -e out ]
    mkdir out
    touch out/kept
    run "$GRIDTIDE" export accelsim native.jsonl -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"out: cannot create this folder: File exists"* ]]
    [ "$(ls out)" = kept ]
}

@test "the same trace gives the same bytes" {
    python3 "$made" loop-native > native.jsonl
    "$GRIDTIDE" export accelsim native.jsonl -o one
    "$GRIDTIDE" export accelsim native.jsonl -o two
    diff -r one two
}
