#include <distribute/net/bytes.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_cuda.hpp>

using namespace distribute;
using rpc::decode_tensors;
using rpc::encode_tensors;

TEST_CASE("tensors of all dtypes come back from their bytes", "[rpc][tensor_codec]") {
  const std::vector<Tensor> all = {Tensor(Shape{2, 2}, std::vector<float>{1, -2, 3.5f, 4}),
                                   Tensor(int64_t{-7}),
                                   Tensor(Shape{0, 3}, std::vector<int32_t>{}),
                                   Tensor(),
                                   Tensor(true),
                                   Tensor(Shape{2}, std::vector<bfloat16>{1.5f, -2.0f}),
                                   Tensor(Shape{1}, std::vector<uint8_t>{255}),
                                   Tensor(float16(0.5f))};
  const auto back = decode_tensors(encode_tensors(all));
  REQUIRE(back.size() == all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    REQUIRE(bool(back[i]) == bool(all[i]));
    if (!all[i]) continue;
    CHECK(back[i].dtype() == all[i].dtype());
    CHECK(back[i].shape() == all[i].shape());
    CHECK(back[i].to_vector() == all[i].to_vector());
  }
}

TEST_CASE("indexed slices stay sparse", "[rpc][tensor_codec]") {
  const Tensor sparse = to_tensor({Tensor(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}),
                                   Tensor(Shape{2}, std::vector<int64_t>{5, 1}), Shape{9, 2}});
  const Tensor back = decode_tensors(encode_tensors({sparse}))[0];
  REQUIRE(is_indexed_slices(back));
  CHECK(back.shape() == Shape{9, 2});
  CHECK(indexed_slices(back).indices.data<int64_t>()[0] == 5);
  CHECK(back.to_vector() == sparse.to_vector());
}

TEST_CASE("tensors of GPUs arrive on the host", "[rpc][tensor_codec]") {
  const testing::FakeCuda fake;
  const Device gpu{DeviceType::Gpu, 0};
  const Tensor dense = Tensor{1.0f, 2.0f}.to(gpu);
  const Tensor sparse =
      to_tensor({dense.view({1, 2}), Tensor(Shape{1}, std::vector<int64_t>{2}).to(gpu), {4, 2}});
  const auto back = decode_tensors(encode_tensors({dense, sparse}));
  CHECK(back[0].device() == Device{});
  CHECK(back[0].to_vector() == std::vector<float>{1, 2});
  CHECK(indexed_slices(back[1]).indices.to_vector() == std::vector<float>{2});
  CHECK(back[1].to_vector() == std::vector<float>{0, 0, 0, 0, 1, 2, 0, 0});
}

TEST_CASE("damaged bytes are refused", "[rpc][tensor_codec]") {
  const std::string good = encode_tensors({Tensor(Shape{2}, std::vector<float>{1, 2})});
  for (size_t size = 0; size < good.size(); ++size)
    CHECK_THROWS_AS(decode_tensors(good.substr(0, size)), InvalidArgumentError);
  CHECK_THROWS_AS(decode_tensors(good + "x"), InvalidArgumentError);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x55);
    try {
      decode_tensors(bad);  // other values are no error
    } catch (const InvalidArgumentError&) {
    }
  }
}

TEST_CASE("indexed slices that nest are refused before they fill the stack",
          "[rpc][tensor_codec]") {
  std::string bytes("\x01\0\0\0", 4);  // one tensor: indexed slices whose values are such, ...
  for (int i = 0; i < 2'000'000; ++i) bytes += std::string("\x02\0\0", 3);
  CHECK_THROWS_AS(decode_tensors(bytes), InvalidArgumentError);
}
