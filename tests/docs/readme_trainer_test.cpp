#include <distribute/strategy.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/file_text.hpp"
#include "support/temporary_directory.hpp"

// The program that README.md shows.
#define main readme_main
#include <tests/support/source_dir.hpp>
#include "examples/three_ways/one_file/trainer.cpp"
#undef main

/// What `program` prints on standard output.
template <typename Program>
std::string printed_by(Program program, const std::string& file) {
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int target = open(file.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(target, STDOUT_FILENO);
  close(target);
  program();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  return file_text(file);
}

TEST_CASE("The README's first trainer learns the digits and saves its checkpoints",
          "[docs][readme_trainer]") {
  const TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory_symlink(distribute::testing::source_dir() + "/examples",
                                            directory / "examples");
  std::filesystem::current_path(directory.path());
  const std::string output = printed_by([] { CHECK(readme_main() == 0); }, directory / "output");
  std::filesystem::current_path(before);

  INFO(output);
  const std::string last_line = "epoch 2 loss ";
  REQUIRE(output.find(last_line) != std::string::npos);
  CHECK(std::atof(output.c_str() + output.find(last_line) + last_line.size()) < 0.2);
  CHECK(distribute::train::latest_checkpoint(directory / "ckpt") == directory / "ckpt/mnist-3");
}

TEST_CASE("The README shows the trainer that is tested", "[docs][readme_trainer]") {
  const std::string root = distribute::testing::source_dir();
  const std::string tested = file_text(root + "/examples/three_ways/one_file/trainer.cpp");
  const std::string shown = lines_between(root + "/README.md", "<!-- trainer -->", "```");
  CHECK(!tested.empty());
  CHECK(shown == "```cpp\n" + tested);
}
