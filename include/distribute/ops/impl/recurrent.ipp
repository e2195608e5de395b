#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute {

namespace ops_internal {

/// Functions of a cell with tanh and sigmoid.
struct CellKind {
  void (*forward)(const CellRow& row);
  void (*backward)(const CellGradientRow& row);
  int64_t gates;
  bool with_c;     // has a second state
  bool with_kept;  // uses CellRow::kept; dhz differs from dz
};

DISTRIBUTE_INLINE CellKind kind_of(nn::RecurrentCell cell) {
  if (cell == nn::RecurrentCell::Lstm) return {lstm_cell, lstm_cell_gradient, 4, true, false};
  if (cell == nn::RecurrentCell::Gru) return {gru_cell, gru_cell_gradient, 3, false, true};
  return {simple_cell, simple_cell_gradient, 1, false, false};
}

/// The forward pass of a sequence through a cell, with the values that gradients need. All are
/// float32 on the CPU except the kernels. These have the type in which the backend multiplies,
/// which has 16 bits if the sequence has 16 bits. Other operands of products are rounded to it;
/// sums stay float32.
struct RecurrentPass {
  CellKind kind;
  nn::RecurrentOptions options;
  int64_t batch, steps, inputs, units;
  Tensor x, kernel, recurrent, recurrent_bias;
  std::vector<char> masked = {};                   // [batch, steps]; empty: nothing is masked
  Tensor gates = {};                               // [batch, steps, gates units]
  Tensor before_h = {}, before_c = {}, kept = {};  // [batch, steps, units]: states before a step
  Tensor output = {}, h = {}, c = {};

  int64_t width() const { return kind.gates * units; }
  /// The position in the sequence of the step that is read as number t.
  int64_t place(int64_t t) const { return options.go_backwards ? steps - 1 - t : t; }
  bool is_masked(int64_t row, int64_t step) const {
    return !masked.empty() && masked[size_t(row * steps + step)] != 0;
  }
  Tensor fresh(const Shape& shape) const {
    return Tensor::empty(shape, DType::Float32, x.device());
  }
  int64_t grain() const { return 1 + 1024 / std::max<int64_t>(units, 1); }

  Tensor product(const Tensor& a, const Tensor& b, MatmulShape shape,
                 const Tensor& bias = {}) const;
  void run();
  void forward_step(int64_t t, const Tensor& hz, Tensor& next_h, Tensor& next_c);
  void write_output(int64_t row, int64_t t, const float* value);
};

DISTRIBUTE_INLINE Tensor RecurrentPass::product(const Tensor& a, const Tensor& b, MatmulShape shape,
                                                const Tensor& bias) const {
  shape.dtype = shape.rows * shape.columns * shape.inner > 0 ? kernel.dtype() : DType::Float32;
  shape.float32_result = is_half(shape.dtype);
  const Tensor left = converted(a, shape.dtype), right = converted(b, shape.dtype);
  const Array y = backend(x.device().type)
                      .matmul(shape, left.array(), right.array(), bias ? &bias.array() : nullptr,
                              Epilogue::None);
  return {Shape{shape.rows, shape.columns}, DType::Float32, y};
}

/// Writes the output of a step; a null `value` means that the step is masked.
DISTRIBUTE_INLINE void RecurrentPass::write_output(int64_t row, int64_t t, const float* value) {
  const bool all = options.return_sequences;
  if (!all && !value && !options.zero_output_for_mask && t > 0) return;  // it is there already
  float* to = output.mutable_data<float>() + (all ? row * steps + t : row) * units;
  if (value)
    std::copy_n(value, units, to);
  else if (options.zero_output_for_mask || t == 0)
    std::fill_n(to, units, 0.0f);
  else
    std::copy_n(to - units, units, to);
}

DISTRIBUTE_INLINE void RecurrentPass::forward_step(int64_t t, const Tensor& hz, Tensor& next_h,
                                                   Tensor& next_c) {
  const int64_t step = place(t), wide = width();
  float *all_gates = gates.mutable_data<float>(), *all_h = before_h.mutable_data<float>();
  float* all_c = before_c ? before_c.mutable_data<float>() : nullptr;
  float* all_kept = kept ? kept.mutable_data<float>() : nullptr;
  const float *products = hz.data<float>().data(), *old_h = h.data<float>().data();
  const float* old_c = c ? c.data<float>().data() : nullptr;
  float* new_h = next_h.mutable_data<float>();
  float* new_c = next_c ? next_c.mutable_data<float>() : nullptr;
  parallel_for(batch, grain(), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t at = b * steps + step, own = b * units;
      std::copy_n(old_h + own, units, all_h + at * units);
      if (old_c) std::copy_n(old_c + own, units, all_c + at * units);
      if (is_masked(b, step)) {
        std::copy_n(old_h + own, units, new_h + own);
        if (old_c) std::copy_n(old_c + own, units, new_c + own);
        write_output(b, t, nullptr);
        continue;
      }
      kind.forward({units, all_gates + at * wide, products + b * wide, old_h + own,
                    old_c ? old_c + own : nullptr, new_h + own, new_c ? new_c + own : nullptr,
                    all_kept ? all_kept + at * units : nullptr});
      write_output(b, t, new_h + own);
    }
  });
}

