#include <distribute/cluster/cluster_options.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/caught_log.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

namespace {

/// Sets a variable for the time of a test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    old_ = old ? old : "";
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

}  // namespace

TEST_CASE("every limit can be set in the environment", "[cluster][cluster_options]") {
  const Environment a("DISTRIBUTE_STARTUP_TIMEOUT", "12.5"), b("DISTRIBUTE_REPORT_INTERVAL", "3"),
      c("DISTRIBUTE_HEARTBEAT_INTERVAL", "0.5"), d("DISTRIBUTE_LOST_AFTER", "4"),
      e("DISTRIBUTE_HANDSHAKE_TIMEOUT", "2"), f("DISTRIBUTE_SHUTDOWN_TIMEOUT", "1e1"),
      g("DISTRIBUTE_OPERATION_TIMEOUT", "7"), h("DISTRIBUTE_MAX_MESSAGE_BYTES", "1000000"),
      i("DISTRIBUTE_MAX_UNAUTHENTICATED", "5"), j("DISTRIBUTE_BIND_ADDRESS", "0.0.0.0:22"),
      k("DISTRIBUTE_JOB_TOKEN", "16 bytes or more"), l("DISTRIBUTE_INSECURE", "1");
  const ClusterOptions options = ClusterOptions::from_environment();
  CHECK(options.startup_timeout == 12.5);
  CHECK(options.report_interval == 3);
  CHECK(options.heartbeat_interval == 0.5);
  CHECK(options.lost_after == 4);
  CHECK(options.handshake_timeout == 2);
  CHECK(options.shutdown_timeout == 10);
  CHECK(options.operation_timeout == 7);
  CHECK(options.max_message_bytes == 1'000'000);
  CHECK(options.max_unauthenticated == 5);
  CHECK(options.bind_address == "0.0.0.0:22");
  CHECK(options.job_token == "16 bytes or more");
  CHECK(options.insecure);
}

TEST_CASE("the defaults end a job within ten seconds of a loss", "[cluster][cluster_options]") {
  const ClusterOptions options = ClusterOptions::from_environment();
  CHECK(options.lost_after + options.heartbeat_interval <= 10);
  CHECK(options.startup_timeout == 300);
  CHECK_FALSE(options.insecure);
}

TEST_CASE("bad limits are errors that name variable, value and range",
          "[cluster][cluster_options]") {
  const auto error_with = [](const char* name, const char* value) {
    const Environment variable(name, value);
    return error_of([] { ClusterOptions::from_environment(); });
  };
  for (const char* bad : {"soon", "-1", "0", "nan", "inf", "1s", "1e99"}) {
    INFO(bad);
    CHECK(contains(error_with("DISTRIBUTE_STARTUP_TIMEOUT", bad),
                   "INVALID_ARGUMENT: DISTRIBUTE_STARTUP_TIMEOUT='" + std::string(bad) +
                       "': wanted a number from 0.001 to 1e+07"));
  }
  CHECK(contains(error_with("DISTRIBUTE_INSECURE", "yes"), "wanted 0 or 1"));
  for (const char* set_by_launcher :
       {"DISTRIBUTE_LOCAL_RANK", "DISTRIBUTE_LOCAL_SIZE", "DISTRIBUTE_RESTART_COUNT"})
    CHECK(contains(error_with(set_by_launcher, "x"), "='x': wanted a whole number"));
  CHECK(contains(error_with("DISTRIBUTE_MAX_MESSAGE_BYTES", "12"),
                 "DISTRIBUTE_MAX_MESSAGE_BYTES='12'"));
  CHECK(contains(error_with("DISTRIBUTE_LOST_AFTER", "1.5"), "at least two heartbeats"));
}

TEST_CASE("white space around a token does not count", "[cluster][cluster_options]") {
  const Environment with_newline("DISTRIBUTE_JOB_TOKEN", " 16 bytes or more\r\n");
  CHECK(ClusterOptions::from_environment().job_token == "16 bytes or more");
  const Environment blank("DISTRIBUTE_JOB_TOKEN", " \n");
  CHECK(contains(error_of([] { ClusterOptions::from_environment(); }),
                 "DISTRIBUTE_JOB_TOKEN holds nothing but white space"));
}

TEST_CASE("the token may stand in a file", "[cluster][cluster_options]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "token") << "  secret of the file\n";
  std::ofstream(directory / "empty") << "\n";
  {
    const Environment file("DISTRIBUTE_JOB_TOKEN_FILE", directory / "token");
    CHECK(ClusterOptions::from_environment().job_token == "secret of the file");
    const Environment both("DISTRIBUTE_JOB_TOKEN", "x");
    CHECK(contains(error_of([] { ClusterOptions::from_environment(); }), "are both set"));
  }
  for (const char* bad : {"empty", "missing"}) {
    const Environment file("DISTRIBUTE_JOB_TOKEN_FILE", directory / bad);
    CHECK(contains(error_of([] { ClusterOptions::from_environment(); }), directory / bad));
  }
}

TEST_CASE("a token file that other users can read is a warning, once for each file",
          "[cluster][cluster_options]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "token";
  std::ofstream(path) << "secret of the file\n";
  const Environment file("DISTRIBUTE_JOB_TOKEN_FILE", path);
  const auto warnings = [&](int mode) {
    REQUIRE(::chmod(path.c_str(), mode_t(mode)) == 0);
    const CaughtLog log;
    CHECK(ClusterOptions::from_environment().job_token == "secret of the file");
    return log.lines;
  };
  CHECK(warnings(0600).empty());
  CHECK(warnings(0640).empty());  // a group that the administrator has chosen
  const auto told = warnings(0644);
  REQUIRE(told.size() == 1);
  CHECK(contains(told[0], "DISTRIBUTE_JOB_TOKEN_FILE=" + path +
                              ": every user of this machine may read or change the job's token"));
  CHECK(contains(told[0], "chmod 600"));
  CHECK_FALSE(contains(told[0], "secret of the file"));
  CHECK(warnings(0666).empty());  // said once
}

TEST_CASE("a folder in place of a token file gets no advice about its rights",
          "[cluster][cluster_options]") {
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const Environment file("DISTRIBUTE_JOB_TOKEN_FILE", directory.path());
  const CaughtLog log;
  CHECK(contains(error_of([] { ClusterOptions::from_environment(); }), "it is a directory"));
  CHECK(log.lines.empty());
}

TEST_CASE("a token that strangers can guess is refused, and not shown",
          "[cluster][cluster_options]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "token")
      << "  zzzz zzzzz zzzz \n";  // white space around it does not count
  const auto check = [](const char* name, const std::string& value, const std::string& size) {
    const Environment variable(name, value);
    const std::string error = error_of([] { ClusterOptions::from_environment(); });
    CHECK(contains(error, "INVALID_ARGUMENT: " + std::string(name)));
    CHECK(contains(error, "has " + size + ", which strangers can guess; wanted 16 or more"));
    CHECK_FALSE(contains(error, "zzzz"));
  };
  check("DISTRIBUTE_JOB_TOKEN", "z", "1 byte");
  check("DISTRIBUTE_JOB_TOKEN", std::string(15, 'z'), "15 bytes");
  check("DISTRIBUTE_JOB_TOKEN_FILE", directory / "token", "15 bytes");
  ClusterOptions options;
  options.job_token = std::string(15, 'z');
  const std::string error = error_of([&] { check_options(options); });
  CHECK(contains(error, "INVALID_ARGUMENT: ClusterOptions::job_token: the job's token has 15"));
  CHECK_FALSE(contains(error, "zzzz"));
}
