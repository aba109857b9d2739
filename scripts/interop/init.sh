#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# PID 1 of the interop guest. Brings eth0 (RoCE) and eth1 (qemu's user-mode network, for the tools' TCP) up, then runs commands that come
# over a virtio-serial port, any number at once:
#   in    NUMBER COMMAND...\n
#   out   END NUMBER STATUS BYTES\n, then that many bytes of output
# and READY\n once, at the start.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
while read -r module; do
    insmod "/lib/modules/$module" || echo "insmod $module failed"
done </lib/modules/order
# No IPv6 address on the RoCE wire: no chatter, and the table of GIDs is the same each time. A link-local address that comes up while rxe0
# is being made may stand at index 1, where the tools look for the IPv4 one.
echo 1 >/proc/sys/net/ipv6/conf/eth0/addr_gen_mode
ip link set lo up
ip link set eth0 mtu 4500
ip addr add 10.0.0.1/24 dev eth0
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth1
ip link set eth1 up
ulimit -l unlimited

run() {
    (eval "$2") </dev/null >"/tmp/out.$1" 2>&1
    status=$?
    until mkdir /tmp/lock 2>/dev/null; do sleep 0.01; done
    echo "END $1 $status $(wc -c <"/tmp/out.$1")" >&3
    cat "/tmp/out.$1" >&3
    rmdir /tmp/lock
    rm -f "/tmp/out.$1"
}

exec 3<>/dev/vport0p1
# Waits until somebody is at the other end.
echo READY >&3
while :; do
    # read returns at once while nobody is at the other end.
    while read -r number command <&3; do
        run "$number" "$command" &
    done
    sleep 0.1
done
