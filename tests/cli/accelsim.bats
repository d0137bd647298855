# gridtide import accelsim: lists, kernels as text and packed, what their addresses mean, what is refused.
# tests/data/accelsim/made.py writes the traces; its comments have what they must become.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    made=$GRIDTIDE_SOURCE/tests/data/accelsim/made.py
    python3 "$made" loop > kernel-1.traceg
    printf 'MemcpyHtoD,0x00007f6000000000,10240\nkernel-1.traceg\nMemcpyDtoH,0x0,4\nkernel-1.traceg\n' > kernelslist.g
}

# refused FILE TEXT: exit status 1, one line that holds TEXT, and no trace.
refused() {
    run timeout 20 "$GRIDTIDE" import accelsim "$1" -o refused.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"$2"* ]]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e refused.jsonl ]
}

# programs FILE: its lines of programs.
programs() {
    "$GRIDTIDE" import -q "$1" -o programs.jsonl
    grep '^{"program"' programs.jsonl
}

@test "a folder is sniffed: copies, launches, streams; equal launches share a program; what is assumed is said" {
    mkdir traced
    mv kernel-1.traceg kernelslist.g traced
    sed 's/stream id = 0/stream id = 7/; s/name = loop/name = other/; s/shmem = 0/shmem = 4096/' traced/kernel-1.traceg > traced/kernel-2.traceg
    echo kernel-2.traceg >> traced/kernelslist.g
    run "$GRIDTIDE" import traced/ -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"traced (accelsim)"* ]]
    [[ "$output" == *"operations  4: 3 kernels, 1 copies, 0 memsets"* ]]
    [[ "$output" == *"streams     2"* ]]
    [[ "$output" == *"device      h100"* ]]
    [[ "$output" == *"warning: control-guessed: "* ]]
    [[ "$output" == *"warning: caches-modelled: "* ]]
    [ "$(grep -c '^{"program"' out.jsonl)" -eq 2 ]
    grep -q '^{"kernel":"loop","grid":\[4\],"block":\[64\],"registers":16,"program":"p0"}' out.jsonl
    grep -q '^{"kernel":"other","grid":\[4\],"block":\[64\],"registers":16,"shared_bytes":4096,"program":"p1"}' out.jsonl
    grep -q '^{"call":"copy","direction":"h2d","bytes":10240,' out.jsonl
    "$GRIDTIDE" import -q out.jsonl -o again.jsonl
    cmp out.jsonl again.jsonl
}

# 4 blocks of 2 warps: 8 times 3 + 5 * 10 + 2 = 55 lines, as the counts "insts =" of the trace add up to.
@test "executions are the lines of the trace" {
    "$GRIDTIDE" import -q kernel-1.traceg -o out.jsonl
    [ "$(sed -n 's/^insts = //p' kernel-1.traceg | paste -sd+ | bc)" -eq 440 ]
    [ "$(grep '^{"program"' out.jsonl | jq '.executions | add')" -eq 440 ]
    "$GRIDTIDE" run -q out.jsonl -o run.db
    "$GRIDTIDE" compare run.db --format json | jq -e '[.. | objects | select(has("covered"))][0].covered == 440'
}

@test "a program from a trace is the program written by hand, and takes the same cycles" {
    python3 "$made" loop-native > native.jsonl
    programs kernel-1.traceg > traced
    programs native.jsonl > by-hand
    cmp traced by-hand
    for name in kernel-1.traceg native.jsonl; do
        "$GRIDTIDE" run -q "$name" -o run.db --cost program
        "$GRIDTIDE" compare run.db --format json | jq '[.. | objects | .simulated_cycles? // empty][0]' > "$name.cycles"
        [ "$(cat "$name.cycles")" -gt 1000 ]
    done
    cmp kernel-1.traceg.cycles native.jsonl.cycles
    "$GRIDTIDE" run -q kernel-1.traceg -o a100.db --device a100
}

@test "version 6, .tracez with and without a dictionary, and compressed text give the same program" {
    command -v zstd > /dev/null || skip "no zstd program"
    programs kernel-1.traceg > text
    python3 "$made" version6 > six.traceg
    python3 "$made" pack kernel-1.traceg one.tracez
    split -b 300 kernel-1.traceg piece-
    cat piece-* > all
    zstd -q --train -B200 all all all all all all all all -o words --maxdict=1024
    python3 "$made" pack kernel-1.traceg two.tracez words
    zstd -q -c kernel-1.traceg > three.traceg.zst
    gzip -c kernel-1.traceg > four.traceg.gz
    for file in six.traceg one.tracez two.tracez three.traceg.zst four.traceg.gz; do
        programs "$file" | cmp - text
    done
    command -v xz > /dev/null || return 0
    xz kernel-1.traceg
    programs kernelslist.g | cmp - text
}

