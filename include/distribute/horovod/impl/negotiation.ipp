#pragma once
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/horovod/detail/negotiation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE Negotiation::Negotiation(int ranks, NegotiationOptions options)
    : options_(std::move(options)), left_(size_t(ranks)), joined_(size_t(ranks)) {
  std::vector<int>& all = sets_[0];
  all.resize(size_t(ranks));
  std::iota(all.begin(), all.end(), 0);
}

DISTRIBUTE_INLINE std::string Negotiation::names(const std::vector<int>& ranks) const {
  std::string text;
  for (int rank : ranks) text += (text.empty() ? "" : ", ") + options_.describe(rank);
  return text;
}

/// Gives the reason why this rank's request is refused at once.
DISTRIBUTE_INLINE std::string Negotiation::refusal(int rank, const Request& request) const {
  const auto set = sets_.find(request.terms.process_set);
  if (set == sets_.end())
    return str_cat("process set ", request.terms.process_set, " has been removed");
  const std::vector<int>& members = set->second;
  if (std::find(members.begin(), members.end(), rank) == members.end())
    return str_cat(options_.describe(rank), " is not in process set ", request.terms.process_set);
  for (int leaver : leavers_)
    if (std::find(members.begin(), members.end(), leaver) != members.end())
      return options_.describe(leaver) + " " + left_[size_t(leaver)];
  return "";
}

/// Compares the parts of shapes that must be equal: all-gathers and all-to-alls may differ in the
/// first axis.
DISTRIBUTE_INLINE bool same_shape(const Request& a, const Request& b) {
  const Kind kind = a.terms.kind;
  const bool rows_differ = kind == Kind::Allgather || kind == Kind::Alltoall;
  if (!rows_differ || a.shape.empty() || b.shape.empty()) return a.shape == b.shape;
  return std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end());
}

DISTRIBUTE_INLINE std::string Negotiation::difference(const Pending& pending, int rank,
                                                      const Request& request) const {
  const Request& first = pending.first;
  const bool sets =
      request.terms.kind == Kind::AddProcessSet || request.terms.kind == Kind::RemoveProcessSet;
  if (first.terms == request.terms && same_shape(first, request) &&
      (!sets || first.splits == request.splits))
    return "";
  return str_cat(options_.describe(pending.first_rank), " has submitted ", to_string(first), ", ",
                 options_.describe(rank), " ", to_string(request),
                 "; every rank must submit the same operation under this name");
}

DISTRIBUTE_INLINE void Negotiation::submit(int rank, const Request& request, Time now) {
  if (const std::string why = refusal(rank, request); !why.empty())
    return refuse({rank}, request, why, StatusCode::Aborted);
  if (request.terms.kind == Kind::Join) return join(rank, request);
  const Key key{request.terms.process_set, request.name};
  Pending& pending = pending_[key];
  if (pending.parts.empty()) {
    pending.first = request;
    pending.first_rank = rank;
    pending.since = now;
  } else if (pending.problem.empty()) {
    pending.problem = difference(pending, rank, request);
  }
  if (request.arrangement != pending.first.arrangement) pending.first.arrangement = {};
  std::vector<int64_t>& part = pending.parts[rank];
  if (request.terms.kind == Kind::Alltoall) part = request.splits;
  if (request.terms.kind == Kind::Allgather) part = {request.shape.empty() ? 1 : request.shape[0]};
  if (!is_complete(pending)) return;
  Pending done = std::move(pending);
  pending_.erase(key);
  finish(key, std::move(done));
}

DISTRIBUTE_INLINE void Negotiation::join(int rank, const Request& request) {
  if (!joined_[size_t(rank)]) ++num_joined_;
  joined_[size_t(rank)] = true;
  finish_complete();
  if (num_joined_ < int(joined_.size())) return;
  joined_.assign(joined_.size(), false);
  num_joined_ = 0;
  Response response{.terms = request.terms, .entries = {{.name = request.name}}, .number = rank};
  ready_.push_back({{sets_[0], std::move(response)}});
}

/// True when all members have submitted the operation or joined.
DISTRIBUTE_INLINE bool Negotiation::is_complete(const Pending& pending) const {
  const std::vector<int>& members = sets_.at(pending.first.terms.process_set);
  return std::all_of(members.begin(), members.end(), [&](int rank) {
    return pending.parts.contains(rank) || joined_[size_t(rank)];
  });
}

