#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/estimator/supervisor.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/testing/thread_cluster.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <tests/strategy/server_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/memory_file.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <condition_variable>
#include <future>

using namespace distribute;
using namespace distribute::train;
namespace fs = std::filesystem;

namespace {

std::set<int64_t> steps_saved(const std::string& directory) {
  std::set<int64_t> steps;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".index")) steps.insert(std::stoll(name.substr(name.rfind('-') + 1)));
  }
  return steps;
}

std::map<std::string, std::vector<int64_t>> scalars_in(const std::string& directory) {
  std::map<std::string, std::vector<int64_t>> steps;
  const std::set<fs::path> files(fs::directory_iterator(directory), {});  // in the order of making
  for (const fs::path& file : files) {
    if (file.string().find("tfevents") == std::string::npos) continue;
    auto reader = value_or_throw(io::RecordReader::open(file));
    for (std::string record; value_or_throw(reader.next(record));) {
      const auto event = summary::decode_event(record, file);
      for (const auto& entry : event.entries) steps[entry.tag].push_back(event.step);
    }
  }
  return steps;
}

/// Notes the calls of its hooks.
struct NotingHook : SessionRunHook {
  std::string notes;
  void begin() override { notes += "b"; }
  void after_create_session(MonitoredTrainingSession&) override { notes += "c"; }
  void before_run(SessionRunContext&) override { notes += "<"; }
  void after_run(SessionRunContext&, const SessionRunValues&) override { notes += ">"; }
  void end(MonitoredTrainingSession&) override { notes += "e"; }
};

MonitoredTrainingSessionOptions quiet(std::vector<SessionHookHandle> hooks) {
  return {.hooks = std::move(hooks), .log_step_count_steps = {}};
}

}  // namespace

TEST_CASE("a session runs its hooks in order, and stops at its step", "[train][session]") {
  NotingHook notes;
  const auto stop =
      GENERATE(StopAtStepHookOptions{.num_steps = 2}, StopAtStepHookOptions{.last_step = 2});
  int64_t ran = 0;
  {
    MonitoredTrainingSession session(quiet({notes, StopAtStepHook(stop)}));
    while (!session.should_stop()) session.run([&] { ++ran; });
    CHECK(session.global_step() == 2);
    CHECK_THROWS_SAYING(session.run([] {}), FailedPreconditionError, "should_stop");
  }
  CHECK(ran == 2);
  CHECK(notes.notes == "bc<><>e");
  CHECK_THROWS_AS(StopAtStepHook({}), InvalidArgumentError);
  CHECK_THROWS_AS(StopAtStepHook({.num_steps = 1, .last_step = 1}), InvalidArgumentError);
}

TEST_CASE("a restart goes on at the step that was saved", "[train][session]") {
  const TemporaryDirectory directory;
  std::vector<int64_t> began;
  for (int64_t last : {5, 9, 9}) {
    Variable sum = make_counter("sum");
    MonitoredTrainingSession session({.checkpoint_dir = directory.path(),
                                      .parts = {{"sum", sum}},
                                      .hooks = {StopAtStepHook({.last_step = last})},
                                      .save_checkpoint = {.steps = 3},
                                      .log_step_count_steps = {}});
    began.push_back(session.restored_step().value_or(-1));
    while (!session.should_stop())
      session.run([&] { sum.assign_add(Tensor(session.global_step())); });
    CHECK(counter_value(sum) == last * (last - 1) / 2);
  }
  CHECK(began == std::vector<int64_t>{-1, 5, 9});
  CHECK(steps_saved(directory.path()) == std::set<int64_t>{0, 3, 5, 8, 9});
}

TEST_CASE("checkpoints are saved by time or by steps, not both", "[train][session]") {
  const TemporaryDirectory directory;
  double now = 0;
  {
    MonitoredTrainingSession session({.checkpoint_dir = directory.path(),
                                      .hooks = {StopAtStepHook({.last_step = 7})},
                                      .save_checkpoint = {.secs = 20},
                                      .log_step_count_steps = {},
                                      .clock = [&] { return now; }});
    while (!session.should_stop()) session.run([&] { now += 8; });
  }
  CHECK(steps_saved(directory.path()) == std::set<int64_t>{0, 3, 6, 7});
  CHECK_THROWS_SAYING(MonitoredTrainingSession({.checkpoint_dir = directory.path(),
                                                .save_checkpoint = {.secs = 1, .steps = 1}}),
                      InvalidArgumentError, "both seconds and steps");
  CHECK_THROWS_AS(CheckpointSaverHook({.save = {}}), InvalidArgumentError);
  CHECK_THROWS_AS(CheckpointSaverHook({.save = {.steps = 0}}), InvalidArgumentError);
  CHECK_THROWS_AS(LoggingTensorHook({.every = {.secs = 1, .steps = 1}}), InvalidArgumentError);
}

