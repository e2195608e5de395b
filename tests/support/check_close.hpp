#pragma once
/// Comparisons of a tensor with numbers, and a dense layout that no backend is needed for.

#include "catch.hpp"

#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/tensor/tensor.hpp>

/// Each element within `tolerance` (absolute, and relative above 1) of the wanted one.
inline void check_close(const distribute::Tensor& actual, const std::vector<double>& wanted,
                        double tolerance = 1e-6) {
  const std::vector<float> values = actual.to_vector();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double most = tolerance * std::max(1.0, std::abs(wanted[i]));
    if (!(std::abs(double(values[i]) - wanted[i]) <= most))
      FAIL_CHECK("element " << i << ": " << values[i] << ", wanted " << wanted[i]);
  }
}

/// All elements of a float32 tensor back to front.
class ReversedLayout final : public distribute::Layout {
 public:
  explicit ReversedLayout(int64_t count) : count_(count) {}
  int64_t bytes() const override { return count_ * 4; }
  bool equals(const Layout& other) const override {
    const auto* same = dynamic_cast<const ReversedLayout*>(&other);
    return same && same->count_ == count_;
  }
  bool dense() const override { return true; }
  std::string name() const override { return "reversed"; }
  void to_row_major(const void* from, void* to) const override {
    const auto* first = static_cast<const float*>(from);
    std::reverse_copy(first, first + count_, static_cast<float*>(to));
  }
  void from_row_major(const void* from, void* to) const override { to_row_major(from, to); }

 private:
  int64_t count_;
};

/// The same float32 tensor, reversed in memory.
inline distribute::Tensor reversed(const distribute::Tensor& x) {
  return distribute::in_layout(x, std::make_shared<ReversedLayout>(x.num_elements()));
}
