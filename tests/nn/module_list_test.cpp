#include <distribute/nn/dense.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/reshaping.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

nn::Dense dense(std::string name = {}) {
  return nn::Dense({.units = 2, .use_bias = false, .name = std::move(name)});
}

class Tower : public nn::Module {
 public:
  explicit Tower(int depth) {
    for (int i = 0; i < depth; ++i) layers_.append(dense());
  }
  nn::ModuleList<nn::Dense>& layers() { return layers_; }
  template <typename Layer>
  void add_named(const std::string& name, Layer layer) {
    add(name, std::move(layer));
  }

 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    Tensor y = x;
    for (nn::Dense& layer : layers_) y = layer(y, options);
    return y;
  }
  std::string kind() const override { return "tower"; }
  nn::ModuleList<nn::Dense>& layers_ = add("blocks", nn::ModuleList<nn::Dense>());
};

}  // namespace

TEST_CASE("a list owns layers that the module calls in order", "[nn][module_list]") {
  Tower tower(3);
  CHECK(tower(ones({1, 2})).shape() == Shape{1, 2});
  CHECK(tower.layers().size() == 3);
  CHECK(tower.variables().size() == 3);
  CHECK(tower.layers()[1].kernel().name() == "tower/dense_1/kernel");
  Tower moved = std::move(tower);
  CHECK(&moved.layers()[2].kernel().impl() == &moved.variables()[2].impl());
  moved.set_trainable(false);
  CHECK(moved.trainable_variables().empty());
}

TEST_CASE("checkpoints call the layers of a list by their index, as TensorFlow",
          "[nn][module_list]") {
  Tower tower(2);
  const auto parts = tower.children();
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].name == "blocks");
  const auto layers = parts[0].object->children();
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].name == "0");
  CHECK(layers[1].name == "1");
}

TEST_CASE("a list takes layers of any kind, when it is made and later", "[nn][module_list]") {
  nn::ModuleList<> list(nn::Flatten(), dense());
  nn::Dense& added = list.append(dense("last"));
  CHECK(list.size() == 3);
  CHECK(list[0].class_name() == "flatten");
  CHECK(&list[2] == &added);
  CHECK(nn::ModuleList<>().empty());
}

TEST_CASE("a list computes nothing by itself", "[nn][module_list]") {
  nn::ModuleList<> list(dense());
  CHECK_THROWS_AS(list(ones({1, 2})), UnimplementedError);
}

TEST_CASE("names in a list and around it must differ", "[nn][module_list]") {
  Tower tower(0);
  tower.layers().append(dense("a"));
  CHECK_THROWS_AS(tower.layers().append(dense("a")), InvalidArgumentError);
  CHECK_THROWS_AS(tower.add_named("a", dense()), InvalidArgumentError);
  CHECK_THROWS_AS(tower.add_named("more", nn::ModuleList<>(dense("a"))), InvalidArgumentError);
  tower.add_named("b", dense());
  CHECK_THROWS_AS(tower.layers().append(dense("b")), InvalidArgumentError);
  CHECK_THROWS_AS(tower.add_named("blocks", nn::ModuleList<>()), InvalidArgumentError);
}

TEST_CASE("an automatic name makes way for a given one in the list", "[nn][module_list]") {
  Tower tower(1);
  tower.layers().append(dense("dense"));
  CHECK(tower.layers()[0].name() == "dense_1");
}
