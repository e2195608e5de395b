#pragma once
/// Training of a libtorch module by ranks that may join and leave.

#include <distribute/base/config.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/torch/process_group.hpp>

#include <torch/torch.h>

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::torch::elastic {

using distribute::HostsUpdatedInterrupt;

/// What all ranks of an elastic job must have equal: a module, its optimizer, and numbers of the
/// program. They must outlive it. One thread.
/// Source  horovod.torch.elastic.TorchState
class TorchState {
 public:
  TorchState(::torch::nn::Module& module, ::torch::optim::Optimizer& optimizer);

  /// Adds a number of the program, such as the epoch.
  void add(std::integral auto& number) {
    numbers_.push_back(
        {[&number] { return int64_t(number); },
         [&number](int64_t value) { number = std::remove_reference_t<decltype(number)>(value); }});
    save();
  }

  /// Keeps a copy of everything in memory; check_host_updates() then lets ranks join and leave. The
  /// longer the distance between commits, the more steps are repeated after a loss.
  /// Throws  HostsUpdatedInterrupt on all ranks when one wants to join, or was told to leave.
  void commit();
  void check_host_updates();
  /// Restores the last copy that commit() or sync() kept.
  void restore();
  /// Gives all ranks the state of the rank that has the newest, and keeps a copy.
  void sync();

 private:
  struct Number {
    std::function<int64_t()> get;
    std::function<void(int64_t)> set;
  };
  void save();
  std::string bytes() const;
  void set_bytes(const std::string& bytes);

  ::torch::nn::Module& module_;
  ::torch::optim::Optimizer& optimizer_;
  std::vector<Number> numbers_;
  std::string saved_;
};

using distribute::ElasticEnd;

/// Calls `train` until it returns. The ranks meet again when one is lost; the remaining ranks then
/// go back to the last commit. They also meet at a commit when a rank joins or was told to leave by
/// SIGTERM. All ranks then take over the newest state, and `train` is called again: it makes its
/// DistributedDataParallel and its sampler, as both belong to one set of ranks.
/// Call init_process_group() first; the job is elastic if its options or `distribute run --min-np`
/// say so, otherwise `train` is called once. After Left and TooLate this rank is out of the job.
/// Throws  errors of `train`, unless they come from the end of another rank; UnavailableError when
///         ranks change more often than `reset_limit` (-1: no limit), and when too few ranks are
///         there in time.
/// Source  horovod.torch.elastic.run
ElasticEnd run(TorchState& state, const std::function<void()>& train, int reset_limit = -1);

}  // namespace distribute::torch::elastic
