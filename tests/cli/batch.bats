# An inference engine that batches requests: gridtide batch.
#
# The toy device: two SMs, calls of 1 us, no latencies and gaps.  A pass is a kernel on both SMs and a wait: its call returns at 1 us, and the
# pass is over that much later than its blocks take.

setup()
{
    cd "$BATS_TEST_TMPDIR"
    # A pass of decode takes 10 us, one of prefill 100 us, whatever their sizes: they have no operators from which others are derived.
    for pass in decode:9 prefill:99; do
        printf '%s\n' "{\"gridtide\":1,\"name\":\"${pass%:*}\",\"device\":\"toy\"}" \
            "{\"kernel\":\"k\",\"grid\":2,\"block\":1024,\"block_us\":${pass#*:}}" \
            '{"call":"launch","kernel":"k"}' '{"call":"device_sync"}' > ${pass%:*}.jsonl
    done
    printf 'seconds,prompt_tokens,output_tokens\n0,10,3\n0.00005,10,2\n' > two.csv
    cat > two.jsonl << 'END'
// Two requests.
{"engine":"two","device":"toy","sequences":4,"ttft_us":120,"tpot_us":100}
{"pass":"decode","trace":"decode.jsonl","sequences":1,"context":64}
{"pass":"prefill","trace":"prefill.jsonl","tokens":16}
{"requests":"file","file":"two.csv"}
END
}

@test "batch: policies, as worked out by hand" {
    # A comes at 0 and makes 3 tokens, B at 50 us and makes 2.
    # continuous: A's first token at 100, B's at 200, both decode until 210 (B is done), A until 220.
    # decode-first: A decodes once until 110, B's first token at 210, both decode until 220.
    # static: as continuous.  chunked, 6 tokens a pass: A's first token after two passes at 200, B's at 400 beside A's second and third.
    while read -r policy ttft latency; do
        "$GRIDTIDE" batch -q two.jsonl --policy "${policy//_/ }" --format csv | tr -d '\r' > out.csv
        cat out.csv
        grep -q "^latency,ttft,[^,]*,100,$ttft,$ttft,$ttft\$" out.csv
        grep -q "^latency,latency,.*,$latency\$" out.csv
    done << 'END'
continuous 150 220
decode-first_passes=1 160 220
static 150 220
END
    "$GRIDTIDE" batch -q two.jsonl --policy 'chunked tokens=6' --format csv | tr -d '\r' | grep '^latency,ttft,275,200,350,350,350$'
}

@test "batch: goals, throughput, and where the time between tokens goes" {
    "$GRIDTIDE" batch -q two.jsonl --format json > out.json
    # A's first token comes within 120 us, and its tokens every 60 us; B's first one at 150 us.
    python3 - << 'END'
import json
out = json.load(open("out.json"))
assert out["engine"]["good_pct"] == 50 and out["engine"]["passes"] == 4, out["engine"]
assert abs(out["engine"]["output_tokens_per_s"] - 5 / 220e-6) < 1
parts = {row["between_tokens"]: row["us"] for row in out["tokens"]}
# A's two tokens took 120 us: 100 of B's prefill, 20 of its own; B's one 10 us.
assert abs(parts["prefill"] - 100 / 3) < 0.1 and abs(parts["own"] - 10) < 0.1, parts
assert any("interpolated" in row["assumption"] for row in out["assumptions"])
END
}

@test "batch: several policies and rates are a row each, the same with the same seed" {
    sed -i 's/{"requests".*/{"requests":"poisson","per_s":1000,"count":200,"prompt_tokens":20,"prompt_spread":0.5,"output_tokens":5}/' two.jsonl
    "$GRIDTIDE" batch -q two.jsonl --policy continuous,static --rate 500,2000 --format csv > one.csv
    "$GRIDTIDE" batch -q two.jsonl --policy continuous,static --rate 500,2000 --format csv > again.csv
    cmp one.csv again.csv
    [ "$(grep -c '^sweep,' one.csv)" = 4 ]
    grep -q '^sweep,continuous,500,200,' one.csv
}

@test "batch: what passes cost" {
    "$GRIDTIDE" batch -q two.jsonl --costs --format csv | tr -d '\r' > out.csv
    grep -qx 'decode,1,64,10,0' out.csv
    grep -qx 'prefill,16,0,100,0' out.csv
}

