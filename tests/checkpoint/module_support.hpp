#pragma once
/// Small objects of the checkpoint tests.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/error.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace checkpoint_test {

/// An object with whatever variables and parts a test gives it, as a tf.Module with attributes.
class Node : public distribute::Trackable {
 public:
  distribute::Variable add(const std::string& name, const distribute::Tensor& value) {
    distribute::Variable variable(value, {.name = name});
    restore_created(name, variable);
    own_.push_back({name, variable});
    return variable;
  }
  void share(const std::string& name, const distribute::Variable& variable) {
    own_.push_back({name, variable});
  }
  void attach(const std::string& name, const Node& part) {
    parts_.push_back({name, &part});
    restore_added(name, part);
  }
  std::vector<NamedVariable> own_variables() const override { return own_; }
  std::vector<Child> children() const override { return parts_; }

 private:
  std::vector<NamedVariable> own_;
  std::vector<Child> parts_;
};

/// The message of the error of type E that `call` throws, or "no error".
template <typename E>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace checkpoint_test
