/// Functions that arrange elements, as function_shape_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/map_fn.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <limits>
#include <span>

namespace comparison {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor small() { return matrix({2, 3}, {1, 2, 3, 4, 5, 6}); }
Tensor others() { return matrix({2, 3}, {7, 8, 9, 0, 1, 2}); }
std::string text(int64_t number) { return std::to_string(number); }

void turn_cases() {
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{}, {0}, {-1}, {0, 2}, {0, 0}, {0, -3}, {3}})
    of("reverse " + list(axes), [axes](const Tensors& in) { return reverse(in[0], axes); },
       {three()});
  for (const auto& [shift, axis] :
       std::vector<std::pair<int64_t, int>>{{1, 0}, {-1, 2}, {5, 1}, {-9, -1}, {0, 0}, {1, 4}})
    of("roll " + text(shift) + " " + text(axis),
       [shift = shift, axis = axis](const Tensors& in) { return roll(in[0], shift, axis); },
       {three()});
  const auto rolled = [](const std::vector<int64_t>& shifts, const std::vector<int>& axes) {
    return [=](const Tensors& in) { return roll(in[0], shifts, axes); };
  };
  of("roll of axes", rolled({1, -1}, {0, 2}), {three()});
  of("roll of an axis twice", rolled({1, 1}, {2, 2}), {three()});
  of("roll of fewer shifts", rolled({1}, {0, 1}), {three()});
  of("roll of nothing", rolled({1}, {0}), {nothing({0, 3})});
}

void repeat_cases() {
  struct Case {
    std::vector<int64_t> repeats;
    std::optional<int> axis = {};
  };
  const std::vector<Case> all{
      {{2}},          {{0}, 0},    {{2}, 0}, {{2}, -1}, {{1, 2}, 0},
      {{3, 0, 1}, 1}, {{1, 2}, 1}, {{1, 2}}, {{-1}, 0}, {{1, 2, 3, 0, 1, 2}},
      {{2}, 2}};
  for (const auto& [repeats, axis] : all)
    of("repeat " + (repeats.size() == 1 ? text(repeats[0]) : list(repeats)) + " " +
           (axis ? text(*axis) : "None"),
       [repeats = repeats, axis = axis](const Tensors& in) { return repeat(in[0], repeats, axis); },
       {small()});
  of("repeat of a number", [](const Tensors& in) { return repeat(in[0], 3); }, {Tensor(2.0f)});
}

void mask_cases() {
  const auto masked = [](const Tensor& mask, int axis = 0) {
    return [=](const Tensors& in) { return boolean_mask(in[0], mask, axis); };
  };
  of("boolean_mask", masked(truths({1, 0})), {small()});
  of("boolean_mask of all", masked(greater(small(), Tensor(2.0f))), {small()});
  of("boolean_mask axis 1", masked(truths({0, 1, 1}), 1), {small()});
  of("boolean_mask axis -1", masked(truths({0, 1, 1}), -1), {small()});
  of("boolean_mask none", masked(truths({0, 0})), {small()});
  of("boolean_mask too short", masked(truths({1, 0}), 1), {small()});
  of("boolean_mask scalar", masked(Tensor(true)), {small()});
  for (const auto& [lower, upper] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 0}, {1, 0}, {-1, 0}, {0, -1}, {-1, -1}, {1, 1}, {5, 0}, {0, 5}, {-5, 0}, {2, 1}})
    of("band_part " + text(lower) + " " + text(upper),
       [lower = lower, upper = upper](const Tensors& in) {
         return dist::linalg::band_part(in[0], lower, upper);
       },
       {three()});
  of("band_part of a vector",
     [](const Tensors& in) { return dist::linalg::band_part(in[0], 0, 0); }, {vec({1, 2})});
}

