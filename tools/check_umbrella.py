#!/usr/bin/env python3
"""Checks the headers that stand outside of the floors; --fix writes them anew.

They follow from where the files lie (and the list of optimizers from what these say): an umbrella includes what is public in its folders, and in
header-only programs the bodies that this reaches; impl/*src.hpp have all bodies of one part.
Also checks the pairs: every impl/x.ipp has its x.hpp or detail/x.hpp, which another file includes.
Usage: tools/check_umbrella.py [--fix]
"""
import collections
import pathlib
import re
import sys

from floors import (ANNEXES, CORE, INCLUDE, LIBRARY, TRAINER_FLOORS, bodies, bodies_of,
                    files, included, includes, public_headers, reached, without_gpus)
from written import out_of_date, report

STRATEGY_USERS = INCLUDE.parent / "cmake/strategy_users.txt"

def lines(names):
    """Include lines, a blank line between folders."""
    text, folder = "", None
    for name in names:
        text += "\n" if name.split("/")[0] != folder else ""
        text += f"#include <distribute/{name}>\n"
        folder = name.split("/")[0]
    return text


def list_of(comment, names):
    return f"#pragma once\n/// {comment}.\n/// Written by tools/check_umbrella.py.\n{lines(names)}"


def umbrella(comment, headers, body):
    return list_of(comment, headers) + f"""
#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/{body}>
#endif
"""


def bodies_reached(seeds):
    return [name for name in reached(seeds, with_bodies=True) if name.endswith(".ipp")]


def list_of_trainer(umbrella_name, seeds):
    """The list for an umbrella: what only builds for GPUs reach comes behind the others."""
    always = {name for name in reached(seeds, True, without_gpus) if name.endswith(".ipp")}
    every = bodies_reached(seeds)
    gpu = lines(name for name in every if name not in always)
    return list_of(f"The bodies that {umbrella_name} reaches",
                   [name for name in every if name in always]) \
        + f"\n#if DISTRIBUTE_HAS_CUDA\n{gpu.lstrip()}#endif\n"


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


def expected():
    """From each header outside of the floors to its text."""
    trainer = public_headers(TRAINER_FLOORS)
    texts = {
        "strategy.hpp": umbrella("What a trainer needs: strategies, tensors, layers, optimizers, "
                                 "datasets, checkpoints", trainer, "strategy_bodies.hpp"),
        "distribute.hpp": umbrella("The whole core", public_headers(CORE), "src.hpp"),
        "impl/strategy_bodies.hpp": list_of_trainer("strategy.hpp", trainer),
        "optim/detail/optimizer_classes.hpp": optimizer_classes(),
        "impl/src.hpp": list_of("All bodies of the core, for one file of a program", bodies(CORE)),
    }
    for annex in ANNEXES:
        headers = annex_headers(annex)
        texts[f"{annex}.hpp"] = umbrella(f"The annex {annex}", headers, f"{annex}_bodies.hpp")
        texts[f"impl/{annex}_bodies.hpp"] = list_of(f"The bodies that {annex}.hpp reaches",
                                                    bodies_reached(headers + bodies([annex])))
        texts[f"impl/{annex}_src.hpp"] = list_of(f"All bodies of the annex {annex}",
                                                 bodies([annex]))
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
            yield f"{body}: belongs to {owners[body]} headers; wanted x.hpp, detail/x.hpp or a row of tools/public_api.txt"
        header = f"{body.split('/')[0]}/detail/{pathlib.PurePath(body).stem}.hpp"
        if body.split("/")[0] in CORE and header in files() and users[header] < 2:
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
