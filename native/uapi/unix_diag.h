// Asking the kernel about UNIX sockets over netlink (NETLINK_SOCK_DIAG), pinned as in <linux/netlink.h>,
// <linux/sock_diag.h> and <linux/unix_diag.h>, which the keeper's C library does not bring.
#pragma once

#include <stdint.h>

namespace spty::uapi {

inline constexpr int kNetlinkSockDiag = 4;
inline constexpr uint16_t kSockDiagByFamily = 20;

struct NetlinkAddress {
  uint16_t family;
  uint16_t pad;
  uint32_t pid;  // 0: the kernel
  uint32_t groups;
};
static_assert(sizeof(NetlinkAddress) == 12);

struct NetlinkHeader {
  uint32_t length;  // with this header
  uint16_t type;
  uint16_t flags;
  uint32_t sequence;
  uint32_t pid;
};
static_assert(sizeof(NetlinkHeader) == 16);

inline constexpr uint16_t kNetlinkRequest = 0x1;
inline constexpr uint16_t kNetlinkDump = 0x300;  // NLM_F_ROOT | NLM_F_MATCH
inline constexpr uint16_t kNetlinkError = 2;
inline constexpr uint16_t kNetlinkDone = 3;

struct NetlinkAttribute {
  uint16_t length;  // with this header, without padding
  uint16_t type;
};
static_assert(sizeof(NetlinkAttribute) == 4);

inline constexpr uint32_t NetlinkAlign(uint32_t length) { return (length + 3) & ~3U; }

struct UnixDiagRequest {
  uint8_t family;
  uint8_t protocol;
  uint16_t pad;
  uint32_t states;
  uint32_t inode;
  uint32_t show;
  uint32_t cookie[2];
};
static_assert(sizeof(UnixDiagRequest) == 24);

inline constexpr uint32_t kUnixDiagListening = 1U << 10;  // TCP_LISTEN
inline constexpr uint32_t kUnixDiagShowName = 1;
inline constexpr uint32_t kUnixDiagShowVfs = 2;

struct UnixDiagMessage {
  uint8_t family;
  uint8_t type;
  uint8_t state;
  uint8_t pad;
  uint32_t inode;
  uint32_t cookie[2];
};
static_assert(sizeof(UnixDiagMessage) == 16);

inline constexpr uint16_t kUnixDiagName = 0;
inline constexpr uint16_t kUnixDiagVfs = 1;

struct UnixDiagVfs {
  uint32_t inode;   // the lower half, if it has more than 32 bits
  uint32_t device;  // of the superblock: major << 20 | minor
};
static_assert(sizeof(UnixDiagVfs) == 8);

}  // namespace spty::uapi
