#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>

#include <nlohmann/json.hpp>
#include <set>

#include "optim/formulas_support.hpp"

using namespace distribute;

namespace {

std::vector<std::unique_ptr<optim::Optimizer>> all_optimizers() {
  std::vector<std::unique_ptr<optim::Optimizer>> all;
  all.push_back(std::make_unique<optim::SGD>());
  all.push_back(std::make_unique<optim::SGD>(optim::SGDOptions{.momentum = 0.9}));
  all.push_back(std::make_unique<optim::SGD>(
      optim::SGDOptions{.learning_rate = 0.1f, .momentum = 0.9, .nesterov = true}));
  all.push_back(std::make_unique<optim::Adam>());
  all.push_back(std::make_unique<optim::Adam>(
      optim::AdamOptions{.learning_rate = 3e-4, .beta_1 = 0.8, .amsgrad = true, .clipnorm = 1.0}));
  all.push_back(std::make_unique<optim::AdamW>(optim::AdamWOptions{.use_ema = true}));
  all.push_back(std::make_unique<optim::RMSprop>());
  all.push_back(std::make_unique<optim::RMSprop>(
      optim::RMSpropOptions{.momentum = 0.5, .centered = true, .weight_decay = 0.01}));
  all.push_back(std::make_unique<optim::Adagrad>(
      optim::AdagradOptions{.learning_rate = 0.3, .ema_overwrite_frequency = 7, .name = "A"}));
  all.push_back(std::make_unique<optim::Nadam>(optim::NadamOptions{.beta_1 = 0.8}));
  all.push_back(std::make_unique<optim::Adamax>(optim::AdamaxOptions{.epsilon = 1e-4}));
  all.push_back(std::make_unique<optim::Adadelta>(optim::AdadeltaOptions{.rho = 0.8}));
  all.push_back(std::make_unique<optim::Lion>(optim::LionOptions{.beta_2 = 0.8}));
  all.push_back(std::make_unique<optim::Lamb>(optim::LambOptions{.epsilon = 1e-3}));
  all.push_back(std::make_unique<optim::SGD>());
  all.back()->multiply_learning_rate({"w"}, 0.5);
  all.push_back(std::make_unique<optim::Ftrl>(
      optim::FtrlOptions{.initial_accumulator_value = 0.2, .l1_regularization_strength = 0.01}));
  return all;
}

/// Keeps the kernels of an optimizer's steps.
class KernelCatcher : public ReplicaContext, public replica_internal::GradientReducer {
 public:
  replica_internal::GradientReducer& gradient_reducer() override { return *this; }
  int replica_id_in_sync_group() const override { return 0; }
  int num_replicas_in_sync() const override { return 1; }
  Strategy& strategy() const override { throw UnimplementedError("no strategy"); }
  std::vector<Tensor> all_reduce(ReduceOp, std::span<const Tensor> values) override {
    return {values.begin(), values.end()};
  }
  Tensor all_gather(const Tensor& value, int) override { return value; }
  void merge_untyped(const replica_internal::MeetingLead& lead, void* mine) override {
    lead(std::span(&mine, 1));
  }
  void update(std::span<const VariableUpdate> updates, bool, const UpdateKernel& kernel) override {
    std::vector<std::vector<float>> local = arrays(updates), remote = local;
    run(updates, kernel, local);
    description = kernel.description();
    run(updates,
        optim::make_update_kernel(*optim::deserialize(description.optimizer), description.step),
        remote);
    texts.insert(description.optimizer);
    ++steps;
    for (size_t i = 0; i < local.size(); ++i)
      equal &= std::memcmp(local[i].data(), remote[i].data(), local[i].size() * 4) == 0;
    for (size_t i = 0; i < local.size(); ++i) changed |= local[i] != arrays(updates)[i];
    replica_internal::update_component(updates, 0, kernel);
  }

  UpdateDescription description;
  std::set<std::string> texts;  // of all steps
  int steps = 0;
  bool equal = true, changed = false;

 private:
  static std::vector<std::vector<float>> arrays(std::span<const VariableUpdate> updates) {
    std::vector<std::vector<float>> all;
    for (const VariableUpdate& update : updates) {
      all.push_back(update.variable.value().to_vector());
      for (const Variable& slot : update.slots) all.push_back(slot.value().to_vector());
    }
    return all;
  }
  static void run(std::span<const VariableUpdate> updates, const UpdateKernel& kernel,
                  std::vector<std::vector<float>>& values) {
    size_t next = 0;
    for (size_t u = 0; u < updates.size(); ++u) {
      float* weights = values[next++].data();
      std::vector<float*> slots;
      for (size_t s = 0; s < updates[u].slots.size(); ++s) slots.push_back(values[next++].data());
      const auto gradient = updates[u].gradient.data<float>();
      kernel(u, weights, slots.data(), gradient.data(), int64_t(gradient.size()));
    }
  }
};

}  // namespace

