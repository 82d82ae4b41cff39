#include "escape/world.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <sstream>

namespace spty {
namespace {

void Replace(std::string& text, const std::string& name, const std::string& value) {
  const std::string mark = "{" + name + "}";
  for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), value);
}

Fd Bound(int family, int type) {
  Fd fd(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_four = family == AF_INET;
  const auto* name = is_four ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six);
  const socklen_t size = is_four ? sizeof four : sizeof six;
  if (!fd.valid() || bind(fd.get(), name, size) == -1) return Fd();
  if (type == SOCK_STREAM && listen(fd.get(), 16) == -1) return Fd();
  return fd;
}

std::string PortOf(const Fd& fd) {
  if (!fd.valid()) return "0";
  sockaddr_in6 name{};
  socklen_t size = sizeof name;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) == -1) return "0";
  return std::to_string(ntohs(name.sin6_port));  // at the same place in sockaddr_in
}

std::string ReadAll(int fd) {
  std::string text;
  char bytes[512];
  for (ssize_t size; (size = read(fd, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<size_t>(size));
  return text;
}

std::string ReadLine(int fd) {
  std::string line;
  char byte;
  while (read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

// The cgroup v2 directory of this process, or "".
std::string OwnCgroup() {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string mount;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    for (size_t i = 5; i + 1 < all.size(); ++i) {
      if (all[i] == "-" && all[i + 1] == "cgroup2") mount = all[4];
    }
  }
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!mount.empty() && line.starts_with("0::")) return mount + line.substr(3);
  }
  return "";
}

}  // namespace

World::World() {
  static std::atomic<int> count{0};
  abstract_ = "spty-escape-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  MakeFiles();
  MakeServers();
  MakeTerminal();
  MakeCgroup();
  StartOutsider();
}

World::~World() {
  CountVisits();
  // The kernel makes a message queue before Landlock is asked whether it may be opened.
  syscall(SYS_mq_unlink, abstract_.c_str());
  unlink(("/dev/shm/" + abstract_).c_str());
  if (!cgroup_.empty()) {
    rmdir((cgroup_ + "/made").c_str());
    rmdir(cgroup_.c_str());
  }
}

void World::MakeFiles() {
  // Another user's session may be asked to look for it too.
  chmod(scratch_.Path("").c_str(), 0755);
  scratch_.File("home/me/private/secret", kSecret);
  scratch_.Dir("home/me/private/empty");
  const std::string program = scratch_.File("home/me/private/program", "#!/bin/sh\nexit 0\n");
  chmod(program.c_str(), 0755);
  const std::string fifo = scratch_.Home("private/fifo");
  EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  fifo_ = Fd(open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  scratch_.File("home/me/project/own", "own");
  scratch_.Link("home/me/project/to-secret", private_dir() + "/secret");
  scratch_.Link("home/me/project/to-private", private_dir());
  scratch_.Link("home/me/project/upwards", "../private/secret");
  scratch_.Dir("shared/user");
  std::ofstream("/dev/shm/" + abstract_) << kSecret;
}

void World::MakeServers() {
  tcp_ = Bound(AF_INET, SOCK_STREAM);
  tcp6_ = Bound(AF_INET6, SOCK_STREAM);
  udp_ = Bound(AF_INET, SOCK_DGRAM);
  udp6_ = Bound(AF_INET6, SOCK_DGRAM);
}

// Somebody else's terminal.
void World::MakeTerminal() {
  master_ = Fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64] = {};
  if (master_.valid() && grantpt(master_.get()) == 0 && unlockpt(master_.get()) == 0 &&
      ptsname_r(master_.get(), name, sizeof name) == 0) {
    pts_ = name;
  }
}

void World::MakeCgroup() {
  const std::string own = OwnCgroup();
  if (own.empty()) return;
  const std::string wanted = own + (own.ends_with('/') ? "" : "/") + abstract_;
  if (mkdir(wanted.c_str(), 0755) == 0) cgroup_ = wanted;
}

