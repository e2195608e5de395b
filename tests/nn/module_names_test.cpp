#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/nn/resnet.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using Names = std::vector<std::string>;

// The names are those of Keras 3.15 for the same models, printed as [v.path for v in m.variables].

namespace {

nn::Dense dense(std::string name = {}) {
  return nn::Dense({.units = 2, .use_bias = false, .name = std::move(name)});
}

Names names_of(nn::Module& model) {
  model(ones({1, 2}));
  Names names;
  for (const Variable& variable : model.variables()) names.push_back(variable.name());
  return names;
}

class Block : public nn::Module {
 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return named_(first_(x), options);
  }
  std::string kind() const override { return "block"; }
  nn::Dense& first_ = add("", dense());
  nn::Dense& named_ = add("nm", dense());
};

class Outer : public nn::Module {
 public:
  Outer() {
    for (int i = 0; i < 2; ++i) blocks_.append(Block());
  }

 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    Tensor y = first_(x, options);
    for (Block& block : blocks_) y = block(y, options);
    return y;
  }
  std::string kind() const override { return "outer"; }
  Block& first_ = add("", Block());
  nn::ModuleList<Block>& blocks_ = add("bs", nn::ModuleList<Block>());
};

}  // namespace

TEST_CASE("two models of a program have different names, counted by kind", "[nn][module_names]") {
  nn::Sequential a(dense(), dense()), b(dense(), dense());
  CHECK(names_of(a) == Names{"sequential/dense/kernel", "sequential/dense_1/kernel"});
  CHECK(names_of(b) == Names{"sequential_1/dense_2/kernel", "sequential_1/dense_3/kernel"});
  CHECK(b.name() == "sequential_1");
  CHECK(b[1].path() == "sequential_1/dense_3");
}

TEST_CASE("models are counted in the order of their making, whichever is built first",
          "[nn][module_names]") {
  nn::Sequential a(dense()), b(dense());
  CHECK(names_of(b) == Names{"sequential_1/dense_1/kernel"});
  CHECK(names_of(a) == Names{"sequential/dense/kernel"});
}

TEST_CASE("a nested model is counted before the one around it", "[nn][module_names]") {
  nn::Sequential model(dense(), nn::Sequential(dense()), nn::Sequential(dense()));
  CHECK(names_of(model) == Names{"sequential_2/dense/kernel",
                                 "sequential_2/sequential/dense_1/kernel",
                                 "sequential_2/sequential_1/dense_2/kernel"});
}

TEST_CASE("a name that was given takes no number", "[nn][module_names]") {
  nn::Sequential net(dense("fc"), nn::Sequential(dense(), nn::BatchNormalization()), dense("out"));
  net.set_name("net");
  CHECK(names_of(net) ==
        Names{"net/fc/kernel", "net/sequential/dense/kernel",
              "net/sequential/batch_normalization/gamma", "net/sequential/batch_normalization/beta",
              "net/sequential/batch_normalization/moving_mean",
              "net/sequential/batch_normalization/moving_variance", "net/out/kernel"});
  auto alone = dense();
  CHECK(names_of(alone) == Names{"dense_1/kernel"});
}

TEST_CASE("parts of modules of one's own count on, in whatever order arguments are made",
          "[nn][module_names]") {
  nn::Sequential model(Block(), dense(), Block());
  CHECK(names_of(model) == Names{"sequential/block/dense/kernel", "sequential/block/nm/kernel",
                                 "sequential/dense_1/kernel", "sequential/block_1/dense_2/kernel",
                                 "sequential/block_1/nm/kernel"});
}

TEST_CASE("lists add nothing to the names of their layers", "[nn][module_names]") {
  Outer outer;
  CHECK(names_of(outer) == Names{"outer/block/dense/kernel", "outer/block/nm/kernel",
                                 "outer/block_1/dense_1/kernel", "outer/block_1/nm/kernel",
                                 "outer/block_2/dense_2/kernel", "outer/block_2/nm/kernel"});
}

TEST_CASE("a layer that was built before keeps its weights' names", "[nn][module_names]") {
  auto layer = dense();
  names_of(layer);
  nn::Sequential model(std::move(layer));
  CHECK(names_of(model) == Names{"dense/kernel"});
}

TEST_CASE("a cleared session counts from the start again", "[nn][module_names]") {
  nn::Sequential before(dense());
  nn::clear_session();
  nn::Sequential after(dense());
  CHECK(names_of(after) == Names{"sequential/dense/kernel"});
  CHECK(before.name() == "sequential");
}

TEST_CASE("a functional model's name stands before none of its layers", "[nn][module_names]") {
  nn::Sequential model(dense("a"));
  model.set_name_in_path(false);
  CHECK(names_of(model) == Names{"a/kernel"});
  CHECK(model.name() == "sequential");
  nn::Sequential part(dense("a"));
  part.set_name_in_path(false);
  nn::Sequential around;
  around.add(std::move(part));  // unlike Keras, so that two of them may be parts
  CHECK(names_of(around) == Names{"sequential_2/sequential_1/a/kernel"});
}

TEST_CASE("every thread counts for itself, so tasks that are threads agree", "[nn][module_names]") {
  nn::Sequential here(dense());
  Names there;
  std::thread([&] {
    nn::Sequential model(dense());
    there = names_of(model);
  }).join();
  CHECK(there == Names{"sequential/dense/kernel"});
  CHECK(names_of(here) == there);
}

TEST_CASE("a module may be named on another thread, and after that thread has ended",
          "[nn][module_names]") {
  std::unique_ptr<nn::Sequential> model;
  std::thread([&] { model = std::make_unique<nn::Sequential>(dense()); }).join();
  CHECK(names_of(*model) == Names{"sequential/dense/kernel"});
}

TEST_CASE("checkpoints call parts as before, whatever numbers their names have",
          "[nn][module_names]") {
  nn::Sequential first(dense(), dense()), second(dense(), dense());
  const auto parts = second.children();
  CHECK(parts[0].name == "dense");
  CHECK(parts[1].name == "dense_1");
  first(ones({1, 2}));
  auto built = dense();
  CHECK(built.name() == "dense_4");
  second.add(std::move(built));
  CHECK(second.children()[2].name == "dense_2");
}

TEST_CASE("a name has no slash", "[nn][module_names]") {
  CHECK_THROWS_WITH(dense("a/b"), Contains("cannot contain character `/`"));
}