TEST_CASE("every optimizer comes back from its text", "[optim][serialization]") {
  for (const auto& optimizer : all_optimizers()) {
    const std::string text = optim::serialize(*optimizer);
    INFO(text);
    const auto back = optim::deserialize(text);
    CHECK(optim::serialize(*back) == text);
    const optim::Optimizer &read = *back, &written = *optimizer;
    CHECK(typeid(read) == typeid(written));
    CHECK(back->learning_rate() == optimizer->learning_rate());
  }
}

TEST_CASE("the text names class and options as Keras does", "[optim][serialization]") {
  const auto json = nlohmann::json::parse(optim::serialize(optim::Adam({.learning_rate = 0.5f})));
  CHECK(json["class_name"] == "Adam");
  CHECK(json["config"]["learning_rate"] == 0.5);
  CHECK(json["config"]["beta_1"] == 0.9);
  CHECK(json["config"]["amsgrad"] == false);
  CHECK(json["config"]["clipnorm"].is_null());
  const auto short_text = optim::deserialize(R"({"class_name": "SGD", "config": {}})");
  CHECK(short_text->learning_rate() == 0.01f);
}

TEST_CASE("a kernel made from its description gives the same bits", "[optim][serialization]") {
  for (const auto& optimizer : all_optimizers()) {
    optimizer->exclude_from_weight_decay({"bias"});
    const distribute_test::ThreeSteps steps;
    KernelCatcher catcher;
    const replica_internal::ModeScope mode({.replica = &catcher});
    steps.run(*optimizer);
    INFO(catcher.description.optimizer);
    CHECK(catcher.steps == 3);
    CHECK(catcher.texts.size() == 1);
    CHECK(catcher.equal);
    CHECK(catcher.changed);
  }
}

TEST_CASE("a schedule's rate of the step travels in the description", "[optim][serialization]") {
  optim::SGD sgd({.learning_rate = optim::PiecewiseConstantDecay{{0, 1}, {0.5, 0.25, 0.125}}});
  const distribute_test::ThreeSteps steps;
  KernelCatcher catcher;
  const replica_internal::ModeScope mode({.replica = &catcher});
  steps.run(sgd);
  CHECK(catcher.equal);
  CHECK(catcher.description.step.rate == 0.125f);
  CHECK(catcher.description.step.done == 2);
  CHECK(catcher.texts.size() == 1);
}

TEST_CASE("schedules are written as Keras 3.15 writes them, and read back",
          "[optim][serialization]") {
  // keras.optimizers.serialize(keras.optimizers.SGD(schedule))["config"]["learning_rate"]
  const auto written = [](const optim::LearningRate& rate, const std::string& config) {
    INFO(config);
    const optim::SGD sgd({.learning_rate = rate});
    const std::string text = optim::serialize(sgd);
    const auto got = nlohmann::json::parse(text)["config"]["learning_rate"];
    CHECK(got["module"] == "keras.optimizers.schedules");
    CHECK(got["registered_name"].is_null());
    CHECK(got["config"] == nlohmann::json::parse(config));
    const auto again = optim::deserialize(text);
    CHECK(optim::serialize(*again) == text);
    CHECK(again->learning_rate() == float(rate(0)));
    return got["class_name"].get<std::string>();
  };
  CHECK(written(optim::PiecewiseConstantDecay{{3, 8}, {0.05, 0.01, 0.002}},
                R"({"boundaries": [3, 8], "values": [0.05, 0.01, 0.002],
                    "name": "PiecewiseConstant"})") == "PiecewiseConstantDecay");
  CHECK(written(optim::ExponentialDecay{0.1, 10, 0.9},
                R"({"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.9,
                    "staircase": false, "name": "ExponentialDecay"})") == "ExponentialDecay");
  CHECK(written(optim::PolynomialDecay{0.1, 10},
                R"({"initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.0001,
                    "power": 1.0, "cycle": false, "name": "PolynomialDecay"})") ==
        "PolynomialDecay");
  CHECK(written(optim::InverseTimeDecay{0.1, 10, 0.5},
                R"({"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5,
                    "staircase": false, "name": "InverseTimeDecay"})") == "InverseTimeDecay");
  CHECK(written(optim::CosineDecay{0.1, 10, 0, 0.2, 3},
                R"({"initial_learning_rate": 0.1, "decay_steps": 10, "alpha": 0.0,
                    "name": "CosineDecay", "warmup_target": 0.2, "warmup_steps": 3})") ==
        "CosineDecay");
  CHECK(written(optim::CosineDecayRestarts{0.1, 10},
                R"({"initial_learning_rate": 0.1, "first_decay_steps": 10, "t_mul": 2.0,
                    "m_mul": 1.0, "alpha": 0.0, "name": "SGDRDecay"})") == "CosineDecayRestarts");
}

