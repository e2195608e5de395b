#include <distribute/autograd/gradient_tape.hpp>

#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/check_close.hpp"
#include "../support/watching_tape.hpp"

using namespace distribute;
using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;

namespace {
const GradientTape::Options kPersistent{.persistent = true};
}  // namespace

TEST_CASE("a tape gives the gradient of what it watched", "[autograd][gradient_tape]") {
  const Tensor x(3.0f), y(2.0f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const auto gradients = tape.gradient(x * x * y, Tensors{x, y});
  CHECK(gradients[0].item<float>() == 12);
  CHECK(gradients[1].item<float>() == 9);
}

TEST_CASE("trainable variables are watched when read", "[autograd][gradient_tape]") {
  const Variable w(Tensor(3.0f)), frozen(Tensor(2.0f), {.name = "frozen", .trainable = false});
  GradientTape tape(kPersistent);
  const Tensor y = w * frozen;
  CHECK(tape.gradient(y, w).item<float>() == 2);
  CHECK_FALSE(tape.gradient(y, frozen));
  REQUIRE(tape.watched_variables().size() == 1);
  CHECK(tape.watched_variables()[0] == w);
}

TEST_CASE("sources in braces give a gradient each, one as well as two",
          "[autograd][gradient_tape]") {
  const Variable v(Tensor(3.0f)), w(Tensor(2.0f));
  GradientTape tape(kPersistent);
  const Tensor y = v * v * w;
  const Tensors both = tape.gradient(y, {v, w});
  REQUIRE(both.size() == 2);
  CHECK(both[0].item<float>() == 12);
  CHECK(both[1].item<float>() == 9);
  CHECK(tape.gradient(y, {v}).size() == 1);
}

TEST_CASE("a sum that grows by += is followed", "[autograd][gradient_tape]") {
  const Variable v(Tensor(3.0f));
  GradientTape tape;
  Tensor y = v * 2.0f;
  y += v;
  y *= v;
  y -= 1.0f;
  y /= 2.0f;
  CHECK(y.item<float>() == 13);
  CHECK(tape.gradient(y, v).item<float>() == 9);  // (3 v^2 - 1) / 2
}

TEST_CASE("variables can be watched by hand only", "[autograd][gradient_tape]") {
  const Variable v(Tensor(3.0f)), frozen(Tensor(2.0f), {.trainable = false});
  GradientTape tape(GradientTape::Options{.persistent = true, .watch_accessed_variables = false});
  tape.watch(frozen);
  const Tensor y = v * frozen;
  CHECK_FALSE(tape.gradient(y, v));
  CHECK(tape.gradient(y, frozen).item<float>() == 3);
}

TEST_CASE("a tape that is not persistent answers once", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x});
  const Tensor y = x * x;
  CHECK(tape.gradient(y, x).item<float>() == 6);
  CHECK_THROWS_AS(tape.gradient(y, x), FailedPreconditionError);
}

TEST_CASE("a persistent tape answers again and again", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x}, kPersistent);
  const Tensor y = x * x, z = y * y;
  CHECK(tape.gradient(z, x).item<float>() == 108);
  CHECK(tape.gradient(y, x).item<float>() == 6);
  CHECK(tape.gradient(z, y).item<float>() == 18);
  CHECK(tape.gradient(z, x).item<float>() == 108);
}

TEST_CASE("nested tapes give higher derivatives", "[autograd][gradient_tape]") {
  const Variable x(Tensor(2.0f));
  GradientTape third;
  GradientTape second;
  GradientTape first;
  const Tensor cube = x * x * x;
  const Tensor slope = first.gradient(cube, x);
  const Tensor curvature = second.gradient(slope, x);
  const Tensor jerk = third.gradient(curvature, x);
  CHECK(slope.item<float>() == 12);
  CHECK(curvature.item<float>() == 12);
  CHECK(jerk.item<float>() == 6);
}

TEST_CASE("a persistent tape differentiates its own gradients", "[autograd][gradient_tape]") {
  const Tensor x(2.0f);
  WatchingTape tape({x}, kPersistent);
  const Tensor slope = tape.gradient(x * x * x, x);
  CHECK(tape.gradient(slope, x).item<float>() == 12);
}

TEST_CASE("stop_gradient cuts a path", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x}, kPersistent);
  CHECK(tape.gradient(x * stop_gradient(x), x).item<float>() == 3);
  CHECK_FALSE(tape.gradient(stop_gradient(x * x), x));
}

