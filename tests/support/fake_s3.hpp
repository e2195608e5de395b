#pragma once
/// A small S3 server in memory for tests: objects, ranges, listings in pages, uploads in parts,
/// copies, and faults that a test puts in. It believes every signature.

#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/detail/xml.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/environment.hpp>
#include <tests/support/http_server.hpp>

#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include <absl/strings/escaping.h>

class FakeS3 {
 public:
  /// Asked first; an answer takes the place of the server's own.
  using Fault = std::function<std::optional<HttpServerReply>(const HttpServerRequest&)>;

  /// The one behind s3:// of this process, empty and without a fault; null where the environment
  /// names a server already.
  static FakeS3* serve_process() {
    static FakeS3* const served = [] {
      FakeS3* fake = std::getenv("S3_ENDPOINT") ? nullptr : new FakeS3;
      if (!fake) return fake;
      for (const auto& [name, value] : keys()) ::setenv(name.c_str(), value.c_str(), 1);
      ::setenv("AWS_REGION", "us-east-1", 1);
      ::setenv("S3_ENDPOINT", fake->server_.url().c_str(), 1);
      return fake;
    }();
    if (!served) return nullptr;
    served->clear();
    served->set_fault({});
    return served;
  }

  FakeS3()
      : server_([this](const HttpServerRequest& request) {
          HttpServerReply reply = answer(request);
          if (loses && loses(request)) reply.reset_after = 0;
          return reply;
        }) {
    using namespace distribute::io;
    if (!has_http() || !has_digests() || !has_xml()) SKIP("no libcurl, OpenSSL or pugixml");
  }

  /// With the keys of `environment` and waits that take no time.
  distribute::io::S3Options options(const FakeEnvironment& environment = keys()) const {
    distribute::io::S3Options options{.endpoint = server_.url()};
    options.retry.sleep = [](double) {};
    options.credentials = std::make_shared<distribute::io::AwsCredentialsProvider>(
        distribute::io::AwsCredentialsOptions{.environment = environment.reader()});
    return options;
  }
  static FakeEnvironment keys() {
    return {{"AWS_ACCESS_KEY_ID", "KEY"}, {"AWS_SECRET_ACCESS_KEY", "SECRET"}};
  }

  HttpServer& server() { return server_; }
  /// Requests that are carried out, but whose answer never comes; set before they are sent.
  std::function<bool(const HttpServerRequest&)> loses;
  void set_fault(Fault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
  }
  std::map<std::string, std::string> objects() const {
    const std::lock_guard lock(mutex_);
    return objects_;
  }
  void put(const std::string& key, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    objects_[key] = bytes;
    etags_.erase(key);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    objects_.clear();
    checksums_.clear();
    etags_.clear();
    uploads_.clear();
  }
  size_t unfinished_uploads() const {
    const std::lock_guard lock(mutex_);
    return uploads_.size();
  }
  int count(const std::string& method) const {
    int count = 0;
    for (const auto& request : server_.requests()) count += request.method == method;
    return count;
  }

  static HttpServerReply error(int status, const std::string& code, const std::string& more = "") {
    return {.status = status,
            .body = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>text of " +
                    code + "</Message>" + more + "</Error>",
            .headers = {{"x-amz-request-id", "REQ1"}}};
  }

 private:
  using Query = std::map<std::string, std::string>;

  HttpServerReply answer(const HttpServerRequest& request) {
    Fault fault;
    {
      const std::lock_guard lock(mutex_);
      fault = fault_;
    }
    if (fault) {
      if (auto reply = fault(request)) return *std::move(reply);
    }
    const std::lock_guard lock(mutex_);
    const std::string hash = request.header("x-amz-content-sha256");
    if (!hash.empty() && hash != "UNSIGNED-PAYLOAD" &&
        hash != absl::BytesToHexString(distribute::io::sha256(request.body)))
      return error(400, "XAmzContentSHA256Mismatch");
    const std::string path = distribute::io::url_decode(request.path());
    if (!path.starts_with("/bucket/")) return error(404, "NoSuchBucket");
    const std::string key = path.substr(8);
    Query query;
    std::string rest = request.query() + "&";
    for (size_t end; (end = rest.find('&')) != std::string::npos; rest.erase(0, end + 1)) {
      const std::string part = rest.substr(0, end);
      query[part.substr(0, part.find('='))] =
          distribute::io::url_decode(part.substr(part.find('=') + 1));
    }
    if (request.method == "GET" || request.method == "HEAD")
      return key.empty() ? list(query) : get(request, key);
    if (request.method == "PUT") return put_object(request, key, query);
    if (request.method == "POST") return post(request, key, query);
    if (query.contains("uploadId")) {
      uploads_.erase(query["uploadId"]);
    } else {
      objects_.erase(key);
    }
    return {.status = 204};
  }

  /// As Amazon's: the MD5 of the bytes; of objects in parts, of the parts' digests.
  static std::string etag(const std::string& bytes, size_t parts = 0) {
    return '"' + absl::BytesToHexString(distribute::io::md5(bytes)) +
           (parts > 0 ? "-" + std::to_string(parts) : "") + '"';
  }
  std::string etag_of(const std::string& key) const {
    const auto parts = etags_.find(key);
    return parts == etags_.end() ? etag(objects_.at(key)) : parts->second;
  }

