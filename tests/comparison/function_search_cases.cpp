/// Functions that search, sort, choose and measure, as function_shape_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <limits>
#include <optional>

namespace comparison {

namespace {

namespace nn = dist::nn;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor ties() { return matrix({2, 4}, {2, 2, 1, 2, 0, -0.0f, -1, 0}); }
Tensor nans() { return matrix({2, 4}, {kNan, 1, 2, kNan, 1, kNan, kInf, -kInf}); }

std::vector<Named> searched() {
  return {{"ties", ties()},
          {"nan", nans()},
          {"three", three()},
          {"int32", Tensor({2, 4}, std::vector<int32_t>{3, -1, 3, 7, 0, 0, -5, 0})},
          {"int64", Tensor({2, 4}, std::vector<int64_t>{3, -1, 3, 7, 0, 0, -5, 0})},
          {"uint8", Tensor({2, 4}, std::vector<uint8_t>{3, 255, 3, 7, 0, 0, 5, 0})},
          {"bool", reshape(truths({1, 0, 1, 0}), {1, 4})},
          {"empty", nothing({0, 3})},
          {"no columns", nothing({2, 0})},
          {"scalar", Tensor(2.0f)}};
}

void extreme_cases(const std::string& name, Tensor (*f)(const Tensor&, int)) {
  const auto along = [f](int axis) { return [=](const Tensors& in) { return f(in[0], axis); }; };
  for (const auto& [text, x] : searched()) {
    of(name + " " + text, along(0), {x});
    of(name + " " + text + " -1", along(-1), {x});
  }
  of(name + " axis 3", along(3), {three()});
  of(name + " bfloat16", along(-1), {cast(ties(), DType::BFloat16)});
}

void top_cases() {
  for (const int k : {0, 1, 3, 5, -1})
    for (const auto& [text, x] : searched())
      of("top_k " + text + " " + std::to_string(k),
         [k](const Tensors& in) -> Tensors {
           const auto found = dist::top_k(in[0], k);
           return {found.values, found.indices};
         },
         {x});
  const std::vector<Named> predictions{
      {"ties", ties()},
      {"nan", nans()},
      {"ordinary", matrix({2, 4}, {0.1f, 0.9f, 0.3f, 0.4f, 4, 3, 2, 1})}};
  const std::vector<std::pair<int32_t, int32_t>> targets{{0, 1}, {2, 3}, {-1, 4}};
  for (const auto& [text, x] : predictions)
    for (const int k : {0, 1, 2, 4, 9})
      for (const auto& [a, b] : targets)
        of("in_top_k " + text + " " + std::to_string(k) + " " + std::to_string(a) + " " +
               std::to_string(b),
           [k, a = a, b = b](const Tensors& in) {
             return nn::in_top_k(ints({a, b}), in[0], k);
           },
           {x});
}

void sort_cases(const std::string& name, Tensor (*f)(const Tensor&, int, dist::SortDirection)) {
  for (const auto& [text, x] : searched())
    for (const auto direction : {dist::SortDirection::Ascending, dist::SortDirection::Descending}) {
      const std::string line =
          name + " " + text +
          (direction == dist::SortDirection::Ascending ? " ascending" : " descending");
      of(line, [=](const Tensors& in) { return f(in[0], -1, direction); }, {x});
      of(line + " 0", [=](const Tensors& in) { return f(in[0], 0, direction); }, {x});
    }
  of(name + " axis 5",
     [f](const Tensors& in) { return f(in[0], 5, dist::SortDirection::Ascending); }, {three()});
}

}  // namespace

void search_cases() {
  extreme_cases("argmax", dist::argmax);
  extreme_cases("argmin", dist::argmin);
  top_cases();
  sort_cases("sort", dist::sort);
  sort_cases("argsort", dist::argsort);
}

namespace {

Tensor four() { return matrix({4, 2}, {1, 2, 3, 4, 5, 6, 7, kNan}); }

void segment_cases() {
  const auto unsorted = [](const Tensor& numbers, int64_t count) {
    return [=](const Tensors& in) { return unsorted_segment_sum(in[0], numbers, count); };
  };
  const std::vector<std::pair<std::vector<int32_t>, int64_t>> segments{
      {{0, 2, 0, 1}, 3}, {{0, 2, 0, 1}, 5},     {{-1, 2, 0, 1}, 3}, {{0, 3, 0, 1}, 3},
      {{0, 0, 0, 0}, 0}, {{-1, -1, -7, -1}, 0}, {{0, 1}, 2},        {{0, 2, 0, 1}, -1}};
  for (const auto& [numbers, count] : segments)
    of("unsorted_segment_sum " + list(numbers) + " " + std::to_string(count),
       unsorted(ints(numbers), count), {four()});
  const Tensor pairs({4, 2}, std::vector<int32_t>{0, 1, 1, 0, 2, 2, -1, 0});
  of("unsorted_segment_sum of pairs", unsorted(pairs, 3), {four()});
  const Tensor ids = ints({0, 2, 0, 1});
  of("unsorted_segment_sum int32", unsorted(ids, 3), {ints({1, 2, 3, 4})});
  of("unsorted_segment_sum float16", unsorted(ids, 3), {cast(vec({1, 2, 3, 4}), DType::Float16)});
  of("unsorted_segment_sum of nothing", unsorted(nothing({0}, DType::Int32), 2), {nothing({0, 3})});
  const auto sorted = [](const Tensor& numbers) {
    return [=](const Tensors& in) { return segment_sum(in[0], numbers); };
  };
  const std::vector<std::vector<int64_t>> increasing{{0, 0, 1, 2}, {0, 2, 2, 4},  {1, 1, 1, 1},
                                                     {0, 2, 1, 1}, {-1, 0, 1, 1}, {0, 1}};
  for (const auto& numbers : increasing)
    of("segment_sum " + list(numbers), sorted(longs(numbers)), {four()});
  of("segment_sum of nothing", sorted(nothing({0}, DType::Int32)), {nothing({0, 3})});
}

void scatter_cases() {
  const auto scatter = [](const Tensor& indices, const Shape& shape) {
    return [=](const Tensors& in) { return scatter_nd(indices, in[0], shape); };
  };
  const auto column = [](const std::vector<int32_t>& rows) {
    return reshape(ints(rows), {int64_t(rows.size()), 1});
  };
  of("scatter_nd [[0], [2], [0], [1]]", scatter(column({0, 2, 0, 1}), {4, 2}), {four()});
  of("scatter_nd [[0], [3], [0], [-1]]", scatter(column({0, 3, 0, -1}), {4, 2}), {four()});
  of("scatter_nd [[0], [4], [0], [1]]", scatter(column({0, 4, 0, 1}), {4, 2}), {four()});
  const Tensor pairs({3, 2}, std::vector<int64_t>{0, 1, 1, 0, 0, 1});
  of("scatter_nd of pairs", scatter(pairs, {2, 2}), {vec({1, 2, 3})});
  of("scatter_nd of another shape", scatter(column({0, 1}), {4, 3}), {four()});
  of("scatter_nd of nothing", scatter(nothing({0, 1}, DType::Int32), {2, 3}), {nothing({0, 3})});
}

using Scatter = Tensor (*)(const Tensor& x, const Tensor& indices, const Tensor& updates);

void one_scattered(const std::string& name, Scatter scatter) {
  const auto at = [scatter](const Tensor& indices) {
    return [=](const Tensors& in) { return scatter(in[0], indices, in[1]); };
  };
  const auto rows = [](const std::vector<int32_t>& numbers) {
    return reshape(ints(numbers), {int64_t(numbers.size()), 1});
  };
  const Tensor x = matrix({4, 2}, {1, 2, 4, -8, 0.5f, kNan, 7, 3});
  const Tensor two = matrix({2, 2}, {2, -1, 4, 3});
  of(name + "rows", at(rows({0, 2})), {x, two});
  of(name + "twice", at(rows({1, 1})), {x, two});
  of(name + "out", at(rows({4, 0})), {x, two});
  of(name + "negative", at(rows({-1, 0})), {x, two});
  const Tensor pairs({3, 2}, std::vector<int64_t>{0, 1, 1, 0, 0, 1});
  of(name + "elements", at(pairs), {x, vec({2, 4, -5})});
  const Tensor equal({3, 2}, std::vector<int32_t>{0, 1, 1, 0, 1, 0});
  of(name + "equal", at(equal), {x, vec({2, 4, 4})});
  of(name + "two axes of indices", at(reshape(ints({0, 3}), {1, 2, 1})), {x, expand_dims(two, 0)});
  of(name + "of three axes", at(reshape(ints({1, 2, 0, 0}), {2, 2})),
     {three(), matrix({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4})});
  of(name + "of nothing", at(nothing({0, 1}, DType::Int32)), {x, nothing({0, 2})});
  of(name + "of whole", at(nothing({1, 0}, DType::Int32)), {x, expand_dims(x * 2, 0)});
  of(name + "of another shape", at(rows({0, 1})), {x, matrix({2, 3}, {1, 2, 3, 1, 2, 3})});
  of(name + "of a scalar", at(rows({0, 1})), {x, Tensor(3.0f)});
  of(name + "of two dtypes",
     [=](const Tensors& in) {
       return scatter(in[0], rows({0, 1}), reshape(ints({1, 2, 3, 4}), {2, 2}));
     },
     {x});
  of(name + "of float indices", at(cast(rows({0, 1}), DType::Float32)), {x, two});
  of(name + "without tuples", at(ints({0, 1})), {x, vec({1, 2})});
  for (const DType dtype :
       {DType::Int32, DType::UInt8, DType::Bool, DType::Float16, DType::BFloat16})
    of(name + dtype_name(dtype), at(rows({0, 2})),
       {cast(ints({5, 0, 7}), dtype), cast(ints({3, 9}), dtype)});
}

void scattered_cases() {
  one_scattered("tensor_scatter_nd_update ", dist::tensor_scatter_nd_update);
  one_scattered("tensor_scatter_nd_add ", dist::tensor_scatter_nd_add);
  one_scattered("tensor_scatter_nd_sub ", dist::tensor_scatter_nd_sub);
  one_scattered("tensor_scatter_nd_min ", dist::tensor_scatter_nd_min);
  one_scattered("tensor_scatter_nd_max ", dist::tensor_scatter_nd_max);
}

void gather_cases() {
  const auto chosen = [](const std::string& text, const Tensor& indices, int axis) {
    of("gather " + text + " " + std::to_string(axis),
       [=](const Tensors& in) { return gather(in[0], indices, axis); }, {three()});
  };
  chosen("[1, 0, 1]", ints({1, 0, 1}), 0);
  chosen("[2, 0]", ints({2, 0}), 1);
  chosen("[2, 0]", ints({2, 0}), -2);
  chosen("[[3, 0], [1, 1]]", reshape(ints({3, 0, 1, 1}), {2, 2}), 2);
  chosen("1", Tensor(int32_t(1)), 1);
  chosen("[]", nothing({0}, DType::Int32), 0);
  chosen("[2]", ints({2}), 0);
  chosen("[-1]", ints({-1}), 0);
  chosen("[0]", ints({0}), 3);
  chosen("[4]", ints({4}), -1);
  const auto batched = [](const std::string& text, const Tensor& indices, int axis, int batch) {
    of(dist::str_cat("gather ", text, " ", axis, " of batches ", batch),
       [=](const Tensors& in) { return gather(in[0], indices, axis, batch); }, {three()});
  };
  const Tensor pairs = reshape(ints({0, 2, 1, 1}), {2, 2});
  batched("[[0, 2], [1, 1]]", pairs, 1, 1);
  batched("[[3, 0], [2, 2]]", reshape(ints({3, 0, 2, 2}), {2, 2}), 2, 1);
  batched("[[0, 2, 1], [3, 3, 0]]", reshape(ints({0, 2, 1, 3, 3, 0}), {2, 3}), 2, 2);
  batched("[1, 0]", ints({1, 0}), 1, 1);
  batched("[[0, 2], [1, 1]]", pairs, -1, 1);
  batched("[[0, 2], [1, 1]]", pairs, 2, -1);
  batched("[[[0], [1]], [[2], [0]]]", reshape(ints({0, 1, 2, 0}), {2, 2, 1}), 1, 1);
  batched("[[0, 1]]", reshape(ints({0, 1}), {1, 2}), 1, 1);
  batched("[[0, 2], [1, 1]]", pairs, 0, 1);
  batched("[[0, 3], [1, 1]]", reshape(ints({0, 3, 1, 1}), {2, 2}), 1, 1);
  batched("[[0, 1], [1, 0]]", reshape(ints({0, 1, 1, 0}), {2, 2}), 1, 0);
  batched("[0, 1]", ints({0, 1}), 1, 2);
  of("gather uint8", [](const Tensors&) { return gather(bytes({5, 6, 7}), longs({2, 0})); });
}

void gather_nd_cases() {
  const auto chosen = [](const std::string& text, const Tensor& indices) {
    of("gather_nd " + text, [=](const Tensors& in) { return gather_nd(in[0], indices); },
       {three()});
  };
  chosen("[[0, 1], [1, 2]]", reshape(ints({0, 1, 1, 2}), {2, 2}));
  chosen("[[1], [0]]", reshape(ints({1, 0}), {2, 1}));
  chosen("[[0, 1, 3]]", reshape(ints({0, 1, 3}), {1, 3}));
  chosen("[1, 2, 3]", ints({1, 2, 3}));
  chosen("[[0, 0, 0, 0]]", reshape(ints({0, 0, 0, 0}), {1, 4}));
  chosen("[[2, 0]]", reshape(ints({2, 0}), {1, 2}));
  chosen("[[0, -1]]", reshape(ints({0, -1}), {1, 2}));
  chosen("[[[0], [1]]]", reshape(ints({0, 1}), {1, 2, 1}));
  chosen("of whole", nothing({2, 0}, DType::Int32));
}

void one_hot_cases() {
  const auto made = [](const std::string& text, const Tensor& indices, int64_t depth, int axis) {
    of("one_hot " + text + " " + std::to_string(depth) + " " + std::to_string(axis),
       [=](const Tensors&) { return dist::one_hot(indices, depth, 1, 0, axis); });
  };
  made("[0, 2, 1]", ints({0, 2, 1}), 3, -1);
  made("[0, 3, -1]", ints({0, 3, -1}), 3, -1);
  made("[0, 2, 1]", ints({0, 2, 1}), 3, 0);
  made("[[0, 1], [2, 0]]", reshape(ints({0, 1, 2, 0}), {2, 2}), 3, 1);
  made("1", Tensor(int32_t(1)), 3, -1);
  made("[0, 1]", ints({0, 1}), 0, -1);
  made("[0, 1]", ints({0, 1}), -1, -1);
  made("[]", nothing({0}, DType::Int32), 2, -1);
  made("[0]", ints({0}), 2, 2);
  of("one_hot int32", [](const Tensors&) {
    return one_hot(bytes({1, 0}), 2, 5, -2, -1, DType::Int32);
  });
  of("one_hot bool", [](const Tensors&) {
    return one_hot(longs({1, 0}), 2, 1, 0, -1, DType::Bool);
  });
  of("one_hot bfloat16", [](const Tensors&) {
    return one_hot(longs({1, 0}), 2, 0.3f, -1, -1, DType::BFloat16);
  });
}

}  // namespace

void index_cases() {
  segment_cases();
  scatter_cases();
  scattered_cases();
  gather_cases();
  gather_nd_cases();
  one_hot_cases();
  const std::vector<std::pair<std::string, Tensor>> looked_up{
      {"[1, 0, 1]", ints({1, 0, 1})},
      {"[[3], [0]]", reshape(ints({3, 0}), {2, 1})},
      {"[4]", ints({4})},
      {"[-1]", ints({-1})},
      {"[]", nothing({0}, DType::Int32)}};
  for (const auto& [text, indices] : looked_up)
    of("embedding_lookup " + text,
       [indices = indices](const Tensors& in) { return nn::embedding_lookup(in[0], indices); },
       {four()});
}

namespace {

std::vector<Named> measured() {
  return {{"ordinary", matrix({2, 2}, {3, 4, -1, 2})},
          {"zero", matrix({2, 2}, {0, 0, 0, 0})},
          {"nan", matrix({2, 2}, {kNan, 1, kInf, 0})},
          {"tiny", matrix({2, 2}, {1e-8f, 0, 3e-7f, 4e-7f})},
          {"large", matrix({2, 2}, {1e20f, 1e20f, 3e30f, 0})},
          {"three", three()},
          {"empty", nothing({0, 2})},
          {"float16", cast(matrix({2, 2}, {300, 400, 1, 2}), DType::Float16)},
          {"bfloat16", cast(matrix({2, 2}, {300, 400, 1, 2}), DType::BFloat16)},
          {"scalar", Tensor(-3.0f)},
          {"int32", ints({3, 4})}};
}

std::string order_text(double order) {
  return order == 0.5 ? "0.5" : order == kInf ? "inf" : std::to_string(int(order));
}

Function norm_of(std::optional<double> order, const std::vector<int>& axes, bool keepdims = false) {
  return [=](const Tensors& in) -> Tensors {
    return {norm(in[0], {.ord = order, .axes = axes, .keepdims = keepdims})};
  };
}

void measures_of(const std::string& text, const Tensor& x) {
  for (const double order : {1.0, 2.0, 3.0, 0.5, double(kInf)}) {
    of("norm " + text + " " + order_text(order), norm_of(order, {}), {x});
    of("norm " + text + " " + order_text(order) + " -1", norm_of(order, {-1}), {x});
  }
  const auto normalized = [](const std::vector<int>& axes, float epsilon = 1e-12f) {
    return [=](const Tensors& in) { return nn::l2_normalize(in[0], axes, epsilon); };
  };
  of("l2_normalize " + text, normalized({}), {x});
  of("l2_normalize " + text + " -1", normalized({-1}), {x});
  of("l2_normalize " + text + " 0 epsilon 0.1", normalized({0}, 0.1f), {x});
  const auto clip = [](float limit) {
    return [=](const Tensors& in) { return clip_by_norm(in[0], limit); };
  };
  of("clip_by_norm " + text, clip(2), {x});
  of("clip_by_norm " + text + " 1000", clip(1000), {x});
  of("global_norm " + text,
     [](const Tensors& in) {
       return dist::global_norm({in[0], in[0]});
     },
     {x});
  of("clip_by_global_norm " + text,
     [](const Tensors& in) {
       return dist::clip_by_global_norm({in[0], in[0]}, 2).list;
     },
     {x});
  of("norm of clip_by_global_norm " + text,
     [](const Tensors& in) {
       return dist::clip_by_global_norm({in[0], in[0]}, 2).norm;
     },
     {x});
}

}  // namespace

void norm_cases() {
  for (const auto& [text, x] : measured()) measures_of(text, x);
  for (const auto& axes : std::vector<std::vector<int>>{{0, 2}, {-1, 1}, {0, 1, 2}, {1}})
    for (const auto order : std::vector<std::optional<double>>{1, 2, 3, kInf, 0, -1, {}}) {
      const std::string line =
          "norm of axes " + list(axes) + " " + (order ? order_text(*order) : "euclidean");
      of(line, norm_of(order, axes), {three()});
      of(line + " keepdims", norm_of(order, axes, true), {three()});
    }
  of("norm keepdims",
     [](const Tensors& in) { return norm(in[0], {.axes = {-1}, .keepdims = true}); }, {three()});
  of("l2_normalize of axes",
     [](const Tensors& in) {
       return nn::l2_normalize(in[0], {0, -1});
     },
     {three()});
  const Tensor x = measured()[0].x;
  for (const auto& [text, limit] : std::vector<std::pair<std::string, float>>{
           {"0.0", 0}, {"-1.0", -1}, {"inf", kInf}, {"nan", kNan}}) {
    of("clip_by_norm to " + text,
       [limit = limit](const Tensors& in) { return clip_by_norm(in[0], limit); }, {x});
    of("clip_by_global_norm to " + text,
       [limit = limit](const Tensors& in) {
         return dist::clip_by_global_norm({in[0]}, limit).list;
       },
       {x});
  }
  const auto with_norm = [](float used) {
    return
        [=](const Tensors& in) { return dist::clip_by_global_norm({in[0]}, 2, Tensor(used)).list; };
  };
  of("clip_by_global_norm use_norm", with_norm(8), {x});
  of("clip_by_global_norm use_norm small", with_norm(1), {x});
  of("clip_by_global_norm of nothing",
     [](const Tensors&) { return dist::clip_by_global_norm({}, 2).norm; });
  of("global_norm of nothing", [](const Tensors&) { return dist::global_norm({}); });
}

}  // namespace comparison
