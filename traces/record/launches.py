r"""Launch the kernels of the PyTorch samples for Nsight Compute, each program once after three times unseen:

    ncu --set full --clock-control none --import-source no --profile-from-start off -o REPORT \
        python3 launches.py

A graph's kernels are profiled as launches of one of its equal layers, and one of equal batches.
"""
import torch

import record


def transformer_layer():
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0).cuda().half().eval()
    data = torch.randn(8, 128, 512, device="cuda").half()

    def run():
        with torch.no_grad():
            layer(data)
    return run


def main():
    torch.manual_seed(1)
    programs = {"pytorch-transformer-graph": transformer_layer,
                "pytorch-prefetch": lambda: record.prefetch(1),
                "pytorch-training-step": record.training_step}
    for name, make in programs.items():
        print(name, flush=True)
        record.launch(make())


main()
