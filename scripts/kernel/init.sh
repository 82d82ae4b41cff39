#!/bin/busybox sh
# The first program of the virtual machine: finds the disks and goes over to the system on them.
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for name in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
  [ -e /m/$name.ko ] && insmod /m/$name.ko
done
while [ ! -b /dev/vdb ]; do sleep 0.1; done
mount -t ext4 /dev/vda /new
mount -t ext4 /dev/vdb /new/mnt
cp /system-init /new/usr/sbin/system-init
umount /dev /proc /sys
exec switch_root /new /usr/sbin/system-init
