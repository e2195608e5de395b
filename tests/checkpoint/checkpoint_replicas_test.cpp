#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using train::Checkpoint;

namespace {

Checkpoint checkpoint_of(const Variable& variable) { return Checkpoint({{"v", variable}}); }

std::vector<float> copies(const Variable& variable) {
  std::vector<float> all;
  for (int i = 0; i < variable.impl().num_components(); ++i)
    all.push_back(variable.impl().component(i).item<float>());
  return all;
}

Variable mirrored(Strategy& strategy, float value) {
  const auto scope = strategy.scope();
  return Variable(Tensor(value), {.name = "v"});
}

/// A variable whose copies are 3 and 4.
Variable on_read(Strategy& strategy, VariableAggregation aggregation) {
  const auto scope = strategy.scope();
  const Variable variable(Tensor(0.0f), {.name = "v",
                                         .synchronization = VariableSynchronization::OnRead,
                                         .aggregation = aggregation});
  strategy.run([&](float value) { variable.assign(Tensor(value)); },
               PerReplica<float>({3.0f, 4.0f}));
  return variable;
}

/// A small model with Adam under a strategy, built and trained by run().
struct Trainer {
  explicit Trainer(Strategy& under) : strategy(under), scope(strategy.scope()) {}
  void step() {
    strategy.run([&] {
      GradientTape tape;
      const Tensor x(Shape{1, 2}, std::vector<float>{1, -2});
      const Tensor loss = reduce_sum(model(x));
      optimizer.minimize(loss, model.trainable_variables(), tape);
    });
  }
  std::vector<float> values() const {
    std::vector<float> all;
    std::vector<Variable> variables = model.variables();
    for (const auto& slot : optimizer.slot_variables()) variables.push_back(slot.variable);
    for (const Variable& variable : variables)
      for (int i = 0; i < variable.impl().num_components(); ++i)
        for (const float x : variable.impl().component(i).to_vector()) all.push_back(x);
    return all;
  }
  Strategy& strategy;
  Scope scope;
  nn::Sequential model{nn::Dense({.units = 3})};
  optim::Adam optimizer{{.learning_rate = 0.1}};
  Checkpoint checkpoint{model, optimizer};
};

}  // namespace

TEST_CASE("mirrored and plain variables restore each other", "[checkpoint][replicas]") {
  const TemporaryDirectory directory;
  MirroredStrategy two({.num_replicas = 2}), three({.num_replicas = 3});
  const std::string from_mirrored = checkpoint_of(mirrored(two, 1)).write(directory / "mirrored");
  const std::string from_plain =
      checkpoint_of(Variable(Tensor(2.0f), {.name = "v"})).write(directory / "plain");
  CHECK(train::BundleReader(from_mirrored).keys().size() == 3);  // one copy

  const Variable plain(Tensor(0.0f), {.name = "v"}), more = mirrored(three, 0);
  checkpoint_of(plain).restore(from_mirrored).assert_consumed();
  checkpoint_of(more).restore(from_mirrored).assert_consumed();
  CHECK(copies(plain) == std::vector<float>{1});
  CHECK(copies(more) == std::vector<float>{1, 1, 1});
  checkpoint_of(more).restore(from_plain).assert_consumed();
  CHECK(copies(more) == std::vector<float>{2, 2, 2});
}

