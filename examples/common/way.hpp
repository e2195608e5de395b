#pragma once
/// A way to train: which tasks there are, what each of them does, and how gradients become updates.
/// One of them is chosen at the start (choose_way.hpp); what they share is in Way.

#include "saving.hpp"
#include "test_run.hpp"
#include "training.hpp"

#include <distribute/distribute.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace examples {

using Batch = distribute::data::Batch;

/// What is known of a step once it is made.
struct Step {
  double loss = 0;
  double second = 0;  // --loss_csv: norm of the gradients; else with own steps: share of right ones
  int64_t number = 0;  // in the job, from 1; -1: it was left out
};

class StepRunner;

class Way {
 public:
  explicit Way(Training& training);
  virtual ~Way();

  /// Whether this task writes the report and the files of figures.
  virtual bool is_chief() const { return training_.strategy.extended().should_checkpoint(); }
  /// Whether this task calls what writes weights: where all workers save together all of them do.
  virtual bool saves() const { return true; }
  /// Replicas whose gradients make one update.
  virtual int64_t replicas_in_sync() const { return training_.strategy.num_replicas_in_sync(); }
  /// "worker 1" where every worker makes steps of its own: its lines begin with it and show its
  /// accuracy. Empty: all make a step together.
  virtual std::string name_of_own_steps() const { return ""; }
  bool has_own_steps() const { return !name_of_own_steps().empty(); }
  /// Why a step cannot be a CUDA graph; empty: it may be one.
  virtual std::string why_not_recorded() const;

  /// Everything up to the first step. Once.
  /// Throws  distribute::Error for what cannot be used, or differs between tasks.
  void prepare();
  /// Trains to the job's last step and tests. A status: this task is done, without a result; it has
  /// served others, has left, or came too late.
  virtual std::optional<int> run(distribute::train::RunReport& report);

  // A step, on a replica.
  virtual int64_t minimize(const distribute::Tensor& loss, distribute::GradientTape& tape);
  virtual std::vector<distribute::Tensor> sum(const std::vector<distribute::Tensor>& gradients);
  /// Of gradients that are not summed yet.
  virtual int64_t apply(const std::vector<distribute::Tensor>& gradients);
  int64_t apply_summed(const std::vector<distribute::Tensor>& gradients);

  // A step, outside of the replicas.
  virtual distribute::PerReplica<Batch> next_batch() { return training_.next_of(*iterator_); }
  virtual void before_step() {}
  virtual void after_step(int64_t /*number*/) {}
  /// Over the tasks, of what Strategy::reduce has given.
  virtual distribute::Tensor sum_of_tasks(const distribute::Tensor& sums) { return sums; }

  /// The sums of `of_batch` over all of the test data; every example counts once.
  virtual TestSums test(const TestBatch& of_batch);
  /// Whether this task has a result of the test to report.
  virtual bool tests() const { return true; }

 protected:
  /// The way's own part of prepare(): data, weights, checkpoint, files.
  virtual void begin() = 0;
  /// Makes the steps from `first` on, up to the last of the job.
  virtual void make_steps(int64_t first, distribute::train::Progress& progress);
  virtual void save(int64_t step) { saving_->save(step); }
  /// The step of the last checkpoint, as far as this task knows.
  virtual int64_t saved_before(int64_t first) const { return first; }
  /// What the report says about the job, whose steps from `first` on took `seconds`.
  virtual void describe_job(distribute::train::RunReport& report, int64_t first, double seconds);
  void train(distribute::train::RunReport& report);
  void step_done(const Step& step, const std::string& worker);

  Training& training_;
  std::optional<Saving> saving_;                                  // from begin() on
  std::optional<distribute::DistributedIterator> iterator_ = {};  // the same
  std::unique_ptr<StepRunner> step_;

 private:
  void step_left_out(double loss) const;

  double last_loss_ = 0, first_step_seconds_ = 0;
  int64_t last_saved_ = 0;  // step
};

}  // namespace examples
