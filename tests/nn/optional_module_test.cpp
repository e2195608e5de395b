#include <distribute/nn/dense.hpp>
#include <distribute/nn/module_list.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

class Block : public nn::Module {
 public:
  explicit Block(bool projects) {
    if (projects) shortcut_ = add("shortcut", nn::Dense({.units = 3, .use_bias = false}));
  }
  const nn::OptionalModule<nn::Dense>& shortcut() const { return shortcut_; }

 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return shortcut_ ? shortcut_(x, options) : x;
  }
  nn::OptionalModule<nn::Dense> shortcut_;
};

}  // namespace

TEST_CASE("a module calls an optional layer where it has one", "[nn][optional_module]") {
  Block with(true), without(false);
  CHECK(with(ones({1, 2})).shape() == Shape{1, 3});
  CHECK(without(ones({1, 2})).shape() == Shape{1, 2});
  CHECK(with.variables().size() == 1);
  CHECK(without.variables().empty());
  const Block moved = std::move(with);
  CHECK(moved.shortcut()->kernel().shape() == Shape{2, 3});
}

TEST_CASE("using an optional layer that does not exist is an error", "[nn][optional_module]") {
  const Block without(false);
  CHECK_THROWS_AS(*without.shortcut(), FailedPreconditionError);
  CHECK_THROWS_AS(without.shortcut()(ones({1, 2})), FailedPreconditionError);
}
