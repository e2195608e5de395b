#pragma once
/// Comparison of numbers to the last bit.

#include <distribute/tensor/tensor.hpp>

#include <tests/support/catch.hpp>

#include <cstring>
#include <vector>

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline void check_same_bits(const std::vector<distribute::Tensor>& a,
                            const std::vector<distribute::Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("result " << i);
    REQUIRE(a[i].shape() == b[i].shape());
    const size_t bytes = size_t(a[i].num_elements() * distribute::size_of(a[i].dtype()));
    CHECK(std::memcmp(a[i].array().bytes(), b[i].array().bytes(), bytes) == 0);
  }
}
