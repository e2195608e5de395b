#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/same_bits.hpp>
#include <tests/support/thread_workers.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

using namespace distribute;
using Catch::Contains;

namespace {

enum class Step { Apply, ApplyHoldingWeights, Minimize };

/// Trains a small net on fixed data, global batch 12, and gives all weights after `steps` steps.
std::vector<float> train_net(Strategy& strategy, int steps, Step kind = Step::Apply,
                             const std::function<void(nn::Sequential&, int)>& between = {}) {
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 33, .activation = nn::tanh}), nn::Dense({.units = 4}));
  optim::Adam optimizer({.learning_rate = 0.01f});
  std::vector<float> x(12 * 5), y(12);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  for (size_t i = 0; i < y.size(); ++i) y[i] = float(i % 4);
  const Tensor images(Shape{12, 5}, x), labels = cast(Tensor(Shape{12}, y), DType::Int64);
  model(images);  // threads share the counter of seeds: weights of our own
  for (const Variable& variable : model.trainable_variables()) {
    std::vector<float> values(size_t(variable.shape().num_elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.3f * std::cos(float(i * i));
    variable.assign(Tensor(variable.shape(), values));
  }
  // Replica r trains on part r, whatever its worker.
  auto dataset = strategy.distribute_datasets_from_function([&](const InputContext& input) {
    const int64_t rows = 12 / input.num_input_pipelines(), first = rows * input.input_pipeline_id();
    return data::Dataset::from_tensor_slices(images.rows(first, first + rows),
                                             labels.rows(first, first + rows))
        .repeat()
        .batch(input.get_per_replica_batch_size(12));
  });
  auto iterator = dataset.iterator();
  for (int step = 0; step < steps; ++step) {
    strategy.run(
        [&](const data::Batch& batch) {
          GradientTape tape;
          const auto logits = model(batch.x, {.training = true});
          const auto losses =
              nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
          const auto loss = nn::compute_average_loss(losses, 12);
          const auto variables = model.trainable_variables();
          if (kind == Step::Minimize) {
            optimizer.minimize(loss, variables, tape);
            return;
          }
          std::vector<Tensor> held;
          if (kind == Step::ApplyHoldingWeights)
            for (const Variable& variable : variables) held.push_back(variable.value());
          const auto before = held.empty() ? std::vector<float>{} : held[0].to_vector();
          optimizer.apply_gradients(tape.gradient(loss, variables), variables);
          if (kind == Step::ApplyHoldingWeights)
            require(held[0].to_vector() == before, "an old value changed");
        },
        iterator.get_next());
    if (between) between(model, step);
  }
  std::vector<float> weights;
  for (const Variable& variable : model.trainable_variables())
    for (float w : variable.value().to_vector()) weights.push_back(w);
  return weights;
}

std::vector<float> train_mirrored(int replicas, int steps) {
  MirroredStrategy strategy({.num_replicas = replicas});
  return train_net(strategy, steps);
}

}  // namespace

TEST_CASE("replica ids are unique and contiguous over workers (case 59)",
          "[strategy][multi_worker]") {
  const int workers = GENERATE(1, 2, 3), replicas = GENERATE(1, 2);
  run_clean(workers, replicas, [&](Strategy& strategy, int w) {
    require(strategy.num_replicas_in_sync() == workers * replicas, "num_replicas_in_sync");
    const auto ids = strategy.run([] { return get_replica_context()->replica_id_in_sync_group(); });
    for (int i = 0; i < replicas; ++i) require(ids[size_t(i)] == w * replicas + i, "an id");
    const InputContext input = strategy.extended().input_context();
    require(input.num_input_pipelines() == workers && input.input_pipeline_id() == w, "the input");
    require(strategy.extended().should_checkpoint() == (w == 0), "the chief");
  });
}

TEST_CASE("variables start with the chief's value (case 60)", "[strategy][multi_worker]") {
  const int workers = GENERATE(2, 3), replicas = GENERATE(1, 2);
  run_clean(workers, replicas, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    const Variable v([w] { return fill(Shape{3}, float(w + 7)); });
    for (const Tensor& copy : strategy.experimental_local_results(v))
      require(copy.to_vector() == std::vector<float>{7, 7, 7}, "the value");
  });
}

