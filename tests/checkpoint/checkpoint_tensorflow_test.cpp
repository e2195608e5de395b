#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/shared_data.hpp>

using namespace distribute;
using checkpoint_test::Node;
using train::Checkpoint;

namespace {

std::vector<float> first(const Variable& variable, size_t count) {
  std::vector<float> values = variable.value().to_vector();
  values.resize(std::min(values.size(), count));
  return values;
}

}  // namespace

TEST_CASE("objects restore from TensorFlow's checkpoint by the names of their parts",
          "[checkpoint][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_manager");
  if (!files) SKIP("tf_files is absent");
  Node layers, nested, dictionary, module, blocks, block, tuple;
  const Variable l0 = layers.add("0", zeros({2, 3}));
  layers.attach("1", nested);
  const Variable l11 = nested.add("1", zeros({2}));
  layers.attach("2", dictionary);
  const Variable dotted = dictionary.add("a.b", zeros({3}));
  const Variable slashed = dictionary.add("x/y", zeros({2, 2}));
  const Variable w = module.add("w", zeros({3, 5}));
  module.attach("blocks", blocks);
  blocks.attach("1", block);
  const Variable k = block.add("k", zeros({2, 2}));
  module.attach("t", tuple);
  const Variable t1 = tuple.add("1", Tensor(0.0f));
  const Variable shared(zeros({4})), flag(Tensor(false)), counter(Tensor(int64_t{0}));
  const Variable half(zeros({3}, DType::Float16)), brain(zeros({3}, DType::BFloat16));
  const Checkpoint checkpoint({{"layers", &layers},
                               {"module", &module},
                               {"shared_two", shared},  // saved as shared_one
                               {"flag", flag},
                               {"half", half},
                               {"brain", brain},
                               {"counter", counter}});
  const auto status = checkpoint.restore(*files + "/ckpt-5");
  status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial();
  CHECK_THROWS_AS(status.assert_consumed(), FailedPreconditionError);  // "table" and others
  CHECK(checkpoint.save_counter() == 5);
  CHECK(counter.value().item<int64_t>() == 40);
  CHECK(flag.value().item<bool>());
  CHECK(first(shared, 4) == std::vector<float>{4, 4, 4, 4});
  CHECK(first(l0, 2) == std::vector<float>{-0.1318434178829193f, 0.4487124979496002f});
  CHECK(first(l11, 2) == std::vector<float>{-0.5685521960258484f, -0.36451485753059387f});
  CHECK(first(dotted, 1) == std::vector<float>{0.03764258697628975f});
  CHECK(first(slashed, 1) == std::vector<float>{1.5165972709655762f});
  CHECK(first(w, 1) == std::vector<float>{-0.2137048989534378f});
  CHECK(first(k, 1) == std::vector<float>{0.08552529662847519f});
  CHECK(first(t1, 1) == std::vector<float>{2.5f});
  CHECK(first(half, 2) == std::vector<float>{0.31298828125f, 1.3642578125f});
  CHECK(first(brain, 2) == std::vector<float>{-1.640625f, 0.431640625f});
}

TEST_CASE("a Keras checkpoint gives what has a place in the program", "[checkpoint][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_keras");
  if (!files) SKIP("tf_files is absent");
  Node model, operations, norm, optimizer, trainable;
  model.attach("_operations", operations);
  operations.attach("2", norm);
  const Variable mean = norm.add("moving_mean", zeros({4}));
  const Variable iterations = optimizer.add("_iterations", Tensor(int64_t{0}));
  optimizer.attach("_trainable_variables", trainable);
  const Variable kernel = trainable.add("0", zeros({3, 3, 1, 4}));
  const Variable step(Tensor(int64_t{0}));
  Checkpoint({{"model", &model}, {"optimizer", &optimizer}, {"step", step}})
      .restore(*files + "/ckpt-1")
      .assert_existing_objects_matched()
      .expect_partial();
  CHECK(first(mean, 1) == std::vector<float>{0.0009128460078500211f});
  CHECK(first(kernel, 1) == std::vector<float>{-0.17512133717536926f});
  CHECK(iterations.value().item<int64_t>() == 3);
  CHECK(step.value().item<int64_t>() == 3);
}

TEST_CASE("a Saver's file is restored by names", "[checkpoint][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_tf1_saver");
  if (!files) SKIP("tf_files is absent");
  const Variable step(Tensor(int64_t{0}), {.name = "global_step"});
  Checkpoint({{"step", step}})
      .restore(*files + "/model.ckpt-2")
      .assert_existing_objects_matched()
      .expect_partial();
  CHECK(step.value().item<int64_t>() == 4);
  const Variable again(Tensor(int64_t{0}), {.name = "global_step"});
  train::load_weights(*files + "/model.ckpt-2", {again});
  CHECK(again.value().item<int64_t>() == 4);
}
