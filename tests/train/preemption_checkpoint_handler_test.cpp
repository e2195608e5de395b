#include <distribute/base/signals.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <atomic>
#include <csignal>
#include <filesystem>

using namespace distribute;
using Catch::Matchers::Contains;
using train::Checkpoint;
using train::CheckpointManager;

namespace {

/// In place of the end of a process.
struct Exited {};

/// A training loop whose variable counts the steps of all replicas.
struct Loop {
  Strategy& strategy;
  Variable value{Tensor(int64_t{0}),
                 {.name = "v", .trainable = false, .aggregation = VariableAggregation::Sum}};
  Checkpoint checkpoint{{{"v", value}}};

  explicit Loop(Strategy& of) : strategy(of) {}
  void step() {
    strategy.run([&] { value.assign_add(Tensor(int64_t{1})); });
  }
  int64_t total() const { return value.value().item<int64_t>(); }
};

TerminationConfig ends_by_exception(std::function<bool()> watcher) {
  return {.termination_watcher_fn = std::move(watcher), .exit_fn = [] { throw Exited(); }};
}

bool never() { return false; }

int checkpoints_in(const std::string& directory) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    count += entry.path().extension() == ".index";
  return count;
}

}  // namespace

TEST_CASE("a notice on one worker saves on all at one step, and a restart loses none (case 64)",
          "[train][preemption]") {
  const int workers = GENERATE(1, 2, 3, 5), replicas = GENERATE(1, 2);
  const bool own_manager = GENERATE(true, false), wrapped = GENERATE(true, false);
  const int preempted = workers / 2, at = 7, steps = 12;
  const TemporaryDirectory directory;
  const auto train = [&](Strategy& strategy, int w, bool first_start) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    std::unique_ptr<CheckpointManager> manager;
    int64_t calls = 0;
    const auto config =
        ends_by_exception([&] { return first_start && w == preempted && calls >= at; });
    std::unique_ptr<PreemptionCheckpointHandler> handler;
    if (own_manager) {
      handler = std::make_unique<PreemptionCheckpointHandler>(nullptr, loop.checkpoint,
                                                              directory.path(), config);
    } else {
      manager = std::make_unique<CheckpointManager>(
          loop.checkpoint, train::CheckpointManagerOptions{.directory = directory.path()});
      handler = std::make_unique<PreemptionCheckpointHandler>(nullptr, *manager, config);
    }
    bool exited = false;
    try {
      for (calls = handler->total_run_calls(); calls < steps; ++calls) {
        if (wrapped) {
          const int64_t seen = handler->run([&](int64_t x) { return loop.step(), x; }, calls);
          require(seen == calls, "what run returns");
        } else {
          handler->save_checkpoint_if_preempted();
          loop.step();
        }
      }
    } catch (const Exited&) {
      exited = true;
    }
    require(exited == first_start, "the end");
    require(calls == (first_start ? at : steps), "the step of the end");
    require(loop.total() == calls * workers * replicas, "the value");
    require(handler->total_run_calls() == calls, "total_run_calls");
  };
  run_clean(workers, replicas, [&](Strategy& strategy, int w) { train(strategy, w, true); });
  CHECK(checkpoints_in(directory.path()) == 1);
  CHECK(train::latest_checkpoint(directory.path()) == directory / "ckpt-1");
  run_clean(workers, replicas, [&](Strategy& strategy, int w) { train(strategy, w, false); });
  CHECK(checkpoints_in(directory.path()) == 1);
}

TEST_CASE("the error of one worker's step is raised on all (case 65)", "[train][preemption]") {
  const TemporaryDirectory directory;
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    PreemptionCheckpointHandler handler(nullptr, loop.checkpoint, directory.path(),
                                        ends_by_exception(never));
    for (int step = 0; step < 6; ++step)
      handler.run([&] {
        if (w == 1 && step == 3) throw ResourceExhaustedError("no memory for step 3");
        loop.step();
      });
  });
  for (const std::string& error : errors) CHECK_THAT(error, Contains("no memory for step 3"));
}

TEST_CASE("the end of the data ends one worker's loop alone", "[train][preemption]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    PreemptionCheckpointHandler handler(nullptr, loop.checkpoint, directory.path(),
                                        ends_by_exception(never));
    for (int step = 0; step < 3; ++step) {
      try {
        handler.run([&] {
          if (w == 0 && step == 1) throw OutOfRangeError("the end");
        });
      } catch (const OutOfRangeError&) {
        require(w == 0 && step == 1, "who has reached the end");
      }
      handler.save_checkpoint_if_preempted();
    }
    require(strategy.extended().any_worker(w == 1), "an operation afterwards");
  });
}

