#!/bin/bash
# The first program of the system in the virtual machine: what any distribution sets up, then the command.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=755 run /run
mount -t cgroup2 -o nsdelegate cgroup /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
mount --bind /mnt/modules/lib/modules /usr/lib/modules
mount --bind /mnt/project @PROJECT@
ip link set lo up
hostname vm
for name in unix_diag vsock vsock_loopback fuse; do modprobe -q $name; done
echo '+cpu +memory +pids' >/sys/fs/cgroup/cgroup.subtree_control
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb
cd @PROJECT@ || poweroff -f
uname -r
as=()
if [[ -n '@USER@' ]]; then
  # As a login manager does for a user: a subtree of the hierarchy, with the controllers, and a home.
  slice=/sys/fs/cgroup/user
  mkdir -p $slice/session /home/user
  echo '+cpu +memory +pids' >$slice/cgroup.subtree_control
  chown nobody $slice $slice/cgroup.procs $slice/cgroup.subtree_control $slice/cgroup.threads $slice/session $slice/session/*
  chown -R nobody /home/user @PROJECT@
  export HOME=/home/user
  as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  echo $$ >$slice/session/cgroup.procs
else
  mkdir /sys/fs/cgroup/session
  echo $$ >/sys/fs/cgroup/session/cgroup.procs
fi
"${as[@]}" setsid -w bash -c "$(cat /mnt/command)" </dev/null
status=$?
echo "test-kernel: exit status $status"
sync
echo o >/proc/sysrq-trigger
sleep 60
