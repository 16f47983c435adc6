// SPDX-License-Identifier: Apache-2.0
#include "cli/common.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/utf8.h"

namespace rlx::cli {
namespace {

std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
  if (interrupt_flag.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

DType parse_kv(const std::string& name) {
  for (const DType d : {DType::F16, DType::F32, DType::Q8_0}) {
    if (dtype_name(d) == name) return d;
  }
  fail(ErrorCode::InvalidArgument, "--kv {}: the cache is kept as f16, f32 or q8_0", name);
}

}  // namespace

void EngineFlags::add_to(CLI::App& command) {
  command.add_option("MODEL", model, "a GGUF file (any shard of a set) or a safetensors folder")
      ->required();
  CLI::Option* options[] = {
      command
          .add_option("--ctx", context,
                      "tokens of prompt and answer together (default: the model's, at most 4096)")
          ->check(CLI::Range(int64_t{1}, INT64_MAX)),
      command.add_option("-t,--threads", threads, "worker threads (default: one per usable core)")
          ->check(CLI::Range(1, 256)),
      command.add_option("--kv", kv, "storage of the KV cache: f16, f32 or q8_0")
          ->check(CLI::IsMember({"f16", "f32", "q8_0"}))
          ->capture_default_str(),
      command
          .add_option("--isa", isa,
                      "kernels to use: v2, v3, v4 or v4_vnni (default: the best this machine has)")
          ->check(CLI::IsMember({"v2", "v3", "v4", "v4_vnni"})),
  };
  for (CLI::Option* o : options) o->group("Engine");
}

EngineOptions EngineFlags::options() const {
  EngineOptions o;
  o.context = context;
  o.threads = threads;
  o.isa = isa;
  o.kv = parse_kv(kv);
  return o;
}

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: a blocked read returns
}

void forget_interrupt() { interrupt_flag = false; }

bool wait_for_input(int fd) {
  // Blocked between the look at the flag and the wait, so that no Ctrl-C falls in between.
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  struct pollfd wanted {
    fd, POLLIN, 0
  };
  while (!interrupted() && ::ppoll(&wanted, 1, nullptr, &before) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !interrupted();
}

void write_stderr(std::string_view text) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stderr) != text.size()) std::clearerr(stderr);
}

void write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail(ErrorCode::Io, "cannot write to standard output: {}", std::strerror(errno));
  }
}

namespace {

/// Everything up to the end of an open file.
std::string read_all(int fd, const std::string& name, size_t most) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    if (!wait_for_input(fd)) fail(ErrorCode::Cancelled, "interrupted while reading {}", name);
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) return text;
    if (n < 0) fail(ErrorCode::Io, "cannot read {}: {}", name, std::strerror(errno));
    if (text.size() + static_cast<size_t>(n) > most) {
      fail(ErrorCode::LimitExceeded, "{} has more than the {} bytes that are read", name, most);
    }
    text.append(buffer, static_cast<size_t>(n));
  }
}

/// A pipe, terminal or other device: something to read that has no size.
bool is_stream(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  return S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode) || S_ISSOCK(info.st_mode);
}

}  // namespace

std::string read_input(const std::string& path, size_t most) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", most);
  if (!is_stream(path)) return read_text_file(path, most);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail(ErrorCode::Io, "cannot open '{}': {}", path, std::strerror(errno));
  return read_all(::fileno(file.get()), fmt::format("'{}'", path), most);
}

void require_utf8(std::string_view what, std::string_view text) {
  const size_t at = find_invalid_utf8(text);
  if (at == std::string_view::npos) return;
  fail(ErrorCode::InvalidArgument, "{} is not valid UTF-8: byte 0x{:02x} at offset {} of {}", what,
       static_cast<unsigned char>(text[at]), at, text.size());
}

std::vector<uint32_t> read_ids(const std::string& path) {
  const auto flat = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json&) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > 0 && (event == Event::array_start || event == Event::object_start)) {
      fail(ErrorCode::InvalidArgument, "'{}' must be a flat JSON array of token ids", path);
    }
    return true;
  };
  const auto json = nlohmann::json::parse(read_input(path, most_json_bytes), flat, false);
  if (!json.is_array()) {
    fail(ErrorCode::InvalidFile, "'{}' must be a JSON array of token ids", path);
  }
  std::vector<uint32_t> ids;
  for (const auto& entry : json) {
    const bool whole = entry.is_number_unsigned() && entry.get<uint64_t>() <= UINT32_MAX;
    if (!whole) {
      fail(ErrorCode::InvalidArgument, "'{}', entry {}: {} is no token id (0 to {})", path,
           ids.size(), entry.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
           UINT32_MAX);
    }
    ids.push_back(entry.get<uint32_t>());
  }
  return ids;
}

int64_t peak_rss_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), visible_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (visible_) write_stderr("\r\x1b[K");
}

void ProgressBar::update(int64_t done, int64_t total) {
  if (!visible_ || total <= 0) return;
  const int64_t filled = done * 30 / total;
  write_stderr(
      fmt::format("\r{} [{:#<{}}{:.<{}}] {}/{}", label_, "", filled, "", 30 - filled, done, total));
}

}  // namespace rlx::cli
