#pragma once
/// `distribute predict`: what a trained network sees in pictures.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

struct PredictCommandOptions {
  std::string model;       // one of predict_models()
  std::string checkpoint;  // prefix, or a directory, whose newest is taken
  std::string labels;      // file with the name of one class on each line; empty: numbers
  int64_t image_size = 0;  // of residual networks; 0: 32, resnet50 224
  int64_t top = 5;
  bool json = false;
};

/// The command: `pictures` are words as of visit_pictures. Returns the exit status: 0, 1 (files
/// that are missing, damaged or of another network) or 2 (usage). A picture that cannot be read is
/// told, and the others are still shown.
int predict_command(const std::vector<std::string>& pictures, const PredictCommandOptions& options);

}  // namespace distribute_tools
