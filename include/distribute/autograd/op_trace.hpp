#pragma once
/// A list of the operations that a thread runs, with their inputs and attributes, so that they can
/// be run elsewhere.

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

/// Arguments of an operation other than tensors; axes are not negative.
using OpAttribute = std::variant<int64_t, double, std::vector<int64_t>>;
using OpAttributes = std::map<std::string, OpAttribute>;

struct TracedOp {              // one operation of a trace
  std::string name;            // as gradient tapes know it, such as "conv2d"
  std::vector<Tensor> inputs;  // empty where an operand was left out
  Tensor output;
  OpAttributes attributes;
  std::string layer;  // path of the module that called it, such as "block1/conv"; "" outside
};

/// Lists the operations of its thread from construction to stop() or destruction. An operation that
/// is made of others has an entry of its own, which comes after theirs and replaces them. The trace
/// keeps all results alive. origin() is null for a value that an unreported operation made.
/// Source  what tf.function's FuncGraph is for
class OpTrace {
 public:
  OpTrace();
  ~OpTrace();
  OpTrace(const OpTrace&) = delete;
  OpTrace& operator=(const OpTrace&) = delete;

  /// Returns the operation that made the tensor; null for values that are older than the trace.
  const TracedOp* origin(const Tensor& tensor) const;
  /// Returns the variable whose value the tensor is; an empty handle for other tensors.
  Variable variable(const Tensor& tensor) const;

  /// Ends the listing before the destructor does; the entries stay.
  void stop();

  /// Operations, and reads of variables, call it while the trace is active.
  void add(TracedOp op);
  void add_variable(const Variable& variable, const Tensor& value);
  /// Operations belong to this layer from now on; returns the path of the layer before it.
  std::string enter_layer(std::string path);

 private:
  struct State;
  Pimpl<State> state_;
};

namespace autograd_internal {

/// Returns the innermost trace of the calling thread; null when no trace is active.
OpTrace*& active_trace();
inline bool is_tracing() { return active_trace() != nullptr; }

/// While it lives, traced operations of this thread belong to the module's layer. An empty path
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
