#include "parameter_servers.hpp"

#include <distribute/platforms.hpp>

#include <algorithm>
#include <cstdio>

namespace dist = distribute;

namespace examples {

ParameterServers::ParameterServers(Training& training, dist::ParameterServerJob job)
    : Way(training), job_(job) {}
ParameterServers::~ParameterServers() = default;

std::string ParameterServers::name_of_own_steps() const {
  return dist::str_cat(job_.task_type(), " ", job_.task_id());
}

dist::data::Dataset ParameterServers::share_of(const dist::InputContext& place) const {
  const auto& node = training_.task.training.node();
  const auto policy = dist::data::options_of(*node).experimental_distribute.auto_shard_policy;
  return dist::data::Dataset(
      dist::data::auto_shard(node, place.num_input_pipelines(), place.input_pipeline_id(),
                             policy.value_or(dist::data::AutoShardPolicy::Auto)));
}

void ParameterServers::agree_on_options() const {
  const std::string mine = agreed_text(training_);
  if (is_chief()) return job_.set_initialized(mine);
  dist::check_same_options("tasks", {name_of_own_steps(), mine},
                           {"the chief", job_.wait_until_initialized()});
}

/// Weights and slots exist on the servers before the first step, so that workers find them.
void ParameterServers::open() {
  iterator_.emplace(
      training_.strategy.experimental_distribute_dataset(share_of(place())).iterator());
  saving_.emplace(training_, position_in_data(training_.options, *iterator_));
  training_.optimizer->build(training_.model.trainable_variables());
  if (is_chief()) restore();
  agree_on_options();
  if (is_chief()) training_.outputs.open(training_.optimizer->iterations());
}

void ParameterServers::restore() {
  saving_->start(/*any_network=*/true);  // reading its weights would change those on the servers
  auto* manager = saving_->manager();
  if (!manager) {
    leave_.emplace();
    return;
  }
  notice_ = preemption_notice(training_.options);
  leave_.emplace(*manager);
  if (job_.servers_have_kept_variables()) {  // training goes on where they are
    std::printf("goes on with the servers' variables at step %lld\n",
                (long long)training_.optimizer->iterations());
    return;
  }
  manager->restore_or_initialize();
  saving_->tell_restored();
}

void ParameterServers::before_step() {
  if (leave_ && leave_->was_preempted())  // the counter is on a server
    leave_->save_checkpoint_if_preempted(training_.optimizer->iterations());
}

/// A chief that has come back to servers that have kept the variables has restored no counter.
void ParameterServers::save(int64_t step) { saving_->save(step, step); }

/// A chief that has come back does not know what was saved.
int64_t ParameterServers::saved_before(int64_t first) const {
  return job_.variables_are_new() ? first : 0;
}

/// All workers' share, from the number of steps that the job has made.
void ParameterServers::describe_job(dist::train::RunReport& report, int64_t first, double seconds) {
  report.workers = place().num_input_pipelines();
  report.replicas = report.workers * training_.strategy.num_replicas_in_sync();
  report.global_batch = training_.options.batch_size * std::max(training_.options.sync_replicas, 1);
  const auto steps = double(training_.optimizer->iterations() - first);
  report.images_per_second = seconds > 0 ? steps * double(report.global_batch) / seconds : 0;
}

}  // namespace examples
