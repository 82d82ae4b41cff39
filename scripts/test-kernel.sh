#!/usr/bin/env bash
# Runs this tree, as it is built, on another kernel, in a virtual machine with the programs of this one:
#   scripts/test-kernel.sh <folder of an unpacked kernel package> [command...]
# Debian: apt-get download linux-image-<version>-cloud-amd64; dpkg-deb -x <package> <folder> (newer ones also need
# linux-binary-<version> and linux-modules-<version> in the same folder).
# The command (default: all suites, nothing is built) runs as root in a copy of this tree at the same path; its exit status is
# this script's. Needs root, qemu-system-x86, busybox-static, e2fsprogs, cpio and rsync.
# SPTY_VM_UNPRIVILEGED=1 runs it as nobody, in a cgroup that is nobody's. SPTY_VM_KVM=1 uses /dev/kvm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
  printf 'test-kernel: %s\n' "$*" >&2
  exit 2
}

[[ $# -ge 1 && -d $1 ]] || die 'which kernel? The folder of an unpacked package'
[[ $EUID -eq 0 ]] || die 'needs root, to copy files of root into the image'
for tool in qemu-system-x86_64 mke2fs rsync cpio xz; do
  command -v "$tool" >/dev/null || die "$tool is missing. Debian: apt-get install qemu-system-x86 e2fsprogs rsync cpio xz-utils"
done
[[ -x /bin/busybox ]] || die 'busybox is missing. Debian: apt-get install busybox-static'
kernel_dir=$(realpath "$1")
shift
if [[ $# -eq 0 ]]; then
  set -- node scripts/test.mjs --no-build
fi
image=$(find "$kernel_dir" -name 'vmlinuz*' -type f | head -n 1)
modules=$(find "$kernel_dir" -path '*/lib/modules/*' -name kernel -type d | head -n 1)
[[ -n $image && -n $modules ]] || die "no vmlinuz or no modules in $kernel_dir"
modules=${modules%/kernel}
version=${modules##*/}

cache=${SPTY_VM_CACHE:-/var/tmp/spty-vm}
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/run-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# The system: this machine's programs, without what is large and not needed. Made once.
system=$cache/system.ext4
if [[ ! -e $system ]]; then
  echo 'Making the image of the system (once)...'
  mkdir "$scratch/system"
  rsync -a --one-file-system --exclude={/usr/lib/chromium,/usr/lib/google-cloud-sdk,/usr/lib/jvm,/usr/lib/go-\*} \
    --exclude={/usr/lib/llvm-\*,/usr/lib/rustlib,/usr/lib/postgresql,/usr/share/doc,/usr/share/man,/usr/share/locale} \
    --exclude={/usr/share/fpcsrc,/usr/share/go-\*,/usr/share/fonts,/usr/share/icons,/usr/local,/usr/src,/usr/lib/modules} \
    --exclude='/usr/lib/x86_64-linux-gnu/libLLVM*' --exclude=/etc/resolv.conf \
    /usr /etc /bin /sbin /lib /lib64 "$scratch/system/"
  mkdir -p "$scratch"/system/{dev,proc,sys,tmp,run,root,mnt,var/tmp,home} "$scratch/system/usr/lib/modules" "$scratch/system$PWD"
  chmod 1777 "$scratch"/system/tmp "$scratch"/system/var/tmp
  ln -s /run "$scratch/system/var/run"
  mke2fs -q -t ext4 -d "$scratch/system" "$scratch/system.ext4" 6G
  mv "$scratch/system.ext4" "$system"
  rm -rf "$scratch/system"
fi

# The tree, and the kernel's modules.
echo "Copying the tree for Linux $version..."
mkdir -p "$scratch/tree/project" "$scratch/tree/modules/lib/modules"
rsync -a --exclude=/.git --exclude=/build/check --exclude=/build/cmake --exclude=/build/asan --exclude='*.o' ./ "$scratch/tree/project/"
cp -a "$modules" "$scratch/tree/modules/lib/modules/"
depmod -b "$scratch/tree/modules" "$version"
printf '%q ' "$@" >"$scratch/tree/command"
mke2fs -q -t ext4 -d "$scratch/tree" "$scratch/tree.ext4" 4G
rm -rf "$scratch/tree/project"

# What is needed to find the disks.
mkdir -p "$scratch"/initrd/{bin,m,dev,proc,sys,new}
cp /bin/busybox "$scratch/initrd/bin/"
for name in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
  file=$(find "$modules" -name "$name.ko*" | head -n 1)
  [[ -n $file ]] || continue # built in
  case $file in
    *.xz) xz -dc "$file" >"$scratch/initrd/m/$name.ko" ;;
    *.zst) zstd -dqc "$file" >"$scratch/initrd/m/$name.ko" ;;
    *) cp "$file" "$scratch/initrd/m/$name.ko" ;;
  esac
done
sed -e "s|@PROJECT@|$PWD|g" -e "s|@USER@|${SPTY_VM_UNPRIVILEGED:+nobody}|" scripts/kernel/system-init.sh >"$scratch/initrd/system-init"
cp scripts/kernel/init.sh "$scratch/initrd/init"
chmod 755 "$scratch/initrd/init" "$scratch/initrd/system-init"
(cd "$scratch/initrd" && find . | cpio -o -H newc --quiet | gzip -1) >"$scratch/initrd.gz"

# Emulated, unless somebody knows that his own /dev/kvm can be trusted: one that runs in a virtual machine itself may hang.
accelerate=(-accel tcg,thread=multi -cpu max)
if [[ -n ${SPTY_VM_KVM:-} ]]; then
  accelerate=(-accel kvm -cpu host)
fi
qemu-system-x86_64 "${accelerate[@]}" -smp 2 -m "${SPTY_VM_MEMORY:-6G}" -nographic -no-reboot -nodefaults -serial stdio \
  -kernel "$image" -initrd "$scratch/initrd.gz" \
  -append 'console=ttyS0 quiet loglevel=3 panic=-1 random.trust_cpu=on lsm=landlock,lockdown,yama,integrity,bpf' \
  -drive "file=$system,if=virtio,format=raw,snapshot=on" -drive "file=$scratch/tree.ext4,if=virtio,format=raw,snapshot=on" \
  </dev/null | tr -d '\r' | tee "$scratch/output"
status=$(sed -n 's/^test-kernel: exit status \([0-9]*\)$/\1/p' "$scratch/output" | tail -n 1)
exit "${status:-3}"
