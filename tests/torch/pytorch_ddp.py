"""Prints what PyTorch's DistributedDataParallel over Gloo gives for the runs of ddp_test.cpp.

Usage: pytorch_ddp.py NET RANKS STEPS     NET: book, residual, sparse, uneven
Each line: "loss RANK STEP VALUE", at last "weights RANK SUM SQUARES".
"""
import os
import sys
import tempfile

try:
    import torch
except ImportError:
    sys.exit(77)
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.functional import cross_entropy, max_pool2d, relu


class Book(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = relu(max_pool2d(self.conv1(x), 2))
        x = relu(max_pool2d(self.conv2(x), 2))
        return self.fc2(relu(self.fc1(x.view(-1, 320))))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm1 = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv, self.norm2 = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = relu(self.norm1(self.stem(x)))
        x = relu(x + self.norm2(self.conv(x)))
        return self.fc(x.mean([2, 3]))


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(30, 6, sparse=True), nn.Linear(6, 10)

    def forward(self, x):
        return self.fc(self.table((x[:, 0, 0, :4].abs() * 29).long()).mean(1))


def waves(shape, phase):
    count = 1
    for size in shape:
        count *= size
    return torch.sin(torch.arange(count, dtype=torch.float64) * 0.37 + phase).float().view(shape)


def rank_main(rank, ranks, net, steps, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    model = {"book": Book, "residual": Residual, "sparse": Sparse, "uneven": Book}[net]()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            # Rank 0's values are taken for all.
            parameter.copy_(waves(parameter.shape, number + rank) * 0.05)
    ddp = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.0 if net == "sparse" else 0.5)

    def train(own_steps):
        for step in range(own_steps):
            x = waves((6, 1, 28, 28), 100 * step + rank)
            y = (torch.arange(6) * 3 + rank + step) % 10
            optimizer.zero_grad()
            loss = cross_entropy(ddp(x), y)
            loss.backward()
            optimizer.step()
            lines.append(f"loss {rank} {step} {loss.item():.9g}")

    lines = []
    if net == "uneven":
        with ddp.join():
            train(steps + 2 * rank)
    else:
        train(steps)
    weights = torch.cat([parameter.detach().double().flatten() for parameter in model.parameters()])
    lines.append(f"weights {rank} {weights.sum().item():.9g} {weights.square().sum().item():.9g}")
    with open(f"{store}.{rank}", "w") as out:
        out.write("\n".join(lines) + "\n")
    dist.barrier()
    dist.destroy_process_group()


def main():
    net, ranks, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        mp.spawn(rank_main, (ranks, net, steps, store), nprocs=ranks)
        for rank in range(ranks):
            print(open(f"{store}.{rank}").read(), end="")


if __name__ == "__main__":
    main()
