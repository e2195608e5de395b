/// Results on an object store: whole, or an error as early as it can be known.

#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>
#include <tests/support/run_program.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;

namespace {

ProgramResult train(FakeS3& store, std::vector<std::string> more) {
  std::vector<std::string> arguments{"--model=tutorial", "--steps=3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program("mnist_cnn", arguments,
                     "OMP_NUM_THREADS=1 AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY=SECRET "
                     "AWS_REGION=us-east-1 S3_ENDPOINT=" +
                         store.server().url());
}

/// The store refuses to keep what has `part` in its name.
void refuse(FakeS3& store, const std::string& part) {
  store.set_fault([part](const HttpServerRequest& request) -> std::optional<HttpServerReply> {
    const bool writes = request.method == "PUT" || request.method == "POST";
    if (!writes || request.target.find(part) == std::string::npos) return std::nullopt;
    return FakeS3::error(403, "AccessDenied");
  });
}

}  // namespace

TEST_CASE("all results but the loss file may be on a store", "[examples][mnist_cnn][store]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  FakeS3 store;
  const ProgramResult run =
      train(store, {"--checkpoint_dir=s3://bucket/ckpt", "--logdir=s3://bucket/log",
                    "--final_checkpoint=s3://bucket/last", "--export_dir=s3://bucket/model",
                    "--export_onnx=s3://bucket/net.onnx", "--json=s3://bucket/run.json"});
  INFO(run.err);
  CHECK(run.status == 0);
  const auto objects = store.objects();
  for (const char* key : {"ckpt/checkpoint", "ckpt/ckpt-1.index", "last.index",
                          "model/saved_model.pb", "net.onnx", "run.json"})
    CHECK(objects.count(key) == 1);
  for (const auto& [key, bytes] : objects) CHECK(key.find("probe") == std::string::npos);
  CHECK(nlohmann::json::parse(objects.at("run.json")).at("steps") == 3);
  CHECK(train(store, {"--loss_csv=s3://bucket/loss.csv"}).status == 2);
}

TEST_CASE("a store that may not be written ends the program before it trains",
          "[examples][mnist_cnn][store]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  FakeS3 store;
  refuse(store, "probe");
  for (const std::string flag :
       {"checkpoint_dir", "logdir", "final_checkpoint", "export_dir", "export_onnx", "json"}) {
    const ProgramResult run = train(store, {"--" + flag + "=s3://bucket/folder/x"});
    INFO(run.out << run.err);
    CHECK(run.status == 1);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Contains("--" + flag + "=s3://bucket/folder/x") &&
                            Contains("AccessDenied") && Contains("REQ1"));
  }
}

TEST_CASE("events that no store has are an error", "[examples][mnist_cnn][store]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  FakeS3 store;
  refuse(store, "events.out");
  const ProgramResult run = train(store, {"--logdir=s3://bucket/log"});
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("events.out") && Contains("AccessDenied"));
}
