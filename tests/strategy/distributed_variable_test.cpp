#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/strategy/replica_check.hpp>
#include <tests/support/answer_table.hpp>
#include <tests/support/catch.hpp>

#include <atomic>
#include <map>
#include <string>
#include <vector>

using namespace distribute;
using Catch::Contains;
using Sync = VariableSynchronization;
using Agg = VariableAggregation;

namespace {

int id_here() { return get_replica_context()->replica_id_in_sync_group(); }

Variable make(float value, Sync synchronization, Agg aggregation) {
  return Variable(Tensor(value),
                  {.name = "v", .synchronization = synchronization, .aggregation = aggregation});
}

/// Each replica's copy.
std::vector<float> copies(const Variable& variable) {
  std::vector<float> values;
  for (int i = 0; i < variable.impl().num_components(); ++i)
    values.push_back(variable.impl().component(i).item<float>());
  return values;
}

std::vector<float> all(int n, float value) { return std::vector<float>(size_t(n), value); }

}  // namespace

TEST_CASE("an assignment across replicas reaches every copy of a mirrored variable (case 28)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 3, 4);
  const Agg aggregation = GENERATE(Agg::None, Agg::Sum, Agg::Mean, Agg::OnlyFirstReplica);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable v = make(0, Sync::OnWrite, aggregation);
  v.assign(Tensor(1.0f));
  CHECK(copies(v) == all(n, 1));
  v.assign_add(Tensor(3.0f));
  CHECK(copies(v) == all(n, 4));
  v.assign_sub(Tensor(1.5f));
  CHECK(copies(v) == all(n, 2.5f));
  CHECK(v.value().item<float>() == 2.5f);
}

TEST_CASE("the same literal in every replica is no sum (cases 28, 45)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(2, 3);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Tensor one(1.0f), zero(0.0f);
  for (Agg aggregation : {Agg::None, Agg::Mean, Agg::OnlyFirstReplica}) {
    const Variable v = make(0, Sync::OnWrite, aggregation);
    strategy.run([&] { v.assign(one); });
    CHECK(copies(v) == all(n, 1));
    strategy.run([&] { v.assign_add(one); });
    CHECK(copies(v) == all(n, 2));
  }
  const Variable v = make(7, Sync::OnWrite, Agg::Sum);
  CHECK_THROWS_WITH(strategy.run([&] { v.assign(one); }),
                    Contains("cannot be reduced with the given reduce op"));
  strategy.run([&] { v.assign(zero); });
  CHECK(copies(v) == all(n, 0));
}

TEST_CASE("values of the replicas are aggregated before a mirrored variable is written (case 29)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable sum = make(0, Sync::OnWrite, Agg::Sum), mean = make(0, Sync::OnWrite, Agg::Mean),
                 first = make(0, Sync::OnWrite, Agg::OnlyFirstReplica);
  strategy.run([&] {
    for (const Variable& v : {sum, mean, first}) {
      v.assign(Tensor(2.0f));
      v.assign_add(Tensor(float(id_here())));
    }
  });
  const float ids = float(n * (n - 1)) / 2;
  CHECK(copies(sum) == all(n, 2.0f * float(n) + ids));
  CHECK(copies(mean) == all(n, 2 + ids / float(n)));
  CHECK(copies(first) == all(n, 2));  // case 30: testAggregationOnlyFirstReplica
  CHECK(sum.impl().component(0).id() == sum.impl().component(n - 1).id());
}

TEST_CASE("without aggregation a replica writes its own copy alone (case 45)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v = make(1, Sync::OnWrite, Agg::None);
  const auto seen = strategy.run([&] {
    v.assign_add(Tensor(float(id_here())));
    return v.value().item<float>();
  });
  CHECK(seen.values() == std::vector<float>{1, 2, 3});
  CHECK(copies(v) == std::vector<float>{1, 2, 3});
  CHECK(v.value().item<float>() == 1);  // the primary copy
  v.assign_add(Tensor(10.0f));
  CHECK(copies(v) == std::vector<float>{11, 12, 13});
}

