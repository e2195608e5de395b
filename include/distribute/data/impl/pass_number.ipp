#pragma once
#include <distribute/data/pass_number.hpp>

namespace distribute::data {

namespace data_internal {

class PassNumberStream final : public BatchStream {
 public:
  PassNumberStream(std::unique_ptr<BatchStream> input, const Pass& pass)
      : input_(std::move(input)), number_(int64_t(pass.number)) {}
  bool next(Batch& out) override {
    if (!input_->next(out)) return false;
    std::vector<Tensor> components = out.components();
    components.push_back(number_);
    out = Batch::from_components(std::move(components));
    return true;
  }
  int64_t skip(int64_t count) override { return input_->skip(count); }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override { input_->restore(state); }

 private:
  std::unique_ptr<BatchStream> input_;
  Tensor number_;
};

class PassNumberNode final : public Node {
 public:
  explicit PassNumberNode(NodePtr input) : input_(std::move(input)) {}
  const char* kind() const override { return "PassNumber"; }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return pass_number_node(inputs.at(0));
  }
  int64_t cardinality() const override { return input_->cardinality(); }
  ElementSpec element_spec() const override {
    ElementSpec spec = input_->element_spec();
    spec.push_back({{}, DType::Int64});
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<PassNumberStream>(input_->elements(pass), pass);
  }
  std::atomic<uint64_t>* passes() const override { return &passes_; }

 private:
  NodePtr input_;
  mutable std::atomic<uint64_t> passes_{0};
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr pass_number_node(NodePtr input) {
  return std::make_shared<data_internal::PassNumberNode>(std::move(input));
}

}  // namespace distribute::data
