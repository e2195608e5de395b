#pragma once
#include <distribute/torch/detail/elastic_job.hpp>
#include <distribute/torch/elastic.hpp>

#include <cstring>
#include <memory>
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
  if (job) job->check_members();
}

DISTRIBUTE_INLINE void TorchState::sync() {
  const auto job = torch_internal::elastic_job();
  const int source = job ? job->source() : 0;
  if (get_world_size() > 1) set_bytes(broadcast_bytes(get_rank() == source ? bytes() : "", source));
  save();
}

DISTRIBUTE_INLINE ElasticEnd run(TorchState& state, const std::function<void()>& train,
                                 int reset_limit) {
  const auto job = torch_internal::elastic_job();
  if (!job) return state.sync(), train(), ElasticEnd::Finished;
  return job->run(
      {.train = train, .sync = [&] { state.sync(); }, .restore = [&] { state.restore(); }},
      reset_limit);
}

}  // namespace distribute::torch::elastic