TEST_CASE("unconnected sources give none, or zeros on request", "[autograd][gradient_tape]") {
  const Tensor x{1.0f, 2.0f}, other{5.0f, 6.0f, 7.0f};
  const Variable v(zeros({2, 2}));
  WatchingTape tape({x, other}, kPersistent);
  const Tensor y = x * 2;
  const auto none = tape.gradient({y}, Tensors{x, other}, {});
  CHECK(none[0]);
  CHECK_FALSE(none[1]);
  const GradientTape::Call zero{.unconnected = UnconnectedGradients::Zero};
  CHECK(tape.gradient({y}, Tensors{other}, zero)[0].to_vector() == Floats{0, 0, 0});
  CHECK(tape.gradient({y}, std::vector<Variable>{v}, zero)[0].shape() == Shape{2, 2});
}

TEST_CASE("several targets add up, weighted by their output gradients",
          "[autograd][gradient_tape]") {
  const Tensor x{1.0f, 2.0f};
  WatchingTape tape({x}, kPersistent);
  const Tensor a = x * 2, b = x * x;
  CHECK(tape.gradient({a, b}, Tensors{x}, {})[0].to_vector() == Floats{4, 6});
  const GradientTape::Call call{.output_gradients = {Tensor{10.0f, 100.0f}, Tensor()}};
  CHECK(tape.gradient({a, b}, Tensors{x}, call)[0].to_vector() == Floats{22, 204});
}

TEST_CASE("targets and sources may be the same or lie between", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x}, kPersistent);
  const Tensor y = x * 2, z = y * y;
  CHECK(tape.gradient(x, x).item<float>() == 1);
  const auto gradients = tape.gradient(z, Tensors{y, x, z});
  CHECK(gradients[0].item<float>() == 12);
  CHECK(gradients[1].item<float>() == 24);
  CHECK(gradients[2].item<float>() == 1);
}

TEST_CASE("a variable's gradient covers every value it had", "[autograd][gradient_tape]") {
  const Variable v(Tensor(2.0f));
  GradientTape tape;
  const Tensor before = v * 3;
  v.assign(Tensor(5.0f));
  const Tensor y = before + v * v;
  CHECK(tape.gradient(y, v).item<float>() == 13);
}

TEST_CASE("on_ready gets each gradient as soon as it is complete", "[autograd][gradient_tape]") {
  const Variable a(Tensor(2.0f), {.name = "a"}), b(Tensor(3.0f), {.name = "b"}),
      c(Tensor(4.0f), {.name = "c"});
  GradientTape tape;
  std::vector<std::string> events;
  const auto spy = [&](const std::string& name, const Tensor& x) {
    return record("spy", {x}, x.renamed(), [&, name](const Backward& backward) {
      events.push_back("passed " + name);
      return Tensors{backward.gradient()};
    });
  };
  const Tensor first = spy("first", a * 1);
  const Tensor second = spy("second", first * b);
  const Tensor y = second * c + b;
  std::vector<float> values(3);
  const std::vector<Variable> sources{a, b, c};
  GradientTape::Call call;
  call.on_ready = [&](size_t source, const Tensor& gradient) {
    events.push_back("ready " + sources[source].name());
    values[source] = gradient.item<float>();
  };
  const auto gradients = tape.gradient({y}, sources, call);
  CHECK(events ==
        std::vector<std::string>{"ready c", "passed second", "ready b", "passed first", "ready a"});
  for (size_t i = 0; i < 3; ++i) CHECK(gradients[i].item<float>() == values[i]);
  CHECK(values == Floats{12, 9, 6});
}

TEST_CASE("on_ready comes for sources asked for twice and for targets",
          "[autograd][gradient_tape]") {
  const Variable v(Tensor(2.0f)), alone(Tensor(3.0f));
  GradientTape tape;
  const Tensor y = v * 5, z = alone;
  std::vector<float> values(4);
  GradientTape::Call call;
  call.on_ready = [&](size_t source, const Tensor& gradient) {
    values[source] = gradient.item<float>();
  };
  tape.gradient({y, z}, std::vector<Variable>{v, alone, v, Variable(Tensor(0.0f))}, call);
  CHECK(values == Floats{5, 1, 5, 0});
}

TEST_CASE("a finished operation's memory is freed during the walk", "[autograd][gradient_tape]") {
  const Tensor x(1.0f);
  WatchingTape tape({x});
  const auto late = std::make_shared<int>(), early = std::make_shared<int>();
  const std::weak_ptr<int> watched = late;
  bool freed = false;
  auto saved = late;
  Tensor y = record("early", {x}, x.renamed(), [&freed, watched](const Backward& b) {
    freed = watched.expired();
    return Tensors{b.gradient()};
  });
  {
    const auto moved = std::move(saved);
    y = record("late", {y}, y.renamed(),
               [moved](const Backward& b) { return Tensors{b.gradient()}; });
  }
  const_cast<std::shared_ptr<int>&>(late).reset();
  CHECK_FALSE(watched.expired());
  tape.gradient(y, x);
  CHECK(freed);
}

