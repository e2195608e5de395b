/// What tests/comparison/worker_cases.py asks TensorFlow, of two processes.

#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/source_dir.hpp>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace distribute;
using testing::ProcessCluster;

namespace {

std::string show(const Tensor& tensor) {
  std::string text = "float";
  for (int axis = 0; axis < tensor.shape().rank(); ++axis)
    text += str_cat("[", tensor.shape()[axis], "]");
  char number[32];
  for (const float value : tensor.to_vector()) {
    std::snprintf(number, sizeof number, " %.7g", double(value));
    text += number;
  }
  return text;
}
std::string show(const std::string& text) { return text; }
template <typename T>
std::string show(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : " | ") + show(value);
  return text;
}
std::string show(const Mirrored<Tensor>& value) { return show(value.values()); }
std::string show(const PerReplica<Tensor>& value) { return show(value.values()); }

ReplicaContext& here() { return *get_replica_context(); }
Tensor own() { return Tensor(float(here().replica_id_in_sync_group() + 1)); }
Tensor refused() { throw InvalidArgumentError("no"); }

/// The cases of one worker, and their lines.
class Cases {
 public:
  Cases(Strategy& strategy, int worker) : strategy_(strategy), worker_(worker) {}
  void plain(const std::string& op);
  void gathers();
  void numbers();
  void variables();
  void runs();
  void errors();
  const std::string& lines() const { return lines_; }

 private:
  template <typename Function>
  void run(const std::string& name, Function function) {
    std::string text;
    try {
      text = show(function());
    } catch (const Error&) {
      text = "error";
    }
    lines_ += str_cat(worker_, "/", name, ": ", text, "\n");
  }
  /// What follows a mistake that all workers make.
  void after(const std::string& mistake, const std::function<Tensor()>& make);
  float mine() const { return float(worker_); }
  Variable made(VariableSynchronization synchronization = VariableSynchronization::Auto) const {
    const auto scope = strategy_.scope();
    return Variable(Tensor(1.0f),
                    {.synchronization = synchronization, .aggregation = VariableAggregation::Mean});
  }

  Strategy& strategy_;
  const int worker_;
  std::string lines_;
};

void Cases::plain(const std::string& op) {
  StrategyExtended& extended = strategy_.extended();
  const float one = mine() + 1;
  const auto reduced = [&](const ReduceValue& value, const ReduceAxis& axis = {}) {
    return [&, value, axis] { return strategy_.reduce(op, value, axis); };
  };
  run("reduce " + op + " of a scalar", reduced(Tensor(one)));
  run("reduce " + op + " of a vector", reduced(Tensor{one, 2.0f}));
  run("reduce " + op + " of a vector, axis 0", reduced(Tensor{one, one + 1}, 0));
  run("reduce " + op + " of uneven vectors, axis 0", reduced(fill({worker_ + 1}, one), 0));
  run("reduce " + op + " of 3", reduced(Tensor(3.0f)));
  run("reduce " + op + " of zero", reduced(Tensor(0.0f)));
  run("reduce " + op + " of a number", reduced(1.5));
  run("reduce_to " + op + " of a scalar",
      [&] { return extended.reduce_to(op, Tensor(one), "/cpu:0"); });
  run("reduce_to " + op + " of a vector", [&] {
    return extended.reduce_to(op, Tensor{one, 2.0f}, "/cpu:0");
  });
  run("batch_reduce_to " + op, [&] {
    return extended.batch_reduce_to(op,
                                    {{Tensor(one), "/cpu:0"}, {Tensor{mine(), 1.0f}, "/cpu:0"}});
  });
  run("reduce " + op + " of a plain variable",
      [&] { return strategy_.reduce(op, Variable(Tensor(one))); });
}

void Cases::gathers() {
  const float one = mine() + 1;
  run("gather", [&] { return strategy_.gather(Tensor{one}, 0); });
  run("gather uneven", [&] { return strategy_.gather(fill({worker_ + 1}, one), 0); });
  run("gather axis 1", [&] { return strategy_.gather(fill({1, worker_ + 1}, one), 1); });
  run("gather of scalars", [&] { return strategy_.gather(Tensor(one), 0); });
}

