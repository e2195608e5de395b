#pragma once
/// --strategy=parameter_server with a chief that gives the steps to the workers.

#include "parameter_servers.hpp"

#include <distribute/coordinator/remote_dataset.hpp>
#include <distribute/coordinator/remote_function.hpp>

#include <cstdint>
#include <tuple>

namespace examples {

/// The chief, and with `serves` a worker.
class Coordinated : public ParameterServers {
 public:
  Coordinated(Training& training, distribute::ParameterServerJob job);

  void begin() override;
  /// A worker serves until the job is done.
  std::optional<int> run(distribute::train::RunReport& report) override;
  /// The chief, which has no replicas, reads the test set itself.
  TestSums test(const TestBatch& of_batch) override;

 private:
  /// Loss, second sum, number of the step, and which worker made it.
  using MadeStep = std::tuple<double, double, int64_t, int>;
  using RemoteStep = distribute::RemoteFunction<MadeStep(distribute::data::Iterator&)>;

  distribute::InputContext place() const override;
  void make_steps(int64_t first, distribute::train::Progress& progress) override;

  // Registered in every process, in this order.
  distribute::RemoteDataset remote_data_;
  RemoteStep remote_step_;
};

}  // namespace examples