TEST_CASE("a variable can be assigned outside of every scope (cases 31, 48)",
          "[strategy][distributed_variable]") {
  MirroredStrategy mirrored({.num_replicas = 2});
  CentralStorageStrategy central({.num_replicas = 2});
  Variable v, w;
  {
    const auto scope = mirrored.scope();
    v = make(0, Sync::OnWrite, Agg::Sum);
  }
  {
    const auto scope = central.scope();
    w = make(0, Sync::OnWrite, Agg::Sum);
  }
  v.assign(Tensor(3.0f));
  w.assign(Tensor(4.0f));
  CHECK(copies(v) == all(2, 3));
  CHECK(w.value().item<float>() == 4);
  const auto scope = central.scope();
  CHECK_THROWS_WITH(v.assign(Tensor(1.0f)), Contains("Mixing different"));
}

TEST_CASE("the first value is made once, for all copies (case 32)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 4);
  MirroredStrategy strategy({.num_replicas = n});
  std::atomic<int> made{0};
  std::vector<Variable> created(static_cast<size_t>(n));
  strategy.run([&] {
    created[size_t(id_here())] =
        Variable([&] { return Tensor(float(++made)); }, {.name = "inside"});
  });
  CHECK(made == 1);
  CHECK(copies(created[0]) == all(n, 1));
  CHECK(created.front() == created.back());
  CHECK(created[0].impl().num_components() == n);
}

TEST_CASE("replicas that create variables of different names are refused (case 43)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CHECK_THROWS_AS(strategy.run([] { Variable v(Tensor(1.0f), {.name = str_cat("v", id_here())}); }),
                  FailedPreconditionError);
}

TEST_CASE("a variable synchronized on reading is aggregated across replicas (cases 35, 36)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable sum = make(0, Sync::OnRead, Agg::Sum), mean = make(0, Sync::OnRead, Agg::Mean),
                 first = make(0, Sync::OnRead, Agg::OnlyFirstReplica);
  strategy.run([&] {
    for (const Variable& v : {sum, mean, first}) {
      v.assign(Tensor(float(id_here())));
      REPLICA_CHECK(v.value().item<float>() == float(id_here()));
    }
  });
  CHECK(sum.value().item<float>() == float(n * (n - 1)) / 2);
  CHECK(mean.read_value().item<float>() == float(n - 1) / 2);
  CHECK(first.value().item<float>() == 0);
  CHECK_FALSE(sum.trainable());
}

TEST_CASE("assigning a sum across replicas divides it (cases 37, 38, 40)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable sum = make(0, Sync::OnRead, Agg::Sum), mean = make(0, Sync::OnRead, Agg::Mean);
  sum.assign(Tensor(float(n)));
  CHECK(copies(sum) == all(n, 1));
  CHECK(sum.value().item<float>() == float(n));
  CHECK_THROWS_WITH(sum.assign_add(Tensor(1.0f)), Contains("SyncOnReadVariable does not support"));
  CHECK_THROWS_WITH(sum.assign_sub(Tensor(1.0f)), Contains("SyncOnReadVariable does not support"));
  mean.assign(Tensor(3.0f));
  mean.assign_add(Tensor(1.0f));
  CHECK(copies(mean) == all(n, 4));
}

TEST_CASE("three and four are saved as seven or three and a half (case 40)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable sum = make(0, Sync::OnRead, Agg::Sum), mean = make(0, Sync::OnRead, Agg::Mean);
  strategy.run([&] {
    sum.assign(Tensor(3.0f + float(id_here())));
    mean.assign(Tensor(3.0f + float(id_here())));
  });
  CHECK(sum.value().item<float>() == 7);
  CHECK(mean.value().item<float>() == 3.5f);
  sum.assign(sum.value());
  mean.assign(mean.value());
  CHECK(copies(sum) == all(2, 3.5f));
  CHECK(copies(mean) == all(2, 3.5f));
}

TEST_CASE("reading across replicas needs an aggregation (case 39)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable v = make(0, Sync::OnRead, Agg::None);
  CHECK_THROWS_WITH(v.value(), Contains("Could not convert from"));
  CHECK_NOTHROW(strategy.run([&] { v.value(); }));
}

