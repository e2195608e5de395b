#pragma once
/// Tells a transformation which pass (epoch) an element belongs to.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::data {

/// The copy of a node counts its own passes.
struct PassCount {
  PassCount() = default;
  PassCount(const PassCount&) {}
  std::atomic<uint64_t> next{0};
};

/// Adds a last component, an int64 scalar: a number that differs from pass to pass over the dataset
/// and is the same in every process. With it a `map` function draws random numbers that depend on
/// the epoch and not on threads.
NodePtr pass_number_node(NodePtr input);

}  // namespace distribute::data