TEST_CASE("schedules that cannot be written or read are refused", "[optim][serialization]") {
  const optim::SGD own({.learning_rate = [](int64_t step) { return 1.0 / double(step + 1); }});
  CHECK_THROWS_SAYING(optim::serialize(own), UnimplementedError,
                      "the learning rate of 'SGD' is a function of the program's own");
  const auto text = [](const std::string& schedule) {
    return R"({"class_name": "SGD", "config": {"learning_rate": )" + schedule + "}}";
  };
  CHECK_THROWS_SAYING(optim::deserialize(text(R"({"class_name": "Steps", "config": {}})")),
                      InvalidArgumentError, "the schedule 'Steps' is not known here");
  CHECK_THROWS_SAYING(optim::deserialize(text(R"({"class_name": "ExponentialDecay",
          "config": {"initial_learning_rate": 1, "decay_steps": 2.5, "decay_rate": 0.5}})")),
                      InvalidArgumentError, "decay_steps is 2.5");
  CHECK_THROWS_AS(optim::deserialize(text("{}")), InvalidArgumentError);
}

namespace {
/// Counts how often its options are written.
class Counted : public optim::SGD {
 public:
  using SGD::SGD;
  mutable int written = 0;

 protected:
  void add_config(optim::OptimizerConfig& config) const override {
    ++written;
    SGD::add_config(config);
  }
};

class Fixed : public optim::Optimizer {
 public:
  explicit Fixed(float by) : Optimizer({.name = "Fixed"}), by_(by) {}
  std::string class_name() const override { return "Fixed"; }

 protected:
  ElementKernel kernel(float, int64_t) const override {
    return [by = by_](float* w, float* const*, const float*, int64_t count) {
      for (int64_t i = 0; i < count; ++i) w[i] -= by;
    };
  }
  void add_config(optim::OptimizerConfig& config) const override { config.set("by", double(by_)); }

 private:
  float by_;
};
}  // namespace

TEST_CASE("the text for servers is written once, however many steps follow",
          "[optim][serialization]") {
  Counted optimizer({.learning_rate = 0.1f});
  const distribute_test::ThreeSteps steps;
  KernelCatcher catcher;
  const replica_internal::ModeScope mode({.replica = &catcher});
  steps.run(optimizer);
  CHECK(catcher.steps == 3);
  CHECK(optimizer.written == 1);
}

TEST_CASE("a program registers its own classes", "[optim][serialization]") {
  const Fixed fixed(0.5f);
  const std::string text = optim::serialize(fixed);
  CHECK_THROWS_WITH(optim::deserialize(text), Contains("'Fixed' is not known here"));
  const auto make = [](const optim::OptimizerConfig& config) {
    double by = 0;
    config.get("by", by);
    return std::make_unique<Fixed>(float(by));
  };
  optim::register_optimizer("Fixed", make);
  CHECK(optim::serialize(*optim::deserialize(text)) == text);
  CHECK_THROWS_AS(optim::register_optimizer("Fixed", make), AlreadyExistsError);
}

TEST_CASE("texts that describe no optimizer are refused", "[optim][serialization]") {
  for (const char* text :
       {"", "{", "[]", R"({"class_name": 3, "config": {}})", R"({"class_name": "SGD"})",
        R"({"class_name": "SGD", "config": {"momentum": "x"}})"})
    CHECK_THROWS_AS(optim::deserialize(text), InvalidArgumentError);
  CHECK_THROWS_AS(optim::deserialize("{}"), InvalidArgumentError);
  const UpdateKernel plain = [](size_t, float*, float* const*, const float*, int64_t) {};
  CHECK_THROWS_AS(plain.description(), UnimplementedError);
}

TEST_CASE("options that would be dropped are refused", "[optim][serialization]") {
  // Keras 3.15 has the first two, and refuses the third: "Argument(s) not recognized".
  for (const char* option :
       {R"("gradient_accumulation_steps": 2)", R"("loss_scale_factor": 4)", R"("unknown": 1)"})
    CHECK_THROWS_WITH(
        optim::deserialize(str_cat(R"({"class_name": "SGD", "config": {)", option, "}}")),
        Catch::Matchers::Contains("SGD has no option"));
  const auto sgd = optim::deserialize(
      R"({"class_name": "SGD", "config": {"momentum": 0.5, "nesterov": true,
          "loss_scale_factor": null, "gradient_accumulation_steps": null}})");
  CHECK(std::get<double>(sgd->get_config().values().at("momentum")) == 0.5);
}

TEST_CASE("a step has a factor for each variable", "[optim][serialization]") {
  const optim::SGD sgd;
  const auto kernel_with = [&](std::vector<float> factors, std::vector<float> ratios = {}) {
    return optim::make_update_kernel(
        sgd, {.rate = 1, .decayed = {false, false}, .factors = factors, .ratios = ratios});
  };
  CHECK_THROWS_AS(kernel_with({1}), InvalidArgumentError);
  CHECK_THROWS_AS(kernel_with({}, {1, 2, 3}), InvalidArgumentError);
  const UpdateKernel kernel = kernel_with({1, 0.5f});
  float weight = 1;
  const float gradient = 1;
  kernel(1, &weight, nullptr, &gradient, 1);
  CHECK(weight == 0.5f);
  CHECK_THROWS(kernel(2, &weight, nullptr, &gradient, 1));
}
