#include "multi_worker.hpp"

namespace dist = distribute;

namespace examples {

void check_same_data(Training& t) {
  if (t.strategy.extended().input_context().num_input_pipelines() == 1) return;
  const auto mine = t.strategy.run([count = t.task.training_examples] {
    return dist::Tensor(dist::Shape{1}, std::vector<int64_t>{count});
  });
  const dist::Tensor all = t.strategy.gather(mine, 0);
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::str_cat(
          "--data_dir: replica ", r, " has ", counts[r], " training ", t.task.examples,
          ", replica 0 has ", counts[0], "; all workers need the same data"));
}

void MultiWorker::begin() {
  check_same_data(t);
  OneProcess::begin();
}

}  // namespace examples
