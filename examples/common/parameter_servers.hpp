#pragma once
/// What both ways with parameter servers have in common: variables on servers, and a chief that
/// restores and saves alone while the other tasks wait for it.

#include "one_process.hpp"

#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <memory>
#include <optional>

namespace examples {

class ParameterServers : public Way {
 public:
  ParameterServers(Training& training, distribute::ParameterServerJob job);
  ~ParameterServers() override;

  bool saves() const override { return is_chief(); }
  bool tests() const override { return is_chief(); }
  std::string name_of_own_steps() const override;
  void before_step() override;

 protected:
  /// Number of this task among those that train, and how many there are.
  virtual distribute::InputContext place() const = 0;
  /// This task's part of the batches: workers share files, or take the batches in turn.
  distribute::data::Dataset share_of(const distribute::InputContext& place) const;
  /// The chief says that the weights are there and how it was started; others wait for that.
  /// Throws  FailedPreconditionError with the first flag that differs.
  void agree_on_options() const;
  /// Of a task that has input: its share of the data, weights and checkpoints.
  void open();
  void save(int64_t step) override;
  int64_t saved_before(int64_t first) const override;
  void describe_job(distribute::train::RunReport& report, int64_t first, double seconds) override;

  const distribute::ParameterServerJob job_;

 private:
  void restore();

  std::unique_ptr<distribute::train::PreemptionNotice> notice_;
  std::optional<distribute::train::ChiefPreemptionHandler> leave_;
};

}  // namespace examples
