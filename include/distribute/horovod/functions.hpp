#pragma once
/// Sends variables and small objects to all ranks.

#include <distribute/autograd/trackable.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/process_set.hpp>

#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace distribute::hvd {

/// Gives every rank the values of `root_rank`. Ranks give the same variables, which are known by
/// their place in the list.
/// Throws  as Handle::wait(), with the variable's name when shapes differ.
/// Source  horovod.broadcast_variables
void broadcast_variables(const std::vector<Variable>& variables, int root_rank,
                         const ProcessSet& process_set = {});

/// All variables of an object, such as a model, and of its parts, in its order; an optimizer's step
/// count and slots, too: build() it first where ranks may have made a different number of steps.
std::vector<Variable> variables_of(const Trackable& object);

/// The bytes of `root_rank`; those of other ranks are not looked at.
/// Source  horovod.broadcast_object
std::string broadcast_object(const std::string& bytes, int root_rank, const std::string& name = {},
                             const ProcessSet& process_set = {});
/// The bytes of every rank, in rank order.
/// Source  horovod.allgather_object
std::vector<std::string> allgather_object(const std::string& bytes, const std::string& name = {},
                                          const ProcessSet& process_set = {});

/// A value that can be sent as its bytes.
template <typename T>
concept PlainObject =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>;

template <PlainObject T>
T broadcast_object(const T& value, int root_rank, const std::string& name = {},
                   const ProcessSet& process_set = {}) {  // the value of root_rank
  const std::string mine(reinterpret_cast<const char*>(&value), sizeof value);
  const std::string bytes = broadcast_object(mine, root_rank, name, process_set);
  T result = value;
  std::memcpy(&result, bytes.data(), sizeof result);
  return result;
}

}  // namespace distribute::hvd
