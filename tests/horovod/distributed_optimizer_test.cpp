#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/horovod/horovod_support.hpp>

using namespace distribute;

namespace {

/// Rows [begin, end) of a small regression.
struct Rows {
  Tensor x, y;
  Rows(int begin, int end) {
    std::vector<float> inputs, outputs;
    for (int row = begin; row < end; ++row) {
      for (int i = 0; i < 4; ++i) inputs.push_back(std::sin(float(row * 5 + i * 3)));
      outputs.push_back(std::cos(float(row)));
    }
    x = Tensor(Shape{end - begin, 4}, inputs);
    y = Tensor(Shape{end - begin, 1}, outputs);
  }
};

struct Net {
  Variable w{Tensor(Shape{4, 1}, std::vector<float>{0.1f, -0.2f, 0.3f, 0.4f}), {.name = "w"}};
  Variable b{Tensor(Shape{1}, std::vector<float>{0.5f}), {.name = "b"}};
  std::vector<Variable> variables() const { return {w, b}; }
  Tensor loss(const Rows& rows) const {
    return reduce_mean(square(subtract(add(matmul(rows.x, w), b), rows.y)));
  }
  std::vector<float> values() const {
    std::vector<float> all = w.value().to_vector();
    all.push_back(b.value().to_vector()[0]);
    return all;
  }
};

template <typename Optimizer, typename Options>
std::vector<float> train_alone(const Options& options, int rows, int steps) {
  Net net;
  Optimizer optimizer(options);
  for (int step = 0; step < steps; ++step) {
    GradientTape tape;
    const Tensor loss = net.loss(Rows(step * rows, (step + 1) * rows));
    optimizer.minimize(loss, net.variables(), tape);
  }
  return net.values();
}

/// This rank's 4 of the 12 rows of a step.
Rows share(int step, int rank) { return Rows(step * 12 + rank * 4, step * 12 + rank * 4 + 4); }

template <typename Optimizer, typename Options>
std::vector<float> train_rank(int rank, const Options& options,
                              const hvd::DistributedOptimizerOptions& distributed, int steps,
                              bool overlapped) {
  Net net;
  Optimizer inner(options);
  hvd::DistributedOptimizer optimizer(inner, distributed);
  for (int step = 0; step < steps; ++step) {
    GradientTape tape;
    const Tensor loss = net.loss(share(step, rank));
    const int64_t number = overlapped ? optimizer.minimize(loss, net.variables(), tape)
                                      : optimizer.apply_gradients(
                                            tape.gradient(loss, net.variables()), net.variables());
    require(number == step + 1, "the number of the step");
  }
  return net.values();
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(double(a[i]) - double(b[i])));
  return worst;
}

}  // namespace

TEST_CASE("three ranks make the steps of one with three times the batch",
          "[horovod][distributed_optimizer]") {
  const auto sgd =
      train_alone<optim::SGD>(optim::SGDOptions{.learning_rate = 0.1, .momentum = 0.9}, 12, 8);
  const auto adam = train_alone<optim::Adam>(optim::AdamOptions{.learning_rate = 0.05}, 12, 8);
  run_clean_hvd(3, [&](int rank) {
    std::vector<std::vector<float>> results;
    for (bool overlapped : {false, true}) {
      const auto mine = train_rank<optim::SGD>(
          rank, optim::SGDOptions{.learning_rate = 0.1, .momentum = 0.9}, {}, 8, overlapped);
      require(distance(mine, sgd) < 1e-5, str_cat("sgd: ", distance(mine, sgd)));
      results.push_back(mine);
      const auto other = train_rank<optim::Adam>(rank, optim::AdamOptions{.learning_rate = 0.05},
                                                 {}, 8, overlapped);
      require(distance(other, adam) < 1e-4, str_cat("adam: ", distance(other, adam)));
    }
    require(results[0] == results[1], "the same bits");
  });
}

