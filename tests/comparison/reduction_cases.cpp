#include "cases.hpp"

#include <distribute/ops/array.hpp>
#include <distribute/strategy/strategy.hpp>

#include <optional>
#include <utility>

namespace comparison {

namespace {

using dist::DType;
using dist::PerReplica;
using dist::ReduceAxis;

struct Reduced {
  const char* name;
  std::vector<Tensor> values;  // float32, by replica
};

const std::vector<Reduced> kReduced{
    {"scalars", {Tensor(1.0f), Tensor(2.0f)}},
    {"rows", {Tensor{1.0f, 2.0f}, Tensor{3.0f, 6.0f}}},
    {"matrices",
     {Tensor({2, 2}, std::vector{1.0f, 2.0f, 3.0f, 4.0f}),
      Tensor({2, 2}, std::vector{5.0f, 6.0f, 7.0f, 9.0f})}},
    {"uneven", {Tensor{1.0f, 2.0f}, Tensor{4.0f}}},
    {"empty", {Tensor{1.0f, 2.0f}, Tensor({0}, std::vector<float>{})}},
    {"negative", {Tensor{-1.0f, -2.0f}, Tensor{-4.0f, 2.0f}}}};

bool is_asked(const std::string& name, std::optional<int> axis) {
  if (!axis) return name != "uneven" && name != "empty";
  return name != "scalars" && (*axis == 0 || name == "matrices");
}

std::string text(std::optional<int> axis) { return axis ? std::to_string(*axis) : "None"; }
ReduceAxis as_argument(std::optional<int> axis) { return axis ? ReduceAxis(*axis) : ReduceAxis(); }

PerReplica<Tensor> as(DType dtype, const std::vector<Tensor>& values) {
  std::vector<Tensor> cast;
  for (const Tensor& value : values) cast.push_back(dist::cast(value, dtype));
  return PerReplica<Tensor>(cast);
}

const std::vector<std::pair<const char*, DType>> kDTypes{
    {"float32", DType::Float32}, {"int32", DType::Int32}, {"int64", DType::Int64}};

void reduce_cases(dist::Strategy& strategy) {
  for (const auto& [dtype_name, dtype] : kDTypes)
    for (const char* op : {"SUM", "MEAN"})
      for (const auto& [name, values] : kReduced)
        for (std::optional<int> axis : {std::optional<int>(), std::optional(0), std::optional(1)})
          if (is_asked(name, axis))
            run_case(dist::str_cat("reduce/", dtype_name, "/", op, "/", name, "/axis ", text(axis)),
                     [&, dtype = dtype, &values = values] {
                       return strategy.reduce(op, as(dtype, values), as_argument(axis));
                     });
  for (const char* op : {"SUM", "MEAN"})
    for (std::optional<int> axis : {std::optional<int>(), std::optional(0)})
      run_case(dist::str_cat("reduce/bare tensor/", op, "/axis ", text(axis)), [&] {
        return strategy.reduce(op, Tensor{1.0f, 2.0f}, as_argument(axis));
      });
  auto three = mirrored(3);
  for (const char* op : {"SUM", "MEAN"})
    run_case(dist::str_cat("reduce/three replicas/", op), [&] {
      return three.reduce(op, PerReplica<float>({1.0f, 2.0f, 4.0f}));
    });
}

void collective_cases(dist::Strategy& strategy) {
  for (const auto& [dtype_name, dtype] : {kDTypes[0], kDTypes[1]})
    for (const dist::ReduceOp op : {dist::ReduceOp::Sum, dist::ReduceOp::Mean})
      run_case(
          dist::str_cat("all_reduce/", dtype_name, "/", op == dist::ReduceOp::Sum ? "SUM" : "MEAN"),
          [&, dtype = dtype] {
            const auto values = as(dtype, {Tensor{1.0f, 2.0f}, Tensor{4.0f, 7.0f}}).values();
            return strategy.run(
                [&] { return dist::get_replica_context()->all_reduce(op, in_replica(values)); });
          });
  run_case("all_reduce/a list", [&] {
    return strategy.run([&] {
      const std::vector<Tensor> values{in_replica(std::vector<Tensor>{Tensor(1.0f), Tensor(2.0f)}),
                                       in_replica(std::vector<Tensor>{Tensor{3.0f}, Tensor{5.0f}})};
      return dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, values)[1];
    });
  });
  const std::vector<Tensor> matrices{Tensor({1, 2}, std::vector{1.0f, 2.0f}),
                                     Tensor({1, 2}, std::vector{3.0f, 4.0f})};
  const std::vector<Tensor> uneven{Tensor{1.0f, 2.0f}, Tensor{4.0f}};
  const std::vector<Tensor> scalars{Tensor(1.0f), Tensor(2.0f)};
  const auto all_gather = [&](const char* name, const std::vector<Tensor>& values, int axis) {
    run_case(dist::str_cat("all_gather/", name), [&] {
      return strategy.run(
          [&] { return dist::get_replica_context()->all_gather(in_replica(values), axis); });
    });
  };
  all_gather("axis 0", matrices, 0);
  all_gather("axis 1", matrices, 1);
  all_gather("axis -1", matrices, -1);
  all_gather("uneven", uneven, 0);
  all_gather("scalars", scalars, 0);
  const auto gather = [&](const char* name, const std::vector<Tensor>& values, int axis) {
    run_case(dist::str_cat("gather/", name),
             [&] { return strategy.gather(PerReplica<Tensor>(values), axis); });
  };
  gather("axis 0", matrices, 0);
  gather("axis 1", matrices, 1);
  gather("uneven", uneven, 0);
  gather("scalars", scalars, 0);
  run_case("merge_call/sum of ids", [&] {
    const auto sums = strategy.run([] {
      auto* context = dist::get_replica_context();
      return context->merge_call(
          [](dist::Strategy& all, const PerReplica<float>& ids) { return all.reduce("SUM", ids); },
          float(context->replica_id_in_sync_group() + 1));
    });
    return sums[0];
  });
}

}  // namespace