TEST_CASE("workers that create different variables are told", "[strategy][multi_worker]") {
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    const Variable v(zeros({w == 1 ? 4 : 3}));
  });
  for (const std::string& error : errors) CHECK(error != "");
  CHECK_THAT(errors[1], Contains("float32 x 3") && Contains("float32 x 4"));
}

TEST_CASE("reduce, gather and all_reduce go over all workers", "[strategy][multi_worker]") {
  const int workers = GENERATE(2, 3), replicas = GENERATE(1, 2);
  const int n = workers * replicas;
  run_clean(workers, replicas, [&](Strategy& strategy, int) {
    const auto id = [] { return float(get_replica_context()->replica_id_in_sync_group()); };
    const auto values = strategy.run([&] { return fill(Shape{2}, id()); });
    const float sum = float(n * (n - 1) / 2);
    require(strategy.reduce(ReduceOp::Sum, values).to_vector() == std::vector<float>{sum, sum},
            "sum");
    require(strategy.reduce(ReduceOp::Mean, values).to_vector()[0] == sum / float(n), "mean");
    // Shapes (i + 1, 1): uneven (case 26).
    const auto uneven = strategy.run([&] { return fill({int64_t(id()) + 1, 1}, id()); });
    const Tensor gathered = strategy.gather(uneven, 0);
    require(gathered.shape() == Shape{n * (n + 1) / 2, 1}, "gather's shape");
    require(gathered.to_vector().back() == float(n - 1), "gather's last");
    require(strategy.reduce(ReduceOp::Mean, uneven, 0).to_vector()[0] ==
                gathered.to_vector().size() * 0.0f +
                    reduce_sum(gathered).item<float>() / float(n * (n + 1) / 2),
            "mean by the true count");
    const auto in_replica = strategy.run([&] {
      auto* context = get_replica_context();
      const Tensor all = context->all_gather(fill(Shape{1, 2}, id()), 0);
      return context->all_reduce(ReduceOp::Sum, fill(Shape{2}, id())) + reduce_sum(all);
    });
    for (const Tensor& one : in_replica.values())
      require(one.to_vector() == std::vector<float>{3 * sum, 3 * sum}, "in a replica");
  });
}

// With one replica each as in TensorFlow (worker_cases_test.cpp); TensorFlow knows no more on CPUs.
TEST_CASE("a plain tensor is a worker's own, on each of its replicas", "[strategy][multi_worker]") {
  run_clean(2, 2, [](Strategy& strategy, int w) {
    const float one = float(w + 1);
    const auto is = [](const Tensor& value, const std::vector<float>& want, const char* what) {
      require(value.to_vector() == want, what);
    };
    is(strategy.reduce("MEAN", one), {1.5f}, "the mean");
    is(strategy.reduce("SUM", Tensor{one, one + 1}, 0), {16}, "a sum over rows of four replicas");
    is(strategy.reduce("MEAN", Tensor{one, one + 1}, 0), {2}, "a mean over rows");
    is(strategy.gather(Tensor{one}, 0), {1, 2}, "each worker's once");
    for (const float value : {0.0f, one}) {  // refused whatever it is: on both workers, or none
      bool refused = false;
      try {
        strategy.reduce("SUM", value);
      } catch (const InvalidArgumentError&) {
        refused = true;
      }
      require(refused, "a sum that could mean two things");
    }
  });
}

TEST_CASE("a step inside of a merge_call trains as any other", "[strategy][multi_worker]") {
  const bool tcp = GENERATE(false, true);
  const int replicas = GENERATE(1, 2);
  const auto train = [&](bool inside) {
    std::vector<std::vector<float>> weights(2);
    const auto body = [&](Strategy& strategy, int w) {
      const auto scope = strategy.scope();
      const Variable weight(Tensor{1.0f, 2.0f, 3.0f});
      optim::Adam optimizer({.learning_rate = 0.1f});
      const auto step = [&] {
        const float id = float(get_replica_context()->replica_id_in_sync_group());
        GradientTape tape;
        const Tensor value = weight.value();
        optimizer.minimize(reduce_sum(value * value * (id + 1)), {weight}, tape);
      };
      for (int i = 0; i < 8; ++i)
        strategy.run([&] {
          step();
          if (!inside) return step();
          get_replica_context()->merge_call([&](Strategy& merged) { merged.run(step); });
        });
      weights[size_t(w)] = weight.value().to_vector();
    };
    run_clean(2, replicas, body, {.tcp = tcp});
    CHECK(same_bits(weights[0], weights[1]));
    return weights[0];
  };
  CHECK(same_bits(train(true), train(false)));
}

