#include <distribute/distribute.hpp>
#include <distribute/preprocessing.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>

#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace distribute;
using namespace distribute::testing;
namespace pre = distribute::preprocessing;

namespace {

/// Words in a file's worth of text: many, and some with any bytes.
std::vector<std::string> many_words() {
  std::vector<std::string> words{"two\nlines", "\xff\xfe", ""};
  for (int i = 0; i < 60'000; ++i) words.push_back("word " + std::to_string(i));
  return words;
}

/// One of each table that learns, made before any task serves.
struct Tables {
  pre::StringLookup words, large;
  pre::IntegerLookup integers;
  pre::TextVectorization texts;
  pre::Discretization ranges;
  pre::Normalization scaled;

  Tables()
      : large({.num_oov_indices = 2}),
        integers({.output_mode = pre::OutputMode::Count}),
        texts({.output_mode = pre::OutputMode::TfIdf}),
        ranges({.num_bins = 3}) {}

  void adapt() {
    words.adapt(pre::strings_tensor({"red", "green", "red", "blue", "red", "green"}));
    large.set_vocabulary(many_words());
    integers.adapt(Tensor{42, 7, 42});
    texts.adapt(pre::strings_tensor({"one fish two fish", "red fish"}));
    ranges.adapt(Tensor{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
    scaled.adapt(Tensor(Shape{3, 2}, std::vector<float>{1, 10, 2, 30, 6, 80}));
  }

  /// What all of them make of something.
  std::vector<float> answers() {
    std::vector<float> all;
    const auto add = [&](const Tensor& t) {
      for (const float value : t.to_vector()) all.push_back(value);
    };
    add(words(pre::strings_tensor({"blue", "red", "none"})));
    add(large(pre::strings_tensor({"two\nlines", "\xff\xfe", "word 59999"})));
    add(integers(Tensor{7, 7, 42, 1}));
    add(texts(pre::strings_tensor({"red fish, red", "unknown"})));
    add(ranges(Tensor{0.0f, 3.5f, 9.0f}));
    add(scaled(Tensor(Shape{1, 2}, std::vector<float>{3, 40})));
    all.push_back(float(words.vocabulary_size()));
    return all;
  }
};

}  // namespace

// Workers serve before the coordinator adapts, and learn nothing by themselves.
DISTRIBUTE_CLUSTER_MAIN(tables_adapted_late) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  Tables tables;
  pre::StringLookup own, copied = own;
  RemoteDataset looked_up("looked_up", [&](const InputContext&) {
    return data::Dataset::from_tensor_slices(pre::strings_tensor({"blue", "red"}))
        .map([&](const data::Batch& word) {
          return data::Batch{tables.words(word.x), word.x};
        })
        .batch(2)
        .repeat();
  });
  RemoteFunction ready("ready", [] { return experimental_get_current_worker_index(); });
  RemoteFunction step("step", [&](data::Iterator& iterator) {
    const data::Batch batch = iterator.next();
    std::vector<float> all = tables.answers();
    for (const float number : batch.x.to_vector()) all.push_back(number);
    for (const auto& table : {own, copied})
      for (const float number : table(pre::strings_tensor({"mine"})).to_vector())
        all.push_back(number);
    return std::tuple{experimental_get_current_worker_index(),
                      Tensor(Shape{int64_t(all.size())}, all)};
  });
  // Learned by every task: no vocabulary but its own.
  own.adapt(pre::strings_tensor({"mine"}));
  if (resolver.task_type() != TaskType::Chief)
    return task.set_result(std::to_string(Server(strategy).join()));

  ClusterCoordinator coordinator(strategy);
  std::set<int> workers;
  while (workers.size() < 2) workers.insert(coordinator.schedule(ready).fetch());
  tables.adapt();
  tables.adapt();  // to the same data
  copied = own;
  std::vector<float> wanted = tables.answers();
  wanted.insert(wanted.end(), {3, 1, 1, 1});
  const auto data = coordinator.create_per_worker_dataset(looked_up);
  std::string wrong;
  workers.clear();
  while (workers.size() < 2 && wrong.empty()) {
    const auto [worker, got] = coordinator.schedule(step, data).fetch();
    workers.insert(worker);
    if (got.to_vector() != wanted) wrong = " worker " + std::to_string(worker);
  }
  try {
    tables.words.adapt(pre::strings_tensor({"other"}));
    wrong += " learned twice";
  } catch (const FailedPreconditionError& error) {
    if (std::string(error.what()).find("make another one") == std::string::npos)
      wrong += error.what();
  }
  if (tables.words(pre::strings_tensor({"red"})).to_vector() != std::vector<float>{1})
    wrong += " forgot";
  task.set_result("tables:" + wrong);
}

TEST_CASE("workers use the tables that the coordinator adapts after they have joined",
          "[coordinator][learned_tables][multiproc]") {
  ProcessCluster cluster({.workers = 2,
                          .parameter_servers = 1,
                          .chief = true,
                          .function = "tables_adapted_late",
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  CHECK(outcomes[0].result == "tables:");
}

// A coordinator that never adapts.
DISTRIBUTE_CLUSTER_MAIN(tables_never_adapted) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  const pre::StringLookup table;
  RemoteFunction step("step", [&] { return table(pre::strings_tensor({"a"})); });
  if (resolver.task_type() != TaskType::Chief)
    return task.set_result(std::to_string(Server(strategy).join()));
  ClusterCoordinator coordinator(strategy);
  coordinator.schedule(step);
  try {
    coordinator.join();
    task.set_result("no error");
  } catch (const Error& error) {
    task.set_result(error.what());
  }
}

TEST_CASE("a worker whose coordinator never adapts its table says so",
          "[coordinator][learned_tables][multiproc]") {
  ProcessCluster cluster(
      {.workers = 1,
       .parameter_servers = 1,
       .chief = true,
       .function = "tables_never_adapted",
       .environment = {{"OMP_NUM_THREADS", "1"}, {"DISTRIBUTE_STARTUP_TIMEOUT", "3"}},
       .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  const std::string said = outcomes[0].result.value_or("");
  INFO(said);
  CHECK(said.find("worker 0 has waited 3 s for the chief") != std::string::npos);
  CHECK(said.find("to adapt its StringLookup: is it running?") != std::string::npos);
}

// As in Keras: "Table not initialized".
TEST_CASE("a table that has learned nothing is an error", "[coordinator][learned_tables]") {
  const Tensor words = pre::strings_tensor({"a"});
  check_throws<FailedPreconditionError>([&] { pre::StringLookup()(words); }, "call adapt() first");
  check_throws<FailedPreconditionError>([&] { pre::TextVectorization()(words); }, "adapt() first");
  check_throws<FailedPreconditionError>([&] { pre::StringLookup({.invert = true})(Tensor{0}); },
                                        "call adapt() first");
  check_throws<FailedPreconditionError>([&] { pre::Discretization({.num_bins = 2})(Tensor{1.0f}); },
                                        "call adapt() first");
  CHECK(pre::StringLookup().get_vocabulary() == std::vector<std::string>{"[UNK]"});
}
