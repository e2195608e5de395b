#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/autotune.hpp>
#include <distribute/data/detail/selection_node.hpp>
#include <distribute/data/distribute_options.hpp>

namespace distribute::data {

namespace data_internal {

class OptionsNode final : public SelectionNode<OptionsNode> {
 public:
  OptionsNode(NodePtr input, const Options& options)
      : SelectionNode(std::move(input)), options_(options) {}
  const char* kind() const override { return "Options"; }
  std::vector<int64_t> parameters() const override {
    return options_.deterministic ? std::vector<int64_t>{*options_.deterministic}
                                  : std::vector<int64_t>{};
  }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    if (pass.deterministic && pass.threads) return open_stream<T>(input(), pass);
    Pass inner = pass_over(*this, pass.number);  // of a part that a function has made
    if (pass.deterministic) inner.deterministic = pass.deterministic;
    if (pass.threads) inner.threads = pass.threads;
    return open_stream<T>(input(), inner);
  }
  const Options& options() const { return options_; }

 private:
  Options options_;
};

}  // namespace data_internal

namespace data_internal {

DISTRIBUTE_INLINE void check_options(const Options& o) {
  const auto check = [](const char* name, const std::optional<int64_t>& number, int64_t least) {
    if (number.value_or(least) < least)
      throw InvalidArgumentError(
          str_cat("with_options: ", name, " must be at least ", least, ", got ", *number));
  };
  check("threading.max_intra_op_parallelism", o.threading.max_intra_op_parallelism, 1);
  check("threading.private_threadpool_size", o.threading.private_threadpool_size, 0);
  check("autotune.cpu_budget", o.autotune.cpu_budget, 1);
  check("autotune.ram_budget", o.autotune.ram_budget, 0);
  check("autotune.initial_parallelism", o.autotune.initial_parallelism, 1);
  check("autotune.min_parallelism", o.autotune.min_parallelism, 1);
}

}  // namespace data_internal

DISTRIBUTE_INLINE Options Options::merge(const Options& later) const {
  Options all = *this;
  const auto set = [](auto& value, const auto& other) {
    if (other) value = other;
  };
  set(all.experimental_distribute.auto_shard_policy,
      later.experimental_distribute.auto_shard_policy);
  set(all.threading.max_intra_op_parallelism, later.threading.max_intra_op_parallelism);
  set(all.threading.private_threadpool_size, later.threading.private_threadpool_size);
  set(all.autotune.enabled, later.autotune.enabled);
  set(all.autotune.cpu_budget, later.autotune.cpu_budget);
  set(all.autotune.ram_budget, later.autotune.ram_budget);
  set(all.autotune.initial_parallelism, later.autotune.initial_parallelism);
  set(all.autotune.min_parallelism, later.autotune.min_parallelism);
  set(all.deterministic, later.deterministic);
  return all;
}

DISTRIBUTE_INLINE NodePtr options_node(NodePtr input, const Options& options) {
  data_internal::check_options(options);
  return std::make_shared<data_internal::OptionsNode>(std::move(input), options);
}

DISTRIBUTE_INLINE Options options_of(const Node& node) {
  Options result;
  const std::vector<NodePtr> inputs = node.inputs();  // of several, those of the first win
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
    result = result.merge(options_of(**input));
  if (const auto* own = dynamic_cast<const data_internal::OptionsNode*>(&node))
    result = result.merge(own->options());
  return result;
}

DISTRIBUTE_INLINE Pass pass_over(const Node& node, uint64_t number) {
  const Options options = options_of(node);
  const AutotuneOptions& tune = options.autotune;
  Pass pass{.number = number, .deterministic = options.deterministic};
  if (options.threading.max_intra_op_parallelism || options.threading.private_threadpool_size ||
      tune.enabled || tune.cpu_budget || tune.ram_budget || tune.initial_parallelism ||
      tune.min_parallelism)
    pass.threads = std::make_shared<data_internal::PassThreads>(options);
  return pass;
}

}  // namespace distribute::data
