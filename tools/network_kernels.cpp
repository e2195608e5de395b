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
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>

#include "onednn_shim.hpp"
#include "optimizer_loops.hpp"

namespace distribute_tools {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;

struct Kernel {
  KernelTime entry;
  std::function<void()> run;
};

int64_t product(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

memory::desc any_layout(const Dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

memory::desc plain(int64_t size) { return {{size}, memory::data_type::f32, memory::format_tag::x}; }

/// Builds the kernels layer by layer; `current_` is the shape that the next layer receives.
class NetworkKernels {
 public:
  explicit NetworkKernels(int64_t batch) : current_{batch, 1, 28, 28} {}

  void conv(const std::string& name, int64_t filters, int64_t size, int64_t padding);
  void max_pool(const std::string& name);
  void dense(const std::string& name, int64_t units, bool relu);
  void softmax();
  void optimizer(bool adam);
  std::vector<Kernel>& kernels() { return kernels_; }

 private:
  template <class Descriptor>
  void add(const std::string& name, const Descriptor& descriptor, double flops,
           const std::string& layouts, Arguments arguments);
  memory make(const memory::desc& desc);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Dims current_;
  int64_t parameters_ = 0;
  bool first_ = true;
  memory::desc previous_;  // layout the layer before wrote; pooling takes it as it is
  std::vector<Kernel> kernels_;
};

memory NetworkKernels::make(const memory::desc& desc) {
  memory result(desc, engine_);
  auto* values = static_cast<float*>(result.get_data_handle());
  uint32_t state = 12345;
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
    state = state * 1664525U + 1013904223U;
    values[i] = static_cast<float>(state >> 8U) / (1U << 24U) - 0.5F;
  }
  return result;
}

template <class Descriptor>
void NetworkKernels::add(const std::string& name, const Descriptor& descriptor, double flops,
                         const std::string& layouts, Arguments arguments) {
  const dnnl::primitive primitive(descriptor);
  kernels_.push_back({{name, descriptor.impl_info_str(), layouts, 0, flops},
                      [this, primitive, arguments = std::move(arguments)]() mutable {
                        primitive.execute(stream_, arguments);
                        stream_.wait();
                      }});
}

std::string arrow(const memory::desc& from, const memory::desc& with, const memory::desc& to) {
  return onednn::layout_name(from) + " * " + onednn::layout_name(with) + " -> " +
         onednn::layout_name(to);
}

void NetworkKernels::conv(const std::string& name, int64_t filters, int64_t size, int64_t padding) {
  const int64_t out = current_[2] + 2 * padding - size + 1;
  const Dims to{current_[0], filters, out, out}, window{filters, current_[1], size, size};
  const Dims one{1, 1}, pad{padding, padding};
  const auto src = any_layout(current_), weights = any_layout(window), dst = any_layout(to);
  const auto bias = plain(filters);
  const double flops = 2.0 * static_cast<double>(product(to) * product(window) / filters);

  const auto forward = onednn::forward_descriptor<dnnl::convolution_forward>(
      engine_, onednn::relu_attributes(), prop_kind::forward_training,
      algorithm::convolution_direct, src, weights, bias, dst, one, pad, pad);
  add(name + " forward", forward, flops,
      arrow(forward.src_desc(), forward.weights_desc(), forward.dst_desc()),
      {{DNNL_ARG_SRC, make(forward.src_desc())},
       {DNNL_ARG_WEIGHTS, make(forward.weights_desc())},
       {DNNL_ARG_BIAS, make(bias)},
       {DNNL_ARG_DST, make(forward.dst_desc())}});
  if (!first_) {
    const auto data = onednn::backward_descriptor<dnnl::convolution_backward_data>(
        engine_, forward, algorithm::convolution_direct, src, weights, dst, one, pad, pad);
    add(name + " backward data", data, flops,
        arrow(data.diff_dst_desc(), data.weights_desc(), data.diff_src_desc()),
        {{DNNL_ARG_DIFF_DST, make(data.diff_dst_desc())},
         {DNNL_ARG_WEIGHTS, make(data.weights_desc())},
         {DNNL_ARG_DIFF_SRC, make(data.diff_src_desc())}});
  }
  const auto grad = onednn::backward_descriptor<dnnl::convolution_backward_weights>(
      engine_, forward, algorithm::convolution_direct, src, weights, bias, dst, one, pad, pad);
  add(name + " backward weights", grad, flops,
      arrow(grad.src_desc(), grad.diff_dst_desc(), grad.diff_weights_desc()),
      {{DNNL_ARG_SRC, make(grad.src_desc())},
       {DNNL_ARG_DIFF_DST, make(grad.diff_dst_desc())},
       {DNNL_ARG_DIFF_WEIGHTS, make(grad.diff_weights_desc())},
       {DNNL_ARG_DIFF_BIAS, make(bias)}});
  parameters_ += product(window) + filters;
  previous_ = forward.dst_desc();
  current_ = to;
  first_ = false;
}

void NetworkKernels::max_pool(const std::string& name) {
  const Dims to{current_[0], current_[1], current_[2] / 2, current_[3] / 2};
  const Dims two{2, 2}, none{0, 0};
  const auto forward = onednn::forward_descriptor<onednn::PoolingForward>(
      engine_, dnnl::primitive_attr(), prop_kind::forward_training, algorithm::pooling_max,
      previous_, any_layout(to), two, two, none, none, none);
  const memory workspace(forward.workspace_desc(), engine_);
  const auto dst = forward.dst_desc();
  const std::string layout = onednn::layout_name(dst);
  add(name + " forward", forward, 0, layout,
      {{DNNL_ARG_SRC, make(previous_)},
       {DNNL_ARG_DST, make(dst)},
       {DNNL_ARG_WORKSPACE, workspace}});
  const auto backward = onednn::backward_descriptor<onednn::PoolingBackward>(
      engine_, forward, algorithm::pooling_max, previous_, dst, two, two, none, none, none);
  add(name + " backward", backward, 0, layout,
      {{DNNL_ARG_DIFF_DST, make(dst)},
       {DNNL_ARG_WORKSPACE, workspace},
       {DNNL_ARG_DIFF_SRC, make(previous_)}});
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
  add(name + " forward", forward, flops,
      arrow(forward.src_desc(), forward.weights_desc(), forward.dst_desc()),
      {{DNNL_ARG_SRC, make(forward.src_desc())},
       {DNNL_ARG_WEIGHTS, make(forward.weights_desc())},
       {DNNL_ARG_BIAS, make(bias)},
       {DNNL_ARG_DST, make(forward.dst_desc())}});
  if (relu) {
    const auto gate = onednn::relu_backward_descriptor(engine_, forward.dst_desc());
    add(name + " relu backward", gate, 0, onednn::layout_name(forward.dst_desc()),
        {{DNNL_ARG_DST, make(forward.dst_desc())},
         {DNNL_ARG_DIFF_DST, make(forward.dst_desc())},
         {DNNL_ARG_DIFF_SRC, make(forward.dst_desc())}});
  }
  const auto data = onednn::backward_descriptor<dnnl::inner_product_backward_data>(
      engine_, forward, src, weights, dst);
  add(name + " backward data", data, flops,
      arrow(data.diff_dst_desc(), data.weights_desc(), data.diff_src_desc()),
      {{DNNL_ARG_DIFF_DST, make(data.diff_dst_desc())},
       {DNNL_ARG_WEIGHTS, make(data.weights_desc())},
       {DNNL_ARG_DIFF_SRC, make(data.diff_src_desc())}});
  const auto grad = onednn::backward_descriptor<dnnl::inner_product_backward_weights>(
      engine_, forward, src, weights, bias, dst);
  add(name + " backward weights", grad, flops,
      arrow(grad.src_desc(), grad.diff_dst_desc(), grad.diff_weights_desc()),
      {{DNNL_ARG_SRC, make(grad.src_desc())},
       {DNNL_ARG_DIFF_DST, make(grad.diff_dst_desc())},
       {DNNL_ARG_DIFF_WEIGHTS, make(grad.diff_weights_desc())},
       {DNNL_ARG_DIFF_BIAS, make(bias)}});
  parameters_ += product(window) + units;
  previous_ = forward.dst_desc();
  current_ = to;
}

void NetworkKernels::softmax() {
  const auto forward = onednn::forward_descriptor<onednn::SoftmaxForward>(
      engine_, dnnl::primitive_attr(), prop_kind::forward_training, algorithm::softmax_accurate,
      previous_, previous_, 1);
  add("softmax", forward, 0, onednn::layout_name(previous_),
      {{DNNL_ARG_SRC, make(previous_)}, {DNNL_ARG_DST, make(previous_)}});
}

void NetworkKernels::optimizer(bool adam) {
  const int64_t size = parameters_;
  auto values = std::make_shared<std::vector<std::vector<float>>>();
  for (int i = 0; i < (adam ? 4 : 2); ++i)
    values->emplace_back(static_cast<size_t>(size), 0.01F * static_cast<float>(i + 1));
  const auto run = [values, adam] {
    auto& lists = *values;
    adam ? adam_pass(lists[0], lists[1], lists[2], lists[3]) : sgd_pass(lists[0], lists[1]);
  };
  kernels_.push_back(
      {{adam ? "adam" : "sgd", "loop", "a", 0, static_cast<double>(size) * (adam ? 11 : 2)}, run});
}

void build_model(const std::string& model, NetworkKernels& network) {
  const bool book = model == "book";
  if (book) {
    network.conv("conv1 5x5x32", 32, 5, 2);
    network.max_pool("pool1");
    network.conv("conv2 5x5x64", 64, 5, 2);
    network.max_pool("pool2");
  } else {
    network.conv("conv1 3x3x32", 32, 3, 0);
    network.max_pool("pool1");
  }
  network.dense(book ? "fc1 500" : "fc1 128", book ? 500 : 128, true);
  network.dense("fc2 10", 10, false);
  network.softmax();
  network.optimizer(book);
}

/// Best of 20 runs after 3 that warm caches and pages.
double best_us(const std::function<void()>& run) {
  constexpr int kWarmUp = 3, kRuns = 20;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kWarmUp + kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= kWarmUp) best = std::min(best, took.count());
  }
  return best;
}

KernelReport time_kernels(const KernelBenchOptions& options) {
  if (options.threads > 0) omp_set_num_threads(options.threads);
  NetworkKernels network(options.batch_size);
  build_model(options.model, network);
  KernelReport report;
  report.threads = omp_get_max_threads();
  for (const Kernel& kernel : network.kernels()) report.kernels.push_back(kernel.entry);
  for (KernelTime& kernel : report.kernels) kernel.us = std::numeric_limits<double>::infinity();
  // Three passes over the network, so that a disturbance of a second does not meet all 60 runs.
  for (int pass = 0; pass < 3; ++pass)
    for (size_t i = 0; i < report.kernels.size(); ++i)
      report.kernels[i].us = std::min(report.kernels[i].us, best_us(network.kernels()[i].run));
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