TEST_CASE("with a grace period training continues to a second checkpoint (case 66)",
          "[train][preemption]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    CheckpointManager manager(loop.checkpoint, {.directory = directory.path()});
    auto config = ends_by_exception([&] { return w == 1 && loop.total() >= 8; });
    config.grace_period = 0.1;
    PreemptionCheckpointHandler handler(nullptr, manager, config);
    try {
      for (;;) handler.run([&] { loop.step(); });
    } catch (const Exited&) {
    }
    require(manager.checkpoints().size() == 2, "two checkpoints");
    require(loop.total() == 2 * handler.total_run_calls(), "the steps");
    require(handler.total_run_calls() > 4, "steps after the first checkpoint");
    loop.checkpoint.restore(manager.checkpoints()[0]).assert_consumed();
    require(loop.total() == 8, "the first checkpoint");
    loop.checkpoint.restore(manager.checkpoints()[1]).assert_consumed();
    require(loop.total() == 2 * handler.total_run_calls(), "the second checkpoint");
  });
}

TEST_CASE("save_fn saves instead of the manager (case 66)", "[train][preemption]") {
  const TemporaryDirectory directory;
  std::atomic<int> saves = 0;
  run_clean(3, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    auto config = ends_by_exception([&] { return w == 2; });
    config.save_fn = [&] { ++saves; };
    PreemptionCheckpointHandler handler(nullptr, loop.checkpoint, directory.path(), config);
    try {
      handler.run([&] { loop.step(); });
      throw InternalError("wrong: no end");
    } catch (const Exited&) {
    }
  });
  CHECK(saves == 3);
  CHECK(checkpoints_in(directory.path()) == 0);
}

TEST_CASE("workers ask each other as often as they are told", "[train][preemption]") {
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy);
    auto config = ends_by_exception([&] { return w == 0 && loop.total() >= 6; });
    config.steps_between_checks = 4;
    PreemptionCheckpointHandler handler(nullptr, loop.checkpoint, directory.path(), config);
    try {
      for (;;) handler.run([&] { loop.step(); });
    } catch (const Exited&) {
    }
    require(handler.total_run_calls() == 4, "the next multiple of 4");
  });
}

TEST_CASE("what a handler cannot do it says", "[train][preemption]") {
  const TemporaryDirectory directory;
  Checkpoint checkpoint({{"step", Variable(Tensor(int64_t{0}), {.name = "step"})}});
  check_throws<InvalidArgumentError>([&] { PreemptionCheckpointHandler(nullptr, checkpoint, ""); },
                                     "checkpoint_dir");
  const SimpleClusterResolver with_ps(
      ClusterSpec({{"worker", {"localhost:1"}}, {"ps", {"localhost:2"}}}));
  check_throws<UnimplementedError>(
      [&] { PreemptionCheckpointHandler(&with_ps, checkpoint, directory.path()); },
      "parameter servers");
  check_throws<InvalidArgumentError>(
      [&] {
        PreemptionCheckpointHandler(nullptr, checkpoint, directory.path(),
                                    {.steps_between_checks = 0});
      },
      "steps_between_checks");
  check_throws<InvalidArgumentError>(
      [&] {
        PreemptionCheckpointHandler(nullptr, checkpoint, directory.path(), {.grace_period = -1});
      },
      "negative");
  check_throws<InvalidArgumentError>(
      [&] {
        PreemptionCheckpointHandler(nullptr, checkpoint, directory.path(), {.signals = {SIGKILL}});
      },
      "cannot be watched");
  const Checkpoint::Parts taken{
      {"checkpointed_runs", train::TensorState{[] { return Tensor(1.0f); }, [](const Tensor&) {}}}};
  Checkpoint other(taken);
  check_throws<InvalidArgumentError>(
      [&] { PreemptionCheckpointHandler(nullptr, other, directory.path()); }, "another name");
}

TEST_CASE("signals are counted while they are watched", "[train][preemption]") {
  const auto before = std::signal(SIGUSR1, SIG_DFL);
  {
    const TerminationSignal watch({SIGTERM, SIGUSR1});
    CHECK_FALSE(watch.has_come());
    {
      const TerminationSignal inner({SIGTERM});
      std::raise(SIGTERM);
      CHECK(inner.has_come());
    }
    CHECK(watch.has_come());
    std::raise(SIGUSR1);
    const TerminationSignal later({SIGTERM});
    CHECK_FALSE(later.has_come());
  }
  CHECK(std::signal(SIGUSR1, SIG_IGN) == SIG_DFL);
  {
    const TerminationSignal watch({SIGUSR1});
    std::raise(SIGUSR1);
    CHECK_FALSE(watch.has_come());  // it was ignored before
  }
  std::signal(SIGUSR1, before);
}
