#include "replica_step.hpp"

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

namespace {

/// Adds gradients of a further part of the batch.
void accumulate(std::vector<dist::Tensor>& sums, std::vector<dist::Tensor> gradients) {
  if (sums.empty()) {
    sums = std::move(gradients);
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    if (gradients[i]) sums[i] = sums[i] ? dist::add(sums[i], gradients[i]) : gradients[i];
}

}  // namespace

StepRunner::StepRunner(Training& training, Way& way)
    : training_(training), way_(way), counts_right_(way.has_own_steps()) {
  record();
}

/// Empty: a step can be a CUDA graph.
std::string StepRunner::why_not_recorded() const {
  if (const std::string why = way_.why_not_recorded(); !why.empty()) return why;
  const auto devices = training_.strategy.extended().replica_devices();
  if (devices.empty() || devices[0].type != dist::DeviceType::Gpu)
    return dist::str_cat("it takes replicas on GPUs, this is ",
                         dist::to_string(training_.strategy));
  if (const std::string why = training_.strategy.extended().recording_problem(); !why.empty())
    return why;
  if (training_.loss_scale) return "--policy=mixed_float16 looks for infinities in every step";
  if (!training_.options.loss_csv.empty())
    return "--loss_csv reads the gradients' norm in every step";
  return {};
}

void StepRunner::record() {
  const bool wanted = training_.options.cuda_graph == "true";
  if (training_.options.cuda_graph == "false") return;
  const std::string why_not = why_not_recorded();
  if (wanted && !why_not.empty()) throw dist::UsageError("--cuda_graph=true: " + why_not);
  const auto devices = training_.strategy.extended().replica_devices();
  if (why_not.empty())
    recorded_.emplace([this](const Batch& batch) { return on_replica(batch).sums; });
  else if (!devices.empty() && devices[0].type == dist::DeviceType::Gpu)
    dist::log_info("trainer", "steps are not recorded as CUDA graphs: " + why_not);
}

StepRunner::Loss StepRunner::loss_of(const Batch& batch) {
  const auto& o = training_.options;
  const dist::Tensor logits = training_.model(batch.x, {.training = true});
  const dist::Tensor losses = dist::nn::sparse_categorical_crossentropy(
      batch.y, logits, {.from_logits = true, .label_smoothing = float(o.label_smoothing)});
  Loss result{dist::nn::compute_average_loss(losses, o.batch_size * training_.task.labels), {}};
  if (counts_right_) {
    const dist::Tensor right = dist::equal(dist::argmax(logits, -1), batch.y);
    result.right = dist::reduce_sum(dist::cast(right, dist::DType::Float32)) /
                   float(o.batch_size * training_.task.labels);
  }
  const auto penalties = training_.model.losses();
  if (!penalties.empty())
    result.loss =
        result.loss + dist::nn::scale_regularization_loss(penalties) / float(o.accumulate_steps);
  return result;
}

dist::Tensor StepRunner::with_right(const Loss& loss) const {
  return counts_right_ ? dist::stack({loss.loss, loss.right}, 0) : dist::reshape(loss.loss, {1});
}

ReplicaStep StepRunner::on_replica(const Batch& batch) {
  if (training_.options.accumulate_steps > 1 || !training_.options.loss_csv.empty())
    return in_parts(batch);
  dist::GradientTape tape;
  const Loss loss = loss_of(batch);  // a coordinator's workers build the layers here
  const int64_t number = way_.minimize(loss.loss, tape);
  return {with_right(loss), number};
}

/// The gradients of --accumulate_steps parts of the batch, which are there before the update.
ReplicaStep StepRunner::in_parts(const Batch& batch) {
  const int64_t parts = training_.options.accumulate_steps, rows = data::batch_size(batch);
  std::vector<dist::Tensor> gradients;
  Loss sum{dist::zeros({}), dist::zeros({})};
  for (int64_t part = 0; part < parts; ++part) {
    dist::GradientTape tape;
    const Loss share = loss_of(data::rows(batch, rows * part / parts, rows * (part + 1) / parts));
    sum.loss = sum.loss + share.loss;
    if (counts_right_) sum.right = sum.right + share.right;
    const dist::Tensor scaled =
        training_.loss_scale ? training_.loss_scale->scale_loss(share.loss) : share.loss;
    accumulate(gradients, tape.gradient(scaled, training_.model.trainable_variables()));
  }
  if (training_.options.loss_csv.empty()) return {with_right(sum), way_.apply(gradients)};
  gradients = way_.sum(gradients);
  const float scale = training_.loss_scale ? training_.loss_scale->loss_scale() : 1;
  const dist::Tensor norm = dist::global_norm(gradients) /
                            (scale * float(way_.replicas_in_sync()));  // every replica has it
  const int64_t number = way_.apply_summed(gradients);
  return {dist::stack({sum.loss, norm}, 0), number};
}

Step StepRunner::operator()(const dist::PerReplica<Batch>& batch) {
  if (recorded_) {
    const auto sums = training_.strategy.run(*recorded_, batch);
    const dist::Tensor sum =
        sums.size() == 1 ? sums[0] : training_.strategy.reduce(dist::ReduceOp::Sum, sums);
    return {sum.data<float>()[0], 0.0, training_.optimizer->iterations()};
  }
  const auto results =
      training_.strategy.run([this](const Batch& part) { return on_replica(part); }, batch);
  std::vector<dist::Tensor> sums;
  for (const ReplicaStep& one : results.values()) sums.push_back(one.sums);
  const dist::Tensor sum = way_.sum_of_tasks(
      training_.strategy.reduce(dist::ReduceOp::Sum, dist::PerReplica(std::move(sums))));
  const auto values = sum.data<float>();
  return {values[0], values.size() > 1 ? values[1] : 0.0, results[0].number};
}

}  // namespace examples
