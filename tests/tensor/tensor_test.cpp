#include <distribute/tensor/tensor.hpp>

#include <sstream>

#include "../support/check_close.hpp"

using namespace distribute;
using Floats = std::vector<float>;

TEST_CASE("doubles become float32 in a shape, too", "[tensor]") {
  const Tensor m(Shape{2, 2}, std::vector<double>{1, 2, 3, 0.1});
  CHECK(m.dtype() == DType::Float32);
  CHECK(m.to_vector() == Floats{1, 2, 3, 0.1f});
  CHECK_THROWS_AS(Tensor(Shape{3}, std::vector<double>{1}), InvalidArgumentError);
}

TEST_CASE("a tensor is made from a number, a list or a vector", "[tensor]") {
  CHECK(Tensor(2.5f).shape() == Shape{});
  CHECK(Tensor(true).dtype() == DType::Bool);
  CHECK(Tensor{1, 2, 3}.dtype() == DType::Int32);
  CHECK(Tensor{1, 2, 3}.shape() == Shape{3});
  const Tensor x({2, 2}, Floats{1, 2, 3, 4});
  CHECK(x.to_vector() == Floats{1, 2, 3, 4});
  CHECK(x.device() == Device{});
  CHECK_THROWS_WITH(Tensor({2, 2}, Floats{1}),
                    "a tensor of shape [2, 2] has 4 elements, got 1 values");
}