/// Computes all steps from the states in `h` and `c`, which become the last ones.
DISTRIBUTE_INLINE void RecurrentPass::run() {
  before_h = fresh({batch, steps, units});
  if (kind.with_c) before_c = fresh({batch, steps, units});
  if (kind.with_kept) kept = fresh({batch, steps, units});
  output = fresh(options.return_sequences ? Shape{batch, steps, units} : Shape{batch, units});
  const MatmulShape shape{DType::Float32, 1, batch, width(), units};
  for (int64_t t = 0; t < steps; ++t) {
    Tensor next_h = fresh({batch, units}), next_c = c ? fresh({batch, units}) : Tensor();
    forward_step(t, product(h, recurrent, shape, recurrent_bias), next_h, next_c);
    h = next_h, c = next_c;
  }
}

/// The backward pass over the steps.
struct RecurrentGradient {
  const RecurrentPass& pass;
  Tensor d_output;                   // may be empty
  Tensor dh, dc;                     // of the states after the step, through the products of it
  Tensor direct = {};                // to be added to dh
  Tensor dz = {}, dhz = {};          // [batch, steps, gates units]; dhz is dz for most cells
  std::vector<float> repeated = {};  // [batch, units]: of outputs that masked steps repeat

  void run();
  void backward_step(int64_t t, Tensor& step_dhz, Tensor& next_direct);
  const float* output_gradient(int64_t row, int64_t t) const;
};

DISTRIBUTE_INLINE const float* RecurrentGradient::output_gradient(int64_t row, int64_t t) const {
  if (!d_output || (!pass.options.return_sequences && t != pass.steps - 1)) return nullptr;
  const int64_t at = pass.options.return_sequences ? row * pass.steps + t : row;
  return d_output.data<float>().data() + at * pass.units;
}

DISTRIBUTE_INLINE void add_row(float* to, const float* from, int64_t count) {
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) to[j] += from[j];
}