TEST_CASE("synchronization and aggregation are checked at creation (case 42)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  CHECK_THROWS_WITH(make(0, Sync::None, Agg::None),
                    Contains("`NONE` variable synchronization mode is not supported"));
  CHECK_THROWS_WITH(make(0, Sync(9), Agg::None),
                    Contains("Invalid variable synchronization mode for variable: 'v'"));
  CHECK_THROWS_WITH(make(0, Sync::Auto, Agg(9)),
                    Contains("Invalid variable aggregation mode for variable: 'v'"));
  CHECK_THROWS_AS(Variable(Tensor(int64_t{1}), {.aggregation = Agg::Mean}), InvalidArgumentError);
  CHECK(make(0, Sync::Auto, Agg::None).synchronization() == Sync::OnWrite);
}

TEST_CASE("central storage keeps one copy that all replicas update (case 48)",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 3);
  CentralStorageStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable sum = make(1, Sync::Auto, Agg::Sum), mean = make(1, Sync::Auto, Agg::Mean),
                 none = make(1, Sync::Auto, Agg::None);
  strategy.run([&] {
    sum.assign_add(Tensor(float(id_here())));
    mean.assign_add(Tensor(2.0f));
  });
  CHECK(sum.impl().num_components() == 1);
  CHECK(sum.value().item<float>() == 1 + float(n * (n - 1)) / 2);
  CHECK(mean.value().item<float>() == 3);
  CHECK_THROWS_WITH(strategy.run([&] { none.assign(Tensor(1.0f)); }),
                    Contains("You must specify an aggregation method"));
  CHECK(strategy.extended().parameter_devices() ==
        std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
}

TEST_CASE("extended.update visits every copy with its part of the arguments (case 47)",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable v = make(10, Sync::OnWrite, Agg::Sum);
  const auto results = strategy.extended().update(
      v,
      [](const Variable& copy, const Tensor& value) {
        CHECK(in_cross_replica_context());
        copy.assign_add(value);
        return copy.value().item<float>();
      },
      PerReplica<Tensor>({Tensor(1.0f), Tensor(2.0f)}));
  CHECK(results.values() == std::vector<float>{11, 12});
  CHECK(copies(v) == std::vector<float>{11, 12});
  strategy.run([&] {
    strategy.extended().update(
        v, [](const Variable& copy, const Tensor& value) { copy.assign(value); },
        Tensor(float(id_here() + 5)));
  });
  CHECK(copies(v) == std::vector<float>{5, 6});
}

TEST_CASE("a strategy knows its own variables", "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2}), other({.num_replicas = 2});
  const Variable outside = make(0, Sync::Auto, Agg::None);
  const auto scope = strategy.scope();
  const Variable v = make(0, Sync::Auto, Agg::None);
  CHECK(strategy.extended().variable_created_in_scope(v));
  CHECK_FALSE(strategy.extended().variable_created_in_scope(outside));
  CHECK_FALSE(other.extended().variable_created_in_scope(v));
  CHECK_NOTHROW(strategy.extended().colocate_vars_with(v));
  CHECK_THROWS_WITH(strategy.extended().colocate_vars_with(outside),
                    Contains("`colocate_vars_with` must only be passed a variable created in"));
  CHECK_THROWS_AS(other.extended().colocate_vars_with(v), FailedPreconditionError);
  CHECK(strategy.experimental_local_results(v).size() == 2);
  CHECK(strategy.extended().value_container(v) == v);
}

TEST_CASE("writing one copy never changes another", "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable v(Tensor{1.0f, 2.0f});
  const Tensor before = v.impl().component(1);
  const std::vector<VariableUpdate> updates{{v, {}, Tensor{1.0f, 1.0f}}};
  const UpdateKernel add = [](size_t, float* w, float* const*, const float* g, int64_t count) {
    for (int64_t i = 0; i < count; ++i) w[i] += g[i];
  };
  replica_internal::update_component(updates, 0, add);
  CHECK(v.impl().component(0).to_vector() == std::vector<float>{2, 3});
  CHECK(v.impl().component(1).to_vector() == std::vector<float>{1, 2});
  CHECK(before.to_vector() == std::vector<float>{1, 2});
  // Copies that differ are updated each from its own value.
  strategy.run([&] { get_replica_context()->update(updates, false, add); });
  CHECK(v.impl().component(0).to_vector() == std::vector<float>{4, 5});
  CHECK(v.impl().component(1).to_vector() == std::vector<float>{3, 4});
}