# All lines are there, but not the last byte of the frame's checksum.
@test "a .tracez whose frames are cut off is refused" {
    command -v zstd > /dev/null || skip "no zstd program"
    python3 "$made" pack-cut kernel-1.traceg cut.tracez
    refused cut.tracez 'cut.tracez: thread block 0, warp 0, instruction 16: its zstd data are cut off'
}

# The program has an instruction after the other, without control words.  A branch that no thread took goes where its immediate
# says: to the first behind the second control word, the fourth of all, or to that word.
@test "Pascal's code has instructions of 8 bytes and control words between them" {
    programs kernel-1.traceg | sed 's/"compute_capability":90/"compute_capability":61/' > text
    python3 "$made" pascal > pascal.traceg
    programs pascal.traceg | cmp - text
    for target in 40 32; do
        sed "s/ffffffff 0 BRA 0 0 40/00000000 0 BRA 0 0 $target/" pascal.traceg > never.traceg
        programs never.traceg | grep -q '"@P0 BRA 0x30"'
    done
    sed 's/^0008/000c/' pascal.traceg > between.traceg
    refused between.traceg ':23: 0xc is not the offset of an instruction: a multiple of 8 below 0x2aaab0 (binary version 61)'
    sed 's/ IADD3 / XMAD /; s/ FADD / IADD32I /' pascal.traceg > opcodes.traceg
    run "$GRIDTIDE" import opcodes.traceg -o out.jsonl
    [[ "$output" != *opcodes-unknown* ]]
}

# Accel-Sim reads such files; what lacks a warp or an instruction is still cut off.
@test "a last block without its mark of the end is whole if all its warps are" {
    programs kernel-1.traceg > text
    sed '$d' kernel-1.traceg | sed '$d' > unended.traceg
    [ "$(grep -c END_TB unended.traceg)" -eq 3 ]
    programs unended.traceg | cmp - text
    head -n -3 unended.traceg > cut.traceg
    refused cut.traceg 'the file ends within a thread block: it was cut off'
}

# Threads 16 to 31 jump, so that one branch of one splits; 16 threads are active on each side, all behind BSYNC.
@test "a branch that splits a warp is told, with its threads and where both sides meet" {
    python3 "$made" split > split.traceg
    run "$GRIDTIDE" import split.traceg -o out.jsonl
    [[ "$output" != *flow-broken* ]]
    grep '^{"program"' out.jsonl | jq -c '[.divergent, .threads, .threads_on, .sass[2:4], .access]' > got
    echo '[[[3,1]],[32,32,32,32,16,16,16,16,32],[32,32,32,16,16,16,16,16,32],["BSSY B0, 0x80","@P0 BRA 0x60"],[[4,"global",2,2,1]]]' |
        cmp got -
    "$GRIDTIDE" run -q out.jsonl -o run.db
}

# Two branches split; BSYNC is executed by each side; threads are those that are active: 28 behind the EXIT of four, 12 on the
# outer side that the inner branch is in, 4 at the addition. 8 and 16 jump; targets are where the sides were seen to begin.
@test "nested splits, threads that end before, and targets without immediates" {
    python3 "$made" nested > nested.traceg
    run "$GRIDTIDE" import nested.traceg -o out.jsonl
    [[ "$output" != *flow-broken* ]]
    grep '^{"program"' out.jsonl | jq -c '.divergent, .executions, .threads, .sass[3], .sass[5], .sass[8]' > got
    printf '%s\n' '[[3,1],[5,1]]' '[1,1,1,1,1,1,1,2,1,1,2,1,1]' '[32,32,28,28,12,12,4,6,12,16,14,28,28]' \
        '"@P0 BRA 0x90"' '"@P0 BRA 0x70"' '"BRA 0xa0"' | cmp got -
    "$GRIDTIDE" run -q out.jsonl -o run.db
}

