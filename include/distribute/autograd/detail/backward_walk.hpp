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

/// Gradients on their way back, by the id of the tensor they belong to. The last addition waits
/// for the reader, who may do it together with other work.
class Accumulator {
 public:
  void add(uint64_t id, Tensor gradient) {
    std::vector<Tensor>& parts = gradients_[id];
    if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
    parts.push_back(std::move(gradient));
  }
  /// The sum; none when there is no part.
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
  /// The parts of a gradient that is not read again.
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

/// Sources by id, and the earliest operation that reads each: then its gradient is complete.
struct SourceTable {
  std::unordered_map<uint64_t, size_t> position;
  std::vector<size_t> first_reader;
  std::vector<std::vector<size_t>> complete_after;  // by node

  SourceTable(const SourceIds& sources, const std::deque<Node>& nodes)
      : first_reader(sources.size(), nodes.size()), complete_after(nodes.size()) {
    for (size_t s = 0; s < sources.size(); ++s)
      for (uint64_t id : sources[s]) position.emplace(id, s);
    for (size_t n = nodes.size(); n-- > 0;)
      for (uint64_t id : nodes[n].inputs)
        if (const auto found = position.find(id); found != position.end())
          first_reader[found->second] = n;
    for (size_t s = 0; s < sources.size(); ++s) {
      for (uint64_t id : sources[s])  // a source may be asked for twice
        first_reader[s] = std::min(first_reader[s], first_reader[position.at(id)]);
      if (first_reader[s] < nodes.size()) complete_after[first_reader[s]].push_back(s);
    }
  }
};

/// A walk from targets back to sources.
struct Walk {
  const SourceIds& sources;
  std::span<const Variable> variables;
  SourceTable table;
  Accumulator gradients;
};

/// The weights that single out element `i` of each of `rows` rows of a tensor.
Tensor element_weight(const Tensor& target, int64_t rows, int64_t i);

/// How the gradients lie in a Jacobian.
struct JacobianShape {
  Shape target, source;
  bool shares_first_axis = false;  // [b, t...] by [b, s...] is [b, t..., s...]

  Shape whole() const;
  int64_t rows() const { return shares_first_axis ? target[0] : 1; }
};

/// The gradients of the elements of a row of the target, in order, as one tensor, recorded on the
/// active tapes. Where some are none they are zeros; none where all are.
Tensor stack_gradients(const std::vector<Tensor>& gradients, const JacobianShape& shape);

}  // namespace distribute::autograd_internal
