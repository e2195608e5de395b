#include "coordinated.hpp"

#include "replica_step.hpp"

#include <distribute/train/preemption_watcher.hpp>

#include <deque>

namespace dist = distribute;

namespace examples {

Coordinated::Coordinated(Training& training, dist::ParameterServerJob job)
    : ParameterServers(training, job),
      remote_data_("train", [this](const dist::InputContext& of) { return share_of(of); }),
      remote_step_("train_step", [this](dist::data::Iterator& images) {
        const ReplicaStep step = step_->on_replica(images.next());
        const auto sums = step.sums.data<float>();
        return MadeStep{sums[0], sums[1], step.number, job_.task_id()};
      }) {}

dist::InputContext Coordinated::place() const {
  return dist::InputContext(job_.cluster().num_tasks("worker"),
                            job_.task_type() == "chief" ? 0 : job_.task_id());
}

void Coordinated::begin() {
  if (!is_chief()) return agree_on_options();
  open();
}

std::optional<int> Coordinated::run(dist::train::RunReport& report) {
  if (is_chief()) return Way::run(report);
  static const dist::train::ExitOnTermination without_a_word(false);  // the chief saves
  return dist::Server(training_.strategy).join();
}

/// Some steps are always waiting, so that no worker does.
void Coordinated::make_steps(int64_t first, dist::train::Progress& progress) {
  dist::ClusterCoordinator coordinator(training_.strategy);
  const auto images = coordinator.create_per_worker_dataset(remote_data_);
  std::deque<dist::RemoteValue<MadeStep>> under_way;
  int64_t scheduled = first;
  for (int64_t done = first; done < training_.total_steps; ++done) {
    before_step();
    for (;
         scheduled < training_.total_steps && int(under_way.size()) < 4 * coordinator.num_workers();
         ++scheduled)
      under_way.push_back(coordinator.schedule(remote_step_, images));
    const auto [loss, second, number, worker] = under_way.front().fetch();
    under_way.pop_front();
    progress.step_done(done + 1, {{"loss", loss}});
    step_done({loss, second, number}, dist::str_cat("worker ", worker));
  }
  coordinator.join();
}

TestSums Coordinated::test(const TestBatch& of_batch) {
  TestSums sums;
  for (const Batch& batch : training_.task.test) sums.add(of_batch(batch));
  return sums;
}

}  // namespace examples
