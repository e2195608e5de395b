#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/channel_norm.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/norm_passes.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace distribute::ops_internal {

/// The passes on the CPU; float32 and bfloat16 are read directly.
class CpuNormPasses final : public NormPasses {
 public:
  explicit CpuNormPasses(const NormPassesInputs& in)
      : in_(in),
        x_(with_channel_block(direct(in.x))),
        block_(channel_block(x_)),
        norm_(make_channel_norm(x_, block_, in.scale, in.offset, in.epilogue)),
        has_residual_(in.residual) {}

  DISTRIBUTE_INLINE Tensor sums() override;
  DISTRIBUTE_INLINE nn::FusedBatchNorm normalize(const Tensor& totals) override;
  DISTRIBUTE_INLINE Tensor gradient_sums(const Backward& backward) override;
  DISTRIBUTE_INLINE Gradients gradients(const Tensor& totals) override;

 private:
  static Tensor direct(const Tensor& t) {
    return t && t.dtype() == DType::Float16 ? converted(t, DType::Float32) : t;
  }
  int64_t channels() const { return x_.shape()[-1]; }
  /// Joins two vectors, which may have padding at their ends, to [2 channels + `more`].
  DISTRIBUTE_INLINE Tensor both(const std::vector<float>& a, const std::vector<float>& b,
                                int64_t more) const;

  NormPassesInputs in_;  // the residual is removed once it is added
  Tensor x_, y_;
  ChannelBlock block_;
  ChannelNorm norm_;
  double rows_ = 0;  // number of rows of all replicas
  std::optional<NormGradientPasses> back_;
  bool has_residual_;
};

DISTRIBUTE_INLINE Tensor CpuNormPasses::both(const std::vector<float>& a,
                                             const std::vector<float>& b, int64_t more) const {
  Tensor result = Tensor::empty({2 * channels() + more}, DType::Float32, x_.device());
  std::copy_n(a.begin(), channels(), result.mutable_data<float>());
  std::copy_n(b.begin(), channels(), result.mutable_data<float>() + channels());
  return result;
}

DISTRIBUTE_INLINE Tensor CpuNormPasses::sums() {
  const size_t padded = size_t(block_.channels);
  const double rows = double(block_.rows());
  std::vector<float> sum(padded), squares(padded);
  channel_statistics(
      x_, block_,
      [&](size_t c, float mean, float variance) {
        sum[c] = float(rows * mean);
        squares[c] = float(rows * (double(variance) + double(mean) * mean));
      },
      [](int64_t, int64_t) {});
  Tensor result = both(sum, squares, 1);
  result.mutable_data<float>()[2 * channels()] = float(rows);
  return result;
}

DISTRIBUTE_INLINE nn::FusedBatchNorm CpuNormPasses::normalize(const Tensor& totals) {
  const auto all = totals.data<float>();
  const size_t count = size_t(channels());
  rows_ = all[2 * count];
  std::vector<float> variances(count);
  for (size_t c = 0; rows_ > 0 && c < count; ++c) {
    const double mean = all[c] / rows_;
    variances[c] = float(std::max(all[count + c] / rows_ - mean * mean, 0.0));
    set_channel(norm_, c, float(mean), variances[c], float(in_.epsilon));
  }
  y_ = Tensor::empty(x_.shape(), x_.dtype(), x_.device(), x_.layout());
  const Tensor residual = std::exchange(in_.residual, Tensor());
  const Tensor other = residual ? in_layout(direct(residual), x_.layout()) : Tensor();
  sum_then_apply(
      block_, [](int64_t, int64_t, LaneSums<float>&) {}, [](int64_t, const LaneSums<double>&) {},
      [&](int64_t group, int64_t piece) {
        normalize_piece(block_, norm_, x_, other, y_, group, piece);
      });
  if (in_.epilogue == Epilogue::Relu) TensorHints::of(y_).relu_output = true;
  return {converted(y_, in_.x.dtype()), channel_tensor(norm_.mean, channels(), x_.device()),
          channel_tensor(variances, channels(), x_.device()), rows_ > 0};
}

DISTRIBUTE_INLINE Tensor CpuNormPasses::gradient_sums(const Backward& backward) {
  std::vector<Tensor> parts;
  NormGradientInputs in{.dy = backward.gradient_parts(0), .through_statistics = true};
  if (in.dy[0].dtype() != x_.dtype()) {
    for (const Tensor& part : in.dy) parts.push_back(converted(part, x_.dtype()));
    in.dy = parts;
  }
  in.want_dx = backward.needs(0);
  in.want_residual = has_residual_ && backward.needs(3);
  if (has_residual_) in.y = y_;
  back_.emplace(x_, norm_, in);
  return both(back_->sum(), back_->product(), 0);
}

DISTRIBUTE_INLINE NormPasses::Gradients CpuNormPasses::gradients(const Tensor& totals) {
  const size_t padded = size_t(block_.channels), count = size_t(channels());
  const auto all = totals.data<float>();
  std::vector<float> sum(padded), product(padded), dscale(back_->product());
  std::copy_n(all.begin(), count, sum.begin());
  std::copy_n(all.begin() + ptrdiff_t(count), count, product.begin());
  for (size_t c = 0; c < count; ++c) dscale[c] *= norm_.rstd[c];
  const NormGradients g = back_->finish(sum, product, rows_);
  const Gradients result{g.dx ? converted(g.dx, in_.x.dtype()) : g.dx,
                         channel_tensor(dscale, channels(), x_.device()),
                         channel_tensor(back_->sum(), channels(), x_.device()),
                         g.residual ? converted(g.residual, in_.x.dtype()) : g.residual};
  back_.reset();
  return result;
}

DISTRIBUTE_INLINE std::unique_ptr<NormPasses> make_norm_passes(const NormPassesInputs& in) {
  if (on_gpu(in.x)) return make_gpu_norm_passes(in);
  return std::make_unique<CpuNormPasses>(in);
}

DISTRIBUTE_INLINE nn::FusedBatchNorm normalize_over_replicas(
    const Tensor& x, const Tensor& scale, const Tensor& offset,
    const nn::FusedBatchNormOptions& options) {
  const auto own = [&](const Tensor& t) {  // layouts of the CPU are kept
    return t ? stop_gradient(on_gpu(x) ? brought_to(t, x.device()) : t) : Tensor();
  };
  Tensor images = own(x);
  if (const Tensor sums = TensorHints::of(x).channel_sums)
    TensorHints::of(images).channel_sums = sums;
  const std::shared_ptr<NormPasses> passes = make_norm_passes(
      {images, own(scale), own(offset), own(options.residual), options.epsilon, options.epilogue});
  nn::FusedBatchNorm result = passes->normalize(options.sum_over_replicas(passes->sums()));
  const Tensor inputs[] = {x, scale, offset, options.residual};
  record(
      "fused_batch_norm", inputs, std::span(&result.y, 1),
      [passes, x, total = options.sum_over_replicas](const Backward& backward) {
        const NormPasses::Gradients g = passes->gradients(total(passes->gradient_sums(backward)));
        const Tensor all[] = {g.dx, g.dscale, g.doffset, g.dresidual};
        std::vector<Tensor> gradients(4);
        for (size_t i = 0; i < 4; ++i)
          if (backward.needs(i)) gradients[i] = all[i];
        const auto dy = backward.gradient_parts(0);
        return final_gradients("fused_batch_norm gradient",
                               {x, dy[0], dy.size() > 1 ? dy[1] : Tensor()}, std::move(gradients));
      });
  return result;
}

}  // namespace distribute::ops_internal
