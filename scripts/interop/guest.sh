#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the guest of `make interop`: a Linux kernel with Soft-RoCE and an initramfs with the stock RDMA tools, from Debian packages that
# are unpacked, not installed. Usage: guest.sh FOLDER [KERNEL_PACKAGE]
# Leaves FOLDER/vmlinux (uncompressed: qemu starts it by PVH), FOLDER/initramfs.gz and FOLDER/stamp, which changes with either.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: guest.sh FOLDER [KERNEL_PACKAGE]}
mkdir -p "$out/packages"
out=$(cd "$out" && pwd)
PATH=$PATH:/usr/sbin:/sbin

# The cloud flavours have no rdma_rxe, the full one has.
newest() { apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/ { print $2; exit }'; }
kernel=${2:-$(newest)}
if [ -z "$kernel" ]; then
    # Fresh containers have no package lists.
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    kernel=$(newest)
fi
[ -n "$kernel" ] || { echo "guest.sh: apt knows no linux-image-amd64: run apt-get update, or name a kernel package" >&2; exit 2; }
tools="rdma-core ibverbs-providers ibverbs-utils perftest librdmacm1 libibverbs1 libibverbs-dev rdmacm-utils iproute2 libibumad3
    libnl-3-200 libnl-route-3-200 libpci3 libelf1 libbpf1 libmnl0 libcap2 libtirpc3 libxtables12 libbsd0 libmd0 busybox-static libgcc-s1"
programs="ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_send_bw
    ib_send_lat ib_atomic_bw ib_atomic_lat rping ucmatose udaddy rdma ip"
modules="virtio_pci virtio_net virtio_console crc32_generic crc32_pclmul crc32c_generic ib_uverbs rdma_ucm ib_umad rdma_rxe"

stamp=$(cat "$here/guest.sh" "$here/init.sh" "$here/roce.sh" "$here/probe.c" | sha256sum | cut -c1-16)-$kernel
if [ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ]; then
    exit 0
fi
rm -f "$out/stamp" "$out"/*.state

missing=""
for package in $kernel $tools; do
    compgen -G "$out/packages/${package}_*.deb" >/dev/null || missing+=" $package"
done
if [ -n "$missing" ]; then
    echo "guest.sh: downloading$missing"
    # shellcheck disable=SC2086
    (cd "$out/packages" && apt-get -qq download $missing)
fi

root=$out/root tree=$out/tree boot=$out/kernel
rm -rf "$root" "$tree" "$boot"
mkdir -p "$tree" "$boot"
for package in $tools; do
    dpkg -x "$out/packages/${package}"_*.deb "$tree"
done
dpkg -x "$out/packages/${kernel}"_*.deb "$boot"
version=$(ls "$boot/lib/modules")
depmod -b "$boot" "$version"

# The kernel in its bzImage: payload offset and length stand in the boot header (protocol 2.08), the last 4 bytes are its length again.
image=$boot/boot/vmlinuz-$version
number() { od -An -t"u$2" -j "$1" -N "$2" "$image" | tr -d ' '; }
start=$((($(number 497 1) + 1) * 512 + $(number 584 4)))
payload() { tail -c "+$((start + 1))" "$image" | head -c "$(($(number 588 4) - $1))"; }
case "$(payload 4 | head -c 4 | od -An -tx1 | tr -d ' \n')" in
    fd377a58) payload 4 | xz -dc --single-stream 2>/dev/null ;;
    28b52ffd) payload 4 | zstd -dcq ;;
    1f8b*) payload 4 | gzip -dc ;;
    *) echo "guest.sh: $image is compressed in a way that this script doesn't know" >&2; exit 1 ;;
esac >"$out/vmlinux" || true
[ "$(head -c 4 "$out/vmlinux" | tr -d '\177')" = ELF ] || { echo "guest.sh: no ELF kernel came out of $image" >&2; exit 1; }

lib=usr/lib/x86_64-linux-gnu
search=$tree/$lib:$tree/lib/x86_64-linux-gnu
mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc/libibverbs.d,lib/modules,lib64,$lib/libibverbs}
ln -s "../$lib" "$root/lib/x86_64-linux-gnu"

# A program and the shared objects that it needs: from the packages, else from this machine.
add() {
    cp "$1" "$root/bin/"
    LD_LIBRARY_PATH=$search ldd "$1" | awk '/=> \// { print $3 } /^\t\/lib64/ { print $1 }' | while read -r object; do
        case $object in
            *ld-linux*) cp -Ln "$object" "$root/lib64/" ;;
            *) cp -Ln "$object" "$root/$lib/" ;;
        esac
    done
}
cp "$tree/bin/busybox" "$root/bin/"
for program in $programs; do
    add "$(find "$tree/bin" "$tree/sbin" "$tree/usr/bin" "$tree/usr/sbin" -name "$program" 2>/dev/null | head -1)"
done
gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I "$tree/usr/include" -o "$out/probe" "$here/probe.c" -L "$tree/$lib" -Wl,-rpath-link,"$search" -libverbs
add "$out/probe"
# pthread_cancel (rping) and the provider are opened at run time.
cp -L "$tree/lib/x86_64-linux-gnu/libgcc_s.so.1" "$root/$lib/" 2>/dev/null || cp -L "$tree/$lib/libgcc_s.so.1" "$root/$lib/"
cp -L "$tree/$lib"/libibverbs/librxe-*.so "$root/$lib/libibverbs/"
cp "$tree/etc/libibverbs.d/rxe.driver" "$root/etc/libibverbs.d/"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo '127.0.0.1 localhost' >"$root/etc/hosts"

for module in $modules; do
    modprobe -d "$boot" -S "$version" -D "$module" 2>/dev/null || true
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
    name=$(basename "${file%.xz}")
    case $file in
        *.xz) xz -dc "$file" >"$root/lib/modules/$name" ;;
        *) cp "$file" "$root/lib/modules/" ;;
    esac
    echo "$name" >>"$root/lib/modules/order"
done
grep -q rdma_rxe "$root/lib/modules/order" || { echo "guest.sh: $kernel has no rdma_rxe: name another kernel package" >&2; exit 1; }
install -m 755 "$here/init.sh" "$root/init"
install -m 755 "$here/roce.sh" "$root/bin/roce"
find "$root/bin" "$root/$lib" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
(cd "$root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -1) >"$out/initramfs.gz"
rm -rf "$root" "$tree" "$boot"
echo "$stamp" >"$out/stamp"
echo "guest.sh: $kernel, $(du -h "$out/initramfs.gz" | cut -f1) of tools"
