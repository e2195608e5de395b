#!/usr/bin/env python3
"""What users read when they mix up forms or components of an installed copy.

Usage: tests/checks/package_errors.py <installed copy> <working folder>
"""
import pathlib
import subprocess
import sys

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES CXX)
{find}
add_executable(wrong main.cpp)
target_link_libraries(wrong PRIVATE {targets})
"""
MIXED = "distribute_is_header_only_in_one_object_and_not_in_another_or_of_two_versions"


WITHOUT_ANNEXES = """#include <distribute/distribute.hpp>
#include <cstdio>
#include <cstdlib>
namespace dist = distribute;

template <typename F>
void print_error(F&& f) {
  try {
    f();
  } catch (const dist::Error& error) {
    std::printf("%s\\n", error.what());
  }
}

int main() {
  std::printf("%s\\n", dist::io::read_file("s3://bucket/key").status().ToString().c_str());
  const std::map<std::string, std::string> slurm{{"SLURM_PROCID", "0"},
                                                 {"SLURM_STEP_NODELIST", "a,b"},
                                                 {"SLURM_STEP_TASKS_PER_NODE", "1,1"}};
  print_error([&] { dist::default_resolver(slurm); });
  setenv("DISTRIBUTE_METRICS_PORT", "0", 1);
  print_error([] { dist::MirroredStrategy strategy({"/cpu:0"}); });
  unsetenv("DISTRIBUTE_METRICS_PORT");
  dist::nn::Dense layer({.units = 1});
  print_error([&] { dist::nn::save_module(layer, "model", nullptr); });
  return 1;
}
"""


def run(*command):
    answer = subprocess.run(command, capture_output=True, text=True)
    return answer.returncode, answer.stdout + answer.stderr


def configure(installed, place, find, targets):
    place.mkdir(parents=True, exist_ok=True)
    (place / "CMakeLists.txt").write_text(PROJECT.format(find=find, targets=targets))
    (place / "main.cpp").write_text("int main() {}\n")
    return run("cmake", "-S", place, "-B", place / "build", "-G", "Ninja",
               f"-DCMAKE_PREFIX_PATH={installed}")


def expect(name, answer, *words):
    """Fails unless the command failed and said all of the words."""
    status, text = answer
    flat = " ".join(text.split())
    missing = [word for word in words if word not in flat]
    if status == 0 or missing:
        sys.exit(f"{name}: status {status}, missing {missing} in:\n{text}")
    print(f"{name}: refused as it should be")


def objects(installed, place):
    """Two objects of different forms, and two of different versions, do not link."""
    config = (installed / "include/distribute/base/config.hpp").read_text()
    newer = place / "newer/distribute/base/config.hpp"
    newer.parent.mkdir(parents=True, exist_ok=True)
    newer.write_text(config.replace("VERSION_MINOR 1", "VERSION_MINOR 99"))
    (place / "a.cpp").write_text("#include <distribute/base/config.hpp>\nint main() {}\n")
    (place / "b.cpp").write_text("#include <distribute/base/config.hpp>\n")
    compile_ = lambda source, out, *flags: run("g++", "-std=c++20", *flags, "-c", place / source, "-o", place / out)
    include = f"-I{installed / 'include'}"
    compile_("a.cpp", "a.o", include)
    compile_("b.cpp", "same.o", include)
    compile_("b.cpp", "separate.o", include, "-DDISTRIBUTE_SEPARATE_COMPILATION")
    compile_("b.cpp", "newer.o", f"-I{place / 'newer'}")
    link = lambda other: run("g++", place / "a.o", place / other, "-o", place / "program")
    if link("same.o")[0] != 0:
        sys.exit("two objects of one form and version do not link")
    expect("objects of two forms", link("separate.o"), MIXED)
    expect("objects of two versions", link("newer.o"), MIXED)


def main():
    installed, place = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    found = "find_package(distribute REQUIRED)"
    expect("an unknown component",
           configure(installed, place / "component",
                     "find_package(distribute REQUIRED COMPONENTS s3)", "distribute::distribute"),
           "distribute has no component 's3'", "object_stores", "horovod")
    expect("both forms in one program",
           configure(installed, place / "forms", found,
                     "distribute::distribute distribute::header_only"),
           "DISTRIBUTE_FORM", "header_only")
    objects(installed, place)
    configure(installed, place / "bare", found, "distribute::distribute")
    (place / "bare/main.cpp").write_text(WITHOUT_ANNEXES)
    status, text = run("cmake", "--build", place / "bare/build")
    if status:
        sys.exit(text)
    expect("what annexes bring", run(place / "bare/build/wrong"),
           *[f"include <distribute/{annex}.hpp> and link distribute::{annex}"
             for annex in ("object_stores", "platforms", "metrics", "saved_model")])


if __name__ == "__main__":
    main()
