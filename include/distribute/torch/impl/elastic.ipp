#pragma once
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/torch/detail/elastic_job.hpp>
#include <distribute/torch/elastic.hpp>

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>

namespace distribute::torch::elastic {

DISTRIBUTE_INLINE TorchState::TorchState(::torch::nn::Module& module,
                                         ::torch::optim::Optimizer& optimizer)
    : module_(module), optimizer_(optimizer) {
  save();
}

DISTRIBUTE_INLINE std::string TorchState::bytes() const {
  ::torch::serialize::OutputArchive module, optimizer, all;
  module_.save(module);
  optimizer_.save(optimizer);
  std::vector<int64_t> numbers{0};
  for (const Number& number : numbers_) numbers.push_back(number.get());
  all.write("module", module);
  all.write("optimizer", optimizer);
  all.write("numbers", ::torch::tensor(numbers, ::torch::kInt64), /*is_buffer=*/true);
  std::ostringstream stream;
  all.save_to(stream);
  return std::move(stream).str();
}

DISTRIBUTE_INLINE void TorchState::set_bytes(const std::string& bytes) {
  ::torch::serialize::InputArchive all, module, optimizer;
  std::istringstream stream(bytes);
  all.load_from(stream);
  all.read("module", module);
  all.read("optimizer", optimizer);
  module_.load(module);
  optimizer_.load(optimizer);
  Tensor numbers;
  all.read("numbers", numbers, /*is_buffer=*/true);
  for (size_t i = 0; i < numbers_.size(); ++i)
    numbers_[i].set(numbers[int64_t(i) + 1].item<int64_t>());
}

DISTRIBUTE_INLINE void TorchState::save() { saved_ = bytes(); }
DISTRIBUTE_INLINE void TorchState::restore() { set_bytes(saved_); }

DISTRIBUTE_INLINE void TorchState::commit() {
  save();
  if (const auto job = torch_internal::elastic_job()) job->count_commit();
  check_host_updates();
}

DISTRIBUTE_INLINE void TorchState::check_host_updates() {
  const auto job = torch_internal::elastic_job();
  if (job && job->members_change()) throw HostsUpdatedInterrupt();
}

DISTRIBUTE_INLINE void TorchState::sync() {
  const auto job = torch_internal::elastic_job();
  const int source = job ? job->source() : 0;
  if (get_world_size() > 1) set_bytes(broadcast_bytes(get_rank() == source ? bytes() : "", source));
  save();
}

using torch_internal::ElasticJob;

/// Runs `train` once; the result is empty when the ranks must meet again.
DISTRIBUTE_INLINE std::optional<ElasticEnd> attempt(TorchState& state, ElasticJob& job,
                                                    const std::function<void()>& train) {
  try {
    state.sync();
    job.state_is_shared();
    train();
    job.workers().finish();
    return ElasticEnd::Finished;
  } catch (const HostsUpdatedInterrupt&) {
    if (!job.leaves()) return std::nullopt;
    job.workers().withdraw();
    destroy_process_group();
    return ElasticEnd::Left;
  } catch (const std::exception& error) {
    if (job.others_fault()) return state.restore(), std::nullopt;
    job.workers().withdraw();
    job.workers().report_error(StatusCode::Internal, error.what());
    throw;
  }
}

DISTRIBUTE_INLINE ElasticEnd run(TorchState& state, const std::function<void()>& train,
                                 int reset_limit) {
  const std::shared_ptr<ElasticJob> job = torch_internal::elastic_job();
  if (!job) return state.sync(), train(), ElasticEnd::Finished;
  const LeaveNotice notice;
  const auto told_to_leave = [&] { return notice.has_come(); };
  job->set_told_to_leave(told_to_leave);
  for (int resets = 0;; ++resets) {
    if (const auto end = attempt(state, *job, train)) return *end;
    const std::string reason = job->reason();
    if (reset_limit >= 0 && resets >= reset_limit)
      throw UnavailableError(str_cat("elastic: the ranks have changed ", resets,
                                     " times, which is the limit", reason.empty() ? "" : ": ",
                                     reason));
    if (!job->next(told_to_leave)) return told_to_leave() ? ElasticEnd::Left : ElasticEnd::TooLate;
    if (is_chief())
      log_info("torch", str_cat("elastic: ", reason.empty() ? "ranks leave or join" : reason,
                                "; going on with ", get_world_size(), " ranks"));
  }
}

}  // namespace distribute::torch::elastic
