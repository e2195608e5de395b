#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/elastic_inquiry.hpp>
#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/cluster/detail/elastic_rendezvous.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <poll.h>

namespace distribute {

namespace cluster_internal {

DISTRIBUTE_INLINE void check_limits(const ClusterTasks& all_tasks, const ElasticLimits& limits) {
  if (limits.min_workers < 1 || limits.min_workers > limits.max_workers ||
      limits.max_workers > all_tasks.size())
    throw InvalidArgumentError(str_cat(
        "elastic: ", limits.min_workers, " to ", limits.max_workers, " workers of the ",
        all_tasks.size(), " that the cluster names; wanted 1 <= min <= max <= all of them"));
  if (!(limits.timeout > 0) || !(limits.last_call >= 0))
    throw InvalidArgumentError("elastic: the timeout must be positive, the last call at least 0");
  for (const ClusterMember& member : all_tasks.members)
    if (member.address.empty())
      throw InvalidArgumentError(str_cat("elastic: ", member.name(),
                                         " has no address; a job whose ",
                                         "workers change needs those of all, as in TF_CONFIG"));
}

}  // namespace cluster_internal

struct ElasticMember::Impl {
  using Clock = net::Deadline::Clock;
  using MeetAnswer = cluster_internal::MeetAnswer;
  using MeetFrame = cluster_internal::MeetFrame;
  using MeetReply = cluster_internal::MeetReply;
  using MeetRole = cluster_internal::MeetRole;

  Impl(ClusterTasks the_tasks, ElasticLimits the_limits, ClusterOptions the_options,
       const std::string& agreement, net::Listener listener);
  ~Impl() { others.server->stop_serving(cluster_internal::kMeetPurpose); }

  absl::StatusOr<net::Frame> wait_for_frame(net::Socket& socket);
  bool look_up();
  MeetReply other_generation();
  std::optional<ElasticGeneration> follow(int index);
  std::optional<ElasticGeneration> lead(const std::vector<int>& lost);
  void look_for_expected();
  bool enough(size_t count, Clock::time_point since) const;
  ElasticGeneration enter(const cluster_internal::MeetResult& result);
  void report(size_t count, net::Deadline deadline);
  std::string missing();

