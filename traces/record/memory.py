"""Record programs at one size, and find at which sizes they run out of memory: `whatif --change batch=N`, `seq=N` predict the peak.

    python3 memory.py OUTPUT-FOLDER [PROGRAMS]

Each point (batch, sequence length) runs in a process of its own, so that nothing of another is in its GPU's memory.  Batches
grow fourfold from the recorded one on until one runs out of memory; then the gap is halved some times, so that sizes near the
limit are among the points.  The recorded point is profiled as shapes.py does it; results.jsonl has a line a point: peak_bytes
(torch.cuda.max_memory_allocated() of a step after two) and reserved_bytes (torch.cuda.max_memory_reserved() of the process), or
out_of_memory, and free_bytes, what a GPU without work had free.
"""
import fnmatch
import json
import os
import sys
import time

import torch

import shapes
from shapes_programs import Program, decoding, image_model, language, transformers_model, transformers_training

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
GROWTH, HALVINGS = 4, 5
MOST_BATCH = 1 << 16

# points: the recorded one, then a batch and a length of sequences from which batches grow.
PROGRAMS = [
    Program("gpt2-train", transformers_training("GPT2", "LMHeadModel", BF16, n_embd=1024, n_layer=16, n_head=16, vocab_size=32000),
            [(4, 320), (32, 320), (8, 700)]),
    Program("bert-train", transformers_training("Bert", "ForMaskedLM", FP32, hidden_size=768, intermediate_size=3072, num_hidden_layers=12,
                                                num_attention_heads=12, vocab_size=30000), [(8, 200), (64, 200)]),
    Program("qwen", transformers_model("Qwen2", BF16, "ForCausalLM", hidden_size=2048, intermediate_size=5504, num_hidden_layers=12,
                                       num_attention_heads=16, num_key_value_heads=4, vocab_size=64000), [(4, 400), (64, 400)]),
    Program("lm-eager-train", language(FP16, True, False, vocabulary=10000, width=896, layers=6, heads=14, fused=False),
            [(8, 300), (64, 300), (8, 900)]),
    Program("decode", decoding(BF16, 3072, 8, 24, 50000), [(16, 700), (64, 700)]),
    Program("resnet50-train", image_model("resnet50", FP32, train=True), [(24, 0), (96, 0)]),
]


def measure_peak(build, point):
    free = torch.cuda.mem_get_info()[0]
    try:
        torch.manual_seed(0)
        step = build(*point)
        for _ in range(2):
            step()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        step()
        torch.cuda.synchronize()
        return {"peak_bytes": torch.cuda.max_memory_allocated(), "free_bytes": free, "reserved_bytes": torch.cuda.max_memory_reserved()}
    except torch.cuda.OutOfMemoryError:
        return {"out_of_memory": True, "free_bytes": free}


def run(program, point, folder, base):
    """Measure in a process of its own; True: it ran out of memory, None: it failed otherwise."""
    path = os.path.join(folder, program.name + ".json")

    def action():
        row = measure_peak(program.build, point)
        if base:
            row.update(shapes.measure(program.build, point, path, True))
        row.update(program=program.name, batch=point[0], seq=point[1], base=base, gpu=torch.cuda.get_device_name())
        with open(os.path.join(folder, "results.jsonl"), "a") as out:
            print(json.dumps(row), file=out)
        with open(path + ".last", "w") as out:
            json.dump(row, out)

    if not shapes.in_child(action):
        return None
    with open(path + ".last") as last:
        row = json.load(last)
    os.remove(path + ".last")
    print(program.name, point, row.get("peak_bytes", "out of memory"), flush=True)
    return "out_of_memory" in row


def grow(program, start, folder):
    """From that point on: batches that grow until one does not fit, then halves of the gap."""
    batch, length = start
    fits = None
    while batch <= MOST_BATCH:
        full = run(program, (batch, length), folder, False)
        if full is None:
            return
        if full:
            break
        fits, batch = batch, GROWTH * batch
    for _ in range(HALVINGS if fits is not None and batch <= MOST_BATCH else 0):
        middle = (fits + batch) // 2
        full = run(program, (middle, length), folder, False)
        if full is None:
            return
        fits, batch = (fits, middle) if full else (middle, batch)


def main():
    folder, pattern = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "*"
    import transformers  # noqa: F401, here, so that processes need not; it touches no GPU
    import torchvision  # noqa: F401
    os.makedirs(folder, exist_ok=True)
    for program in PROGRAMS:
        if not fnmatch.fnmatch(program.name, pattern):
            continue
        began = time.time()
        if run(program, program.points[0], folder, True) is False:
            for start in program.points[1:]:
                grow(program, start, folder)
        print(program.name, "%.1f s" % (time.time() - began), flush=True)


if __name__ == "__main__":
    main()
