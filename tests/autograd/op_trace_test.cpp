#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/conv2d.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/gather.hpp>
#include <distribute/ops/matmul.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/catch.hpp>

#include <thread>

using namespace distribute;

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
