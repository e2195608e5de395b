#pragma once
/// Checked arguments of the operations of ops/sequence.hpp.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace distribute::ops_internal {

inline constexpr double kLogZero = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b)).
double log_add(double a, double b);

/// Writes x - log(sum of exp(x)) for the logits x of one step.
void log_probabilities(std::span<const float> x, std::vector<double>& out);

/// Logits of a batch in host memory, and how many steps of each example count.
struct CtcScores {
  Tensor logits;  // float32 [batch, steps, classes]
  std::vector<int64_t> lengths;
  int64_t batch, steps, classes, blank;

  std::span<const float> step(int64_t example, int64_t t) const {
    return logits.data<float>().subspan(size_t((example * steps + t) * classes), size_t(classes));
  }
};

/// Throws  InvalidArgumentError for anything else than floating [batch, steps, classes], a length
///         outside [0, steps], and a blank that is no class.
CtcScores ctc_scores(const char* op, const Tensor& logits, const Tensor& lengths,
                     int64_t mask_index);

/// Returns integers [batch] in [0, most].
std::vector<int64_t> ctc_lengths(const char* op, const char* name, const Tensor& lengths,
                                 int64_t batch, int64_t most);

}  // namespace distribute::ops_internal