# 32, 21 and 10 threads in the three trips, of which 21 and 10 go back: two splits.
@test "threads that leave a loop at different trips" {
    python3 "$made" trips > trips.traceg
    run "$GRIDTIDE" import trips.traceg -o out.jsonl
    [[ "$output" != *flow-broken* ]]
    grep '^{"program"' out.jsonl | jq -c '.divergent, .executions, .threads, .threads_on' > got
    printf '%s\n' '[[4,2]]' '[1,1,3,3,3,3,1]' '[32,32,21,21,21,10.6667,32]' '[32,32,21,21,10.3333,10.6667,32]' | cmp got -
    "$GRIDTIDE" run -q out.jsonl -o run.db
}

# kernel LINE...: one block of one warp that executes these and exits.
kernel() {
    sed '/^#BEGIN_TB/,$d; s/grid dim = (4/grid dim = (1/; s/block dim = (64/block dim = (32/' kernel-1.traceg
    printf '#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n' $(($# + 1))
    printf '%s\n' "$@" "0f00 ffffffff 0 EXIT 0 0 0"
    echo '#END_TB'
}

# The second load finds its line in L1 (4 of 8 sectors); the atomic the line in L2; two of 16 sectors are loaded of four, a
# line apart each: 32 threads of 128 bytes, 32 sectors, of which DRAM reads two at a time.
@test "hit rates are those of the addresses" {
    kernel '0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f6000000000 4 0' '0010 ffffffff 1 R5 LDG.E.SYS 1 R2 4 1 0x7f6000000000 4 0' \
        '0020 ffffffff 0 RED.E.ADD.STRONG.GPU 2 R2 R4 4 1 0x7f6000000000 4 0' > reuse.traceg
    programs reuse.traceg | jq -c '[.l1_load_hit, .l2_read_hit, .l2_read_sectors, .l2_atomic_hit, .l2_atomic_sectors, .dram_read_bytes]' > got
    echo '[0.5,0,4,1,4,128]' | cmp got -
    kernel '0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f6000000000 128 0' > apart.traceg
    programs apart.traceg | jq -c '[.access, .l2_read_sectors, .dram_read_bytes]' > got
    echo '[[[0,"global",32,4,32]],32,2048]' | cmp got -
}

# Words 0, 32, 64 ... lie in one bank: 32 passes. 16 bytes a thread take four. A generic address in the window of shared
# memory is one.
@test "shared memory: passes by banks; generic addresses by their window" {
    kernel '0000 ffffffff 1 R4 LDS 1 R2 4 1 0x0 128 0' '0010 ffffffff 1 R8 LDS.128 1 R2 16 1 0x0 16 0' \
        '0020 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0000000100 4 0' '0030 0000000f 0 STL 2 R1 R4 4 1 0x7f1000fffc00 0 0' > shared.traceg
    programs shared.traceg | jq -c '.access' > got
    echo '[[0,"shared",0,0,0,32,1],[1,"shared",0,0,0,4,4],[2,"shared",0,0,0,1,1],[3,"local",1,1,1]]' | cmp got -
}

@test "what is wrong with a trace names the file, the line and what it is" {
    refused missing.g 'missing.g: cannot open'
    echo 'MemcpyHtoD,0x0' > kernelslist.g
    refused kernelslist.g "kernelslist.g:1: a copy that is not MemcpyHtoD,ADDRESS,BYTES"
    mkdir a
    cp kernelslist.g a
    refused a "a/kernelslist.g:1: a copy that is not MemcpyHtoD,ADDRESS,BYTES"
    echo kernel-9.traceg > kernelslist.g
    refused kernelslist.g './kernel-9.traceg: cannot open'
    echo nothing > kernelslist.g
    refused kernelslist.g 'kernelslist.g:1: the list names neither a kernel nor a copy'
    sed 's/insts = 55/insts = 54/' kernel-1.traceg > more.traceg
    refused more.traceg 'more.traceg:77: an instruction more than the warp says it has (54)'
    sed 's/insts = 55/insts = 2147483647/' kernel-1.traceg > fewer.traceg
    refused fewer.traceg 'fewer.traceg:79: the warp before has 55 instructions, and says it has 2147483647'
    sed 's/warp = 1/warp = 2/' kernel-1.traceg > warps.traceg
    refused warps.traceg 'warps.traceg:79: warp 2 of blocks that have 2'
    sed 's/thread block = 3/thread block = 4/' kernel-1.traceg > blocks.traceg
    refused blocks.traceg 'thread block 4,0,0 lies outside the grid (4,1,1)'
    sed '/^0090/s/0090/ff000090/' kernel-1.traceg > far.traceg
    refused far.traceg 'far.traceg:77: 0xff000090 is not the offset of an instruction'
    # The last of ten instructions is the tenth, 0x90: the most is at (9 + 65536) * 16.
    sed '/^0090/s/0090/100090/' kernel-1.traceg > gap.traceg
    "$GRIDTIDE" import -q gap.traceg -o gap.jsonl
    sed '/^0090/s/0090/1000a0/' kernel-1.traceg > gap.traceg
    refused gap.traceg 'gap.traceg:77: 0x1000a0 is more than 65536 instructions behind all that were executed before'
    sed '/^-grid/s/(4/(0/' kernel-1.traceg > grid.traceg
    refused grid.traceg 'grid.traceg:3: "-grid dim = (0,1,1)" has no three sizes from 1 to 2147483647'
    sed '/^#BEGIN_TB/,$d' kernel-1.traceg > none.traceg
    refused none.traceg 'none.traceg: no instruction: the file was cut off'
    head -n 60 kernel-1.traceg > cut.traceg
    refused cut.traceg 'cut.traceg:60: the file ends within a thread block: it was cut off'
    sed 's/4 1 0x7f60000[0-9a-f]* 4 0/4 5 0x0/' kernel-1.traceg > mode.traceg
    refused mode.traceg 'addresses in mode 5'
}

@test "blocks that are left out and odd registers are warned of" {
    sed '/^-nregs/s/16/21955/; /^-grid/s/(4/(8/' kernel-1.traceg > odd.traceg
    run "$GRIDTIDE" import odd.traceg -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"blocks-missing: "*"(4 times)"* ]]
    [[ "$output" == *"resources-unreadable: "* ]]
    [[ "$output" != *flow-broken* ]]
}

