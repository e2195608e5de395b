#pragma once
/// Windows over a dataset, which may overlap.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace distribute::data {

class Dataset;

/// Options of Dataset::window(). Source  tf.data.Dataset.window
struct WindowOptions {
  std::optional<int64_t> shift = {};  // elements from one window's start to the next; none: size
  int64_t stride = 1;                 // elements from one of a window to the next
  bool drop_remainder = false;        // windows that are not full
};

/// Each window as one element, its elements stacked as by batch.
/// Throws  InvalidArgumentError for numbers below 1; at windows whose elements differ in shape.
NodePtr window_node(NodePtr input, int64_t size, const WindowOptions& options);

/// What Dataset::window gives: windows, each a small dataset. A cheap handle.
/// Source  the dataset of datasets that tf.data.Dataset.window gives
class Windows {
 public:
  explicit Windows(NodePtr stacked) : stacked_(std::move(stacked)) {}
  /// The elements of the datasets that `function` makes of the windows, one window after another:
  /// `windows.flat_map([](const Dataset& window) { return window.batch(5); })`.
  Dataset flat_map(std::function<Dataset(const Dataset&)> function) const;
  /// Each window as one batch; the same as a flat_map with `batch(size)`.
  Dataset batch() const;
  int64_t cardinality() const { return stacked_->cardinality(); }

 private:
  NodePtr stacked_;
};

}  // namespace distribute::data
