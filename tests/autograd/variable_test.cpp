#include <distribute/autograd/variable.hpp>

#include <distribute/ops/math.hpp>

#include "../support/check_close.hpp"

using namespace distribute;
using Floats = std::vector<float>;

TEST_CASE("a variable keeps its value and its options", "[autograd][variable]") {
  const Variable v(Tensor{1.0f, 2.0f}, {.name = "kernel",
                                        .synchronization = VariableSynchronization::OnWrite,
                                        .aggregation = VariableAggregation::Mean});
  CHECK(v.name() == "kernel");
  CHECK(v.shape() == Shape{2});
  CHECK(v.dtype() == DType::Float32);
  CHECK(v.trainable());
  CHECK(v.synchronization() == VariableSynchronization::OnWrite);
  CHECK(v.aggregation() == VariableAggregation::Mean);
  CHECK(v.value().to_vector() == Floats{1, 2});
  CHECK(Variable(Tensor(1.0f)).name() == "Variable");
}

TEST_CASE("a variable that is synchronized on read is not trainable by itself",
          "[autograd][variable]") {
  constexpr auto kOnRead = VariableSynchronization::OnRead;
  CHECK_FALSE(Variable(Tensor(1.0f), {.synchronization = kOnRead}).trainable());
  CHECK(Variable(Tensor(1.0f), {.trainable = true, .synchronization = kOnRead}).trainable());
}

TEST_CASE("assignments change what all handles read", "[autograd][variable]") {
  const Variable v(Tensor{1.0f, 2.0f});
  const Variable same = v;
  const Tensor before = v.value();
  v.assign(Tensor{3.0f, 4.0f});
  v.assign_add(Tensor{1.0f, 1.0f});
  v.assign_sub(Tensor{0.0f, 5.0f});
  CHECK(same.value().to_vector() == Floats{4, 0});
  CHECK(same == v);
  CHECK(before.to_vector() == Floats{1, 2});
}

TEST_CASE("what changes a variable gives the variable", "[autograd][variable]") {
  const Variable v(Tensor{1.0f, 2.0f}), n(Tensor(1.0f));
  CHECK(v.assign(Tensor{3.0f, 4.0f}) == v);
  CHECK(v.assign_add(Tensor{1.0f, 1.0f}).assign_sub(Tensor{0.0f, 5.0f}).value().to_vector() ==
        Floats{4, 0});
  CHECK(n.assign(2.0).assign_add(1.0).assign_sub(0.5).value().item<float>() == 2.5f);
  const IndexedSlices row{Tensor{7.0f}, Tensor{int64_t{1}}, Shape{2}};
  CHECK(v.scatter_add(row).scatter_update(row).value().to_vector() == Floats{4, 7});
  const Tensor place({1, 1}, std::vector<int64_t>{0});
  CHECK(v.scatter_nd_add(place, Tensor{1.0f}).value().to_vector() == Floats{5, 7});
}

TEST_CASE("an assigned value is not tied to the tensor it came from", "[autograd][variable]") {
  const Tensor source{1.0f};
  const Variable v(source);
  CHECK(v.value().id() != source.id());
  v.assign(source);
  CHECK(v.value().id() != source.id());
}

TEST_CASE("an assignment of another shape or dtype names the variable", "[autograd][variable]") {
  const Variable v(zeros({2, 3}), {.name = "bias"});
  CHECK_THROWS_WITH(v.assign(zeros({3})),
                    "assign: variable 'bias' is [2, 3] float32, the value is "
                    "[3] float32");
  CHECK_THROWS_AS(v.assign_add(zeros({2, 3}, DType::Int32)), InvalidArgumentError);
  CHECK_THROWS_AS(v.assign_sub(zeros({2, 1})), InvalidArgumentError);
  CHECK(v.value().to_vector() == Floats(6, 0.0f));
}

TEST_CASE("a handle to nothing says so", "[autograd][variable]") {
  const Variable none;
  CHECK_FALSE(none);
  CHECK_THROWS_AS(none.value(), InvalidArgumentError);
}

