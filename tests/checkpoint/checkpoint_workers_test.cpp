#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::Node;
using train::Checkpoint;
using train::CheckpointManager;
namespace fs = std::filesystem;

namespace {

/// Names (from the directory) and bytes of all files below.
std::map<std::string, std::string> files_of(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    std::ostringstream bytes;
    if (entry.is_regular_file()) bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files[fs::relative(entry.path(), directory)] = bytes.str();
  }
  return files;
}

/// A mirrored variable and one that is summed over all replicas when read.
struct Model {
  Node node;
  Variable weight{fill(Shape{5, 3}, 2.5f), {.name = "weight"}};
  Variable count{Tensor(0.0f),
                 {.name = "count",
                  .trainable = false,
                  .synchronization = VariableSynchronization::OnRead,
                  .aggregation = VariableAggregation::Sum}};
  Model() {
    node.share("weight", weight);
    node.share("count", count);
  }
};

void save_model(Strategy& strategy, const std::string& directory, float sum) {
  const auto scope = strategy.scope();
  Model model;
  const float mine = sum / float(strategy.num_replicas_in_sync());
  strategy.run([&] { model.count.assign_add(Tensor(mine)); });
  Checkpoint checkpoint(model.node);
  require(checkpoint.save(directory + "/model") == directory + "/model-1", "the path");
  train::save_weights(directory + "/flat", {model.weight, model.count});
}

}  // namespace

TEST_CASE("the files of many workers equal those of one process", "[checkpoint][workers]") {
  const int workers = GENERATE(2, 3, 5), replicas = GENERATE(1, 2);
  const TemporaryDirectory alone, together;
  run_clean(1, 1, [&](Strategy& strategy, int) { save_model(strategy, alone.path(), 30); });
  run_clean(workers, replicas,
            [&](Strategy& strategy, int) { save_model(strategy, together.path(), 30); });
  CHECK(files_of(alone.path()) == files_of(together.path()));
  CHECK(files_of(alone.path()).size() == 5);
}

TEST_CASE("all workers restore what the chief has written", "[checkpoint][workers]") {
  const int workers = GENERATE(1, 2, 3);
  const TemporaryDirectory directory;
  run_clean(1, 1, [&](Strategy& strategy, int) { save_model(strategy, directory.path(), 30); });
  run_clean(workers, 2, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Model model;
    model.weight.assign(fill(Shape{5, 3}, 0.0f));
    Checkpoint checkpoint(model.node);
    checkpoint.restore(directory / "model-1").assert_consumed();
    require(model.weight.value().to_vector() == std::vector<float>(15, 2.5f), "the weight");
    require(train::value_to_save(model.count).item<float>() == 30, "the sum");
    require(checkpoint.save_counter() == 1, "the counter");
    model.weight.assign(fill(Shape{5, 3}, 0.0f));
    train::load_weights(directory / "flat", {model.weight});
    require(model.weight.value().to_vector() == std::vector<float>(15, 2.5f), "the flat weight");
  });
}

TEST_CASE("the manager of every worker knows the same checkpoints", "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  const auto train = [&](Strategy& strategy, int saves, int64_t first) {
    const auto scope = strategy.scope();
    Model model;
    Checkpoint checkpoint(model.node);
    CheckpointManager manager(checkpoint, {.directory = directory.path(), .max_to_keep = 2});
    manager.restore_latest();
    for (int i = 0; i < saves; ++i) manager.save();
    const int64_t last = first + saves - 1;
    const auto path = [&](int64_t n) { return directory / ("ckpt-" + std::to_string(n)); };
    require(manager.checkpoints() == std::vector<std::string>{path(last - 1), path(last)}, "paths");
    require(*manager.latest_checkpoint() == path(last), "the latest");
  };
  run_clean(3, 1, [&](Strategy& strategy, int) { train(strategy, 3, 1); });
  run_clean(2, 2, [&](Strategy& strategy, int) { train(strategy, 1, 4); });
  run_clean(1, 1, [&](Strategy& strategy, int) { train(strategy, 1, 5); });
  CHECK(files_of(directory.path()).size() == 5);  // two checkpoints and the state file
  CHECK(train::latest_checkpoint(directory.path()) == directory / "ckpt-5");
}