TEST_CASE("nested braces are a matrix, or a list of matrices", "[tensor]") {
  const Tensor matrix{{1, 2, 3}, {4, 5, 6}};
  CHECK(matrix.shape() == Shape{2, 3});
  CHECK(matrix.dtype() == DType::Int32);
  CHECK(matrix.to_vector() == Floats{1, 2, 3, 4, 5, 6});
  CHECK(Tensor{{1.0, 2.5}}.shape() == Shape{1, 2});
  CHECK(Tensor{{1.0, 2.5}}.dtype() == DType::Float32);
  const Tensor truths{{true, false}, {false, true}};
  CHECK(truths.dtype() == DType::Bool);
  CHECK(truths.to_vector() == Floats{1, 0, 0, 1});
  const Tensor matrices = {{{1.0f}, {2.0f}}, {{3.0f}, {4.0f}}, {{5.0f}, {6.0f}}};
  CHECK(matrices.shape() == Shape{3, 2, 1});
  CHECK(matrices.to_vector() == Floats{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_WITH((Tensor{{1, 2}, {3}}),
                    "the lists of a tensor have different lengths, 2 and 1; "
                    "Tensor(Shape{...}, values) takes values in one list");
  CHECK_THROWS_AS((Tensor{{{1}, {2}}, {{3}}}), InvalidArgumentError);
}

TEST_CASE("none is no value", "[tensor]") {
  const Tensor none;
  CHECK_FALSE(none);
  CHECK_THROWS_AS(none.shape(), InvalidArgumentError);
  CHECK(to_string(none) == "Tensor(none)");
}

TEST_CASE("item and data check shape and type", "[tensor]") {
  CHECK(Tensor(3).item<float>() == 3);
  CHECK(Tensor({1, 1}, Floats{2}).item<float>() == 2);
  CHECK_THROWS_WITH((Tensor{1, 2}.item<int>()), "item: the tensor has shape [2], not one element");
  CHECK_THROWS_WITH(Tensor(1.0f).data<int32_t>(), "the tensor holds float32, not int32");
}

TEST_CASE("handles share one value, new tensors have new identities", "[tensor]") {
  const Tensor x{1.0f, 2.0f}, same = x;
  CHECK(same.id() == x.id());
  CHECK(x.renamed().id() != x.id());
  CHECK(x.renamed().data<float>().data() == x.data<float>().data());
  CHECK_FALSE(x.unique());
  CHECK(Tensor(Tensor{1.0f}).unique());
}

TEST_CASE("views and rows share memory", "[tensor]") {
  const Tensor x({3, 2}, Floats{1, 2, 3, 4, 5, 6});
  CHECK(x.view({2, 3}).data<float>().data() == x.data<float>().data());
  CHECK(x.rows(1, 3).to_vector() == Floats{3, 4, 5, 6});
  CHECK(x.rows(1, 3).rows(1, 2).to_vector() == Floats{5, 6});
  CHECK(x.rows(1, 1).shape() == Shape{0, 2});
  CHECK_THROWS_WITH(x.view({4}), "reshape: [3, 2] has 6 elements, [4] has 4");
  CHECK_THROWS_WITH(x.rows(2, 4), "rows [2, 4) do not exist in shape [3, 2]");
  CHECK_THROWS_AS(Tensor(1.0f).rows(0, 1), InvalidArgumentError);
}

TEST_CASE("a layout is invisible to readers", "[tensor]") {
  const Tensor plain({2, 3}, Floats{1, 2, 3, 4, 5, 6}), x = reversed(plain);
  CHECK(x.layout());
  CHECK(x.array().data<float>()[0] == 6);
  CHECK(x.to_vector() == plain.to_vector());
  CHECK(x.data<float>().data() == x.data<float>().data());  // converted once
  CHECK_FALSE(x.row_major().layout());
  CHECK(x.view({3, 2}).to_vector() == plain.to_vector());
  CHECK(x.rows(1, 2).to_vector() == Floats{4, 5, 6});
  CHECK(x.to(Device{DeviceType::Cpu, 1}).to_vector() == plain.to_vector());
}

TEST_CASE("many threads may read a tensor with a layout", "[tensor]") {
  const Tensor x = reversed(Tensor({1000}, Floats(1000, 3.0f)));
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto values = x.data<float>();
      sums[t] = std::accumulate(values.begin(), values.end(), 0.0f);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(sums == std::vector<float>(4, 3000.0f));
}

TEST_CASE("copies to another device keep the elements", "[tensor]") {
  const Tensor x({3, 2}, Floats{1, 2, 3, 4, 5, 6});
  const Device second{DeviceType::Cpu, 1};
  const Tensor copy = x.rows(1, 2).to(second);
  CHECK(copy.device() == second);
  CHECK(copy.to_vector() == Floats{3, 4});
  CHECK(x.to(Device{}).id() == x.id());
  CHECK_THROWS_AS(x.to(Device{DeviceType::Gpu, 99}), InvalidArgumentError);
}

TEST_CASE("constants come in every type", "[tensor]") {
  for (DType type : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64,
                     DType::UInt8, DType::Bool}) {
    CHECK(ones({2}, type).to_vector() == Floats{1, 1});
    CHECK(zeros_like(ones({2}, type)).to_vector() == Floats{0, 0});
    CHECK(ones_like(zeros({1, 2}, type)).dtype() == type);
    CHECK(zeros({0, 4}, type).num_elements() == 0);
  }
  CHECK(fill({2}, 2.5f).to_vector() == Floats{2.5f, 2.5f});
  // tf.fill([], 16777217), which float32 does not have.
  CHECK(fill({}, 16'777'217, DType::Int64).item<int64_t>() == 16'777'217);
}

TEST_CASE("a tensor prints a readable summary", "[tensor]") {
  CHECK(to_string(Tensor({2, 2}, Floats{1, 2.5f, 3, 4})) ==
        "Tensor([2, 2], float32, /device:CPU:0) [[1, 2.5], [3, 4]]");
  CHECK(to_string(Tensor(true)) == "Tensor([], bool, /device:CPU:0) true");
  CHECK(to_string(Tensor{uint8_t(65)}) == "Tensor([1], uint8, /device:CPU:0) [65]");
  CHECK(to_string(Tensor{1, 2, 3, 4, 5, 6, 7, 8}) ==
        "Tensor([8], int32, /device:CPU:0) [1, 2, 3, ..., 6, 7, 8]");
  CHECK(to_string(zeros({0})) == "Tensor([0], float32, /device:CPU:0) []");
  std::ostringstream out;
  out << Tensor(true) << ' ' << Tensor();
  CHECK(out.str() == "Tensor([], bool, /device:CPU:0) true Tensor(none)");
}

TEST_CASE("indexed slices read as the dense sum of their rows", "[tensor]") {
  const Tensor values({3, 2}, Floats{1, 2, 3, 4, 5, 6}),
      indices{int64_t{2}, int64_t{0}, int64_t{2}};
  const Tensor x = to_tensor({values, indices, {4, 2}});
  CHECK(is_indexed_slices(x));
  CHECK(x.shape() == Shape{4, 2});
  CHECK(x.to_vector() == Floats{3, 4, 0, 0, 6, 8, 0, 0});
  const IndexedSlices slices = indexed_slices(x);
  CHECK(slices.values.to_vector() == values.to_vector());
  CHECK(slices.values.shape() == Shape{3, 2});
  CHECK(slices.dense_shape == Shape{4, 2});
  CHECK_FALSE(is_indexed_slices(x.row_major()));
  CHECK_THROWS_AS(indexed_slices(values), InvalidArgumentError);
}

// TensorFlow 2.21: tf.constant(1.0) and tf.constant([0.5, 1.0]) are float32.
TEST_CASE("literals without a suffix are float32", "[tensor]") {
  CHECK(Tensor(1.0).dtype() == DType::Float32);
  CHECK(Tensor(1.0).item<float>() == 1.0f);
  const Tensor list{0.5, 1.0};
  CHECK(list.dtype() == DType::Float32);
  CHECK(list.to_vector() == Floats{0.5f, 1.0f});
}