@test "batch: published traces of requests" {
    # Columns as BurstGPT, Azure and Mooncake name them; a request without output is left out.
    printf 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,10,3,13,Log\n5.00005,ChatGPT,10,2,12,Log\n6,ChatGPT,9,0,9,Log\n' > burst.csv
    printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.680000,10,3\n2023-11-16 18:15:46.680050,10,2\n' > azure.csv
    printf '{"timestamp":0,"input_length":10,"output_length":3,"hash_ids":[1]}\n{"timestamp":0.05,"input_length":10,"output_length":2,"hash_ids":[2]}\n' > mooncake.jsonl
    for file in burst.csv azure.csv mooncake.jsonl; do
        sed "s/two.csv/$file/" two.jsonl > other.jsonl
        "$GRIDTIDE" batch -q other.jsonl --format csv | tr -d '\r' > out.csv
        cat out.csv
        grep -q '^latency,latency,[0-9.]*,1[56][0-9.]*,2[12][0-9.]*,' out.csv
    done
}

@test "batch: what is wrong is said, and nothing is printed" {
    expect() # TEXT FILE...
    {
        run "$GRIDTIDE" batch -q "${@:2}"
        echo "$output"
        [ "$status" = "${wrong:-1}" ]
        [[ "$output" == *"$1"* ]]
    }
    wrong=2 expect "name an engine file"
    expect "no-such.jsonl" no-such.jsonl
    expect "no policy 'best'" two.jsonl --policy best
    expect "--rate is for requests that are drawn" two.jsonl --rate 3
    wrong=2 expect "--rate needs numbers" two.jsonl --rate x
    expect "the GPU has 2 SMs" two.jsonl --policy split
    sed '/"pass":"decode"/d' two.jsonl > one.jsonl
    expect "no recorded pass of decode" one.jsonl
    sed '/requests/d' two.jsonl > one.jsonl
    expect "no requests" one.jsonl
    sed 's/"sequences":1,//' two.jsonl > one.jsonl
    expect 'one.jsonl:3: a pass of decode needs its "sequences"' one.jsonl
    sed 's/"tokens":16/"tokens":16,"context":3/' two.jsonl > one.jsonl
    expect 'one.jsonl:4: a pass of prefill has "tokens" and "before" alone' one.jsonl
    sed 's/"sequences":4/"sequences":4,"kv_tokens":12/' two.jsonl > one.jsonl
    expect "one.jsonl: request 1 has 10 tokens in its prompt and 3 in its output" one.jsonl
    sed 's/"sequences":4/"sequenced":4/' two.jsonl > one.jsonl
    expect 'the engine has no field "sequenced"' one.jsonl
    printf 'seconds\n0\n' > two.csv
    expect "two.csv:1: no column prompt_tokens" two.jsonl
    printf 'seconds,prompt_tokens,output_tokens\n0,-3,2\n' > two.csv
    expect "two.csv:2: '-3' in column prompt_tokens is no number of tokens" two.jsonl
}

@test "batch: files cut anywhere or damaged end with an error or an answer" {
    sed -i 's/{"requests".*/{"requests":"bursty","per_s":1000,"burst":3,"count":20,"prompt_tokens":20,"output_tokens":5}/' two.jsonl
    bytes=$(wc -c < two.jsonl)
    for at in $(seq 1 7 "$bytes"); do
        head -c "$at" two.jsonl > cut.jsonl
        run "$GRIDTIDE" batch -q cut.jsonl
        [ "$status" -le 1 ]
        sed "s/./}/$at" two.jsonl > cut.jsonl
        run "$GRIDTIDE" batch -q cut.jsonl
        [ "$status" -le 1 ]
    done
}

@test "batch: passes derived from a recorded one are near those that were recorded at that size" {
    # templates.jsonl: decoding of 8 sequences with 1792 tokens took 13.2 ms, prefill of 512 tokens 26.5 ms.
    folder=$BATS_TEST_DIRNAME/../../traces/serving/wide
    grep '"decode", "size": \[8, 1792\]\|"prefill", "size": \[512, 0\]' "$folder/templates.jsonl"
    printf '%s\n' '{"engine":"wide","device":"h200","sequences":8}' \
        "{\"pass\":\"decode\",\"trace\":\"$folder/decode-24x256.json.gz\",\"sequences\":24,\"context\":256}" \
        "{\"pass\":\"prefill\",\"trace\":\"$folder/prefill-256x0.json.gz\",\"tokens\":256}" \
        '{"requests":"periodic","per_s":1,"count":1,"prompt_tokens":500,"output_tokens":1292}' > wide.jsonl
    "$GRIDTIDE" batch -q wide.jsonl --costs --format csv | tr -d '\r' > out.csv
    awk -F, 'function off(us, real) { return us / real - 1 } # within 10%
        $1 == "decode" && $2 == 8 && $3 == 2048 { at = $4 } $1 == "decode" && $2 == 8 && $3 == 1024 { before = $4 }
        $1 == "prefill" && $2 == 512 && $3 == 0 { prefill = $4 }
        END { decode = before + (at - before) * 0.75
              print decode, prefill
              if (off(decode, 13163) ^ 2 > 0.01 || off(prefill, 26550) ^ 2 > 0.01) exit 1 }' out.csv
}
