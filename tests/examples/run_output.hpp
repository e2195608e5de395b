#pragma once
/// What a trainer leaves behind: its losses and the weights at the end.

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>

#include <string>
#include <vector>

/// What must be the same bits.
struct RunOutput {
  std::string losses, weights;
  bool operator==(const RunOutput&) const = default;
};

inline std::vector<std::string> output_flags(const TemporaryDirectory& out) {
  return {"--loss_csv=" + (out / "loss.csv"), "--final_checkpoint=" + (out / "final")};
}

inline RunOutput read_output(const TemporaryDirectory& out) {
  const RunOutput result{file_text(out / "loss.csv"), file_text(out / "final.data-00000-of-00001")};
  CHECK(!result.losses.empty());
  CHECK(!result.weights.empty());
  return result;
}
