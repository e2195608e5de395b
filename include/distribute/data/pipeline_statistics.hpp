#pragma once
/// Measures how fast each stage of an input pipeline is, and how long its consumer waited for it.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data {

/// Figures of a stage since the start, or since the last reset.
struct StageStatistics {
  std::string name;
  int64_t elements = 0;
  double seconds_waited = 0;   // time that the consumer spent waiting for elements
  double seconds_elapsed = 0;  // from the first request to the last answer

  /// elements / seconds_elapsed; 0 before the first element.
  double elements_per_second() const;
  /// Returns the waited part of the elapsed time, 0 to 1. At the end of a pipeline it is the share
  /// of the training loop's time that went into waiting for data. Before a prefetch or a map with
  /// threads it says how busy the stage is.
  double wait_share() const;
};

/// The stages of one pipeline, in the order in which they were added. Thread-safe. Figures of
/// parallel passes (several workers in a process) add up.
class PipelineStatistics {
 public:
  PipelineStatistics();
  ~PipelineStatistics();
  /// Returns the number of the stage with this name; a new name adds a stage.
  size_t stage(const std::string& name);
  /// Records one call of the stage, from `begin` to `end` in seconds of a steady clock.
  void add(size_t stage, double begin, double end, bool gave_element);

  /// Returns the figures of each stage, in the order in which they were added; reset() sets them to
  /// zero.
  std::vector<StageStatistics> stages() const;
  void reset();

  /// Formats a line for each stage: "decode      5213 elements   412.3 /s   waited  3.1 %".
  std::string summary() const;
  /// Gives scalars for TensorBoard: ("input/<stage>/elements_per_second", x) and
  /// ("input/<stage>/wait_share", x).
  std::vector<std::pair<std::string, double>> scalars() const;

 private:
  struct State;
  const Pimpl<State> state_;
};

using PipelineStatisticsPtr = std::shared_ptr<PipelineStatistics>;

/// Gives the same elements and measures each request. Without statistics it returns the input
/// itself.
/// Source  tf.data.experimental.latency_stats
NodePtr measure_node(NodePtr input, PipelineStatisticsPtr statistics, const std::string& stage);

}  // namespace distribute::data
