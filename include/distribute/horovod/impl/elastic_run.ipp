#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>
#include <distribute/horovod/elastic_state.hpp>

#include <csignal>
#include <memory>
#include <optional>

namespace distribute::hvd::elastic {

using horovod_internal::ElasticJob;

/// Runs `train` once; the result is empty when the ranks must meet again.
DISTRIBUTE_INLINE std::optional<ElasticEnd> attempt(State& state, ElasticJob& job,
                                                    const std::function<void()>& train) {
  try {
    state.sync();
    job.state_is_shared();
    train();
    job.finish();
    return ElasticEnd::Finished;
  } catch (const HostsUpdatedInterrupt&) {
    if (!job.leaves()) return std::nullopt;
    job.withdraw();
    shutdown();
    return ElasticEnd::Left;
  } catch (const Error& error) {
    if (job.others_fault()) return state.restore(), std::nullopt;
    job.withdraw();
    job.report_error(error.code(), error.what());
    throw;
  }
}

DISTRIBUTE_INLINE void check_reset_limit(const RunOptions& options, int resets,
                                         const ElasticJob& job) {
  if (options.reset_limit < 0 || resets < options.reset_limit) return;
  throw UnavailableError(str_cat("elastic: the ranks have changed ", resets,
                                 " times, which is the limit", job.reason().empty() ? "" : ": ",
                                 job.reason()));
}

/// Makes the ranks meet; returns false when this rank is out of the job.
DISTRIBUTE_INLINE bool meet_again(ElasticJob& job, const std::function<bool()>& given_up) {
  const std::string reason = job.reason();
  horovod_internal::last_engine()->stop();
  const auto engine = job.next(given_up);
  if (!engine) return false;
  engine->set_elastic_job(horovod_internal::last_engine()->elastic_job());
  horovod_internal::set_engine(engine);
  if (engine->rank() == 0)
    log_info("horovod", str_cat("elastic: ", reason.empty() ? "ranks leave or join" : reason,
                                "; going on with ", engine->size(), " ranks"));
  return true;
}

DISTRIBUTE_INLINE ElasticEnd run_until_done(State& state, const std::function<void()>& train,
                                            const RunOptions& options) {
  const std::shared_ptr<ElasticJob> job = horovod_internal::engine()->elastic_job();
  if (!job) return state.sync(), train(), ElasticEnd::Finished;
  const LeaveNotice notice;
  const auto told_to_leave = [&] { return notice.has_come(); };
  const StateInJob in_job(state, job, told_to_leave);
  for (int resets = 0;; ++resets) {
    if (const auto end = attempt(state, *job, train)) return *end;
    check_reset_limit(options, resets, *job);
    if (!meet_again(*job, told_to_leave))
      return told_to_leave() ? ElasticEnd::Left : ElasticEnd::TooLate;
    state.on_reset();
  }
}

}  // namespace distribute::hvd::elastic
