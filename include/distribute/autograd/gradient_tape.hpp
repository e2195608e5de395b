#pragma once
/// Records operations of the calling thread and walks them backwards.

#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace distribute {

/// The argument of an operation's gradient function: the gradients of its results, and which of its
/// inputs need one.
class Backward {
 public:
  /// `parts` has for each output the tensors whose sum is its gradient; the target does not depend
  /// on an output without parts.
  Backward(std::span<std::vector<Tensor>> parts, std::vector<bool> needed,
           std::vector<bool> of_one_reader)
      : parts_(parts), needed_(std::move(needed)), private_(std::move(of_one_reader)) {}
  /// Returns the gradient of an output; an empty tensor when the target does not depend on it.
  const Tensor& gradient(size_t output = 0) const;
  /// Returns the gradient as at most two tensors that are still to be added, for operations that
  /// can add them in the same pass. A tensor that is unique() may be overwritten.
  std::span<const Tensor> gradient_parts(size_t output = 0) const;
  /// Returns whether the gradient of this input is used. If it is not, the operation gives an empty
  /// tensor in its place.
  bool needs(size_t input) const { return needed_[input]; }
  /// Returns true when only the operation that made this input will read the gradient. Part of that
  /// operation's work (the gate of its ReLU) may then be done here.
  bool is_private(size_t input) const { return private_[input]; }

 private:
  std::span<std::vector<Tensor>> parts_;  // gradient() adds them up in place
  std::vector<bool> needed_, private_;
};

/// Gives one gradient for each input; an empty tensor for an input that the output does not depend
/// on.
using BackwardFunction = std::function<std::vector<Tensor>(const Backward&)>;

namespace autograd_internal {
class HiddenTapes;
/// Returns true when the thread has an active tape.
bool is_taping();
}  // namespace autograd_internal

/// Returns true when an active tape of this thread follows one of the tensors.
bool is_recording(std::span<const Tensor> inputs);

/// Refers, for the length of a call, to a callable that makes the attributes of an operation. It is
/// called only while a trace of this thread is active. An empty one gives no attributes.
class AttributesFunction {
 public:
  AttributesFunction() = default;
  template <typename Make>
  requires std::is_invocable_r_v<OpAttributes, const Make&> AttributesFunction(const Make& make)
      : make_(&make),
        call_([](const void* m) -> OpAttributes { return (*static_cast<const Make*>(m))(); }) {}
  OpAttributes operator()() const;

 private:
  const void* make_ = nullptr;
  OpAttributes (*call_)(const void*) = nullptr;
};

/// Stands in the place of a gradient function: tapes do not follow the result, as for integers and
/// comparisons.
inline constexpr std::nullptr_t not_differentiable = nullptr;

/// Tells the active tapes and the trace of this thread that `outputs` came from `inputs`.
void record(const char* op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
            const BackwardFunction& backward, AttributesFunction attributes = {});

/// Records an operation of one output and returns that output.
Tensor record(const char* op, std::initializer_list<Tensor> inputs, const Tensor& output,
              const BackwardFunction& backward, AttributesFunction attributes = {});

/// Records an operation that is made of recorded operations. Tapes follow the parts; a trace shows
/// the operation as one.
Tensor record_composite(const char* op, std::initializer_list<Tensor> inputs, const Tensor& output,
                        AttributesFunction attributes = {});

/// Makes a gradient function that throws "this operation has no gradient" when a gradient of the
/// inputs is asked for.
BackwardFunction no_gradient(const char* op);

/// Gives back the gradients, made of `inputs`, and records that the existing ones cannot be
/// differentiated again.
std::vector<Tensor> final_gradients(const char* op, std::initializer_list<Tensor> inputs,
                                    std::vector<Tensor> gradients);

/// Says what the gradient of a source is that the target does not depend on: an empty tensor or
/// zeros.
/// Source  tf.UnconnectedGradients
enum class UnconnectedGradients { None, Zero };

/// Records for automatic differentiation from construction to destruction, on one thread.
/// Source  tf.GradientTape
class GradientTape {
 public:
  struct Options {
    bool persistent = false;               // gradient() may be called more than once
    bool watch_accessed_variables = true;  // trainable variables are watched when read
  };
  /// A function that is called with a source's position as soon as its gradient is complete.
  using OnReady = std::function<void(size_t source, const Tensor& gradient)>;
  struct State;

