#include "pty/pty_pair.h"

#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>

namespace spty {
namespace {

constexpr cc_t Control(char letter) { return static_cast<cc_t>(letter & 0x1f); }

// node-pty's line settings, bit for bit: programs that reset a terminal compare against what they found.
termios LineSettings(bool utf8) {
  termios line{};
  line.c_iflag = ICRNL | IXON | IXANY | IMAXBEL | BRKINT;
  if (utf8) line.c_iflag |= IUTF8;
  line.c_oflag = OPOST | ONLCR;
  line.c_cflag = CREAD | CS8 | HUPCL;
  line.c_lflag = ICANON | ISIG | IEXTEN | ECHO | ECHOE | ECHOK | ECHOKE | ECHOCTL;
  line.c_cc[VEOF] = Control('D');
  line.c_cc[VEOL] = 0xff;
  line.c_cc[VEOL2] = 0xff;
  line.c_cc[VERASE] = 0x7f;
  line.c_cc[VWERASE] = Control('W');
  line.c_cc[VKILL] = Control('U');
  line.c_cc[VREPRINT] = Control('R');
  line.c_cc[VINTR] = Control('C');
  line.c_cc[VQUIT] = 0x1c;
  line.c_cc[VSUSP] = Control('Z');
  line.c_cc[VSTART] = Control('Q');
  line.c_cc[VSTOP] = Control('S');
  line.c_cc[VLNEXT] = Control('V');
  line.c_cc[VDISCARD] = Control('O');
  line.c_cc[VMIN] = 1;
  line.c_cc[VTIME] = 0;
  cfsetispeed(&line, B38400);
  cfsetospeed(&line, B38400);
  return line;
}

}  // namespace

Result<PtyPair> OpenPtyPair(const WindowSize& size, bool utf8) {
  TRY_ASSIGN(PtyPair pair, OpenRawPtyPair());
  termios line = LineSettings(utf8);
  if (tcsetattr(pair.slave.get(), TCSANOW, &line) == -1) return Error{Stage::kPty, errno, "tcsetattr"};
  auto sized = SetWindowSize(pair.slave.get(), size);
  if (!sized.ok()) return Error{Stage::kPty, sized.error().err, sized.error().subject};
  return pair;
}

Result<void> SetWindowSize(int fd, const WindowSize& size) {
  winsize kernel_size{size.rows, size.cols, size.x_pixels, size.y_pixels};
  if (ioctl(fd, TIOCSWINSZ, &kernel_size) == -1) return Error{Stage::kResize, errno, "TIOCSWINSZ"};
  return {};
}

}  // namespace spty
