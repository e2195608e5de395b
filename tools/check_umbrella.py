#!/usr/bin/env python3
"""Checks the headers that stand outside of the floors; --fix writes them anew.

They follow from where the files lie (and the list of optimizers from what these say): an umbrella includes what is public in its folders, and in
header-only programs the bodies that this reaches; impl/*src.hpp have all bodies of one part.
Also checks the pairs: every impl/x.ipp and impl/x_part.ipp has its x.hpp or detail/x.hpp, which another file includes.
Usage: tools/check_umbrella.py [--fix]
"""
import collections
import itertools
import pathlib
import re
import sys

from floors import (ANNEXES, BESIDE_TRAINERS, CORE, INCLUDE, LIBRARY, OPTIONAL, TRAINER_FLOORS, WITH_TRAINERS, bodies,
                    bodies_of, files, header_of, included, includes, public_headers, rank, reached, without_gpus)
from written import out_of_date, report

STRATEGY_USERS = INCLUDE.parent / "cmake/strategy_users.txt"

# What all lists with one of these bodies have in common is a list of its own; chosen so that the lists are short.
SHARED_BY = ("tensor/impl/tensor.ipp", "cluster/impl/cluster_runtime.ipp", "nn/impl/activation.ipp",
             "data/impl/auto_shard.ipp", "coordinator/impl/closure.ipp")


def lines(names):
    """Include lines, a blank line between folders."""
    blocks = [sorted(block) if folder == "impl" else list(block)
              for folder, block in itertools.groupby(names, key=lambda name: name.split("/")[0])]
    return "".join("\n" + "".join(f"#include <distribute/{name}>\n" for name in block)
                   for block in blocks)


# Around everything that a program may include at once: macros that are names in it.
ASIDE, BACK = (f"\n#include <distribute/base/detail/macros_{word}.inc>\n" for word in ("aside", "back"))


def list_of(comment, names, before=""):
    return f"#pragma once\n/// {comment}.\n/// Written by tools/check_umbrella.py.\n{before}{lines(names)}"


def umbrella(comment, headers, body):
    return list_of(comment, headers, ASIDE) + f"""
#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/{body}>
#endif
{BACK}"""


def bodies_reached(seeds):
    return [name for name in reached(seeds, with_bodies=True) if name.endswith(".ipp")]


def bodies_always(seeds):
    """Of these the ones that builds without GPUs reach, too."""
    return [name for name in reached(seeds, True, without_gpus) if name.endswith(".ipp")]


def with_gpu_bodies(text, seeds):
    """A list of bodies_always() with what only builds for GPUs reach behind it."""
    always = set(bodies_always(seeds))
    gpu = lines(name for name in bodies_reached(seeds) if name not in always)
    return text.removesuffix(BACK) + f"\n#if DISTRIBUTE_HAS_CUDA\n{gpu.lstrip()}#endif\n" + BACK


def lists_within_lists(wanted):
    """From {file: (comment, bodies)} to texts: a list includes the largest others that it contains."""
    texts = {}
    for file, (comment, names) in wanted.items():
        left, others = set(names), []
        while True:
            gains = {other: len(left & set(held)) for other, (_, held) in wanted.items()
                     if set(held) < set(names) and left & set(held)}
            best = max(gains, key=gains.get, default=None)
            if not best or gains[best] < 4:
                break
            others.append(best)
            left -= set(wanted[best][1])
        texts[file] = list_of(comment, others + [name for name in names if name in left], ASIDE) + BACK
    return texts


def trainer_headers():
    """What strategy.hpp includes: whole floors, and single headers of others."""
    return [*WITH_TRAINERS, *(name for name in public_headers(TRAINER_FLOORS)
                              if name not in BESIDE_TRAINERS)]


def annex_headers(annex):
    registration = f"{annex}/detail/registration.hpp"
    return sorted([*public_headers([annex]), *({registration} & set(files()))])


def optimizer_classes():
    """Every class of optim/ that has a class_name(), by that name."""
    found = {}
    for header in public_headers(["optim"]):
        names = re.findall(r'class_name\(\) const override { return "(\w+)"; }',
                           (LIBRARY / header).read_text())
        found |= {name: header for name in names}
    rows = "".join(f'    {{"{name}", {name}::from_config}},\n' for name in found)
    return list_of("The optimizers that optim::deserialize() knows without register_optimizer()",
                   sorted(set(found.values()))) + f"""
namespace distribute::optim::optim_internal {{

using FromConfig = std::unique_ptr<Optimizer> (*)(const OptimizerConfig&);

inline constexpr std::pair<const char*, FromConfig> kOptimizerClasses[] = {{
    // clang-format off
{rows}    // clang-format on
}};

}}  // namespace distribute::optim::optim_internal
"""