void range_cases() {
  for (const auto& [start, limit, delta] : std::vector<std::array<int, 3>>{{0, 5, 1},
                                                                           {1, 10, 3},
                                                                           {5, 0, -2},
                                                                           {0, 0, 1},
                                                                           {5, 0, 1},
                                                                           {0, 5, -1},
                                                                           {0, 5, 0},
                                                                           {3, 4, 5}}) {
    const std::string numbers = text(start) + " " + text(limit) + " " + text(delta);
    of("range " + numbers,
       [a = start, b = limit, c = delta](const Tensors&) { return dist::range(a, b, c); });
    of("range of floats " + numbers, [a = start, b = limit, c = delta](const Tensors&) {
      return dist::range(float(a), float(b), float(c));
    });
  }
  const auto floats = [](const std::string& numbers, float a, float b, float c) {
    of("range of floats " + numbers, [=](const Tensors&) { return dist::range(a, b, c); });
  };
  floats("0 1 0.1", 0, 1, 0.1f);
  floats("0 1 0.3", 0, 1, 0.3f);
  floats("1 -1 -0.25", 1, -1, -0.25f);
  floats("0.5 0.6 0.1", 0.5f, 0.6f, 0.1f);
  floats("0 2.1 0.7", 0, 2.1f, 0.7f);
  const auto line = [](const std::string& numbers, double a, double b, int64_t count) {
    of("linspace " + numbers, [=](const Tensors&) { return dist::linspace(a, b, count); });
  };
  line("0 1 5", 0, 1, 5);
  line("1 -1 3", 1, -1, 3);
  line("2 2 2", 2, 2, 2);
  line("0 1 1", 0, 1, 1);
  line("0 10 7", 0, 10, 7);
  line("0 1 0", 0, 1, 0);
  line("0 1 -1", 0, 1, -1);
  line("0.1 0.7 4", 0.1, 0.7, 4);
}

void made_cases() {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, std::optional<int64_t>>>{
           {2, {}}, {2, 3}, {3, 2}, {0, {}}, {2, 0}, {-1, {}}})
    of("eye " + text(rows) + " " + (columns ? text(*columns) : "None"),
       [rows = rows, columns = columns](const Tensors&) {
         return columns ? dist::eye(rows, *columns) : dist::eye(rows);
       });
  of("eye int32", [](const Tensors&) { return dist::eye(2, -1, DType::Int32); });
  const auto lengths = [](const std::string& shown, const Tensor& counts, int64_t maxlen = -1) {
    of("sequence_mask " + shown + " " + (maxlen < 0 ? "None" : text(maxlen)),
       [=](const Tensors&) { return dist::sequence_mask(counts, maxlen); });
  };
  lengths("[1, 3, 2]", ints({1, 3, 2}));
  lengths("[1, 3, 2]", ints({1, 3, 2}), 2);
  lengths("[0, 0]", ints({0, 0}));
  lengths("[-1, 2]", ints({-1, 2}), 3);
  lengths("[[1], [2]]", reshape(ints({1, 2}), {2, 1}), 3);
  lengths("2", Tensor(int32_t(2)), 4);
  lengths("[5]", ints({5}), 0);
  lengths("[]", nothing({0}, DType::Int32));
  lengths("[]", nothing({0}, DType::Int32), 2);
  of("sequence_mask float32", [](const Tensors&) {
    return dist::sequence_mask(longs({1, 2}), 3, DType::Float32);
  });
}

}  // namespace

void order_cases() {
  turn_cases();
  repeat_cases();
  mask_cases();
  range_cases();
  made_cases();
}