TEST_CASE("gradients cannot reach a variable of another scope",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Variable outside(Tensor{1.0f});
  const UpdateKernel none = [](size_t, float*, float* const*, const float*, int64_t) {};
  CHECK_THROWS_WITH(strategy.run([&] {
    const VariableUpdate update{outside, {}, Tensor{1.0f}};
    get_replica_context()->update(std::span(&update, 1), false, none);
  }),
                    Contains("create model and optimizer inside strategy.scope()"));
  const auto scope = strategy.scope();
  const Variable v(Tensor{1.0f, 2.0f});
  CHECK_THROWS_WITH(strategy.run([&] {
    const VariableUpdate update{v, {}, Tensor{1.0f}};
    get_replica_context()->update(std::span(&update, 1), false, none);
  }),
                    Contains("the gradient is float32 [1]"));
  CHECK(v.value().to_vector() == std::vector<float>{1, 2});  // nothing is lost
}

TEST_CASE("rows of sparse gradients are summed over the replicas",
          "[strategy][distributed_variable]") {
  const int n = GENERATE(1, 2, 3);
  MirroredStrategy strategy({.num_replicas = n});
  const auto scope = strategy.scope();
  const Variable table(zeros({4, 2}));
  strategy.run([&] {
    const IndexedSlices rows{ones({2, 2}), Tensor{int64_t{0}, int64_t(id_here() % 4)}, {4, 2}};
    const VariableUpdate update{table, {}, to_tensor(rows)};
    get_replica_context()->update(
        std::span(&update, 1), false,
        [](size_t, float* w, float* const*, const float* g, int64_t count) {
          for (int64_t i = 0; i < count; ++i) w[i] -= g[i];
        });
  });
  const Tensor after = table.value();
  CHECK(after.data<float>()[0] == -float(n + 1));
  for (int r = 1; r < 4; ++r) CHECK(after.data<float>()[size_t(2 * r)] == (r < n ? -1.0f : 0.0f));
  for (int i = 0; i < n; ++i) CHECK(table.impl().component(i).to_vector() == after.to_vector());
}

namespace {

IndexedSlices row_of(int64_t row, float value) {
  return {Tensor(Shape{1, 1}, std::vector<float>{value}), Tensor{row}, {}};
}

Variable rows_of_one(Sync synchronization, Agg aggregation) {
  return Variable(ones({3, 1}),
                  {.name = "rows", .synchronization = synchronization, .aggregation = aggregation});
}

using Copies = std::vector<std::vector<float>>;
Copies copies_of_rows(const Variable& v) {
  Copies all;
  for (int i = 0; i < v.impl().num_components(); ++i)
    all.push_back(v.impl().component(i).to_vector());
  return all;
}

}  // namespace

TEST_CASE("scattered rows follow the aggregation of a mirrored variable",
          "[strategy][distributed_variable][scatter]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const auto added = [&](Agg aggregation) {
    const Variable v = rows_of_one(Sync::OnWrite, aggregation);
    strategy.run([&] { v.scatter_add(row_of(id_here(), float(id_here() + 1))); });
    return copies_of_rows(v);
  };
  CHECK(added(Agg::None) == Copies{{2, 1, 1}, {1, 3, 1}, {1, 1, 4}});
  CHECK(added(Agg::OnlyFirstReplica) == Copies(3, {2, 1, 1}));
  CHECK(added(Agg::Sum) == Copies(3, {2, 3, 4}));
  const Copies mean = added(Agg::Mean);
  CHECK(mean == Copies(3, mean[0]));
  for (int i = 0; i < 3; ++i) CHECK(mean[0][size_t(i)] == Approx(1 + float(i + 1) / 3));
}

TEST_CASE("scattered rows across replicas go to every copy",
          "[strategy][distributed_variable][scatter]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v = rows_of_one(Sync::OnWrite, Agg::None);
  v.scatter_update(row_of(1, 5));
  v.scatter_mul(row_of(1, 2));
  v.scatter_min(row_of(0, -1));
  CHECK(copies_of_rows(v) == Copies(3, {-1, 10, 1}));
  CHECK(v.impl().component(0).id() == v.impl().component(2).id());
}

