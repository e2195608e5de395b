#pragma once
/// The kernels of one training step as raw oneDNN primitives; only with oneDNN.

#include "bench_kernels.hpp"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onednn_shim.hpp"

namespace distribute_tools {

using Dims = dnnl::memory::dims;
using Descs = std::unordered_map<int, dnnl::memory::desc>;

/// Equal kernels of a network are measured once and count as often as they occur.
struct Kernel {
  KernelTime entry;  // of one of them
  int count = 1;
  std::function<std::function<void()>()> prepare;  // allocates, and gives what is to be timed
};

/// A convolution; residual networks have no bias, and no ReLU that it could fuse.
struct ConvolutionSize {
  int64_t filters = 0, size = 1, stride = 1, padding = 0;
  bool bias_relu = false;
};

int64_t product(const Dims& dims);
/// A list of float32.
dnnl::memory::desc plain(int64_t size);
std::string arrow(const dnnl::memory::desc& from, const dnnl::memory::desc& with,
                  const dnnl::memory::desc& to);

/// Builds the kernels layer by layer; `current` is the shape that the next layer receives.
class NetworkKernels {
 public:
  NetworkKernels(Dims input, dnnl::memory::data_type type)
      : current_(std::move(input)), type_(type) {}

  /// That of the first layer has no backward data.
  void convolution(const std::string& name, const ConvolutionSize& size);
  void max_pool(const std::string& name, int64_t size, int64_t stride, int64_t padding);
  void dense(const std::string& name, int64_t units, bool relu);
  void softmax();
  void optimizer(const std::string& kind);

  // For residual networks.
  void batch_norm(const std::string& name, bool relu);
  /// Adds what came before to a residual, through a ReLU; the gradient's gate and the sum of the
  /// two gradients on the way back.
  void add_relu(const std::string& name);
  void average_pool(const std::string& name);
  const Dims& current() const { return current_; }
  const dnnl::memory::desc& previous() const { return previous_; }
  /// The next layer reads this again: a shortcut begins.
  void go_back(Dims shape, dnnl::memory::desc layout);

  std::vector<Kernel>& kernels() { return kernels_; }

 private:
  template <class Descriptor>
  void add(const std::string& name, const Descriptor& descriptor, double flops,
           const std::string& layouts, Descs arguments) {
    add(name, dnnl::primitive(descriptor), descriptor.impl_info_str(), flops, layouts,
        std::move(arguments));
  }
  void add(const std::string& name, const dnnl::primitive& primitive,
           const std::string& implementation, double flops, const std::string& layouts,
           Descs arguments);
  /// `bias`: of no size where there is none.
  template <class Descriptor>
  void add_forward(const std::string& name, const Descriptor& forward,
                   const dnnl::memory::desc& bias, double flops) {
    Descs arguments{{DNNL_ARG_SRC, forward.src_desc()},
                    {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                    {DNNL_ARG_DST, forward.dst_desc()}};
    if (bias.get_size() > 0) arguments.emplace(DNNL_ARG_BIAS, bias);
    add(name + " forward", forward, flops,
        arrow(forward.src_desc(), forward.weights_desc(), forward.dst_desc()),
        std::move(arguments));
  }
  template <class Descriptor>
  void add_backward_data(const std::string& name, const Descriptor& data, double flops) {
    add(name + " backward data", data, flops,
        arrow(data.diff_dst_desc(), data.weights_desc(), data.diff_src_desc()),
        {{DNNL_ARG_DIFF_DST, data.diff_dst_desc()},
         {DNNL_ARG_WEIGHTS, data.weights_desc()},
         {DNNL_ARG_DIFF_SRC, data.diff_src_desc()}});
  }
  /// `with_bias`: the gradient of a bias comes along.
  template <class Descriptor>
  void add_backward_weights(const std::string& name, const Descriptor& grad, double flops,
                            bool with_bias) {
    Descs arguments{{DNNL_ARG_SRC, grad.src_desc()},
                    {DNNL_ARG_DIFF_DST, grad.diff_dst_desc()},
                    {DNNL_ARG_DIFF_WEIGHTS, grad.diff_weights_desc()}};
    if (with_bias) arguments.emplace(DNNL_ARG_DIFF_BIAS, grad.diff_bias_desc());
    add(name + " backward weights", grad, flops,
        arrow(grad.src_desc(), grad.diff_dst_desc(), grad.diff_weights_desc()),
        std::move(arguments));
  }
  void add_kernel(Kernel kernel);
  dnnl::memory::desc any_layout(const Dims& dims) const;
  /// Keras' weights and gradients stay float32.
  dnnl::memory::desc gradient_layout(const Dims& dims) const;

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Dims current_;
  dnnl::memory::data_type type_;
  int64_t parameters_ = 0;
  bool first_ = true;
  dnnl::memory::desc previous_;  // layout the layer before wrote; pooling takes it as it is
  std::vector<Kernel> kernels_;
};

/// The kernels of ResNet-50 version 1.5 on pictures of 224 x 224.
void build_resnet50(NetworkKernels& network);

}  // namespace distribute_tools