DISTRIBUTE_INLINE void RecurrentGradient::backward_step(int64_t t, Tensor& step_dhz,
                                                        Tensor& next_direct) {
  const RecurrentPass& p = pass;
  const int64_t step = p.place(t), units = p.units, wide = p.width();
  const float *gates = p.gates.data<float>().data(), *h = p.before_h.data<float>().data();
  const float* c = p.before_c ? p.before_c.data<float>().data() : nullptr;
  const float* kept = p.kept ? p.kept.data<float>().data() : nullptr;
  float *sum = dh.mutable_data<float>(), *next = next_direct.mutable_data<float>();
  float* cell = dc ? dc.mutable_data<float>() : nullptr;
  const float* beside = direct ? direct.data<float>().data() : nullptr;
  float *all_dz = dz.mutable_data<float>(), *now = step_dhz.mutable_data<float>();
  float* all_dhz = p.kind.with_kept ? dhz.mutable_data<float>() : nullptr;
  parallel_for(p.batch, p.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t at = b * p.steps + step, own = b * units;
      float* d = sum + own;
      if (beside) add_row(d, beside + own, units);
      const float* given = output_gradient(b, t);
      float* waiting = repeated.empty() ? nullptr : repeated.data() + own;
      if (p.is_masked(b, step)) {
        if (given && !p.options.zero_output_for_mask) add_row(waiting, given, units);
        std::copy_n(d, units, next + own);
        std::fill_n(all_dz + at * wide, wide, 0.0f);
        std::fill_n(now + b * wide, wide, 0.0f);
      } else {
        if (given) add_row(d, given, units);
        if (waiting) {
          add_row(d, waiting, units);
          std::fill_n(waiting, units, 0.0f);
        }
        p.kind.backward({units, gates + at * wide, h + at * units, c ? c + at * units : nullptr,
                         kept ? kept + at * units : nullptr, d, cell ? cell + own : nullptr,
                         all_dz + at * wide, now + b * wide, next + own});
        if (!all_dhz) std::copy_n(all_dz + at * wide, wide, now + b * wide);
      }
      if (all_dhz) std::copy_n(now + b * wide, wide, all_dhz + at * wide);
    }
  });
}

DISTRIBUTE_INLINE void RecurrentGradient::run() {
  const Shape whole{pass.batch, pass.steps, pass.width()};
  dz = pass.fresh(whole);
  dhz = pass.kind.with_kept ? pass.fresh(whole) : Tensor();
  if (!pass.masked.empty()) repeated.assign(size_t(pass.batch * pass.units), 0.0f);
  const MatmulShape shape{DType::Float32, 1, pass.batch, pass.units, pass.width(), false, true};
  for (int64_t t = pass.steps - 1; t >= 0; --t) {
    Tensor step_dhz = pass.fresh({pass.batch, pass.width()});
    Tensor next_direct = pass.fresh({pass.batch, pass.units});
    backward_step(t, step_dhz, next_direct);
    dh = pass.product(step_dhz, pass.recurrent, shape);
    direct = next_direct;
  }
  add_row(dh.mutable_data<float>(), direct.data<float>().data(), dh.num_elements());
  if (!pass.kind.with_kept) dhz = dz;
}

/// Returns the gradients of the inputs x, kernel, recurrent kernel, bias, h, c.
DISTRIBUTE_INLINE std::vector<Tensor> recurrent_gradients(const RecurrentPass& pass,
                                                          const Backward& backward) {
  const auto copy_or_zeros = [&](size_t output, bool wanted) {
    if (!wanted) return Tensor();
    const Tensor& given = backward.gradient(output);
    return given ? Tensor(Shape{pass.batch, pass.units}, given.data<float>())
                 : fill({pass.batch, pass.units}, 0, DType::Float32, pass.x.device());
  };
  const Tensor given = backward.gradient(0);
  RecurrentGradient walk{pass, given ? given.row_major() : Tensor(), copy_or_zeros(1, true),
                         copy_or_zeros(2, pass.kind.with_c)};
  walk.run();
  const int64_t rows = pass.batch * pass.steps, wide = pass.width();
  const Tensor dz = walk.dz.view({rows, wide}), dhz = walk.dhz.view({rows, wide});
  std::vector<Tensor> gradients(6);
  if (backward.needs(0))
    gradients[0] =
        pass.product(dz, pass.kernel, {DType::Float32, 1, rows, pass.inputs, wide, false, true})
            .view(pass.x.shape());
  if (backward.needs(1))
    gradients[1] = pass.product(pass.x.view({rows, pass.inputs}), dz,
                                {DType::Float32, 1, pass.inputs, wide, rows, true, false});
  if (backward.needs(2))
    gradients[2] = pass.product(pass.before_h.view({rows, pass.units}), dhz,
                                {DType::Float32, 1, pass.units, wide, rows, true, false});
  if (backward.needs(3)) {
    gradients[3] = sum_to_last_axis(dz);
    if (pass.recurrent_bias) {
      Tensor both = pass.fresh({2, wide});
      std::copy_n(gradients[3].data<float>().data(), wide, both.mutable_data<float>());
      std::copy_n(sum_to_last_axis(dhz).data<float>().data(), wide,
                  both.mutable_data<float>() + wide);
      gradients[3] = both;
    }
  }
  if (backward.needs(4)) gradients[4] = walk.dh;
  if (backward.needs(5)) gradients[5] = walk.dc;
  return gradients;
}

