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
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return options_node(inputs.at(0), options_);
  }
  int64_t cardinality() const override { return input().cardinality(); }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    return open_stream<T>(input(), pass);
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
  auto& policy = result.experimental_distribute.auto_shard_policy;
  if (const auto* own = dynamic_cast<const data_internal::OptionsNode*>(&node))
    result = own->options();
  for (const NodePtr& input : node.inputs())
    if (!policy) policy = options_of(*input).experimental_distribute.auto_shard_policy;
  return result;
}

}  // namespace distribute::data