  GradientTape();
  explicit GradientTape(Options options);
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  /// Follows a tensor, or a variable that is not trainable.
  void watch(const Tensor& tensor);
  void watch(const Variable& variable);
  /// Returns the variables read so far, in the order of the first read.
  std::vector<Variable> watched_variables() const;

  /// Gives d(sum of the target's elements) / d(source); an empty tensor when the target does not
  /// depend on the source. A tape that is not persistent frees its record during the walk.
  /// Throws  FailedPreconditionError on the second call of a tape that is not persistent.
  Tensor gradient(const Tensor& target, const Tensor& source);
  Tensor gradient(const Tensor& target, const Variable& source);
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Variable>& sources);
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Tensor>& sources);
  /// Takes sources in braces, as in tape.gradient(loss, {v, w}), and gives one gradient for each.
  std::vector<Tensor> gradient(const Tensor& target, std::initializer_list<Variable> sources) {
    return gradient(target, std::vector<Variable>(sources));
  }
  /// The general form: several targets, each weighted by its output gradient (an empty tensor
  /// stands for ones).
  struct Call {
    std::vector<Tensor> output_gradients = {};
    UnconnectedGradients unconnected = UnconnectedGradients::None;
    OnReady on_ready = {};
  };
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets,
                               const std::vector<Variable>& sources, const Call& call);
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets,
                               const std::vector<Tensor>& sources, const Call& call);

  /// Gives the derivatives of each element of the target, with one walk for each element; an empty
  /// tensor when the target does not depend on the source.
  /// Shapes  target [t...], source [s...] -> [t..., s...].
  /// Source  tf.GradientTape.jacobian
  Tensor jacobian(const Tensor& target, const Tensor& source,
                  UnconnectedGradients unconnected = UnconnectedGradients::None);
  Tensor jacobian(const Tensor& target, const Variable& source,
                  UnconnectedGradients unconnected = UnconnectedGradients::None);
  std::vector<Tensor> jacobian(const Tensor& target, const std::vector<Tensor>& sources,
                               UnconnectedGradients unconnected = UnconnectedGradients::None);
  std::vector<Tensor> jacobian(const Tensor& target, const std::vector<Variable>& sources,
                               UnconnectedGradients unconnected = UnconnectedGradients::None);
  /// Gives the Jacobian of each row of the target by the same row of the source, where row i of the
  /// target must depend on row i of the source alone. There is one walk for each element of a row.
  /// Shapes  target [b, t...], source [b, s...] -> [b, t..., s...].
  /// Throws  InvalidArgumentError where the first axes differ or one has no further axis; otherwise
  ///         what gradient() throws.
  /// Source  tf.GradientTape.batch_jacobian
  Tensor batch_jacobian(const Tensor& target, const Tensor& source,
                        UnconnectedGradients unconnected = UnconnectedGradients::None);

  /// Drops everything recorded so far.
  void reset();

  /// Pauses recording for the life of the scope.
  class [[nodiscard]] StopRecording {
   public:
    explicit StopRecording(GradientTape& tape);
    ~StopRecording();
    StopRecording(const StopRecording&) = delete;
    StopRecording& operator=(const StopRecording&) = delete;

   private:
    State& state_;
    bool previous_;
  };
  /// Source  tf.GradientTape.stop_recording
  StopRecording stop_recording() { return StopRecording(*this); }

 private:
  template <typename Source>
  std::vector<Tensor> jacobians(const Tensor& target, const std::vector<Source>& sources,
                                UnconnectedGradients unconnected, bool of_rows);

  friend class autograd_internal::HiddenTapes;
  Pimpl<State> state_;
};

namespace autograd_internal {

/// Hides the active tapes of the thread for the life of the scope, and notes the variables that are
/// read during it.
class [[nodiscard]] HiddenTapes {
 public:
  HiddenTapes();
  ~HiddenTapes();
  HiddenTapes(const HiddenTapes&) = delete;
  HiddenTapes& operator=(const HiddenTapes&) = delete;
  std::vector<Variable> variables_read() const { return watch_->watched_variables(); }

 private:
  std::vector<GradientTape::State*> hidden_;
  std::unique_ptr<GradientTape> watch_;  // keeps variables, no operations
};

}  // namespace autograd_internal

/// Gives the same value, which no tape follows back.
/// Source  tf.stop_gradient
Tensor stop_gradient(const Tensor& tensor);

}  // namespace distribute
