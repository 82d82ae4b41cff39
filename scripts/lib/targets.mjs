// The platforms that the package carries binaries for, and where they are built. `name` is the folder in prebuilds/, which
// the loader looks for.
import {join} from 'node:path';
import {root} from './process.mjs';

const linux = (arch, machine) => [
  // The oldest glibc that a supported Node.js runs on: 2.28, as in Debian 10 and RHEL 8.
  {name: `linux-${arch}`, system: 'Linux', machine, zig: `${machine}-linux-gnu.2.28`, keeperFrom: `linux-${arch}-musl`},
  {name: `linux-${arch}-musl`, system: 'Linux', machine, zig: `${machine}-linux-musl`},
];
const darwin = (arch, machine) => ({name: `darwin-${arch}`, system: 'Darwin', machine, zig: `${machine}-macos.11.0`});

/**
 * The keeper of a glibc target is that of the musl one: it is a static program, and starts in a fifth of the time that
 * a static glibc takes.
 */
export const targets = [
  ...linux('x64', 'x86_64'), ...linux('arm64', 'aarch64'), darwin('x64', 'x86_64'), darwin('arm64', 'aarch64'),
];

/** Checked only, not shipped: without optimizing it takes half the time. */
export const optimization = (warnings) => (warnings ? '-O0 -DNDEBUG' : '-O2 -DNDEBUG');

/** Where is compiled, and where the result goes. What is not for use never comes near what is. */
export function prebuildPlace(warnings) {
  const work = join(root, 'build', warnings ? 'prebuild-warnings' : 'prebuild');
  return {work, destination: warnings ? join(work, 'prebuilds') : join(root, 'prebuilds')};
}
