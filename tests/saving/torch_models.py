"""Models of PyTorch with random weights, and what they give.

write DIR    writes NAME.safetensors and NAME.io.safetensors (x, y) of every small model
check DIR    loads the files that the test wrote, NAME.safetensors, and compares what the models give
resnet DIR   as write and, where the test has written resnet.tuned.safetensors, check, of ResNet-50

tests/saving/files/torch holds what `write` made with PyTorch 2.15. Ends with status 77 where there
is no PyTorch."""
import json
import os
import sys

try:
    import torch
    from safetensors.torch import load_file, save_file
    from torch import nn
except ImportError:
    sys.exit(77)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.deep = nn.Conv2d(8, 16, 3, groups=8)
        self.up = nn.ConvTranspose2d(16, 6, 2, stride=2)
        self.line = nn.Conv1d(6, 4, 3)
        self.norm = nn.GroupNorm(2, 4)
        self.act = nn.PReLU(4)
        self.fc = nn.Linear(4 * 62, 5)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = self.up(self.deep(x))  # [batch, 6, 8, 8]
        x = self.act(self.norm(self.line(x.flatten(2))))
        return self.fc(x.flatten(1))


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 4, batch_first=True)
        self.both = nn.GRU(4, 3, batch_first=True, bidirectional=True)
        self.rnn = nn.RNN(6, 3, batch_first=True)
        self.norm = nn.LayerNorm(3)
        self.out = nn.Sequential(nn.Linear(3, 7), nn.ReLU(), nn.Linear(7, 2))

    def forward(self, x):
        x = self.lstm(self.embed(x))[0]
        x = self.both(self.gru(x)[0])[0]
        return self.out(self.norm(self.rnn(x)[0]))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiheadAttention(8, 2, batch_first=True)
        self.cross = nn.MultiheadAttention(8, 4, kdim=6, vdim=6, batch_first=True)

    def forward(self, x):
        y = self.own(x, x, x)[0]
        return self.cross(y, x[:, :3, :6], x[:, :3, :6])[0]


def models():
    torch.manual_seed(7)
    for name, model, x in [
            ("conv_net", ConvNet(), torch.randn(2, 3, 6, 6)),
            ("sequences", Sequences(), torch.randint(0, 11, (3, 5))),
            ("attention", Attention(), torch.randn(2, 4, 8)),
    ]:
        for key, value in model.state_dict().items():
            if value.is_floating_point():  # biases that are not zero, moving values that are no start
                value.copy_(torch.rand_like(value) + 0.5 if key.endswith("var")
                            else torch.randn_like(value) * 0.4)
        yield name, model.eval(), x


def write_in_two(state, directory):
    """The same tensors in two files with an index, as transformers writes large models."""
    names = ["sequences-00001-of-00002.safetensors", "sequences-00002-of-00002.safetensors"]
    keys = sorted(state)
    halves = [keys[:len(keys) // 2], keys[len(keys) // 2:]]
    for name, half in zip(names, halves):
        save_file({key: state[key].contiguous() for key in half}, f"{directory}/{name}")
    weight_map = {key: name for name, half in zip(names, halves) for key in half}
    with open(f"{directory}/sequences.safetensors.index.json", "w", encoding="ascii") as file:
        json.dump({"metadata": {"total_size": 0}, "weight_map": weight_map}, file, indent=1)


def write(directory):
    with torch.no_grad():
        for name, model, x in models():
            state = model.state_dict()
            if name == "sequences":
                write_in_two(state, directory)
            else:
                save_file(state, f"{directory}/{name}.safetensors")
            save_file({"x": x, "y": model(x).contiguous()}, f"{directory}/{name}.io.safetensors")
            if name == "attention":
                for dtype in ("bfloat16", "float16"):
                    save_file({k: v.to(getattr(torch, dtype)) for k, v in state.items()},
                              f"{directory}/{name}.{dtype}.safetensors")


def compare(name, model, x, y, tolerance=1e-5):
    with torch.no_grad():
        apart = (model.eval()(x) - y).abs().max().item()
    print(name, apart)
    if not apart <= tolerance:
        sys.exit(f"{name}: {apart} apart")


def check(directory):
    for name, model, x in models():
        wanted = load_file(f"{directory}/{name}.io.safetensors")
        model.load_state_dict(load_file(f"{directory}/{name}.safetensors"))
        compare(name, model, wanted["x"], wanted["y"])


def resnet(directory):
    try:
        import torchvision
    except ImportError:
        sys.exit(77)
    torch.manual_seed(3)
    model = torchvision.models.resnet50(weights=None, num_classes=10)
    for key, value in model.state_dict().items():
        if key.endswith("running_mean"):
            value.copy_(torch.randn_like(value) * 0.1)
        elif key.endswith("running_var"):
            value.copy_(torch.rand_like(value) + 0.5)
    tuned = f"{directory}/resnet.tuned.safetensors"
    if os.path.exists(tuned):
        model.load_state_dict(load_file(tuned))
        wanted = load_file(f"{directory}/resnet.tuned.io.safetensors")
        return compare("resnet", model, wanted["x"], wanted["y"], 1e-4)
    x = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        y = model.eval()(x)
    save_file(model.state_dict(), f"{directory}/resnet.safetensors")
    return save_file({"x": x, "y": y}, f"{directory}/resnet.io.safetensors")


def shards(directory):
    """Opens the files of an index as transformers does, and prints what they hold."""
    from safetensors import safe_open
    with open(f"{directory}/model.safetensors.index.json", encoding="ascii") as file:
        index = json.load(file)
    bytes_of_all = 0
    for name in sorted(set(index["weight_map"].values())):
        with safe_open(f"{directory}/{name}", framework="pt") as file:
            wanted = {key for key, own in index["weight_map"].items() if own == name}
            if set(file.keys()) != wanted:
                sys.exit(f"{name} has {sorted(file.keys())}, the index says {sorted(wanted)}")
            for key in file.keys():
                value = file.get_tensor(key)
                bytes_of_all += value.numel() * value.element_size()
                print(key, list(value.shape), float(value.sum()))
    if bytes_of_all != index["metadata"]["total_size"]:
        sys.exit(f"{bytes_of_all} bytes, the index says {index['metadata']}")


{"write": write, "check": check, "resnet": resnet, "shards": shards}[sys.argv[1]](sys.argv[2])
