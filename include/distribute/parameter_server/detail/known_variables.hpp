#pragma once
/// The variables that a client knows, and the latest values received.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace distribute::parameter_server {

struct KnownVariable {
  VariableSpec spec;
  int server = 0, lane = 0;
  int64_t handle = 0;  // its number on the server
  Tensor value = {};   // the latest received, and its version
  uint64_t version = 0;

  int64_t bytes() const { return spec.shape.num_elements() * size_of(spec.dtype); }
  /// Throws  InvalidArgumentError that begins with the method's name.
  void check(const char* method, const Tensor& given) const;
};

/// Variables by id. Thread-compatible. References stay valid.
class KnownVariables {
 public:
  /// Throws  InvalidArgumentError for an unknown id.
  KnownVariable& at(VariableId id);
  std::optional<VariableId> find(const std::string& key) const;
  VariableId add(KnownVariable variable);

 private:
  std::deque<KnownVariable> variables_;
  std::map<std::string, VariableId> ids_;
};

}  // namespace distribute::parameter_server
