#pragma once
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>

#include <vector>

/// One dense layer for inputs [batch, 3], with the same weights each time.
inline distribute::nn::Sequential fixed_model() {
  using namespace distribute;
  nn::Sequential net(nn::Dense({.units = 2, .name = "fc"}));
  net(zeros({1, 3}));
  net.variables()[0].assign(Tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  return net;
}
