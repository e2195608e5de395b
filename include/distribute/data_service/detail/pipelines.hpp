#pragma once
/// The pipelines that this program has registered, what is told of them, and a worker's part of
/// one.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data_service/detail/service_messages.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::data::service_internal {

/// Gives the splits of one task in order.
class SplitSource {
 public:
  virtual ~SplitSource() = default;
  /// Gives items of the source for its pass `repetition`; begin == end: there are no more.
  virtual SplitAnswer next(int64_t repetition) = 0;
};

/// The registered names, and the node of one.
std::vector<std::string> registered_datasets();
/// Throws  NotFoundError for a name that this program has not registered.
NodePtr registered_dataset(const std::string& id);

DatasetFacts facts_of(const std::string& id, const NodePtr& node);
ElementSpec spec_of_facts(const DatasetFacts& facts);
/// Throws  FailedPreconditionError that names both sides and the first difference, if there is one.
void check_same_dataset(const DatasetFacts& first, const std::string& first_owner,
                        const DatasetFacts& second, const std::string& second_owner);

/// Makes the part of a pipeline that an order asks for; `splits` is for Dynamic.
/// Throws  what auto_shard() throws.
NodePtr pipeline_of(const TaskOrder& order, NodePtr whole, std::shared_ptr<SplitSource> splits);

}  // namespace distribute::data::service_internal