TEST_CASE("not every variable knows every scatter operation",
          "[strategy][distributed_variable][scatter]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Agg aggregation = GENERATE(Agg::Sum, Agg::Mean);
  const Variable v = rows_of_one(Sync::OnWrite, aggregation);
  const IndexedSlices row = row_of(0, 2);
  CHECK_THROWS_AS(v.scatter_min(row), UnimplementedError);
  CHECK_THROWS_AS(v.scatter_max(row), UnimplementedError);
  CHECK_THROWS_WITH(v.scatter_update(row), Contains("aggregation, got: ") && Contains("'rows'"));
  v.scatter_mul(row);
  v.scatter_sub(row);
  v.scatter_div(row);
  CHECK(copies_of_rows(v) == Copies(3, {0, 1, 1}));
  const Variable on_read = rows_of_one(Sync::OnRead, aggregation);
  CHECK_THROWS_AS(on_read.scatter_add(row), UnimplementedError);
  CHECK_THROWS_AS(strategy.run([&] { on_read.scatter_add(row); }), UnimplementedError);
}

// TensorFlow 2.21: NotImplementedError for scatter_nd_add, AttributeError for gather_nd.
TEST_CASE("variables of strategies know no tuples of indices, but give what these name",
          "[strategy][distributed_variable][scatter]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable v(Tensor(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}), {.name = "table"});
  const Tensor indices(Shape{1, 2}, std::vector<int64_t>{1, 0});
  CHECK_THROWS_WITH(v.scatter_nd_add(indices, Tensor{1.0f}),
                    Contains("scatter_nd_add") && Contains("'table'"));
  CHECK(v.gather_nd(indices).to_vector() == std::vector<float>{3});
  const auto rows = strategy.run([&] { return v.sparse_read(zeros({1}, DType::Int64)); });
  CHECK(rows.values()[1].to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("replicas scatter into a central variable together",
          "[strategy][distributed_variable][scatter]") {
  CentralStorageStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v = rows_of_one(Sync::OnWrite, Agg::Sum);
  strategy.run([&] { v.scatter_sub(row_of(2, 1)); });
  CHECK(v.value().to_vector() == std::vector<float>{1, 1, -2});
}

namespace {

template <typename Value>
void write_by(const std::string& method, const Variable& variable, const Value& value) {
  if (method == "assign") return void(variable.assign(value));
  method == "assign_add" ? variable.assign_add(value) : variable.assign_sub(value);
}

/// The copies of a variable that was 1, after a line of variable_writes.txt.
std::vector<float> written(const std::vector<std::string>& words) {
  const std::map<std::string, Sync> synchronizations{
      {"AUTO", Sync::Auto}, {"ON_WRITE", Sync::OnWrite}, {"ON_READ", Sync::OnRead}};
  const std::map<std::string, Agg> aggregations{{"NONE", Agg::None},
                                                {"SUM", Agg::Sum},
                                                {"MEAN", Agg::Mean},
                                                {"ONLY_FIRST_REPLICA", Agg::OnlyFirstReplica}};
  MirroredStrategy strategy({.num_replicas = std::stoi(words[0])});
  const auto scope = strategy.scope();
  const Variable v = make(1, synchronizations.at(words[1]), aggregations.at(words[2]));
  const std::string &method = words[3], &value = words[5];
  const Tensor shared(3.0);
  const auto write = [&] {
    if (value == "number") return write_by(method, v, 3.0);
    if (value == "same_tensor") return write_by(method, v, shared);
    const std::vector<float> own{2, 4, 9};
    write_by(method, v, Tensor(value == "equal_tensors" ? 3.0f : own[size_t(id_here())]));
  };
  if (words[4] == "replicas")
    strategy.run(write);
  else
    write();
  return copies(v);
}

}  // namespace

// tests/data/strategy/tensorflow_answers.py
TEST_CASE("writing in replicas and across them does what TensorFlow does",
          "[strategy][distributed_variable]") {
  for (const auto& answer : distribute_test::read_answers("strategy/variable_writes.txt", 432)) {
    INFO(answer.line);
    if (answer.is_error()) {
      CHECK_THROWS_AS(written(answer.words), InvalidArgumentError);
      continue;
    }
    std::vector<float> expected;
    for (const std::string& value : answer.answer) expected.push_back(std::stof(value));
    const std::vector<float> values = written(answer.words);
    REQUIRE(values.size() == expected.size());
    for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]));
  }
}