/// Finishes the operations that are complete because a rank has joined.
DISTRIBUTE_INLINE void Negotiation::finish_complete() {
  std::vector<std::pair<Key, Pending>> done;
  for (auto it = pending_.begin(); it != pending_.end();) {
    if (is_complete(it->second)) {
      done.emplace_back(it->first, std::move(it->second));
      it = pending_.erase(it);
    } else {
      ++it;
    }
  }
  std::stable_sort(done.begin(), done.end(),
                   [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
  for (auto& [key, pending] : done) finish(key, std::move(pending));
}

DISTRIBUTE_INLINE std::string Negotiation::set_problem(const Request& request) const {
  const Kind kind = request.terms.kind;
  if (kind == Kind::RemoveProcessSet) {
    const bool known = request.splits[0] != 0 && sets_.contains(int32_t(request.splits[0]));
    return known ? "" : str_cat("there is no process set ", request.splits[0], " to remove");
  }
  if (kind != Kind::AddProcessSet) return "";
  const std::vector<int> ranks(request.splits.begin(), request.splits.end());
  for (const auto& [number, members] : sets_)
    if (members == ranks)
      return str_cat("process set ", number,
                     " has these ranks already: ", numbers_text(request.splits));
  return "";
}

DISTRIBUTE_INLINE Entry Negotiation::entry_of(const Pending& pending) const {
  Entry entry{.name = pending.first.name, .shape = pending.first.shape};
  entry.arrangement = pending.first.arrangement;
  for (int rank : sets_.at(pending.first.terms.process_set))
    if (const auto part = pending.parts.find(rank); part != pending.parts.end())
      entry.sizes.insert(entry.sizes.end(), part->second.begin(), part->second.end());
  return entry;
}

/// Decides an operation that every rank has announced: it is carried out, or all ranks get an
/// error.
DISTRIBUTE_INLINE void Negotiation::finish(const Key& key, Pending pending) {
  const Request& first = pending.first;
  const std::vector<int> members = sets_.at(key.first);
  const bool a_rank_joined = pending.parts.size() < members.size();
  const bool sums = first.terms.kind == Kind::Allreduce &&
                    (first.terms.op == hvd::Sum || first.terms.op == hvd::Average);
  if (pending.problem.empty()) pending.problem = set_problem(first);
  if (pending.problem.empty() && a_rank_joined && !sums)
    pending.problem = str_cat(missing(pending), " has joined: after join() only sums and averages ",
                              "can be reduced, and this is ", to_string(first));
  Answer answer{members, {.terms = first.terms, .entries = {entry_of(pending)}}};
  if (!pending.problem.empty()) {
    answer.response.code = StatusCode::FailedPrecondition;
    answer.response.message = str_cat("hvd: '", first.name, "': ", pending.problem);
  } else {
    apply(first, answer.response);
  }
  decide(first, std::move(answer));
}

/// Applies operations that change process sets.
DISTRIBUTE_INLINE void Negotiation::apply(const Request& request, Response& response) {
  if (request.terms.kind == Kind::RemoveProcessSet) {
    response.number = int32_t(request.splits[0]);
    sets_.erase(response.number);
  } else if (request.terms.kind == Kind::AddProcessSet) {
    response.number = ++last_set_;
    response.members = request.splits;
    sets_[response.number].assign(request.splits.begin(), request.splits.end());
  }
}

/// Adds an answer. Members of a group wait for each other, as long as all of them can come.
DISTRIBUTE_INLINE void Negotiation::decide(const Request& request, Answer answer) {
  if (request.group.empty() || !leavers_.empty()) return ready_.push_back({std::move(answer)});
  const Key key{request.terms.process_set, request.group};
  std::vector<Answer>& group = groups_[key];
  group.push_back(std::move(answer));
  if (int(group.size()) < request.group_size) return;
  ready_.push_back(std::move(group));
  groups_.erase(key);
}

DISTRIBUTE_INLINE void Negotiation::refuse(std::vector<int> ranks, const Request& request,
                                           const std::string& why, StatusCode code) {
  Response response{.terms = request.terms, .entries = {{.name = request.name}}, .code = code};
  response.message = str_cat("hvd: '", request.name, "' (", to_string(request), "): ", why);
  ready_.push_back({{std::move(ranks), std::move(response)}});
}

DISTRIBUTE_INLINE void Negotiation::leave(int rank, const std::string& why) {
  if (!left_[size_t(rank)].empty()) return;
  left_[size_t(rank)] = why;
  leavers_.push_back(rank);
  for (auto& [key, group] : groups_) ready_.push_back(std::move(group));
  groups_.clear();
  for (auto it = pending_.begin(); it != pending_.end();) {
    const Pending& pending = it->second;
    const auto& members = sets_.at(it->first.first);
    const bool wanted = std::find(members.begin(), members.end(), rank) != members.end();
    if (wanted) {
      std::vector<int> submitters;
      for (const auto& [submitter, part] : pending.parts) submitters.push_back(submitter);
      refuse(submitters, pending.first, options_.describe(rank) + " " + why, StatusCode::Aborted);
    }
    it = wanted ? pending_.erase(it) : std::next(it);
  }
}

DISTRIBUTE_INLINE int64_t bytes_of(const Response& response) {
  int64_t bytes = 0;
  for (const Entry& entry : response.entries)
    bytes += elements_of(entry) * size_of(response.terms.dtype);
  return bytes;
}

/// Adds an all-reduce to an earlier response of the same kind, if there is room.
DISTRIBUTE_INLINE void Negotiation::fuse(std::vector<Answer>& answers, Answer ready) const {
  const bool fusible =
      ready.response.terms.kind == Kind::Allreduce && ready.response.code == StatusCode::Ok;
  const int64_t bytes = fusible ? bytes_of(ready.response) : 0;
  for (Answer& earlier : answers) {
    if (!fusible || earlier.response.code != StatusCode::Ok ||
        earlier.response.terms != ready.response.terms ||
        bytes_of(earlier.response) + bytes > options_.fusion_threshold)
      continue;
    auto& entries = earlier.response.entries;
    entries.insert(entries.end(), ready.response.entries.begin(), ready.response.entries.end());
    return;
  }
  answers.push_back(std::move(ready));
}

DISTRIBUTE_INLINE std::vector<Negotiation::Answer> Negotiation::take() {
  std::vector<Answer> answers;
  for (auto& group : ready_)
    for (Answer& ready : group) fuse(answers, std::move(ready));
  ready_.clear();
  return answers;
}

DISTRIBUTE_INLINE std::string Negotiation::missing(const Pending& pending) const {
  std::vector<int> ranks;
  for (int rank : sets_.at(pending.first.terms.process_set))
    if (!pending.parts.contains(rank)) ranks.push_back(rank);
  return names(ranks);
}

/// Returns the first time after `seconds` at which a line is due.
DISTRIBUTE_INLINE double Negotiation::next_line_after(double seconds) const {
  if (!options_.stall_warning) return cluster_internal::next_line_after(seconds);
  const double every = *options_.stall_warning;
  return every > 0 ? every * (std::floor(seconds / every) + 1)
                   : std::numeric_limits<double>::infinity();
}

DISTRIBUTE_INLINE double Negotiation::next_line_of(const Pending& pending) const {
  return pending.next_line >= 0 ? pending.next_line : next_line_after(0);
}

DISTRIBUTE_INLINE std::vector<std::string> Negotiation::stalls(Time now) {
  std::vector<std::string> texts;
  for (auto& [key, pending] : pending_) {
    const double seconds = std::chrono::duration<double>(now - pending.since).count();
    std::vector<int> ready;
    for (const auto& [rank, part] : pending.parts) ready.push_back(rank);
    const std::string text =
        str_cat("hvd: '", key.second, "' (", to_string(pending.first), ") has waited for ",
                int64_t(seconds), " s for ", missing(pending), "; submitted by ", names(ready));
    if (options_.stall_limit > 0 && seconds >= options_.stall_limit) {
      Response failure{.terms = pending.first.terms, .code = StatusCode::DeadlineExceeded};
      failure.message =
          text +
          "; the limit is HOROVOD_STALL_SHUTDOWN_TIME_SECONDS, or DISTRIBUTE_OPERATION_TIMEOUT";
      ready_.push_back({{sets_[0], std::move(failure)}});
      pending_.clear();
      return {text};
    }
    if (seconds < next_line_of(pending)) continue;
    pending.next_line = next_line_after(seconds);
    texts.push_back(text);
  }
  return texts;
}

DISTRIBUTE_INLINE Negotiation::Time Negotiation::next_stall() const {
  Time next = Time::max();
  for (const auto& [key, pending] : pending_) {
    const double limit = options_.stall_limit, line = next_line_of(pending);
    if (std::isfinite(line)) next = std::min(next, pending.since + net::seconds(line));
    if (limit > 0) next = std::min(next, pending.since + net::seconds(limit));
  }
  return next;
}

}  // namespace distribute::horovod_internal
