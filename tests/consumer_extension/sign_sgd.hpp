#pragma once
/// An optimizer: w -= rate * sign(g).

#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/serialization.hpp>

#include <memory>
#include <string>

class SignSGD final : public distribute::optim::Optimizer {
 public:
  explicit SignSGD(float rate) : Optimizer({.learning_rate = rate}) {}
  std::string class_name() const override { return "SignSGD"; }

 protected:
  ElementKernel kernel(float rate, int64_t) const override {
    return ElementKernel(
        [rate](float* weights, float* const*, const float* gradient, int64_t count) {
          for (int64_t i = 0; i < count; ++i)
            weights[i] -= rate * float((gradient[i] > 0) - (gradient[i] < 0));
        });
  }
};

inline void register_sign_sgd() {
  distribute::optim::register_optimizer("SignSGD",
                                        [](const distribute::optim::OptimizerConfig& config) {
                                          double rate = 0.001;
                                          config.get("learning_rate", rate);
                                          return std::make_unique<SignSGD>(float(rate));
                                        });
}
