#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/dense.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;

TEST_CASE("variables are saved under their names and come back", "[checkpoint][flat]") {
  const TemporaryDirectory directory;
  const Variable kernel(Tensor{1.0f, 2.0f}, {.name = "conv1/kernel"});
  const Variable step(Tensor(int64_t{7}), {.name = "a_step"});
  const Variable flag(Tensor(true), {.name = "flag"});
  const std::string path = directory / "model";
  train::save_weights(path, {kernel, step, flag});
  CHECK(train::BundleReader(path).keys() ==
        std::vector<std::string>{"a_step", "conv1/kernel", "flag"});
  kernel.assign(Tensor{0.0f, 0.0f});
  step.assign(Tensor(int64_t{0}));
  train::load_weights(path, {kernel, step});
  CHECK(kernel.value().to_vector() == std::vector<float>{1, 2});
  CHECK(step.value().item<int64_t>() == 7);
}

TEST_CASE("one variable that does not fit keeps all from being loaded", "[checkpoint][flat]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  const Variable a(Tensor{1.0f}, {.name = "a"}), b(Tensor{1.0f, 2.0f}, {.name = "b"});
  train::save_weights(path, {a, b});
  const Variable mine(Tensor{5.0f}, {.name = "a"}), longer(zeros({3}), {.name = "b"});
  CHECK_THAT(error_of<InvalidArgumentError>([&] {
               train::load_weights(path, {mine, longer});
             }),
             Contains(path) && Contains("'b'") && Contains("[2]") && Contains("[3]"));
  const Variable other(Tensor{5.0f}, {.name = "c"});
  CHECK_THAT(error_of<NotFoundError>([&] {
               train::load_weights(path, {mine, other});
             }),
             Contains(path) && Contains("'c'"));
  CHECK(mine.value().item<float>() == 5.0f);
}

TEST_CASE("two variables of one name cannot be saved flat", "[checkpoint][flat]") {
  const TemporaryDirectory directory;
  const Variable a(Tensor{1.0f}, {.name = "a"}), b(Tensor{2.0f}, {.name = "a"});
  CHECK_THAT(error_of<InvalidArgumentError>([&] {
               train::save_weights(directory / "model", {a, b});
             }),
             Contains("'a'"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a type that tensors lack is named", "[checkpoint][flat]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  {
    train::BundleWriter writer(path);
    writer.add_string("a", "text");
    writer.finish();
  }
  const Variable a(Tensor{1.0f}, {.name = "a"});
  CHECK_THAT(error_of<InvalidArgumentError>([&] { train::load_weights(path, {a}); }),
             Contains(path) && Contains("'a'") && Contains("string"));
}

TEST_CASE("a checkpoint restores a file without graph by the variables' names",
          "[checkpoint][flat]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  nn::Dense layer({.units = 2, .name = "head"});
  layer(zeros({1, 3}));
  const Variable extra(Tensor{3.0f}, {.name = "extra"});
  std::vector<Variable> all = layer.variables();
  all.push_back(extra);
  train::save_weights(path, all);

  nn::Dense now({.units = 2, .name = "head"}), later({.units = 2, .name = "head"});
  now(zeros({1, 3}));
  const auto status = train::Checkpoint(now).restore(path);
  status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial();
  CHECK_THROWS_WITH(status.assert_consumed(), Contains("extra"));
  const auto kernel = [](const nn::Dense& dense) {
    return dense.variables()[0].value().to_vector();
  };
  CHECK(kernel(now) == kernel(layer));

  train::Checkpoint(later).restore(path).expect_partial();
  later(zeros({1, 3}));
  CHECK(kernel(later) == kernel(layer));

  nn::Dense stranger({.units = 2, .name = "stranger"});
  stranger(zeros({1, 3}));
  const auto unmatched = train::Checkpoint(stranger).restore(path).expect_partial();
  CHECK_THROWS_WITH(unmatched.assert_existing_objects_matched(), Contains("model/kernel"));
  CHECK_THROWS_AS(unmatched.assert_nontrivial_match(), FailedPreconditionError);
}