TEST_CASE("each worker gets its own position in the input back", "[checkpoint][workers]") {
  const int workers = GENERATE(1, 2, 3);
  const TemporaryDirectory directory;
  std::vector<std::vector<float>> rest(static_cast<size_t>(workers));
  const auto dataset_of = [](Strategy& strategy) {
    std::vector<float> numbers(60);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i);
    return strategy.distribute_datasets_from_function([numbers](const InputContext& input) {
      return data::Dataset::from_tensor_slices(Tensor(Shape{60}, numbers))
          .shard(input.num_input_pipelines(), input.input_pipeline_id())
          .shuffle(60, {.seed = uint64_t(input.input_pipeline_id() + 3)})
          .repeat()
          .batch(2 + input.input_pipeline_id());
    });
  };
  const auto read = [](DistributedIterator& iterator, int steps) {
    std::vector<float> seen;
    for (int i = 0; i < steps; ++i)
      for (float x : iterator.get_next()[0].x.to_vector()) seen.push_back(x);
    return seen;
  };
  run_clean(workers, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    auto iterator = dataset_of(strategy).iterator();
    read(iterator, 7 + w);  // further on some than on others
    Checkpoint checkpoint({{"iterator", train::state_of(iterator)}});
    checkpoint.write(directory / "at");
    rest[size_t(w)] = read(iterator, 40);
  });
  run_clean(workers, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    auto iterator = dataset_of(strategy).iterator();
    Checkpoint checkpoint({{"iterator", train::state_of(iterator)}});
    checkpoint.restore(directory / "at").assert_consumed();
    require(read(iterator, 40) == rest[size_t(w)], "the rest of the input");
  });
  // Another number of workers begins anew.
  run_clean(workers + 1, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    auto iterator = dataset_of(strategy).iterator(), fresh = dataset_of(strategy).iterator();
    Checkpoint checkpoint({{"iterator", train::state_of(iterator)}});
    checkpoint.restore(directory / "at").expect_partial();
    require(read(iterator, 3) == read(fresh, 3), "input from the beginning");
  });
}

TEST_CASE("state that is not per worker is the chief's", "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    int64_t number = 10 + w;
    Checkpoint checkpoint({{"number", train::TensorState{[&] { return Tensor(number); },
                                                         [&](const Tensor& saved) {
                                                           number = saved.item<int64_t>();
                                                         }}}});
    checkpoint.write(directory / "at");
    checkpoint.restore(directory / "at").assert_consumed();
    require(number == 10, "the chief's number");
  });
}

TEST_CASE("a directory the chief cannot write is one error on all workers",
          "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "in the way";
  const std::string inside = directory / "file/below";
  const auto save = [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Model model;
    Checkpoint checkpoint(model.node);
    try {
      checkpoint.save(inside + "/model");
    } catch (const Error&) {
      require(checkpoint.save_counter() == 0, "the counter");
      throw;
    }
  };
  const auto manage = [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Model model;
    Checkpoint checkpoint(model.node);
    CheckpointManager manager(checkpoint, {.directory = inside});
  };
  for (const auto& errors : {run_workers(3, 1, save), run_workers(3, 1, manage)}) {
    CHECK_THAT(errors[0], Contains("rank 0 of 3: ") && Contains(directory / "file"));
    CHECK(errors[1] == errors[0]);
    CHECK(errors[2] == errors[0]);
  }
  CHECK(files_of(directory.path()).size() == 1);
}

TEST_CASE("a worker that does not see the chief's files is told of the shared file system",
          "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  const auto errors = run_workers(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Model model;
    Checkpoint checkpoint(model.node);
    checkpoint.write(directory / "model");
    model.weight.assign(fill(Shape{5, 3}, 1.0f));
    try {
      checkpoint.restore(w == 0 ? directory / "model" : directory / "elsewhere/model");
    } catch (const NotFoundError&) {
      require(model.weight.value().to_vector()[0] == 1, "all variables or none, on all workers");
      throw;
    }
  });
  CHECK_THAT(errors[0], Contains("rank 1 of 2: ") && Contains("elsewhere/model") &&
                            Contains("shared file system"));
  CHECK(errors[1] == errors[0]);
}

TEST_CASE("workers that save different objects are told before they hang",
          "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  const auto errors = run_workers(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Model model;
    const Variable more(Tensor(1.0f), {.name = "more"});
    if (w == 1) model.node.share("more", more);
    Checkpoint(model.node).write(directory / "model");
  });
  CHECK_THAT(errors[0], Contains("do not save the same objects: rank 0 has 3 values"));
  CHECK(errors[1] == errors[0]);
  CHECK(files_of(directory.path()).empty());
}

TEST_CASE("a part that cannot be saved on one worker is an error on all", "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Checkpoint checkpoint({{"state", train::TensorState{[w]() -> Tensor {
                                                          if (w == 2) throw DataLossError("gone");
                                                          return Tensor(1.0f);
                                                        },
                                                        [](const Tensor&) {}}}});
    checkpoint.write(directory / "model");
  });
  for (const std::string& error : errors) CHECK(error == "rank 2 of 3: gone");
}

TEST_CASE("a checkpoint made in a scope belongs to its strategy afterwards too",
          "[checkpoint][workers]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int) {
    std::unique_ptr<Checkpoint> checkpoint;
    std::unique_ptr<Model> model;
    {
      const auto scope = strategy.scope();
      model = std::make_unique<Model>();
      checkpoint = std::make_unique<Checkpoint>(model->node);
    }
    checkpoint->write(directory / "model");
  });
  CHECK(files_of(directory.path()).size() == 2);
}

TEST_CASE("parts can be added", "[checkpoint]") {
  Node node;
  const Variable step(Tensor(int64_t{3}), {.name = "step"});
  Checkpoint checkpoint(node);
  CHECK(checkpoint.part("step") == nullptr);
  checkpoint.add_part("step", step);
  REQUIRE(checkpoint.part("step") != nullptr);
  CHECK_THROWS_AS(checkpoint.add_part("step", step), InvalidArgumentError);
  const TemporaryDirectory directory;
  checkpoint.write(directory / "at");
  CHECK(train::BundleReader(directory / "at").contains("step/.ATTRIBUTES/VARIABLE_VALUE"));
}