// TensorFlow 2.21 ends a plain 0 in replicas with an AttributeError.
TEST_CASE("a plain zero may be summed, as it makes no difference",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CentralStorageStrategy central({.num_replicas = 2});
  {
    const auto scope = strategy.scope();
    const Variable v = make(1, Sync::OnWrite, Agg::Sum);
    strategy.run([&] { v.assign_add(0); });
    CHECK(copies(v) == all(2, 1));
  }
  const auto scope = central.scope();
  const Variable v = make(1, Sync::Auto, Agg::Sum);
  CHECK_THROWS_WITH(central.run([&] { v.assign(3.0); }),
                    Contains("every replica assigned the same number to variable 'v'"));
  central.run([&] { v.assign_add(Tensor(3.0f)); });
  CHECK(copies(v) == all(1, 7));  // TensorFlow 2.21: 7
}

// TensorFlow 2.21: int32 variables 1 and 1 after 3 divided by two replicas.
TEST_CASE("an integer sum that is assigned across replicas is divided without rest",
          "[strategy][distributed_variable]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable v(Tensor(1), {.synchronization = Sync::OnRead, .aggregation = Agg::Sum});
  v.assign(3);
  CHECK(v.impl().component(1).item<int32_t>() == 1);
  CHECK(v.value().item<int32_t>() == 2);
}

// TensorFlow 2.21: read_value() throws "Mixing different tf.distribute.Strategy objects" in the
// other strategy's replicas and in its scope. value() and v + 1 give there the copy of the same
// replica (2 and 3 for the copies 1 and 2), an IndexError where there is none, and in the scope the
// first copy; of variables synchronized on read they throw.
TEST_CASE("another strategy's replicas cannot read copies that may differ",
          "[strategy][distributed_variable]") {
  MirroredStrategy owner({.num_replicas = 2}), other({.num_replicas = 3});
  OneDeviceStrategy one;
  Variable mirrored, on_read;
  {
    const auto scope = owner.scope();
    mirrored = make(1, Sync::OnWrite, Agg::None);
    on_read = make(1, Sync::OnRead, Agg::Mean);
  }
  for (const Variable& v : {mirrored, on_read}) {
    CHECK_THROWS_WITH(other.run([&] { v.value(); }), Contains("Mixing different"));
    CHECK_THROWS_WITH(other.run([&] { v.read_value(); }), Contains("Mixing different"));
    CHECK_THROWS_WITH(one.run([&] { v.value(); }), Contains("Mixing different"));
    CHECK(v.value().item<float>() == 1);  // outside of all strategies
  }
  const auto scope = other.scope();
  CHECK(mirrored.value().item<float>() == 1);
  CHECK_THROWS_WITH(mirrored.read_value(), Contains("Mixing different"));
  CHECK_THROWS_WITH(on_read.value(), Contains("Mixing different"));
}

// TensorFlow 2.21: 9.
TEST_CASE("a variable that has one copy may be read anywhere", "[strategy][distributed_variable]") {
  CentralStorageStrategy central({.num_replicas = 2});
  MirroredStrategy other({.num_replicas = 3});
  Variable v;
  {
    const auto scope = central.scope();
    v = make(9, Sync::Auto, Agg::None);
  }
  const auto seen = other.run([&] { return v.read_value().item<float>(); });
  CHECK(seen.values() == all(3, 9));
}

TEST_CASE("what belongs to fewer replicas is refused, not read beyond its end",
          "[strategy][distributed_variable]") {
  MirroredStrategy two({.num_replicas = 2}), four({.num_replicas = 4});
  Variable v;
  {
    const auto scope = two.scope();
    v = Variable(Tensor{1.0f}, {.name = "v"});
  }
  CHECK_THROWS_WITH(v.impl().component(3), Contains("'v' has 2 copies and none for replica 3"));
  CHECK_THROWS_AS(v.impl().set_component(2, Tensor{1.0f}), FailedPreconditionError);
  CHECK_THROWS_WITH(four.extended().update(v, [](const Variable&) {}),
                    Contains("Mixing different"));
  const auto values = two.run([] { return Tensor(1.0f); });
  CHECK_THROWS_WITH(four.run([](const Tensor&) {}, values),
                    Contains("a value of 2 replicas has none for replica"));
}
