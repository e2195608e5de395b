/// scripts/gpu_check.sh without a GPU: what it packs runs from another folder, every part writes
/// its row, and a call that has no time left says so.

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using Catch::Matchers::Contains;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

TEST_CASE("the check of a GPU runs from its pack, on fakes", "[examples][gpu_check]") {
  const std::string build = distribute::testing::binary_dir() + "/..";
  for (const char* program :
       {"distribute", "mnist_cnn", "resnet50", "text_transformer", "test_device", "test_ops"})
    if (!has_program(program)) SKIP("a program was not built");
  const TemporaryDirectory folder;
  const std::string log = " > " + folder / "log" + " 2>&1";
  const std::string pack = "DISTRIBUTE_GPU_CHECK_COMPRESS=cat " +
                           distribute::testing::source_dir() + "/scripts/gpu_check.sh pack " +
                           build + " " + folder / "pack.tar";
  const int packed = shell(pack + log);
  INFO(text_of(folder / "log"));
  REQUIRE(packed == 0);
  REQUIRE(shell("cd " + folder.path() + " && tar xf pack.tar") == 0);
  std::ofstream(folder / "parts") << "own kernels\nresnet50 --batch_size=256\n";
  for (const std::string mode : {"first", "correctness", "speed", "sanitizers", "again"}) {
    const std::string parts = mode == "again" ? " " + folder / "parts" : "";
    const std::string run = "DISTRIBUTE_GPU_CHECK_DRY_RUN=1 " + folder / "gpu_check/gpu_check.sh" +
                            " " + mode + parts + " " + folder / "out" + log;
    const int status = shell(run);
    const std::string rows = text_of(folder / "out/" + mode + ".md");
    INFO(rows << text_of(folder / "log") << text_of(folder / "out/" + mode + ".log"));
    CHECK(status == 0);
    CHECK_THAT(rows, Contains("| what | result | time |"));
    CHECK_THAT(rows, Contains("| all parts of " + mode + " | ok |"));
    CHECK_THAT(rows, !Contains("FAILED") && !Contains("STOPPED"));
  }
  CHECK_THAT(text_of(folder / "out/first.md"),
             Contains("| own kernels | ok |") && Contains("| trainers agree with the CPU | ok |"));
  const std::string again = text_of(folder / "out/again.md");
  CHECK_THAT(again, Contains("| own kernels | ok |") && Contains("| resnet50 --dataset"));
  CHECK_THAT(again, !Contains("| operations agree with the CPU |"));
  CHECK_THAT(text_of(folder / "out/correctness.md"),
             Contains("| streams, memory, recorded work | ok |"));
  CHECK_THAT(text_of(folder / "out/correctness.md"),
             Contains("| text_transformer has the CPU's losses | ok |"));
  CHECK_THAT(text_of(folder / "out/speed.md"),
             Contains("images_per_second: ") && Contains("tokens_per_second: "));
  const std::string late = "DISTRIBUTE_GPU_CHECK_SECONDS=0 DISTRIBUTE_GPU_CHECK_DRY_RUN=1 " +
                           folder / "gpu_check/gpu_check.sh" + " correctness " + folder / "late" +
                           log;
  CHECK(shell(late) == 0);
  CHECK_THAT(text_of(folder / "late/correctness.md"),
             Contains("| not run: the time of this call is over |"));
}
