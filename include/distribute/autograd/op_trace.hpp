#pragma once
/// A list of the operations that a thread runs, with all it takes to run them elsewhere.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace distribute {

class Variable;

/// The arguments of an operation that are no tensors; axes are not negative.
using OpAttribute = std::variant<int64_t, double, std::vector<int64_t>>;
using OpAttributes = std::map<std::string, OpAttribute>;

struct TracedOp {              // one operation of a trace
  std::string name;            // as gradient tapes know it, such as "conv2d"
  std::vector<Tensor> inputs;  // none where an operand was left out
  Tensor output;
  OpAttributes attributes;
  std::string layer;  // path of the module that called it, such as "block1/conv"; "" outside
};

/// Lists the operations of its thread from construction to stop() or destruction. Where one
/// is made of others, its own entry comes last and counts. Keeps all results alive. An operation
/// that reports nothing leaves a value without an origin.
/// Source  what tf.function's FuncGraph is for
class OpTrace {
 public:
  OpTrace();
  ~OpTrace();
  OpTrace(const OpTrace&) = delete;
  OpTrace& operator=(const OpTrace&) = delete;

  /// The operation that made the tensor; null for values that were there before.
  const TracedOp* origin(const Tensor& tensor) const;
  /// The variable whose value the tensor is; an empty one for other tensors.
  Variable variable(const Tensor& tensor) const;

  /// Ends the listing before the destructor does; what was listed stays.
  void stop();

  /// Called by operations, and by reads of variables, while the trace is active.
  void add(TracedOp op);
  void add_variable(const Variable& variable, const Tensor& value);
  /// Operations belong to this layer from here on; the one before comes back.
  std::string enter_layer(std::string path);

 private:
  struct State;
  Pimpl<State> state_;
};

namespace autograd_internal {

/// The innermost trace of the calling thread; null when no trace is active.
OpTrace*& active_trace();
inline bool is_tracing() { return active_trace() != nullptr; }

/// For modules: while it lives, traced operations of this thread belong to the layer; an empty path
/// changes nothing.
class TracedLayer {
 public:
  explicit TracedLayer(const std::string& path);
  TracedLayer(const TracedLayer&) = delete;
  ~TracedLayer();

 private:
  OpTrace* trace_;
  std::string outer_;
};

}  // namespace autograd_internal

}  // namespace distribute
