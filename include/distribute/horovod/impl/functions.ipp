#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/collectives.hpp>

#include <span>

namespace distribute::hvd {

DISTRIBUTE_INLINE void broadcast_variables(const std::vector<Variable>& variables, int root_rank,
                                           const ProcessSet& process_set) {
  std::vector<Handle> handles;
  for (size_t i = 0; i < variables.size(); ++i)
    handles.push_back(
        broadcast_async(variables[i].value(), root_rank,
                        {.process_set = process_set,
                         .name = str_cat("broadcast_variables.", i, ".", variables[i].name())}));
  for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(handles[i].wait());
}

DISTRIBUTE_INLINE void add_variables(const Trackable& object, std::vector<Variable>& all) {
  for (const auto& own : object.own_variables()) all.push_back(own.variable);
  for (const auto& slot : object.slot_variables()) all.push_back(slot.variable);
  for (const auto& child : object.children()) add_variables(*child.object, all);
}

DISTRIBUTE_INLINE std::vector<Variable> variables_of(const Trackable& object) {
  std::vector<Variable> all;
  add_variables(object, all);
  return all;
}

DISTRIBUTE_INLINE Tensor bytes_tensor(const std::string& bytes) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  return Tensor(Shape{int64_t(bytes.size())}, std::span<const uint8_t>(begin, bytes.size()));
}

DISTRIBUTE_INLINE std::string text_of(std::span<const uint8_t> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

DISTRIBUTE_INLINE std::string broadcast_object(const std::string& bytes, int root_rank,
                                               const std::string& name,
                                               const ProcessSet& process_set) {
  const auto options = [&](const char* what) {
    return OperationOptions{.process_set = process_set, .name = name.empty() ? "" : name + what};
  };
  const Tensor size = broadcast(Tensor(int64_t(bytes.size())), root_rank, options("/size"));
  const bool root = rank() == root_rank;
  const Tensor mine = root ? bytes_tensor(bytes) : zeros({size.item<int64_t>()}, DType::UInt8);
  const Tensor all = broadcast(mine, root_rank, options("/bytes"));
  return text_of(all.data<uint8_t>());
}

DISTRIBUTE_INLINE std::vector<std::string> allgather_object(const std::string& bytes,
                                                            const std::string& name,
                                                            const ProcessSet& process_set) {
  const auto options = [&](const char* what) {
    return OperationOptions{.process_set = process_set, .name = name.empty() ? "" : name + what};
  };
  const Tensor sizes = allgather(Tensor{int64_t(bytes.size())}, options("/sizes"));
  const Tensor all = allgather(bytes_tensor(bytes), options("/bytes"));
  std::vector<std::string> texts;
  size_t at = 0;
  for (int64_t size : sizes.data<int64_t>()) {
    texts.push_back(text_of(all.data<uint8_t>().subspan(at, size_t(size))));
    at += size_t(size);
  }
  return texts;
}

}  // namespace distribute::hvd
