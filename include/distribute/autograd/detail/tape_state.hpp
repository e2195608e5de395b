#pragma once
/// What a tape records.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

namespace distribute {

namespace autograd_internal {

/// One recorded operation. It stores ids instead of tensors, so that the record keeps no result
/// alive.
struct Node {
  const char* op;
  std::vector<uint64_t> inputs, outputs;
  BackwardFunction backward;
};

struct WatchedVariable {
  Variable variable;
  std::vector<uint64_t> values;  // ids of the values it had while the tape ran
};

/// Maps each requested source to the ids that the tape knows it by.
using SourceIds = std::vector<std::vector<uint64_t>>;

struct Walk;

}  // namespace autograd_internal

struct GradientTape::State {
  Options options;
  bool recording = true;
  bool keeps_operations = true;
  bool used = false;
  std::deque<autograd_internal::Node> nodes;  // a persistent tape may grow while it is walked
  std::unordered_map<uint64_t, int> readers;  // followed tensors -> operations that read them
  std::vector<autograd_internal::WatchedVariable> variables;

  bool follows(uint64_t id) const { return readers.count(id) != 0; }
  void add(const char* op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
           const BackwardFunction& backward);
  void add_variable(const Variable& variable, const Tensor& value);
  autograd_internal::SourceIds ids_of(const std::vector<Variable>& sources) const;
  /// `of_sources` has the variables among the sources.
  std::vector<Tensor> walk(const std::vector<Tensor>& targets,
                           const autograd_internal::SourceIds& sources, const Call& call,
                           std::span<const Variable> of_sources = {});
  void step_back(size_t n, autograd_internal::Walk& walk);
  void check_unused() const;  // throws when the record was used up by an earlier walk
};

namespace autograd_internal {

/// The tapes that record in the calling thread, the innermost one last.
std::vector<GradientTape::State*>& active_tapes();

}  // namespace autograd_internal

}  // namespace distribute
