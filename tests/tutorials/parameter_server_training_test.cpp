/// The tutorial "Parameter server training with ParameterServerStrategy": fit, then a loop of one's
/// own over strings. TF_CONFIG says which part a process has.
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/cluster_main.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <set>
#include <tuple>

#define main parameter_server_tutorial
// [tutorial]
#include <algorithm>
#include <cstdio>
#include <distribute/distribute.hpp>
#include <distribute/preprocessing.hpp>
#include <random>
namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;
namespace preprocessing = dist::preprocessing;

const std::vector<std::string> kFeatureVocab = {"avenger",   "ironman",  "batman",      "hulk",
                                                "spiderman", "kingkong", "wonder_woman"};
struct Examples {
  dist::Tensor features, label;
};

Examples feature_and_label_gen(int64_t num_examples, unsigned seed) {
  std::vector<std::string> features, labels;
  std::mt19937 random(seed);
  for (int64_t i = 0; i < num_examples; ++i) {
    const size_t row = features.size();
    std::sample(kFeatureVocab.begin(), kFeatureVocab.end(), std::back_inserter(features), 3,
                random);
    labels.push_back(features[row] == "avenger" ? "yes" : "no");  // the first word of the table
  }
  return {preprocessing::strings_tensor(features, {num_examples, 3}),
          preprocessing::strings_tensor(labels, {num_examples, 1})};
}

int main(int argc, char** argv) {
  const std::string working_dir = argc > 1 ? argv[1] : "/tmp/my_working_dir";
  dist::TFConfigClusterResolver cluster_resolver;
  dist::ParameterServerStrategy strategy(
      cluster_resolver, {.variable_partitioner = {.min_shard_bytes = 256 << 10, .max_shards = 2}});
  const auto scope = strategy.scope();

  // Training with Model.fit.
  nn::Sequential regression(nn::Dense({.units = 10}));
  dist::optim::SGD sgd({.learning_rate = 0.01});
  train::Model fitted(regression);
  fitted.compile({.optimizer = sgd, .loss = "mse", .steps_per_execution = 10});

  // Training with a loop of one's own: tables of strings, in every process.
  const preprocessing::StringLookup feature_lookup({.vocabulary = kFeatureVocab});
  const preprocessing::StringLookup label_lookup(
      {.num_oov_indices = 0, .vocabulary = {"yes", "no"}});
  const auto preprocess = [&](const Examples& raw) {
    return Examples{feature_lookup(raw.features), label_lookup(raw.label)};
  };
  dist::RemoteDataset dataset_fn("train", [&](const dist::InputContext&) {
    return dist::data::Dataset::from_tensor_slices(feature_and_label_gen(200, 1))
        .map(preprocess)
        .shuffle(200)
        .batch(32)
        .repeat();
  });

  // These variables are placed on parameter servers; the table of vectors is cut in two.
  nn::Sequential model(
      nn::Embedding({.input_dim = feature_lookup.vocabulary_size(), .output_dim = 16384}),
      nn::GlobalAveragePooling1D(),
      nn::Dense({.units = 1,
                 .activation = nn::sigmoid,
                 .kernel_regularizer = nn::regularizers::l2(1e-4)}));
  dist::optim::RMSprop optimizer({.learning_rate = 0.001});
  nn::metrics::Accuracy accuracy, eval_accuracy("eval_accuracy");
  const auto is_yes = [](const dist::Tensor& pred) {
    return dist::cast(dist::greater(pred, 0.5f), dist::DType::Int64);
  };

  dist::RemoteFunction step_fn("step_fn", [&](dist::DistributedIterator& iterator) {
    const auto replica_fn = [&](const Examples& batch) {
      dist::GradientTape tape;
      const auto pred = model(batch.features, {.training = true});
      const auto per_example_loss = nn::binary_crossentropy(batch.label, pred);
      const auto loss = nn::compute_average_loss(per_example_loss) +
                        nn::scale_regularization_loss(model.losses());
      const auto gradients = tape.gradient(loss, model.trainable_variables());
      optimizer.apply_gradients(gradients, model.trainable_variables());
      accuracy.update_state(batch.label, is_yes(pred));
      return loss;
    };
    const auto losses = strategy.run(replica_fn, iterator.next());
    return strategy.reduce(dist::ReduceOp::Sum, losses);
  });
  dist::RemoteFunction eval_step("eval_step", [&](dist::data::Iterator& iterator) {
    const Examples batch = iterator.next();
    eval_accuracy.update_state(batch.label, is_yes(model(batch.features)));
  });

  // Workers and servers serve until the coordinator has ended.
  if (cluster_resolver.task_type() != dist::TaskType::Chief) return dist::Server(strategy).join();

  const auto dataset = dist::data::Dataset::from_tensor_slices(dist::random::uniform({10, 10}, 1),
                                                               dist::random::uniform({10, 10}, 2))
                           .shuffle(10)
                           .repeat()
                           .batch(64)
                           .prefetch(2);
  fitted.fit(dataset,
             {.epochs = 5,
              .steps_per_epoch = 20,
              .callbacks = {train::TensorBoard({.log_dir = working_dir + "/log"}),
                            train::ModelCheckpoint({.filepath = working_dir + "/ckpt"}),
                            train::BackupAndRestore({.backup_dir = working_dir + "/backup"})}});

  dist::ClusterCoordinator coordinator(strategy);
  const auto per_worker_dataset = coordinator.create_per_worker_dataset(dataset_fn);
  for (int epoch = 0; epoch < 4; ++epoch) {
    accuracy.reset_state();
    for (int step = 0; step < 5; ++step) coordinator.schedule(step_fn, per_worker_dataset);
    coordinator.join();  // at the end of each epoch
    std::printf("Finished epoch %d, accuracy is %f.\n", epoch, accuracy.result().item<float>());
  }
  const auto loss = coordinator.schedule(step_fn, per_worker_dataset);
  std::printf("Final loss is %f\n", loss.fetch().item<float>());

  // Direct evaluation, by the coordinator.
  const auto eval_dataset = dist::data::Dataset::from_tensor_slices(feature_and_label_gen(16, 2))
                                .map(preprocess)
                                .batch(8);
  for (const Examples batch : eval_dataset)
    eval_accuracy.update_state(batch.label, is_yes(model(batch.features)));
  std::printf("Evaluation accuracy: %f\n", eval_accuracy.result().item<float>());
  for (const auto& part : model.variables())
    std::printf("%s on %s\n", to_string(part.shape()).c_str(), part.device().c_str());

  // Distributed evaluation, on the workers.
  eval_accuracy.reset_state();
  for (int step = 0; step < 2; ++step) coordinator.schedule(eval_step, per_worker_dataset);
  coordinator.join();
  std::printf("Evaluation accuracy: %f\n", eval_accuracy.result().item<float>());
  return 0;
}
// [tutorial]
#undef main

