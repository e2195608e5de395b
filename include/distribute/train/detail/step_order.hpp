#pragma once
/// What a coordinator tells a worker of the steps of a model, and what the worker says of them.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/replica/values.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute::train_internal {

/// What one worker shall do: number of the compile() that it is for, most steps, whether they train
/// (1 or 0), weights of classes.
using StepOrder = std::tuple<int64_t, int64_t, int64_t, std::map<int64_t, float>>;
/// What it has done: means over the steps, their examples, their number.
using StepReport = std::tuple<std::vector<std::pair<std::string, double>>, int64_t, int64_t>;
/// The next batches of the worker's replicas; none at the end.
using NextBatches = std::function<std::optional<PerReplica<data::Batch>>()>;

}  // namespace distribute::train_internal
