#pragma once
/// --strategy=multi_worker --elastic: workers leave and join while training goes on.

#include "way.hpp"

#include <distribute/train/elastic_loop.hpp>

#include <optional>

namespace examples {

/// For a worker that the job has no use for any more; gives the exit status.
int too_late();

class ElasticWorkers : public Way {
 public:
  using Way::Way;

  void begin() override;
  distribute::PerReplica<Batch> next_batch() override { return training_.next_of(*batches_); }
  void after_step(int64_t number) override;
  /// Trains and tests, again when workers are lost meanwhile.
  std::optional<int> run(distribute::train::RunReport& report) override;

 private:
  void check_data();
  void members_changed(const distribute::train::ElasticMembers& members);

  std::optional<distribute::train::ElasticIterator> batches_;
  std::optional<distribute::train::ElasticLoop> loop_;
};

}  // namespace examples
