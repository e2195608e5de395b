#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/certificates.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

#if DISTRIBUTE_HAS_OPENSSL

namespace net = distribute::net;
using distribute::InternalError;
using distribute::throw_if_error;
using distribute::value_or_throw;

namespace {

ClusterOptions token_options(const std::string& token = "the token of this job") {
  ClusterOptions options = quick_options();
  options.tls = true;
  options.job_token = token;
  return options;
}

ClusterOptions certificate_options(const TestAuthority& authority, const CertificateFiles& files) {
  ClusterOptions options = quick_options();
  options.tls = true;
  options.job_token = "";
  options.tls_certificate_file = files.certificate;
  options.tls_key_file = files.key;
  options.tls_ca_file = authority.file();
  return options;
}

/// Barriers, the store, and a connection between every pair that must be encrypted.
void work(ClusterRuntime& runtime) {
  runtime.barrier("start");
  std::vector<net::Socket> sockets;  // until all have theirs
  for (int peer = 0; peer < runtime.size(); ++peer) {
    if (peer == runtime.rank()) continue;
    sockets.push_back(runtime.peer_socket(peer, "data", 0));
    if (!sockets.back().layer()) throw InternalError("a plain connection");
  }
  const auto all = runtime.all_gather("ranks", std::string(200'000, char('0' + runtime.rank())));
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] != std::string(200'000, char('0' + i))) throw InternalError("all_gather");
  runtime.barrier("end");
}

/// What worker 1 gets to hear from a leader with other options, and what the leader prints.
std::pair<std::string, std::string> refused(ClusterOptions leader, const ClusterOptions& member) {
  TestJob job(2);
  LogLines lines;
  leader.log = lines.sink();
  distribute::TaskServer server(std::move(job.listeners[0]),
                                {.self = {"worker", 0, 1},
                                 .job = distribute::job_fingerprint(job.tasks),
                                 .token = leader.job_token,
                                 .tls = make_tls(leader, "worker 0")},
                                leader);
  server.start();
  const std::string error = error_of([&] { job.join(1, member); });
  lines.waits_for("refused");
  return {error, lines.text()};
}

/// Joins the first generation of an elastic job and works in it.
void work_elastically(TestJob& job, int rank, const ClusterOptions& options) {
  using namespace distribute;
  ClusterTasks tasks = job.tasks;
  tasks.rank = rank;
  ElasticMember member(tasks, {.min_workers = 2, .max_workers = 2}, options, "{}",
                       std::move(job.listeners[size_t(rank)]));
  const auto generation = member.meet({}).value();
  const auto runtime =
      ClusterRuntime::join(generation.tasks, options, member.server(), generation.number);
  work(*runtime);
  runtime->leave();
}

}  // namespace

TEST_CASE("a job with a token encrypts every connection", "[cluster][encrypted_job]") {
  for (const std::string& error : run_job(3, work, token_options())) CHECK(error == "");
}

TEST_CASE("a job with certificates needs no token", "[cluster][encrypted_job]") {
  const TestAuthority authority;
  std::vector<ClusterOptions> options;
  for (const char* name : {"a", "b", "c"})
    options.push_back(certificate_options(authority, authority.issue(name)));
  TestJob job(3);
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, options[size_t(rank)]);
    work(*runtime);
    runtime->leave();
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("an elastic job encrypts every connection", "[cluster][encrypted_job][elastic]") {
  const TestAuthority authority;
  for (const ClusterOptions& options :
       {token_options(), certificate_options(authority, authority.issue("a"))}) {
    TestJob job(2);
    const auto errors = on_ranks(2, [&](int rank) { work_elastically(job, rank, options); });
    for (const std::string& error : errors) CHECK(error == "");
  }
}

TEST_CASE("workers of an elastic job that do not all encrypt tell each other",
          "[cluster][encrypted_job][elastic]") {
  ClusterOptions plain = token_options();
  plain.tls = false;
  TestJob job(2);
  const std::string error = error_of([&] {
    distribute::ClusterTasks first = job.tasks, second = job.tasks;
    first.rank = 0, second.rank = 1;
    const distribute::ElasticLimits both{.min_workers = 2, .max_workers = 2};
    distribute::ElasticMember encrypts(first, both, token_options(), "{}",
                                       std::move(job.listeners[0]));
    distribute::ElasticMember does_not(second, both, plain, "{}", std::move(job.listeners[1]));
    does_not.meet({});
  });
  CHECK_THAT(error, Catch::Contains("worker 0 encrypts its connections and worker 1 does not"));
}

TEST_CASE("a task that does not encrypt and one that does tell each other",
          "[cluster][encrypted_job]") {
  ClusterOptions plain = quick_options();
  plain.tls = false;
  plain.job_token = token_options().job_token;
  const std::string cure = "set DISTRIBUTE_TLS=1 in all tasks of the job or in none";
  SECTION("the leader encrypts") {
    const auto [member, leader] = refused(token_options(), plain);
    for (const std::string& text : {member, leader}) {
      CHECK_THAT(text, Catch::Contains("worker 0 encrypts its connections and worker 1 does not"));
      CHECK_THAT(text, Catch::Contains(cure));
    }
    CHECK_THAT(member, Catch::Contains("FAILED_PRECONDITION: worker 0 at 127.0.0.1:"));
  }
  SECTION("the member encrypts") {
    const auto [member, leader] = refused(plain, token_options());
    for (const std::string& text : {member, leader}) {
      CHECK_THAT(text, Catch::Contains("encrypts its connections and worker 0 does not"));
      CHECK_THAT(text, Catch::Contains(cure));
    }
    CHECK_THAT(member, Catch::Contains("FAILED_PRECONDITION: worker 0 at 127.0.0.1:"));
    CHECK_THAT(leader, Catch::Contains("worker 0 refused 127.0.0.1:"));
  }
}

TEST_CASE("a task with another token is refused, and both sides say why",
          "[cluster][encrypted_job]") {
  const auto [member, leader] = refused(token_options(), token_options("another job's token"));
  CHECK_THAT(member, Catch::Contains("UNAUTHENTICATED: worker 0 at 127.0.0.1:"));
  CHECK_THAT(member, Catch::Contains("DISTRIBUTE_JOB_TOKEN differs between the tasks"));
  CHECK_THAT(leader, Catch::Contains("worker 1 does not know the token of this job"));
}

TEST_CASE("a task with a certificate of another authority is refused, and both sides say why",
          "[cluster][encrypted_job]") {
  const TestAuthority ours("ours"), theirs("theirs");
  const auto [member, leader] = refused(certificate_options(ours, ours.issue("leader")),
                                        certificate_options(ours, theirs.issue("stranger")));
  CHECK_THAT(member, Catch::Contains("UNAUTHENTICATED: worker 0 at 127.0.0.1:"));
  CHECK_THAT(member, Catch::Contains("it does not accept this task's certificate"));
  CHECK_THAT(leader, Catch::Contains("its certificate is not accepted"));
}

TEST_CASE("encryption without a secret, and certificates without encryption, are usage errors",
          "[cluster][encrypted_job]") {
  TestJob job(2);
  CHECK_THAT(error_of([&] { job.join(0, token_options("")); }),
             Catch::Contains("INVALID_ARGUMENT: encryption (DISTRIBUTE_TLS=1) needs a job token"));
  ClusterOptions options = quick_options();
  options.tls = false;
  options.tls_ca_file = "/etc/ca.pem";
  CHECK_THAT(error_of([&] { check_options(options); }), Catch::Contains("set DISTRIBUTE_TLS=1"));
}

TEST_CASE("the environment switches encryption on", "[cluster][encrypted_job]") {
  ::setenv("DISTRIBUTE_TLS", "1", 1);
  ::setenv("DISTRIBUTE_TLS_CERT", "a.pem", 1);
  ::setenv("DISTRIBUTE_TLS_KEY", "a.key", 1);
  ::setenv("DISTRIBUTE_TLS_CA", "ca.pem", 1);
  const ClusterOptions options = ClusterOptions::from_environment();
  for (const char* name : {"DISTRIBUTE_TLS_CERT", "DISTRIBUTE_TLS_KEY", "DISTRIBUTE_TLS_CA"})
    ::unsetenv(name);
  ::setenv("DISTRIBUTE_TLS", "yes", 1);
  const std::string error = error_of([] { ClusterOptions::from_environment(); });
  ::unsetenv("DISTRIBUTE_TLS");
  CHECK(options.tls);
  CHECK(options.tls_certificate_file == "a.pem");
  CHECK(options.tls_key_file == "a.key");
  CHECK(options.tls_ca_file == "ca.pem");
  CHECK_THAT(error, Catch::Contains("DISTRIBUTE_TLS='yes': wanted 0 or 1"));
}

TEST_CASE(
    "a new token in the token's file counts for the next start of the job, and the old one "
    "no longer",
    "[cluster][encrypted_job]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "token";
  const auto write_token = [&] {
    std::ofstream(path) << value_or_throw(net::make_job_token()) << "\n";
  };
  const auto from_file = [&] {
    ::setenv("DISTRIBUTE_JOB_TOKEN_FILE", path.c_str(), 1);
    ClusterOptions options = quick_options();
    options.job_token = ClusterOptions::from_environment().job_token;
    options.tls = true;
    ::unsetenv("DISTRIBUTE_JOB_TOKEN_FILE");
    return options;
  };
  write_token();
  const ClusterOptions first = from_file();
  for (const std::string& error : run_job(2, work, first)) CHECK(error == "");
  write_token();
  const ClusterOptions second = from_file();
  CHECK(first.job_token != second.job_token);
  for (const std::string& error : run_job(2, work, second)) CHECK(error == "");
  const auto [late, leader] = refused(second, first);  // a task that was not restarted
  CHECK_THAT(late, Catch::Contains("DISTRIBUTE_JOB_TOKEN differs between the tasks"));
}

#else

TEST_CASE("builds without OpenSSL cannot encrypt", "[cluster][encrypted_job]") {
  WARN("not tested here");
}

#endif
