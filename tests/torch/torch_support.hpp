#pragma once
/// Modules and data that tests/torch/pytorch_ddp.py has, too.

#include <distribute/testing/process_cluster.hpp>
#include <distribute/torch/distributed_data_parallel.hpp>

#include <torch/torch.h>

#include <tests/support/catch.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// libtorch has a CHECK of its own.
#undef CHECK
#define CHECK(...) \
  INTERNAL_CATCH_TEST("CHECK", ::Catch::ResultDisposition::ContinueOnFailure, __VA_ARGS__)

namespace dist = distribute::torch;

inline torch::Tensor waves(std::vector<int64_t> shape, double phase) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return torch::sin(torch::arange(count, torch::kDouble) * 0.37 + phase)
      .to(torch::kFloat)
      .view(shape);
}

/// A base with the layers' names of Python's attributes.
struct BookImpl : torch::nn::Module {
  BookImpl() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1(x), 2));
    x = torch::relu(torch::max_pool2d(conv2(x), 2));
    return fc2(torch::relu(fc1(x.view({-1, 320}))));
  }
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 10, 5)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(10, 20, 5)};
  torch::nn::Linear fc1{320, 50}, fc2{50, 10};
};
TORCH_MODULE(Book);

struct ResidualImpl : torch::nn::Module {
  ResidualImpl() {
    register_module("stem", stem);
    register_module("norm1", norm1);
    register_module("conv", conv);
    register_module("norm2", norm2);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm1(stem(x)));
    x = torch::relu(x + norm2(conv(x)));
    return fc(x.mean({2, 3}));
  }
  torch::nn::Conv2d stem{torch::nn::Conv2dOptions(1, 8, 3).padding(1)};
  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(8, 8, 3).padding(1)};
  torch::nn::BatchNorm2d norm1{8}, norm2{8};
  torch::nn::Linear fc{8, 10};
};
TORCH_MODULE(Residual);

struct SparseImpl : torch::nn::Module {
  SparseImpl() {
    register_module("table", table);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    using torch::indexing::Slice;
    const auto words = x.index({Slice(), 0, 0, Slice(0, 4)}).abs() * 29;
    return fc(table(words.to(torch::kLong)).mean(1));
  }
  torch::nn::Embedding table{torch::nn::EmbeddingOptions(30, 6).sparse(true)};
  torch::nn::Linear fc{6, 10};
};
TORCH_MODULE(Sparse);

/// Gives the parameters the values of the script, which differ between ranks.
inline void fill_parameters(torch::nn::Module& module, int rank) {
  const torch::NoGradGuard no_grad;
  int number = 0;
  for (auto& parameter : module.parameters())
    parameter.copy_(waves(parameter.sizes().vec(), number++ + rank) * 0.05);
}

struct Examples {
  torch::Tensor x, y;
};
/// The examples of a rank in a step.
inline Examples examples_of(int rank, int64_t step) {
  return {waves({6, 1, 28, 28}, double(100 * step + rank)),
          (torch::arange(6) * 3 + rank + step) % 10};
}

/// One training step; returns the loss.
template <typename Ddp>
float train_step(Ddp& ddp, torch::optim::Optimizer& optimizer, int rank, int64_t step) {
  const Examples examples = examples_of(rank, step);
  optimizer.zero_grad();
  auto loss = torch::nn::functional::cross_entropy(ddp(examples.x), examples.y);
  loss.backward();
  optimizer.step();
  return loss.template item<float>();
}

inline torch::Tensor all_weights(torch::nn::Module& module) {
  std::vector<torch::Tensor> all;
  for (const auto& parameter : module.parameters())
    all.push_back(parameter.detach().to(torch::kDouble).flatten());
  return torch::cat(all);
}

/// A number that differs where a bit of a weight does.
inline size_t bits_of(torch::nn::Module& module) {
  std::string bytes;
  for (const auto& parameter : module.parameters()) {
    const auto plain = parameter.detach().contiguous();
    bytes.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
  }
  return std::hash<std::string>()(bytes);
}

/// Ranks as processes of this host.
inline distribute::testing::ProcessClusterOptions ranks_of(int ranks, const std::string& function,
                                                           const std::string& argument = "") {
  distribute::testing::ProcessClusterOptions options{
      .workers = ranks, .function = function, .argument = argument, .deadline_seconds = 300};
  options.environment["OMP_NUM_THREADS"] = "1";
  return options;
}