using namespace distribute::testing;

DISTRIBUTE_CLUSTER_MAIN(parameter_server_tutorial_task) {
  std::string directory = task.argument();
  char* words[] = {nullptr, directory.data()};
  task.set_result(std::to_string(parameter_server_tutorial(2, words)));
}

TEST_CASE("parameter server training, by fit and by a coordinator with tables of strings",
          "[tutorials][multiproc]") {
  const TemporaryDirectory directory;
  ProcessCluster cluster({.workers = 3,
                          .parameter_servers = 2,
                          .chief = true,
                          .function = "parameter_server_tutorial_task",
                          .argument = directory.path(),
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  for (const auto& outcome : outcomes) CHECK(outcome.result == "0");
  const std::string& out = outcomes[0].out;
  const auto number_after = [&](const char* mark, size_t from = 0) {
    const size_t at = out.find(mark, from);
    REQUIRE(at != std::string::npos);
    return std::atof(out.c_str() + at + std::string(mark).size());
  };
  CHECK(number_after("Finished epoch 3, accuracy is ") > 0.8);
  CHECK(number_after("Evaluation accuracy: ") > 0.8);
  CHECK(number_after("Evaluation accuracy: ", out.rfind("Evaluation")) > 0.8);
  CHECK(out.find("[4, 16384] on /job:ps/replica:0/task:1") != std::string::npos);
  CHECK(std::filesystem::exists(directory / "log/train"));
  CHECK(train::latest_checkpoint(directory.path()).has_value());
}

// As TensorFlow 2.21, whose StaticHashTable becomes a DistributedTable in the scope: the
// coordinator and every worker have a copy, in dataset functions and in steps.
DISTRIBUTE_CLUSTER_MAIN(tables_of_a_job) {
  dist::TFConfigClusterResolver resolver;
  dist::ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  std::vector<std::string> words = kFeatureVocab;
  const preprocessing::StringLookup strings({.vocabulary = words});
  const preprocessing::IntegerLookup integers({.vocabulary = {12, 1138, 42}});
  words.push_back("x");
  dist::RemoteDataset dataset("words", [&](const dist::InputContext&) {
    return dist::data::Dataset::from_tensor_slices(preprocessing::strings_tensor(words))
        .map([&](const dist::data::Batch& word) {
          return Examples{word.x, strings(word.x)};
        })
        .batch(8)
        .repeat();
  });
  dist::RemoteFunction step("step", [&](dist::data::Iterator& iterator) {
    const Examples batch = iterator.next();
    const dist::Tensor numbers =
        integers(dist::Tensor(dist::Shape{2}, std::vector<int64_t>{42, 5}));
    return std::tuple{dist::experimental_get_current_worker_index(), batch.label,
                      strings(batch.features), numbers};
  });
  if (resolver.task_type() != dist::TaskType::Chief)
    return task.set_result(std::to_string(dist::Server(strategy).join()));
  dist::ClusterCoordinator coordinator(strategy);
  const auto data = coordinator.create_per_worker_dataset(dataset);
  std::string wrong;
  std::set<int> workers;
  while (workers.size() < 2) {
    std::vector<decltype(coordinator.schedule(step, data))> results;
    for (int i = 0; i < 8; ++i) results.push_back(coordinator.schedule(step, data));
    for (const auto& result : results) {
      const auto [worker, mapped, looked_up, numbers] = result.fetch();
      workers.insert(worker);
      const std::vector<float> wanted{1, 2, 3, 4, 5, 6, 7, 0};
      if (mapped.to_vector() != wanted || looked_up.to_vector() != wanted) wrong += " strings";
      if (numbers.to_vector() != std::vector<float>{3, 0}) wrong += " integers";
    }
  }
  const dist::Tensor here = strings(preprocessing::strings_tensor({"batman", "none"}));
  if (here.to_vector() != std::vector<float>{3, 0}) wrong += " coordinator";
  task.set_result("tables:" + wrong);
}

TEST_CASE("coordinator and workers have the tables that are made in the scope",
          "[tutorials][multiproc]") {
  ProcessCluster cluster({.workers = 2,
                          .parameter_servers = 1,
                          .chief = true,
                          .function = "tables_of_a_job",
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  CHECK(outcomes[0].result == "tables:");
}
