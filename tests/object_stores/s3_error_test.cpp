#include <distribute/object_stores/detail/s3_transport.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("code, message, request id and region are taken from body and headers",
          "[io][s3_error]") {
  const auto error = io::s3_error({.status = 400,
                                   .headers = {{"x-amz-request-id", "R1"}},
                                   .body = "  <?xml version='1.0'?><Error><Code>A</Code><Message>m"
                                           "</Message><RequestId>R2</RequestId><Region>eu</Region>"
                                           "</Error>"});
  CHECK(error.code == "A");
  CHECK(error.message == "m");
  CHECK(error.request_id == "R1");
  CHECK(error.region == "eu");
  for (const std::string body :
       {"", "<html><Error></html>", "<Error><Code>A", "<R>an <b>Error</b></R>"})
    CHECK(io::s3_error({.status = 400, .body = body}).code.empty());
}

TEST_CASE("codes count for more than the HTTP status", "[io][s3_error]") {
  CHECK(io::code_of_s3(404, {.code = "NoSuchKey"}) == StatusCode::NotFound);
  CHECK(io::code_of_s3(404, {.code = "NoSuchUpload"}) == StatusCode::NotFound);
  CHECK(io::code_of_s3(404, {.code = "NoSuchBucket"}) == StatusCode::FailedPrecondition);
  CHECK(io::code_of_s3(404, {}) == StatusCode::FailedPrecondition);  // no S3 server
  CHECK(io::code_of_s3(403, {}) == StatusCode::PermissionDenied);
  CHECK(io::code_of_s3(416, {}) == StatusCode::OutOfRange);
  CHECK(io::code_of_s3(500, {}) == StatusCode::Unavailable);
  CHECK(io::code_of_s3(400, {}) == StatusCode::InvalidArgument);
  CHECK(io::code_of_s3(200, {.code = "InternalError"}) == StatusCode::Unavailable);
  CHECK(io::code_of_s3(400, {.code = "ExpiredToken"}) == StatusCode::Unauthenticated);
  CHECK(io::code_of_s3(403, {.code = "RequestTimeTooSkewed"}) == StatusCode::FailedPrecondition);
  CHECK(io::says_expired({.code = "InvalidToken"}));
  CHECK_FALSE(io::says_expired({.code = "AccessDenied"}));
  CHECK(io::may_pass({.code = "SlowDown"}));
  CHECK_FALSE(io::may_pass({.code = "NoSuchKey"}));
}