namespace {

void size_cases() {
  const auto reshaped = [](const std::vector<int64_t>& shape) {
    return [=](const Tensors& in) { return reshape(in[0], std::span<const int64_t>(shape)); };
  };
  for (const auto& shape : std::vector<std::vector<int64_t>>{
           {6, 4}, {-1}, {2, -1, 2}, {5, -1}, {-1, -1}, {24, 1, 1}, {}, {0, -1}})
    of("reshape " + list(shape), reshaped(shape), {three()});
  of("reshape of nothing", reshaped({3, 0}), {nothing({0, 3})});
  of("reshape of nothing -1", reshaped({-1, 3}), {nothing({0, 3})});
  of("reshape of nothing -1 0", reshaped({-1, 0}), {nothing({0, 3})});
  of("reshape to a number", reshaped({}), {matrix({1, 1}, {2})});
  for (const int axis : {0, 1, -1, -3, 3, -4})
    of("expand_dims " + text(axis), [axis](const Tensors& in) { return expand_dims(in[0], axis); },
       {small()});
  for (const auto& axes : std::vector<std::vector<int>>{{}, {0}, {-1}, {0, 2}, {1}, {3}})
    of("squeeze " + list(axes), [axes](const Tensors& in) { return squeeze(in[0], axes); },
       {matrix({1, 2, 1}, {1, 2})});
  for (const auto& order :
       std::vector<std::vector<int>>{{}, {2, 0, 1}, {0, 2, 1}, {0, 0, 1}, {0, 1}, {-1, 0, 1}})
    of("transpose " + list(order), [order](const Tensors& in) { return transpose(in[0], order); },
       {three()});
}

void pad_cases() {
  using Pads = std::vector<dist::AxisPadding>;
  const std::vector<std::pair<std::string, Pads>> all{{"[[1, 0], [0, 2]]", {{1, 0}, {0, 2}}},
                                                      {"[[0, 0], [2, 2]]", {{0, 0}, {2, 2}}},
                                                      {"[[2, 0], [0, 0]]", {{2, 0}, {0, 0}}},
                                                      {"[[0, 0], [0, 4]]", {{0, 0}, {0, 4}}},
                                                      {"[[0, 0], [0, 0]]", {{0, 0}, {0, 0}}},
                                                      {"[[-1, 0], [0, 0]]", {{-1, 0}, {0, 0}}},
                                                      {"[[1, 1]]", {{1, 1}}}};
  const auto padded = [](const Pads& pads, dist::PadMode mode, float value = 0) {
    return [=](const Tensors& in) { return pad(in[0], pads, mode, value); };
  };
  const std::vector<std::pair<std::string, dist::PadMode>> modes{
      {"constant", dist::PadMode::Constant},
      {"reflect", dist::PadMode::Reflect},
      {"symmetric", dist::PadMode::Symmetric}};
  for (const auto& [name, mode] : modes)
    for (const auto& [shown, pads] : all)
      of("pad " + name + " " + shown, padded(pads, mode), {small()});
  const auto constant = dist::PadMode::Constant;
  of("pad value", padded({{1, 0}, {0, 1}}, constant, kNan), {small()});
  of("pad int32", padded({{1, 1}}, constant, 7), {ints({1, 2})});
  of("pad of nothing", padded({{1, 0}, {0, 1}}, constant), {nothing({0, 3})});
}

void join_cases() {
  const auto joined = [](int axis) {
    return [axis](const Tensors& in) { return concat(in, axis); };
  };
  for (const int axis : {0, 1, -1, 2}) {
    const std::string at = " " + text(axis);
    of("concat" + at, joined(axis), {small(), others()});
    of("stack" + at, [axis](const Tensors& in) { return stack(in, axis); }, {small(), others()});
    of("unstack" + at, [axis](const Tensors& in) { return unstack(in[0], axis); }, {small()});
    of("split 3" + at, [axis](const Tensors& in) { return split(in[0], 3, axis); }, {small()});
  }
  of("concat with nothing", joined(0), {small(), nothing({0, 3})});
  of("concat of shapes", joined(1), {small(), matrix({1, 3}, {7, 8, 9})});
  of("concat of dtypes", joined(0), {small(), reshape(ints({7, 8, 9}), {1, 3})});
  of("concat of numbers", joined(0), {Tensor(1.0f), Tensor(2.0f)});
  of("stack of numbers", [](const Tensors& in) { return stack(in, 0); },
     {Tensor(1.0f), Tensor(2.0f)});
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{1, 2}, {-1, 1}, {0, 3}, {2, 2}, {-1, -1}, {3, -1}})
    of("split " + list(sizes), [sizes](const Tensors& in) { return split(in[0], sizes, 1); },
       {small()});
}

