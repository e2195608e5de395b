#pragma once
#include <distribute/parameter_server/detail/applied_updates.hpp>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE void AppliedUpdates::forget(const Function& function) {
  auto& functions = sessions_.at(function.first).functions;
  const auto place = functions.find(function.second);
  if (place == functions.end()) return;
  count_ -= place->second.size();
  functions.erase(place);
}

DISTRIBUTE_INLINE bool AppliedUpdates::is_known(const Function& function) const {
  return sessions_.at(function.first).functions.contains(function.second);
}

DISTRIBUTE_INLINE void AppliedUpdates::settle(Session& session, uint64_t settled) {
  session.settled = settled;
  auto& functions = session.functions;
  while (!functions.empty() && functions.begin()->first < settled) {
    count_ -= functions.begin()->second.size();
    functions.erase(functions.begin());
  }
  while (!by_age_.empty() && !is_known(by_age_.front())) by_age_.pop_front();
}

DISTRIBUTE_INLINE bool AppliedUpdates::add(const UpdateOrigin& origin,
                                           const StoredVariable* variable, int part) {
  if (origin.function == 0) return true;
  const std::lock_guard lock(mutex_);
  Session& session = sessions_[origin.session];
  if (origin.settled > session.settled) settle(session, origin.settled);
  if (origin.function < session.settled) return false;
  std::set<Update>& updates = session.functions[origin.function];
  if (updates.empty()) by_age_.emplace_back(origin.session, origin.function);
  if (!updates.emplace(origin.number, variable, part).second) return false;
  for (++count_; count_ > capacity_ && by_age_.size() > 1; by_age_.pop_front())
    forget(by_age_.front());
  return true;
}

DISTRIBUTE_INLINE bool AppliedUpdates::contains(const UpdateOrigin& origin,
                                                const StoredVariable* variable) const {
  if (origin.function == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(origin.session);
  if (session == sessions_.end()) return false;
  if (origin.function < session->second.settled) return true;
  const auto function = session->second.functions.find(origin.function);
  return function != session->second.functions.end() &&
         function->second.contains({origin.number, variable, 0});
}

DISTRIBUTE_INLINE size_t AppliedUpdates::size() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

DISTRIBUTE_INLINE AppliedUpdates::Applying::Applying(AppliedUpdates& all,
                                                     const UpdateOrigin& origin)
    : all_(all), origin_(origin) {
  if (origin.function == 0) return;
  const std::lock_guard lock(all_.mutex_);
  ++all_.under_way_[origin];
}

DISTRIBUTE_INLINE AppliedUpdates::Applying::~Applying() {
  if (origin_.function == 0) return;
  const std::lock_guard lock(all_.mutex_);
  const auto place = all_.under_way_.find(origin_);
  if (--place->second > 0) return;
  all_.under_way_.erase(place);
  all_.ended_.notify_all();
}

DISTRIBUTE_INLINE void AppliedUpdates::wait_until_applied(const UpdateOrigin& origin) {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return !under_way_.contains(origin); });
}

}  // namespace distribute::parameter_server
