#pragma once
/// Compiled oneDNN primitives, found again by shape; only cpu_onednn*.ipp may include this.

#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cpu_onednn_layout.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <dnnl.hpp>

namespace distribute::onednn_internal {

/// An argument of a primitive: the descriptor that the caller has and the one that the primitive
/// needs.
struct Slot {
  Desc given, wanted;
  bool ready = false;  // no reorder needed
};

/// A compiled operation with everything that is the same in each call. Immutable once made.
struct Plan {
  dnnl::primitive primitive;
  Slot inputs[2];
  int input_args[2] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
  int output_arg = DNNL_ARG_DST, bias_arg = DNNL_ARG_BIAS;
  Desc output, bias, scratch;
  Desc final_output;  // the arrangement handed out; differs from `output` when reordered
  LayoutPtr layout;   // of final_output, null: row-major
};

using PlanPtr = std::shared_ptr<const Plan>;

/// All plans of the process, by a key of plain bytes. Thread-safe; it keeps layouts whose addresses
/// are part of keys.
struct PlanCache {
  std::shared_mutex mutex;  // guards everything below
  std::unordered_map<std::string, PlanPtr> plans;
  std::vector<LayoutPtr> keep_alive;
  std::set<std::string> kernels;
};

PlanCache& plan_cache();

/// Returns the key of a call: the operation, its shape, the layouts of its inputs, the number of
/// threads.
template <typename Shape>
std::string key_of(char operation, const Shape& shape, const Array& a, const Array& b, int flags) {
  struct Tail {
    const void *a, *b;
    int64_t flags, threads;
  } tail{a.layout.get(), b.layout.get(), flags, intra_op_threads()};
  std::string key(1 + sizeof(Shape) + sizeof(Tail), operation);
  std::memcpy(key.data() + 1, &shape, sizeof(Shape));
  std::memcpy(key.data() + 1 + sizeof(Shape), &tail, sizeof(Tail));
  return key;
}

/// Returns the plan of a key; fill(plan) makes a new one.
template <typename Fill>
PlanPtr find_or_make(const std::string& key, const Array& a, const Array& b, const Fill& fill) {
  PlanCache& cache = plan_cache();
  {
    std::shared_lock lock(cache.mutex);
    const auto found = cache.plans.find(key);
    if (found != cache.plans.end()) return found->second;
  }
  const auto plan = std::make_shared<Plan>();
  fill(*plan);
  std::unique_lock lock(cache.mutex);
  if (a.layout) cache.keep_alive.push_back(a.layout);
  if (b.layout) cache.keep_alive.push_back(b.layout);
  return cache.plans.emplace(key, plan).first->second;
}

/// Returns the descriptor of an array: its own if it has one, else the row-major one.
Desc desc_of(const Array& array, const Desc& plain);
/// Returns a descriptor that leaves the arrangement to the primitive.
Desc any(const Desc& plain);
dnnl::primitive_attr attributes(Epilogue epilogue);
Slot slot(const Array& array, const Desc& plain, const Desc& wanted);

/// Makes a primitive descriptor with user-managed scratch memory; the two API generations differ
/// here.
template <typename Primitive, typename... Args>
auto describe(const dnnl::primitive_attr& attr, const Args&... args) {
  require_room_for_code();
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine(), args..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, engine());
#endif
}

template <typename Primitive, typename Hint, typename... Args>
auto describe_backward(const Hint& hint, const Args&... args) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine(), args..., hint, attr);
#else
  return
      typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, engine(), hint);
#endif
}

/// Sets the members that every plan has: the primitive, its scratch memory, its result's
/// arrangement.
template <typename Primitive, typename PrimitiveDesc>
void finish_plan(Plan& plan, const PrimitiveDesc& pd, const char* name, const Desc& output,
                 const Desc& final_output, const Desc& plain) {
  require_room_for_code();
  plan.primitive = Primitive(pd);
  plan.scratch = pd.scratchpad_desc();
  plan.output = output;
  plan.final_output = final_output;
  if (!same_placement(final_output, plain))
    plan.layout = std::make_shared<OneDnnLayout>(final_output, plain);
  PlanCache& cache = plan_cache();
  std::unique_lock lock(cache.mutex);
  cache.kernels.insert(std::string(name) + " " + pd.impl_info_str());
}

/// Returns the array in the arrangement that the slot needs.
Array fit(const Slot& slot, const Array& array);
/// Runs a plan; `bias` is an input of forward operations and an output of weight gradients.
Array execute(const Plan& plan, const Array& a, const Array& b, const Array* bias);

}  // namespace distribute::onednn_internal
