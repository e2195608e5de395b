#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>

#include <cerrno>
#include <limits>

#include <sys/resource.h>

using Catch::Matchers::Contains;
using distribute::base_internal::prepare_descriptors;
using distribute::base_internal::system_error_text;

namespace {

rlimit limit() {
  rlimit now{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
  return now;
}

/// The soft limit for as long as it lives; the hard one stays.
class SoftLimit {
 public:
  explicit SoftLimit(rlim_t files) : before_(limit()) {
    rlimit less = before_;
    less.rlim_cur = files;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &less) == 0);
  }
  ~SoftLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  const rlimit before_;
};

}  // namespace

TEST_CASE("the limit of open files is raised where it would not be enough", "[base][descriptors]") {
  const SoftLimit few(64);
  prepare_descriptors("worker 0", 8, 16);
  CHECK(limit().rlim_cur == 64);  // that is enough
  prepare_descriptors("worker 0", 8, 100);
  CHECK(limit().rlim_cur == limit().rlim_max);
}

TEST_CASE("a need that cannot be met is an error with limit, need and cure",
          "[base][descriptors]") {
  if (limit().rlim_max > 1u << 30) SKIP("there is no limit");
  const SoftLimit few(64);
  CHECK_THROWS_WITH(prepare_descriptors("worker 0", std::numeric_limits<int>::max(), 100),
                    Contains("worker 0 needs 2147483647 more open files at least, and ") &&
                        Contains(" that it may have (ulimit -n) are in use; allow more: ulimit "
                                 "-n 4096"));
}

TEST_CASE("errors of open files name the limit", "[base][descriptors]") {
  const SoftLimit few(100);
  CHECK_THAT(system_error_text(EMFILE),
             Contains("Too many open files: this process may have 100 (ulimit -n); allow more"));
  CHECK_THAT(system_error_text(ENFILE), Contains("fs.file-max"));
  CHECK(system_error_text(ENOENT) == "No such file or directory");
}
