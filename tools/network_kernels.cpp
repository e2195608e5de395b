/// The kernels of one training step as raw oneDNN primitives. Shares no code with the library, so
/// that its sum is an independent measure of what the trainer could reach.
///
/// What belongs to the sum: convolutions and inner products (forward with bias and ReLU fused,
/// backward data, backward weights with bias), max pooling, softmax, and one optimizer pass over
/// all parameters. The first layer has no backward data. The ReLU gate behind a convolution is left
/// out, because the pooling that follows can apply it on its way; the gate of a hidden dense layer
/// stands by itself and is counted. Reorders between layers are left out: a trainer should not
/// need them. Every primitive picks its layouts itself (format `any`).
#include "bench_kernels.hpp"

#include <stdexcept>

#if !defined(DISTRIBUTE_HAS_ONEDNN) || DISTRIBUTE_HAS_ONEDNN
#include <omp.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>

#include "network_kernels.hpp"
#include "optimizer_loops.hpp"

namespace distribute_tools {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

int64_t product(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

memory::desc NetworkKernels::any_layout(const Dims& dims) const {
  return {dims, type_, memory::format_tag::any};
}
memory::desc NetworkKernels::gradient_layout(const Dims& dims) const {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

memory::desc plain(int64_t size) { return {{size}, memory::data_type::f32, memory::format_tag::x}; }

/// Numbers in [-0.5, 0.5); bfloat16 the same ones, cut.
void fill(memory& values, memory::data_type type) {
  uint32_t state = 12345;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) / (1U << 24U) - 0.5F;
  };
  const size_t bytes = values.get_desc().get_size();
  if (type == memory::data_type::f32) {
    auto* out = static_cast<float*>(values.get_data_handle());
    for (size_t i = 0; i < bytes / sizeof(float); ++i) out[i] = next();
  } else if (type == memory::data_type::bf16) {
    auto* out = static_cast<uint16_t*>(values.get_data_handle());
    for (size_t i = 0; i < bytes / 2; ++i)
      out[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(next()) >> 16U);
  } else {
    std::memset(values.get_data_handle(), 0, bytes);
  }
}

void NetworkKernels::add_kernel(Kernel kernel) {
  for (Kernel& known : kernels_)
    if (known.entry.name == kernel.entry.name) return void(++known.count);
  kernels_.push_back(std::move(kernel));
}

void NetworkKernels::add(const std::string& name, const dnnl::primitive& primitive,
                         const std::string& implementation, double flops,
                         const std::string& layouts, Descs arguments) {
  const auto prepare = [this, name, primitive, arguments = std::move(arguments)] {
    std::unordered_map<int, memory> memories;
    for (const auto& [place, desc] : arguments) {
      memory values(desc, engine_);
      fill(values, onednn::data_type_of(desc));
      memories.emplace(place, std::move(values));
    }
    return std::function<void()>([this, name, primitive, memories]() mutable {
      try {
        primitive.execute(stream_, memories);
        stream_.wait();
      } catch (const dnnl::error& error) {
        throw std::runtime_error(name + ": " + error.what());
      }
    });
  };
  add_kernel({{name, implementation, layouts, 0, flops}, 1, prepare});
}

std::string arrow(const memory::desc& from, const memory::desc& with, const memory::desc& to) {
  return onednn::layout_name(from) + " * " + onednn::layout_name(with) + " -> " +
         onednn::layout_name(to);
}

void NetworkKernels::convolution(const std::string& name, const ConvolutionSize& size) {
  const int64_t out = (current_[2] + 2 * size.padding - size.size) / size.stride + 1;
  const Dims to{current_[0], size.filters, out, out};
  const Dims window{size.filters, current_[1], size.size, size.size};
  const Dims step{size.stride, size.stride}, pad{size.padding, size.padding};
  const auto src = any_layout(current_), weights = any_layout(window), dst = any_layout(to);
  const auto bias = size.bias_relu ? plain(size.filters) : memory::desc();
  const double flops = 2.0 * static_cast<double>(product(to) * product(window) / size.filters);

  const auto forward = onednn::forward_descriptor<dnnl::convolution_forward>(
      engine_, size.bias_relu ? onednn::relu_attributes() : dnnl::primitive_attr(),
      prop_kind::forward_training, algorithm::convolution_direct, src, weights, bias, dst, step,
      pad, pad);
  add_forward(name, forward, bias, flops);
  if (!first_) {
    const auto data = onednn::backward_descriptor<dnnl::convolution_backward_data>(
        engine_, forward, algorithm::convolution_direct, src, weights, dst, step, pad, pad);
    add_backward_data(name, data, flops);
  }
  const auto grad = onednn::backward_descriptor<dnnl::convolution_backward_weights>(
      engine_, forward, algorithm::convolution_direct, src, gradient_layout(window), bias, dst,
      step, pad, pad);
  add_backward_weights(name, grad, flops, size.bias_relu);
  parameters_ += product(window) + (size.bias_relu ? size.filters : 0);
  previous_ = forward.dst_desc();
  current_ = to;
  first_ = false;
}

void NetworkKernels::max_pool(const std::string& name, int64_t size, int64_t stride,
                              int64_t padding) {
  const auto out = [&](int64_t in) { return (in + 2 * padding - size) / stride + 1; };
  const Dims to{current_[0], current_[1], out(current_[2]), out(current_[3])};
  const Dims window{size, size}, step{stride, stride}, none{0, 0}, pad{padding, padding};
  const auto forward = onednn::forward_descriptor<onednn::PoolingForward>(
      engine_, dnnl::primitive_attr(), prop_kind::forward_training, algorithm::pooling_max,
      previous_, any_layout(to), step, window, none, pad, pad);
  const auto workspace = forward.workspace_desc();
  const auto dst = forward.dst_desc();
  const std::string layout = onednn::layout_name(dst);
  add(name + " forward", forward, 0, layout,
      {{DNNL_ARG_SRC, previous_}, {DNNL_ARG_DST, dst}, {DNNL_ARG_WORKSPACE, workspace}});
  const auto backward = onednn::backward_descriptor<onednn::PoolingBackward>(
      engine_, forward, algorithm::pooling_max, previous_, dst, step, window, none, pad, pad);
  add(name + " backward", backward, 0, layout,
      {{DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_WORKSPACE, workspace}, {DNNL_ARG_DIFF_SRC, previous_}});
  previous_ = dst;
  current_ = to;
}

void NetworkKernels::dense(const std::string& name, int64_t units, bool relu) {
  Dims window = current_;
  window[0] = units;  // a 4-D source keeps the layout of the layer before; flattening is free
  const Dims to{current_[0], units};
  const auto src = any_layout(current_), weights = any_layout(window), dst = any_layout(to);
  const auto bias = plain(units);
  const double flops = 2.0 * static_cast<double>(current_[0] * product(window));

  const auto forward = onednn::forward_descriptor<dnnl::inner_product_forward>(
      engine_, relu ? onednn::relu_attributes() : dnnl::primitive_attr(),
      prop_kind::forward_training, src, weights, bias, dst);
  add_forward(name, forward, bias, flops);
  if (relu) {
    const auto gate = onednn::relu_backward_descriptor(engine_, forward.dst_desc());
    add(name + " relu backward", gate, 0, onednn::layout_name(forward.dst_desc()),
        {{DNNL_ARG_DST, forward.dst_desc()},
         {DNNL_ARG_DIFF_DST, forward.dst_desc()},
         {DNNL_ARG_DIFF_SRC, forward.dst_desc()}});
  }
  const auto data = onednn::backward_descriptor<dnnl::inner_product_backward_data>(
      engine_, forward, src, weights, dst);
  add_backward_data(name, data, flops);
  const auto grad = onednn::backward_descriptor<dnnl::inner_product_backward_weights>(
      engine_, forward, src, gradient_layout(window), bias, dst);
  add_backward_weights(name, grad, flops, true);
  parameters_ += product(window) + units;
  previous_ = forward.dst_desc();
  current_ = to;
}

void NetworkKernels::softmax() {
  const auto forward = onednn::forward_descriptor<onednn::SoftmaxForward>(
      engine_, dnnl::primitive_attr(), prop_kind::forward_training, algorithm::softmax_accurate,
      previous_, previous_, 1);
  add("softmax", forward, 0, onednn::layout_name(previous_),
      {{DNNL_ARG_SRC, previous_}, {DNNL_ARG_DST, previous_}});
}

void NetworkKernels::optimizer(const std::string& kind) {
  const int64_t size = parameters_;
  const int lists = kind == "adam" ? 4 : kind == "momentum" ? 3 : 2;
  const auto prepare = [size, kind, lists] {
    auto values = std::make_shared<std::vector<std::vector<float>>>();
    for (int i = 0; i < lists; ++i)
      values->emplace_back(static_cast<size_t>(size), 0.01F * static_cast<float>(i + 1));
    return std::function<void()>([values, kind] {
      auto& v = *values;
      if (kind == "adam") return adam_pass(v[0], v[1], v[2], v[3]);
      if (kind == "momentum") return momentum_pass(v[0], v[1], v[2]);
      sgd_pass(v[0], v[1]);
    });
  };
  const double flops = kind == "adam" ? 11 : kind == "momentum" ? 4 : 2;
  add_kernel({{kind, "loop", "a", 0, static_cast<double>(size) * flops}, 1, prepare});
}

void build_model(const std::string& model, NetworkKernels& network) {
  const bool book = model == "book";
  if (book) {
    network.convolution("conv1 5x5x32",
                        {.filters = 32, .size = 5, .padding = 2, .bias_relu = true});
    network.max_pool("pool1", 2, 2, 0);
    network.convolution("conv2 5x5x64",
                        {.filters = 64, .size = 5, .padding = 2, .bias_relu = true});
    network.max_pool("pool2", 2, 2, 0);
  } else {
    network.convolution("conv1 3x3x32", {.filters = 32, .size = 3, .bias_relu = true});
    network.max_pool("pool1", 2, 2, 0);
  }
  network.dense(book ? "fc1 500" : "fc1 128", book ? 500 : 128, true);
  network.dense("fc2 10", 10, false);
  network.softmax();
  network.optimizer(book ? "adam" : "sgd");
}

/// Best of 20 runs, or as many as fit in a tenth of a second, after some that warm caches and
/// pages.
double best_us(const std::function<void()>& run) {
  constexpr int kWarmUp = 2, kRuns = 20;
  constexpr double kEnoughUs = 1e5;
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kWarmUp + kRuns && (i < kWarmUp + 3 || total < kEnoughUs); ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    total += took.count();
    if (i >= kWarmUp) best = std::min(best, took.count());
  }
  return best;
}

