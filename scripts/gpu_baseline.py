#!/usr/bin/env python3
"""What a card gives, and PyTorch's ResNet-50 and decoder on it, as JSON; for scripts/gpu_check.sh.

usage: gpu_baseline.py ceilings | resnet50 BATCH [compiled] | decoder BATCH [compiled]
"""

import json
import sys
import time

import torch
from torch import nn


def milliseconds(call, repeats):
    """Median time of one call on the GPU."""
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def ceilings():
    count = 1 << 29
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    copy = milliseconds(lambda: target.copy_(source), 20)
    size = 8192
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    product = milliseconds(lambda: a @ b, 20)
    print(json.dumps({"copy_gbytes_per_second": round(2 * 4 * count / copy / 1e6, 1),
                      "bf16_tflops_per_second": round(2 * size**3 / product / 1e9, 1)}))


class Block(nn.Module):
    """Bottleneck of ResNet-50 v1.5: the stride is in the 3x3 convolution."""

    def __init__(self, inner, width, stride):
        super().__init__()
        outer = 4 * width
        self.path = nn.Sequential(
            nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True), nn.Conv2d(width, outer, 1, bias=False), nn.BatchNorm2d(outer))
        self.shortcut = nn.Identity() if inner == outer and stride == 1 else nn.Sequential(
            nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return torch.relu(self.path(x) + self.shortcut(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inner = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Block(inner, 64 << stage, 2 if stage and not i else 1))
            inner = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class DecoderBlock(nn.Module):
    """As in examples/text_transformer/model.hpp: normalization in front of each part."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                   nn.Linear(4 * width, width))

    def forward(self, x):
        batch, places, width = x.shape
        q, k, v = (part.view(batch, places, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.joined(y.transpose(1, 2).reshape(batch, places, width))
        return x + self.dense(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, layers, width, heads, context, vocabulary):
        super().__init__()
        self.characters = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(DecoderBlock(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.blocks(self.characters(tokens) + self.places(places)))
        with torch.autocast(x.device.type, enabled=False):  # logits are float32
            return self.head(x.float())


def report(step, begin, what, examples):
    """Figures of a step that trains with `examples`, from the start at `begin` on."""
    step()
    torch.cuda.synchronize()
    first = time.time() - begin
    ms = milliseconds(step, 30)
    print(json.dumps({what: round(examples / ms * 1000, 1), "step_ms_p50": round(ms, 3),
                      "seconds_to_first_step": round(first, 2),
                      "peak_gpu_bytes": torch.cuda.max_memory_allocated()}))


def train_decoder(batch, compiled, device="cuda"):
    begin = time.time()
    context, vocabulary = 1024, 128
    model = Decoder(12, 768, 12, context, vocabulary).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.1, fused=True)
    x, y = (torch.randint(0, vocabulary, (batch, context), device=device) for _ in range(2))
    forward = torch.compile(model) if compiled else model

    def step():
        with torch.autocast(device, torch.bfloat16):
            logits = forward(x)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    report(step, begin, "tokens_per_second", batch * context)


def train(batch, compiled):
    begin = time.time()
    torch.backends.cudnn.benchmark = True
    model = resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, fused=True)
    x = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (batch,), device="cuda")
    forward = torch.compile(model) if compiled else model

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    report(step, begin, "images_per_second", batch)


if sys.argv[1:] == ["ceilings"]:
    ceilings()
elif sys.argv[1:2] == ["resnet50"] and len(sys.argv) in (3, 4):
    train(int(sys.argv[2]), sys.argv[3:] == ["compiled"])
elif sys.argv[1:2] == ["decoder"] and len(sys.argv) in (3, 4):
    train_decoder(int(sys.argv[2]), sys.argv[3:] == ["compiled"])
else:
    sys.exit(__doc__)
