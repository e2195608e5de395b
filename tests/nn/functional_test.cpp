#include <distribute/nn/models.hpp>

#include <distribute/nn/attention.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/math.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/gradient_check.hpp>

#include <sstream>
#include <string>

using namespace distribute;

TEST_CASE("summary says what layers of a graph are connected to", "[nn][functional]") {
  nn::clear_session();
  nn::Functional model;
  const auto x = model.input("x", {3});
  auto& shared = model.add(nn::Dense({.units = 4}));
  const auto a = model.apply(shared, x);
  const auto b = model.apply(nn::LSTM({.units = 4}), model.input("steps", {5, 2}));
  model.output("y", model.apply(nn::Add(), {a, b, model.apply(shared, x)}));
  CHECK(model.summary() == R"(Model: "functional"
------------------------------------------------------------------------------------
 Layer (type)         Output Shape   Param #   Connected to
====================================================================================
 x (InputLayer)       (None, 3)            0   -
 steps (InputLayer)   (None, 5, 2)         0   -
 dense (Dense)        (None, 4)           16   x[0][0], x[0][0]
 lstm (LSTM)          (None, 4)          112   steps[0][0]
 add (Add)            (None, 4)            0   dense[0][0], lstm[0][0], dense[1][0]
====================================================================================
 Total params: 128 (512.00 B)
 Trainable params: 128 (512.00 B)
 Non-trainable params: 0 (0.00 B)
)");
}

// Keras 3.15 prints these shapes for the same models.
TEST_CASE("summary shows a fixed batch size", "[nn][functional]") {
  const auto shapes = [](const nn::Functional& model) {
    std::string all;
    std::istringstream lines(model.summary());
    for (std::string line; std::getline(lines, line);)
      if (const size_t at = line.find("   ("); at != std::string::npos)
        all += line.substr(at + 3, line.find(')', at + 3) - at - 2) + "; ";
    return all;
  };
  nn::Functional sum;
  const auto x = sum.input("x", {5}, DType::Float32, 3), y = sum.input("y", {5});
  sum.output("z", sum.apply(nn::Add(), {sum.apply(nn::Dense({.units = 5}), x),
                                        sum.apply(nn::Dense({.units = 5}), y)}));
  CHECK(shapes(sum) == "(3, 5); (None, 5); (3, 5); (None, 5); (3, 5); ");
  CHECK(sum({{"x", zeros({2, 5})}, {"y", zeros({2, 5})}}).at("z").shape() == Shape{2, 5});

  nn::Functional joined;
  const auto open = joined.input("y", {5});
  const auto before = joined.apply(nn::Dense({.units = 2}), open);  // a batch of 1 until now
  const auto fixed = joined.input("x", {5}, DType::Float32, 3);
  joined.output("z", joined.apply(nn::Concatenate(), {before, fixed}));
  CHECK(shapes(joined) == "(None, 5); (3, 5); (None, 2); (None, 7); ");

  nn::Functional outer;
  nn::Sequential inner(nn::Dense({.units = 2}));
  outer.output("z", outer.apply(std::move(inner), outer.input("x", {5}, DType::Float32, 3)));
  CHECK(shapes(outer) == "(3, 5); (3, 2); ");
  nn::Sequential row(nn::Dense({.units = 2}));
  row(zeros({1, 5}));
  row.set_batch_size(3);
  CHECK_THAT(row.summary(), Contains("(3, 2)"));
}

TEST_CASE("masks flow through a graph", "[nn][functional]") {
  nn::Functional model;
  auto& embedding = model.add(nn::Embedding({.input_dim = 9, .output_dim = 4, .mask_zero = true}));
  auto& attention = model.add(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3}));
  auto& lstm = model.add(nn::LSTM({.units = 3}));
  const auto words = model.input("words", {5}, DType::Int64);
  const auto context = model.input("context", {4}, DType::Int64);
  const auto query = model.apply(embedding, words), value = model.apply(embedding, context);
  model.output("y", model.apply(lstm, model.apply(attention, {query, value})));

  const Tensor w(Shape{2, 5}, std::vector<int64_t>{1, 2, 3, 0, 0, 4, 5, 6, 7, 8});
  const Tensor c(Shape{2, 4}, std::vector<int64_t>{3, 4, 0, 0, 1, 2, 3, 0});
  const auto q = embedding.call_with_mask(w), v = embedding.call_with_mask(c);
  const Tensor attended = attention(q.value, v.value, {.query_mask = q.mask, .value_mask = v.mask});
  const Tensor wanted = lstm(attended + 0.0f, {.mask = q.mask});
  const auto outputs = model(nn::NamedTensors{{"words", w}, {"context", c}});
  CHECK(outputs.at("y").to_vector() == wanted.to_vector());
  // Without masks it is something else.
  CHECK(lstm(attention(q.value + 0.0f, v.value + 0.0f)).to_vector() != wanted.to_vector());
}

TEST_CASE("attention in a graph takes query, value and key", "[nn][functional]") {
  nn::Functional model;
  auto& attention = model.add(nn::MultiHeadAttention({.num_heads = 1, .key_dim = 2}));
  const auto a = model.input("a", {3, 4}), b = model.input("b", {2, 4}),
             k = model.input("k", {2, 4});
  model.output("y", model.apply(attention, {a, b, k}));
  CHECK_THROWS_SAYING(model.apply(attention, {a, b, k, b}), InvalidArgumentError,
                      "query, value and key, not 4");
  check_gradient(
      [&](const auto& in) {
        return model(nn::NamedTensors{{"a", in[0]}, {"b", in[1]}, {"k", in[2]}}).at("y");
      },
      {test_tensor({1, 3, 4}, 1), test_tensor({1, 2, 4}, 2), test_tensor({1, 2, 4}, 3)});
  CHECK_THROWS_SAYING(model.apply(nn::Dense({.units = 2}), {a, b}), InvalidArgumentError,
                      "takes one tensor, not 2");
}
