#pragma once
/// How two tasks of a job authenticate each other: a mutual HMAC challenge over the job token.
///
///   client  Hello      identity, incarnation, purpose, which task it wants, job, 32 random bytes
///   server  Challenge  32 random bytes
///   client  Proof      HMAC(token, "client" + Hello + Challenge)
///   server  Welcome    its incarnation, HMAC(token, "server" + Hello + Challenge + incarnation)
///   server  Refusal    instead of any of its messages: a status code and a sentence
///
/// The token itself is never sent. The server proves nothing to a client that has not proved to
/// know it. Without a token the same messages are sent with empty proofs (on loopback only, see
/// job_token.hpp). On an encrypted connection (tls.hpp) all messages are encrypted, and proofs
/// cover the connection's binding, Hello and Challenge, so that proofs are useless on another
/// connection. Only handshake() does input or output.

#include <distribute/base/error.hpp>
#include <distribute/net/frame.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace distribute::net {

class TlsContext;

/// The largest message in bytes before both sides have proved themselves.
inline constexpr uint64_t kHandshakeFrameBytes = 4096;
/// limit for a task's type, a purpose, a detail
inline constexpr uint64_t kHandshakeNameBytes = 256;
inline constexpr uint64_t kNonceBytes = 32;
/// The messages of the handshake, in their order.
enum class HandshakeFrame : uint16_t { Hello = 1, Challenge, Proof, Welcome, Refusal };

/// Identifies one start of one task; each start draws a new incarnation.
struct TaskIdentity {
  std::string type;
  int32_t index = 0;
  uint64_t incarnation = 0;

  /// The task's name, such as "worker 2".
  std::string name() const;
  void fields(FieldVisitor& visit) {
    visit("type", type, kHandshakeNameBytes)("index", index)("incarnation", incarnation);
  }
};

/// What a task knows before its first connection.
struct HandshakeConfig {
  TaskIdentity self;
  std::string job;    // describes the cluster; must be equal on both sides
  std::string token;  // empty: no authentication
  std::shared_ptr<const TlsContext> tls = nullptr;  // null: connections are not encrypted
  uint16_t version = kProtocolVersion;

  /// Whether the token or certificates keep strangers out.
  bool authenticates() const { return !token.empty() || tls; }
};

struct HandshakeHello {  // the client's first message
  TaskIdentity client;
  std::string server_type;  // the task that the client wants to reach
  int32_t server_index = 0;
  std::string purpose;  // "member", "data" or "rpc": decides who gets the connection
  std::string detail;   // meaning depends on the purpose
  std::string job;
  bool secured = false;
  std::string nonce;

  void fields(FieldVisitor& visit) {
    visit("client", client)("server_type", server_type, kHandshakeNameBytes);
    visit("server_index", server_index)("purpose", purpose, kHandshakeNameBytes);
    visit("detail", detail, kHandshakeNameBytes)("job", job, kHandshakeNameBytes);
    visit("secured", secured)("nonce", nonce, kNonceBytes);
  }
};

struct HandshakeChallenge {  // the server's answer to Hello
  std::string nonce;
  void fields(FieldVisitor& visit) { visit("nonce", nonce, kNonceBytes); }
};

struct HandshakeProof {  // proves that the client knows the token; empty without one
  std::string proof;
  void fields(FieldVisitor& visit) { visit("proof", proof, kNonceBytes); }
};

struct HandshakeWelcome {  // proves that the server knows the token
  uint64_t incarnation = 0;
  std::string proof;
  void fields(FieldVisitor& visit) {
    visit("incarnation", incarnation)("proof", proof, kNonceBytes);
  }
};

struct HandshakeRefusal {  // has the same form in all versions of the protocol
  StatusCode code = StatusCode::Unknown;
  std::string sentence;
  void fields(FieldVisitor& visit) {
    visit("code", code, StatusCode::Unauthenticated)("sentence", sentence, kHandshakeFrameBytes);
  }
};

/// Parses a Hello; all its texts except `detail` and `nonce` must be printable. Errors
/// InvalidArgument.
absl::StatusOr<HandshakeHello> parse_hello(std::string_view payload);

/// Encodes a Refusal, and decodes the Status in one: the Status is never OK and always printable.
std::string encode_refusal(const absl::Status& status, uint16_t version = kProtocolVersion);
absl::Status parse_refusal(std::string_view payload);

/// Gives the refusal of a task that does not serve the purpose, not yet or no more. Its code is
/// NotFound, which no other refusal has.
absl::Status not_served(const std::string& sentence);
bool is_not_served(const absl::Status& refusal);
/// Whether a connection that failed with `status` may succeed later, as tasks start in any order.
bool may_come(const absl::Status& status);

/// The accepting side of one connection. Thread-compatible.
class ServerHandshake {
 public:
  /// Called when the client has proved to know the token; any Status but OK refuses the client.
  using Admit = std::function<absl::Status(const HandshakeHello&)>;

  /// `config` must outlive the handshake.
  ServerHandshake(const HandshakeConfig& config, Admit admit)
      : config_(&config), admit_(std::move(admit)) {}

  /// Call it before the first frame, with SecureLayer::binding() of the connection.
  void bind(std::string binding) { transcript_ = std::move(binding); }
  /// Takes the client's next frame and gives the bytes of the answer.
  /// Errors  the reason to refuse the client, which encode_refusal() sends.
  absl::StatusOr<std::string> on_frame(const Frame& frame);
  bool finished() const { return step_ == Step::Finished; }
  /// The client's claim about itself; it is proved when finished().
  const HandshakeHello& hello() const { return hello_; }

 private:
  enum class Step { Hello, Proof, Finished };
  absl::StatusOr<std::string> on_hello(const Frame& frame);
  absl::StatusOr<std::string> on_proof(const Frame& frame);

  const HandshakeConfig* config_;
  Admit admit_;
  Step step_ = Step::Hello;
  HandshakeHello hello_;
  std::string transcript_;  // binding, Hello and Challenge as they were sent
};

/// The connecting side of one connection. Thread-compatible.
class ClientHandshake {
 public:
  /// `hello` needs purpose, detail and the server's type and index; the rest comes from `config`,
  /// which must outlive the handshake.
  ClientHandshake(const HandshakeConfig& config, HandshakeHello hello);

  /// Call it before start(), as ServerHandshake::bind.
  void bind(std::string binding) { transcript_ = std::move(binding); }
  /// Gives the first bytes to send.
  /// Errors  Internal without random numbers.
  absl::StatusOr<std::string> start();
  /// Takes the server's next frame and gives the bytes of the answer, which may be empty.
  /// Errors  the server's refusal; Unauthenticated when the server cannot prove itself.
  absl::StatusOr<std::string> on_frame(const Frame& frame);
  bool finished() const { return step_ == Step::Finished; }
  uint64_t server_incarnation() const { return server_incarnation_; }

 private:
  enum class Step { Challenge, Welcome, Finished };
  absl::StatusOr<std::string> on_challenge(const Frame& frame);
  absl::StatusOr<std::string> on_welcome(const Frame& frame);

  const HandshakeConfig* config_;
  Step step_ = Step::Challenge;
  HandshakeHello hello_;
  std::string transcript_;
  uint64_t server_incarnation_ = 0;
};

/// Does the client's side over a socket, which it encrypts first if `config` asks for that. Returns
/// the server's incarnation.
/// Errors  as ClientHandshake::on_frame, with the server's name; Unavailable; DeadlineExceeded.
absl::StatusOr<uint64_t> handshake(Socket& socket, const HandshakeConfig& config,
                                   const HandshakeHello& hello, Deadline deadline);

}  // namespace distribute::net