TEST_CASE("after a lost task the session is created anew from the checkpoint (111)",
          "[train][session]") {
  const TemporaryDirectory directory;
  NotingHook notes;
  const bool aborted = GENERATE(true, false);
  Variable sum = make_counter("sum");
  std::vector<int64_t> steps;
  bool failed = false;
  {
    MonitoredTrainingSession session({.checkpoint_dir = directory.path(),
                                      .parts = {{"sum", sum}},
                                      .hooks = {notes, StopAtStepHook({.num_steps = 6})},
                                      .save_checkpoint = {.steps = 2},
                                      .log_step_count_steps = {}});
    while (!session.should_stop())
      session.run([&] {
        steps.push_back(session.global_step());
        sum.assign_add(Tensor(int64_t{1}));
        if (session.global_step() != 3 || failed) return;
        failed = true;
        if (aborted) throw AbortedError("worker 1 was preempted");
        throw UnavailableError("connection reset");
      });
  }
  CHECK(steps == std::vector<int64_t>{0, 1, 2, 3, 2, 3, 4, 5});
  CHECK(counter_value(sum) == 6);
  CHECK(notes.notes == "bc<><><><c<><><><>e");
}

TEST_CASE("other errors end the training, without the work of an end", "[train][session]") {
  const TemporaryDirectory directory;
  NotingHook notes;
  check_throws<InternalError>(
      [&] {
        MonitoredTrainingSession session({.checkpoint_dir = directory.path(),
                                          .hooks = {notes},
                                          .save_checkpoint = {.steps = 100},
                                          .log_step_count_steps = {}});
        while (!session.should_stop())
          session.run([&] {
            if (session.global_step() == 2) throw InternalError("broken");
          });
      },
      "broken");
  CHECK(notes.notes == "bc<><><");
  CHECK(steps_saved(directory.path()) == std::set<int64_t>{0});
}

TEST_CASE("the end of the data is a good end", "[train][session]") {
  NotingHook notes;
  MonitoredTrainingSession session(quiet({notes}));
  int left = 3;
  while (!session.should_stop())
    session.run([&] {
      if (left-- == 0) throw OutOfRangeError("the end of the dataset is reached");
    });
  session.close();
  CHECK(session.global_step() == 3);
  CHECK(notes.notes == "bc<><><><e");
}

TEST_CASE("a loss that is no number fails, or ends the session", "[train][session]") {
  const auto run = [](NanTensorHookOptions options) {
    MonitoredTrainingSession session(
        quiet({NanTensorHook(options), StopAtStepHook({.last_step = 9})}));
    while (!session.should_stop())
      session.run([&] { return session.global_step() == 4 ? 0.0 / 0.0 : 1.0; });
    return session.global_step();
  };
  CHECK_THROWS_SAYING(run({}), NanLossDuringTrainingError,
                      "NaN loss during training. Model diverged with loss = NaN");
  CHECK(run({.fail_on_nan_loss = false}) == 5);
  CHECK(run({.tensor = "other"}) == 9);
}

TEST_CASE("figures are printed, written and counted", "[train][session]") {
  const TemporaryDirectory directory;
  MemoryFile output;
  double now = 0;
  FinalOpsHook final_ops([] { return Logs{{"test", 0.5}}; });
  {
    MonitoredTrainingSession session(
        {.hooks = {LoggingTensorHook({.tensors = {"loss"},
                                      .every = {.steps = 4},
                                      .at_end = true,
                                      .out = output.file,
                                      .clock = [&] { return now; }}),
                   LoggingTensorHook({.every = {.steps = 100},
                                      .formatter = [](const Logs& logs) { return logs.names(); },
                                      .out = output.file}),
                   StopAtStepHook({.last_step = 6})},
         .chief_only_hooks = {final_ops, StepCounterHook({.every = {.steps = 3},
                                                          .output_dir = directory.path(),
                                                          .out = output.file,
                                                          .clock = [&] { return now; }})},
         .save_summaries = {.steps = 2},
         .log_step_count_steps = {},
         .summary_dir = directory.path()});
    while (!session.should_stop())
      session.run([&] {
        now += 0.5;
        return Logs{{"loss", double(session.global_step())}, {"rate", 2}};
      });
  }
  CHECK(output.str() ==
        "loss = 0.0, step = 0\nloss, rate\nglobal_step/sec: 2\n"
        "loss = 4.0, step = 4 (2.000 sec)\nloss = 5.0, step = 6 (0.500 sec)\n");
  CHECK(final_ops.final_ops_values().at("test") == 0.5);
  const auto written = scalars_in(directory.path());
  CHECK(written.at("loss") == std::vector<int64_t>{1, 3, 5});
  CHECK(written.at("rate") == std::vector<int64_t>{1, 3, 5});
  CHECK(written.at("global_step/sec") == std::vector<int64_t>{4});
  MonitoredTrainingSession session(quiet({LoggingTensorHook({.tensors = {"none"}})}));
  check_throws<NotFoundError>([&] { session.run([] { return 1.0; }); }, "'none'");
}