TEST_CASE("sync-on-read variables are saved whole and restored in parts",
          "[checkpoint][replicas]") {
  const TemporaryDirectory directory;
  MirroredStrategy strategy({.num_replicas = 2});
  using enum VariableAggregation;
  struct Case {
    VariableAggregation aggregation;
    float saved, restored, from_plain;  // from_plain: after restoring a plain 2
  };
  const std::string two =
      checkpoint_of(Variable(Tensor(2.0f), {.name = "v"})).write(directory / "two");
  for (const Case& c :
       {Case{Sum, 7, 3.5f, 1}, {Mean, 3.5f, 3.5f, 2}, {OnlyFirstReplica, 3, 3, 2}}) {
    const Variable variable = on_read(strategy, c.aggregation);
    const std::string path = checkpoint_of(variable).write(directory / "v");
    const Variable plain(Tensor(0.0f), {.name = "v"});
    checkpoint_of(plain).restore(path).assert_consumed();
    CHECK(copies(plain) == std::vector<float>{c.saved});
    strategy.run([&] { variable.assign(Tensor(9.0f)); });
    checkpoint_of(variable).restore(path).assert_consumed();
    CHECK(copies(variable) == std::vector<float>{c.restored, c.restored});
    checkpoint_of(variable).restore(two).assert_consumed();
    CHECK(copies(variable) == std::vector<float>{c.from_plain, c.from_plain});
    {
      const auto scope = strategy.scope();  // saving inside the scope is the same
      train::save_weights(directory / "flat", {variable});
      CHECK(train::BundleReader(directory / "flat").read_values<float>("v") ==
            std::vector<float>{2});
    }
  }
  CHECK_THROWS_AS(checkpoint_of(on_read(strategy, None)).write(directory / "none"),
                  InvalidArgumentError);
}

TEST_CASE("training goes on under another number of replicas, layers and slots unbuilt",
          "[checkpoint][replicas]") {
  const TemporaryDirectory directory;
  MirroredStrategy two({.num_replicas = 2});
  std::string path;
  std::vector<float> saved;
  {
    Trainer trainer(two);
    trainer.step();
    path = trainer.checkpoint.save(directory / "ckpt");
    trainer.step();
    saved = trainer.values();
  }
  {
    Trainer trainer(two);
    const auto status = trainer.checkpoint.restore(path);
    CHECK(trainer.optimizer.iterations() == 1);
    trainer.step();
    status.assert_consumed();
    CHECK(trainer.values() == saved);
  }
  OneDeviceStrategy one("/cpu:0");
  Trainer trainer(one);
  const auto status = trainer.checkpoint.restore(path);
  trainer.step();
  status.assert_consumed();
  CHECK(trainer.optimizer.iterations() == 2);
}

TEST_CASE("a summed variable that is created after the restore gets its share",
          "[checkpoint][replicas]") {
  struct Counter : Trackable {
    Variable total;
    void build() {
      total = Variable(Tensor(0.0f), {.name = "total",
                                      .synchronization = VariableSynchronization::OnRead,
                                      .aggregation = VariableAggregation::Sum});
      restore_created("total", total);
    }
    std::vector<NamedVariable> own_variables() const override {
      return total ? std::vector<NamedVariable>{{"total", total}} : std::vector<NamedVariable>{};
    }
  };
  const TemporaryDirectory directory;
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  Counter saved, target;
  saved.build();
  saved.total.assign(Tensor(8.0f));
  const std::string path = Checkpoint(saved).write(directory / "ckpt");
  const auto status = Checkpoint(target).restore(path);
  target.build();
  status.assert_consumed();
  CHECK(copies(target.total) == std::vector<float>{4, 4});
}

TEST_CASE("a replica neither saves nor restores", "[checkpoint][replicas]") {
  const TemporaryDirectory directory;
  MirroredStrategy strategy({.num_replicas = 2});
  Checkpoint checkpoint = checkpoint_of(mirrored(strategy, 1));
  const std::string path = checkpoint.save(directory / "ckpt");
  CHECK_THROWS_AS(strategy.run([&] { checkpoint.save(path); }), FailedPreconditionError);
  CHECK_THROWS_AS(strategy.run([&] { checkpoint.restore(path); }), FailedPreconditionError);
}

TEST_CASE("an iterator goes on where it was saved", "[checkpoint][replicas]") {
  const TemporaryDirectory directory;
  auto dataset = data::Dataset::range(10).shuffle(10, {.seed = 3}).batch(2);
  data::Iterator first = dataset.iterator(), second = dataset.iterator();
  first.next();
  first.next();
  const std::string path =
      Checkpoint({{"iterator", train::state_of(first)}}).write(directory / "ckpt");
  Checkpoint({{"iterator", train::state_of(second)}}).restore(path).assert_consumed();
  for (int i = 0; i < 3; ++i) CHECK(first.next().x.to_vector() == second.next().x.to_vector());
}