TEST_CASE("creators run innermost first and may change the options", "[autograd][variable]") {
  std::vector<std::string> order;
  const auto creator = [&](const std::string& tag) -> VariableCreator {
    return [&order, tag](const auto& next, const auto& initial_value, VariableOptions options) {
      order.push_back(tag + " sees " + options.name);
      options.name += "/" + tag;
      return next(initial_value, options);
    };
  };
  const VariableCreatorScope outer(creator("outer"));
  {
    const VariableCreatorScope inner(creator("inner"));
    const Variable v(Tensor(1.0f), {.name = "v"});
    CHECK(v.name() == "v/inner/outer");
  }
  CHECK(order == std::vector<std::string>{"inner sees v", "outer sees v/inner"});
  CHECK(Variable(Tensor(1.0f), {.name = "w"}).name() == "w/outer");
}

TEST_CASE("a creator may make several variables or replace the value", "[autograd][variable]") {
  std::vector<std::shared_ptr<VariableImpl>> copies;
  int calls = 0;
  const VariableCreatorScope scope(
      [&](const auto& next, const auto& initial_value, const VariableOptions& options) {
        for (int i = 0; i < 3; ++i) copies.push_back(next(initial_value, options));
        return copies[1];
      });
  const Variable v([&] { return Tensor(float(++calls)); });
  CHECK(calls == 3);
  CHECK(v.value().item<float>() == 2);
  CHECK(v.shared_impl() == copies[1]);
  CHECK(copies[0]->id() != copies[1]->id());
}

TEST_CASE("creators belong to their thread", "[autograd][variable]") {
  const VariableCreatorScope scope(
      [](const auto& next, const auto& initial_value, VariableOptions options) {
        options.name = "hooked";
        return next(initial_value, options);
      });
  std::string elsewhere;
  std::thread([&] { elsewhere = Variable(Tensor(1.0f)).name(); }).join();
  CHECK(elsewhere == "Variable");
  CHECK(Variable(Tensor(1.0f)).name() == "hooked");
}

TEST_CASE("a creator that fails leaves no variable behind", "[autograd][variable]") {
  {
    const VariableCreatorScope scope(
        [](const auto&, const auto&, const VariableOptions&) -> std::shared_ptr<VariableImpl> {
          throw InvalidArgumentError("not here");
        });
    CHECK_THROWS_WITH(Variable(Tensor(1.0f)), "not here");
  }
  CHECK(variable_creator_stack().empty());
  CHECK(Variable(Tensor(1.0f)));
}

// TensorFlow 2.21: 3 and True become 3 and 1 in a float32 variable, 3.5 and 3.0 are a TypeError for
// an int32 one, 1 for a bool one; a number is a ValueError for a matrix.
TEST_CASE("a plain number takes the variable's dtype", "[autograd][variable]") {
  const Variable number(Tensor(1.0)), integer(Tensor(int64_t{1})), flag(Tensor(true)),
      half(Tensor(bfloat16(1.0f))), matrix(ones({1, 2}));
  number.assign(3);
  CHECK(number.value().item<float>() == 3);
  number.assign_add(0.5);
  number.assign_sub(true);
  CHECK(number.value().item<float>() == 2.5f);
  half.assign(2.0);
  CHECK(half.dtype() == DType::BFloat16);
  integer.assign(int64_t{1} << 53 | 1);
  CHECK(integer.value().item<int64_t>() == (int64_t{1} << 53 | 1));
  CHECK_THROWS_WITH(integer.assign(3.0), Contains("is int64, the value 3 is a floating"));
  CHECK_THROWS_AS(flag.assign(1), InvalidArgumentError);
  flag.assign(false);
  CHECK_FALSE(flag.value().item<bool>());
  CHECK_THROWS_AS(matrix.assign(3.0), InvalidArgumentError);
}

// TensorFlow 2.21: ValueError "... is not compatible with the explicitly supplied `shape`
// argument".
TEST_CASE("a shape that the first value does not have is an error", "[autograd][variable]") {
  CHECK_THROWS_WITH(Variable(Tensor{1.0, 2.0}, {.name = "v", .shape = Shape{3}}),
                    Contains("'v'") && Contains("explicitly supplied `shape`"));
  CHECK(Variable(Tensor{1.0, 2.0}, {.shape = Shape{2}}).shape() == Shape{2});
}