TEST_CASE("training has the same bits however replicas are dealt to workers",
          "[strategy][multi_worker]") {
  const auto [workers, replicas] = GENERATE(std::pair(1, 1), std::pair(2, 1), std::pair(1, 2),
                                            std::pair(3, 1), std::pair(2, 2), std::pair(4, 1));
  const bool tcp = GENERATE(false, true);
  const int64_t bytes_per_pack = GENERATE(0, 1, 5000);
  CAPTURE(workers, replicas, tcp, bytes_per_pack);
  const auto want = train_mirrored(workers * replicas, 12);
  run_clean(workers, replicas,
            [&](Strategy& strategy, int) {
              require(same_bits(train_net(strategy, 12), want), "the weights");
              require(same_bits(train_net(strategy, 12, Step::Minimize), want), "by minimize");
            },
            {tcp, {.bytes_per_pack = bytes_per_pack}});
}

TEST_CASE("gradients that travel as bfloat16 train nearly the same weights",
          "[strategy][multi_worker]") {
  const auto want = train_mirrored(2, 12);
  run_clean(2, 1,
            [&](Strategy& strategy, int) {
              const auto got = train_net(strategy, 12, Step::Minimize);
              require(!same_bits(got, want), "it is an approximation");
              for (size_t i = 0; i < got.size(); ++i)
                require(std::abs(got[i] - want[i]) < 0.03f, "a weight");
            },
            {true, {.bfloat16_gradients = true}});
}

TEST_CASE("weights that are still held elsewhere do not change there", "[strategy][multi_worker]") {
  const auto want = train_mirrored(2, 10);
  run_clean(2, 1, [&](Strategy& strategy, int) {
    require(same_bits(train_net(strategy, 10, Step::ApplyHoldingWeights), want), "the weights");
  });
}

TEST_CASE("weights assigned between steps count", "[strategy][multi_worker]") {
  const auto halve = [](nn::Sequential& model, int step) {
    if (step != 5) return;
    for (const Variable& variable : model.trainable_variables())
      variable.assign(variable.value() * 0.5f);
  };
  MirroredStrategy strategy({.num_replicas = 2});
  const auto want = train_net(strategy, 12, Step::Apply, halve);
  run_clean(2, 1, [&](Strategy& worker, int) {
    require(same_bits(train_net(worker, 12, Step::Apply, halve), want), "the weights");
  });
}

namespace {

/// Steps of two optimizers over one variable, over two and again over one, in stretches and in
/// turn. Gives the weights at the end.
std::vector<float> train_in_turn(Strategy& strategy) {
  const auto scope = strategy.scope();
  const Variable a(fill({3, 37}, 0.5f), {.name = "a"}), b(fill({700, 30}, 0.25f), {.name = "b"});
  optim::SGD plain({.learning_rate = 0.1f}), moving({.learning_rate = 0.1f, .momentum = 0.9f});
  const auto step = [&](optim::Optimizer& optimizer, const std::vector<Variable>& variables,
                        int n) {
    strategy.run([&] {
      const int replica = get_replica_context()->replica_id_in_sync_group();
      std::vector<Tensor> gradients;
      for (const Variable& variable : variables)
        gradients.push_back(fill(variable.shape(), 0.01f * float((replica + 1) * (n % 5 + 1))));
      optimizer.apply_gradients(gradients, variables);
    });
  };
  for (int n = 0; n < 40; ++n) {
    const int kind = n < 24 ? n / 6 : n % 4;
    if (kind == 0) step(plain, {a}, n);
    if (kind == 1) step(moving, {a}, n);
    if (kind == 2) step(moving, {a, b}, n);
    if (kind == 3) step(plain, {b, a}, n);
  }
  std::vector<float> weights;
  for (const Variable& variable : {a, b})
    for (float w : variable.value().to_vector()) weights.push_back(w);
  return weights;
}

}  // namespace

TEST_CASE("optimizers and variables that change from step to step find their own values",
          "[strategy][multi_worker]") {
  const int replicas = GENERATE(1, 2);
  MirroredStrategy strategy({.num_replicas = 2 * replicas});
  const auto want = train_in_turn(strategy);
  run_clean(2, replicas, [&](Strategy& worker, int) {
    require(same_bits(train_in_turn(worker), want), "the weights");
  });
}

