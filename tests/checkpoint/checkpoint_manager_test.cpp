#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <tests/support/comma_locale.hpp>

#include <distribute/nn/dense.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;
using train::Checkpoint;
using train::CheckpointManager;
using Paths = std::vector<std::string>;

namespace {

/// One variable and its checkpoint, in a directory of its own.
struct Fixture {
  TemporaryDirectory directory;
  Node node;
  Variable variable = node.add("v", Tensor(int64_t{0}));
  Checkpoint checkpoint{node};
  double time = 10'000;

  train::CheckpointManagerOptions options(std::optional<int64_t> max_to_keep) {
    return {.directory = directory.path(), .max_to_keep = max_to_keep};
  }
  CheckpointManager manager(std::optional<int64_t> max_to_keep) {
    return CheckpointManager(checkpoint, options(max_to_keep));
  }
  CheckpointManager timed(std::optional<int64_t> max_to_keep, double hours) {
    auto wanted = options(max_to_keep);
    wanted.keep_checkpoint_every_n_hours = hours;
    wanted.clock = [this] { return time; };
    return CheckpointManager(checkpoint, wanted);
  }
};

bool exists(const std::string& prefix) {
  const bool index = std::filesystem::exists(prefix + ".index");
  CHECK(index == std::filesystem::exists(prefix + ".data-00000-of-00001"));
  return index;
}

}  // namespace

TEST_CASE("the manager keeps the newest checkpoints", "[checkpoint][manager]") {
  Fixture f;
  CheckpointManager manager = f.manager(3);
  CHECK(manager.latest_checkpoint() == std::nullopt);
  CHECK(manager.restore_latest() == std::nullopt);
  const std::string first = *manager.save(), second = *manager.save(), third = *manager.save();
  CHECK(first == f.directory / "ckpt-1");
  CHECK(exists(first));
  const std::string fourth = *manager.save();
  CHECK(manager.checkpoints() == Paths{second, third, fourth});
  CHECK_FALSE(exists(first));
  CHECK(exists(second));
  CHECK(manager.latest_checkpoint() == fourth);
  CHECK(train::latest_checkpoint(f.directory.path()) == fourth);
}

TEST_CASE("without a limit the manager keeps all, and another may take over",
          "[checkpoint][manager]") {
  Fixture f;
  Paths all;
  {
    CheckpointManager manager = f.manager({});
    for (int i = 0; i < 4; ++i) all.push_back(*manager.save());
    CHECK(manager.checkpoints() == all);
  }
  CheckpointManager second = f.manager({});
  CHECK(second.checkpoints() == all);
  CHECK(second.latest_checkpoint() == all.back());
  all.push_back(*second.save());
  CHECK(all.back() == f.directory / "ckpt-5");
  CHECK(second.checkpoints() == all);
  CheckpointManager third = f.manager(1);
  const std::string sixth = *third.save();
  CHECK(third.checkpoints() == Paths{sixth});
  for (const std::string& path : all) CHECK_FALSE(exists(path));
  CHECK(exists(sixth));
}

