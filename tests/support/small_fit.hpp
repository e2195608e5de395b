#pragma once
/// A small net with data for tests of training loops.

#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>

#include <cmath>
#include <vector>

/// `rows` rows of five numbers in three classes.
inline distribute::data::Dataset small_data(int64_t rows) {
  using namespace distribute;
  std::vector<float> x(size_t(rows) * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  std::vector<int64_t> y(static_cast<size_t>(rows));
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i * 5] > 0.3f ? 2 : x[i * 5 + 1] > 0 ? 1 : 0;
  return data::Dataset::from_tensor_slices(Tensor(Shape{rows, 5}, x), Tensor(Shape{rows}, y));
}

/// Two dense layers with the same weights each time, in threads too.
inline distribute::nn::Sequential small_net() {
  using namespace distribute;
  nn::Sequential net(nn::Dense({.units = 8, .activation = nn::tanh, .name = "hidden"}),
                     nn::Dense({.units = 3, .name = "out"}));
  net.set_name_in_path(false);  // several of them in a program have the same names
  net(zeros({1, 5}));
  float phase = 0;
  for (const Variable& variable : net.variables()) {
    std::vector<float> values(size_t(variable.shape().num_elements()));
    for (float& value : values) value = 0.7f * std::sin(phase += 1.7f);
    train::restore_value(variable, Tensor(variable.shape(), values));
  }
  return net;
}