TEST_CASE("sync-on-read variables aggregate over all workers", "[strategy][multi_worker]") {
  const int workers = GENERATE(2, 3), replicas = GENERATE(1, 2);
  const float n = float(workers * replicas);
  run_clean(workers, replicas, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    const Variable sum(Tensor(0.0f), {.synchronization = VariableSynchronization::OnRead,
                                      .aggregation = VariableAggregation::Sum});
    const Variable mean(Tensor(0.0f), {.synchronization = VariableSynchronization::OnRead,
                                       .aggregation = VariableAggregation::Mean});
    const Variable mirrored(Tensor(1.0f), {.aggregation = VariableAggregation::Sum});
    strategy.run([&] {
      const Tensor id(float(get_replica_context()->replica_id_in_sync_group()));
      sum.assign(id);
      mean.assign(id);
      mirrored.assign_add(id);
    });
    require(sum.value().item<float>() == n * (n - 1) / 2, "sum");
    require(mean.value().item<float>() == (n - 1) / 2, "mean");
    require(mirrored.value().item<float>() == 1 + n * (n - 1) / 2, "mirrored");
    sum.assign(Tensor(n));
    const auto parts = strategy.experimental_local_results(sum);
    require(parts[0].item<float>() == 1, "assign with SUM gives each replica its share");
  });
}

TEST_CASE("metrics count the examples of all workers", "[strategy][multi_worker]") {
  const int workers = GENERATE(2, 3), replicas = GENERATE(1, 2);
  const int n = workers * replicas;
  run_clean(workers, replicas, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    nn::metrics::Mean mean;
    strategy.run([&] {
      const int id = get_replica_context()->replica_id_in_sync_group();
      mean.update_state(fill({id + 1}, float(id)));  // uneven numbers of examples
    });
    double sum = 0, count = 0;
    for (int id = 0; id < n; ++id) sum += double(id * (id + 1)), count += id + 1;
    require(std::abs(mean.result().item<float>() - sum / count) < 1e-6, "the mean");
  });
}

TEST_CASE("batch norm: synchronized over all replicas, else of each, moving values are averaged",
          "[strategy][multi_worker]") {
  const bool synchronized = GENERATE(false, true);
  const auto train = [&](Strategy& strategy) {
    const auto scope = strategy.scope();
    nn::BatchNormalization norm({.momentum = 0.5f, .synchronized = synchronized});
    std::vector<float> out;
    strategy.run([&] {
      const int id = get_replica_context()->replica_id_in_sync_group();
      norm(fill({4, 3}, float(id)) + Tensor{0.5f, 1.0f, 2.0f}, {.training = true});
    });
    for (const Variable& variable : norm.variables())
      for (float x : variable.value().to_vector()) out.push_back(x);
    return out;
  };
  MirroredStrategy mirrored({.num_replicas = 4});
  const auto want = train(mirrored);
  for (const auto& [workers, replicas] : {std::pair(4, 1), std::pair(2, 2)})
    run_clean(workers, replicas,
              [&](Strategy& strategy, int) { require(same_bits(train(strategy), want), "bits"); });
}

TEST_CASE("a worker whose data ends first takes part with empty batches (cases 68, 72, 75)",
          "[strategy][multi_worker]") {
  std::vector<std::vector<int64_t>> rows(2);
  run_clean(2, 1, [&](Strategy& strategy, int w) {
    auto numbers = data::Dataset::range(9).batch(2);
    auto dataset = strategy.experimental_distribute_dataset(numbers);
    float total = 0;
    for (const auto& batch : dataset) {
      rows[size_t(w)].push_back(batch[0].x.shape()[0]);
      const auto part = strategy.run(
          [](const data::Batch& b) { return reduce_sum(cast(b.x, DType::Float32)); }, batch);
      total += strategy.reduce(ReduceOp::Sum, part).item<float>();
    }
    require(total == 36, "every element once");
  });
  CHECK(rows[0].size() == rows[1].size());
}

TEST_CASE("an error of one worker's replica reaches the others", "[strategy][multi_worker]") {
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    for (int step = 0; step < 5; ++step)
      strategy.run([&] {
        if (w == 1 && step == 3) throw ResourceExhaustedError("no memory for the batch");
        get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f));
      });
  });
  CHECK_THAT(errors[1], Contains("no memory for the batch"));
  CHECK(errors[0] != "");
  CHECK(errors[2] != "");
}

