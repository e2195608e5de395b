#include "between_graph.hpp"

namespace dist = distribute;

namespace examples {

dist::InputContext BetweenGraph::place() const {
  const int chiefs = job_.cluster().has_job("chief") ? 1 : 0;
  const int number = job_.task_type() == "chief" ? 0 : job_.task_id() + chiefs;
  return dist::InputContext(job_.cluster().num_tasks("worker") + chiefs, number);
}

void BetweenGraph::begin() {
  iterator_.emplace(t.strategy.experimental_distribute_dataset(share_of(place())).iterator());
  open_checkpoints(position_in_data(t.options, *iterator_));
}

}  // namespace examples
