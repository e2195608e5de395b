#pragma once
/// What the tests of the teaching programs share.

#include "mnist_cluster.hpp"

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace mnist_cluster {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

inline const std::string kDigits =
    "--data_dir=" + distribute::testing::source_dir() + "/examples/mnist_cnn/data";

inline Words flags_of(const TemporaryDirectory& model_dir, const Words& more = {}) {
  return Words{kDigits, "--model_dir=" + model_dir.path()} + more;
}

inline ProcessClusterOptions job_of(const std::string& program, int workers, const Words& flags) {
  ProcessClusterOptions options;
  options.workers = workers;
  options.command = Words{distribute::testing::binary_dir() + "/" + program} + flags;
  options.environment = environment();
  options.deadline_seconds = 300;
  return options;
}

/// The numbers that stand in the text behind each occurrence of `mark`.
inline std::vector<double> numbers_after(const std::string& text, const std::string& mark) {
  std::vector<double> numbers;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
    numbers.push_back(std::atof(text.c_str() + at + mark.size()));
  return numbers;
}

inline void check_loss_falls(const std::string& text, const std::string& mark) {
  const auto losses = numbers_after(text, mark);
  REQUIRE(losses.size() > 1);
  CHECK(losses.back() < 0.8 * losses.front());
}

/// The last number behind the mark.
inline double accuracy_in(const std::string& text, const std::string& mark) {
  const auto numbers = numbers_after(text, mark);
  INFO(text);
  REQUIRE(!numbers.empty());
  return numbers.back();
}

/// Nothing that a worker has written for itself alone is left.
inline void check_no_temporary_directories(const TemporaryDirectory& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
    CHECK_THAT(entry.path().string(), !Contains("workertemp"));
}

}  // namespace mnist_cluster