def body_lists():
    """From each list of bodies to its comment and its bodies."""
    trainer = trainer_headers()
    wanted = {"impl/strategy_bodies.hpp": ("The bodies that strategy.hpp reaches",
                                           bodies_always(trainer)),
              "impl/src.hpp": ("All bodies of the core, for one file of a program", bodies(CORE))}
    for annex in ANNEXES:
        wanted[f"impl/{annex}_bodies.hpp"] = (f"The bodies that {annex}.hpp reaches",
                                              bodies_reached(annex_headers(annex) + bodies([annex])))
        wanted[f"impl/{annex}_src.hpp"] = (f"All bodies of the annex {annex}", bodies([annex]))
    every = [set(names) for file, (_, names) in wanted.items()
             if not any(f"impl/{annex}_" in file for annex in OPTIONAL)]
    for part in SHARED_BY:
        names = set.intersection(*(names for names in every if part in names))
        wanted[f"impl/{part.split('/')[0]}_shared.hpp"] = (f"The bodies that all lists with {part} have",
                                                           sorted(names, key=rank))
    return wanted


def expected():
    """From each header outside of the floors to its text."""
    trainer = trainer_headers()
    texts = {
        "strategy.hpp": umbrella("What a trainer needs: strategies, tensors, layers, optimizers, "
                                 "datasets, checkpoints", trainer, "strategy_bodies.hpp"),
        "distribute.hpp": umbrella("The whole core", public_headers(CORE), "src.hpp"),
        "optim/detail/optimizer_classes.hpp": optimizer_classes(),
        **lists_within_lists(body_lists()),
    }
    texts["impl/strategy_bodies.hpp"] = with_gpu_bodies(texts["impl/strategy_bodies.hpp"], trainer)
    for annex in ANNEXES:
        texts[f"{annex}.hpp"] = umbrella(f"The annex {annex}", annex_headers(annex),
                                         f"{annex}_bodies.hpp")
    return texts


def strategy_users():
    """Bodies that include what users see of strategies; see cmake/DistributeLibraries.cmake."""
    return "".join(f"distribute/{body}\n" for body in bodies(CORE + list(ANNEXES))
                   if "strategy/strategy.hpp" in reached([body], with_bodies=False))


def cmake_problems():
    """CMake has the same folders as tools/floors.py."""
    text = (INCLUDE.parent / "cmake/DistributeLibraries.cmake").read_text()
    groups = re.findall(r'"(?:waits|computes|plain)=([a-z_ ]+)"', text)
    if sorted(" ".join(groups).split()) != sorted(CORE):
        yield "DISTRIBUTE_UNIT_GROUPS of cmake/DistributeLibraries.cmake has not the core's folders"
    annexes = re.search(r"set\(DISTRIBUTE_ANNEXES\n(.*?)\)", text, re.S)[1]
    needed = [word.partition("=") for word in re.findall(r'"([^"]+)"', annexes)]
    if {name: others.split() for name, _, others in needed} != ANNEXES:
        yield "DISTRIBUTE_ANNEXES of cmake/DistributeLibraries.cmake has not the annexes of floors.py"


def pair_problems():
    """Every body belongs to one header, which another file includes or the list of public headers names."""
    owners, users = collections.Counter(), collections.Counter()
    for file in files():
        users.update(set(included(file)))
        if file.endswith(".hpp"):
            owners.update(bodies_of(file))
    for path in (INCLUDE.parent / "tools").glob("*.[hc]pp"):  # what only the program needs
        users.update(line.removeprefix("distribute/") for line in set(includes(path.read_text())))
    for body in bodies(CORE + list(ANNEXES)):
        if owners[body] != 1:
            yield f"{body}: belongs to {owners[body]} headers; wanted x.hpp or detail/x.hpp of " \
                  "impl/x.ipp or impl/x_part.ipp, or a row of tools/public_api.txt"
            continue
        header = header_of(body)
        if body.split("/")[0] in CORE and "/detail/" in header and users[header] <= len(bodies_of(header)):
            yield f"{header}: {body} alone includes it, so header-only programs lack that body"


def main():
    texts = expected()
    wanted = {LIBRARY / name: text for name, text in texts.items()}
    bad = [*pair_problems(), *cmake_problems(),
           *out_of_date({**wanted, STRATEGY_USERS: strategy_users()}, "tools/check_umbrella.py")]
    outside = [*LIBRARY.glob("*.hpp"), *LIBRARY.glob("impl/*")]
    bad += [f"{path.relative_to(INCLUDE)} stands outside of the floors" for path in outside
            if str(path.relative_to(LIBRARY)) not in texts]
    return report(bad, "umbrella: every public header and every body is in its place")


if __name__ == "__main__":
    sys.exit(main())
