#include "elastic_workers.hpp"

#include <cstdio>

namespace dist = distribute;

namespace examples {

int too_late() {
  std::printf("the others have finished; nothing is left to do\n");
  return dist::kExitDone;
}

/// Other workers get the state from those that have it.
void ElasticWorkers::begin() {
  batches_.emplace(training_.strategy, training_.task.training);
  saving_.emplace(training_, dist::train::state_of(*batches_));
  saving_->start();
  if (auto* manager = saving_->manager()) manager->restore_or_initialize();
  if (is_chief()) saving_->tell_restored();
  if (is_chief()) training_.outputs.open(training_.optimizer->iterations());
}

/// In each generation, as there is no group before and members may join. Who differs from the first
/// member ends, and the others go on without it.
void ElasticWorkers::check_data() {
  for (const auto* shared : {&training_.task.training, &training_.task.test}) {
    const std::string mine = dist::data::data_summary(*shared->node());
    const auto all = training_.strategy.extended().all_gather_texts(mine);
    if (mine != all.front()) dist::data::check_same_data(all);
  }
}

/// Every member says it, since any of them may be lost.
void ElasticWorkers::members_changed(const dist::train::ElasticMembers& members) {
  std::string names;
  for (const std::string& name : members.names) names += (names.empty() ? "" : ", ") + name;
  std::printf("generation %lld  from step %lld  %zu workers: %s%s\n", (long long)members.generation,
              (long long)members.step, members.names.size(), names.c_str(),
              members.lost.empty() ? "" : (" (" + members.lost + ")").c_str());
  std::fflush(stdout);
  if (is_chief()) training_.outputs.open(members.step);
}

void ElasticWorkers::after_step(int64_t) { loop_->commit(); }

std::optional<int> ElasticWorkers::run(dist::train::RunReport& report) {
  dist::train::CheckpointParts parts;
  for (const char* name : {"model", "optimizer", "iterator", "save_counter"})
    parts.emplace_back(name, *saving_->checkpoint().part(name));
  loop_.emplace(training_.strategy, std::move(parts), training_.optimizer->iterations_variable(),
                dist::train::ElasticLoopOptions{
                    .on_change = [this](const auto& members) { members_changed(members); },
                    .on_last_leave =
                        [this] {
                          if (auto* manager = saving_->manager())
                            manager->save();
                          else
                            tell_unsaved();
                        }});
  const auto end = loop_->run([&] {
    check_data();
    Way::run(report);
  });
  if (end == dist::ElasticEnd::Left) return dist::kExitPreempted;
  if (end == dist::ElasticEnd::TooLate || !report.test_loss) return too_late();
  return std::nullopt;
}

}  // namespace examples
