// The how-to pages of docs/ show lines of this file; tools/check_programs.py compares them.
#include <distribute/distribute.hpp>
#include <distribute/saving.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <Eigen/Dense>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

namespace dist = distribute;
namespace nn = distribute::nn;
namespace train = distribute::train;

namespace {

const std::string kDigits = distribute::testing::source_dir() + "/examples/mnist_cnn/data";

/// Eight examples with y = 2 x, in batches of four.
dist::data::Dataset line_examples() {
  const dist::Tensor x(dist::Shape{8, 1}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  return dist::data::Dataset::from_tensor_slices(x * 0.25f, x * 0.5f).batch(4);
}

}  // namespace

// ---- README.md ---------------------------------------------------------------------------------

TEST_CASE("the README's lines turn a loop for one device into one for several", "[docs][how_to]") {
  const auto dataset = line_examples();
  nn::Sequential model(nn::Dense({.units = 1}));
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto loss = nn::compute_average_loss(nn::mean_squared_error(batch.y, model(batch.x)), 4);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    return loss;
  };
  for (auto batch : dataset) train_step(batch);
  CHECK(optimizer.iterations() == 2);
}

TEST_CASE("the README's lines run the step on each replica", "[docs][how_to]") {
  const auto dataset = line_examples();
  dist::MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 1}));
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto loss = nn::compute_average_loss(nn::mean_squared_error(batch.y, model(batch.x)), 4);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    return loss;
  };
  for (auto batch : strategy.experimental_distribute_dataset(dataset))
    strategy.run(train_step, batch);
  CHECK(optimizer.iterations() == 2);
}

TEST_CASE("the README's run_main gives the status of an error", "[docs][how_to]") {
  const auto train = [] { dist::data::load_mnist("no/such/folder"); };
  CHECK(dist::run_main([&] { train(); }) == dist::kExitFailed);
}

// ---- docs/tensors.md ---------------------------------------------------------------------------

