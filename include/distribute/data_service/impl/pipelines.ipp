#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/detail/pipelines.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>

namespace distribute::data {

namespace service_internal {

struct RegisteredDatasets {
  std::mutex mutex;  // guards by_name
  std::map<std::string, service::DatasetFactory> by_name;
};

DISTRIBUTE_INLINE std::vector<std::string> registered_datasets() {
  auto& registered = in_process<RegisteredDatasets>();
  const std::lock_guard lock(registered.mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : registered.by_name) names.push_back(name);
  return names;
}

DISTRIBUTE_INLINE NodePtr registered_dataset(const std::string& id) {
  auto& registered = in_process<RegisteredDatasets>();
  service::DatasetFactory factory;
  {
    const std::lock_guard lock(registered.mutex);
    const auto found = registered.by_name.find(id);
    if (found == registered.by_name.end())
      throw NotFoundError(str_cat("this program has registered no dataset \"", id, "\""));
    factory = found->second;
  }
  return factory().node();
}

DISTRIBUTE_INLINE void add_source_nodes(const NodePtr& node, std::vector<NodePtr>& sources) {
  const std::vector<NodePtr> inputs = node->inputs();
  if (inputs.empty()) sources.push_back(node);
  for (const NodePtr& input : inputs) add_source_nodes(input, sources);
}

DISTRIBUTE_INLINE void describe(const Node& node, std::ostream& lines) {
  for (const NodePtr& input : node.inputs()) describe(*input, lines);
  lines << node.kind();
  for (const int64_t parameter : node.parameters()) lines << ' ' << parameter;
  lines << '\n';
}

/// Says how Dynamic cuts the source, or why it cannot.
DISTRIBUTE_INLINE void plan_splits(const Node& node, DatasetFacts& facts) {
  std::vector<NodePtr> sources;
  for (const NodePtr& input : node.inputs()) add_source_nodes(input, sources);
  if (sources.size() > 1) {
    facts.not_dynamic =
        str_cat("it has ", sources.size(), " sources, whose elements would not stay together");
    return;
  }
  const Node& source = sources.empty() ? node : *sources[0];
  if (const auto files = source.files(); !files.empty()) {
    facts.items = int64_t(files.size());
    return;
  }
  facts.items = source.cardinality();
  if (facts.items < 0)
    facts.not_dynamic = str_cat("its source, a ", source.kind(),
                                ", has neither files nor a known number of elements");
  constexpr int64_t kFewestSplits = 64, kMostItems = 256;
  facts.items_per_split = std::clamp<int64_t>(facts.items / kFewestSplits, 1, kMostItems);
}

DISTRIBUTE_INLINE DatasetFacts facts_of(const std::string& id, const NodePtr& node) {
  DatasetFacts facts{.id = id};
  // shard(kShardHint, kShardHint) as a single worker has it, since elements may be read for a spec.
  const NodePtr whole = auto_shard(node, 1, 0, AutoShardPolicy::Hint);
  for (const TensorSpec& part : whole->element_spec())
    facts.spec.push_back({part.shape, part.dtype, part.name});
  facts.spec_is_exact = whole->spec_is_exact();
  facts.cardinality = whole->cardinality();
  std::ostringstream lines;
  describe(*node, lines);
  facts.description = lines.str() + data_summary(*node);
  plan_splits(*node, facts);
  return facts;
}

DISTRIBUTE_INLINE ElementSpec spec_of_facts(const DatasetFacts& facts) {
  ElementSpec spec;
  for (const SpecPart& part : facts.spec) spec.push_back({part.shape, part.dtype, part.name});
  return spec;
}

DISTRIBUTE_INLINE void check_same_dataset(const DatasetFacts& first, const std::string& first_owner,
                                          const DatasetFacts& second,
                                          const std::string& second_owner) {
  const auto refuse = [&](const std::string& a, const std::string& b) {
    throw FailedPreconditionError(
        str_cat("the dataset \"", first.id, "\" is not the same everywhere: ", first_owner, " has ",
                a, ", ", second_owner, " has ", b, "; give other pipelines other names"));
  };
  const std::string a_spec = to_string(spec_of_facts(first)),
                    b_spec = to_string(spec_of_facts(second));
  if (a_spec != b_spec) refuse("elements " + a_spec, b_spec);
  std::istringstream a_lines(first.description), b_lines(second.description);
  for (std::string a, b; a_lines || b_lines;) {
    if (!std::getline(a_lines, a)) a = "nothing more";
    if (!std::getline(b_lines, b)) b = "nothing more";
    if (a != b) refuse(a, b);
  }
}

/// Reads the items of a source that SplitSource hands out. Its position cannot be restored.
class SplitStream final : public BatchStream {
 public:
  SplitStream(const Node& source, const Pass& pass, SplitSource& splits, int64_t repetition)
      : source_(source), pass_(pass), splits_(splits), repetition_(repetition) {}
  bool next(Batch& out) override {
    while (!ended_) {
      if (stream_ && left_ != 0 && stream_->next(out)) {
        if (left_ > 0) --left_;
        ++at_;
        return true;
      }
      open();
    }
    return false;
  }
  void save(StateWriter& state) const override { state.put(at_); }  // as a shuffle asks for it
  void restore(StateReader&) override {
    throw UnimplementedError("a worker of a data service has no saved positions");
  }

