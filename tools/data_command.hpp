#pragma once
/// `distribute data`: writes TFRecord shards of a folder of pictures, and shows what records hold.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

struct DataCommandOptions {
  std::string input_dir, output_dir;
  std::string split = "train";  // the files are called <split>-00000-of-00008
  int64_t shards = 1;
  int64_t first_label = 1;  // ImageNet's labels begin at 1
  bool shuffle = false;
  uint64_t seed = 0;
  bool strict = false;
  bool json = false;
};

/// The command: `words` are those behind "data". Returns the exit status (0, 1 or 2).
int data_command(const std::vector<std::string>& words, const DataCommandOptions& options);

}  // namespace distribute_tools
