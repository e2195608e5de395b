#pragma once
/// Messages about a model's steps between a coordinator and a worker.

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

/// Order for one worker: number of the compile() that it belongs to, largest number of steps,
/// whether they train (1 or 0), weights of classes.
using StepOrder = std::tuple<int64_t, int64_t, int64_t, std::map<int64_t, float>>;
/// Report of a worker: means over the steps, number of examples, number of steps.
using StepReport = std::tuple<std::vector<std::pair<std::string, double>>, int64_t, int64_t>;
/// Returns the next batches of the worker's replicas; nullopt at the end.
using NextBatches = std::function<std::optional<PerReplica<data::Batch>>()>;

}  // namespace distribute::train_internal
