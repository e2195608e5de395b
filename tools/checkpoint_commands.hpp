#pragma once
/// `distribute ckpt ls|verify|diff|convert`: looks into checkpoint files, TensorFlow's and ours.

#include <string>
#include <vector>

namespace distribute_tools {

struct CheckpointCommandOptions {
  bool json = false;
  double tolerance = 0;            // diff: largest difference that counts as none
  std::string names = "variable";  // convert: variable | path
};

/// The command: `words` are those behind "ckpt". Returns the exit status: 0, 1 (missing or damaged
/// file, differences) or 2 (usage).
int checkpoint_command(const std::vector<std::string>& words,
                       const CheckpointCommandOptions& options);

}  // namespace distribute_tools