 private:
  void open() {
    const SplitAnswer split = splits_.next(repetition_);
    ended_ = split.begin >= split.end;
    if (ended_) return;
    if (const auto files = source_.files(); !files.empty()) {
      stream_.reset();
      node_ = source_.with_files({files.begin() + split.begin, files.begin() + split.end});
      stream_ = node_->elements(pass_.child(split.begin));
      left_ = -1;  // whatever the files have
      return;
    }
    if (!stream_ || at_ > split.begin) {
      stream_ = source_.elements(pass_);
      at_ = 0;
    }
    at_ += stream_->skip(split.begin - at_);
    left_ = split.end - split.begin;
  }

  const Node& source_;
  Pass pass_;
  SplitSource& splits_;
  int64_t repetition_;
  NodePtr node_;
  std::unique_ptr<BatchStream> stream_;  // reads from node_, so it is destroyed first
  int64_t at_ = 0, left_ = 0;
  bool ended_ = false;
};

/// Stands for a source whose items the workers share.
class SplitNode final : public Node {
 public:
  SplitNode(NodePtr source, std::shared_ptr<SplitSource> splits)
      : source_(std::move(source)), splits_(std::move(splits)) {}
  const char* kind() const override { return "Splits"; }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<SplitNode>(source_, splits_);
  }
  ElementSpec element_spec() const override { return source_->element_spec(); }
  bool spec_is_exact() const override { return source_->spec_is_exact(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    if (pass.number == kSpecPass) return source_->elements(pass);
    return std::make_unique<SplitStream>(*source_, pass, *splits_, repetition_++);
  }

 private:
  NodePtr source_;
  std::shared_ptr<SplitSource> splits_;
  mutable std::atomic<int64_t> repetition_{0};
};

DISTRIBUTE_INLINE NodePtr with_splits(const NodePtr& node, std::shared_ptr<SplitSource> splits) {
  std::vector<NodePtr> inputs = node->inputs();
  if (inputs.empty()) return std::make_shared<SplitNode>(node, std::move(splits));
  // It counts the elements of all workers together.
  if (node->kind() == std::string_view("AssertCardinality")) return with_splits(inputs[0], splits);
  return node->with_inputs({with_splits(inputs.at(0), std::move(splits))});
}

DISTRIBUTE_INLINE NodePtr pipeline_of(const TaskOrder& order, NodePtr whole,
                                      std::shared_ptr<SplitSource> splits) {
  switch (order.mode) {
    case ShardingPolicy::Off: return whole;
    case ShardingPolicy::Dynamic: return with_splits(whole, std::move(splits));
    case ShardingPolicy::File:
      return auto_shard(whole, order.num_shards, order.shard, AutoShardPolicy::File);
    case ShardingPolicy::Data:
      return auto_shard(whole, order.num_shards, order.shard, AutoShardPolicy::Data);
    case ShardingPolicy::FileOrData:
      return auto_shard(whole, order.num_shards, order.shard, AutoShardPolicy::Auto);
    case ShardingPolicy::Hint:
      return auto_shard(whole, order.num_shards, order.shard, AutoShardPolicy::Hint);
  }
  throw InternalError("a sharding policy without a meaning");
}

}  // namespace service_internal

DISTRIBUTE_INLINE void service::register_dataset(const std::string& dataset_id,
                                                 DatasetFactory factory) {
  if (dataset_id.empty()) throw InvalidArgumentError("register_dataset: the dataset_id is empty");
  auto& registered = in_process<service_internal::RegisteredDatasets>();
  const std::lock_guard lock(registered.mutex);
  if (!registered.by_name.emplace(dataset_id, std::move(factory)).second)
    throw AlreadyExistsError(
        str_cat("register_dataset: the name \"", dataset_id, "\" is taken already"));
}

}  // namespace distribute::data
