/// The kernels of ResNet-50 as raw oneDNN primitives. Shares no code with the library.
///
/// What belongs to the sum: convolutions without bias, batch normalization in training with the
/// ReLU that oneDNN can fuse, the addition at the end of a block with its ReLU and, backwards, the
/// gate and the sum of two gradients as primitives of their own, pooling, the dense layer, softmax
/// and one pass of momentum. Filters in bfloat16 are taken as converted.
#include "bench_kernels.hpp"

#if !defined(DISTRIBUTE_HAS_ONEDNN) || DISTRIBUTE_HAS_ONEDNN
#include "network_kernels.hpp"

namespace distribute_tools {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

namespace {

std::string size_text(const Dims& shape) {
  return std::to_string(shape[1]) + " at " + std::to_string(shape[2]);
}

}  // namespace

void NetworkKernels::batch_norm(const std::string& name, bool relu) {
  auto flags = onednn::kScaleShift;
  if (relu) flags |= dnnl::normalization_flags::fuse_norm_relu;
  const auto channels = plain(current_[1]);
  const auto forward = onednn::batch_norm_descriptor(engine_, previous_, flags);
  const std::string text = name + (relu ? " relu " : " ") + size_text(current_);
  Descs forward_arguments{{DNNL_ARG_SRC, previous_},
                          {DNNL_ARG_DST, previous_},
                          {DNNL_ARG_MEAN, channels},
                          {DNNL_ARG_VARIANCE, channels}};
  Descs backward_arguments{{DNNL_ARG_SRC, previous_},
                           {DNNL_ARG_DIFF_DST, previous_},
                           {DNNL_ARG_DIFF_SRC, previous_},
                           {DNNL_ARG_MEAN, channels},
                           {DNNL_ARG_VARIANCE, channels}};
  const auto weights =
      onednn::kScaleShiftPlaces.size() == 1
          ? memory::desc({2, current_[1]}, memory::data_type::f32, memory::format_tag::nc)
          : channels;
  for (const int place : onednn::kScaleShiftPlaces) {
    forward_arguments.emplace(place, weights);
    backward_arguments.emplace(place, weights);
  }
  for (const int place : onednn::kScaleShiftGradients) backward_arguments.emplace(place, weights);
  if (relu) {
    forward_arguments.emplace(DNNL_ARG_WORKSPACE, forward.workspace_desc());
    backward_arguments.emplace(DNNL_ARG_WORKSPACE, forward.workspace_desc());
  }
  const std::string layout = onednn::layout_name(previous_);
  add(text + " forward", forward, 0, layout, forward_arguments);
  const auto backward = onednn::batch_norm_backward_descriptor(engine_, forward, previous_, flags);
  add(text + " backward", backward, 0, layout, backward_arguments);
  parameters_ += 2 * current_[1];
}

void NetworkKernels::add_relu(const std::string& name) {
  const std::string text = name + " " + size_text(current_);
  const std::string layout = onednn::layout_name(previous_);
  const auto sum = [&](const char* which, const dnnl::primitive_attr& attributes) {
    const auto descriptor = onednn::forward_descriptor<dnnl::binary>(
        engine_, attributes, algorithm::binary_add, previous_, previous_, previous_);
    add(text + which, descriptor, 0, layout,
        {{DNNL_ARG_SRC_0, previous_}, {DNNL_ARG_SRC_1, previous_}, {DNNL_ARG_DST, previous_}});
  };
  sum(" relu forward", onednn::relu_attributes());
  const auto gate = onednn::relu_backward_descriptor(engine_, previous_);
  add(text + " relu backward", gate, 0, layout,
      {{DNNL_ARG_DST, previous_}, {DNNL_ARG_DIFF_DST, previous_}, {DNNL_ARG_DIFF_SRC, previous_}});
  sum(" of gradients", dnnl::primitive_attr());
}

void NetworkKernels::average_pool(const std::string& name) {
  const Dims to{current_[0], current_[1], 1, 1}, window{current_[2], current_[3]};
  const Dims one{1, 1}, none{0, 0};
  const auto kind = algorithm::pooling_avg_exclude_padding;
  const auto forward = onednn::forward_descriptor<onednn::PoolingForward>(
      engine_, dnnl::primitive_attr(), prop_kind::forward_training, kind, previous_, any_layout(to),
      one, window, none, none, none);
  const auto dst = forward.dst_desc();
  const std::string layout = onednn::layout_name(dst);
  add(name + " forward", forward, 0, layout, {{DNNL_ARG_SRC, previous_}, {DNNL_ARG_DST, dst}});
  const auto backward = onednn::backward_descriptor<onednn::PoolingBackward>(
      engine_, forward, kind, previous_, dst, one, window, none, none, none);
  add(name + " backward", backward, 0, layout,
      {{DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_DIFF_SRC, previous_}});
  previous_ = dst;
  current_ = to;
}

void NetworkKernels::go_back(Dims shape, memory::desc layout) {
  current_ = std::move(shape);
  previous_ = std::move(layout);
}

void build_resnet50(NetworkKernels& network) {
  const auto conv = [&](int64_t filters, int64_t size = 1, int64_t stride = 1) {
    const std::string window = std::to_string(size);
    network.convolution("conv " + window + "x" + window + "/" + std::to_string(stride) + " " +
                            size_text(network.current()) + " to " + std::to_string(filters),
                        {.filters = filters, .size = size, .stride = stride, .padding = size / 2});
  };
  conv(64, 7, 2);
  network.batch_norm("batch norm", true);
  network.max_pool("max pool", 3, 2, 1);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      const int64_t filters = int64_t{64} << stage, stride = stage > 0 && i == 0 ? 2 : 1;
      const Dims shape = network.current();
      const memory::desc layout = network.previous();
      if (i == 0) {
        conv(4 * filters, 1, stride);
        network.batch_norm("batch norm", false);
        network.go_back(shape, layout);
      }
      conv(filters);
      network.batch_norm("batch norm", true);
      conv(filters, 3, stride);
      network.batch_norm("batch norm", true);
      conv(4 * filters);
      network.batch_norm("batch norm", false);
      network.add_relu("add");
    }
  network.average_pool("average pool");
  network.dense("predictions", 1000, false);
  network.softmax();
  network.optimizer("momentum");
}

}  // namespace distribute_tools

#endif
