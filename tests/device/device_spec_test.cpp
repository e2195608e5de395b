#include <distribute/base/error.hpp>
#include <distribute/device/device_spec.hpp>

#include "support/catch.hpp"

using namespace distribute;

TEST_CASE("a device spec is read and written as in TensorFlow", "[device][device_spec]") {
  CHECK(canonical_name("") == "");
  CHECK(canonical_name("/job:foo/replica:0/task:3/cpu:1") ==
        "/job:foo/replica:0/task:3/device:CPU:1");
  CHECK(canonical_name("/job:foo/device:GPU:2") == "/job:foo/device:GPU:2");
  CHECK(canonical_name("/device:gpu:0") == "/device:GPU:0");
  CHECK(canonical_name("GPU:*") == "/device:GPU:*");
  CHECK(canonical_name("cpu") == "/device:CPU:*");
  CHECK(canonical_name("/gpu:1/job:w") == "/job:w/device:GPU:1");
  CHECK(canonical_name("/device:XPU:1") == "/device:XPU:1");
  CHECK(DeviceSpec{.job = "foo", .task = 3}.to_string() == "/job:foo/task:3");
}

TEST_CASE("a spec keeps apart what is given and what is not", "[device][device_spec]") {
  const DeviceSpec spec = DeviceSpec::from_string("/task:4/gpu:*");
  CHECK_FALSE(spec.job);
  CHECK_FALSE(spec.replica);
  CHECK(spec.task == 4);
  CHECK(spec.device_type == "GPU");
  CHECK_FALSE(spec.device_index);
}

TEST_CASE("merging prefers the inner spec, part by part", "[device][device_spec]") {
  const auto merged = [](const std::string& outer, const std::string& inner) {
    return DeviceSpec::from_string(outer).make_merged_spec(DeviceSpec::from_string(inner));
  };
  CHECK(merged("/job:foo/replica:10/cpu:0", "/task:1/gpu:12").to_string() ==
        "/job:foo/replica:10/task:1/device:GPU:12");
  CHECK(merged("/job:foo/task:7/device:GPU:2", "/job:muu/task:1").to_string() ==
        "/job:muu/task:1/device:GPU:2");
  CHECK(merged("/cpu:1", "") == DeviceSpec::from_string("/cpu:1"));
}

TEST_CASE("names that are none are shown with their fault", "[device][device_spec]") {
  CHECK_THROWS_WITH(DeviceSpec::from_string("/job:j/cpu:0/gpu:0"),
                    "Multiple device types are not allowed while parsing the device spec: "
                    "/job:j/cpu:0/gpu:0.");
  CHECK_THROWS_WITH(DeviceSpec::from_string("/jobs:j"),
                    "Unknown attribute 'jobs' is encountered while parsing the device spec: "
                    "'/jobs:j'.");
  CHECK_THROWS_AS(DeviceSpec::from_string("/task:x"), InvalidArgumentError);
  CHECK_THROWS_AS(DeviceSpec::from_string("/gpu:-1"), InvalidArgumentError);
  CHECK_THROWS_AS(DeviceSpec::from_string("/device:GPU"), InvalidArgumentError);
}
