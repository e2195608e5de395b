#pragma once
/// Two replica threads with shared plain variables: enough to test what layers do with replicas.

#include <distribute/replica/detail/gradient_reducer.hpp>
#include <distribute/replica/replica_context.hpp>

#include <barrier>

#include "support/catch.hpp"

namespace distribute_test {

struct Meeting {
  std::barrier<> barrier{2};
  std::vector<distribute::Tensor> given[2];
  void* arguments[2] = {};
};

class TwoReplicaContext : public distribute::ReplicaContext,
                          public distribute::replica_internal::GradientReducer {
 public:
  TwoReplicaContext(Meeting& meeting, int id) : meeting_(meeting), id_(id) {}
  using ReplicaContext::all_reduce;
  int replica_id_in_sync_group() const override { return id_; }
  int num_replicas_in_sync() const override { return 2; }
  int local_replica_id() const override { return 0; }  // variables have one component
  distribute::Strategy& strategy() const override { throw std::logic_error("no strategy"); }

  std::vector<distribute::Tensor> all_reduce(distribute::ReduceOp op,
                                             std::span<const distribute::Tensor> values) override {
    meeting_.given[id_] = {values.begin(), values.end()};
    meeting_.barrier.arrive_and_wait();
    std::vector<distribute::Tensor> result;
    const float factor = op == distribute::ReduceOp::Mean ? 0.5f : 1.0f;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto a = meeting_.given[0][i].to_vector(), b = meeting_.given[1][i].to_vector();
      std::vector<float> sum(a.size());
      for (size_t j = 0; j < sum.size(); ++j) sum[j] = (a[j] + b[j]) * factor;
      result.push_back(distribute::Tensor(values[i].shape(), sum));
    }
    meeting_.barrier.arrive_and_wait();
    return result;
  }
  distribute::Tensor all_gather(const distribute::Tensor& value, int) override { return value; }
  void merge_untyped(const distribute::replica_internal::MeetingLead& lead, void* mine) override {
    meeting_.arguments[id_] = mine;
    meeting_.barrier.arrive_and_wait();
    if (id_ == 0) {
      distribute::replica_internal::mode_stack().push_back({});
      lead(meeting_.arguments);
      distribute::replica_internal::mode_stack().pop_back();
    }
    meeting_.barrier.arrive_and_wait();
  }
  void update(std::span<const distribute::VariableUpdate>, bool,
              const distribute::UpdateKernel&) override {}

 private:
  GradientReducer& gradient_reducer() override { return *this; }

  Meeting& meeting_;
  int id_;
};

/// Calls fn(replica) on two threads, each in its replica's context.
inline void run_two_replicas(const std::function<void(int)>& fn) {
  Meeting meeting;
  const auto work = [&](int id) {
    TwoReplicaContext context(meeting, id);
    distribute::replica_internal::mode_stack().push_back({&context, nullptr, -1});
    fn(id);
    distribute::replica_internal::mode_stack().pop_back();
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
}

}  // namespace distribute_test
