#pragma once
/// A tape that watches tensors from its start.

#include <distribute/autograd/gradient_tape.hpp>

#include <vector>

struct WatchingTape : distribute::GradientTape {
  explicit WatchingTape(const std::vector<distribute::Tensor>& sources, Options options = {})
      : GradientTape(options) {
    for (const distribute::Tensor& source : sources) watch(source);
  }
};