  HttpServerReply get(const HttpServerRequest& request, const std::string& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return error(404, "NoSuchKey");
    const std::string& bytes = found->second;
    const std::string wanted = request.header("if-match"), range = request.header("range");
    if (!wanted.empty() && wanted != etag_of(key)) return error(412, "PreconditionFailed");
    HttpServerReply reply{.body = bytes, .headers = {{"ETag", etag_of(key)}}};
    if (checksums_.contains(key))
      reply.headers.emplace_back("x-amz-checksum-crc32c", checksums_[key]);
    if (range.empty()) return reply;
    const size_t first = std::stoul(range.substr(6)), dash = range.find('-');
    const size_t last = std::min<size_t>(std::stoul(range.substr(dash + 1)), bytes.size() - 1);
    if (first >= bytes.size()) return error(416, "InvalidRange");
    reply.status = 206;
    reply.body = bytes.substr(first, last - first + 1);
    reply.headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" +
                                                    std::to_string(last) + "/" +
                                                    std::to_string(bytes.size()));
    return reply;
  }

  HttpServerReply list(Query& query) {
    const std::string prefix = query["prefix"], delimiter = query["delimiter"];
    const size_t most = size_t(std::stoi(query["max-keys"]));
    std::string xml, last;
    std::set<std::string> prefixes;
    size_t count = 0;
    bool cut = false;
    for (auto at = objects_.lower_bound(std::max(prefix, query["continuation-token"]));
         at != objects_.end() && at->first.starts_with(prefix); ++at) {
      if (at->first == query["continuation-token"]) continue;
      const size_t slash =
          delimiter.empty() ? std::string::npos : at->first.find(delimiter, prefix.size());
      const std::string shared = at->first.substr(0, slash + (slash != std::string::npos));
      if (slash != std::string::npos && prefixes.contains(shared)) {
        last = at->first;
        continue;
      }
      if (count == most) {
        cut = true;
        break;
      }
      ++count;
      last = at->first;
      if (slash != std::string::npos) {
        prefixes.insert(shared);
      } else {
        xml += "<Contents><Key>" + distribute::io::url_encode(at->first, "/") + "</Key><Size>" +
               std::to_string(at->second.size()) + "</Size></Contents>";
      }
    }
    for (const std::string& shared : prefixes)
      xml += "<CommonPrefixes><Prefix>" + distribute::io::url_encode(shared, "/") +
             "</Prefix></CommonPrefixes>";
    if (cut)
      xml +=
          "<NextContinuationToken>" + distribute::io::xml_escape(last) + "</NextContinuationToken>";
    return {.body =
                "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3/\">"
                "<EncodingType>url</EncodingType><IsTruncated>" +
                std::string(cut ? "true" : "false") + "</IsTruncated>" + xml +
                "</ListBucketResult>"};
  }

  HttpServerReply put_object(const HttpServerRequest& request, const std::string& key,
                             Query& query) {
    std::string bytes = request.body;
    const std::string source = distribute::io::url_decode(request.header("x-amz-copy-source"));
    if (!source.empty()) {
      const auto found = objects_.find(source.substr(8));
      if (found == objects_.end()) return error(404, "NoSuchKey");
      bytes = found->second;
      const std::string range = request.header("x-amz-copy-source-range");
      if (!range.empty()) {
        const size_t first = std::stoul(range.substr(6));
        bytes = bytes.substr(first, std::stoul(range.substr(range.find('-') + 1)) - first + 1);
      }
    }
    if (query.contains("uploadId")) {
      if (!uploads_.contains(query["uploadId"])) return error(404, "NoSuchUpload");
      uploads_[query["uploadId"]][std::stoi(query["partNumber"])] = bytes;
    } else {
      objects_[key] = bytes;
      etags_.erase(key);
      checksums_[key] = request.header("x-amz-checksum-crc32c");
    }
    if (source.empty()) return {.headers = {{"ETag", etag(bytes)}}};
    return {.body = "<CopyResult><ETag>" + etag(bytes) + "</ETag></CopyResult>"};
  }

  HttpServerReply post(const HttpServerRequest& request, const std::string& key, Query& query) {
    const auto body = distribute::io::parse_xml(request.body);
    if (query.contains("uploads")) {
      const std::string id = "upload/" + std::to_string(++last_upload_);
      uploads_[id];
      return {.body = "<R><UploadId>" + id + "</UploadId></R>"};
    }
    if (query.contains("delete")) {
      for (const auto& element : body->children) objects_.erase(element.text_of("Key"));
      return {.body = "<DeleteResult/>"};
    }
    const auto upload = uploads_.find(query["uploadId"]);
    if (upload == uploads_.end()) return error(404, "NoSuchUpload");
    std::string bytes, digests;
    for (const auto& part : body->children) {
      const std::string& piece = upload->second[std::stoi(part.text_of("PartNumber"))];
      if (part.text_of("ETag") != etag(piece)) return error(400, "InvalidPart");
      bytes += piece;
      digests += distribute::io::md5(piece);
    }
    objects_[key] = bytes;
    etags_[key] = etag(digests, body->children.size());
    uploads_.erase(upload);
    checksums_.erase(key);
    return {.body = "  \n<CompleteMultipartUploadResult/>"};
  }

  mutable std::mutex mutex_;  // guards everything below but server_
  Fault fault_;
  std::map<std::string, std::string> objects_, checksums_;
  std::map<std::string, std::string> etags_;  // of objects that came in parts
  std::map<std::string, std::map<int, std::string>> uploads_;
  int last_upload_ = 0;
  HttpServer server_;  // last: its threads use the others
};
