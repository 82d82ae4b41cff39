// Ways to the network.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/attempt.h"
#include "probes/ring_linux.h"

namespace {

using namespace attempt;

constexpr int kMptcp = 262;

union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

Address Loopback(int family, const std::string& port) {
  Address address{};
  const auto number = htons(static_cast<uint16_t>(atoi(port.c_str())));
  if (family == AF_INET) {
    address.four.sin_family = AF_INET;
    address.four.sin_port = number;
    address.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    address.six.sin6_family = AF_INET6;
    address.six.sin6_port = number;
    address.six.sin6_addr = in6addr_loopback;
  }
  return address;
}

socklen_t SizeOf(const Address& address) {
  return address.any.sa_family == AF_INET ? sizeof address.four : sizeof address.six;
}

// An address of the other family, in the clothes of this one.
Address Mapped(const std::string& port) {
  Address address = Loopback(AF_INET6, port);
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.six.sin6_addr);
  return address;
}

int ConnectTo(const Address& to, int protocol) {
  if (to.six.sin6_port == 0) return Absent("needs IPv6");  // at the same place in sockaddr_in
  const int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
  if (fd == -1) return Refused();
  return connect(fd, &to.any, SizeOf(to)) == -1 ? Refused() : Ok();
}
int ConnectWith(int family, int protocol, const std::string& port) {
  return ConnectTo(Loopback(family, port), protocol);
}

int Tcp(const Arguments& a) { return ConnectWith(AF_INET, 0, a[0]); }
int Tcp6(const Arguments& a) { return ConnectWith(AF_INET6, 0, a[0]); }
int Mptcp(const Arguments& a) { return ConnectWith(AF_INET, kMptcp, a[0]); }

int TcpMapped(const Arguments& a) { return ConnectTo(Mapped(a[0]), 0); }

int SendDatagram(const Address& to) {
  if (to.six.sin6_port == 0) return Absent("needs IPv6");
  const int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  return sendto(fd, "x", 1, 0, &to.any, SizeOf(to)) == 1 ? Ok() : Refused();
}
int Udp(const Arguments& a) { return SendDatagram(Loopback(AF_INET, a[0])); }
int Udp6(const Arguments& a) { return SendDatagram(Loopback(AF_INET6, a[0])); }
int UdpMapped(const Arguments& a) { return SendDatagram(Mapped(a[0])); }

// A connect inside a send.
int FastOpen(const Arguments& a) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  Address to = Loopback(AF_INET, a[1]);
  iovec part{const_cast<char*>("x"), 1};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = SizeOf(to);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  mmsghdr several{message, 0};
  ssize_t sent = -1;
  if (a[0] == "sendto") sent = sendto(fd, "x", 1, MSG_FASTOPEN, &to.any, SizeOf(to));
  if (a[0] == "sendmsg") sent = sendmsg(fd, &message, MSG_FASTOPEN);
  if (a[0] == "sendmmsg") sent = sendmmsg(fd, &several, 1, MSG_FASTOPEN);
  return sent == 1 ? Ok() : Refused();
}

int RingTcp(const Arguments& a) {
  Ring ring;
  if (const int err = ring.Open(); err != 0) return Refused(err);
  RingRequest request{};
  request.opcode = kRingSocket;
  request.fd = AF_INET;
  request.offset = SOCK_STREAM;
  const int fd = ring.Do(request);
  if (fd < 0) return fd == -EINVAL ? Absent("needs sockets by io_uring (Linux 5.19)") : Refused(-fd);
  const Address to = Loopback(AF_INET, a[0]);
  request = {};
  request.opcode = kRingConnect;
  request.fd = fd;
  request.address = reinterpret_cast<uint64_t>(&to);
  request.offset = SizeOf(to);
  const int result = ring.Do(request);
  return result < 0 ? Refused(-result) : Ok();
}

int Check(int fd) { return fd == -1 ? Refused() : Ok(); }
int Raw(const Arguments&) { return Check(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP)); }
int Raw6(const Arguments&) { return Check(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6)); }
int Packet(const Arguments&) { return Check(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))); }
int OldPacket(const Arguments&) {
  return Check(socket(AF_INET, SOCK_PACKET | SOCK_CLOEXEC, htons(ETH_P_ALL)));
}

int Vsock(const Arguments&) {
  const int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  sockaddr_vm name{};
  name.svm_family = AF_VSOCK;
  name.svm_cid = VMADDR_CID_ANY;
  name.svm_port = VMADDR_PORT_ANY;
  return bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == -1 ? Refused() : Ok();
}

int Netlink(const Arguments& a) {
  return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, atoi(a[0].c_str())) == -1 ? Refused() : Ok();
}

// Adds an address of the loopback network to the loopback device, and takes it away again.
int ChangeAddress(int fd, uint16_t type) {
  struct {
    nlmsghdr header;
    ifaddrmsg address;
    rtattr attribute;
    in_addr value;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.address.ifa_family = AF_INET;
  request.address.ifa_prefixlen = 32;
  request.address.ifa_index = 1;  // of every network; to ask for the name takes a socket
  request.attribute.rta_type = IFA_LOCAL;
  request.attribute.rta_len = RTA_LENGTH(sizeof request.value);
  request.value.s_addr = htonl(0x7f4d4d00U + static_cast<uint32_t>(getpid() % 250));
  if (send(fd, &request, sizeof request, 0) == -1) return errno;
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[256];
  } answer{};
  if (recv(fd, &answer, sizeof answer, 0) == -1) return errno;
  return -answer.error.error;
}
int AddAddress(const Arguments&) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd == -1) return Broken("NETLINK_ROUTE");
  const int err = ChangeAddress(fd, RTM_NEWADDR);
  if (err != 0) return Refused(err);
  return ChangeAddress(fd, RTM_DELADDR) == 0 ? Ok() : Broken("RTM_DELADDR");
}

constexpr Command kCommands[] = {
    {"tcp", 1, Tcp},
    {"tcp6", 1, Tcp6},
    {"tcp-mapped", 1, TcpMapped},
    {"mptcp", 1, Mptcp},
    {"udp", 1, Udp},
    {"udp6", 1, Udp6},
    {"udp-mapped", 1, UdpMapped},
    {"fast-open", 2, FastOpen},
    {"ring", 1, RingTcp},
    {"raw", 0, Raw},
    {"raw6", 0, Raw6},
    {"packet", 0, Packet},
    {"vsock", 0, Vsock},
    {"old-packet", 0, OldPacket},
    {"netlink", 1, Netlink},
    {"address", 0, AddAddress},
};

}  // namespace

int main(int argc, char** argv) { return attempt::Main(argc, argv, kCommands); }