DISTRIBUTE_INLINE void check_recurrent(const Tensor& x, const nn::RecurrentWeights& w,
                                       const nn::RecurrentOptions& options, const Tensor& mask,
                                       const std::vector<Tensor>& initial) {
  const auto want = [](const char* what, const Tensor& t, const Shape& shape) {
    if (t && t.shape() != shape)
      throw InvalidArgumentError(str_cat("recurrent: ", what, " is ", to_string(t.shape()),
                                         ", wanted ", to_string(shape)));
  };
  if (x.shape().rank() != 3 || x.shape()[1] < 1 || !is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat("recurrent: wants floats [batch, steps, inputs] with at ",
                                       "least one step, got ", name_of(x.dtype()), " ",
                                       to_string(x.shape())));
  if (w.recurrent_kernel.shape().rank() != 2)
    throw InvalidArgumentError(
        str_cat("recurrent: the recurrent kernel is ", to_string(w.recurrent_kernel.shape())));
  const int64_t units = w.recurrent_kernel.shape()[0], wide = gates_of(options.cell) * units;
  want("the kernel", w.kernel, {x.shape()[2], wide});
  want("the recurrent kernel", w.recurrent_kernel, {units, wide});
  want("the bias", w.bias, options.cell == nn::RecurrentCell::Gru ? Shape{2, wide} : Shape{wide});
  want("the mask", mask, {x.shape()[0], x.shape()[1]});
  const size_t states = options.cell == nn::RecurrentCell::Lstm ? 2 : 1;
  if (!initial.empty() && initial.size() != states)
    throw InvalidArgumentError(
        str_cat("recurrent: ", initial.size(), " initial states, wanted ", states));
  for (const Tensor& state : initial) want("an initial state", state, {x.shape()[0], units});
  const auto& factors = options.state_factors;
  if (!factors.empty() && int64_t(factors.size()) != gates_of(options.cell))
    throw InvalidArgumentError(str_cat("recurrent: ", factors.size(), " factors of states, wanted ",
                                       gates_of(options.cell)));
  for (const Tensor& factor : factors) want("a factor of states", factor, {x.shape()[0], units});
  if (mask && mask.dtype() != DType::Bool)
    throw InvalidArgumentError(
        str_cat("recurrent: the mask is ", name_of(mask.dtype()), ", wanted bool"));
}

/// Whether the layer can be computed as one operation.
DISTRIBUTE_INLINE bool runs_as_one(const Tensor& x, const nn::RecurrentWeights& w,
                                   const nn::RecurrentOptions& options) {
  return !on_gpu(x) && !on_gpu(w.kernel) && !autograd_internal::is_tracing() &&
         options.state_factors.empty() && options.cell != nn::RecurrentCell::GruResetBefore &&
         options.activation == &tanh &&
         (options.cell == nn::RecurrentCell::Simple || options.recurrent_activation == &sigmoid);
}