/// What every replica writes as one number of the program.
void Cases::numbers() {
  const std::vector<std::pair<std::string, VariableAggregation>> kinds{
      {"NONE", VariableAggregation::None},
      {"SUM", VariableAggregation::Sum},
      {"MEAN", VariableAggregation::Mean},
      {"ONLY_FIRST_REPLICA", VariableAggregation::OnlyFirstReplica}};
  const std::vector<std::pair<std::string, std::function<void(const Variable&)>>> changes{
      {"assign", [](const Variable& v) { v.assign(2.0); }},
      {"assign_add", [](const Variable& v) { v.assign_add(2.0); }},
      {"assign_sub", [](const Variable& v) { v.assign_sub(2.0); }}};
  for (const auto& [name, kind] : kinds)
    for (const auto& [change_name, change] : changes)
      run(change_name + " of a number, " + name, [&, kind = kind, &change = change] {
        const auto made = [&] {
          const auto scope = strategy_.scope();
          return Variable(Tensor(1.0f), {.aggregation = kind});
        };
        const Variable variable = made();
        strategy_.run([&] { change(variable); });
        return variable.read_value();
      });
}

void Cases::variables() {
  numbers();
  for (const std::string op : {"SUM", "MEAN"}) {
    run("reduce " + op + " of a variable", [&] { return strategy_.reduce(op, made()); });
    run("reduce " + op + " of a sync-on-read variable", [&] {
      const Variable variable = made(VariableSynchronization::OnRead);
      strategy_.run([&] { variable.assign(own() + 2.0f); });
      return strategy_.reduce(op, variable);
    });
  }
  run("device of a variable", [&] { return made().device(); });
}

void Cases::runs() {
  const auto inside = [&](Tensor (*function)()) {
    return strategy_.run(
        [&] { return here().merge_call([&](Strategy& inner) { return inner.run(function); }); });
  };
  struct Nest {
    Tensor a;
    std::vector<Tensor> b;
  };
  const auto gathered = [] {
    const Tensor id = own() - 1.0f;
    return here().all_gather(Nest{reshape(id, {1}), {stack({Tensor(1.0f), id})}}, 0);
  };
  run("run of reduce_to", [&] {
    return strategy_.run([](const Tensor& x) { return x * 2.0f; },
                         strategy_.extended().reduce_to("SUM", Tensor(mine() + 1), "/cpu:0"));
  });
  run("all_gather nested, a", [&] { return strategy_.run([&] { return gathered().a; }); });
  run("all_gather nested, b", [&] { return strategy_.run([&] { return gathered().b[0]; }); });
  run("run in merge_call", [&] { return inside(own); });
  run("run in merge_call, all_reduce",
      [&] { return inside([]() -> Tensor { return here().all_reduce(ReduceOp::Sum, own()); }); });
}

void Cases::after(const std::string& mistake, const std::function<Tensor()>& make) {
  run("error/" + mistake, make);
  run("error/" + mistake + ", then all_reduce",
      [&] { return strategy_.run([] { return here().all_reduce(ReduceOp::Sum, own()); }); });
  run("error/" + mistake + ", then reduce",
      [&] { return strategy_.reduce("SUM", strategy_.run(own)); });
}

void Cases::errors() {
  after("a wrong argument in a replica", [&] {
    return strategy_.run([] { return matmul(ones({1, 2}), ones({1, 2})); })[0];
  });
  after("an exception in a replica", [&] { return strategy_.run(refused)[0]; });
  after("an exception after an all_reduce", [&] {
    return strategy_.run([] {
      here().all_reduce(ReduceOp::Sum, Tensor(1.0f));
      return refused();
    })[0];
  });
  after("an exception in a merge_call", [&] {
    return strategy_.run([] { return here().merge_call([](Strategy&) { return refused(); }); })[0];
  });
  after("an axis that is not there",
        [&] { return strategy_.reduce("SUM", strategy_.run(own), 3); });
}

std::string read_cases() {
  std::ifstream file(distribute::testing::source_dir() + "/tests/comparison/worker_cases.txt");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(worker_cases) {
  MultiWorkerMirroredStrategy strategy;
  Cases cases(strategy, task.index());
  for (const char* op : {"SUM", "MEAN"}) cases.plain(op);
  cases.gathers();
  cases.variables();
  cases.runs();
  cases.errors();
  task.set_result(cases.lines());
}

TEST_CASE("two workers give what TensorFlow's give", "[strategy][multi_worker][multiproc]") {
  const std::string transport = GENERATE("auto", "tcp");
  ProcessCluster cluster(
      {.workers = 2,
       .function = "worker_cases",
       .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
       .deadline_seconds = 300});
  std::string ours;
  for (const auto& outcome : cluster.join()) ours += outcome.result.value_or("");
  std::istringstream lines(ours), theirs(read_cases());
  std::string line, expected;
  for (int count = 0;; ++count) {
    const bool more = bool(std::getline(theirs, expected)), has = bool(std::getline(lines, line));
    if (!more && !has) {
      CHECK(count > 90);
      break;
    }
    CHECK(line == expected);
    if (more != has) break;
  }
}
