#include <distribute/arrays/array_view.hpp>
#include <distribute/arrays/eigen.hpp>
#include <distribute/arrays/eigen_tensor.hpp>
#include <distribute/arrays/mdspan.hpp>
#include <distribute/arrays/opencv.hpp>

#include <distribute/autograd/variable.hpp>
#include <distribute/ops/array.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <numeric>

using namespace distribute;
using namespace distribute::arrays;

namespace {

/// 0, 1, ... in memory that begins at a multiple of 64 bytes.
struct alignas(64) Aligned {
  float values[24];
  Aligned() { std::iota(std::begin(values), std::end(values), 0.0f); }
};

std::vector<float> counted(int count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

TEST_CASE("a copy follows strides", "[arrays]") {
  const std::vector<float> values = counted(6);
  const auto copied = [&](const Shape& shape, std::vector<int64_t> strides, int64_t first = 0) {
    return copy({values.data() + first, DType::Float32, shape, std::move(strides)}).to_vector();
  };
  CHECK(copied({2, 3}, {}) == values);
  CHECK(copied({2, 3}, {3, 1}) == values);
  CHECK(copied({3, 2}, {1, 3}) == std::vector<float>{0, 3, 1, 4, 2, 5});  // transposed
  CHECK(copied({2, 2}, {3, 2}) == std::vector<float>{0, 2, 3, 5});        // every second column
  CHECK(copied({2, 3}, {-3, -1}, 5) == std::vector<float>{5, 4, 3, 2, 1, 0});  // backwards
  CHECK(copied({2, 3}, {0, 1}) == std::vector<float>{0, 1, 2, 0, 1, 2});       // broadcast
  CHECK(copied({}, {}) == std::vector<float>{0});
  CHECK(copied({0, 3}, {3, 1}).empty());
}

TEST_CASE("views that describe no array are refused", "[arrays]") {
  const std::vector<float> values = counted(6);
  CHECK_THROWS_SAYING(copy({nullptr, DType::Float32, {2}, {}}), InvalidArgumentError, "no data");
  CHECK_THROWS_SAYING(copy({values.data(), DType::Float32, {2, 3}, {1}}), InvalidArgumentError,
                      "has 1 strides");
  CHECK_THROWS_SAYING(array_view(std::span<const float>(values), {2, 2}), InvalidArgumentError,
                      "[2, 2] has not 6 elements");
  CHECK(copy(array_view(std::span<const float>(values), {2, 3})).shape() == Shape{2, 3});
  CHECK(copy(array_view(std::vector<int64_t>{4, 5})).data<int64_t>()[1] == 5);
}

TEST_CASE("a view reads the owner's memory and keeps it alive", "[arrays]") {
  auto owner = std::make_shared<Aligned>();
  const std::weak_ptr<Aligned> watched = owner;
  Tensor tensor = view({owner->values, DType::Float32, {4, 6}, {}}, owner);
  CHECK(tensor.data<float>().data() == owner->values);
  owner.reset();
  CHECK_FALSE(watched.expired());
  const Tensor row = tensor[1];
  CHECK(row.to_vector() == std::vector<float>{6, 7, 8, 9, 10, 11});
  tensor = Tensor();
  CHECK(row.to_vector()[0] == 6);
}

TEST_CASE("the owner's memory goes with the last handle", "[arrays]") {
  auto owner = std::make_shared<Aligned>();
  const std::weak_ptr<Aligned> watched = owner;
  Tensor tensor = view({owner->values, DType::Float32, {24}, {}}, std::move(owner));
  Tensor other = tensor;
  tensor = Tensor();
  CHECK_FALSE(watched.expired());
  other = Tensor();
  CHECK(watched.expired());
}

TEST_CASE("a view that would need a copy is refused", "[arrays]") {
  const auto owner = std::make_shared<Aligned>();
  CHECK_THROWS_SAYING(view({owner->values, DType::Float32, {3, 2}, {1, 3}}, owner),
                      InvalidArgumentError, "not row-major without gaps; arrays::copy()");
  CHECK_THROWS_SAYING(view({owner->values + 1, DType::Float32, {3}, {}}, owner),
                      InvalidArgumentError, "multiple of 64 bytes; arrays::copy()");
  // The stride of an axis of one element counts for nothing.
  CHECK(view({owner->values, DType::Float32, {1, 3}, {77, 1}}, owner).to_vector()[2] == 2);
}

TEST_CASE("updates of a variable leave a view's memory as it is", "[arrays]") {
  const auto owner = std::make_shared<Aligned>();
  Variable variable(view({owner->values, DType::Float32, {24}, {}}, owner));
  variable.assign_add(ones({24}));
  variable.assign_add(ones({24}));
  CHECK(variable.value().to_vector()[3] == 5);
  CHECK(owner->values[3] == 3);
}

TEST_CASE("matrices of Eigen become tensors", "[arrays][eigen]") {
  Eigen::MatrixXf matrix(2, 3);  // column-major
  matrix << 0, 1, 2, 3, 4, 5;
  const Tensor copied = copy(array_view(matrix));
  CHECK(copied.shape() == Shape{2, 3});
  CHECK(copied.to_vector() == counted(6));
  CHECK(copy(array_view(matrix.block(0, 1, 2, 2))).to_vector() == std::vector<float>{1, 2, 4, 5});
  CHECK(copy(array_view(matrix.transpose())).to_vector() == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(copy(array_view((matrix * 2).eval())).to_vector()[5] == 10);
  CHECK(copy(array_view(matrix.row(1))).shape() == Shape{3});
  CHECK(copy(array_view(matrix.row(1))).to_vector() == std::vector<float>{3, 4, 5});
  const Eigen::VectorXi vector = Eigen::VectorXi::LinSpaced(4, 0, 3);
  CHECK(copy(array_view(vector)).data<int32_t>()[3] == 3);
  CHECK(copy(array_view(matrix.cast<double>().cast<float>().eval())).to_vector() == counted(6));
}

TEST_CASE("a matrix in row-major order needs no copy", "[arrays][eigen]") {
  const auto owner = std::make_shared<Aligned>();
  const Eigen::Map<const RowMajorMatrix<float>> map(owner->values, 4, 6);
  const Tensor tensor = view(array_view(map), owner);
  CHECK(tensor.data<float>().data() == owner->values);
  const auto columns = std::make_shared<Eigen::MatrixXf>(2, 3);
  CHECK_THROWS_SAYING(view(array_view(*columns), columns), InvalidArgumentError, "row-major");
}

TEST_CASE("tensors become maps of Eigen without a copy", "[arrays][eigen]") {
  const Tensor tensor({2, 3}, counted(6));
  const auto map = eigen_map<float>(tensor);
  CHECK(map(1, 2) == 5);
  CHECK(map.data() == tensor.data<float>().data());
  CHECK(eigen_map<float>(tensor[1]).rows() == 3);
  CHECK_THROWS_SAYING(eigen_map<float>(zeros({1, 2, 3})), InvalidArgumentError, "no matrix");
  CHECK_THROWS_AS(eigen_map<int32_t>(tensor), InvalidArgumentError);
  const Tensor cube({2, 3, 4}, counted(24));
  const auto box = eigen_tensor_map<float, 3>(cube);
  CHECK(box(1, 2, 3) == 23);
  CHECK(box.data() == cube.data<float>().data());
  CHECK_THROWS_SAYING((eigen_tensor_map<float, 2>(cube)), InvalidArgumentError, "has not 2 axes");
}

TEST_CASE("tensors of Eigen become tensors", "[arrays][eigen]") {
  Eigen::Tensor<float, 3> columns(2, 3, 4);
  Eigen::Tensor<float, 3, Eigen::RowMajor> rows(2, 3, 4);
  for (int i = 0; i < 24; ++i) {
    columns(i / 12, i / 4 % 3, i % 4) = float(i);
    rows(i / 12, i / 4 % 3, i % 4) = float(i);
  }
  for (const Tensor& tensor : {copy(array_view(columns)), copy(array_view(rows))}) {
    CHECK(tensor.shape() == Shape{2, 3, 4});
    CHECK(tensor.to_vector() == counted(24));
  }
  const Eigen::TensorMap<Eigen::Tensor<float, 2>> map(columns.data(), 2, 12);
  CHECK(copy(array_view(map)).to_vector()[12] == 12);
}

namespace {

/// The members that std::mdspan has, with strides.
struct TestSpan {
  using element_type = const float;
  const float* data;
  size_t sizes[2], steps[2];
  static size_t rank() { return 2; }
  size_t extent(size_t axis) const { return sizes[axis]; }
  size_t stride(size_t axis) const { return steps[axis]; }
  const float* data_handle() const { return data; }
  int mapping() const { return 0; }
};

}  // namespace

TEST_CASE("spans with strides become tensors", "[arrays][mdspan]") {
  const std::vector<float> values = counted(6);
  const TestSpan span{values.data(), {3, 2}, {1, 3}};
  CHECK(copy(array_view(span)).to_vector() == std::vector<float>{0, 3, 1, 4, 2, 5});
#ifdef __cpp_lib_mdspan
  const Tensor tensor({2, 3}, values);
  const auto shown = arrays::mdspan<float, 2>(tensor);
  CHECK(shown.data_handle() == tensor.data<float>().data());
  CHECK(copy(array_view(shown)).to_vector() == values);
#endif
}

namespace {

/// The members of cv::Mat that are used.
struct TestMat {
  int dims = 2, flags = 0;
  uint8_t* data = nullptr;
  int size[2] = {};
  size_t step[2] = {};
  std::shared_ptr<std::vector<uint8_t>> owned = {};

  TestMat(int rows, int columns, int type, void* at, size_t row_bytes = 0)
      : flags(type), data(static_cast<uint8_t*>(at)), size{rows, columns} {
    step[1] = elemSize1() * size_t(channels());
    step[0] = row_bytes ? row_bytes : step[1] * size_t(columns);
  }
  int depth() const { return flags & 7; }
  int channels() const { return (flags >> 3) + 1; }
  size_t elemSize1() const { return depth() == 0 ? 1 : depth() == 6 ? 8 : 4; }
  TestMat clone() const {
    TestMat copied = *this;
    copied.owned = std::make_shared<std::vector<uint8_t>>(data, data + step[0] * size_t(size[0]));
    copied.data = copied.owned->data();
    return copied;
  }
};

}  // namespace

TEST_CASE("pictures of OpenCV become tensors, and tensors pictures", "[arrays][opencv]") {
  std::vector<uint8_t> bytes(24);
  std::iota(bytes.begin(), bytes.end(), uint8_t(0));
  constexpr int kThreeBytes = 2 << 3;
  const Tensor picture = copy(array_view(TestMat(2, 4, kThreeBytes, bytes.data())));
  CHECK(picture.shape() == Shape{2, 4, 3});
  CHECK(picture.data<uint8_t>()[23] == 23);
  // Two columns of it: rows have gaps.
  const Tensor part = copy(array_view(TestMat(2, 2, kThreeBytes, bytes.data(), 12)));
  CHECK(part.data<uint8_t>()[6] == 12);
  const auto mat = to_mat<TestMat>(picture);
  CHECK((mat.size[0] == 2 && mat.size[1] == 4 && mat.channels() == 3 && mat.depth() == 0));
  CHECK(*mat.owned == bytes);
  const auto gray = to_mat<TestMat>(Tensor({2, 3}, counted(6)));
  CHECK((gray.channels() == 1 && gray.depth() == 5));
}

TEST_CASE("what OpenCV or this library lacks is refused", "[arrays][opencv]") {
  double value = 0;
  CHECK_THROWS_SAYING(array_view(TestMat(1, 1, 6, &value)), InvalidArgumentError, "depth 6");
  CHECK_THROWS_SAYING(to_mat<TestMat>(Tensor({2}, counted(2))), InvalidArgumentError,
                      "[2] is no picture");
  CHECK_THROWS_SAYING(to_mat<TestMat>(zeros({1, 1, 513})), InvalidArgumentError, "no picture");
  CHECK_THROWS_SAYING(to_mat<TestMat>(zeros({1, 1}, DType::Bool)), InvalidArgumentError, "bool");
}