TEST_CASE("options of the distributed optimizer", "[horovod][distributed_optimizer]") {
  const optim::SGDOptions options{.learning_rate = 0.1};
  const auto alone = train_alone<optim::SGD>(options, 12, 6);
  run_clean_hvd(3, [&](int rank) {
    const auto train = [&](const hvd::DistributedOptimizerOptions& distributed) {
      return distance(train_rank<optim::SGD>(rank, options, distributed, 6, true), alone);
    };
    require(train({.gradient_predivide_factor = 3}) < 1e-6, "predivided");
    const double bf16 = train({.compression = hvd::Compression::Bf16});
    const double fp16 = train({.compression = hvd::Compression::Fp16});
    require(fp16 > 0 && fp16 < 1e-3, str_cat("fp16: ", fp16));
    require(bf16 > 0 && bf16 < 1e-2, str_cat("bf16: ", bf16));
    require(train({.op = hvd::Sum}) > 0.01, "a sum is not an average");
  });
}

TEST_CASE("several backward passes make one step", "[horovod][distributed_optimizer]") {
  run_clean_hvd(3, [&](int rank) {
    Net net;
    optim::SGD inner({.learning_rate = 0.1});
    hvd::DistributedOptimizer optimizer(
        inner, {.backward_passes_per_step = 2, .average_aggregated_gradients = true});
    for (int pass = 0; pass < 6; ++pass) {
      const auto before = net.values();
      GradientTape tape;
      // 2 of the 12 rows of a step, of which every rank sees 4 in two passes.
      const int first = pass / 2 * 12 + rank * 4 + pass % 2 * 2;
      const Tensor loss = net.loss(Rows(first, first + 2));
      const int64_t number = optimizer.minimize(loss, net.variables(), tape);
      require(number == (pass + 1) / 2, "the number of the step");
      require((net.values() == before) == (pass % 2 == 0), "weights change with the second pass");
    }
    const auto alone = train_alone<optim::SGD>(optim::SGDOptions{.learning_rate = 0.1}, 12, 3);
    require(distance(net.values(), alone) < 1e-6, "the same steps");
  });
}

TEST_CASE("a distributed tape gives averaged gradients", "[horovod][distributed_gradient_tape]") {
  run_clean_hvd(3, [&](int rank) {
    Net net;
    const Variable unused(Tensor(1.0f), {.name = "unused"});
    GradientTape tape;
    const Tensor loss = net.loss(share(0, rank));
    hvd::DistributedGradientTape distributed(tape);
    const auto gradients = distributed.gradient(loss, {net.w, unused, net.b});
    require(!gradients[1], "none stays none");
    GradientTape whole;
    const auto expected = whole.gradient(net.loss(Rows(0, 12)), net.variables());
    require(distance(gradients[0].to_vector(), expected[0].to_vector()) < 1e-6, "w");
    require(distance(gradients[2].to_vector(), expected[1].to_vector()) < 1e-6, "b");
  });
}

TEST_CASE("sparse gradients stay sparse, or travel dense", "[horovod][distributed_optimizer]") {
  const bool dense = GENERATE(false, true);
  run_clean_hvd(3, [&](int rank) {
    const Variable table(zeros({4, 2}), {.name = "table"});
    GradientTape tape;
    const Tensor loss = reduce_sum(gather(table, Tensor{int64_t{rank}, int64_t{3}}));
    hvd::DistributedGradientTape distributed(tape, {.op = hvd::Sum, .sparse_as_dense = dense});
    const Tensor gradient = distributed.gradient(loss, table);
    require(is_indexed_slices(gradient) != dense, "kind");
    require_values(gradient.row_major(), {1, 1, 1, 1, 1, 1, 3, 3}, "sum");
  });
}

TEST_CASE("wrong options are refused", "[horovod][distributed_optimizer]") {
  optim::SGD inner({.learning_rate = 0.1});
  CHECK_THROWS_AS(hvd::DistributedOptimizer(inner, {.backward_passes_per_step = 0}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(
      hvd::DistributedOptimizer(inner, {.op = hvd::Sum, .gradient_predivide_factor = 2}),
      InvalidArgumentError);
  optim::SGD clips_first({.clipnorm = 1.0, .clip_per_replica = true});
  CHECK_THROWS_AS(hvd::DistributedOptimizer(clips_first), InvalidArgumentError);
  CHECK_THROWS_AS(hvd::DistributedOptimizer(inner, {.gradient_predivide_factor = 0}),
                  InvalidArgumentError);
}
