#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/watching_tape.hpp>

using namespace distribute;

namespace {

std::string attribute_names(const TracedOp& op) {
  std::string names;
  for (const auto& [name, value] : op.attributes) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("a trace knows operation, operands and attributes of a result", "[autograd][op_trace]") {
  const Tensor x = ones({1, 4, 4, 2}), w = ones({3, 3, 2, 5});
  OpTrace trace;
  const Tensor y = nn::conv2d(x, w, {.strides = {2, 1}, .padding = Padding::Same});
  const TracedOp* op = trace.origin(y);
  REQUIRE(op);
  CHECK(op->name == "conv2d");
  REQUIRE(op->inputs.size() == 3);
  CHECK(op->inputs[0].id() == x.id());
  CHECK(op->inputs[1].id() == w.id());
  CHECK_FALSE(op->inputs[2]);
  CHECK(std::get<std::vector<int64_t>>(op->attributes.at("strides")) == std::vector<int64_t>{2, 1});
  CHECK(std::get<int64_t>(op->attributes.at("padding")) == int64_t(Padding::Same));
  CHECK(trace.origin(x) == nullptr);
}

TEST_CASE("an operation made of others counts as a whole", "[autograd][op_trace]") {
  const Tensor x = ones({1, 4, 4, 2}), w = ones({3, 3, 2, 2});
  OpTrace trace;
  const Tensor y = nn::depthwise_conv2d(x, w);  // a grouped convolution of reshaped filters
  REQUIRE(trace.origin(y));
  CHECK(trace.origin(y)->name == "depthwise_conv2d");
  CHECK(trace.origin(y)->inputs[1].id() == w.id());
}

TEST_CASE("a trace knows the values of variables", "[autograd][op_trace]") {
  const Variable weight(ones({2, 2}), {.name = "w"});
  OpTrace trace;
  const Tensor value = weight.value();
  CHECK(trace.variable(value) == weight);
  CHECK_FALSE(trace.variable(ones({2})));
}

TEST_CASE("integer operations, which no tape records, are traced", "[autograd][op_trace]") {
  const Tensor ids(Shape{2}, std::vector<int32_t>{1, 0}), table = ones({3, 2});
  OpTrace trace;
  CHECK(trace.origin(ids + ids)->name == "add");
  CHECK(trace.origin(reduce_sum(ids))->name == "reduce_sum");
  CHECK(trace.origin(less(ids, ids))->name == "less");
  const Tensor rows = gather(table, ids);
  CHECK(trace.origin(rows)->name == "gather");
  CHECK(trace.origin(rows)->inputs[1].id() == ids.id());
}

TEST_CASE("a trace hears its own thread until it stops, and inner traces hear instead",
          "[autograd][op_trace]") {
  const Tensor x = ones({2});
  OpTrace outer;
  Tensor y;
  std::thread([&] { y = x + x; }).join();
  CHECK(outer.origin(y) == nullptr);
  {
    OpTrace inner;
    const Tensor z = x * x;
    CHECK(inner.origin(z));
    CHECK_FALSE(outer.origin(z));
  }
  const Tensor again = stop_gradient(x);
  REQUIRE(outer.origin(again));
  CHECK(outer.origin(again)->name == "stop_gradient");
  outer.stop();
  CHECK_FALSE(outer.origin(x - x));
  CHECK(outer.origin(again));
}

TEST_CASE("operations say their attributes when they are recorded", "[autograd][op_trace]") {
  struct Case {
    std::string op, attributes;
    std::function<Tensor(const Tensor&)> call;
  };
  const std::vector<Case> cases{
      {"argmax", "axis ", [](auto& x) { return argmax(x, -1); }},
      {"avg_pool2d", "explicit_paddings ksize padding strides ",
       [](auto& x) { return nn::avg_pool2d(x); }},
      {"cast", "", [](auto& x) { return cast(x, DType::Int32); }},
      {"clip_by_value", "high low ", [](auto& x) { return clip_by_value(x, 0, 1); }},
      {"concat", "axis ",
       [](auto& x) {
         return concat({x, x}, 0);
       }},
      {"dense", "epilogue ",
       [](auto& x) {
         return nn::dense(x, ones({2, 3}));
       }},
      {"floor", "", [](auto& x) { return floor(x); }},
      {"greater", "", [](auto& x) { return greater(x, x); }},
      {"is_nan", "", [](auto& x) { return is_nan(x); }},
      {"layer_normalization", "begin_axis epsilon ",
       [](auto& x) { return nn::layer_normalization(x); }},
      {"leaky_relu", "alpha ", [](auto& x) { return nn::leaky_relu(x, 0.1f); }},
      {"log_softmax", "axis ", [](auto& x) { return nn::log_softmax(x); }},
      {"matmul", "transpose_a transpose_b ", [](auto& x) { return matmul(x, x); }},
      {"max_pool2d", "explicit_paddings ksize padding strides ",
       [](auto& x) { return nn::max_pool2d(x); }},
      {"one_hot", "axis depth off_value on_value ",
       [](auto& x) { return one_hot(cast(x, DType::Int32), 3); }},
      {"reduce_mean", "axes keepdims ", [](auto& x) { return reduce_mean(x, {1}); }},
      {"slice", "begin size step whole ", [](auto& x) { return split(x, 2, 1)[1]; }},
      {"softmax", "axis ", [](auto& x) { return nn::softmax(x); }},
      {"top_k", "k ", [](auto& x) { return top_k(x, 1).values; }},
      {"top_k_indices", "", [](auto& x) { return top_k(x, 1).indices; }},
      {"transpose", "permutation ", [](auto& x) { return transpose(x); }},
      {"where", "", [](auto& x) { return where(greater(x, x), x, x); }},
  };
  const Tensor x = ones({2, 2, 2, 2});
  for (const Case& c : cases) {
    CAPTURE(c.op);
    OpTrace trace;
    const Tensor y = c.call(x);
    const TracedOp* op = trace.origin(y);
    REQUIRE(op);
    CHECK(op->name == c.op);
    CHECK(attribute_names(*op) == c.attributes);
  }
}

TEST_CASE("attributes are made only while a trace is active, and only tapes need a gradient",
          "[autograd][op_trace]") {
  const Tensor x = ones({2});
  int made = 0;
  const auto attributes = [&] { return OpAttributes{{"times", int64_t(++made)}}; };
  WatchingTape tape({x}, GradientTape::Options{.persistent = true});
  const Tensor y = record("step", {x}, ones({2}), not_differentiable, attributes);
  const auto pass = [](const Backward& b) { return std::vector<Tensor>{b.gradient()}; };
  const Tensor z = record("pass", {x}, ones({2}), pass, attributes);
  CHECK(made == 0);
  CHECK_FALSE(tape.gradient(y, x));
  CHECK(tape.gradient(z, x).to_vector() == std::vector<float>{1, 1});
  OpTrace trace;
  const Tensor whole = record_composite("whole", {x}, x * x, attributes);
  CHECK(made == 1);
  CHECK(trace.origin(whole)->name == "whole");
  CHECK(std::get<int64_t>(trace.origin(whole)->attributes.at("times")) == 1);
  CHECK(tape.gradient(whole, x).to_vector() == std::vector<float>{2, 2});  // as of its part
}
