#pragma once
/// The state of a walk over a tape, from targets back to sources.

#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/tape_state.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute::autograd_internal {

/// Collects gradients during a walk, by the id of the tensor that they belong to.
///
/// Invariants:
/// 1. An id has one or two parts, whose sum is the gradient so far.
/// 2. The last addition is left to the reader, which may do it together with other work: take()
///    gives the parts as they are, find() adds them.
class Accumulator {
 public:
  void add(uint64_t id, Tensor gradient) {
    std::vector<Tensor>& parts = gradients_[id];
    if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
    parts.push_back(std::move(gradient));
  }
  /// Gives the sum of the parts; an empty tensor when there is no part.
  Tensor find(uint64_t id) {
    const auto entry = gradients_.find(id);
    if (entry == gradients_.end()) return {};
    std::vector<Tensor>& parts = entry->second;
    if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
    return parts[0];
  }
  /// Gives the gradient of a source, summed over the ids that it had.
  Tensor find(const std::vector<uint64_t>& ids) {
    Tensor total;
    for (uint64_t id : ids)
      if (Tensor part = find(id)) total = total ? combine(total, part, 1.0f) : part;
    return total;
  }
  /// Takes the parts of a gradient that is not read again.
  std::vector<Tensor> take(uint64_t id) {
    const auto entry = gradients_.find(id);
    if (entry == gradients_.end()) return {};
    std::vector<Tensor> parts = std::move(entry->second);
    gradients_.erase(entry);
    return parts;
  }

 private:
  std::unordered_map<uint64_t, std::vector<Tensor>> gradients_;
};

/// Finds sources by id, and knows the earliest operation that reads each source. The gradient of a
/// source is complete once the walk has passed that operation.
struct SourceTable {
  std::unordered_map<uint64_t, size_t> position;
  std::vector<size_t> first_reader;
  std::vector<std::vector<size_t>> complete_after;  // by number of a node

  SourceTable(const SourceIds& sources, const std::deque<Node>& nodes)
      : first_reader(sources.size(), nodes.size()), complete_after(nodes.size()) {
    for (size_t s = 0; s < sources.size(); ++s)
      for (uint64_t id : sources[s]) position.emplace(id, s);
    for (size_t n = nodes.size(); n-- > 0;)
      for (uint64_t id : nodes[n].inputs)
        if (const auto found = position.find(id); found != position.end())
          first_reader[found->second] = n;
    for (size_t s = 0; s < sources.size(); ++s) {
      for (uint64_t id : sources[s])  // the same source may be asked for twice
        first_reader[s] = std::min(first_reader[s], first_reader[position.at(id)]);
      if (first_reader[s] < nodes.size()) complete_after[first_reader[s]].push_back(s);
    }
  }
};

/// One walk from targets back to sources.
struct Walk {
  const SourceIds& sources;
  std::span<const Variable> variables;
  SourceTable table;
  Accumulator gradients;
};

/// Gives weights that single out element `i` in each of `rows` rows of a tensor.
Tensor element_weight(const Tensor& target, int64_t rows, int64_t i);

/// Describes how the gradients lie in a Jacobian.
struct JacobianShape {
  Shape target, source;
  bool shares_first_axis = false;  // d [b, t...] / d [b, s...] is [b, t..., s...]

  Shape whole() const;
  int64_t rows() const { return shares_first_axis ? target[0] : 1; }
};

/// Joins the gradients of the elements of a target's row, in order, into one tensor, and records
/// this on the active tapes. Empty gradients become zeros; the result is empty where all are empty.
Tensor stack_gradients(const std::vector<Tensor>& gradients, const JacobianShape& shape);

}  // namespace distribute::autograd_internal
