/// TensorFlow's run of a generator and a discriminator with two optimizers, followed step by step.

#include <tests/support/source_dir.hpp>
#include "sequence_case.hpp"

using namespace parity;

namespace {

/// losses.csv's four columns, and step 0.
struct GanReference {
  Reference generator, discriminator;
  std::string folder;
};

GanReference find_gan() {
  GanReference r;
  r.folder = reference_folder("parity_sequence", "dcgan_two_optimizers");
  r.generator.folder = r.discriminator.folder = r.folder;
  read_curves(r.generator, "generator_loss", "generator_grad_norm");
  read_curves(r.discriminator, "discriminator_loss", "discriminator_grad_norm");
  const auto step0 = read_json(r.folder + "/step0.json");
  for (const auto& [tensor, gradient] : step0["float32"]["gradients"].items())
    r.generator.step0_gradients[tensor] = gradient["l2_norm"];
  return r;
}

struct GanRun {
  SequenceRun generator, discriminator;
  double generated_norm = 0;
};

Tensor picture_batch(const Tensor& x) { return x * 255.0 / 127.5 - 1.0; }

/// Mean over the global batch of the sigmoid's cross entropy with one target for all.
Tensor judged(const Tensor& logits, float target) {
  const Tensor losses =
      nn::sigmoid_cross_entropy_with_logits(dist::fill(logits.shape(), target), logits);
  return nn::compute_average_loss(dist::reshape(losses, {-1}), 16);
}

/// Gradients with respect to some of the variables, summed over the replicas, and their update.
void update(dist::GradientTape& tape, const Tensor& loss, const nn::Module& network,
            optim::Optimizer& optimizer, SequenceRun& run) {
  const auto variables = network.trainable_variables();
  auto* context = dist::get_replica_context();
  const auto summed = context->all_reduce(dist::ReduceOp::Sum, tape.gradient(loss, variables));
  if (context->replica_id_in_sync_group() == 0) {
    if (run.grad_norm.empty()) keep_norms(summed, variables, run.step0_gradients);
    run.grad_norm.push_back(norm_of_all(summed));
  }
  optimizer.apply_gradients(summed, variables, {.skip_gradients_aggregation = true});
}

GanRun train_gan(const GanReference& reference, int64_t steps, int replicas) {
  const HighestPrecision precision;
  dist::MirroredStrategy<> strategy(dist::MirroredOptions{.num_replicas = replicas});
  const auto scope = strategy.scope();
  nn::Sequential g = generator(replicas > 1), d = discriminator();
  d(g(dist::zeros({1, 24})));
  std::vector<dist::Variable> all = g.variables();
  for (const auto& variable : d.variables()) all.push_back(variable);
  dist::train::load_weights(reference.folder + "/init", all);
  optim::Adam g_adam({.learning_rate = 2e-4, .beta_1 = 0.5});
  optim::Adam d_adam({.learning_rate = 1e-4, .beta_1 = 0.5});
  dist::train::BundleReader noise_file(reference.folder + "/noise");
  const auto noise = noise_file.read_values<float>("noise");
  GanRun run;
  const auto step = [&](const Batch& part) {  // y is the noise
    dist::GradientTape tape({.persistent = true});
    const Tensor fake = g(part.y, {.training = true});
    const Tensor real_logits = d(picture_batch(part.x), {.training = true});
    const Tensor fake_logits = d(fake, {.training = true});
    const Tensor g_loss = judged(fake_logits, 1);
    const Tensor d_loss = judged(real_logits, 1) + judged(fake_logits, 0);
    update(tape, g_loss, g, g_adam, run.generator);
    update(tape, d_loss, d, d_adam, run.discriminator);
    return dist::concat({dist::reshape(g_loss, {1}), dist::reshape(d_loss, {1})}, 0);
  };
  const std::string images = distribute::testing::source_dir() + "/examples/mnist_cnn/data";
  auto data = dist::data::load_mnist(images).repeat().batch(16).iterator();
  for (int64_t s = 0; s < steps; ++s) {
    Batch batch = data.next();
    batch.y = Tensor(Shape{16, 24}, std::span<const float>(noise).subspan(size_t(s) * 384, 384));
    const auto losses =
        strategy.reduce(dist::ReduceOp::Sum, strategy.run(step, cut(batch, replicas))).to_vector();
    run.generator.loss.push_back(double(losses[0]));
    run.discriminator.loss.push_back(double(losses[1]));
  }
  keep_weights(g, run.generator);
  keep_weights(d, run.generator);
  const Tensor test(Shape{16, 24}, noise_file.read_values<float>("noise_test"));
  run.generated_norm = l2_norm(g(test).to_vector());
  return run;
}

void check_curve(const SequenceRun& run, const Reference& reference) {
  CHECK(loss_difference(run, reference, 0, 1) < 1e-5);
  CHECK(loss_difference(run, reference, 0, 3) < 1e-5);
  CHECK(loss_difference(run, reference, 0, 10) < 5e-5);
  CHECK(loss_difference(run, reference, 0, run.loss.size()) < 1e-3);
  CHECK(norm_difference(run.grad_norm, reference.grad_norm) < 1e-1);
  if (run.loss.size() == reference.loss.size()) CHECK(last_mean_difference(run, reference) < 5e-4);
}

}  // namespace

TEST_CASE("a generator against a discriminator follows TensorFlow", "[parity]") {
  const auto reference = find_gan();
  for (const int replicas : {1, 2, 4}) {
    INFO(replicas << " replicas");
    GanRun run = train_gan(reference, replicas == 1 ? 40 : 10, replicas);
    check_curve(run.generator, reference.generator);
    check_curve(run.discriminator, reference.discriminator);
    run.generator.step0_gradients.merge(run.discriminator.step0_gradients);
    check_gradients(run.generator, reference.generator, 2e-5);
    if (replicas > 1) continue;
    CHECK(trained_difference(run.generator, reference.folder + "/final") < 5e-3);
    const auto eval = read_json(reference.folder + "/eval.json");
    CHECK(relative(run.generated_norm, eval["generated_l2_norm"].get<double>()) < 5e-3);
  }
}