TEST_CASE("different variables in one step: all workers see the first difference",
          "[strategy][multi_worker]") {
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    const Variable a(zeros({2}), {.name = "a"}), b(zeros({2}), {.name = "b"});
    optim::SGD optimizer({.learning_rate = 0.1f});
    strategy.run([&] {
      const std::vector<Variable> order = w == 2 ? std::vector{b, a} : std::vector{a, b};
      optimizer.apply_gradients({ones({2}), ones({2})}, order);
    });
  });
  for (const std::string& error : errors)
    CHECK_THAT(error, Contains("variable 'a'") && Contains("variable 'b'") && Contains("rank 2"));
}

TEST_CASE("a gradient that one worker lacks is named, and so is the cure",
          "[strategy][multi_worker]") {
  const auto errors = run_workers(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    const Variable a(zeros({2}), {.name = "a"}), b(zeros({2}), {.name = "b"});
    optim::SGD optimizer({.learning_rate = 0.1f});
    strategy.run([&] { optimizer.apply_gradients({ones({2}), w ? Tensor() : ones({2})}, {a, b}); });
  });
  CHECK_THAT(errors[0], Contains("variable 'b'"));
  CHECK_THAT(errors[1], Contains("has no gradient of 'b'") && Contains("find_unused_parameters"));
}

TEST_CASE("a gradient that one worker lacks in a later step is named on that worker",
          "[strategy][multi_worker]") {
  const auto errors = run_workers(2, 1, [&](Strategy& strategy, int w) {
    const auto scope = strategy.scope();
    const Variable a(zeros({2}), {.name = "a"}), b(zeros({2}), {.name = "b"});
    optim::SGD optimizer({.learning_rate = 0.1f});
    for (int step = 0; step < 4; ++step) {
      const Tensor second = w == 1 && step == 3 ? Tensor() : ones({2});
      strategy.run([&] { optimizer.apply_gradients({ones({2}), second}, {a, b}); });
    }
  });
  CHECK(errors[0] != "");
  CHECK_THAT(errors[1], Contains("has no gradient of 'b'") && Contains("find_unused_parameters"));
}

TEST_CASE("find_unused_parameters puts zeros for what other workers have",
          "[strategy][multi_worker]") {
  const int replicas = GENERATE(1, 2);
  run_clean(2, replicas, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    const Variable a(zeros({1}), {.name = "a"}), b(zeros({1}), {.name = "b"}),
        unused(zeros({1}), {.name = "unused"});
    optim::SGD optimizer({.learning_rate = 1.0, .momentum = 0.5});
    strategy.run([&] {
      const int id = get_replica_context()->replica_id_in_sync_group();
      optimizer.apply_gradients({Tensor{1.0}, id == 1 ? Tensor{3.0} : Tensor(), Tensor()},
                                {a, b, unused}, {.find_unused_parameters = true});
    });
    require(a.value().to_vector()[0] == -2.0f * float(replicas), "a");
    require(b.value().to_vector()[0] == -3, "b");
    require(unused.value().to_vector()[0] == 0, "unused");
  });
}

TEST_CASE("means of integers and metrics across replicas go over all workers",
          "[strategy][multi_worker]") {
  const int replicas = GENERATE(1, 2);
  run_clean(2, replicas, [&](Strategy& strategy, int) {
    const int n = 2 * replicas;
    const auto ids = strategy.run(
        [] { return Tensor(int32_t(get_replica_context()->replica_id_in_sync_group())); });
    const Tensor mean = strategy.reduce("MEAN", ids);
    require(mean.dtype() == DType::Float32, "the dtype");
    require(mean.item<float>() == float(n - 1) / 2, "the mean");
    const auto means = strategy.run([] {
      const int64_t id = get_replica_context()->replica_id_in_sync_group();
      return get_replica_context()->all_reduce(ReduceOp::Mean, Tensor(id));
    });
    require(means[0].item<float>() == float(n - 1) / 2, "the mean in replicas");
    require(strategy.reduce("SUM", Tensor{1, 2}, 0).item<int32_t>() == 3 * n, "a bare tensor");
    const auto scope = strategy.scope();
    nn::metrics::Mean metric;
    metric.update_state(Tensor(4.0));
    require(metric.result().item<float>() == 4, "the metric");
    require(nn::MeanSquaredError()(zeros({1, 1}), ones({1, 1})).item<float>() == 1.0f / float(n),
            "the loss");
  });
}
