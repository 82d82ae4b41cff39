// The network: none of it without allow_network, and with it nothing that passes by what decides about it.
#include <gtest/gtest.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr char kNet[] = "escape_network";
constexpr char kAllow[] = R"("allow_network": true)";

const Attempt kNone[] = {
    {"Tcp", {kNet, "tcp", "{tcp}"}, EACCES, kAllow},
    {"Tcp6", {kNet, "tcp6", "{tcp6}"}, EACCES, kAllow},
    {"TcpMapped", {kNet, "tcp-mapped", "{tcp}"}, EACCES, kAllow},
    {"Udp", {kNet, "udp", "{udp}"}, EACCES, kAllow},
    {"Udp6", {kNet, "udp6", "{udp6}"}, EACCES, kAllow},
    {"UdpMapped", {kNet, "udp-mapped", "{udp}"}, EACCES, kAllow},
    {"Mptcp", {kNet, "mptcp", "{tcp}"}, EACCES, kNever},
    {"FastOpen", {kNet, "fast-open", "sendto", "{tcp}"}, EACCES, kNever},
    ForRoot({"Raw", {kNet, "raw"}, EACCES, kNever}),
    ForRoot({"Raw6", {kNet, "raw6"}, EACCES, kNever}),
    ForRoot({"Packet", {kNet, "packet"}, EPERM, kNever}),
    ForRoot({"OldPacket", {kNet, "old-packet"}, EACCES, kNever}),
    {"Vsock", {kNet, "vsock"}, EAFNOSUPPORT, kNever},
    {"Ring", {kNet, "ring", "{tcp}"}, ENOSYS, kNever},
    ForRoot({"ChangeOfAddress", {kNet, "address"}, EPERM, kNever}),
    {"NetlinkDiagnostics", {kNet, "netlink", "4"}, EPROTONOSUPPORT, kNever},
    {"NetlinkEvents", {kNet, "netlink", "15"}, EPROTONOSUPPORT, kNever},
    {"NetlinkGeneric", {kNet, "netlink", "16"}, EPROTONOSUPPORT, kNever},
    {"Daemon", {kNet, "daemon", "tcp", "{tcp}"}, EACCES, kAllow},
    {"Thread", {kNet, "thread", "tcp", "{tcp}"}, EACCES, kAllow},
    {"SecondExec", {kNet, "again", "tcp", "{tcp}"}, EACCES, kAllow},
    {"UserNamespace", {kNet, "userns", "tcp", "{tcp}"}, EACCES, kAllow},
    // In a network of its own anybody may have these.
    {"RawInNamespace", {kNet, "netns", "raw"}, EACCES, kNever},
    {"Raw6InNamespace", {kNet, "netns", "raw6"}, EACCES, kNever},
    {"PacketInNamespace", {kNet, "netns", "packet"}, EPERM, kNever},
    {"OldPacketInNamespace", {kNet, "netns", "old-packet"}, EACCES, kNever},
};

const Attempt kAll[] = {
    {"Mptcp", {kNet, "mptcp", "{tcp}"}, EPROTONOSUPPORT, kNever, kOnline},
    {"FastOpenSendto", {kNet, "fast-open", "sendto", "{tcp}"}, EOPNOTSUPP, kNever, kOnline},
    {"FastOpenSendmsg", {kNet, "fast-open", "sendmsg", "{tcp}"}, EOPNOTSUPP, kNever, kOnline},
    {"FastOpenSendmmsg", {kNet, "fast-open", "sendmmsg", "{tcp}"}, EOPNOTSUPP, kNever, kOnline},
    ForRoot({"Raw", {kNet, "raw"}, EPERM, kNever, kOnline}),
    ForRoot({"Raw6", {kNet, "raw6"}, EPERM, kNever, kOnline}),
    ForRoot({"Packet", {kNet, "packet"}, EPERM, kNever, kOnline}),
    ForRoot({"OldPacket", {kNet, "old-packet"}, EPERM, kNever, kOnline}),
    {"Vsock", {kNet, "vsock"}, EAFNOSUPPORT, kNever, kOnline},
    {"Ring", {kNet, "ring", "{tcp}"}, ENOSYS, kNever, kOnline},
    ForRoot({"ChangeOfAddress", {kNet, "address"}, EPERM, kNever, kOnline}),
    // A network of its own is its own to change: nobody else is in it, and it leads nowhere.
    {"ChangeOfAddressInNamespace", {kNet, "netns", "address"}, 0, kNotPromised, kOnline},
    {"RawInNamespace", {kNet, "netns", "raw"}, EPERM, kNever, kOnline},
    {"Raw6InNamespace", {kNet, "netns", "raw6"}, EPERM, kNever, kOnline},
    {"PacketInNamespace", {kNet, "netns", "packet"}, EPERM, kNever, kOnline},
    {"OldPacketInNamespace", {kNet, "netns", "old-packet"}, EPERM, kNever, kOnline},
};

class NetworkEscape : public Escape {};
TEST_P(NetworkEscape, IsRefused) { Try(GetParam()); }
INSTANTIATE_TEST_SUITE_P(None, NetworkEscape, ::testing::ValuesIn(kNone), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(All, NetworkEscape, ::testing::ValuesIn(kAll), NameOfAttempt);

}  // namespace
}  // namespace spty
