#pragma once
/// --api=horovod --elastic: ranks leave and join, and the chief may be another one each time.

#include "horovod.hpp"

#include <distribute/train/elastic_loop.hpp>

#include <optional>

namespace examples {

class ElasticHorovod : public Horovod {
 public:
  using Horovod::Horovod;

  /// What must be equal on all ranks is compared when they meet, in run().
  void begin() override;
  /// Trains and tests, again when ranks are lost, leave or join meanwhile.
  std::optional<int> run(distribute::train::RunReport& report) override;
  /// This rank's rows of the whole batch.
  distribute::PerReplica<Batch> next_batch() override;
  void after_step(int64_t number) override;
  TestSums test(const TestBatch& of_batch) override;

 private:
  void save(int64_t step) override;
  void train_as_ranks(distribute::train::RunReport& report);

  std::optional<distribute::train::ElasticIterator> batches_;
  distribute::hvd::elastic::State* state_ = nullptr;  // while the ranks train
  bool was_chief_ = false;                            // when they last met
};

}  // namespace examples