DISTRIBUTE_INLINE RecurrentPass recurrent_pass(const Tensor& x, const nn::RecurrentWeights& w,
                                               const nn::RecurrentOptions& options,
                                               const Tensor& mask,
                                               const std::vector<Tensor>& initial, DType operands) {
  const Shape& s = x.shape();
  RecurrentPass pass{kind_of(options.cell),
                     options,
                     s[0],
                     s[1],
                     s[2],
                     w.recurrent_kernel.shape()[0],
                     x.row_major(),
                     converted(w.kernel.row_major(), operands),
                     converted(w.recurrent_kernel.row_major(), operands),
                     {}};
  if (mask)
    for (const bool valid : mask.data<bool>()) pass.masked.push_back(valid ? 0 : 1);
  namespace ti = tensor_internal;
  Tensor bias = w.bias;
  if (bias && pass.kind.with_kept) {
    pass.recurrent_bias = ti::viewed(ti::rows_of(bias, 1, 2), {pass.width()});
    bias = ti::viewed(ti::rows_of(bias, 0, 1), {pass.width()});
  }
  const int64_t rows = pass.batch * pass.steps;
  pass.gates = pass.product(ti::viewed(pass.x, {rows, pass.inputs}), pass.kernel,
                            {DType::Float32, 1, rows, pass.width(), pass.inputs}, bias)
                   .view({pass.batch, pass.steps, pass.width()});
  const auto state = [&](size_t i) {
    return i < initial.size() ? initial[i].row_major()
                              : fill({pass.batch, pass.units}, 0, DType::Float32, x.device());
  };
  pass.h = state(0);
  if (pass.kind.with_c) pass.c = state(1);
  pass.run();
  return pass;
}

DISTRIBUTE_INLINE nn::RecurrentResult recurrent_at_once(
    const Tensor& x, const nn::RecurrentWeights& w, const nn::RecurrentOptions& options,
    const Tensor& mask, const std::vector<Tensor>& initial, DType operands) {
  const RecurrentPass pass = recurrent_pass(x, w, options, mask, initial, operands);
  std::vector<Tensor> inputs{x, w.kernel, w.recurrent_kernel, w.bias};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  inputs.resize(6);
  std::vector<Tensor> outputs{pass.output, pass.h};
  if (pass.c) outputs.push_back(pass.c);
  record("recurrent", inputs, outputs, [pass, kernel = w.kernel](const Backward& backward) {
    return final_gradients("recurrent gradient", {pass.x, kernel, backward.gradient()},
                           recurrent_gradients(pass, backward));
  });
  nn::RecurrentResult result{outputs[0], {outputs[1]}};
  if (outputs.size() > 2) result.states.push_back(outputs[2]);
  return result;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE nn::RecurrentResult nn::recurrent(const Tensor& x,
                                                    const RecurrentWeights& weights,
                                                    const RecurrentOptions& options,
                                                    const Tensor& mask,
                                                    const std::vector<Tensor>& initial) {
  using namespace ops_internal;
  check_recurrent(x, weights, options, mask, initial);
  const bool as_one = runs_as_one(x, weights, options);
  const DType type = as_one ? DType::Float32 : x.dtype();
  const auto fit = [&](const Tensor& t) { return t ? cast(t, type) : t; };
  std::vector<Tensor> states;
  for (const Tensor& state : initial) states.push_back(fit(state));
  const RecurrentWeights w{fit(weights.kernel), fit(weights.recurrent_kernel), fit(weights.bias)};
  if ((on_gpu(x) || on_gpu(w.kernel)) && options.state_factors.empty())
    if (auto done = cudnn_recurrent_layer(x, w, options, mask, states)) return *std::move(done);
  const bool narrow = is_half(x.dtype()) && backend(x.device().type).multiplies(x.dtype());
  const DType operands = narrow ? x.dtype() : DType::Float32;
  RecurrentResult result = as_one ? recurrent_at_once(fit(x), w, options, mask, states, operands)
                                  : recurrent_steps(x, w, options, mask, states);
  result.output = cast(result.output, x.dtype());
  for (Tensor& state : result.states) state = cast(state, x.dtype());
  return result;
}

}  // namespace distribute
