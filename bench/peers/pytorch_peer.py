#!/usr/bin/env python3
"""The book and tutorial networks in PyTorch on the CPU.

Forms: `eager`         a Sequential and torch.optim with its multi-tensor or fused update
       `channels_last` the same with channels-last memory, often faster on the CPU
"""
import os

import peer_common

FLAGS = peer_common.parse_flags(__doc__.splitlines()[0], ["eager", "channels_last"])

import torch
from torch import nn

torch.set_num_threads(FLAGS.threads)
torch.manual_seed(1)
CONVOLUTIONS, PADDING, HIDDEN = peer_common.MODELS[FLAGS.model]


def make_model():
    layers, channels, side = [], 1, 28
    for size, filters in CONVOLUTIONS:
        pad = size // 2 if PADDING == "SAME" else 0
        layers += [nn.Conv2d(channels, filters, size, padding=pad), nn.ReLU(), nn.MaxPool2d(2)]
        channels, side = filters, (side + 2 * pad - size + 1) // 2
    layers += [nn.Flatten(), nn.Linear(side * side * channels, HIDDEN), nn.ReLU(),
               nn.Linear(HIDDEN, 10)]
    return nn.Sequential(*layers)


def make_optimizer(parameters):
    if FLAGS.model != "book":
        return torch.optim.SGD(parameters, lr=0.01)
    try:
        return torch.optim.Adam(parameters, lr=1e-4, fused=True)
    except (RuntimeError, TypeError):  # the fused CPU update came with 2.4
        return torch.optim.Adam(parameters, lr=1e-4)


def run_worker(rank, port):
    """One of several processes: gradients are averaged by DistributedDataParallel over Gloo."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.distributed.init_process_group("gloo", rank=rank, world_size=FLAGS.workers)
    train(lambda model: nn.parallel.DistributedDataParallel(model), prints=rank == 0)
    torch.distributed.destroy_process_group()


def main():
    if FLAGS.workers == 1:
        return train(lambda model: model, prints=True)
    torch.multiprocessing.spawn(run_worker, (peer_common.free_ports(1)[0],), nprocs=FLAGS.workers)


def train(wrap, prints):
    torch.set_num_threads(FLAGS.threads)
    layout = torch.channels_last if FLAGS.form == "channels_last" else torch.contiguous_format
    model = wrap(make_model().to(memory_format=layout))
    optimizer = make_optimizer(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    data = [(torch.from_numpy(x.transpose(0, 3, 1, 2).copy()).to(memory_format=layout),
             torch.from_numpy(y)) for x, y in peer_common.batches(FLAGS)]

    def step(batch):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.item()

    peer_common.measure(FLAGS, "pytorch", torch.__version__, data, step, prints)


if __name__ == "__main__":
    main()
