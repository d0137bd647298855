# gridtide calibrate where there is no GPU, and what its loops are made of.

setup() {
    cd "$BATS_TEST_TMPDIR"
}

@test "calibrate: --help and the manual name every group" {
    run "$GRIDTIDE" calibrate --help
    [ "$status" -eq 0 ]
    grep -q 'built without CUDA' <<< "$output" && skip "built without CUDA"
    groups=$(sed -n '/^Groups:$/,$s/^  \([a-z]*\)  .*/\1/p' <<< "$output")
    for group in limits connections clock structure dispatch latency pipes waits code memory rates hopper; do
        grep -qx "$group" <<< "$groups"
    done
    for group in $groups; do
        grep -qx "\.B $group" "$GRIDTIDE_SOURCE/sim/man/gridtide-calibrate.1"
    done
}

@test "calibrate: a group that is none is named, with those that are" {
    run "$GRIDTIDE" calibrate -o device.ini --only pips
    [ "$status" -eq 1 ]
    [ ! -e device.ini ]
    grep -q "not built" <<< "$output" && skip "built without CUDA"
    grep -q "no group 'pips'; groups are limits, .*, pipes, waits, code, memory, rates, hopper" <<< "$output"
}

@test "calibrate: without a GPU it says so and writes nothing" {
    [ -e /dev/nvidiactl ] && skip "there may be a GPU"
    run "$GRIDTIDE" calibrate -o device.ini
    [ "$status" -eq 1 ]
    [ ! -e device.ini ]
    grep -Eq "no GPU to calibrate|not built" <<< "$output"
}

@test "calibrate: families is a group; without a GPU neither a device file nor a table is left" {
    run "$GRIDTIDE" calibrate --help
    grep -q 'built without CUDA' <<< "$output" && skip "built without CUDA"
    grep -q '^  families .*cuBLAS' <<< "$output"
    [ -e /dev/nvidiactl ] && skip "there may be a GPU"
    mkdir here
    run env GRIDTIDE_CUBLAS=/nowhere/libcublas.so.13 "$GRIDTIDE" calibrate -o here/device.ini --only families
    [ "$status" -eq 1 ]
    grep -q "no GPU to calibrate" <<< "$output"
    [ -z "$(ls -A here)" ]
    run "$GRIDTIDE" calibrate -o - --only families
    [ "$status" -eq 1 ]
}

@test "calibrate: a table of products beside a device file is found from anywhere; a broken one is named" {
    mkdir here
    sed 's/^sweep = .*/sweep = mine-products.csv/' "$GRIDTIDE_SOURCE/sim/devices/h200.ini" > here/mine.ini
    printf '# comment, with commas\nprecision,form,batch,m,n,k,us\nhalf,TN,1,64,64,64,2.5\n' > here/mine-products.csv
    trace=$GRIDTIDE_SOURCE/traces/shapes/fresh/roberta.json.gz
    "$GRIDTIDE" whatif -q "$trace" --device here/mine.ini --change batch=4 -f json -o a.db > answer.json
    mkdir there && mv here/mine* there/
    "$GRIDTIDE" whatif -q "$trace" --device there/mine.ini --change batch=4 -f json -o a.db > again.json
    cmp answer.json again.json
    printf 'half,TN,1,64,64,0,2.5\n' >> there/mine-products.csv
    run "$GRIDTIDE" whatif -q "$trace" --device there/mine.ini --change batch=4 -f json -o a.db
    [ "$status" -eq 1 ]
    grep -q "there/mine-products.csv:4: k is '0', not a number above 0" <<< "$output"
    rm there/mine-products.csv
    run "$GRIDTIDE" whatif -q "$trace" --device there/mine.ini --change batch=4 -f json -o a.db
    [ "$status" -eq 1 ]
    grep -q "no table of products mine-products.csv" <<< "$output"
}

# What an instruction of kernels/calibrate/pipes.cu is in machine code, by the name of its type there.
instructions="alu LOP3, uniform USHF, fma32 FFMA, imad IMAD, hfma2 HFMA2, halves HFMA2, dfma DFMA,
    square64 DFMA, mufu MUFU.EX2, shuffle SHFL, lds LDS, ldsm LDSM, atoms ATOMS, ldc LDC,
    hmma HMMA.16816.F32, hmma8 HMMA.1688.F32, hmma_half HMMA.16816.F16,
    tf32 HMMA.1688.F32.TF32, imma IMMA.16832, dmma DMMA"

@test "calibrate: the compiler leaves the loops over one instruction as they are" {
    command -v nvdisasm > /dev/null && command -v nvcc > /dev/null || skip "no nvcc or no nvdisasm"
    source=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    nvcc -std=c++20 -O3 -I"$source" -arch=sm_90 -cubin -o pipes.cubin "$source/kernels/calibrate/pipes.cu"
    nvdisasm -c pipes.cubin > pipes.sass
    tr ',' '\n' <<< "$instructions" | while read -r type mnemonic; do
        [ -n "$type" ] || continue
        # _ZN..4loopINS_<length><type>ELi<chains>ELi<body>EEEv...
        awk -v type="4loopI.*_${#type}${type}ELi" -v mnemonic="$mnemonic" '
            /\.section[ \t]+\.text\./ {
                inside = match($0, type)
                body = $0; sub(/E+v.*/, "", body); sub(/.*Li/, "", body)
                loops += inside ? 1 : 0
            }
            inside && match($0, /\*\/ +(@!?U?P[0-9T]+ +)?/) {
                at = substr($0, RSTART + RLENGTH)
                if (index(at, mnemonic) == 1) count[loops]++
            }
            { wanted[loops] = body + 0 }
            END {
                if (loops < 2) { print type, "has no loops"; exit 1 }
                for (i = 1; i <= loops; i++)
                    if (count[i] < wanted[i] || count[i] > wanted[i] + 12) {
                        print mnemonic, "is there", count[i] + 0, "times, not", wanted[i]; exit 1
                    }
            }' pipes.sass
    done
}