KernelReport time_kernels(const KernelBenchOptions& options) {
  if (options.threads > 0) omp_set_num_threads(options.threads);
  const bool resnet = options.model == "resnet50";
  const auto type = options.policy == "float32" ? memory::data_type::f32 : memory::data_type::bf16;
  NetworkKernels network(
      resnet ? Dims{options.batch_size, 3, 224, 224} : Dims{options.batch_size, 1, 28, 28}, type);
  resnet ? build_resnet50(network) : build_model(options.model, network);
  KernelReport report;
  report.threads = omp_get_max_threads();
  for (const Kernel& kernel : network.kernels()) report.kernels.push_back(kernel.entry);
  for (KernelTime& kernel : report.kernels) kernel.us = std::numeric_limits<double>::infinity();
  // Three passes over the network, so that a disturbance of a second does not meet all 60 runs.
  for (int pass = 0; pass < 3; ++pass)
    for (size_t i = 0; i < report.kernels.size(); ++i)
      report.kernels[i].us =
          std::min(report.kernels[i].us, best_us(network.kernels()[i].prepare()));
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const int count = network.kernels()[i].count;
    report.kernels[i].us *= count;
    report.kernels[i].flops *= count;
    if (count > 1) report.kernels[i].name += " (" + std::to_string(count) + " times)";
  }
  return report;
}

}  // namespace distribute_tools

#else

namespace distribute_tools {

KernelReport time_kernels(const KernelBenchOptions&) {
  throw std::runtime_error("this program was built without oneDNN (package libdnnl-dev)");
}

}  // namespace distribute_tools

#endif
