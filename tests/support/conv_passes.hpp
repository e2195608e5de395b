#pragma once
/// The three passes of a convolution, computed in several ways and compared.

#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/tensor/tensor.hpp>

#include <tests/support/same_bits.hpp>
#include "catch.hpp"
#include "gradient_check.hpp"

namespace distribute::testing {

/// What one convolution's three passes take and give.
struct Passes {
  Tensor x, w, bias, dy;
  std::vector<float> y, dx, dw, dbias;
};

inline Passes inputs_of(const Conv2DShape& s) {
  return {test_tensor({s.batch, s.in[0], s.in[1], s.in_channels}, 1),
          test_tensor({s.kernel[0], s.kernel[1], s.in_channels, s.out_channels}, 2),
          test_tensor({s.out_channels}, 3),
          test_tensor({s.batch, s.out[0], s.out[1], s.out_channels}, 4),
          {},
          {},
          {},
          {}};
}

inline std::vector<float> values(const Shape& shape, Array array) {
  return Tensor(shape, DType::Float32, std::move(array)).to_vector();
}

/// `y` is made with bias and ReLU.
inline void run_backend(Backend& engine, const Conv2DShape& s, Passes& p) {
  const Array bias = p.bias.array();
  Array dbias;
  p.y = values(p.dy.shape(), engine.conv2d(s, p.x.array(), p.w.array(), &bias, Epilogue::Relu));
  p.dx = values(p.x.shape(), engine.conv2d_backprop_input(s, p.dy.array(), p.w.array()));
  p.dw = values(p.w.shape(), engine.conv2d_backprop_filter(s, p.x.array(), p.dy.array(), &dbias));
  p.dbias = values(p.bias.shape(), dbias);
}

/// Largest difference as a part of the largest value wanted.
inline double difference(const std::vector<float>& actual, const std::vector<float>& wanted) {
  REQUIRE(actual.size() == wanted.size());
  double worst = 0, largest = 1e-30;
  for (size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::abs(double(actual[i]) - double(wanted[i])));
    largest = std::max(largest, std::abs(double(wanted[i])));
  }
  return worst / largest;
}

/// Threads of an operation, for the life of the object.
struct Threads {
  explicit Threads(int count) { set_intra_op_threads(count); }
  ~Threads() { set_intra_op_threads(before); }
  int before = intra_op_threads();
};

}  // namespace distribute::testing
