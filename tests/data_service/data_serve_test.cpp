#include <distribute/metrics/metrics_server.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/run_program.hpp>

using namespace service_test;

TEST_CASE("distribute data serve is a dispatcher, and ends by SIGTERM with status 0",
          "[data_service][multiproc]") {
  SKIP_WITHOUT_PROGRAM("distribute");
  register_all();
  ClusterOptions options = quick_options();
  options.job_token = "the token of a data service";
  const TemporaryDirectory directory;
  testing::ProcessCluster serving({.workers = 1,
                                   .command = {testing::binary_dir() + "/distribute", "data",
                                               "serve", "--work_dir=" + directory / "journal"},
                                   .environment = {{"DISTRIBUTE_JOB_TOKEN", options.job_token},
                                                   {"DISTRIBUTE_TLS", options.tls ? "1" : "0"},
                                                   {"DISTRIBUTE_METRICS_PORT", "0"}}});
  const std::string line = "data dispatcher at ";
  const auto behind = [&](const std::string& words, const std::string& end) {
    std::string out;
    size_t at = 0, stop = 0;
    testing::wait_until(
        [&] {
          out = serving.output({"worker", 0});
          at = out.find(words);
          stop = at == std::string::npos ? at : out.find(end, at + words.size());
          return stop != std::string::npos;
        },
        words);
    return out.substr(at + words.size(), stop - at - words.size());
  };
  const std::string target = behind(line, "\n");
  const WorkerServer worker({.dispatcher_address = target, .cluster = options});
  ReadOptions read = reading(target, "ten", ShardingPolicy::Dynamic);
  read.cluster = options;
  CHECK(sorted(numbers(data::service::from_dataset_id(read))) == up_to(10));
  const std::string environment =
      str_cat("DISTRIBUTE_JOB_TOKEN='", options.job_token, "' DISTRIBUTE_TLS=", int(options.tls));
  const auto save = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"data", "save"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program("distribute", all, environment);
  };
  const std::vector<std::string> saved{"ten", directory / "saved", "--service=" + target,
                                       "--compression=gzip"};
  CHECK(save(saved).status == 0);
  CHECK(sorted(numbers(Dataset::load(directory / "saved"))) == up_to(10));
  const ProgramResult again = save(saved);
  CHECK(again.status == 1);
  CHECK_THAT(again.err, Catch::Matchers::Contains("already started"));
  CHECK(save({"ten", directory / "other"}).status == 2);
  const std::string metrics =
      read_metrics(value_or_throw(net::parse_address(behind("http://", "/metrics"))),
                   metrics_token(options.job_token));
  CHECK_THAT(metrics, Catch::Matchers::Contains("distribute_data_service_workers 1\n") &&
                          Catch::Matchers::Contains("distribute_data_service_clients ") &&
                          Catch::Matchers::Contains("job=\"data_dispatcher\"") &&
                          !Catch::Matchers::Contains("distribute_data_service_elements_total"));
  CHECK(std::filesystem::file_size(directory / "journal/journal") > 0);
  serving.kill({"worker", 0}, SIGTERM);
  CHECK(serving.wait().at(0).status.code == 0);
}