TEST_CASE("the page makes tensors", "[docs][how_to]") {
  const dist::Tensor scalar(2.5f);                // shape []
  const dist::Tensor vector({1.0f, 2.0f, 3.0f});  // shape [3]
  const dist::Tensor counts({1, 2, 3});           // int32, the type of the values
  const dist::Tensor matrix{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  const dist::Tensor same(dist::Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const dist::Tensor zeros = dist::zeros({2, 3});
  const dist::Tensor sevens = dist::fill({2, 3}, 7);  // int32; of 7.0 float32
  const dist::Tensor noise = dist::random::normal({2, 3}, /*seed=*/1, {.stddev = 0.1});

  CHECK(scalar.shape() == dist::Shape{});
  CHECK(vector.shape() == dist::Shape{3});
  CHECK(counts.dtype() == dist::DType::Int32);
  CHECK(same.to_vector() == matrix.to_vector());
  CHECK(zeros.shape() == matrix.shape());
  CHECK(sevens.to_vector() == std::vector<float>(6, 7.0f));
  CHECK(sevens.dtype() == dist::DType::Int32);
  CHECK(noise.num_elements() == 6);
}

TEST_CASE("the page prints and reads tensors", "[docs][how_to]") {
  const dist::Tensor matrix{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  const std::string text = to_string(matrix);
  const int64_t rows = matrix.shape()[0];                        // 2
  const std::span<const float> elements = matrix.data<float>();  // row-major, not copied
  const std::vector<float> copy = matrix.to_vector();
  const float sum = dist::reduce_sum(matrix).item<float>();  // 21

  CHECK(text == "Tensor([2, 3], float32, /device:CPU:0) [[1, 2, 3], [4, 5, 6]]");
  CHECK(rows == 2);
  CHECK(elements[5] == 6);
  CHECK(copy.size() == 6);
  CHECK(sum == 21);
}

TEST_CASE("the page takes parts of tensors", "[docs][how_to]") {
  const dist::Tensor matrix{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  const auto second = matrix[1];                                          // [3]: matrix[1]
  const auto second_row = dist::strided_slice(matrix, {{1, 2}});          // [1, 3]: matrix[1:2]
  const auto last_column = dist::slice(matrix, {0, 2}, {-1, 1});          // [2, 1]: begin, size
  const auto reversed = dist::strided_slice(matrix, {{}, {.step = -1}});  // matrix[:, ::-1]
  const auto picked = dist::gather(matrix, dist::Tensor({2, 0}), 1);      // columns 2 and 0
  const auto column = dist::squeeze(last_column, {1});                    // [2]

  CHECK(second.to_vector() == std::vector<float>{4, 5, 6});
  CHECK(second_row.shape() == dist::Shape{1, 3});
  CHECK(last_column.to_vector() == std::vector<float>{3, 6});
  CHECK(reversed.to_vector() == std::vector<float>{3, 2, 1, 6, 5, 4});
  CHECK(picked.to_vector() == std::vector<float>{3, 1, 6, 4});
  CHECK(column.shape() == dist::Shape{2});
  // The table of the page.
  const dist::Tensor x(dist::Shape{4, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(dist::strided_slice(x, {{2, 5}}).to_vector() == x.rows(2, 4).to_vector());
  CHECK(dist::strided_slice(x, {{}, {1, 3}}).to_vector() == std::vector<float>{1, 3, 5, 7});
  CHECK(dist::strided_slice(x, {{.step = -1}}).to_vector()[0] == 6);
  CHECK(x[2].to_vector() == std::vector<float>{4, 5});
  CHECK(x[2][0].item<float>() == 4);
  CHECK(x[-1].to_vector() == std::vector<float>{6, 7});
  dist::GradientTape tape;
  tape.watch(x);
  const auto part = x[2];
  CHECK(tape.gradient(part * part, x).to_vector() == std::vector<float>{0, 0, 0, 0, 8, 10, 0, 0});
  CHECK(dist::expand_dims(x, -1).shape() == dist::Shape{4, 2, 1});
}

TEST_CASE("the page computes with tensors", "[docs][how_to]") {
  const dist::Tensor matrix{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  const auto scaled = matrix * 2.0f + 1.0f;                            // element by element
  const auto centered = matrix - dist::reduce_mean(matrix, {0});       // [3] is broadcast
  const auto product = dist::matmul(matrix, dist::transpose(matrix));  // [2, 2]
  const auto halves = dist::cast(matrix, dist::DType::Float16);

  CHECK(scaled.to_vector()[0] == 3);
  CHECK(centered.to_vector()[0] == -1.5f);
  CHECK(product.to_vector() == std::vector<float>{14, 32, 32, 77});
  CHECK(halves.dtype() == dist::DType::Float16);
  CHECK_THROWS_AS(matrix + dist::Tensor(1), dist::InvalidArgumentError);
}

TEST_CASE("the page's tensors and Eigen's share memory", "[docs][how_to]") {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const dist::Tensor tensor(dist::Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  // Eigen reads the tensor's memory, which lives as long as the tensor.
  const Eigen::Map<const RowMajor> view(tensor.data<float>().data(), 2, 3);
  const RowMajor doubled = 2.0f * view;
  // The way back copies.
  const dist::Tensor result(dist::Shape{2, 3},
                            std::span<const float>(doubled.data(), size_t(doubled.size())));

  CHECK(result.to_vector() == std::vector<float>{2, 4, 6, 8, 10, 12});
}

TEST_CASE("the page's tensor stands on the program's own memory", "[docs][how_to]") {
  using dist::experimental::dlpack::DLManagedTensor;
  struct Owner {
    DLManagedTensor managed;
    int64_t shape[2] = {2, 3};
    float* memory = nullptr;
  };
  static int freed = 0;
  freed = 0;

  auto* owner = new Owner;
  owner->memory = static_cast<float*>(std::aligned_alloc(64, 64));
  for (int i = 0; i < 6; ++i) owner->memory[i] = float(i);
  owner->managed.dl_tensor.data = owner->memory;  // float32 in host memory by default
  owner->managed.dl_tensor.ndim = 2;
  owner->managed.dl_tensor.shape = owner->shape;
  owner->managed.manager_ctx = owner;
  owner->managed.deleter = [](DLManagedTensor* managed) {  // called once, when the tensor is gone
    auto* mine = static_cast<Owner*>(managed->manager_ctx);
    std::free(mine->memory);
    delete mine;
    ++freed;
  };
  {
    const dist::Tensor tensor = dist::experimental::dlpack::from_dlpack(&owner->managed);
    CHECK(tensor.data<float>().data() == owner->memory);  // nothing was copied
    CHECK(dist::reduce_sum(tensor).item<float>() == 15);
  }
  CHECK(freed == 1);

  const dist::Tensor ours({1.0f, 2.0f});
  DLManagedTensor* theirs = dist::experimental::dlpack::to_dlpack(ours);
  CHECK(theirs->dl_tensor.data == ours.data<float>().data());
  theirs->deleter(theirs);  // the reader calls it
}

TEST_CASE("the page's tape gives the gradient of a variable", "[docs][how_to]") {
  const dist::Variable weight(dist::Tensor({1.0f, 2.0f}), {.name = "weight"});
  dist::GradientTape tape;
  const auto loss = dist::reduce_sum(dist::square(weight.value()));
  const dist::Tensor gradient = tape.gradient(loss, weight);  // 2 w
  weight.assign_sub(gradient * 0.1f);

  CHECK(gradient.to_vector() == std::vector<float>{2, 4});
  CHECK(weight.value().to_vector() == std::vector<float>{0.8f, 1.6f});
}

// ---- docs/your_own.md --------------------------------------------------------------------------

/// y = scale x + offset, with one number of each for a feature.
class Affine : public nn::Module {
 public:
  explicit Affine(std::string name = {}) : Module(std::move(name)) {}

 private:
  void build(const dist::Shape& input) override {  // [batch, ..., features], at the first call
    const dist::Shape features{input[-1]};
    scale_ = add_weight("scale", features, nn::initializers::ones());
    offset_ = add_weight("offset", features, nn::initializers::zeros());
  }
  dist::Tensor call(const dist::Tensor& x, nn::CallOptions) override {
    return x * scale_.value() + offset_.value();
  }
  std::string kind() const override { return "affine"; }

  dist::Variable scale_, offset_;
};

/// Two dense layers whose result is added to the input.
class ResidualBlock : public nn::Module {
 public:
  explicit ResidualBlock(int64_t width) : width_(width) {}

 private:
  dist::Tensor call(const dist::Tensor& x, nn::CallOptions options) override {
    return x + second_(first_(x, options), options);
  }
  std::string kind() const override { return "residual_block"; }

  int64_t width_;
  nn::Dense& first_ = add("first", nn::Dense({.units = width_, .activation = nn::relu}));
  nn::Dense& second_ = add("second", nn::Dense({.units = width_}));
};

/// The mean of |y - prediction|^1.5 over the last axis.
class PowerLoss : public nn::Loss {
 public:
  explicit PowerLoss(nn::Reduction reduction = nn::Reduction::Auto) : Loss(reduction) {}

 private:
  dist::Tensor call(const dist::Tensor& y_true, const dist::Tensor& y_pred) const override {
    return dist::reduce_mean(dist::pow(dist::abs(y_true - y_pred), 1.5f), {-1});
  }
};

/// The sum of the absolute errors of all examples.
class SumOfErrors : public nn::metrics::Metric {
 public:
  explicit SumOfErrors(std::string name = "sum_of_errors") : Metric(std::move(name)) {
    set_direction(nn::metrics::Direction::Down);  // callbacks that watch it take smaller as better
  }
  void update_state(const dist::Tensor& y_true, const dist::Tensor& y_pred,
                    const dist::Tensor& sample_weight = {}) {
    auto errors = dist::abs(y_true - y_pred);
    if (sample_weight) errors = errors * sample_weight;
    total_.assign_add(dist::reduce_sum(errors));
  }
  dist::Tensor result() const override { return total_.value(); }

 private:
  dist::Variable total_ = add_variable("total");
};

/// Ends the training at the first epoch whose loss is below a goal.
class StopAtLoss : public train::Callback {
 public:
  explicit StopAtLoss(double goal) : goal_(goal) {}
  void on_epoch_end(int64_t epoch, train::Logs& logs) override {
    if (logs.at("loss") >= goal_) return;
    std::printf("the goal is reached in epoch %lld\n", static_cast<long long>(epoch + 1));
    model().stop_training();
  }

 private:
  double goal_;
};

/// Gradient descent with one slot, "momentum": m = 0.9 m + g, w -= rate m.
class HeavyBall : public dist::optim::Optimizer {
 public:
  explicit HeavyBall(float rate) : Optimizer({.learning_rate = rate}) {}
  std::string class_name() const override { return "HeavyBall"; }

 protected:
  std::vector<Slot> slots() const override { return {{"momentum"}}; }
  dist::optim::ElementKernel kernel(float rate, int64_t /*step*/) const override {
    return dist::optim::ElementKernel(
        [rate](float* weights, float* const* slots, const float* gradient, int64_t count) {
          float* momentum = slots[0];
          for (int64_t i = 0; i < count; ++i) {
            momentum[i] = 0.9f * momentum[i] + gradient[i];
            weights[i] -= rate * momentum[i];
          }
        });
  }
};

TEST_CASE("the page's own parts train together", "[docs][how_to]") {
  dist::random::set_seed(1);
  dist::MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::Sequential network(nn::Dense({.units = 4}), Affine(), ResidualBlock(4),
                         nn::Dense({.units = 1}));
  HeavyBall optimizer(0.01f);
  train::Model model(network);
  model.compile({.optimizer = optimizer, .loss = PowerLoss(), .metrics = {SumOfErrors()}});
  const auto history =
      model.fit(line_examples(),
                {.epochs = 40, .callbacks = {StopAtLoss(0.05)}, .verbose = train::Verbose::Silent});

  const auto& losses = history.history.at("loss");
  CHECK(losses.back() < losses.front() / 4);
  CHECK(history.history.contains("sum_of_errors"));
  CHECK(network.count_params() == 8 + 8 + 40 + 5);
}

TEST_CASE("the page's own activation has its own gradient", "[docs][how_to]") {
  /// log(1 + exp(x)), whose gradient would overflow if it were derived from the formula.
  const auto log1p_exp = [](const dist::Tensor& x) {
    return dist::custom_gradient(
        [](const std::vector<dist::Tensor>& inputs) {
          const auto e = dist::exp(inputs[0]);
          return dist::ValueAndGradient{
              dist::log(1.0f + e), [e](const dist::Tensor& upstream) {
                return std::vector<dist::Tensor>{upstream * (1 - 1 / (1 + e))};
              }};
        },
        {x});
  };

  const dist::Tensor x(100.0f);
  dist::GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(log1p_exp(x), x).item<float>() == 1);
}

// ---- docs/checkpoints.md -----------------------------------------------------------------------

TEST_CASE("the page saves, restores and looks into checkpoints", "[docs][how_to]") {
  const TemporaryDirectory place;
  const std::string directory = place / "ckpt";
  nn::Sequential model(nn::Dense({.units = 2}));
  model(dist::ones({1, 3}));
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  auto batches = dist::data::Dataset::range(100).shuffle(100, {.seed = 1}).iterator();
  const dist::Variable step(dist::Tensor(int64_t{0}), {.name = "step", .trainable = false});

  train::Checkpoint checkpoint({{"model", &model},
                                {"optimizer", &optimizer},
                                {"step", step},
                                {"batches", train::state_of(batches)}});
  train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 3});
  const auto path = manager.restore_latest();  // nothing at the first start
  for (int i = 0; i < 5; ++i) {
    batches.next();
    step.assign_add(int64_t{1});
    manager.save();
  }

  CHECK_FALSE(path);
  CHECK(train::latest_checkpoint(directory) == directory + "/ckpt-5");
  CHECK_FALSE(std::filesystem::exists(directory + "/ckpt-2.index"));

  train::BundleReader reader(*train::latest_checkpoint(directory));
  for (const std::string& name : reader.keys())
    if (name.ends_with(".ATTRIBUTES/VARIABLE_VALUE"))
      std::printf("%s %s\n", name.c_str(), train::type_text(reader.entry(name)).c_str());
  CHECK(reader.contains("model/dense/kernel/.ATTRIBUTES/VARIABLE_VALUE"));

  // A program that needs only the weights: what it does not restore is no reason for a warning.
  nn::Sequential other(nn::Dense({.units = 2}));
  train::Checkpoint({{"model", other}})
      .restore(*train::latest_checkpoint(directory))
      .expect_partial();
  CHECK(other(dist::ones({1, 3})).to_vector() == model(dist::ones({1, 3})).to_vector());

  // In the background: the call returns when the values are taken.
  checkpoint.save(place / "later", {.enable_async = true});
  checkpoint.sync();
  CHECK(std::filesystem::exists((place / "later-6") + ".index"));
}

// ---- docs/mixed_precision.md -------------------------------------------------------------------

TEST_CASE("the page trains in mixed precision", "[docs][how_to]") {
  nn::set_global_policy("mixed_bfloat16");  // before the layers are made
  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 16, .activation = nn::relu}),
                         nn::Dense({.units = 10}));
  network.set_dtype_policy(nn::Policy("mixed_bfloat16"));  // or one model alone
  nn::set_global_policy("float32");

  const auto logits = network(dist::ones({2, 28, 28, 1}));
  CHECK(logits.dtype() == dist::DType::BFloat16);
  CHECK(network.variables()[0].dtype() == dist::DType::Float32);
}

TEST_CASE("the page's loop scales the loss for float16", "[docs][how_to]") {
  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 10}));
  network.set_dtype_policy(nn::Policy("mixed_float16"));
  dist::optim::SGD inner({.learning_rate = 0.05f});
  dist::optim::LossScaleOptimizer optimizer(inner);

  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto logits = dist::cast(network(batch.x, {.training = true}), dist::DType::Float32);
    const auto losses = nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses);
    optimizer.minimize(loss, network.trainable_variables(), tape);  // scales and unscales
    return loss;
  };
  const auto batch = dist::data::load_mnist(kDigits).batch(100).iterator().next();
  const float before = train_step(batch).item<float>();
  const float after = train_step(batch).item<float>();
  CHECK(after < before);
  CHECK(optimizer.loss_scale() == 32768);
}

