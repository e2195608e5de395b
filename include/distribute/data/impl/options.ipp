#pragma once
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
    Pass inner = pass;
    if (!inner.deterministic) inner.deterministic = options_.deterministic;
    return open_stream<T>(input(), inner);
  }
  const Options& options() const { return options_; }

 private:
  Options options_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr options_node(NodePtr input, const Options& options) {
  return std::make_shared<data_internal::OptionsNode>(std::move(input), options);
}

DISTRIBUTE_INLINE Options options_of(const Node& node) {
  Options result;
  if (const auto* own = dynamic_cast<const data_internal::OptionsNode*>(&node))
    result = own->options();
  for (const NodePtr& input : node.inputs()) {
    const Options earlier = options_of(*input);
    auto& policy = result.experimental_distribute.auto_shard_policy;
    if (!policy) policy = earlier.experimental_distribute.auto_shard_policy;
    if (!result.deterministic) result.deterministic = earlier.deterministic;
  }
  return result;
}

}  // namespace distribute::data
