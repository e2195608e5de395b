#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/announce_task.hpp>
#include <distribute/cluster/detail/cluster_metrics.hpp>
#include <distribute/cluster/detail/cluster_runtime_impl.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/cluster/detail/leader_membership.hpp>
#include <distribute/cluster/detail/lone_process.hpp>
#include <distribute/cluster/detail/member_membership.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <array>

namespace distribute::cluster_internal {

/// The needed descriptors are at least a port, the control connections, those for waiting and a
/// look-up of names; in addition several connections to each other task, and the same number for
/// data.
DISTRIBUTE_INLINE void prepare_descriptors(const ClusterTasks& tasks) {
  const int control = tasks.rank == 0 ? tasks.size() - 1 : 1;
  base_internal::prepare_descriptors(tasks.self().name(), control + 8, 64 + 16 * tasks.size());
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ClusterRuntime::Impl::Impl(ClusterTasks the_tasks, ClusterOptions the_options,
                                             net::Listener listener)
    : tasks(std::move(the_tasks)), options(std::move(the_options)) {
  check_tasks(tasks);
  check_options(options);
  if (tasks.size() > 1) cluster_internal::prepare_descriptors(tasks);
  cluster_internal::check_loopback(tasks, options);
  config = {.self = {tasks.self().type, tasks.self().index, value_or_throw(net::random_number())},
            .job = job_fingerprint(tasks),
            .token = options.job_token};
  if (tasks.size() > 1) config.tls = make_tls(options, config.self.name());
  if (listener)
    start_server(std::move(listener));
  else if (tasks.size() > 1 && !(options.bind_address + tasks.self().address).empty())
    open_server(tasks.self().address);
  make_membership();
}

DISTRIBUTE_INLINE ClusterRuntime::Impl::Impl(ClusterTasks the_tasks, ClusterOptions the_options,
                                             std::shared_ptr<TaskServer> the_server, int64_t number)
    : tasks(std::move(the_tasks)),
      options(std::move(the_options)),
      config(the_server->config()),
      generation(number),
      server(std::move(the_server)) {
  check_tasks(tasks);
  check_options(options);
  if (tasks.size() > 1) cluster_internal::prepare_descriptors(tasks);
  serve_peers();
  make_membership();
}

DISTRIBUTE_INLINE ClusterRuntime::Impl::~Impl() {
  membership.reset();
  if (!server) return;
  server->stop_serving(of_generation(cluster_internal::kPeerPurpose));
  server->stop_serving(purpose_of_reach());
}

/// The host at which the others find a task without an address: its end of the connection to the
/// leader; where that is a loopback address, on the leader's own host, the leader's name.
DISTRIBUTE_INLINE std::string ClusterRuntime::Impl::host_for_others(
    const net::Address& local) const {
  const auto leader = value_or_throw(net::parse_address(tasks.members[0].address));
  return local.is_loopback() && !leader.is_loopback() ? leader.host : local.host;
}

/// Returns the server's address, with the host's name if the numbers have no meaning on other
/// hosts.
DISTRIBUTE_INLINE std::string ClusterRuntime::Impl::address_for_others(
    const std::string& host) const {
  const net::Address& own = server->address();
  const bool everywhere = own.host == "0.0.0.0" || own.host == "::";
  const bool inside = own.is_loopback() && !net::Address{host, 0}.is_loopback();
  return everywhere || inside ? net::Address{host, own.port}.text() : own.text();
}

DISTRIBUTE_INLINE void ClusterRuntime::Impl::open_server(const std::string& address) {
  start_server(cluster_internal::open_own_port(tasks.self().name(), address, options));
}

DISTRIBUTE_INLINE void ClusterRuntime::Impl::start_server(net::Listener listener) {
  ClusterOptions own = options;  // all tasks may come at the same moment
  own.max_unauthenticated = std::max(own.max_unauthenticated, 2 * tasks.size());
  server = std::make_shared<TaskServer>(std::move(listener), config, std::move(own));
  serve_peers();
  if (tasks.rank != 0) server->start();  // the leader's membership serves another purpose first
}

DISTRIBUTE_INLINE void ClusterRuntime::Impl::serve_peers() {
  server->serve(of_generation(cluster_internal::kPeerPurpose),
                [this](TaskConnection connection) { peers.add(std::move(connection)); });
  server->serve(purpose_of_reach(), [](TaskConnection) {});
}

DISTRIBUTE_INLINE void ClusterRuntime::Impl::make_membership() {
  using namespace cluster_internal;
  if (tasks.rank == 0) {
    JoinedMember self{tasks.self().address, config.self.incarnation, host_identity()};
    membership = std::make_unique<LeaderMembership>(tasks, options, server.get(), std::move(self),
                                                    of_generation(kMemberPurpose));
  } else {
    membership = std::make_unique<MemberMembership>(
        tasks, options, config,
        [this](const net::Address& local) {
          const std::string host = host_for_others(local);
          if (!server) open_server(net::Address{host, 0}.text());
          return tasks.self().address.empty() ? address_for_others(host) : tasks.self().address;
        },
        of_generation(kMemberPurpose));
  }
  const auto wake = [this](int, const std::string&) { peers.wake(); };
  membership->on_lost([this](int, const std::string&) {
    peers.wake();
    end_dialing();
  });
  membership->on_left(wake);
}

/// Metrics are served at the task's address; a task without a port serves them on loopback only.
DISTRIBUTE_INLINE void ClusterRuntime::Impl::announce() const {
  cluster_internal::announce_task(tasks.self().type, tasks.self().index,
                                  server ? server->address().host : "127.0.0.1");
}

DISTRIBUTE_INLINE ClusterRuntime::ClusterRuntime(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {
  cluster_internal::note_place_read();
}

DISTRIBUTE_INLINE std::shared_ptr<ClusterRuntime> ClusterRuntime::join(ClusterTasks tasks,
                                                                       ClusterOptions options) {
  return join(std::move(tasks), std::move(options), net::Listener());
}

DISTRIBUTE_INLINE std::shared_ptr<ClusterRuntime> ClusterRuntime::join(ClusterTasks tasks,
                                                                       ClusterOptions options,
                                                                       net::Listener listener) {
  auto impl = std::make_unique<Impl>(std::move(tasks), std::move(options), std::move(listener));
  impl->announce();
  return start(std::move(impl));
}

DISTRIBUTE_INLINE std::shared_ptr<ClusterRuntime> ClusterRuntime::join(
    ClusterTasks tasks, ClusterOptions options, std::shared_ptr<TaskServer> server,
    int64_t generation) {
  return start(
      std::make_unique<Impl>(std::move(tasks), std::move(options), std::move(server), generation));
}

DISTRIBUTE_INLINE std::shared_ptr<ClusterRuntime> ClusterRuntime::start(
    std::unique_ptr<Impl> impl) {
  impl->membership->join(net::Deadline::after_seconds(impl->options.startup_timeout));
  std::vector<std::string> host_of_rank;
  for (int rank = 0; rank < impl->tasks.size(); ++rank) {
    const auto& joined = impl->membership->joined()[size_t(rank)];
    impl->tasks.members[size_t(rank)].address = joined.address;
    host_of_rank.push_back(joined.host);
  }
  impl->hosts = number_hosts(host_of_rank);
  impl->ready = std::make_unique<ReadyFile>(ready_file_path());
  cluster_internal::cluster_metrics().tasks.set(impl->tasks.size());
  return std::shared_ptr<ClusterRuntime>(new ClusterRuntime(std::move(impl)));
}

DISTRIBUTE_INLINE ClusterRuntime::~ClusterRuntime() {
  if (std::uncaught_exceptions() > impl_->exceptions)
    report_error(StatusCode::Aborted, "it ended with an exception");
  leave();
}

DISTRIBUTE_INLINE int ClusterRuntime::rank() const { return impl_->tasks.rank; }
DISTRIBUTE_INLINE int ClusterRuntime::size() const { return impl_->tasks.size(); }
DISTRIBUTE_INLINE const ClusterMember& ClusterRuntime::member(int rank) const {
  return impl_->tasks.members.at(size_t(rank));
}
DISTRIBUTE_INLINE std::string ClusterRuntime::describe(int rank) const {
  return member(rank).text();
}
DISTRIBUTE_INLINE uint64_t ClusterRuntime::incarnation() const {
  return impl_->config.self.incarnation;
}
DISTRIBUTE_INLINE int64_t ClusterRuntime::generation() const { return impl_->generation; }
DISTRIBUTE_INLINE const std::vector<int>& ClusterRuntime::hosts() const { return impl_->hosts; }
DISTRIBUTE_INLINE const ClusterOptions& ClusterRuntime::options() const { return impl_->options; }

DISTRIBUTE_INLINE void ClusterRuntime::set(const std::string& key, const std::string& value,
                                           OptionalDeadline deadline) {
  impl_->membership->request(
      {.type = cluster_internal::ControlType::Set, .name = key, .value = value},
      impl_->deadline_of(deadline), "set \"" + key + "\"");
}

DISTRIBUTE_INLINE std::string ClusterRuntime::get(const std::string& key,
                                                  OptionalDeadline deadline) {
  return impl_->membership->request({.type = cluster_internal::ControlType::Get, .name = key},
                                    impl_->deadline_of(deadline), "get \"" + key + "\"");
}

DISTRIBUTE_INLINE void ClusterRuntime::barrier(const std::string& name, OptionalDeadline deadline) {
  impl_->membership->request(
      {.type = cluster_internal::ControlType::Gather, .code = 1, .name = "barrier " + name},
      impl_->deadline_of(deadline), "barrier");
}

DISTRIBUTE_INLINE std::vector<std::string> ClusterRuntime::all_gather(const std::string& name,
                                                                      const std::string& bytes,
                                                                      OptionalDeadline deadline) {
  const std::string values = impl_->membership->request(
      {.type = cluster_internal::ControlType::Gather, .name = "all_gather " + name, .value = bytes},
      impl_->deadline_of(deadline), "all_gather");
  return value_or_throw(
      net::parse_message<cluster_internal::GatheredTexts>(values, "gathered texts"));
}

DISTRIBUTE_INLINE void ClusterRuntime::agree(const std::string& what, const std::string& json_text,
                                             OptionalDeadline deadline) {
  using namespace cluster_internal;
  const net::Deadline until = impl_->deadline_of(deadline);
  const std::string text = canonical_json(json_text);
  // The texts themselves travel only when they differ.
  const std::string digest = net::encode_message(
      std::array<uint64_t, 3>{text.size(), fnv1a(text), fnv1a(text, 0x9e3779b97f4a7c15u)});
  if (impl_->membership->request(
          {.type = ControlType::Gather, .code = 1, .name = "agree digest " + what, .value = digest},
          until, "agree") == kAllEqual)
    return;
  std::vector<std::string> names;
  for (int rank = 0; rank < size(); ++rank) names.push_back(describe(rank));
  const std::string difference = first_difference(names, all_gather("agree " + what, text, until));
  throw FailedPreconditionError(str_cat("the tasks do not agree on ", what, ": ", difference));
}

DISTRIBUTE_INLINE int ClusterRuntime::next_number(const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->numbers[name]++;
}

DISTRIBUTE_INLINE int ClusterRuntime::on_lost(LostCallback callback) {
  return impl_->membership->on_lost(std::move(callback));
}
DISTRIBUTE_INLINE int ClusterRuntime::on_left(LostCallback callback) {
  return impl_->membership->on_left(std::move(callback));
}
DISTRIBUTE_INLINE void ClusterRuntime::remove_on_lost(int id) {
  impl_->membership->remove_on_lost(id);
}
DISTRIBUTE_INLINE bool ClusterRuntime::report_waiting(const std::string& what) {
  return impl_->membership->report_waiting(what);
}
DISTRIBUTE_INLINE void ClusterRuntime::report_late() { impl_->membership->report_late(); }
DISTRIBUTE_INLINE std::optional<TaskFailure> ClusterRuntime::lost() const {
  return impl_->membership->failure();
}
DISTRIBUTE_INLINE void ClusterRuntime::throw_if_lost() const {
  impl_->membership->throw_if_failed();
}
DISTRIBUTE_INLINE bool ClusterRuntime::wait_lost(net::Deadline deadline) const {
  return impl_->membership->wait_failure(deadline);
}
DISTRIBUTE_INLINE void ClusterRuntime::report_error(StatusCode code, const std::string& message) {
  impl_->membership->report_error(code, message);
}
DISTRIBUTE_INLINE void ClusterRuntime::set_progress(std::function<std::string()> text) {
  impl_->membership->set_progress(std::move(text));
}
DISTRIBUTE_INLINE std::vector<std::string> ClusterRuntime::progress() const {
  return impl_->membership->progress();
}
DISTRIBUTE_INLINE std::vector<ProgressGroup> ClusterRuntime::progress_groups() const {
  return impl_->membership->progress_groups();
}
DISTRIBUTE_INLINE void ClusterRuntime::want_progress() { impl_->membership->want_progress(); }
/// Tasks of one host have one steady clock.
DISTRIBUTE_INLINE int64_t ClusterRuntime::clock_offset_ns() const {
  return hosts()[size_t(rank())] == hosts()[0] ? 0 : impl_->membership->clock_offset_ns();
}
DISTRIBUTE_INLINE void ClusterRuntime::leave() {
  impl_->ready.reset();
  impl_->membership->leave();
}

}  // namespace distribute