namespace {

/// Readiness within one process.
class Gate : public SessionReadiness {
 public:
  void set_ready() override {
    const std::lock_guard lock(mutex_);
    ready_ = true;
    changed_.notify_all();
  }
  bool wait_until_ready(double seconds) override {
    std::unique_lock lock(mutex_);
    ++waits_;
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ready_; });
  }
  int waits() {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;
  int waits_ = 0;
};

}  // namespace

TEST_CASE("the chief initializes, and three others wait for it", "[train][session]") {
  const TemporaryDirectory directory;
  Gate gate;
  Variable shared = make_counter("shared");
  std::mutex mutex;  // guards `shared`
  std::vector<int64_t> seen(3);
  std::vector<std::thread> others;
  for (int w = 0; w < 3; ++w)
    others.emplace_back([&, w] {
      MonitoredTrainingSession session({.is_chief = false,
                                        .checkpoint_dir = directory.path(),
                                        .hooks = {StopAtStepHook({.num_steps = 4})},
                                        .chief_only_hooks = {NanTensorHook()},
                                        .readiness = &gate});
      int failures = 1;
      while (!session.should_stop())
        session.run([&] {
          if (failures-- == 1) throw UnavailableError("a server is away");
          const std::lock_guard lock(mutex);
          seen[size_t(w)] = counter_value(shared);
          return std::nan("");  // the chief alone looks
        });
    });
  {
    MonitoredTrainingSession chief({.is_chief = true,
                                    .checkpoint_dir = directory.path(),
                                    .save_checkpoint = {.steps = 1},
                                    .log_step_count_steps = {},
                                    .init_fn =
                                        [&] {
                                          const std::lock_guard lock(mutex);
                                          shared.assign(Tensor(int64_t{7}));
                                        },
                                    .readiness = &gate});
    for (std::thread& other : others) other.join();
  }
  CHECK(seen == std::vector<int64_t>(3, 7));
  CHECK(gate.waits() == 6);  // again after its failure
  CHECK(steps_saved(directory.path()) == std::set<int64_t>{0});
}

namespace {

/// What the workers of a job with parameter servers have seen.
struct ServerTraining {
  explicit ServerTraining(int workers) : begun(workers) {}

  testing::Latch begun;  // servers end with the chief: no task may come later
  strategy_test::ServerCluster cluster{3, 2};
  TemporaryDirectory directory;
  std::mutex mutex;  // guards all below
  std::multiset<int64_t> steps;
  std::vector<float> first_values;
  int initialized = 0;

  /// One worker's program. Throws at `fail_at`.
  void work(int index, int64_t last_step, int64_t fail_at = -1) {
    ParameterServerStrategy strategy(cluster.resolver("worker", index));
    const auto scope = strategy.scope();
    const Variable weight(fill({2}, 1.0f), {.name = "weight"});
    optim::SGD optimizer({.learning_rate = 0.001f});
    MonitoredTrainingSession session({.checkpoint_dir = directory.path(),
                                      .parts = {{"weight", weight}},
                                      .global_step = optimizer.iterations_variable(),
                                      .hooks = {StopAtStepHook({.last_step = last_step})},
                                      .save_checkpoint = {.steps = 10},
                                      .save_summaries = {},
                                      .log_step_count_steps = {},
                                      .init_fn = [&] {
                                        weight.assign(fill({2}, 5.0f));
                                        const std::lock_guard lock(mutex);
                                        ++initialized;
                                      }});
    if (!begun.is_open()) begun.arrive_and_wait();
    bool is_first = true;
    while (!session.should_stop())
      session.run([&] {
        const int64_t step = strategy.run([&] {
          GradientTape tape;
          const Tensor value = weight.value();
          note_first(std::exchange(is_first, false), value);
          return optimizer.minimize(reduce_sum(value), {weight}, tape);
        })[0];
        if (step == fail_at) {
          // What is still on its way would be lost or not with the connection.
          strategy_internal::parameter_server_extended(strategy)->job().client->flush();
          throw std::runtime_error("killed");
        }
        const std::lock_guard lock(mutex);
        steps.insert(step);
        return 0.5;
      });
    session.close();
  }

 private:
  void note_first(bool is_first, const Tensor& value) {
    const std::lock_guard lock(mutex);
    if (is_first) first_values.push_back(value.to_vector()[0]);
  }
};

}  // namespace