# The second warps of four blocks are gone.
@test "warps that are left out are warned of" {
    awk '/^warp = 1/ { skip = 1 } /^#END_TB/ { skip = 0 } !skip' kernel-1.traceg > half.traceg
    run "$GRIDTIDE" import half.traceg -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"warps-missing: "*"(4 times)"* ]]
    run "$GRIDTIDE" import kernel-1.traceg -o out.jsonl
    [[ "$output" != *warps-missing* ]]
}

@test "the GPU for which latencies were found is said, and a compute capability that is not known" {
    run "$GRIDTIDE" import kernel-1.traceg -o out.jsonl
    [[ "$output" == *"control-guessed: "*"by the latencies of compute capability 9.0 on every GPU"* ]]
    [[ "$output" != *l1-size-assumed* ]]
    sed '/^-binary version/s/90/80/' kernel-1.traceg > known.traceg
    run "$GRIDTIDE" import known.traceg -o out.jsonl
    [[ "$output" == *"device      a100"* ]]
    [[ "$output" != *l1-size-assumed* ]]
    sed '/^-binary version/s/90/61/' kernel-1.traceg > unknown.traceg
    run "$GRIDTIDE" import unknown.traceg -o out.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"device-unknown: "* ]]
    [[ "$output" == *"l1-size-assumed: "*"assumes 256 KiB of both in an SM"* ]]
}

# 6 MB of text in 200 blocks of one kernel.
@test "memory does not grow with the file" {
    blocks=200
    { sed '/^#BEGIN_TB/,$d; s/grid dim = (4/grid dim = (800/' kernel-1.traceg
      body=$(sed -n '/^#BEGIN_TB/,$p' kernel-1.traceg)
      for ((i = 0; i < blocks; i++)); do echo "$body"; done; } > long.traceg
    (ulimit -v 400000; "$GRIDTIDE" import -q long.traceg -o long.jsonl) || [ "$(ulimit -v)" != unlimited ]
    [ "$(grep '^{"program"' long.jsonl | jq '.executions | add')" -eq $((440 * blocks)) ]
}

# A program in Accel-Sim's place, which ends the first of two kernels after 1500 cycles and hangs in the second. Measured are
# 1000 of the first, so that it is 50% off; Gridtide ends both.
@test "tests/bench/accelsim.sh compares both, and counts kernels that Accel-Sim does not end" {
    printf '#!/bin/sh\nprintf "kernel_launch_uid = 1\\ngpu_sim_cycle = 1500\\ngpu_tot_sim_cycle = 1500\\n"\nexec sleep 60\n' > accel-sim.out
    chmod +x accel-sim.out
    mkdir traced
    mv kernel-1.traceg kernelslist.g traced
    echo 'traced,0,1000' > measured.csv
    ACCELSIM_OUT=./accel-sim.out LIMIT=1 MEASURED=measured.csv run sh "$GRIDTIDE_SOURCE/tests/bench/accelsim.sh" traced
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "trace simulator kernels finished cycles error_pct seconds mb" ]
    [[ "${lines[1]}" == "traced accelsim 2 1 1500 50.0 "* ]]
    [[ "${lines[2]}" == "traced gridtide 2 2 "* ]]
    run sh "$GRIDTIDE_SOURCE/tests/bench/accelsim.sh"
    [ "$status" -eq 0 ]
    [[ "$output" == "not compared: "*"seconds and mb: "* ]]
}

