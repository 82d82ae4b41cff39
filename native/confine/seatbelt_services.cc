// Which Mach services a session needs. A name that is missing here costs a feature, a name too many may be a
// way out: each service acts on its caller's behalf, outside the caller's profile.
#include "confine/seatbelt_profile.h"

namespace spty {
namespace {

constexpr std::string_view kServices[] = {
    // Users and groups.
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.system.DirectoryService.libinfo_v1",
    "com.apple.system.DirectoryService.membership_v1",
    // The place of the user's temporary files.
    "com.apple.bsd.dirhelper",
    // Preferences; what may be read there is decided by user-preference-read, which is denied.
    "com.apple.cfprefsd.daemon",
    "com.apple.cfprefsd.agent",
    // Writing logs, and notifications of changed settings such as the time zone.
    "com.apple.logd",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
};

// Not com.apple.SecurityServer and com.apple.securityd.xpc: they hand out what is in the keychains.
constexpr std::string_view kNetworkServices[] = {
    "com.apple.SystemConfiguration.configd",
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.networkd",
    "com.apple.trustd",
    "com.apple.trustd.agent",
    "com.apple.ocspd",
};

}  // namespace

std::span<const std::string_view> SeatbeltServices() { return kServices; }
std::span<const std::string_view> SeatbeltNetworkServices() { return kNetworkServices; }

}  // namespace spty