void copy_cases() {
  for (const auto& multiples :
       std::vector<std::vector<int64_t>>{{2, 1}, {1, 2}, {0, 1}, {2}, {-1, 1}, {2, 2}})
    of("tile " + list(multiples), [multiples](const Tensors& in) { return tile(in[0], multiples); },
       {small()});
  const auto broadcast = [](const std::vector<int64_t>& shape) {
    return [shape](const Tensors& in) { return broadcast_to(in[0], Shape(shape)); };
  };
  for (const auto& shape :
       std::vector<std::vector<int64_t>>{{2, 3}, {2, 2, 3}, {4, 3}, {3}, {0, 2, 3}, {2, -1}})
    of("broadcast_to " + list(shape), broadcast(shape), {small()});
  of("broadcast_to of a column", broadcast({2, 2, 3}), {matrix({2, 1}, {1, 2})});
}

void part_cases_of_arrays() {
  using Sizes = std::vector<int64_t>;
  for (const auto& [begin, size] : std::vector<std::pair<Sizes, Sizes>>{{{0, 1}, {2, 2}},
                                                                        {{1, 0}, {-1, -1}},
                                                                        {{1, 3}, {1, 0}},
                                                                        {{0, 1}, {2, 3}},
                                                                        {{-1, 0}, {1, 1}},
                                                                        {{0}, {1}}})
    of("slice " + list(begin) + " " + list(size),
       [begin = begin, size = size](const Tensors& in) { return slice(in[0], begin, size); },
       {small()});
  constexpr int64_t kNone = dist::Range::kNone;
  const dist::Range all;
  const std::vector<std::pair<std::string, std::vector<dist::Range>>> ranges{
      {"1:", {{1}}},
      {"::-1", {{kNone, kNone, -1}}},
      {":, ::2", {all, {kNone, kNone, 2}}},
      {":, -2:", {all, {-2}}},
      {":, 5:", {all, {5}}},
      {":, -9:2", {all, {-9, 2}}},
      {":, 2:0:-1", {all, {2, 0, -1}}},
      {"2:1", {{2, 1}}},
      {":, ::0", {all, {kNone, kNone, 0}}},
      {":, -1:-9:-2", {all, {-1, -9, -2}}},
      {":, :, :", {all, all, all}}};
  for (const auto& [shown, ends] : ranges)
    of("strided_slice " + shown,
       [ends = ends](const Tensors& in) { return strided_slice(in[0], ends); }, {small()});
  for (const int index : {0, -1, 1, 2, -3})
    of("row " + text(index), [index](const Tensors& in) { return in[0][index]; }, {small()});
}

void loop_cases() {
  const auto twice = [](const Tensor& row) { return row * 2.0f; };
  of("map_fn",
     [](const Tensors& in) {
       return dist::map_fn([](const Tensor& row) { return reduce_sum(row * row); }, in[0]);
     },
     {small()});
  of("map_fn of two",
     [](const Tensors& in) {
       return dist::map_fn([](const Tensors& rows) { return rows[0] * rows[1]; }, in);
     },
     {small(), small() + 1.0f});
  const auto mapped = [&](const Tensors& in) { return dist::map_fn(twice, in[0]); };
  of("map_fn of nothing", mapped, {nothing({0, 3})});
  of("map_fn of a number", mapped, {Tensor(2.0f)});
  of("scan",
     [](const Tensors& in) {
       return dist::scan([](const Tensor& state, const Tensor& row) { return state * row + 1.0f; },
                         in[0]);
     },
     {small()});
  const auto sum = [](const Tensor& state, const Tensor& row) { return state + reduce_sum(row); };
  of("scan initializer", [&](const Tensors& in) { return dist::scan(sum, in[0], Tensor(10.0f)); },
     {small()});
  of("scan of nothing",
     [](const Tensors& in) {
       return dist::scan([](const Tensor& s, const Tensor& row) { return s + row; }, in[0]);
     },
     {nothing({0, 3})});
}

}  // namespace

void shape_function_cases() {
  size_cases();
  pad_cases();
  join_cases();
  copy_cases();
  part_cases_of_arrays();
  loop_cases();
}

}  // namespace comparison
