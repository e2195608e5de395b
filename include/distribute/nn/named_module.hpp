#pragma once
/// Base of modules with several inputs or outputs, which have names.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <map>
#include <string>
#include <vector>

namespace distribute::nn {

/// Tensors by the names of inputs or outputs; data::TensorMap is the same type.
using NamedTensors = std::map<std::string, Tensor>;

/// A function of named tensors that gives named tensors: module({{"image", x}, {"text", y}}). With
/// one input and one output it is also called as other modules are.
/// Source  a tf.keras.Model whose inputs and outputs are dicts
class NamedModule : public Module {
 public:
  using Module::operator();
  /// Throws  InvalidArgumentError for an input that is missing or unknown, and when the module
  ///         does not give exactly its outputs.
  NamedTensors operator()(const NamedTensors& inputs, CallOptions options = {});

  /// In the order in which they were added.
  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return outputs_; }

 protected:
  /// Throws  InvalidArgumentError for a name that is there twice.
  explicit NamedModule(std::vector<std::string> inputs = {}, std::vector<std::string> outputs = {},
                       std::string name = {});
  void add_input_name(const std::string& name);
  void add_output_name(const std::string& name);
  virtual NamedTensors call_named(const NamedTensors& inputs, CallOptions options) = 0;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  bool supports_masking() const override { return false; }
  NamedTensors checked_call(const NamedTensors& inputs, const CallOptions& options);
  void check_new(const std::string& name) const;

  std::vector<std::string> inputs_, outputs_;
};

namespace nn_internal {
/// "a", "b".
std::string quoted_list(const std::vector<std::string>& names);
}  // namespace nn_internal

}  // namespace distribute::nn
