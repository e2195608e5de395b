#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/collective/detail/late_watch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace distribute::collective {

using cluster_internal::place_of;

DISTRIBUTE_INLINE LateWatch::LateWatch(ClusterRuntime& runtime, const WorkerGroup& group,
                                       double timeout)
    : runtime_(runtime), timeout_(timeout), replicas_(group.replicas_per_worker) {
  for (size_t i = 0; i < group.replicas.size(); ++i)
    all_.push_back(
        {group.replicas[i], group.replicas.size() > 1 ? str_cat("replica ", i) : "", 0, 0});
  if (group.workers && group.workers != group.replicas[0]) {
    between_workers_ = group.workers;
    all_.push_back({group.workers, "", 0, 0});
  }
  for (size_t i = 0; i < group.gpus.size(); ++i)
    all_.push_back({group.gpus[i], str_cat("GPU ", i), 0, 0});
}

DISTRIBUTE_INLINE std::string LateWatch::look() {
  const bool outside = between_workers_ && between_workers_->recorder().running();
  const auto& shown = outside ? *between_workers_ : *all_[0].group;
  const std::string position = shown.recorder().position();
  for (Watched& watched : all_) look_at(watched, position);
  return look_at_sets(position);
}

DISTRIBUTE_INLINE void LateWatch::add(const std::string& name,
                                      const std::shared_ptr<Communicator>& group,
                                      std::vector<int> members) {
  Watched added{nullptr, "", 0, 0};
  added.place_prefix = name + ": ";
  added.members = std::move(members);
  added.life = group;
  const std::lock_guard lock(mutex_);
  sets_.push_back(std::move(added));
}

/// Returns the position in the group of some workers that runs something, else `position`.
DISTRIBUTE_INLINE std::string LateWatch::look_at_sets(std::string position) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sets_, [](const Watched& set) { return set.life.expired(); });
  for (Watched& set : sets_) {
    set.group = set.life.lock();
    if (!set.group) continue;
    const std::string here = set.place_prefix + set.group->recorder().position();
    look_at(set, here);
    if (set.group->recorder().running()) position = here;
    set.group.reset();
  }
  return position;
}

DISTRIBUTE_INLINE void LateWatch::look_at(Watched& watched, const std::string& position) {
  const auto running = watched.group->recorder().running();
  if (!running) {
    watched.next_line = 0;
    return;
  }
  const auto now = FlightRecorder::Clock::now();
  const double seconds = std::chrono::duration<double>(now - running->started).count();
  if (watched.next_line == 0 || watched.sequence != running->signature.sequence)
    watched.next_line = cluster_internal::next_line_after(0);
  watched.sequence = running->signature.sequence;
  if (seconds > runtime_.options().lost_after / 3) {
    runtime_.report_late();
    runtime_.want_progress();
  }
  if (seconds < watched.next_line) return;
  watched.next_line = cluster_internal::next_line_after(seconds);
  if (is_first(place_of(position)))
    runtime_.options().print(line(watched, running->signature, seconds));
}

/// Whether no lower worker waits in the same place.
DISTRIBUTE_INLINE bool LateWatch::is_first(const std::string& place) const {
  for (const auto& group : runtime_.progress_groups())
    if (group.place == place && int(group.ranks[0]) < runtime_.rank()) return false;
  return true;
}

DISTRIBUTE_INLINE std::string LateWatch::line(const Watched& watched, const Signature& signature,
                                              double seconds) const {
  const std::string who = missing(watched, signature);
  return str_cat(
      runtime_.describe(runtime_.rank()), watched.name.empty() ? "" : ", " + watched.name + ",",
      " has waited for ", std::floor(seconds), " s ", watched.place_prefix, "in ",
      to_string(signature),
      who.empty() ? "; all are in it, and data is still on its way" : "; not there: " + who,
      ". It ends after ", timeout_, " s (DISTRIBUTE_OPERATION_TIMEOUT)");
}

/// Groups of workers that are in another place, with that place.
DISTRIBUTE_INLINE std::string LateWatch::missing_groups(const std::string& place) const {
  std::string text;
  for (const auto& group : runtime_.progress_groups())
    if (group.place != place)
      text += str_cat(
          text.empty() ? "" : ", ",
          cluster_internal::names_of(group, [this](int rank) { return runtime_.describe(rank); }),
          " (", group.place.empty() ? "nothing was heard yet" : group.place, ")");
  return text;
}

/// Replicas of this worker and other workers that are in another place, with that place.
DISTRIBUTE_INLINE std::string LateWatch::missing(const Watched& watched,
                                                 const Signature& signature) const {
  constexpr int kNames = 10;
  const std::string place = str_cat(watched.place_prefix, "in ", to_string(signature));
  const std::vector<int>& members = watched.members;
  std::string text;
  int count = 0;
  const auto add = [&](const std::string& name, const std::string& position) {
    if (place_of(position) == place || ++count > kNames) return;
    text += str_cat(text.empty() ? "" : ", ", name, " (",
                    position.empty() ? "nothing was heard from it yet" : position, ")");
  };
  if (size_t(runtime_.size()) > cluster_internal::kMostTexts) return missing_groups(place);
  const bool pair = signature.kind == Collective::Send || signature.kind == Collective::Receive;
  const std::vector<std::string> positions = runtime_.progress();
  for (int rank = 0; rank < runtime_.size(); ++rank) {
    if (!members.empty() && std::find(members.begin(), members.end(), rank) == members.end())
      continue;
    const int peer = members.empty() ? signature.peer / replicas_ : members[size_t(signature.peer)];
    if (rank != runtime_.rank() && (!pair || rank == peer))
      add(runtime_.describe(rank), positions[size_t(rank)]);
  }
  if (!members.empty()) return text;
  for (size_t i = 0;
       replicas_ > 1 && !between_workers_->recorder().running() && i < size_t(replicas_); ++i)
    add(all_[i].name + " of this worker", all_[i].group->recorder().position());
  return count > kNames ? str_cat(text, " and ", count - kNames, " more") : text;
}

}  // namespace distribute::collective