@test "a block's rank in its cluster says how large clusters are" {
    sed '/^thread block = 0/a cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0' kernel-1.traceg |
        sed '/^thread block = 1/a cluster id = 0,0,0\ncluster cta = 1,0,0\ncluster rank = 1' > cluster.traceg
    "$GRIDTIDE" import -q cluster.traceg -o out.jsonl
    grep -q '^{"kernel":"loop","grid":\[4\],"block":\[64\],"cluster":\[2\],' out.jsonl
    "$GRIDTIDE" run -q out.jsonl -o run.db
}

# near NAME MODELLED MEASURED LIMIT
near() {
    awk -v a="$2" -v b="$3" -v limit="$4" -v name="$1" 'BEGIN { d = a - b; d = d < 0 ? -d : d; print name, a, b; exit d > limit }'
}

# modelled ARGUMENT...: the same five numbers of the kernel that known.py writes.
modelled() {
    python3 "$GRIDTIDE_SOURCE/tests/data/accelsim/known.py" "$@" > known.traceg
    programs known.traceg | jq -r '"\(.l1_load_hit) \(.l2_read_hit) \(.l2_read_sectors) \(.l2_write_sectors) \(.dram_read_bytes)"'
}

# Profiled on an H200: a stencil, whose neighbours L1 and L2 have, and a transpose, of which neither has any.
@test "the model of caches has the measured rates of two kernels whose addresses are known" {
    command -v zstd > /dev/null || skip "no zstd program"
    known=$GRIDTIDE_SOURCE/tests/data/accelsim/known.py
    for file in library library2; do zstd -dcq "$GRIDTIDE_SOURCE/traces/profiles/$file.jsonl.zst" > "$file"; done
    python3 "$known" measured library2 stencilILNS_10dimensionsE0 '[32,128]' > measured
    python3 "$known" measured library transpose '[32,32]' >> measured
    { modelled stencil 1024 1024 32 128; modelled transpose 1024 32; } > modelled
    [ "$(grep -c . measured)" -eq 2 ]
    while read -r l1 l2 reads writes dram _l1 _l2 _reads _writes _dram; do
        near l1_load_hit "$_l1" "$l1" 0.001
        near l2_read_hit "$_l2" "$l2" 0.08
        near l2_read_sectors "$_reads" "$reads" "$((reads / 100))"
        near l2_write_sectors "$_writes" "$writes" 0
        near dram_read_bytes "$_dram" "$dram" "$((dram / 100))"
    done < <(paste -d' ' measured modelled)
}

# Each kernel has 4 executed instructions and 3 * 65,536 - 4 others: five such files have 983,020 of these, six 1,179,624, more
# than 2^20 + 256 * 24.
@test "many kernels with little code far apart are refused before they take memory" {
    for i in $(seq 8); do
        { sed '/^#BEGIN_TB/,$d' kernel-1.traceg | sed "s/name = loop/name = far$i/; s/grid dim = (4/grid dim = (1/; s/block dim = (64/block dim = (32/"
          printf '#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 4\n'
          for at in 0 1 2; do printf '%x ffffffff 1 R%d MOV 0 0 0 \n' $((at * 65536 * 16)) "$i"; done
          printf '%x ffffffff 0 EXIT 0 0 0 \n\n#END_TB\n' $((3 * 65536 * 16 - 16)); } > "kernel-far-$i.traceg"
        echo "kernel-far-$i.traceg"
    done > kernelslist.g
    (ulimit -v 4000000; refused kernelslist.g "instructions were not executed, between and before the 24 that were")
}

@test "Accel-Sim's marks of waiting are no instructions" {
    sed 's/^insts = 55$/insts = 57/; s/^0020 .*/0020 ffffffff 0 REPLAY_START 0 0 0 \n&\n0030 ffffffff 0 REPLAY_END 0 0 0 /' kernel-1.traceg > marked.traceg
    grep -q '^insts = 57$' marked.traceg
    programs kernel-1.traceg > plain
    programs marked.traceg > marked
    cmp plain marked
}
