#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_onednn_plan.hpp>

namespace distribute::onednn_internal {

DISTRIBUTE_INLINE PlanCache& plan_cache() { return in_process<PlanCache>(); }

DISTRIBUTE_INLINE Desc desc_of(const Array& array, const Desc& plain) {
  const auto* layout = static_cast<const OneDnnLayout*>(array.layout.get());
  return layout ? layout->desc() : plain;
}

DISTRIBUTE_INLINE Desc any(const Desc& plain) {
  return Desc(blocking_of(plain).dims, data_type_of(plain), Tag::any);
}

DISTRIBUTE_INLINE dnnl::primitive_attr attributes(Epilogue epilogue) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (epilogue == Epilogue::Relu) {
    dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
    attr.set_post_ops(ops);
  }
  return attr;
}

DISTRIBUTE_INLINE Slot slot(const Array& array, const Desc& plain, const Desc& wanted) {
  const Desc given = desc_of(array, plain);
  return {given, wanted, same_placement(given, wanted)};
}

DISTRIBUTE_INLINE Array fit(const Slot& slot, const Array& array) {
  if (slot.ready) return array;
  Array result = make_array(int64_t(slot.wanted.get_size()), array.buffer->device());
  reorder(slot.given, array.bytes(), slot.wanted, result.bytes());
  return result;
}

DISTRIBUTE_INLINE Array execute(const Plan& plan, const Array& a, const Array& b,
                                const Array* bias) {
  const Array x = fit(plan.inputs[0], a), y = fit(plan.inputs[1], b);
  Array output = make_array(int64_t(plan.output.get_size()), a.buffer->device());
  Array scratch = make_array(int64_t(plan.scratch.get_size()), Device{});
  std::unordered_map<int, Memory> args{
      {plan.input_args[0], Memory(plan.inputs[0].wanted, engine(), x.bytes())},
      {plan.input_args[1], Memory(plan.inputs[1].wanted, engine(), y.bytes())},
      {plan.output_arg, Memory(plan.output, engine(), output.bytes())},
      {DNNL_ARG_SCRATCHPAD, Memory(plan.scratch, engine(), scratch.bytes())}};
  if (bias) args.emplace(plan.bias_arg, Memory(plan.bias, engine(), bias->bytes()));
  plan.primitive.execute(stream(), args);
  stream().wait();
  if (!same_placement(plan.output, plan.final_output)) {
    Array moved = make_array(int64_t(plan.final_output.get_size()), a.buffer->device());
    reorder(plan.output, output.bytes(), plan.final_output, moved.bytes());
    output = std::move(moved);
  }
  output.layout = plan.layout;
  return output;
}

}  // namespace distribute::onednn_internal
#endif