TEST_CASE("operations may have several outputs and unused inputs", "[autograd][gradient_tape]") {
  const Tensor x(2.0f), constant(5.0f);
  WatchingTape tape({x}, kPersistent);
  std::vector<bool> seen;
  const std::array<Tensor, 2> inputs{x, constant}, outputs{x.renamed(), x.renamed()};
  record("pair", inputs, outputs, [&](const Backward& b) {
    seen = {bool(b.gradient(0)), bool(b.gradient(1)), b.needs(0), b.needs(1)};
    const Tensor second = b.gradient(1) ? b.gradient(1) * 10 : zeros({});
    return Tensors{(b.gradient(0) ? b.gradient(0) : zeros({})) + second, Tensor()};
  });
  CHECK(tape.gradient(outputs[0], x).item<float>() == 1);
  CHECK(seen == std::vector<bool>{true, false, true, false});
  CHECK(tape.gradient({outputs[0], outputs[1]}, Tensors{x}, {})[0].item<float>() == 11);
}

TEST_CASE("an input with one reader whose gradient is not asked for is private",
          "[autograd][gradient_tape]") {
  const Tensor x(2.0f);
  WatchingTape tape({x}, kPersistent);
  bool is_private = false;
  const auto probe = [&](const Tensor& t) {
    return record("probe", {t}, t.renamed(), [&](const Backward& b) {
      is_private = b.is_private(0);
      return Tensors{b.gradient()};
    });
  };
  const Tensor alone = x * 2, z = probe(alone);
  tape.gradient(z, x);
  CHECK(is_private);
  tape.gradient(z, alone);
  CHECK_FALSE(is_private);
  const Tensor shared = x * 3, w = probe(shared) + shared;
  tape.gradient(w, x);
  CHECK_FALSE(is_private);
}

TEST_CASE("recording can be paused and forgotten", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor hidden;
  {
    const auto pause = tape.stop_recording();
    hidden = x * x;
    CHECK_FALSE(is_recording(Tensors{x}));
  }
  CHECK(is_recording(Tensors{x}));
  CHECK(tape.gradient(hidden + x, x).item<float>() == 1);
  tape.reset();
  CHECK_FALSE(is_recording(Tensors{x}));
  tape.watch(x);
  CHECK(tape.gradient(x * x, x).item<float>() == 6);
}

TEST_CASE("a tape records its own thread only", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x}, kPersistent);
  Tensor elsewhere;
  std::thread([&] { elsewhere = x * x; }).join();
  CHECK_FALSE(tape.gradient(elsewhere, x));
}

TEST_CASE("a tape that ended records nothing", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  {
    GradientTape tape;
    tape.watch(x);
  }
  CHECK_FALSE(is_recording(Tensors{x}));
}

TEST_CASE("missing gradients are an error that names the operation", "[autograd][gradient_tape]") {
  const Tensor x(3.0f);
  WatchingTape tape({x});
  const Tensor y = record("sort", {x}, x.renamed(), no_gradient("sort"));
  CHECK_THROWS_WITH(tape.gradient(y, x), "sort has no gradient of its own");
}

TEST_CASE("sparse gradients stay sparse for sources and are summed for operations",
          "[autograd][gradient_tape]") {
  const Tensor table = zeros({4, 2});
  const auto lookup = [](const Tensor& from, int64_t row) {
    return record("lookup", {from}, from.rows(row, row + 1).renamed(), [=](const Backward& b) {
      return Tensors{to_tensor({b.gradient(), Tensor{row}, {4, 2}})};
    });
  };
  WatchingTape tape({table}, kPersistent);
  const Tensor y = lookup(table, 1) + lookup(table, 3) * 2 + lookup(table, 1);
  const Tensor gradient = tape.gradient(y, table);
  CHECK(is_indexed_slices(gradient));
  CHECK(gradient.to_vector() == Floats{0, 0, 2, 2, 0, 0, 2, 2});
  const Tensor scaled = table * 3;
  const Tensor through = tape.gradient(lookup(scaled, 2), table);
  CHECK_FALSE(is_indexed_slices(through));
  CHECK(through.to_vector() == Floats{0, 0, 0, 0, 3, 3, 0, 0});
  const Tensor mixed = tape.gradient({lookup(table, 0), table * 1}, Tensors{table}, {})[0];
  CHECK(mixed.to_vector() == Floats{2, 2, 1, 1, 1, 1, 1, 1});
}