// ---- docs/input_pipelines.md -------------------------------------------------------------------

TEST_CASE("the page reads a CSV file", "[docs][how_to]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "wine.csv";
  std::ofstream(path) << "acidity,sugar,quality\n7.4,1.9,5\n7.8,2.6,6\n11.2,1.9,7\n";

  // Batches of two rows: columns by name become features [2, 2], the label comes last.
  const auto wines = dist::data::make_csv_dataset(
                         path, 2, {.label_name = "quality", .num_epochs = 1, .shuffle = false})
                         .map([](const dist::data::Batch& rows) {
                           return dist::data::Batch{
                               dist::stack({rows["acidity"], rows["sugar"]}, 1), rows["quality"]};
                         });

  const auto first = wines.iterator().next();
  CHECK(first.x.to_vector() == std::vector<float>{7.4f, 1.9f, 7.8f, 2.6f});
  CHECK(first.y.to_vector() == std::vector<float>{5, 6});
}

// ---- docs/loading.md ---------------------------------------------------------------------------

TEST_CASE("the page takes over weights of PyTorch", "[docs][how_to]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  // What torch.nn.Linear(3, 2) saves: the weight is [out, in].
  const dist::Tensor weight(dist::Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  dist::saving::safetensors::save_file(
      {{"fc.weight", weight}, {"fc.bias", dist::Tensor({0.5f, -0.5f})}}, path);

  class Classifier : public nn::Module {
    dist::Tensor call(const dist::Tensor& x, nn::CallOptions options) override {
      return fc_(x, options);
    }
    nn::Dense& fc_ = add("fc", nn::Dense({.units = 2}));  // as the attribute of PyTorch's class
  };
  Classifier model;
  model(dist::zeros({1, 3}));  // weights exist after the first call
  dist::saving::load_weights(model, path, {.names = dist::saving::torch_names()});

  CHECK(model(dist::ones({1, 3})).to_vector() == std::vector<float>{6.5f, 14.5f});

  dist::saving::NameRules rules = dist::saving::torch_names();
  rules.weights.insert(rules.weights.begin(),
                       {"fc", "kernel", {"weight"}, dist::saving::layouts::linear()});
  rules.rename = [](const std::string& name) { return "model." + name; };
  dist::saving::save_weights(model, path, {.names = rules});
  CHECK(dist::saving::safetensors::load_file(path).tensors.contains("model.fc.weight"));
}
