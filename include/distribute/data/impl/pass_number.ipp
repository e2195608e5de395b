#pragma once
#include <distribute/data/detail/pass_number.hpp>

namespace distribute::data {

namespace data_internal {

class PassNumberStream final : public OneToOneStream<Batch> {
 public:
  PassNumberStream(std::unique_ptr<BatchStream> input, const Pass& pass)
      : OneToOneStream(std::move(input)), number_{int64_t(pass.number)} {}
  bool next(Batch& out) override {
    if (!input().next(out)) return false;
    ComponentNames names = out.names ? join_names({out, number_}) : nullptr;
    std::vector<Tensor> components = out.components();
    components.push_back(number_.x);
    out = Batch::from_components(std::move(components), std::move(names));
    return true;
  }

 private:
  Batch number_;
};

class PassNumberNode final : public CopiedNode<PassNumberNode> {
 public:
  explicit PassNumberNode(NodePtr input) : CopiedNode(std::move(input)) {}
  const char* kind() const override { return "PassNumber"; }
  ElementSpec element_spec() const override {
    ElementSpec spec = input().element_spec();
    spec.push_back({{}, DType::Int64});
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<PassNumberStream>(input().elements(pass), pass);
  }
  PassCount* passes() const override { return &passes_; }

 private:
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr pass_number_node(NodePtr input) {
  return std::make_shared<data_internal::PassNumberNode>(std::move(input));
}

}  // namespace distribute::data