void World::StartOutsider() {
  int in[2];
  int out[2];
  ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  Fd their_in(in[0]);
  to_outsider_ = Fd(in[1]);
  from_outsider_ = Fd(out[0]);
  Fd their_out(out[1]);
  std::vector<std::string> arguments = {std::string(SPTY_PROBE_DIR) + "/escape_outsider_linux",
                                        private_dir(),
                                        private_dir() + "/secret",
                                        "stream:" + private_dir() + "/stream",
                                        "stream:" + shared_dir() + "/stream",
                                        "stream:" + shared_dir() + "/user/bus",
                                        "seqpacket:" + shared_dir() + "/seqpacket",
                                        "dgram:" + shared_dir() + "/dgram",
                                        "stream:@" + abstract_,
                                        "seqpacket:@" + abstract_ + "-seqpacket",
                                        "dgram:@" + abstract_ + "-dgram"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::string variable = std::string("SPTY_OUTSIDER=") + kSecret;
  std::string path = "PATH=/usr/bin:/bin";
  char* env[] = {variable.data(), path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, their_in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
  EXPECT_EQ(posix_spawn(&outsider_, argv[0], &actions, nullptr, argv.data(), env), 0);
  posix_spawn_file_actions_destroy(&actions);
  their_out.Reset();
  their_in.Reset();
  std::istringstream ready(ReadLine(from_outsider_.get()));
  std::string word;
  ready >> word >> address_ >> memory_;
  EXPECT_EQ(word, "ready") << "the outsider does not start";
}

std::string World::Fill(std::string text) const {
  const std::map<std::string, std::string> values = {{"project", scratch_.project()},
                                                     {"private", private_dir()},
                                                     {"shared", shared_dir()},
                                                     {"root", scratch_.Path("")},
                                                     {"probes", SPTY_PROBE_DIR},
                                                     {"outsider", std::to_string(outsider_)},
                                                     {"host", std::to_string(getpid())},
                                                     {"address", address_},
                                                     {"memory", memory_},
                                                     {"pts", pts_},
                                                     {"tcp", PortOf(tcp_)},
                                                     {"tcp6", PortOf(tcp6_)},
                                                     {"udp", PortOf(udp_)},
                                                     {"udp6", PortOf(udp6_)},
                                                     {"abstract", abstract_},
                                                     {"cgroup", cgroup_}};
  for (const auto& [name, value] : values) Replace(text, name, value);
  return text;
}

std::string World::Picture() const {
  std::map<std::string, std::string> entries;
  for (const std::string& place : {private_dir(), shared_dir()}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      std::string& text = entries[entry.path()];
      text = std::to_string(static_cast<int>(entry.symlink_status().type()));
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      text += ": " + std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  std::string picture;
  for (const auto& [name, text] : entries) picture += name + " " + text + "\n";
  return picture;
}

int World::CountConnections() const {
  int count = 0;
  for (const Fd* server : {&tcp_, &tcp6_}) {
    while (server->valid() && Fd(accept4(server->get(), nullptr, nullptr, SOCK_CLOEXEC)).valid()) ++count;
  }
  char bytes[64];
  for (const Fd* server : {&udp_, &udp6_}) {
    while (server->valid() && recv(server->get(), bytes, sizeof bytes, MSG_DONTWAIT) >= 0) ++count;
  }
  return count;
}

const World::Visits& World::CountVisits() {
  if (counted_) return visits_;
  counted_ = true;
  visits_.connections = CountConnections();
  if (outsider_ <= 0) return visits_;
  to_outsider_.Reset();
  std::istringstream report(ReadAll(from_outsider_.get()));
  std::string word;
  std::string condition;
  report >> word >> visits_.visitors >> word >> visits_.signals >> word >> condition;
  visits_.changed = condition != "same";
  int status = -1;
  visits_.alive = waitpid(outsider_, &status, 0) == outsider_ && status == 0 && !condition.empty();
  outsider_ = -1;
  return visits_;
}

}  // namespace spty
