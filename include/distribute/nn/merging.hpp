#pragma once
/// Layers that merge several inputs.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace distribute::nn {

/// Is the base of layers of several tensors, called as layer({a, b}).
/// Source  a layer of tf.keras whose call() takes a list
class MultiInputModule : public Module {
 public:
  using Module::operator();
  Tensor operator()(const std::vector<Tensor>& inputs, CallOptions options = {});

 protected:
  using Module::Module;
  virtual Tensor call_all(std::span<const Tensor> inputs, CallOptions options) = 0;
  /// Returns the result's mask, for layers that support masking; the inputs' masks are
  /// get_keras_mask.
  /// Source  tf.keras.layers.Layer.compute_mask
  virtual Tensor compute_mask(std::span<const Tensor>) const { return {}; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
};

/// Elementwise functions of two tensors, applied from left to right; sizes of 1 broadcast.
enum class MergeFunction : uint8_t { Add, Subtract, Multiply, Average, Maximum, Minimum };

/// Merges inputs element by element. A step of the result counts if it counts in one of the inputs,
/// and all steps count if one input has no mask. Multiply takes masked steps as 1, and gives 0 for
/// a step that is masked in all inputs; Maximum and Minimum leave them out. The others ignore
/// masks. Inputs with fewer axes get axes of size 1 behind the batch: [batch, features] is added to
/// every step of [batch, steps, features].
/// Throws  InvalidArgumentError for fewer than two inputs, and for Subtract other than two.
/// Source  tf.keras.layers.Add and so on
class Merge : public MultiInputModule {
 public:
  explicit Merge(MergeFunction function, std::string name = {});

 private:
  DISTRIBUTE_INLINE Tensor call_all(std::span<const Tensor> inputs, CallOptions options) override;
  DISTRIBUTE_INLINE Tensor compute_mask(std::span<const Tensor> inputs) const override;
  DISTRIBUTE_INLINE std::string kind() const override;
  bool supports_masking() const override { return true; }
  Tensor product(std::span<const Tensor> inputs) const;
  Tensor extreme(Tensor (*function)(const Tensor&, const Tensor&),
                 std::span<const Tensor> inputs) const;

  MergeFunction function_;
};

/// Source  tf.keras.layers.Add, Subtract, Multiply, Average, Maximum, Minimum
struct Add : Merge {
  explicit Add(std::string name = {}) : Merge(MergeFunction::Add, std::move(name)) {}
};
struct Subtract : Merge {
  explicit Subtract(std::string name = {}) : Merge(MergeFunction::Subtract, std::move(name)) {}
};
struct Multiply : Merge {
  explicit Multiply(std::string name = {}) : Merge(MergeFunction::Multiply, std::move(name)) {}
};
struct Average : Merge {
  explicit Average(std::string name = {}) : Merge(MergeFunction::Average, std::move(name)) {}
};
struct Maximum : Merge {
  explicit Maximum(std::string name = {}) : Merge(MergeFunction::Maximum, std::move(name)) {}
};
struct Minimum : Merge {
  explicit Minimum(std::string name = {}) : Merge(MergeFunction::Minimum, std::move(name)) {}
};

struct ConcatenateOptions {  // options of Concatenate
  int axis = -1;
  std::string name = {};
};

/// Joins inputs along `axis`, by default the last, and their masks. All steps of an input without a
/// mask count; along the last axis a step counts if it counts in one of the inputs.
/// Source  tf.keras.layers.Concatenate
class Concatenate : public MultiInputModule {
 public:
  explicit Concatenate(ConcatenateOptions options = {});
  int axis() const { return axis_; }

 private:
  DISTRIBUTE_INLINE Tensor call_all(std::span<const Tensor> inputs, CallOptions options) override;
  DISTRIBUTE_INLINE Tensor compute_mask(std::span<const Tensor> inputs) const override;
  std::string kind() const override { return "concatenate"; }
  bool supports_masking() const override { return true; }

  int axis_;
};

/// Holds the options of Dot.
struct DotOptions {
  /// The axis of each input that is summed over; it may not be 0, the batch.
  std::array<int, 2> axes = {-1, -1};
  bool normalize = false;  // scales inputs to length 1 along their axes, which gives the cosine
  std::string name = {};
};

/// Computes the products of two inputs, summed over one axis of each, for each example.
/// Shapes  [batch, a..., k], [batch, k, b...] -> [batch, a..., b...]; of two vectors [batch, 1].
/// Throws  InvalidArgumentError for other than two inputs, the batch's axis, and sizes that differ.
/// Source  tf.keras.layers.Dot
class Dot : public MultiInputModule {
 public:
  explicit Dot(DotOptions options);
  /// Returns the options that the constructor got.
  const DotOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call_all(std::span<const Tensor> inputs, CallOptions options) override;
  std::string kind() const override { return "dot"; }

  DotOptions options_;
};

}  // namespace distribute::nn