void reduction_cases() {
  auto strategy = mirrored(2);
  reduce_cases(strategy);
  collective_cases(strategy);
}

void context_cases() {
  auto strategy = mirrored(2);
  run_case("context/no strategy/in_cross_replica_context", dist::in_cross_replica_context);
  run_case("context/no strategy/has_strategy", dist::has_strategy);
  run_case("context/no strategy/replica_id",
           [] { return int64_t(dist::get_replica_context()->replica_id_in_sync_group()); });
  {
    const auto scope = strategy.scope();
    run_case("context/scope/in_cross_replica_context", dist::in_cross_replica_context);
    run_case("context/scope/has_strategy", dist::has_strategy);
    run_case("context/scope/there is a replica context",
             [] { return dist::get_replica_context() != nullptr; });
    run_case("context/another strategy's scope", [] {
      auto other = mirrored(1);
      const auto inner = other.scope();
      return true;
    });
  }
  const auto in_run = [&](const char* name, auto function) {
    run_case(dist::str_cat("context/", name), [&] { return strategy.run(function); });
  };
  in_run("run/replica ids",
         [] { return Tensor(int32_t(dist::get_replica_context()->replica_id_in_sync_group())); });
  in_run("run/in_cross_replica_context",
         [] { return Tensor(float(dist::in_cross_replica_context())); });
  in_run("run/num_replicas_in_sync",
         [] { return Tensor(int32_t(dist::get_replica_context()->num_replicas_in_sync())); });
  in_run("run inside of run", [&] { return strategy.run([] { return Tensor(1.0f); })[0]; });
  in_run("reduce inside of run", [&] { return strategy.reduce("SUM", Tensor(1.0f)); });
  in_run("scope inside of run", [&] {
    const auto scope = strategy.scope();
    return Tensor(1.0f);
  });
  run_case("context/value context", [&] {
    return strategy.experimental_distribute_values_from_function([](const dist::ValueContext& c) {
      return Tensor{int32_t(c.replica_id_in_sync_group), int32_t(c.num_replicas_in_sync)};
    });
  });
}

}  // namespace comparison
