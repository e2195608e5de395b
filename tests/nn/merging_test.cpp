#include <distribute/nn/merging.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("layers of several inputs give Keras's values", "[nn][merging]") {
  const auto compare = [](const char* name, nn::MultiInputModule& layer) {
    check(name, {&layer}, [&](const auto& in) { return layer(in); });
  };
  nn::Average average;
  compare("average", average);
  nn::Subtract subtract;
  compare("subtract", subtract);
  nn::Multiply multiply;
  compare("multiply", multiply);
  nn::Maximum maximum;
  compare("maximum", maximum);
  nn::Concatenate concatenate({.axis = 1});
  compare("concatenate", concatenate);
}

TEST_CASE("layers of several inputs want several", "[nn][merging]") {
  nn::Add sum;
  CHECK(sum({Tensor{1.0f}, Tensor{2.0f}, Tensor{4.0f}}).to_vector() == std::vector<float>{7});
  CHECK_THROWS_AS(sum(Tensor{1.0f}), InvalidArgumentError);
  nn::Subtract difference;
  CHECK_THROWS_AS(difference({Tensor{1.0f}, Tensor{2.0f}, Tensor{4.0f}}), InvalidArgumentError);
  CHECK(sum.name() == "add");
}

// Keras 3.15 gives these: the vector of an example is added to each of its steps.
TEST_CASE("inputs with fewer axes belong to the same examples", "[nn][merging]") {
  nn::Add sum;
  const Tensor steps({2, 2, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor vectors({2, 2}, std::vector<float>{10, 20, 30, 40});
  const std::vector<float> wanted{11, 22, 13, 24, 35, 46, 37, 48};
  CHECK(sum({steps, vectors}).to_vector() == wanted);
  CHECK(sum({vectors, steps}).to_vector() == wanted);
  CHECK(sum({steps, Tensor({2}, std::vector<float>{1, 2})}).to_vector() ==
        std::vector<float>{2, 3, 4, 5, 7, 8, 9, 10});
}

TEST_CASE("Dot gives Keras's values", "[nn][merging]") {
  const auto numbers = [](const Shape& shape, float (*function)(float)) {
    std::vector<float> values(size_t(shape.num_elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = function(float(i));
    return Tensor(shape, values);
  };
  const auto compare = [](const Tensor& y, const Shape& shape, const std::vector<double>& wanted) {
    REQUIRE(y.shape() == shape);
    for (size_t i = 0; i < wanted.size(); ++i)
      CHECK(double(y.to_vector()[i]) == Approx(wanted[i]).margin(5e-6));
  };
  const Tensor a = numbers({2, 2, 3}, std::sin), b = numbers({2, 4, 2}, std::cos);
  nn::Dot first({.axes = {1, 2}});
  compare(first({a, b}), {2, 3, 4},
          {0.0762475, -0.139708, 0.0400304, 0.106391, 0.432569,  0.399053,  -0.764698,  0.2374,
           0.391188,  0.570927,  -0.866367, 0.150145, -0.334839, 0.236273,  0.13819,    -0.351288,
           0.400082,  -0.553666, 0.0607306, 0.503121, 0.76717,   -0.834568, -0.0725641, 0.894963});
  const auto start = [](const Tensor& rows) { return slice(rows, {0, 0}, {2, 3}); };
  const Tensor u = start(reshape(a, {2, 6})), v = start(reshape(b, {2, 8}));
  nn::Dot cosine({.axes = {1, 1}, .normalize = true});
  compare(cosine({u, v}), {2, 1}, {0.0508454, -0.912264});
  nn::Dot matrix_vector({.axes = {2, 1}});
  compare(matrix_vector({a, v}), {2, 2}, {0.0762475, 0.131271, -1.38809, 1.27477});
  CHECK_THROWS_AS(nn::Dot({.axes = {0, 1}})({a, v}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::Dot({.axes = {2, 1}})({a, v, v}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::Dot({.axes = {1, 1}})({a, v}), InvalidArgumentError);
}
