// Tensors that cross to other libraries and back by DLPack: the same memory, on the host and on a
// GPU, fake or real.
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/dlpack.hpp>

#include "support/gpu_contract.hpp"

#include "../support/catch.hpp"

using namespace distribute;
using namespace distribute::experimental::dlpack;
using testing::ContractGpu;

namespace {

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24);

/// A tensor of another library: 2 x 3 numbers, and how often it was given back.
struct Foreign {
  alignas(64) float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int given_back = 0;
  DLManagedTensor managed;
  Foreign() {
    managed.dl_tensor.data = values;
    managed.dl_tensor.ndim = 2;
    managed.dl_tensor.shape = shape;
    managed.dl_tensor.strides = strides;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* m) {
      ++static_cast<Foreign*>(m->manager_ctx)->given_back;
    };
  }
};

}  // namespace

TEST_CASE("another library's memory is a tensor until its last use", "[device][cuda_dlpack]") {
  Foreign foreign;
  {
    const Tensor x = from_dlpack(&foreign.managed);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.array().bytes() == reinterpret_cast<char*>(foreign.values));
    CHECK((x + x).to_vector() == std::vector<float>{2, 4, 6, 8, 10, 12});
    const Tensor row = x.rows(1, 2);
    CHECK(row.to_vector() == std::vector<float>{4, 5, 6});
    CHECK(foreign.given_back == 0);
  }
  CHECK(foreign.given_back == 1);
}

TEST_CASE("memory at an odd address is copied and given back at once", "[device][cuda_dlpack]") {
  Foreign foreign;
  foreign.managed.dl_tensor.byte_offset = 4;
  const Tensor x = from_dlpack(&foreign.managed);
  CHECK(foreign.given_back == 1);
  CHECK(x.to_vector() == std::vector<float>{2, 3, 4, 5, 6, 7});
}

TEST_CASE("what cannot be taken stays with its owner", "[device][cuda_dlpack]") {
  Foreign foreign;
  foreign.strides[0] = 4;
  CHECK_THROWS_AS(from_dlpack(&foreign.managed), InvalidArgumentError);
  foreign.strides[0] = 3;
  foreign.managed.dl_tensor.dtype.bits = 64;  // double
  CHECK_THROWS_AS(from_dlpack(&foreign.managed), InvalidArgumentError);
  foreign.managed.dl_tensor.dtype.bits = 32;
  foreign.managed.dl_tensor.device = {10, 0};
  CHECK_THROWS_AS(from_dlpack(&foreign.managed), InvalidArgumentError);
  CHECK(foreign.given_back == 0);
}

TEST_CASE("tensors of every dtype go out and come back as the same memory",
          "[device][cuda_dlpack]") {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool}) {
    const Tensor x = ones({3, 2}, dtype);
    DLManagedTensor* const out = to_dlpack(x);
    CHECK(out->dl_tensor.data == x.array().bytes());
    CHECK(out->dl_tensor.dtype.bits == 8 * size_of(dtype));
    const Tensor back = from_dlpack(out);
    CHECK(back.dtype() == dtype);
    CHECK(back.shape() == x.shape());
    CHECK(back.to_vector() == x.to_vector());
  }
  const Tensor scalar = from_dlpack(to_dlpack(Tensor(3.0f)));
  CHECK(scalar.item<float>() == 3.0f);
}

TEST_CASE("a GPU's tensors go out and come back without leaving it", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Tensor x = Tensor{1.0f, 2.0f, 3.0f}.to(gpu.device());
  DLManagedTensor* const out = to_dlpack(x + x);
  CHECK(out->dl_tensor.device.device_type == 2);
  CHECK(out->dl_tensor.device.device_id == gpu_info(gpu.device()).number);
  const Tensor back = from_dlpack(out);
  CHECK(back.device() == gpu.device());
  CHECK(back.array().bytes() == static_cast<char*>(out->dl_tensor.data));
  CHECK((back + x).to_vector() == std::vector<float>{3, 6, 9});
}