  const ClusterTasks tasks;
  const ElasticLimits limits;
  const ClusterOptions options;
  cluster_internal::ElasticRendezvous rendezvous;  // the server's handler uses it
  // Only this worker's thread uses:
  cluster_internal::ElasticInquiry others{tasks, options, rendezvous.options()};
  std::function<bool()> given_up;
  int known_leader = -1;
  std::vector<int> members;  // of the generation, by index
  std::set<int> expected;    // of them, who may still come
  Clock::time_point next_search{};
  net::Deadline next_report = net::Deadline::after_seconds(0);
};

DISTRIBUTE_INLINE ElasticMember::Impl::Impl(ClusterTasks the_tasks, ElasticLimits the_limits,
                                            ClusterOptions the_options,
                                            const std::string& agreement, net::Listener listener)
    : tasks(std::move(the_tasks)),
      limits(the_limits),
      options(std::move(the_options)),
      rendezvous(tasks, cluster_internal::canonical_json(agreement)) {
  check_tasks(tasks);
  check_options(options);
  cluster_internal::check_limits(tasks, limits);
  cluster_internal::check_loopback(tasks, options);
  if (!listener)
    listener = cluster_internal::open_own_port(tasks.self().name(), tasks.self().address, options);
  others.mine.options = rendezvous.checksum();
  const net::HandshakeConfig config{
      .self = {tasks.self().type, tasks.self().index, value_or_throw(net::random_number())},
      .job = "elastic, " + job_fingerprint(tasks),
      .token = options.job_token,
      .tls = make_tls(options, tasks.self().name())};
  others.server = std::make_shared<TaskServer>(std::move(listener), config, options);
  others.server->serve(cluster_internal::kMeetPurpose, [this](TaskConnection connection) {
    rendezvous.take(std::move(connection));
  });
  others.server->start();
}

/// Tells a leader of a generation that was formed without it, as it seemed to be lost.
DISTRIBUTE_INLINE cluster_internal::MeetReply ElasticMember::Impl::other_generation() {
  if (Clock::now() < next_search) return {};
  next_search = Clock::now() + std::chrono::milliseconds(500);
  std::set<int> here{tasks.rank};
  for (const auto& [index, request] : rendezvous.waiting()) here.insert(index);
  for (int index = 0; index < tasks.size() && !others.finished; ++index)
    if (!here.contains(index))
      if (MeetReply reply = others.ask_for_leader(index); reply.answer == MeetAnswer::Trains)
        return reply;
  return {};
}

/// Returns the leader's next frame.
DISTRIBUTE_INLINE absl::StatusOr<net::Frame> ElasticMember::Impl::wait_for_frame(
    net::Socket& socket) {
  constexpr int kLookUpMs = 200;
  const auto deadline = net::Deadline::after_seconds(options.lost_after);
  net::FrameReader reader(uint64_t(options.max_message_bytes));
  for (;;) {
    const auto count = socket.read_some(reader.space());
    if (!count.ok()) return count.status();
    if (const absl::Status good = reader.filled(*count); !good.ok()) return good;
    if (reader.complete()) return reader.take();
    if (look_up() || deadline.passed())
      return absl::DeadlineExceededError("the worker that leads says nothing");
    pollfd readable{socket.native(), POLLIN, 0};
    if (*count == 0 && !socket.has_buffered()) ::poll(&readable, 1, kLookUpMs);
  }
}

/// Whether this worker has given up.
DISTRIBUTE_INLINE bool ElasticMember::Impl::look_up() {
  return others.finished = others.finished || (given_up && given_up());
}

/// Waits for the result of the worker that leads; returns nullopt when it does not lead any more,
/// or does so for too long, as there may be another leader then.
DISTRIBUTE_INLINE std::optional<ElasticGeneration> ElasticMember::Impl::follow(int index) {
  MeetReply reply = others.ask(index, true);
  if (!reply.keeps()) return std::nullopt;
  known_leader = index;
  rendezvous.become(MeetRole::Follows, known_leader);
  const auto frame = wait_for_frame(reply.socket);
  if (frame.ok() && MeetFrame(frame->type) == MeetFrame::Formed)
    return enter(value_or_throw(cluster_internal::parse_result(frame->payload, tasks.size())));
  others.finished =
      others.finished || (frame.ok() && MeetFrame(frame->type) == MeetFrame::Finished);
  const bool other = frame.ok() && MeetFrame(frame->type) == MeetFrame::Follow;
  known_leader = other ? std::min(std::atoi(frame->payload.c_str()), tasks.size() - 1) : -1;
  return std::nullopt;
}

/// Members of the previous generation whose port is closed will not come.
DISTRIBUTE_INLINE void ElasticMember::Impl::look_for_expected() {
  for (const auto& [index, request] : rendezvous.waiting()) expected.erase(index);
  std::erase_if(expected,
                [&](int index) { return others.ask(index).answer == MeetAnswer::NotThere; });
}

DISTRIBUTE_INLINE bool ElasticMember::Impl::enough(size_t count, Clock::time_point since) const {
  if (count < size_t(limits.min_workers)) return false;
  if (count >= size_t(limits.max_workers)) return true;
  if (others.mine.state.generation > 0 && expected.empty()) return true;
  return Clock::now() - std::max(since, rendezvous.last_arrival()) > net::seconds(limits.last_call);
}

/// Gathers workers until they are enough; where a lower one does so too, follows that one.
DISTRIBUTE_INLINE std::optional<ElasticGeneration> ElasticMember::Impl::lead(
    const std::vector<int>& lost) {
  rendezvous.become(MeetRole::Leads, tasks.rank);
  expected = {members.begin(), members.end()};
  expected.erase(tasks.rank);
  for (const int index : lost) expected.erase(index);
  const auto since = Clock::now();
  const auto deadline = net::Deadline::after_seconds(limits.timeout);
  for (;;) {
    look_for_expected();
    if (MeetReply lower = others.lower_leader(); lower.keeps()) return follow(lower.leader);
    if (MeetReply other = other_generation(); other.keeps()) return follow(other.leader);
    if (look_up()) return std::nullopt;
    auto all = rendezvous.waiting();
    all.emplace_back(tasks.rank, others.mine);
    if (enough(all.size(), since)) {
      const auto result = cluster_internal::choose_members(all, limits.max_workers);
      rendezvous.announce(result);
      return enter(result);
    }
    report(all.size(), deadline);
    rendezvous.wait(net::Deadline::after_seconds(expected.empty() ? 0.1 : 0.02));
  }
}

DISTRIBUTE_INLINE std::string ElasticMember::Impl::missing() {
  std::set<int> here{tasks.rank};
  for (const auto& [index, request] : rendezvous.waiting()) here.insert(index);
  std::string names;
  for (int index = 0; index < tasks.size(); ++index)
    if (!here.contains(index))
      names += (names.empty() ? "" : ", ") + tasks.members[size_t(index)].text();
  return names;
}

DISTRIBUTE_INLINE void ElasticMember::Impl::report(size_t count, net::Deadline deadline) {
  if (!next_report.passed() && !deadline.passed()) return;
  const std::string text =
      str_cat("there are ", count, " workers, at least ", limits.min_workers, " are needed",
              missing().empty() ? "" : "; not there: ", missing());
  if (deadline.passed())
    throw UnavailableError(str_cat(tasks.self().name(), ": after ", limits.timeout, " s ", text));
  options.print(str_cat(tasks.self().name(), ": ", text));
  next_report = net::Deadline::after_seconds(options.report_interval);
}

DISTRIBUTE_INLINE ElasticGeneration
ElasticMember::Impl::enter(const cluster_internal::MeetResult& result) {
  const auto self = std::find(result.members.begin(), result.members.end(), tasks.rank);
  if (self == result.members.end())
    throw InternalError("the next generation was formed without this worker");
  ElasticGeneration generation;
  generation.number = result.number;
  generation.state = result.state;
  for (const int index : result.members)
    generation.tasks.members.push_back(tasks.members[size_t(index)]);
  generation.tasks.rank = int(self - result.members.begin());
  generation.current = result.current;
  const auto source = std::find(result.current.begin(), result.current.end(), true);
  generation.source = int(source - result.current.begin());
  members = result.members;
  others.silent_until.clear();
  others.mine.seen = result.number;
  known_leader = members[0];
  rendezvous.become(MeetRole::Trains, known_leader);
  return generation;
}

DISTRIBUTE_INLINE ElasticMember::ElasticMember(ClusterTasks all_tasks, ElasticLimits limits,
                                               ClusterOptions options, const std::string& agreement)
    : ElasticMember(std::move(all_tasks), limits, std::move(options), agreement, net::Listener()) {}

DISTRIBUTE_INLINE ElasticMember::ElasticMember(ClusterTasks all_tasks, ElasticLimits limits,
                                               ClusterOptions options, const std::string& agreement,
                                               net::Listener listener)
    : impl_(std::make_unique<Impl>(std::move(all_tasks), limits, std::move(options), agreement,
                                   std::move(listener))) {}

DISTRIBUTE_INLINE ElasticMember::~ElasticMember() = default;

DISTRIBUTE_INLINE std::optional<ElasticGeneration> ElasticMember::meet(
    const ElasticState& mine, const std::vector<int>& lost, const std::function<bool()>& given_up) {
  impl_->others.mine.state = mine;
  impl_->given_up = given_up;
  for (const int index : lost)  // perhaps frozen: the others shall find each other first
    impl_->others.silent_until[index] = Impl::Clock::now() + std::chrono::seconds(1);
  impl_->next_report = net::Deadline::after_seconds(impl_->options.report_interval);
  std::optional<ElasticGeneration> result;
  while (!result && !impl_->others.finished) {
    impl_->rendezvous.become(cluster_internal::MeetRole::Looks, -1);
    auto leader = impl_->others.find_leader(impl_->known_leader);
    if (leader.keeps())
      result = impl_->follow(leader.leader);
    else if (!impl_->others.finished)
      result = impl_->lead(lost);
  }
  return result;
}

DISTRIBUTE_INLINE bool ElasticMember::has_waiting_worker() const {
  return int(impl_->members.size()) < impl_->limits.max_workers &&
         !impl_->rendezvous.waiting().empty();
}

DISTRIBUTE_INLINE void ElasticMember::finish() {
  impl_->rendezvous.become(cluster_internal::MeetRole::Finished, -1);
}

DISTRIBUTE_INLINE void ElasticMember::withdraw() {
  impl_->others.server->stop_serving(cluster_internal::kMeetPurpose);
  impl_->rendezvous.become(cluster_internal::MeetRole::Follows, -1);
}

DISTRIBUTE_INLINE std::shared_ptr<TaskServer> ElasticMember::server() const {
  return impl_->others.server;
}
DISTRIBUTE_INLINE const ClusterTasks& ElasticMember::all_tasks() const { return impl_->tasks; }

}  // namespace distribute
