#pragma once
/// Layers of several inputs.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace distribute::nn {

/// A module of several tensors: layer({a, b}).
/// Source  a layer of tf.keras whose call() takes a list
class MultiInputModule : public Module {
 public:
  using Module::operator();
  Tensor operator()(const std::vector<Tensor>& inputs, CallOptions options = {});

 protected:
  using Module::Module;
  virtual Tensor call_all(std::span<const Tensor> inputs, CallOptions options) = 0;
  /// The mask of the result, for layers that support masking; the inputs' are get_keras_mask.
  /// Source  tf.keras.layers.Layer.compute_mask
  virtual Tensor compute_mask(std::span<const Tensor>) const { return {}; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
};

/// Functions of two tensors, element by element, from left to right; shapes broadcast.
enum class MergeFunction : uint8_t { Add, Subtract, Multiply, Average, Maximum, Minimum };

/// A step of the result counts where it counts in one of the inputs, and everywhere when one of
/// them has no mask. Multiply takes steps that do not count as 1, with 0 where they count in no
/// input; Maximum and Minimum leave them out. The others take them as they are.
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

/// Joins inputs along `axis`, the last unless given, and their masks: all steps of an input without
/// one count; along the last axis a step counts where it counts in one of the inputs.
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

/// Options of Dot.
struct DotOptions {
  /// The axis of each input that is summed over; not 0, the batch.
  std::array<int, 2> axes = {-1, -1};
  bool normalize = false;  // inputs to length 1 along their axes first: the cosine
  std::string name = {};
};

/// The products of two inputs, summed over one axis of each, example by example.
/// Shapes  [batch, a..., k], [batch, k, b...] -> [batch, a..., b...]; of two vectors [batch, 1].
/// Throws  InvalidArgumentError for other than two inputs, the batch's axis, and sizes that differ.
/// Source  tf.keras.layers.Dot
class Dot : public MultiInputModule {
 public:
  explicit Dot(DotOptions options);
  /// The options that the constructor got.
  const DotOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call_all(std::span<const Tensor> inputs, CallOptions options) override;
  std::string kind() const override { return "dot"; }

  DotOptions options_;
};

}  // namespace distribute::nn
