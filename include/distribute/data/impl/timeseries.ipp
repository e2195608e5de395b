#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE void require_in_series(const char* name, int64_t value, int64_t least,
                                         int64_t most) {
  if (value < least || value > most)
    throw InvalidArgumentError(str_cat("timeseries_dataset_from_array: ", name, " is ", value,
                                       "; it must be from ", least, " to ", most));
}

/// Returns the number of sequences of all starts, and checks the arguments.
DISTRIBUTE_INLINE int64_t count_sequences(const Tensor& data, const Tensor& targets,
                                          int64_t sequence_length, const TimeseriesOptions& o) {
  if (data.shape().rank() < 1 || (targets && targets.shape().rank() < 1))
    throw InvalidArgumentError("timeseries_dataset_from_array: data and targets have rows");
  const int64_t rows = data.shape()[0], end = o.end_index.value_or(rows);
  require_in_series("sequence_length", sequence_length, 1, rows);
  require_in_series("sampling_rate", o.sampling_rate, 1, std::max<int64_t>(rows - 1, 1));
  require_in_series("sequence_stride", o.sequence_stride, 1, std::max<int64_t>(rows - 1, 1));
  require_in_series("start_index", o.start_index, 0, rows - 1);
  require_in_series("end_index", end, o.start_index + 1, rows);
  if (o.batch_size) require_in_series("batch_size", *o.batch_size, 1, INT64_MAX);
  const int64_t sequences = end - o.start_index - (sequence_length - 1) * o.sampling_rate;
  const int64_t wanted = targets ? std::min(sequences, targets.shape()[0]) : sequences;
  if (targets && wanted > targets.shape()[0] - o.start_index)
    throw InvalidArgumentError(
        str_cat("timeseries_dataset_from_array: ", wanted, " sequences from row ", o.start_index,
                " on need as many targets; there are ", targets.shape()[0], " rows of targets"));
  return std::max<int64_t>(wanted, 0);
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                                        int64_t sequence_length,
                                                        const TimeseriesOptions& options) {
  const int64_t count = data_internal::count_sequences(data, targets, sequence_length, options);
  Dataset starts = Dataset::range(0, count, options.sequence_stride);
  if (options.shuffle && count > 0) starts = starts.shuffle(count, {.seed = options.seed});
  const auto sequence = [data, targets, sequence_length, first = options.start_index,
                         rate = options.sampling_rate](const Batch& start) {
    const int64_t at = first + start.x.item<int64_t>();
    std::vector<int64_t> rows(size_t(sequence_length), at);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] += int64_t(i) * rate;
    return Batch{.x = gather(data, Tensor(Shape{sequence_length}, rows)),
                 .y = targets ? targets[at] : Tensor()};
  };
  const Dataset sequences = starts.map(sequence);
  return options.batch_size ? sequences.batch(*options.batch_size) : sequences;
}

}  // namespace distribute::data