TEST_CASE("one checkpoint per keep interval is kept for good", "[checkpoint][manager]") {
  Fixture f;
  std::string first, second, third, fourth;
  {
    CheckpointManager manager = f.timed(1, 1);
    first = *manager.save();
    f.time += 3600;
    second = *manager.save();
    f.time += 3600;
    third = *manager.save();
    CHECK_FALSE(exists(first));
    CHECK(exists(second));
    CHECK(manager.checkpoints() == Paths{third});
    CHECK(train::get_checkpoint_state(f.directory.path())->last_preserved_timestamp == 13'600);
  }
  f.time = 5'000;  // the clock goes back: nothing may be lost
  CheckpointManager manager = f.timed(1, 1);
  CHECK(manager.latest_checkpoint() == third);
  f.time += 3600;
  fourth = *manager.save();
  f.time += 3600;
  const std::string fifth = *manager.save();
  CHECK(exists(second));
  CHECK(exists(third));
  CHECK(exists(fourth));
  CHECK(manager.checkpoints() == Paths{fifth});
  CHECK(train::get_checkpoint_state(f.directory.path())->last_preserved_timestamp == 8'600);
}

TEST_CASE("a second manager goes on with state and times of the first", "[checkpoint][manager]") {
  Fixture f;
  f.time = 1'763'841'234.25;  // a real one, of which every digit counts
  std::string first, second;
  {
    CheckpointManager manager = f.timed(2, 3);
    f.time += 1;
    first = *manager.save();
    f.time += 3 * 3600;
    second = *manager.save();
  }
  f.variable.assign(Tensor(int64_t{5}));
  Node fresh;
  const Variable variable = fresh.add("v", Tensor(int64_t{1}));
  Checkpoint checkpoint(fresh);
  auto options = f.options(2);
  options.keep_checkpoint_every_n_hours = 3;
  options.clock = [&] { return f.time; };
  CheckpointManager manager(checkpoint, options);
  CHECK(manager.checkpoints() == Paths{first, second});
  CHECK(manager.restore_latest() == second);
  CHECK(variable.value().item<int64_t>() == 0);
  CHECK(checkpoint.save_counter() == 2);
  const std::string third = *manager.save();
  CHECK(third == f.directory / "ckpt-3");
  CHECK_FALSE(exists(first));
  CHECK(manager.checkpoints() == Paths{second, third});
  manager.save();
  CHECK(exists(second));  // three hours after the manager began
}

TEST_CASE("checkpoints that were saved without a manager are left alone", "[checkpoint][manager]") {
  Fixture f;
  const std::string first = f.checkpoint.save(f.directory / "ckpt");
  const std::string second = f.checkpoint.save(f.directory / "ckpt");
  CheckpointManager manager = f.manager(2);
  CHECK(manager.checkpoints().empty());
  CHECK(manager.restore_latest() == second);
  const std::string third = *manager.save(), fourth = *manager.save(), fifth = *manager.save();
  CHECK(third == f.directory / "ckpt-3");
  CHECK(manager.checkpoints() == Paths{fourth, fifth});
  CHECK(exists(first));
  CHECK(exists(second));
  CHECK_FALSE(exists(third));
}

TEST_CASE("without the state file a manager does not begin anew over checkpoints",
          "[checkpoint][manager]") {
  Fixture f;
  CheckpointManager first = f.manager(3);
  first.save();
  first.save();
  std::filesystem::remove(f.directory / "checkpoint");
  const std::string error = error_of<FailedPreconditionError>([&] { f.manager(3); });
  CHECK_THAT(error, Contains("has checkpoints, but no file `checkpoint`") &&
                        Contains("write `model_checkpoint_path: \"ckpt-2\"`"));
  CHECK(exists(f.directory / "ckpt-1"));
  auto others = f.options(3);
  others.checkpoint_name = "best";  // overwrites nothing
  CHECK(CheckpointManager(f.checkpoint, others).latest_checkpoint() == std::nullopt);
}

TEST_CASE("a manager goes on from the only checkpoint of a program killed before its state file",
          "[checkpoint][manager]") {
  Fixture f;
  f.variable.assign(Tensor(int64_t{7}));
  f.manager(1).save();
  std::filesystem::remove(f.directory / "checkpoint");
  f.variable.assign(Tensor(int64_t{0}));
  CheckpointManager next = f.manager(1);
  CHECK(next.restore_latest() == f.directory / "ckpt-1");
  CHECK(f.variable.value().item<int64_t>() == 7);
  next.save();
  CHECK_FALSE(exists(f.directory / "ckpt-1"));
  CHECK(exists(f.directory / "ckpt-2"));
}

TEST_CASE("a manager goes on in a directory that was moved", "[checkpoint][manager]") {
  Fixture f;
  f.variable.assign(Tensor(int64_t{7}));
  f.manager(2).save();
  std::ofstream(f.directory / "checkpoint") << "model_checkpoint_path: \"/elsewhere/ckpt-1\"\n"
                                            << "all_model_checkpoint_paths: \"/elsewhere/ckpt-1\"\n"
                                            << "all_model_checkpoint_timestamps: 9999.0\n";
  f.variable.assign(Tensor(int64_t{0}));
  CheckpointManager next = f.manager(2);
  CHECK(next.restore_latest() == f.directory / "ckpt-1");
  CHECK(f.variable.value().item<int64_t>() == 7);
  CHECK(next.checkpoints() == Paths{f.directory / "ckpt-1"});
}

TEST_CASE("numbers may be the caller's", "[checkpoint][manager]") {
  Fixture f;
  CheckpointManager manager = f.manager(2);
  CHECK(*manager.save(5) == f.directory / "ckpt-5");
  CHECK(*manager.save(0) == f.directory / "ckpt-0");
  CHECK(*manager.save(5) == f.directory / "ckpt-5");
  CHECK(manager.checkpoints() == Paths{f.directory / "ckpt-0", f.directory / "ckpt-5"});
  CHECK(f.checkpoint.save_counter() == 3);
  CHECK(*manager.save() == f.directory / "ckpt-4");
  CHECK_FALSE(exists(f.directory / "ckpt-0"));
}

TEST_CASE("init_fn runs when there is nothing to restore", "[checkpoint][manager]") {
  Fixture f;
  auto options = f.options(1);
  options.init_fn = [&] { f.variable.assign(Tensor(int64_t{9})); };
  CheckpointManager manager(f.checkpoint, options);
  CHECK(manager.restore_or_initialize() == std::nullopt);
  CHECK(f.variable.value().item<int64_t>() == 9);
  f.variable.assign(Tensor(int64_t{4}));
  const auto path = manager.save();
  f.variable.assign(Tensor(int64_t{0}));
  CHECK(manager.restore_or_initialize() == path);
  CHECK(f.variable.value().item<int64_t>() == 4);
}

TEST_CASE("within the interval nothing is saved", "[checkpoint][manager]") {
  Fixture f;
  auto options = f.options(3);
  options.step_counter = [&] { return f.variable.value().item<int64_t>(); };
  options.checkpoint_interval = 2;
  CheckpointManager manager(f.checkpoint, options);
  const auto at = [&](int64_t step) {
    f.variable.assign(Tensor(step));
    return manager.save();
  };
  CHECK(at(0) == f.directory / "ckpt-1");
  CHECK(at(1) == std::nullopt);
  CHECK(at(2) == f.directory / "ckpt-2");
  CHECK(at(2) == std::nullopt);
  CHECK(manager.save({}, false) == f.directory / "ckpt-3");
  CheckpointManager second(f.checkpoint, options);
  second.restore_latest();
  CHECK(second.save() == std::nullopt);
}

TEST_CASE("options that make no sense are refused", "[checkpoint][manager]") {
  Fixture f;
  CHECK_THROWS_AS(f.manager(0), InvalidArgumentError);
  CHECK_THROWS_AS(f.manager(-1), InvalidArgumentError);
  auto options = f.options(1);
  options.checkpoint_interval = 2;
  CHECK_THROWS_AS(CheckpointManager(f.checkpoint, options), InvalidArgumentError);
  options = f.options(1);
  options.checkpoint_name = "a/b";
  CHECK_THROWS_AS(CheckpointManager(f.checkpoint, options), InvalidArgumentError);
}

TEST_CASE("what a killed writer left half written goes away at the next save",
          "[checkpoint][manager]") {
  Fixture f;
  const Paths left = {"ckpt-7.data-00000-of-00001.tempstate123", "ckpt-7.index.tempstate9",
                      "checkpoint.tempstate5"};
  const Paths foreign = {"ckpt-b-7.index.tempstate9", "notes.tempstate1", "ckpt-7.txt"};
  for (const std::string& file : left) std::ofstream(f.directory / file) << "x";
  for (const std::string& file : foreign) std::ofstream(f.directory / file) << "x";
  CheckpointManager manager = f.manager(1);
  for (const std::string& file : left) CHECK(std::filesystem::exists(f.directory / file));
  manager.save();
  for (const std::string& file : left) CHECK_FALSE(std::filesystem::exists(f.directory / file));
  for (const std::string& file : foreign) CHECK(std::filesystem::exists(f.directory / file));
}

TEST_CASE("a full disk leaves manager and checkpoints as they were", "[checkpoint][manager]") {
  Fixture f;
  f.node.add("large", zeros({1000}));
  CheckpointManager manager = f.manager(1);
  const std::string first = *manager.save();
  f.variable.assign(Tensor(int64_t{3}));
  {
    const FileSizeLimit limit(2000);
    CHECK_THROWS_AS(manager.save(), Error);
  }
  CHECK(manager.checkpoints() == Paths{first});
  CHECK(manager.latest_checkpoint() == first);
  CHECK(f.checkpoint.save_counter() == 1);
  CHECK(manager.restore_latest() == first);
  CHECK(f.variable.value().item<int64_t>() == 0);
  CHECK(*manager.save() == f.directory / "ckpt-2");
}

TEST_CASE("a state file that cannot be written undoes the save", "[checkpoint][manager]") {
  Fixture f;
  CheckpointManager manager = f.manager(1);
  const std::string first = *manager.save();
  const std::string state = f.directory / "checkpoint";
  std::filesystem::rename(state, f.directory / "aside");
  std::filesystem::create_directories(state + "/in_the_way");  // no file can take its name
  CHECK_THROWS_AS(manager.save(), Error);
  CHECK(manager.checkpoints() == Paths{first});
  CHECK(exists(first));
  CHECK(f.checkpoint.save_counter() == 1);
  std::filesystem::remove_all(state);
  CHECK(*manager.save() == f.directory / "ckpt-2");
  CHECK_FALSE(exists(first));
}

TEST_CASE("a directory that cannot be made is named", "[checkpoint][manager]") {
  Fixture f;
  std::ofstream(f.directory / "file") << "x";
  auto options = f.options(1);
  options.directory = f.directory / "file/ckpt";
  CHECK_THAT(error_of<Error>([&] { CheckpointManager(f.checkpoint, options); }),
             Contains(f.directory / "file"));
}

TEST_CASE("the manager goes on where TensorFlow's stopped", "[checkpoint][manager][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_manager");
  if (!files) SKIP("tf_files is absent");
  const TemporaryDirectory directory;
  std::filesystem::copy(*files, directory.path());
  Node node;  // "counter" of the listing
  const Variable counter = node.add("counter", Tensor(int64_t{0}));
  Checkpoint checkpoint({{"counter", counter}});
  CheckpointManager manager(checkpoint, {.directory = directory.path(), .max_to_keep = 3});
  CHECK(manager.checkpoints() ==
        Paths{directory / "ckpt-3", directory / "ckpt-4", directory / "ckpt-5"});
  CHECK(manager.restore_latest() == directory / "ckpt-5");
  CHECK(checkpoint.save_counter() == 5);
  CHECK(manager.save() == directory / "ckpt-6");
  CHECK_FALSE(exists(directory / "ckpt-3"));
}

TEST_CASE("times are read whole under a locale with a decimal comma", "[checkpoint][manager]") {
  Fixture f;
  const CommaLocale locale;
  f.time = 10'000.75;
  f.timed(1, 1).save();
  const auto state = train::get_checkpoint_state(f.directory.path());
  CHECK(state->last_preserved_timestamp == 9'999.75);  // a second before the first start
  CHECK(state->all_model_checkpoint_timestamps == std::vector<double>{10'000.75});
}

TEST_CASE("a full disk is an error at once, however many saves may fail", "[checkpoint][manager]") {
  Fixture f;
  f.variable = f.node.add("big", Tensor(Shape{1000}, std::vector<float>(1000, 1.0f)));
  auto options = f.options(3);
  options.max_failed_saves = 2;
  CheckpointManager manager(f.checkpoint, options);
  {
    const FileSizeLimit full(100);
    CHECK_THROWS_AS(manager.save(), ResourceExhaustedError);
  }
  CHECK(exists(manager.save().value()));
}

TEST_CASE("values that no object takes are named once, when the job ends",
          "[checkpoint][manager]") {
  // TensorFlow: "Value in checkpoint could not be found in the restored object: (root).optimizer
  // ._momentums.0" and such a line for each.
  TemporaryDirectory directory;
  CaughtLog log;
  {
    nn::Dense model({.units = 1, .name = "dense"});
    model(zeros({1, 2}));
    optim::Adam adam({.amsgrad = true});
    adam.build(model.trainable_variables());
    Checkpoint checkpoint(model, adam);
    CheckpointManager(checkpoint, {.directory = directory.path()}).save();
  }
  CHECK(log.lines.empty());
  {
    nn::Dense model({.units = 1, .name = "dense"});
    model(zeros({1, 2}));
    optim::SGD sgd({});
    Checkpoint checkpoint(model, sgd);
    CHECK(CheckpointManager(checkpoint, {.directory = directory.path()}).restore_latest());
    CHECK(sgd.learning_rate() == 0.001f);
  }
  REQUIRE(log.lines.size() == 1);
  for (const char* part : {"no object took 'model/bias/.OPTIMIZER_SLOT/optimizer/m'",
                           "'model/kernel/", " and 2 more; expect_partial() says"})
    CHECK_THAT(log.lines[0], Contains(part));
}

TEST_CASE("slots that an optimizer has not made yet are not missed before its first step",
          "[checkpoint][manager]") {
  TemporaryDirectory directory;
  CaughtLog log;
  {
    nn::Dense model({.units = 1, .name = "dense"});
    model(zeros({1, 2}));
    optim::Adam adam;
    adam.build(model.trainable_variables());
    Checkpoint checkpoint(model, adam);
    CheckpointManager(checkpoint, {.directory = directory.path()}).save();
  }
  const auto restored_with = [&](bool steps) {
    nn::Dense model({.units = 1, .name = "dense"});
    model(zeros({1, 2}));
    optim::SGD sgd({.momentum = 0.9f});
    Checkpoint checkpoint(model, sgd);
    CHECK(CheckpointManager(checkpoint, {.directory = directory.path()}).restore_latest());
    if (steps) sgd.build(model.trainable_variables());
  };
  restored_with(false);  // a job whose last step is done already
  CHECK(log.lines.empty());
  restored_with(true);
  REQUIRE(log.lines.size() == 1);
  // As in Keras, a momentum goes on from Adam's first moments.
  CHECK_THAT(log.lines[0], Contains("no object took 'model/bias/.OPTIMIZER_SLOT/optimizer/v'"));
}