TEST_CASE("sessions of a job with parameter servers share one training",
          "[train][session][parameter_server]") {
  ServerTraining training(3);
  std::vector<std::future<void>> others;
  for (int i = 2; i > 0; --i)
    others.push_back(std::async(std::launch::async, [&, i] { training.work(i, 40); }));
  training.work(0, 40);
  for (auto& other : others) other.get();
  CHECK(training.initialized == 1);
  CHECK(training.first_values.size() == 3);
  for (const float value : training.first_values) CHECK(value > 4.5f);  // no worker began with 1
  const std::set<int64_t> different(training.steps.begin(), training.steps.end());
  CHECK(different.size() == training.steps.size());  // each step on one task only
  CHECK(*different.begin() == 1);
  CHECK(*different.rbegin() >= 40);  // some may follow, and are counted
  CHECK(*different.rbegin() == int64_t(different.size()));
  CHECK(*steps_saved(training.directory.path()).rbegin() >= 40);
}

TEST_CASE("a chief that comes back to its servers trains on, and restores nothing",
          "[train][session][parameter_server]") {
  ServerTraining training(1);
  CHECK_THROWS_AS(training.work(0, 40, 15), std::runtime_error);
  CHECK(*steps_saved(training.directory.path()).rbegin() < 15);
  training.work(0, 20);
  CHECK(training.initialized == 1);
  CHECK(training.first_values.back() == Approx(5 - 15 * 0.001f));
  CHECK(training.steps.count(16) == 1);
  CHECK(training.steps.count(14) == 1);  // not made again
}

TEST_CASE("a worker does not wait for ever for its chief (111)", "[train][session]") {
  Gate gate;
  CHECK_THROWS_SAYING(
      MonitoredTrainingSession({.is_chief = false, .readiness = &gate, .max_wait_secs = 0.01}),
      DeadlineExceededError, "Session was not ready");
}

TEST_CASE("workers that step together save and stop together", "[train][session]") {
  const TemporaryDirectory directory;
  std::vector<int64_t> steps(3);
  const bool by_time = GENERATE(true, false);
  std::atomic<int> slow{0};
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    const Variable v(Tensor(0.0f),
                     {.name = "v", .trainable = false, .aggregation = VariableAggregation::Sum});
    double now = worker * 1000.0;  // clocks differ
    MonitoredTrainingSession session(
        {.checkpoint_dir = directory.path(),
         .parts = {{"v", v}},
         .hooks = {StopAtStepHook({.last_step = 50})},
         .save_checkpoint = by_time ? SecondsOrSteps{.secs = 3} : SecondsOrSteps{.steps = 3},
         .log_step_count_steps = {},
         .clock = [&] { return now; }});
    require(session.is_chief() == (worker == 0), "who is chief");
    while (!session.should_stop())
      session.run([&] {
        now += worker == 0 ? 1 : 100;
        strategy.run([&] { v.assign_add(Tensor(1.0f)); });
        if (worker == 2 && session.global_step() == 6) session.request_stop();
      });
    session.close();
    steps[size_t(worker)] = session.global_step();
    require(v.value().item<float>() == 21, "the sum");
  });
  CHECK(steps == std::vector<int64_t>(3, 7));
  CHECK(steps_saved(directory.path()) == std::set<int64_t>{0, 3, 6, 7});
}

TEST_CASE("a supervisor ends well with the data, and again (111)", "[train][supervisor]") {
  const TemporaryDirectory directory;
  Variable v = make_counter("v");
  Supervisor supervisor({.logdir = directory.path(), .parts = {{"v", v}}});
  CHECK(supervisor.should_stop());
  for (int time = 1; time <= 2; ++time) {
    supervisor.managed_session([&](MonitoredTrainingSession& session) {
      CHECK_FALSE(supervisor.should_stop());
      session.run([&] { v.assign_add(Tensor(int64_t{1})); });
      supervisor.summary_computed({{"loss", 0.5}});
      throw OutOfRangeError("no more data");
    });
    CHECK(counter_value(v) == time);
    CHECK(steps_saved(directory.path()).contains(time));
  }
  CHECK(scalars_in(directory.path()).at("loss") == std::vector<int64_t>{1, 2});
  check_throws<InternalError>(
      [&] {
        supervisor.managed_session(
            [](MonitoredTrainingSession&) { throw InternalError("broken"); });
      },
      "broken");
}

TEST_CASE("only the chief's supervisor writes (111)", "[train][supervisor]") {
  const TemporaryDirectory directory;
  Gate gate;
  gate.set_ready();
  Supervisor supervisor({.is_chief = false, .logdir = directory / "logs", .readiness = &gate});
  supervisor.managed_session([&](MonitoredTrainingSession& session) {
    session.run([] {});
    CHECK_THROWS_SAYING(supervisor.summary_computed({{"loss", 1}}), FailedPreconditionError,
                        "to be the chief");
  });
  CHECK_FALSE(fs::exists(directory / "logs"));
}
