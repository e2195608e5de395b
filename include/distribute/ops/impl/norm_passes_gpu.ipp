#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_norm_passes.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_batch_norm.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/norm_passes.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace distribute::ops_internal {

/// The common part of both classes: the vectors between the passes.
class GpuNormPasses : public NormPasses {
 public:
  explicit GpuNormPasses(const NormPassesInputs& in)
      : in_(in), residual_(std::exchange(in_.residual, Tensor())), has_residual_(residual_) {}

  Tensor sums() final {
    const Tensor& known = TensorHints::of(in_.x).channel_sums;
    return rows() > 0 && known ? known : sum();
  }

  nn::FusedBatchNorm normalize(const Tensor& totals) final {
    totals_ = totals;
    vectors_ = gpu_norm_vectors(totals, in_.scale, in_.offset, in_.epsilon);
    // Only a replica without rows must wait to learn whether another one has some.
    const bool has_rows = rows() > 0 || totals.data<float>().back() > 0;
    const Tensor y = scaled(std::exchange(residual_, Tensor()));
    return {y, vectors_.mean, vectors_.variance, has_rows};
  }

  Tensor gradient_sums(const Backward& backward) final {
    wants_residual_ = has_residual_ && backward.needs(3);
    own_ = gradient_sum(stop_gradient(backward.gradient(0)));
    return own_;
  }

  Gradients gradients(const Tensor& all) final {
    const auto v = gpu_norm_gradient_vectors(totals_, vectors_, own_, all);
    Gradients result = through(v);
    result.dscale = v.dscale;
    result.doffset = v.doffset;
    return result;
  }

 protected:
  int64_t rows() const { return in_.x.num_elements() / std::max<int64_t>(channels(), 1); }
  int64_t channels() const { return in_.x.shape()[-1]; }
  bool has_relu() const { return in_.epilogue == Epilogue::Relu; }
  NormPassesInputs in_;  // without the residual
  NormVectors vectors_;
  bool wants_residual_ = false;

 private:
  virtual Tensor sum() = 0;
  /// `residual` may be empty.
  virtual Tensor scaled(const Tensor& residual) = 0;
  virtual Tensor gradient_sum(const Tensor& dy) = 0;
  /// Gives dx and the residual's gradient, for the dy of the last call.
  virtual Gradients through(const NormGradientVectors& vectors) = 0;

  Tensor residual_;  // kept until it is added
  bool has_residual_;
  Tensor totals_, own_;
};

/// The passes as elementwise operations and reductions.
class ElementwiseNormPasses final : public GpuNormPasses {
 public:
  explicit ElementwiseNormPasses(const NormPassesInputs& in)
      : GpuNormPasses(in), x_(converted(in.x, DType::Float32)) {}

 private:
  Tensor columns(const Tensor& t) const {
    std::vector<int> axes;
    for (int axis = 0; axis + 1 < t.shape().rank(); ++axis) axes.push_back(axis);
    return reduce_sum(t, axes);
  }
  Tensor sum() override {
    const Tensor count = fill({1}, float(rows()), DType::Float32, x_.device());
    return concat({columns(x_), columns(square(x_)), count}, 0);
  }
  Tensor scaled(const Tensor& residual) override {
    Tensor y = x_ * vectors_.factor + vectors_.shift;
    if (residual) y = y + converted(residual, DType::Float32);
    if (has_relu()) y_ = y = nn::relu(y);
    return converted(y, in_.x.dtype());
  }
  Tensor gradient_sum(const Tensor& dy) override {
    const Tensor wide = converted(dy, DType::Float32);
    g_ = has_relu() ? behind_relu(wide, y_) : wide;
    return concat({columns(g_), columns(g_ * (x_ - vectors_.mean))}, 0);
  }
  Gradients through(const NormGradientVectors& v) override {
    const Tensor dx = g_ * vectors_.factor + x_ * v.slope + v.constant;
    const DType type = in_.x.dtype();
    const Tensor dresidual = wants_residual_ ? converted(g_, type) : Tensor();
    g_ = {};
    return {converted(dx, type), {}, {}, dresidual};
  }

  Tensor x_, y_, g_;  // float32
};

/// The passes as one plan of cuDNN each.
class CudnnNormPasses final : public GpuNormPasses {
 public:
  /// Throws  UnimplementedError when a pass has no plan.
  explicit CudnnNormPasses(const NormPassesInputs& in)
      : GpuNormPasses(in), x_(cudnn_array(in.x)), shape_(cudnn_norm_shape(in.x, in.epilogue)) {
    shape_.residual = bool(in.residual);
    require_cudnn_norm_passes(shape_, in.x.device(), CudnnNormWayBack::Passes);
  }

 private:
  Tensor vector(int64_t count, Array array) const {
    return Tensor({count}, DType::Float32, std::move(array));
  }
  Tensor images(Array array) const {
    return Tensor(in_.x.shape(), in_.x.dtype(), std::move(array));
  }
  Tensor sum() override { return vector(2 * channels() + 1, cudnn_channel_sums(shape_, x_)); }
  Tensor scaled(const Tensor& residual) override {
    const Array added = residual ? cudnn_array(residual) : Array{};
    const CudnnNormForward forward = cudnn_scale_channels(
        shape_, x_, vectors_.factor.array(), vectors_.shift.array(), residual ? &added : nullptr);
    mask_ = forward.mask;
    return images(forward.y);
  }
  Tensor gradient_sum(const Tensor& dy) override {
    dy_ = converted(dy, in_.x.dtype());
    return vector(2 * channels(), cudnn_channel_gradient_sums(shape_, x_, cudnn_array(dy_),
                                                              vectors_.mean.array(), mask_));
  }
  Gradients through(const NormGradientVectors& v) override {
    const CudnnNormBackward g = cudnn_channels_gradient(
        shape_, x_, cudnn_array(dy_),
        {vectors_.factor.array(), v.slope.array(), v.constant.array()}, mask_);
    Gradients result{images(g.dx), {}, {}, {}};
    if (wants_residual_) result.dresidual = has_relu() ? images(g.gated_dy) : dy_;
    dy_ = {};
    return result;
  }

  Array x_, mask_;
  CudnnNormShape shape_;
  Tensor dy_;
};

DISTRIBUTE_INLINE std::unique_ptr<NormPasses> make_gpu_norm_passes(const NormPassesInputs& in) {
  if (cudnn_problem().empty() && in.x.num_elements() > 0) try {
      return std::make_unique<CudnnNormPasses>(in);
    } catch (const UnimplementedError& error) {
      tell_slow_batch_norm(error);
    }
  return std::make_unique<ElementwiseNormPasses>(in);
}

}  // namespace distribute::ops_internal
